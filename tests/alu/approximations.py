"""Approximations: within the ISA's error, and the values that it fixes."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from .cases import case
from .floats import arithmetic, packed_halves, same_f64
from .formats import F32, F64, FORMATS, Format


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
        # lg2: 2^-22, absolute from 1/2 to 2 and relative elsewhere. A GPU's subnormal results of rcp may be off
        # by what another scale rounds.
        for op, g, relative, absolute in (
            ("sin", math.sin, u, 0.0), ("cos", math.cos, u, 0.0), ("lg2", log2, 2 * u, 2 * u),
            ("ex2", lambda x: exp2(x), 2 * u, 2.0**-149), ("rsqrt", rsqrt, 2 * u, 0.0),
        ):  # fmt: skip
            case(
                f"{op}.approx{w}.f32",
                "f32",
                "f32",
                via_double(g, F32, ftz),
                same=close(F32, relative, absolute),
            )
        least = 2.0**-126 if ftz else 2.0**-149
        for op in ("rcp", "sqrt"):
            nearest = arithmetic(op, F32, "rn", ftz, False)
            case(f"{op}.approx{w}.f32", "f32", "f32", nearest, same=close(F32, 2 * u, least))
        nearest = arithmetic("div", F32, "rn", ftz, False)
        case(f"div.full{w}.f32", "f32", "f32 f32", nearest, same=close(F32, 2 * u, least))
        plain = arithmetic("div", F32, "rn", ftz, False)

        def divided(a: int, b: int, ftz: bool = ftz, plain: Callable[..., int] = plain) -> int:
            if not F32.is_nan(b) and (b & 0x7FFFFFFF) > 0x7E800000:
                return arithmetic("mul", F32, "rn", ftz, False)(a, b & F32.sign)
            return plain(a, b)

        case(f"div.approx{w}.f32", "f32", "f32 f32", divided, same=close(F32, 2 * u, least))
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
