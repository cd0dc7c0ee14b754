"""Takes the place of `python -m grader.classroom.judge.worker` in a job: a kernel itself says what its judge does.

sleep SECONDS    judged, after a while
stay SECONDS     the same the first time, at once when it is begun again
die              the program ends there, and so does its job
"""

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from grader.classroom.journal import read_entry, write_entry
from grader.classroom.judgement import Judgement
from grader.classroom.tasks import read_tasks
from grader.core.result import Result


def main() -> int:
    """Judges the tasks of a file; each judgement tells the job and how often that was begun."""
    for task in read_tasks(Path(sys.argv[1])):
        if read_entry(task):
            continue
        what, _, seconds = task.source.read_text().partition(" ")
        if what == "die":
            print("the judge died of", task.student)
            return 9
        begun = task.source.with_name("begun")
        if what == "sleep" or not begun.exists():
            begun.touch()
            time.sleep(float(seconds))
        job = os.environ.get("SLURM_ARRAY_JOB_ID") or os.environ["SLURM_JOB_ID"]
        told = f"{job} {os.environ.get('SLURM_RESTART_COUNT', '0')}"
        result = Result(task.chapter, "WRONG", 0, 10, told, 0.0, {})
        write_entry(task, Judgement("WRONG", result, None, "", 0.0, 0))
    return 0


if __name__ == "__main__":
    sys.exit(main())
