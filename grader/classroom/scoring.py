"""From points and dates to scores: extensions, lateness, late days from a budget, points by hand, excused chapters.

docs/class.md states the same rules for teachers; tests/class/term.py computes them a second time, independently.
"""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .course import ByHand, Case, Course, CourseChapter

_DAY = 86_400  # seconds


@dataclass(frozen=True)
class Fact:
    """What is known about one chapter of one student before any rule of the course is applied."""

    earned: float | None  # points as judged; None: not known (INFRA)
    is_handed_in: bool = False
    received: datetime.datetime | None = None
    is_marked_late: bool = False
    submission: int | None = None  # which of the student's it is from


@dataclass(frozen=True)
class Score:
    """What one chapter counts."""

    due: datetime.datetime | None
    days_late: int  # days begun after that
    from_budget: int  # of them, days that the student's budget covers
    factor: float  # of lateness
    is_excused: bool
    by_hand: ByHand | None
    score: float | None  # None: not known, or excused


def days_late(due: datetime.datetime | None, received: datetime.datetime | None, *, is_marked: bool) -> int:
    """Days begun since something was due; 1 if the platform says late without a time.

    A day ends at the time of day at which the chapter was due, by the clock of the due date's zone, however the time
    of receipt is written: a day in which clocks change has 23 or 25 hours.
    """
    if not received or not due:
        return int(is_marked and not received)
    elapsed = received.timestamp() - due.timestamp()
    days = max(0, int(elapsed // _DAY) - 1)  # at most as many
    while (due + datetime.timedelta(days=days)).timestamp() < received.timestamp():
        days += 1
    return days


def scores(course: Course, student: str, section: str, facts: Mapping[str, Fact]) -> dict[str, Score]:
    """The scores of one student, by chapter; `facts` has every chapter of the course."""
    case = course.cases.get(student, Case())
    late = {
        one.chapter: days_late(
            course.due(one, student, section),
            facts[one.chapter].received,
            is_marked=facts[one.chapter].is_marked_late,
        )
        if facts[one.chapter].is_handed_in
        else 0
        for one in course.chapters
    }
    free = _from_budget(course, student, section, facts, late)
    made = {}
    for one in course.chapters:
        fact, by_hand = facts[one.chapter], case.by_hand.get(one.chapter)
        is_excused = one.chapter in case.excused
        factor = course.late.factor(late[one.chapter], free[one.chapter])
        score = None if fact.earned is None else cents(fact.earned * factor)
        if by_hand and by_hand.points is not None:
            factor, score = 1.0, by_hand.points
        made[one.chapter] = Score(
            course.due(one, student, section),
            late[one.chapter],
            free[one.chapter],
            factor,
            is_excused,
            by_hand,
            None if is_excused else score,
        )
    return made


def _from_budget(
    course: Course, student: str, section: str, facts: Mapping[str, Fact], late: Mapping[str, int]
) -> dict[str, int]:
    """How many late days each chapter takes from the student's budget.

    In the order of due dates, each takes what it needs while any are left. Chapters that are due at the same time
    and come from the same submission share their days. A chapter without points, one that is excused and one whose
    points were set by hand take none.
    """
    case = course.cases.get(student, Case())
    left = course.late.budget_days
    free = dict.fromkeys(late, 0)
    taken: dict[tuple[object, object], int] = {}

    def by_due(one: CourseChapter) -> tuple[bool, float]:
        due = course.due(one, student, section)
        return due is None, due.timestamp() if due else 0.0

    for one in sorted(course.chapters, key=by_due):
        fact, by_hand = facts[one.chapter], case.by_hand.get(one.chapter)
        is_set = by_hand is not None and by_hand.points is not None
        if fact.earned == 0 or is_set or one.chapter in case.excused:
            continue
        shared = (course.due(one, student, section), fact.submission)
        if shared not in taken:
            taken[shared] = min(course.late.counted(late[one.chapter]), left)
            left -= taken[shared]
        free[one.chapter] = taken[shared]
    return free


def total(course: Course, made: Mapping[str, Score]) -> dict[str, float | None]:
    """The weighted sum of the scores, and what it may be at most; excused chapters are in neither."""
    counted = [one for one in course.chapters if not made[one.chapter].is_excused]
    known = [(one, made[one.chapter].score) for one in counted]
    is_known = all(score is not None for _, score in known)
    return {
        "earned": cents(sum((score or 0.0) * one.weight for one, score in known)) if is_known else None,
        "possible": cents(sum(one.points * one.weight for one in counted)),
    }


def grade(course: Course, score: Mapping[str, float | None]) -> dict[str, Any] | None:
    """The grade of a total; None if the course gives none, or the total is not known."""
    earned, possible = score["earned"], score["possible"]
    if not course.grade.is_given or earned is None or not possible:
        return None
    curved = course.grade.curved(100 * earned / possible)
    return {
        "percent": cents(100 * earned / possible),
        "curved": curved,
        "letter": course.grade.letter(curved),
    }


def best_of(course: Course, student: str, section: str, chapter: CourseChapter, facts: Sequence[Fact]) -> int:
    """Which of several submissions of a chapter counts, in the order of time, by course.choose.

    The best is the one with the highest score after lateness, before late days from the budget; of equal ones the
    earliest. If a submission could not be judged, and none has all points, it is chosen: its score is still open.
    """
    if course.choose == "first":
        return 0
    if course.choose == "latest":
        return len(facts) - 1
    due = course.due(chapter, student, section)

    def worth(at: int) -> float:
        fact = facts[at]
        late = days_late(due, fact.received, is_marked=fact.is_marked_late)
        if fact.earned is None:
            return chapter.points * course.late.factor(late)
        return cents(fact.earned * course.late.factor(late))

    return max(range(len(facts)), key=lambda at: (worth(at), -at))


def cents(number: float) -> float:
    """A number of points, to two decimals."""
    return round(number + 1e-9, 2)
