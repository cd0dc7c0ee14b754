"""How well the time model agrees with the record of a GPU: the report of docs/time-model.md.

    python -m bench.model_report            prints the report and puts it into docs/time-model.md
    python -m bench.model_report --fit      fits the constants of model_device.c, and writes them there

Nothing needs a GPU.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.bands import Band, bands
from bench.bands import table as bands_table
from bench.compiling import CompileError
from bench.gpu import GpuError
from bench.model import (
    BOUNDS,
    LIMITERS,
    Model,
    ModelDevice,
    Vector,
    device_of,
    errors,
    fit,
    gather,
    is_stale,
    leave_one_out,
    read_record,
    split,
)
from bench.pairs import Pair, measure_pairs
from bench.table import ROOT, TableError, read_table
from grader.authoring.markers import fill
from grader.core.entry import guarded

DOCUMENT = ROOT / "docs" / "time-model.md"
CONSTANTS = ROOT / "common" / "emulator" / "model" / "device.c"

COUNTED_SIZE = 2**26  # where what ncu saw is compared: launches of 2^22 are over too soon to keep a unit busy
WIDE = 0.25  # no error should be larger
# Of the kernels that the model is furthest off for: what it does not know.
_PAGES = "translations of pages and sets of the caches, which the model does not know"
_SMALL = "atomics that each add to a place of their own run at a small size faster than memory takes them"
_COUNTED = "possibly: ptxas needs fewer instructions than are counted: outputs share addresses and edges"
_NEIGHBOURS = "possibly: neighbours' loads find each other's sectors in the L1, where the model has them wait"
_TILE = "conflicts in the tile delay the loads of other warps; both are modelled as overlapping"
REASONS: dict[str, str] = {
    "bins, voted": "possibly: votes and counts of bits wait for each other less than is added up",
    "later, copy, four floats apart": "possibly: each line is stored to four times, and the L2 waits for the same line",
    "random order": _PAGES,
    "runs of 32": _PAGES,
    "four times over a quarter": _PAGES,
    "add, a chunk a thread": _PAGES,
    "a chunk a thread": _PAGES,
    "doubles, a chunk a thread": _PAGES,
    "ch15 copies": "possibly: its warps meet only at the start and the end, and count as if they kept pace",
    "ch17 simple": _NEIGHBOURS,
    "stencil, 7 in a line": _NEIGHBOURS,
    "ch17 constant": _COUNTED,
    "ch19 naive": _COUNTED,
    "rows, a warp a row, online": "possibly: ptxas needs more instructions for exponentials than are counted",
    "shared, 32 lanes a bank": "at small sizes: the last of few, long blocks; the tail is not modelled",
    "atomics apart": _SMALL,
    "ch08 atomic": _SMALL,
    "ch11 tile": _TILE,
    "transpose, conflicts, 32 x 32": _TILE,
}
BUSY = 200 / 3  # percent, as in model_time.c


def seen_limiter(counters: dict[str, float]) -> str:
    """What kept a launch from being faster, from what ncu saw: the busiest part, or nothing but waiting.

    Atomics on one address keep one of several hundred units busy, which all together are then at 0.3 %.
    """
    active = counters["active_cycles"] / counters["cycles"]
    memory = max(counters["dram_pct"], counters["l2_pct"], counters["lsu_wavefronts_pct"])
    memory = max(memory, counters["l1_pct"] * active)
    work = max(counters["fma_pct"], counters["alu_pct"], counters["xu_pct"]) * active
    work = max(work, counters["issue_elapsed_pct"])
    if max(memory, work) >= BUSY:
        return "memory" if memory >= work else "instructions"
    return "atomics" if counters["atomic_l2_pct"] >= 0.2 else "latency"


@dataclass(frozen=True)
class Agreement:
    """One kernel's limiter as modelled and as seen."""

    name: str
    modelled: str
    seen: str


def limiters(model: Model, device: ModelDevice, record: dict[str, Any]) -> list[Agreement]:
    """Of every kernel's first pass at COUNTED_SIZE. A launch that is over at once waits, too."""
    told = {entry["name"]: entry.get("counters", []) for entry in record["kernels"]}
    found = []
    for point in model.points:
        first = point.kernel.passes[0].kernel
        for counters in told[point.kernel.name]:
            if point.n == counters["n"] == COUNTED_SIZE and counters["kernel"] == first:
                name = LIMITERS[model.estimate(device, point).limiter]
                name = "latency" if name == "launch" else name
                found.append(Agreement(point.kernel.name, name, seen_limiter(counters)))
    return found


LADDER_SIZE = 2**28  # the size at which chapters are timed


def wrong_order(model: Model, device: ModelDevice, closest: float = 1.02) -> list[tuple[str, str]]:
    """Solutions of two chapters for one task, told apart by more than `closest`, that come in the wrong order."""
    seconds = model.seconds(device)
    ladder = [
        k
        for k, point in enumerate(model.points)
        if point.kernel.is_solution and point.n == LADDER_SIZE and point.kernel.check in ("sum", "transpose")
    ]
    return [
        (str(model.names[fast]), str(model.names[slow]))
        for fast in ladder
        for slow in ladder
        if model.points[fast].kernel.check == model.points[slow].kernel.check
        and model.measured[fast] * closest < model.measured[slow]
        and seconds[fast] >= seconds[slow]
    ]


def goals_met(fitted: Model, unseen: Model, device: ModelDevice, share: float = 0.95) -> tuple[int, int]:
    """How many times reach that share of the best solution's speed on the model, and how many of them on the GPU.

    Kernels of one check do the same work.
    """
    points = [*fitted.points, *unseen.points]
    modelled = np.concatenate([fitted.seconds(device), unseen.seconds(device)])
    measured = np.concatenate([fitted.measured, unseen.measured])
    met = kept = 0
    for check, n in {(point.kernel.check, point.n) for point in points}:
        own = [
            k
            for k, p in enumerate(points)
            if (p.kernel.check, p.n) == (check, n) and p.kernel.every == p.kernel.times == 1
        ]
        solutions = [k for k in own if points[k].kernel.is_solution]
        if not solutions or check not in ("sum", "sum64", "transpose", "rows", "add", "counts", "product"):
            continue
        for k in own:
            if k in solutions and len(solutions) == 1:
                continue  # it is the reference itself
            if modelled[k] * share <= min(modelled[s] for s in solutions):
                met += 1
                kept += bool(measured[k] * share <= min(measured[s] for s in solutions))
    return met, kept


@dataclass(frozen=True)
class Report:
    """Everything that is said of the model beside a record."""

    record: dict[str, Any]
    model: Model
    device: ModelDevice
    off: Vector
    left_out: Vector
    agreements: list[Agreement]
    stale: list[str]
    unseen: Model  # kernels that were added last, and are in no fit
    unseen_off: Vector
    pairs: list[Pair]
    bands: list[Band]

    @property
    def agreement(self) -> float:
        """Share of the kernels whose limiter is the one seen."""
        return sum(each.modelled == each.seen for each in self.agreements) / max(1, len(self.agreements))

    def by_chapter(self) -> list[str]:
        """The mean absolute error of each chapter's solutions."""
        chapters: dict[str, list[float]] = {}
        for point, off in zip(self.model.points, np.abs(self.off), strict=True):
            if point.kernel.is_solution:
                chapters.setdefault(point.kernel.name.split()[0], []).append(float(off))
        return [f"{name} {percent(float(np.mean(off)))}" for name, off in chapters.items()]

    def summary(self) -> str:
        """The figures that count, as sentences."""
        solutions = np.array([point.kernel.is_solution for point in self.model.points])
        sizes, kernels = len(set(self.model.sizes)), len(set(self.model.names))
        off, left_out = np.abs(self.off), np.abs(self.left_out)
        alike = sum(each.modelled == each.seen for each in self.agreements)
        order = wrong_order(self.model, self.device)
        name = self.record["device"]["name"]
        text = f"{kernels} kernels at {sizes} sizes from 2^22 on, {len(off)} times of an {name}:\n\n"
        text += f"- mean absolute error {percent(off.mean())}, median {percent(float(np.median(off)))}; "
        text += f"of the solutions alone {percent(off[solutions].mean())};\n"
        text += f"- of the solutions by chapter: {', '.join(self.by_chapter())};\n"
        text += f"- with the kernel itself left out of the fit: {percent(left_out.mean())};\n"
        unseen = np.abs(self.unseen_off)
        text += f"- {len(set(self.unseen.names))} kernels that were added last and are in no fit: "
        text += f"{percent(unseen.mean())} at {len(unseen)} times; "
        text += f"the largest error of all is {percent(max(off.max(), unseen.max()))}, "
        text += f"and {int((off > WIDE).sum() + (unseen > WIDE).sum())} are above 25 %;\n"
        met, kept = goals_met(self.model, self.unseen, self.device)
        text += f"- of {met} times that reach 95 % of the best solution of the same task on the model, "
        text += f"{kept} reach it on the GPU, {percent(kept / max(1, met))};\n"
        close = sum(pair.agrees for pair in self.pairs)
        text += f"- the gain that what-if predicts is within 15 % of the measured one for {close} of "
        text += f"{len(self.pairs)} pairs of kernels;\n"
        text += f"- the limiter is the one that ncu saw for {alike} of {len(self.agreements)} kernels "
        text += f"at 2^26, {percent(self.agreement)};\n"
        if order:
            pairs = "; ".join(f"{fast} before {slow}" for fast, slow in order)
            text += f"- in the wrong order at 2^28: not {pairs}.\n"
        else:
            text += (
                "- the solutions of sums, and of transposes, that differ by more than 2 % at 2^28 are all "
            )
            text += "in the right order.\n"
        if self.stale:
            text += f"- changed since the record, and left out: {', '.join(self.stale)}.\n"
        return text

    def table(self) -> str:
        """One row a kernel."""
        sizes = sorted(set(self.model.sizes))
        powers = [f"2^{int(n).bit_length() - 1}" for n in sizes]
        rows = [
            f"| kernel | n | measured, us | modelled, us | {' | '.join(powers)} | limited by |",
            f"|---|---|--:|--:|{'--:|' * len(sizes)}---|",
        ]
        for name in dict.fromkeys(self.model.names):
            own = [k for k, point in enumerate(self.model.points) if point.kernel.name == name]
            last = own[-1]
            point, measured = self.model.points[last], self.model.measured[last]
            by_size = {self.model.points[k].n: f"{100 * self.off[k]:+.0f} %" for k in own}
            words = self.model.estimate(self.device, point).words.decode()
            cells = [
                *(name, f"2^{point.n.bit_length() - 1}", f"{1e6 * measured:,.1f}"),
                f"{1e6 * measured * (1 + self.off[last]):,.1f}",
                *(by_size.get(int(n), "") for n in sizes),
                words,
            ]
            rows.append(f"| {' | '.join(cells)} |")
        return "\n".join(rows) + "\n"

    def unseen_table(self) -> str:
        """The kernels that are in no fit."""
        rows = ["| kernel | errors, from 2^22 on |", "|---|---|"]
        for name in dict.fromkeys(self.unseen.names):
            off = [f"{100 * x:+.0f} %" for x in self.unseen_off[self.unseen.names == name]]
            rows.append(f"| {name} | {', '.join(off)} |")
        return "\n".join(rows) + "\n"

    def worst(self, count: int = 10) -> str:
        """The kernels with the largest errors, and why."""
        names = np.concatenate([self.model.names, self.unseen.names])
        off = np.concatenate([self.off, self.unseen_off])
        largest = {name: off[names == name][np.abs(off[names == name]).argmax()] for name in names}
        rows = ["| kernel | largest error | why |", "|---|--:|---|"]
        order = sorted(largest, key=lambda name: -abs(largest[name]))[:count]
        rows += [f"| {n} | {100 * largest[n]:+.0f} % | {REASONS.get(str(n), 'not known')} |" for n in order]
        return "\n".join(rows) + "\n"

    def supposed(self) -> str:
        """Predicted and measured gains."""
        rows = ["| kernel | supposed | measured with | predicted | measured | differs by |"]
        rows.append("|---|---|---|--:|--:|--:|")
        rows += [
            f"| {pair.name} | {pair.supposed} | {pair.changed} "
            f"| {pair.predicted:.2f} | {pair.measured:.2f} | {100 * pair.off:+.0f} % |"
            for pair in self.pairs
        ]
        return "\n".join(rows) + "\n"

    def disagreements(self) -> str:
        """Where the limiter is another one."""
        rows = ["| kernel | modelled | seen |", "|---|---|---|"]
        rows += [f"| {a.name} | {a.modelled} | {a.seen} |" for a in self.agreements if a.modelled != a.seen]
        return "\n".join(rows) + "\n"

    def constants(self) -> str:
        """The device's constants as they are now."""
        rows = ["| constant | value |", "|---|--:|"]
        rows += [f"| `{name}` | {getattr(self.device, name):.4g} |" for name in BOUNDS]
        return "\n".join(rows) + "\n"


def percent(share: float) -> str:
    """With one decimal."""
    return f"{100 * share:.1f} %"


def make_report(record: dict[str, Any], device: ModelDevice | None = None) -> Report:
    """Traces all kernels of the table and looks at the model from all sides."""
    kernels = read_table()
    told = {entry["name"]: entry for entry in record["kernels"]}
    everything = Model(gather(record, kernels))
    model, unseen = split(everything)
    device = device or device_of(record)
    left_out, unseen_off = leave_one_out(model, device), errors(unseen, device)
    return Report(
        record,
        model,
        device,
        errors(model, device),
        left_out,
        limiters(model, device, record),
        [k.name for k in kernels if k.name in told and is_stale(k, told[k.name])],
        unseen,
        unseen_off,
        measure_pairs(record, kernels, device, everything),
        bands(everything, left_out, unseen_off),
    )


def write_document(report: Report, path: Path = DOCUMENT) -> None:
    """Fills the places of the document."""
    content = {
        "summary": report.summary(),
        "table": report.table(),
        "unseen": report.unseen_table(),
        "worst": report.worst(),
        "pairs": report.supposed(),
        "limiters": report.disagreements(),
        "constants": report.constants(),
        "bands": bands_table(report.bands),
    }
    path.write_text(fill(path.read_text(), lambda place: content[place.argument]))


def write_constants(device: ModelDevice, path: Path = CONSTANTS) -> None:
    """Write a device's constants into the C file, where they take effect once the library is rebuilt."""
    text = path.read_text()
    for name in BOUNDS:
        value = re.sub(r"e([+-])0*(\d)", r"e\1\2", f"{getattr(device, name):.4g}").replace("e+", "e")
        text, count = re.subn(
            rf"^(    \.{name} = )[^,]+,", rf"\g<1>{value},", text, count=1, flags=re.MULTILINE
        )
        if count != 1:
            raise TableError(f"{path.name} has no .{name}")
    path.write_text(text)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="bench.model_report", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--fit", action="store_true", help="fit the constants, and write them into model_device.c"
    )
    given = parser.parse_args()
    try:
        record = read_record()
        if given.fit:
            model, _ = split(Model(gather(record, read_table())))
            device = fit(model, device_of(record))
            write_constants(device)
            print(f"mean absolute error {percent(np.abs(errors(model, device)).mean())}")
            return 0
        report = make_report(record)
    except (GpuError, CompileError, TableError) as error:
        print(f"warpbook: {error}", file=sys.stderr)
        return 3
    write_document(report)
    print(report.table())
    print(report.summary(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(guarded(main))
