"""The parts of course.toml about people: groups, owners of submissions, sections, single students, and the last column.

Students are named by their id or by whatever else finds exactly one of them in the roster: a login, an address.
"""

import csv
import datetime
import io
import itertools
from dataclasses import replace
from typing import Any

from ..core.errors import UsageError, explain_os_error
from .course import ByHand, Case, Course, Grade, Section
from .course_reader import Reader
from .submissions.attribution import Ownership
from .submissions.people import People, folded
from .submissions.roster import read_roster
from .submissions.untrusted import printable

PEOPLE = ("choose", "groups", "owners", "received", "student", "section", "grade")
_CHOICES = ("latest", "best", "first")
_MOST_BYTES = 16 << 20


def read_people(reader: Reader, table: dict[str, Any], course: Course) -> Course:
    """The course with what it says about people. Reads the roster, so that a name that nobody has is an error."""
    return _People(reader, course).read(table)


class _People:
    def __init__(self, reader: Reader, course: Course) -> None:
        self.reader = reader
        self.course = course
        self.has_roster = course.roster is not None
        self.people = People(read_roster(course.roster, course.zone) if course.roster else [])
        self.points = {one.chapter: one.points for one in course.chapters}

    def read(self, table: dict[str, Any]) -> Course:
        reader = self.reader
        choose = reader.text(table, "choose", "choose") if "choose" in table else "latest"
        if choose not in _CHOICES:
            reader.wrong("choose", f"must be one of {', '.join(_CHOICES)}, not {choose!r:.40}")
        ownership = Ownership(self.owners(table), self.groups(table), *self.listed(table))
        return replace(
            self.course,
            choose=choose,
            ownership=ownership,
            cases=self.cases(table),
            sections=self.sections(table),
            grade=self.grade(table),
        )

    # ---- Whose submissions are ------------------------------------------------------------------------------------

    def student(self, name: str, where: str) -> str:
        """The id of the student that a name in the course file means."""
        if not self.has_roster:
            return name
        known = self.people.students.get(name) or self.people.known(name)
        if known is None:
            close = self.people.suggested(name)
            hint = f"; do you mean {' or '.join(close)}?" if close else ""
            self.reader.wrong(where, f"names {printable(name)!r:.80}, who is not in the roster{hint}")
        return known.id

    def ids(self, value: Any, where: str) -> tuple[str, ...]:
        names = [value] if isinstance(value, str) else value
        if not isinstance(names, list) or not all(isinstance(name, str) and name for name in names):
            self.reader.wrong(where, 'must be a student\'s id, or a list of ids such as ["ada", "ben"]')
        ids = tuple(self.student(name, where) for name in names)
        if len(set(ids)) != len(ids):
            self.reader.wrong(where, "names a student twice")
        return ids

    def owners(self, table: dict[str, Any]) -> dict[str, tuple[str, ...]]:
        given = self.reader.table(table, "owners", "owners")
        return {printable(name): self.ids(value, f"owners.{name}") for name, value in given.items()}

    def groups(self, table: dict[str, Any]) -> dict[str, tuple[str, ...]]:
        groups: dict[str, tuple[str, ...]] = {}
        group_of: dict[str, str] = {}
        names: dict[str, str] = {}
        for name, value in self.reader.table(table, "groups", "groups").items():
            where = f"groups.{name}"
            members = self.ids(value, where)
            if not members:
                self.reader.wrong(where, "has no members")
            if folded(name) in names:
                self.reader.wrong(where, f"is the same name as groups.{names[folded(name)]}")
            if self.has_roster and self.people.known(name):
                self.reader.wrong(where, "is also a student's name in the roster; choose another name")
            for member in members:
                if member in group_of:
                    self.reader.wrong(where, f"has {member}, who is in groups.{group_of[member]} already")
                group_of[member] = name
            names[folded(name)] = name
            groups[name] = members
        return groups

    def listed(
        self, table: dict[str, Any]
    ) -> tuple[dict[str, datetime.datetime], dict[str, tuple[str, str]]]:
        """The CSV file `received`: when each submission came, and the commit and release that it is."""
        if "received" not in table:
            return {}, {}
        path = self.reader.path.parent / self.reader.text(table, "received", "received")
        try:
            text = path.read_bytes()[:_MOST_BYTES].decode("utf-8-sig")
        except OSError as error:
            self.reader.wrong("received", f"cannot be read: {explain_os_error(error)}")
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            raise UsageError(f"{path}: line {line}: it is not UTF-8; save it as CSV UTF-8") from None
        rows = csv.reader(io.StringIO(text, newline=""), strict=True)
        try:
            heading = [cell.strip().lower() for cell in next(rows, [])]
            if not {"submission", "received"} <= set(heading):
                raise UsageError(f"{path}: line 1: it needs the columns submission and received")
            times: dict[str, datetime.datetime] = {}
            commits: dict[str, tuple[str, str]] = {}
            for row in rows:
                if not any(row):
                    continue
                cells = dict(zip(heading, row, strict=False))
                where = f"{path}: line {rows.line_num}"
                name = printable(cells["submission"].strip())
                if name in times:
                    raise UsageError(f"{where}: the submission {name} is there twice")
                times[name] = self.moment(cells.get("received", ""), where)
                commit, release = (printable(cells.get(key, "").strip()) for key in ("commit", "release"))
                if commit:
                    commits[name] = commit, release
        except csv.Error as error:
            raise UsageError(f"{path}: line {rows.line_num}: {error}") from None
        return times, commits

    def moment(self, text: str, where: str) -> datetime.datetime:
        try:
            moment = datetime.datetime.fromisoformat(text.strip())
        except ValueError:
            raise UsageError(f"{where}: received is not a date such as 2026-11-20T23:59:00+01:00") from None
        if moment.tzinfo is None:
            if self.course.zone is None:
                raise UsageError(f"{where}: received has no time zone; write one, or set zone in course.toml")
            moment = moment.replace(tzinfo=self.course.zone)
        return moment

    # ---- Single students, and sections ----------------------------------------------------------------------------

    def cases(self, table: dict[str, Any]) -> dict[str, Case]:
        cases: dict[str, Case] = {}
        given = self.reader.table(table, "student", "student")
        for name in given:
            where = f"student.{name}"
            student = self.student(name, where)
            if student in cases:
                self.reader.wrong(where, f"is about {student}, like an earlier table")
            cases[student] = self.case(self.reader.table(given, name, where), where)
        return cases

    def case(self, entry: dict[str, Any], where: str) -> Case:
        self.reader.check_keys(entry, ("extension_days", "excused", "chapter"), f"{where}.")
        days = self.reader.number(entry, "extension_days", f"{where}.extension_days", 0, 0, 10_000)
        excused = entry.get("excused", [])
        if not isinstance(excused, list) or not all(name in self.points for name in excused):
            known = ", ".join(self.points)
            self.reader.wrong(f"{where}.excused", f"must be a list of the course's chapters: {known}")
        chapters = self.reader.table(entry, "chapter", f"{where}.chapter")
        self.reader.check_keys(chapters, self.points, f"{where}.chapter.")
        by_hand = {name: self.by_hand(chapters, name, f"{where}.chapter.{name}") for name in chapters}
        return Case(days, frozenset(excused), by_hand)

    def by_hand(self, chapters: dict[str, Any], chapter: str, where: str) -> ByHand:
        entry = self.reader.table(chapters, chapter, where)
        self.reader.check_keys(entry, ("points", "comment", "author", "date"), f"{where}.")
        author = self.reader.text(entry, "author", f"{where}.author", required=True)
        date = entry.get("date")
        if isinstance(date, datetime.datetime):
            date = date.date()
        if not isinstance(date, datetime.date):
            self.reader.wrong(f"{where}.date", "must be a date without quotes, such as 2026-11-20")
        if not {"points", "comment"} & set(entry):
            self.reader.wrong(where, "needs points, a comment, or both")
        most = self.points[chapter]
        points = self.reader.number(entry, "points", f"{where}.points", 0, 0, most)
        comment = self.reader.text(entry, "comment", f"{where}.comment") if "comment" in entry else ""
        return ByHand(author, date, comment, points if "points" in entry else None)

    def sections(self, table: dict[str, Any]) -> dict[str, Section]:
        known = {student.section for student in self.people.students.values()}
        sections = {}
        given = self.reader.table(table, "section", "section")
        for name in given:
            where = f"section.{name}"
            if self.has_roster and name not in known:
                there = ", ".join(sorted(filter(None, known))) or "none"
                self.reader.wrong(where, f"is not a section of the roster, which has: {there}")
            entry = self.reader.table(given, name, where)
            self.reader.check_keys(entry, ("due", "chapter"), f"{where}.")
            chapters = self.reader.table(entry, "chapter", f"{where}.chapter")
            self.reader.check_keys(chapters, self.points, f"{where}.chapter.")
            dates = {}
            for chapter in chapters:
                place = f"{where}.chapter.{chapter}"
                one = self.reader.table(chapters, chapter, place)
                self.reader.check_keys(one, ("due",), f"{place}.")
                if due := self.reader.date(one, "due", f"{place}.due", self.course.zone):
                    dates[chapter] = due
            sections[name] = Section(self.reader.date(entry, "due", f"{where}.due", self.course.zone), dates)
        return sections

    # ---- The last column ------------------------------------------------------------------------------------------

    def grade(self, table: dict[str, Any]) -> Grade:
        entry = self.reader.table(table, "grade", "grade")
        self.reader.check_keys(entry, ("curve", "cut_offs", "below"), "grade.")
        curve = self.curve(entry.get("curve", []))
        given = self.reader.table(entry, "cut_offs", "grade.cut_offs")
        for name in given:
            self.reader.number(given, name, f"grade.cut_offs.{name}", 0, 0, 1000)
            if not name.isprintable() or not name.strip():
                self.reader.wrong("grade.cut_offs", "has a grade without a name")
        cut_offs = tuple(sorted(((name, float(least)) for name, least in given.items()), key=_by_least))
        if len({least for _, least in cut_offs}) != len(cut_offs):
            self.reader.wrong("grade.cut_offs", "has two grades with the same percentage")
        below = self.reader.text(entry, "below", "grade.below") if "below" in entry else ""
        if cut_offs and not below and cut_offs[-1][1] > 0:
            self.reader.wrong("grade.below", 'is missing: the grade under the last cut-off, such as "F"')
        return Grade(curve, cut_offs, below)

    def curve(self, value: Any) -> tuple[tuple[float, float], ...]:
        where = "grade.curve"
        example = "[[0, 0], [40, 50], [100, 100]]"
        if not isinstance(value, list) or not all(_is_pair(pair) for pair in value) or len(value) == 1:
            self.reader.wrong(where, f"must be a list of percentages before and after, such as {example}")
        points = tuple((float(before), float(after)) for before, after in value)
        for (low, low_to), (high, high_to) in itertools.pairwise(points):
            if low >= high or low_to > high_to:
                self.reader.wrong(where, f"must ascend, as {example} does")
        return points


def _by_least(pair: tuple[str, float]) -> float:
    return -pair[1]


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(_is_percentage(one) for one in value)


def _is_percentage(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1000
