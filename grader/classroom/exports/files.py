"""What the formats that have a file for each student share."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ...core.speed import unit_of
from ...core.workbook import write_whole
from ..submissions.submission import file_name
from ..views.remarks import Remark, remarks


def judged(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The students who have a score."""
    return (student for student in document["students"] if student["score"]["earned"] is not None)


def write_each(
    document: dict[str, Any], folder: Path, ending: str, text: Callable[[dict[str, Any]], str]
) -> list[Path]:
    """One file for each student who has a score; files of earlier exports of others go."""
    wanted = {f"{file_name(student['id'])}{ending}": student for student in judged(document)}
    for path in folder.glob(f"*{ending}"):
        if path.name not in wanted:
            path.unlink()
    for name, student in wanted.items():
        write_whole(folder / name, text(student))
    return [folder / name for name in wanted]


def json_text(document: Any) -> str:
    """A JSON document as it is written to a file."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def weighted(document: dict[str, Any], student: dict[str, Any]) -> list[tuple[Remark, float, float]]:
    """Each chapter that counts, with its part of the student's score, and the most that it can be."""
    weights = {one["chapter"]: one["weight"] for one in document["course"]["chapters"]}
    return [
        (remark, round((remark.score or 0) * weights[remark.chapter], 2),
         round(remark.possible * weights[remark.chapter], 2))
        for remark in remarks(document, student) if not remark.is_excused
    ]  # fmt: skip


def speeds(student: dict[str, Any]) -> dict[str, float]:
    """For each chapter that passed and has one, its speed, under its name and its unit: "ch04 GB/s"."""
    found = {}
    for one in student["chapters"]:
        bandwidth = (one["result"] or {}).get("bandwidth") or {}
        if one["verdict"] == "PASS" and bandwidth.get("gb_per_s"):
            unit = unit_of(bandwidth)
            found[f"{one['chapter']} {unit.name}"] = round(unit.per_gb * float(bandwidth["gb_per_s"]), 1)
    return found


def is_built(remark: Remark) -> bool:
    """Whether there was an image to run."""
    return remark.verdict not in ("MISSING", "BUILD", "BUILD_TIMEOUT", "RESOURCE", "REJECT", "UNSUPPORTED")


def is_right(remark: Remark) -> bool:
    """Whether its results are right, fast or not."""
    return remark.verdict in ("PASS", "SLOW", "UNTRUSTED_TIME")
