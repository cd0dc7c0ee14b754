"""`make ladder`: the speed of the learner's kernels on one device, beside the references, CUB and the peak.

This file gathers the data; chart.py draws them for a terminal, picture.py as an SVG.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.command_words import spoken
from ...core.errors import UsageError
from ...core.history import History, Run
from ...core.result import number
from ...core.speed import GB_PER_S, TFLOP_PER_S, Unit, figure, unit_of
from ...core.workbook import Chapter, Workbook
from ..standing import timed_on
from .peers import Peer, bench_record, cub

RIGHT = ("PASS", "SLOW")  # a wrong result has no speed


@dataclass(frozen=True)
class Rung:
    """One chapter."""

    chapter: Chapter
    runs: list[Run]  # the correct and timed ones, oldest first
    cub: Peer | None  # at the size of the best

    @property
    def best(self) -> Run | None:
        """The fastest."""
        return max(self.runs, key=lambda run: run.gb_per_s or 0, default=None)

    @property
    def gb_per_s(self) -> float | None:
        """Of the fastest."""
        return self.best.gb_per_s if self.best else None

    @property
    def reference_gb_per_s(self) -> float | None:
        """The bandwidth of the chapter's solution in the fastest run, or in any run if that is not known."""
        for run in ([self.best] if self.best else []) + self.runs[::-1]:
            known = number((run.timing or {}).get("reference_gb_per_s"))
            if known is not None:
                return known
        return None

    @property
    def unit(self) -> Unit:
        """What the chapter's speed is told in."""
        return unit_of(self.best.timing if self.best else None)

    def short(self, gb_per_s: float | None) -> str:
        """A number without its unit; with a T if it is one of TFLOP/s, which a remark explains."""
        if gb_per_s is None or self.unit.name == GB_PER_S:
            return figure(gb_per_s)
        return f"{self.unit.figure(gb_per_s)} T"


@dataclass(frozen=True)
class Ladder:
    """All chapters on one device."""

    device: str  # "NVIDIA H200"; "" if nothing was timed yet
    kind: str  # "measured" or "modelled"; "" likewise
    peak_gb_per_s: float | None
    rungs: list[Rung]
    remarks: list[str]  # what is not shown, and why

    @property
    def title(self) -> str:
        """A title for the picture."""
        if not self.device:
            return "Bandwidth by chapter: nothing has been timed yet"
        return f"Bandwidth by chapter, {self.kind} {'on' if self.kind == 'measured' else 'for'} {self.device}"

    @property
    def top_gb_per_s(self) -> float:
        """The end of the scale: the peak, or a larger value."""
        values = [self.peak_gb_per_s]
        for rung in self.rungs:
            known = (rung.gb_per_s, rung.reference_gb_per_s, rung.cub.gb_per_s if rung.cub else None)
            values += [self.place(rung, value) for value in known if value]
        return max((value for value in values if value), default=1.0)

    def place(self, rung: Rung, gb_per_s: float) -> float:
        """Where a speed is on the scale of GB/s: operations a second at the same share of their own peak."""
        unit = rung.unit
        if unit.name == GB_PER_S or not unit.peak or not self.peak_gb_per_s:
            return gb_per_s
        return unit.per_gb * gb_per_s / unit.peak * self.peak_gb_per_s


def ladder_of(workbook: Workbook, chapters: list[Chapter], gpu: str | None = None) -> Ladder:
    """The ladder of the device that was timed last, or of the one whose name contains `gpu`."""
    timed = [
        run
        for run in History(workbook.history).runs()
        if run.verdict in RIGHT and run.gb_per_s is not None and run.bandwidth
    ]
    found = list(dict.fromkeys(timed_on(run) for run in reversed(timed)))  # the one timed last comes first
    wanted = [one for one in found if gpu is None or gpu.lower() in one[1].lower()]
    if gpu is not None and not wanted:
        known = ", ".join(dict.fromkeys(name for _, name in found)) or "none yet"
        raise UsageError(f"nothing was timed on {gpu!r}; there are: {known}")
    if not wanted:
        return Ladder("", "", None, [Rung(chapter, [], None) for chapter in chapters], [_nothing()])
    kind, device = wanted[0]
    record = bench_record(workbook.tree, device)
    rungs = []
    for chapter in chapters:
        runs = [run for run in timed if run.chapter == chapter.name and timed_on(run) == wanted[0]]
        best = max(runs, key=lambda run: run.gb_per_s or 0, default=None)
        rungs.append(Rung(chapter, runs, cub(record, (best.timing or {}) if best else {})))
    peaks = [
        peak
        for rung in rungs
        for run in rung.runs[::-1]
        if (peak := number((run.timing or {}).get("peak_gb_per_s")))
    ]
    remarks = []
    if record is None:
        remarks.append(f"CUB is not shown: bench/records has no record of {device} (make bench writes one).")
    elif kind == "modelled":
        remarks.append("CUB was measured.")
    if not peaks:
        remarks.append("The peak is not shown: no run recorded it.")
    compute = [rung.unit.peak for rung in rungs if rung.unit.name == TFLOP_PER_S and rung.unit.peak]
    if compute:
        remarks.append(f"T is TFLOP/s, drawn as its share of the peak of {max(compute):.1f}.")
    others = [f"{name} ({how})" for how, name in found if (how, name) != wanted[0]]
    if others:
        remarks.append(f"Also timed: {', '.join(others)}. GPU=NAME shows it.")
    return Ladder(device, kind or "", peaks[0] if peaks else None, rungs, remarks)


def document(ladder: Ladder, picture: Path) -> dict[str, Any]:
    """The ladder as JSON."""
    return {
        "schema": "warpbook/ladder/1",
        "device": ladder.device or None,
        "kind": ladder.kind or None,
        "peak_gb_per_s": ladder.peak_gb_per_s,
        "picture": str(picture),
        "remarks": ladder.remarks,
        "chapters": [
            {
                "chapter": rung.chapter.name,
                "title": rung.chapter.title,
                "gb_per_s": rung.gb_per_s,
                "tflop_per_s": rung.unit.per_gb * rung.gb_per_s
                if rung.gb_per_s and rung.unit.name == TFLOP_PER_S
                else None,
                "reference_gb_per_s": rung.reference_gb_per_s,
                "cub": rung.cub and {"name": rung.cub.name, "n": rung.cub.n, "gb_per_s": rung.cub.gb_per_s},
                "runs": [
                    {"time": run.time, "gb_per_s": run.gb_per_s, "verdict": run.verdict} for run in rung.runs
                ],
            }
            for rung in ladder.rungs
        ],
    }


def _nothing() -> str:
    return spoken("A correct kernel is timed when it is judged: make ch02 && ./ch02, make watch, make grade.")
