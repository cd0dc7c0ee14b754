"""Exports of a graded class in the formats of other tools, all from class.json.

Nobody gets a zero for what could not be judged: a student with an INFRA is left out of the formats that want a
score, and has an empty cell in the tables.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.errors import UsageError
from . import autolab, canvas, check50, classroom50, gradescope, junit, moodle, nbgrader


@dataclass(frozen=True)
class Format:
    """One format and how it is written."""

    export: Callable[[dict[str, Any], Path], list[Path]]
    what: str  # a line for people
    with_roster: Callable[[dict[str, Any], Path, Path, str], list[Path]] | None = None


FORMATS = {
    "gradescope": Format(gradescope.export, "results.json for each student"),
    "autolab": Format(autolab.export, "what an autograder prints for each student"),
    "classroom50": Format(classroom50.export, "result.json for each student"),
    "check50": Format(check50.export, "check50's JSON for each student"),
    "junit": Format(junit.export, "JUnit XML of the class"),
    "canvas": Format(canvas.export, "the gradebook of Canvas", canvas.into_roster),
    "moodle": Format(moodle.export, "the grading worksheet of Moodle", moodle.into_roster),
    "nbgrader": Format(nbgrader.export, "grades.csv as nbgrader has it"),
}


def export(
    document: dict[str, Any],
    folder: Path,
    formats: list[str],
    roster: Path | None = None,
    assignment: str = "",
) -> list[Path]:
    """Writes the formats named, all for none, below `folder`; returns what was written.

    `roster` is what Canvas or Moodle exported: it comes back with the grades in its own columns. `assignment`
    names the column that gets the students' totals; "" is the course's title.
    """
    chosen = formats or [name for name in FORMATS if roster is None]
    for name in chosen:
        if name not in FORMATS:
            raise UsageError(f"there is no format {name!r}; there are: {', '.join(FORMATS)}")
    written = []
    if roster is not None:
        if len(chosen) != 1 or not FORMATS[chosen[0]].with_roster:
            raise UsageError("a roster goes with one format, canvas or moodle: the one it was exported from")
        into_roster = FORMATS[chosen[0]].with_roster
        assert into_roster is not None
        return into_roster(document, folder, roster, assignment)
    for name in chosen:
        written += FORMATS[name].export(document, folder)
    return written


def left_out(document: dict[str, Any]) -> list[str]:
    """The students who have no score yet, as people know them."""
    return [
        student["name"] or student["id"]
        for student in document["students"]
        if student["score"]["earned"] is None
    ]
