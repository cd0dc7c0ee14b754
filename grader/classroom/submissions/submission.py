"""What one student handed in, as far as names and dates go; nothing of it has been opened yet."""

import datetime
import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path


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
    """One student's, handed in or not."""

    id: str  # unique in the class, printable, as the roster or the platform has it
    name: str
    email: str = ""
    section: str = ""
    lms: Lms = field(default_factory=Lms)
    pieces: tuple[Piece, ...] = ()  # none: nothing handed in
    received: datetime.datetime | None = None
    is_marked_late: bool = False  # the platform says so without saying when
    trouble: Trouble | None = None


def file_name(student: str) -> str:
    """The name of a student's files and folders: the id where it is plain, and never another's or an option."""
    plain = re.sub(r"[^A-Za-z0-9._@+-]", "_", student)[:60].lstrip(".-")
    if plain and plain == student and not re.search(r"-[0-9a-f]{8}$", plain):
        return plain
    return f"{plain or '_'}-{hashlib.sha256(student.encode('utf-8', 'backslashreplace')).hexdigest()[:8]}"
