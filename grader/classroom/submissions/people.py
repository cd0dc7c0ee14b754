"""Whose a name is: by a student's id, login, address or name, or several of these for a group.

The rules, in this order. The first that finds somebody decides; if it finds two, nobody is chosen, and both are named.

1. the id, the login, the number or the address of one student, or the part of the address before "@"
2. the name of one student, whatever the order of its words, their case and the marks between them
3. several students, each by rule 1 or 2, with one of "_", "-", "+", "&", "," or a space between them
4. the same without a number at the end, which counts how often something was handed in: ada-2, ada_v3, ada (2)
"""

import difflib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache

from .submission import Student

_AGAIN = re.compile(
    r"(?P<stem>.*?[^\s_.-])(?:[\s_.-]+\(?(?:v|version|try|attempt|resubmission|no)?[\s_.-]?(?P<number>\d{1,3})\)?|"
    r"\((?P<copy>\d{1,3})\))",
    re.IGNORECASE | re.DOTALL,
)
_BETWEEN = re.compile(r"\s+and\s+|[\s_+,&-]+")
_MOST_PARTS = 12  # of a name that may be a group's
_MOST_SUGGESTED = 3
_CLOSE = 0.75  # how alike a name and a student's must be, to be suggested


@dataclass(frozen=True)
class Match:
    """What a name says about its owners."""

    owners: tuple[str, ...] = ()  # ids; none: nobody, or more than one possibility
    by: str = ""  # what they were recognised by
    number: int = 1  # how often they have handed in, as the name has it
    possible: tuple[tuple[str, ...], ...] = ()  # if it is ambiguous: each possibility


class People:
    """The students of a class, to be found by whatever a platform or a file's name says."""

    def __init__(self, students: Iterable[Student]) -> None:
        self.students = {student.id: student for student in students}
        self._numbers: dict[tuple[str, str], set[str]] = {}
        self._keys: dict[str, dict[str, str]] = {}  # by folded key: id -> what kind of key it is
        self._names: dict[str, set[str]] = {}  # by squashed name
        for student in self.students.values():
            self._add(student)

    def _add(self, student: Student) -> None:
        lms = student.lms
        moodle = "".join(c for c in lms.moodle_identifier if c.isdigit())
        for kind, number in (("canvas", lms.canvas_id), ("moodle", moodle)):
            if number:
                self._numbers.setdefault((kind, number), set()).add(student.id)
        keys = (
            ("id", student.id), ("login", lms.sis_login_id), ("number", lms.sis_user_id),
            ("address", student.email), ("address", student.email.partition("@")[0]), ("name", student.name),
        )  # fmt: skip
        for kind, value in keys:
            if folded(value):
                self._keys.setdefault(folded(value), {}).setdefault(student.id, kind)
        for squashed in _squashed_names(student.name):
            self._names.setdefault(squashed, set()).add(student.id)

    def numbered(self, kind: str, number: str) -> Student | None:
        """The one student with this number on the platform "canvas" or "moodle"."""
        found = self._numbers.get((kind, number), set())
        return self.students[next(iter(found))] if len(found) == 1 else None

    def known(self, *values: str) -> Student | None:
        """The one student whose id, login, number, address or name one of the values is, the first that is."""
        for value in filter(None, map(folded, values)):
            found = self._keys.get(value, {})
            if len(found) == 1:
                return self.students[next(iter(found))]
        return None

    def named(self, text: str) -> Match:
        """Whose a name is; see the rules above."""
        match = self._exactly(text)
        again = None if match.owners or match.possible else _AGAIN.fullmatch(text)
        if again:
            found = self._exactly(again["stem"])
            return replace(found, number=int(again["number"] or again["copy"]))
        return match

    def suggested(self, text: str) -> list[str]:
        """The ids of students whose id, login, address or name is close to a text, the closest first."""
        close = difflib.get_close_matches(folded(text), list(self._keys), n=_MOST_SUGGESTED, cutoff=_CLOSE)
        ids = [student for key in close for student in self._keys[key]]
        return list(dict.fromkeys(ids))[:_MOST_SUGGESTED]

    def _exactly(self, text: str) -> Match:
        by_key = self._keys.get(folded(text), {})
        by_name = self._names.get(_squashed(text), set())
        if len(by_key) == 1 and (kind := next(iter(by_key.values()))) != "name":
            return Match(tuple(by_key), kind)
        single = sorted({*by_key, *by_name})
        groups = list(self._groups(text)) if not by_key else []
        possible = (*((one,) for one in single), *groups)
        if len(possible) == 1:
            return Match(possible[0], "name" if single else "names of a group")
        return Match(possible=possible)

    def _groups(self, text: str) -> Iterator[tuple[str, ...]]:
        """Every way to read a text as the names of several students."""
        starts, ends = [0], []
        for mark in _BETWEEN.finditer(text):
            ends.append(mark.start())
            starts.append(mark.end())
        ends.append(len(text))
        if not 2 <= len(starts) <= _MOST_PARTS:
            return

        @cache
        def readings(first: int) -> tuple[tuple[str, ...], ...]:
            if first == len(starts):
                return ((),)
            found = []
            for last in range(first, len(starts)):
                part = text[starts[first] : ends[last]]
                ids = self._keys.get(folded(part), {}) or self._names.get(_squashed(part), set())
                if len(ids) == 1:
                    found += [(next(iter(ids)), *rest) for rest in readings(last + 1)]
            return tuple(found)

        seen = set()
        for reading in readings(0):
            members = tuple(dict.fromkeys(reading))
            if len(members) > 1 and frozenset(members) not in seen:
                seen.add(frozenset(members))
                yield members


def folded(text: str) -> str:
    """A text as it is compared: without differences of case and of how letters are composed."""
    return unicodedata.normalize("NFC", text).casefold().strip()


def _squashed(text: str) -> str:
    """Letters and digits only, without accents."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(c for c in plain if c.isalnum())


def _squashed_names(name: str) -> set[str]:
    """A name in the forms that file names have: first and last name in either order."""
    words = [word for part in name.split(",") for word in part.split()]
    if len(words) < 2:
        return {_squashed(name)} - {""}
    rotated = {_squashed("".join(words[at:] + words[:at])) for at in range(len(words))}
    return rotated - {""}
