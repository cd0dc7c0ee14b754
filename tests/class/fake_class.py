"""`grader class` with a judge that needs no compiler: it reads the verdict in the kernel's first line.

    PYTHONPATH=. python tests/class/fake_class.py SUBMISSIONS --out FOLDER ...

// WRONG 0.05    the verdict, and for how many seconds judging lasts
// CRASH         the judge itself breaks
// ONCE          INFRA the first time, PASS from then on
// FIXED         WRONG, and PASS once the judge of the chapter in the variable WARPBOOK_FAKE_CORRECTED is corrected
"""

import hashlib
import json
import os
import sys
import time
import typing
from pathlib import Path
from unittest import mock

import grader.classroom.batch as batch_module
import grader.classroom.journal as journal_module
import grader.classroom.judge.worker as worker_module
from grader.__main__ import guarded
from grader.classroom.judge.stages import IMAGE
from grader.classroom.judgement import Judgement, JudgeSettings, infra_judgement
from grader.core.processes import Processes
from grader.core.result import check_result
from grader.core.workbook import Chapter, Workbook

ROOT = Path(__file__).resolve().parents[2]
_EXAMPLE = ROOT / "tests" / "data" / "class" / "class.json"


def documents() -> dict[str, typing.Any]:
    """A result for each verdict of the example."""
    students = json.loads(_EXAMPLE.read_text("utf-8"))["students"]
    chapters = [one for student in students for one in student["chapters"] if one["result"]]
    return {one["verdict"]: one["result"] for one in chapters}


DOCUMENTS = documents()
CORRECTED = "WARPBOOK_FAKE_CORRECTED"  # the variable
_key = journal_module.Keys.key


def key(keys: journal_module.Keys, chapter: Chapter, kernel_sha256: str, settings: JudgeSettings) -> str:
    """Another key after a chapter's judge was corrected, as with another program."""
    plain = _key(keys, chapter, kernel_sha256, settings)
    return f"{plain} corrected" if os.environ.get(CORRECTED) == chapter.name else plain


def judge(
    workbook: Workbook,
    chapter: Chapter,
    source: Path,
    work: Path,
    settings: JudgeSettings,
    processes: Processes,
) -> Judgement:
    """Stands in for judge_submission."""
    graded = work.parent.parent  # or the folder of a trial in it
    beside = (graded.parent if graded.name == "what-if" else graded).parent
    (work / "left lying about").write_text("by the judge")
    verdict, _, seconds = source.read_text("utf-8").splitlines()[0].removeprefix("// ").partition(" ")
    with open(beside / "judged.log", "a", encoding="ascii") as log:
        log.write(f"{source.parent.parent.name} {chapter.name} {settings.secret} {settings.sizes}\n")
    until = time.monotonic() + float(seconds or 0)
    while time.monotonic() < until and not processes.is_stopped:
        time.sleep(0.01)
    if processes.is_stopped:
        raise KeyboardInterrupt
    if verdict == "CRASH":
        raise ZeroDivisionError("the judge is broken")
    once = beside / "once"
    if verdict == "ONCE":
        verdict = "PASS" if once.exists() else "INFRA"
        once.touch()
    if verdict == "FIXED":
        verdict = "PASS" if os.environ.get(CORRECTED) == chapter.name else "WRONG"
    if verdict == "INFRA":
        return infra_judgement(chapter.name, "the machine is ill", "")
    document = DOCUMENTS[verdict] | {"chapter": chapter.name, "times": {"run_seconds": time.monotonic()}}
    sha256 = hashlib.sha256(source.read_bytes()).hexdigest()
    document["build"] = document["build"] | {"source_sha256": sha256}
    document["options"] = document["options"] | {
        "kernel": IMAGE,
        "secret": settings.secret,
        "seed": None,
        "schedules": settings.schedules,
        "also": [{"n": n, "rows": 0, "columns": 0} for n in settings.sizes],
    }
    document["message"] = f"{verdict} of {chapter.name}"
    result = check_result(document, chapter.name, 0.1)
    return Judgement(verdict, result, document, sha256, 0.1, 1 << 20)


def main(arguments: list[str]) -> int:
    """The command, with all that takes time replaced; or, after --tasks, what a cluster's job runs."""
    with (
        mock.patch.object(worker_module, "judge_submission", judge),
        mock.patch.object(journal_module.Keys, "key", key),
        mock.patch.object(batch_module, "need_programs"),
        mock.patch.object(batch_module, "prepare_reference"),
        mock.patch.object(batch_module, "unavailable", return_value=None),
    ):
        if arguments[:1] == ["--tasks"]:
            return worker_module.main(arguments[1:])
        return guarded(["class", *arguments])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
