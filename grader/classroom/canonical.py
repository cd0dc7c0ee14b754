"""class.json: the one document of a graded class, of which gradebook, pages and exports are views.

docs/class.schema.json describes it. Two runs over the same submissions differ at most in "times", "seconds",
and each result's "times" and "build".
"""

import datetime
import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .. import __version__
from ..core.errors import UsageError, explain_os_error
from ..core.receipts import BrokenReceiptError, compare, parse_receipt
from ..core.result import VERDICTS, BrokenResultError, check_result, load_json, number
from ..core.workbook import write_whole
from . import scoring
from .course import Course, CourseChapter
from .judgement import Judgement
from .submissions.attribution import Stranger
from .submissions.submission import Student, Submission, Trouble
from .submissions.untrusted import printable, printable_text

SCHEMA = "warpbook/class/2"
MISSING = "MISSING"  # the verdict of a chapter that was not handed in
_JUDGED = (
    "chapter", "verdict", "points", "message", "diagnosis", "kernel", "kernel_sha256", "submission", "of", "chosen_as",
    "received", "receipt", "result",
)  # fmt: skip


@dataclass(frozen=True)
class Handed:
    """One chapter of one submission: its kernel, or the reason for refusing it."""

    kernel: str = ""  # relative to the class's folder; "" for none
    kernel_sha256: str = ""
    refused: str = ""  # the message of a REJECT
    judgement: Judgement | None = None
    receipt: bytes | None = None  # of the author's own run, as it was handed in
    submission: int | None = None  # which of the student's it is from
    trouble: Trouble | None = None  # INFRA: the submission could not be opened, and may contain the chapter
    carried: dict[str, Any] | None = None  # the chapter in an earlier class.json, which is kept


@dataclass(frozen=True)
class Opened:
    """One submission after it was opened."""

    submission: Submission
    sha256: str = ""  # of everything handed in; "" for nothing
    chapters: tuple[str, ...] = ()  # that it contains
    missing: str = ""  # why others may not be there


@dataclass(frozen=True)
class Graded:
    """The data of one student, ready to be written."""

    student: Student
    opened: Sequence[Opened] = ()  # in the order of time
    handed: Mapping[str, Sequence[Handed]] = field(default_factory=dict)  # by chapter, those that may count
    counts: Mapping[str, int] = field(default_factory=dict)  # by chapter, how many submissions contain it
    missing: str = ""  # why a chapter may not be there, where something was handed in
    unchanged: Mapping[str, str] = field(
        default_factory=dict
    )  # by chapter, that its file is still the skeleton


def class_document(
    course: Course,
    students: Iterable[Graded],
    times: dict[str, Any],
    *,
    strangers: Sequence[Stranger] = (),
    kept: Iterable[dict[str, Any]] = (),
    is_trusted: bool = False,
) -> dict[str, Any]:
    """The whole document, students in the order of their ids.

    `kept` are students of an earlier class.json, who stay as they are. `is_trusted`: compiled without a sandbox.
    What kernels resemble each other is added by the caller.
    """
    made = [_student(course, graded) for graded in students]
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
            "choose": course.choose,
            "has_roster": course.roster is not None,
            "grade": {
                "curve": [list(point) for point in course.grade.curve],
                "cut_offs": dict(course.grade.cut_offs),
                "below": course.grade.below,
            }
            if course.grade.is_given
            else None,
            "trusted": is_trusted,
        },
        "students": sorted([*made, *kept], key=lambda one: str(one["id"])),
        "strangers": [
            {"name": one.name, "why": one.why, "lines": list(one.lines)}
            for one in sorted(strangers, key=lambda one: one.name)
        ],
        "similar": [],
        "near_reference": [],
        "not_compared": [],
        "times": times,
    }


def _student(course: Course, graded: Graded) -> dict[str, Any]:
    student = graded.student
    chosen = {one.chapter: _chosen(course, one, graded) for one in course.chapters}
    trouble = _trouble(graded)
    chapters = [_judged(one, graded, chosen[one.chapter], trouble) for one in course.chapters]
    facts = {
        one.chapter: _fact(graded, chosen[one.chapter], chapter, trouble)
        for one, chapter in zip(course.chapters, chapters, strict=True)
    }
    scores = scoring.scores(course, student.id, student.section, facts)
    total = scoring.total(course, scores)
    received = [fact.received for fact in facts.values() if fact.received]
    if not received:
        received = [one.submission.received for one in graded.opened if one.submission.received]
    judged = [
        handed.judgement for several in graded.handed.values() for handed in several if handed.judgement
    ]
    return {
        "id": student.id,
        "name": student.name,
        "email": student.email,
        "section": student.section,
        "lms": asdict(student.lms),
        "submission": {
            "path": ", ".join(one.submission.name for one in graded.opened),
            "received": max(received).isoformat() if received else None,
            "days_late": max((one.days_late for one in scores.values()), default=0),
            "sha256": _sha256(graded.opened),
        },
        "submissions": [_submission(one, student.id) for one in graded.opened],
        "trouble": asdict(trouble) if trouble else None,
        "chapters": [_scored(course, chapter, scores[chapter["chapter"]]) for chapter in chapters],
        "score": total,
        "grade": scoring.grade(course, total),
        "seconds": round(sum(one.seconds for one in judged), 3),
    }


def _submission(opened: Opened, student: str) -> dict[str, Any]:
    submission = opened.submission
    return {
        "name": submission.name,
        "received": submission.received.isoformat() if submission.received else None,
        "matched": submission.matched,
        "with": [owner for owner in submission.owners if owner != student],
        "chapters": list(opened.chapters),
        "sha256": opened.sha256,
        "commit": submission.commit,
        "release": submission.release,
        "trouble": asdict(submission.trouble) if submission.trouble else None,
    }


def _sha256(opened: Sequence[Opened]) -> str:
    """Of everything that a student handed in."""
    hashes = [one.sha256 for one in opened if one.sha256]
    if len(hashes) < 2:
        return "".join(hashes)
    return hashlib.sha256(" ".join(hashes).encode()).hexdigest()


def _trouble(graded: Graded) -> Trouble | None:
    """Why nothing of a student could be judged: no submission could be opened."""
    troubles = [one.submission.trouble for one in graded.opened]
    return troubles[-1] if troubles and all(troubles) else None


def _chosen(course: Course, one: CourseChapter, graded: Graded) -> Handed | None:
    """The submission of a chapter that counts."""
    several = graded.handed.get(one.chapter, ())
    if not several:
        return None
    facts = [_fact(graded, handed, _judged(one, graded, handed, None), None) for handed in several]
    at = (
        0
        if len(several) == 1
        else scoring.best_of(course, graded.student.id, graded.student.section, one, facts)
    )
    return several[at]


def _fact(
    graded: Graded, handed: Handed | None, chapter: dict[str, Any], trouble: Trouble | None
) -> scoring.Fact:
    earned = chapter["points"]["earned"]
    if handed and handed.carried:
        received = moment(handed.carried["received"])
        return scoring.Fact(earned, received is not None, received, submission=handed.submission)
    if handed is None or handed.submission is None:
        return scoring.Fact(earned)
    submission = graded.opened[handed.submission].submission
    return scoring.Fact(
        earned,
        trouble is None,
        submission.received,
        is_marked_late=submission.is_marked_late,
        submission=handed.submission,
    )


def moment(text: str | None) -> datetime.datetime | None:
    """A date of class.json."""
    return datetime.datetime.fromisoformat(text) if text else None


def _judged(
    one: CourseChapter, graded: Graded, handed: Handed | None, trouble: Trouble | None
) -> dict[str, Any]:
    """One chapter before any rule of the course is applied."""
    if handed and handed.carried:
        return _carried(one, handed)
    verdict, message, result = MISSING, graded.unchanged.get(one.chapter) or graded.missing, None
    earned: float | None = 0.0
    judgement = handed.judgement if handed else None
    trouble = trouble or (handed.trouble if handed else None)
    if trouble:
        verdict, message = trouble.verdict, trouble.message
    elif handed and handed.refused:
        verdict, message = "REJECT", handed.refused
    elif judgement:
        judged = judgement.result
        verdict, message, result = judgement.verdict, judged.message, judgement.document
        earned = scoring.cents(judged.earned / judged.possible * one.points) if judged.possible else 0.0
    if verdict == "INFRA":
        earned = None  # not known yet; never counted as zero
    diagnosis = judgement.result.diagnosis if judgement else None
    handed = handed or Handed()
    submission = None if handed.submission is None else graded.opened[handed.submission].submission
    return {
        "chapter": one.chapter,
        "verdict": verdict,
        "points": {"earned": earned, "possible": one.points},
        "message": printable_text(message),
        "diagnosis": str(diagnosis.get("mistake", "")) if diagnosis else "",
        "kernel": handed.kernel,
        "kernel_sha256": handed.kernel_sha256,
        "submission": handed.submission,
        "of": graded.counts.get(one.chapter, 0),
        "chosen_as": "",
        "received": submission.received.isoformat() if submission and submission.received else None,
        "receipt": _receipt(one.chapter, handed),
        "result": _anywhere(result, handed.kernel) if result else None,
    }


def _carried(one: CourseChapter, handed: Handed) -> dict[str, Any]:
    """A chapter of an earlier class.json, with the points that the course gives now."""
    assert handed.carried is not None
    kept = {name: handed.carried[name] for name in _JUDGED}
    points = kept["points"]
    if points["earned"] is not None:
        earned = scoring.cents(points["earned"] / points["possible"] * one.points)
        kept["points"] = {"earned": earned, "possible": one.points}
    return kept


def _scored(course: Course, chapter: dict[str, Any], score: scoring.Score) -> dict[str, Any]:
    """A chapter with what it counts."""
    by_hand = score.by_hand
    made = chapter | {
        "chosen_as": course.choose if chapter["of"] > 1 and chapter["submission"] is not None else "",
        "due": score.due.isoformat() if score.due else None,
        "days_late": score.days_late,
        "from_budget": score.from_budget,
        "factor": score.factor,
        "excused": score.is_excused,
        "by_hand": asdict(by_hand) | {"date": by_hand.date.isoformat()} if by_hand else None,
        "score": score.score,
    }
    return made | {"result": made.pop("result")}  # the longest part comes last


def _receipt(chapter: str, handed: Handed) -> dict[str, Any] | None:
    """The author's own run compared with this one. It earns nothing."""
    if handed.receipt is None or handed.judgement is None or handed.judgement.verdict == "INFRA":
        return None
    try:
        receipt = parse_receipt(handed.receipt, chapter)
    except BrokenReceiptError as error:
        why = f"the receipt cannot be read: {printable(str(error))}"
        return {"agrees": False, "differences": [why], "claims": None}
    claims = {name: receipt[name] for name in ("verdict", "workbook", "kernel_sha256")} | receipt["points"]
    names = ("verdict", "earned", "possible", "workbook", "kernel_sha256")
    compared = compare(receipt, handed.judgement.result, handed.kernel_sha256).document()
    return compared | {"claims": {name: claims[name] for name in names}}


def _anywhere(document: dict[str, Any], kernel: str) -> dict[str, Any]:
    """A result without the path of its folder, so that it is the same in any folder."""
    options = document.get("options")
    if not isinstance(options, dict):
        return document
    return document | {"options": options | {"kernel": kernel}}


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
                if points is None and (one["verdict"] == "INFRA" or one["excused"]):
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


def read_class(graded: Path) -> dict[str, Any]:
    """The class.json in a folder, or that file itself. Raises UsageError when it is none."""
    path = graded / "class.json" if graded.is_dir() else graded
    try:
        document = load_json(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(
            f"there is no graded class in {graded}: {explain_os_error(error)}; make class writes one"
        ) from None
    except ValueError as error:
        raise UsageError(f"{path} is not a class.json: {error}") from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        other = document.get("schema") if isinstance(document, dict) else None
        hint = "; make class writes it again" if str(other).startswith("warpbook/class/") else ""
        raise UsageError(f'{path} is not a class.json: it has no "schema": "{SCHEMA}"{hint}')
    try:
        check_class(document)
    except (BrokenResultError, KeyError, TypeError, AttributeError, IndexError) as error:
        what = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise UsageError(f"{path} is damaged: {what}; make class writes it again") from None
    return document


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
