"""Judging the tasks of a file, on whatever machine has the class's folder.

It is run as `python -m grader.classroom.judge.worker FILE`.

Two of them may have the same tasks at once, as when a job was started again while the old machine was only
thought to be lost: each works in its own folders, and entries are written atomically.
"""

import shutil
import signal
import sys
import tempfile
import threading
from pathlib import Path

from ...core.entry import guarded
from ...core.errors import INTERRUPTED, MACHINE, PASSED, USAGE, GraderError, explain_os_error
from ...core.processes import Processes
from ...core.workbook import Workbook, find_workbook
from ..journal import InvalidEntryError, read_entry, write_entry
from ..judgement import Judgement, infra_judgement
from ..tasks import Done, Task, read_tasks
from .kernel import judge_submission


def judge_task(workbook: Workbook, task: Task, processes: Processes) -> Done:
    """Judges one kernel and keeps the judgement. Raises KeyboardInterrupt once `processes` are stopped."""
    work = None
    try:
        task.work.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(dir=task.work.parent, prefix=f"{task.work.name}-"))
        chapter = workbook.select([task.chapter])[0]
        judgement = judge_submission(workbook, chapter, task.source, work, task.settings, processes)
        write_entry(task, judgement)
    except OSError as error:
        judgement = infra_judgement(task.chapter, f"it could not be kept: {explain_os_error(error)}", "")
    except GraderError as error:
        judgement = infra_judgement(task.chapter, str(error), "")
    except Exception as error:  # of ours; a class does not stop for one kernel
        words = f"an error in Warpbook itself ({type(error).__name__}: {error})"
        judgement = infra_judgement(task.chapter, words, "")
    finally:
        if work:
            shutil.rmtree(work, ignore_errors=True)
    return Done(task, judgement)


def judge_file(path: Path, workbook: Workbook, processes: Processes) -> None:
    """Judges the tasks that have no settled entry yet, one after the other."""
    for task in read_tasks(path):
        kept = _kept(task)
        if kept is None or kept.verdict == "INFRA":
            judge_task(workbook, task, processes)


def _kept(task: Task) -> Judgement | None:
    try:
        return read_entry(task)
    except InvalidEntryError:  # which the run that made the task has reported
        return None


def main(arguments: list[str]) -> int:
    """Exit status 0 once every task has an entry, whatever the verdicts."""
    if len(arguments) != 1:
        print("usage: python -m grader.classroom.judge.worker FILE", file=sys.stderr)
        return USAGE
    processes = Processes()
    before = {}

    def end(number: int, frame: object) -> None:
        threading.Thread(target=processes.stop).start()  # whose lock this thread may be holding

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        before[number] = signal.signal(number, end)
    path = Path(arguments[0])
    try:
        judge_file(path, find_workbook(), processes)
        lost = [task for task in read_tasks(path) if _kept(task) is None]
    except KeyboardInterrupt:
        return INTERRUPTED
    except (OSError, GraderError, ValueError, KeyError, TypeError) as error:
        words = explain_os_error(error) if isinstance(error, OSError) else str(error)
        print(f"warpbook: {path}: {words}", file=sys.stderr)
        return MACHINE
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for task in lost:
        print(f"warpbook: {task.entry} could not be written", file=sys.stderr)
    return MACHINE if lost else PASSED


if __name__ == "__main__":
    sys.exit(guarded(lambda: main(sys.argv[1:])))
