"""Judging on this machine, several kernels at once."""

from collections.abc import Iterator, Sequence
from functools import partial

from ...core.processes import Processes, cores, measures, side_by_side
from ...core.workbook import Workbook
from ..judge.worker import judge_task
from ..tasks import Done, Task


class LocalEngine:
    """An engine of threads, each of which waits for one runner; on a GPU there is only one."""

    is_elsewhere = False

    def __init__(self, workbook: Workbook, jobs: int, processes: Processes) -> None:
        """`jobs` at once; 0: one for each core."""
        self._workbook = workbook
        self._jobs = jobs
        self._processes = processes

    def run(self, tasks: Sequence[Task]) -> Iterator[Done]:
        """Each task as it finishes."""
        device = tasks[0].settings.device if tasks else "emulator"
        jobs = self._jobs or (1 if measures(device) else cores())
        work = partial(judge_task, self._workbook, processes=self._processes)
        yield from side_by_side(work, tasks, jobs, self._processes)
