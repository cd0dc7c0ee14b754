"""Whose is what in a folder of submissions.

One folder or archive a student, or what the bulk downloads of these platforms unpack to:
Canvas     lastfirst_LATE_12345_67890_ch04.zip: 12345 is the student, the rest the file's own name
Moodle     Jane Doe_12345_assignsubmission_file_ (a folder, or before a file's name): 12345 is the participant
Gradescope submission_12345 folders beside submission_metadata.yml, which says whose they are and when they came

The table [owners] of the course file overrides all of this, and [groups] adds the members of a group. With a
roster, submissions that match none of its students are strangers: they are listed, and belong to nobody.
"""

import datetime
import hashlib
import json
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...core.errors import UsageError, explain_os_error
from .archives import ARCHIVES, is_archive
from .gradescope import METADATA, read_metadata
from .people import Match, People, folded
from .submission import Lms, Piece, Student, Submission
from .untrusted import Refused, open_regular, printable

_MOODLE = re.compile(r"_(?P<id>\d+)_assignsubmission_(?P<kind>file|onlinetext)(?=_|$)")
_CANVAS = re.compile(r"(?P<name>[^_]+(?:_[^_]+)*?)(?P<late>_LATE)?_(?P<id>\d+)_\d+_(?P<file>.+)", re.DOTALL)
_GRADESCOPE = re.compile(r"submission_\d+")


@dataclass(frozen=True)
class Ownership:
    """What the course file says about whose submissions are. Ids are those of the roster."""

    owners: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by name; (): nobody's
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # the members of each group
    times: Mapping[str, datetime.datetime] = field(default_factory=dict)  # when each was received, by name
    commits: Mapping[str, tuple[str, str]] = field(
        default_factory=dict
    )  # commit and release of each, by name


@dataclass(frozen=True)
class Stranger:
    """A submission that belongs to nobody in the roster, or perhaps to several."""

    name: str  # printable, as the folder has it
    why: str
    lines: tuple[str, ...]  # for [owners] of the course file: one for each person whose it may be


@dataclass
class Found:
    """Everybody, in the order of their ids, and what was left aside."""

    students: list[Student]
    strangers: list[Stranger] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)  # names, printable
    unused: list[str] = field(default_factory=list)  # names in [owners] that no entry of the folder has


@dataclass(frozen=True)
class _Seen:
    """One entry of the folder, as far as its name and the platform go."""

    key: str  # entries of one submission have the same
    piece: Piece
    who: Student  # as the platform or the name has it
    match: Match
    is_marked_late: bool = False


def find_submissions(folder: Path, students: list[Student], ownership: Ownership | None = None) -> Found:
    """What lies in `folder`, each with the students it belongs to, and the students without any.

    `students` is the roster. Without one, everybody who handed something in is a member of the class.
    """
    try:
        entries = sorted(folder.iterdir(), key=lambda path: path.name)
    except NotADirectoryError:
        raise UsageError(f"{folder} is a file: unpack the bulk download, and name the folder") from None
    except FileNotFoundError:
        raise UsageError(f"there is no folder {folder}") from None
    except OSError as error:
        raise UsageError(f"the submissions cannot be read: {explain_os_error(error)}") from None
    finder = _Finder(students, _metadata(folder), ownership or Ownership())
    for path in entries:
        finder.add(path)
    if not finder.seen and not finder.strangers:
        raise UsageError(
            f"there is no submission in {folder}: it must have one folder or archive for each student"
        )
    unused = [name for name in finder.ownership.owners if name not in finder.used]
    return Found(finder.students(), finder.strangers, finder.ignored, unused)


def _metadata(folder: Path) -> dict[str, list[Student]]:
    path = folder / METADATA
    if not path.exists():
        return {}
    try:
        with open_regular(path, 64 << 20) as file:
            return read_metadata(file.read(), path)
    except Refused as refused:
        raise UsageError(f"{path} {refused}") from None


class _Finder:
    def __init__(
        self, students: list[Student], metadata: dict[str, list[Student]], ownership: Ownership
    ) -> None:
        self.people = People(students)
        self.metadata = metadata
        self.ownership = ownership
        self.groups = {folded(name): name for name in ownership.groups}
        self.group_of = {member: name for name, members in ownership.groups.items() for member in members}
        self.found: dict[str, Student] = dict(self.people.students)
        self.seen: dict[str, list[_Seen]] = {}  # by submission
        self.strangers: list[Stranger] = []
        self.ignored: list[str] = []
        self.used: set[str] = set()  # names in [owners]

    # ---- One entry of the folder --------------------------------------------------------------------------------

    def add(self, path: Path) -> None:
        """Assign one entry of the folder to its owners."""
        try:
            mode = path.lstat().st_mode
        except FileNotFoundError:
            return  # somebody has taken it away meanwhile
        is_file = stat.S_ISREG(mode)
        if path.name.startswith(".") or path.name in (METADATA, "__MACOSX"):
            return
        is_taken = False
        told = self.told(path.name, is_folder=stat.S_ISDIR(mode))
        if told == ():
            self.ignored.append(printable(path.name))
            return
        for seen in self.owners(path, is_file=is_file, is_folder=stat.S_ISDIR(mode)):
            is_taken = True
            match = Match(told, "the course file", number=seen.match.number) if told else seen.match
            self.assign(replace(seen, match=match))
            if told:
                break
        if not is_taken:
            self.ignored.append(printable(path.name))

    def told(self, name: str, *, is_folder: bool) -> tuple[str, ...] | None:
        """Whose the course file says an entry is; None if it says nothing."""
        for told in (printable(name), printable(name if is_folder else _stem(name))):
            if told in self.ownership.owners:
                self.used.add(told)
                return self.ownership.owners[told]
        return None

    def assign(self, seen: _Seen) -> None:
        """Give an entry to its owners, or note it as a stranger."""
        match = seen.match
        if not match.owners and not self.people.students and not match.possible:
            # Without a roster: the name that it carries is a member of the class.
            match = Match((seen.who.id,), "")
        if not match.owners:
            self.strangers.append(self.stranger(seen))
            return
        groups = [self.group_of[owner] for owner in match.owners if owner in self.group_of]
        if groups:
            members = [member for group in groups for member in self.ownership.groups[group]]
            by = match.by if match.by.startswith("group") else f"{match.by}, group {groups[0]}".lstrip(", ")
            match = replace(match, owners=tuple(dict.fromkeys([*match.owners, *members])), by=by)
        for owner in match.owners:
            who = seen.who if match.owners == (seen.who.id,) else Student(owner, owner)
            known = self.found.get(owner, who)
            if len(match.owners) == 1 or owner == seen.who.id:
                known = replace(known, lms=_joined_lms(known.lms, seen.who.lms))
            self.found[owner] = known
        self.seen.setdefault(seen.key, []).append(replace(seen, match=match))

    def stranger(self, seen: _Seen) -> Stranger:
        """What the teacher is told about an entry that has no owner."""
        name = printable(seen.piece.path.name)
        possible = seen.match.possible
        if possible:
            words = " or ".join("+".join(ids) for ids in possible)
            why = f"it may belong to {words}"
        else:
            shown = f" ({seen.who.name})" if seen.who.name and seen.who.name not in name else ""
            why = f"nobody in the roster has this name{shown}"
            words = seen.who.name or name
            close = dict.fromkeys([*self.people.suggested(words), *self.people.suggested(seen.key)])
            possible = tuple((student,) for student in close)
        lines = tuple(f"{_toml(name)} = {_toml_owners(ids)}" for ids in possible)
        return Stranger(name, why, lines or (f'{_toml(name)} = "the student\'s id"',))

    def owners(self, path: Path, *, is_file: bool, is_folder: bool) -> Iterator[_Seen]:
        """What an entry's name or the platform's list says: once for each of its submitters."""
        name = path.name
        if name in self.metadata:
            for submitter in self.metadata[name]:
                known = self.people.known(submitter.email, submitter.id)
                yield self.by_platform(name, Piece(path, ""), submitter, known, "Gradescope's list")
        elif moodle := self.moodle(name, is_folder=is_folder):
            if moodle["kind"] == "file":
                rest = name[moodle.end() + 1 :]
                who = Student(
                    f"participant-{moodle['id']}",
                    printable(name[: moodle.start()]),
                    lms=Lms(moodle_identifier=f"Participant {moodle['id']}"),
                )
                piece = Piece(path, _undone(rest) if is_file else "")
                known = self.people.numbered("moodle", moodle["id"])
                yield self.by_platform(f"moodle {moodle['id']}", piece, who, known, "Moodle's number")
        elif is_file and (canvas := _CANVAS.fullmatch(name)):
            who = Student(
                f"canvas-{canvas['id']}", printable(canvas["name"]), lms=Lms(canvas_id=canvas["id"])
            )
            piece = Piece(path, _undone(canvas["file"]))
            known = self.people.numbered("canvas", canvas["id"])
            seen = self.by_platform(f"canvas {canvas['id']}", piece, who, known, "Canvas's number")
            yield replace(seen, is_marked_late=bool(canvas["late"]))
        elif not is_file or is_archive(name) or name.lower().endswith(".cu"):
            stem = name if is_folder else _stem(name)
            lms = Lms(gradescope_submission=stem) if _GRADESCOPE.fullmatch(stem) else Lms()
            who = Student(_identity(stem), printable(stem), lms=lms)
            yield _Seen(stem, Piece(path, printable(name)), who, self.named(stem))

    def by_platform(self, key: str, piece: Piece, who: Student, known: Student | None, by: str) -> _Seen:
        """An entry whose owner the platform names; by its number, or else by the person's name."""
        if known is not None:
            who = replace(known, received=who.received, lms=_joined_lms(known.lms, who.lms))
            return _Seen(key, piece, who, Match((known.id,), by))
        # Gradescope's students type their names themselves.
        is_typed = who.lms.gradescope_submission or not self.people.students
        match = Match() if is_typed else self.people.named(who.name)
        return _Seen(key, piece, who, replace(match, number=1))

    def named(self, stem: str) -> Match:
        """Whose a name of the student's or the teacher's choice is: a group's, or that of people."""
        shown = printable(stem)
        again = re.fullmatch(r"(.+?)[\s_.-]+(\d{1,3})", shown)
        for name, number in ((shown, 1), *(((again[1], int(again[2])),) if again else ())):
            if group := self.groups.get(folded(name)):
                return Match(self.ownership.groups[group], f"group {group}", number)
        return self.people.named(shown) if self.people.students else Match()

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
            known = self.people.numbered("moodle", mark["id"])
            if known and known.name == name[: mark.start()]:
                return mark
        return marks[0]

    # ---- Everybody ----------------------------------------------------------------------------------------------

    def students(self) -> list[Student]:
        """The class, each student with the submissions in the order of time."""
        belongs: dict[str, list[Submission]] = {}
        for entries in self.seen.values():
            submission = self.submission(entries)
            for owner in submission.owners:
                belongs.setdefault(owner, []).append(submission)
        made = []
        for student in sorted(self.found.values(), key=lambda one: one.id):
            own = [
                replace(one, received=one.received or student.received) for one in belongs.get(student.id, [])
            ]
            made.append(replace(student, submissions=tuple(sorted(own, key=Submission.order))))
        return made

    def submission(self, entries: list[_Seen]) -> Submission:
        """Entries with the same key, as one submission."""
        names = [printable(seen.piece.path.name) for seen in entries]
        told = [self.time_of(seen.piece.path.name) for seen in entries]
        known = [time for time in (*told, *(seen.who.received for seen in entries)) if time]
        pieces = {seen.piece.path: seen.piece for seen in entries}
        commits = [one for seen in entries if (one := self.commit_of(seen.piece.path.name))]
        commit, release = commits[0] if commits else ("", "")
        return Submission(
            ", ".join(dict.fromkeys(names)),
            tuple(pieces.values()),
            received=max((time for time in told if time), default=known[0] if known else None),
            is_marked_late=any(seen.is_marked_late for seen in entries),
            commit=commit,
            release=release,
            number=entries[0].match.number,
            matched=", ".join(dict.fromkeys(seen.match.by for seen in entries if seen.match.by)),
            owners=tuple(dict.fromkeys(owner for seen in entries for owner in seen.match.owners)),
        )

    def time_of(self, name: str) -> datetime.datetime | None:
        """When the course's list says that an entry was received."""
        times = self.ownership.times
        return times.get(printable(name)) or times.get(printable(_stem(name)))

    def commit_of(self, name: str) -> tuple[str, str] | None:
        """The commit and the release that the course's list has for an entry."""
        commits = self.ownership.commits
        return commits.get(printable(name)) or commits.get(printable(_stem(name)))


def _joined_lms(known: Lms, seen: Lms) -> Lms:
    return Lms(**{name: getattr(known, name) or getattr(seen, name) for name in known.__dataclass_fields__})


def _stem(name: str) -> str:
    """A file's name without the ending that says of which kind it is."""
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


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _toml_owners(ids: tuple[str, ...]) -> str:
    return _toml(ids[0]) if len(ids) == 1 else f"[{', '.join(map(_toml, ids))}]"
