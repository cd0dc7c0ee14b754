"""Comparisons into predicates and registers."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction

from .cases import case
from .formats import FORMATS, Format, typed
from .integers import INTEGERS
from .probe import FULL, WIDTH

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
