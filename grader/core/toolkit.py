"""The compiler of kernels on this machine: which nvcc or clang is used, and the toolkit that an nvcc belongs to.

Uses only the standard library, because `make doctor` runs before anything is installed.
"""

import functools
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

# Options that nvcc adds by itself. The workbook never runs the affected programs, so a mistake in them is
# harmless.
_FLAGS = ("NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS")


def find_nvcc(root: Path) -> Path | None:
    """The nvcc that ./chNN would use, or None, for the workbook at `root`, which may contain NVIDIA's wheels."""
    folder = os.environ.get("WARPBOOK_VENV", ".venv") or sys.prefix
    found = [os.environ.get("WARPBOOK_NVCC"), shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc"]
    packages = root.joinpath(folder).glob("lib/python3*/site-packages")
    found += [str(path) for package in packages for path in sorted(package.glob("nvidia/cu*/bin/nvcc"))]
    programs = [Path(name) for name in found if name and os.access(name, os.X_OK) and Path(name).is_file()]
    if programs and os.environ.get("WARPBOOK_NVCC"):
        return programs[0]
    return next((program for program in programs if works(program)), None)


def broken_nvcc(root: Path) -> Path | None:
    """An nvcc on PATH or in the usual folder that does not work: a wrapper whose toolkit is gone."""
    found = [shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc"]
    programs = [Path(name) for name in found if name and os.access(name, os.X_OK) and Path(name).is_file()]
    return next((program for program in programs if not works(program)), None)


@functools.cache
def works(nvcc: Path) -> bool:
    """Whether this nvcc prints its version."""
    try:
        done = subprocess.run(
            [nvcc, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return ", V" in done.stdout


@dataclass(frozen=True)
class Compiler:
    """A compiler of kernels: "nvcc" or "clang", and its program, which is zig's where clang comes with Zig."""

    name: str
    path: Path


_OLDEST_CLANG = 18  # as in common/driver/build/find_clang.c


def find_clang(root: Path) -> Path | None:
    """The clang, or the zig that holds one, that ./chNN would use, or None."""
    given = os.environ.get("WARPBOOK_CLANG")
    if given:
        return Path(given) if os.access(given, os.X_OK) else None
    folder = os.environ.get("WARPBOOK_VENV", ".venv") or sys.prefix
    found = sorted(root.joinpath(folder).glob("lib/python3*/site-packages/ziglang/zig"))
    if found:
        return found[-1]
    program = shutil.which("clang")
    return Path(program) if program and _compiles_kernels(Path(program)) else None


@functools.cache
def _compiles_kernels(clang: Path) -> bool:
    try:
        version = subprocess.run([clang, "--version"], capture_output=True, text=True, timeout=60).stdout
        targets = subprocess.run(
            [clang, "--print-targets"], capture_output=True, text=True, timeout=60
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return False
    release = re.search(r"clang version (\d+)", version)
    return release is not None and int(release[1]) >= _OLDEST_CLANG and "nvptx64" in targets


def find_compiler(root: Path) -> Compiler | None:
    """The compiler that ./chNN would use: an nvcc that works, else clang, unless WARPBOOK_COMPILER names one."""
    asked = os.environ.get("WARPBOOK_COMPILER") or "auto"
    if asked != "clang" and (nvcc := find_nvcc(root)):
        return Compiler("nvcc", nvcc)
    if asked != "nvcc" and (clang := find_clang(root)):
        return Compiler("clang", clang)
    return None


@functools.cache
def program_of(nvcc: Path) -> Path:
    """The compiler's real program if `nvcc` is a link or a script that calls it.

    Only nvcc itself knows: it prints the folder that it runs from (_HERE_) first.
    """
    resolved = nvcc.resolve()
    if resolved.name == "nvcc" and not _is_script(resolved):
        return resolved
    # Without a C compiler it prints nothing; it looks only for gcc.
    host = next(filter(None, map(shutil.which, ("gcc", "clang", "cc"))), None)
    command = [str(nvcc), "--dryrun", "-x", "cu", os.devnull, *(["-ccbin", host] if host else [])]
    try:
        done = subprocess.run(
            command, env={name: value for name, value in os.environ.items() if name not in _FLAGS},
            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=60,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return resolved  # running it reports the reason
    here = re.search(r"^#\$ _HERE_=(.+)$", done.stderr, re.MULTILINE)
    program = Path(here[1], "nvcc").resolve() if here else resolved
    return program if program.is_file() else resolved


def header_folder(nvcc: Path, name: str) -> Path | None:
    """The folder of a header that comes with `nvcc`, such as "cuda.h"; None if it is missing."""
    home = program_of(nvcc).parents[1]
    folders = [home / "include", *sorted(home.glob("targets/*/include")), Path("/usr/include")]
    places = [place for folder in folders for place in (folder / "cccl", folder)]
    return next((place for place in places if (place / name).is_file()), None)


def _is_script(path: Path) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False
