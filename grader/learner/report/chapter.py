"""Everything that the page shows about one chapter, as figures, words and pictures."""

from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from ...core.result import cause
from .accesses import accesses
from .collect import Known
from .exchange import Exchange, exchanges
from .figures import Figure, Record, quotient, total
from .launches import Launch, launches
from .lines import Line, Metric, heat_metrics, lines
from .pictures import occupancy, roofline, timeline, tree
from .pictures.race import Race, races
from .svg import Detail, Gallery

_MOST_FINDINGS = 6


@dataclass(frozen=True)
class Finding:
    """A finding at one place; repetitions are counted."""

    kind: str
    verdict: str
    message: str
    line: Figure | None  # of the learner's file
    times: int


@dataclass(frozen=True)
class Case:
    """What was run."""

    task: str
    n: Figure | None
    rows: Figure | None  # where the work has two dimensions
    columns: Figure | None
    family: str
    schedule: Figure | None


@dataclass(frozen=True)
class Goal:
    """One goal."""

    task: str
    words: str
    bound: str
    limit: Figure | None
    value: Figure | None
    state: str
    earned: Figure | None
    points: Figure | None


@dataclass(frozen=True)
class Tree:
    """How values moved through one block."""

    exchange: Exchange
    drawing: Markup
    rows: list[tuple[Any, Figure]]  # each level, and its number of active threads


@dataclass(frozen=True)
class Timed:
    """The time of one task."""

    task: str
    kind: str
    device: str
    state: str
    n: Figure | None
    gb_per_s: Figure | None
    ratio: Figure | None
    limiter: str
    drawing: Markup


@dataclass(frozen=True)
class View:
    """One chapter's part of the page."""

    known: Known
    verdict: str  # "-" if there is none
    earned: Figure | None
    possible: Figure | None
    case: Case | None  # the one that failed first
    diagnosis: tuple[str, str] | None  # title and why
    findings: list[Finding]
    findings_left_out: int
    goals: list[Goal]
    races: list[Race]
    lines: list[Line]
    metrics: list[Metric]
    trees: list[Tree]
    occupancy: list[occupancy.Occupancy]
    timed: list[Timed]
    timeline: Markup | None  # of a whole program
    traced: list[tuple[str, Case, str]]  # by task: of what case, and why that
    gallery: Gallery  # what its pictures have in common

    @property
    def hottest(self) -> float:
        """The largest value of any line for the metric shown first."""
        first = self.metrics[0].name if self.metrics else ""
        return max((line.heat[first].value for line in self.lines if first in line.heat), default=0.0)

    @property
    def name(self) -> str:
        """Its name: "ch05"."""
        return self.known.name

    @property
    def title(self) -> str:
        """Its title."""
        return self.known.chapter.title


def view(known: Known, detail: Detail) -> View:
    """The chapter as shown."""
    gallery = Gallery()
    record = known.result
    file = str(known.chapter.kernel)
    found = _findings(record, file) if record else []
    marks: dict[int, list[str]] = {}
    for one in found:
        if one.line:
            marks.setdefault(int(one.line.value), []).append(one.kind)
    made = lines(known, accesses(known.trace, file, gallery, detail), marks)
    diagnosis = (record.raw("diagnosis") if record and not known.keeps_names else None) or {}
    return View(
        known=known,
        verdict=known.verdict or "-",
        earned=record.figure("points", "earned") if record else None,
        possible=record.figure("points", "possible") if record else None,
        case=_case(record),
        diagnosis=(cause(diagnosis), diagnosis["why"]) if diagnosis else None,
        findings=found[:_MOST_FINDINGS],
        findings_left_out=max(0, len(found) - _MOST_FINDINGS),
        goals=_goals(record) if record else [],
        races=races(record, known.source) if record else [],
        lines=made,
        metrics=heat_metrics(made),
        trees=[
            _tree(one, detail)
            for launch in launches(known.trace)
            for one in exchanges(launch, file, detail.levels)
        ],
        occupancy=[drawn for launch in launches(known.trace) if (drawn := _occupancy(launch))],
        timed=_timed(record) if record else [],
        timeline=timeline.draw(record) if record else None,
        traced=_traced(known.trace),
        gallery=gallery,
    )


def _findings(record: Record, file: str) -> list[Finding]:
    """One for each kind and place, in the result's order; an error that ended the run without a case comes first."""
    found: dict[tuple[Any, ...], Finding] = {}
    if words := record.raw("message") or record.raw("build", "message"):
        line = record.figure("place", "line") if record.raw("place", "file") == file else None
        found[()] = Finding(
            str(record.raw("verdict")).lower(), str(record.raw("verdict")), str(words), line, 1
        )
    for i, finding in enumerate(record.raw("findings") or []):
        if () in found and finding["message"] == found[()].message:
            continue
        place = finding.get("place") or {}
        key = (
            finding.get("kind"),
            place.get("file"),
            place.get("line"),
            finding["message"] if not place else "",
        )
        if key in found:
            before = found[key]
            found[key] = Finding(before.kind, before.verdict, before.message, before.line, before.times + 1)
            continue
        line = record.figure("findings", i, "place", "line") if place.get("file") == file else None
        found[key] = Finding(finding["kind"], finding["verdict"], finding["message"], line, 1)
    return list(found.values())


def _case(record: Record | None) -> Case | None:
    first = record.raw("first_failure") if record else None
    return _case_at(record, "cases", first) if record and first is not None else None


def _case_at(record: Record, *at: str | int) -> Case:
    case = record.raw(*at)
    has_rows = bool(case.get("rows"))
    return Case(
        task=str(case.get("task") or ""),
        n=record.figure(*at, "n"),
        rows=record.figure(*at, "rows") if has_rows else None,
        columns=record.figure(*at, "columns") if has_rows else None,
        family=case["family"].replace("_", " "),
        schedule=record.figure(*at, "schedule"),
    )


def _traced(record: Record | None) -> list[tuple[str, Case, str]]:
    """The cases of the pictures; a case that several tasks share is mentioned once."""
    return [
        (str(task["task"] or ""), _case_at(record, "tasks", i, "case"), task["case"]["why"])
        for i, task in enumerate((record.raw("tasks") if record else None) or [])
        if record and task["case"] and task["kernels"]
    ]


def _goals(record: Record) -> list[Goal]:
    return [
        Goal(
            goal["task"],
            goal["words"],
            goal["bound"],
            record.figure("goals", i, "limit"),
            record.figure("goals", i, "value"),
            goal["state"],
            record.figure("goals", i, "earned"),
            record.figure("goals", i, "points"),
        )
        for i, goal in enumerate(record.raw("goals") or [])
    ]


def _tree(exchange: Exchange, detail: Detail) -> Tree:
    return Tree(
        exchange,
        tree.draw(exchange, detail.links),
        [(level, tree.active_figure(exchange, level)) for level in exchange.levels],
    )


def _occupancy(launch: Launch) -> occupancy.Occupancy | None:
    """None for a launch that does not fit on an SM at all."""
    gpu = launch.record
    threads = Figure(launch.threads, f"volume({launch.pointer('block')})")
    shared = total(launch.figure(name) for name in ("static_shared_bytes", "dynamic_shared_bytes"))
    limits = [
        occupancy.Limit(words, figure, [gpu.figure("gpu", of_sm), on_sm, of_block, each])
        for words, name, of_sm, on_sm, of_block, each in (
            ("threads", "by_threads", "max_threads_per_sm", " on an SM, ", threads, " a block"),
            (
                "registers",
                "by_registers",
                "registers_per_sm",
                " on an SM, ",
                launch.figure("registers"),
                " a thread",
            ),
            ("shared memory", "by_shared", "shared_per_sm", " bytes on an SM, ", shared, " a block"),
            ("blocks", "by_blocks", "max_blocks_per_sm", " on an SM", None, ""),
        )
        if (figure := launch.figure("occupancy", name))
    ]
    blocks, warps = launch.figure("occupancy", "blocks"), launch.figure("occupancy", "warps")
    if not limits or blocks is None or warps is None:
        return None
    room = gpu.figure("gpu", "max_threads_per_sm")
    most = Figure(room.value / 32, f"warps({room.source})") if room else warps
    return occupancy.draw(launch.title, limits, blocks, warps, most)


def _timed(record: Record) -> list[Timed]:
    """Each task that was timed."""
    bandwidth = record.raw("bandwidth") or {}
    if "tasks" in bandwidth:
        places: list[tuple[str | int, ...]] = [
            ("bandwidth", "tasks", i) for i in range(len(bandwidth["tasks"]))
        ]
    else:
        places = [("bandwidth",)] if bandwidth else []
    return [one for place in places if (one := _timed_at(record, place))]


def _timed_at(record: Record, at: tuple[str | int, ...]) -> Timed | None:
    seconds, moved, peak = (record.figure(*at, name) for name in ("seconds", "bytes", "peak_gb_per_s"))
    if seconds is None:
        return None
    rows = [("your kernel", "lane", seconds)]
    if reference := record.figure(*at, "reference_seconds"):
        rows.append(("the reference", "data", reference))
    if least := quotient(moved, peak):
        rows.append(("its bytes at peak", "good", Figure(least.value / 1e9, f"giga({least.source})")))
    words = {
        name: str(record.raw(*at, name) or "") for name in ("task", "kind", "device", "state", "limiter")
    }
    return Timed(
        n=record.figure(*at, "n"),
        gb_per_s=record.figure(*at, "gb_per_s"),
        ratio=record.figure(*at, "ratio"),
        drawing=roofline.draw_times(words["task"], rows),
        **words,
    )
