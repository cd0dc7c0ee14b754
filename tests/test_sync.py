"""Barriers and warp-wide operations: values against Python, and what is found when they are misused."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from cuda_images import TESTS, image
from emulator import ALL_CHECKS, RACE, Buffer, Emulator, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

WITHOUT_RACES = ALL_CHECKS & ~RACE
SCHEDULES = range(8)
FULL = 0xFFFFFFFF
quick = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def device(emulator_built: Path) -> Iterator[Emulator]:
    with Emulator() as e:
        e.load(image(TESTS / "data" / "ptx" / "synchronisation.cu"))
        yield e


def inputs(count: int) -> np.ndarray:
    return (np.arange(count, dtype=np.int64) * 2654435761 >> 9 & 127).astype(np.int32)


def run(
    e: Emulator,
    name: str,
    blocks: int,
    threads: int,
    schedule: int = 0,
    *,
    scratch: int = 1,
    checks: int = WITHOUT_RACES,
) -> tuple[np.ndarray, Result]:
    count = blocks * threads
    given_buffer, out = e.buffer(inputs(count), "in"), e.buffer(np.zeros(count * scratch, np.int32), "out")
    result = e.launch(
        name, blocks, threads, [given_buffer, out], schedule=schedule, steps=50_000_000, checks=checks
    )
    got = out.read(np.int32)[:count]
    given_buffer.free()
    out.free()
    return got, result


# ---- What correct kernels compute ------------------------------------------------------------------------------
def counting_barriers(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    return np.full(len(x), (x & 1).sum() * 100 + 10 * (x & 14 != 0).all() + (x == 77).any())


def producer_consumer(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    total = np.zeros(64, np.int64)
    for k in range(5):
        total = total * 3 + (x[63 - np.arange(64)] + k)
    return np.concatenate([np.zeros(64, np.int64), total])


def barriers_by_number(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    return np.where(t ^ 32 < len(t), x[np.minimum(t ^ 32, len(t) - 1)], -1)


def threads_gone(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    return np.where(t % 3 == 0, -3, np.where(t >= 64, -64, x[np.minimum(t + 32, 95)]))


def syncwarp_in_branches(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    stored = np.where(t & 1, x[t ^ 2] + 1, x[t ^ 8] * 2)
    return np.where(t & 1, stored[t ^ 4], stored[t ^ 2])


def one_mask_two_places(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    return np.where(x & 1, 1000 + x[t ^ 1], 2000 + x[t ^ 3])


def tiles(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    v = np.repeat(x.reshape(-1, 4).sum(axis=1), 4)
    top = np.repeat(v.reshape(-1, 16)[:, 15], 16)
    some = np.repeat((v.reshape(-1, 16) % 5 == 0).any(axis=1), 16)
    return v + 1000 * some + 2000 * (v > 50) + 10000 * (top & 7) + t % 16


def coalesced(x: np.ndarray, t: np.ndarray) -> np.ndarray:
    out = np.full(len(x), -1)
    for first in range(0, len(x), 32):
        active = np.flatnonzero(x[first : first + 32] & 1) + first
        out[active] = x[active[-1:]] * 1000 + np.arange(len(active)) * 32 + len(active)
    return out


@pytest.mark.parametrize(
    ("meaning", "threads"),
    [
        (counting_barriers, 96),
        (counting_barriers, 77),
        (producer_consumer, 128),
        (barriers_by_number, 128),
        (barriers_by_number, 112),
        (threads_gone, 96),
        (syncwarp_in_branches, 64),
        (one_mask_two_places, 64),
        (tiles, 96),
        (coalesced, 96),
        (coalesced, 41),
    ],
)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_kernel(
    device: Emulator, meaning: Callable[[np.ndarray, np.ndarray], np.ndarray], threads: int, schedule: int
) -> None:
    got, result = run(device, meaning.__name__, 2, threads, schedule)
    assert result.completed
    assert set(result.kinds) == ({"PARTIAL_BARRIER"} if meaning is threads_gone else set())
    t = np.arange(threads)
    for block, x in enumerate(inputs(2 * threads).reshape(2, threads)):
        assert got[block * threads :][:threads].tolist() == meaning(x.astype(np.int64), t).tolist()


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("blocks", [1, 2, 13])
def test_grid_sync(device: Emulator, schedule: int, blocks: int) -> None:
    got, result = run(device, "grid_sync", blocks, 64, schedule, scratch=2)
    assert result.completed
    assert not result.findings
    n = blocks * 64
    x, i = inputs(n), np.arange(n)
    v = x[(i + 64) % n] + x[n - 1 - i]
    assert (got == v[i * 7 % n]).all()


def test_tiles_count_one_shuffle_a_warp(device: Emulator) -> None:
    """Tiles of a warp shuffle side by side: the instruction is one, whatever their masks."""
    given_buffer, out = device.buffer(inputs(64)), device.buffer(256)
    result = device.launch("tiles", 1, 64, [given_buffer, out], count=True, checks=WITHOUT_RACES)
    assert result.counters["shuffles"] == 2 * 3
    assert result.counters["votes"] == 2 * 2
    assert result.counters["branch_divergent"] == 0


# ---- What wrong kernels are told -------------------------------------------------------------------------------
def source_line(text: str) -> int:
    source = (TESTS / "data" / "ptx" / "synchronisation.cu").read_text().splitlines()
    return next(i for i, line in enumerate(source, 1) if text in line)


@pytest.mark.parametrize(
    ("name", "threads", "kind", "said", "where"),
    [
        (
            "divergent_barriers",
            64,
            "DIVERGENT_BARRIER",
            " and others of its warp meet at two different barriers: all threads of a block must reach the same __sync",
            None,
        ),
        (
            "names_an_exited_lane",
            32,
            "BAD_MASK",
            "waits in a shuffle with mask 0xffffffff for lane 5, which exits without taking part",
            "out[I] = __shfl_down_sync(~0u, in[I], 1);",
        ),
        (
            "names_a_lane_long_gone",
            32,
            "BAD_MASK",
            "executes a shuffle with mask 0xffffffff, which names lane 5; that lane has exited",
            None,
        ),
        (
            "reads_an_inactive_lane",
            32,
            "SHUFFLE_INACTIVE",
            "(8,0,0) of block (0,0,0) reads lane 16 by a shuffle, but that lane is not in the mask: the value is",
            "__shfl_down_sync(0xffffu",
        ),
        (
            "not_in_its_mask",
            32,
            "BAD_MASK",
            "thread (8,0,0) of block (0,0,0) executes a vote with mask 0x000000ff, which does not name it",
            "__any_sync(mask",
        ),
        (
            "masks_that_differ",
            32,
            "BAD_MASK",
            "that lane gives mask 0x",
            "__ballot_sync(mask, in[I] & 1)",
        ),
    ],
)
def test_misuse(device: Emulator, name: str, threads: int, kind: str, said: str, where: str | None) -> None:
    _, result = run(device, name, 1, threads)
    found = [f for f in result.findings if f.kind == kind]
    assert found, result.findings
    assert said in found[0].message
    if where:
        assert found[0].line == source_line(where)
    _, unchecked = run(device, name, 1, threads, checks=0)
    assert not unchecked.findings


def test_a_lane_that_exits_while_others_wait(device: Emulator) -> None:
    _, result = run(device, "lane_leaves_others_waiting", 1, 32)
    assert result.completed
    assert result.finding.kind == "BAD_MASK"
    assert result.finding.message.endswith(
        "waits in a vote with mask 0xffffffff for lane 9, which exits without taking part"
    )
    assert result.finding.index == 9


def test_deadlock_says_who_waits_where(device: Emulator) -> None:
    _, result = run(device, "barrier_not_reached", 1, 64)
    assert not result.completed
    first, second = source_line("bar.sync 2, 64"), source_line("bar.sync 1, 64")
    assert result.finding.kind == "DEADLOCK"
    assert result.finding.message == (
        "thread (0,0,0) of block (0,0,0) waits for ever at a barrier of the block: 32 threads of the block wait here"
        f"; 32 wait at line {second}"
    )
    assert (result.finding.line, result.finding.other_line) == (first, second)


TWO_BARRIERS = """.version 9.0
.target sm_90
.address_size 64
.visible .entry k() {
  .reg .pred %p; .reg .b32 %t; mov.u32 %t, %tid.x; setp.lt.u32 %p, %t, 32;
  @%p bra FIRST; bar.sync 2; bra.uni END;
FIRST: bar.sync 1;
END: ret; }"""


@pytest.mark.parametrize("schedule", range(4, 24, 4))
def test_a_deadlock_is_found_at_once_under_weak_schedules(schedule: int) -> None:
    """Warps that rest do not hide that none can continue."""
    with Emulator() as e:
        e.load(TWO_BARRIERS)
        result = e.launch("k", 4, 1024, schedule=schedule)
    assert (result.completed, result.finding.kind) == (False, "DEADLOCK")


ARRIVES_IN_PARTS = """.version 9.0
.target sm_90
.address_size 64
.visible .entry k() {
  .reg .pred %p; .reg .b32 %t; mov.u32 %t, %tid.x;
  setp.lt.u32 %p, %t, 32; @%p bra WAITS;
  setp.eq.u32 %p, %t, 32; @%p bra FIRST;
  barrier.arrive 1, 64; ret;
FIRST: barrier.arrive 1, 64; ret;
WAITS: setp.eq.u32 %p, %t, 0; @%p bra ALONE;
  barrier.sync 1, 64; ret;
ALONE: barrier.sync 1, 64; ret; }"""


@pytest.mark.parametrize("schedule", range(24))
def test_a_lane_that_arrives_before_its_warp_and_exits_is_counted_once(schedule: int) -> None:
    with Emulator() as e:
        e.load(ARRIVES_IN_PARTS)
        result = e.launch("k", 4, 64, schedule=schedule)
    assert result.completed and not result.findings


def test_deadlock_says_who_never_came(device: Emulator) -> None:
    _, result = run(device, "waits_for_a_lane_elsewhere", 1, 32)
    assert not result.completed
    assert result.finding.kind == "DEADLOCK"
    assert result.finding.message == (
        "thread (0,0,0) of block (0,0,0) waits for ever at a vote: 16 threads of the block wait here"
        "; 16 never arrived, the first is thread (16,0,0) of block (0,0,0)"
    )
    assert result.finding.other_thread == (16, 0, 0)


@pytest.mark.parametrize("schedule", range(1, 8))
@pytest.mark.parametrize(
    "name", ["divergent_barriers", "barrier_not_reached", "waits_for_a_lane_elsewhere", "masks_that_differ"]
)
def test_misuse_is_found_under_every_schedule(device: Emulator, name: str, schedule: int) -> None:
    _, result = run(device, name, 1, 64 if "barrier" in name else 32, schedule)
    assert set(result.kinds) & {"DIVERGENT_BARRIER", "DEADLOCK", "BAD_MASK"}


@pytest.mark.parametrize(
    ("name", "threads", "said", "partial"),
    [
        (
            "barrier_of_one_warp",
            128,
            "96 of the block's 128 threads never execute: they have ended, the first is thread (32,0,0)",
            1,
        ),
        (
            "barrier_after_a_return",
            128,
            "88 of the block's 128 threads never execute: they have ended, the first is thread (40,0,0)",
            2,
        ),
        (
            "barrier_of_some_lanes",
            64,
            "32 of the block's 64 threads never execute: they have ended, the first is thread (1,0,0)",
            2,
        ),
        (
            "barriers_of_two_branches",
            64,
            "32 of the block's 64 threads do not execute: thread (32,0,0) of block (0,0,0) waits at another, at line",
            2,
        ),
        ("barrier_of_all_in_a_loop", 64, None, 0),
    ],
)
@pytest.mark.parametrize("schedule", [0, 1, 2, 3])
def test_barriers_of_a_part_of_the_block(
    device: Emulator, name: str, threads: int, said: str | None, partial: int, schedule: int
) -> None:
    """Hardware waits for no thread that has ended: an information. Barriers of two branches break CUDA's rule."""
    given_buffer, out = (
        device.buffer(inputs(threads), "in"),
        device.buffer(np.zeros(threads, np.int32), "out"),
    )
    result = device.launch(
        name, 1, threads, [given_buffer, out], schedule=schedule, count=True, checks=WITHOUT_RACES
    )
    assert result.completed
    kind = "DIVERGENT_BARRIER" if name == "barriers_of_two_branches" else "PARTIAL_BARRIER"
    assert result.kinds == ([kind] if said else [])
    assert not said or said in result.finding.message
    assert result.counters["partial_barriers"] == partial
    assert result.counters["barriers"] >= partial


def test_wrong_barriers(emulator_built: Path) -> None:
    for words, said in [
        ("bar.sync 16;", "uses barrier 16 for 0 threads"),
        ("bar.sync 1, 33;", "uses barrier 1 for 33 threads"),
        ("bar.sync 1, 128;", "uses barrier 1 for 128 threads"),
    ]:
        with Emulator() as e:
            e.load(HEADER + f".visible .entry k() {{ {words} ret; }}")
            result = e.launch("k", 1, 64)
            assert result.finding.kind == "BAD_CALL"
            assert said in result.finding.message


# ---- Warp-wide operations against the PTX ISA ------------------------------------------------------------------
HEADER = ".version 9.0\n.target sm_90\n.address_size 64\n"
# in: 32 lanes of 8 words each, out: 32 lanes of 2; lanes outside `mask` pass the instruction by.
WARP_KERNEL = """
.visible .entry k(.param .u64 p_in, .param .u64 p_out, .param .u32 p_mask) {{
  .reg .b32 %r<20>; .reg .b64 %a<8>; .reg .pred %p<9>; .reg .b64 %x<4>;
  ld.param.u64 %a0, [p_in]; ld.param.u64 %a1, [p_out]; ld.param.u32 %r10, [p_mask];
  mov.u32 %r11, %tid.x;
  mad.wide.u32 %a2, %r11, 32, %a0; mad.wide.u32 %a3, %r11, 8, %a1;
  shr.u32 %r12, %r10, %r11; and.b32 %r12, %r12, 1; setp.eq.u32 %p0, %r12, 0; @%p0 bra END;
  ld.global.v4.u32 {{%r0, %r1, %r2, %r3}}, [%a2];
  ld.global.u64 %x0, [%a2+16];
  setp.ne.u32 %p1, %r3, 0; setp.ne.u32 %p3, 0, 0; mov.u32 %r5, 0;
  {code}
  selp.u32 %r6, 1, 0, %p2;
  st.global.v2.u32 [%a3], {{%r5, %r6}};
END: ret;
}}
"""


@functools.cache
def loaded(code: str) -> tuple[Emulator, Buffer, Buffer]:
    e = Emulator()
    e.load(HEADER + WARP_KERNEL.format(code=code))
    return e, e.buffer(np.zeros(256, np.uint32)), e.buffer(np.zeros(64, np.uint32))


def run_warp(
    code: str, columns: dict[int, list[int]], mask: int, schedule: int = 0
) -> tuple[np.ndarray, Result]:
    """Words 0 to 3 and the 64-bit word 4 of every lane; gives 32 rows of %r5 and %p2."""
    e, given_buffer, out = loaded(code)
    words = np.zeros((32, 8), np.uint32)
    for column, values in columns.items():
        if column == 4:
            words.view(np.uint64)[:, 2] = values
        else:
            words[:, column] = values
    given_buffer.write(words)
    out.fill(0xEEEEEEEE)
    result = e.launch("k", 1, 32, [given_buffer, out, np.uint32(mask)], schedule=schedule)
    return out.read(np.uint32).reshape(32, 2), result


masks = st.one_of(st.just(FULL), st.integers(1, FULL), st.sampled_from([1, 1 << 31, 0xFFFF, 0xAAAAAAAA]))
lane_words = st.lists(st.integers(0, FULL), min_size=32, max_size=32)
few_words = st.lists(st.integers(0, 2), min_size=32, max_size=32)
seeds = st.integers(0, 3)


def shuffle_source(mode: str, lane: int, b: int, c: int) -> tuple[int, bool]:
    """PTX ISA 9.7.9.6, shfl.sync, in its own words."""
    bval, cval, segmask = b & 31, c & 31, c >> 8 & 31
    max_lane, min_lane = (lane & segmask) | (cval & ~segmask), lane & segmask
    j = {"up": lane - bval, "down": lane + bval, "bfly": lane ^ bval, "idx": min_lane | (bval & ~segmask)}[
        mode
    ]
    pval = j >= max_lane if mode == "up" else j <= max_lane
    return (j if pval else lane), pval


@st.composite
def shuffles(draw: st.DrawFn) -> tuple:
    mode = draw(st.sampled_from(["up", "down", "bfly", "idx"]))
    width = draw(st.sampled_from([2, 4, 8, 16, 32]))
    as_cuda = (32 - width) << 8 | (0 if mode == "up" else 31)
    one = draw(st.integers(0, 40))
    b = draw(st.one_of(st.just([one] * 32), st.lists(st.integers(0, 63), min_size=32, max_size=32)))
    c = draw(st.one_of(st.just([as_cuda] * 32), st.lists(st.integers(0, 0x1FFF), min_size=32, max_size=32)))
    return mode, draw(lane_words), b, c, draw(masks), draw(seeds)


@quick
@given(case=shuffles())
def test_shuffle(emulator_built: Path, case: tuple) -> None:
    mode, values, b, c, mask, schedule = case
    check_shuffle(f"shfl.sync.{mode}.b32 %r5|%p2, %r0, %r1, %r2, %r10;", mode, values, b, c, mask, schedule)


@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
@pytest.mark.parametrize("width", [2, 4, 8, 16, 32])
def test_shuffle_by_constants(emulator_built: Path, mode: str, width: int) -> None:
    """Full warps and constant operands, as nvcc writes them: a separate path."""
    c = (32 - width) << 8 | (0 if mode == "up" else 31)
    values = [1000 + 7 * lane for lane in range(32)]
    for distance in (0, 1, 2, 5, 16, 30, 31):
        for to in ("%r0", "%r5"):
            code = f"shfl.sync.{mode}.b32 {to}, %r0, {distance}, {c}, -1; mov.u32 %r5, {to}; setp.eq.u32 %p2, 0, 0;"
            got, result = run_warp(code, {0: values}, FULL)
            assert not result.findings
            assert got[:, 0].tolist() == [
                values[shuffle_source(mode, lane, distance, c)[0]] for lane in range(32)
            ]


def check_shuffle(
    code: str, mode: str, values: list[int], b: list[int], c: list[int], mask: int, schedule: int
) -> None:
    got, result = run_warp(code, {0: values, 1: b, 2: c}, mask, schedule)
    undefined = False
    for lane in range(32):
        if not mask >> lane & 1:
            assert got[lane].tolist() == [0xEEEEEEEE] * 2
            continue
        source, in_range = shuffle_source(mode, lane, b[lane], c[lane])
        assert got[lane, 1] == in_range
        if mask >> source & 1:
            assert got[lane, 0] == values[source]
        else:
            undefined = True
    assert result.kinds == (["SHUFFLE_INACTIVE"] if undefined else [])


@quick
@given(predicates=few_words, mask=masks, schedule=seeds, negated=st.booleans())
def test_votes(emulator_built: Path, predicates: list[int], mask: int, schedule: int, negated: bool) -> None:
    lanes = [lane for lane in range(32) if mask >> lane & 1]
    said = [bool(predicates[lane]) != negated for lane in lanes]
    bang = "!" if negated else ""
    ballot = sum(1 << lane for lane, yes in zip(lanes, said, strict=True) if yes)
    for mode, expected in [("all", all(said)), ("any", any(said)), ("uni", len(set(said)) == 1)]:
        got, result = run_warp(
            f"vote.sync.{mode}.pred %p2, {bang}%p1, %r10;", {3: predicates}, mask, schedule
        )
        assert not result.findings
        assert got[lanes, 1].tolist() == [expected] * len(lanes)
    code = f"vote.sync.ballot.b32 %r5, {bang}%p1, %r10; setp.eq.u32 %p2, 0, 0;"
    got, result = run_warp(code, {3: predicates}, mask, schedule)
    assert got[lanes, 0].tolist() == [ballot] * len(lanes)
    assert not result.findings


@quick
@given(values=few_words, mask=masks, schedule=seeds, width=st.sampled_from([32, 64]))
def test_match(emulator_built: Path, values: list[int], mask: int, schedule: int, width: int) -> None:
    lanes = [lane for lane in range(32) if mask >> lane & 1]
    wide = [value << 40 for value in values]
    columns = {0: values} if width == 32 else {4: wide}
    register = "%r0" if width == 32 else "%x0"
    got, result = run_warp(
        f"match.any.sync.b{width} %r5, {register}, %r10; setp.eq.u32 %p2, 0, 0;", columns, mask, schedule
    )
    assert not result.findings
    for lane in lanes:
        assert got[lane, 0] == sum(1 << other for other in lanes if values[other] == values[lane])
    same = len({values[lane] for lane in lanes}) == 1
    got, result = run_warp(f"match.all.sync.b{width} %r5|%p2, {register}, %r10;", columns, mask, schedule)
    assert got[lanes].tolist() == [[mask if same else 0, same]] * len(lanes)


@quick
@given(values=lane_words, mask=masks, schedule=seeds)
def test_redux(emulator_built: Path, values: list[int], mask: int, schedule: int) -> None:
    lanes = [lane for lane in range(32) if mask >> lane & 1]
    mine = [values[lane] for lane in lanes]
    signed = [value - (1 << 32) * (value >> 31) for value in mine]
    for form, expected in {
        "add.u32": sum(mine),
        "add.s32": sum(mine),
        "min.u32": min(mine),
        "max.u32": max(mine),
        "min.s32": min(signed),
        "max.s32": max(signed),
        "and.b32": functools.reduce(operator.and_, mine),
        "or.b32": functools.reduce(operator.or_, mine),
        "xor.b32": functools.reduce(operator.xor, mine),
    }.items():
        got, result = run_warp(
            f"redux.sync.{form} %r5, %r0, %r10; setp.eq.u32 %p2, 0, 0;", {0: values}, mask, schedule
        )
        assert not result.findings
        assert got[lanes, 0].tolist() == [expected & FULL] * len(lanes), form


@quick
@given(mask=masks, schedule=seeds)
def test_elect_and_activemask(emulator_built: Path, mask: int, schedule: int) -> None:
    lanes = [lane for lane in range(32) if mask >> lane & 1]
    got, result = run_warp("elect.sync %r5|%p2, %r10;", {}, mask, schedule)
    assert not result.findings
    assert got[lanes, 0].tolist() == [lanes[0]] * len(lanes)
    assert got[lanes, 1].tolist() == [lane == lanes[0] for lane in lanes]
    got, _ = run_warp("activemask.b32 %r5; setp.eq.u32 %p2, 0, 0;", {}, mask)
    assert got[lanes, 0].tolist() == [mask] * len(lanes)


@quick
@given(values=lane_words, side=few_words, mask=masks, schedule=seeds)
def test_one_shuffle_from_three_places(
    emulator_built: Path, values: list[int], side: list[int], mask: int, schedule: int
) -> None:
    """Lanes at different instructions, some inside a function, take part in one shuffle."""
    code = """
  setp.eq.u32 %p4, %r1, 0; @%p4 bra A; setp.eq.u32 %p4, %r1, 1; @%p4 bra B;
  { .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %r0; st.param.b32 [b], %r10;
    call (c), rotate, (a, b); ld.param.b32 %r5, [c]; } bra C;
A: shfl.sync.idx.b32 %r5, %r0, 31, 31, %r10; shfl.sync.bfly.b32 %r5, %r0, 1, 31, %r10; bra C;
B: shfl.sync.idx.b32 %r5, %r0, 31, 31, %r10; shfl.sync.bfly.b32 %r5, %r0, 1, 31, %r10;
C: setp.eq.u32 %p2, 0, 0;"""
    function = """
.func (.param .b32 r) rotate(.param .b32 n, .param .b32 mask) {
  .reg .b32 %y<4>;
  ld.param.b32 %y0, [n]; ld.param.b32 %y1, [mask];
  shfl.sync.idx.b32 %y2, %y0, 31, 31, %y1; shfl.sync.bfly.b32 %y2, %y0, 1, 31, %y1;
  st.param.b32 [r], %y2; ret;
}
"""
    mask |= 1 << 31 | mask >> 1 & 0x55555555 | mask << 1 & 0xAAAAAAAA  # every partner takes part
    mask |= 1 << 30
    with Emulator() as e:
        e.load(HEADER + function + WARP_KERNEL.format(code=code))
        words = np.zeros((32, 8), np.uint32)
        words[:, 0], words[:, 1] = values, side
        given_buffer, out = e.buffer(words), e.buffer(np.zeros(64, np.uint32))
        result = e.launch("k", 1, 32, [given_buffer, out, np.uint32(mask)], schedule=schedule)
        assert not result.findings
        got = out.read(np.uint32).reshape(32, 2)
    for lane in range(32):
        assert got[lane, 0] == (values[lane ^ 1] if mask >> lane & 1 else 0)


@quick
@given(
    size=st.sampled_from([1, 2, 4, 8, 16, 32]),
    mode=st.sampled_from(["down", "idx"]),
    values=lane_words,
    schedule=seeds,
)
def test_tiles_of_one_instruction(
    emulator_built: Path, size: int, mode: str, values: list[int], schedule: int
) -> None:
    """Each tile gives its own mask, in the register that the result goes to."""
    code = f"""
  div.u32 %r7, %r11, {size}; mul.lo.u32 %r7, %r7, {size}; mov.u32 %r8, {FULL >> (32 - size)}; shl.b32 %r5, %r8, %r7;
  shfl.sync.{mode}.b32 %r5|%p2, %r0, 1, {(32 - size) << 8 | 31}, %r5;"""
    got, result = run_warp(code, {0: values}, FULL, schedule)
    assert not result.findings
    for lane in range(32):
        source, in_range = shuffle_source(mode, lane, 1, (32 - size) << 8 | 31)
        assert got[lane].tolist() == [values[source], in_range]


def test_lanes_that_do_not_exist(emulator_built: Path) -> None:
    """A full mask in a block of 20 threads is not a mistake; reading lane 20 is."""
    with Emulator() as e:
        for code, kinds in [
            ("vote.sync.ballot.b32 %r5, %p1, -1; setp.eq.u32 %p2, 0, 0;", []),
            ("shfl.sync.down.b32 %r5|%p2, %r0, 1, 31, -1;", ["SHUFFLE_INACTIVE"]),
        ]:
            e.load(HEADER + WARP_KERNEL.format(code=code))
            given_buffer, out = e.buffer(np.ones(256, np.uint32)), e.buffer(np.zeros(64, np.uint32))
            result = e.launch("k", 1, 20, [given_buffer, out, np.uint32(FULL)])
            assert result.kinds == kinds
            if kinds:
                assert (
                    "reads lane 20 by a shuffle, but that lane does not exist in this block"
                    in result.finding.message
                )
            else:
                assert out.read(np.uint32)[::2][:20].tolist() == [(1 << 20) - 1] * 20
