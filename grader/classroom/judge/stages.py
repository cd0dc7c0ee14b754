"""The programs that touch a submission, and all that each may see: compiler, judge, and a whole program itself.

All run as a shell script that sets limits, runs the program and writes its results to standard output, each
followed by a NUL byte, so that neither needs any writable file of this machine.
"""

import os
import shlex
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from ...core.processes import Processes, clean_environment
from ...core.sandbox import SCRATCH, View, confine
from ...core.workbook import Chapter, Workbook
from .gpus import Gpu
from .toolchain import find_toolchain, homes
from .validation import MOST_RECORD, MOST_RESULT
from .watchdog import Ended, Limits, run_watched

MIB = 1 << 20
PATIENCE = 5  # how many times the compile step's limit may pass by the clock; there, COMPILE_PATIENCE
IMAGE = "build/kernel.ptx"  # of the submission, below the book
RECORD = "build/build.json"
OUTCOMES = "build/outcomes"
SOURCE = "kernel.cu"
OUT = {False: str(SCRATCH / "out"), True: "out"}  # where results are written, without and with trust
_MOST_PTX = 64 * MIB
MOST_OUTCOMES = 512 * MIB


@dataclass(frozen=True)
class Finished:
    """How a stage went, and its results by name; one that is missing was not written."""

    ended: Ended
    results: dict[str, bytes]


@dataclass(frozen=True)
class Compile:
    """Makes the image and its record of a kernel.cu."""

    source: Path
    seconds: float  # of processor time
    architecture: int | None = None  # of the GPU, whose registers are counted

    def limits(self) -> Limits:
        """A compiler's: nvcc takes about 0.3 GiB and ten processes."""
        return Limits(
            # The compile step ends its compilers itself, and says so better.
            seconds=PATIENCE * self.seconds + 5,
            memory_bytes=2048 * MIB,
            processes=64,
            output_bytes=_MOST_PTX + MOST_RECORD,
            cpu_seconds=int(self.seconds) + 10,
            file_bytes=128 * MIB,
            address_bytes=4096 * MIB,
        )


@dataclass(frozen=True)
class Run:
    """Compiles a whole program once more and runs it: the only stage in which code of a submission is executed."""

    source: Path
    cases: Path  # a folder with the inputs, which ./chNN has written
    seconds: float
    memory_bytes: int

    def limits(self) -> Limits:
        """A compiler's, and those of a program that runs with its emulator on a vector of a few megabytes."""
        return Limits(
            seconds=self.seconds,
            memory_bytes=2048 * MIB,
            processes=64,
            output_bytes=MOST_OUTCOMES,
            cpu_seconds=2 * int(self.seconds) + 10,
            file_bytes=512 * MIB,
        )


@dataclass(frozen=True)
class Judge:
    """Judges an image against the chapter's reference, which is shown as an image too."""

    chapter: Chapter
    built: Path  # a folder with kernel.cu, build.json and, where it could be compiled, kernel.ptx
    reference: Path  # a folder with the reference's kernel.ptx and build.json
    options: tuple[str, ...]  # of ./chNN
    seconds: float
    memory_bytes: int
    gpu: Gpu | None = None
    outcomes: Path | None = None  # of a whole program: what it left behind

    def limits(self) -> Limits:
        """A judge's: itself, its runners, the shell and the sandbox."""
        return Limits(
            seconds=self.seconds,
            memory_bytes=self.memory_bytes,
            processes=24,
            output_bytes=MOST_RESULT,
            cpu_seconds=4 * int(self.seconds) + 10,
            file_bytes=8
            * self.memory_bytes,  # what it shares with its runners is a file, of which it uses a part
        )


def run_compile(
    workbook: Workbook, stage: Compile, work: Path, processes: Processes, *, trust: bool
) -> Finished:
    """Runs the compiler; without a sandbox where the submissions are trusted. Raises MachineError, OSError."""
    view = compile_view(workbook, stage)
    options = ["--quiet", "--always", "--time-limit", f"{stage.seconds:.3f}"]
    options += ["--ptxas", str(stage.architecture)] if stage.architecture else []
    program = str(workbook.out / "bin" / "compile") if trust else "build/bin/compile"
    command = [program, SOURCE, OUT[trust], *options]
    return _run(
        workbook, view, stage.limits(), command, ("build.json", "kernel.ptx"), work, processes, trust=trust
    )


def run_judge(workbook: Workbook, stage: Judge, work: Path, processes: Processes, *, trust: bool) -> Finished:
    """Runs ./chNN on an image; as `run_compile`."""
    view = judge_view(workbook, stage)
    command = [f"./{stage.chapter.name}", "--kernel", IMAGE, "--quiet", *stage.options]
    command += ["--outcomes", OUTCOMES] if stage.outcomes else []
    command += ["--json", f"{OUT[trust]}/result.json"]
    return _run(workbook, view, stage.limits(), command, ("result.json",), work, processes, trust=trust)


def run_program(workbook: Workbook, stage: Run, work: Path, processes: Processes, *, trust: bool) -> Finished:
    """Runs a whole program on its cases; as `run_compile`. Its result is `outcomes`, which it may have written."""
    root = f"{workbook.out}/" if trust else "build/"
    out = OUT[trust]
    compiling = [f"{root}bin/compile", SOURCE, f"{out}/built", "--quiet", "--always", "--ptxas", "0"]
    running = [f"{root}bin/run_program", f"{out}/built/program", "cases", out, f"{root}lib/cudart"]
    running += [f"{min(10.0, stage.seconds / 2):.3f}"]
    command = ["/bin/sh", "-c", f"{shlex.join(compiling)} && {shlex.join(running)}"]
    view = run_view(workbook, stage)
    return _run(workbook, view, stage.limits(), command, ("outcomes",), work, processes, trust=trust)


def run_view(workbook: Workbook, stage: Run) -> View:
    """What a program is shown: the compilers, the runtime library, one kernel.cu and the inputs."""
    view = compile_view(workbook, Compile(stage.source, stage.seconds))
    book = view.book | {"build/bin/run_program": workbook.out / "bin" / "run_program", "cases": stage.cases}
    return replace(view, book=book, scratch_bytes=512 * MIB)


def compile_view(workbook: Workbook, stage: Compile) -> View:
    """What the compiler is shown: the compilers, the header and one kernel.cu."""
    tools = find_toolchain(workbook)
    book: dict[str, Path | None] = {
        "build/bin/compile": workbook.out / "bin" / "compile",
        "common/include": workbook.root / "common" / "include",
        SOURCE: stage.source,
    }
    if (library := workbook.out / "lib" / "cudart").is_dir():  # which a whole program is linked to
        book["build/lib/cudart"] = library
    if tools.stand_in:
        book["build/ccbin"] = tools.stand_in
    return View(
        book,
        system=tools.shown,
        environment={"LC_ALL": "C", "WARPBOOK_INCLUDE": "common/include", **tools.environment},
        hidden=(workbook.root / "solutions", workbook.root / "build", *homes(), stage.source),
    )


def judge_view(workbook: Workbook, stage: Judge) -> View:
    """What ./chNN is shown: itself, what makes a folder a workbook, the submission's image and the reference's."""
    book: dict[str, Path | None] = {
        stage.chapter.name: workbook.root / workbook.program(stage.chapter),
        "common/include/warpbook.cuh": workbook.root / "common/include/warpbook.cuh",
        str(stage.chapter.folder): None,
        str(stage.chapter.solution): stage.reference,
        SOURCE: stage.built / SOURCE,
        RECORD: stage.built / "build.json",
    }
    if (stage.built / "kernel.ptx").exists():
        book[IMAGE] = stage.built / "kernel.ptx"
    if stage.outcomes:
        book[OUTCOMES] = stage.outcomes
    gpu = stage.gpu
    environment = {"PATH": "/bin", "LC_ALL": "C.UTF-8", "HOME": str(SCRATCH), "TMPDIR": str(SCRATCH)}
    return View(
        book,
        system=gpu.shown if gpu else (),
        devices=gpu.devices if gpu else (),
        environment=environment | (gpu.environment if gpu else {}),
        has_proc=True,
        scratch_bytes=64 * MIB,
    )


def _run(
    workbook: Workbook,
    view: View,
    limits: Limits,
    command: list[str],
    names: tuple[str, ...],
    work: Path,
    processes: Processes,
    *,
    trust: bool,
) -> Finished:
    script = _script(limits.script(is_alone=not trust), command, OUT[trust], names)
    if trust:
        folder = _lay_out(view.book, work)
        own = {
            name: value for name, value in view.environment.items() if name not in ("PATH", "HOME", "TMPDIR")
        }
        command, environment = script, clean_environment() | own
    else:
        folder, command, environment = work, confine(view, script), {"PATH": os.defpath}
    ended = run_watched(workbook, command, limits, processes, folder=folder, environment=environment)
    return Finished(ended, _results(ended.output, names))


def _script(limits: str, command: list[str], out: str, names: tuple[str, ...]) -> list[str]:
    """A command for the shell: runs `command` within limits, and prints what it has written to `out`."""
    cats = [f"cat {shlex.quote(f'{out}/{name}')} 2>/dev/null; printf '\\0'" for name in names]
    lines = [limits + f"{shlex.join(command)} >&2", "status=$?", *cats, "exit $status"]
    return ["/bin/sh", "-c", "\n".join(lines)]


def _results(output: bytes, names: tuple[str, ...]) -> dict[str, bytes]:
    """What the script printed, by name. Whatever is not just so is as good as nothing."""
    parts = output.split(b"\0")
    if len(parts) != len(names) + 1 or parts[-1]:
        return {}
    return {name: part for name, part in zip(names, parts, strict=False) if part}


def _lay_out(book: dict[str, Path | None], work: Path) -> Path:
    """The book as a separate folder, for runs without a sandbox."""
    folder = work / "book"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "out").mkdir(parents=True)
    for name, path in book.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if path is None:
            target.mkdir()
        elif path.is_dir():
            target.symlink_to(path.resolve(), target_is_directory=True)
        else:
            _put(path, target)
    return folder


def _put(path: Path, target: Path) -> None:
    """The same file once more, with its time, by which the figures modelled for the reference are found."""
    try:
        os.link(path.resolve(), target)
    except OSError:  # another disk
        shutil.copy2(path, target)
