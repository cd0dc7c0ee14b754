"""class.json: the one document of a graded class, of which gradebook, pages and exports are views.

docs/class.schema.json describes it. Two runs over the same submissions differ at most in "times", "seconds",
and each result's "times" and "build".
"""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .. import __version__
from ..core.receipts import BrokenReceiptError, compare, parse_receipt
from ..core.result import VERDICTS, BrokenResultError, check_result, number
from ..core.workbook import write_whole
from .course import Course, CourseChapter
from .judgement import Judgement
from .submissions.submission import Submission
from .submissions.untrusted import printable, printable_text
from .views.similar import Resemblance

SCHEMA = "warpbook/class/1"
MISSING = "MISSING"  # the verdict of a chapter that was not handed in


@dataclass(frozen=True)
class Handed:
    """One chapter of a submission: its kernel, or the reason for refusing it."""

    kernel: str = ""  # relative to the class's folder; "" for none
    kernel_sha256: str = ""
    refused: str = ""  # the message of a REJECT
    judgement: Judgement | None = None
    receipt: bytes | None = None  # of the author's own run, as it was handed in


@dataclass(frozen=True)
class Graded:
    """The data of one student, ready to be written."""

    submission: Submission
    path: str  # relative to the folder of submissions, printable; "" for nothing handed in
    sha256: str  # of everything handed in; "" for nothing
    handed: Mapping[str, Handed]  # by chapter
    missing: str = ""  # why others may not be there, where something was handed in


def class_document(
    course: Course,
    students: Iterable[Graded],
    similar: Resemblance,
    times: dict[str, Any],
    *,
    is_trusted: bool = False,
) -> dict[str, Any]:
    """The whole document, students in the order of their ids; `is_trusted`: compiled without a sandbox."""
    return {
        "schema": SCHEMA,
        "workbook": __version__,
        "course": {
            "title": course.title,
            "chapters": [
                {
                    "chapter": one.chapter,
                    "title": one.title,
                    "possible": one.points,
                    "weight": one.weight,
                    "due": one.due.isoformat() if one.due else None,
                }
                for one in course.chapters
            ],
            "late": asdict(course.late),
            "trusted": is_trusted,
        },
        "students": [
            _student(course, graded) for graded in sorted(students, key=lambda one: one.submission.id)
        ],
        "similar": similar.pairs,
        "near_reference": similar.references,
        "not_compared": similar.not_compared,
        "times": times,
    }


def _student(course: Course, graded: Graded) -> dict[str, Any]:
    submission = graded.submission
    chapters = [_chapter(course, one, graded) for one in course.chapters]
    weights = {one.chapter: one.weight for one in course.chapters}
    known = [chapter for chapter in chapters if chapter["score"] is not None]
    is_whole = len(known) == len(chapters)
    judged = [handed.judgement for handed in graded.handed.values() if handed.judgement]
    handed_in = [one for one in course.chapters if one.chapter in graded.handed]
    return {
        "id": submission.id,
        "name": submission.name,
        "email": submission.email,
        "section": submission.section,
        "lms": asdict(submission.lms),
        "submission": {
            "path": graded.path,
            "received": submission.received.isoformat() if submission.received else None,
            "days_late": max((course.days_late(one, submission) for one in handed_in), default=0),
            "sha256": graded.sha256,
        },
        "trouble": asdict(submission.trouble) if submission.trouble else None,
        "chapters": chapters,
        "score": {
            "earned": _cents(sum(one["score"] * weights[one["chapter"]] for one in known))
            if is_whole
            else None,
            "possible": _cents(sum(one.points * one.weight for one in course.chapters)),
        },
        "seconds": round(sum(one.seconds for one in judged), 3),
    }


def _chapter(course: Course, one: CourseChapter, graded: Graded) -> dict[str, Any]:
    handed = graded.handed.get(one.chapter, Handed())
    verdict, message, result = MISSING, graded.missing, None
    earned: float | None = 0.0
    if graded.submission.trouble:
        verdict, message = graded.submission.trouble.verdict, graded.submission.trouble.message
    elif handed.refused:
        verdict, message = "REJECT", handed.refused
    elif handed.judgement:
        judged = handed.judgement.result
        verdict, message, result = handed.judgement.verdict, judged.message, handed.judgement.document
        earned = _cents(judged.earned / judged.possible * one.points) if judged.possible else 0.0
    if verdict == "INFRA":
        earned = None  # not known yet; never counted as zero
    factor = 1.0 if verdict == MISSING else course.late.factor(course.days_late(one, graded.submission))
    diagnosis = handed.judgement.result.diagnosis if handed.judgement else None
    return {
        "chapter": one.chapter,
        "verdict": verdict,
        "points": {"earned": earned, "possible": one.points},
        "factor": factor,
        "score": None if earned is None else _cents(earned * factor),
        "message": printable_text(message),
        "diagnosis": str(diagnosis.get("mistake", "")) if diagnosis else "",
        "kernel": handed.kernel,
        "kernel_sha256": handed.kernel_sha256,
        "receipt": _receipt(one.chapter, handed),
        "result": _anywhere(result, handed.kernel) if result else None,
    }


def _receipt(chapter: str, handed: Handed) -> dict[str, Any] | None:
    """The author's own run compared with this one. It earns nothing."""
    if handed.receipt is None or handed.judgement is None or handed.judgement.verdict == "INFRA":
        return None
    try:
        receipt = parse_receipt(handed.receipt, chapter)
    except BrokenReceiptError as error:
        return {"agrees": False, "differences": [f"the receipt cannot be read: {printable(str(error))}"]}
    return compare(receipt, handed.judgement.result, handed.kernel_sha256).document()


def _anywhere(document: dict[str, Any], kernel: str) -> dict[str, Any]:
    """A result without the path of its folder, so that it is the same in any folder."""
    options = document.get("options")
    if not isinstance(options, dict):
        return document
    return document | {"options": options | {"kernel": kernel}}


def _cents(number: float) -> float:
    return round(number + 1e-9, 2)


def check_class(document: dict[str, Any]) -> None:
    """Raise BrokenResultError, KeyError or TypeError for a class.json with points or results that cannot be."""
    for student in document["students"]:
        for one in student["chapters"]:
            where = f"{student['id']} {one['chapter']}"
            if one["verdict"] not in VERDICTS | {MISSING}:
                raise BrokenResultError(f"{where}: it has the unknown verdict {one['verdict']!r:.40}")
            for points, most in (
                (one["points"]["earned"], one["points"]["possible"]),
                (one["score"], math.inf),
            ):
                if points is None and one["verdict"] == "INFRA":
                    continue
                if number(points) is None or not 0 <= points <= most:
                    raise BrokenResultError(f"{where}: its points are not valid")
            if one["result"] is not None:
                try:
                    result = check_result(one["result"], one["chapter"], 0.0)
                except BrokenResultError as error:
                    raise BrokenResultError(f"{where}: {error}") from None
                if result.verdict != one["verdict"]:
                    raise BrokenResultError(
                        f"{where}: it says {one['verdict']}, and its result {result.verdict}"
                    )


def write_class(path: Path, document: dict[str, Any]) -> None:
    """Write class.json, one line for every chapter of every student, so that files can be compared."""
    students = []
    for student in document["students"]:
        chapters = ",\n    ".join(_line(chapter) for chapter in student["chapters"])
        rest = {name: value for name, value in student.items() if name != "chapters"}
        students.append(f'  {_line(rest)[:-1]}, "chapters": [\n    {chapters}]}}')
    parts = [
        f" {_line(name)}: {_line(value)}"
        if name != "students"
        else ' "students": [\n' + ",\n".join(students) + "]"
        for name, value in document.items()
    ]
    write_whole(path, "{\n" + ",\n".join(parts) + "\n}\n")


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
