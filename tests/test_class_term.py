"""A made-up term in a short form: `make class-term` in full is 60 students and 10 weeks."""

import datetime
import math
import sys
from pathlib import Path
from unittest import mock

import pytest

sys.path.insert(0, str(Path(__file__).parent / "class"))

import term

from grader.classroom import scoring
from grader.classroom.course import Late


def hours_late(due: datetime.datetime | None, received: datetime.datetime | None, *, is_marked: bool) -> int:
    """Days of 24 hours, also where clocks are set back, and only if the time has another zone than the due date."""
    assert not is_marked
    return max(0, math.ceil((received - due).total_seconds() / 86_400)) if received and due else 0


def test_every_grade_of_a_term_is_as_computed_by_hand(tmp_path: Path) -> None:
    cells, problems = term.run(tmp_path / "term", 14, 6, seed=2)
    assert problems == []
    assert cells == 6 * 14 * (2 * 6 + 5)


@pytest.mark.parametrize(
    ("where", "name", "mutant"),
    [
        (Late, "factor", lambda self, days, free=0: 0.7 ** max(0, days - free)),
        (scoring, "_from_budget", lambda course, student, section, facts, late: dict.fromkeys(late, 0)),
        (scoring, "days_late", lambda due, received, is_marked: 0),
        (scoring, "days_late", hours_late),
    ],
    ids=["another factor", "no budget", "never late", "days of 24 hours"],
)
def test_a_wrong_rule_is_noticed(where: object, name: str, mutant: object, tmp_path: Path) -> None:
    with mock.patch.object(where, name, mutant):
        _, problems = term.run(tmp_path / "term", 24, 2, seed=1)
    assert problems
