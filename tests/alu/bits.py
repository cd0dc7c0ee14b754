"""Bits, moves and selections."""

from __future__ import annotations

import itertools

from .cases import case
from .formats import F32, signed, typed
from .probe import FULL, WIDTH


def bfind(x: int, t: str, shift: bool) -> int:
    n, v = WIDTH[t], typed(x, t)
    v = ~v if v < 0 else v
    return FULL if v == 0 else n - v.bit_length() if shift else v.bit_length() - 1


def bfe(a: int, b: int, c: int, t: str) -> int:
    """The loop of the ISA; but an H200 clamps positions and lengths of 64-bit fields, which the ISA cuts to 8 bits."""
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
