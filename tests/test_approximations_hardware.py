"""Approximations of .f32 against an H200's results for all operands (tests/hardware_truth/approximations)."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from emulator import Emulator

SUMS = Path(__file__).resolve().parent / "hardware_truth" / "approximations" / "sums.csv"
# Signs and exponents: of subnormal numbers, of the least and the greatest, of those about 1, and where a form has
# another way.
NEGATIVE = 256
ROWS = {
    "ex2": [0, 126, 127, 133, NEGATIVE + 126, NEGATIVE + 132, NEGATIVE + 133],
    "lg2": [0, 1, 126, 127, 130, 254],
    "rcp": [0, 127, 252, 253, 254, NEGATIVE + 1],
    "rsqrt": [0, 1, 127, 128, 254],
    "sqrt": [0, 1, 127, 128, 254],
}
FORMS = [f"{op}.approx{ftz}.f32" for op in ROWS for ftz in ("", ".ftz")]
THREADS = 1024

# Each thread takes every 1024th mantissa of the row that its block stands for.
KERNEL = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry sums(.param .u64 rows, .param .u64 out)
{{
    .reg .pred %p;
    .reg .b32 %t, %b, %row, %m, %x, %y, %n;
    .reg .f32 %f, %g;
    .reg .b64 %a, %s, %w, %v, %k;
    mov.u32 %t, %tid.x;
    mov.u32 %b, %ctaid.x;
    ld.param.u64 %a, [rows];
    mul.wide.u32 %k, %b, 4;
    add.u64 %a, %a, %k;
    ld.global.u32 %row, [%a];
    shl.b32 %row, %row, 23;
    mov.u32 %m, %t;
    mov.u64 %s, 0;
NEXT:
    or.b32 %x, %row, %m;
    mov.b32 %f, %x;
    {form} %g, %f;
    mov.b32 %y, %g;
    cvt.u64.u32 %v, %y;
    mul.wide.u32 %w, %m, 2;
    add.u64 %w, %w, 1;
    mad.lo.u64 %s, %v, %w, %s;
    add.u32 %m, %m, 1024;
    setp.lt.u32 %p, %m, 8388608;
    @%p bra NEXT;
    ld.param.u64 %a, [out];
    mad.lo.u32 %n, %b, 1024, %t;
    mul.wide.u32 %k, %n, 8;
    add.u64 %a, %a, %k;
    st.global.u64 [%a], %s;
    ret;
}}
"""


def emulated(form: str, asked: list[int]) -> list[int]:
    with Emulator() as emulator:
        emulator.load(KERNEL.format(form=form))
        rows = emulator.buffer(np.array(asked, np.uint32))
        out = emulator.buffer(len(asked) * THREADS * 8)
        result = emulator.launch("sums", len(asked), THREADS, [rows, out], checks=0, steps=10**10)
        assert not result.findings
        return [int(total) for total in out.read(np.uint64).reshape(-1, THREADS).sum(axis=1)]


@pytest.mark.parametrize("form", FORMS)
def test_all_mantissas_give_the_hardwares_bits(form: str) -> None:
    with SUMS.open(newline="") as file:
        recorded = [int(row[form], 16) for row in csv.DictReader(file)]
    asked = ROWS[form.partition(".")[0]]
    differ = [row for row, total in zip(asked, emulated(form, asked), strict=True) if total != recorded[row]]
    assert not differ, f"{form}: the results for these signs and exponents are not the H200's: {differ}"
