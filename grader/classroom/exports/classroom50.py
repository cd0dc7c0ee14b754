"""Classroom 50: result.json, schema classroom50/result/v1.

Its scores are whole numbers, so a point is ten there. What identifies a submission comes from the variables that its
runner sets. For a graded class, commit and release come from the course's list of submissions (`received` in
course.toml); a student without them gets no file, because Classroom 50 has no row for such a result.
"""

import datetime
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .files import json_text, weighted, write_each

SCHEMA = "classroom50/result/v1"
_POINT = 10


def export(document: dict[str, Any], folder: Path) -> list[Path]:
    """classroom50/STUDENT.json for each student who has a score."""
    known = [student for student in document["students"] if counted(student)]
    without = [
        student["name"] or student["id"]
        for student in document["students"]
        if not counted(student) and student["submission"]["path"]
    ]
    if without:
        print(
            f"warpbook: classroom50: no commit is known for {', '.join(without)}; add the columns commit and "
            "release to the file that received names in course.toml, and run make class again",
            file=sys.stderr,
        )
    return write_each(
        document | {"students": known},
        folder / "classroom50",
        ".json",
        lambda student: json_text(result(document, student, {})),
    )


def counted(student: dict[str, Any]) -> dict[str, Any] | None:
    """The latest submission with a commit that counts for a chapter; or else the latest with one; None for none."""
    counts = {one["submission"] for one in student["chapters"]}
    known = [(at in counts, at) for at, one in enumerate(student["submissions"]) if one["commit"]]
    return student["submissions"][max(known)[1]] if known else None


def result(
    document: dict[str, Any], student: dict[str, Any], variables: Mapping[str, str] = os.environ
) -> dict[str, Any]:
    """A student's result.json; `variables` are the runner's."""
    listed = counted(student) or {"name": "", "commit": "", "release": ""}
    handed_in = listed["name"] or student["submission"]["path"] or student["id"]
    submission = variables.get("SUBMISSION_TAG") or handed_in
    commit = variables.get("COMMIT_URL") or listed["commit"] or submission
    tests: list[dict[str, Any]] = [
        {
            "test-name": f"{remark.chapter} {remark.title}",
            "passed": remark.passed,
            "score": round(score * _POINT),
            "max-score": round(possible * _POINT),
            "output": remark.text(),
        }
        for remark, score, possible in weighted(document, student)
    ]
    return {
        "schema": SCHEMA,
        "classroom": variables.get("CLASSROOM") or _slug(document["course"]["title"]),
        "assignment": variables.get("ASSIGNMENT") or "warpbook",
        "submission": submission,
        "commit": commit,
        "release": variables.get("RELEASE_URL") or listed["release"] or commit,
        "review": variables.get("REVIEW_URL") or commit,
        "datetime": _utc(student["submission"]["received"] or document["times"]["begun"]),
        "score": sum(test["score"] for test in tests),
        "max-score": sum(test["max-score"] for test in tests),
        "tests": tests,
    }


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "class"


def _utc(time: str) -> str:
    return datetime.datetime.fromisoformat(time).astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
