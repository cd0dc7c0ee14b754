"""The grader's output: tables and sentences, in colour on a terminal, plain in a pipe, 80 columns wide."""

import json
import os
import sys
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from .result import Result
from .speed import unit_of

_NARROWEST = 20  # columns; a value such as COLUMNS=0 would leave no room for a word
_STYLES = {"PASS": "bold green", "SLOW": "yellow", "INFRA": "bold magenta", "-": "dim"}


def print_json(document: Any) -> None:
    """Print a complete document in any encoding."""
    is_unicode = sys.stdout.encoding.lower().startswith("utf")
    print(json.dumps(document, indent=2, ensure_ascii=not is_unicode))


def console(*, error: bool = False) -> Console:
    """The console for standard output or standard error; 80 columns wide if it is not a terminal."""
    stream = sys.stderr if error else sys.stdout
    asked = os.environ.get("COLUMNS", "")
    width = max(int(asked), _NARROWEST) if asked.isdecimal() else None if stream.isatty() else 80
    return Console(file=stream, width=width, highlight=False, soft_wrap=False, emoji=False)


def verdict_text(verdict: str) -> Text:
    """A verdict in its colour."""
    return Text(verdict, style=_STYLES.get(verdict, "red"))


def bandwidth_text(result: Result) -> str:
    """Speed in one cell: "1,412 GB/s modelled, 1.00 of ref", "28.9 TFLOP/s measured, 0.95 of ref, noisy"."""
    if result.gb_per_s is None:
        return ""
    share = f", {result.ratio:.2f} of ref" if result.ratio is not None else ""
    noisy = ", noisy" if result.is_too_noisy else ""
    speed = unit_of(result.timing).text(result.gb_per_s)
    return f"{speed} {result.bandwidth_kind or ''}".strip() + share + noisy


def points_text(earned: float, possible: float) -> str:
    """Points in one cell: "7/10"."""
    return f"{earned:g}/{possible:g}"


class Bar:
    """A part of a whole, as a bar that is readable without colours."""

    def __init__(self, count: float, total: float, width: int) -> None:
        self._filled = round(width * min(1.0, count / total)) if total else 0
        self._width = width

    def __rich_console__(self, out: Console, options: ConsoleOptions) -> RenderResult:
        filled, rest = ("#", ".") if options.ascii_only else ("\u2588", "\u2591")
        yield Text.assemble(
            (filled * self._filled, "green"), (rest * (self._width - self._filled), "dim"), end=""
        )

    def __rich_measure__(self, out: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(self._width, self._width)


def table(rows: list[tuple[str | Text, ...]], columns: list[tuple[str, str]]) -> Table:
    """A plain table; `columns` are (heading, "left" or "right")."""
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1))
    for heading, side in columns:
        made.add_column(heading, justify="right" if side == "right" else "left", overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made


# ---- Narrow terminals: if columns do not fit side by side, entries are printed below each other
# ---------------


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
