"""Judging on this machine, several kernels at once."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from ...core.processes import Processes, cores, measures
from ...core.workbook import Workbook
from ..judge.worker import judge_task
from ..tasks import Done, Task


class LocalEngine:
    """An engine of threads, each of which waits for one runner; on a GPU there is one."""

    is_elsewhere = False

    def __init__(self, workbook: Workbook, jobs: int, processes: Processes) -> None:
        """`jobs` at once; 0: as many as there are cores."""
        self._workbook = workbook
        self._jobs = jobs
        self._processes = processes

    def run(self, tasks: Sequence[Task]) -> Iterator[Done]:
        """Each task as it is over."""
        device = tasks[0].settings.device if tasks else "emulator"
        jobs = self._jobs or (1 if measures(device) else cores())
        with ThreadPoolExecutor(jobs) as pool:
            futures = [pool.submit(judge_task, self._workbook, task, self._processes) for task in tasks]
            try:
                for future in as_completed(futures):
                    yield future.result()
            except BaseException:
                self._processes.stop()
                pool.shutdown(wait=True, cancel_futures=True)
                raise
