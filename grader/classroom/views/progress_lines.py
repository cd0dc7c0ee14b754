"""How the class came along: for each chapter a line of how many had passed after each grading."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ProgressRow:
    """One chapter over the term."""

    name: str
    points: str  # of a polyline in a box of 100 by 20
    words: str
    before: int
    now: int
    handed_in: int


@dataclass(frozen=True)
class Progress:
    """All chapters over the term."""

    first: str  # the days of the first and the last grading
    last: str
    rows: list[ProgressRow]


def progress(history: list[dict[str, Any]], chapters: list[dict[str, Any]]) -> Progress | None:
    """The lines of a history; None if there are fewer than two gradings."""
    if len(history) < 2:
        return None
    rows = []
    for chapter in chapters:
        ones = [line["chapters"].get(chapter["chapter"], {"passed": 0, "handed_in": 0}) for line in history]
        passed = [one["passed"] for one in ones]
        most = max(len(history[-1]["students"]), *passed, 1)
        points = [
            f"{100 * at / (len(passed) - 1):.1f},{19 - 18 * value / most:.1f}"
            for at, value in enumerate(passed)
        ]
        words = f"{passed[0]} at first, {passed[-1]} now, of {most}"
        name = f"{chapter['chapter']} {chapter['title']}"
        rows.append(ProgressRow(name, " ".join(points), words, passed[0], passed[-1], ones[-1]["handed_in"]))
    return Progress(history[0]["time"][:10], history[-1]["time"][:10], rows)
