"""How fast a kernel is, in the unit that its chapter counts: bytes a second, or operations a second."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .result import number

GB_PER_S, TFLOP_PER_S = "GB/s", "TFLOP/s"


@dataclass(frozen=True)
class Unit:
    """Of one kernel's speed, which the grader keeps in GB/s everywhere.

    `per_gb` is how many of this unit are 1 GB/s; `peak` is the device's limit in this unit, None where it is not known.
    """

    name: str  # "GB/s" or "TFLOP/s"
    per_gb: float
    peak: float | None

    def text(self, gb_per_s: float) -> str:
        """A speed in words: "1,412 GB/s", "28.9 TFLOP/s"."""
        return f"{self.figure(gb_per_s)} {self.name}"

    def figure(self, gb_per_s: float) -> str:
        """The same without the unit."""
        return figure(gb_per_s) if self.name == GB_PER_S else f"{gb_per_s * self.per_gb:,.1f}"


def figure(gb_per_s: float | None) -> str:
    """A bandwidth with its significant digits; "-" for none."""
    if gb_per_s is None:
        return "-"
    return f"{gb_per_s:,.0f}" if gb_per_s >= 10 else f"{gb_per_s:.2g}"


def unit_of(bandwidth: Mapping[str, Any] | None) -> Unit:
    """The unit for a result's `bandwidth`, or the same as the history keeps it: a matrix product counts operations."""
    known = bandwidth or {}
    bytes_, operations = number(known.get("gb_per_s")), number(known.get("tflop_per_s"))
    if bytes_ and operations:
        return Unit(TFLOP_PER_S, operations / bytes_, number(known.get("peak_tflop_per_s")))
    return Unit(GB_PER_S, 1.0, number(known.get("peak_gb_per_s")))
