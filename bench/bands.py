"""How far a modelled time may be off, for a GPU that the constants were fitted to, one of the same kind, and any other.

A band is the share within which nine of ten times lie. Nothing needs a GPU.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bench.gpu import GpuError
from bench.model import BOUNDS, Model, ModelDevice, Vector, device_of, errors, is_stale, read_record
from bench.record import RECORDS

OTHER = RECORDS / "NVIDIA-H100-80GB-HBM3.json"  # no constant is fitted to it
SHARE = 90  # percent of the times
STEP = 0.05
# What one latency of the H200 differs by from the H100's (atomics, `calibration` of both records): a constant
# that was carried over to another GPU is taken to be off by at most as much.
CARRIED = 1.5
DRAWS = 100


@dataclass(frozen=True)
class Band:
    """Errors of the model on one kind of GPU."""

    gpu: str  # "" stands for any that was never compared
    why: str
    off: Vector  # predicted over measured, less one

    @property
    def width(self) -> float:
        """The band, rounded up to whole steps of 5 %."""
        exact = float(np.percentile(np.abs(self.off), SHARE))
        return STEP * float(np.ceil(exact / STEP - 1e-9))


def _carried_over(model: Model, device: ModelDevice) -> Vector:
    """Errors with every constant that a fit may change moved by chance, as far as CARRIED either way."""
    chance = np.random.default_rng(1)
    free = [name for name, (low, high) in BOUNDS.items() if high > low]
    drawn = []
    for _ in range(DRAWS):
        moved = ModelDevice.from_buffer_copy(device)
        for name in free:
            factor = CARRIED ** chance.uniform(-1, 1)
            value = getattr(device, name) * factor
            # No memory moves more than its peak.
            setattr(moved, name, min(value, 1.0) if name in ("dram_read", "dram_write") else value)
        drawn.append(errors(model, moved))
    return np.concatenate(drawn)


def _elsewhere(model: Model, record: dict[str, Any]) -> Model:
    """The same launches, as far as that record has them, with its times."""
    told = {entry["name"]: entry for entry in record["kernels"] if entry["name"] in model.names}
    seconds = {
        (name, point["n"]): point["seconds"] for name, entry in told.items() for point in entry["points"]
    }
    return Model(
        [
            replace(point, seconds=seconds[point.kernel.name, point.n])
            for point in model.points
            if (point.kernel.name, point.n) in seconds and not is_stale(point.kernel, told[point.kernel.name])
        ]
    )


def bands(everything: Model, fitted: Vector, unseen: Vector) -> list[Band]:
    """Of the H200, from errors of kernels that were left out of their fit and of those in none; of the H100; of any.

    Both GPUs have as many SMs, so that the launches of `everything`, the H200's points, are the H100's too.
    """
    record = read_record(OTHER)
    model, device = _elsewhere(everything, record), device_of(record)
    if not model.points:
        raise GpuError(f"{OTHER.name}: no kernel of the table is as it was recorded")
    return [
        Band("H200", "kernels left out of the fit, and those in none", np.concatenate([fitted, unseen])),
        Band("H100", "constants of the H200 and this GPU's published figures", errors(model, device)),
        Band("", f"the same, with constants up to {CARRIED} times off", _carried_over(model, device)),
    ]


def table(found: list[Band]) -> str:
    """The bands in Markdown."""
    rows = ["| GPU | compared | times | mean error | 9 of 10 within | shown |", "|---|---|--:|--:|--:|--:|"]
    for band in found:
        off = np.abs(band.off)
        rows.append(
            f"| {band.gpu or 'any other'} | {band.why} | {len(off):,} | {100 * off.mean():.1f} % "
            f"| {100 * np.percentile(off, SHARE):.1f} % | +/- {100 * band.width:.0f} % |"
        )
    return "\n".join(rows) + "\n"
