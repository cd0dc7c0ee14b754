"""The grading worksheet of a Moodle assignment: its import reads Identifier, Grade and Feedback comments."""

import html
import sys
from pathlib import Path
from typing import Any

from ...core.errors import UsageError
from ...core.workbook import write_whole
from ..views.remarks import short_text
from ..views.spreadsheet import defused, identifier, number
from .roster import Finder, read_roster, say_who_is_missing

HOW = (
    "in the assignment's settings, switch on Offline grading worksheet and Feedback comments, choose Download grading "
    "worksheet among its submissions, and give that file as ROSTER=worksheet.csv (--roster)"
)


def into_roster(document: dict[str, Any], folder: Path, roster: Path, assignment: str) -> list[Path]:
    """moodle.csv: the worksheet that Moodle exported, with grades and comments in it.

    Grades are scaled to the Maximum Grade of each row; a message says how many rows have none. `assignment` may
    name a chapter, "ch04": then the worksheet is that chapter's and gets its grades; else it gets the totals.
    """
    table = read_roster(roster)
    at_id, at_grade = table.needed("Identifier"), table.needed("Grade")
    at_most, at_comment = table.column("Maximum Grade"), table.column("Feedback comments")
    table.needed("Last modified (grade)")  # without which Moodle refuses the file
    chapter = _chapter(document, assignment)
    finder = Finder(document["students"])
    unscaled = 0
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
                maximum = _maximum(row[at_most]) if at_most >= 0 else None
                unscaled += maximum is None
                row[at_grade] = number(
                    earned if maximum is None or not most else round(earned / most * maximum, 2)
                )
                if at_comment >= 0:
                    row[at_comment] = _comment(document, student)
        row[:] = [identifier(cell) for cell in row]
    if unscaled:
        print(
            f"warpbook: moodle: {roster} has no Maximum Grade for {unscaled} of the class; their grades are the "
            "course's own points",
            file=sys.stderr,
        )
    say_who_is_missing(finder)
    path = folder / "moodle.csv"
    write_whole(path, table.bytes())
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


def _maximum(cell: str) -> float | None:
    """A cell of Maximum Grade; None if it holds no number, as where the assignment is graded by a scale."""
    try:
        return float(cell.replace(",", "."))
    except ValueError:
        return None


def _comment(document: dict[str, Any], student: dict[str, Any]) -> str:
    """Moodle takes comments for HTML."""
    return defused(html.escape(short_text(document, student)))
