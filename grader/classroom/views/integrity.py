"""What a teacher may want to look at in a class: similar kernels, receipts that disagree, numbers of another student's.

Each entry puts two texts side by side. None of them is a judgement: there are innocent reasons for all.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .sources import lines_of
from .spreadsheet import number

_LEAST_NUMBER = 1000  # smaller sizes occur in many kernels
_INTEGER = re.compile(r"(?<![\w.])(0[xX][0-9a-fA-F][0-9a-fA-F']*|[0-9][0-9']*)(?:[uUlL]{1,3})?(?![\w.])")
_LONGEST_LINE = 500


@dataclass(frozen=True)
class ReceiptRow:
    """A receipt beside the judgement of the same chapter."""

    student: str  # the id
    chapter: str
    claims: str  # what the receipt says; "" if it cannot be read
    judged: str
    differences: tuple[str, ...]
    others: tuple[str, ...]  # ids of the students whose kernel the receipt is about


@dataclass(frozen=True)
class NumberRow:
    """A number in a kernel that was drawn for another student's inputs."""

    student: str  # whose kernel it is
    chapter: str
    line: int
    text: str  # of that line
    number: int
    other: str  # for whom it was drawn
    what: str  # "size" or "seed"
    command: str  # that the other student's page shows with this number


def receipt_rows(document: dict[str, Any]) -> list[ReceiptRow]:
    """The receipts that do not agree with the judgement, by chapter and student."""
    owners: dict[tuple[str, str], list[str]] = {}
    for student in document["students"]:
        for one in student["chapters"]:
            if one["kernel_sha256"]:
                owners.setdefault((one["chapter"], one["kernel_sha256"]), []).append(student["id"])
    rows = []
    for student in document["students"]:
        for one in student["chapters"]:
            receipt = one["receipt"]
            if not receipt or receipt["agrees"]:
                continue
            claims = receipt["claims"]
            same = owners.get((one["chapter"], claims["kernel_sha256"]), []) if claims else []
            judged = (one["result"] or one)["points"]  # as a receipt has them: not scaled to the course's
            rows.append(
                ReceiptRow(
                    student["id"],
                    one["chapter"],
                    _claims(claims),
                    f"{one['verdict']}, {number(judged['earned'])} of {number(judged['possible'])} points, "
                    f"workbook {document['workbook']}, kernel {one['kernel_sha256'][:12]}",
                    tuple(receipt["differences"]),
                    tuple(other for other in same if other != student["id"]),
                )
            )
    return sorted(rows, key=lambda row: (row.chapter, row.student))


def _claims(claims: dict[str, Any] | None) -> str:
    if not claims:
        return ""
    points = f"{number(claims['earned'])} of {number(claims['possible'])} points"
    return (
        f"{claims['verdict']}, {points}, workbook {claims['workbook']}, kernel {claims['kernel_sha256'][:12]}"
    )


def number_rows(document: dict[str, Any], folder: Path) -> list[NumberRow]:
    """Numbers in kernels that are the size or the seed of another student's inputs, by chapter and student.

    With a secret in the course, each student is judged with different sizes, and a page shows a size or seed only to
    its owner. Numbers that every student is judged with, one's own and powers of two do not count.
    """
    drawn: dict[str, dict[int, list[tuple[str, str, str]]]] = {}  # by chapter and number
    for student in document["students"]:
        for one in student["chapters"]:
            for value, what, command in _drawn(one):
                drawn.setdefault(one["chapter"], {}).setdefault(value, []).append(
                    (student["id"], what, command)
                )
    rows = []
    for student in document["students"]:
        for one in student["chapters"]:
            others = drawn.get(one["chapter"], {})
            for line, text, value in _numbers(folder, one["kernel"]) if others else ():
                owners = others.get(value, [])
                if not owners or any(owner == student["id"] for owner, _, _ in owners):
                    continue
                if len(owners) > 1 and len({owner for owner, _, _ in owners}) > 1:
                    continue  # everybody is judged with it
                other, what, command = owners[0]
                rows.append(NumberRow(student["id"], one["chapter"], line, text, value, other, what, command))
    return sorted(rows, key=lambda row: (row.chapter, row.student, row.line, row.number))


def _drawn(one: dict[str, Any]) -> Iterator[tuple[int, str, str]]:
    """The numbers that were drawn for one student's chapter: value, kind, and the command that has it."""
    result = one["result"] or {}
    command = f"./{one['chapter']}"
    for also in (result.get("options") or {}).get("also") or ():
        yield also["n"], "size", f"{command} --n {also['n']}"
    index, cases = result.get("first_failure"), result.get("cases") or []
    if isinstance(index, int) and index < len(cases) and "seed" in cases[index]:
        yield cases[index]["seed"], "seed", f"{command} --n {cases[index]['n']} --seed {cases[index]['seed']}"


def _numbers(folder: Path, kernel: str) -> Iterator[tuple[int, str, int]]:
    """Line, text and value of each integer in a kernel that is large and not a power of two."""
    for at, text in enumerate(lines_of(folder, kernel), 1):
        for found in _INTEGER.finditer(text[:_LONGEST_LINE]):
            digits = found[1].replace("'", "")
            value = int(digits, 16 if digits[:2].lower() == "0x" else 10)
            if value >= _LEAST_NUMBER and value & (value - 1):
                yield at, text[:_LONGEST_LINE].strip(), value
