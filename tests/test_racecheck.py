"""racecheck: pairs of kernels, clean and broken; programs made up at random against plain vector clocks."""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from emulator import INIT, RACE, SYNC, Argument, Buffer, Emulator, Result, Value
from race_kernels import COMPILED, SOURCES, RaceKernel, race_kernels, read_kernel

KERNELS = race_kernels()
SCHEDULES = range(8)


@pytest.fixture(scope="module")
def device(emulator_built: Path) -> Iterator[Emulator]:
    with Emulator() as e:
        yield e


# ---- Kernels that say themselves what is wrong with them -------------------------------------------------------
def command() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.add_argument("kernel")
    for name in ("--grid", "--block"):
        parser.add_argument(name, type=lambda text: tuple(map(int, text.split(","))))
    parser.add_argument("--shared", type=int, default=0)
    parser.add_argument("--arg", action="append", default=[])
    return parser


def argument(e: Emulator, spec: str, index: int) -> Argument:
    kind, value, *content = spec.split(":")
    if kind != "buf":
        return Value(kind, int(value))
    zeros = np.zeros(int(value), np.uint8)
    return e.buffer(zeros if content == ["zero"] else int(value), f"argument {index}")


def run(e: Emulator, kernel: RaceKernel, schedule: int, checks: int = RACE | SYNC) -> Result:
    e.load(kernel.image())
    given = command().parse_args(kernel.run)
    arguments = [argument(e, spec, i) for i, spec in enumerate(given.arg)]
    try:
        return e.launch(
            given.kernel,
            given.grid,
            given.block,
            arguments,
            shared=given.shared,
            schedule=schedule,
            checks=checks,
            steps=5_000_000,
        )
    finally:
        for each in arguments:
            if isinstance(each, Buffer):
                each.free()


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_kernel(device: Emulator, kernel: RaceKernel) -> None:
    for schedule in SCHEDULES:
        result = run(device, kernel, schedule)
        assert result.completed, (schedule, result.findings)
        races = [(f.kind, frozenset({f.line, f.other_line})) for f in result.findings]
        if not kernel.expected:
            assert set(result.kinds) <= {"PARTIAL_BARRIER", "STALE_READ"}, (schedule, result.findings)
            continue
        expected = (kernel.expected.kind, kernel.expected.lines)
        # Weak schedules order fences among each other, which may happen to order the two.
        assert expected in races or (schedule % 4 == 0 and schedule), (schedule, result.findings)
        allowed = {"RACE_SAME_VALUE", "PARTIAL_BARRIER", "STALE_READ"} | {expected[0]}
        assert set(result.kinds) <= allowed, (schedule, result.findings)


def test_clean_kernels_are_clean_in_every_respect(device: Emulator) -> None:
    for kernel in KERNELS:
        if not kernel.expected:
            assert set(run(device, kernel, 0, RACE | SYNC | INIT).kinds) <= {"PARTIAL_BARRIER"}, kernel.name


@pytest.mark.timed
def test_tickets_cost_the_same_each(device: Emulator) -> None:
    """What a thousand blocks know of each other is not copied, or looked through, at every atomic."""
    device.load(read_kernel(SOURCES / "ticket.cu").image())
    seconds = {}
    for blocks in (4_000, 32_000):
        buffers = [device.buffer(np.zeros(n, np.float32)) for n in (blocks * 64, blocks, 1, 1)]
        begun = time.process_time()
        assert not device.launch("sum", blocks, 64, buffers, checks=RACE).findings
        seconds[blocks] = time.process_time() - begun
        for each in buffers:
            each.free()
    assert seconds[32_000] < 24 * seconds[4_000]  # 8 times the work


TABLE = """.version 9.0
.target sm_80
.address_size 64
.visible .entry k(.param .u32 rounds) {
    .reg .b32 %r<9>;
    .reg .pred %p<2>;
    .shared .align 4 .b8 words[4096];
    ld.param.u32 %r1, [rounds];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, words;
    shl.b32 %r4, %r2, 2;
    add.u32 %r4, %r3, %r4;
    st.shared.u32 [%r4], %r2;
    bar.sync 0;
    mad.lo.u32 %r5, %r2, STEP, 0;
again:
    and.b32 %r6, %r5, 1023;
    shl.b32 %r6, %r6, 2;
    add.u32 %r6, %r3, %r6;
    ld.shared.u32 %r7, [%r6];
    EXTRA
    add.u32 %r5, %r5, 37;
    sub.u32 %r1, %r1, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra again;
    ret;
}
"""


@pytest.mark.parametrize("schedule", [0, 2])
@pytest.mark.parametrize("extra", ["", "bar.warp.sync -1;"])
@pytest.mark.parametrize("step", [1, 5])
@pytest.mark.timed
def test_a_word_read_again_costs_no_more_with_many_warps(
    device: Emulator, step: int, extra: str, schedule: int
) -> None:
    """As many reads by 32 warps as by one: side by side, scattered, and with the warps at different times."""
    seconds = {}
    for warps in (1, 32):
        device.load(TABLE.replace("STEP", str(step)).replace("EXTRA", extra))
        times = []
        for _ in range(3):
            begun = time.process_time()
            assert not device.launch(
                "k", 1, 32 * warps, [Value("u32", 40_000 // warps)], checks=RACE, schedule=schedule
            ).findings
            times.append(time.process_time() - begun)
        seconds[warps] = min(times)
    assert seconds[32] < 4 * seconds[1], seconds


def test_off_means_off(device: Emulator) -> None:
    assert not run(device, read_kernel(SOURCES / "tree_level.cu"), 0, SYNC).findings


def test_committed_ptx_is_of_these_sources() -> None:
    from cuda_images import is_from

    names = {kernel.name for kernel in KERNELS}
    assert {path.stem for path in COMPILED.glob("*.ptx")} == names
    assert len(names) >= 40
    assert all(is_from(COMPILED / f"{kernel.name}.ptx", kernel.source) for kernel in KERNELS)
    assert all(
        "/" not in line
        for path in COMPILED.glob("*.ptx")
        for line in path.read_text().split("\n")
        if ".file" in line
    )


def test_committed_ptx_is_what_nvcc_makes(nvcc: str, tmp_path: Path) -> None:
    from cuda_images import compile_ptx

    for name in ("tree", "lock_fence"):
        compile_ptx(SOURCES / f"{name}.cu", tmp_path / "out.ptx", Path(nvcc))
        # Comments aside, and the debug strings: names of inlined functions hold a hash of the folder.
        made, there = (
            [line for line in path.read_text().split("\n") if not line.startswith(("//", ".b8"))]
            for path in (tmp_path / "out.ptx", COMPILED / f"{name}.ptx")
        )
        assert made == there


# ---- What is said ----------------------------------------------------------------------------------------------
PTX = """.version 9.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {{
    .reg .b64 %rd<8>;
    .reg .b32 %r<8>;
    .reg .pred %p<4>;
    .shared .align 16 .b8 _ZZ1kE1s[512];
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, _ZZ1kE1s;
    shl.b32 %r4, %r1, 2;
    add.u32 %r5, %r3, %r4;
{body}
    ret;
}}
"""


def made(e: Emulator, body: str, grid: int = 1, block: int = 64, words: int = 64) -> Result:
    e.load(PTX.format(body=body))
    out = e.buffer(np.zeros(words, np.int32), "out")
    try:
        return e.launch("k", grid, block, [out], checks=RACE)
    finally:
        out.free()


def test_finding_names_both_sides(device: Emulator) -> None:
    f = made(
        device,
        "st.shared.u32 [%r5], %r1;\n xor.b32 %r6, %r4, 132;\n add.u32 %r6, %r3, %r6;\n ld.shared.u32 %r7, [%r6];",
    ).findings[0]
    assert f.kind == "RACE"
    assert f.object == "shared s"
    assert f.thread[0] ^ f.other_thread[0] == 33
    assert f.bytes == 4
    assert not f.fatal
    owner = f.other_thread[0] if not f.is_store else f.thread[0]
    assert f.index == 4 * owner
    assert f.message.startswith(
        f"thread ({f.thread[0]},0,0) of block (0,0,0) {'writes' if f.is_store else 'reads'} shared s at byte {f.index}"
    )
    assert f"(element {f.index // 4} of 4 bytes) that thread ({f.other_thread[0]},0,0)" in f.message
    assert "with no barrier between them" in f.message
    assert "read-after-write" in f.message or "write-after-read" in f.message


def test_two_blocks(device: Emulator) -> None:
    f = made(device, "st.global.u32 [%rd1+8], %r2;", grid=3, block=1).findings[0]
    assert (f.object, f.index, f.object_bytes) == ("out", 8, 256)
    assert "of block (0,0,0)" in f.message
    assert "blocks" in f.message
    assert "write-after-write" in f.message


def test_one_instruction(device: Emulator) -> None:
    f = made(
        device,
        "shr.u32 %r6, %r1, 1;\n shl.b32 %r6, %r6, 2;\n add.u32 %r6, %r3, %r6;\n st.shared.u32 [%r6], %r1;",
    ).findings[0]
    assert f.kind == "RACE"
    assert (f.thread[0], f.other_thread[0], f.index) == (1, 0, 0)
    assert "in the same instruction" in f.message


def test_count_is_of_all_pairs(device: Emulator) -> None:
    result = made(device, "st.global.u32 [%rd1], %r2;", grid=100, block=1)
    assert result.finding.count == 99
    assert result.findings_total == 99


@pytest.mark.parametrize("unit", ["u8", "u16", "u32", "u64", "v2.u32", "v4.u32"])
def test_neighbours_do_not_race_and_overlaps_do(device: Emulator, unit: str) -> None:
    elements = int(unit[1]) if unit[0] == "v" else 1
    size = elements * int(unit.split(".")[-1][1:]) // 8
    value = "%r1" if elements == 1 else "{" + ", ".join(["%r1"] * elements) + "}"
    if unit == "u64":
        value = "%rd3"
    address = f"mul.wide.u32 %rd2, %r1, {size};\n add.u64 %rd2, %rd1, %rd2;\n cvt.u64.u32 %rd3, %r1;"
    kind = unit.replace("u8", "b8") if elements == 1 else unit
    assert not made(device, f"{address}\n st.global.{kind} [%rd2], {value};", words=16 * size + 64).findings
    over = f"{address}\n st.global.{kind} [%rd2], {value};\n ld.global.u8 %r6, [%rd2+{size}];"
    assert made(device, over, words=16 * size + 64).kinds[0] == "RACE"
    within = f"{address}\n st.global.{kind} [%rd2], {value};\n ld.global.u8 %r6, [%rd2+{size - 1}];"
    assert not made(device, within, words=16 * size + 64).findings


CHOICES = {
    "taken": ("ld.shared.u32 %r6, [%r3]; selp.b32 %r7, %r6, %r1, %p1;", False),
    "taken where it is false": ("ld.shared.u32 %r6, [%r3]; selp.b32 %r7, %r1, %r6, %p2;", False),
    "taken by others": ("ld.shared.u32 %r6, [%r3]; selp.b32 %r7, %r1, %r6, %p1;", True),
    "taken or taken": ("ld.shared.u32 %r6, [%r3]; selp.b32 %r7, %r6, %r6, %p1;", True),
    "computed with": (
        """ld.shared.u32 %r6, [%r3]; ld.shared.u32 %r7, [%r3+4]; add.u32 %r2, %r6, %r7;
        selp.b32 %r2, %r2, %r1, %p1;""",
        False,
    ),
    "compared later": (
        "ld.shared.u32 %r6, [%r3]; setp.eq.u32 %p3, %r1, 0; selp.b32 %r7, %r6, %r1, %p3;",
        False,
    ),
    "compared itself": (
        "ld.shared.u32 %r6, [%r3]; setp.eq.u32 %p3, %r6, 0; selp.b32 %r7, %r6, %r1, %p3;",
        True,
    ),
    "stored too": (
        """mul.wide.u32 %rd2, %r1, 4; add.u64 %rd2, %rd1, %rd2;
        ld.shared.u32 %r6, [%r3]; selp.b32 %r7, %r6, %r1, %p1; st.global.u32 [%rd2], %r6;""",
        True,
    ),
    "of a vector": ("ld.shared.v2.u32 {%r6, %r7}, [%r3]; selp.b32 %r2, %r7, %r1, %p1;", False),
    # The first round's value of word 0 is taken in the second round, in a sum with word 64.
    "taken in the next round": (
        """mov.u32 %r5, %r3; mov.u32 %r7, 0; setp.eq.u32 %p3, %r1, 64;
        again:
        ld.shared.u32 %r6, [%r5]; add.u32 %r7, %r7, %r6; selp.b32 %r2, %r7, %r1, %p3;
        add.u32 %r5, %r5, 256; not.pred %p3, %p3; @%p3 bra again;""",
        True,
    ),
    "dropped in each round": (
        """mov.u32 %r5, %r3; setp.eq.u32 %p3, %r1, 64;
        again:
        ld.shared.u32 %r6, [%r5]; selp.b32 %r2, %r6, %r1, %p1;
        add.u32 %r5, %r5, 256; not.pred %p3, %p3; @%p3 bra again;""",
        False,
    ),
}


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("is_written_first", [True, False])
def test_only_a_value_that_is_taken_has_been_read(
    device: Emulator, choice: str, is_written_first: bool
) -> None:
    body, races = CHOICES[choice]
    write = "@%p1 st.shared.u32 [%r3], %r1;"
    body = f"{write} {body}" if is_written_first else f"{body} {write}"
    kinds = made(device, f"setp.eq.u32 %p1, %r1, 0; setp.ne.u32 %p2, %r1, 0; {body}").kinds
    assert set(kinds) == ({"RACE"} if races else set())


def test_two_memories_in_one_instruction(device: Emulator) -> None:
    body = """
    setp.lt.u32 %p1, %r1, 16;
    cvta.to.global.u64 %rd2, %rd1;
    cvt.u64.u32 %rd3, %r3;
    cvta.shared.u64 %rd3, %rd3;
    selp.b64 %rd4, %rd2, %rd3, %p1;
    shl.b32 %r6, %r1, 2;
    and.b32 %r6, %r6, 31;
    cvt.u64.u32 %rd5, %r6;
    add.u64 %rd4, %rd4, %rd5;
    st.u32 [%rd4], %r1;"""
    found = made(device, body, block=32).findings
    assert {f.object for f in found} <= {"out", "shared s"}
    assert found[0].kind == "RACE"


# ---- Programs made up at random --------------------------------------------------------------------------------
THREADS, BLOCKS, WORDS = 128, 2, 6
READ, WRITE, ATOMIC, READ_QUAD, WRITE_QUAD = 1, 2, 3, 4, 5  # a quad is four words
PLACES, GLOBAL = 128, 128  # of each memory; the bit of a step that names global memory
ACCESS, BLOCK_BARRIER, WARP_BARRIER, NAMED_BARRIER = range(4)


def random_access(rng: random.Random) -> list[int]:
    """One word for every thread: 0, or an operation and a place."""
    total = THREADS * BLOCKS
    style = rng.randrange(7)
    space = rng.choice([0, GLOBAL])
    operation = rng.choice([READ, READ, WRITE, ATOMIC])
    if style == 0:  # a few threads, anything
        step = [0] * total
        for _ in range(rng.randrange(1, 5)):
            step[rng.randrange(total)] = (
                rng.choice([READ, WRITE, ATOMIC]) << 8 | rng.choice([0, GLOBAL]) | rng.randrange(WORDS)
            )
        return step
    if style == 1:  # one thread
        step = [0] * total
        step[rng.randrange(total)] = operation << 8 | space | rng.randrange(WORDS)
        return step
    if style == 2:  # a warp reads one word, or adds to it
        warp, word = rng.randrange(total // 32), rng.randrange(WORDS)
        code = rng.choice([READ, ATOMIC]) << 8 | space | word
        return [code if t // 32 == warp else 0 for t in range(total)]
    if style == 3:  # a block reads one word
        block, word = rng.randrange(BLOCKS), rng.randrange(WORDS)
        return [READ << 8 | space | word if t // THREADS == block else 0 for t in range(total)]
    if style in (4, 5):  # whole warps or halves of them, one word or one quad after the other
        operation, lanes = rng.choice([READ, READ, WRITE, READ_QUAD, WRITE_QUAD]), rng.choice([16, 32])
        step, size = [0] * total, 4 if operation >= READ_QUAD else 1
        for _ in range(rng.randrange(1, 4)):
            first, word = rng.randrange(total // lanes) * lanes, rng.choice([0, 0, 16, 64, rng.randrange(3)])
            for k in range(lanes):
                step[first + k] = operation << 8 | space | (word // size + k) * size % PLACES
        return step
    first, word = rng.randrange(total), rng.randrange(WORDS)  # some neighbours
    count = rng.randrange(1, 7)
    return [
        operation << 8 | space | (word + t - first) % WORDS if first <= t < first + count else 0
        for t in range(total)
    ]


def random_sync(rng: random.Random, unused: list[int]) -> tuple[int, list[int]]:
    """A kind of barrier, and for every thread its mask, or its barrier and how many come to it."""
    total = THREADS * BLOCKS
    kind = rng.choice(
        [BLOCK_BARRIER, WARP_BARRIER, WARP_BARRIER, *([NAMED_BARRIER] if len(unused) > 1 else [])]
    )
    step = [0] * total
    if kind == WARP_BARRIER:
        for warp in range(total // 32):
            groups = [rng.randrange(3) for _ in range(32)] if rng.random() < 0.5 else [rng.randrange(2)] * 32
            for group in (1, 2):
                mask = sum(1 << lane for lane in range(32) if groups[lane] == group)
                for lane in range(32):
                    if groups[lane] == group:
                        step[warp * 32 + lane] = mask - (1 << 32) if mask >> 31 else mask
    if kind == NAMED_BARRIER:  # each number once: warps may be far apart
        numbers = unused.pop(), unused.pop()
        for block in range(BLOCKS):
            drawn = [rng.randrange(3) for _ in range(4)]
            members = [[w for w in range(4) if drawn[w] == group] for group in (1, 2)]
            for number, warps in zip(numbers, members, strict=True):
                for w in warps:
                    for lane in range(32):
                        step[block * THREADS + w * 32 + lane] = number | 32 * len(warps) << 4
    return kind, step


class Oracle:
    """Vector clocks, one number a pair of threads; every access that there ever was."""

    def __init__(self) -> None:
        total = THREADS * BLOCKS
        self.clock = np.zeros((total, total), np.int64)
        self.clock[np.diag_indices(total)] = 1
        self.past: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
        self.races: set[tuple[int, int]] = set()

    def meet(self, threads: list[int]) -> None:
        if threads:
            self.clock[threads] = self.clock[threads].max(axis=0)
            self.clock[threads, threads] += 1

    def access(self, step: list[int]) -> None:
        for t, code in enumerate(step):
            if not code:
                continue
            operation, shared, first = code >> 8, not code & GLOBAL, code % PLACES
            is_quad = operation in (READ_QUAD, WRITE_QUAD)
            operation = {READ_QUAD: READ, WRITE_QUAD: WRITE}.get(operation, operation)
            for place in range(first, first + (4 if is_quad else 1)):
                word = (t // THREADS if shared else -1, place)
                past = self.past.setdefault(word, [])
                for other, when, what in past:
                    ordered = self.clock[t, other] >= when
                    if other != t and not ordered and {operation, what} not in ({READ}, {ATOMIC}):
                        self.races.add(word)
                past.append((t, int(self.clock[t, t]), operation))

    def sync(self, kind: int, step: list[int]) -> None:
        total = THREADS * BLOCKS
        if kind == BLOCK_BARRIER:
            for block in range(BLOCKS):
                self.meet(list(range(block * THREADS, (block + 1) * THREADS)))
            return
        size = 32 if kind == WARP_BARRIER else THREADS
        for base in range(0, total, size):
            for value in sorted(set(step[base : base + size]) - {0}):
                self.meet([t for t in range(base, base + size) if step[t] == value])


def made_up(seed: int) -> tuple[np.ndarray, Oracle]:
    rng = random.Random(seed)
    oracle = Oracle()
    rows, unused = [], list(range(1, 16))
    density = rng.choice([0.35, 0.5, 0.7])
    for _ in range(rng.randrange(4, 16)):
        if rng.random() < density:
            kind, step = random_sync(rng, unused)
            oracle.sync(kind, step)
        else:
            kind, step = ACCESS, random_access(rng)
            oracle.access(step)
        rows.append([kind, *step])
    return np.array(rows, np.int64).astype(np.int32), oracle


@pytest.mark.parametrize("seed", range(40))
def test_random_program(device: Emulator, seed: int) -> None:
    device.load(read_kernel(SOURCES / "steps.cu").image())
    for part in range(8):
        program, oracle = made_up(seed * 8 + part)
        table = device.buffer(program, "program")
        table.set_read_only()
        data, out = (
            device.buffer(np.zeros(PLACES, np.int32), "data"),
            device.buffer(np.zeros(256, np.int32), "out"),
        )
        arguments = [table, len(program), data, out]
        result = device.launch(
            "steps", BLOCKS, THREADS, arguments, checks=RACE, schedule=part, max_findings=1000
        )
        assert result.completed
        found = set()
        for f in result.findings:
            assert f.kind == "RACE", f
            found.add((f.block[0] if f.object == "shared quads" else -1, f.index // 4))
        # One line races with another in many words and is told once, so words are compared for whether there are any.
        assert bool(found) == bool(oracle.races), (seed * 8 + part, result.findings, oracle.races)
        assert found <= oracle.races, (seed * 8 + part, result.findings, oracle.races)
        for each in (table, data, out):
            each.free()
