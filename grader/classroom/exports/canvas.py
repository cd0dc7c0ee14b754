"""The gradebook of Canvas: its import knows students by ID and assignments by the id in their column's name.

Both come from the gradebook that Canvas exports, so there is no export without one. "EX" excuses a student.
"""

import re
from pathlib import Path
from typing import Any

from ...core.errors import UsageError
from ...core.workbook import write_whole
from ..views.spreadsheet import identifier
from .roster import Finder, Roster, graded, read_roster, say_what_is_filled, say_who_is_missing

HOW = "in Canvas, choose Gradebook, Export, Export Entire Gradebook, and give that file as ROSTER=export.csv (--roster)"
_EXCUSED = "EX"
_WITH_ID = re.compile(r"(?P<title>.+?) \((?P<id>\d+)\)")


def into_roster(document: dict[str, Any], folder: Path, roster: Path, assignment: str) -> list[Path]:
    """canvas.csv: the gradebook that Canvas exported, with the grades in it.

    A column named like the assignment gets the totals, one that begins with a chapter's name ("ch04") that
    chapter's. Grades are scaled to the points that Canvas has for the column.
    """
    table = read_roster(roster)
    table.needed("ID")
    columns = _columns(table, document, assignment or document["course"]["title"])
    finder = Finder(document["students"])
    possible = _points_possible(table, columns)
    for row in table.rows:
        if not row[table.needed("ID")].strip():
            continue  # the rows above the students
        student = finder.find(_known(table, row))
        if student is None:
            continue
        for at, chapter in columns.items():
            row[at] = _grade(student, chapter, possible[at]) or row[at]
    for row in table.rows:
        row[:] = [cell if at in columns else identifier(cell) for at, cell in enumerate(row)]
    names = [one["chapter"] for one in document["course"]["chapters"]]
    say_what_is_filled(
        table, {at: None if chapter is None else names[chapter] for at, chapter in columns.items()}
    )
    say_who_is_missing(finder)
    path = folder / "canvas.csv"
    write_whole(path, table.bytes())
    return [path]


def _columns(table: Roster, document: dict[str, Any], assignment: str) -> dict[int, int | None]:
    """Which columns get what: the place of a chapter in the course, or None for the total."""
    chapters = {one["chapter"]: i for i, one in enumerate(document["course"]["chapters"])}
    found: dict[int, int | None] = {}
    for at, heading in enumerate(table.heading):
        match = _WITH_ID.fullmatch(heading)
        title = match["title"] if match else heading
        first = title.split(maxsplit=1)[0].rstrip(":.,").lower() if title.split() else ""
        if title == assignment:
            found[at] = None
        elif match and first in chapters:
            found[at] = chapters[first]
    if not found:
        titles = [heading for heading in table.heading if _WITH_ID.fullmatch(heading)]
        raise UsageError(
            f"{table.path}:1: no assignment is named {assignment!r} or begins with a chapter's name; name one "
            f"with ASSIGNMENT= (--assignment). There are: {', '.join(titles) or 'none'}"
        )
    return found


def _points_possible(table: Roster, columns: dict[int, int | None]) -> dict[int, float | None]:
    """What Canvas counts a column at, from the rows above the students; None where it does not say."""
    above = [row for row in table.rows if not row[table.needed("ID")].strip()]
    found: dict[int, float | None] = dict.fromkeys(columns)
    for row in above:
        for at in columns:
            try:
                found[at] = float(row[at].replace(",", "."))
            except ValueError:
                continue
    return found


def _known(table: Roster, row: list[str]) -> dict[str, str]:
    kinds = {
        "canvas_id": "ID",
        "sis_user_id": "SIS User ID",
        "sis_login_id": "SIS Login ID",
        "name": "Student",
    }
    known = {kind: row[table.column(name)] for kind, name in kinds.items() if table.column(name) >= 0}
    if "LastName" in table.heading and "FirstName" in table.heading:
        known["name"] = f"{row[table.needed('FirstName')]} {row[table.needed('LastName')]}"
    return known


def _grade(student: dict[str, Any], chapter: int | None, possible: float | None) -> str:
    if chapter is not None and student["chapters"][chapter]["excused"]:
        return _EXCUSED
    return graded(student, chapter, possible)
