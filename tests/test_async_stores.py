"""st.async and red.async: stores to a block of the cluster that count their bytes at its mbarrier."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from emulator import Emulator, Result

SCHEDULES = (0, 1, 2, 3, 4, 8)


@pytest.fixture(scope="module")
def device(emulator_built: Path) -> Iterator[Emulator]:
    with Emulator() as e:
        yield e


def kernel(body: str) -> str:
    """k(out), clusters of two blocks of 32 threads.

    %w is the place of data[4 * tid] in this block, %r3 that in the other block, %r4 that of its mbarrier, %b that of
    the own one, %i the global index.
    """
    return f"""
.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) .explicitcluster .reqnctapercluster 2, 1, 1 {{
    .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %d<32>; .reg .b32 %t, %k, %w, %b, %i, %z, %v<4>; .reg .f32 %f<4>;
    .shared .align 128 .b32 data[128];
    .shared .align 8 .b64 bar;
    ld.param.u64 %d0, [out];
    mov.u32 %t, %tid.x;
    mov.u32 %k, %cluster_ctarank;
    mov.u32 %z, %ctaid.x;
    mad.lo.u32 %i, %z, 32, %t;
    shl.b32 %w, %t, 4;
    mov.u32 %b, data;
    add.u32 %w, %w, %b;
    mov.u32 %b, bar;
    setp.eq.u32 %p0, %t, 0;
    mov.u32 %v0, 5;
    st.shared.v4.b32 [%w], {{%v0, %v0, %v0, %v0}};
    @%p0 mbarrier.init.shared::cta.b64 [%b], 1;
    fence.mbarrier_init.release.cluster;
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;
    xor.b32 %r2, %k, 1;
    mapa.shared::cluster.u32 %r3, %w, %r2;
    mapa.shared::cluster.u32 %r4, %b, %r2;
    mul.lo.u32 %v0, %i, 10;
    add.u32 %v1, %v0, 1;
    add.u32 %v2, %v0, 2;
    add.u32 %v3, %v0, 3;
{body}
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;
    ret;
}}
"""


def expect(count: int) -> str:
    return f"@%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], {count};\n"


STORE = "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.{type} [%r3], {values}, [%r4];\n"
RED = "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.{op}.{type} [%r3], {value}, [%r4];\n"
WAIT = "WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%b], 0;\n@!%p1 bra WAIT;\n"
READ = """
    ld.shared.v4.b32 {%r10, %r11, %r12, %r13}, [%w];
    mul.wide.u32 %d1, %i, 16;
    add.u64 %d1, %d0, %d1;
    st.global.v4.b32 [%d1], {%r10, %r11, %r12, %r13};
"""


def launch(device: Emulator, body: str, schedule: int = 0) -> tuple[np.ndarray, Result]:
    device.load(kernel(body))
    out = device.buffer(np.zeros((64, 4), np.uint32), "out")
    result = device.launch("k", 2, 32, [out], schedule=schedule)
    return out.read(np.uint32).reshape(64, 4), result


def sent() -> np.ndarray:
    """The values that each thread gets: those of the same thread of the other block."""
    mine = np.arange(64, dtype=np.uint32)[:, None] * 10 + np.arange(4, dtype=np.uint32)
    return np.roll(mine, 32, axis=0)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("form", "values", "count"),
    [
        ("b32", "%v0", 1),
        ("u32", "%v0", 1),
        ("v2.b32", "{%v0, %v1}", 2),
        ("v4.s32", "{%v0, %v1, %v2, %v3}", 4),
    ],
)
def test_store(device: Emulator, form: str, values: str, count: int, schedule: int) -> None:
    body = expect(128 * count) + STORE.format(type=form, values=values) + WAIT + READ
    got, result = launch(device, body, schedule)
    assert not result.findings
    assert (got[:, :count] == sent()[:, :count]).all()
    assert (got[:, count:] == 5).all()


def test_store_of_64_bits(device: Emulator) -> None:
    body = expect(512) + "mov.b64 %d3, {%v0, %v1};\nmov.b64 %d4, {%v2, %v3};\n"
    got, result = launch(device, body + STORE.format(type="v2.b64", values="{%d3, %d4}") + WAIT + READ)
    assert not result.findings
    assert (got == sent()).all()


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("op", "kind", "expected"),
    [
        ("add", "u32", lambda x: x + 5),
        ("add", "s32", lambda x: x + 5),
        ("min", "u32", lambda x: np.minimum(x, 5)),
        ("max", "s32", lambda x: np.maximum(x, 5)),
        ("and", "b32", lambda x: x & 5),
        ("or", "b32", lambda x: x | 5),
        ("xor", "b32", lambda x: x ^ 5),
        ("inc", "u32", lambda x: np.where(x <= 5, 0, 6)),
        ("dec", "u32", lambda x: np.where(x < 5, x, 4)),
    ],
)
def test_reduction(device: Emulator, op: str, kind: str, expected: object, schedule: int) -> None:
    body = expect(128) + RED.format(op=op, type=kind, value="%v0") + WAIT + READ
    got, result = launch(device, body, schedule)
    assert not result.findings
    assert (got[:, 0] == expected(sent()[:, 0])).all()  # type: ignore[operator]
    assert (got[:, 1:] == 5).all()


def test_sums_of_many_threads(device: Emulator) -> None:
    body = "sub.u32 %r5, %w, %t;\nmov.u32 %r5, data;\nmapa.shared::cluster.u32 %r3, %r5, %r2;\n" + expect(128)
    got, result = launch(device, body + RED.format(op="add", type="u32", value="1") + WAIT + READ)
    assert not result.findings
    assert (got[::32, 0] == 5 + 32).all()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_values_that_are_read_too_early(device: Emulator, schedule: int) -> None:
    body = expect(128) + STORE.format(type="b32", values="%v0") + READ + WAIT
    assert "RACE" in {f.kind for f in launch(device, body, schedule)[1].findings}


def test_wrong_count(device: Emulator) -> None:
    finding = launch(device, expect(132) + STORE.format(type="b32", values="%v0") + WAIT)[1].finding
    assert finding.kind == "DEADLOCK"
    assert "4 bytes" in finding.message


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("[%r3]", "[%r3+2]", "MISALIGNED"),
        ("[%r3]", "[%r3+4096]", "OUT_OF_BOUNDS"),
        ("[%r4]", "[%r4+8]", "OUT_OF_BOUNDS"),
    ],
)
def test_wrong_addresses(device: Emulator, old: str, new: str, kind: str) -> None:
    body = expect(128) + STORE.format(type="b32", values="%v0").replace(old, new) + WAIT
    assert launch(device, body)[1].findings[0].kind == kind


@pytest.mark.parametrize(
    "form",
    [
        STORE.format(type="b16", values="%v0"),
        STORE.format(type="b32", values="%v0").replace(".mbarrier::complete_tx::bytes", ""),
        RED.format(op="add", type="f32", value="%f0").replace("add.f32", "cas.b32"),
        RED.format(op="add", type="f32", value="%f0"),
        RED.format(op="min", type="b32", value="%v0"),
    ],
)
def test_forms_that_are_refused(device: Emulator, form: str) -> None:
    finding = launch(device, expect(128) + form + WAIT)[1].findings[0]
    assert finding.kind in {"UNSUPPORTED", "BAD_PTX"}
