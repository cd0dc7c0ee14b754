"""The students of the class: a CSV with our own columns, or a file that Canvas, Moodle or Gradescope exports."""

import csv
import datetime
import io
import unicodedata
from collections.abc import Mapping
from pathlib import Path

from ...core.errors import UsageError, explain_os_error
from .submission import Lms, Submission
from .untrusted import printable

# The names of each of our columns. Headers are compared without case, spaces and underscores.
_COLUMNS = {
    "id": ("id", "student id"),
    "name": ("name", "full name", "student"),
    "email": ("email", "email address"),
    "section": ("section", "sections"),
    "canvas_id": ("canvas id",),
    "sis_user_id": ("sis user id", "sid"),
    "sis_login_id": ("sis login id",),
    "moodle_identifier": ("moodle identifier", "identifier"),
    "gradescope_submission": ("gradescope submission",),
    "received": ("received",),
    "first": ("first name",),
    "last": ("last name",),
}
_MOST_BYTES = 16 << 20
_SAYS_DELIMITER = {"sep=,", "sep=;", "sep=\t"}  # the line that Excel writes first where it is told to


def read_roster(path: Path, zone: datetime.tzinfo | None = None) -> list[Submission]:
    """The students of a roster, with nothing handed in yet. Raises UsageError naming file and line."""
    try:
        text = path.read_bytes()[:_MOST_BYTES].decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"the roster cannot be read: {explain_os_error(error)}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: the roster is not UTF-8; save it as CSV UTF-8") from None
    first, _, rest = text.partition("\n")
    text = "\n" + rest if first.strip("\r ").lower() in _SAYS_DELIMITER else text
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text.lstrip("\r\n")))
    students: dict[str, Submission] = {}
    columns: dict[str, int] = {}
    try:
        for row in reader:
            if not columns and not any(row):
                continue
            if not columns:
                columns = _columns(row, f"{path}: line {reader.line_num}")
                continue
            cells = {name: _cell(row, at) for name, at in columns.items()}
            student = _student(cells, f"{path}: line {reader.line_num}", zone)
            if student is None:
                continue
            if student.id in students:
                raise UsageError(f"{path}: line {reader.line_num}: the student {student.id} is there twice")
            students[student.id] = student
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
    if "sis_login_id" in found and "id" in found:  # Canvas calls its own number ID
        found["canvas_id"] = found.pop("id")
    if not {"id", "email", "canvas_id", "sis_user_id", "sis_login_id", "moodle_identifier"} & set(found):
        raise UsageError(f"{where}: no column says who a student is: id, email, SIS Login ID or Identifier")
    return found


def _cell(row: list[str], at: int) -> str:
    text = printable(row[at].strip()) if at < len(row) else ""
    return text[1:] if text.startswith("'") and text[1:2] in tuple("=+-@") else text


def _student(cells: Mapping[str, str], where: str, zone: datetime.tzinfo | None) -> Submission | None:
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
    return Submission(
        identity, name, cells.get("email", ""), cells.get("section", ""), lms, received=received
    )


class Roster:
    """Finding a student by whatever a platform knows of them."""

    def __init__(self, students: list[Submission]) -> None:
        """Ways that lead to two students lead to none."""
        self.students = {student.id: student for student in students}
        self._by: dict[tuple[str, str], set[str]] = {}
        for student in students:
            moodle = "".join(c for c in student.lms.moodle_identifier if c.isdigit())
            known: dict[str, tuple[str, ...]] = {"canvas": (student.lms.canvas_id,), "moodle": (moodle,)}
            known["plain"] = (
                student.id, student.name, student.email, student.email.partition("@")[0],
                student.lms.sis_login_id, student.lms.sis_user_id,
            )  # fmt: skip
            for kind, values in known.items():
                for value in filter(None, map(_folded, values)):
                    self._by.setdefault((kind, value), set()).add(student.id)

    def find(self, kind: str, *values: str) -> Submission | None:
        """The one student that one of these "canvas", "moodle" or "plain" values belongs to."""
        for value in filter(None, map(_folded, values)):
            found = self._by.get((kind, value), set())
            if len(found) == 1:
                return self.students[next(iter(found))]
        return None


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold().strip()
