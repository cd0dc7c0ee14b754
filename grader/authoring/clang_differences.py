"""The kernels of tests/wrong and tests/right that get another verdict with clang than with nvcc, and why."""

import csv
from dataclasses import dataclass
from pathlib import Path

from ..core.toolkit import find_compiler
from ..core.workbook import Chapter, Workbook


@dataclass(frozen=True)
class Difference:
    """A kernel whose verdict differs between the compilers, and why."""

    with_clang: str
    reason: str


def read_rows(path: Path) -> dict[str, dict[str, str]]:
    """The rows of a table of kernels by the kernel's path; none where there is no such file."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return {row["path"]: row for row in csv.DictReader(file)}
    except FileNotFoundError:
        return {}


def read_differences(workbook: Workbook) -> dict[str, Difference]:
    """The differences that have a reason, by the kernel's path."""
    rows = read_rows(workbook.root / "tests" / "clang_differences.csv")
    return {path: Difference(row["with_clang"], row["reason"]) for path, row in rows.items()}


def compiled_by_clang(workbook: Workbook, chapters: list[Chapter]) -> list[Chapter]:
    """The chapters without those that are whole programs, which need nvcc."""
    return [chapter for chapter in chapters if not workbook.is_program(chapter)]


def is_clang(workbook: Workbook) -> bool:
    """Whether kernels are compiled by clang here: it was asked for, or there is no nvcc."""
    compiler = find_compiler(workbook.root)
    return compiler is not None and compiler.name == "clang"
