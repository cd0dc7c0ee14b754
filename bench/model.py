"""The time model beside the record of a GPU: how far it is off, and the constants that bring it closest.

The model is the C library's (common/emulator/model/model.h); here it is only called. Nothing needs a GPU.
"""

from __future__ import annotations

import ctypes as c
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.emulator_library import library
from bench.record import RECORDS
from bench.table import Kernel
from bench.tracing import Point, Tracer

RECORD = RECORDS / "NVIDIA-H200.json"
SMALLEST = 2**22  # the sizes that the model answers for
LIMITERS = ("launch", "latency", "memory", "instructions", "atomics", "chain")

Vector = npt.NDArray[np.float64]

FIGURES = (
    *("sm_count", "clock_hz", "warps_per_sm", "blocks_per_sm", "registers_per_sm", "shared_per_sm"),
    *("shared_reserved_per_block", "l1_bytes", "l2_bytes", "peak_bytes_per_s"),
)
# Constants of an H200 that a fit may change, with bounds from physics or a direct measurement.
BOUNDS: dict[str, tuple[float, float]] = {
    "launch": (2.6e-6, 2.7e-6),  # "nothing, 1 block"
    "first_access": (0.2e-6, 3e-6),
    "next_launch": (0.5e-6, 4e-6),
    "code": (0.5e-9, 5e-9),
    "block": (0.4e-9, 0.8e-9),
    "warp_cycles": (2, 60),
    "l2_latency": (287, 287),  # calibration
    "dram_latency": (550, 850),
    "dram_latency_spread": (60, 250),
    "overlap": (0.2, 6),
    "overlap_written": (0.1, 4),
    "dram_read": (0.92, 0.98),  # the best kernel reads 0.955 of the peak, launch and tail included
    "dram_write": (0.90, 0.99),
    "dram_scattered": (0.2, 0.8),
    "dram_mixed": (0.01, 0.4),
    "dirty_bytes": (1e6, 30e6),
    "l2_line": (1e-12, 2e-11),
    "l2_sector": (2e-13, 8e-12),
    "l2_local": (0.5, 8),
    "l2_usable": (0.5, 1),
    "issue": (2.5, 4),
    "alu": (2, 2),
    "special": (0.5, 0.5),
    "doubles": (2, 2),
    "store_line": (0.5, 6),
    "wavefront": (1, 2),
    "sharing": (1.5, 12),
    "queued": (1.5, 12),
    "together": (0.3, 12),
    "parties": (0.05, 1),
    "atomic_word": (7.35e-10, 7.35e-10),  # calibration
    "atomic_sector": (
        5.93e-10,
        5.93e-10,
    ),  # one sector again and again; calibration has four of a line, 0.632
    "atomic_float": (1.76e-9, 1.76e-9),  # calibration
    "atomic_l2": (1e-11, 1e-11),  # about 100 a ns, where all lanes are on different lines
    "told": (4e-7, 4e-7),  # docs/time-model.md
    "told_plainly": (3e-6, 3e-6),  # likewise
}


class ModelDevice(c.Structure):
    """ModelDevice of model.h."""

    _fields_ = [(name, c.c_double) for name in (*FIGURES, *BOUNDS)]


INTEGER_FIGURES = (
    *("sm_count", "clock_khz", "compute_major", "compute_minor", "max_threads_per_sm"),
    *("max_blocks_per_sm", "registers_per_sm", "shared_per_sm", "shared_reserved_per_block"),
)


class _Figures(c.Structure):
    _fields_ = [
        *((name, c.c_int) for name in INTEGER_FIGURES),
        *((name, c.c_double) for name in ("l2_bytes", "peak_gb_per_s")),
    ]


class Estimate(c.Structure):
    """ModelEstimate of model.h."""

    _fields_ = [
        *((name, c.c_double) for name in ("seconds", "launch", "latency", "dram", "l2", "units", "blocks")),
        *((name, c.c_double) for name in ("atomics", "chain", "issue", "load_store")),
        ("narrow", c.c_char_p),
        *((name, c.c_double) for name in ("dram_bytes", "bytes_in_flight", "bytes_to_fill")),
        ("limiter", c.c_int),
        ("words", c.c_char * 200),
    ]


def device_of(record: dict[str, Any]) -> ModelDevice:
    """The device that a record is of, with the library's constants."""
    told = record["device"]
    peak = 2 * told["memory_clock_khz"] * told["memory_bus_bits"] / 8 / 1e6
    figures = _Figures(
        **{name: told[name] for name in INTEGER_FIGURES},
        l2_bytes=told["l2_bytes"],
        peak_gb_per_s=peak,
    )
    device = ModelDevice()
    library().model_device(c.byref(figures), c.byref(device))
    return device


class Model:
    """The library's estimates for a list of points."""

    def __init__(self, points: Sequence[Point]) -> None:
        self.points = list(points)
        self._lib = library()
        self.measured = np.array([point.seconds for point in points])
        self.names = np.array([point.kernel.name for point in points])
        self.sizes = np.array([point.n for point in points])

    def estimate(self, device: ModelDevice, point: Point) -> Estimate:
        """Of one point."""
        whole = Estimate()
        for i, (shape, work) in enumerate(zip(point.shapes, point.works, strict=True)):
            one = Estimate()
            self._lib.model_estimate(c.byref(device), c.byref(shape), c.byref(work), c.byref(one))
            if i:
                self._lib.model_estimate_next(c.byref(device), c.byref(one), c.byref(whole))
            else:
                whole = one
        return whole

    def seconds(self, device: ModelDevice) -> Vector:
        """Of all points."""
        return np.array([self.estimate(device, point).seconds for point in self.points])

    def part(self, keep: npt.NDArray[np.bool_]) -> Model:
        """The points that are to be kept."""
        return Model([point for point, is_kept in zip(self.points, keep, strict=True) if is_kept])


def split(model: Model) -> tuple[Model, Model]:
    """The points that constants may be fitted to, and those of kernels that were added last."""
    unseen = np.array([point.kernel.is_unseen for point in model.points])
    return model.part(~unseen), model.part(unseen)


# ---- Fitting ---------------------------------------------------------------------------------------------------


def _with(device: ModelDevice, values: Vector) -> ModelDevice:
    made = ModelDevice.from_buffer_copy(device)
    for name, value in zip(BOUNDS, values, strict=True):
        setattr(made, name, float(np.exp(value)))
    return made


def _residuals(model: Model, device: ModelDevice, values: Vector) -> Vector:
    """Roots of errors, so that their squares add up to the mean error; smooth below 3 %."""
    error = model.seconds(_with(device, values)) / model.measured - 1
    bent: Vector = error / (error**2 + 0.03**2) ** 0.25
    return bent


def _limits() -> tuple[Vector, Vector]:
    return np.log([low for low, _ in BOUNDS.values()]), np.log([high for _, high in BOUNDS.values()])


def _values(device: ModelDevice) -> Vector:
    return np.clip(np.log([getattr(device, name) for name in BOUNDS]), *_limits())


def _slope(model: Model, device: ModelDevice, values: Vector, residuals: Vector) -> Vector:
    """How the residuals follow each constant; those that are fixed have none."""
    low, high = _limits()
    slope = np.zeros((len(residuals), len(values)))
    for k in np.flatnonzero(high > low):
        step = 1e-4 if values[k] + 1e-4 <= high[k] else -1e-4
        moved = values.copy()
        moved[k] += step
        slope[:, k] = (_residuals(model, device, moved) - residuals) / step
    return slope


def _step(values: Vector, slope: Vector, residuals: Vector, damping: float) -> Vector:
    square = slope.T @ slope
    square += damping * np.diag(np.diag(square)) + 1e-9 * np.eye(len(values))
    moved: Vector = np.clip(values - np.linalg.solve(square, slope.T @ residuals), *_limits())
    return moved


def fit(model: Model, device: ModelDevice, rounds: int = 40) -> ModelDevice:
    """The constants within their bounds that come closest: Levenberg and Marquardt's method, on logarithms."""
    values = _values(device)
    residuals, damping = _residuals(model, device, values), 1e-2
    for _ in range(rounds):
        slope, before = _slope(model, device, values, residuals), residuals @ residuals
        for _ in range(8):
            moved = _step(values, slope, residuals, damping)
            tried = _residuals(model, device, moved)
            if tried @ tried < before:
                values, residuals, damping = moved, tried, damping / 4
                break
            damping *= 5
        if before - residuals @ residuals < 1e-5 * before:
            break
    return _with(device, values)


def errors(model: Model, device: ModelDevice) -> Vector:
    """Predicted over measured, less one."""
    off: Vector = model.seconds(device) / model.measured - 1
    return off


def leave_one_out(model: Model, device: ModelDevice) -> Vector:
    """The error of each point with constants fitted on all kernels but its own.

    From the constants that fit all of them one damped step of the method leads towards those that fit the rest.
    """
    fitted = fit(model, device)
    values = _values(fitted)
    residuals = _residuals(model, fitted, values)
    slope = _slope(model, fitted, values, residuals)
    left = np.empty(len(model.points))
    for name in dict.fromkeys(model.names):
        own = model.names == name
        rest, least, kept = model.part(~own), residuals[~own] @ residuals[~own], values
        for damping in (1e-2, 1e-1, 1.0):
            moved = _step(values, slope[~own], residuals[~own], damping)
            tried = _residuals(rest, fitted, moved)
            if tried @ tried < least:
                kept = moved
                break
        left[own] = errors(model.part(own), _with(fitted, kept))
    return left


# ---- Gathering -------------------------------------------------------------------------------------------------


def read_record(path: Path = RECORD) -> dict[str, Any]:
    """A record as `make record-gpu` writes it."""
    record: dict[str, Any] = json.loads(path.read_text())
    return record


def is_stale(kernel: Kernel, entry: dict[str, Any]) -> bool:
    """Whether a kernel's file has changed since its entry of the record was made."""
    return bool(entry.get("source", kernel.source_hash) != kernel.source_hash)


def gather(record: dict[str, Any], kernels: Sequence[Kernel], smallest: int = SMALLEST) -> list[Point]:
    """Traces every kernel at every size of the record from `smallest` on, where its file is still the record's."""
    told = {entry["name"]: entry for entry in record["kernels"]}
    tracer = Tracer(record, list(kernels))
    try:
        return [
            tracer.point(kernel, point["n"], point["seconds"], told[kernel.name]["passes"])
            for kernel in kernels
            if kernel.name in told and not is_stale(kernel, told[kernel.name])
            for point in told[kernel.name]["points"]
            if point["n"] >= smallest
        ]
    finally:
        tracer.close()
