"""The pages of a class: one for each student, one for the teacher. Each is a file that needs no other.

Nothing in them is believed: every text is escaped, what cannot be seen is spelled out, and the pages allow
themselves neither scripts nor anything from elsewhere.
"""

import difflib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ...core.workbook import write_whole
from ..submissions.submission import file_name
from .overview import overview, summary
from .remarks import MEANINGS, Remark, remarks
from .spreadsheet import number

FEEDBACK = "feedback"  # the folder of the students' pages
_AROUND = 3  # lines shown before and after the one that is meant
_MOST_LINES = 400  # of a kernel, side by side with another
_MOST_BYTES = 256 * 1024
_WHAT = {"file": "file", "source": "source", "code": "compiled code"}  # of a pair that resembles each other
_MOST_PAIRS = 100  # in the table, those that share most; class.json has all
_MOST_SIDES = 40  # of them side by side
_KINDS = {"PASS": "good", "SLOW": "fair", "INFRA": "other", "MISSING": "quiet"}


@dataclass(frozen=True)
class Line:
    """A line of somebody's kernel."""

    number: int
    text: str
    is_it: bool  # the line that is meant, or a line that occurs in both


def write(document: dict[str, Any], folder: Path) -> None:
    """Writes class.html and feedback/*.html into the folder of class.json, and removes pages of others."""
    pages = folder / FEEDBACK
    pages.mkdir(parents=True, exist_ok=True)
    wanted = {f"{file_name(student['id'])}.html": student for student in document["students"]}
    for path in pages.glob("*.html"):
        if path.name not in wanted:
            path.unlink()
    for name, student in wanted.items():
        write_whole(pages / name, student_page(document, student, folder))
    write_whole(folder / "class.html", class_page(document, folder))


def student_page(document: dict[str, Any], student: dict[str, Any], folder: Path) -> str:
    """One student's page. It says nothing of anybody else."""
    said = remarks(document, student)
    kernels = {one["chapter"]: one["kernel"] for one in student["chapters"]}
    return (
        _environment()
        .get_template("student.html.j2")
        .render(
            course=document["course"],
            student=student,
            remarks=said,
            meanings=MEANINGS,
            excerpts={remark.chapter: _excerpt(remark, folder, kernels[remark.chapter]) for remark in said},
        )
    )


def class_page(document: dict[str, Any], folder: Path) -> str:
    """The teacher's page."""
    names = {student["id"]: student["name"] or student["id"] for student in document["students"]}
    near = [pair for pair in document["similar"] if not pair["identical"]]
    near.sort(key=lambda pair: (-max(pair["share"]), pair["chapter"], pair["students"]))
    return (
        _environment()
        .get_template("class.html.j2")
        .render(
            course=document["course"],
            summary=summary(document),
            overview=overview(document),
            groups=_groups(document["similar"], names),
            similar=[_pair(pair, names) for pair in near[:_MOST_PAIRS]],
            more=max(0, len(near) - _MOST_PAIRS),
            near_reference=_near_reference(document, names),
            not_compared=[
                one | {"name": names.get(one["student"], one["student"])}
                for one in document.get("not_compared", [])
            ],
            side_by_side=_side_by_side(document, near[:_MOST_SIDES], names, folder),
            students=[_student_row(student) for student in document["students"]],
        )
    )


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_visible,
    )
    made.filters |= {"number": number, "kind": lambda verdict: _KINDS.get(verdict, "bad")}
    return made


def _visible(value: object) -> object:
    """Text without what changes how the text around it is read: controls, and marks that turn it around."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in value)


# ---- Source -----------------------------------------------------------------------------------------------------


def _lines(folder: Path, kernel: str) -> list[str]:
    """The lines of a kernel that the class's folder keeps; none where it is gone or no file of that folder."""
    path = folder / kernel
    if not kernel or not path.resolve().is_relative_to(folder.resolve()):
        return []
    try:
        with open(path, "rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8", "replace").splitlines()
    except OSError:
        return []


def _excerpt(remark: Remark, folder: Path, kernel: str) -> list[Line]:
    """The lines around the place of the finding."""
    match = re.fullmatch(r".*?([^/:]+):(\d+)(?::\d+)?", remark.where[0]) if remark.where else None
    if not match or match[1] != "kernel.cu":
        return []
    meant = int(match[2])
    lines = _lines(folder, kernel)
    first, last = max(1, meant - _AROUND), min(len(lines), meant + _AROUND)
    return [Line(at, lines[at - 1][:500], at == meant) for at in range(first, last + 1)]


# ---- Similar submissions ------------------------------------------------------------------------------------------


def _groups(similar: list[dict[str, Any]], names: dict[str, str]) -> list[dict[str, Any]]:
    """Students who handed in the same file: one group for each file."""
    groups: dict[tuple[str, str], list[str]] = {}
    for pair in similar:
        if pair["identical"]:
            first, other = pair["students"]
            groups.setdefault((pair["chapter"], first), [first]).append(other)
    return [
        {"chapter": chapter, "names": [names.get(student, student) for student in students]}
        for (chapter, _), students in sorted(groups.items())
    ]


def _pair(pair: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    return {
        "chapter": pair["chapter"],
        "names": [names.get(student, student) for student in pair["students"]],
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


def _near_reference(document: dict[str, Any], names: dict[str, str]) -> list[dict[str, Any]]:
    """For each chapter, who compiled to the reference's code, and which of them hold it as inline assembly."""
    chapters: dict[str, dict[str, Any]] = {}
    for one in document.get("near_reference", []):
        row = chapters.setdefault(one["chapter"], {"chapter": one["chapter"], "names": [], "inline": []})
        name = names.get(one["student"], one["student"])
        if one["inline"]:
            row["inline"].append(f"{name} ({one['inline']} instructions)")
        else:
            row["names"].append(name)
    return [chapters[name] for name in sorted(chapters)]


def _side_by_side(
    document: dict[str, Any], pairs: list[dict[str, Any]], names: dict[str, str], folder: Path
) -> list[dict[str, Any]]:
    kernels = {
        (student["id"], one["chapter"]): one["kernel"]
        for student in document["students"]
        for one in student["chapters"]
    }
    shown = []
    for pair in pairs:
        texts = [
            _lines(folder, kernels.get((student, pair["chapter"]), ""))[:_MOST_LINES]
            for student in pair["students"]
        ]
        if all(texts):
            shown.append(_pair(pair, names) | {"sides": _sides(texts[0], texts[1])})
    return shown


def _sides(one: list[str], other: list[str]) -> list[list[Line]]:
    """Both kernels, with the lines marked that occur in both, ignoring white space."""
    a, b = ([" ".join(line.split()) for line in lines] for lines in (one, other))
    blocks = difflib.SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
    in_a = {block.a + i for block in blocks for i in range(block.size) if a[block.a + i]}
    in_b = {block.b + i for block in blocks for i in range(block.size) if b[block.b + i]}
    return [
        [Line(at + 1, line[:500], at in common) for at, line in enumerate(lines)]
        for lines, common in ((one, in_a), (other, in_b))
    ]


# ---- Students -----------------------------------------------------------------------------------------------------


def _student_row(student: dict[str, Any]) -> dict[str, Any]:
    days = student["submission"]["days_late"]
    return {
        "name": student["name"] or student["id"],
        "page": f"{FEEDBACK}/{file_name(student['id'])}.html",
        "chapters": [one | {"receipt": one.get("receipt")} for one in student["chapters"]],
        "score": student["score"]["earned"],
        "late": f"{days} {'day' if days == 1 else 'days'}" if days else "",
    }
