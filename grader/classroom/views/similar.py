"""Kernels of a class that resemble each other, or the reference. They are reported, never judged.

Kernels are compared three times: as files, by their hash; as sources after preprocessing, without what the skeleton
gives to everybody; and as the code that they compile to, without what the reference compiles to, because two right
answers to a short exercise often compile to the same code. Every pair says how much of it the reference has too.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..similarity.preprocess import TooLongError, without_comments
from ..similarity.windows import Comparison, Windows, windows_of
from ..similarity.words import INLINE, source_words

_SOURCE_WINDOW = 12  # words
_LEAST_SOURCE = 40  # words that have to be shared: some chapters are solved in three lines
_CODE_WINDOW = 12  # instructions
_LEAST_CODE = 30  # instructions that have to be shared, besides those of the reference
_SAME_CODE = (
    0.95  # of both: what hides a copied source does not change its code, and one idea is often coded alike
)
_REFERENCE_WINDOW = 6  # instructions
_LEAST_INLINE = 12  # instructions of the reference, as inline assembly, that are reported


@dataclass(frozen=True)
class Given:
    """What a chapter gives to everybody, and what it does not."""

    skeleton: str  # as it is handed out
    reference: str | None = None  # the solution; None in a workbook without solutions
    code: Sequence[str] | None = None  # what the solution compiles to, in words


@dataclass(frozen=True)
class Kernel:
    """One student's kernel."""

    path: Path
    code: (
        Sequence[str] | None
    ) = ()  # what it compiles to, in words; None: too long; (): not known, or no points


@dataclass
class Resemblance:
    """What is reported about a class, as class.json has it."""

    pairs: list[dict[str, Any]] = field(default_factory=list)
    references: list[dict[str, Any]] = field(default_factory=list)  # kernels near the reference's code
    not_compared: list[dict[str, Any]] = field(default_factory=list)


def find_similar(
    kernels: Mapping[str, Mapping[str, Kernel]], given: Mapping[str, Given], share: float
) -> Resemblance:
    """Kernels, by chapter and student, of which at least `share` occurs in another, or in the reference.

    Of students who handed in the same file the first stands for the others: each is paired with that one.
    """
    found = Resemblance()
    for chapter in sorted(kernels):
        _Chapter(chapter, kernels[chapter], given[chapter], share, found).compare()
    return found


class _Chapter:
    def __init__(
        self, name: str, kernels: Mapping[str, Kernel], given: Given, share: float, found: Resemblance
    ) -> None:
        self.name, self.kernels, self.given, self.share, self.found = name, kernels, given, share, found
        self.skeleton = given.skeleton.encode()
        self.reference = given.reference.encode() if given.reference is not None else None

    def compare(self) -> None:
        """Fill in what is found."""
        groups: dict[bytes, list[str]] = {}
        texts = {student: self.kernels[student].path.read_bytes() for student in sorted(self.kernels)}
        for student, text in texts.items():
            groups.setdefault(hashlib.sha256(text).digest(), []).append(student)
        groups.pop(hashlib.sha256(self.skeleton).digest(), None)  # untouched
        firsts = [group[0] for group in groups.values()]
        near = self.near_reference(firsts, texts)
        pairs = [
            self.pair(first, other, (1.0, 1.0), "file", {first: near.get(first), other: near.get(first)})
            for first, *others in groups.values()
            for other in others
        ]
        pairs += self.by_source(firsts, near)
        known = {tuple(pair["students"]) for pair in pairs}
        pairs += [pair for pair in self.by_code(groups.values()) if tuple(pair["students"]) not in known]
        self.found.pairs += sorted(pairs, key=lambda pair: pair["students"])

    # ---- As sources ---------------------------------------------------------------------------------------------

    def near_reference(self, students: Sequence[str], texts: Mapping[str, bytes]) -> dict[str, float]:
        """Prepare the comparison of sources; the share of each that the reference has too, if it is known."""
        words = {}
        for student in students:
            try:
                words[student] = source_words(texts[student])
            except TooLongError as error:
                self.leave_out(student, f"its source is not compared: {error}")
        given = windows_of(source_words(self.skeleton), _SOURCE_WINDOW)
        self.sources = Comparison(words, _SOURCE_WINDOW, given)
        if self.reference is None:
            return {}
        return self.sources.share_in(windows_of(source_words(self.reference), _SOURCE_WINDOW))

    def by_source(self, students: Sequence[str], near: Mapping[str, float]) -> list[dict[str, Any]]:
        """Pairs of different files whose sources share enough."""
        if len(students) < 2:
            return []
        return [
            self.pair(*overlap.names, overlap.shares, self.what_differs(*overlap.names), near)
            for overlap in self.sources.overlaps(self.share, _LEAST_SOURCE)
        ]

    def what_differs(self, one: str, other: str) -> str:
        """Of two sources that share enough: "comments" if nothing else differs, or "source"."""
        texts = [
            self.kernels[student].path.read_bytes().decode("utf-8", "replace") for student in (one, other)
        ]
        first, second = map(without_comments, texts)
        return "comments" if first == second else "source"

    # ---- As code --------------------------------------------------------------------------------------------------

    def by_code(self, groups: Iterable[list[str]]) -> list[dict[str, Any]]:
        """Pairs of different files that compile to much the same code, other than the reference's."""
        codes: dict[str, Sequence[str]] = {}
        for group in groups:
            code = self.kernels[group[0]].code
            if code is None:
                self.leave_out(group[0], "its compiled code is not compared: it is too long")
            elif code:
                codes[group[0]] = code
                self.compare_with_reference(group, code)
        if len(codes) < 2 or self.given.code is None:
            return []
        plain = {student: _without_marks(code) for student, code in codes.items()}
        reference = windows_of(_without_marks(self.given.code), _CODE_WINDOW)
        near = Comparison(plain, _CODE_WINDOW, set()).share_in(reference)
        least = max(self.share, _SAME_CODE)
        return [
            self.pair(*overlap.names, overlap.shares, "code", near)
            for overlap in Comparison(plain, _CODE_WINDOW, reference).overlaps(least, _LEAST_CODE)
            if min(overlap.shares) >= least
        ]

    def compare_with_reference(self, group: Sequence[str], code: Sequence[str]) -> None:
        """Note kernels that compile to the reference's code, and those that hold it as inline assembly."""
        if self.given.code is None:
            return
        reference = windows_of(_without_marks(self.given.code), _REFERENCE_WINDOW)
        share = Comparison({"": _without_marks(code)}, _REFERENCE_WINDOW, set()).share_in(reference)[""]
        inline = _shared_inline(code, reference) - _shared_inline(self.given.code, reference)
        if share >= self.share or inline >= _LEAST_INLINE:
            self.found.references += [
                {
                    "chapter": self.name,
                    "student": student,
                    "share": round(share, 4),
                    "inline": max(0, inline) if inline >= _LEAST_INLINE else 0,
                }
                for student in group
            ]

    # ---- Entries of class.json ------------------------------------------------------------------------------------

    def pair(
        self, one: str, other: str, shares: tuple[float, float], what: str, near: Mapping[str, float | None]
    ) -> dict[str, Any]:
        """A pair as class.json has it."""
        shared = [near.get(student) for student in (one, other)]
        return {
            "chapter": self.name,
            "students": [one, other],
            "share": [round(share, 4) for share in shares],
            "identical": what == "file",
            "in": what,
            "reference": None if None in shared else [round(share or 0, 4) for share in shared],
        }

    def leave_out(self, student: str, why: str) -> None:
        """Note a kernel that is not compared."""
        self.found.not_compared.append({"chapter": self.name, "student": student, "why": why})


def _without_marks(code: Sequence[str]) -> list[str]:
    return [word.removeprefix(INLINE) for word in code]


def _shared_inline(code: Sequence[str], reference: Windows) -> int:
    """How many instructions of inline assembly lie in windows of the reference."""
    plain = _without_marks(code)
    shared = set()
    for at in range(len(plain) - _REFERENCE_WINDOW + 1):
        if tuple(plain[at : at + _REFERENCE_WINDOW]) in reference:
            shared |= set(range(at, at + _REFERENCE_WINDOW))
    return sum(code[at].startswith(INLINE) for at in shared)
