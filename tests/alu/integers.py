"""Integer arithmetic."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from .cases import case
from .formats import signed, typed
from .probe import FULL, WIDTH

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
