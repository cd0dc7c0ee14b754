"""The engine: what the batch over a class calls to have its kernels judged by a cluster."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ...tasks import Done, Task
from . import commands
from .options import SlurmOptions
from .run import Patience, Run
from .submission import Submissions, task_command


class SlurmEngine:
    """Judges tasks as jobs of a Slurm cluster. `folder` must lie on a disk that its nodes share."""

    is_elsewhere = True

    def __init__(
        self,
        folder: Path,
        options: SlurmOptions,
        say: Callable[[str], None] = lambda _: None,
        *,
        command: Sequence[str] = (),
        patience: Patience | None = None,
    ) -> None:
        """`say` is told in one line what the jobs do, whenever that changes."""
        self._folder = folder.absolute()
        self._options = options
        self._say = say
        self._command = command or task_command()
        self._patience = patience or Patience()

    def run(self, tasks: Sequence[Task]) -> Iterator[Done]:
        """Each task as it is over. What a run before this one left in the queue is taken over or cancelled."""
        commands.check_installed()
        if not tasks:
            return
        run = Run(Submissions(self._folder), self._options, self._say, self._command, self._patience)
        is_over = False
        try:
            yield from run.results(tasks)
            is_over = True
        finally:
            is_gone = run.end_jobs(at_once=not is_over)
        if is_gone and not run.has_lost:
            shutil.rmtree(self._folder, ignore_errors=True)
