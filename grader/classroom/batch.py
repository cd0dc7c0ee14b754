"""Grading a class: from a folder of submissions to class.json and its views.

Kernels with the same key (the same bytes, secret, sizes and everything else that a judgement depends on) are
judged once. With a secret in the course every student has a different one, and no two share a judgement.
"""

import contextlib
import shutil
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from ..core.errors import MachineError
from ..core.history import now
from ..core.make import need_programs
from ..core.processes import Processes, cores, side_by_side
from ..core.sandbox import unavailable
from ..core.workbook import Chapter, Workbook
from ..learner.restart import skeleton_of
from . import history
from .canonical import Graded, Handed, Opened, class_document, write_class
from .class_folder import ClassFolder
from .course import Course
from .engines.local import LocalEngine
from .journal import InvalidEntryError, Keys, read_code, read_entry, write_entry
from .judge.references import prepare_reference, reference_image
from .judgement import Judgement, JudgeSettings
from .progress import Hear
from .scope import Scope
from .similarity.words import image_words
from .submissions.attribution import Found, find_submissions
from .submissions.contents import Gathered, gather
from .submissions.roster import read_roster
from .submissions.submission import Student, Submission
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


@dataclass(frozen=True)
class _Candidate:
    """One of a student's kernels, which may count for its chapter."""

    student: Student
    chapter: str
    submission: int  # which of the student's
    held: Gathered  # of that submission
    label: str  # "" for the only one of the chapter

    @property
    def sha256(self) -> str:
        """Of the kernel."""
        return self.held.kernels[self.chapter].sha256


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
    scope: Scope = field(default_factory=Scope)
    judged: int = 0  # kernels, so far
    reused: int = 0
    total: int = 0
    peak_bytes: int = 0
    before: dict[str, Any] | None = None  # the class.json of an earlier run

    @property
    def place(self) -> ClassFolder:
        """The folder that this run writes to: that of the class, or one beside it for a trial."""
        return self.folder.trial if self.scope.is_trial else self.folder

    def run(self) -> dict[str, Any]:
        """Grade everything in the scope and write the results; return class.json's document."""
        begun, moment = time.monotonic(), now()
        students = read_roster(self.course.roster, self.course.zone) if self.course.roster else []
        found = find_submissions(self.submissions, students, self.course.ownership)
        for name in found.ignored:
            self.hear.say(f"ignored: {name}")
        for name in found.unused:
            self.hear.say(
                f"[owners] of the course file names {name}, which is not in {self.submissions.name}"
            )
        with self.folder.opened(self.course.title, self.submissions) as secret:
            if not self.course.secret:
                self.course = replace(self.course, secret=secret, is_shared=True)
            self.before = self.scope.earlier(self.folder)
            chosen = self.scope.students_of(found.students)
            self.prepare()
            if isinstance(self.engine, LocalEngine):  # jobs of a cluster may still be using it
                self.folder.clear_work()
                self.folder.clear_halves()
            self.place.work.mkdir(parents=True, exist_ok=True)
            gathered = self.gather(chosen)
            judgements = self.judge(self.tasks(gathered))
            document = self.document(found, gathered, judgements)
            document["times"] |= {"begun": moment, "seconds": round(time.monotonic() - begun, 3)}
            self.write(document)
            self.place.clear_work()
            if not self.scope.is_trial:
                self.folder.clear_trial()
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

    def gather(self, students: Sequence[Student]) -> list[tuple[Student, list[Gathered]]]:
        """All students' kernels, copied into the class's folder; each submission of a group is opened once."""
        distinct = {one.pieces: one for student in students for one in student.submissions}
        self.hear.begin("submissions", len(distinct))
        skeletons = {one.name: skeleton_of(self.workbook, one) for one in self.chapters()}

        def opened(submission: Submission) -> Gathered:
            return gather(submission, skeletons, self.place.work, self.processes)

        every = dict(zip(distinct, self.side_by_side(opened, list(distinct.values())), strict=True))
        made = []
        for student in students:
            held = [every[one.pieces] for one in student.submissions]
            seen = tuple(
                replace(one, trouble=gathered.trouble)
                for one, gathered in zip(student.submissions, held, strict=True)
            )
            made.append((replace(student, submissions=seen), held))
            self.keep_kernels(*made[-1])
        return made

    def candidates(self, student: Student, held: Sequence[Gathered], chapter: str) -> list[_Candidate]:
        """The kernels that have to be judged for one chapter, in the order of time."""
        there = self.eligible(held, chapter)
        return [
            _Candidate(student, chapter, at, held[at], f".{at + 1}" if len(there) > 1 else "")
            for at in there
            if not held[at].trouble and chapter not in held[at].refused
        ]

    def eligible(self, held: Sequence[Gathered], chapter: str) -> list[int]:
        """Which of a student's submissions may count for a chapter, before anything of it is judged."""
        there = self.submissions_of(held, chapter)
        match self.course.choose:
            case "first":
                return there[:1]
            case "latest":
                return there[-1:]
        return there

    def submissions_of(self, held: Sequence[Gathered], chapter: str) -> list[int]:
        """Which of a student's submissions contain a chapter, or may: those that the machine could not open."""
        return [
            at
            for at, one in enumerate(held)
            if (not one.trouble and (chapter in one.kernels or chapter in one.refused))
            or (one.trouble and one.trouble.verdict == "INFRA")
        ]

    def keep_kernels(self, student: Student, held: Sequence[Gathered]) -> None:
        """Copy the kernels to their place, and remove those of an earlier submission."""
        for one in self.course.chapters:
            if not self.scope.includes(one.chapter):
                continue
            wanted = {one.label: one for one in self.candidates(student, held, one.chapter)}
            for path in self.place.kernels_of(student.id, one.chapter):
                if path.parent.name.removeprefix(one.chapter) not in wanted:
                    shutil.rmtree(path.parent, ignore_errors=True)
            for label, candidate in wanted.items():
                path = self.place.kernel(student.id, one.chapter, label)
                path.parent.mkdir(parents=True, exist_ok=True)
                fresh = path.with_name(".new")
                fresh.write_bytes(candidate.held.kernels[one.chapter].content)
                fresh.replace(path)

    def tasks(self, gathered: Iterable[tuple[Student, list[Gathered]]]) -> list[Task]:
        """One for every kernel."""
        keys = Keys(self.workbook)
        chapters = {chapter.name: chapter for chapter in self.chapters()}
        return [
            self.task(candidate, chapters[candidate.chapter], keys)
            for student, held in gathered
            for name in sorted(chapters)
            if self.scope.includes(name)
            for candidate in self.candidates(student, held, name)
        ]

    def task(self, candidate: _Candidate, chapter: Chapter, keys: Keys) -> Task:
        """One kernel as a task."""
        student = candidate.student.id
        settings = JudgeSettings(
            device=self.course.device,
            secret=self.course.secret_of(student, chapter.name, candidate.sha256),
            sizes=self.course.sizes(student, chapter.name),
            schedules=self.course.schedules,
            time_limit=self.course.time_for_each(len(candidate.held.kernels)),
            trust=self.options.trust,
        )
        entry = self.place.entry(student, chapter.name, candidate.label)
        return Task(
            student=student,
            chapter=chapter.name,
            source=self.place.kernel(student, chapter.name, candidate.label),
            work=self.place.work / f"{entry.parent.name}.{chapter.name}{candidate.label}",
            entry=entry,
            key=keys.key(chapter, candidate.sha256, settings),
            settings=settings,
        )

    def judge(self, tasks: Sequence[Task]) -> dict[Path, Judgement]:
        """Every task's judgement, by its entry in the journal; stored ones need no run."""
        done: dict[Path, Judgement] = {}
        known: dict[str, Judgement] = {}
        if not self.options.fresh:
            for task in tasks:
                if kept := self.kept(task):
                    done[task.entry] = known[task.key] = kept
        same: dict[str, list[Task]] = {}
        for task in tasks:
            if task.entry not in done:
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
        """A task's judgement of an earlier run, or of a trial.

        One that is not as that run wrote it is reported, and not used.
        """
        other = self.folder if self.scope.is_trial else self.folder.trial
        for entry in (task.entry, other.journal / task.entry.relative_to(self.place.journal)):
            try:
                kept = read_entry(replace(task, entry=entry))
            except InvalidEntryError as error:
                self.hear.say(f"{error}; {task.chapter} of {printable(task.student)} is judged again")
                continue
            if kept and kept.verdict != "INFRA":
                if entry != task.entry:
                    with contextlib.suppress(OSError):  # it is found there the next time, too
                        write_entry(task, kept)
                return kept
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
        done: dict[Path, Judgement],
        but: Task | None = None,
    ) -> None:
        """Store one judgement for all identical kernels; the engine has stored that of `but`."""
        for task in alike:
            if task is not but and judgement.verdict != "INFRA":
                with contextlib.suppress(OSError):  # it is judged anyway, and again the next time
                    write_entry(task, judgement)
            done[task.entry] = judgement
            self.judged += 1
            self.hear.step()

    def document(
        self,
        found: Found,
        gathered: Sequence[tuple[Student, list[Gathered]]],
        judgements: dict[Path, Judgement],
    ) -> dict[str, Any]:
        """class.json."""
        graded = [self.graded(student, held, judgements) for student, held in gathered]
        self.hear.begin("similar kernels", 1)
        times = {
            "jobs": self.options.jobs or cores(),
            "judged": self.judged,
            "kept": self.reused,
            "peak_bytes": self.peak_bytes,
        }
        document = class_document(
            self.course,
            graded,
            times,
            strangers=found.strangers,
            kept=self.scope.kept(self.before, {student.id for student, _ in gathered}),
            is_trusted=self.options.trust,
        )
        given = {chapter.name: self.given(chapter) for chapter in self.chapters()}
        alike = similar.find_similar(self.compared(document, judgements), given, self.course.similar)
        document["similar"], document["near_reference"] = alike.pairs, alike.references
        document["not_compared"] = alike.not_compared
        return document

    def compared(
        self, document: dict[str, Any], judgements: dict[Path, Judgement]
    ) -> dict[str, dict[str, similar.Kernel]]:
        """The kernels that are compared with each other: what a group handed in together is there once."""
        kernels: dict[str, dict[str, similar.Kernel]] = {name: {} for name in self.names()}
        shared: set[tuple[str, str]] = set()
        for student in document["students"]:
            for one in student["chapters"]:
                if not one["kernel"] or one["chapter"] not in kernels:
                    continue
                at = one["submission"]
                if at is not None and student["submissions"][at]["with"]:
                    together = one["chapter"], student["submissions"][at]["name"]
                    if together in shared:
                        continue
                    shared.add(together)
                paths = [folder.root / one["kernel"] for folder in (self.place, self.folder)]
                path = next((path for path in paths if path.is_file()), None)
                if path is None:
                    continue
                label = path.parent.name.removeprefix(one["chapter"])
                entry = self.place.entry(student["id"], one["chapter"], label)
                # Without points, the code is mostly the skeleton's.
                words: Sequence[str] | None = ()
                if one["points"]["earned"]:
                    words = judgements[entry].code if entry in judgements else read_code(entry)
                kernels[one["chapter"]][student["id"]] = similar.Kernel(path, words)
        return kernels

    def given(self, chapter: Chapter) -> similar.Given:
        """What everybody has of a chapter, and its reference: from the solution, not from the checkout's kernel.cu."""
        image = reference_image(self.workbook, chapter)
        solution = self.workbook.root / chapter.solution / "kernel.cu"
        return similar.Given(
            skeleton_of(self.workbook, chapter),
            solution.read_text("utf-8") if solution.is_file() else None,
            image_words(image) if image else None,
        )

    def graded(self, student: Student, held: Sequence[Gathered], judgements: dict[Path, Judgement]) -> Graded:
        """The data of one student."""
        opened = [
            Opened(submission, one.sha256, tuple(sorted({*one.kernels, *one.refused})))
            for submission, one in zip(student.submissions, held, strict=True)
        ]
        return Graded(
            student,
            opened,
            {name: self.handed(student, held, name, judgements) for name in self.names()},
            {name: len(self.submissions_of(held, name)) for name in self.names()},
            next((one.missing for one in reversed(held) if one.missing), ""),
            {chapter: words for one in held for chapter, words in one.unchanged.items()},
        )

    def handed(
        self, student: Student, held: Sequence[Gathered], name: str, judgements: dict[Path, Judgement]
    ) -> list[Handed]:
        """What a student handed in of one chapter, as far as it may count, in the order of time."""
        if not self.scope.includes(name):
            carried = self.scope.carried(self.before, student, name)
            return [carried] if carried else []
        candidates = {one.submission: one for one in self.candidates(student, held, name)}
        made = []
        for at in self.eligible(held, name):
            one = held[at]
            if one.trouble:
                made.append(Handed(submission=at, trouble=one.trouble))
            elif at not in candidates:
                made.append(Handed(refused=one.refused[name], submission=at))
            else:
                label = candidates[at].label
                path = self.place.kernel(student.id, name, label)
                made.append(
                    Handed(
                        str(path.relative_to(self.place.root)),
                        candidates[at].sha256,
                        judgement=judgements[self.place.entry(student.id, name, label)],
                        receipt=one.receipts.get(name),
                        submission=at,
                    )
                )
        return made

    def write(self, document: dict[str, Any]) -> None:
        """Write class.json and its views; of a trial, no pages."""
        self.hear.begin("pages", 1)
        write_class(self.place.document, document)
        gradebook.write(document, self.place.gradebook)
        if not self.scope.is_trial:
            history.add(self.folder.history, document)
            pages.write(document, self.folder.root)

    def names(self) -> list[str]:
        """The names of the course's chapters."""
        return [one.chapter for one in self.course.chapters]

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
