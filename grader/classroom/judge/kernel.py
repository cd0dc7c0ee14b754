"""One kernel of a class, from its kernel.cu to a judgement that can be believed."""

import hashlib
import json
import sys
import tempfile
import time
from pathlib import Path

from ...core.errors import GraderError, MachineError, explain_os_error
from ...core.processes import Processes, clean_environment
from ...core.result import Result
from ...core.sandbox import unavailable
from ...core.workbook import Chapter, Workbook
from ..judgement import Judgement, JudgeSettings, infra_judgement
from ..similarity.words import image_words
from ..submissions.untrusted import Refused, open_regular, printable_text
from . import stages
from .gpus import Gpu, gpu_for
from .references import Reference, prepare_reference, run_reference
from .validation import MOST_RESULT, Expected, UnbelievableError, believe_record, believe_result
from .watchdog import Ended, Stop

_MOST_SOURCE = 1 << 20  # bytes, as in the compile step, which refuses more
_COMPILE_SECONDS = 30.0  # of processor time
_LEAST_SECONDS = 1.0
_FAIR_SHARE = 0.03  # of one processor; a right kernel is done with less of it
# Verdicts after which nobody need ask whether a GPU still works.
_HARMLESS = {"PASS", "SLOW", "WRONG", "BUILD", "BUILD_TIMEOUT", "RESOURCE", "REJECT", "LAUNCH", "UNSUPPORTED"}
MEMORY_BYTES = 768 * stages.MIB  # for judging one kernel on the emulator
_GPU_MEMORY_BYTES = 32768 * stages.MIB  # with arrays of 2^28 elements and what the driver of a GPU takes


class _OverError(Exception):
    """The judgement is made."""

    def __init__(self, verdict: str, message: str) -> None:
        super().__init__(message)
        self.verdict = verdict


def judge_submission(
    workbook: Workbook,
    chapter: Chapter,
    source: Path,
    work: Path,
    settings: JudgeSettings,
    processes: Processes,
) -> Judgement:
    """Judges the kernel.cu at `source` as a kernel of `chapter`; `work` is used and left as it was.

    The programs must be built. Raises nothing but KeyboardInterrupt, once `processes` are stopped: what a
    submission does wrong is in the verdict, and the machine's own troubles are INFRA.
    """
    run = _Run(workbook, chapter, settings, processes)
    try:
        if not settings.trust and (reason := unavailable()):
            raise MachineError(reason)
        work.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="judge-", dir=work) as folder:
            return run.judge(source, Path(folder))
    except GraderError as error:
        words = str(error)
    except OSError as error:
        words = explain_os_error(error)
    return infra_judgement(chapter.name, words, run.sha256, run.elapsed)


class _Run:
    def __init__(
        self, workbook: Workbook, chapter: Chapter, settings: JudgeSettings, processes: Processes
    ) -> None:
        self.workbook = workbook
        self.chapter = chapter
        self.settings = settings
        self.processes = processes
        self.begun = self.started = time.monotonic()
        self.work = self.built = Path()
        self.sha256 = ""
        self.peak_bytes = 0
        self.code: tuple[str, ...] | None = ()
        self.reference: Reference | None = None
        self.outcomes: Path | None = None

    def judge(self, source: Path, work: Path) -> Judgement:
        """All of it, in the order in which things can go wrong."""
        self.work, self.built = work, work / "built"
        try:
            self.built.mkdir()
            self.take(source)
            device = "emulator" if self.workbook.is_program(self.chapter) else self.settings.device
            with gpu_for(device, self.processes) as gpu:
                self.reference = prepare_reference(
                    self.workbook,
                    self.chapter,
                    "gpu" if gpu else "emulator",
                    self.processes,
                    gpu.environment if gpu else None,
                )
                self.started = time.monotonic()  # waiting for a GPU is nobody's fault
                self.compile(gpu)
                if self.workbook.is_program(self.chapter) and (self.built / "kernel.ptx").exists():
                    self.run_program()
                result = self.run_on(gpu) if gpu else self.run(None)
        except _OverError as over:
            possible = self.reference.possible if self.reference else 0
            result = Result(
                self.chapter.name, over.verdict, 0, possible, printable_text(str(over)), self.elapsed, {}
            )
        document = result.document or None
        return Judgement(
            result.verdict, result, document, self.sha256, self.elapsed, self.peak_bytes, self.code
        )

    @property
    def elapsed(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self.begun

    @property
    def left(self) -> float:
        """Seconds that may still pass."""
        return max(_LEAST_SECONDS, self.settings.time_limit - (time.monotonic() - self.started))

    @property
    def architecture(self) -> int | None:
        """Of the GPU that the reference ran on: 90 for compute capability 9.0."""
        capability = self.reference.result.device.get("compute_capability") if self.reference else None
        digits = capability.replace(".", "") if isinstance(capability, str) else ""
        return int(digits) if digits.isdigit() else None

    # ---- The source -------------------------------------------------------------------------------------------

    def take(self, source: Path) -> None:
        """Copies what is judged: an ordinary file, of which nothing can change any more."""
        try:
            with open_regular(source, sys.maxsize) as file:  # the compile step says what is too long
                content = file.read(_MOST_SOURCE + 1)
        except OSError as error:
            raise _OverError("REJECT", f"kernel.cu cannot be read: {error.strerror}") from None
        except Refused as refused:
            raise _OverError("REJECT", f"kernel.cu {refused}") from None
        self.sha256 = hashlib.sha256(content).hexdigest()
        (self.built / "kernel.cu").write_bytes(content)

    # ---- The image --------------------------------------------------------------------------------------------

    def compile(self, gpu: Gpu | None) -> None:
        """Leaves kernel.ptx, where there is one, and a build.json that can be believed."""
        seconds = min(_COMPILE_SECONDS, self.left)
        stage = stages.Compile(self.built / "kernel.cu", seconds, self.architecture if gpu else None)
        done = stages.run_compile(self.workbook, stage, self.work, self.processes, trust=self.settings.trust)
        self.note(done.ended)
        # The limit of compilers is processor time, and they never sleep: the rest they waited for a processor.
        self.started += max(0.0, done.ended.seconds - done.ended.cpu_seconds)
        if done.ended.stop:
            self.blame_the_machine(done.ended)
            allowed = f"{seconds:.3g} s of processor time, or {stages.PATIENCE * seconds:.3g} s by the clock"
            over = {
                Stop.TIME: ("BUILD_TIMEOUT", f"the compiler did not finish within {allowed}"),
                Stop.MEMORY: ("BUILD", "compiling it takes more than 2 GiB of memory"),
                Stop.PROCESSES: ("BUILD", "compiling it takes more than 64 processes"),
                Stop.OUTPUT: ("BUILD", "the kernel compiles to more than 64 MiB of PTX"),
            }
            raise _OverError(*over[done.ended.stop])
        raw, ptx = done.results.get("build.json", b""), done.results.get("kernel.ptx", b"")
        if (
            not raw
            and done.ended.status == 3
            and "disk is full" in done.ended.words
            and not self.settings.trust
        ):
            raise _OverError("BUILD", "compiling it takes more than 256 MiB of temporary files")
        if not raw:
            raise _OverError("INFRA", f"the compile stage wrote no record: {_last(done.ended)}")
        ptx_sha256 = hashlib.sha256(ptx).hexdigest() if ptx else None
        try:
            record = believe_record(
                raw,
                done.ended.status,
                source=stages.SOURCE,
                source_sha256=self.sha256,
                ptx_sha256=ptx_sha256,
            )
        except UnbelievableError as error:
            raise _OverError("INFRA", f"the compile stage's record is not believed: {error}") from None
        if record["verdict"] == "BUILD_TIMEOUT":
            self.blame_the_machine(done.ended)
        if record["verdict"] == "INFRA":
            raise _OverError("INFRA", record["message"])
        if record["verdict"] == "BUILD" and "File size limit exceeded" in record["message"]:
            most = stage.limits().file_bytes // stages.MIB
            raise _OverError("BUILD", f"compiling it takes a file of more than {most} MiB")
        if record["verdict"] == "PASS":
            (self.built / "kernel.ptx").write_bytes(ptx)
            words = image_words(ptx)
            self.code = tuple(words) if words is not None else None
        (self.built / "build.json").write_text(json.dumps(record), "utf-8")

    # ---- A whole program --------------------------------------------------------------------------------------

    def run_program(self) -> None:
        """Runs it in its own sandbox, and keeps what it left behind, which nobody believes yet."""
        cases = self.work / "cases"
        cases.mkdir()
        command: list[str | Path] = [
            self.workbook.root / self.workbook.program(self.chapter),
            "--kernel",
            self.built / "kernel.ptx",
        ]
        command += [*self.options("emulator"), "--write-cases", cases]
        wrote = self.processes.run(
            command, folder=self.workbook.root, limit=60.0, environment=clean_environment()
        )
        if wrote.status != 0:
            raise MachineError(f"the cases could not be written: {wrote.output.strip()[-200:]}")
        seconds = self.left
        stage = stages.Run(self.built / "kernel.cu", cases, seconds, MEMORY_BYTES)
        done = stages.run_program(self.workbook, stage, self.work, self.processes, trust=self.settings.trust)
        self.note(done.ended)
        if done.ended.stop:  # a program may sleep, and so a machine is not to blame for that
            over = {
                Stop.TIME: ("TIMEOUT", f"the program did not finish within {seconds:.3g} s"),
                Stop.MEMORY: ("RESOURCE", "the program takes more than 2 GiB of memory"),
                Stop.PROCESSES: ("RESOURCE", "the program starts more than 64 processes"),
                Stop.OUTPUT: ("OUTPUT_LIMIT", "the program leaves more than 512 MiB behind"),
            }
            raise _OverError(*over[done.ended.stop])
        outcomes = done.results.get("outcomes", b"")
        if not outcomes:
            raise _OverError("FAULT", "the program ended the process that runs it")
        self.outcomes = self.work / "outcomes"
        self.outcomes.write_bytes(outcomes)

    def options(self, device: str) -> list[str]:
        """What ./chNN is asked for."""
        settings = self.settings
        options = ["--device", device]
        options += [] if settings.secret is None else ["--secret", settings.secret]
        options += [] if settings.schedules is None else ["--schedules", str(settings.schedules)]
        return options + (["--also", ",".join(map(str, settings.sizes))] if settings.sizes else [])

    # ---- The result -------------------------------------------------------------------------------------------

    def run_on(self, gpu: Gpu) -> Result:
        """The same on a GPU, which must still work behind whatever did not end well."""
        verdict = "INFRA"
        try:
            result = self.run(gpu)
            verdict = result.verdict
            return result
        except _OverError as over:
            verdict = over.verdict
            raise
        finally:
            if verdict not in _HARMLESS:
                gpu.check(f"a kernel of {self.chapter.name} ended as {verdict}", lambda: self.prove(gpu))

    def prove(self, gpu: Gpu) -> str | None:
        """What is wrong with a GPU, going by the reference; None where it passes."""
        assert self.reference
        folder = self.reference.folder
        try:
            result = run_reference(
                self.workbook, self.chapter, folder, "gpu", self.processes, gpu.environment
            )
        except MachineError as error:
            return str(error)
        return None if result.verdict in ("PASS", "SLOW") else f"{result.verdict} {result.message}"

    def run(self, gpu: Gpu | None) -> Result:
        """One run of ./chNN."""
        assert self.reference
        settings = self.settings
        options = self.options("gpu" if gpu else "emulator")
        memory = _GPU_MEMORY_BYTES if gpu else MEMORY_BYTES
        seconds = self.left
        stage = stages.Judge(
            self.chapter,
            self.built,
            self.reference.folder,
            tuple(options),
            seconds,
            memory,
            gpu,
            self.outcomes,
        )
        done = stages.run_judge(self.workbook, stage, self.work, self.processes, trust=settings.trust)
        self.note(done.ended)
        if done.ended.stop:
            if not gpu:  # whose time is not the processor's
                self.blame_the_machine(done.ended)
            over = {
                Stop.TIME: ("TIMEOUT", f"judging it did not finish within {settings.time_limit:.3g} s"),
                Stop.MEMORY: ("RESOURCE", f"judging it takes more than {memory // stages.MIB} MiB of memory"),
                Stop.PROCESSES: ("INFRA", "judging it took more processes than a judge starts"),
                Stop.OUTPUT: ("INFRA", f"the result is larger than {MOST_RESULT // stages.MIB} MiB"),
            }
            raise _OverError(*over[done.ended.stop])
        raw = done.results.get("result.json", b"")
        if not raw:
            raise _OverError(
                "INFRA",
                f"./{self.chapter.name} ended with status {done.ended.status} and no result: {_last(done.ended)}",
            )
        expected = Expected(
            chapter=self.chapter.name,
            kernel=stages.IMAGE,
            kernel_sha256=self.sha256,
            possible=self.reference.possible,
            secret=settings.secret,
            schedules=settings.schedules,
            also=settings.sizes,
        )
        schema = self.workbook.root / "docs" / "result.schema.json"
        try:
            return believe_result(raw, done.ended.status, self.elapsed, expected, schema)
        except UnbelievableError as error:
            raise _OverError(
                "INFRA", f"the result of ./{self.chapter.name} is not believed: {error}"
            ) from None

    def blame_the_machine(self, ended: Ended) -> None:
        """Raises where time ran out because others took it: neither compilers nor emulators ever sleep."""
        if ended.stop in (None, Stop.TIME) and ended.cpu_seconds < _FAIR_SHARE * ended.seconds:
            raise _OverError(
                "INFRA",
                f"the machine is too busy: {ended.cpu_seconds:.1f} s of a processor in {ended.seconds:.1f} s; "
                "grade it again with fewer at once",
            )

    def note(self, ended: Ended) -> None:
        """Keeps what the largest of the stages took."""
        self.peak_bytes = max(self.peak_bytes, ended.peak_bytes)


def _last(ended: Ended) -> str:
    lines = [line.strip() for line in ended.words.splitlines() if line.strip()]
    return printable_text(lines[-1][:300]) if lines else f"status {ended.status}"
