"""mbarriers: every operation against the ISA's rules, and what is said when one is misused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from emulator import Emulator, Result
from hypothesis import given, settings
from hypothesis import strategies as st

SCHEDULES = (0, 1, 2, 3, 4, 8)
MOST = (1 << 20) - 1


@pytest.fixture(scope="module")
def device(emulator_built: Path) -> Iterator[Emulator]:
    with Emulator() as e:
        yield e


def kernel(body: str, shared: str = ".shared .align 8 .b64 bar[4];") -> str:
    """A kernel k(out) of `body`, with registers of every class, %tid.x in %t and the address of bar in %b."""
    return f"""
.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {{
    .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %d<32>; .reg .b32 %t, %b;
    {shared}
    ld.param.u64 %d0, [out];
    mov.u32 %t, %tid.x;
    mov.u32 %b, bar;
{body}
    ret;
}}
"""


def launch(
    device: Emulator,
    body: str,
    threads: int = 32,
    schedule: int = 0,
    words: int = 256,
    steps: int = 20_000_000,
) -> tuple[np.ndarray, Result]:
    device.load(kernel(body))
    out = device.buffer(np.zeros(words, np.uint32), "out")
    result = device.launch("k", 1, threads, [out], schedule=schedule, steps=steps)
    got = out.read(np.uint32)
    out.free()
    return got, result


def line_of(body: str, text: str) -> int:
    lines = kernel(body).splitlines()
    return next(i for i, line in enumerate(lines, 1) if text in line)


INIT = """
    setp.ne.u32 %p0, %t, 0;
    @!%p0 mbarrier.init.shared::cta.b64 [%b], {count};
    bar.sync 0;
"""
WAIT = """
WAIT{n}:
    mbarrier.{wait}.shared::cta.b64 %p1, [%b], {what};
    @!%p1 bra WAIT{n};
"""


# ---- One thread: any sequence of operations, against a model in Python -------------------------------------------
@dataclass(frozen=True)
class Model:
    """ISA, "mbarrier": the phase, the pending and expected arrivals, and the tx-count."""

    expected: int
    pending: int
    bytes: int = 0
    parity: int = 0

    def settled(self) -> Model:
        if self.pending or self.bytes:
            return self
        return replace(self, pending=self.expected, parity=self.parity ^ 1)

    def arrive(self, count: int, *, drop: bool = False, expect: int = 0) -> Model:
        expected = self.expected - count if drop else self.expected
        return replace(
            self, pending=self.pending - count, expected=expected, bytes=self.bytes + expect
        ).settled()


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(
            [
                "arrive",
                "arrive_drop",
                "arrive.expect_tx",
                "arrive_drop.expect_tx",
                "expect_tx",
                "complete_tx",
                "arrive.noComplete",
                "arrive_drop.noComplete",
                "inval",
            ]
        ),
        st.integers(1, 5),
        st.sampled_from(["", ".release.cta", ".relaxed.cta", ".release.cluster", ".relaxed.cluster"]),
        st.sampled_from([".shared", ".shared::cta", ""]),
    ),
    max_size=12,
)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 40), OPERATIONS)
def test_sequences_follow_the_model(
    device: Emulator, first: int, steps: list[tuple[str, int, str, str]]
) -> None:
    model = Model(first, first)
    expected: list[int] = []
    body = f"    setp.ne.u32 %p0, %t, 0;\n    @%p0 bra END;\n    mbarrier.init.shared.b64 [%b], {first};\n"
    body += "    cvt.u64.u32 %d9, %b;\n    cvta.shared.u64 %d9, %d9;\n"

    def ask(place: int) -> None:
        """Both parities, and the state of the last arrival."""
        nonlocal body
        for parity in (0, 1):
            wait = ("test_wait", "try_wait")[place % 2]
            hint = ", 0x989680" if wait == "try_wait" and place % 3 == 0 else ""
            body += f"    mbarrier.{wait}.parity.shared::cta.b64 %p1, [%b], {parity}{hint};\n"
            body += f"    selp.u32 %r1, 1, 0, %p1;\n    st.global.u32 [%d0+{4 * len(expected)}], %r1;\n"
            expected.append(int(model.parity != parity))

    ask(0)
    for place, (name, count, semantics, space) in enumerate(steps):
        base, _, what = name.partition(".")
        address = "[%d9]" if not space else "[%b]"
        drop = base == "arrive_drop"
        arriving = 1 if what == "expect_tx" else count
        if name == "inval":
            body += f"    mbarrier.inval{space}.b64 {address};\n    mbarrier.init{space}.b64 {address}, {count};\n"
            model = Model(count, count)
        elif base in ("expect_tx", "complete_tx"):
            order = semantics.replace("release", "relaxed")
            body += f"    mbarrier.{name}{order}{space}.b64 {address}, {16 * count};\n"
            change = 16 * count if base == "expect_tx" else -16 * count
            model = replace(model, bytes=model.bytes + change)
            model = model.settled() if base == "complete_tx" else model
        else:
            # Undefined: more arrivals than are pending, a phase that .noComplete ends, and no arrivals left.
            ends = model.pending == arriving and not model.bytes
            if arriving > model.pending or (what == "noComplete" and ends):
                continue
            if drop and model.expected <= arriving:
                continue
            operand = f", {16 * count if what == 'expect_tx' else count}"
            order = ".release.cta" if what == "noComplete" and semantics else semantics
            body += f"    mbarrier.{name}{order}{space}.b64 %d1, {address}{operand};\n"
            body += "    mbarrier.pending_count.b64 %r2, %d1;\n"
            body += f"    st.global.u32 [%d0+{4 * len(expected)}], %r2;\n"
            expected.append(model.pending)
            before = model.parity
            model = model.arrive(arriving, drop=drop, expect=16 * count if what == "expect_tx" else 0)
            body += "    mbarrier.test_wait.shared::cta.b64 %p1, [%b], %d1;\n    selp.u32 %r1, 1, 0, %p1;\n"
            body += f"    st.global.u32 [%d0+{4 * len(expected)}], %r1;\n"
            expected.append(int(model.parity != before))
        ask(place)
    got, result = launch(device, body + "END:\n", words=len(expected) + 1)
    assert not result.findings
    assert got[:-1].tolist() == expected


# ---- Many threads ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("wait", "what"),
    [
        ("test_wait", "%d1"),
        ("try_wait", "%d1"),
        ("try_wait", "%d1, 1000"),
        ("test_wait.parity", "0"),
        ("try_wait.parity", "0"),
        ("try_wait.parity.acquire.cta", "0"),
        ("test_wait.acquire.cluster", "%d1"),
    ],
)
def test_values_pass_an_mbarrier(device: Emulator, schedule: int, wait: str, what: str) -> None:
    body = (
        INIT.format(count=64)
        + """
    shl.b32 %r1, %t, 2;
    mov.u32 %r2, data;
    add.u32 %r3, %r2, %r1;
    st.shared.u32 [%r3], %t;
    mbarrier.arrive.shared::cta.b64 %d1, [%b];
"""
        + WAIT.format(n=0, wait=wait, what=what)
        + """
    xor.b32 %r4, %r1, 252;
    add.u32 %r5, %r2, %r4;
    ld.shared.u32 %r6, [%r5];
    cvt.u64.u32 %d2, %r1;
    add.u64 %d2, %d0, %d2;
    st.global.u32 [%d2], %r6;
"""
    )
    text = kernel(body, ".shared .align 8 .b64 bar[4]; .shared .b32 data[64];")
    device.load(text)
    out = device.buffer(np.zeros(64, np.uint32), "out")
    result = device.launch("k", 1, 64, [out], schedule=schedule)
    assert not result.findings
    assert out.read(np.uint32).tolist() == list(range(63, -1, -1))
    relaxed = text.replace("mbarrier.arrive.shared::cta", "mbarrier.arrive.relaxed.cta.shared::cta")
    device.load(relaxed)
    assert "RACE" in device.launch("k", 1, 64, [out], schedule=schedule).kinds


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_phase_releases_only_what_came_before_it(device: Emulator, schedule: int) -> None:
    """Warp 1 waits for the first phase and reads what warp 0 writes in the second."""
    body = (
        INIT.format(count=32)
        + """
    setp.ge.u32 %p2, %t, 32;
    @%p2 bra READ;
    mbarrier.arrive.shared::cta.b64 %d1, [%b];
    @!%p0 st.shared.u32 [%b+16], 1;
    mbarrier.arrive.shared::cta.b64 %d1, [%b];
    bra END;
READ:
    bar.warp.sync -1;
"""
        + WAIT.format(n=0, wait="try_wait.parity", what="0")
        + """
    ld.shared.u32 %r1, [%b+16];
    st.global.u32 [%d0], %r1;
END:
"""
    )
    _, result = launch(device, body, 64, schedule)
    assert "RACE" in result.kinds or "DEADLOCK" in result.kinds


# ---- Misuse ------------------------------------------------------------------------------------------------------
ONE = "    setp.ne.u32 %p0, %t, 0;\n    @%p0 bra END;\n"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            ONE + "    mbarrier.arrive.shared.b64 %d1, [%b+8];\nEND:\n",
            "in shared bar at byte 8, but none is initialised",
        ),
        (
            ONE
            + "    mbarrier.init.shared.b64 [%b], 1;\n    mbarrier.inval.shared.b64 [%b];\n"
            + "    mbarrier.test_wait.parity.shared.b64 %p1, [%b], 0;\nEND:\n",
            "in shared bar, but none is initialised",
        ),
        (ONE + "    mbarrier.init.shared.b64 [%b], 0;\nEND:\n", "gives 0 arrivals"),
        (ONE + f"    mbarrier.init.shared.b64 [%b], {MOST + 1};\nEND:\n", f"gives {MOST + 1} arrivals"),
        (
            ONE
            + f"    mbarrier.init.shared.b64 [%b], 1;\n    mbarrier.expect_tx.relaxed.cta.shared.b64 [%b], {MOST};\n"
            + "    mbarrier.expect_tx.relaxed.cta.shared.b64 [%b], 16;\nEND:\n",
            "expect 16 bytes more, and it expects 1048575",
        ),
        (
            ONE + "    mbarrier.init.shared.b64 [%b], 2;\n    mbarrier.arrive.shared.b64 _, [%b], 3;\nEND:\n",
            "arrives 3 times at the mbarrier in shared bar, but its phase waits for 2 of 2 arrivals",
        ),
        (
            ONE
            + "    mbarrier.init.shared.b64 [%b], 1;\n    mbarrier.arrive.noComplete.shared.b64 _, [%b], 1;\nEND:\n",
            "this one ends the phase",
        ),
    ],
)
def test_misuse(device: Emulator, body: str, words: str) -> None:
    _, result = launch(device, body)
    assert result.finding.kind == "BAD_BARRIER"
    assert words in result.finding.message


@pytest.mark.parametrize("address", ["%b+4", "%b+3"])
def test_misaligned(device: Emulator, address: str) -> None:
    _, result = launch(device, ONE + f"    mbarrier.init.shared.b64 [{address}], 1;\nEND:\n")
    assert result.finding.kind == "MISALIGNED"


def test_outside_shared_memory(device: Emulator) -> None:
    _, result = launch(device, ONE + "    mbarrier.init.b64 [%d0], 1;\nEND:\n")
    assert result.finding.kind == "OUT_OF_BOUNDS"
    _, result = launch(device, ONE + "    mbarrier.init.shared.b64 [%b+32], 1;\nEND:\n")
    assert result.finding.kind == "OUT_OF_BOUNDS"


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_barrier_must_follow_init(device: Emulator, schedule: int) -> None:
    body = "    setp.ne.u32 %p0, %t, 0;\n    @!%p0 mbarrier.init.shared::cta.b64 [%b], 64;\n"
    body += "    mbarrier.arrive.shared.b64 _, [%b];\n"
    _, result = launch(device, body, 64, schedule)
    assert {"RACE", "BAD_BARRIER"} & set(result.kinds)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    ("count", "arrive", "parity", "words"),
    [
        (
            33,
            "arrive",
            0,
            "parity 0: 0 phases have ended, and the current one, of parity 0, still waits for 1 of 33",
        ),
        (
            32,
            "arrive",
            1,
            "parity 1: 1 phase has ended, and the current one, of parity 1, still waits for 32 of 32",
        ),
        (
            16,
            "arrive",
            0,
            "parity 0: 2 phases have ended, and the current one, of parity 0, still waits for 16 of 16",
        ),
        (32, "arrive.expect_tx", 0, "0 of 32 arrivals and for 512 bytes of copies"),
        (32, "complete_tx", 0, "32 of 32 arrivals, and copies have brought 512 bytes that no expect_tx has"),
    ],
)
def test_deadlock(device: Emulator, schedule: int, count: int, arrive: str, parity: int, words: str) -> None:
    operand = "" if arrive == "arrive" else ", 16"
    state = "" if arrive == "complete_tx" else "_, "
    body = INIT.format(count=count) + f"    mbarrier.{arrive}.shared.b64 {state}[%b]{operand};\n"
    body += WAIT.format(n=0, wait="try_wait.parity", what=str(parity))
    _, result = launch(device, body, 32, schedule)
    assert result.finding.kind == "DEADLOCK"
    assert "waits for ever at the mbarrier in shared bar" in result.finding.message
    assert words in result.finding.message
    assert result.finding.ptx_line == line_of(body, "try_wait")


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_deadlock_of_threads_that_count_their_attempts(device: Emulator, schedule: int) -> None:
    body = (
        INIT.format(count=33) + "    mov.u32 %r1, 0;\n" + WAIT.format(n=0, wait="try_wait.parity", what="0")
    )
    body = body.replace("    @!%p1", "    add.u32 %r1, %r1, 1;\n    @!%p1")
    _, result = launch(device, body, 64, schedule, steps=200_000_000)
    assert result.finding.kind == "DEADLOCK"
    assert ". 64 threads wait" in result.finding.message


def test_a_wait_that_gives_up_is_no_deadlock(device: Emulator) -> None:
    body = (
        INIT.format(count=33) + "    mov.u32 %r1, 0;\n" + WAIT.format(n=0, wait="try_wait.parity", what="0")
    )
    body = body.replace(
        "    @!%p1", "    add.u32 %r1, %r1, 1;\n    setp.gt.u32 %p2, %r1, 100;\n    @%p2 bra END;\n    @!%p1"
    )
    _, result = launch(device, body + "END:\n", 64)
    assert result.completed
    assert not result.findings


def test_some_wait_at_a_barrier(device: Emulator) -> None:
    """Threads at __syncthreads() and threads at an mbarrier that wait for each other."""
    body = INIT.format(count=64) + "    setp.ge.u32 %p2, %t, 32;\n    @%p2 bra OTHER;\n"
    body += "    mbarrier.arrive.shared.b64 _, [%b];\n" + WAIT.format(n=0, wait="try_wait.parity", what="0")
    body += "    bar.sync 0;\n    bra END;\nOTHER:\n    bar.sync 0;\n    mbarrier.arrive.shared.b64 _, [%b];\nEND:\n"
    for schedule in SCHEDULES:
        _, result = launch(device, body, 64, schedule)
        assert result.finding.kind == "DEADLOCK"
        assert "still waits for 32 of 64 arrivals. 32 threads wait" in result.finding.message
