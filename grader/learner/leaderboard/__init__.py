"""`make leaderboard`: a chapter's kernel beside well-known ones, size by size, on one device.

The peers come from the record of `make bench` on that device, the learner's kernels from the history.
Measured results are ranked; modelled results are shown but never ranked among them. This file gathers the
data, board.py draws them, measurement.py times the learner's kernel at the sizes of the record. A chapter
takes part if it has a leaderboard.toml.
"""

import math
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.errors import MachineError
from ...core.history import History, Timing
from ...core.workbook import Chapter, Workbook
from ..ladder.peers import bench_record
from ..standing import timed_on

MEASURED, MODELLED, BOUND = "measured", "modelled", "bound"
RIGHT = ("PASS", "SLOW")  # a wrong result has no speed
SIZES = tuple(2**i for i in (10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 29, 30))  # where no record names them


@dataclass(frozen=True)
class Setting:
    """The contents of a chapter's leaderboard.toml."""

    work: str  # of the bench record
    reference: str
    peers: dict[str, str]  # by what heads their columns
    notes: dict[str, str]  # what a name does not say, of those that need it


@dataclass(frozen=True)
class Entrant:
    """One column of the board."""

    name: str
    heading: str  # of the column: short
    kind: str  # MEASURED, MODELLED, or BOUND for an upper bound
    by_size: dict[int, float]  # GB/s
    note: str = ""

    def mean(self, sizes: list[int]) -> float | None:
        """The geometric mean over `sizes`; None if one is missing."""
        values = [self.by_size.get(n) for n in sizes]
        known = [value for value in values if value]
        if not sizes or len(known) < len(sizes):
            return None
        return math.exp(sum(map(math.log, known)) / len(known))


@dataclass(frozen=True)
class Board:
    """All of them on one device."""

    chapter: Chapter
    device: str  # "NVIDIA H200"
    date: str  # of the record; "" where there is none
    sizes: list[int]
    entrants: list[Entrant]  # the learner's first
    remarks: list[str]

    def reference(self, kind: str) -> Entrant | None:
        """The chapter's reference, as measured or as modelled."""
        return next((one for one in self.entrants if (one.name, one.kind) == ("reference", kind)), None)

    def ranked(self) -> list[tuple[int | None, Entrant, float | None]]:
        """Each column with its place and its mean: measured ones by the mean, then those without a place."""
        measured = [one for one in self.entrants if one.kind == MEASURED and one.mean(self.sizes)]
        measured.sort(key=lambda one: -(one.mean(self.sizes) or 0))
        rest = [one for one in self.entrants if one not in measured]
        placed: list[tuple[int | None, Entrant, float | None]] = [
            (place, one, one.mean(self.sizes)) for place, one in enumerate(measured, 1)
        ]
        return placed + [(None, one, one.mean(self.sizes)) for one in rest]


def setting_of(workbook: Workbook, chapter: Chapter) -> Setting | None:
    """The chapter's peers; None if it has no leaderboard."""
    path = workbook.root / chapter.material / "leaderboard.toml"
    try:
        said = tomllib.loads(path.read_text("utf-8"))
        peers = {str(name): str(heading) for name, heading in said["peers"].items()}
        notes = {str(name): str(note) for name, note in said.get("notes", {}).items()}
        return Setting(str(said["work"]), str(said["reference"]), peers, notes)
    except FileNotFoundError:
        return None
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError) as error:
        raise MachineError(f"{chapter.folder / path.name} is not a leaderboard: {error}") from None


def sizes_of(record: dict[str, Any] | None, setting: Setting) -> list[int]:
    """The recorded sizes, or else those that `make bench` would record."""
    return [case["n"] for case in _cases(record, setting)] or list(SIZES)


def board_of(workbook: Workbook, chapter: Chapter, setting: Setting, device: str) -> Board:
    """The board of one device."""
    record = bench_record(workbook.tree, device)
    sizes = sizes_of(record, setting)
    timings = own_timings(workbook, chapter, device)
    own = {kind: _best([one for one in timings if one.kind == kind], sizes) for kind in (MEASURED, MODELLED)}
    entrants = [Entrant("you", "you", kind, best) for kind, best in own.items() if best]
    references = {
        one.n: one.reference_gb_per_s for one in timings if one.kind == MODELLED and one.reference_gb_per_s
    }
    if own[MODELLED] and references:
        entrants.append(Entrant("reference", "ref", MODELLED, _within(references, sizes)))
    entrants += _recorded(record, setting)
    peaks = [one.peak_gb_per_s for one in timings if one.peak_gb_per_s]
    peak = record["device"]["peak_gb_per_s"] if record else peaks[-1] if peaks else None
    if peak:
        entrants.append(_roofline(record, setting, float(peak), sizes))
    remarks = _remarks(workbook, record, device, own)
    return Board(chapter, device, str(record["date"]) if record else "", sizes, entrants, remarks)


def devices(workbook: Workbook, chapter: Chapter) -> list[str]:
    """The devices that timed the learner's kernel, the last one first."""
    timings = sorted(own_timings(workbook, chapter, None), key=lambda one: one.time, reverse=True)
    return list(dict.fromkeys(one.gpu for one in timings))


def own_timings(workbook: Workbook, chapter: Chapter, device: str | None) -> list[Timing]:
    """The speed of the learner's correct kernels: at the sizes timed for this board, and at the size of full runs."""
    history = History(workbook.history)
    found = history.timings(chapter.name)
    for run in history.runs(chapter.name):
        known = run.timing or {}
        kind, name = timed_on(run)
        n = known.get("n")
        if run.verdict in RIGHT and run.gb_per_s and kind and isinstance(n, int):
            reference, peak = known.get("reference_gb_per_s"), known.get("peak_gb_per_s")
            found.append(Timing(run.id, run.time, chapter.name, run.kernel_sha256, kind, name, n, run.gb_per_s,
                                reference, peak, run.workbook))  # fmt: skip
    return [one for one in found if device in (None, one.gpu)]


def document(board: Board) -> dict[str, Any]:
    """The board as JSON."""
    return {
        "schema": "warpbook/leaderboard/1",
        "chapter": board.chapter.name,
        "device": board.device,
        "recorded": board.date or None,
        "sizes": board.sizes,
        "entrants": [
            {
                "name": one.name,
                "kind": one.kind,
                "place": place,
                "geometric_mean_gb_per_s": mean,
                "gb_per_s": [one.by_size.get(n) for n in board.sizes],
                "note": one.note or None,
            }
            for place, one, mean in board.ranked()
        ],
        "remarks": board.remarks,
    }


def _cases(record: dict[str, Any] | None, setting: Setting) -> list[dict[str, Any]]:
    cases = record["cases"] if record else []
    return [case for case in cases if (case["work"], case["l2"]) == (setting.work, "cold") and case["n"] > 0]


def _recorded(record: dict[str, Any] | None, setting: Setting) -> list[Entrant]:
    found: dict[str, dict[int, float]] = {}
    notes: dict[str, str] = {}
    for case in _cases(record, setting):
        for result in case["results"]:
            if "gb_per_s" in result:
                found.setdefault(result["name"], {})[case["n"]] = float(result["gb_per_s"])
                notes[result["name"]] = setting.notes.get(result["name"]) or str(result.get("note") or "")
    names = [
        (setting.reference, "reference", "ref"),
        *((name, name, head) for name, head in setting.peers.items()),
    ]
    return [
        Entrant(shown, head, MEASURED, found[name], notes[name])
        for name, shown, head in names
        if name in found
    ]


def _roofline(record: dict[str, Any] | None, setting: Setting, peak: float, sizes: list[int]) -> Entrant:
    """Bytes divided by the memory's peak, but no less than the time of an empty launch."""
    launch = {
        case["n"]: result["us"] * 1e-6
        for case in _cases(record, setting)
        for result in case["results"]
        if result.get("role") == "floor" and "us" in result
    }
    moved = {case["n"]: float(case["bytes"]) for case in _cases(record, setting)}
    by_size = {}
    for n in sizes:
        size = moved.get(n, 4.0 * n + 4)
        by_size[n] = size / max(size / (1e9 * peak), launch.get(n, 0.0)) / 1e9
    note = "the memory's peak, but at least the time of an empty launch" if launch else "the memory's peak"
    return Entrant("roofline", "roofline", BOUND, by_size, note)


def _best(timings: list[Timing], sizes: list[int]) -> dict[int, float]:
    """The best at each size."""
    best: dict[int, float] = {}
    for one in timings:
        if one.n in sizes:
            best[one.n] = max(best.get(one.n, 0.0), one.gb_per_s)
    return best


def _within(values: dict[int, float], sizes: list[int]) -> dict[int, float]:
    return {n: value for n, value in values.items() if n in sizes}


def _remarks(
    workbook: Workbook, record: dict[str, Any] | None, device: str, own: dict[str, dict[int, float]]
) -> list[str]:
    remarks = []
    if record is None:
        path = Path("bench") / "records" / f"bench-{device.replace(' ', '-')}.json"
        remarks.append(f"There is no record of the peers on {device}: on a machine with that GPU, make "
                       f"bench writes {path}.")  # fmt: skip
    if not own[MEASURED] and not own[MODELLED]:
        remarks.append("You are not on it yet: it needs a correct kernel.")
    elif not own[MEASURED]:
        remarks.append("Yours is modelled and not ranked among measured kernels: compare it with the "
                       "modelled reference. On a machine with that GPU it is measured and ranked.")  # fmt: skip
    return remarks
