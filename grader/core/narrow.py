"""Tables on a narrow terminal: where the columns have no room side by side, one entry below the other."""

from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.padding import Padding
from rich.text import Text


@dataclass(frozen=True)
class Entry:
    """One row in words: what it is about, and its cells with what they are; empty cells are left out."""

    title: Text | str
    cells: list[tuple[str, Text | str]]


class WideOrStacked:
    """`wide` where there are `least` columns, else the entries."""

    def __init__(self, wide: RenderableType, entries: list[Entry], least: int) -> None:
        self._wide, self._entries, self._least = wide, entries, least

    def __rich_console__(self, out: Console, options: ConsoleOptions) -> RenderResult:
        if options.max_width >= self._least:
            yield self._wide
            return
        for entry in self._entries:
            yield Text() + entry.title if isinstance(entry.title, Text) else Text(entry.title)
            words = Text("; ").join(
                Text(f"{heading} " if heading else "").append_text(_text(cell))
                for heading, cell in entry.cells
                if cell
            )
            if words:
                yield Padding(words, (0, 0, 0, 5))


def _text(cell: Text | str) -> Text:
    return cell if isinstance(cell, Text) else Text(cell)
