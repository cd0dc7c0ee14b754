"""Divergence, loops, calls and exits of the emulator, against the same programs in Python, one thread at a time.

Every kernel of data/ptx/control_flow.cu is run under schedules 0 to 15; programs of random structure, written as
PTX, under some of them.
"""

from __future__ import annotations

import functools
import math
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from cuda_images import TESTS, image
from emulator import ALL_CHECKS, RACE, Emulator, Finding, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SCHEDULES = range(16)
BLOCKS, THREADS = 3, 77  # no multiple of 32
COUNT = BLOCKS * THREADS
WITHOUT_RACES = ALL_CHECKS & ~RACE


def i32(x: int) -> int:
    """Wrapped as a C int is on the GPU."""
    return (x + (1 << 31)) % (1 << 32) - (1 << 31)


def u32(x: int) -> int:
    return x % (1 << 32)


def c_div(a: int, b: int) -> int:
    return int(math.copysign(abs(a) // b, a)) if a else 0


def c_mod(a: int, b: int) -> int:
    return a - b * c_div(a, b)


@pytest.fixture(scope="module")
def device(emulator_built: Path) -> Iterator[Emulator]:
    with Emulator() as e:
        e.load(image(TESTS / "data" / "ptx" / "control_flow.cu"))
        yield e


# ---- What each thread computes ---------------------------------------------------------------------------------
Thread = Callable[[list[int], int], int]
KERNELS: dict[str, Thread] = {}


def kernel(function: Thread) -> Thread:
    KERNELS[function.__name__] = function
    return function


def collatz_steps(k: int, r: int = 0) -> int:
    while k > 1:
        k, r = (3 * k + 1 if k & 1 else k // 2), r + 1
    return r


@kernel
def nested(ins: list[int], i: int) -> int:
    x, r = ins[i], 0
    if x & 1:
        if x & 2:
            r = x * 3 if x & 4 else (x - 7) ^ (0x55 if x & 8 else 0)
        else:
            for k in range(x & 7):
                r += k if k & x else -2 * k
        return i32(r + 1000)
    return collatz_steps(x) if x & 16 else -x


@kernel
def break_continue(ins: list[int], i: int) -> int:
    x, r = ins[i], 0
    for a in range(20):
        if a == (x & 31):
            break
        if (a ^ x) & 2:
            continue
        b = a
        while b <= (x >> 3 & 15):
            if b & 1:
                r += b
            else:
                if r > 300:
                    return r
                r += a * b + 1
            b += 3
        r ^= a
    return r


@kernel
def do_while(ins: list[int], i: int) -> int:
    x, r = u32(ins[i]) | 1, 0
    while True:
        r, x = u32(r * 31 + x), u32(x * 1664525 + 1013904223)
        if not (x >> 29 and r & 0xF000):
            return i32(r)


@kernel
def exit_before_barrier(ins: list[int], i: int) -> int:
    t, first = i % THREADS, i - i % THREADS
    if t % 3 == 1:
        return 0
    v = ins[first + (t + 1) % THREADS]
    return -1 if t % 5 == 2 else i32(2 * v)


@kernel
def switch_table(ins: list[int], i: int) -> int:
    x, r = ins[i], 0
    for k in range(3):
        case = x >> 4 * k & 15
        if case == 12:
            continue
        if case == 9:
            return i32(r + 12345)
        if case == 0:
            r += c_div(x, 3)
        if case == 1:
            r = r * 5 + 1
        if case in (1, 2):
            r = i32(r) ^ (x >> 2)
        if case == 3:
            r -= 77
        if case == 4:
            for j in range(5):
                r = i32(r * r + j)
        if case == 5:
            r = ~r
        if case == 6:
            r = i32(r << 3) | 5
        if case == 7 and x & 256:
            r += 9
        elif case in (7, 8):
            r = c_mod(r, 1001)
        if case == 10:
            r = u32(r).bit_count() * 7
        if case == 11:
            r = int(f"{u32(r):032b}"[::-1], 2)
        if case > 12:
            r += 1 << k
        r = i32(r + 3)
    return r


@kernel
def irreducible(ins: list[int], i: int) -> int:
    x, r, fuel = ins[i], 0, 60
    at = "middle" if x & 1 else "top"
    while True:
        if at == "top":
            r, after = i32(r + 3), ("lower" if (i32(r + 3) ^ x) & 4 else "middle")
        elif at == "middle":
            r = i32(r * 3 + (x & 7))
            after = "top" if r & 8 else "lower"
        else:
            r ^= x
            after = "middle" if r & 2 else "top" if r & 16 else "end"
        fuel -= 1
        if fuel < 0 or after == "end":
            return r
        at = after


@functools.cache
def fib(n: int) -> int:
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@functools.cache
def ackermann(m: int, n: int) -> int:
    if m == 0:
        return n + 1
    return ackermann(m - 1, 1) if n == 0 else ackermann(m - 1, ackermann(m, n - 1))


@functools.cache
def is_even(n: int) -> int:
    if n == 0:
        return 1
    odd = 0 if n == 1 else 1 + is_even(n - 2)
    return 10 * odd % 1000


def collatz(x: int) -> int:
    return collatz_steps(x & 63)


KERNELS["recursion"] = lambda ins, i: fib(ins[i] & 7)
KERNELS["ackermann_small"] = lambda ins, i: ackermann(ins[i] & 1, ins[i] >> 1 & 3) + ackermann(2, ins[i] & 1)
KERNELS["mutual"] = lambda ins, i: is_even(ins[i] & 31)


@kernel
def function_pointers(ins: list[int], i: int) -> int:
    operations = [lambda x: 2 * x, lambda x: x * x, collatz, lambda x: fib(x & 7) if x & 1 else -1]
    r = ins[i]
    for k in range(3):
        r = i32(operations[r >> k & 3](r) + k)
    return r


@kernel
def calls_in_divergent_code(ins: list[int], i: int) -> int:
    x = ins[i]
    r = (x & 31) ** 2 if x & 1 else collatz(x) if x & 2 else 2 * x
    for k in range(x & 3):
        if x >> k & 1:
            r += collatz(r)
    return i32(r)


@kernel
def return_inside_loop(ins: list[int], i: int) -> int:
    def find(start: int, wanted: int) -> int:
        for k in range(40):
            if ins[start + k] & 15 == wanted:
                return k
            if ins[start + k] < 0:
                return -k
        return 99

    return find(i, ins[i] & 15) * 1000 + find(i + 1, ins[i] >> 4 & 15)


@kernel
def structs(ins: list[int], i: int) -> int:
    def narrow(x: int, bits: int) -> int:
        return (x + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)

    def mix(a: tuple, b: tuple, k: int) -> tuple:
        return i32(a[0] + b[1]), narrow(a[1] - k, 16), narrow(a[2] ^ b[2], 8), a[3] * b[3]

    def shuffled(v: list[int], by: int) -> list[int]:
        return [i32(v[(k + by) % 20] + k) for k in range(20)]

    x = ins[i]
    a = (x, narrow(x, 16), narrow(x >> 3, 8), x * 0.5)
    b = (x ^ 21, narrow(x * 7, 16), narrow(x * 5, 8), 3.0)
    p = mix(a, b, x & 15) if x & 1 else mix(b, a, 4)
    big = shuffled([i32(x + k * k) for k in range(20)], x & 7)
    if x & 4:
        big = shuffled(big, 3)
    return i32(p[0] + 31 * p[1] + 1009 * p[2] + int(p[3]) + big[x & 15] * 3)


class ExitedError(Exception):
    pass


@kernel
def exit_inside_calls(ins: list[int], i: int) -> int:
    def leave_some(x: int, depth: int) -> int:
        if depth == 0:
            if x & 7 == 3:
                raise ExitedError
            return x
        r = leave_some(x, depth - 1)
        if x & 15 == depth:
            raise ExitedError
        return r + depth

    x = ins[i]
    try:
        return i32(leave_some(x, 3) if x & 32 else leave_some(x, 1) * 2)
    except ExitedError:
        return -5


@kernel
def local_array(ins: list[int], i: int) -> int:
    x, r = ins[i], 0
    for k in range(0, 2000, 1 + (x & 3)):
        r = i32(r * 3 + k * x)
    return r


@kernel
def mixed_pointers(ins: list[int], i: int) -> int:
    x = ins[i]
    kind = c_mod(x, 3)
    return i32([1000 + x + (x & 3) + 5, 1000 + 2 * x + 5, -x + 5][kind] if kind >= 0 else -x + 5 + 1000)


def inputs() -> list[int]:
    rng = random.Random(4)
    small = [rng.randrange(1 << 12) for _ in range(COUNT // 2)]
    return small + [rng.randrange(1 << 20) for _ in range(COUNT + 64 - len(small))]


@pytest.mark.parametrize("name", KERNELS)
def test_kernel(device: Emulator, name: str) -> None:
    ins = inputs()
    expected = [KERNELS[name](ins, i) for i in range(COUNT)]
    given_buffer = device.buffer(np.array(ins, np.int32), "in")
    out = device.buffer(np.zeros(COUNT, np.int32), "out")
    for schedule in SCHEDULES:
        out.fill(0)
        result = device.launch(
            name, BLOCKS, THREADS, [given_buffer, out], schedule=schedule, checks=WITHOUT_RACES
        )
        assert result.completed
        assert set(result.kinds) <= {"PARTIAL_BARRIER"}  # threads that have ended
        got = out.read(np.int32).tolist()
        wrong = [i for i in range(COUNT) if got[i] != expected[i]]
        assert not wrong, (
            f"schedule {schedule}, thread {wrong[0]}: {got[wrong[0]]} is not {expected[wrong[0]]}"
        )
    given_buffer.free()
    out.free()


# ---- Lanes that wait for each other ----------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["spin_lock", "spin_lock_outside"])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_spin_lock(device: Emulator, name: str, schedule: int) -> None:
    lock, count, order = (device.buffer(np.zeros(n, np.int32)) for n in (1, 1, 96))
    result = device.launch(name, 2, 48, [lock, count, order], schedule=schedule, checks=WITHOUT_RACES)
    assert result.completed
    assert not result.findings
    assert count.read(np.int32)[0] == 96
    assert sorted(order.read(np.int32)) == list(range(96))


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_flag_within_warp(device: Emulator, schedule: int) -> None:
    flag, out = (device.buffer(np.zeros(4, np.int32)) for _ in range(2))
    result = device.launch("flag_within_warp", 2, 64, [flag, out], schedule=schedule, checks=WITHOUT_RACES)
    assert result.completed
    assert out.read(np.int32).tolist() == [42] * 4


# ---- Shapes ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("grid", "block"),
    [
        ((1, 1, 1), (1, 1, 1)),
        ((2, 3, 4), (5, 3, 2)),
        ((7,), (1024,)),
        ((1, 2, 1), (1, 1, 64)),
        ((3, 1, 2), (33, 2, 1)),
    ],
)
@pytest.mark.parametrize("schedule", [0, 1, 9])
def test_shapes(device: Emulator, grid: tuple[int, ...], block: tuple[int, ...], schedule: int) -> None:
    blocks, threads = math.prod(grid), math.prod(block)
    out = device.buffer(blocks * threads * 32)
    result = device.launch("shapes", grid, block, [out], schedule=schedule)
    assert result.completed
    assert not result.findings
    got = out.read(np.int32).reshape(blocks, threads, 8)
    (gx, gy, _), (bx, by, _) = ((*shape, 1, 1)[:3] for shape in (grid, block))
    b, t = np.arange(blocks)[:, None], np.arange(threads)[None, :]
    expected = [t % bx, t // bx % by, t // bx // by, b % gx, b // gx % gy, b // gx // gy, t % 32, t // 32]
    for k, values in enumerate(expected):
        assert (got[:, :, k] == values).all(), k


@pytest.mark.parametrize(
    ("grid", "block", "said"),
    [
        ((0,), (1,), "the grid has 0 blocks in x; H200 allows 1 to 2147483647"),
        ((1, 65536), (1,), "the grid has 65536 blocks in y; H200 allows 1 to 65535"),
        ((1,), (1025,), "the block has 1025 threads in x; H200 allows 1 to 1024"),
        ((1,), (1, 1, 65), "the block has 65 threads in z; H200 allows 1 to 64"),
        ((1,), (64, 17), "the block has 1088 threads; H200 allows 1024"),
    ],
)
def test_shapes_refused(device: Emulator, grid: tuple[int, ...], block: tuple[int, ...], said: str) -> None:
    result = device.launch("shapes", grid, block, [device.buffer(64)])
    assert (result.finding.kind, result.finding.message) == ("BAD_LAUNCH", said)
    assert not result.completed


# ---- What never ends, and what is too deep ---------------------------------------------------------------------
@pytest.mark.parametrize("schedule", [0, 5])
@pytest.mark.parametrize("name", ["endless", "endless_for_one_lane"])
def test_step_limit(device: Emulator, name: str, schedule: int) -> None:
    out = device.buffer(np.zeros(64, np.int32))
    result = device.launch(name, 2, 64, [out], schedule=schedule, steps=15_000)
    assert not result.completed
    assert result.finding.kind == "STEP_LIMIT"
    assert result.finding.message.endswith(
        "still running after 15000 steps; of 2 blocks, 0 have ended, 1 is running and 1 has not started"
        if schedule == 0
        else "still running after 15000 steps; of 2 blocks, 0 have ended, 2 are running and 0 have not started"
    )
    assert result.finding.line > 0
    assert 1_000 < result.lane_instructions < 15_000
    again = device.launch(
        name, 2, 64, [device.buffer(np.zeros(64, np.int32))], schedule=schedule, steps=15_000
    )
    assert again.lane_instructions == result.lane_instructions, "a limit in steps, not in seconds"


BARRIER = """
.visible .entry k(.param .u64 p_in) {
  .reg .b32 %r<8>; .reg .b64 %a<4>; .reg .pred %p;
  ld.param.u64 %a0, [p_in]; mov.u32 %r0, %nctaid.x; mov.u32 %r1, %tid.x;
  setp.ne.u32 %p, %r1, 0; @%p bra END;
  atom.global.add.u32 %r2, [%a0], 1;
POLL:
  POLLS
  setp.lt.u32 %p, %r2, %r0; @%p bra POLL;
END:
  bar.sync 0;
  ret;
}
"""


@pytest.mark.parametrize(
    "polls",
    [
        "atom.global.add.u32 %r2, [%a0], 0;",
        "ld.volatile.global.u32 %r2, [%a0];",
        "nanosleep.u32 100; ld.volatile.global.u32 %r2, [%a0];",
        "ld.volatile.global.u32 %r2, [%a0]; membar.gl; atom.global.cas.b32 %r2, [%a0], 0, 0;",
    ],
)
def test_a_grid_barrier_of_more_blocks_than_fit(emulator_built: Path, polls: str) -> None:
    """As many as fit pass it; one more is a deadlock, which is recognised long before the limit of steps."""
    with Emulator() as e:
        e.load(HEADER + BARRIER.replace("POLLS", polls))
        fit = 132 * 32  # blocks of 64 threads on an H200
        results = []
        for blocks in (fit, fit + 1, fit + 1):
            counter = e.buffer(np.zeros(1, np.uint32))
            results.append(e.launch("k", blocks, 64, [counter], checks=WITHOUT_RACES, steps=1 << 40))
            assert counter.read(np.uint32)[0] == fit
    assert results[0].completed
    for result in results[1:]:
        assert result.finding.kind == "STEP_LIMIT"
        assert result.finding.message.endswith(
            ": all threads that still run wait, and none changes what another waits for; of "
            "4225 blocks, 0 have ended, 4224 are running and 1 has not started, because the device holds no more "
            "at a time"
        )
        assert " waits here for ever, where a buffer at byte 0 stays 0x1080: " in result.finding.message
        assert result.finding.is_endless
        assert result.lane_instructions == results[1].lane_instructions < 1 << 30


ROUNDS = """
.visible .entry k(.param .u64 p_in) {
  .reg .b32 %r<8>; .reg .b64 %a<4>; .reg .pred %p;
  ld.param.u64 %a0, [p_in]; mov.u32 %r0, %nctaid.x; mov.u32 %r1, 0; mov.u32 %r2, 0;
AGAIN:
  add.u32 %r1, %r1, 1; add.u32 %r2, %r2, %r0;
  atom.global.add.u32 %r3, [%a0], 1;
POLL:
  POLLS
  setp.lt.u32 %p, %r3, %r2; @%p bra POLL;
  setp.lt.u32 %p, %r1, 40; @%p bra AGAIN;
  ret;
}
"""


@pytest.mark.parametrize(
    "polls",
    [
        "ld.volatile.global.u32 %r3, [%a0];",
        "ld.acquire.gpu.global.u32 %r3, [%a0];",
        "atom.global.add.u32 %r3, [%a0], 0;",
        "ld.global.u32 %r4, [%a0]; ld.volatile.global.u32 %r3, [%a0];",
        "ld.volatile.global.v2.u32 {%r3, %r4}, [%a0];",
    ],
)
def test_a_block_that_waits_for_others_gives_its_turn_away(emulator_built: Path, polls: str) -> None:
    """Of 200 blocks, each waits in each of 40 rounds for the last: one turn of a warp, and not one of a block."""
    with Emulator() as e:
        e.load(HEADER + ROUNDS.replace("POLLS", polls))
        counter = e.buffer(np.zeros(2, np.uint32))
        result = e.launch("k", 200, 1, [counter], checks=WITHOUT_RACES, steps=1 << 40)
        assert result.completed
        assert counter.read(np.uint32)[0] == 200 * 40
        assert result.lane_instructions < 200 * 40 * 400


@pytest.mark.parametrize("schedule", [0, 5])
def test_as_many_blocks_run_at_a_time_as_the_launch_says(emulator_built: Path, schedule: int) -> None:
    """A grid barrier of eight blocks passes where eight run at a time, and not where seven do."""
    with Emulator() as e:
        e.load(HEADER + BARRIER.replace("POLLS", "ld.volatile.global.u32 %r2, [%a0];"))
        for resident in (7, 8):
            counter = e.buffer(np.zeros(1, np.uint32))
            how = {"checks": WITHOUT_RACES, "schedule": schedule, "most_resident": resident}
            result = e.launch("k", 8, 64, [counter], steps=1 << 22, **how)
            assert result.completed is (resident == 8)
            assert counter.read(np.uint32)[0] == resident


COUNTING = """
.visible .entry k(.param .u64 p_ended, .param .u64 p_out) {
  .reg .b32 %r<8>; .reg .b64 %a<4>; .reg .pred %p; .shared .b32 count;
  ld.param.u64 %a0, [p_ended]; ld.param.u64 %a1, [p_out];
  ld.volatile.global.u32 %r0, [%a0];
  mov.u32 %r1, %ctaid.x; mul.wide.u32 %a2, %r1, 4; add.u64 %a1, %a1, %a2; st.global.u32 [%a1], %r0;
  mov.u32 %r2, 0;
AGAIN:
  ATOMIC
  add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, 2000; @%p bra AGAIN;
  red.global.add.u32 [%a0], 1;
  ret;
}
"""


@pytest.mark.parametrize(
    "atomic",
    [
        "red.shared.add.u32 [count], 1;",
        "atom.shared.add.u32 %r3, [count], 1;",
        "red.global.add.u32 [%a0], 0;",
    ],
)
def test_a_block_that_only_counts_runs_to_its_end(emulator_built: Path, atomic: str) -> None:
    """No thread waits with an atomic whose result it does not use, so few blocks are in flight."""
    with Emulator() as e:
        e.load(HEADER + COUNTING.replace("ATOMIC", atomic))
        ended, seen = e.buffer(np.zeros(1, np.uint32)), e.buffer(np.zeros(100, np.uint32))
        assert e.launch("k", 100, 1, [ended, seen], checks=0).completed
        assert seen.read(np.uint32).tolist() == list(range(100))


@pytest.mark.parametrize("schedule", [0, 3])
@pytest.mark.parametrize("name", ["deep_recursion", "deep_frames"])
def test_stack_overflow(device: Emulator, name: str, schedule: int) -> None:
    out = device.buffer(np.arange(1, 65, dtype=np.int32))
    result = device.launch(name, 2, 32, [out], schedule=schedule)
    assert not result.completed
    assert result.finding.kind == "STACK_OVERFLOW"
    words = {
        "deep_recursion": "calls 2049 deep: the emulator allows 2048",
        "deep_frames": r"calls \d+ deep, which takes \d+",
    }
    assert re.search(words[name], result.finding.message)
    assert result.finding.line > 0


# ---- Hand-written PTX ------------------------------------------------------------------------------------------
HEADER = ".version 9.0\n.target sm_80\n.address_size 64\n"
PROLOGUE = """
.visible .entry k(.param .u64 p_in, .param .u64 p_out) {
  .reg .b32 %r<80>; .reg .b64 %a<8>; .reg .pred %p<40>;
  ld.param.u64 %a0, [p_in]; ld.param.u64 %a1, [p_out];
  mov.u32 %r70, %ctaid.x; mov.u32 %r71, %ntid.x; mov.u32 %r72, %tid.x;
  mad.lo.u32 %r70, %r70, %r71, %r72; mul.wide.u32 %a2, %r70, 4;
  add.u64 %a3, %a0, %a2; add.u64 %a4, %a1, %a2;
  ld.global.u32 %r0, [%a3];
"""
EPILOGUE = "  st.global.u32 [%a4], %r0;\n  ret;\n}\n"


def run_ptx(text: str, ins: list[int], schedule: int = 0, **options: int) -> tuple[list[int], Result]:
    with Emulator() as e:
        e.load(text)
        given_buffer, out = (
            e.buffer(np.array(ins, np.uint32), "in"),
            e.buffer(np.zeros(len(ins), np.uint32), "out"),
        )
        options = {"steps": 3_000_000, **options}
        result = e.launch(
            "k", 1, len(ins), [given_buffer, out], schedule=schedule, checks=WITHOUT_RACES, **options
        )
        return out.read(np.uint32).tolist(), result


def only(result: Result) -> Finding:
    return result.finding


def test_a_branch_table_that_never_ends(emulator_built: Path) -> None:
    body = "  L0: add.u32 %r0, %r0, 1; and.b32 %r1, %r0, 1;\n  T: .branchtargets L0, L1;\n  brx.idx %r1, T;\n"
    body += "  L1: mov.u32 %r1, 0;\n  brx.idx %r1, T;\n"
    _, result = run_ptx(HEADER + PROLOGUE + body + EPILOGUE, [0] * 40, steps=10_000)
    assert only(result).kind == "STEP_LIMIT"


def test_a_branch_table_left_behind(emulator_built: Path) -> None:
    body = "  T: .branchtargets L0, L1;\n  brx.idx %r0, T;\n  L0: add.u32 %r0, %r0, 5;\n  L1: add.u32 %r0, %r0, 1;\n"
    got, result = run_ptx(HEADER + PROLOGUE + body + EPILOGUE, [0, 1] * 20)
    assert got == [6, 2] * 20
    got, result = run_ptx(HEADER + PROLOGUE + body + EPILOGUE, [0, 1, 2] * 11)
    assert only(result).kind == "BAD_CALL"
    assert "branches to entry 2 of a table of 2" in only(result).message
    assert only(result).lane == 2


def test_a_branch_table_under_a_guard(emulator_built: Path) -> None:
    body = "  setp.lt.u32 %p1, %r0, 2;\n  T: .branchtargets L0, L1;\n  @%p1 brx.idx %r0, T;\n  add.u32 %r0, %r0, 100;\n"
    body += (
        "  bra L2;\n  L0: add.u32 %r0, %r0, 50;\n  L1: add.u32 %r0, %r0, 10;\n  L2: add.u32 %r0, %r0, 1;\n"
    )
    for schedule in SCHEDULES:
        got, result = run_ptx(HEADER + PROLOGUE + body + EPILOGUE, [0, 1, 2, 9] * 9, schedule)
        assert not result.findings
        assert got == [61, 12, 103, 110] * 9


def test_lanes_meet_again(emulator_built: Path) -> None:
    """Under schedule 0, behind an if, a loop, a table of branches and calls with returns at different places."""
    call = "{ .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %r0; mov.u32 %r62, 5;\n"
    call += "  st.param.b32 [b], %r62; call (c), g, (a, b); ld.param.b32 %r2, [c]; }"
    prototype = "P: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);\n"
    parts = {
        "if": "and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra A; add.u32 %r2, %r0, 1; A: add.u32 %r2, %r0, 2;",
        "loop": "mov.u32 %r1, %r0; B: sub.u32 %r1, %r1, 1; setp.gt.s32 %p1, %r1, 0; @%p1 bra B;",
        "table": "rem.u32 %r1, %r0, 3;\nT: .branchtargets C, D, E;\nbrx.idx %r1, T;\n"
        "C: add.u32 %r2, %r0, 1; D: bra E;\nE:",
        "call": call,
        "indirect": "rem.u32 %r1, %r0, 2; setp.eq.u32 %p1, %r1, 0;\n"
        "mov.u64 %a5, g; mov.u64 %a6, g2; selp.b64 %a5, %a5, %a6, %p1;\n"
        + call.replace(
            "call (c), g, (a, b);",
            prototype + "call (c), %a5, (a, b), P;",
        ),
    }
    functions = RECURSIVE + RECURSIVE.replace(" g(", " g2(").replace("call (c), g,", "call (c), g2,")
    for name, part in parts.items():
        text = HEADER + functions + PROLOGUE + part + "\n  activemask.b32 %r0;\n" + EPILOGUE
        got, result = run_ptx(text, list(range(32)))
        assert not result.findings
        assert got == [0xFFFFFFFF] * 32, name


def test_calls_that_never_end_without_a_branch(emulator_built: Path) -> None:
    """Recursion of bounded depth and unbounded breadth: there is no branch to count at."""
    text = (
        HEADER
        + """
.func (.param .b32 r) deep(.param .b32 n) {
  .reg .b32 %x<9>; .reg .pred %q;
  ld.param.b32 %x0, [n]; st.param.b32 [r], %x0; setp.eq.u32 %q, %x0, 0; @%q ret;
  sub.u32 %x1, %x0, 1;
"""
    )
    for _ in range(4):
        text += "  { .param .b32 a; .param .b32 b; st.param.b32 [a], %x1; call (b), deep, (a); }\n"
    text += "  ret;\n}\n" + PROLOGUE
    text += (
        "  { .param .b32 a; .param .b32 b; mov.u32 %r1, 60; st.param.b32 [a], %r1; call (b), deep, (a); }\n"
    )
    _, result = run_ptx(text + EPILOGUE, [0] * 32, steps=20_000)
    assert only(result).kind == "STEP_LIMIT"


@pytest.mark.parametrize("target", ["in", "3"])
def test_a_pointer_to_no_function(emulator_built: Path, target: str) -> None:
    body = f"  mov.b64 %a5, {'%a0' if target == 'in' else target};\n"
    body += "  { .param .b32 q0; .param .b32 q1; st.param.b32 [q0], %r0;\n"
    body += "  P: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
    body += "  call (q1), %a5, (q0), P; ld.param.b32 %r0, [q1]; }\n"
    _, result = run_ptx(HEADER + PROLOGUE + body + EPILOGUE, [1] * 32)
    assert only(result).kind == "BAD_CALL"
    assert "calls through a pointer that is not a function of this signature" in only(result).message


def test_guarded_instructions(emulator_built: Path) -> None:
    """Exits, returns, calls and barriers under a guard, some lanes of a warp only."""
    text = (
        HEADER
        + """
.func (.param .b32 r) f(.param .b32 n) {
  .reg .b32 %x<4>; .reg .pred %q;
  ld.param.b32 %x0, [n]; mul.lo.u32 %x1, %x0, 10; st.param.b32 [r], %x1;
  setp.gt.u32 %q, %x0, 20; @%q ret;
  add.u32 %x1, %x1, 3; st.param.b32 [r], %x1;
}
"""
        + PROLOGUE
    )
    text += """
  setp.eq.u32 %p1, %r0, 4; @%p1 exit;
  setp.lt.u32 %p2, %r0, 30;
  { .param .b32 a; .param .b32 b; st.param.b32 [a], %r0; @%p2 call (b), f, (a); @%p2 ld.param.b32 %r0, [b]; }
  bar.sync 0;
  setp.eq.u32 %p3, %r72, 7;
  @%p3 st.global.u32 [%a4], %r0; @%p3 exit;
  bar.sync 0;
"""
    ins = [k % 40 for k in range(80)]
    expected = [0 if x == 4 else x if x >= 30 else 10 * x + (0 if x > 20 else 3) for x in ins]
    for schedule in SCHEDULES:
        got, result = run_ptx(text + EPILOGUE, ins, schedule)
        assert result.completed
        assert got == expected


def test_a_barrier_that_some_lanes_of_a_warp_pass_by(emulator_built: Path) -> None:
    """Lanes that may come to another barrier are missed at this one; those that can only end are not."""
    passing = "  setp.lt.u32 %p2, %r72, 20; @!%p2 bra L1; bar.sync 0; L1: add.u32 %r0, %r0, 1;\n"
    got, result = run_ptx(HEADER + PROLOGUE + passing + EPILOGUE, [5] * 32)
    assert result.completed
    assert only(result).kind == "PARTIAL_BARRIER", "a remark: docs/diagnosis.md"
    assert got == [6] * 32
    body = passing + "  bar.sync 0;\n"
    _, result = run_ptx(HEADER + PROLOGUE + body + EPILOGUE, [0] * 32)
    assert not result.completed
    assert only(result).kind == "DEADLOCK"
    assert "20 threads of the block wait here; 12 never arrived" in only(result).message


# ---- Programs of random structure ------------------------------------------------------------------------------
#
# A program is a tree. emit() writes it as PTX, perform() runs it for one thread. Registers 0 to 3 hold values;
# every loop has its own register that bounds it.


@dataclass(frozen=True)
class Set:
    """to = left (op) right, under a guard or not."""

    op: str
    to: int
    left: int
    right: int
    constant: int
    guard: int  # bit of register 0 that must be set; -1: none


@dataclass(frozen=True)
class If:
    register: int
    bit: int
    then: tuple
    other: tuple


@dataclass(frozen=True)
class Loop:
    """At most `turns` turns; leaves where a bit is set (break), skips the rest where another is (continue)."""

    turns: int
    body: tuple
    leave: tuple[int, int]
    skip: tuple[int, int]
    rest: tuple


@dataclass(frozen=True)
class Switch:
    register: int
    arms: tuple
    falls_through: tuple[bool, ...]


@dataclass(frozen=True)
class Call:
    register: int
    depth: int


@dataclass(frozen=True)
class Leave:
    """Stores and exits where a bit is set."""

    register: int
    bit: int


@dataclass(frozen=True)
class Ballot:
    """Lanes of a converged or diverged warp meet by __syncwarp(__activemask()): harmless anywhere."""


OPS = {
    "add.u32": lambda a, b: a + b,
    "sub.u32": lambda a, b: a - b,
    "mul.lo.u32": lambda a, b: a * b,
    "xor.b32": lambda a, b: a ^ b,
    "and.b32": lambda a, b: a & b,
    "max.u32": max,
}
RECURSIVE = """
.func (.param .b32 r) g(.param .b32 n, .param .b32 depth) {
  .reg .b32 %x<9>; .reg .pred %q<3>;
  ld.param.b32 %x0, [n]; ld.param.b32 %x1, [depth];
  setp.eq.u32 %q0, %x1, 0; @%q0 bra LEAF;
  and.b32 %x2, %x0, 1; setp.eq.u32 %q1, %x2, 0; @%q1 bra EVEN;
  mul.lo.u32 %x0, %x0, 3; add.u32 %x0, %x0, 1; bra NEXT;
  EVEN: shr.u32 %x0, %x0, 1; and.b32 %x3, %x0, 4; setp.ne.u32 %q2, %x3, 0; @%q2 bra LEAF;
  NEXT: sub.u32 %x1, %x1, 1;
  { .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %x0; st.param.b32 [b], %x1;
    call (c), g, (a, b); ld.param.b32 %x4, [c]; }
  add.u32 %x4, %x4, %x1; st.param.b32 [r], %x4; ret;
  LEAF: xor.b32 %x0, %x0, 37; st.param.b32 [r], %x0; ret;
}
"""


def g(n: int, depth: int) -> int:
    if depth == 0:
        return n ^ 37
    if n & 1:
        n = u32(3 * n + 1)
    else:
        n >>= 1
        if n & 4:
            return n ^ 37
    return u32(g(n, depth - 1) + depth - 1)


class Emitter:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.fresh = 0

    def label(self) -> str:
        self.fresh += 1
        return f"L{self.fresh}"

    def test(self, register: int, bit: int) -> None:
        self.lines.append(f"and.b32 %r60, %r{register}, {1 << bit}; setp.ne.u32 %p1, %r60, 0;")

    def block(self, statements: tuple, level: int) -> None:
        for s in statements:
            getattr(self, "emit_" + type(s).__name__.lower())(s, level)

    def emit_set(self, s: Set, _level: int) -> None:
        guard = ""
        if s.guard >= 0:
            self.test(0, s.guard)
            guard = "@%p1 "
        right = f"%r{s.right}" if s.constant < 0 else s.constant
        self.lines.append(f"{guard}{s.op} %r{s.to}, %r{s.left}, {right};")

    def emit_if(self, s: If, level: int) -> None:
        other, end = self.label(), self.label()
        self.test(s.register, s.bit)
        self.lines.append(f"@!%p1 bra {other};")
        self.block(s.then, level)
        self.lines.append(f"bra {end};\n{other}:")
        self.block(s.other, level)
        self.lines.append(f"{end}:")

    def emit_loop(self, s: Loop, level: int) -> None:
        top, next_turn, end, counter = self.label(), self.label(), self.label(), f"%r{10 + level}"
        self.lines.append(f"mov.u32 {counter}, {s.turns};\n{top}:")
        self.block(s.body, level + 1)
        self.test(*s.leave)
        self.lines.append(f"@%p1 bra {end};")
        self.test(*s.skip)
        self.lines.append(f"@%p1 bra {next_turn};")
        self.block(s.rest, level + 1)
        self.lines.append(
            f"{next_turn}: sub.u32 {counter}, {counter}, 1; setp.ne.u32 %p2, {counter}, 0; @%p2 bra {top};\n{end}:"
        )

    def emit_switch(self, s: Switch, level: int) -> None:
        labels, table, end = [self.label() for _ in s.arms], self.label(), self.label()
        self.lines.append(f"rem.u32 %r61, %r{s.register}, {len(s.arms)};")
        self.lines.append(f"{table}: .branchtargets {', '.join(labels)};\nbrx.idx %r61, {table};")
        for label, arm, falls in zip(labels, s.arms, s.falls_through, strict=True):
            self.lines.append(f"{label}:")
            self.block(arm, level)
            if not falls:
                self.lines.append(f"bra {end};")
        self.lines.append(f"{end}:")

    def emit_call(self, s: Call, _level: int) -> None:
        self.lines.append(
            f"{{ .param .b32 a; .param .b32 b; .param .b32 c;\n"
            f"st.param.b32 [a], %r{s.register};\nmov.u32 %r62, {s.depth};"
            f"st.param.b32 [b], %r62; call (c), g, (a, b); ld.param.b32 %r{s.register}, [c]; }}"
        )

    def emit_leave(self, s: Leave, _level: int) -> None:
        self.test(s.register, s.bit)
        self.lines.append("@%p1 st.global.u32 [%a4], %r1; @%p1 exit;")

    def emit_ballot(self, _s: Ballot, _level: int) -> None:
        self.lines.append("activemask.b32 %r63; popc.b32 %r63, %r63;")


def perform(statements: tuple, r: list[int]) -> None:
    for s in statements:
        match s:
            case Set():
                if s.guard < 0 or r[0] >> s.guard & 1:
                    r[s.to] = u32(OPS[s.op](r[s.left], r[s.right] if s.constant < 0 else s.constant))
            case If():
                perform(s.then if r[s.register] >> s.bit & 1 else s.other, r)
            case Loop():
                for _ in range(s.turns):
                    perform(s.body, r)
                    if r[s.leave[0]] >> s.leave[1] & 1:
                        break
                    if not r[s.skip[0]] >> s.skip[1] & 1:
                        perform(s.rest, r)
            case Switch():
                arm = r[s.register] % len(s.arms)
                while arm < len(s.arms):
                    perform(s.arms[arm], r)
                    if not s.falls_through[arm]:
                        break
                    arm += 1
            case Call():
                r[s.register] = g(r[s.register], s.depth)
            case Leave():
                if r[s.register] >> s.bit & 1:
                    raise ExitedError(r[1])


registers, bits = st.integers(0, 3), st.integers(0, 7)
sets = st.builds(
    Set,
    st.sampled_from(sorted(OPS)),
    registers,
    registers,
    registers,
    st.integers(-300, 300),
    st.integers(-4, 7),
)
leaves = st.builds(Leave, registers, st.integers(9, 14))
calls = st.builds(Call, registers, st.integers(0, 6))


def lists(children: st.SearchStrategy) -> st.SearchStrategy[tuple]:
    return st.lists(children, max_size=4).map(tuple)


def switches(children: st.SearchStrategy) -> st.SearchStrategy[Switch]:
    arms = st.lists(st.tuples(lists(children), st.booleans()), min_size=1, max_size=5)
    return st.builds(lambda r, a: Switch(r, tuple(x for x, _ in a), tuple(f for _, f in a)), registers, arms)


def larger(children: st.SearchStrategy) -> st.SearchStrategy:
    tested = st.tuples(registers, bits)
    return st.one_of(
        st.builds(If, registers, bits, lists(children), lists(children)),
        st.builds(Loop, st.integers(1, 5), lists(children), tested, tested, lists(children)),
        switches(children),
    )


programs = lists(st.recursive(st.one_of(sets, sets, calls, leaves, st.just(Ballot())), larger, max_leaves=25))
INPUTS = [u32(k * 2654435761 >> 7) for k in range(45)]


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(program=programs, schedule=st.integers(1, 1 << 40))
def test_random_programs(emulator_built: Path, program: tuple, schedule: int) -> None:
    emitter = Emitter()
    emitter.block(program, 0)
    start = "mul.lo.u32 %r1, %r0, 7; shr.u32 %r2, %r0, 5; mov.u32 %r3, 99;\n"
    end = "mad.lo.u32 %r0, %r1, 3, %r0; mad.lo.u32 %r0, %r2, 5, %r0; xor.b32 %r0, %r0, %r3;\n"
    text = HEADER + RECURSIVE + PROLOGUE + start + "\n".join(emitter.lines) + "\n" + end + EPILOGUE
    expected = []
    for x in INPUTS:
        r = [x, u32(7 * x), x >> 5, 99]
        try:
            perform(program, r)
            expected.append(u32(r[0] + 3 * r[1] + 5 * r[2]) ^ r[3])
        except ExitedError as left:
            expected.append(left.args[0])
    for seed in (0, schedule):
        got, result = run_ptx(text, INPUTS, seed, steps=0)
        assert result.completed
        assert not result.findings
        assert got == expected


IN_FLIGHT = """
.visible .entry k(.param .u64 p_counts, .param .u64 p_out) {
  .reg .b32 %r<8>; .reg .b64 %a<4>; .reg .pred %p;
  ld.param.u64 %a0, [p_counts]; ld.param.u64 %a1, [p_out];
  red.global.add.u32 [%a0], 1;
  mov.u32 %r2, 0;
AGAIN:
  LOAD
  add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, 6000; @%p bra AGAIN;
  ld.global.u32 %r0, [%a0]; ld.global.u32 %r1, [%a0+4]; sub.u32 %r0, %r0, %r1;
  mov.u32 %r1, %ctaid.x; mul.wide.u32 %a2, %r1, 4; add.u64 %a1, %a1, %a2; st.global.u32 [%a1], %r0;
  red.global.add.u32 [%a0+4], 1;
  ret;
}
"""


@pytest.mark.parametrize("schedule", [2, 999])
def test_more_blocks_run_at_a_time_only_where_some_may_wait(emulator_built: Path, schedule: int) -> None:
    """Under a seed, eight blocks at most are in flight, unless none ends while threads poll."""
    with Emulator() as e:
        for load, may_wait in (("ld.global.u32", False), ("ld.volatile.global.u32", True)):
            e.load(HEADER + IN_FLIGHT.replace("LOAD", load + " %r3, [%a1];"))
            counts, most = e.buffer(np.zeros(2, np.uint32)), e.buffer(np.zeros(40, np.uint32))
            assert e.launch("k", 40, 1, [counts, most], schedule=schedule, checks=0).completed
            assert counts.read(np.uint32).tolist() == [40, 40]
            assert bool(most.read(np.uint32).max() > 8) is may_wait
