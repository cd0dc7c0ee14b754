"""Compiling a whole CUDA program for the emulator, and running it."""

import os
import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ...core.errors import MachineError, UsageError
from ...core.make import make
from ...core.processes import clean_environment, cores
from ...core.toolkit import find_nvcc
from ...core.workbook import Workbook, find_workbook

_OWN_OPTIONS = (
    "--seed",
    "--gpu",
    "--devices",
    "--keep",
    "--error-exitcode",
    "--findings",
    "--sarif",
    "--junit",
    "--out",
)
_ARCHITECTURE = ("-arch", "--gpu-architecture", "-gencode", "--generate-code", "-code", "--gpu-code")
_COMPILE_FOR = "compute_90"  # every device profile of this or a later compute capability runs it
# addr2line of binutils 2.40 names nvcc's own file for a template's code if the line table is one of DWARF 5.
_LINES = ("-Xcompiler", "-gdwarf-4")
_OLDER = {"t4": "compute_75", "a100": "compute_80", "l4": "compute_89"}  # the profiles that do not


@dataclass(frozen=True)
class Request:
    """The words of the command line after Warpbook's own options."""

    compiled: list[str]  # files and options of nvcc
    arguments: list[str]  # of the program

    @property
    def program(self) -> Path | None:
        """The program, if it is compiled already."""
        path = Path(self.compiled[0])
        return path.resolve() if len(self.compiled) == 1 and _is_program(path) else None


def read_request(words: list[str]) -> Request:
    """Split the words at `--`; refuse what cannot be meant."""
    end = words.index("--") if "--" in words else len(words)
    request = Request(words[:end], words[end + 1 :])
    files = [word for word in request.compiled if not word.startswith("-")]
    if not files:
        raise UsageError("which program? Say ./warpbook run prog.cu")
    for word in request.compiled:
        if word.partition("=")[0] in _OWN_OPTIONS:
            raise UsageError(f"write {word.partition('=')[0]} before the program; what follows it is nvcc's")
    first = Path(files[0])
    if not first.is_file():
        raise UsageError(f"{first}: no such file")
    return request


def _is_program(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == b"\x7fELF" and os.access(path, os.X_OK)
    except OSError:
        return False


def _library(workbook: Workbook) -> Path:
    """The folder of the runtime library, which is built if it is missing."""
    folder = workbook.out / "lib" / "cudart"
    if not (folder / "libcudart.so").is_file():
        status, output = make(workbook, "cudart", jobs=cores(), hear=lambda _: None)
        if status:
            last = [line for line in output.splitlines() if "warpbook:" in line] or output.splitlines()[-1:]
            raise MachineError(
                f"the CUDA runtime could not be built: {' '.join(last).removeprefix('warpbook: ')}"
            )
    return folder.resolve()


def _compile(workbook: Workbook, request: Request, gpu: str | None, program: Path) -> None:
    nvcc = find_nvcc(workbook.root)
    if not nvcc:
        raise MachineError(
            "there is no nvcc here, and a whole program needs it; make doctor says how to get it"
        )
    library = _library(workbook)
    names = {word.partition("=")[0] for word in request.compiled}
    options = ["-g", *_LINES, "--no-compress"]
    options += ["--cudart", "shared", f"-L{library}", "-Xlinker", f"-rpath={library}"]
    if not names & {"-G", "--device-debug", "-lineinfo", "--generate-line-info"}:
        options.append("-lineinfo")
    if not names & set(_ARCHITECTURE):
        device = (gpu or "").lower().replace(" ", "").replace("-", "").replace("_", "")
        version = _OLDER.get(device, _COMPILE_FOR)
        options += [f"-arch={version}", f"-code={version}"]
    command = [str(nvcc), *request.compiled, *options, "-o", str(program)]
    done = subprocess.run(command, env=clean_environment(), stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise UsageError(f"nvcc could not compile the program: {shlex.join(command)}")


@contextmanager
def built(request: Request, *, gpu: str | None, keep: Path | None) -> Iterator[tuple[Path, dict[str, str]]]:
    """The compiled program, and the environment in which it runs on the emulator."""
    workbook = find_workbook()
    environment = dict(os.environ)
    if gpu:
        environment["WARPBOOK_GPU"] = gpu
    if request.program:
        paths = [str(_library(workbook)), environment.get("LD_LIBRARY_PATH", "")]
        yield request.program, environment | {"LD_LIBRARY_PATH": ":".join(filter(None, paths))}
        return
    with tempfile.TemporaryDirectory(prefix="warpbook-") as folder:
        source = next(word for word in request.compiled if not word.startswith("-"))
        program = keep.absolute() if keep else Path(folder) / Path(source).stem
        _compile(workbook, request, gpu, program)
        yield program, environment


def run_program(program: Path, arguments: list[str], environment: dict[str, str]) -> int:
    """Run it as the learner would; its exit status, or 128 and the number of the signal that ended it."""
    status = subprocess.run([str(program), *arguments], env=environment, check=False).returncode
    return status if status >= 0 else 128 - status
