"""A batch: some kernels in one job."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...tasks import Task
from .commands import Job
from .submission import Submission


@dataclass
class Batch:
    """One job and the kernels that it still has to judge."""

    submission: Submission
    array: str  # the job's number
    index: int  # in the array
    left: dict[Path, Task]  # by the journal entry
    job: Job | None = None  # as the queue showed it last
    over_since: float | None = None  # when Slurm first said that it was over, or knew it no more
    has_progressed: bool = False  # whether any of its kernels came back

    @property
    def is_over(self) -> bool:
        """Whether the job is over, according to the queue."""
        return self.job is not None and (self.job.is_over or self.job.is_stuck)

    def end(self) -> str:
        """How the job ended, with its last output."""
        name = self.job.id if self.job else f"{self.array}_{self.index}"
        state = self.job.state.replace("_", " ").lower() if self.job else "gone"
        if self.job and not self.is_over:
            state = f"gone, last seen {state}"
        reason = f" ({self.job.reason})" if self.job and self.job.reason not in ("", "None") else ""
        words = self.submission.last_words(self.index)
        return f"job {name} {state}{reason}" + (f": {words}" if words else "")


def batched(tasks: Sequence[Task], size: int) -> Iterator[list[Task]]:
    """The tasks in order, as batches of `size` and a last one with the rest."""
    return (list(tasks[begin : begin + size]) for begin in range(0, len(tasks), size))
