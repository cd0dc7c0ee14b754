"""The pages of a class: one for each student, one for the teacher and each section, one about what is alike.

Each is a file that needs no other. Nothing in them is believed: every text is escaped, what cannot be seen is
spelled out, and the pages allow themselves nothing from elsewhere. Only the class page has a script, its own.
"""

import base64
import hashlib
import re
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ...core.workbook import find_workbook, write_whole
from .. import history
from ..submissions.submission import file_name
from . import gradebook, integrity, lessons, tables
from .environment import TEMPLATES, environment
from .overview import bars, mistakes, overview, summary
from .progress_lines import progress
from .remarks import MEANINGS, Remark, not_counted, remarks
from .sources import Line, around, lines_of, sides
from .spreadsheet import csv_text, number

FEEDBACK = "feedback"  # the folder of the students' pages
SECTIONS = "sections"
_AROUND = 3  # lines shown before and after the one that is meant
_MOST_LINES = 400  # of a kernel, side by side with another
_MOST_SHOWN = 2  # chapters of a student's page that are open, and printed
_WHAT = {
    "file": "file",
    "comments": "source: only comments and layout differ",
    "source": "source",
    "code": "compiled code",
}  # of a pair that resembles each other
_MOST_PAIRS = 100  # in the table, those that share most; class.json has all
_MOST_SIDES = 40  # of them side by side
_STATES = (
    ("missing", "nothing handed in"),
    ("failing", "a chapter fails"),
    ("incomplete", "a chapter is missing"),
    ("passed", "everything passed"),
    ("late", "late"),
    ("open", "not judged yet"),
    ("decided", "set by hand or excused"),
    ("receipt", "a receipt differs"),
)
_SCRIPT = (TEMPLATES / "class.js").read_text("utf-8")
_SCRIPT_HASH = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode("ascii")


def write(document: dict[str, Any], folder: Path) -> None:
    """Write all pages into the folder of class.json, and remove pages of students and sections that are gone."""
    students = {f"{file_name(student['id'])}.html": student for student in document["students"]}
    _only(folder / FEEDBACK, students)
    for name, student in students.items():
        write_whole(folder / FEEDBACK / name, student_page(document, student, folder))
    chapters = [one["chapter"] for one in document["course"]["chapters"]]
    workbook = find_workbook()
    known = [chapter for chapter in workbook.chapters if chapter.name in chapters]
    pages = lessons.lesson_pages(workbook, known)
    _only(folder / lessons.FOLDER, {Path(place).name for place in pages})
    for place, text in pages.items():
        write_whole(folder / place, text)
    runs = history.read(folder / "history.jsonl")
    tables.write_tables(document, runs, folder)
    write_whole(folder / "integrity.html", integrity_page(document, folder))
    names = sections_of(document)
    files = {file_name(name): name for name in names}
    _only(folder / SECTIONS, {f"{name}{ending}" for name in files for ending in (".html", ".csv")})
    for file, name in files.items():
        part = section_document(document, name)
        write_whole(folder / SECTIONS / f"{file}.html", class_page(part, folder, section=name))
        write_whole(folder / SECTIONS / f"{file}.csv", csv_text(gradebook.rows(part)))
    write_whole(folder / "class.html", class_page(document, folder))


def _only(folder: Path, names: Any) -> None:
    """Make a folder of pages, or remove those in it that are not wanted."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*"):
        if path.suffix in (".html", ".csv") and path.name not in names:
            path.unlink()


def sections_of(document: dict[str, Any]) -> list[str]:
    """The names of the class's sections, if there are several."""
    names = sorted({student["section"] for student in document["students"]} - {""})
    return names if len(names) > 1 else []


def section_document(document: dict[str, Any], section: str) -> dict[str, Any]:
    """The same of one section."""
    students = [student for student in document["students"] if student["section"] == section]
    return document | {"students": students, "strangers": []}


def student_page(document: dict[str, Any], student: dict[str, Any], folder: Path) -> str:
    """One student's page. It says nothing about anybody else."""
    said = remarks(document, student)
    kernels = {one["chapter"]: one["kernel"] for one in student["chapters"]}
    failing = [one for one in said if not one.passed and not one.is_excused and one.verdict != "MISSING"]
    missing = [one for one in said if one.verdict == "MISSING" and not one.is_excused]
    return (
        environment()
        .get_template("student.html.j2")
        .render(
            course=document["course"],
            student=student,
            remarks=said,
            meanings=MEANINGS,
            first=next(iter([*failing, *missing]), None),
            shown={one.chapter for one in failing[:_MOST_SHOWN]},
            excerpts={remark.chapter: _excerpt(remark, folder, kernels[remark.chapter]) for remark in said},
            together=[one for one in student["submissions"] if one["with"]],
            not_counted=not_counted(student),
        )
    )


def class_page(document: dict[str, Any], folder: Path, section: str = "") -> str:
    """The teacher's page: of the class, or of one section."""
    up = "../" if section else ""
    names = sections_of(document)
    runs = [] if section else history.read(folder / "history.jsonl")
    counts = (document["similar"], integrity.receipt_rows(document), integrity.number_rows(document, folder))
    csv_files = [("gradebook", f"{file_name(section)}.csv" if section else "gradebook.csv")]
    if not section:
        csv_files += [(name, f"{tables.FOLDER}/{name}.csv") for name in tables.NAMES]
    return (
        environment()
        .get_template("class.html.j2")
        .render(
            course=document["course"],
            section=section,
            up=up,
            sections=[{"name": name, "page": f"{SECTIONS}/{file_name(name)}.html"} for name in names],
            section_names=names,
            states=_STATES,
            tables=csv_files,
            summary=summary(document),
            overview=overview(document),
            mistakes=_mistakes(document, up),
            progress=progress(runs, document["course"]["chapters"]),
            strangers=document["strangers"],
            integrity_count=sum(map(len, counts)),
            students=[_student_row(student, up) for student in document["students"]],
            script=Markup(_SCRIPT),
            script_hash=_SCRIPT_HASH,
        )
    )


def integrity_page(document: dict[str, Any], folder: Path) -> str:
    """What a teacher may want to look at, two texts side by side."""
    names, authors = _names(document), _Authors(document)
    near = [pair for pair in document["similar"] if not pair["identical"]]
    near.sort(key=lambda pair: (-max(pair["share"]), pair["chapter"], pair["students"]))
    return (
        environment()
        .get_template("integrity.html.j2")
        .render(
            course=document["course"],
            groups=_groups(document["similar"], authors),
            similar=[_pair(pair, authors) for pair in near[:_MOST_PAIRS]],
            more=max(0, len(near) - _MOST_PAIRS),
            near_reference=_near_reference(document, authors),
            not_compared=[
                one | {"name": names.get(one["student"], one["student"])} for one in document["not_compared"]
            ],
            side_by_side=_side_by_side(document, near[:_MOST_SIDES], authors, folder),
            receipts=[
                vars(row) | {"name": names[row.student], "others": [names[one] for one in row.others]}
                for row in integrity.receipt_rows(document)
            ],
            numbers=[
                vars(row) | {"name": names[row.student], "other": names[row.other]}
                for row in integrity.number_rows(document, folder)
            ],
        )
    )


def _names(document: dict[str, Any]) -> dict[str, str]:
    return {student["id"]: student["name"] or student["id"] for student in document["students"]}


class _Authors:
    """The names of everybody who handed in a student's kernel of a chapter."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.names = _names(document)
        self.others = {
            (student["id"], one["chapter"]): student["submissions"][one["submission"]]["with"]
            for student in document["students"]
            for one in student["chapters"]
            if one["submission"] is not None
        }

    def of(self, student: str, chapter: str) -> str:
        """Such as "Ada Lovelace", or "Ada Lovelace and Ben Akiba" for a group."""
        ids = [student, *self.others.get((student, chapter), ())]
        return " and ".join(self.names.get(one, one) for one in ids)


def _excerpt(remark: Remark, folder: Path, kernel: str) -> list[Line]:
    """The lines around the place of the finding."""
    match = re.fullmatch(r".*?([^/:]+):(\d+)(?::\d+)?", remark.where[0]) if remark.where else None
    if not match or match[1] != "kernel.cu":
        return []
    return around(lines_of(folder, kernel), int(match[2]), _AROUND)


# ---- Similar submissions ------------------------------------------------------------------------------------------


def _groups(similar: list[dict[str, Any]], authors: _Authors) -> list[dict[str, Any]]:
    """Students who handed in the same file: one group for each file."""
    groups: dict[tuple[str, str], list[str]] = {}
    for pair in similar:
        if pair["identical"]:
            first, other = pair["students"]
            groups.setdefault((pair["chapter"], first), [first]).append(other)
    return [
        {"chapter": chapter, "names": [authors.of(student, chapter) for student in students]}
        for (chapter, _), students in sorted(groups.items())
    ]


def _pair(pair: dict[str, Any], authors: _Authors) -> dict[str, Any]:
    return {
        "chapter": pair["chapter"],
        "names": [authors.of(student, pair["chapter"]) for student in pair["students"]],
        "shares": [f"{100 * share:.0f} %" for share in pair["share"]],
        "what": _WHAT[pair.get("in", "source")],
        "reference": _beside_reference(pair.get("reference"), pair["share"]),
    }


def _beside_reference(shares: list[float] | None, between: list[float]) -> str:
    """What a pair has in common with the reference, in words."""
    if not shares:
        return ""
    words = " and ".join(f"{100 * share:.0f} %" for share in shares)
    return f"{words}: both are close to it" if min(shares) >= 0.8 * max(between) else words


def _near_reference(document: dict[str, Any], authors: _Authors) -> list[dict[str, Any]]:
    """For each chapter, who compiled to the reference's code, and which of them hold it as inline assembly."""
    chapters: dict[str, dict[str, Any]] = {}
    for one in document["near_reference"]:
        row = chapters.setdefault(one["chapter"], {"chapter": one["chapter"], "names": [], "inline": []})
        name = authors.of(one["student"], one["chapter"])
        if one["inline"]:
            row["inline"].append(f"{name} ({one['inline']} instructions)")
        else:
            row["names"].append(name)
    return [chapters[name] for name in sorted(chapters)]


def _side_by_side(
    document: dict[str, Any], pairs: list[dict[str, Any]], authors: _Authors, folder: Path
) -> list[dict[str, Any]]:
    kernels = {
        (student["id"], one["chapter"]): one["kernel"]
        for student in document["students"]
        for one in student["chapters"]
    }
    shown = []
    for pair in pairs:
        texts = [
            lines_of(folder, kernels.get((student, pair["chapter"]), ""))[:_MOST_LINES]
            for student in pair["students"]
        ]
        if all(texts):
            shown.append(_pair(pair, authors) | {"sides": sides(texts[0], texts[1])})
    return shown


# ---- Students and mistakes ------------------------------------------------------------------------------------------


def _mistakes(document: dict[str, Any], up: str) -> list[dict[str, Any]]:
    """By chapter: a chart, and for each mistake its lesson and who made it."""
    names = _names(document)
    titles = {one["chapter"]: f"{one['chapter']} {one['title']}" for one in document["course"]["chapters"]}
    chapters: dict[str, dict[str, Any]] = {}
    for one in mistakes(document):
        row = chapters.setdefault(one.chapter, {"name": titles[one.chapter], "counts": [], "mistakes": []})
        row["counts"].append((one.title, len(one.students)))
        chapter, _, slug = one.lesson.partition("#")
        row["mistakes"].append(
            {
                "title": one.title,
                "count": len(one.students),
                "lesson": lessons.lesson_page(chapter, slug) if chapter in titles else "",
                "lesson_words": f"The lesson of {chapter}",
                "students": [
                    (names[student], f"{up}{FEEDBACK}/{file_name(student)}.html#{one.chapter}")
                    for student in one.students
                ],
            }
        )
    most = max((count for row in chapters.values() for _, count in row["counts"]), default=0)
    return [row | {"bars": bars(row["counts"], most)} for row in chapters.values()]


def _student_row(student: dict[str, Any], up: str) -> dict[str, Any]:
    days = student["submission"]["days_late"]
    grade = student["grade"] or {}
    return {
        "name": student["name"] or student["id"],
        "search": " ".join((student["name"], student["id"], student["email"])).lower(),
        "section": student["section"],
        "state": " ".join(_states(student)),
        "page": f"{up}{FEEDBACK}/{file_name(student['id'])}.html",
        "chapters": [_cell(one) for one in student["chapters"]],
        "score": student["score"]["earned"],
        "grade": grade.get("letter") or number(grade.get("curved")),
        "days": days,
        "late": f"{days} {'day' if days == 1 else 'days'}" if days else "",
    }


def _cell(one: dict[str, Any]) -> dict[str, Any]:
    """One chapter of one student in the table."""
    notes = []
    if one["receipt"] and not one["receipt"]["agrees"]:
        notes.append("receipt differs")
    if one["by_hand"]:
        notes.append("by hand")
    if one["of"] > 1:
        notes.append(f"{one['chosen_as']} of {one['of']}")
    score = one["score"]
    shown = "excused" if one["excused"] else "?" if score is None else number(score)
    return {
        "verdict": one["verdict"],
        "score": shown,
        "value": -1 if score is None else score,
        "notes": notes,
    }


def _states(student: dict[str, Any]) -> list[str]:
    """What the filter of the class page finds a student by."""
    counted = [one for one in student["chapters"] if not one["excused"]]
    decided = any(one["by_hand"] or one["excused"] for one in student["chapters"])
    receipts = [one["receipt"] for one in student["chapters"] if one["receipt"]]
    holds = {
        "missing": not student["submission"]["path"],
        "failing": any(one["verdict"] not in ("PASS", "MISSING", "INFRA") for one in counted),
        "incomplete": any(one["verdict"] == "MISSING" for one in counted),
        "passed": all(one["verdict"] == "PASS" for one in counted),
        "late": student["submission"]["days_late"] > 0,
        "open": student["score"]["earned"] is None,
        "decided": decided,
        "receipt": any(not receipt["agrees"] for receipt in receipts),
    }
    return [name for name, is_so in holds.items() if is_so]
