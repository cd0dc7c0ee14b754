"""The ladder for a terminal: one bar for each chapter, marks for the reference and CUB, and the history of runs."""

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from ...core.history import day
from ...core.page import Entry, WideOrStacked
from ...core.speed import figure
from . import Ladder, Rung

_BAR = 32  # columns
_SHOWN = 16  # runs over time
_LEAST = 60  # columns that the bars need
REFERENCE, CUB, BOTH = "r", "c", "*"


def chart(ladder: Ladder) -> RenderableType:
    """The complete page, at most 80 columns wide."""
    parts: list[RenderableType] = [Text(ladder.title, style="bold"), ""]
    if ladder.device:
        parts += [_bars(ladder), "", Text(_legend(ladder)), ""]
        parts += [
            Text("Correct runs over time, the latest ones; heights are shares of each chapter's best"),
            "",
        ]
        parts += [_over_time(ladder), ""]
    return Group(*parts, *(Text(remark) for remark in ladder.remarks))


def _bars(ladder: Ladder) -> RenderableType:
    table = Table(box=None, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("", max_width=30)
    table.add_column(_scale(ladder.top_gb_per_s), no_wrap=True)
    table.add_column("GB/s", justify="right", no_wrap=True)
    table.add_column("of ref", justify="right", no_wrap=True)
    entries = []
    for rung in ladder.rungs:
        share = ""
        if rung.gb_per_s and rung.reference_gb_per_s:
            share = f"{rung.gb_per_s / rung.reference_gb_per_s:.2f}"
        name = Text(f"{rung.chapter.name} {rung.chapter.title}")
        table.add_row(name, _Bar(rung, ladder), rung.short(rung.gb_per_s), share)
        own = rung.unit.text(rung.gb_per_s) if rung.gb_per_s else "not timed yet"
        reference, cub = rung.reference_gb_per_s, rung.cub and rung.cub.gb_per_s
        others = [
            ("r", rung.short(reference) if reference else ""),
            ("c", rung.short(cub) if cub else ""),
        ]
        entries.append(Entry(name, [("", own), *others, ("of ref", share)]))
    return WideOrStacked(table, entries, _LEAST)


def _scale(top: float) -> Text:
    """0 at the left end, the largest value at the right."""
    return Text(f"0{figure(top):>{_BAR}}", style="dim")


def _legend(ladder: Ladder) -> str:
    words = [f"{REFERENCE} the reference"]
    if any(rung.cub for rung in ladder.rungs):
        words += [f"{CUB} CUB", f"{BOTH} both"]
    if ladder.peak_gb_per_s:
        words.append(f"peak of the memory {figure(ladder.peak_gb_per_s)} GB/s")
    return "; ".join(words)


class _Bar:
    """A chapter's bar between two walls."""

    def __init__(self, rung: Rung, ladder: Ladder) -> None:
        self._rung, self._ladder, self._top = rung, ladder, ladder.top_gb_per_s

    def __rich_console__(self, out: Console, options: ConsoleOptions) -> RenderResult:
        filled = "#" if options.ascii_only else "\u2588"
        wall = "|" if options.ascii_only else "\u2502"
        cells = [" "] * _BAR
        own = self._ladder.place(self._rung, self._rung.gb_per_s or 0)
        for i in range(round(_BAR * own / self._top)):
            cells[i] = filled
        if own and cells[0] == " ":
            cells[0] = "." if options.ascii_only else "\u258f"  # at least a little
        marks = (
            (self._rung.reference_gb_per_s, REFERENCE),
            (self._rung.cub and self._rung.cub.gb_per_s, CUB),
        )
        for value, mark in marks:
            if value:
                place = self._ladder.place(self._rung, value)
                at = min(_BAR - 1, int(_BAR * place / self._top))
                cells[at] = BOTH if cells[at] == REFERENCE else mark
        text = Text(wall, style="dim")
        for cell in cells:
            text.append(cell, style="bold yellow" if cell in (REFERENCE, CUB, BOTH) else "green")
        yield text.append(wall)

    def __rich_measure__(self, out: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(_BAR + 2, _BAR + 2)


def _over_time(ladder: Ladder) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for side in ("left", "left", "right", "left", "right"):
        table.add_column(justify="right" if side == "right" else "left", no_wrap=True)
    for rung in ladder.rungs:
        if rung.runs:
            first, last = rung.runs[0], rung.runs[-1]
            days = dict.fromkeys((day(first.time), day(last.time)))
            table.add_row(
                rung.chapter.name,
                _Heights([run.gb_per_s or 0 for run in rung.runs[-_SHOWN:]]),
                f"{len(rung.runs)} run{'s' if len(rung.runs) > 1 else ''}",
                " to ".join(days),
                " to ".join(dict.fromkeys((rung.short(first.gb_per_s), rung.short(last.gb_per_s)))),
            )
    return table


class _Heights:
    """A column for each value; in ASCII a digit from 1 to 8."""

    def __init__(self, values: list[float]) -> None:
        top = max(values)
        self._heights = [min(8, max(1, round(8 * value / top))) for value in values]

    def __rich_console__(self, out: Console, options: ConsoleOptions) -> RenderResult:
        if options.ascii_only:
            yield Text("".join(map(str, self._heights)))
        else:
            yield Text("".join(chr(0x2580 + height) for height in self._heights), style="green")

    def __rich_measure__(self, out: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(len(self._heights), len(self._heights))
