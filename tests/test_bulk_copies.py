"""Bulk copies and reductions, and cp.async with mbarriers: what they move, when it arrives, and missing waits."""

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
    """k(in, out) with 1 KiB of shared bytes in %s, an mbarrier in %b, in and out in %d1 and %d2, %tid.x in %t."""
    return f"""
.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {{
    .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %d<32>; .reg .b32 %t, %b, %s; .reg .b16 %h<4>;
    .shared .align 8 .b64 bar[2];
    .shared .align 128 .b8 tile[1024];
    ld.param.u64 %d1, [in];
    ld.param.u64 %d2, [out];
    mov.u32 %t, %tid.x;
    mov.u32 %b, bar;
    mov.u32 %s, tile;
    setp.eq.u32 %p0, %t, 0;
    @%p0 mbarrier.init.shared::cta.b64 [%b], 1;
    bar.sync 0;
{body}
    ret;
}}
"""


WAIT = """
WAIT{n}:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%b], {n};
    @!%p1 bra WAIT{n};
"""
EXPECT = "    @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%b], {bytes};\n"
LOAD = "    @%p0 cp.async.bulk.{to}.global.mbarrier::complete_tx::bytes{hint} [%s], [%d1], {bytes}, [%b]{more};\n"
# Thread t reads the word 31 - t, and stores it as out[t].
READ = """
    sub.u32 %r1, 31, %t;
    shl.b32 %r1, %r1, 2;
    add.u32 %r1, %s, %r1;
    ld.shared.u32 %r2, [%r1];
    shl.b32 %r3, %t, 2;
    cvt.u64.u32 %d3, %r3;
    add.u64 %d3, %d2, %d3;
    st.global.u32 [%d3], %r2;
"""


def launch(
    device: Emulator,
    body: str,
    schedule: int = 0,
    given: np.ndarray | None = None,
    out: np.ndarray | None = None,
) -> tuple[np.ndarray, Result]:
    device.load(kernel(body))
    given = np.arange(1000, 1256, dtype=np.uint32) if given is None else given
    out = np.zeros(256, np.uint32) if out is None else out
    source, target = device.buffer(given, "in"), device.buffer(out, "out")
    result = device.launch("k", 1, 32, [source, target], schedule=schedule)
    got = target.read(out.dtype)
    source.free()
    target.free()
    return got, result


def load(to: str = "shared::cta", size: int = 128, hint: str = "", more: str = "") -> str:
    return LOAD.format(to=to, bytes=size, hint=hint, more=more)


# ---- Global to shared --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("to", "hint", "more"),
    [("shared::cta", "", ""), ("shared::cluster", "", ""), ("shared::cluster", ".L2::cache_hint", ", %d9")],
)
def test_load(device: Emulator, schedule: int, to: str, hint: str, more: str) -> None:
    body = "    mov.u64 %d9, 0;\n" + EXPECT.format(bytes=128) + load(to, hint=hint, more=more)
    got, result = launch(device, body + WAIT.format(n=0) + READ, schedule)
    assert not result.findings
    assert got[:32].tolist() == list(range(1031, 999, -1))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_load_that_nothing_waits_for(device: Emulator, schedule: int) -> None:
    _, result = launch(device, EXPECT.format(bytes=128) + load() + READ, schedule)
    found = [f for f in result.findings if f.kind == "UNINITIALISED"]
    assert "has not delivered (the wait for its mbarrier must come first)" in found[0].message
    left = [f for f in result.findings if "still in flight when the block ends" in f.message]
    assert left[0].kind == "RACE"


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_what_is_not_delivered_changes_with_the_schedule(device: Emulator, schedule: int) -> None:
    got, _ = launch(device, EXPECT.format(bytes=128) + load() + READ, schedule)
    other, _ = launch(device, EXPECT.format(bytes=128) + load() + READ, schedule + 5)
    assert got.tolist() != other.tolist()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_wrong_parity(device: Emulator, schedule: int) -> None:
    """The phase before the first counts as ended: a wait for parity 1 is none."""
    body = EXPECT.format(bytes=128) + load() + WAIT.format(n=1) + READ
    _, result = launch(device, body, schedule)
    assert "UNINITIALISED" in result.kinds


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_missing_expect_tx(device: Emulator, schedule: int) -> None:
    """The arrival alone ends the phase, and then the bytes come."""
    body = "    @%p0 mbarrier.arrive.shared::cta.b64 _, [%b];\n" + load() + WAIT.format(n=0) + READ
    _, result = launch(device, body, schedule)
    assert "UNINITIALISED" in result.kinds


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("announced", "words"), [(144, "for 16 bytes of copies"), (112, "brought 16 bytes that no")]
)
def test_wrong_number_of_bytes(device: Emulator, schedule: int, announced: int, words: str) -> None:
    _, result = launch(device, EXPECT.format(bytes=announced) + load() + WAIT.format(n=0) + READ, schedule)
    assert result.findings[-1].kind == "DEADLOCK"
    assert words in result.findings[-1].message


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        (
            ("128, [%b]", "120, [%b]"),
            "MISALIGNED",
            "copies 120 bytes, but the size of a bulk copy is a multiple of 16",
        ),
        (("[%s], [", "[%s+8], ["), "MISALIGNED", "is not a multiple of 16"),
        (("[%d1]", "[%d1+4]"), "MISALIGNED", "is not a multiple of 16"),
        (("[%d1]", "[%d1+1008]"), "OUT_OF_BOUNDS", "128 bytes at byte 1008 of in, which has 1024"),
        (("[%s], [", "[%s+912], ["), "OUT_OF_BOUNDS", "128 bytes at byte 912 of shared tile, which has 1024"),
        (("[%b]", "[%b+8]"), "BAD_BARRIER", "in shared bar at byte 8, but none is initialised"),
    ],
)
def test_refused(device: Emulator, change: tuple[str, str], kind: str, words: str) -> None:
    text = load().replace(*change)
    assert text != load()
    _, result = launch(device, EXPECT.format(bytes=128) + text + WAIT.format(n=0))
    assert result.finding.kind == kind
    assert words in result.finding.message


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_bytes_that_nothing_wrote_stay_undefined(device: Emulator, schedule: int) -> None:
    device.load(kernel(EXPECT.format(bytes=128) + load() + WAIT.format(n=0) + READ))
    source, target = device.buffer(1024, "in"), device.buffer(np.zeros(32, np.uint32), "out")
    result = device.launch("k", 1, 32, [source, target], schedule=schedule)
    assert result.kinds == ["UNINITIALISED"]
    assert (
        "which hold no defined value" in result.findings[0].message
        or "nothing has" in result.findings[0].message
    )


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_store_under_a_load(device: Emulator, schedule: int) -> None:
    body = EXPECT.format(bytes=128) + load() + "    @%p0 st.shared.u32 [%s+4], %t;\n" + WAIT.format(n=0)
    _, result = launch(device, body, schedule)
    assert result.finding.kind == "RACE"
    assert "has yet to write: the wait for its mbarrier must come first" in result.finding.message


# ---- Shared to global --------------------------------------------------------------------------------------------
FILL = """
    shl.b32 %r3, %t, 2;
    add.u32 %r4, %s, %r3;
    add.u32 %r5, %t, 500;
    st.shared.u32 [%r4], %r5;
"""
FENCE = "    fence.proxy.async.shared::cta;\n"
STORE = "    @%p0 cp.async.bulk.global.shared::cta.bulk_group{hint} [%d2], [%s], 128{more};\n"
STORE += "    @%p0 cp.async.bulk.commit_group;\n"


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("hint", "more", "mask"),
    [
        ("", "", 65535),
        (".L2::cache_hint", ", %d9", 65535),
        (".cp_mask", ", 0xff0f", 65295),
        (".L2::cache_hint.cp_mask", ", %d9, 15", 15),
    ],
)
@pytest.mark.parametrize("wait", ["wait_group", "wait_group.read"])
def test_store(device: Emulator, schedule: int, hint: str, more: str, mask: int, wait: str) -> None:
    body = "    mov.u64 %d9, 0;\n" + FILL + FENCE + "    bar.sync 0;\n" + STORE.format(hint=hint, more=more)
    body += f"    @%p0 cp.async.bulk.{wait} 0;\n    @%p0 st.shared.u32 [%s], 7;\n"
    got, result = launch(device, body, schedule)
    assert not result.findings
    expected = np.arange(500, 532, dtype=np.uint32).view(np.uint8)
    written = np.array([mask >> k & 1 for k in range(16)] * 8, bool)
    assert got[:32].view(np.uint8).tolist() == np.where(written, expected, 0).tolist()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_store_without_a_proxy_fence(device: Emulator, schedule: int) -> None:
    body = (
        FILL + "    bar.sync 0;\n" + STORE.format(hint="", more="") + "    @%p0 cp.async.bulk.wait_group 0;\n"
    )
    _, result = launch(device, body, schedule)
    assert result.finding.kind == "RACE"
    assert "no thread of the block has made a fence.proxy.async since" in result.finding.message
    late = body.replace("    bar.sync 0;\n", "    bar.sync 0;\n" + FENCE)  # by the thread that copies
    assert not launch(device, late, schedule)[1].findings


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(("groups", "is_early"), [(0, False), (1, True)])
def test_the_source_of_a_store_changes_too_early(
    device: Emulator, schedule: int, groups: int, is_early: bool
) -> None:
    body = FILL + FENCE + "    bar.sync 0;\n" + STORE.format(hint="", more="")
    body += (
        f"    @%p0 cp.async.bulk.wait_group.read {groups};\n    bar.sync 0;\n    st.shared.u32 [%r4], 1;\n"
    )
    body += "    @%p0 cp.async.bulk.wait_group 0;\n"
    got, result = launch(device, body, schedule)
    if not is_early:
        assert not result.findings
        assert got[:32].tolist() == list(range(500, 532))
        return
    assert result.kinds == ["RACE"]
    assert (
        "may not have read yet: cp.async.bulk.wait_group.read must come first" in result.findings[0].message
    )
    assert got[:32].tolist() == [1] * 32


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_block_ends_before_its_store_has_read(device: Emulator, schedule: int) -> None:
    body = FILL + FENCE + "    bar.sync 0;\n" + STORE.format(hint="", more="")
    got, result = launch(device, body, schedule)
    assert result.finding.kind == "RACE"
    assert "may not have read its shared memory when the block ends" in result.finding.message
    assert got[:32].tolist() == list(range(500, 532))


# ---- Reductions --------------------------------------------------------------------------------------------------
REDUCTIONS = [
    *[(op, t) for op in ("add", "min", "max") for t in ("u32", "s32", "u64", "s64", "f16", "bf16")],
    *[("add", t) for t in ("f32", "f64")],
    *[(op, t) for op in ("and", "or", "xor") for t in ("b32", "b64")],
    ("inc", "u32"),
    ("dec", "u32"),
]
DTYPES = {
    "u32": "u4",
    "s32": "i4",
    "u64": "u8",
    "s64": "i8",
    "f16": "f2",
    "bf16": "u2",
    "f32": "f4",
    "f64": "f8",
}
DTYPES |= {"b32": "u4", "b64": "u8"}


def widened(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def reduced(op: str, kind: str, old: np.ndarray, new: np.ndarray) -> np.ndarray:
    if kind == "bf16":  # of small integers: exact
        return (reduced(op, "f32", widened(old), widened(new)).view(np.uint32) >> 16).astype(np.uint16)
    if op == "inc":
        return np.where(old >= new, 0, old + 1).astype(old.dtype)
    if op == "dec":
        return np.where((old == 0) | (old > new), new, old - 1).astype(old.dtype)
    table = {"add": np.add, "min": np.minimum, "max": np.maximum}
    table |= {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
    return table[op](old, new)


def operands(kind: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    dtype = np.dtype(DTYPES[kind])
    if kind == "bf16":
        return (rng.integers(-50, 50, 512).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if dtype.kind == "f":
        return rng.integers(-100, 100, 1024 // dtype.itemsize).astype(dtype)
    return rng.integers(0, 256, 1024, np.uint8).view(dtype)


@pytest.mark.parametrize(("op", "kind"), REDUCTIONS)
def test_reduction_to_global(device: Emulator, op: str, kind: str) -> None:
    old, new = operands(kind, 1), operands(kind, 2)
    noftz = ".noftz" if op == "add" and kind in ("f16", "bf16") else ""
    body = EXPECT.format(bytes=1024) + load(size=1024) + WAIT.format(n=0) + FENCE
    body += (
        f"    @%p0 cp.reduce.async.bulk.global.shared::cta.bulk_group{noftz}.{op}.{kind} [%d2], [%s], 1024;\n"
    )
    body += "    @%p0 cp.async.bulk.commit_group;\n    @%p0 cp.async.bulk.wait_group 0;\n"
    got, result = launch(device, body, 0, new, old)
    assert not result.findings
    assert np.array_equal(got, reduced(op, kind, old, new))


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("op", "kind"), [("add", "u32"), ("max", "s32"), ("or", "b32"), ("inc", "u32"), ("add", "u64")]
)
def test_reduction_to_shared(device: Emulator, schedule: int, op: str, kind: str) -> None:
    old = operands(kind, 3)
    body = EXPECT.format(bytes=1024) + load(size=1024) + WAIT.format(n=0)
    body += EXPECT.format(bytes=512)
    body += (
        f"    @%p0 cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.{op}.{kind} "
    )
    body += "[%s], [%s+512], 512, [%b];\n" + WAIT.format(n=1) + FENCE
    body += STORE.format(hint="", more="").replace("128", "1024") + "    @%p0 cp.async.bulk.wait_group 0;\n"
    got, result = launch(device, body, schedule, old, np.zeros_like(old))
    assert not result.findings
    half = len(old) // 2
    assert np.array_equal(got[:half], reduced(op, kind, old[:half], old[half:]))
    assert np.array_equal(got[half:], old[half:])


# ---- Within shared memory, and prefetches ------------------------------------------------------------------------
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_shared_to_shared(device: Emulator, schedule: int) -> None:
    body = FILL.replace("[%r4]", "[%r4+256]") + FENCE + "    bar.sync 0;\n" + EXPECT.format(bytes=128)
    body += "    @%p0 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
    body += "[%s], [%s+256], 128, [%b];\n"
    got, result = launch(device, body + WAIT.format(n=0) + READ, schedule)
    assert not result.findings
    assert got[:32].tolist() == list(range(531, 499, -1))


def test_prefetch(device: Emulator) -> None:
    body = "    mov.u64 %d9, 0;\n    @%p0 cp.async.bulk.prefetch.L2.global [%d1], 128;\n"
    body += "    @%p0 cp.async.bulk.prefetch.L2.global.L2::cache_hint [%d1], 128, %d9;\n"
    assert not launch(device, body)[1].findings


# ---- cp.async ----------------------------------------------------------------------------------------------------
CP_ASYNC = """
    shl.b32 %r3, %t, 2;
    add.u32 %r4, %s, %r3;
    cvt.u64.u32 %d4, %r3;
    add.u64 %d5, %d1, %d4;
    cp.async.ca.shared.global [%r4], [%d5], 4;
"""


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("noinc", [True, False])
def test_cp_async_arrives(device: Emulator, schedule: int, noinc: bool) -> None:
    """Without .noinc the arrival is one more than the mbarrier was initialised for."""
    count = 32 if noinc else 1
    body = (
        f"    @%p0 mbarrier.init.shared::cta.b64 [%b+8], {count};\n    bar.sync 0;\n    add.u32 %b, %b, 8;\n"
        + CP_ASYNC
    )
    body += (
        f"    cp.async.mbarrier.arrive{'.noinc' if noinc else ''}.shared::cta.b64 [%b];\n    bar.sync 0;\n"
    )
    body += "" if noinc else "    @%p0 mbarrier.arrive.shared::cta.b64 _, [%b];\n"
    got, result = launch(device, body + WAIT.format(n=0) + READ, schedule)
    assert not result.findings
    assert got[:32].tolist() == list(range(1031, 999, -1))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_cp_async_without_its_wait(device: Emulator, schedule: int) -> None:
    _, result = launch(device, CP_ASYNC + "    cp.async.commit_group;\n    bar.sync 0;\n" + READ, schedule)
    found = [f for f in result.findings if f.kind == "UNINITIALISED"]
    assert (
        "has not delivered (cp.async.wait_group or .wait_all, __pipeline_wait_prior(), must"
        in found[0].message
    )


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_copies_after_the_arrival_do_not_count(device: Emulator, schedule: int) -> None:
    body = "    @%p0 mbarrier.init.shared::cta.b64 [%b+8], 32;\n    bar.sync 0;\n    add.u32 %b, %b, 8;\n"
    body += "    cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%b];\n" + CP_ASYNC + WAIT.format(n=0) + READ
    _, result = launch(device, body, schedule)
    assert "UNINITIALISED" in result.kinds
