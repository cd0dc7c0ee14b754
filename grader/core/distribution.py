"""The contents of a distribution of the workbook: its files, its references as images, reproducible archives.

A distribution is anything that leaves the teacher's checkout: a handout, an autograder. Two distributions
made from the same files are identical byte for byte, independent of user, time and machine.
"""

import hashlib
import io
import json
import os
import re
import stat
import subprocess
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import MachineError
from .make import make
from .processes import clean_environment
from .skeleton import make_skeleton
from .workbook import Chapter, Workbook

# File types that belong to the workbook, as opposed to files of editors and tools. Headers in mk/host have no
# suffix.
_KINDS = {
    ".awk", ".bash", ".c", ".css", ".cuh", ".def", ".fish", ".h", ".html", ".j2", ".js", ".json", ".md", ".mk", ".py",
    ".sh", ".svg", ".toml", ".txt", ".zsh", "",
}  # fmt: skip
_NOT_OURS = {"__pycache__", "node_modules"}
TOP = ("LICENSE", "Makefile", "README.md", "pyproject.toml", "warpbook", "warpbook-nvcc")
# Line information. Its strings change with every run of nvcc, and pages never show lines of a reference.
_LINES = re.compile(
    rb"^\t\.(?:loc|file)\t[^\n]*\n|^\t\.section\t\.debug_\w+\n\t\{\n.*?^\t\}\n", re.MULTILINE | re.DOTALL
)
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)  # the earliest time that a zip can represent
_TAR_TIME = 315532800  # the same


@dataclass(frozen=True, order=True)
class Member:
    """One file of a distribution."""

    name: str  # with slashes, relative to the distribution's root
    content: bytes
    is_program: bool = False


# ---- Files of the workbook ------------------------------------------------------------------------------------


def files_below(root: Path, folder: str) -> Iterator[Member]:
    """The files in a folder that belong to the workbook, sorted by name."""
    for path in sorted((root / folder).rglob("*")):
        parts = path.relative_to(root).parts
        if _NOT_OURS & set(parts) or any(part.startswith(".") or part.endswith("~") for part in parts):
            continue
        if path.is_file() and not path.is_symlink() and path.suffix in _KINDS:
            yield member_of(root, path.relative_to(root))


def member_of(root: Path, name: Path | str) -> Member:
    """The file below `root`, unchanged."""
    path = root / name
    with open(path, "rb") as file:
        is_program = bool(os.fstat(file.fileno()).st_mode & stat.S_IXUSR)
        return Member(Path(name).as_posix(), file.read(), is_program)


def core_members(workbook: Workbook, chapters: Iterable[Chapter]) -> list[Member]:
    """Everything needed to build and judge `chapters`, except the references: see `reference_members`.

    Each kernel.cu is the skeleton, even if the teacher has edited the checkout's copy.
    """
    root = workbook.root
    members = [member_of(root, name) for name in TOP]
    for folder in ("common", "grader", "mk", "requirements"):
        members += files_below(root, folder)
    for chapter in chapters:
        members += files_below(root, chapter.folder.as_posix())
        members.append(skeleton_member(workbook, chapter))
    return members


def skeleton_member(workbook: Workbook, chapter: Chapter) -> Member:
    """The kernel.cu that a learner starts from."""
    solution = chapter.solution / "kernel.cu"
    text = make_skeleton((workbook.root / solution).read_text("utf-8"), str(solution)).text
    return Member(chapter.kernel.as_posix(), text.encode())


# ---- References -----------------------------------------------------------------------------------------------


def reference_members(workbook: Workbook, chapters: Iterable[Chapter]) -> list[Member]:
    """The solutions as images instead of sources: solutions/chNN_name/kernel.ptx and build.json.

    They are compiled now, so that no earlier file can take their place. ./chNN compares kernels with them.
    """
    status, words = make(workbook, "tools", jobs=1)
    if status != 0:
        raise MachineError(f"the compiler driver could not be built: {words.strip()[-400:]}")
    members = []
    with tempfile.TemporaryDirectory(prefix="warpbook-references-") as folder:
        for chapter in chapters:
            members += _reference(workbook, chapter, Path(folder) / chapter.name)
    return members


def _reference(workbook: Workbook, chapter: Chapter, folder: Path) -> list[Member]:
    source = chapter.solution / "kernel.cu"
    command = [str(workbook.out / "bin" / "compile"), str(source), str(folder), "--quiet"]
    done = subprocess.run(
        command, cwd=workbook.root, env=clean_environment(), capture_output=True, text=True, errors="replace"
    )
    if done.returncode != 0:
        raise MachineError(f"{source} does not compile: {(done.stderr or done.stdout).strip()[:400]}")
    image = _LINES.sub(b"", (folder / "kernel.ptx").read_bytes())
    record: dict[str, Any] = json.loads((folder / "build.json").read_text("utf-8"))
    # Parts that differ between machines and between runs.
    record |= {"compiler": "", "seconds": 0, "log": "", "ptx_sha256": hashlib.sha256(image).hexdigest()}
    into = chapter.solution.as_posix()
    return [
        Member(f"{into}/build.json", json.dumps(record, indent=2).encode() + b"\n"),
        Member(f"{into}/kernel.ptx", image),
    ]


# ---- Archives ---------------------------------------------------------------------------------------------------


def in_order(members: Iterable[Member]) -> list[Member]:
    """Sort by name; if a name occurs twice, the later member wins."""
    by_name = {member.name: member for member in members}
    return [by_name[name] for name in sorted(by_name)]


def zip_bytes(members: Iterable[Member], prefix: str = "") -> bytes:
    """A zip archive without compression: the output of zlib differs from release to release."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for member in in_order(members):
            entry = zipfile.ZipInfo(prefix + member.name, _ZIP_TIME)
            entry.create_system = 3  # Unix, so that the mode below applies
            entry.external_attr = (stat.S_IFREG | _mode(member)) << 16
            archive.writestr(entry, member.content)
    return out.getvalue()


def tar_bytes(members: Iterable[Member], prefix: str = "") -> bytes:
    """An uncompressed POSIX tar archive without an owner."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for member in in_order(members):
            entry = tarfile.TarInfo(prefix + member.name)
            entry.size, entry.mode, entry.mtime = len(member.content), _mode(member), _TAR_TIME
            archive.addfile(entry, io.BytesIO(member.content))
    return out.getvalue()


def _mode(member: Member) -> int:
    return 0o755 if member.is_program else 0o644
