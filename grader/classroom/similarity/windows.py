"""How much of each of many sequences of words also occurs in the others.

Every run of a few words is a window. A word is shared if one of the windows around it occurs in the other sequence
too; words of windows that everybody was given do not count.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

Windows = set[tuple[str, ...]]


def windows_of(words: Sequence[str], size: int) -> Windows:
    """Every window of a sequence."""
    return set(_windows(words, size))


def _windows(words: Sequence[str], size: int) -> "Iterable[tuple[str, ...]]":
    return zip(*(words[at:] for at in range(size)), strict=False)


@dataclass(frozen=True)
class Overlap:
    """Two sequences that share much."""

    names: tuple[str, str]
    words: int  # of the first that are shared
    shares: tuple[float, float]


class Comparison:
    """Sequences by name, compared in windows of `size` words without those `given` to everybody."""

    def __init__(self, sequences: Mapping[str, Sequence[str]], size: int, given: Windows) -> None:
        import numpy as np  # of make class, and of nothing before it

        self._np, self._size = np, size
        numbers: dict[tuple[str, ...], int] = {}
        self._names = list(sequences)
        self._ids: list[Any] = []  # of each sequence: the number of each of its windows, -1 for a given one
        for words in sequences.values():
            ids = [
                -1 if window in given else numbers.setdefault(window, len(numbers))
                for window in _windows(words, size)
            ]
            self._ids.append(np.array(ids, dtype=np.int64))
        self._numbers = numbers

    def share_in(self, others: Windows) -> dict[str, float]:
        """The share of each sequence's own words that also occur among `others`."""
        has = self._np.zeros(len(self._numbers) + 1, dtype=bool)
        for window, number in self._numbers.items():
            has[number] = window in others
        made = {}
        for name, ids in zip(self._names, self._ids, strict=True):
            own, shared = self._covered(self._np.array([ids >= 0, has[ids]]))
            made[name] = float(shared / own) if own else 0.0
        return made

    def overlaps(self, share: float, least: int) -> Iterator[Overlap]:
        """Pairs that have at least `share` of one in common, and `least` words."""
        np = self._np
        has = np.zeros((len(self._ids), len(self._numbers) + 1), dtype=bool)
        for at, ids in enumerate(self._ids):
            has[at, ids] = True
        has[:, -1] = False  # the given ones
        own = np.array([self._covered(ids[None, :] >= 0)[0] for ids in self._ids])
        # shared[i][j]: how many words of i occur in j
        shared = np.array([self._covered(has[:, ids]) for ids in self._ids]).reshape(len(has), len(has))
        shares = shared / np.maximum(1, own)[:, None]
        near = (np.maximum(shares, shares.T) >= share) & (np.minimum(shared, shared.T) >= least)
        for one, other in zip(*np.nonzero(np.triu(near, 1)), strict=True):
            yield Overlap(
                (self._names[one], self._names[other]),
                int(shared[one, other]),
                (float(shares[one, other]), float(shares[other, one])),
            )

    def _covered(self, rows: Any) -> Any:
        """For each row of marks on windows, how many words the marked ones cover."""
        np, size = self._np, self._size
        before = np.cumsum(np.pad(rows, ((0, 0), (size, size - 1))), axis=1, dtype=np.int32)
        return np.count_nonzero(before[:, size:] > before[:, :-size], axis=1)
