"""Exports of a graded class in the formats of other tools, all from class.json.

Nobody gets a zero for what could not be judged: a student with an INFRA is left out of the formats that want a
score, and has an empty cell in the tables.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.errors import UsageError
from . import autolab, blackboard, canvas, check50, classroom50, gradescope, junit, moodle, nbgrader


@dataclass(frozen=True)
class Format:
    """One format and how it is written."""

    export: Callable[[dict[str, Any], Path], list[Path]] | None  # None: only into the platform's own file
    what: str  # a line for people
    with_roster: Callable[[dict[str, Any], Path, Path, str], list[Path]] | None = None
    how: str = ""  # the platform's own file is exported


FORMATS = {
    "gradescope": Format(gradescope.export, "results.json for each student"),
    "autolab": Format(autolab.export, "what an autograder prints for each student"),
    "classroom50": Format(classroom50.export, "result.json for each student"),
    "check50": Format(check50.export, "check50's JSON for each student"),
    "junit": Format(junit.export, "JUnit XML of the class"),
    "canvas": Format(None, "the gradebook of Canvas", canvas.into_roster, canvas.HOW),
    "moodle": Format(None, "the grading worksheet of Moodle", moodle.into_roster, moodle.HOW),
    "blackboard": Format(None, "the Grade Center of Blackboard", blackboard.into_roster, blackboard.HOW),
    "nbgrader": Format(nbgrader.export, "grades.csv as nbgrader has it"),
}


def export(
    document: dict[str, Any],
    folder: Path,
    formats: list[str],
    roster: Path | None = None,
    assignment: str = "",
) -> list[Path]:
    """Writes the formats named, below `folder`; for none, all that need no roster. Returns what was written.

    `roster` is what a platform exported: it comes back with the grades in its own columns. `assignment` names the
    column that gets the students' totals; "" is the course's title. Raises UsageError for a format that would not
    import without a roster.
    """
    chosen = formats or [name for name, form in FORMATS.items() if form.export and roster is None]
    for name in chosen:
        if name not in FORMATS:
            raise UsageError(f"there is no format {name!r}; there are: {', '.join(FORMATS)}")
    if roster is not None:
        into_roster = FORMATS[chosen[0]].with_roster if len(chosen) == 1 else None
        if into_roster is None:
            names = ", ".join(name for name, form in FORMATS.items() if form.with_roster)
            raise UsageError(
                f"a roster needs one format, the one it was exported from: FORMAT= one of {names}"
            )
        return into_roster(document, folder, roster, assignment)
    for name in chosen:
        if FORMATS[name].export is None:
            raise UsageError(
                f"{name} imports grades only into its own columns, and knows students only by its own numbers: "
                f"{FORMATS[name].how}"
            )
    written = []
    for name in chosen:
        write = FORMATS[name].export
        written += write(document, folder) if write else []
    return written


def left_out(document: dict[str, Any]) -> list[str]:
    """The students who have no score yet, as people know them."""
    return [
        student["name"] or student["id"]
        for student in document["students"]
        if student["score"]["earned"] is None
    ]
