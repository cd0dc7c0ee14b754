"""The learner's source, line by line, with its counters: the x-ray's columns."""

from collections.abc import Callable
from dataclasses import dataclass

from ..listing import Code
from .accesses import Access
from .collect import Known
from .figures import Figure, Record, quotient, total

Counts = dict[str, list[Figure]]  # by counter, one for each kernel that executed the line


@dataclass(frozen=True)
class Metric:
    """The metrics of the heat column: sums of counters."""

    name: str
    words: str
    counters: tuple[str, ...]


METRICS = (
    Metric("instructions", "warp instructions", ("instructions",)),
    Metric("sectors", "sectors of global memory",
           ("global_ld_sectors", "global_st_sectors", "global_red_sectors", "global_atom_sectors")),
    Metric("wavefronts", "wavefronts of shared memory",
           ("shared_ld_wavefronts", "shared_st_wavefronts", "shared_atom_wavefronts")),
    Metric("conflicts", "bank conflicts", ("shared_ld_conflicts", "shared_st_conflicts")),
    Metric("divergent", "divergent branches", ("branch_divergent",)),
    Metric("barriers", "barriers", ("barriers", "warp_barriers")),
    Metric("shuffles", "shuffles", ("shuffles",)),
    Metric("float_ops", "floating-point operations", ("float_ops",)),
)  # fmt: skip


@dataclass(frozen=True)
class Kernel:
    """The counters of one kernel of one task for a line."""

    task: str
    kernel: str
    at: str  # where its counters are
    counts: list[tuple[str, Figure]]  # those that are not 0


@dataclass(frozen=True)
class Note:
    """A fact about a line that is shown without opening it."""

    figure: Figure
    style: str  # of the figure
    words: str  # behind it
    is_bad: bool


@dataclass(frozen=True)
class Line:
    """One line of kernel.cu."""

    number: int
    text: str
    kernels: list[Kernel]
    heat: dict[str, Figure]  # by metric; those that are not 0
    notes: list[Note]
    accesses: list[Access]
    marks: list[str]  # findings at this line, one word each
    code: Code  # its instructions

    @property
    def heat_values(self) -> dict[str, tuple[float, str]]:
        """For the script of the heat column: value and source by metric."""
        return {name: (figure.value, figure.source) for name, figure in self.heat.items()}

    @property
    def opens(self) -> bool:
        """Whether the line has details."""
        return bool(self.kernels or self.accesses or self.code.ptx or self.code.sass)


def lines(known: Known, accesses: dict[int, list[Access]], marks: dict[int, list[str]]) -> list[Line]:
    """All lines of a chapter's file."""
    counted: dict[int, list[int]] = {}
    record = known.result
    for i, entry in enumerate(record.raw("lines") if record else []):
        if entry["file"] == str(known.chapter.kernel):
            counted.setdefault(entry["line"], []).append(i)
    made = []
    for number, text in enumerate(known.source, 1):
        entries = [_kernel(record, i) for i in counted.get(number, [])] if record else []
        figures: Counts = {}
        for entry in entries:
            for name, figure in entry.counts:
                figures.setdefault(name, []).append(figure)
        heat = {metric.name: found for metric in METRICS if (found := _sum(figures, metric.counters))}
        made.append(
            Line(
                number,
                text,
                entries,
                heat,
                _notes(figures),
                accesses.get(number, []),
                marks.get(number, []),
                known.listing.lines.get((str(known.chapter.kernel), number), Code()),
            )
        )
    return made


def heat_metrics(made: list[Line]) -> list[Metric]:
    """The metrics that at least one line has."""
    return [metric for metric in METRICS if any(metric.name in line.heat for line in made)]


def _kernel(record: Record, i: int) -> Kernel:
    entry = record.raw("lines", i)
    names = [name for name, value in entry["counts"].items() if value]
    found = [(name, record.figure("lines", i, "counts", name)) for name in names]
    at = record.pointer("lines", i, "counts")
    return Kernel(entry["task"], entry["kernel"], at, [(name, one) for name, one in found if one])


def _sum(figures: Counts, names: tuple[str, ...]) -> Figure | None:
    return total(figure for name in names for figure in figures.get(name, []))


def _notes(figures: Counts) -> list[Note]:
    notes = []

    def add(
        up: tuple[str, ...], down: tuple[str, ...], style: str, words: str, bad: Callable[[float], bool]
    ) -> None:
        figure = quotient(_sum(figures, up), _sum(figures, down)) if down else _sum(figures, up)
        if figure is not None and figure.value:
            notes.append(Note(figure, style, words, bad(figure.value)))

    def never(_: float) -> bool:
        return False

    add(("global_ld_sectors",), ("global_ld_requests",), "", "sectors a load", never)
    add(("global_st_sectors",), ("global_st_requests",), "", "sectors a store", never)
    add(
        ("shared_ld_conflicts", "shared_st_conflicts"), (), "count", "bank conflicts", lambda value: value > 0
    )
    add(("branch_divergent",), ("branches",), "percent", "of branches diverge", lambda value: value > 0.5)
    return notes
