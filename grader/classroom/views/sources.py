"""The text of a kernel that the class's folder keeps, and two of them side by side."""

import difflib
from dataclasses import dataclass
from pathlib import Path

_MOST_BYTES = 256 * 1024
_LONGEST_LINE = 500


@dataclass(frozen=True)
class Line:
    """A line of somebody's kernel."""

    number: int
    text: str
    is_it: bool  # the line that is meant, or a line that occurs in both


def lines_of(folder: Path, kernel: str) -> list[str]:
    """The lines of a kernel that the class's folder keeps; none if it is gone or not a file of that folder."""
    path = folder / kernel
    if not kernel or not path.resolve().is_relative_to(folder.resolve()):
        return []
    try:
        with open(path, "rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return []


def around(lines: list[str], meant: int, more: int) -> list[Line]:
    """The line `meant`, counted from 1, with `more` before and after it."""
    first, last = max(1, meant - more), min(len(lines), meant + more)
    return [Line(at, lines[at - 1][:_LONGEST_LINE], at == meant) for at in range(first, last + 1)]


def sides(one: list[str], other: list[str]) -> list[list[Line]]:
    """Both kernels, with the lines marked that occur in both, ignoring white space."""
    a, b = ([" ".join(line.split()) for line in lines] for lines in (one, other))
    blocks = difflib.SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
    in_a = {block.a + i for block in blocks for i in range(block.size) if a[block.a + i]}
    in_b = {block.b + i for block in blocks for i in range(block.size) if b[block.b + i]}
    return [
        [Line(at + 1, line[:_LONGEST_LINE], at in common) for at, line in enumerate(lines)]
        for lines, common in ((one, in_a), (other, in_b))
    ]
