"""Grading a class: from a folder of submissions to class.json and its views.

Kernels with the same key (the same bytes, secret, sizes and everything else that a judgement depends on) are
judged once. With a secret in the course every student has a different one, and no two share a judgement.
"""

import contextlib
import shutil
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from ..core.errors import MachineError
from ..core.history import now
from ..core.make import need_programs
from ..core.processes import Processes, cores, side_by_side
from ..core.sandbox import unavailable
from ..core.workbook import Chapter, Workbook
from ..learner.restart import skeleton_of
from .canonical import Graded, Handed, class_document, write_class
from .class_folder import ClassFolder
from .course import Course
from .engines.local import LocalEngine
from .journal import InvalidEntryError, Keys, read_entry, write_entry
from .judge.references import prepare_reference, reference_image
from .judgement import Judgement, JudgeSettings
from .progress import Hear
from .similarity.words import image_words
from .submissions.attribution import find_submissions
from .submissions.contents import Gathered, gather
from .submissions.roster import read_roster
from .submissions.submission import Submission
from .submissions.untrusted import printable
from .tasks import Done, Engine, Task
from .views import gradebook, pages, similar

_FEW = 3  # if at most this many kernels are INFRA, they are judged a second time
_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


@dataclass(frozen=True)
class Options:
    """How to grade a class; no result depends on these options."""

    jobs: int = 0  # 0: as many as there are cores
    trust: bool = False  # compile without the sandbox
    fresh: bool = False  # judge even what is judged


@dataclass
class Batch:
    """One run over a class."""

    workbook: Workbook
    course: Course
    submissions: Path
    folder: ClassFolder
    engine: Engine
    options: Options
    processes: Processes
    hear: Hear
    judged: int = 0  # kernels, so far
    reused: int = 0
    total: int = 0
    peak_bytes: int = 0

    def run(self) -> dict[str, Any]:
        """Grade everything and write the results; return class.json's document."""
        begun, moment = time.monotonic(), now()
        students = read_roster(self.course.roster, self.course.zone) if self.course.roster else []
        found = find_submissions(self.submissions, students)
        for name in found.ignored:
            self.hear.say(f"ignored: {name}")
        with self.folder.opened(self.course.title, self.submissions) as secret:
            if not self.course.secret:
                self.course = replace(self.course, secret=secret, is_shared=True)
            self.prepare()
            if isinstance(self.engine, LocalEngine):  # jobs of a cluster may still be using it
                self.folder.clear_work()
                self.folder.clear_halves()
            self.folder.work.mkdir(exist_ok=True)
            gathered = self.gather(found.submissions)
            judgements = self.judge(self.tasks(gathered))
            document = self.document(gathered, judgements)
            document["times"] |= {"begun": moment, "seconds": round(time.monotonic() - begun, 3)}
            self.write(document)
            self.folder.clear_work()
        return document

    def prepare(self) -> None:
        """Everything needed before a student's file is opened."""
        if not self.options.trust and (reason := unavailable()):
            raise MachineError(reason)
        chapters = self.chapters()
        jobs = self.options.jobs or cores()
        need_programs(self.workbook, chapters, jobs=jobs, hear=self.hear.say, processes=self.processes)
        if self.engine.is_elsewhere and self.course.device != "emulator":
            return  # each machine runs the references on its GPU
        self.hear.begin("references", len(chapters))

        def prepared(chapter: Chapter) -> None:
            prepare_reference(self.workbook, chapter, self.course.device, self.processes)

        self.side_by_side(prepared, chapters)

    def gather(self, submissions: Sequence[Submission]) -> list[tuple[Submission, Gathered]]:
        """All students' kernels, copied into the class's folder."""
        self.hear.begin("submissions", len(submissions))
        names = [one.chapter for one in self.course.chapters]

        def opened(submission: Submission) -> tuple[Submission, Gathered]:
            gathered = gather(submission, names, self.folder.work, self.processes)
            self.keep_kernels(submission, gathered)
            return replace(submission, trouble=gathered.trouble), gathered

        return self.side_by_side(opened, submissions)

    def keep_kernels(self, submission: Submission, gathered: Gathered) -> None:
        """Copy the kernels to their place, and remove those of an earlier submission."""
        for one in self.course.chapters:
            path = self.folder.kernel(submission.id, one.chapter)
            kernel = gathered.kernels.get(one.chapter)
            if kernel is None or gathered.trouble or one.chapter in gathered.refused:
                shutil.rmtree(path.parent, ignore_errors=True)
                gathered.kernels.pop(one.chapter, None)
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            fresh = path.with_name(".new")
            fresh.write_bytes(kernel.content)
            fresh.replace(path)

    def tasks(self, gathered: Iterable[tuple[Submission, Gathered]]) -> list[Task]:
        """One for every kernel."""
        keys = Keys(self.workbook)
        chapters = {chapter.name: chapter for chapter in self.chapters()}
        return [
            self.task(submission.id, chapters[name], held.kernels[name].sha256, settings, keys)
            for submission, held in gathered
            for name, settings in self.settings(submission, held)
        ]

    def settings(self, submission: Submission, held: Gathered) -> Iterator[tuple[str, JudgeSettings]]:
        """The settings for each of a student's kernels."""
        for name in sorted(held.kernels):
            yield (
                name,
                JudgeSettings(
                    device=self.course.device,
                    secret=self.course.secret_of(submission.id, name, held.kernels[name].sha256),
                    sizes=self.course.sizes(submission.id, name),
                    schedules=self.course.schedules,
                    time_limit=self.course.time_for_each(len(held.kernels)),
                    trust=self.options.trust,
                ),
            )

    def task(self, student: str, chapter: Chapter, sha256: str, settings: JudgeSettings, keys: Keys) -> Task:
        """One kernel as a task."""
        entry = self.folder.entry(student, chapter.name)
        return Task(
            student=student,
            chapter=chapter.name,
            source=self.folder.kernel(student, chapter.name),
            work=self.folder.work / f"{entry.parent.name}.{chapter.name}",
            entry=entry,
            key=keys.key(chapter, sha256, settings),
            settings=settings,
        )

    def judge(self, tasks: Sequence[Task]) -> dict[tuple[str, str], Judgement]:
        """Every task's judgement, by student and chapter; stored ones need no run."""
        done: dict[tuple[str, str], Judgement] = {}
        known: dict[str, Judgement] = {}
        if not self.options.fresh:
            for task in tasks:
                kept = self.kept(task)
                if kept and kept.verdict != "INFRA":
                    done[task.student, task.chapter] = known[task.key] = kept
        same: dict[str, list[Task]] = {}
        for task in tasks:
            if (task.student, task.chapter) not in done:
                same.setdefault(task.key, []).append(task)
        self.total, self.reused = len(tasks), len(done)
        waiting = [alike[0] for key, alike in same.items() if key not in known]
        self.hear.begin("kernels", len(tasks))
        for _ in done:
            self.hear.step()
        for key in set(same) & set(known):
            self.settle(same[key], known[key], done)
        ill = []
        with contextlib.closing(self.run_engine(waiting)) as results:
            for result in results:
                if result.judgement.verdict == "INFRA" and not self.engine.is_elsewhere:
                    ill.append(result)
                else:
                    self.settle(same[result.task.key], result.judgement, done, but=result.task)
        if len(ill) <= max(_FEW, len(waiting) // 10):  # temporary problems: a full process table, a busy disk
            ill = list(self.run_engine([result.task for result in ill]))
        for result in ill:
            self.settle(same[result.task.key], result.judgement, done, but=result.task)
        return done

    def kept(self, task: Task) -> Judgement | None:
        """A task's judgement of an earlier run; one that is not as that run wrote it is reported, and not used."""
        try:
            return read_entry(task)
        except InvalidEntryError as error:
            self.hear.say(f"{error}; {task.chapter} of {printable(task.student)} is judged again")
            return None

    def run_engine(self, tasks: Sequence[Task]) -> Generator[Done, None, None]:
        """The judgement of each task. Closing the generator ends running tasks."""
        with contextlib.ExitStack() as resources:
            results = self.engine.run(tasks)
            if isinstance(results, Generator):
                resources.enter_context(contextlib.closing(results))
            for result in results:
                self.peak_bytes = max(self.peak_bytes, result.judgement.peak_bytes)
                yield result

    def settle(
        self,
        alike: Sequence[Task],
        judgement: Judgement,
        done: dict[tuple[str, str], Judgement],
        but: Task | None = None,
    ) -> None:
        """Store one judgement for all identical kernels; the engine has stored that of `but`."""
        for task in alike:
            if task is not but and judgement.verdict != "INFRA":
                with contextlib.suppress(OSError):  # it is judged anyway, and again the next time
                    write_entry(task, judgement)
            done[task.student, task.chapter] = judgement
            self.judged += 1
            self.hear.step()

    def document(
        self,
        gathered: Sequence[tuple[Submission, Gathered]],
        judgements: dict[tuple[str, str], Judgement],
    ) -> dict[str, Any]:
        """class.json."""
        graded = [self.graded(submission, held, judgements) for submission, held in gathered]
        self.hear.begin("similar kernels", 1)
        kernels: dict[str, dict[str, similar.Kernel]] = {one.chapter: {} for one in self.course.chapters}
        for (student, name), judgement in judgements.items():
            # Without points, the code is mostly the skeleton's.
            code = judgement.code if judgement.result.earned > 0 else ()
            kernels[name][student] = similar.Kernel(self.folder.kernel(student, name), code)
        given = {chapter.name: self.given(chapter) for chapter in self.chapters()}
        resembling = similar.find_similar(kernels, given, self.course.similar)
        times = {
            "jobs": self.options.jobs or cores(),
            "judged": self.judged,
            "kept": self.reused,
            "peak_bytes": self.peak_bytes,
        }
        return class_document(self.course, graded, resembling, times, is_trusted=self.options.trust)

    def given(self, chapter: Chapter) -> similar.Given:
        """What everybody has of a chapter, and its reference: from the solution, not from the checkout's kernel.cu."""
        image = reference_image(self.workbook, chapter)
        solution = self.workbook.root / chapter.solution / "kernel.cu"
        return similar.Given(
            skeleton_of(self.workbook, chapter),
            solution.read_text("utf-8") if solution.is_file() else None,
            image_words(image) if image else None,
        )

    def graded(
        self, submission: Submission, held: Gathered, judgements: dict[tuple[str, str], Judgement]
    ) -> Graded:
        """The data of one student."""
        handed = {
            name: Handed(
                str(self.folder.kernel(submission.id, name).relative_to(self.folder.root)),
                kernel.sha256,
                judgement=judgements[submission.id, name],
                receipt=held.receipts.get(name),
            )
            for name, kernel in held.kernels.items()
        }
        handed |= {name: Handed(refused=why) for name, why in held.refused.items() if not held.trouble}
        path = ", ".join(printable(piece.path.relative_to(self.submissions)) for piece in submission.pieces)
        return Graded(submission, path, held.sha256, handed, held.missing)

    def write(self, document: dict[str, Any]) -> None:
        """Write class.json and its views."""
        self.hear.begin("pages", 1)
        write_class(self.folder.document, document)
        gradebook.write(document, self.folder.gradebook)
        pages.write(document, self.folder.root)

    def chapters(self) -> list[Chapter]:
        """The chapters of the course."""
        return self.workbook.select([one.chapter for one in self.course.chapters])

    def side_by_side(self, work: Callable[[_Given], _Made], given: Sequence[_Given]) -> list[_Made]:
        """The results of `work` for each, several at once, in order; an interruption ends running work."""
        made: dict[int, _Made] = {}
        done = side_by_side(
            lambda at: (at, work(given[at])), range(len(given)), self.options.jobs or cores(), self.processes
        )
        with contextlib.closing(done):
            for at, one in done:
                made[at] = one
                self.hear.step()
        return [made[at] for at in range(len(given))]
