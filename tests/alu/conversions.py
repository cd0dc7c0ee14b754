"""Conversions between integers, floats and packed formats."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction

from .cases import case
from .floats import finish, nan_of
from .formats import BF16, F16, F32, F64, FORMATS, TF32, Format, signed, typed
from .integers import clamp
from .probe import FULL, WIDTH

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
