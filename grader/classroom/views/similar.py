"""Kernels of a class that resemble each other. They are reported, never judged.

Files that are the same to the byte are found by their hash. The others are compared by copydetect: names and
strings do not count, nor does what the skeleton gives to everybody.
"""

import hashlib
import io
import itertools
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from ...core.errors import MachineError

_KGRAM = 25  # letters of code, names cut to one, that are looked for together
_LEAST_LETTERS = 150  # so many have to be shared: some chapters are solved in three lines
_MOST_BYTES = 64 * 1024  # a longer file is compared by its hash alone


def pairs(
    kernels: Mapping[str, Mapping[str, Path]], skeletons: Mapping[str, Path], share: float
) -> list[dict[str, Any]]:
    """Pairs of students whose kernels have at least `share` of one of them in common, as class.json has them.

    `kernels` are files by chapter and student, `skeletons` what each chapter gives to everybody. Of students
    who handed in the same file the first stands for the others: each is paired with that one.
    """
    found = []
    for chapter in sorted(kernels):
        found += _pairs_of(chapter, kernels[chapter], skeletons[chapter].read_bytes(), share)
    return found


def _pairs_of(
    chapter: str, kernels: Mapping[str, Path], skeleton: bytes, share: float
) -> list[dict[str, Any]]:
    texts = {student: kernels[student].read_bytes() for student in sorted(kernels)}
    groups: dict[bytes, list[str]] = {}
    for student, text in texts.items():
        groups.setdefault(hashlib.sha256(text).digest(), []).append(student)
    groups.pop(hashlib.sha256(skeleton).digest(), None)  # untouched
    found = [
        _pair(chapter, first, other, 1.0, 1.0, identical=True)
        for first, *others in groups.values()
        for other in others
    ]
    firsts = {group[0]: texts[group[0]] for group in groups.values() if len(texts[group[0]]) <= _MOST_BYTES}
    found += [
        _pair(chapter, one, other, round(x, 4), round(y, 4), identical=False)
        for one, other, x, y in _compare(firsts, skeleton, share)
    ]
    return sorted(found, key=lambda pair: pair["students"])


def _pair(chapter: str, one: str, other: str, x: float, y: float, *, identical: bool) -> dict[str, Any]:
    return {"chapter": chapter, "students": [one, other], "share": [x, y], "identical": identical}


@dataclass(frozen=True)
class _Windows:
    """The windows of a file that are its author's own."""

    ids: Any  # an array of a number for each, the same in every file for the same letters
    places: Any  # an array of where each begins, in letters of the file as it is compared
    letters: int  # that they cover together


def _compare(
    texts: Mapping[str, bytes], skeleton: bytes, share: float
) -> Iterator[tuple[str, str, float, float]]:
    """Pairs of different files that share enough, with the share of each."""
    if len(texts) < 2:
        return
    detector = _copydetect()
    given = _fingerprint(detector, skeleton).hashes
    numbers: dict[int, int] = {}
    files = {student: _windows(detector, text, given, numbers) for student, text in texts.items()}
    import numpy as np  # as copydetect does

    has = {student: np.zeros(len(numbers), dtype=bool) for student in files}
    for student, file in files.items():
        has[student][file.ids] = True
    for one, other in itertools.combinations(files, 2):
        overlap, x = _overlap(detector, files[one], has[other])
        _, y = _overlap(detector, files[other], has[one])
        if overlap >= _LEAST_LETTERS and max(x, y) >= share:
            yield one, other, x, y


def _overlap(detector: Any, file: _Windows, others: Any) -> tuple[int, float]:
    """How many letters of a file also occur in another, and their share of it."""
    places = file.places[others[file.ids]]
    if not len(places):
        return 0, 0.0
    begins, ends = detector.get_copied_slices(places, _KGRAM)
    letters = int((ends - begins).sum())
    return letters, min(1.0, letters / file.letters)


def _windows(detector: Any, text: bytes, given: set[int], numbers: dict[int, int]) -> _Windows:
    """A file without the windows in `given`; `numbers` gets those that no file before it had."""
    import numpy as np

    made = _fingerprint(detector, text)
    own = {window: places for window, places in made.hash_idx.items() if window not in given}
    ids = [numbers.setdefault(window, len(numbers)) for window, places in own.items() for _ in places]
    places = [place for found in own.values() for place in found]
    letters = detector.get_token_coverage(own, _KGRAM, len(made.filtered_code))
    return _Windows(np.array(ids, dtype=np.int64), np.array(places, dtype=np.int64), int(letters))


def _fingerprint(detector: Any, text: bytes) -> Any:
    """A file's fingerprint by copydetect.

    Every window is taken, none left out by chance: Python's hashes of strings differ from run to run, and
    which of several windows a sparser choice falls on would differ with them.
    """
    source = io.StringIO(_without_traps(text.decode("utf-8", "replace")))
    return detector.CodeFingerprint("kernel.cu", k=_KGRAM, win_size=1, language="cuda", fp=source)


def _without_traps(text: str) -> str:
    """The same for comparing, without what its reader of C++ takes time for that grows as the square.

    These are runs of white space, and raw strings without end. A run becomes one blank or one end of a line.
    """
    text = re.sub(r"\s+", lambda run: "\n" if "\n" in run[0] else " ", text)
    return text.replace('R"', '"')


def _copydetect() -> Any:
    with _no_plots():
        try:
            from copydetect import detector
        except ImportError as error:
            raise MachineError(
                f"the Python package {error.name} is missing, with which similar kernels are found; "
                "install what requirements/class.txt lists"
            ) from None
    return detector


@contextmanager
def _no_plots() -> Iterator[None]:
    """Spares the import of matplotlib, which copydetect needs for its own report alone.

    It takes a second and writes caches into the home folder.
    """
    names = ("matplotlib", "matplotlib.pyplot")
    if names[1] in sys.modules:
        yield
        return
    before = {name: sys.modules[name] for name in names if name in sys.modules}
    stands_in = ModuleType(names[0])
    stands_in.pyplot = ModuleType(names[1])  # type: ignore[attr-defined]
    sys.modules.update({names[0]: stands_in, names[1]: stands_in.pyplot})
    try:
        yield
    finally:
        for name in names:
            del sys.modules[name]
        sys.modules.update(before)
