"""The CUDA compiler of a packaged workbook: one that the machine has, or one that is fetched into the user's cache.

Each lock under requirements/ names one release with the hashes of its files, as `make setup` installs it in a checkout.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .errors import MachineError, UsageError
from .toolkit import find_nvcc


@dataclass(frozen=True)
class Compiler:
    """A compiler that a package index has."""

    lock: str  # the file under requirements/
    program: str  # below the folder of packages
    variable: str  # names the program to ./chNN and the grader
    about: str


NVCC = Compiler("nvcc.txt", "nvidia/cu13/bin/nvcc", "WARPBOOK_NVCC", "NVIDIA's compiler, about 100 MB")
CLANG = Compiler("clang.txt", "ziglang/zig", "WARPBOOK_CLANG", "clang, about 100 MB")


def cache_folder() -> Path:
    """Where this user's programs keep what they can fetch again (XDG Base Directory Specification)."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(given) if given.startswith("/") else Path.home() / ".cache") / "warpbook"


def need_compiler(tree: Path, *, whole_programs: bool = False) -> None:
    """Set the variable that names a compiler, unless the machine has one; fetch it on first use.

    A kernel is compiled by nvcc, or by clang with the workbook's own headers; a whole program only by nvcc. Raises
    MachineError if it cannot be fetched.
    """
    asked = os.environ.get("WARPBOOK_COMPILER", "auto") or "auto"
    if asked not in ("auto", "nvcc", "clang"):
        raise UsageError(f"WARPBOOK_COMPILER must be auto, nvcc or clang, not {asked!r}")
    if asked != "clang" or whole_programs:
        found = find_nvcc(tree)
        if found and _runs(found):
            return
        kept = _place(tree, NVCC) / NVCC.program
        if kept.is_file():
            os.environ[NVCC.variable] = str(kept)
            return
    wanted = NVCC if whole_programs or asked == "nvcc" else CLANG
    if not os.environ.get(wanted.variable):
        os.environ[wanted.variable] = str(_fetched(tree, wanted))


def _runs(nvcc: Path) -> bool:
    """Whether it answers: a script may name a toolkit that is gone."""
    try:
        return subprocess.run([nvcc, "--version"], capture_output=True, timeout=30).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _place(tree: Path, compiler: Compiler) -> Path:
    """The folder of a compiler's packages, which is another one for each release."""
    try:
        digest = hashlib.sha256((tree / "requirements" / compiler.lock).read_bytes()).hexdigest()
    except FileNotFoundError:
        raise MachineError(f"this copy of the workbook lacks requirements/{compiler.lock}") from None
    return cache_folder() / f"{compiler.lock.removesuffix('.txt')}-{digest[:12]}"


def _fetched(tree: Path, compiler: Compiler) -> Path:
    """The program, which one process at a time fetches."""
    place = _place(tree, compiler)
    program = place / compiler.program
    if program.is_file():
        return program
    place.parent.mkdir(parents=True, exist_ok=True)
    with _alone(place.with_suffix(".lock")):
        if not program.is_file():
            print(f"warpbook: fetching {compiler.about}, once, into {place}", file=sys.stderr, flush=True)
            _fetch(tree / "requirements" / compiler.lock, place)
    if not program.is_file():
        raise MachineError(
            f"{place} was fetched and has no {compiler.program}; remove that folder and try again"
        )
    return program


def _fetch(lock: Path, place: Path) -> None:
    with tempfile.TemporaryDirectory(prefix=f".{place.name}-", dir=place.parent) as folder:
        target = Path(folder) / "packages"
        options = ["install", "--no-deps", "--require-hashes", "--target", str(target), "-r", str(lock)]
        done = subprocess.run(
            [*_installer(), *options], capture_output=True, text=True, stdin=subprocess.DEVNULL
        )
        if done.returncode != 0:
            raise MachineError(
                f"the compiler could not be fetched: {_reason(done.stderr or done.stdout)}. Without a "
                "network: install a CUDA toolkit, or name an nvcc with WARPBOOK_NVCC=/path/to/nvcc"
            )
        shutil.rmtree(place, ignore_errors=True)  # an earlier one that is incomplete
        target.rename(place)


def _reason(output: str) -> str:
    """The last line of what pip or uv printed, without the codes of colours, of which it may end with one."""
    lines = [line.strip() for line in re.sub(r"\x1b\[[0-9;]*m", "", output).splitlines() if line.strip()]
    return lines[-1][:300].rstrip(".") if lines else "the installer printed nothing"


def _installer() -> list[str]:
    """The command pip of this interpreter; uv in an environment without pip, such as uv makes."""
    probe = subprocess.run([sys.executable, "-c", "import pip"], capture_output=True)
    if probe.returncode == 0:
        return [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet"]
    if uv := shutil.which("uv"):
        return [uv, "pip", "--quiet", "--python", sys.executable]
    raise MachineError(f"{sys.executable} has no pip, and uv is not on PATH, so no compiler can be fetched")


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    with open(path, "w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        yield
