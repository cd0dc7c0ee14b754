"""Matrix multiplications against NumPy: every form of forms.def."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent / "hardware_truth" / "tensor"))
import forms as tensor
from forms import Form

FORMS = tensor.forms()
MMA = [f for f in FORMS.values() if not f.is_wmma]
WMMA = [f for f in FORMS.values() if f.is_wmma]
SMALL_INTEGERS, NEAR_ONE, POWERS = 0, 1, 3
TILES = 4


def name_of(form: Form) -> str:
    return form.text.replace("sync.aligned.", "")


# ---- Elements -------------------------------------------------------------------------------------

FLOATS = {"F16": (5, 10), "BF16": (8, 7), "TF32": (8, 10), "F32": (8, 23), "E4M3": (4, 3), "E5M2": (5, 2)}
BITS = {
    "F16": 16,
    "BF16": 16,
    "TF32": 32,
    "F32": 32,
    "F64": 64,
    "E4M3": 8,
    "E5M2": 8,
    "I8": 8,
    "I4": 4,
    "B1": 1,
    "S32": 32,
}


def finite(raw: np.ndarray, kind: str) -> np.ndarray:
    """The values of finite floats."""
    exponent_bits, fraction_bits = FLOATS[kind]
    raw = raw >> 13 if kind == "TF32" else raw
    fraction = (raw & ((1 << fraction_bits) - 1)).astype(np.float64)
    exponent = (raw >> fraction_bits & ((1 << exponent_bits) - 1)).astype(np.int64)
    sign = 1 - 2 * (raw >> (exponent_bits + fraction_bits) & 1).astype(np.float64)
    bias = (1 << (exponent_bits - 1)) - 1
    significand = fraction / 2.0**fraction_bits + (exponent > 0)
    return sign * np.ldexp(significand, np.maximum(exponent, 1) - bias)


def values(words: np.ndarray, kind: str, is_signed: bool = True) -> np.ndarray:
    """The elements of packed words, the lowest bits first, along a new last axis."""
    bits = BITS[kind]
    if kind == "F64":
        return words.view(np.float64)[..., None]
    if kind == "S32":
        return words.view(np.int32).astype(np.int64)[..., None]
    per = words.itemsize * 8 // bits
    parts = np.stack(
        [
            words >> np.uint32(bits * e) & np.uint32((1 << bits) - 1 if bits < 32 else 0xFFFFFFFF)
            for e in range(per)
        ],
        -1,
    )
    parts = parts.astype(np.uint32)
    if kind in FLOATS:
        return finite(parts.astype(np.int64), kind)
    parts = parts.astype(np.int64)
    return np.where(parts >> (bits - 1) & 1, parts - (1 << bits), parts) if is_signed and bits > 1 else parts


def sum_kind(form: Form, which: str) -> str:
    """The type of c or d."""
    types = re.findall(r"(?<=\.)(f16|f32|f64|s32)(?=\.|$)", form.text)
    return (types[0] if which == "d" else types[-1]).upper()


def is_signed(form: Form, which: int) -> bool:
    found = re.findall(r"\.([su][48])(?=\.)", form.text)
    return not found or found[which][0] == "s"


# ---- Fragments, as the ISA has them ---------------------------------------------------------------


def rows_and_columns(form: Form, role: str, i: int, per: int) -> tuple[np.ndarray, np.ndarray]:
    """Row and column of element `i` of each lane, and of m8n8k4 of f16 the product that it belongs to."""
    m = form.shape[0]
    lane = np.arange(32)
    group, thread = lane >> 2, lane & 3
    if role == "a":  # (ISA, e.g. Matrix Fragments for mma.m16n8k16)
        row = group + 8 * (i // per % 2) if m == 16 else group
        column = thread * per + i % per + 4 * per * (i // (2 * per) if m == 16 else i // per)
        return row, column
    if role == "b":
        return thread * per + i % per + 4 * per * (i // per), group
    return group + 8 * (i // 2), thread * 2 + i % 2


def quad_places(form: Form, role: str, i: int) -> tuple[np.ndarray, np.ndarray]:
    lane = np.arange(32)
    upper = lane >= 16
    layouts = re.search(r"(row|col)\.(row|col)", form.text).groups()
    own = lane % 4 + 4 * upper
    if role == "a":
        return (own, np.full(32, i)) if layouts[0] == "row" else (i % 4 + 4 * upper, lane % 4)
    if role == "b":
        return (lane % 4, i + 4 * upper) if layouts[1] == "row" else (np.full(32, i), own)
    if sum_kind(form, role) == "F16":
        return own, np.full(32, i)
    return (lane & 1) + (i & 2) + 4 * upper, (i & 4) + (lane & 2) + (i & 1)


def matrices(form: Form, role: str, words: np.ndarray, kind: str, signed: bool = True) -> np.ndarray:
    """The operand of each tile as matrices [tile][product][row][column], from its registers."""
    m, n, k = form.shape
    rows, columns = {"a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n)}[role]
    is_quad = form.shape == (8, 8, 4) and form.types[0] == "F16"
    elements = values(words.reshape(len(words), -1, 32), kind, signed)  # [tile][register][lane][element]
    per = elements.shape[-1]
    out = np.full((len(words), 4 if is_quad else 1, rows, columns), np.nan)
    for i in range(elements.shape[1] * per):
        if is_quad:
            row, column = quad_places(form, role, i)
            product = np.arange(32) // 4 % 4
        else:
            row, column = rows_and_columns(form, role, i, per)
            product = np.zeros(32, int)
        out[:, product, row, column] = elements[:, i // per, :, i % per]
    assert not np.isnan(out).any()
    return out


def in_memory(form: Form, role: str, words: np.ndarray, kind: str, signed: bool = True) -> np.ndarray:
    """The same, from a matrix in memory."""
    m, n, k = form.shape
    rows, columns = {"a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n)}[role]
    flat = values(words, kind, signed).reshape(len(words), -1)
    layouts = re.search(r"(row|col)\.(row|col)", form.text).groups()
    if role in "ab" and layouts["ab".index(role)] == "col":
        return flat.reshape(-1, 1, columns, rows).swapaxes(2, 3)
    return flat.reshape(-1, 1, rows, columns)


def product(form: Form, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    if form.types[0] == "B1":
        a, b = a.astype(bool)[..., None], b.swapaxes(2, 3).astype(bool)[:, :, None].swapaxes(3, 4)
        meet = a ^ b if "xor" in form.text else a & b
        total = meet.sum(3) + c
    else:
        total = a @ b + c
    if form.types[2] != "S32":
        return total
    if "satfinite" in form.text:
        return np.clip(total, -(2**31), 2**31 - 1)
    return (total.astype(np.int64) + 2**31) % 2**32 - 2**31


def given_and_got(form: Form, family: int) -> tuple[list[np.ndarray], np.ndarray]:
    """a, b, c as matrices, and d."""
    given = tensor.operands(form, family, TILES)
    out = tensor.emulated(form, given)
    read = in_memory if form.is_wmma else matrices
    kinds = [form.types[0], form.types[1], form.types[2]]
    signs = [is_signed(form, 0), is_signed(form, 1), True]
    made = [read(form, r, w, t, s) for r, w, t, s in zip("abc", given, kinds, signs, strict=True)]
    kind = sum_kind(form, "d")
    d_words = form.shape[0] * form.shape[1] * BITS[kind] // form.bits if form.is_wmma else form.out
    return made, read(form, "d", np.ascontiguousarray(out[:, :d_words]), kind)


@pytest.mark.parametrize("form", FORMS.values(), ids=name_of)
def test_small_integers_are_exact(form: Form) -> None:
    for family in (SMALL_INTEGERS, NEAR_ONE) if form.types[2] == "S32" else (SMALL_INTEGERS,):
        (a, b, c), d = given_and_got(form, family)
        assert np.array_equal(d, product(form, a, b, c))


@pytest.mark.parametrize("form", [f for f in FORMS.values() if f.types[2] != "S32"], ids=name_of)
@pytest.mark.parametrize("family", [NEAR_ONE, POWERS])
def test_errors_are_within_the_bound(form: Form, family: int) -> None:
    """Each of k + 1 terms may lose a unit of the last place kept, below the largest; the sum is then rounded."""
    (a, b, c), d = given_and_got(form, family)
    k = form.shape[2]
    magnitude = abs(a) @ abs(b) + abs(c)
    unit = {"F16": 2.0**-11, "F32": 2.0**-23, "F64": 2.0**-53}[sum_kind(form, "d")]
    bound = unit * magnitude * (k + 1) * 2
    assert (abs(d - (a @ b + c)) <= bound + 2.0**-24 * (unit == 2.0**-11)).all()


@pytest.mark.parametrize("form", [f for f in WMMA if f.types[2] == "F64"], ids=name_of)
def test_named_rounding_of_f64(form: Form) -> None:
    """nvcc writes .rn, which is the rounding without the word too."""
    named = replace(form, text=form.text.replace(".f64", ".rn.f64", 1))
    given = tensor.operands(form, NEAR_ONE, TILES)
    assert ".m8n8k4.rn.f64" in named.text
    assert np.array_equal(tensor.emulated(named, given), tensor.emulated(form, given))


FACTORS_OF_16_BITS = [f for f in MMA if f.types[0] in ("F16", "BF16") and "m8n8k4" not in f.text]
FLIP = ".reg .b32 own; .reg .pred is_one; mov.u32 own, %tid.x; setp.eq.u32 is_one, own, 13;"


@pytest.mark.parametrize("changed", ["a1", "b0"])
@pytest.mark.parametrize("form", FACTORS_OF_16_BITS, ids=name_of)
def test_factors_that_change_in_one_lane(form: Form, changed: str) -> None:
    """The emulator keeps prepared factors beside their registers: here one lane's bits were others before."""
    given = tensor.operands(form, NEAR_ONE, TILES)
    ptx = form.ptx()
    multiply = next(line for line in ptx.splitlines() if line.startswith(form.text))
    change = f"@is_one xor.b32 {changed}, {changed}, 0x00010001;"
    before = "\n".join([FLIP, change, multiply, change, multiply])
    assert np.array_equal(
        tensor.emulated(form, given, ptx.replace(multiply, before)), tensor.emulated(form, given)
    )


def test_factors_that_were_of_another_type() -> None:
    """The same bits of the same registers, first as f16."""
    form = FORMS["mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"]
    given = tensor.operands(form, NEAR_ONE, TILES)
    ptx = form.ptx()
    multiply = next(line for line in ptx.splitlines() if line.startswith(form.text))
    both = multiply.replace("bf16.bf16", "f16.f16") + "\n" + multiply
    assert np.array_equal(
        tensor.emulated(form, given, ptx.replace(multiply, both)), tensor.emulated(form, given)
    )
