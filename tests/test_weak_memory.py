"""Weak memory: litmus tests, what stale reads are blamed on, kernels that are right, and the same without fences."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import litmus
import numpy as np
import pytest
from emulator import ALL_CHECKS, RACE, SYNC, Emulator, Finding, Result
from race_kernels import RaceKernel, race_kernels
from test_racecheck import argument, command

RIGHT = [kernel for kernel in race_kernels() if kernel.name.startswith("weak_")]
WEAK = range(4, 200, 4)
# Each has 32 trials. `make litmus` runs 100,000, of what is forbidden.
LITMUS_SCHEDULES = int(os.environ.get("WARPBOOK_LITMUS_SCHEDULES", "100"))


@pytest.fixture(scope="module")
def device(emulator_built: Path) -> Iterator[Emulator]:
    with Emulator() as e:
        yield e


# ---- Litmus tests ----------------------------------------------------------------------------------------------
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("shape", litmus.SHAPES)
def test_litmus(emulator_built: Path, tmp_path: Path, shape: str) -> None:
    """What the memory model forbids never appears; what an H200 has shown does."""
    on_h200 = litmus.seen_on_h200()
    for (access, fences), seen in litmus.run(
        tmp_path, shape, LITMUS_SCHEDULES, only_forbidden=LITMUS_SCHEDULES > 1000
    ).items():
        weak = litmus.weak_outcomes(shape, seen)
        assert sum(seen.values()) == 32 * LITMUS_SCHEDULES
        if litmus.is_forbidden(shape, access, fences):
            assert not weak, (shape, access, fences)
            assert (shape, access, fences) not in on_h200
        elif (shape, access, fences) in on_h200:
            assert weak, (shape, access, fences)


def test_every_recorded_shape_is_a_test() -> None:
    assert {shape for shape, _, _ in litmus.seen_on_h200()} <= set(litmus.SHAPES)


# ---- Right kernels, and the same without one of their fences -----------------------------------------------------
def run(e: Emulator, kernel: RaceKernel, ptx: str, schedule: int, checks: int = RACE | SYNC) -> Result:
    e.load(ptx)
    given = command().parse_args(kernel.run)
    arguments = [argument(e, spec, i) for i, spec in enumerate(given.arg)]
    try:
        return e.launch(
            given.kernel,
            given.grid,
            given.block,
            arguments,
            schedule=schedule,
            checks=checks,
            steps=50_000_000,
        )
    finally:
        for each in arguments:
            each.free()  # type: ignore[union-attr]


@pytest.mark.parametrize("kernel", RIGHT, ids=lambda kernel: kernel.name)
def test_right_kernels_stay_right(device: Emulator, kernel: RaceKernel) -> None:
    ptx = kernel.image().read_text()
    for schedule in WEAK:
        result = run(device, kernel, ptx, schedule)
        assert result.completed, (schedule, result.findings)
        assert not set(result.kinds) - {"STALE_READ"}, (schedule, result.findings)


def without_fence(ptx: str, index: int) -> str:
    at = [match.span() for match in re.finditer(r"membar\.gl;|fence\.acq_rel\.gpu;", ptx)][index]
    return ptx[: at[0]] + ptx[at[1] :]


# Kernel, and which of its fences: one that only weak schedules miss.
NEEDED = [
    ("weak_dekker", 0),
    ("weak_grid_barrier", 0),
    ("weak_grid_barrier", 1),
    ("weak_mutex_of_blocks", 0),
    ("weak_mutex_of_blocks", 1),
    ("weak_sequence_lock", 1),
    ("weak_third_party", 0),
    ("weak_third_party", 1),
    ("weak_whole_block", 0),
    ("weak_whole_block", 1),
]


@pytest.mark.parametrize(("name", "fence"), NEEDED)
def test_each_fence_is_needed(device: Emulator, name: str, fence: int) -> None:
    kernel = next(kernel for kernel in RIGHT if kernel.name == name)
    ptx = without_fence(kernel.image().read_text(), fence)
    # The rarest, the fence of the sequence lock, shows in 9 of the 999 weak schedules up to 4,000.
    assert any(not run(device, kernel, ptx, schedule).completed for schedule in range(4, 4000, 4))
    for schedule in (0, 1, 2, 3, 5, 6, 7, 9):
        assert run(device, kernel, ptx, schedule).completed, schedule


def test_without_racecheck_nothing_is_weak(device: Emulator) -> None:
    kernel = next(kernel for kernel in RIGHT if kernel.name == "weak_whole_block")
    ptx = without_fence(kernel.image().read_text(), 0)
    assert all(run(device, kernel, ptx, schedule, SYNC).completed for schedule in WEAK)


# ---- What is said ----------------------------------------------------------------------------------------------
# One thread of block 0 stores two words; one of block 1 waits for the second and reads the first.
PAIR = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q) {{
    .reg .b64 %rd<8>;
    .reg .b32 %r<8>;
    .reg .pred %p<4>;
    .file 1 "pair.cu"
    ld.param.u64 %rd1, [p];
    ld.param.u64 %rd2, [q];
    mov.u32 %r1, %ctaid.x;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra READER;
    .loc 1 10 0
    {store}
    .loc 1 11 0
    {writer}
    .loc 1 12 0
    {flag}
    ret;
READER:
    .loc 1 20 0
    {poll}
    @%p2 bra READER;
    .loc 1 21 0
    {reader}
    .loc 1 22 0
    {load}
    st.global.u32 [%rd2], %r3;
    ret;
}}
"""
STORE = "st.volatile.global.u32 [%rd1], 7;"
FLAG = "st.volatile.global.u32 [%rd1+4], 1;"
POLL = "ld.volatile.global.u32 %r2, [%rd1+4]; setp.eq.u32 %p2, %r2, 0;"
LOAD = "ld.volatile.global.u32 %r3, [%rd1];"
BOTH = "mov.b64 %rd3, {7, 1}; st.volatile.global.u64 [%rd1], %rd3;"
READ_BOTH = "ld.volatile.global.u64 %rd3, [%rd1]; mov.b64 {%r3, %r2}, %rd3; setp.eq.u32 %p2, %r2, 0;"


def stale(e: Emulator, **parts: str) -> tuple[Finding | None, set[int]]:
    """The first stale read under weak schedules, and what the reader got under all of them."""
    given = {"store": STORE, "writer": "", "flag": FLAG, "poll": POLL, "reader": "", "load": LOAD} | parts
    e.load(PAIR.format(**given))
    words, out = e.buffer(np.zeros(2, np.uint32), "words"), e.buffer(np.zeros(1, np.uint32), "out")
    first, got = None, set()
    for schedule in WEAK:
        words.write(np.zeros(2, np.uint32))
        result = e.launch("k", 2, 1, [words, out], schedule=schedule, checks=ALL_CHECKS)
        assert result.completed
        assert not set(result.kinds) - {"STALE_READ"}, result.findings
        got.add(int(out.read(np.uint32)[0]))
        first = first or next(iter(result.findings), None)
    words.free()
    out.free()
    return first, got


@pytest.mark.parametrize(
    ("parts", "says", "lines"),
    [
        ({}, "and one between the two reads", (22, 10)),
        ({"reader": "membar.gl;"}, "a __threadfence() between them; the two reads have one", (22, 10)),
        ({"writer": "membar.cta;"}, "the fence between the two stores is of block scope", (22, 10)),
        ({"writer": "membar.gl;"}, "no fence orders the two reads", (22, 10)),
        (
            {"writer": "fence.acq_rel.gpu;", "reader": "fence.acq_rel.cta;"},
            "the fence between the two reads is of block scope",
            (22, 10),
        ),
        ({"poll": READ_BOTH, "load": ""}, "two stores do not arrive as one", (20, 10)),
        (
            {"store": BOTH, "flag": ""},
            "the other part of what the same store wrote: two loads read the two parts",
            (22, 10),
        ),
    ],
)
def test_stale_reads_are_named(
    device: Emulator, parts: dict[str, str], says: str, lines: tuple[int, int]
) -> None:
    finding, got = stale(device, **parts)
    assert finding is not None
    assert finding.kind == "STALE_READ"
    assert got == {0, 7}
    assert says in finding.message
    assert (finding.line, finding.other_line) == lines
    width = 8 if "poll" in parts else 4  # of the load
    assert finding.message.startswith(
        f"thread (0,0,0) of block (1,0,0) reads words at byte 0 (element 0 of {width} bytes) and misses the value that "
        "thread (0,0,0) of block (0,0,0) had stored there at line 10"
    )


@pytest.mark.parametrize(
    "parts",
    [
        {"writer": "membar.gl;", "reader": "membar.gl;"},
        {"writer": "fence.acq_rel.gpu;", "reader": "fence.acq_rel.sys;"},
        {"flag": FLAG.replace("volatile", "release.gpu"), "poll": POLL.replace("volatile", "acquire.gpu")},
        {"flag": "red.release.gpu.global.add.u32 [%rd1+4], 1;", "reader": "fence.acq_rel.gpu;"},
        {
            "flag": "atom.acq_rel.gpu.global.exch.b32 %r5, [%rd1+4], 1;",
            "poll": POLL.replace("volatile", "acquire.gpu"),
        },
        {"writer": "membar.gl;", "poll": "atom.global.add.u32 %r2, [%rd1+4], 0; setp.eq.u32 %p2, %r2, 0;"},
        {"store": BOTH, "flag": "", "poll": READ_BOTH, "load": ""},
        {"store": BOTH, "flag": "", "load": READ_BOTH},
        {
            "store": "st.volatile.global.v2.u32 [%rd1], {7, 1};",
            "flag": "",
            "poll": "ld.volatile.global.v2.u32 {%r3, %r2}, [%rd1]; setp.eq.u32 %p2, %r2, 0;",
            "load": "",
        },
    ],
)
def test_what_is_ordered_is_never_stale(device: Emulator, parts: dict[str, str]) -> None:
    finding, got = stale(device, **parts)
    assert finding is None
    assert got == {7}


def test_the_same_schedule_gives_the_same(device: Emulator) -> None:
    device.load(PAIR.format(store=STORE, writer="", flag=FLAG, poll=POLL, reader="", load=LOAD))
    for schedule in (4, 8, 4_000_000_004):
        seen = []
        for _ in range(3):
            words, out = device.buffer(np.zeros(2, np.uint32), "words"), device.buffer(4, "out")
            result = device.launch("k", 2, 1, [words, out], schedule=schedule)
            seen.append((result.lane_instructions, result.kinds, int(out.read(np.uint32)[0])))
            words.free()
            out.free()
        assert seen[0] == seen[1] == seen[2]
