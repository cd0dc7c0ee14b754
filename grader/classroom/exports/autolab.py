"""Autolab: what an autograder prints. The last line has the scores, the line before it the semantic feedback."""

import json
from pathlib import Path
from typing import Any

from ..submissions.untrusted import printable
from ..views.remarks import whole_text
from .files import is_built, is_right, weighted, write_each

_STAGES = ("Build", "Correct", "Goals")


def export(document: dict[str, Any], folder: Path) -> list[Path]:
    """autolab/STUDENT.txt for each student who has a score."""
    return write_each(document, folder / "autolab", ".txt", lambda student: output(document, student))


def output(document: dict[str, Any], student: dict[str, Any]) -> str:
    """The output for a student. The text comes first, so that none of its lines can be the last one."""
    parts = weighted(document, student)
    # A line of a student's own making must not pass for feedback: none begins with a brace.
    said = "\n".join(f"| {printable(line)}" for line in whole_text(document, student).splitlines())
    scores = {remark.chapter: score for remark, score, _ in parts}
    last = {"scores": scores, "scoreboard": [student["score"]["earned"], *scores.values()]}
    return f"{said}\n{_line(semantic(document, student))}\n{_line(last)}\n"


def semantic(document: dict[str, Any], student: dict[str, Any]) -> dict[str, Any]:
    """Three stages: each chapter builds, is right, and meets its goals."""
    build: dict[str, Any] = {}
    correct: dict[str, Any] = {}
    goals: dict[str, Any] = {}
    for remark, _, _ in weighted(document, student):
        name = f"{remark.chapter} {remark.title}"
        hint = remark.what or remark.meaning
        build[name] = _step(is_built(remark), hint)
        if not is_built(remark):
            continue
        correct[name] = _step(is_right(remark), hint)
        for goal in remark.goals if is_right(remark) else ():
            goals[f"{remark.chapter}: {goal.words}"] = _step(goal.state == "met", goal.text())
    return {"_presentation": "semantic", "stages": list(_STAGES)} | dict(
        zip(_STAGES, (build, correct, goals), strict=True)
    )


def _step(passed: bool, hint: str) -> dict[str, Any]:
    return {"passed": True} if passed else {"passed": False, "hint": hint}


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, allow_nan=False)
