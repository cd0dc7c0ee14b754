"""Classroom 50: result.json, schema classroom50/result/v1.

Its scores are whole numbers, so a point is ten there. What identifies a submission comes from the variables
that its runner sets; for a class that did not come from there, from class.json.
"""

import datetime
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .files import json_text, weighted, write_each

SCHEMA = "classroom50/result/v1"
_POINT = 10


def export(document: dict[str, Any], folder: Path) -> list[Path]:
    """classroom50/STUDENT.json for each student who has a score."""
    return write_each(
        document, folder / "classroom50", ".json", lambda student: json_text(result(document, student, {}))
    )


def result(
    document: dict[str, Any], student: dict[str, Any], variables: Mapping[str, str] = os.environ
) -> dict[str, Any]:
    """A student's result.json; `variables` are the runner's."""
    submission = variables.get("SUBMISSION_TAG") or student["submission"]["path"] or student["id"]
    commit = variables.get("COMMIT_URL") or submission
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
        "release": variables.get("RELEASE_URL") or commit,
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
