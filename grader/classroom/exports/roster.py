"""What a learning platform exported, to be given back with grades in it: the same rows, columns and ids."""

import codecs
import csv
import io
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.errors import MachineError, UsageError, explain_os_error
from ..views.spreadsheet import csv_text, number


@dataclass
class Roster:
    """A platform's table. Cells that nobody sets stay as they are."""

    path: Path
    delimiter: str
    encoding: str  # "utf-8", "utf-8-sig" or "utf-16": with a byte order mark
    newline: str
    heading: list[str]
    rows: list[list[str]]
    is_quoted: bool = False  # whether every cell is written in quotes

    def column(self, *names: str) -> int:
        """The place of the first column of these names that there is; -1 for none.

        Capitals do not count: versions of Moodle write "Maximum Grade" and "Maximum grade".
        """
        known = [name.casefold() for name in self.heading]
        return next((known.index(name.casefold()) for name in names if name.casefold() in known), -1)

    def needed(self, name: str) -> int:
        """The place of a column that there has to be."""
        at = self.column(name)
        if at < 0:
            shown = ", ".join(self.heading[:12])
            raise UsageError(f"{self.path}:1: there is no column {name!r}; there are: {shown}")
        return at

    def text(self) -> str:
        """The table in the form that it came in."""
        return csv_text(
            [self.heading, *self.rows],
            newline=self.newline,
            delimiter=self.delimiter,
            is_quoted=self.is_quoted,
        )

    def bytes(self) -> bytes:
        """The same in the encoding that it came in."""
        return self.text().encode(self.encoding)


def read_roster(path: Path) -> Roster:
    """Reads a table that Canvas, Moodle or Blackboard exported."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise MachineError(f"the roster cannot be read: {explain_os_error(error)}") from None
    encoding = "utf-8-sig" if raw.startswith(codecs.BOM_UTF8) else "utf-8"
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise UsageError(f"{path}:{line}: it is not UTF-8; export it again as CSV in UTF-8") from None
    first = text.splitlines()[0] if text else ""
    delimiter = max(",;\t", key=first.count)
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if row]
    except csv.Error as error:
        raise UsageError(f"{path} is not a CSV file: {error}") from None
    if not rows:
        raise UsageError(f"{path} is empty; give the file that the platform exported")
    heading, *rest = rows
    for line, row in enumerate(rest, start=2):
        if len(row) > len(heading):
            raise UsageError(f"{path}:{line}: more cells than the first line has columns")
        row.extend([""] * (len(heading) - len(row)))
    return Roster(path, delimiter, encoding, "\r\n" if "\r\n" in text else "\n", heading, rest)


class Finder:
    """Finds students by what a platform's row says of them: ids first, a name only where nobody shares it."""

    def __init__(self, students: Iterable[dict[str, Any]]) -> None:
        """`students` of a class.json."""
        self._by: dict[str, dict[str, dict[str, Any] | None]] = {}
        self.unmatched: dict[str, dict[str, Any]] = {}
        for student in students:
            self.unmatched[student["id"]] = student
            for kind, value in _keys(student):
                known = self._by.setdefault(kind, {})
                known[value] = None if known.get(value, student) is not student else student

    def find(self, row: Mapping[str, str]) -> dict[str, Any] | None:
        """The student of a row, given as kinds and values: {"email": "ada@example.edu", ...}, the surest first."""
        for kind, value in row.items():
            key = _key(kind, value)
            student = self._by.get(kind, {}).get(key) if key else None
            if student is not None and student["id"] in self.unmatched:
                return self.unmatched.pop(student["id"])
        return None


def _keys(student: dict[str, Any]) -> list[tuple[str, str]]:
    lms = student["lms"]
    keys = [(kind, lms[kind]) for kind in ("canvas_id", "sis_user_id", "sis_login_id", "moodle_identifier")]
    # Without a roster, a class identifies students by the id in the names of their folders.
    keys += [(kind, student["id"]) for kind in ("sis_user_id", "sis_login_id") if not lms[kind]]
    keys += [("email", student["email"]), ("sis_login_id", student["email"])]
    keys.append(("name", student["name"]))
    pairs = dict.fromkeys((kind, _key(kind, value)) for kind, value in keys)
    return [(kind, value) for kind, value in pairs if value]


def _key(kind: str, value: str) -> str:
    """A value as it is compared.

    The words of a name in one order: "Lovelace, Ada" is Ada Lovelace. For Moodle's "Participant 12", only the
    number, because the word is in the site's language.
    """
    if kind == "name":
        return " ".join(sorted(value.lower().replace(",", " ").split()))
    if kind == "moodle_identifier" and (match := re.search(r"\d+$", value)):
        return match[0]
    return value.strip().lower()


def graded(student: dict[str, Any], chapter: int | None, possible: float | None) -> str:
    """A grade for a cell: a chapter's score or the total (None), scaled to `possible` points; "" if not known."""
    if chapter is None:
        earned, most = student["score"]["earned"], student["score"]["possible"]
    else:
        one = student["chapters"][chapter]
        earned, most = one["score"], one["points"]["possible"]
    if earned is None:
        return ""
    return number(earned if possible is None or not most else round(earned / most * possible, 2))


def say_what_is_filled(table: Roster, columns: Mapping[int, str | None]) -> None:
    """Names the columns that got grades: a chapter's, or with None the totals. The others are left alone."""
    for at, chapter in columns.items():
        what = f"the points of {chapter}" if chapter else "the totals"
        print(f"warpbook: column {table.heading[at]!r} gets {what}", file=sys.stderr)


def say_who_is_missing(finder: Finder) -> None:
    """Names those of the class whom the roster does not have."""
    for student in finder.unmatched.values():
        print(f"warpbook: {student['name'] or student['id']} is not in the roster", file=sys.stderr)
