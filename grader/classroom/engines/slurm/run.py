"""One run: submits batches, reads the journal while they are judged, submits again what was lost."""

import contextlib
import math
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ....core.errors import MachineError
from ...journal import InvalidEntryError, read_entry
from ...judgement import Judgement, infra_judgement
from ...tasks import Done, Task
from . import commands
from .arguments import arguments_for
from .batch import Batch, batched
from .commands import FullError, QueueError
from .options import SlurmOptions
from .submission import Submission, Submissions

_EVERY = 1.0  # seconds between two looks at the journal, at least
_TELLING = 15.0  # seconds between two lines on how many jobs run
_SHARE = 0.1  # of the time that looking at the journal may take: a slow shared disk is asked less often


@dataclass(frozen=True)
class Patience:
    """Seconds to wait for a cluster and its shared folder."""

    files: float = 60.0  # for a file that one machine wrote to be seen by another: NFS may show it that late
    queue: float = 10.0  # between two questions to the controller
    controller: float = 1800.0  # for a controller that does not answer
    ending: float = 30.0  # for jobs to be gone once they were cancelled


class Run:
    """Some tasks on their way through the queue."""

    def __init__(
        self,
        submissions: Submissions,
        options: SlurmOptions,
        say: Callable[[str], None],
        command: Sequence[str],
        patience: Patience,
    ) -> None:
        self.has_lost = False  # whether a kernel was given up
        self._submissions = submissions
        self._options = options
        self._say = say
        self._command = command
        self._patience = patience
        self._batches: list[Batch] = []  # submitted
        self._waiting: deque[list[Task]] = deque()  # to be submitted
        self._not_before = 0.0  # no sbatch until then: there was no room, or no answer
        self._largest = 1  # number of batches that one sbatch may take
        self._tries: Counter[Path] = Counter()  # times that a task was lost
        self._has_begun = False  # whether there may be jobs to end
        self._has_started = False  # whether a node ever ran a job
        self._next_question = 0.0
        self._answered = time.monotonic()
        self._said = ""
        self._next_telling = 0.0

    def results(self, tasks: Sequence[Task]) -> Iterator[Done]:
        """Submits, waits, submits again; ends when every task is over."""
        try:
            left = self._take_over(tasks)
            self._largest = commands.largest_array()
        except QueueError as error:
            raise _silent(error) from error
        self._waiting.extend(batched(left, self._options.batch))
        while self._waiting or self._batches:
            self._submit()
            begun = time.monotonic()
            yield from self._finished()
            looked = time.monotonic() - begun
            self._ask()
            for batch in [batch for batch in self._batches if self._is_lost(batch)]:
                yield from self._lose(batch)
            self._tell()
            if self._batches or self._waiting:
                time.sleep(max(min(_EVERY, self._patience.queue), looked / _SHARE))

    def _take_over(self, tasks: Sequence[Task]) -> list[Task]:
        """Find the jobs of an interrupted run. Jobs with kernels that are still needed continue; others are cancelled.

        Returns the tasks that are in no job.
        """
        wanted = {task.entry: task for task in tasks}
        unwanted = []
        jobs = commands.queue(self._submissions.prefix)
        self._has_begun = True
        for job in jobs:
            if job.is_over:
                continue
            submission = self._submissions.named(job.name)
            theirs = submission.tasks(max(job.index, 0))
            # A job that judges by older settings would write over what is judged by newer ones.
            is_current = all(
                task.entry not in wanted or wanted[task.entry].key == task.key for task in theirs
            )
            mine = {
                task.entry: wanted.pop(task.entry) for task in theirs if is_current and task.entry in wanted
            }
            if mine and not job.is_stuck:
                self._batches.append(Batch(submission, job.array, max(job.index, 0), mine, job))
            else:
                wanted |= mine
                unwanted.append(job)
        if self._batches or unwanted:
            self._say(f"jobs of an earlier run: {len(self._batches)} taken over, {len(unwanted)} cancelled")
        if unwanted:
            self._end({job.id for job in unwanted})
        for task in wanted.values():
            # What an earlier run could not judge would pass for this one's answer.
            task.entry.unlink(missing_ok=True)
        return list(wanted.values())

    def _submit(self) -> None:
        """Hands over what waits, as far as there is room."""
        while self._waiting and time.monotonic() >= self._not_before:
            room = self._options.jobs - len(self._batches) if self._options.jobs else self._largest
            if room <= 0:
                return
            count = min(room, self._largest, len(self._waiting))
            batches = [self._waiting.popleft() for _ in range(count)]
            submission = self._submissions.new()
            try:
                array = self._submit_batches(submission, batches)
            except (FullError, QueueError) as error:
                self._waiting.extendleft(reversed(batches))
                self._put_off(error, count)
            except BaseException:
                self._waiting.extendleft(reversed(batches))
                raise
            else:
                for index, batch in enumerate(batches):
                    left = {task.entry: task for task in batch}
                    self._batches.append(Batch(submission, array, index, left))

    def _submit_batches(self, submission: Submission, batches: Sequence[Sequence[Task]]) -> str:
        submission.write(batches, self._command, math.ceil(self._patience.files))
        name = self._submissions.job_name(submission)
        try:
            return commands.submit(arguments_for(name, batches, self._options), submission.script)
        except QueueError:
            # It may have been heard even so.
            with contextlib.suppress(QueueError):
                for job in commands.queue(name):
                    return job.array
            raise

    def _put_off(self, error: FullError | QueueError, count: int) -> None:
        now = time.monotonic()
        if isinstance(error, FullError) and count > 1:
            self._largest = count // 2
            return
        self._not_before = now + self._patience.queue
        if isinstance(error, FullError):
            if not self._batches:
                raise MachineError(f"the cluster takes no job at present: {error}") from error
            self._say(f"no room for more jobs, waiting: {error}")
        elif now - self._answered > self._patience.controller:
            raise _silent(error) from error

    def _finished(self) -> Iterator[Done]:
        """What has come into the journal since the last look."""
        for batch in self._batches:
            for entry, task in list(batch.left.items()):
                judgement = self._judgement(task)
                if judgement:
                    del batch.left[entry]
                    batch.has_progressed = self._has_started = True
                    yield Done(task, judgement)
        self._batches = [batch for batch in self._batches if batch.left]

    @staticmethod
    def _judgement(task: Task) -> Judgement | None:
        try:
            return read_entry(task)
        except InvalidEntryError:  # of an earlier run, which has reported it; the job writes it again
            return None

    def _ask(self) -> None:
        """Asks the controller how the jobs are, where it is time to."""
        now = time.monotonic()
        if now < self._next_question or not self._batches:
            return
        self._next_question = now + self._patience.queue
        try:
            jobs = commands.queue(self._submissions.prefix)
        except QueueError as error:
            if now - self._answered > self._patience.controller:
                raise _silent(error) from error
            self._say(f"the Slurm controller does not answer, waiting: {error}")
            return
        self._answered = now
        # By name, because a controller that lost its state numbers jobs from the start again.
        found = {(job.name, max(job.index, 0)): job for job in jobs}
        for batch in self._batches:
            job = found.get((self._submissions.job_name(batch.submission), batch.index))
            batch.job = job or batch.job
            if job and not batch.is_over:
                batch.over_since = None
            elif batch.over_since is None:
                batch.over_since = now

    def _is_lost(self, batch: Batch) -> bool:
        """Whether its job is over, and nothing that it may still have written is under way."""
        if batch.over_since is None:
            return False
        for folder in {entry.parent for entry in batch.left}:
            with contextlib.suppress(OSError):
                list(folder.iterdir())  # makes an NFS client look again
        return time.monotonic() - batch.over_since > self._patience.files

    def _lose(self, batch: Batch) -> Iterator[Done]:
        """Submits again what a lost job has not judged, or gives it up."""
        self._batches.remove(batch)
        if batch.job and batch.job.is_stuck:
            with contextlib.suppress(QueueError):
                commands.cancel([batch.job.id])
        self._has_started |= batch.submission.has_started(batch.index)
        if not batch.has_progressed:  # otherwise the next one begins further on
            self._tries.update(batch.left.keys())
        retries = self._options.retries
        given_up = [task for entry, task in batch.left.items() if self._tries[entry] > retries]
        again = [task for entry, task in batch.left.items() if self._tries[entry] <= retries]
        # One kernel alone may be what ends the job: the last time each has one to itself.
        alone = [task for task in again if 0 < retries == self._tries[task.entry]]
        self._waiting.extend([task] for task in alone)
        self._waiting.extend(batched([task for task in again if task not in alone], self._options.batch))
        how = batch.end()
        if again:
            self._say(f"{how}; {len(again)} kernels submitted again")
        if given_up and not self._has_started:
            raise MachineError(
                f"no job of this class ever began its work: {how}\ndo the nodes see {self._submissions.folder}"
                " and this checkout by the same path? Put both on a disk that all share"
            )
        for task in given_up:
            self.has_lost = True
            message = f"lost {self._tries[task.entry]} times on the cluster: {how}"
            yield Done(task, infra_judgement(task.chapter, message, ""))

    def _tell(self) -> None:
        if not (self._batches or self._waiting):
            return
        jobs = [batch.job for batch in self._batches if batch.job]
        running = sum(not job.waits for job in jobs)
        reasons = Counter(job.reason for job in jobs if job.waits and job.reason not in ("", "None"))
        parts = [f"{running} {'job runs' if running == 1 else 'jobs run'}"]
        waiting = len(self._batches) - running + len(self._waiting)
        if waiting:
            why = f" ({reasons.most_common(1)[0][0]})" if reasons else ""
            parts.append(f"{waiting} {'waits' if waiting == 1 else 'wait'}{why}")
        said, now = ", ".join(parts), time.monotonic()
        if said != self._said and now >= self._next_telling:
            self._said, self._next_telling = said, now + _TELLING
            self._say(said)

    def end_jobs(self, *, at_once: bool) -> bool:
        """Sees to it that no job is left, whether or not its number ever was known; False where one may be.

        Not `at_once` lets those end by themselves that have judged all and are about to.
        """
        if not self._has_begun:
            return False
        try:
            live = self._live()
            if live and not at_once:
                time.sleep(min(2 * _EVERY, self._patience.ending))
                live = self._live()
            return self._end(live)
        except QueueError as error:
            numbers = ", ".join(sorted({batch.array for batch in self._batches})) or "none known"
            self._say(f"jobs could not be cancelled ({numbers}): {error}; the next run will look for them")
            return False

    def _live(self) -> set[str]:
        return {job.id for job in commands.queue(self._submissions.prefix) if not job.is_over}

    def _end(self, jobs: Iterable[str]) -> bool:
        """Cancels jobs and waits until they are gone."""
        left = set(jobs)
        commands.cancel(left)
        deadline = time.monotonic() + self._patience.ending
        while left:
            left &= self._live()
            if time.monotonic() > deadline:
                return False
            time.sleep(0.2 if left else 0)
        return True


def _silent(error: Exception) -> MachineError:
    return MachineError(
        f"the Slurm controller does not answer: {error}\n`scontrol ping` shows whether it runs; what is judged is"
        " kept, so run the same command again later, or with ENGINE=local"
    )
