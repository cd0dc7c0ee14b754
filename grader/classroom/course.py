"""A course: chapters, dates and weights, and what each student is judged with. course_file.py reads it from a file."""

import datetime
import hashlib
import hmac
import math
from dataclasses import dataclass, field
from pathlib import Path

from .engines.slurm.options import SlurmOptions
from .submissions.submission import Submission

_LARGEST_OWN = 200_000  # elements: larger than every tail and chunk, but still fast on the emulator


@dataclass(frozen=True)
class Late:
    """The penalty for lateness."""

    grace_days: float = 0.0  # late by no more costs nothing
    factor_a_day: float = 1.0  # of the score, for every day begun after the grace
    floor: float = 0.0  # the least that the factor becomes

    def factor(self, days_late: int) -> float:
        """The factor for a score."""
        counted = max(0, math.ceil(days_late - self.grace_days))
        return round(max(self.floor, self.factor_a_day**counted), 6) if counted else 1.0


@dataclass(frozen=True)
class CourseChapter:
    """One chapter as this course counts it."""

    chapter: str  # "ch04"
    title: str
    points: float = 10.0  # what ./ch04 gives is scaled to this
    weight: float = 1.0  # in the student's total
    due: datetime.datetime | None = None  # with its zone


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

    def days_late(self, chapter: CourseChapter, submission: Submission) -> int:
        """Days begun since the chapter was due; 1 if the platform says late without a time."""
        if submission.received and chapter.due:
            late = (submission.received - chapter.due).total_seconds()
            return max(0, math.ceil(late / 86_400))
        return int(submission.is_marked_late and not submission.received)

    def _drawn(self, purpose: str, student: str, chapter: str, *more: str) -> bytes:
        message = "\0".join((purpose, chapter, student, *more)).encode("utf-8")
        return hmac.new(self.secret, message, hashlib.sha256).digest()
