"""The students of the class: a CSV with our own columns, or a file that Canvas, Moodle or Gradescope exports."""

import csv
import datetime
import io
from collections.abc import Mapping
from pathlib import Path

from ...core.errors import UsageError, explain_os_error
from .submission import Lms, Student
from .untrusted import printable

# The names of each of our columns. Headers are compared without case, spaces and underscores.
_COLUMNS = {
    "id": ("id", "student id"),
    "name": ("name", "full name", "student"),
    "email": ("email", "email address", "e-mail", "address"),
    "section": ("section", "sections"),
    "canvas_id": ("canvas id",),
    "sis_user_id": ("sis user id", "sid"),
    "sis_login_id": ("sis login id", "login", "login id", "username"),
    "moodle_identifier": ("moodle identifier", "identifier"),
    "gradescope_submission": ("gradescope submission",),
    "received": ("received",),
    "first": ("first name",),
    "last": ("last name",),
}
_MOST_BYTES = 16 << 20
_SAYS_DELIMITER = {"sep=,", "sep=;", "sep=\t"}  # the line that Excel writes first where it is told to


def read_roster(path: Path, zone: datetime.tzinfo | None = None) -> list[Student]:
    """The students of a roster, with nothing handed in yet. Raises UsageError naming file and line."""
    try:
        text = path.read_bytes()[:_MOST_BYTES].decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"the roster cannot be read: {explain_os_error(error)}") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise UsageError(f"{path}: line {line}: the roster is not UTF-8; save it as CSV UTF-8") from None
    first, _, rest = text.partition("\n")
    text = "\n" + rest if first.strip("\r ").lower() in _SAYS_DELIMITER else text
    delimiter = _delimiter(text.lstrip("\r\n"))
    # strict: a quote that is never closed is an error, and does not swallow the students after it.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    students: dict[str, Student] = {}
    lines: dict[str, int] = {}  # of the students
    columns: dict[str, int] = {}
    width = 0
    try:
        for row in reader:
            where = f"{path}: line {reader.line_num}"
            if not columns and not any(row):
                continue
            if not columns:
                columns, width = _columns(row, where), len(row)
                continue
            if any(cell.strip() for cell in row[width:]):
                raise UsageError(
                    f"{where}: {len(row)} cells, and the heading has {width}; put quotes around a cell that "
                    f"contains {delimiter!r}"
                )
            cells = {name: _cell(row, at) for name, at in columns.items()}
            student = _student(cells, where, zone)
            if student is None:
                continue
            if student.id in students:
                raise UsageError(
                    f"{where}: the student {student.id} is there twice; the other is in line {lines[student.id]}"
                )
            students[student.id], lines[student.id] = student, reader.line_num
    except csv.Error as error:
        raise UsageError(f"{path}: line {reader.line_num}: {error}") from None
    if not students:
        raise UsageError(f"{path}: the roster has no students")
    return list(students.values())


def _delimiter(text: str) -> str:
    """The separator of the headings: spreadsheets in a language with decimal commas write semicolons."""
    return max(",;\t", key=text.partition("\n")[0].count)


def _columns(row: list[str], where: str) -> dict[str, int]:
    plain = ["".join(cell.lower().replace("_", " ").split()) for cell in row]
    found = {}
    for name, titles in _COLUMNS.items():
        for title in titles:
            if "".join(title.split()) in plain:
                found[name] = plain.index("".join(title.split()))
                break
    if {"student", "sisloginid"} <= set(plain) and "id" in found:  # Canvas calls its own number ID
        found["canvas_id"] = found.pop("id")
    if not {"id", "email", "canvas_id", "sis_user_id", "sis_login_id", "moodle_identifier"} & set(found):
        raise UsageError(
            f"{where}: no column says who a student is: id, login, email, SIS Login ID or Identifier"
        )
    return found


def _cell(row: list[str], at: int) -> str:
    text = printable(row[at].strip()) if at < len(row) else ""
    return text[1:] if text.startswith("'") and text[1:2] in tuple("=+-@") else text


def _student(cells: Mapping[str, str], where: str, zone: datetime.tzinfo | None) -> Student | None:
    name = cells.get("name") or " ".join(filter(None, (cells.get("first"), cells.get("last"))))
    if name.strip().lower() in ("points possible", "student, test"):  # rows of Canvas's that are nobody
        return None
    keys = ("id", "sis_login_id", "sis_user_id", "email", "canvas_id", "moodle_identifier")
    identity = next((cells[key] for key in keys if cells.get(key)), "")
    if not identity:
        if not any(cells.values()):
            return None
        raise UsageError(f"{where}: a student without an id")
    received = None
    if cells.get("received"):
        try:
            received = datetime.datetime.fromisoformat(cells["received"])
        except ValueError:
            raise UsageError(f"{where}: received is not a date such as 2026-11-20T23:59:00+01:00") from None
        if received.tzinfo is None:
            if zone is None:
                raise UsageError(f"{where}: received has no time zone; write one, or set zone in course.toml")
            received = received.replace(tzinfo=zone)
    names = ("canvas_id", "sis_user_id", "sis_login_id", "moodle_identifier", "gradescope_submission")
    lms = Lms(**{key: cells.get(key, "") for key in names})
    return Student(identity, name, cells.get("email", ""), cells.get("section", ""), lms, received=received)
