"""`make class`: the command, its options, and what it prints.

Its packages are imported when it runs, because a learner's commands need none of them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from ..core.errors import INTERRUPTED, MACHINE, PASSED, UsageError
from ..core.options import Fresh, Jobs, Json, check_device
from ..core.page import console, print_json, verdict_text
from ..core.processes import Processes, interruptible
from ..core.workbook import Workbook, find_workbook

if TYPE_CHECKING:
    from .changes import Change
    from .class_folder import ClassFolder
    from .course import Course
    from .progress import Hear
    from .scope import Scope
    from .tasks import Engine

Submissions = Annotated[Path, typer.Argument(help="The folder of submissions.", show_default=False)]
Chapters = Annotated[list[str] | None, typer.Argument(help="Chapters, such as ch04; default the course's.")]
Out = Annotated[Path | None, typer.Option(help="The folder to write to; default SUBMISSIONS-graded.")]
CourseFile = Annotated[Path | None, typer.Option("--course", help="The course.toml; see docs/class.md.")]
EngineName = Annotated[str, typer.Option("--engine", help="local or slurm.")]
Trust = Annotated[bool, typer.Option("--trust", help="Compile without a sandbox: I trust every submission.")]
ClassDevice = Annotated[
    str | None, typer.Option("--device", help="auto, emulator or gpu; default the course's.")
]
Slurm = Annotated[
    list[str] | None,
    typer.Option("--slurm", help=r"KEY=VALUE, as in \[slurm] of course.toml; may be repeated."),
]

OneStudent = Annotated[
    list[str] | None,
    typer.Option(
        "--student", help="Grade only this student; the rest of the class stays as it is. May be repeated."
    ),
]
OnlyChapters = Annotated[
    list[str] | None,
    typer.Option("--only", help="Judge only this chapter; the others stay as they are. May be repeated."),
]
WhatIf = Annotated[
    bool, typer.Option("--what-if", help="Show which grades would change, and change nothing.")
]
_WHAT_IF = "WHAT_IF=1 (--what-if)"
_MOST_CHANGES = 40  # that are shown after a run; a trial shows all


def class_command(
    submissions: Submissions,
    chapters: Chapters = None,
    out: Out = None,
    course: CourseFile = None,
    engine: EngineName = "local",
    jobs: Jobs = 0,
    trust: Trust = False,
    device: ClassDevice = None,
    fresh: Fresh = False,
    slurm: Slurm = None,
    student: OneStudent = None,
    only: OnlyChapters = None,
    what_if: WhatIf = False,
    as_json: Json = False,
) -> int:
    """Grade a folder of submissions: write a gradebook, a page for each student, and a page for the class."""
    from .batch import Batch, Options
    from .changes import changes
    from .class_folder import ClassFolder
    from .progress import hearing

    workbook = find_workbook()
    chosen = _course(workbook, course, submissions, chapters or [], device, slurm or [])
    folder = ClassFolder(out or submissions.absolute().with_name(f"{submissions.absolute().name}-graded"))
    scope = _scope(workbook, chosen, student or [], only or [], is_trial=what_if)
    processes = Processes()
    with hearing() as hear:
        judges = _engine(engine, workbook, chosen, folder.trial if what_if else folder, jobs, processes, hear)
        batch = Batch(
            workbook,
            chosen,
            submissions.absolute(),
            folder,
            judges,
            Options(jobs, trust, fresh),
            processes,
            hear,
            scope,
        )
        try:
            with interruptible(processes):
                document = batch.run()
        except KeyboardInterrupt:
            kept = (
                f"{batch.judged + batch.reused} of {batch.total} kernels are judged and kept; "
                if batch.total
                else ""
            )
            hear.say(f"warpbook: interrupted; {kept}the same command resumes from there")
            return INTERRUPTED
    changed = changes(batch.before, document) if batch.before or what_if else []
    if as_json:
        listed = {"schema": "warpbook/class-changes/1", "changes": [one.document() for one in changed]}
        print_json(listed if what_if else document)
    elif what_if:
        _show_strangers(document["strangers"])
        _show_changes(changed, len(changed))
        console().print(f"nothing was written; the same command without {_WHAT_IF} writes it")
    else:
        _show(document, folder)
        if changed:
            _show_changes(changed, _MOST_CHANGES)
    verdicts = (one["verdict"] for student in document["students"] for one in student["chapters"])
    return MACHINE if "INFRA" in verdicts else PASSED


def _scope(
    workbook: Workbook, course: Course, students: list[str], chapters: list[str], *, is_trial: bool
) -> Scope:
    """Which part of the class is graded."""
    from .scope import Scope

    names = [name.strip() for words in students for name in words.split(",") if name.strip()]
    parts = [name.strip() for words in chapters for name in words.replace(",", " ").split()]
    chosen = frozenset(one.name for one in workbook.select(parts)) if parts else frozenset()
    if chosen - {one.chapter for one in course.chapters}:
        there = " ".join(one.chapter for one in course.chapters)
        raise UsageError(f"--only: the course has no such chapter; it has {there}")
    return Scope(tuple(names), chosen, is_trial)


def _course(
    workbook: Workbook,
    path: Path | None,
    submissions: Path,
    names: list[str],
    device: str | None,
    slurm: list[str],
) -> Course:
    from .course_file import default_course, read_course

    course = read_course(path, workbook) if path else default_course(workbook, submissions.absolute().name)
    if names:
        wanted = {chapter.name for chapter in workbook.select(names)}
        left = tuple(one for one in course.chapters if one.chapter in wanted)
        if len(left) != len(wanted):
            there = " ".join(one.chapter for one in course.chapters)
            raise UsageError(f"{path}: the course has no such chapter; it has {there}")
        course = replace(course, chapters=left)
    if device:
        check_device(device)
        course = replace(course, device=device)
    return replace(course, slurm=course.slurm.with_words(slurm))


def _engine(
    name: str,
    workbook: Workbook,
    course: Course,
    folder: ClassFolder,
    jobs: int,
    processes: Processes,
    hear: Hear,
) -> Engine:
    match name:
        case "local":
            from .engines.local import LocalEngine

            return LocalEngine(workbook, jobs, processes)
        case "slurm":
            from .engines.slurm.engine import SlurmEngine

            return SlurmEngine(folder.slurm, course.slurm, hear.say)
    raise UsageError(f"--engine must be local or slurm, not {name!r:.40}")


def _show(document: dict[str, Any], folder: ClassFolder) -> None:
    """The class's results in a few lines."""
    from .views.remarks import trouble_of

    out = console()
    students = document["students"]
    handed_in = [one for one in students if one["submission"]["path"]]
    verdicts = Counter(one["verdict"] for student in students for one in student["chapters"])
    out.print(f"{document['course']['title']}: {len(handed_in)} of {len(students)} handed in", markup=False)
    for verdict, count in verdicts.most_common():
        out.print(Text.assemble(f"{count:6}  ", verdict_text(verdict)))
    for student in students:
        if trouble := trouble_of(student):
            out.print(Text(f"{student['id']}: {trouble}"))
    for student in students:
        for one in student["chapters"]:
            if one["verdict"] == "INFRA" and not student["trouble"]:
                out.print(Text(f"{student['id']} {one['chapter']}: not graded: {one['message']}"))
    if verdicts["INFRA"]:
        out.print(
            "INFRA kernels have no score yet: fix the machine (make doctor), and run the same command again."
        )
    _show_strangers(document["strangers"])
    if document["similar"]:
        pairs = len(document["similar"])
        words = "1 pair of kernels resembles" if pairs == 1 else f"{pairs} pairs of kernels resemble"
        out.print(f"{words} each other; see integrity.html")
    if inline := sum(one["inline"] > 0 for one in document["near_reference"]):
        words = "1 kernel holds" if inline == 1 else f"{inline} kernels hold"
        out.print(f"{words} the reference's code as inline assembly; see integrity.html")
    if left_out := len(document["not_compared"]):
        words = "1 kernel is" if left_out == 1 else f"{left_out} kernels are"
        out.print(f"{words} too long to compare; see integrity.html")
    if document["course"]["trusted"]:
        out.print("Every submission was trusted: kernels were compiled without a sandbox.")
    here = Path.cwd()
    place = folder.gradebook
    shown = place.relative_to(here) if place.is_relative_to(here) else place
    out.print(Text(f"gradebook: {shown}"), soft_wrap=True)


def _show_strangers(strangers: list[dict[str, Any]]) -> None:
    """The submissions that are not graded, and what to write into the course file about them."""
    if not strangers:
        return
    out = console()
    out.print(f"{_count(len(strangers), 'submission')} of nobody in the roster, not graded:")
    for one in strangers:
        out.print(Text(f"  {one['name']}: {one['why']}"))
    out.print("To assign them, add lines like these to the course file; [] is nobody:")
    out.print(Text("  [owners]"))
    for one in strangers:
        for line in one["lines"]:
            out.print(Text(f"  {line}"), soft_wrap=True)


def _show_changes(changed: list[Change], most: int) -> None:
    """Grades before and after, one line each."""
    out = console()
    if not changed:
        out.print("no grade changes")
        return
    out.print(f"{_count(len(changed), 'grade')} changed:")
    for one in changed[:most]:
        out.print(Text(f"  {one.student} {one.what}: {one.before or '-'} -> {one.after or '-'}"))
    if len(changed) > most:
        out.print(f"  and {len(changed) - most} more")


def _count(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
