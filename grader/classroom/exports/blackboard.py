"""The Grade Center of Blackboard: it knows students by Username and columns by the number at the end of their names.

Both come from the file that Work Offline, Download writes: tab-delimited in UTF-16 with the ending .xls, or CSV. Column
names are "Lab 1 [Total Pts: 100 Score] |12345"; a column without a number would become a new one, of text.
"""

import re
from pathlib import Path
from typing import Any

from ...core.errors import UsageError
from ...core.workbook import write_whole
from ..views.spreadsheet import identifier
from .roster import Finder, Roster, graded, read_roster, say_what_is_filled, say_who_is_missing

HOW = (
    "in Blackboard's Full Grade Center, choose Work Offline, Download, Full Grade Center, and give that file as "
    "ROSTER=gc_download.xls (--roster)"
)
_COLUMN = re.compile(r"(?P<title>.+?) \[Total Pts: (?P<points>[^\]]*)\](?: \|(?P<id>\d+))?", re.DOTALL)
_POINTS = re.compile(r"(\d+(?:[.,]\d+)?)")


def into_roster(document: dict[str, Any], folder: Path, roster: Path, assignment: str) -> list[Path]:
    """blackboard.xls or .csv: the file that Blackboard exported, with the grades in it.

    A column named like the assignment gets the totals, one that begins with a chapter's name ("ch04") that
    chapter's. Grades are scaled to the points that Blackboard has for the column.
    """
    table = read_roster(roster)
    table.is_quoted = True
    at_login = table.needed("Username")
    columns = _columns(table, document, assignment or document["course"]["title"])
    finder = Finder(document["students"])
    for row in table.rows:
        student = finder.find(_known(table, row, at_login))
        if student:
            for at, (chapter, possible) in columns.items():
                row[at] = graded(student, chapter, possible) or row[at]
        row[:] = [cell if at in columns else identifier(cell) for at, cell in enumerate(row)]
    names = [one["chapter"] for one in document["course"]["chapters"]]
    say_what_is_filled(
        table, {at: None if chapter is None else names[chapter] for at, (chapter, _) in columns.items()}
    )
    say_who_is_missing(finder)
    path = folder / f"blackboard{'.xls' if table.delimiter == chr(9) else '.csv'}"
    write_whole(path, table.bytes())
    return [path]


def _columns(
    table: Roster, document: dict[str, Any], assignment: str
) -> dict[int, tuple[int | None, float | None]]:
    """Which columns get what: the place of a chapter in the course, or None for the total; and their points."""
    chapters = {one["chapter"]: at for at, one in enumerate(document["course"]["chapters"])}
    found: dict[int, tuple[int | None, float | None]] = {}
    titles = []
    for at, heading in enumerate(table.heading):
        match = _COLUMN.fullmatch(heading)
        if not match or not match["id"]:
            continue
        title = match["title"].strip()
        titles.append(title)
        points = _POINTS.search(match["points"])
        possible = float(points[1].replace(",", ".")) if points else None
        first = title.split(maxsplit=1)[0].rstrip(":.,").lower()
        if title == assignment:
            found[at] = None, possible
        elif first in chapters:
            found[at] = chapters[first], possible
    if not found:
        raise UsageError(
            f"{table.path}:1: no column is named {assignment!r} or begins with a chapter's name; name one with "
            f"ASSIGNMENT= (--assignment). There are: {', '.join(titles) or 'none'}"
        )
    return found


def _known(table: Roster, row: list[str], at_login: int) -> dict[str, str]:
    known = {"sis_login_id": row[at_login]}
    if (at := table.column("Student ID")) >= 0:
        known["sis_user_id"] = row[at]
    if table.column("First Name") >= 0 and table.column("Last Name") >= 0:
        known["name"] = f"{row[table.needed('First Name')]} {row[table.needed('Last Name')]}"
    return known
