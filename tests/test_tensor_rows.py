"""ldmatrix, stmatrix and movmatrix, what checks and counters see of matrix instructions, and whole products."""

from __future__ import annotations

import numpy as np
import pytest
from cuda_images import ROOT, image
from emulator import Emulator, Result

HEADER = ".version 9.0\n.target sm_90a\n.address_size 64\n"


def vector(name: str, count: int) -> str:
    return "{" + ",".join(f"{name}{r}" for r in range(count)) + "}"


# ---- Rows of shared memory ------------------------------------------------------------------------


def rows_kernel(code: str, *, shared: int = 2048) -> str:
    """A warp with its number in `lane`, `in` and `out` in %in and %out, and 2 KiB of shared memory filled from `in`."""
    return f"""{HEADER}.visible .entry kernel(.param .u64 inp, .param .u64 outp)
{{
.shared .align 16 .b8 tile[{shared}];
.reg .b32 lane, at, word, base, r<8>; .reg .b64 in, out, from, wide; .reg .pred more;
ld.param.u64 in, [inp]; ld.param.u64 out, [outp]; mov.u32 lane, %tid.x; mov.u32 base, tile;
mov.u32 at, lane;
FILL: shl.b32 word, at, 2; cvt.u64.u32 wide, word; add.u64 from, in, wide; ld.global.b32 r0, [from];
add.u32 word, word, base; st.shared.b32 [word], r0; add.u32 at, at, 32;
setp.lt.u32 more, at, {shared // 4}; @more bra FILL;
bar.warp.sync -1; shl.b32 word, lane, 2; cvt.u64.u32 wide, word; add.u64 out, out, wide;
{code}
ret;
}}
"""


def run_rows(code: str, given: np.ndarray, out_words: int, **options: object) -> tuple[np.ndarray, Result]:
    with Emulator() as e:
        e.load(rows_kernel(code))
        source, out = e.buffer(given, "in"), e.buffer(np.zeros(out_words, np.uint32), "out")
        result = e.launch("kernel", 1, 32, [source, out], count=True, **options)
        return out.read(np.uint32), result


def halves(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 1 << 16, 1024, np.uint16)


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("is_turned", [False, True])
@pytest.mark.parametrize("space", [".shared", ""])
def test_ldmatrix(count: int, is_turned: bool, space: str) -> None:
    given = halves(count)
    starts = np.random.default_rng(5).permutation(128)[:32] * 8  # of each lane's row
    registers = vector("r", count)
    address = "cvta.shared.u64 from, from;" if not space else ""
    code = (
        "shl.b32 word, lane, 2; add.u32 word, word, base; ld.shared.b32 word, [word+1024]; add.u32 word, word, base;"
        f"cvt.u64.u32 from, word; {address}"
        f"ldmatrix.sync.aligned.m8n8.x{count}{'.trans' * is_turned}{space}.b16 {registers}, "
        f"[{'word' if space else 'from'}];"
        + "".join(f"st.global.b32 [out+{128 * r}], r{r};" for r in range(count))
    )
    given[512:576] = (
        starts.astype(np.uint32).view(np.uint16)[:64] * 2
    )  # offsets in bytes, which fit in 16 bits
    starts = given[512:576].view(np.uint32) // 2
    got, result = run_rows(code, given, 32 * count)
    assert not result.findings
    matrices = np.stack([given[s : s + 8] for s in starts[: 8 * count]]).reshape(count, 8, 8)
    want = (matrices.swapaxes(1, 2) if is_turned else matrices).reshape(-1)
    assert np.array_equal(got.view(np.uint16), want)


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("is_turned", [False, True])
def test_stmatrix(count: int, is_turned: bool) -> None:
    given = halves(count)
    registers = vector("r", count)
    code = (
        "add.u32 at, word, base;"
        + "".join(f"ld.shared.b32 r{r}, [at+{128 * r}];" for r in range(count))
        + "xor.b32 at, lane, 5; shl.b32 at, at, 4; add.u32 at, at, base;"  # row i of 1,024 bytes on is row i ^ 5
        + f"stmatrix.sync.aligned.m8n8.x{count}{'.trans' * is_turned}.shared.b16 [at+1024], {registers};"
        + "bar.warp.sync -1; add.u32 at, word, base;"
        + "".join(
            f"ld.shared.b32 r0, [at+{1024 + 128 * r}]; st.global.b32 [out+{128 * r}], r0;" for r in range(4)
        )
    )
    got, result = run_rows(code, given, 128)
    assert not result.findings
    matrices = given[: 64 * count].reshape(count, 8, 8)
    rows = (matrices.swapaxes(1, 2) if is_turned else matrices).reshape(-1, 8)
    want = given[512:768].reshape(32, 8).copy()
    want[np.arange(8 * count) ^ 5] = rows
    assert np.array_equal(got.view(np.uint16).reshape(32, 8), want)


def test_movmatrix() -> None:
    given = halves(1)
    code = (
        "add.u32 at, word, base; ld.shared.b32 r0, [at];"
        "movmatrix.sync.aligned.m8n8.trans.b16 r1, r0; st.global.b32 [out], r1;"
    )
    got, result = run_rows(code, given, 32)
    assert not result.findings
    assert np.array_equal(got.view(np.uint16).reshape(8, 8), given[:64].reshape(8, 8).T)


# ---- What the checks and counters see -------------------------------------------------------------


def test_rows_in_one_bank_conflict() -> None:
    """Rows 128 bytes apart lie in the same banks: each of a matrix's 8 rows is a wavefront."""
    for shift, wavefronts in ((4, 4), (7, 32)):
        code = f"and.b32 at, lane, 15; shl.b32 at, at, {shift}; add.u32 at, at, base;"
        code += "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {r0,r1,r2,r3}, [at]; st.global.b32 [out], r0;"
        _, result = run_rows(code, halves(1), 32)

        assert result.counters["shared_ld"] == 1
        assert result.counters["shared_ld_wavefronts"] == wavefronts
        assert result.counters["shared_ld_conflicts"] == wavefronts - 4


def test_a_row_outside_is_found() -> None:
    code = "shl.b32 at, lane, 7; add.u32 at, at, base; ldmatrix.sync.aligned.m8n8.x2.shared.b16 {r0,r1}, [at+256];"
    _, result = run_rows(code, halves(1), 32)
    assert result.kinds == ["OUT_OF_BOUNDS"]
    assert result.finding.lane == 14


def test_a_row_that_is_not_aligned_is_found() -> None:
    code = "shl.b32 at, lane, 4; add.u32 at, at, base; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r0}, [at+8];"
    assert run_rows(code, halves(1), 32)[1].kinds == ["MISALIGNED"]


def test_lanes_without_a_row_may_name_anything() -> None:
    code = "shl.b32 at, lane, 20; setp.lt.u32 more, lane, 8; @more mov.u32 at, base;"
    code += "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r0}, [at]; st.global.b32 [out], r0;"
    assert not run_rows(code, halves(1), 32)[1].findings


def race(between: str) -> Result:
    """Warp 0 stores rows that warp 1 reads with ldmatrix."""
    ptx = f"""{HEADER}.visible .entry kernel(.param .u64 outp)
{{
.shared .align 16 .b8 tile[512];
.reg .b32 t, at, base, r<4>; .reg .b64 out, wide; .reg .pred first;
ld.param.u64 out, [outp]; mov.u32 t, %tid.x; mov.u32 base, tile; setp.lt.u32 first, t, 32;
and.b32 at, t, 31; shl.b32 at, at, 4; add.u32 at, at, base;
@first st.shared.v4.b32 [at], {{t, t, t, t}};
{between}
@first bra DONE;
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{r0, r1, r2, r3}}, [at];
mul.wide.u32 wide, t, 4; add.u64 out, out, wide; st.global.b32 [out], r0;
DONE: ret;
}}
"""
    with Emulator() as e:
        e.load(ptx)
        return e.launch("kernel", 1, 64, [e.buffer(np.zeros(64, np.uint32), "out")])


def test_racecheck_sees_rows() -> None:
    assert set(race("").kinds) == {"RACE"}
    assert not race("bar.sync 0;").findings


# ---- Undefined values -----------------------------------------------------------------------------

PRODUCT = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{r0,r1,r2,r3}}, {{{a},z,z,z}}, {{{b},z}}, {{{c},z,z,z}};"


def undefined_product(a: str, b: str, c: str) -> np.ndarray:
    """The lanes and registers of d that a store reports, where lane 9 (row 2 of a, column 2 of b) has no value."""
    found = np.zeros((4, 32), bool)
    for r in range(4):
        for lane in range(32):
            code = (
                ".reg .b32 u, z; .reg .pred here; mov.u32 z, 0; setp.ne.u32 here, lane, 9; @here mov.u32 u, 0;"
                + PRODUCT.format(a=a, b=b, c=c)
                + f"setp.eq.u32 here, lane, {lane}; @here st.global.b32 [out], r{r};"
            )
            found[r, lane] = "UNINITIALISED" in run_rows(code, halves(1), 32)[1].kinds
    return found


def test_undefined_operands_reach_what_depends_on_them() -> None:
    lane = np.arange(32)
    row = np.zeros((4, 32), bool)
    row[:2, lane // 4 == 2] = True
    assert np.array_equal(undefined_product("u", "z", "z"), row)
    column = np.zeros((4, 32), bool)
    column[::2, lane % 4 == 1] = True  # column 2 is in lanes 1, 5, 9 ..., registers 0 and 2
    assert np.array_equal(undefined_product("z", "u", "z"), column)
    own = np.zeros((4, 32), bool)
    own[0, 9] = True
    assert np.array_equal(undefined_product("z", "z", "u"), own)


def test_rows_that_nothing_has_written_are_undefined() -> None:
    ptx = f"""{HEADER}.visible .entry kernel(.param .u64 outp)
{{
.shared .align 16 .b8 tile[512];
.reg .b32 t, at, base, r<4>; .reg .b64 out, wide; .reg .pred some;
ld.param.u64 out, [outp]; mov.u32 t, %tid.x; mov.u32 base, tile; setp.ne.u32 some, t, 10;
shl.b32 at, t, 4; add.u32 at, at, base;
@some st.shared.v4.b32 [at], {{t, t, t, t}};
bar.warp.sync -1;
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{r0, r1, r2, r3}}, [at];
mul.wide.u32 wide, t, 4; add.u64 out, out, wide; st.global.b32 [out], REGISTER;
ret;
}}
"""
    for register, kinds in (("r0", []), ("r1", ["UNINITIALISED"]), ("r2", [])):
        with Emulator() as e:
            e.load(ptx.replace("REGISTER", register))
            result = e.launch("kernel", 1, 32, [e.buffer(np.zeros(32, np.uint32), "out")])
            assert result.kinds == kinds, register


# ---- Lanes that are not together ------------------------------------------------------------------


def test_lanes_meet_from_two_branches() -> None:
    """The halves of a warp come to an mma one after the other, under any schedule."""
    code = (
        "setp.lt.u32 more, lane, 16; @more bra LATER; mov.u32 r4, 0x3c003c00; bra JOIN; LATER: mov.u32 r4, 0x40004000;"
        "JOIN: mov.u32 r0, 0;"
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {r0,r1,r2,r3}, {r4,r4}, {r4}, {r0,r0,r0,r0};"
        "st.global.b32 [out], r0;"
    )
    for schedule in range(6):
        got, result = run_rows(code, halves(1), 32, schedule=schedule)
        assert not result.findings
        a = np.repeat([2.0, 1.0], 4)
        assert np.array_equal(got.view(np.float32).reshape(8, 4), np.outer(a, np.repeat([2.0, 1.0], 2)) * 8)


def test_an_exited_lane_is_named() -> None:
    code = "setp.eq.u32 more, lane, 7; @more ret; mov.u32 r0, 0;"
    code += "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {r0,r1,r2,r3}, {r0,r0}, {r0}, {r0,r0,r0,r0};"
    result = run_rows(code, halves(1), 32)[1]
    assert "BAD_MASK" in result.kinds
    assert "a matrix multiplication" in result.findings[0].message


# ---- Sums in memory -------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(16, 16), (32, 8), (8, 32)])
@pytest.mark.parametrize(("kind", "bits", "count"), [("f16", 16, 4), ("f32", 32, 8), ("s32", 32, 8)])
def test_sums_in_rows_and_columns(shape: tuple[int, int], kind: str, bits: int, count: int) -> None:
    """What is loaded in one layout and stored in the other is transposed."""
    m, n = shape
    given = np.random.default_rng(m).integers(0, 1 << 16, (m, n), np.uint16).astype(f"u{bits // 8}")
    name, registers = f"m{m}n{n}k16", vector("s", count)
    for first, second in (("row", "col"), ("col", "row")):
        ptx = f"""{HEADER}.visible .entry kernel(.param .u64 inp, .param .u64 outp)
{{
.reg .b32 s<8>; .reg .b64 in, out;
ld.param.u64 in, [inp]; ld.param.u64 out, [outp];
wmma.load.c.sync.aligned.{first}.{name}.global.{kind} {registers}, [in], {n if first == "row" else m};
wmma.store.d.sync.aligned.{second}.{name}.global.{kind} [out], {registers}, {m if second == "col" else n};
ret;
}}
"""
        with Emulator() as e:
            e.load(ptx)
            source = given if first == "row" else given.T.copy()
            out = e.buffer(np.zeros_like(given), "out")
            result = e.launch("kernel", 1, 32, [e.buffer(source, "in"), out])
            assert not result.findings
            want = given.T if second == "col" else given
            assert np.array_equal(out.read(given.dtype), want.reshape(-1))


# ---- As programs write it -------------------------------------------------------------------------


def test_wmma_of_whole_matrices() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(-8, 9, (32, 64)).astype(np.float16), rng.integers(-8, 9, (64, 48)).astype(np.float16)
    with Emulator() as e:
        e.load(image(ROOT / "tests" / "data" / "ptx" / "tensor.cu"))
        d = e.buffer(np.zeros(32 * 48, np.float32), "d")
        for schedule in (0, 1, 4):
            result = e.launch(
                "wmma_product", (3, 2), 32, [e.buffer(a, "a"), e.buffer(b, "b"), d], schedule=schedule
            )
            assert not result.findings
            assert np.array_equal(
                d.read(np.float32).reshape(32, 48), 2 * (a.astype(np.float32) @ b.astype(np.float32))
            )


def test_ldmatrix_and_mma() -> None:
    rng = np.random.default_rng(4)
    a, b = rng.integers(-4, 5, (16, 16)), rng.integers(-1, 2, (16, 8))
    raw = [(x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16) for x in (a, b)]
    with Emulator() as e:
        e.load(image(ROOT / "tests" / "data" / "ptx" / "tensor.cu"))
        d = e.buffer(np.zeros(128, np.uint16), "d")
        result = e.launch("ldmatrix_product", 1, 32, [e.buffer(raw[0], "a"), e.buffer(raw[1], "b"), d])
        assert not result.findings
        got = (d.read(np.uint16).astype(np.uint32) << 16).view(np.float32).reshape(16, 8)
        assert np.array_equal(got, (a @ b).astype(np.float32))
