"""What the screen shows, as text of a width: made anew whenever the width changes."""

import sys
from collections.abc import Callable
from io import StringIO

from rich.console import Console, Group, RenderableType

from ...core.workbook import Chapter
from ..hints import Hint, print_hint
from ..overview import chapters_table, progress, what_next
from ..standing import Standing

# A page for a width, with colours as terminals take them.
Page = Callable[[int], str]


class _Sheet(StringIO):
    """A text with the encoding of standard output, so that nothing is drawn that the terminal cannot show."""

    encoding = property(lambda _: sys.stdout.encoding)


def _drawn(width: int, draw: Callable[[Console], None]) -> str:
    sheet = _Sheet()
    out = Console(file=sheet, width=width, force_terminal=True, highlight=False, emoji=False)
    draw(out)
    return sheet.getvalue()


def plain(text: str) -> Page:
    """Text that came with its own breaks and colours."""
    return lambda _: text


def of_renderable(renderable: RenderableType) -> Page:
    """Anything that rich draws."""
    return lambda width: _drawn(width, lambda out: out.print(renderable))


def hint_page(chapter: Chapter, given: Hint) -> Page:
    """A hint, and what more there is."""
    more = "h: one that says more. " if given.step < given.total else ""
    return lambda width: _drawn(
        width, lambda out: print_hint(out, chapter, given, f"{more}v: back to the verdict.")
    )


def list_page(made: list[Standing], chosen: int) -> Page:
    """Every chapter, one of them chosen."""
    return of_renderable(
        Group(chapters_table(made, made[chosen]), "", progress(made), "", "Up, Down, Enter: go there.")
    )


def end_page(made: list[Standing]) -> Page:
    """Nothing is left to go on to."""
    return of_renderable(Group(chapters_table(made, None), "", progress(made), "", *what_next(made, None)))


def keys_page(keys: list[tuple[str, str]]) -> Page:
    """What every key does."""
    lines = [f"  {key:<10} {words}" for key, words in keys]
    return plain("\n".join(["Keys", "", *lines, "", "Save a kernel.cu and its chapter is judged."]))
