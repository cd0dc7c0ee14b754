"""What-if beside the kernel that was really changed: pairs of the table that differ in one aspect only."""

from __future__ import annotations

import ctypes as c
from dataclasses import dataclass
from typing import Any

from bench.emulator_library import library
from bench.model import Model, ModelDevice
from bench.table import Kernel
from bench.tracing import Point, Tracer

SIZE = 2**28  # at which they are compared, or the largest of the record below it
CLOSE = 0.15  # a predicted gain that differs by no more than this share of the measured one agrees
TRACED = {"no conflicts": 1, "coalesced": 2, "no divergence": 4}  # WHAT_IF_* of launch.h

_DOUBLES = "doubles, "
PAIRS: tuple[tuple[str, str, str], ...] = (
    ("transpose, tile", "no conflicts", "transpose, padded tile"),
    ("ch11 tile", "no conflicts", "ch11 padded"),
    ("shared, 8 lanes a bank", "no conflicts", "shared, no conflict"),
    ("shared, 32 lanes a bank", "no conflicts", "shared, no conflict"),
    ("shared twice, 4 lanes a bank", "no conflicts", "shared twice, no conflict"),
    ("shared twice, 8 lanes a bank", "no conflicts", "shared twice, no conflict"),
    ("shared twice, 16 lanes a bank", "no conflicts", "shared twice, no conflict"),
    (f"{_DOUBLES}4 words apart", "no conflicts", f"{_DOUBLES}no conflict"),
    (f"{_DOUBLES}8 words apart", "no conflicts", f"{_DOUBLES}no conflict"),
    ("transpose, conflicts, 32 x 8", "no conflicts", "transpose, tile of 32, 32 x 8"),
    ("transpose, conflicts, 32 x 32", "no conflicts", "transpose, tile of 32, 32 x 32"),
    ("transpose, conflicts, tile of 64", "no conflicts", "transpose, tile of 64, 64 x 16"),
    ("transpose, conflicts of 4", "no conflicts", "transpose, tile of 32, 32 x 8"),
    ("a chunk a thread", "coalesced", "plain, compiler unrolls"),
    ("rows, a thread a row", "coalesced", "rows, a warp a row"),
    ("add, a chunk a thread", "coalesced", "add, grid-stride"),
    (f"{_DOUBLES}a chunk a thread", "coalesced", f"{_DOUBLES}plain"),
    ("1 resident block of 256", "occupancy", "plain, compiler unrolls"),
    ("2 resident blocks of 256", "occupancy", "plain, compiler unrolls"),
    ("4 resident blocks of 256", "occupancy", "plain, compiler unrolls"),
    (f"{_DOUBLES}1 resident block", "occupancy", f"{_DOUBLES}plain"),
    (f"{_DOUBLES}2 resident blocks", "occupancy", f"{_DOUBLES}plain"),
    ("float, blocks of 256", "2 loads", "float, 2 in a row"),
    ("float, blocks of 256", "4 loads", "float, 4 in a row"),
    ("float, blocks of 256", "8 loads", "float, 8 in a row"),
    (f"{_DOUBLES}plain", "2 loads", f"{_DOUBLES}2 in a row"),
    (f"{_DOUBLES}plain", "4 loads", f"{_DOUBLES}4 in a row"),
    (f"{_DOUBLES}2 blocks an SM", "4 loads", f"{_DOUBLES}2 blocks an SM, 4 in a row"),
    ("2 paths", "no divergence", "paths apart"),
    ("4 paths", "no divergence", "paths apart"),
    ("8 paths", "no divergence", "paths apart"),
    (f"{_DOUBLES}2 paths", "no divergence", f"{_DOUBLES}paths apart"),
    (f"{_DOUBLES}4 paths", "no divergence", f"{_DOUBLES}paths apart"),
)


@dataclass(frozen=True)
class Pair:
    """A kernel, what is supposed of it, and the kernel that was changed so; gains are ratios of times."""

    name: str
    supposed: str
    changed: str
    predicted: float
    measured: float

    @property
    def off(self) -> float:
        """By which share of the measured gain the predicted one differs."""
        return self.predicted / self.measured - 1

    @property
    def agrees(self) -> bool:
        """Within CLOSE."""
        return abs(self.off) <= CLOSE


def suppose(point: Point, supposed: str) -> None:
    """Changes what the model knows of a point that was traced as it is."""
    if supposed == "occupancy":
        point.shapes[0].shared_bytes = 128
    elif supposed.endswith("loads"):
        library().model_with_loads_in_flight(c.byref(point.works[0]), c.c_double(float(supposed.split()[0])))


def measure_pairs(
    record: dict[str, Any], kernels: list[Kernel], device: ModelDevice, model: Model
) -> list[Pair]:
    """The pairs, by the record's times and the model's with one thing changed."""
    by_name = {kernel.name: kernel for kernel in kernels}
    told = {entry["name"]: entry for entry in record["kernels"]}
    plain = {(point.kernel.name, point.n): model.estimate(device, point).seconds for point in model.points}
    times = {name: {p["n"]: p["seconds"] for p in entry["points"]} for name, entry in told.items()}
    found = []
    tracer = Tracer(record, [by_name[name] for name, _, _ in PAIRS])
    try:
        for name, supposed, changed in PAIRS:
            n = max(size for size in times[name] if size in times[changed] and size <= SIZE)
            tracer.device.what_if = TRACED.get(supposed, 0)
            point = tracer.point(by_name[name], n, 0.0, told[name]["passes"])
            suppose(point, supposed)
            predicted = plain[name, n] / model.estimate(device, point).seconds
            found.append(Pair(name, supposed, changed, predicted, times[name][n] / times[changed][n]))
    finally:
        tracer.close()
    return found
