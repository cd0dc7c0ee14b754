"""grades.csv with the columns of nbgrader's own export: a row for each chapter of each student."""

import datetime
from pathlib import Path
from typing import Any

from ...core.workbook import write_whole
from ..views.spreadsheet import csv_text, defused, identifier, number

COLUMNS = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email",
    "raw_score", "late_submission_penalty", "score", "max_score",
)  # fmt: skip


def export(document: dict[str, Any], folder: Path) -> list[Path]:
    """nbgrader/grades.csv of the class."""
    path = folder / "nbgrader" / "grades.csv"
    rows = [list(COLUMNS)]
    for i, chapter in enumerate(document["course"]["chapters"]):
        rows += [_row(chapter, student, student["chapters"][i]) for student in document["students"]]
    write_whole(path, csv_text(rows, newline="\n"))
    return [path]


def _row(chapter: dict[str, Any], student: dict[str, Any], one: dict[str, Any]) -> list[str]:
    first, _, last = student["name"].rpartition(" ")
    earned, score = one["points"]["earned"], one["score"]
    is_handed_in = one["verdict"] != "MISSING"
    return [
        chapter["chapter"],
        _utc(chapter["due"]),
        _utc(student["submission"]["received"] if is_handed_in else None),
        identifier(student["id"]),
        defused(last),
        defused(first),
        identifier(student["email"]),
        number(earned),
        "" if score is None else number(round(earned - score, 2)),
        number(score),
        number(one["points"]["possible"]),
    ]


def _utc(time: str | None) -> str:
    """As nbgrader's database has times: in UTC, and does not say so."""
    if not time:
        return ""
    return datetime.datetime.fromisoformat(time).astimezone(datetime.UTC).strftime("%Y-%m-%d %H:%M:%S")
