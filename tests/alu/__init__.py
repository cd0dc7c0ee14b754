"""Every arithmetic instruction of the emulator against exact arithmetic: the references.

They work on the bits of one lane with Python's integers and fractions, and round by the definition of IEEE 754;
so they share nothing with the C code. tests/test_alu.py holds the tests.
"""

from .approximations import approx_cases
from .bits import bit_cases, move_cases
from .cases import CASES, Case, edges
from .comparisons import comparison_cases
from .conversions import conversion_cases
from .floats import extreme_cases, float_cases, half_cases
from .formats import signed
from .integers import integer_cases
from .probe import LANES, WIDTH, execute, parts_of

__all__ = ["CASES", "LANES", "WIDTH", "Case", "edges", "execute", "parts_of", "signed"]

for build in (integer_cases, bit_cases, move_cases, comparison_cases, float_cases, extreme_cases, half_cases,
              approx_cases, conversion_cases):  # fmt: skip
    build()
