"""gradebook.csv: one row for each student. The same submissions give the same bytes."""

from pathlib import Path
from typing import Any

from ...core.workbook import write_whole
from .spreadsheet import csv_text, defused, number


def write(document: dict[str, Any], path: Path) -> None:
    """Writes the gradebook of a class.json whole."""
    write_whole(path, csv_text(rows(document)))


def rows(document: dict[str, Any]) -> list[list[str]]:
    """The table, its heading first. Points that are not known (INFRA) are empty cells, never zeros."""
    heading = ["id", "name", "email", "section", "received", "days late"]
    for chapter in document["course"]["chapters"]:
        name = chapter["chapter"]
        heading += [f"{name} verdict", f"{name} points", f"{name} score"]
    table = [[*heading, "score", "possible", "trouble"]]
    return table + [_row(student) for student in document["students"]]


def _row(student: dict[str, Any]) -> list[str]:
    submission = student["submission"]
    row = [defused(student[key]) for key in ("id", "name", "email", "section")]
    row += [submission["received"] or "", str(submission["days_late"])]
    for chapter in student["chapters"]:
        row += [chapter["verdict"], number(chapter["points"]["earned"]), number(chapter["score"])]
    trouble = student["trouble"]
    row += [number(student["score"]["earned"]), number(student["score"]["possible"])]
    return [*row, defused(trouble["message"]) if trouble else ""]
