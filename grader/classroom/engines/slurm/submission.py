"""What lies on the shared folder for the jobs: the script that each runs, its kernels, and its log.

slurm/id                      what the names of this class's jobs begin with
slurm/0001/job.sh             what sbatch was given: the first submission
slurm/0001/tasks-0.json       the kernels of its job 0
slurm/0001/log-0              what job 0 said; begun by the node that starts it
"""

import contextlib
import os
import re
import secrets
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from ...tasks import Task, read_tasks, write_tasks

_ROOT = Path(__file__).resolve().parents[4]
_LAST_WORDS = 4000  # bytes of a log that are looked at

# The shared folder may show a node this minute's files a minute late; a node without it says so by its status.
_SCRIPT = """\
#!/bin/sh
# Judges the kernels of tasks-N.json, N being this job's place in its array.
folder={folder}
n=${{SLURM_ARRAY_TASK_ID:-0}}
patience={patience}
until [ -r "$folder/tasks-$n.json" ]; do
    patience=$((patience - 1))
    [ "$patience" -gt 0 ] || exit 3
    sleep 1
    ls "$folder" >/dev/null 2>&1
done
exec >>"$folder/log-$n" 2>&1 </dev/null || exit 3
echo "job ${{SLURM_JOB_ID:-?}} on $(uname -n), start ${{SLURM_RESTART_COUNT:-0}}"
cd {root} || exit 3
exec {command} "$folder/tasks-$n.json"
"""


class Submission:
    """The folder of one call of sbatch."""

    def __init__(self, folder: Path) -> None:
        """The folder may or may not be there yet."""
        self.folder = folder

    @property
    def script(self) -> Path:
        """What sbatch is given."""
        return self.folder / "job.sh"

    def write(self, batches: Sequence[Sequence[Task]], command: Sequence[str], patience: int) -> None:
        """Writes all that the jobs read. `command` is followed by the file of tasks."""
        self.folder.mkdir(parents=True)
        for index, batch in enumerate(batches):
            write_tasks(self._tasks(index), batch)
        script = _SCRIPT.format(
            folder=shlex.quote(str(self.folder)),
            root=shlex.quote(str(_ROOT)),
            command=shlex.join(command),
            patience=patience,
        )
        self.script.write_bytes(os.fsencode(script))  # a path need not be UTF-8

    def tasks(self, index: int) -> list[Task]:
        """The kernels of a job; none where the file is missing or not whole."""
        try:
            return read_tasks(self._tasks(index))
        except (OSError, ValueError, LookupError, TypeError):
            return []

    def has_started(self, index: int) -> bool:
        """Whether a node ever ran the job."""
        return self._log(index).exists()

    def last_words(self, index: int) -> str:
        """The last line that the job said, "" where it said nothing."""
        with contextlib.suppress(OSError), open(self._log(index), "rb") as log:
            log.seek(max(0, log.seek(0, 2) - _LAST_WORDS))
            lines = [line.strip() for line in log.read().decode("utf-8", "replace").splitlines()]
            said = [line for line in lines if line and not re.match(r"job \S+ on ", line)]
            return "".join(filter(str.isprintable, said[-1])) if said else ""
        return ""

    def _tasks(self, index: int) -> Path:
        return self.folder / f"tasks-{index}.json"

    def _log(self, index: int) -> Path:
        return self.folder / f"log-{index}"


class Submissions:
    """All of a class's, this run's and those of runs before it."""

    def __init__(self, folder: Path) -> None:
        """Makes the folder; a class keeps its id for as long as the folder is there."""
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        name = folder / "id"
        if not name.exists():
            new = folder / f"id.{secrets.token_hex(4)}"
            new.write_text(secrets.token_hex(6), "utf-8")
            new.rename(name)
        self.prefix = f"warpbook-{name.read_text('utf-8').strip()}-"
        self._next = 1 + max(
            (int(path.name) for path in folder.glob("[0-9]*") if path.name.isdigit()), default=0
        )

    def new(self) -> Submission:
        """One whose number no job of this class has had."""
        submission = Submission(self.folder / f"{self._next:04}")
        self._next += 1
        return submission

    def job_name(self, submission: Submission) -> str:
        """By which the jobs of a submission are found again, even if nobody was told their numbers."""
        return f"{self.prefix}{submission.folder.name}"

    def named(self, job_name: str) -> Submission:
        """The inverse of `job_name`."""
        return Submission(self.folder / job_name.removeprefix(self.prefix))


def task_command() -> list[str]:
    """What judges the tasks of a file, with the Python that runs now."""
    return [sys.executable, "-m", "grader.classroom.judge.worker"]
