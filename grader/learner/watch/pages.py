"""The pages of the screen, as text for a width: formatted again whenever the width changes."""

import sys
from collections.abc import Callable
from io import StringIO

from rich.console import Console, Group, RenderableType

from ...core.workbook import Chapter
from ..hints import Hint, print_hint
from ..overview import chapters_table, progress, what_next
from ..standing import Standing

# A page for a width, with terminal colours.
Page = Callable[[int], str]


class _Sheet(StringIO):
    """A text stream with the encoding of standard output, so that only printable characters are drawn."""

    encoding = property(lambda _: sys.stdout.encoding)


def _drawn(width: int, draw: Callable[[Console], None]) -> str:
    sheet = _Sheet()
    out = Console(file=sheet, width=width, force_terminal=True, highlight=False, emoji=False)
    draw(out)
    return sheet.getvalue()


def plain(text: str) -> Page:
    """Text that has its line breaks and colours already."""
    return lambda _: text


def of_renderable(renderable: RenderableType) -> Page:
    """Anything that rich can draw."""
    return lambda width: _drawn(width, lambda out: out.print(renderable))


def hint_page(chapter: Chapter, given: Hint) -> Page:
    """A hint, and how to get more."""
    more = "h: the next one. " if given.step < given.total else ""
    return lambda width: _drawn(
        width, lambda out: print_hint(out, chapter, given, f"{more}v: back to the verdict.")
    )


def list_page(made: list[Standing], chosen: int) -> Page:
    """Every chapter, one of them chosen."""
    return of_renderable(
        Group(chapters_table(made, made[chosen]), "", progress(made), "", "Up, Down, Enter: go there.")
    )


def end_page(made: list[Standing]) -> Page:
    """No chapter is left."""
    return of_renderable(Group(chapters_table(made, None), "", progress(made), "", *what_next(made, None)))


def keys_page(keys: list[tuple[str, str]]) -> Page:
    """The list of keys."""
    lines = [f"  {key:<10} {words}" for key, words in keys]
    return plain("\n".join(["Keys", "", *lines, "", "Save a kernel.cu and its chapter is judged."]))
