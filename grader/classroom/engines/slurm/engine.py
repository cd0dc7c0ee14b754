"""The engine that judges a class's kernels on a cluster."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ...tasks import Done, Task
from . import commands
from .options import SlurmOptions
from .run import Patience, Run
from .submission import Submissions, task_command


class SlurmEngine:
    """Judges tasks as jobs of a Slurm cluster. `folder` must be on a disk that its nodes share."""

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
        """`say` receives one line about the jobs whenever their state changes."""
        self._folder = folder.absolute()
        self._options = options
        self._say = say
        self._command = command or task_command()
        self._patience = patience or Patience()

    def run(self, tasks: Sequence[Task]) -> Iterator[Done]:
        """Each task as it finishes. Jobs of an earlier run that are still in the queue are adopted or cancelled."""
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
