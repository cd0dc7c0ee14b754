"""The archives to upload: the workbook with its references as images, and scripts to run it.

They contain no line of a solution's source, and are identical byte for byte if they are made from the same
files.
"""

from pathlib import Path

from ...core.distribution import (
    Member,
    core_members,
    in_order,
    member_of,
    reference_members,
    tar_bytes,
    zip_bytes,
)
from ...core.workbook import Chapter, Workbook, write_whole

_HERE = Path(__file__).parent
_BOOK = "book"  # the folder of the workbook in the archives
_SCHEMA = "docs/result.schema.json"  # the schema of an acceptable result


def book_members(workbook: Workbook, chapters: list[Chapter]) -> list[Member]:
    """The parts of the workbook that an autograder needs, and setup.sh."""
    members = [*core_members(workbook, chapters), *reference_members(workbook, chapters)]
    members.append(member_of(workbook.root, _SCHEMA))
    inside = [Member(f"{_BOOK}/{one.name}", one.content, one.is_program) for one in members]
    return in_order([*inside, _program("setup.sh")])


def write_gradescope(workbook: Workbook, chapters: list[Chapter], path: Path) -> int:
    """Writes autograder.zip; returns how many files are in it."""
    members = [*book_members(workbook, chapters), _program("run_autograder")]
    write_whole(path, zip_bytes(members))
    return len(members)


def write_autolab(workbook: Workbook, chapters: list[Chapter], folder: Path) -> int:
    """Writes autograde-Makefile and autograde.tar into a folder; returns how many files are in the latter."""
    members = book_members(workbook, chapters)
    write_whole(folder / "autograde.tar", tar_bytes(members))
    write_whole(folder / "autograde-Makefile", (_HERE / "autograde-Makefile").read_bytes())
    return len(members)


def _program(name: str) -> Member:
    return Member(name, (_HERE / name).read_bytes(), is_program=True)
