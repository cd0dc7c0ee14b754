"""Whose is what in a folder of submissions.

One folder or archive a student, or what the bulk downloads of these platforms unpack to:
Canvas     lastfirst_LATE_12345_67890_ch04.zip: 12345 is the student, the rest the file's own name
Moodle     Jane Doe_12345_assignsubmission_file_ (a folder, or before a file's name): 12345 is the participant
Gradescope submission_12345 folders beside submission_metadata.yml, which says whose they are and when they came
"""

import hashlib
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...core.errors import UsageError, explain_os_error
from .archives import ARCHIVES, is_archive
from .gradescope import METADATA, read_metadata
from .roster import Roster
from .submission import Lms, Piece, Submission
from .untrusted import Refused, open_regular, printable

_MOODLE = re.compile(r"_(?P<id>\d+)_assignsubmission_(?P<kind>file|onlinetext)(?=_|$)")
_CANVAS = re.compile(r"(?P<name>[^_]+(?:_[^_]+)*?)(?P<late>_LATE)?_(?P<id>\d+)_\d+_(?P<file>.+)", re.DOTALL)
_GRADESCOPE = re.compile(r"submission_\d+")


@dataclass
class Found:
    """Everybody, in the order of their ids, and what was left aside."""

    submissions: list[Submission]
    ignored: list[str] = field(default_factory=list)  # names, printable


def find_submissions(folder: Path, students: list[Submission]) -> Found:
    """What lies in `folder`, each with the student it belongs to, and the students of the roster without any."""
    try:
        entries = sorted(folder.iterdir(), key=lambda path: path.name)
    except NotADirectoryError:
        raise UsageError(f"{folder} is a file: unpack the bulk download, and name the folder") from None
    except FileNotFoundError:
        raise UsageError(f"there is no folder {folder}") from None
    except OSError as error:
        raise UsageError(f"the submissions cannot be read: {explain_os_error(error)}") from None
    finder = _Finder(Roster(students), _metadata(folder))
    for path in entries:
        finder.add(path)
    if not any(one.pieces for one in finder.found.values()):
        raise UsageError(
            f"there is no submission in {folder}: it must have one folder or archive for each student"
        )
    return Found(sorted(finder.found.values(), key=lambda one: one.id), finder.ignored)


def _metadata(folder: Path) -> dict[str, list[Submission]]:
    path = folder / METADATA
    if not path.exists():
        return {}
    try:
        with open_regular(path, 64 << 20) as file:
            return read_metadata(file.read(), path)
    except Refused as refused:
        raise UsageError(f"{path} {refused}") from None


class _Finder:
    def __init__(self, roster: Roster, metadata: dict[str, list[Submission]]) -> None:
        self.roster = roster
        self.metadata = metadata
        self.found: dict[str, Submission] = dict(roster.students)
        self.ignored: list[str] = []

    def add(self, path: Path) -> None:
        """Assign one entry of the folder to its student."""
        try:
            mode = path.lstat().st_mode
        except FileNotFoundError:
            return  # somebody has taken it away meanwhile
        is_file = stat.S_ISREG(mode)
        if path.name.startswith(".") or path.name in (METADATA, "__MACOSX"):
            return
        is_taken = False
        for student, piece in self.owners(path, is_file=is_file, is_folder=stat.S_ISDIR(mode)):
            is_taken = True
            known = self.found.get(student.id, student)
            self.found[student.id] = replace(
                known,
                pieces=(*known.pieces, piece),
                received=known.received or student.received,
                is_marked_late=known.is_marked_late or student.is_marked_late,
            )
        if not is_taken:
            self.ignored.append(printable(path.name))

    def owners(self, path: Path, *, is_file: bool, is_folder: bool) -> Iterator[tuple[Submission, Piece]]:
        name = path.name
        if name in self.metadata:
            for submitter in self.metadata[name]:
                known = self.roster.find("plain", submitter.email, submitter.id)
                yield self.joined(known, submitter), Piece(path, "")
        elif moodle := self.moodle(name, is_folder=is_folder):
            if moodle["kind"] == "file":
                known = self.roster.find("moodle", moodle["id"])
                whole = printable(name[: moodle.start()])
                rest = name[moodle.end() + 1 :]
                lms = Lms(moodle_identifier=f"Participant {moodle['id']}")
                yield (
                    self.joined(known, Submission(f"participant-{moodle['id']}", whole, lms=lms)),
                    Piece(path, _undone(rest) if is_file else ""),
                )
        elif is_file and (canvas := _CANVAS.fullmatch(name)):
            known = self.roster.find("canvas", canvas["id"])
            lms = Lms(canvas_id=canvas["id"])
            one = Submission(
                f"canvas-{canvas['id']}",
                printable(canvas["name"]),
                lms=lms,
                is_marked_late=bool(canvas["late"]),
            )
            yield self.joined(known, one), Piece(path, _undone(canvas["file"]))
        elif not is_file or is_archive(name) or name.lower().endswith(".cu"):
            stem = name if is_folder else _stem(name)
            known = self.roster.find("plain", printable(stem))
            lms = Lms(gradescope_submission=stem) if _GRADESCOPE.fullmatch(stem) else Lms()
            one = Submission(_identity(stem), printable(stem), lms=lms)
            yield self.joined(known, one), Piece(path, printable(name))

    def moodle(self, name: str, *, is_folder: bool) -> re.Match[str] | None:
        """Moodle's mark in a name, where there may be several.

        Before it is the student's name, which ends at the last mark if the roster says so. After it is the name of
        the file, which its author has chosen; a folder has none, and Moodle's mark is the last.
        """
        marks = [mark for mark in _MOODLE.finditer(name) if mark.start() > 0]
        canvas = _CANVAS.fullmatch(name)
        if not marks or (canvas and canvas.start("id") < marks[0].start("id")):
            return None
        if is_folder and marks[-1].end() >= len(name) - 1:
            return marks[-1]
        for mark in reversed(marks[1:]):
            known = self.roster.find("moodle", mark["id"])
            if known and known.name == name[: mark.start()]:
                return mark
        return marks[0]

    def joined(self, known: Submission | None, seen: Submission) -> Submission:
        """A student of the roster with what the platform says of this submission."""
        if known is None:
            return seen
        return replace(
            known,
            received=seen.received,
            is_marked_late=seen.is_marked_late,
            lms=_joined_lms(known.lms, seen.lms),
        )


def _joined_lms(known: Lms, seen: Lms) -> Lms:
    return Lms(**{name: getattr(known, name) or getattr(seen, name) for name in known.__dataclass_fields__})


def _stem(name: str) -> str:
    """A file's name without what says of which kind it is."""
    endings = sorted((*ARCHIVES, ".cu"), key=len, reverse=True)
    ending = next((ending for ending in endings if name.lower().endswith(ending)), "")
    return name[: len(name) - len(ending)] or name


def _identity(name: str) -> str:
    """The id of a student who is known by a file's name alone; two names never become one id."""
    shown = printable(name)
    if shown == name:
        return shown
    return f"{shown}-{hashlib.sha256(name.encode('utf-8', 'surrogateescape')).hexdigest()[:6]}"


def _undone(name: str) -> str:
    """A file's name without the -1, -2 that Canvas adds when it is handed in again."""
    return re.sub(r"-\d{1,3}(?=(\.tar)?\.[A-Za-z0-9]+$)", "", printable(name))
