"""The leaderboard for a terminal: places by the geometric mean, then GB/s by size; measured and modelled apart."""

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from ...core.speed import figure
from . import BOUND, MEASURED, MODELLED, Board, Entrant

_SIZE, _CELL = 8, 9  # columns of the terminal that a size and a figure take


def board_page(board: Board) -> RenderableType:
    """The complete page, at most 80 columns wide."""
    title = f"{board.chapter.name} {board.chapter.title}, on {board.device}"
    parts: list[RenderableType] = [Text(title, style="bold"), ""]
    if any(mean for _, _, mean in board.ranked()):
        first, last = board.sizes[0], board.sizes[-1]
        parts += [
            Text(f"GB/s, geometric mean over {len(board.sizes)} sizes from {first:,} to {last:,} elements"),
            "",
            _places(board),
            "",
        ]
    for kind, words in ((MEASURED, _measured_words(board)), (MODELLED, f"Modelled for {board.device}, GB/s")):
        columns = [one for one in board.entrants if one.kind == kind]
        if columns:
            bound = [one for one in board.entrants if one.kind == BOUND]
            parts += [Text(words), "", _BySize(board, columns + bound), ""]
    if any(one.kind == MEASURED for one in board.entrants):
        parts.append(Text("of ref: the mean divided by the reference's."))
        parts.append(Text("cold L2: the cache holds none of the input when the clock starts."))
    parts += [Text(_note(one)) for one in board.entrants if one.note]
    return Group(*parts, *(Text(remark) for remark in board.remarks))


def _note(one: Entrant) -> str:
    heading = f" ({one.heading})" if one.heading.lower() not in one.name.lower() else ""
    return f"{one.name}{heading}: {one.note}."


def _measured_words(board: Board) -> str:
    when = f"; the peers on {board.date} by make bench" if board.date else ""
    return f"Measured with a cold L2, GB/s{when}"


def _places(board: Board) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("who")
    table.add_column("how", no_wrap=True)
    table.add_column("GB/s", justify="right", no_wrap=True)
    table.add_column("of ref", justify="right", no_wrap=True)
    for place, one, mean in board.ranked():
        reference = board.reference(one.kind)
        base = reference.mean(board.sizes) if reference else None
        share = f"{mean / base:.2f}" if mean and base else ""
        style = "bold green" if one.name == "you" else ""
        how = f"{one.kind}, not ranked" if one.kind == MODELLED else one.kind
        table.add_row(str(place or "-"), Text(one.name, style=style), how, figure(mean), share)
    return table


class _BySize:
    """A row for each size, with as many columns side by side as fit the terminal."""

    def __init__(self, board: Board, columns: list[Entrant]) -> None:
        self._board, self._columns = board, columns

    def __rich_console__(self, out: Console, options: ConsoleOptions) -> RenderResult:
        count = max(1, (options.max_width - _SIZE) // _CELL)
        for first in range(0, len(self._columns), count):
            if first:
                yield ""
            yield self._table(self._columns[first : first + count])

    def _table(self, columns: list[Entrant]) -> Table:
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
        table.add_column("n", justify="right", no_wrap=True)
        for one in columns:
            table.add_column(one.heading, justify="right", no_wrap=True, min_width=_CELL - 1)
        for n in self._board.sizes:
            values = [one.by_size.get(n) for one in columns]
            rivals = [value or 0 for one, value in zip(columns, values, strict=True) if one.kind != BOUND]
            cells = [
                Text(
                    figure(value),
                    style="bold" if value and value == max(rivals) and one.kind != BOUND else "",
                )
                for one, value in zip(columns, values, strict=True)
            ]
            table.add_row(size_words(n), *cells)
        return table


def size_words(n: int) -> str:
    """A size in few letters, such as 4 Ki or 256 Mi; in full if it is not a whole number of these."""
    for unit, words in ((2**30, "Gi"), (2**20, "Mi"), (2**10, "Ki")):
        if n >= unit and n % unit == 0:
            return f"{n // unit} {words}"
    return str(n)
