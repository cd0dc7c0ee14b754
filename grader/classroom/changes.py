"""What differs between two gradings of a class, grade by grade."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from .views.spreadsheet import number


@dataclass(frozen=True)
class Change:
    """One grade that differs."""

    student: str  # the id
    what: str  # "ch04", "total" or "grade"
    before: str  # "" for nothing
    after: str

    def document(self) -> dict[str, str]:
        """As JSON."""
        return asdict(self)


def changes(before: dict[str, Any] | None, after: dict[str, Any]) -> list[Change]:
    """Every grade that differs, by student; if a student is new or gone, all of them."""
    old = {student["id"]: student for student in before["students"]} if before else {}
    new = {student["id"]: student for student in after["students"]}
    found: list[Change] = []
    for name in sorted({*old, *new}):
        found += _student(name, old.get(name), new.get(name))
    return found


def _student(name: str, old: dict[str, Any] | None, new: dict[str, Any] | None) -> Iterator[Change]:
    was, now = _grades(old), _grades(new)
    for what in dict.fromkeys([*was, *now]):
        if was.get(what, "") != now.get(what, ""):
            yield Change(name, what, was.get(what, ""), now.get(what, ""))


def _grades(student: dict[str, Any] | None) -> dict[str, str]:
    if student is None:
        return {}
    grades = {one["chapter"]: _chapter(one) for one in student["chapters"]}
    earned, possible = student["score"]["earned"], student["score"]["possible"]
    grades["total"] = f"{'?' if earned is None else number(earned)}/{number(possible)}"
    if student["grade"]:
        curved = f"{number(student['grade']['curved'])} %"
        grades["grade"] = f"{student['grade']['letter']} ({curved})" if student["grade"]["letter"] else curved
    return grades


def _chapter(one: dict[str, Any]) -> str:
    if one["excused"]:
        return "excused"
    said = f"{'?' if one['score'] is None else number(one['score'])} {one['verdict']}"
    if one["by_hand"] and one["by_hand"]["points"] is not None:
        return f"{said}, by hand"
    return f"{said}, late" if one["factor"] != 1 else said
