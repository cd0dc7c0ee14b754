"""Students and what they handed in, as far as names and dates go; nothing of it has been opened yet."""

import datetime
import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path

_NEVER = datetime.datetime.min.replace(tzinfo=datetime.UTC)


@dataclass(frozen=True)
class Trouble:
    """Why nothing of a submission could be judged: REJECT (its author's doing) or INFRA (the machine's)."""

    verdict: str
    message: str


@dataclass(frozen=True)
class Lms:
    """A student as the learning platforms know them; "" where unknown."""

    canvas_id: str = ""
    sis_user_id: str = ""
    sis_login_id: str = ""
    moodle_identifier: str = ""
    gradescope_submission: str = ""


@dataclass(frozen=True)
class Piece:
    """A folder, an archive or a file that was handed in."""

    path: Path
    name: str  # as its author called it, where the platform has put something before it


@dataclass(frozen=True)
class Submission:
    """What was handed in at one time: by one student, or by several together."""

    name: str  # printable, as the folder of submissions has it; "ada.zip"
    pieces: tuple[Piece, ...]
    received: datetime.datetime | None = None
    is_marked_late: bool = False  # the platform says so without saying when
    commit: str = ""  # of a repository, where the course's list has it
    release: str = ""
    number: int = 1  # of those with the same owner, where the name ends with a number
    matched: str = ""  # what the name was recognised by, in words; "" without a roster
    owners: tuple[str, ...] = ()  # the ids of all students it belongs to
    trouble: Trouble | None = None

    def order(self) -> tuple[bool, datetime.datetime, int, str]:
        """A key that sorts submissions by time; those without a known time come first, by their number."""
        return (self.received is not None, self.received or _NEVER, self.number, self.name)


@dataclass(frozen=True)
class Student:
    """One member of the class, and what that person handed in."""

    id: str  # unique in the class, printable, as the roster or the platform has it
    name: str
    email: str = ""
    section: str = ""
    lms: Lms = field(default_factory=Lms)
    received: datetime.datetime | None = None  # as the roster says, for submissions without a time
    submissions: tuple[Submission, ...] = ()  # in the order of time; none: nothing handed in


def file_name(student: str) -> str:
    """The name of a student's files and folders: the id where it is plain, and never another's or an option."""
    plain = re.sub(r"[^A-Za-z0-9._@+-]", "_", student)[:60].lstrip(".-")
    if plain and plain == student and not re.search(r"-[0-9a-f]{8}$", plain):
        return plain
    return f"{plain or '_'}-{hashlib.sha256(student.encode('utf-8', 'backslashreplace')).hexdigest()[:8]}"
