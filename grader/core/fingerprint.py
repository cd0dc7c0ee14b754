"""Hashes of everything that a result depends on: the learner's file, the programs, the compilers."""

import hashlib
import os
from pathlib import Path

from .toolkit import find_compiler, program_of
from .workbook import Workbook


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file's bytes; "" if there is no file or it cannot be read."""
    try:
        if not path.is_file():  # opening a named pipe would block
            return ""
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""


class Hasher:
    """Content hashes of files; each file is read once."""

    def __init__(self) -> None:
        """Create an empty cache."""
        self._known: dict[Path, str] = {}

    def file(self, path: Path) -> str:
        """The SHA-256 of a file's bytes, or a fixed text if it cannot be read; compiling it reports why."""
        if path not in self._known:
            self._known[path] = sha256_of(path) or "no file to read"
        return self._known[path]

    def combined(self, *parts: str) -> str:
        """Combine several parts into one key."""
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def tools_fingerprint(workbook: Workbook, hasher: Hasher) -> str:
    """What every result depends on in addition to its own files: the compilers, the header, the GPU's driver."""
    parts = [hasher.file(workbook.out / "bin" / "compile")]
    headers = sorted(path for path in (workbook.tree / "common" / "include").rglob("*") if path.is_file())
    parts += [hasher.file(path) for path in headers]
    compiler = find_compiler(workbook.root)
    compilers = [compiler.path] if compiler else []
    if compiler and compiler.name == "nvcc":
        program = program_of(compiler.path)
        compilers += [program, program.parents[1] / "nvvm" / "bin" / "cicc"]
    for path in compilers:
        try:
            stat = path.stat()
            parts.append(f"{path} {stat.st_size} {stat.st_mtime_ns}")
        except OSError:
            parts.append(f"{path} absent")
    parts.append(hasher.file(Path("/proc/driver/nvidia/version")))
    parts += [
        f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith("WARPBOOK_GPU")
    ]
    return hasher.combined(*parts)
