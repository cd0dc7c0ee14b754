"""Grading one submission in the container in which a platform runs the autograder.

That container is the sandbox: it holds nothing but the autograder and one submission, and is discarded
afterwards. If bubblewrap works inside it, the compiler is confined again.
"""

import datetime
import json
import secrets
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...core.errors import MachineError, explain_os_error
from ...core.make import need_programs
from ...core.processes import Processes, cores
from ...core.sandbox import unavailable
from ...core.workbook import Chapter, Workbook
from ...learner.restart import skeleton_of
from ..canonical import Graded, Handed, Opened, class_document
from ..course import Course, CourseChapter
from ..judge.kernel import judge_submission
from ..judge.references import prepare_reference
from ..judgement import JudgeSettings
from ..submissions.contents import Gathered, gather
from ..submissions.submission import Piece, Student, Submission
from ..submissions.untrusted import printable

DEVICE = "emulator"
_SECONDS = 540.0  # for all of a submission: platforms stop an autograder after ten minutes


def prepare(workbook: Workbook, chapters: list[Chapter]) -> None:
    """Build the programs and run the references, so that no submission has to wait for this."""
    need_programs(workbook, chapters, jobs=cores())
    processes = Processes()
    for chapter in chapters:
        prepare_reference(workbook, chapter, DEVICE, processes)


def grade_one(
    workbook: Workbook, chapters: list[Chapter], handin: Path, who: Student, title: str
) -> dict[str, Any]:
    """Judge the folder or file `handin`; return a class.json of one student."""
    begun = datetime.datetime.now(datetime.UTC)
    until = time.monotonic() + _SECONDS
    need_programs(workbook, chapters, jobs=cores())
    # A fresh secret for every submission; each chapter's result has what was drawn from it.
    course = Course(
        title,
        tuple(CourseChapter(one.name, one.title) for one in chapters),
        device=DEVICE,
        secret=secrets.token_bytes(16),
        is_shared=True,
    )
    processes = Processes()
    with tempfile.TemporaryDirectory(prefix="warpbook-autograder-") as name:
        work = Path(name)
        name_here = printable(handin.name)
        submission = Submission(
            name_here, (Piece(handin, name_here),), received=who.received, owners=(who.id,)
        )
        skeletons = {one.name: _skeleton(workbook, one) for one in chapters}
        gathered = gather(submission, skeletons, work, processes)
        handed = _judge(workbook, course, chapters, gathered, work, until, processes)
    seen = replace(submission, trouble=gathered.trouble)
    graded = Graded(
        replace(who, submissions=(seen,)),
        [Opened(seen, gathered.sha256, tuple(handed))],
        {name: [one] for name, one in handed.items()},
        dict.fromkeys(handed, 1),
        gathered.missing,
        gathered.unchanged,
    )
    return class_document(course, [graded], {"begun": begun.isoformat(timespec="milliseconds")})


def _skeleton(workbook: Workbook, chapter: Chapter) -> str:
    """A chapter's skeleton. An autograder that was uploaded has no solution, and the skeleton as kernel.cu."""
    try:
        return skeleton_of(workbook, chapter)
    except MachineError:
        return (workbook.root / chapter.kernel).read_text("utf-8")


def _judge(
    workbook: Workbook,
    course: Course,
    chapters: list[Chapter],
    gathered: Gathered,
    work: Path,
    until: float,
    processes: Processes,
) -> dict[str, Handed]:
    trust = unavailable() is not None
    waiting = [one for one in chapters if one.name in gathered.kernels and one.name not in gathered.refused]
    handed = {name: Handed(refused=why, submission=0) for name, why in gathered.refused.items()}
    for at, chapter in enumerate(waiting):
        seconds = max(1.0, min(180.0, (until - time.monotonic()) / (len(waiting) - at)))
        kernel = gathered.kernels[chapter.name]
        secret = course.secret_of("", chapter.name, kernel.sha256)
        settings = JudgeSettings(DEVICE, secret=secret, time_limit=seconds, trust=trust)
        source = work / "kernel.cu"
        source.write_bytes(kernel.content)
        judgement = judge_submission(workbook, chapter, source, work, settings, processes)
        if judgement.verdict == "INFRA":  # a temporary problem of the machine
            judgement = judge_submission(workbook, chapter, source, work, settings, processes)
        handed[chapter.name] = Handed(
            printable(kernel.name), kernel.sha256, judgement=judgement, submission=0
        )
    return handed


def infra(document: dict[str, Any]) -> str:
    """Why a submission could not be judged because of the machine; "" if it could."""
    (student,) = document["students"]
    if student["trouble"] and student["trouble"]["verdict"] == "INFRA":
        return str(student["trouble"]["message"])
    return "; ".join(
        f"{one['chapter']}: {one['message']}" for one in student["chapters"] if one["verdict"] == "INFRA"
    )


def read_metadata(path: Path | None) -> tuple[Student, str]:
    """The submitters and the assignment's title, from Gradescope's submission_metadata.json."""
    nobody = Student("submission", "")
    if path is None or not path.exists():
        return nobody, ""
    try:
        document = json.loads(path.read_text("utf-8"))
        users = document.get("users") or [{}]
        title = (document.get("assignment") or {}).get("title") or ""
        names = [str(user.get(key) or "") for user in users[:1] for key in ("email", "name")]
        received = (
            datetime.datetime.fromisoformat(document["created_at"]) if document.get("created_at") else None
        )
    except OSError as error:
        raise MachineError(f"the submission's metadata cannot be read: {explain_os_error(error)}") from None
    except (ValueError, TypeError, AttributeError, LookupError) as error:
        raise MachineError(f"{path} does not have Gradescope's format: {error}") from None
    email, name = (printable(text) for text in names)
    return replace(nobody, id=email or nobody.id, name=name, email=email, received=received), printable(
        str(title)
    )
