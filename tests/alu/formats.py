"""Numbers and their bits: floating-point formats with exact rounding as IEEE 754 defines it, and integers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from .probe import WIDTH


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
        """The exponent of a finite number."""
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
