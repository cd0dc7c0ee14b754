"""JSON as check50 writes it with --output json: for each chapter that it builds, is right, meets its goals.

"version" is that of the check50 whose JSON specification (its documentation, "JSON specification") this follows.
check50 prints these texts on a terminal, each check on its own line: no text of a student may do more there
than be read, or begin a line that passes for a check.
"""

from pathlib import Path
from typing import Any

from ..submissions.untrusted import printable
from ..views.remarks import Remark
from .files import is_built, is_right, json_text, weighted, write_each

SPECIFICATION = "3.0.0"


def export(document: dict[str, Any], folder: Path) -> list[Path]:
    """check50/STUDENT.json for each student who has a score."""
    return write_each(
        document, folder / "check50", ".json", lambda student: json_text(checks(document, student))
    )


def checks(document: dict[str, Any], student: dict[str, Any]) -> dict[str, Any]:
    """A student's document."""
    results = []
    for remark, _, _ in weighted(document, student):
        results += _chapter(remark)
    return {"slug": "warpbook", "results": results, "version": SPECIFICATION}


def _chapter(remark: Remark) -> list[dict[str, Any]]:
    name = remark.chapter
    steps = (
        (f"{name}_builds", f"{name} {remark.title}: kernel.cu builds", is_built(remark)),
        (f"{name}_correct", f"{name} {remark.title}: its results are right", is_right(remark)),
        (f"{name}_goals", f"{name} {remark.title}: it meets its goals", remark.passed),
    )
    results = []
    before = None  # the step that this one waits for
    waits = False
    for step, description, passed in steps:
        cause = None
        if waits:
            cause = {"rationale": f"not checked before {before} passes", "help": None}
        elif not passed:
            cause = {"rationale": _in_one_line(remark.headline()), "help": _in_one_line(remark.why) or None}
        results.append(
            {
                "name": step,
                "description": description,
                "passed": None if waits else passed,
                "log": [] if waits or passed else [printable(line) for line in remark.text().splitlines()],
                "cause": cause,
                "data": {},
                "dependency": before,
            }
        )
        waits = waits or not passed
        before = step
    return results


def _in_one_line(text: str) -> str:
    return printable(" ".join(text.split()))
