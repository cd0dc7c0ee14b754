"""Forms of instructions with a reference for one lane, and the check of 32 lanes against it.

Operands are edges of their type, any bits, or floats near 1, so that sums cancel and products round. They are
drawn from a seeded generator, the same in every run: there are too many forms to search and shrink in each."""

from __future__ import annotations

import functools
import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from .formats import FORMATS
from .probe import FULL, LANES, WIDTH, Lanes, execute, parts_of

# ---- Values ----------------------------------------------------------------------------------------------------


@functools.cache
def edges(kind: str) -> list[int]:
    bits = WIDTH[kind]
    top = 1 << (bits - 1)
    values = {
        0,
        1,
        2,
        3,
        7,
        8,
        15,
        16,
        31,
        32,
        33,
        63,
        64,
        65,
        127,
        128,
        255,
        256,
        257,
        top - 1,
        top,
        top + 1,
    }
    values |= {
        2 * top - 1,
        2 * top - 2,
        0x5555555555555555,
        0xAAAAAAAAAAAAAAAA,
        0x00FF00FF00FF00FF,
        0x7FFF,
        0x8000,
    }
    if kind in FORMATS:
        f = FORMATS[kind]
        one = f.bias << f.fraction
        values = {
            0,
            1,
            2,
            (1 << f.fraction) - 1,
            1 << f.fraction,
            (1 << f.fraction) + 1,
            one,
            one - 1,
            one + 1,
        }
        values |= {
            f.infinity,
            f.infinity - 1,
            f.infinity - 2,
            f.infinity + 1,
            f.infinity | 1 << (f.fraction - 1),
        }
        values |= {
            2 * top - 1 - top,
            one + (1 << f.fraction),
            one - (1 << f.fraction),
            one + (1 << (f.fraction - 1)),
        }
        values |= {
            one + (k << f.fraction) + m for k in (7, 8, 15, 16, 30, 31, 32) if k < f.bias for m in (0, 1, -1)
        }
        values |= {v | top for v in values}
    elif kind in ("f16x2", "bf16x2"):
        halves = edges(kind[:-2])
        values = {a | b << 16 for a, b in zip(halves, reversed(halves), strict=True)}
    return sorted(v & (2 * top - 1) for v in values)


def value_of(raw: bytes, kind: str, edge: list[int]) -> int:
    """A value from ten random bytes: an edge, any bits, or a float near 1, so that sums cancel and products round."""
    choice, bits = int.from_bytes(raw[:2], "little"), int.from_bytes(raw[2:], "little")
    way, index = choice % 3, choice // 3
    if way == 0:
        return edge[index % len(edge)]
    if way == 1 and kind in FORMATS:
        f = FORMATS[kind]
        return ((f.bias - 3) << f.fraction) + bits % (7 << f.fraction) | (f.sign if choice & 8 else 0)
    return bits & ((1 << WIDTH[kind]) - 1)


def shift_of(raw: bytes) -> int:
    return [127, 255, 256, 1 << 31, FULL][raw[1] % 5] if raw[0] < 40 else raw[1] % 71


def pieces(raw: bytes) -> Iterator[bytes]:
    return (raw[k : k + 10] for k in range(0, 10 * LANES, 10))


class Draw:
    """The values of one run of an instruction, by its name and a number: what is drawn first is drawn the same."""

    def __init__(self, name: str, number: int) -> None:
        self._random = random.Random(f"{name} {number}")

    def lanes(self, kind: str) -> Lanes | int:
        """A value for each lane; of a predicate one bit each."""
        if kind == "pred":
            return self._random.getrandbits(32)
        edge = edges(kind)
        return [value_of(piece, kind, edge) for piece in pieces(self._random.randbytes(10 * LANES))]

    def shifts(self) -> Lanes:
        """Shift amounts, positions or lengths, one for each lane."""
        return [shift_of(piece) for piece in pieces(self._random.randbytes(10 * LANES))]

    def mask(self) -> int:
        """The lanes that take part: all, any, or a few that are easy to get wrong."""
        edge = self._random.choice([1, 1 << 31, 0xFFFF, 0x55555555])
        return self._random.choice([FULL, self._random.randint(1, FULL), edge])

    def choice(self, among: Sequence[int]) -> int:
        """One of these."""
        return self._random.choice(among)


EXAMPLES = int(os.environ.get("ALU_EXAMPLES", "2"))


def draws(name: str) -> Iterator[Draw]:
    """As many runs of an instruction as ALU_EXAMPLES asks for."""
    return (Draw(name, number) for number in range(EXAMPLES))


# ---- Cases -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """One form: types of the operands, and a reference from one lane's bits to the result's bits."""

    op: str
    to: str
    sources: tuple[str, ...]
    reference: Callable[..., int | tuple[int, ...]]
    shifts: tuple[int, ...] = ()  # sources that are shift amounts, positions or lengths
    float_ops: int | None = None
    same: Callable[[int, int], bool] | None = None  # in place of equality


CASES: list[Case] = []


Reference = Callable[..., int | tuple[int, ...]]


def case(
    op: str,
    to: str,
    sources: str,
    reference: Reference,
    *,
    shifts: tuple[int, ...] = (),
    float_ops: int | None = None,
    same: Callable[[int, int], bool] | None = None,
) -> None:
    CASES.append(Case(op, to, tuple(sources.split()), reference, shifts, float_ops, same))


def check_lanes(c: Case, draw: Draw) -> None:
    sources = [
        (kind, draw.shifts() if k in c.shifts else draw.lanes(kind)) for k, kind in enumerate(c.sources)
    ]
    mask = draw.mask()
    destinations = parts_of(c.to)
    before: list[Lanes | int] = [
        draw.lanes(kind) if kind == "pred" else [0xA5A5A5A5A5A5A5A5 & ((1 << max(16, WIDTH[kind])) - 1)] * 32
        for kind in destinations
    ]
    aliases = [
        k
        for k, kind in enumerate(c.sources)
        if kind != "pred" and c.to in WIDTH and WIDTH[kind] == WIDTH[c.to]
    ]
    alias = draw.choice([-1, *aliases])
    if alias >= 0:
        before = [list(sources[alias][1])]  # type: ignore[arg-type]
    constants = draw.choice(range(1 << len(sources))) if alias < 0 else 0
    got, _, ops = execute(c.op, c.to, sources, before=before, mask=mask, alias=alias, constants=constants)
    if c.float_ops is not None:
        assert ops == c.float_ops
    for lane in range(LANES):
        inputs = [v >> lane & 1 if kind == "pred" else v[lane] for kind, v in sources]  # type: ignore[operator,index]
        wanted = c.reference(*inputs) if mask >> lane & 1 else None
        for k, kind in enumerate(destinations):
            have, old = ((x[k] >> lane & 1) if kind == "pred" else x[k][lane] for x in (got, before))  # type: ignore[operator,index]
            if wanted is None:
                assert have == old, f"{c.op}: inactive lane {lane} was written"
                continue
            want = wanted[k] if isinstance(wanted, tuple) else wanted
            if c.same is None or kind == "pred":
                assert have == want, (
                    f"{c.op} lane {lane} of {[hex(x) for x in inputs]}: {have:#x}, not {want:#x}"
                )
            else:
                assert c.same(have, want), (
                    f"{c.op} lane {lane} of {[hex(x) for x in inputs]}: {have:#x} for {want:#x}"
                )
