"""The pieces of work that the screen starts: each runs in a thread and reports its result to the screen."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from ...core.make import build_programs, make
from ...core.processes import clean_environment, cores
from ...core.workbook import Chapter, Workbook
from ..grade import Grade, Options, Outcome, grade, judge
from ..standing import Standing, standings
from .jobs import Job

_LIMIT = 600.0  # seconds for a page with counters of every line


@dataclass(frozen=True)
class Verdict:
    """The result of one chapter, and its duration."""

    outcome: Outcome
    seconds: float  # since it was saved or requested
    clock: str  # when that was


def judging(
    workbook: Workbook,
    chapter: Chapter,
    options: Options,
    hear: Callable[[Verdict], None],
    recorded: Callable[[list[str], list[Standing]], None],
    *,
    since: float,
    is_program_changed: bool,
) -> Callable[[Job], None]:
    """Judge a chapter; its program is built first if it has changed.

    `hear` gets the verdict as soon as it is known, `recorded` what prevented recording it or else the
    learner's new state. `since` is of time.monotonic().
    """

    def work(job: Job) -> None:
        def tell(outcome: Outcome | None, _: list[str]) -> None:
            if outcome is not None:
                verdict = Verdict(outcome, time.monotonic() - since, time.strftime("%H:%M:%S"))
                job.tell(lambda: hear(verdict))

        unbuilt = {}
        if is_program_changed or not (workbook.root / workbook.program(chapter)).exists():
            unbuilt = build_programs(
                workbook, [chapter], jobs=cores(), hear=lambda _: None, processes=job.processes
            )
        judged = judge(workbook, [chapter], options, tell, processes=job.processes, unbuilt=unbuilt)
        made = [] if judged.troubles else standings(workbook)
        job.tell(lambda: recorded(judged.troubles, made))

    return work


def profiling(
    workbook: Workbook, chapter: Chapter, options: Options, hear: Callable[[str], None]
) -> Callable[[Job], None]:
    """The page of ./chNN --profile."""

    def work(job: Job) -> None:
        command = [workbook.command(chapter), "--profile", "--device", options.device]
        command += ["--gpu", options.profile] if options.profile else []
        done = job.processes.run(
            command,
            folder=workbook.root,
            limit=_LIMIT,
            environment=clean_environment(),
            on_terminal=True,
        )
        job.tell(lambda: hear(done.page or done.output))

    return work


def running_all(
    workbook: Workbook,
    chapters: list[Chapter],
    options: Options,
    hear: Callable[[str], None],
    end: Callable[[Grade], None],
) -> Callable[[Job], None]:
    """`make grade`; `hear` gets a line for every event."""

    def work(job: Job) -> None:
        def say(line: str) -> None:
            job.tell(lambda: hear(line))

        def tell(outcome: Outcome | None, running: list[str]) -> None:
            if outcome is not None:
                say(f"  {outcome.chapter.name} {outcome.result.verdict}")

        plain = replace(options, wants_page=False)  # unchanged chapters are not run again
        graded = grade(
            workbook, chapters, plain, tell, processes=job.processes, hear=lambda x: say(x.rstrip())
        )
        job.tell(lambda: end(graded))

    return work


def making(
    workbook: Workbook, goal: str, hear: Callable[[str], None], end: Callable[[int], None]
) -> Callable[[Job], None]:
    """A target of the Makefile; `hear` gets its lines."""

    def work(job: Job) -> None:
        def say(line: str) -> None:
            job.tell(lambda: hear(line.rstrip()))

        status, _ = make(workbook, goal, jobs=cores(), hear=say, processes=job.processes)
        job.tell(lambda: end(status))

    return work
