"""wgmma against NumPy, and what a kernel can do wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from emulator import Emulator, Result

SCHEDULES = (0, 1, 2, 3)
M, N, K = 64, 16, 16


@pytest.fixture(scope="module")
def device(emulator_built: Path) -> Iterator[Emulator]:
    with Emulator() as e:
        yield e


# Both factors have their rows in shared memory one behind the other, as a descriptor without swizzling takes them:
# 8 x 8 elements each, those of one half of k behind those of the other.
PRODUCT = "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16"
SUMS = "{f0, f1, f2, f3, f4, f5, f6, f7}"
START = "wgmma.fence.sync.aligned;\n"
MULTIPLY = f"{PRODUCT} {SUMS}, da, db, p, 1, 1, 0, 0;\n"
WAIT = "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
READY = "fence.proxy.async;\nbar.sync 0;\n"
STORE = "".join(
    f"mad.lo.u32 r, t, 32, {4 * i}; cvt.u64.u32 w, r; add.u64 w, w, out; st.global.f32 [w], f{i};\n"
    for i in range(8)
)


def kernel(body: str, ready: str = READY, words: int = 512 + 128) -> str:
    return f"""
.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 pin, .param .u64 pout) {{
    .reg .f32 f<16>; .reg .b32 t, r, s, x; .reg .b64 in, out, da, db, w; .reg .pred p, q;
    .shared .align 1024 .b8 tile[{(512 + 128) * 4}];
    ld.param.u64 in, [pin];
    ld.param.u64 out, [pout];
    mov.u32 t, %tid.x;
    mov.u32 r, t;
COPY:
    setp.ge.u32 q, r, {words};
    @q bra DONE;
    mul.wide.u32 w, r, 4;
    add.u64 w, w, in;
    ld.global.b32 x, [w];
    mov.u32 s, tile;
    mad.lo.u32 s, r, 4, s;
    st.shared.b32 [s], x;
    add.u32 r, r, 128;
    bra COPY;
DONE:
    {ready}
    mov.u32 s, tile;
    shr.u32 r, s, 4;
    cvt.u64.u32 da, r;
    add.u64 db, da, {2048 >> 4};
    or.b64 da, da, {64 << 16 | 8 << 32};
    or.b64 db, db, {16 << 16 | 8 << 32};
    setp.ne.u32 p, t, t;
{body}
    ret;
}}
"""


def placed(rows: np.ndarray) -> np.ndarray:
    return np.concatenate([rows[:, :8].ravel(), rows[:, 8:].ravel()])


def factors() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    return tuple(rng.integers(-4, 5, (rows, K)).astype(np.float16) for rows in (M, N))


def launch(device: Emulator, text: str, schedule: int = 0, block: int = 128) -> tuple[np.ndarray, Result]:
    """The product as rows, and what came of the launch."""
    a, b = factors()
    device.load(text)
    source = device.buffer(np.concatenate([placed(a), placed(b)]), "in")
    target = device.buffer(np.zeros((128, 8), np.float32), "out")
    result = device.launch("k", 1, block, [source, target], schedule=schedule)
    # Warp, lane / 4, lane % 4, column / 8, row / 8, column % 2.
    got = target.read(np.float32).reshape(4, 8, 4, 2, 2, 2)
    return got.transpose(0, 4, 1, 3, 2, 5).reshape(M, N), result


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_product(device: Emulator, schedule: int) -> None:
    a, b = (x.astype(np.float32) for x in factors())
    got, result = launch(device, kernel(START + MULTIPLY + WAIT + STORE), schedule)
    assert not result.findings
    assert (got == a @ b.T).all()


def test_sums_add_up_without_a_wait_between_products(device: Emulator) -> None:
    a, b = (x.astype(np.float32) for x in factors())
    again = "setp.eq.u32 p, t, t;\n" + MULTIPLY.replace("1, 1, 0, 0", "-1, 1, 0, 0") + MULTIPLY * 3
    got, result = launch(device, kernel(START + MULTIPLY + again + WAIT + STORE))
    assert not result.findings
    assert (got == 3 * (a @ b.T)).all()


def test_turned_factor(device: Emulator) -> None:
    a, b = (x.astype(np.float32) for x in factors())
    # What was eight rows of eight elements of k is taken as eight k of eight rows.
    turned = b.reshape(2, 8, 2, 8).transpose(0, 3, 2, 1).reshape(N, K)
    text = kernel(START + MULTIPLY.replace("0, 0;", "0, 1;") + WAIT + STORE)
    got, result = launch(device, text)
    assert not result.findings
    assert (got == a @ turned.T).all()


@pytest.mark.parametrize(
    "early",
    [
        START + MULTIPLY + STORE + WAIT,
        START + MULTIPLY + WAIT.replace("aligned 0", "aligned 1") + STORE,
        START + MULTIPLY + "wgmma.wait_group.sync.aligned 0;" + STORE,  # never committed
        START + MULTIPLY + "".join(f"add.f32 f{i}, f{i}, 0f3f800000;" for i in range(8)) + WAIT + STORE,
        START + MULTIPLY + "mov.f32 f9, f3;\nmov.f32 f3, f9;" + STORE + WAIT,
    ],
)
def test_sums_that_are_read_before_the_wait(device: Emulator, early: str) -> None:
    text = kernel(early)
    finding = launch(device, text)[1].finding
    assert finding.kind == "UNINITIALISED"
    assert "wgmma.wait_group must come first" in finding.message
    assert finding.ptx_line == text[: text.index(PRODUCT)].count("\n") + 1


def test_copies_of_sums_are_good_after_the_wait(device: Emulator) -> None:
    body = START + MULTIPLY + "mov.f32 f9, f3;\n" + WAIT + "mov.f32 f3, f9;\n" + STORE
    assert not launch(device, kernel(body))[1].findings


def test_no_fence(device: Emulator) -> None:
    finding = launch(device, kernel(MULTIPLY + WAIT + STORE))[1].finding
    assert finding.kind == "RACE"
    assert "wgmma.fence.sync.aligned must come first" in finding.message


def test_stores_need_a_proxy_fence(device: Emulator) -> None:
    finding = launch(device, kernel(START + MULTIPLY + WAIT + STORE, ready="bar.sync 0;"))[1].finding
    assert finding.kind == "RACE"
    assert "fence.proxy.async" in finding.message
    assert "wgmma.mma_async that reads shared tile" in finding.message


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_no_barrier_after_stores(device: Emulator, schedule: int) -> None:
    text = kernel(START + MULTIPLY + WAIT + STORE, ready="fence.proxy.async;")
    assert "RACE" in {f.kind for f in launch(device, text, schedule)[1].findings}


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_factor_that_is_overwritten_before_the_wait(device: Emulator, schedule: int) -> None:
    overwrite = (
        "bar.sync 0;\nmov.u32 s, tile;\nxor.b32 r, t, 32;\nmad.lo.u32 s, r, 4, s;\nst.shared.b32 [s], x;\n"
    )
    late = launch(device, kernel(START + MULTIPLY + WAIT + overwrite + STORE), schedule)[1]
    assert not late.findings
    early = launch(device, kernel(START + MULTIPLY + overwrite + WAIT + STORE), schedule)[1]
    assert {f.kind for f in early.findings} == {"RACE"}


def test_factor_that_nothing_has_written(device: Emulator) -> None:
    finding = launch(device, kernel(START + MULTIPLY + WAIT + STORE, words=512 + 127))[1].finding
    assert finding.kind == "UNINITIALISED"
    assert "of shared tile, which nothing has written" in finding.message


def test_factor_outside(device: Emulator) -> None:
    text = kernel("add.u64 db, db, 1;\n" + START + MULTIPLY + WAIT + STORE)
    finding = launch(device, text)[1].finding
    assert finding.kind == "OUT_OF_BOUNDS"


@pytest.mark.parametrize("block", [96, 32])
def test_part_of_a_warpgroup(device: Emulator, block: int) -> None:
    finding = launch(device, kernel(START + MULTIPLY + WAIT + STORE), block=block)[1].finding
    assert finding.kind == "BAD_MASK"
    assert f"the block has {block}" in finding.message


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("k16.f32", "k8.f32", "no shape m64n16k8"),
        ("n16k16", "n12k16", "no shape m64n12k16"),
        ("mma_async.sync", "mma_async.sp.sync", "sparse"),
        ("f32.f16.f16 ", "f32.f16.bf16 ", "bf16"),
        (PRODUCT, PRODUCT.replace("f32.f16", "f16.bf16"), "f16"),
    ],
)
def test_forms_that_are_refused(device: Emulator, old: str, new: str, message: str) -> None:
    finding = launch(device, kernel((START + MULTIPLY + WAIT + STORE).replace(old, new)))[1].finding
    assert finding.kind == "UNSUPPORTED"
    assert message in finding.message


def test_base_offset(device: Emulator) -> None:
    text = kernel(f"or.b64 db, db, {1 << 49};\n" + START + MULTIPLY + WAIT + STORE)
    finding = launch(device, text)[1].finding
    assert finding.kind == "UNSUPPORTED"
    assert "base offset" in finding.message
