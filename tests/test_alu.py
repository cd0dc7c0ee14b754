"""Every arithmetic instruction of the emulator against exact arithmetic.

alu_probe.c runs one instruction on 32 lanes. The references here work on the bits of one lane with Python's
integers and fractions, and round by the definition of IEEE 754; so they share nothing with the C code.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import math
import os
import shlex
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parent.parent
EMULATOR = ROOT / "common" / "emulator"
BUILD = ROOT / "build" / "tests"
FULL = 0xFFFFFFFF
LANES = 32

# ---- The probe -------------------------------------------------------------------------------------------------

RESULTS = ["ok", "unknown opcode", "not arithmetic", "unknown form", "bad operands", "bad width", "bad call"]
WIDTH = {  # bits of a type's value
    **dict.fromkeys(["b8", "u8", "s8"], 8),
    **dict.fromkeys(["b16", "u16", "s16", "f16", "bf16"], 16),
    **dict.fromkeys(["b32", "u32", "s32", "f32", "f16x2", "bf16x2", "tf32"], 32),
    **dict.fromkeys(["b64", "u64", "s64", "f64"], 64),
}


def build_probe() -> ctypes.CDLL:
    """Compiles the arithmetic files and the probe into a library of their own, unless that is up to date."""
    BUILD.mkdir(parents=True, exist_ok=True)
    sources = [
        ROOT / "tests" / "native" / "alu_probe.c",
        *sorted(EMULATOR.glob("alu*.c")),
        *sorted(EMULATOR.glob("parser*.c")),
        *(EMULATOR / name for name in ("opcodes.c", "ptx.c", "lexer.c", "arena.c")),
    ]
    compiler = shlex.split(os.environ.get("CC", "cc"))
    extra = shlex.split(os.environ.get("CFLAGS_EXTRA", ""))
    flags = [
        "-std=gnu17",
        "-O2",
        "-ftree-vectorize",
        "-march=native",
        "-ffp-contract=off",
        "-fno-math-errno",
        "-fPIC",
        *extra,
    ]
    library, recipe = BUILD / "libalu_probe.so", BUILD / "libalu_probe.flags"
    command = [*compiler, *flags, "-shared", "-o", str(library), *map(str, sources), "-lm"]
    newest = max(p.stat().st_mtime for p in [*sources, *EMULATOR.glob("*.h")])
    fresh = library.exists() and library.stat().st_mtime > newest and recipe.exists()
    if not fresh or recipe.read_text() != shlex.join(command):
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        recipe.write_text(shlex.join(command))
    return ctypes.CDLL(str(library))


_library: ctypes.CDLL | None = None


def library() -> ctypes.CDLL:
    global _library
    if _library is None:
        _library = build_probe()
        _library.alu_probe_opcode.restype = ctypes.c_char_p
    return _library


Lanes = list[int]  # 32 raw values, or one 32-bit mask for a predicate


def parts_of(operand: str) -> list[str]:
    return operand.strip("{}").replace("|", ",").split(",")


def lane_array(kind: str, values: Lanes | int) -> np.ndarray:
    if kind == "_":
        return np.zeros(1, np.uint32)
    if kind == "pred":
        return np.array([values], np.uint32)
    return np.array(
        values, {8: np.uint16, 16: np.uint16, 32: np.uint32, 64: np.uint64}[WIDTH[kind.lstrip("#")]]
    )


def execute(
    op: str,
    to: str,
    sources: list[tuple[str, Lanes | int]],
    *,
    before: list[Lanes | int],
    mask: int = FULL,
    carry: int = 0,
    literals: tuple[int, ...] = (),
    alias: int = -1,
    constants: int = 0,
) -> tuple[list[Lanes | int], int, int]:
    """Runs one instruction. Returns the destinations, the carry and the counted floating-point operations."""
    destinations = parts_of(to)
    arrays = [lane_array(kind, v) for kind, v in zip(destinations, before, strict=True)]
    text = [to]
    values: list[tuple[str, Lanes | int]] = []
    for kind, v in sources:
        text.append(kind)
        names = parts_of(kind)
        values += [(kind, v)] if len(names) == 1 else list(zip(names, v, strict=True))  # type: ignore[arg-type]
    arrays += [lane_array(kind, v) for kind, v in values]
    pointers = (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))
    c, ops = ctypes.c_uint32(carry), ctypes.c_int(0)
    words = (ctypes.c_uint32 * max(1, len(literals)))(*literals)
    status = library().alu_probe(
        op.encode(), " ".join(text).encode(), 1, pointers, ctypes.c_uint32(mask), ctypes.byref(c), words,
        len(literals), alias, ctypes.c_uint32(constants), ctypes.byref(ops),
    )  # fmt: skip
    assert status == 0, f"{op} {text}: {RESULTS[status]}"
    out: list[Lanes | int] = []
    for kind, a in zip(destinations, arrays, strict=False):
        out.append(int(a[0]) if kind in ("pred", "_") else [int(x) for x in a])
    return out, c.value, ops.value


def accepted(op: str, to: str, *sources: str, literals: int = 0) -> bool:
    """Whether a form is known at all."""
    kinds = [(kind, [0] * LANES if kind != "pred" else 0) for kind in sources]
    try:
        execute(op, to, kinds, before=[0 if k in ("pred", "_") else [0] * LANES for k in parts_of(to)],
                literals=(0,) * literals)  # fmt: skip
    except AssertionError:
        return False
    return True


# ---- Formats and exact rounding --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Format:
    fraction: int
    exponent: int
    nan: int

    @property
    def bits(self) -> int:
        return 1 + self.fraction + self.exponent

    @property
    def sign(self) -> int:
        return 1 << (self.bits - 1)

    @property
    def bias(self) -> int:
        return (1 << (self.exponent - 1)) - 1

    @property
    def infinity(self) -> int:
        return ((1 << self.exponent) - 1) << self.fraction

    def is_nan(self, b: int) -> bool:
        return (b & ~self.sign) > self.infinity

    def is_infinite(self, b: int) -> bool:
        return (b & ~self.sign) == self.infinity

    def is_subnormal(self, b: int) -> bool:
        return 0 < (b & ~self.sign) < 1 << self.fraction

    def negative(self, b: int) -> bool:
        return bool(b & self.sign)

    def value(self, b: int) -> Fraction:
        """Of a finite number."""
        field, fraction = (b & ~self.sign) >> self.fraction, b & ((1 << self.fraction) - 1)
        m = fraction if field == 0 else fraction | 1 << self.fraction
        e = max(field, 1) - self.bias - self.fraction
        magnitude = Fraction(m << e) if e >= 0 else Fraction(m, 1 << -e)
        return -magnitude if self.negative(b) else magnitude

    def flush(self, b: int) -> int:
        return b & self.sign if self.is_subnormal(b) else b

    def round(self, x: Fraction, mode: str = "rn", negative_zero: bool = False) -> int:
        """The bits of x rounded: rn, rz, rm (down), rp (up), or rna (ties away from zero)."""
        if x == 0:
            return self.sign if negative_zero else 0
        negative, x = x < 0, abs(x)
        e = x.numerator.bit_length() - x.denominator.bit_length()
        if Fraction(2) ** e > x:
            e -= 1
        last = max(e, 1 - self.bias) - self.fraction
        scaled = x / Fraction(2) ** last
        n, rest = divmod(scaled.numerator, scaled.denominator)
        rest2 = Fraction(2 * rest, scaled.denominator)
        up = {
            "rn": rest2 > 1 or (rest2 == 1 and n & 1),
            "rna": rest2 >= 1,
            "rz": False,
            "rm": negative and rest > 0,
            "rp": not negative and rest > 0,
        }[mode]
        n += bool(up)
        bits = n + ((last + self.fraction + self.bias - 1) << self.fraction)
        if bits >= self.infinity:
            away = mode in ("rn", "rna") or mode == ("rm" if negative else "rp")
            bits = self.infinity if away else self.infinity - 1
        return bits | (self.sign if negative else 0)


F16, BF16 = Format(10, 5, 0x7FFF), Format(7, 8, 0x7FFF)
F32, F64 = Format(23, 8, 0x7FFFFFFF), Format(52, 11, 0xFFF8000000000000)
TF32 = Format(10, 8, 0x7FFFFFFF >> 13)
FORMATS = {"f16": F16, "bf16": BF16, "f32": F32, "f64": F64}


def signed(x: int, bits: int) -> int:
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def typed(x: int, kind: str) -> int:
    """The number that bits of an integer type stand for."""
    return signed(x, WIDTH[kind]) if kind[0] == "s" else x & ((1 << WIDTH[kind]) - 1)


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


RAW = st.binary(min_size=10 * LANES, max_size=10 * LANES)


def lanes(kind: str) -> st.SearchStrategy[Lanes | int]:
    if kind == "pred":
        return st.integers(0, FULL)
    edge = edges(kind)
    return RAW.map(lambda raw: [value_of(piece, kind, edge) for piece in pieces(raw)])


SHIFT = RAW.map(lambda raw: [shift_of(piece) for piece in pieces(raw)])
MASKS = st.one_of(st.just(FULL), st.integers(1, FULL), st.sampled_from([1, 1 << 31, 0xFFFF, 0x55555555]))


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


def check_lanes(c: Case, data: st.DataObject) -> None:
    sources = [(kind, data.draw(SHIFT if k in c.shifts else lanes(kind))) for k, kind in enumerate(c.sources)]
    mask = data.draw(MASKS)
    destinations = parts_of(c.to)
    before: list[Lanes | int] = [
        data.draw(lanes(kind))
        if kind == "pred"
        else [0xA5A5A5A5A5A5A5A5 & ((1 << max(16, WIDTH[kind])) - 1)] * 32
        for kind in destinations
    ]
    aliases = [
        k
        for k, kind in enumerate(c.sources)
        if kind != "pred" and c.to in WIDTH and WIDTH[kind] == WIDTH[c.to]
    ]
    alias = data.draw(st.sampled_from([-1, *aliases]))
    if alias >= 0:
        before = [list(sources[alias][1])]  # type: ignore[arg-type]
    constants = data.draw(st.integers(0, (1 << len(sources)) - 1)) if alias < 0 else 0
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


EXAMPLES = int(os.environ.get("ALU_EXAMPLES", "4"))
SETTINGS = settings(
    max_examples=EXAMPLES, deadline=None, database=None, phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)  # fmt: skip

# ---- Integers --------------------------------------------------------------------------------------------------

INTEGERS = ["u16", "u32", "u64", "s16", "s32", "s64"]


def wrap(f: Callable[..., int], to: str, *kinds: str) -> Callable[..., int]:
    """f over numbers, as bits."""
    return lambda *v: (
        f(*(typed(x, k) for x, k in zip(v, kinds, strict=True))) & ((1 << max(16, WIDTH[to])) - 1)
    )


def clamp(x: int, kind: str) -> int:
    bits = WIDTH[kind]
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if kind[0] == "s" else (0, (1 << bits) - 1)
    return max(low, min(high, x))


def truncated(a: int, b: int) -> int:
    """The quotient; by zero it is all ones, and so is the remainder, as an H200 has it."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else -1


def integer_cases() -> None:
    wider = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}
    for t in INTEGERS:
        n = WIDTH[t]

        def plain(op: str, f: Callable[..., int], count: int, t: str = t) -> None:
            case(op, t, " ".join([t] * count), wrap(f, t, *[t] * count))

        plain(f"add.{t}", lambda a, b: a + b, 2)
        plain(f"sub.{t}", lambda a, b: a - b, 2)
        plain(f"mul.lo.{t}", lambda a, b: a * b, 2)
        plain(f"mul.hi.{t}", lambda a, b, n=n: a * b >> n, 2)
        plain(f"mad.lo.{t}", lambda a, b, c: a * b + c, 3)
        plain(f"mad.hi.{t}", lambda a, b, c, n=n: (a * b >> n) + c, 3)
        plain(f"sad.{t}", lambda a, b, c: abs(a - b) + c, 3)
        plain(f"div.{t}", truncated, 2)
        plain(f"rem.{t}", lambda a, b: a - truncated(a, b) * b if b else -1, 2)
        plain(f"min.{t}", min, 2)
        plain(f"max.{t}", max, 2)
        if t in wider:
            w = wider[t]
            case(f"mul.wide.{t}", w, f"{t} {t}", wrap(lambda a, b: a * b, w, t, t))
            case(f"mad.wide.{t}", w, f"{t} {t} {w}", wrap(lambda a, b, c: a * b + c, w, t, t, w))
        if t[0] == "s":
            plain(f"abs.{t}", abs, 1)
            plain(f"neg.{t}", lambda a: -a, 1)
    for op, f in (("add", lambda a, b: a + b), ("sub", lambda a, b: a - b)):
        case(
            f"{op}.sat.s32",
            "s32",
            "s32 s32",
            wrap(lambda a, b, f=f: clamp(f(a, b), "s32"), "s32", "s32", "s32"),
        )
    high_sat = lambda a, b, c: clamp((a * b >> 32) + c, "s32")  # noqa: E731
    case("mad.hi.sat.s32", "s32", "s32 s32 s32", wrap(high_sat, "s32", "s32", "s32", "s32"))
    for t in ("u32", "s32"):
        low24 = (lambda x: signed(x, 24)) if t == "s32" else (lambda x: x & 0xFFFFFF)
        for part, down in (("lo", 0), ("hi", 16)):
            case(
                f"mul24.{part}.{t}",
                t,
                f"{t} {t}",
                wrap(lambda a, b, g=low24, d=down: g(a) * g(b) >> d, t, t, t),
            )
            case(f"mad24.{part}.{t}", t, f"{t} {t} {t}",
                 wrap(lambda a, b, c, g=low24, d=down: (g(a) * g(b) >> d) + c, t, t, t, t))  # fmt: skip
    high24 = lambda a, b, c: clamp(signed(signed(a, 24) * signed(b, 24) >> 16, 32) + c, "s32")  # noqa: E731
    case("mad24.hi.sat.s32", "s32", "s32 s32 s32", wrap(high24, "s32", "s32", "s32", "s32"))
    case("min.relu.s32", "s32", "s32 s32", wrap(lambda a, b: max(min(a, b), 0), "s32", "s32", "s32"))
    case("max.relu.s32", "s32", "s32 s32", wrap(lambda a, b: max(a, b, 0), "s32", "s32", "s32"))

    def packed(f: Callable[[int, int], int], t: str) -> Callable[[int, int], int]:
        def both(a: int, b: int) -> int:
            return sum((f(typed(a >> s, t), typed(b >> s, t)) & 0xFFFF) << s for s in (0, 16))

        return both

    for t in ("u16", "s16"):
        case(f"add.{t}x2", "b32", "b32 b32", packed(lambda a, b: a + b, t))
        case(f"min.{t}x2", "b32", "b32 b32", packed(min, t))
        case(f"max.{t}x2", "b32", "b32 b32", packed(max, t))
    case("min.relu.s16x2", "b32", "b32 b32", packed(lambda a, b: max(min(a, b), 0), "s16"))
    case("max.relu.s16x2", "b32", "b32 b32", packed(lambda a, b: max(a, b, 0), "s16"))
    for x, y in itertools.product(("u", "s"), repeat=2):

        def dot4(a: int, b: int, c: int, x: str = x, y: str = y) -> int:
            return (c + sum(typed(a >> s, f"{x}8") * typed(b >> s, f"{y}8") for s in (0, 8, 16, 24))) & FULL

        def dot2(a: int, b: int, c: int, x: str = x, y: str = y) -> int:
            return (c + sum(typed(a >> 16 * k, f"{x}16") * typed(b >> 8 * k, f"{y}8") for k in (0, 1))) & FULL

        case(f"dp4a.{x}32.{y}32", "b32", "b32 b32 b32", dot4)
        case(f"dp2a.lo.{x}32.{y}32", "b32", "b32 b32 b32", dot2)
        case(f"dp2a.hi.{x}32.{y}32", "b32", "b32 b32 b32", lambda a, b, c, f=dot2: f(a, b >> 16, c))


# ---- Bits ------------------------------------------------------------------------------------------------------


def bfind(x: int, t: str, shift: bool) -> int:
    n, v = WIDTH[t], typed(x, t)
    v = ~v if v < 0 else v
    return FULL if v == 0 else n - v.bit_length() if shift else v.bit_length() - 1


def bfe(a: int, b: int, c: int, t: str) -> int:
    """The loop of the ISA, but for 64-bit fields an H200 clamps positions and lengths that the ISA cuts to 8 bits."""
    msb = WIDTH[t] - 1
    pos, length = (b & 0xFF, c & 0xFF) if msb == 31 else (min(b, 255), min(c, 255))
    sbit = 0 if t[0] == "u" or length == 0 else a >> min(pos + length - 1, msb) & 1
    d = 0
    for i in range(msb + 1):
        d |= (a >> (pos + i) & 1 if i < length and pos + i <= msb else sbit) << i
    return d


def bfi(a: int, b: int, c: int, d: int, n: int) -> int:
    pos, length = (c & 0xFF, d & 0xFF) if n == 32 else (min(c, 255), min(d, 255))
    f = b
    for i in range(length):
        if pos + i < n:
            f = (f & ~(1 << (pos + i))) | (a >> i & 1) << (pos + i)
    return f


def bmsk(a: int, b: int, mode: str) -> int:
    a1, b1 = a & 0x1F, b & 0x1F
    total = a1 + b1
    mask0, mask1 = FULL << a1 & FULL, FULL << total & FULL
    wide = total >= 32
    if mode == "clamp" and a >= 32:
        wide, mask0 = True, 0
    if mode == "clamp" and b >= 32:
        wide = True
    return mask0 & ~(0 if wide else mask1) & FULL


def szext(a: int, b: int, t: str, mode: str) -> int:
    b1 = b & 0x1F
    too_large = b >= 32 and mode == "clamp"
    mask = 0 if too_large else FULL << b1 & FULL
    sign = not (b1 == 0 or too_large or t != "s32") and a >> (b1 - 1) & 1
    return (a & ~mask & FULL) | (mask if sign else 0)


def fns(bits: int, base: int, offset: int) -> int:
    offset = signed(offset, 32)
    if base > 31:
        return FULL
    if offset == 0:
        return base if bits >> base & 1 else FULL
    count, step, pos = abs(offset) - 1, 1 if offset > 0 else -1, base
    while 0 <= pos < 32:
        if bits >> pos & 1:
            if count == 0:
                return pos
            count -= 1
        pos += step
    return FULL


def prmt(a: int, b: int, selector: int) -> int:
    data = (a | b << 32).to_bytes(8, "little")
    out = bytearray()
    for k in range(4):
        nibble = selector >> 4 * k & 15
        byte = data[nibble & 7]
        out.append((0xFF if byte & 0x80 else 0) if nibble & 8 else byte)
    return int.from_bytes(out, "little")


PRMT_MODES = {  # bytes of the result, highest first, by the selector's low two bits (ISA, table of prmt modes)
    "f4e": ["3210", "4321", "5432", "6543"],
    "b4e": ["5670", "6701", "7012", "0123"],
    "rc8": ["0000", "1111", "2222", "3333"],
    "ecl": ["3210", "3211", "3222", "3333"],
    "ecr": ["0000", "1110", "2210", "3210"],
    "rc16": ["1010", "3232", "1010", "3232"],
}


def lop3(a: int, b: int, c: int, table: int) -> int:
    return sum((table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i for i in range(32))


def bit_cases() -> None:
    for n in (16, 32, 64):
        t, full = f"b{n}", (1 << n) - 1
        case(f"and.{t}", t, f"{t} {t}", lambda a, b: a & b)
        case(f"or.{t}", t, f"{t} {t}", lambda a, b: a | b)
        case(f"xor.{t}", t, f"{t} {t}", lambda a, b: a ^ b)
        case(f"not.{t}", t, t, lambda a, m=full: ~a & m)
        case(f"cnot.{t}", t, t, lambda a: int(a == 0))
        case(f"shl.{t}", t, f"{t} u32", lambda a, b, n=n, m=full: a << min(b, n) & m, shifts=(1,))
        for k in "bus":
            kind = f"{k}{n}"
            number_of = lambda a, kind=kind: typed(a, kind.replace("b", "u"))  # noqa: E731
            shift_right = lambda a, b, n=n, m=full, g=number_of: g(a) >> min(b, n) & m  # noqa: E731
            case(f"shr.{kind}", kind, f"{kind} u32", shift_right, shifts=(1,))
    case("and.pred", "pred", "pred pred", lambda a, b: a & b)
    case("or.pred", "pred", "pred pred", lambda a, b: a | b)
    case("xor.pred", "pred", "pred pred", lambda a, b: a ^ b)
    case("not.pred", "pred", "pred", lambda a: 1 - a)
    for side, mode in itertools.product("lr", ("wrap", "clamp")):

        def funnel(a: int, b: int, c: int, side: str = side, mode: str = mode) -> int:
            n = c & 31 if mode == "wrap" else min(c, 32)
            return ((b << 32 | a) << n >> 32 if side == "l" else (b << 32 | a) >> n) & FULL

        case(f"shf.{side}.{mode}.b32", "b32", "b32 b32 u32", funnel, shifts=(2,))
    for n in (32, 64):
        t = f"b{n}"
        case(f"popc.{t}", "u32", t, lambda a: a.bit_count())
        case(f"clz.{t}", "u32", t, lambda a, n=n: n - a.bit_length())
        case(f"brev.{t}", t, t, lambda a, n=n: int(f"{a:0{n}b}"[::-1], 2))
        case(f"bfi.{t}", t, f"{t} {t} u32 u32", lambda a, b, c, d, n=n: bfi(a, b, c, d, n), shifts=(2, 3))
        for s in "us":
            k = f"{s}{n}"
            case(f"bfind.{k}", "u32", k, lambda a, k=k: bfind(a, k, False))
            case(f"bfind.shiftamt.{k}", "u32", k, lambda a, k=k: bfind(a, k, True))
            case(f"bfe.{k}", k, f"{k} u32 u32", lambda a, b, c, k=k: bfe(a, b, c, k), shifts=(1, 2))
    for mode in ("wrap", "clamp"):
        case(f"bmsk.{mode}.b32", "b32", "b32 b32", lambda a, b, m=mode: bmsk(a, b, m), shifts=(0, 1))
        for t in ("u32", "s32"):
            case(f"szext.{mode}.{t}", t, f"{t} u32", lambda a, b, t=t, m=mode: szext(a, b, t, m), shifts=(1,))
    case("fns.b32", "b32", "b32 b32 s32", fns, shifts=(1, 2))
    case("fns.b32", "b32", "b32 b32 s32", fns, shifts=(1,))
    case("prmt.b32", "b32", "b32 b32 b32", prmt)
    for mode, rows in PRMT_MODES.items():
        case(
            f"prmt.b32.{mode}",
            "b32",
            "b32 b32 b32",
            lambda a, b, c, r=rows: prmt(a, b, int(r[c & 3], 16)),
            shifts=(2,),
        )


# ---- Moves and selections --------------------------------------------------------------------------------------

PLAIN = ["b16", "u16", "s16", "b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"]


def move_cases() -> None:
    for t in PLAIN:
        case(f"mov.{t}", t, t, lambda a: a)
        case(f"selp.{t}", t, f"{t} {t} pred", lambda a, b, p: a if p else b)
        case(f"slct.{t}.s32", t, f"{t} {t} s32", lambda a, b, c: a if signed(c, 32) >= 0 else b)
        not_below = lambda c: not F32.is_nan(c) and not (F32.negative(c) and c & 0x7FFFFFFF)  # noqa: E731
        case(f"slct.{t}.f32", t, f"{t} {t} f32", lambda a, b, c, g=not_below: a if g(c) else b)
        case(f"slct.ftz.{t}.f32", t, f"{t} {t} f32", lambda a, b, c, g=not_below: a if g(F32.flush(c)) else b)
    case("mov.pred", "pred", "pred", lambda a: a)
    case("mapa.shared::cluster.u32", "u32", "u32 u32", lambda a, _: a)
    case("mapa.u64", "u64", "u64 u32", lambda a, _: a)


VECTORS = [("b16", "b8", 2), ("b32", "b16", 2), ("b32", "b8", 4), ("b64", "b32", 2), ("b64", "b16", 4)]


@pytest.mark.parametrize(("whole", "part", "count"), VECTORS)
@given(data=st.data())
@SETTINGS
def test_mov_of_vectors(whole: str, part: str, count: int, data: st.DataObject) -> None:
    bits, mask = WIDTH[part], data.draw(MASKS)
    vector = "{" + ",".join([part] * count) + "}"
    value = data.draw(lanes(whole))
    old = [[0x5A5A5A5A & ((1 << max(16, bits)) - 1)] * 32 for _ in range(count)]
    got, _, _ = execute(f"mov.{whole}", vector, [(whole, value)], before=old, mask=mask)
    want = [
        [(value[i] >> bits * k & ((1 << bits) - 1)) if mask >> i & 1 else old[k][i] for i in range(32)]
        for k in range(count)
    ]
    assert got == want
    sunk = "{" + ",".join(["_", *[part] * (count - 1)]) + "}"
    assert execute(f"mov.{whole}", sunk, [(whole, value)], before=[0, *old[1:]], mask=mask)[0][1:] == want[1:]
    elements = [data.draw(lanes(part)) for _ in range(count)]
    (packed,), _, _ = execute(f"mov.{whole}", whole, [(vector, elements)], before=[[0] * 32], mask=mask)
    joined = [sum((e[i] & ((1 << bits) - 1)) << bits * k for k, e in enumerate(elements)) for i in range(32)]
    assert packed == [joined[i] if mask >> i & 1 else 0 for i in range(32)]


@pytest.mark.parametrize("table", [0x00, 0x96, 0xE8, 0xCA, 0x80, 0xFE, 0xFF, 0x01])
@given(data=st.data())
@SETTINGS
def test_lop3(table: int, data: st.DataObject) -> None:
    values = [data.draw(lanes("b32")) for _ in range(3)]
    mask, q, p = data.draw(MASKS), data.draw(lanes("pred")), data.draw(lanes("pred"))
    old = [7] * 32
    want = [lop3(*(v[i] for v in values), table) for i in range(32)]
    kept = [want[i] if mask >> i & 1 else 7 for i in range(32)]
    sources = [("b32", v) for v in values]
    got, _, _ = execute("lop3.b32", "b32", sources, before=[old], mask=mask, literals=(table,))
    assert got == [kept]
    nonzero = sum((w != 0) << i for i, w in enumerate(want))
    for word, combined in (("and", nonzero & q), ("or", nonzero | q)):
        operands = [*sources, ("b32", [table] * 32), ("pred", q)]
        got, _, _ = execute(f"lop3.{word}.b32", "b32|pred", operands, before=[old, p], mask=mask)
        assert got == [kept, (combined & mask) | (p & ~mask & FULL)]


# ---- Comparisons -----------------------------------------------------------------------------------------------

COMPARISONS = {
    "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
}  # fmt: skip
UNSIGNED_NAMES = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
COMBINES = {
    "": lambda t, c: t,
    ".and": lambda t, c: t & c,
    ".or": lambda t, c: t | c,
    ".xor": lambda t, c: t ^ c,
}


def float_order(b: int, f: Format) -> Fraction | int:
    """A number that orders as the float does, infinities included."""
    if f.is_infinite(b):
        return (-1 if f.negative(b) else 1) << 1100
    return f.value(b)


def float_comparison(name: str, f: Format, ftz: bool) -> Callable[[int, int], int]:
    def compare(a: int, b: int) -> int:
        if ftz:
            a, b = f.flush(a), f.flush(b)
        unordered = f.is_nan(a) or f.is_nan(b)
        if name in ("num", "nan"):
            return int(unordered == (name == "nan"))
        if unordered:
            return int(len(name) == 3)
        return int(COMPARISONS[name[:2]](float_order(a, f), float_order(b, f)))

    return compare


FLOAT_OPERATORS = [*COMPARISONS, *(f"{c}u" for c in COMPARISONS), "num", "nan"]


def comparison_forms() -> Iterator[tuple[str, str, Callable[[int, int], int]]]:
    """Dotted operator with .ftz, type, and the comparison of two lanes."""
    for t in ("b16", "b32", "b64"):
        for name in ("eq", "ne"):
            yield name, t, (lambda a, b, g=COMPARISONS[name]: int(g(a, b)))
    for t in INTEGERS:
        names = {**{n: n for n in COMPARISONS}, **(UNSIGNED_NAMES if t[0] == "u" else {})}
        for name, plain in names.items():
            yield name, t, (lambda a, b, t=t, g=COMPARISONS[plain]: int(g(typed(a, t), typed(b, t))))
    for t in ("f32", "f64", "f16", "bf16"):
        for name in FLOAT_OPERATORS:
            yield name, t, float_comparison(name, FORMATS[t], False)
            if t in ("f32", "f16"):
                yield f"{name}.ftz", t, float_comparison(name, FORMATS[t], True)


def with_combine(name: str, combine: str) -> str:
    """lt.ftz and .and make lt.and.ftz."""
    first, _, rest = name.partition(".")
    return first + combine + (f".{rest}" if rest else "")


def comparison_cases() -> None:
    true_of = {
        "u32": FULL,
        "s32": FULL,
        "f32": 0x3F800000,
        "u16": 0xFFFF,
        "s16": 0xFFFF,
        "f16": 0x3C00,
        "bf16": 0x3F80,
    }
    for (name, t, compare), (combine, g) in itertools.product(comparison_forms(), COMBINES.items()):
        dotted, extra = with_combine(name, combine), " pred" if combine else ""
        case(f"setp.{dotted}.{t}", "pred", f"{t} {t}{extra}",
             lambda a, b, c=0, f=compare, g=g: g(f(a, b), c))  # fmt: skip
        case(f"setp.{dotted}.{t}", "pred|pred", f"{t} {t}{extra}",
             lambda a, b, c=0, f=compare, g=g: (g(f(a, b), c), g(1 - f(a, b), c)))  # fmt: skip
        for d, true in true_of.items():
            if WIDTH[d] == 16 and (t not in ("f16", "bf16") or d not in (t, "u16", "s16")):
                continue
            case(f"set.{dotted}.{d}.{t}", d, f"{t} {t}{extra}",
                 lambda a, b, c=0, f=compare, g=g, true=true: true if g(f(a, b), c) else 0)  # fmt: skip
    for t, ftz in (("f16", False), ("f16", True), ("bf16", False)):
        for name, (combine, g) in itertools.product(FLOAT_OPERATORS, COMBINES.items()):
            f = float_comparison(name, FORMATS[t], ftz)
            both = lambda a, b, c=0, f=f, g=g: (g(f(a & 0xFFFF, b & 0xFFFF), c), g(f(a >> 16, b >> 16), c))  # noqa: E731
            dotted, extra = with_combine(name + (".ftz" if ftz else ""), combine), " pred" if combine else ""
            case(f"setp.{dotted}.{t}x2", "pred|pred", f"{t}x2 {t}x2{extra}", both)
            for d, true in ((f"{t}x2", true_of[t]), ("u32", 0xFFFF)):
                case(f"set.{dotted}.{d}.{t}x2", d, f"{t}x2 {t}x2{extra}",
                     lambda *v, h=both, true=true: sum(true << 16 * k for k, x in enumerate(h(*v)) if x))  # fmt: skip


# ---- Floating point --------------------------------------------------------------------------------------------

Exact = Callable[..., Fraction | int | str]


def nan_of(f: Format, *operands: int) -> int | None:
    """What a NaN among the operands, in order of preference, makes of the result; None when there is none.

    Only a double's NaN keeps its payload. The order is an H200's: b, c, a (div: a, b).
    """
    for x in operands:
        if f.is_nan(x):
            return x | 1 << (f.fraction - 1) if f is F64 else f.nan
    return None


def exact_add(f: Format, a: int, b: int, mode: str) -> Fraction | int:
    """A Fraction to be rounded, or bits that are final."""
    if (nan := nan_of(f, b, a)) is not None:
        return nan
    if f.is_infinite(a) and f.is_infinite(b) and a != b:
        return f.nan
    if f.is_infinite(a) or f.is_infinite(b):
        return a if f.is_infinite(a) else b
    total = f.value(a) + f.value(b)
    if total == 0:
        both_negative = f.negative(a) and f.negative(b)
        both_positive = not f.negative(a) and not f.negative(b)
        return f.sign if both_negative or (mode == "rm" and not both_positive) else 0
    return total


def exact_mul(f: Format, a: int, b: int) -> Fraction | int:
    sign = (a ^ b) & f.sign
    zero = (a & ~f.sign) == 0 or (b & ~f.sign) == 0
    infinite = f.is_infinite(a) or f.is_infinite(b)
    if (nan := nan_of(f, b, a)) is not None:
        return nan
    if zero and infinite:
        return f.nan
    if infinite:
        return sign | f.infinity
    return sign if zero else f.value(a) * f.value(b)


def exact_fma(f: Format, a: int, b: int, c: int, mode: str) -> Fraction | int:
    if (nan := nan_of(f, b, c, a)) is not None:
        return nan
    product = exact_mul(f, a, b)
    if isinstance(product, int):  # NaN, infinity or zero
        return f.nan if f.is_nan(product) else exact_add(f, product, c, mode)
    if f.is_infinite(c):
        return c
    total = product + f.value(c)
    if total == 0:
        return f.sign if mode == "rm" else 0
    return total


def exact_div(f: Format, a: int, b: int) -> Fraction | int:
    sign = (a ^ b) & f.sign
    if (nan := nan_of(f, a, b)) is not None:
        return nan
    a_zero, b_zero = (a & ~f.sign) == 0, (b & ~f.sign) == 0
    if (a_zero and b_zero) or (f.is_infinite(a) and f.is_infinite(b)):
        return f.nan
    if f.is_infinite(a) or b_zero:
        return sign | f.infinity
    if f.is_infinite(b) or a_zero:
        return sign
    return f.value(a) / f.value(b)


def exact_sqrt(f: Format, a: int) -> Fraction | int:
    if (nan := nan_of(f, a)) is not None:
        return nan
    if f.negative(a) and a & ~f.sign:
        return f.nan
    if f.is_infinite(a) or (a & ~f.sign) == 0:
        return a
    x = f.value(a)
    # The root to 2^-400, and below that a sticky bit: all that rounding can tell.
    scaled = x * (1 << 1600)
    root = math.isqrt(int(scaled))
    exact = root * root == scaled
    return Fraction(2 * root + (not exact), 1 << 801)


def finish(
    f: Format, x: Fraction | int, mode: str, ftz: bool, sat: bool, relu: bool = False, unbounded: bool = True
) -> int:
    bits = x if isinstance(x, int) else f.round(x, mode)
    if f.is_nan(bits):
        return 0 if sat else bits
    if ftz:
        if unbounded and isinstance(x, Fraction) and (bits & ~f.sign) == 1 << f.fraction:
            # An H200 asks whether the result is subnormal by rounding it as if exponents had no lower bound.
            same = f.round(x * 2 ** (f.bias // 2), mode)
            bits = (
                bits & f.sign if abs(f.value(same)) < f.value(1 << f.fraction) * 2 ** (f.bias // 2) else bits
            )
        bits = f.flush(bits)
    one = f.bias << f.fraction
    if sat:
        bits = 0 if f.negative(bits) else min(bits, one)
    if relu and f.negative(bits):
        bits = 0
    return bits


def arithmetic(op: str, f: Format, mode: str, ftz: bool, sat: bool, relu: bool = False) -> Callable[..., int]:
    def reference(*values: int) -> int:
        v = [f.flush(x) for x in values] if ftz else list(values)
        one = f.bias << f.fraction
        exact = {
            "add": lambda: exact_add(f, v[0], v[1], mode),
            "sub": lambda: exact_add(f, v[0], v[1] if f.is_nan(v[1]) else v[1] ^ f.sign, mode),
            "mul": lambda: exact_mul(f, v[0], v[1]),
            "fma": lambda: exact_fma(f, v[0], v[1], v[2], mode),
            "mad": lambda: exact_fma(f, v[0], v[1], v[2], mode),
            "div": lambda: exact_div(f, v[0], v[1]),
            "rcp": lambda: exact_div(f, one, v[0]),
            "sqrt": lambda: exact_sqrt(f, v[0]),
        }[op]()
        return finish(f, exact, mode, ftz, sat, relu, unbounded=ARITY[op] > 1 and op != "div")

    return reference


def packed_halves(g: Callable[..., int]) -> Callable[..., int]:
    return lambda *v: g(*(x & 0xFFFF for x in v)) | g(*(x >> 16 for x in v)) << 16


def same_f64(have: int, want: int) -> bool:
    """A double's NaN carries a payload of its operands."""
    return have == want or (F64.is_nan(have) and F64.is_nan(want))


ARITY = {"add": 2, "sub": 2, "mul": 2, "fma": 3, "mad": 3, "div": 2, "rcp": 1, "sqrt": 1}
FLOPS = {"add": 1, "sub": 1, "mul": 1, "fma": 2, "mad": 2, "div": 1, "rcp": 1, "sqrt": 1}


def float_cases() -> None:
    for op, mode in itertools.product(ARITY, ("", "rn", "rz", "rm", "rp")):
        if mode == "" and op not in ("add", "sub", "mul"):
            continue
        n, dotted = ARITY[op], f"{op}.{mode}" if mode else op
        for ftz, sat in itertools.product((False, True), repeat=2):
            if sat and op in ("div", "rcp", "sqrt"):
                continue
            words = dotted + ".ftz" * ftz + ".sat" * sat
            case(
                f"{words}.f32",
                "f32",
                " ".join(["f32"] * n),
                arithmetic(op, F32, mode or "rn", ftz, sat),
                float_ops=FLOPS[op],
            )
        case(f"{dotted}.f64", "f64", " ".join(["f64"] * n), arithmetic(op, F64, mode or "rn", False, False),
             float_ops=FLOPS[op])  # fmt: skip
    for t in ("f32", "f64"):
        f = FORMATS[t]
        for ftz in (False, True) if t == "f32" else (False,):
            g = f.flush if ftz else (lambda x: x)
            w = ".ftz" * ftz
            case(f"abs{w}.{t}", t, t, lambda a, g=g, f=f: nan_of(f, a) or g(a) & ~f.sign)
            case(f"neg{w}.{t}", t, t, lambda a, g=g, f=f: nan_of(f, a) or g(a) ^ f.sign)
        case(f"copysign.{t}", t, f"{t} {t}", lambda a, b, f=f: (a & f.sign) | (b & ~f.sign))
        tests = {
            "finite": lambda a, f=f: not f.is_nan(a) and not f.is_infinite(a),
            "infinite": lambda a, f=f: f.is_infinite(a),
            "number": lambda a, f=f: not f.is_nan(a),
            "notanumber": lambda a, f=f: f.is_nan(a),
            "normal": lambda a, f=f: not f.is_nan(a) and not f.is_infinite(a) and not f.is_subnormal(a),
            "subnormal": lambda a, f=f: f.is_subnormal(a),
        }
        for name, test in tests.items():
            case(f"testp.{name}.{t}", "pred", t, lambda a, test=test: int(test(a)))


def extreme(op: str, f: Format, ftz: bool, nan: bool, product_sign: bool) -> Callable[[int, int], int]:
    def reference(a: int, b: int) -> int:
        if ftz:
            a, b = f.flush(a), f.flush(b)
        sign = (a ^ b) & f.sign
        if product_sign:
            a, b = a & ~f.sign, b & ~f.sign
        a_nan, b_nan = f.is_nan(a), f.is_nan(b)
        if (a_nan and b_nan) or (nan and (a_nan or b_nan)):
            return nan_of(f, b) if f is F64 else f.nan
        if a_nan or b_nan:
            r = b if a_nan else a
        else:
            key = lambda x: (float_order(x, f), not f.negative(x))  # noqa: E731
            r = (min if op == "min" else max)(a, b, key=key)
        return r | sign if product_sign else r

    return reference


def extreme_cases() -> None:
    for op, t in itertools.product(("min", "max"), ("f16", "bf16", "f32", "f64")):
        for ftz, nan, xor in itertools.product((False, True), repeat=3):
            if (t == "f64" and (ftz or nan or xor)) or (t == "bf16" and ftz):
                continue
            words = op + ".ftz" * ftz + ".NaN" * nan + ".xorsign.abs" * xor
            g = extreme(op, FORMATS[t], ftz, nan, xor)
            case(f"{words}.{t}", t, f"{t} {t}", g)
            if WIDTH[t] == 16:
                case(f"{words}.{t}x2", f"{t}x2", f"{t}x2 {t}x2", packed_halves(g))


def half_cases() -> None:
    for op, rn in itertools.product(("add", "sub", "mul", "fma"), ("", ".rn")):
        if op == "fma" and not rn:
            continue
        n = ARITY[op]
        for t, ftz, sat, relu in itertools.product(
            ("f16", "bf16"), (False, True), (False, True), (False, True)
        ):
            if (t == "bf16" and (ftz or sat)) or (relu and (sat or op != "fma")):
                continue
            words = op + rn + ".ftz" * ftz + ".sat" * sat + ".relu" * relu
            g = arithmetic(op, FORMATS[t], "rn", ftz, sat, relu)
            case(f"{words}.{t}", t, " ".join([t] * n), g, float_ops=FLOPS[op])
            case(
                f"{words}.{t}x2",
                f"{t}x2",
                " ".join([f"{t}x2"] * n),
                packed_halves(g),
                float_ops=2 * FLOPS[op],
            )
    for t in ("f16", "bf16"):
        f = FORMATS[t]
        for ftz in (False, True) if t == "f16" else (False,):
            w = ".ftz" * ftz
            g = f.flush if ftz else (lambda x: x)
            for op, h in (("abs", lambda x, g=g, f=f: nan_of(f, x) or g(x) & 0x7FFF),
                          ("neg", lambda x, g=g, f=f: nan_of(f, x) or g(x) ^ 0x8000)):  # fmt: skip
                case(f"{op}{w}.{t}", t, t, h)
                case(f"{op}{w}.{t}x2", f"{t}x2", f"{t}x2", packed_halves(h))


# ---- Approximations: within the ISA's error, and the values that it fixes ---------------------------------------


def number(b: int, f: Format) -> float:
    if f.is_nan(b):
        return math.nan
    if f.is_infinite(b):
        return -math.inf if f.negative(b) else math.inf
    return -0.0 if b == f.sign else float(f.value(b))


def close(f: Format, relative: float, absolute: float = 0.0) -> Callable[[int, int], bool]:
    def same(have: int, want: int) -> bool:
        if have == want:
            return True
        if f.is_nan(have) or f.is_nan(want) or f.is_infinite(have) or f.is_infinite(want):
            return False
        h, w = f.value(have), f.value(want)
        if f.negative(have) != f.negative(want) and h != 0 and w != 0:
            return False
        return abs(h - w) <= max(abs(w) * Fraction(relative), Fraction(absolute))

    return same


def via_double(g: Callable[[float], float], f: Format, ftz: bool) -> Callable[[int], int]:
    """g in double precision, rounded to f."""

    def reference(a: int) -> int:
        x = number(f.flush(a) if ftz else a, f)
        try:
            y = g(x)
        except (ValueError, ZeroDivisionError):
            return f.nan
        except OverflowError:
            return f.infinity
        if math.isnan(y):
            return f.nan
        if math.isinf(y):
            return f.infinity | (f.sign if y < 0 else 0)
        bits = f.round(Fraction(y), "rn", math.copysign(1.0, y) < 0)
        return f.flush(bits) if ftz else bits

    return reference


def log2(x: float) -> float:
    return -math.inf if x == 0 else math.log2(x)


def exp2(x: float) -> float:
    return 0.0 if x < -2000 else 2.0**x


def rsqrt(x: float) -> float:
    return math.copysign(math.inf, x) if x == 0 else 0.0 if x == math.inf else 1 / math.sqrt(x)


def approx_cases() -> None:
    u = 2.0**-23
    for ftz in (False, True):
        w = ".ftz" * ftz
        for op, g, relative, absolute in (
            ("sin", math.sin, u, 0.0), ("cos", math.cos, u, 0.0), ("lg2", log2, u, 0.0),
            ("ex2", lambda x: exp2(x), u, 2.0**-149), ("rsqrt", rsqrt, u, 0.0),
        ):  # fmt: skip
            case(
                f"{op}.approx{w}.f32",
                "f32",
                "f32",
                via_double(g, F32, ftz),
                same=close(F32, relative, absolute),
            )
        case(f"rcp.approx{w}.f32", "f32", "f32", arithmetic("rcp", F32, "rn", ftz, False))
        case(f"sqrt.approx{w}.f32", "f32", "f32", arithmetic("sqrt", F32, "rn", ftz, False))
        case(f"div.full{w}.f32", "f32", "f32 f32", arithmetic("div", F32, "rn", ftz, False))
        plain = arithmetic("div", F32, "rn", ftz, False)

        def divided(a: int, b: int, ftz: bool = ftz, plain: Callable[..., int] = plain) -> int:
            if not F32.is_nan(b) and (b & 0x7FFFFFFF) > 0x7E800000:
                return arithmetic("mul", F32, "rn", ftz, False)(a, b & F32.sign)
            return plain(a, b)

        case(f"div.approx{w}.f32", "f32", "f32 f32", divided)
    case("tanh.approx.f32", "f32", "f32", via_double(math.tanh, F32, False), same=close(F32, u))
    case(
        "rsqrt.approx.f64",
        "f64",
        "f64",
        via_double(rsqrt, F64, False),
        same=lambda h, w: same_f64(h, w) or close(F64, 2.0**-51)(h, w),
    )
    for op, g in (("rcp", lambda x: 1 / x if x else math.copysign(math.inf, x)), ("rsqrt", rsqrt)):

        def upper(a: int, g: Callable[[float], float] = g) -> int:
            bits = via_double(g, F64, True)(F64.flush(a) & ~0xFFFFFFFF)
            return 0x7FFFFFFF00000000 if F64.is_nan(bits) else bits & ~0xFFFFFFFF

        case(
            f"{op}.approx.ftz.f64",
            "f64",
            "f64",
            upper,
            same=lambda h, w: same_f64(h, w) or close(F64, 2.0**-20)(h, w),
        )
    for t in ("f16", "bf16"):
        f = FORMATS[t]
        half = close(f, 2.0**-f.fraction, 0.0 if t == "bf16" else 2.0**-24)
        pair = lambda h, w, same=half: same(h & 0xFFFF, w & 0xFFFF) and same(h >> 16, w >> 16)  # noqa: E731
        for op, g in (("tanh", math.tanh), ("ex2", lambda x: exp2(x))):
            ftz = t == "bf16" and op == "ex2"
            words = f"{op}.approx" + ".ftz" * ftz
            h = via_double(g, f, ftz)
            case(f"{words}.{t}", t, t, h, same=half)
            case(f"{words}.{t}x2", f"{t}x2", f"{t}x2", packed_halves(h), same=pair)


# ---- Conversions -----------------------------------------------------------------------------------------------

ALL_INTEGERS = ["u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64"]


def holders(t: str) -> list[str]:
    """Registers that may hold an integer type in a cvt."""
    return {8: ["b8", "b16", "b32", "b64"], 16: ["b16", "b32", "b64"], 32: ["b32", "b64"], 64: ["b64"]}[
        WIDTH[t]
    ]


def held(x: int, holder: str) -> int:
    return x & ((1 << max(16, WIDTH[holder])) - 1)


def integral(x: Fraction, mode: str) -> int:
    return {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}[mode](x)


def float_to_integer(f: Format, t: str, mode: str, ftz: bool, holder: str) -> Callable[[int], int]:
    def reference(a: int) -> int:
        a = f.flush(a) if ftz else a
        if f.is_nan(a):
            n = WIDTH[t]
            return held(typed(1 << (n - 1), t) if f is F64 or n == 64 else 0, holder)
        x = (-1 if f.negative(a) else 1) << 2000 if f.is_infinite(a) else integral(f.value(a), mode)
        return held(clamp(x, t), holder)

    return reference


def nan_conversion(src: Format, dst: Format, a: int, ftz: bool, moved: bool) -> int:
    """A NaN between formats, as an H200 has it: from or to a double with its payload, else canonical."""
    if moved:
        return a << 16 if src is BF16 else a
    if F64 not in (src, dst) or (src is F64 and dst is F64):
        return nan_of(F64, a) if dst is F64 else dst.nan
    if ftz and src is F32:
        a = F32.nan
    down = src.fraction - dst.fraction
    payload = a & ((1 << src.fraction) - 1)
    payload = payload >> down if down > 0 else payload << -down
    return (dst.sign if src.negative(a) else 0) | dst.infinity | 1 << (dst.fraction - 1) | payload


def float_to_float(
    src: Format, dst: Format, mode: str, ftz: bool, sat: bool, relu: bool, finite: bool
) -> Callable[[int], int]:
    def reference(a: int) -> int:
        if ftz and src is F32 and dst is not F16:
            a = F32.flush(a)
        sign = dst.sign if src.negative(a) else 0
        if src.is_nan(a):
            moved = not (mode or ftz or sat) and (src, dst) in ((F32, F32), (F64, F64), (BF16, F32))
            have = nan_conversion(src, dst, a, ftz, moved)
            return 0 if sat else have
        if src.is_infinite(a):
            bits = sign | dst.infinity
        elif mode.endswith("i"):
            whole = integral(src.value(a), mode)
            bits = sign if whole == 0 else dst.round(Fraction(whole))
        elif src.value(a) != 0 and ftz and dst is F32:
            return finish(dst, src.value(a), mode or "rn", ftz, sat, relu)
        else:
            bits = dst.round(src.value(a), mode or "rn", bool(sign))
        if finite and dst.is_infinite(bits):
            bits -= 1
        return finish(dst, bits, "rn", ftz and dst is F32, sat, relu)

    return reference


def conversion_cases() -> None:
    for a, d in itertools.product(ALL_INTEGERS, repeat=2):
        for ah, dh in itertools.product(holders(a), holders(d)):
            f = lambda x, a=a, d=d, dh=dh: held(typed(typed(x, a), d), dh)  # noqa: E731
            g = lambda x, a=a, d=d, dh=dh: held(clamp(typed(x, a), d), dh)  # noqa: E731
            case(f"cvt.{d}.{a}", dh, ah, f)
            case(f"cvt.sat.{d}.{a}", dh, ah, g)
    for t, (name, f) in itertools.product(ALL_INTEGERS, FORMATS.items()):
        for holder in holders(t):
            for mode in ("rn", "rz", "rm", "rp"):
                case(
                    f"cvt.{mode}.{name}.{t}",
                    name,
                    holder,
                    lambda x, t=t, f=f, m=mode: f.round(Fraction(typed(x, t)), m),
                )
            one = f.bias << f.fraction
            case(
                f"cvt.rn.sat.{name}.{t}", name, holder, lambda x, t=t, one=one: one if typed(x, t) > 0 else 0
            )
            for mode in ("rni", "rzi", "rmi", "rpi"):
                case(f"cvt.{mode}.{t}.{name}", holder, name, float_to_integer(f, t, mode, False, holder))
                if name == "f32":
                    case(f"cvt.{mode}.ftz.{t}.f32", holder, "f32", float_to_integer(f, t, mode, True, holder))
    for (a, fa), (d, fd) in itertools.product(FORMATS.items(), repeat=2):
        widening = (a, d) in (
            ("f32", "f64"),
            ("f16", "f64"),
            ("bf16", "f64"),
            ("f16", "f32"),
            ("bf16", "f32"),
        )
        modes = ["", "rni", "rzi", "rmi", "rpi"] if a == d else [""] if widening else ["rn", "rz", "rm", "rp"]
        for mode, ftz, sat, relu, finite in itertools.product(modes, *[(False, True)] * 4):
            if (ftz and "f32" not in (a, d)) or (sat and (relu or finite)):
                continue
            if (relu or finite) and (
                d not in ("f16", "bf16") or a != "f32" or mode not in ("rn", "rz") or ftz
            ):
                continue
            if sat and d == "bf16":
                continue
            words = (
                "cvt"
                + f".{mode}" * bool(mode)
                + ".ftz" * ftz
                + ".relu" * relu
                + ".satfinite" * finite
                + ".sat" * sat
            )
            # bf16's subnormals are f32's
            g = float_to_float(fa, fd, mode, ftz, sat, relu, finite)
            case(f"{words}.{d}.{a}", d, a, g)
    for name in ("f16", "bf16"):
        f = FORMATS[name]
        for mode, relu, finite in itertools.product(("rn", "rz"), (False, True), (False, True)):
            g = float_to_float(F32, f, mode, False, False, relu, finite)
            words = f"cvt.{mode}" + ".relu" * relu + ".satfinite" * finite
            case(f"{words}.{name}x2.f32", f"{name}x2", "f32 f32", lambda a, b, g=g: g(a) << 16 | g(b))
    for mode, relu, finite in itertools.product(("rna", "rn", "rz"), (False, True), (False, True)):
        if mode == "rna" and relu:
            continue
        g = float_to_float(F32, TF32, mode, False, False, relu, finite)
        words = f"cvt.{mode}" + ".relu" * relu + ".satfinite" * finite
        case(f"{words}.tf32.f32", "b32", "f32",
             lambda a, g=g, m=mode, finite=finite: tf32_nan(a, m, finite) if F32.is_nan(a) else g(a) << 13)  # fmt: skip
    for t in ("u16", "s16", "u8", "s8"):
        n, third = WIDTH[t], WIDTH[t] == 8

        def packed(a: int, b: int, c: int = 0, t: str = t, n: int = n) -> int:
            low = (clamp(signed(a, 32), t) % (1 << n)) << n | clamp(signed(b, 32), t) % (1 << n)
            return (c << 2 * n | low) & FULL

        case(f"cvt.pack.sat.{t}.s32" + ".b32" * third, "b32", "s32 s32" + " b32" * third, packed)
    eight_bit_cases()


def tf32_nan(a: int, mode: str, finite: bool) -> int:
    """As an H200 has it: .rna cuts a NaN off like a number, and .satfinite takes the place below."""
    return (a & ~0x1FFF) - (0x2000 if finite else 0) if mode == "rna" else 0x7FFFE000


def eight_bit_values(name: str) -> list[Fraction]:
    """The finite values of the 127 or so non-negative codes, in order."""
    fraction, bias = (3, 7) if name == "e4m3" else (2, 15)
    values = []
    for code in range(0x7F if name == "e4m3" else 0x7C):
        field, m = code >> fraction, code & ((1 << fraction) - 1)
        m += (1 << fraction) if field else 0
        values.append(Fraction(m) * Fraction(2) ** (max(field, 1) - bias - fraction))
    return values


def eight_bit_cases() -> None:
    for name in ("e4m3", "e5m2"):
        values = eight_bit_values(name)

        def encode(b: int, f: Format, relu: bool, values: list[Fraction] = values) -> int:
            if f.is_nan(b):
                return 0x7F
            sign = 0x80 if f.negative(b) else 0
            if relu and sign:
                return 0
            x = values[-1] if f.is_infinite(b) else min(abs(f.value(b)), values[-1])
            best = min(range(len(values)), key=lambda i: (abs(values[i] - x), i & 1))
            return sign | best

        def decode(c: int, relu: bool, values: list[Fraction] = values, name: str = name) -> int:
            sign, c = c & 0x80, c & 0x7F
            if c >= len(values):
                nan = name == "e4m3" or c > 0x7C
                return 0x7FFF if nan else (0 if relu and sign else 0x7C00 | sign << 8)
            return 0 if relu and sign else F16.round(values[c]) | sign << 8

        for relu in (False, True):
            w = ".relu" * relu
            case(f"cvt.rn.satfinite{w}.{name}x2.f32", "b16", "f32 f32",
                 lambda a, b, e=encode, r=relu: e(a, F32, r) << 8 | e(b, F32, r))  # fmt: skip
            case(f"cvt.rn.satfinite{w}.{name}x2.f16x2", "b16", "f16x2",
                 lambda a, e=encode, r=relu: e(a >> 16, F16, r) << 8 | e(a & 0xFFFF, F16, r))  # fmt: skip
            case(f"cvt.rn{w}.f16x2.{name}x2", "f16x2", "b16",
                 lambda a, d=decode, r=relu: d(a >> 8, r) << 16 | d(a & 0xFF, r))  # fmt: skip


for build in (integer_cases, bit_cases, move_cases, comparison_cases, float_cases, extreme_cases, half_cases,
              approx_cases, conversion_cases):  # fmt: skip
    build()


def groups() -> dict[str, list[Case]]:
    """The cases by opcode and type, so that a test has a name and not too little to do."""
    by: dict[str, list[Case]] = {}
    for c in CASES:
        opcode, _, _ = c.op.partition(".")
        by.setdefault(
            f"{opcode} {c.to} {c.sources[0]}" if opcode in ("cvt", "set", "setp") else opcode, []
        ).append(c)
    return by


GROUPS = groups()


@pytest.mark.parametrize("name", GROUPS)
def test_instruction(name: str) -> None:
    for number_, c in enumerate(GROUPS[name]):

        @seed(number_)
        @given(data=st.data())
        @SETTINGS
        def check(c: Case, data: st.DataObject) -> None:
            check_lanes(c, data)

        check(c)


# ---- Carries ---------------------------------------------------------------------------------------------------


def carry_forms() -> Iterator[tuple[str, str, int, bool, bool, Callable[[list[int], int], int]]]:
    """Opcode, type, sources, takes, leaves, and the exact result, whose part beyond the type is the carry."""
    for t, cc in itertools.product(("u32", "s32", "u64", "s64"), ("", ".cc")):
        n = WIDTH[t]
        for opcode, takes in (("add", False), ("addc", True), ("sub", False), ("subc", True)):
            if not takes and not cc:
                continue
            sign = 1 if opcode.startswith("add") else -1
            yield f"{opcode}{cc}.{t}", t, 2, takes, bool(cc), lambda v, c, s=sign: v[0] + s * (v[1] + c)
        for opcode, takes in (("mad", False), ("madc", True)):
            if not takes and not cc:
                continue
            yield (
                f"{opcode}.lo{cc}.{t}",
                t,
                3,
                takes,
                bool(cc),
                lambda v, c, n=n: (v[0] * v[1]) % (1 << n) + v[2] + c,
            )
            yield (f"{opcode}.hi{cc}.{t}", t, 3, takes, bool(cc),
                   lambda v, c, n=n, t=t: (typed(v[0], t) * typed(v[1], t) >> n) % (1 << n) + v[2] + c)  # fmt: skip


@pytest.mark.parametrize("form", list(carry_forms()), ids=lambda f: f[0])
@given(data=st.data())
@SETTINGS
def test_carry(
    form: tuple[str, str, int, bool, bool, Callable[[list[int], int], int]], data: st.DataObject
) -> None:
    op, t, count, takes, leaves, exact = form
    n = WIDTH[t]
    sources = [(t, data.draw(lanes(t))) for _ in range(count)]
    mask, carry = data.draw(MASKS), data.draw(lanes("pred"))
    (got,), after, _ = execute(op, t, sources, before=[[9] * 32], mask=mask, carry=carry)
    for lane in range(LANES):
        bit = carry >> lane & 1
        if not mask >> lane & 1:
            assert (got[lane], after >> lane & 1) == (9, bit)
            continue
        wanted = exact([v[lane] for _, v in sources], bit if takes else 0)
        assert got[lane] == wanted % (1 << n)
        out = int(wanted < 0 or wanted >> n > 0)
        assert after >> lane & 1 == (out if leaves else bit)


# ---- The table -------------------------------------------------------------------------------------------------


def opcodes() -> dict[str, bool]:
    found, is_alu, i = {}, ctypes.c_int(0), 0
    while (name := library().alu_probe_opcode(i, ctypes.byref(is_alu))) is not None:
        found[name.decode()] = bool(is_alu.value)
        i += 1
    return found


def test_table_is_in_order_and_all_of_it_is_tested() -> None:
    table = opcodes()
    assert list(table) == sorted(table)
    tested = {c.op.partition(".")[0] for c in CASES} | {"lop3", "addc", "subc", "madc", "createpolicy"}
    assert {name for name, is_alu in table.items() if is_alu} == tested


def test_createpolicy_gives_any_policy() -> None:
    assert accepted("createpolicy.fractional.L2::evict_last.b64", "b64")
    assert accepted("createpolicy.fractional.L2::evict_first.b64", "b64", "f32")
    assert not accepted("createpolicy.range.global.L2::evict_last.b64", "b64", "b64", "u32", "u32")


REFUSED = [
    ("add.wobble.s32", "s32", "s32 s32"),
    ("add.f33", "f32", "f32 f32"),
    ("add", "b32", "b32 b32"),
    ("add.sat.u32", "u32", "u32 u32"),
    ("add.rn.rz.f32", "f32", "f32 f32"),
    ("add.ftz.f64", "f64", "f64 f64"),
    ("add.sat.f64", "f64", "f64 f64"),
    ("add.b32", "b32", "b32 b32"),
    ("mul.s32", "s32", "s32 s32"),
    ("mul.wide.u64", "u64", "u64 u64"),
    ("neg.u32", "u32", "u32"),
    ("fma.f32", "f32", "f32 f32 f32"),
    ("div.f32", "f32", "f32 f32"),
    ("sqrt.f32", "f32", "f32"),
    ("rcp.f64", "f64", "f64"),
    ("div.approx.f64", "f64", "f64 f64"),
    ("and.s32", "s32", "s32 s32"),
    ("shl.u32", "u32", "u32 u32"),
    ("shf.l.b32", "b32", "b32 b32 b32"),
    ("setp.lt.b32", "pred", "b32 b32"),
    ("setp.lo.s32", "pred", "s32 s32"),
    ("setp.equ.s32", "pred", "s32 s32"),
    ("setp.eq.and.or.s32", "pred", "s32 s32 pred"),
    ("set.eq.f16.f32", "f16", "f32 f32"),
    ("cvt.s32.f32", "s32", "f32"),
    ("cvt.f32.f64", "f32", "f64"),
    ("cvt.rn.f64.f32", "f64", "f32"),
    ("cvt.rni.f32.f64", "f32", "f64"),
    ("cvt.ftz.f64.f64", "f64", "f64"),
    ("cvt.rn.bf16x2.f64", "bf16x2", "f64 f64"),
    ("cvt.rn.e4m3x2.f32", "b16", "f32 f32"),
    ("cvt.pack.sat.u4.s32.b32", "b32", "s32 s32 b32"),
    ("mov.b128", "b64", "b64"),
    ("ex2.approx.ftz.f16", "f16", "f16"),
    ("ex2.approx.bf16", "bf16", "bf16"),
    ("add.ftz.bf16", "bf16", "bf16 bf16"),
    ("add.rz.f16", "f16", "f16 f16"),
    ("min.relu.u32", "u32", "u32 u32"),
    ("prmt.b32.f4e.rc8", "b32", "b32 b32 b32"),
    ("cvt.rn.relu.f16.f64", "f16", "f64"),
    ("cvt.rm.relu.f16.f32", "f16", "f32"),
    ("cvt.rn.sat.bf16.f32", "bf16", "f32"),
    ("cvt.rn.satfinite.bf16.f16", "bf16", "f16"),
    ("cvt.rn.relu.sat.f16.f32", "f16", "f32"),
    ("cvt.u32.u64", "b32", "b32"),
    ("cvt.rn.f32.s32", "b64", "s32"),
    ("add.s32", "s32", "s64 s32"),
    ("tanh.approx.ftz.f32", "f32", "f32"),
]


@pytest.mark.parametrize(("op", "to", "sources"), REFUSED, ids=lambda v: v)
def test_unknown_forms_are_refused(op: str, to: str, sources: str) -> None:
    assert not accepted(op, to, *sources.split())
