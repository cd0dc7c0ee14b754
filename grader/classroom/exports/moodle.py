"""The grading worksheet of a Moodle assignment: its import reads Identifier, Grade and Feedback comments."""

import datetime
import html
from pathlib import Path
from typing import Any

from ...core.errors import UsageError
from ...core.workbook import write_whole
from ..views.remarks import short_text
from ..views.spreadsheet import csv_text, defused, identifier, number
from .roster import Finder, read_roster, say_who_is_missing

COLUMNS = (
    "Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade", "Grade can be changed",
    "Last modified (submission)", "Last modified (grade)", "Feedback comments",
)  # fmt: skip


def export(document: dict[str, Any], folder: Path) -> list[Path]:
    """moodle.csv, a worksheet as Moodle's own."""
    rows = [list(COLUMNS)]
    for student in document["students"]:
        received = student["submission"]["received"]
        rows.append(
            [
                defused(student["lms"]["moodle_identifier"]),
                defused(student["name"]),
                identifier(student["email"]),
                "Submitted for grading" if student["submission"]["path"] else "No submission",
                number(student["score"]["earned"]),
                number(student["score"]["possible"]),
                "Yes",
                _date(received) if received else "-",
                "-",
                _comment(document, student),
            ]
        )
    path = folder / "moodle.csv"
    write_whole(path, csv_text(rows, newline="\n"))
    return [path]


def into_roster(document: dict[str, Any], folder: Path, roster: Path, assignment: str) -> list[Path]:
    """moodle.csv: the worksheet that Moodle exported, with grades and comments in it.

    Grades are scaled to the Maximum Grade of each row. `assignment` may name a chapter, "ch04": then the
    worksheet is that chapter's and gets its grades; else it gets the totals.
    """
    table = read_roster(roster)
    at_id, at_grade = table.needed("Identifier"), table.needed("Grade")
    at_most, at_comment = table.column("Maximum Grade"), table.column("Feedback comments")
    table.needed("Last modified (grade)")  # without which Moodle refuses the file
    chapter = _chapter(document, assignment)
    finder = Finder(document["students"])
    for row in table.rows:
        known = {"moodle_identifier": row[at_id]}
        for kind, name in (("email", "Email address"), ("sis_user_id", "ID number"), ("name", "Full name")):
            if table.column(name) >= 0:
                known[kind] = row[table.column(name)]
        student = finder.find(known)
        changeable = table.column("Grade can be changed")
        if student and (changeable < 0 or row[changeable].strip().lower() != "no"):
            part = student["chapters"][chapter] if chapter is not None else None
            earned = part["score"] if part else student["score"]["earned"]
            most = part["points"]["possible"] if part else student["score"]["possible"]
            if earned is not None:
                row[at_grade] = number(_scaled(earned, most, row[at_most] if at_most >= 0 else ""))
                if at_comment >= 0:
                    row[at_comment] = _comment(document, student)
        row[:] = [identifier(cell) for cell in row]
    say_who_is_missing(finder)
    path = folder / "moodle.csv"
    write_whole(path, table.text())
    return [path]


def _chapter(document: dict[str, Any], assignment: str) -> int | None:
    names = [one["chapter"] for one in document["course"]["chapters"]]
    if not assignment or assignment == document["course"]["title"]:
        return None
    if assignment not in names:
        raise UsageError(
            f"a worksheet of Moodle is for one assignment: ASSIGNMENT= (--assignment) must be a chapter, "
            "one of "
            f"{', '.join(names)}, or nothing for the totals, not {assignment!r}"
        )
    return names.index(assignment)


def _scaled(earned: float, most: float, cell: str) -> float:
    try:
        maximum = float(cell.replace(",", "."))
    except ValueError:
        return earned
    return round(earned / most * maximum, 2) if most else earned


def _comment(document: dict[str, Any], student: dict[str, Any]) -> str:
    """Moodle takes comments for HTML."""
    return defused(html.escape(short_text(document, student)))


def _date(received: str) -> str:
    """As Moodle's English writes dates: Thursday, 19 November 2026, 9:00 AM."""
    time = datetime.datetime.fromisoformat(received)
    hour = time.hour % 12 or 12
    return f"{time:%A}, {time.day} {time:%B %Y}, {hour}:{time:%M} {'AM' if time.hour < 12 else 'PM'}"
