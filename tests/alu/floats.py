"""Floating point: exact results, rounded once."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

from .cases import case
from .comparisons import float_order
from .formats import F32, F64, FORMATS, Format
from .probe import WIDTH

Exact = Callable[..., Fraction | int | str]


def nan_of(f: Format, *operands: int) -> int | None:
    """The result if there is a NaN among the operands, in order of preference; None if there is none.

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
