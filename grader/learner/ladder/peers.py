"""CUB's bandwidth, from the record that `make bench` made of a device."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCHEMA = "warpbook/bench/1"
_NEAR = 2.0  # another size is comparable within this factor


@dataclass(frozen=True)
class Peer:
    """A peer's kernel at one size."""

    name: str
    n: int
    gb_per_s: float


def bench_record(root: Path, device: str) -> dict[str, Any] | None:
    """The record of `make bench` on a device of that name; None if there is no readable one."""
    return next((record for record in _records(root) if record["device"]["name"] == device), None)


def recorded_devices(root: Path) -> list[str]:
    """The names of the devices for which there is a record of `make bench`."""
    return [str(record["device"]["name"]) for record in _records(root)]


def _records(root: Path) -> Iterator[dict[str, Any]]:
    for path in sorted((root / "bench" / "records").glob("*.json")):
        try:
            record = json.loads(path.read_text("utf-8"))
            if record["schema"] == SCHEMA and record["device"]["name"]:
                yield dict(record)
        except (OSError, ValueError, KeyError, TypeError):
            continue


def cub(record: dict[str, Any] | None, timing: dict[str, Any]) -> Peer | None:
    """CUB with a cold L2 for the task of a run; None if CUB has no such kernel, or no size is near.

    Sums and row sums are recognised by the bytes that must move: each element is read, and hardly anything is
    written.
    """
    n, moved = timing.get("n"), timing.get("bytes")
    if record is None or not isinstance(n, int) or not isinstance(moved, int | float) or n <= 0:
        return None
    if moved > 4.5 * n:
        return None
    work = "rows" if timing.get("rows") else "sum"
    cases = [case for case in record.get("cases", []) if (case["work"], case["l2"]) == (work, "cold")]
    found = [
        Peer(result["name"], case["n"], result["gb_per_s"])
        for case in cases
        for result in case["results"]
        if result["name"] in ("CUB", "CUB segmented") and "gb_per_s" in result and case["n"] > 0
    ]
    near = [peer for peer in found if 1 / _NEAR <= peer.n / n <= _NEAR]
    return min(near, key=lambda peer: max(peer.n / n, n / peer.n), default=None)
