"""Reads the kernels of tests/wrong and tests/right, which are stored in full or as edits.

A kernel is a file NAME.cu, or NAME.patch: an edit (edits.py) of its base. The base is one of

    solution/ch09       the solution of the chapter without its comments; the default
    dense/ch09          the same without the blank lines in functions
    commented/ch09      the solution with its comments, except the first ones and those that mark the exercise
    right/ch09/plain    a right kernel that is stored in full, without its header

Kernels have names of the same form, such as wrong/ch09/last_row. The header, the first lines of a kernel, declares
its expected verdict and mistake.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import GraderError, MachineError, UsageError
from ..core.skeleton import BEGIN, END
from ..core.workbook import Workbook, write_whole
from . import edits

_COMMENT = re.compile(r"^\s*//")
_DECLARES = {"wrong": ("VERDICT", "MISTAKE", "DIAGNOSIS"), "right": ("RIGHT",)}


@dataclass(frozen=True)
class Kernel:
    """One kernel of the corpus."""

    name: str  # wrong/ch09/last_row
    path: Path  # the file that stores it: .cu or .patch
    content: bytes  # in full
    declared: dict[str, str]  # in its header: VERDICT, MISTAKE and DIAGNOSIS, or RIGHT


def text_of(content: bytes) -> str:
    """The text of a file. Bytes that are not UTF-8 survive the way back, bytes_of."""
    return content.decode("utf-8", "surrogateescape")


def bytes_of(text: str) -> bytes:
    """The content of a file with that text."""
    return text.encode("utf-8", "surrogateescape")


# ---- Bases -------------------------------------------------------------------------------------------------


def base(workbook: Workbook, name: str) -> str:
    """The text of a base; raises UsageError if no base has that name."""
    form, _, rest = name.partition("/")
    chapter = next((chapter for chapter in workbook.chapters if chapter.name == rest), None)
    if form in FORMS and chapter:
        return FORMS[form](text_of((workbook.root / chapter.solution / "kernel.cu").read_bytes()))
    path = stored(workbook, name)
    if form == "right" and path.is_file():
        return edits.without_header(text_of(path.read_bytes()))
    if form == "right" and path.with_suffix(".patch").is_file():
        raise UsageError(f"{name} is stored as an edit and cannot be a base: edit its base instead")
    raise UsageError(
        f"there is no base {name}: a base is solution/ch09, dense/ch09, commented/ch09, or a right kernel that "
        "is stored in full, such as right/ch09/plain"
    )


def _solution(text: str) -> str:
    """The solution without its comments."""
    lines = [re.sub(r"\s+//.*", "", line) for line in text.split("\n") if not _COMMENT.match(line)]
    return "\n".join(_single_blanks(lines))


def _dense(text: str) -> str:
    """The solution without its comments and without the blank lines in functions, before indented lines."""
    lines = _solution(text).split("\n")
    pairs = zip(lines, [*lines[1:], ""], strict=True)
    return "\n".join(line for line, following in pairs if line or not following.startswith(" "))


def _commented(text: str) -> str:
    """The solution with its comments, except the first ones and those that mark the exercise."""
    lines = text.split("\n")
    first = next((number for number, line in enumerate(lines) if not _COMMENT.match(line)), 0)
    kept: list[str] = []
    in_marks = False  # among the TODO and SKELETON lines after BEGIN SOLUTION
    for line in lines[first:]:
        if BEGIN.match(line) and kept and not kept[-1]:
            kept.pop()  # the blank line before it
        in_marks = bool(BEGIN.match(line) or (in_marks and _COMMENT.match(line)))
        if not in_marks and not END.match(line):
            kept.append(line)
    return "\n".join(_single_blanks(kept))


def _single_blanks(lines: list[str]) -> Iterator[str]:
    """The lines except blank ones at the beginning or after a blank one."""
    return (line for number, line in enumerate(lines) if line or (number and lines[number - 1]))


FORMS = {"solution": _solution, "dense": _dense, "commented": _commented}


# ---- Reading -----------------------------------------------------------------------------------------------


def stored(workbook: Workbook, name: str) -> Path:
    """The file of a kernel that is stored in full; an edit has the suffix .patch instead."""
    return workbook.root / "tests" / f"{name}.cu"


def names(workbook: Workbook, chapters: Iterable[str]) -> list[str]:
    """Every kernel of tests/wrong and tests/right for those chapters, in order."""
    folders = [f"{kind}/{chapter}" for chapter in chapters for kind in _DECLARES]
    files = [(folder, path) for folder in folders for path in (workbook.root / "tests" / folder).glob("*")]
    found = {f"{folder}/{path.stem}": folder for folder, path in files if path.suffix in (".cu", ".patch")}
    return sorted(found, key=lambda name: (folders.index(found[name]), name))


def read(workbook: Workbook, name: str) -> Kernel:
    """A kernel in full; raises MachineError, with the name of its file, if that cannot be read as a kernel."""
    path = stored(workbook, name)
    patch = path.with_suffix(".patch")
    if path.is_file() and patch.is_file():
        raise MachineError(
            f"tests/{name}.cu and tests/{name}.patch both exist: `make kernel-edit K={name}` stores the first and "
            "removes the second"
        )
    file = path if path.is_file() else patch
    content = file.read_bytes() if file == path else _applied(workbook, name)
    return Kernel(name, file, content, declared(name, content, file.name))


def declared(name: str, content: bytes, file_name: str) -> dict[str, str]:
    """What the header of a kernel declares; raises MachineError if a line is missing."""
    keys = _DECLARES[name.partition("/")[0]]
    lines = content.decode("utf-8", "replace").split("\n")[: len(keys)]
    found = [re.fullmatch(r"// ([A-Z]+): *(\S.*?) *", line) for line in lines]
    if tuple(match and match[1] for match in found) != keys:
        wanted = ", then ".join(f"// {key}: ..." for key in keys)
        raise MachineError(f"tests/{name.rpartition('/')[0]}/{file_name}: its first lines must be {wanted}")
    return {match[1]: match[2] for match in found if match}


def _applied(workbook: Workbook, name: str) -> bytes:
    file = f"tests/{name}.patch"
    edit = edits.parse(text_of((workbook.root / file).read_bytes()), file)
    of = edit.base or f"solution/{name.split('/')[1]}"
    try:
        text = base(workbook, of)
    except GraderError as error:
        raise MachineError(f"{file}: {error}") from None
    try:
        return bytes_of(edits.apply(edit, text, file, of))
    except edits.EditError as error:
        raise MachineError(
            f"{error}\n    The base: `make kernel K={of}` writes it to build/kernels/{of}.cu"
        ) from None


def read_all(workbook: Workbook, wanted: Iterable[str]) -> list[Kernel]:
    """These kernels; raises one MachineError for all that cannot be read."""
    kernels: list[Kernel] = []
    wrong: list[str] = []
    for name in wanted:
        try:
            kernels.append(read(workbook, name))
        except MachineError as error:
            wrong.append(str(error))
    if wrong:
        raise MachineError("\n".join(wrong))
    return kernels


# ---- Writing -----------------------------------------------------------------------------------------------


def write(workbook: Workbook, name: str, content: bytes) -> Path:
    """Writes a kernel or a base to build/kernels; returns the file."""
    path = workbook.build / "kernels" / f"{name}.cu"
    if not path.is_file() or path.read_bytes() != content:
        write_whole(path, content)
    return path


def in_full(workbook: Workbook, kernel: Kernel) -> Path:
    """A file with the kernel in full: the one that stores it, or for an edit, one in build/kernels."""
    return kernel.path if kernel.path.suffix == ".cu" else write(workbook, kernel.name, kernel.content)
