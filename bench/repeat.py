"""The same benchmark on another day and machine: which ratios come out alike."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

# It returns to the host and waits there, so that its time is also the host's.
HOST_BOUND = "thrust::reduce"


@dataclass(frozen=True)
class Twice:
    """A ratio of one contender to another in both runs, each with its interval (value, low, high)."""

    work: str
    n: int
    l2: str
    reference: str
    peer: str
    here: tuple[float, float, float]
    there: tuple[float, float, float]

    @property
    def overlaps(self) -> bool:
        """Whether the intervals have a value in common."""
        return self.here[1] <= self.there[2] and self.there[1] <= self.here[2]

    @property
    def apart(self) -> float:
        """How far the ratios are apart, as a share."""
        return abs(self.here[0] / self.there[0] - 1)


def _ratios(record: dict[str, Any]) -> dict[tuple[Any, ...], tuple[float, float, float]]:
    return {
        (case["work"], case["n"], case["columns"], case["l2"], each["reference"], each["peer"]): (
            each["ratio"],
            *each["interval"],
        )
        for case in record["cases"]
        for each in case["ratios"]
    }


def compare(record: dict[str, Any], other: dict[str, Any]) -> list[Twice]:
    """Every ratio that both records have."""
    here, there = _ratios(record), _ratios(other)
    return [
        Twice(work, n, l2, reference, peer, here[key], there[key])
        for key in here
        if key in there
        for work, n, _, l2, reference, peer in [key]
    ]


def table(record: dict[str, Any], folder: Path) -> str:
    """Both runs in Markdown, by the state of the L2; `folder` has the record of the other one."""
    paths = sorted(folder.glob("bench-*.json"))
    if not paths:
        return "There is one run only.\n"
    other = json.loads(paths[0].read_text("utf-8"))
    every = compare(record, other)
    rows = [
        f"| {record['date']} and {other['date']} | ratios | intervals overlap | within 1 % | median | farthest apart |",
        "|---|--:|--:|--:|--:|---|",
    ]
    groups = {
        f"{l2} L2": [one for one in every if one.l2 == l2 and one.peer != HOST_BOUND]
        for l2 in ("cold", "dirty", "warm")
    }
    groups[HOST_BOUND] = [one for one in every if one.peer == HOST_BOUND]
    for words, group in groups.items():
        if not group:
            continue
        apart = np.array([one.apart for one in group])
        last = max(group, key=lambda one: one.apart)
        rows.append(
            f"| {words} | {len(group)} | {sum(one.overlaps for one in group)} | {int((apart <= 0.01).sum())} "
            f"| {100 * float(np.median(apart)):.2f} % | {100 * last.apart:.1f} %: {last.work}, n = {last.n:,}, "
            f"{last.reference} over {last.peer} |"
        )
    return "\n".join(rows) + "\n"
