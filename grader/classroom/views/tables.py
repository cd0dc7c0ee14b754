"""What the class page shows, as CSV: tables/*.csv beside class.html."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...core.workbook import write_whole
from .integrity import number_rows, receipt_rows
from .overview import mistakes
from .spreadsheet import csv_text, defused, number

FOLDER = "tables"
NAMES = ("submissions", "mistakes", "progress", "similar", "receipts", "strangers")


def write_tables(document: dict[str, Any], history: list[dict[str, Any]], folder: Path) -> None:
    """Write all tables of a class. `folder` is that of class.json, where the kernels are."""
    made = (
        _submissions(document),
        _mistakes(document),
        _progress(history),
        _similar(document),
        _receipts(document, folder),
        _strangers(document),
    )
    (folder / FOLDER).mkdir(exist_ok=True)
    for name, table in zip(NAMES, made, strict=True):
        write_whole(folder / FOLDER / f"{name}.csv", csv_text([list(map(defused, row)) for row in table]))


def _submissions(document: dict[str, Any]) -> list[list[str]]:
    """Everything that was handed in, with the chapters for which it counts."""
    table = [
        [
            "id",
            "submission",
            "received",
            "recognised by",
            "together with",
            "contains",
            "counts for",
            "trouble",
        ]
    ]
    for student in document["students"]:
        for at, one in enumerate(student["submissions"]):
            counts = [chapter["chapter"] for chapter in student["chapters"] if chapter["submission"] == at]
            trouble = one["trouble"]["message"] if one["trouble"] else ""
            words = (one["chapters"], counts)
            told = [one["name"], one["received"] or "", one["matched"], " ".join(one["with"])]
            table.append([student["id"], *told, *map(" ".join, words), trouble])
    return table


def _mistakes(document: dict[str, Any]) -> list[list[str]]:
    table = [["chapter", "mistake", "students", "ids"]]
    return table + [
        [one.chapter, one.title, str(len(one.students)), " ".join(one.students)] for one in mistakes(document)
    ]


def _progress(history: list[dict[str, Any]]) -> list[list[str]]:
    table = [["graded", "chapter", "handed in", "passed", "mean score"]]
    for line in history:
        for name, one in line["chapters"].items():
            counts = [str(one["handed_in"]), str(one["passed"]), number(one.get("mean"))]
            table.append([line["time"], name, *counts])
    return table


def _similar(document: dict[str, Any]) -> list[list[str]]:
    table = [["chapter", "one", "other", "compared", "of the one", "of the other", "of the reference", ""]]
    for pair in document["similar"]:
        shares: Sequence[Any] = [*pair["share"], *(pair.get("reference") or ("", ""))]
        table.append([pair["chapter"], *pair["students"], pair.get("in", "source"), *map(str, shares)])
    return table


def _receipts(document: dict[str, Any], folder: Path) -> list[list[str]]:
    table = [["chapter", "id", "what", "this text", "other text", "other ids"]]
    for row in receipt_rows(document):
        judged = "; ".join((row.judged, *row.differences))
        cells = [row.chapter, row.student, "receipt", row.claims, judged, " ".join(row.others)]
        table.append(cells)
    for one in number_rows(document, folder):
        what, text = f"{one.what} {one.number}", f"line {one.line}: {one.text}"
        cells = [one.chapter, one.student, what, text, one.command, one.other]
        table.append(cells)
    return table


def _strangers(document: dict[str, Any]) -> list[list[str]]:
    table = [["submission", "why", "line for [owners] of the course file"]]
    return table + [[one["name"], one["why"], " or ".join(one["lines"])] for one in document["strangers"]]
