"""Tensor copies: boxes of a matrix against NumPy, when they arrive, and what a kernel can do wrong with them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from emulator import Emulator, Result, Value

sys.path.append(str(Path(__file__).resolve().parent / "hardware_truth" / "tma"))
from tensor_copy_cases import NAMES, Case, encoded

SCHEDULES = (0, 1, 2, 3, 4, 8)
ROWS, COLUMNS, BOX = 12, 20, (8, 4)  # of the matrix; columns and rows of the box
MATRIX = Case("load", NAMES.index("u32"), (COLUMNS, ROWS), (96,), BOX, (1, 1))

LINE = Case("load", NAMES.index("u32"), (COLUMNS,), (), BOX[:1], (1,))


@pytest.fixture(scope="module")
def device(emulator_built: Path) -> Iterator[Emulator]:
    with Emulator() as e:
        yield e


def kernel(body: str) -> str:
    """k(map, x, y, out) with a tile in %s, an mbarrier in %b, the map's address in %m, %tid.x in %t."""
    return f"""
.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .align 64 .b8 pm[128], .param .u32 px, .param .u32 py, .param .u64 pout) {{
    .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %d<32>, %m; .reg .b32 %t, %b, %s, %x, %y;
    .shared .align 8 .b64 bar[1];
    .shared .align 128 .b8 tile[{4 * BOX[0] * BOX[1]}];
    mov.b64 %m, pm;
    cvta.param.u64 %m, %m;
    ld.param.u32 %x, [px];
    ld.param.u32 %y, [py];
    ld.param.u64 %d2, [pout];
    mov.u32 %t, %tid.x;
    mov.u32 %b, bar;
    mov.u32 %s, tile;
    setp.eq.u32 %p0, %t, 0;
    shl.b32 %r3, %t, 2;
    add.u32 %r1, %s, %r3;
    @%p0 mbarrier.init.shared::cta.b64 [%b], 1;
    bar.sync 0;
{body}
    ret;
}}
"""


EXPECT = "@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], 128;\n"
LOAD = "@%p0 cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%s], [%m, {%x, %y}], [%b];\n"
WAIT = "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%b], 0;\n@!%p1 bra WAIT;\n"
READ = "ld.shared.u32 %r2, [%r1];\ncvt.u64.u32 %d3, %r3;\nadd.u64 %d3, %d2, %d3;\nst.global.u32 [%d3], %r2;\n"
FILL = "add.u32 %r2, %t, 100;\nst.shared.u32 [%r1], %r2;\nfence.proxy.async;\nbar.sync 0;\n"
STORE = "@%p0 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%m, {%x, %y}], [%s];\n"
ADD = STORE.replace("cp.async", "cp.reduce.async").replace("cta.tile", "cta.add.tile")
DONE = "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n"


def matrix() -> np.ndarray:
    return np.arange(1000, 1000 + ROWS * 24, dtype=np.uint32).reshape(ROWS, 24)


def launch(
    device: Emulator,
    body: str,
    x: int = 8,
    y: int = 4,
    schedule: int = 0,
    case: Case = MATRIX,
    words: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, Result]:
    """What the 32 threads stored, the matrix afterwards, and what came of the launch."""
    device.load(kernel(body))
    tensor, out = device.buffer(matrix(), "tensor"), device.buffer(np.zeros(32, np.uint32), "out")
    if words is None:
        words, why = encoded(case, tensor.address)
        assert words is not None, why
    arguments = [Value("bytes", words.tobytes()), Value("i32", x), Value("i32", y), out]
    result = device.launch("k", 1, 32, arguments, schedule=schedule)
    got, after = out.read(np.uint32), tensor.read(np.uint32).reshape(ROWS, 24)
    tensor.free()
    out.free()
    return got.reshape(4, 8), after, result


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(("x", "y"), [(0, 0), (8, 4), (16, 10), (-4, -2), (20, 0), (0, 12), (100, 100)])
def test_load(device: Emulator, x: int, y: int, schedule: int) -> None:
    padded = np.pad(matrix()[:, :COLUMNS], ((120, 120), (120, 120)))
    got, after, result = launch(device, EXPECT + LOAD + WAIT + READ, x, y, schedule)
    assert not result.findings
    assert (got == padded[120 + y :, 120 + x :][:4, :8]).all()
    assert (after == matrix()).all()


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(("x", "y"), [(0, 0), (8, 4), (16, 10), (20, 0)])
def test_store(device: Emulator, x: int, y: int, schedule: int) -> None:
    for copy, before in ((STORE, 0), (ADD, matrix())):
        expected = matrix()
        tile = np.zeros((ROWS + 4, 40), np.uint32)
        tile[y : y + 4, x : x + 8] = np.arange(100, 132).reshape(4, 8)
        is_inside = np.zeros((ROWS + 4, 40), bool)
        is_inside[y : y + 4, x : x + 8] = True
        is_inside[:, COLUMNS:] = False
        chosen = is_inside[:ROWS, :24]
        expected[chosen] = (tile[:ROWS, :24] + before)[chosen]
        _, after, result = launch(device, FILL + copy + DONE, x, y, schedule)
        assert not result.findings
        assert (after == expected).all()


def test_swizzled_load(device: Emulator) -> None:
    """Rows of 32 bytes: the halves of rows 4 to 7 of each eight change places."""
    case = replace(MATRIX, swizzle=1)
    plain = launch(device, EXPECT + LOAD + WAIT + READ)[0]
    got, _, result = launch(device, EXPECT + LOAD + WAIT + READ, case=case)
    assert not result.findings
    assert (got == plain).all()  # the box has four rows
    half = "add.u32 %s, %s, 128;\nxor.b32 %r3, %r3, 16;\nadd.u32 %r1, %s, %r3;\nxor.b32 %r3, %r3, 16;\n"
    text = kernel(half + EXPECT + LOAD + WAIT + READ).replace("tile[128]", "tile[256]")
    device.load(text)
    tensor, out = device.buffer(matrix(), "tensor"), device.buffer(np.zeros(32, np.uint32), "out")
    words, _ = encoded(case, tensor.address)
    assert words is not None
    result = device.launch(
        "k", 1, 32, [Value("bytes", words.tobytes()), Value("i32", 8), Value("i32", 4), out]
    )
    assert not result.findings
    assert (out.read(np.uint32).reshape(4, 8) == plain).all()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_box_that_is_read_too_early(device: Emulator, schedule: int) -> None:
    findings = launch(device, EXPECT + LOAD + READ + WAIT, schedule=schedule)[2].findings
    told = [f for f in findings if f.kind == "UNINITIALISED"]
    assert told
    assert "has not delivered (the wait for its mbarrier must come first)" in told[0].message


def test_bytes_that_the_mbarrier_does_not_expect(device: Emulator) -> None:
    finding = launch(device, EXPECT.replace("128", "144") + LOAD + WAIT + READ)[2].finding
    assert finding.kind == "DEADLOCK"
    assert "16 bytes" in finding.message


def test_no_proxy_fence(device: Emulator) -> None:
    finding = launch(device, FILL.replace("fence.proxy.async;", "") + STORE + DONE)[2].finding
    assert finding.kind == "RACE"
    assert "fence.proxy.async" in finding.message


def test_tile_that_is_overwritten_while_it_is_read(device: Emulator) -> None:
    again = "bar.sync 0;\nst.shared.u32 [%r1], %r2;\n"
    finding = launch(device, FILL + STORE + again + DONE)[2].finding
    assert finding.kind == "RACE"
    assert "cp.async.bulk.wait_group.read must come first" in finding.message


def test_source_that_nothing_has_written(device: Emulator) -> None:
    finding = launch(device, EXPECT + LOAD + WAIT + READ + FILL.replace("st.shared", "// "))[2].findings
    assert not finding
    text = kernel(EXPECT + LOAD + WAIT + READ)
    device.load(text)
    tensor, out = device.buffer(matrix().nbytes, "tensor"), device.buffer(np.zeros(32, np.uint32), "out")
    words, _ = encoded(MATRIX, tensor.address)
    assert words is not None
    result = device.launch(
        "k", 1, 32, [Value("bytes", words.tobytes()), Value("i32", 8), Value("i32", 4), out]
    )
    assert result.finding.kind == "UNINITIALISED"


@pytest.mark.parametrize(
    ("body", "x", "y", "case", "kind", "message"),
    [
        (EXPECT + LOAD, 1, 0, MATRIX, "MISALIGNED", "from coordinate 1 of the first dimension"),
        (FILL + STORE, 0, -1, MATRIX, "OUT_OF_BOUNDS", "at a coordinate of -1"),
        (EXPECT + LOAD, 0, 0, replace(MATRIX, dims=(COLUMNS, 13)), "", ""),
        (EXPECT + LOAD, 0, 10, replace(MATRIX, dims=(COLUMNS, 13)), "OUT_OF_BOUNDS", "of tensor, which has 1152"),
        (FILL + STORE, 16, 8, replace(MATRIX, dims=(COLUMNS, 13)), "", ""),
        (FILL + STORE, 16, 9, replace(MATRIX, dims=(COLUMNS, 13)), "OUT_OF_BOUNDS", "of tensor, which has 1152"),
        (EXPECT + LOAD, 0, 0, LINE, "BAD_CALL", "tensor map of 1 dim"),
        (FILL + ADD, 0, 0, replace(MATRIX, type=NAMES.index("u8"), box=(32, 4)), "BAD_CALL", "the tensor's type"),
        (EXPECT + LOAD.replace("[%s", "[%s+16"), 0, 0, replace(MATRIX, box=(4, 4)), "MISALIGNED", "multiple of 128"),
        (EXPECT + LOAD, 0, 0, replace(MATRIX, box=(8, 5)), "OUT_OF_BOUNDS", "of shared tile, which has 128"),
    ],
)  # fmt: skip
def test_copies_that_are_refused(
    device: Emulator, body: str, x: int, y: int, case: Case, kind: str, message: str
) -> None:
    rest = WAIT + READ if "EXPECT" in body or "complete_tx" in body else DONE
    findings = launch(device, body + rest, x, y, case=case)[2].findings
    assert [f.kind for f in findings if f.kind != "RACE"][:1] == ([kind] if kind else [])
    assert not kind or message in findings[0].message


def test_words_that_are_no_map(device: Emulator) -> None:
    finding = launch(device, EXPECT + LOAD + WAIT, words=np.zeros(32, np.uint32))[2].finding
    assert finding.kind == "BAD_CALL"
    assert "cuTensorMapEncodeTiled has not written" in finding.message


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("global.tile", "global.im2col", "im2col"),
        (".2d", ".6d", "6d"),
        ("{%x, %y}", "{%x, %y, %x}", "as many coordinates as dimensions"),
        (".mbarrier::complete_tx::bytes", "", "tensor"),
    ],
)
def test_forms_that_are_refused(device: Emulator, old: str, new: str, message: str) -> None:
    finding = launch(device, (EXPECT + LOAD).replace(old, new))[2].finding
    assert finding.kind == "UNSUPPORTED"
    assert message in finding.message


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"box": (3, 4)}, "12 bytes, which is not a multiple of 16"),
        ({"box": (257, 4)}, "257 elements, not 1 to 256"),
        ({"dims": (0, 1)}, "0 elements, not 1 to 2^32"),
        ({"steps": (1, 9)}, "a stride of 9 elements"),
        ({"strides": (24,)}, "a stride of 24 bytes"),
        ({"swizzle": 1, "box": (16, 4)}, "64 bytes, more than the 32"),
        ({"fill": 1}, "only floats"),
        ({"interleave": 1}, "interleaved"),
        ({"box": (256, 256)}, "262144 bytes, more than shared memory"),
        ({"base": 8}, "the address of a tensor"),
    ],
)
def test_maps_that_are_refused(emulator_built: Path, changes: dict, message: str) -> None:
    case = replace(MATRIX, **changes)
    words, why = encoded(case, 1 << 44 | case.base)
    assert words is None
    assert message in why
