"""What an H200 measured, as tables for the lessons: read from the committed bench/records/*.json, never typed.

A place names kernels of the record (bench/variants/variants.toml) and what the table calls them:

    <!-- measured: ch02 = this chapter's reference; a chunk a thread = a chunk for each thread -->
"""

import json
from pathlib import Path
from typing import Any

from .markers import MarkerError

DEVICE = "H200"
NO_RECORD = f"*No record of an {DEVICE} has been committed yet.*\n"
_SIZES = (2**16, 2**20, 2**24, 2**28)


def record_of(root: Path) -> dict[str, Any] | None:
    """The committed record of an H200, or None."""
    for path in sorted((root / "bench" / "records").glob("*.json")):
        record = json.loads(path.read_text("utf-8"))
        if record.get("schema") == "warpbook/record/1" and DEVICE in record["device"]["name"]:
            return dict(record)
    return None


def table(root: Path, argument: str) -> str:
    """GB/s of the kernels named, at several sizes, as a Markdown table."""
    rows = [tuple(entry.split(" = ", 1)) for entry in argument.split("; ")]
    if any(len(row) != 2 for row in rows):
        raise MarkerError(f"`measured: {argument}`: each entry is a kernel of the record = its words")
    record = record_of(root)
    if record is None:
        return NO_RECORD
    points = {
        kernel["name"]: {point["n"]: point["gb_per_s"] for point in kernel["points"]}
        for kernel in record["kernels"]
    }
    lines = [
        f"GB/s on an {record['device']['name']}, {record['date']}, by the number of floats:\n",
        "| kernel | " + " | ".join(f"{n:,}" for n in _SIZES) + " |",
        "|---|" + "---:|" * len(_SIZES),
    ]
    for name, words in rows:
        if name not in points:
            raise MarkerError(f"the record has no kernel `{name}`; it has: {'; '.join(points)}")
        lines.append(f"| {words} | " + " | ".join(_figure(points[name].get(n)) for n in _SIZES) + " |")
    return "\n".join(lines) + "\n"


def _figure(gb_per_s: float | None) -> str:
    """A bandwidth with as many digits as mean something."""
    if gb_per_s is None:
        return "-"
    return f"{gb_per_s:,.0f}" if gb_per_s >= 100 else f"{gb_per_s:.3g}"
