"""What a run grades: the whole class, or some students or chapters while the rest stays as an earlier run left it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.errors import UsageError
from .canonical import Handed, read_class
from .class_folder import ClassFolder
from .submissions.people import People
from .submissions.submission import Student


@dataclass(frozen=True)
class Scope:
    """Which part of a class is graded, and whether the result is only shown."""

    students: tuple[str, ...] = ()  # by id, login, address or name; none: all
    chapters: frozenset[str] = frozenset()  # none: all
    is_trial: bool = False  # what would change is shown, and nothing of the class is written

    @property
    def is_whole(self) -> bool:
        """Whether everything is graded."""
        return not self.students and not self.chapters

    def includes(self, chapter: str) -> bool:
        """Whether a chapter is graded in this run."""
        return not self.chapters or chapter in self.chapters

    def earlier(self, folder: ClassFolder) -> dict[str, Any] | None:
        """The class.json of an earlier run; None if there is none. A part of a class needs one."""
        if not folder.document.exists():
            if not self.is_whole:
                raise UsageError(
                    f"{folder.root} has no class.json, which keeps the rest of the class: grade everybody first, "
                    "with the same command without STUDENT and ONLY (--student, --only)"
                )
            return None
        try:
            return read_class(folder.document)
        except UsageError:
            if self.is_whole:
                return None  # of an earlier version, or damaged: it is written again
            raise

    def students_of(self, everybody: Sequence[Student]) -> list[Student]:
        """The students who are graded."""
        if not self.students:
            return list(everybody)
        people = People(everybody)
        chosen: dict[str, Student] = {}
        for name in self.students:
            student = people.students.get(name) or people.known(name)
            if student is None:
                close = people.suggested(name)
                hint = f"; do you mean {' or '.join(close)}?" if close else ""
                raise UsageError(f"there is no student {name!r:.80} in the class{hint}")
            chosen[student.id] = student
        return list(chosen.values())

    def kept(self, before: dict[str, Any] | None, graded: Iterable[str]) -> list[dict[str, Any]]:
        """The students of an earlier class.json who stay as they are."""
        if not self.students or before is None:
            return []
        now = set(graded)
        return [student for student in before["students"] if student["id"] not in now]

    def carried(self, before: dict[str, Any] | None, student: Student, chapter: str) -> Handed | None:
        """A chapter as an earlier class.json has it; None if it does not have it, or nothing was handed in."""
        for known in before["students"] if before else ():
            for one in known["chapters"] if known["id"] == student.id else ():
                if one["chapter"] == chapter and one["submission"] is not None:
                    name = known["submissions"][one["submission"]]["name"]
                    names = [submission.name for submission in student.submissions]
                    at = names.index(name) if name in names else None
                    return Handed(submission=at, carried=one | {"submission": at})
        return None
