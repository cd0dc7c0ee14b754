"""The class in figures: who has how many points, how each chapter went, which mistakes were made how often."""

from collections import Counter
from dataclasses import dataclass
from statistics import mean, median
from typing import Any

from .spreadsheet import number


@dataclass(frozen=True)
class Bar:
    """One row of a chart."""

    label: str
    width: float  # of 100
    words: str


@dataclass(frozen=True)
class ChapterRow:
    """How one chapter went."""

    name: str
    handed_in: int
    passed: int
    mean: str  # score of those who handed in
    verdicts: list[tuple[str, int]]  # the most frequent first


@dataclass(frozen=True)
class Overview:
    """What the class page shows of the class as a whole."""

    scores: list[Bar]
    scores_words: str
    chapters: list[ChapterRow]


def overview(document: dict[str, Any]) -> Overview:
    """The figures of a class.json."""
    scores, words = _scores(document)
    return Overview(scores, words, _chapters(document))


def summary(document: dict[str, Any]) -> str:
    """The class in a sentence or three."""
    students = document["students"]
    handed = [student for student in students if student["submission"]["path"]]
    said = f"{_count(len(students), 'student')}, {len(handed)} handed in."
    refused = [student for student in students if (student["trouble"] or {}).get("verdict") == "REJECT"]
    if refused:
        said += f" {len(refused)} could not be opened."
    unknown = [student for student in students if student["score"]["earned"] is None]
    strangers = len(document["strangers"])
    if strangers:
        said += f" {_count(strangers, 'submission')} not of anybody in the roster."
    if unknown:
        said += f" {len(unknown)} could not be judged whole, through no fault of theirs: make class again."
    return said


def _count(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def _bars(counts: list[tuple[str, int]], words: str, most: int = 0) -> list[Bar]:
    """The bar of `most` is the longest possible one; 0: the largest of the counts."""
    most = most or max((count for _, count in counts), default=0)
    return [
        Bar(label, round(100 * count / most, 2) if most else 0, words.format(count))
        for label, count in counts
    ]


def _scores(document: dict[str, Any]) -> tuple[list[Bar], str]:
    """Ten ranges of a tenth each, the best first; those who handed nothing in are left out."""
    shares = [
        student["score"]["earned"] / student["score"]["possible"]
        for student in document["students"]
        if student["submission"]["path"]
        and student["score"]["earned"] is not None
        and student["score"]["possible"]
    ]
    if not shares:
        return [], ""
    ranges = Counter(min(9, int(share * 10 + 1e-9)) for share in shares)
    counts = [(_range(tenth), ranges[tenth]) for tenth in reversed(range(10))]
    words = (
        f"Of those who handed in ({len(shares)} of {len(document['students'])}): median "
        f"{100 * median(shares):.0f} %, mean {100 * mean(shares):.0f} % of what they can earn."
    )
    return _bars(counts, "{}"), words


def _range(tenth: int) -> str:
    return "90 to 100 %" if tenth == 9 else f"{10 * tenth} to {10 * tenth + 9} %"


def _chapters(document: dict[str, Any]) -> list[ChapterRow]:
    rows = []
    for i, chapter in enumerate(document["course"]["chapters"]):
        ones = [student["chapters"][i] for student in document["students"]]
        verdicts = Counter(one["verdict"] for one in ones)
        there = [one for one in ones if one["verdict"] != "MISSING"]
        scores = [one["score"] for one in there if one["score"] is not None]
        rows.append(
            ChapterRow(
                name=f"{chapter['chapter']} {chapter['title']}",
                handed_in=len(ones) - verdicts["MISSING"],
                passed=verdicts["PASS"],
                mean=f"{number(round(mean(scores), 2))}/{number(chapter['possible'])}" if scores else "",
                verdicts=sorted(verdicts.items(), key=lambda item: (-item[1], item[0])),
            )
        )
    return rows


@dataclass(frozen=True)
class Mistake:
    """A well-known mistake, and who made it in a chapter."""

    chapter: str
    title: str
    lesson: str  # "ch02#the-trap", or ""
    students: list[str]  # ids


def mistakes(document: dict[str, Any]) -> list[Mistake]:
    """The mistakes of each chapter, in the course's order, the most frequent first."""
    found: dict[tuple[str, str], list[str]] = {}
    lessons: dict[tuple[str, str], str] = {}
    for student in document["students"]:
        for one in student["chapters"]:
            diagnosis = (one["result"] or {}).get("diagnosis")
            if diagnosis:
                key = one["chapter"], str(diagnosis["title"])
                found.setdefault(key, []).append(student["id"])
                lessons.setdefault(key, str(diagnosis.get("lesson") or ""))
    order = [one["chapter"] for one in document["course"]["chapters"]]
    keys = sorted(found, key=lambda key: (order.index(key[0]), -len(found[key]), key[1]))
    return [Mistake(*key, lessons[key], found[key]) for key in keys]


def bars(counts: list[tuple[str, int]], most: int) -> list[Bar]:
    """A chart of counts on the scale of several charts, whose largest count is `most`."""
    return _bars(counts, "{}", most)
