"""Gradescope: results.json, as its autograder specification has it. One test for each chapter."""

from pathlib import Path
from typing import Any

from ..views.remarks import MEANINGS, whole_text
from .files import json_text, speeds, weighted, write_each


def export(document: dict[str, Any], folder: Path) -> list[Path]:
    """gradescope/STUDENT.json for each student who has a score."""
    return write_each(
        document, folder / "gradescope", ".json", lambda student: json_text(results(document, student))
    )


def results(document: dict[str, Any], student: dict[str, Any]) -> dict[str, Any]:
    """A student's results.json."""
    parts = weighted(document, student)
    trouble = student["trouble"]
    output = whole_text(document, student) if trouble else f"{document['course']['title']}: "
    if not trouble:
        passed = sum(remark.passed for remark, _, _ in parts)
        output += f"{passed} of {len(parts)} chapters passed."
    return {
        "score": student["score"]["earned"],
        "execution_time": round(student["seconds"]),
        "output": output,
        "output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "extra_data": {
            "workbook": document["workbook"],
            "kernels": {one["chapter"]: one["kernel_sha256"] for one in student["chapters"]},
        },
        "tests": [
            {
                "score": score,
                "max_score": possible,
                "status": "passed" if remark.passed else "failed",
                "name": f"{remark.chapter} {remark.title}",
                "number": remark.chapter.removeprefix("ch").lstrip("0"),
                "output": MEANINGS[remark.verdict] if trouble else remark.text(),
                "output_format": "text",
                "tags": [remark.verdict],
                "visibility": "visible",
            }
            for remark, score, possible in parts
        ],
        "leaderboard": [
            {"name": "points", "value": student["score"]["earned"], "order": "desc"},
            *({"name": name, "value": value, "order": "desc"} for name, value in speeds(student).items()),
        ],
    }
