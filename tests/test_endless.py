"""Launches that use up their steps: which are proved never to end, and which are not.

Each kernel is written as PTX, so that no compiler decides what its loop depends on.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from emulator import Emulator, Finding, Result, Value

HEADER = '.version 9.0\n.target sm_90a\n.address_size 64\n.file 1 "k.cu"\n'
NEVER_LEAVES = "never leaves this loop: everything on which its end depends comes back to what it was"


def run(body: str, *, threads: int = 1, blocks: int = 1, steps: int = 1 << 24, schedule: int = 0) -> Result:
    """Launches a kernel: %r0 is 1000, %r1 the thread; 64 words of 0 are at %a0, and 64 read-only ones at %a1."""
    text = f"""{HEADER}
.visible .entry k(.param .u64 p_words, .param .u64 p_in, .param .u32 p_n) {{
  .reg .b32 %r<16>; .reg .b64 %a<8>; .reg .b16 %h<4>; .reg .f32 %f<4>; .reg .pred %p, %q;
  .shared .b32 flag;
  ld.param.u64 %a0, [p_words]; ld.param.u64 %a1, [p_in]; ld.param.u32 %r0, [p_n];
  mov.u32 %r1, %tid.x; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0; mov.u32 %r5, 0;
{body}
  ret;
}}
"""
    with Emulator() as e:
        e.load(text)
        words = e.buffer(np.zeros(64, np.uint32), "words")
        read_only = e.buffer(np.zeros(64, np.uint32), "in")
        read_only.set_read_only()
        arguments = [words, read_only, Value("u32", 1000)]
        return e.launch("k", blocks, threads, arguments, steps=steps, schedule=schedule)


def limit(result: Result) -> Finding:
    """The finding of the limit, among those of races that some of the kernels have."""
    assert not result.completed
    (finding,) = [f for f in result.findings if f.kind == "STEP_LIMIT"]
    return finding


ENDLESS = {
    "unconditional": "L: add.u32 %r2, %r2, 1; bra L;",
    "index_that_stays_0": "L: add.u32 %r2, %r2, %r2; setp.lt.u32 %p, %r2, %r0; @%p bra L;",
    # The sum is different in each round, but nothing depends on it.
    "sum": "L: add.u32 %r3, %r3, 7; setp.lt.u32 %p, %r2, %r0; @%p bra L; st.global.u32 [%a0], %r3;",
    "byte": "L: add.u32 %r2, %r2, 1; and.b32 %r2, %r2, 255; setp.lt.u32 %p, %r2, %r0; @%p bra L;",
    "float": "mov.f32 %f0, 0f4b800000; mov.f32 %f1, 0f3f800000; mov.f32 %f2, 0f4c000000;\n"
    "L: add.f32 %f0, %f0, %f1; setp.lt.f32 %p, %f0, %f2; @%p bra L;",
    # Which way the round takes makes no difference to the end.
    "way": "L: add.u32 %r3, %r3, 1; and.b32 %r4, %r3, 4096; setp.eq.u32 %q, %r4, 0; @%q bra M;\n"
    "add.u32 %r5, %r5, 3;\nM: setp.lt.u32 %p, %r2, %r0; @%p bra L; st.global.u32 [%a0], %r5;",
    "inner_loop": "L: mov.u32 %r3, 0;\nM: add.u32 %r3, %r3, 1; setp.lt.u32 %q, %r3, 100; @%q bra M;\n"
    "setp.lt.u32 %p, %r2, %r0; @%p bra L;",
    "barrier": "L: bar.sync 0; setp.lt.u32 %p, %r2, %r0; @%p bra L;",
    "input": "L: ld.global.u32 %r3, [%a1]; setp.eq.u32 %p, %r3, 0; @%p bra L;",
    "store": "L: add.u32 %r3, %r3, 1; st.global.u32 [%a0], %r3; setp.lt.u32 %p, %r2, %r0; @%p bra L;",
    # All lanes but 5 leave the loop.
    "one_lane": "L: setp.eq.u32 %p, %r1, 5; @%p bra L;",
    "clock_without_a_say": "L: mov.u32 %r3, %clock; setp.lt.u32 %p, %r2, %r0; @%p bra L;",
}

PERHAPS = {
    "long": "L: add.u32 %r2, %r2, 1; setp.ne.u32 %p, %r2, 0; @%p bra L;",
    "long_by_a_branch": "L: add.u32 %r3, %r3, 1; and.b32 %r4, %r3, 0xffffff; setp.ne.u32 %q, %r4, 0; @%q bra M;\n"
    "mov.u32 %r2, %r0;\nM: setp.lt.u32 %p, %r2, %r0; @%p bra L;",
    "long_by_a_predicate": "L: add.u32 %r3, %r3, 1; and.b32 %r4, %r3, 0xffffff; setp.eq.u32 %q, %r4, 0;\n"
    "@%q mov.u32 %r2, %r0; setp.lt.u32 %p, %r2, %r0; @%p bra L;",
    "exit_in_a_branch": "L: add.u32 %r3, %r3, 1; and.b32 %r4, %r3, 0xffffff; setp.eq.u32 %q, %r4, 0;\n"
    "@%q exit; setp.lt.u32 %p, %r2, %r0; @%p bra L;",
    # The limit is reached in an inner loop, whose rounds are not those of the outer one.
    "long_inner_loop": "L: mov.u32 %r3, 0;\nM: add.u32 %r3, %r3, 1; setp.lt.u32 %q, %r3, 0xffffff; @%q bra M;\n"
    "add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, %r0; @%p bra L;",
    "carry": "L: add.cc.u32 %r3, %r3, 1; addc.u32 %r2, %r2, 0; setp.eq.u32 %p, %r2, 0; @%p bra L;",
    "clock": "L: mov.u32 %r3, %clock; and.b32 %r3, %r3, 0; setp.eq.u32 %p, %r3, 0; @%p bra L;",
    "timer": "L: mov.u64 %a2, %globaltimer; setp.ne.u64 %p, %a2, 0; @%p bra L;",
    # Any thread may store there: whether one is left that does is not looked at.
    "memory": "L: ld.global.u32 %r3, [%a0]; setp.eq.u32 %p, %r3, 0; @%p bra L;",
    "memory_of_the_block": "st.shared.u32 [flag], 0;\n"
    "L: bar.sync 0; ld.shared.u32 %r3, [flag]; setp.eq.u32 %p, %r3, 0; @%p bra L;",
    "counter_in_memory": "L: atom.global.add.u32 %r3, [%a0], 1; setp.lt.u32 %p, %r3, 0xffffff00; @%p bra L;",
    "shuffle": "L: shfl.sync.idx.b32 %r3, %r2, 0, 31, -1; setp.lt.u32 %p, %r3, %r0; @%p bra L;",
    "vote": "L: activemask.b32 %r3; setp.ne.u32 %p, %r3, 0; @%p bra L;",
    "no_loop": "\n".join(["add.u32 %r3, %r3, 1;"] * 2000),
}


@pytest.mark.parametrize("schedule", [0, 5, 8])
@pytest.mark.parametrize("name", ENDLESS)
def test_endless_loops_are_proved(emulator_built: Path, name: str, schedule: int) -> None:
    result = run(ENDLESS[name], threads=64, schedule=schedule)
    finding = limit(result)
    assert finding.is_endless
    assert NEVER_LEAVES in finding.message
    if name == "one_lane":
        assert finding.thread == (5, 0, 0)


ABSORBED = {
    "add": ("mov.f32 %f0, 0f4b800000;", "add.f32 %f0, %f0, 0f3f800000;", "16777216 + 1 gives 16777216 again"),
    "sub": ("mov.f32 %f0, 0f4b800000;", "sub.f32 %f0, %f0, 0f3f000000;", "16777216 - 0.5 gives 16777216"),
    "second": (
        "mov.f32 %f0, 0f4d000000; mov.f32 %f1, 0f3f800000;",
        "add.f32 %f0, %f1, %f0;",
        "134217728 + 1 gives",
    ),
    # 16,777,218 + 1 is halfway, and goes to 16,777,220; nothing absorbs 0.
    "changes": ("mov.f32 %f1, 0f4b800001;", "add.f32 %f0, %f1, 0f3f800000;", ""),
    "nothing_added": ("mov.f32 %f0, 0f4b800000;", "add.f32 %f0, %f0, 0f00000000;", ""),
    "rounded_down": ("mov.f32 %f0, 0f4b800000;", "add.rm.f32 %f0, %f0, 0f3f800000;", ""),
}


@pytest.mark.parametrize("name", ABSORBED)
def test_an_addition_that_changes_nothing_is_named(emulator_built: Path, name: str) -> None:
    before, addition, words = ABSORBED[name]
    body = f"""{before} mov.f32 %f2, 0f4f000000;
L:
  .loc 1 17 0
  {addition}
  .loc 1 16 0
  setp.lt.f32 %p, %f0, %f2;
  @%p bra L;"""
    message = limit(run(body)).message
    assert NEVER_LEAVES in message
    assert ("in line 17, " + words in message) if words else (" again" not in message)


@pytest.mark.parametrize("schedule", [0, 5, 8])
@pytest.mark.parametrize("name", PERHAPS)
def test_nothing_is_claimed_of_other_loops(emulator_built: Path, name: str, schedule: int) -> None:
    result = run(
        PERHAPS[name], threads=32, schedule=schedule, steps=1 << 20 if name != "no_loop" else 1 << 10
    )
    assert not limit(result).is_endless
    assert "still running after" in limit(result).message


@pytest.mark.parametrize("threads", [1, 256])
def test_a_counter_of_16_bits_that_starts_again(emulator_built: Path, threads: int) -> None:
    """It is where it was after 65,536 rounds; the other warps of its block are left out meanwhile."""
    body = "mov.u16 %h0, 0;\nL: add.u16 %h0, %h0, 1; cvt.u32.u16 %r2, %h0; setp.lt.u32 %p, %r2, 100000; @%p bra L;"
    result = run(body, threads=threads, steps=1 << 27)
    assert limit(result).is_endless


def test_a_launch_that_ends_soon_after_its_limit_was_too_long(emulator_built: Path) -> None:
    body = "L: add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, %r0; @%p bra L;"
    assert run(body, steps=60_000).completed
    result = run(body, steps=34_000)
    assert not limit(result).is_endless


def test_what_happens_during_the_search_is_not_reported(emulator_built: Path) -> None:
    """The loop leaves the buffer after its limit: no other finding is kept then."""
    body = """
L: add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, %r0; @%p bra L;
  st.global.u32 [%a0+256], %r2;"""
    assert run(body, steps=60_000).finding.kind == "OUT_OF_BOUNDS"
    result = run(body, steps=34_000)
    assert [f.kind for f in result.findings] == ["STEP_LIMIT"]


WAITING = """
  setp.ge.u32 %q, %r1, 32; @%q bra OTHER;
L: ld.volatile.global.u32 %r3, [%a0+8]; setp.eq.u32 %p, %r3, 0; @%p bra L;
  bra END;
OTHER:
  OTHERS
END:
"""


def test_a_wait_for_what_no_thread_stores(emulator_built: Path) -> None:
    result = run(WAITING.replace("OTHERS", "st.volatile.global.u32 [%a0+8], 0;"), threads=64)
    finding = result.finding
    assert (finding.kind, finding.is_endless) == ("STEP_LIMIT", True)
    assert (finding.object, finding.index, finding.bytes) == ("words", 8, 4)
    assert "waits here for ever, where words at byte 8 stays 0: all threads" in finding.message


@pytest.mark.parametrize("schedule", [0, 5, 8])
def test_a_wait_for_a_thread_that_stores_late(emulator_built: Path, schedule: int) -> None:
    late = "M: add.u32 %r4, %r4, 1; setp.lt.u32 %p, %r4, 20000; @%p bra M; st.volatile.global.u32 [%a0+8], 1;"
    result = run(WAITING.replace("OTHERS", late), threads=64, steps=1 << 30, schedule=schedule)
    assert result.completed
    result = run(WAITING.replace("OTHERS", late), threads=64, steps=1 << 18, schedule=schedule)
    assert not limit(result).is_endless


@pytest.mark.parametrize("schedule", [0, 5, 8])
def test_two_warps_that_change_memory_to_and_fro(emulator_built: Path, schedule: int) -> None:
    """The states of both repeat, but under another schedule one may see the other's value and end."""
    flips = "M: atom.global.xor.b32 %r4, [%a0+8], 2; and.b32 %r4, %r4, 1; setp.eq.u32 %p, %r4, 0; @%p bra M;"
    both = WAITING.replace("setp.eq.u32 %p, %r3, 0;", "setp.ne.u32 %p, %r3, 5;").replace("OTHERS", flips)
    result = run(both, threads=64, steps=1 << 20, schedule=schedule)
    assert not limit(result).is_endless
