"""A course: chapters, dates and weights, and what each student is judged with. course_file.py reads it from a file.

scoring.py turns points and dates into scores by these rules.
"""

import datetime
import hashlib
import hmac
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .engines.slurm.options import SlurmOptions
from .submissions.attribution import Ownership

_LARGEST_OWN = 200_000  # elements: larger than every tail and chunk, but still fast on the emulator


@dataclass(frozen=True)
class Late:
    """The penalty for lateness."""

    grace_days: float = 0.0  # late by no more costs nothing
    factor_a_day: float = 1.0  # of the score, for every day begun after the grace
    floor: float = 0.0  # the least that the factor becomes
    budget_days: int = 0  # late days that each student may use over the whole course without a penalty

    def counted(self, days_late: int) -> int:
        """The days that cost something or are taken from the budget."""
        return max(0, math.ceil(days_late - self.grace_days))

    def factor(self, days_late: int, from_budget: int = 0) -> float:
        """The factor for a score; `from_budget` days of the counted ones cost nothing."""
        counted = self.counted(days_late) - from_budget
        return round(max(self.floor, self.factor_a_day**counted), 6) if counted > 0 else 1.0


@dataclass(frozen=True)
class CourseChapter:
    """One chapter as this course counts it."""

    chapter: str  # "ch04"
    title: str
    points: float = 10.0  # what ./ch04 gives is scaled to this
    weight: float = 1.0  # in the student's total
    due: datetime.datetime | None = None  # with its zone


@dataclass(frozen=True)
class ByHand:
    """What a person decided about one chapter of one student."""

    author: str
    date: datetime.date
    comment: str = ""
    points: float | None = (
        None  # these count in place of the judged ones, without lateness; None: a comment only
    )


@dataclass(frozen=True)
class Case:
    """One student for whom something else applies."""

    extension_days: float = 0.0  # every due date is so much later
    excused: frozenset[str] = frozenset()  # chapters that do not count
    by_hand: Mapping[str, ByHand] = field(default_factory=dict)  # by chapter


@dataclass(frozen=True)
class Section:
    """A part of the class with its own due dates."""

    due: datetime.datetime | None = None  # of every chapter without one here; None: the course's
    chapters: Mapping[str, datetime.datetime] = field(default_factory=dict)


@dataclass(frozen=True)
class Grade:
    """The last column of the gradebook: it is computed from the score, and never changes it."""

    curve: tuple[tuple[float, float], ...] = ()  # percent before and after, ascending; linear in between
    cut_offs: tuple[tuple[str, float], ...] = ()  # a grade and the least percent for it, the best first
    below: str = ""  # the grade under the last cut-off

    @property
    def is_given(self) -> bool:
        """Whether the course has such a column."""
        return bool(self.curve or self.cut_offs)

    def curved(self, percent: float) -> float:
        """A percentage after the curve, to two decimals."""
        if not self.curve:
            return round(percent + 1e-9, 2)
        points = self.curve
        if percent <= points[0][0]:
            return points[0][1]
        for (low, low_to), (high, high_to) in itertools.pairwise(points):
            if percent <= high:
                return round(low_to + (percent - low) / (high - low) * (high_to - low_to) + 1e-9, 2)
        return points[-1][1]

    def letter(self, percent: float) -> str:
        """The grade of a percentage after the curve; "" without cut-offs."""
        return next((name for name, least in self.cut_offs if percent >= least), self.below)


@dataclass(frozen=True)
class Course:
    """All of a course.toml."""

    title: str
    chapters: tuple[CourseChapter, ...]
    late: Late = field(default_factory=Late)
    device: str = "emulator"
    secret: bytes = b""  # b"": the class's folder has one, for all students
    is_shared: bool = False  # the secret draws the same for every student who hands in the same kernel
    own_sizes: int = 0  # numbers of elements of a student's own, per chapter
    time_limit: float = 180.0  # seconds for one kernel
    time_budget: float | None = None  # seconds for all of a submission, shared equally by its kernels
    schedules: int | None = None
    similar: float = 0.8  # share of a kernel that must occur in another to be reported
    roster: Path | None = None
    choose: str = "latest"  # of several submissions: "latest", "best" or "first", for each chapter separately
    ownership: Ownership = field(default_factory=Ownership)
    cases: Mapping[str, Case] = field(default_factory=dict)  # by student
    sections: Mapping[str, Section] = field(default_factory=dict)  # by the roster's name for it
    grade: Grade = field(default_factory=Grade)
    zone: datetime.tzinfo | None = None  # of dates that have none
    slurm: SlurmOptions = field(default_factory=SlurmOptions)

    def secret_of(self, student: str, chapter: str, kernel_sha256: str) -> str | None:
        """What a kernel's inputs, schedules and sizes are drawn from; None without a secret.

        It changes with the kernel, so that knowing it says nothing about the next one.
        """
        if not self.secret:
            return None
        return self._drawn("inputs", "" if self.is_shared else student, chapter, kernel_sha256).hex()[:32]

    def sizes(self, student: str, chapter: str) -> tuple[int, ...]:
        """The sizes that this student is judged with in addition to the chapter's, ascending."""
        if not self.secret or self.is_shared:
            return ()
        drawn = self._drawn("sizes", student, chapter)
        words = (int.from_bytes(drawn[4 * i : 4 * i + 4], "big") for i in range(self.own_sizes))
        return tuple(sorted({2 + word % (_LARGEST_OWN - 1) for word in words}))

    def time_for_each(self, kernels: int) -> float:
        """Seconds for each of a submission's kernels. Time that one leaves unused is not passed on.

        The result therefore does not depend on the order, the machine or interruptions.
        """
        if self.time_budget is None:
            return self.time_limit
        return min(self.time_limit, self.time_budget / max(1, kernels))

    def due(self, chapter: CourseChapter, student: str, section: str) -> datetime.datetime | None:
        """When a chapter is due for one student: by the section, and with the student's extension."""
        own = self.sections.get(section, Section())
        due = own.chapters.get(chapter.chapter) or own.due or chapter.due
        extension = self.cases.get(student, Case()).extension_days
        return due + datetime.timedelta(days=extension) if due else None

    def _drawn(self, purpose: str, student: str, chapter: str, *more: str) -> bytes:
        message = "\0".join((purpose, chapter, student, *more)).encode("utf-8")
        return hmac.new(self.secret, message, hashlib.sha256).digest()
