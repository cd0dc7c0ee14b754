"""Grading: decide which chapters must run again, run them in parallel, and keep the results."""

import signal
import uuid
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import __version__
from ..core.errors import GraderError, explain_os_error
from ..core.fingerprint import Hasher
from ..core.history import History, Run, now
from ..core.make import build_programs, to_standard_error
from ..core.options import check_profile
from ..core.processes import (
    Finished,
    Processes,
    clean_environment,
    cores,
    interruptible,
    measures,
    side_by_side,
)
from ..core.receipts import write_receipt
from ..core.result import BrokenResultError, Result, infra, parse_result
from ..core.workbook import Chapter, Workbook, write_json
from .by_hand import take_up
from .store import KERNEL, SOLUTION, Asked, Store, run_of


@dataclass(frozen=True)
class Options:
    """How to grade."""

    kind: str = KERNEL
    device: str = "auto"
    profile: str | None = None  # of the GPU to model
    jobs: int = 0  # 0: one for each core, or one on a GPU
    time_limit: float = 180.0  # seconds for one chapter
    fresh: bool = False  # run chapters that have not changed, too
    wants_page: bool = False  # keep what ./chNN shows on a terminal


@dataclass(frozen=True)
class Outcome:
    """One chapter of a grading run."""

    chapter: Chapter
    result: Result
    kernel_sha256: str
    run: Run | None  # None if it was never judged
    reused: bool = False
    page: str = ""  # if requested and the chapter ran


# Receives each finished chapter and the names of the running ones.
Progress = Callable[[Outcome | None, list[str]], None]


def ignore(_outcome: Outcome | None, _running: list[str]) -> None:
    """A Progress that shows nothing."""


@dataclass
class Grade:
    """A complete grading run, in the chapters' order."""

    kind: str
    outcomes: list[Outcome]
    troubles: list[str] = field(default_factory=list)  # what could not be written or recorded
    left_out: list[Chapter] = field(default_factory=list)  # whole programs, where there is no nvcc

    @property
    def earned(self) -> float:
        """Points of all chapters together."""
        return sum(outcome.result.earned for outcome in self.outcomes)

    @property
    def possible(self) -> float:
        """The most points that could be earned."""
        return sum(outcome.result.possible for outcome in self.outcomes)

    def document(self) -> dict[str, Any]:
        """The grade as written to build/results.json."""
        return {
            "schema": "warpbook/grade/1",
            "kind": self.kind,
            "workbook": __version__,
            "time": now(),
            "points": {"earned": self.earned, "possible": self.possible},
            "troubles": self.troubles,
            "left_out": [chapter.name for chapter in self.left_out],
            "chapters": [
                {
                    "chapter": outcome.chapter.name,
                    "title": outcome.chapter.title,
                    "verdict": outcome.result.verdict,
                    "points": {"earned": outcome.result.earned, "possible": outcome.result.possible},
                    "message": outcome.result.message,
                    "gb_per_s": outcome.result.gb_per_s,
                    "bandwidth": outcome.result.bandwidth_kind,
                    "ratio": outcome.result.ratio,
                    "seconds": round(outcome.result.seconds, 3),
                    "reused": outcome.reused,
                    "kernel_sha256": outcome.kernel_sha256,
                    "result": outcome.result.document,
                }
                for outcome in self.outcomes
            ],
        }


def grade(
    workbook: Workbook,
    chapters: list[Chapter],
    options: Options,
    progress: Progress = ignore,
    *,
    processes: Processes | None = None,
    hear: Callable[[str], None] = to_standard_error,
    left_out: list[Chapter] | None = None,
) -> Grade:
    """Build, judge and record `chapters`, and write the grade to build/; `hear` gets make's lines.

    The grade names the chapters `left_out`, which cannot be compiled here.
    """
    unbuilt = build_programs(workbook, chapters, jobs=options.jobs or cores(), hear=hear, processes=processes)
    check_profile(workbook, options.profile)
    graded = judge(workbook, chapters, options, progress, processes=processes, unbuilt=unbuilt)
    graded.left_out = left_out or []
    name = "results.json" if options.kind == KERNEL else "solutions.json"
    try:
        write_json(workbook.build / name, graded.document())
    except OSError as error:
        graded.troubles.append(f"build/{name} could not be written: {explain_os_error(error)}")
    return graded


def judge(
    workbook: Workbook,
    chapters: list[Chapter],
    options: Options,
    progress: Progress = ignore,
    *,
    processes: Processes | None = None,
    unbuilt: dict[str, str] | None = None,
) -> Grade:
    """Judge and record `chapters` with the existing programs; `unbuilt` says why some are missing.

    If `processes` is given, its `stop` ends grading with a KeyboardInterrupt.
    """
    troubles = take_up(workbook, chapters) if options.kind == KERNEL else []
    grader = _Grader(workbook, options, unbuilt or {}, processes or Processes())
    outcomes = grader.run_all(chapters, progress)
    graded = Grade(options.kind, outcomes)
    graded.troubles = troubles + _record(workbook, outcomes)
    return graded


class _Grader:
    def __init__(
        self, workbook: Workbook, options: Options, unbuilt: dict[str, str], processes: Processes
    ) -> None:
        self.workbook = workbook
        self.options = options
        self.unbuilt = unbuilt
        self.store = Store(workbook, Asked(options.kind, options.device, options.profile))
        self.processes = processes

    def run_all(self, chapters: list[Chapter], progress: Progress) -> list[Outcome]:
        """Every chapter's outcome; first those that need no run, then the others in parallel."""
        done: dict[str, Outcome] = {}
        waiting = []
        for chapter in chapters:
            if outcome := self.reuse(chapter):
                done[chapter.name] = outcome
                progress(outcome, [])
            else:
                waiting.append(chapter)
        running: list[str] = []
        jobs = self.options.jobs or (1 if measures(self.options.device) else cores())

        def start(chapter: Chapter) -> Outcome:
            running.append(chapter.name)
            progress(None, list(running))
            try:
                return self.run_one(chapter)
            finally:
                running.remove(chapter.name)

        with (
            interruptible(self.processes),
            closing(side_by_side(start, waiting, jobs, self.processes)) as outcomes,
        ):
            for outcome in outcomes:
                done[outcome.chapter.name] = outcome
                progress(outcome, list(running))
        return [done[chapter.name] for chapter in chapters]

    def reuse(self, chapter: Chapter) -> Outcome | None:
        """The earlier result, if nothing that it depends on has changed."""
        if self.options.fresh or self.options.wants_page or chapter.name in self.unbuilt:
            return None
        kept = self.store.read(chapter)
        return kept and Outcome(chapter, kept[0], kept[1].kernel_sha256, kept[1], reused=True)

    def run_one(self, chapter: Chapter) -> Outcome:
        """Run one chapter and keep its result; every problem becomes that chapter's INFRA.

        If another program is running it, its result is waited for, and may do.
        """
        try:
            with self.store.alone(chapter, self.processes) as has_waited:
                return (self.reuse(chapter) if has_waited else None) or self.run_alone(chapter)
        except OSError as error:
            result = infra(chapter.name, f"the result could not be kept: {explain_os_error(error)}")
            return Outcome(chapter, result, self.store.source_sha256(chapter), None)

    def run_alone(self, chapter: Chapter) -> Outcome:
        """Run one chapter and keep its result."""
        key, sha256 = self.store.key(chapter), self.store.source_sha256(chapter)
        earlier = None if self.options.fresh else self.store.read(chapter)
        page = ""
        try:
            result, page = self.judge(chapter)
            if result.verdict != "INFRA":
                source = self.workbook.root / self.store.asked.source(chapter)
                if Hasher().file(source) != sha256:
                    key = "edited while it ran"
                identity, time = uuid.uuid4().hex, now()
                if earlier and earlier[0].verdict == result.verdict:
                    identity, time = earlier[1].id, earlier[1].time  # the same result again is not a new run
                run = run_of(identity, time, self.options.kind, result, sha256)
                self.store.write(chapter, run, key)
                return Outcome(chapter, result, sha256, run, page=page)
        except OSError as error:
            result = infra(chapter.name, f"the result could not be kept: {explain_os_error(error)}")
        return Outcome(chapter, result, sha256, None, page=page)

    def judge(self, chapter: Chapter) -> tuple[Result, str]:
        """The result and page of ./chNN, or INFRA with what is wrong with ./chNN itself."""
        name = chapter.name
        if name in self.unbuilt:
            return infra(name, f"./{name} could not be built: {self.unbuilt[name]}"), ""
        output = self.store.result_file(chapter)
        self.store.forget(chapter)
        command: list[str | Path] = [self.workbook.command(chapter), "--json", output]
        command += ["--device", self.options.device]
        command += [] if self.options.wants_page else ["--quiet"]
        if self.options.profile:
            command += ["--gpu", self.options.profile]
        try:
            source = self.store.asked.source(chapter)
            if self.options.kind == SOLUTION and not (self.workbook.root / source).exists():
                # The image, as in an autograder, which has no sources of solutions.
                image = chapter.solution / "kernel.ptx"
                if not (self.workbook.root / image).exists():
                    return infra(
                        name, f"this copy of the workbook has no solutions ({source}); ask your teacher"
                    ), ""
                command += ["--kernel", image]
            elif self.options.kind == SOLUTION:
                folder = self.workbook.build / "solutions" / name
                compiled = self.run([self.workbook.out / "bin" / "compile", source, folder, "--quiet"])
                if compiled.status != 0:
                    words = _last_line(compiled.output)
                    return infra(name, f"{source} does not compile{words}", compiled.seconds), ""
                command += ["--kernel", folder / "kernel.ptx"]
            finished = self.run(command)
        except OSError as error:
            return infra(name, f"./{name} could not be started: {explain_os_error(error)}"), ""
        return self.result_of(name, output, finished), finished.page

    def run(self, command: list[str | Path]) -> Finished:
        """Run one program in the common environment."""
        return self.processes.run(
            command,
            folder=self.workbook.root,
            limit=self.options.time_limit,
            environment=clean_environment() | {"WARPBOOK_RECORDED": "1"},  # this process keeps the result
            on_terminal=self.options.wants_page,
        )

    def result_of(self, name: str, output: Path, finished: Finished) -> Result:
        """The result that ./chNN has written, if it is valid and agrees with the exit status."""
        words = _last_line(finished.output)
        if finished.status is None:
            return infra(
                name, f"./{name} did not finish within {self.options.time_limit:g} s", finished.seconds
            )
        if finished.status < 0:
            how = signal.strsignal(-finished.status) or f"signal {-finished.status}"
            return infra(name, f"./{name} was ended by a signal: {how}{words}", finished.seconds)
        try:
            result = parse_result(output.read_bytes(), name, finished.seconds)
        except FileNotFoundError:
            return infra(
                name, f"./{name} ended with status {finished.status} and no result{words}", finished.seconds
            )
        except BrokenResultError as error:
            return infra(name, f"./{name} wrote a broken result: {error}", finished.seconds)
        expected = {"PASS": 0, "INFRA": 3}.get(result.verdict, 1)
        if finished.status != expected:
            return infra(
                name,
                f"./{name} reports {result.verdict} but ended with status {finished.status}{words}",
                finished.seconds,
            )
        return result


def _record(workbook: Workbook, outcomes: list[Outcome]) -> list[str]:
    try:
        History(workbook.history).add([outcome.run for outcome in outcomes if outcome.run])
        for outcome in outcomes:
            if outcome.run and outcome.run.kind == KERNEL and outcome.result.passed:
                write_receipt(workbook, outcome.result, outcome.kernel_sha256)
    except GraderError as error:
        return [str(error)]
    except OSError as error:
        return [f"the history could not be written: {explain_os_error(error)}"]
    return []


def _last_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return f" ({lines[-1][:300]})" if lines else ""
