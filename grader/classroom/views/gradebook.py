"""gradebook.csv: one row for each student of the class. The same submissions give the same bytes.

Submissions that belong to nobody in the roster are in a separate section under an empty line.
"""

from pathlib import Path
from typing import Any

from ...core.workbook import write_whole
from .remarks import decided, trouble_of, which_counts
from .spreadsheet import csv_text, defused, number

STRANGERS = "not in the roster"


def write(document: dict[str, Any], path: Path) -> None:
    """Writes the complete gradebook of a class.json."""
    write_whole(path, csv_text([*rows(document), *stranger_rows(document)]))


def rows(document: dict[str, Any]) -> list[list[str]]:
    """The table, its heading first. Points that are not known (INFRA) are empty cells, never zeros."""
    heading = ["id", "name", "email", "section", "received", "days late"]
    for chapter in document["course"]["chapters"]:
        name = chapter["chapter"]
        heading += [f"{name} verdict", f"{name} points", f"{name} score"]
    heading += ["score", "possible", "trouble", "counted submission", "set by hand"]
    given = document["course"]["grade"]
    heading += ["percent"] if given else []
    heading += ["grade"] if given else []
    return [heading, *(_row(student, has_grade=bool(given)) for student in document["students"])]


def stranger_rows(document: dict[str, Any]) -> list[list[str]]:
    """An empty line, a heading, and a line for each submission of nobody in the roster; nothing without any."""
    if not document["strangers"]:
        return []
    table = [[], [STRANGERS, "why", "line for [owners] of the course file"]]
    return table + [
        [defused(one["name"]), defused(one["why"]), defused(" or ".join(one["lines"]))]
        for one in document["strangers"]
    ]


def _row(student: dict[str, Any], *, has_grade: bool) -> list[str]:
    submission = student["submission"]
    row = [defused(student[key]) for key in ("id", "name", "email", "section")]
    row += [submission["received"] or "", str(submission["days_late"])]
    for chapter in student["chapters"]:
        score = "excused" if chapter["excused"] else number(chapter["score"])
        row += [chapter["verdict"], number(chapter["points"]["earned"]), score]
    row += [number(student["score"]["earned"]), number(student["score"]["possible"])]
    row.append(defused(trouble_of(student)))
    for said in (which_counts, decided):
        parts = [f"{one['chapter']}: {words}" for one in student["chapters"] if (words := said(student, one))]
        row.append(defused("; ".join(parts)))
    grade = student["grade"]
    if has_grade:
        row.append(number(grade["percent"]) if grade else "")
        row.append(defused(grade["letter"] or number(grade["curved"])) if grade else "")
    return row
