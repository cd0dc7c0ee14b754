"""Every arithmetic instruction of the emulator, on 32 lanes, against the references of tests/alu."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Iterator

import pytest
from alu.bits import lop3
from alu.cases import CASES, Case, check_lanes, draws
from alu.formats import typed
from alu.probe import FULL, LANES, WIDTH, accepted, execute, library
from textures import video


def groups() -> dict[str, list[Case]]:
    """The cases by opcode and type, so that a test has a name and not too little to do."""
    by: dict[str, list[Case]] = {}
    for c in CASES:
        opcode, _, _ = c.op.partition(".")
        by.setdefault(
            f"{opcode} {c.to} {c.sources[0]}" if opcode in ("cvt", "set", "setp") else opcode, []
        ).append(c)
    return by


GROUPS = groups()


@pytest.mark.parametrize("name", GROUPS)
def test_instruction(name: str) -> None:
    for c in GROUPS[name]:
        for draw in draws(f"{c.op} {c.to} {c.sources}"):
            check_lanes(c, draw)


# ---- Vectors and tables -----------------------------------------------------------------------------------------

VECTORS = [("b16", "b8", 2), ("b32", "b16", 2), ("b32", "b8", 4), ("b64", "b32", 2), ("b64", "b16", 4)]


@pytest.mark.parametrize(("whole", "part", "count"), VECTORS)
def test_mov_of_vectors(whole: str, part: str, count: int) -> None:
    for draw in draws(f"{whole} {part}"):
        bits, mask = WIDTH[part], draw.mask()
        vector = "{" + ",".join([part] * count) + "}"
        value = draw.lanes(whole)
        old = [[0x5A5A5A5A & ((1 << max(16, bits)) - 1)] * 32 for _ in range(count)]
        got, _, _ = execute(f"mov.{whole}", vector, [(whole, value)], before=old, mask=mask)
        want = [
            [(value[i] >> bits * k & ((1 << bits) - 1)) if mask >> i & 1 else old[k][i] for i in range(32)]
            for k in range(count)
        ]
        assert got == want
        sunk = "{" + ",".join(["_", *[part] * (count - 1)]) + "}"
        assert (
            execute(f"mov.{whole}", sunk, [(whole, value)], before=[0, *old[1:]], mask=mask)[0][1:]
            == want[1:]
        )
        elements = [draw.lanes(part) for _ in range(count)]
        (packed,), _, _ = execute(f"mov.{whole}", whole, [(vector, elements)], before=[[0] * 32], mask=mask)
        joined = [
            sum((e[i] & ((1 << bits) - 1)) << bits * k for k, e in enumerate(elements)) for i in range(32)
        ]
        assert packed == [joined[i] if mask >> i & 1 else 0 for i in range(32)]


@pytest.mark.parametrize("table", [0x00, 0x96, 0xE8, 0xCA, 0x80, 0xFE, 0xFF, 0x01])
def test_lop3(table: int) -> None:
    for draw in draws(f"lop3 {table}"):
        values = [draw.lanes("b32") for _ in range(3)]
        mask, q, p = draw.mask(), draw.lanes("pred"), draw.lanes("pred")
        old = [7] * 32
        want = [lop3(*(v[i] for v in values), table) for i in range(32)]
        kept = [want[i] if mask >> i & 1 else 7 for i in range(32)]
        sources = [("b32", v) for v in values]
        got, _, _ = execute("lop3.b32", "b32", sources, before=[old], mask=mask, literals=(table,))
        assert got == [kept]
        nonzero = sum((w != 0) << i for i, w in enumerate(want))
        for word, combined in (("and", nonzero & q), ("or", nonzero | q)):
            operands = [*sources, ("b32", [table] * 32), ("pred", q)]
            got, _, _ = execute(f"lop3.{word}.b32", "b32|pred", operands, before=[old, p], mask=mask)
            assert got == [kept, (combined & mask) | (p & ~mask & FULL)]


# ---- Carries ---------------------------------------------------------------------------------------------------


def carry_forms() -> Iterator[tuple[str, str, int, bool, bool, Callable[[list[int], int], int]]]:
    """Opcode, type, sources, takes, leaves, and the exact result, whose part beyond the type is the carry."""
    for t, cc in itertools.product(("u32", "s32", "u64", "s64"), ("", ".cc")):
        n = WIDTH[t]
        for opcode, takes in (("add", False), ("addc", True), ("sub", False), ("subc", True)):
            if not takes and not cc:
                continue
            sign = 1 if opcode.startswith("add") else -1
            yield f"{opcode}{cc}.{t}", t, 2, takes, bool(cc), lambda v, c, s=sign: v[0] + s * (v[1] + c)
        for opcode, takes in (("mad", False), ("madc", True)):
            if not takes and not cc:
                continue
            yield (
                f"{opcode}.lo{cc}.{t}",
                t,
                3,
                takes,
                bool(cc),
                lambda v, c, n=n: (v[0] * v[1]) % (1 << n) + v[2] + c,
            )
            yield (f"{opcode}.hi{cc}.{t}", t, 3, takes, bool(cc),
                   lambda v, c, n=n, t=t: (typed(v[0], t) * typed(v[1], t) >> n) % (1 << n) + v[2] + c)  # fmt: skip


@pytest.mark.parametrize("form", list(carry_forms()), ids=lambda f: f[0])
def test_carry(
    form: tuple[str, str, int, bool, bool, Callable[[list[int], int], int]],
) -> None:
    op, t, count, takes, leaves, exact = form
    n = WIDTH[t]
    for draw in draws(op):
        sources = [(t, draw.lanes(t)) for _ in range(count)]
        mask, carry = draw.mask(), draw.lanes("pred")
        (got,), after, _ = execute(op, t, sources, before=[[9] * 32], mask=mask, carry=carry)
        for lane in range(LANES):
            bit = carry >> lane & 1
            if not mask >> lane & 1:
                assert (got[lane], after >> lane & 1) == (9, bit)
                continue
            wanted = exact([v[lane] for _, v in sources], bit if takes else 0)
            assert got[lane] == wanted % (1 << n)
            out = int(wanted < 0 or wanted >> n > 0)
            assert after >> lane & 1 == (out if leaves else bit)


# ---- The table -------------------------------------------------------------------------------------------------


def opcodes() -> dict[str, bool]:
    found, is_alu, i = {}, ctypes.c_int(0), 0
    while (name := library().alu_probe_opcode(i, ctypes.byref(is_alu))) is not None:
        found[name.decode()] = bool(is_alu.value)
        i += 1
    return found


def test_table_is_in_order_and_all_of_it_is_tested() -> None:
    table = opcodes()
    assert list(table) == sorted(table)
    tested = {c.op.partition(".")[0] for c in CASES} | {"lop3", "addc", "subc", "madc", "createpolicy"}
    tested |= {f"{form.name}{form.elements if form.elements > 1 else ''}" for form in video.FORMS}
    assert {name for name, is_alu in table.items() if is_alu} == tested


def test_createpolicy_gives_any_policy() -> None:
    assert accepted("createpolicy.fractional.L2::evict_last.b64", "b64")
    assert accepted("createpolicy.fractional.L2::evict_first.b64", "b64", "f32")
    assert not accepted("createpolicy.range.global.L2::evict_last.b64", "b64", "b64", "u32", "u32")


REFUSED = [
    ("add.wobble.s32", "s32", "s32 s32"),
    ("add.f33", "f32", "f32 f32"),
    ("add", "b32", "b32 b32"),
    ("add.sat.u32", "u32", "u32 u32"),
    ("add.rn.rz.f32", "f32", "f32 f32"),
    ("add.ftz.f64", "f64", "f64 f64"),
    ("add.sat.f64", "f64", "f64 f64"),
    ("add.b32", "b32", "b32 b32"),
    ("mul.s32", "s32", "s32 s32"),
    ("mul.wide.u64", "u64", "u64 u64"),
    ("neg.u32", "u32", "u32"),
    ("fma.f32", "f32", "f32 f32 f32"),
    ("div.f32", "f32", "f32 f32"),
    ("sqrt.f32", "f32", "f32"),
    ("rcp.f64", "f64", "f64"),
    ("div.approx.f64", "f64", "f64 f64"),
    ("and.s32", "s32", "s32 s32"),
    ("shl.u32", "u32", "u32 u32"),
    ("shf.l.b32", "b32", "b32 b32 b32"),
    ("setp.lt.b32", "pred", "b32 b32"),
    ("setp.lo.s32", "pred", "s32 s32"),
    ("setp.equ.s32", "pred", "s32 s32"),
    ("setp.eq.and.or.s32", "pred", "s32 s32 pred"),
    ("set.eq.f16.f32", "f16", "f32 f32"),
    ("cvt.s32.f32", "s32", "f32"),
    ("cvt.f32.f64", "f32", "f64"),
    ("cvt.rn.f64.f32", "f64", "f32"),
    ("cvt.rni.f32.f64", "f32", "f64"),
    ("cvt.ftz.f64.f64", "f64", "f64"),
    ("cvt.rn.bf16x2.f64", "bf16x2", "f64 f64"),
    ("cvt.rn.e4m3x2.f32", "b16", "f32 f32"),
    ("cvt.pack.sat.u4.s32.b32", "b32", "s32 s32 b32"),
    ("mov.b128", "b64", "b64"),
    ("ex2.approx.ftz.f16", "f16", "f16"),
    ("ex2.approx.bf16", "bf16", "bf16"),
    ("add.ftz.bf16", "bf16", "bf16 bf16"),
    ("add.rz.f16", "f16", "f16 f16"),
    ("min.relu.u32", "u32", "u32 u32"),
    ("prmt.b32.f4e.rc8", "b32", "b32 b32 b32"),
    ("cvt.rn.relu.f16.f64", "f16", "f64"),
    ("cvt.rm.relu.f16.f32", "f16", "f32"),
    ("cvt.rn.sat.bf16.f32", "bf16", "f32"),
    ("cvt.rn.satfinite.bf16.f16", "bf16", "f16"),
    ("cvt.rn.relu.sat.f16.f32", "f16", "f32"),
    ("cvt.u32.u64", "b32", "b32"),
    ("cvt.rn.f32.s32", "b64", "s32"),
    ("add.s32", "s32", "s64 s32"),
    ("tanh.approx.ftz.f32", "f32", "f32"),
]


@pytest.mark.parametrize(("op", "to", "sources"), REFUSED, ids=lambda v: v)
def test_unknown_forms_are_refused(op: str, to: str, sources: str) -> None:
    assert not accepted(op, to, *sources.split())
