"""Counters that follow machine code where it differs from PTX, with rules found beside an H200.

What the patterns of tests/hardware_truth hold already is not repeated here.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from emulator import Emulator, Result

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
ARITHMETIC = """
.visible .entry k(.param .u64 p, .param .u64 q) {{
    .reg .b32 %r<4>; .reg .b64 %rd<8>; .reg .{type} %x<4>;
    ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, {bytes};
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.global.{type} %x1, [%rd4];
    ld.global.{type} %x2, [%rd5];
    {opcode}.rn.{type} %x3, %x1{second};
    st.global.{type} [%rd4], %x3;
    ret;
}}
"""
# What ptxas puts under predicates: 32 threads of which one comes into the region.
SHARED = """
.visible .entry k(.param .u64 p) {{
    .reg .pred %p<4>; .reg .b32 %r<40>; .reg .b64 %rd<4>;
    .shared .align 16 .b8 s[4096];
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, s;
    shl.b32 %r3, %r1, 2;
    add.s32 %r4, %r2, %r3;
    mov.u32 %r7, 0;
    setp.ne.s32 %p1, %r1, 0;
    {body}
    ret;
}}
"""


@pytest.fixture
def device(emulator_built: object) -> Iterator[Emulator]:
    with Emulator() as e:
        yield e


def computed(e: Emulator, opcode: str, kind: type[np.floating], a: np.ndarray, b: np.ndarray) -> int:
    text = ARITHMETIC.format(
        type="f32" if kind is np.float32 else "f64",
        bytes=np.dtype(kind).itemsize,
        opcode=opcode,
        second=", %x2" if opcode == "div" else "",
    )
    e.load(HEAD + text)
    result = e.launch(
        "k", 1, len(a), [e.buffer(a.astype(kind), "a"), e.buffer(b.astype(kind), "b")], count=True
    )
    assert not result.findings
    return result.counters["issued_branch_divergent"]


@pytest.mark.parametrize(
    ("opcode", "kind", "slow", "divisor", "fast"),
    [
        ("div", np.float32, 0.0, 3.0, 1.0),
        ("div", np.float32, 2.0**-103, 1.0, 2.0**-102),
        ("div", np.float32, 2.0**64, 2.0**-63, 2.0**63),
        ("div", np.float32, 2.0**-63, 2.0**62, 2.0**-62),
        ("div", np.float32, np.inf, 1.0, 2.0**126),
        ("div", np.float64, 0.0, 3.0, 1.0),
        ("div", np.float64, 2.0**-1000, 1.0, 2.0**-900),
        ("rcp", np.float32, 2.0**127, 1.0, 2.0**125),
        ("rcp", np.float64, 0.0, 1.0, 1.0),
        ("sqrt", np.float32, 0.0, 1.0, 1.0),
        ("sqrt", np.float32, 2.0**-102, 1.0, 2.0**-100),
        ("sqrt", np.float64, -1.0, 1.0, 4.0),
    ],
)
def test_a_slow_division_parts_lanes(
    device: Emulator, opcode: str, kind: type[np.floating], slow: float, divisor: float, fast: float
) -> None:
    b = np.full(64, divisor)
    mixed = np.where(np.arange(64) % 5 == 0, slow, fast)
    assert computed(device, opcode, kind, mixed, b) == 2, "one for each warp"
    assert computed(device, opcode, kind, np.full(64, slow), b) == 0, "all lanes go the longer way"
    assert computed(device, opcode, kind, np.full(64, fast), b) == 0


def shared(e: Emulator, body: str) -> Result:
    e.load(HEAD + SHARED.format(body=body.replace("; ", ";\n")))
    result = e.launch("k", 1, 64, [e.buffer(np.zeros(64, np.int32), "p")], count=True)
    assert not result.findings
    return result


def test_offsets_cost_nothing_under_a_predicate(device: Emulator) -> None:
    stores = [f"add.s32 %r{10 + k}, %r4, {4 + 512 * k}; st.shared.u32 [%r{10 + k}], %r1;" for k in range(7)]
    inside = shared(device, "@%p1 bra DONE; " + " ".join(stores) + " DONE: bar.sync 0;").counters
    assert inside["issued_branch_divergent"] == 0
    assert inside["issued_shared_st"] == 7 * 2, "the warp without such a lane issues them too"
    sums = [f"add.s32 %r{20 + k}, %r1, {k}; st.shared.u32 [%r4+{512 * k}], %r{20 + k};" for k in range(7)]
    values = shared(device, "@%p1 bra DONE; " + " ".join(sums) + " DONE: bar.sync 0;").counters
    assert values["issued_branch_divergent"] == 1, "seven sums are more than fits"
    assert values["issued_shared_st"] == 7


@pytest.mark.parametrize(
    ("move", "needed", "branches"),
    [
        pytest.param("mov.u32 %r7, %r1;", "%r1", 1, id="a value that is needed later"),
        pytest.param("mov.u32 %r7, %r1;", "%r4", 0, id="a value that is not"),
        pytest.param("mov.u32 %r7, %r8;", "%r4", 1, id="a parameter"),
        pytest.param("mov.u32 %r9, %r1;", "%r1", 0, id="into a register that nothing else writes"),
    ],
)
def test_a_move_that_needs_a_register_is_an_instruction(
    device: Emulator, move: str, needed: str, branches: int
) -> None:
    """Eight instructions of a way are under a predicate, nine are not."""
    stores = " ".join(f"st.shared.u32 [%r4+{512 * k}], %r3;" for k in range(8))
    body = f"ld.param.u32 %r8, [p]; @%p1 bra DONE; {stores} {move} DONE: bar.sync 0; "
    body += f"st.shared.u32 [%r4], %r7; st.shared.u32 [%r4+512], {needed};"
    assert shared(device, body).counters["issued_branch_divergent"] == branches


@pytest.mark.parametrize(("between", "loads"), [("add.rn.f32", 1), ("div.rn.f32", 2)])
def test_loads_are_not_joined_across_a_division(device: Emulator, between: str, loads: int) -> None:
    body = f""".reg .f32 %f<8>; st.shared.u32 [%r4], %r1; bar.sync 0; ld.shared.f32 %f1, [%r2];
        {between} %f2, %f1, 0f40000000; ld.shared.f32 %f3, [%r2+4]; add.f32 %f4, %f2, %f3;
        st.shared.f32 [%r4+512], %f4;"""
    assert shared(device, body).counters["issued_shared_ld"] == 2 * loads


@pytest.mark.parametrize(
    ("work", "branches"), [("", 3), ("xor.b32 %r9, %r9, %r1;", 0)], ids=["too little", "enough"]
)
def test_a_store_of_what_is_loaded_comes_before_the_branch(
    device: Emulator, work: str, branches: int
) -> None:
    """Beside the load there are the sum and the comparison, but not the branch of the loop."""
    body = f"""mov.u32 %r9, 0; cvta.to.global.u64 %rd2, %rd1;
        HEAD: setp.ne.s32 %p1, %r1, 0; @%p1 bra JOIN; ld.global.u32 %r8, [%rd2]; st.shared.u32 [%r4], %r8;
        JOIN: {work} add.s32 %r7, %r7, 1; setp.ne.s32 %p2, %r7, 3; @%p2 bra HEAD;
        st.shared.u32 [%r4+512], %r9;"""
    assert shared(device, body).counters["issued_branch_divergent"] == branches


def test_a_region_may_join_at_the_head_of_a_loop(device: Emulator) -> None:
    body = """bra.uni FIRST;
        JOIN: bar.sync 0; add.s32 %r7, %r7, 1; setp.eq.s32 %p2, %r7, 3; @%p2 bra DONE;
        FIRST: @%p1 bra JOIN; st.shared.u32 [%r4], %r1; bra.uni JOIN;
        DONE:"""
    counters = shared(device, body).counters
    assert counters["branch_divergent"] == 3
    assert counters["issued_branch_divergent"] == 0
    assert counters["issued_shared_st"] == 3 * 2


@pytest.mark.parametrize("is_global", [False, True])
def test_an_atomic_keeps_its_branch(device: Emulator, is_global: bool) -> None:
    atomic = (
        "atom.global.exch.b32 %r8, [%rd1], %r1;" if is_global else "atom.shared.exch.b32 %r8, [%r4], %r1;"
    )
    body = (
        f"st.shared.u32 [%r4], %r7; @%p1 bra DONE; {atomic} st.shared.u32 [%r4+512], %r8; DONE: bar.sync 0;"
    )
    counters = shared(device, body).counters
    assert counters["issued_branch_divergent"] == 1
    assert counters["issued_shared_st"] == 3


def test_stores_of_16_bits_are_joined_in_pairs(device: Emulator) -> None:
    body = ".reg .b16 %h; cvt.u16.u32 %h, %r1; st.shared.u16 [%r4], %h; st.shared.u16 [%r4+2], %h;"
    counters = shared(device, body).counters
    assert (counters["issued_shared_st"], counters["shared_st_wavefronts"]) == (2, 2)
    odd = body.replace("[%r4]", "[%r4+2]").replace("[%r4+2], %h;", "[%r4+4], %h;", 2)
    assert shared(device, odd.replace("[%r4+4]", "[%r4+2]", 1)).counters["issued_shared_st"] == 4


@pytest.mark.parametrize(("mask", "branches"), [("0xffffffff", 0), ("0x000000ff", 3)])
def test_redux_takes_one_mask_after_the_other(device: Emulator, mask: str, branches: int) -> None:
    groups = "and.b32 %r5, %r1, 24; shl.b32 %r6, %r8, %r5;" if branches else "mov.u32 %r6, %r8;"
    body = f"mov.u32 %r8, {mask}; {groups} redux.sync.max.s32 %r9, %r1, %r6; st.shared.u32 [%r4], %r9;"
    assert shared(device, body).counters["issued_branch_divergent"] == 2 * branches


MEETING = """
.visible .entry k(.param .u64 p) {
    .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u32 %r2, 0;
    and.b32 %r3, %r1, 1;
    setp.eq.u32 %p1, %r3, 1;
head:
    @%p1 bra apart;
    st.global.u32 [%rd3], %r2;
    LEAVE
apart:
    st.global.u32 [%rd3+128], %r2;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p2, %r2, 4;
    @%p2 bra head;
    ret;
}
"""


@pytest.mark.parametrize(
    ("leave", "requests"),
    [
        pytest.param("", 4 + 4, id="a loop that one branch leaves for the end"),
        # Lane 0 is gone after its first store, and the others wait for each other as before.
        pytest.param("setp.eq.u32 %p3, %r1, 0; @%p3 bra done;", 4 + 4, id="a lane leaves"),
    ],
)
def test_lanes_meet_though_others_leave(device: Emulator, leave: str, requests: int) -> None:
    text = MEETING.replace("LEAVE", leave).replace(
        "    ret;", "    st.global.u32 [%rd3+256], %r2;\ndone:\n    ret;"
    )
    device.load(HEAD + (text if leave else MEETING.replace("LEAVE", "")))
    out = device.buffer(np.zeros(96, np.uint32), "out")
    result = device.launch("k", 1, 32, [out], count=True)
    assert not result.findings
    assert result.counters["global_st_requests"] == requests + bool(leave)


# A loop of four rounds. Lanes 0 to 15 go around its middle, where lane 31 leaves it for "out".
LEFT = """
.visible .entry k(.param .u64 p) {
    .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u32 %r2, 0;
    setp.lt.u32 %p1, %r1, 16;
    setp.eq.u32 %p2, %r1, 31;
head:
    @%p1 bra around;
    LEAVE
    st.global.u32 [%rd3], %r2;
around:
    st.global.u32 [%rd3+128], %r2;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p3, %r2, 4;
    @%p3 bra head;
out:
    st.global.u32 [%rd3+256], %r2;
    ret;
}
"""


@pytest.mark.parametrize(
    "leave",
    [
        pytest.param("@%p2 bra out;", id="straight to where all meet"),
        pytest.param("@!%p2 bra stay; bra.uni out; stay:", id="through a block that is a branch"),
        pytest.param("", id="no lane leaves"),
    ],
)
def test_lanes_meet_before_those_that_left_the_loop(device: Emulator, leave: str) -> None:
    device.load(HEAD + LEFT.replace("LEAVE", leave))
    out = device.buffer(np.zeros(96, np.uint32), "out")
    result = device.launch("k", 1, 32, [out], count=True)
    assert not result.findings
    assert result.counters["global_st_requests"] == 4 + 4 + 1
    rounds = out.read(np.uint32)[64:]
    assert rounds.tolist() == [4] * 31 + [0 if leave else 4]


# Two warps of which the first alone needs what was loaded.
SUNK = """
.visible .entry k(.param .u64 p) {{
    .reg .pred %p<8>; .reg .b32 %r<12>; .reg .b64 %rd<6>;
    .shared .align 4 .b8 s[256];
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mov.u32 %r7, s;
    mov.u32 %r8, %ntid.y;
    mad.lo.u32 %r6, %r1, 4, %r7;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    setp.ge.u32 %p1, %r1, 32;
    ld.global.u32 %r2, [%rd3];
    {between}
    @%p1 bra {to};
    {then}
    mov.u32 %r3, 0;
head:
    st.global.u32 [%rd3+1024], {value};
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p2, %r3, %r8;
    @%p2 bra head;
join:
    st.global.u32 [%rd3+2048], %r1;
done:
    ret;
}}
"""


@pytest.mark.parametrize(
    ("between", "value", "then", "requests"),
    [
        pytest.param("", "%r2", "", 1, id="past the branch"),
        pytest.param("add.u32 %r4, %r2, 1;", "%r4", "", 1, id="with what is computed from it"),
        pytest.param("", "%r2", "setp.lt.u32 %p3, %r1, 64; @%p3 bra join;", 0, id="past two branches"),
        pytest.param("st.shared.u32 [%r6], %r1;", "%r2", "", 1, id="with a store to other memory"),
        pytest.param("st.global.u32 [%rd3+512], %r1;", "%r2", "", 2, id="not past a store"),
        pytest.param("bar.sync 0;", "%r2", "", 2, id="not past a barrier"),
        pytest.param("st.global.u32 [%rd3+512], %r2;", "%r2", "", 2, id="not if all need it"),
        pytest.param(
            "ld.global.u32 %r4, [%rd3+256]; add.u32 %r5, %r2, %r4;", "%r5", "", 4, id="not if more is kept"
        ),
    ],
)
@pytest.mark.parametrize("to", ["join", "done"])
def test_a_load_is_done_on_the_way_that_needs_it(
    device: Emulator, to: str, between: str, value: str, then: str, requests: int
) -> None:
    device.load(HEAD + SUNK.format(to=to, between=between, value=value, then=then))
    out = device.buffer(np.zeros(1024, np.uint32), "out")
    result = device.launch("k", 1, 64, [out], count=True)
    assert not result.findings
    assert result.counters["global_ld_requests"] == requests


# As a compiler writes `if (tid > 31) x = a % n; else y = b % n;`: of two ways with work, ptxas fills the first.
BOTH = """
.visible .entry k(.param .u64 p) {{
    .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mov.u32 %r8, %ntid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r2, [%rd3];
    setp.gt.u32 %p1, %r1, 31;
    @%p1 bra second;
    {first}
    bra join;
second:
    rem.u32 %r3, {second}, %r8;
join:
    st.global.u32 [%rd3], %r3;
    ret;
}}
"""


@pytest.mark.parametrize(
    ("first", "second", "requests"),
    [
        pytest.param("rem.u32 %r3, %r2, %r8;", "%r1", 1, id="the first"),
        pytest.param("rem.u32 %r3, %r1, %r8;", "%r2", 2, id="the second"),
        pytest.param("mov.u32 %r3, 5;", "%r2", 1, id="the only one"),
    ],
)
def test_a_load_is_done_on_the_way_that_follows(
    device: Emulator, first: str, second: str, requests: int
) -> None:
    device.load(HEAD + BOTH.format(first=first, second=second))
    out = device.buffer(np.zeros(64, np.uint32), "out")
    result = device.launch("k", 1, 64, [out], count=True)
    assert not result.findings
    assert result.counters["global_ld_requests"] == requests


# ---- Loops that ptxas unrolls -------------------------------------------------------------------------------

# Block of 32 threads, of which each takes p[its number] rounds of the loop. The machine code was read: ptxas 13
# for sm_90.
LOOP = """
.visible .entry k(.param .u64 p) {{
    .reg .pred %p<4>; .reg .b32 %r<40>; .reg .b64 %rd<9>; .reg .f32 %f<40>;
    .shared .align 16 .b8 s[16384];
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, s;
    mov.f32 %f1, 0f00000000;
    shl.b32 %r3, %r1, 2;
    cvt.u64.u32 %rd2, %r3;
    add.s64 %rd3, %rd1, %rd2;
    ld.global.u32 %r4, [{source}];
    {start}
    mad.lo.s32 %r6, %r4, {step}, %r5;
    add.s32 %r9, %r2, 8192;
LOOP:{pragma}
    {body}
    add.s32 %r5, %r5, {step};
    setp.{compare} %p1, %r5, %r6;
    @%p1 bra LOOP;
    st.global.f32 [%rd3], %f1;
    ret;
}}
"""
OF_ONE = "shl.b32 %r7, %r5, 2; add.s32 %r8, %r2, %r7; ld.shared.f32 %f2, [%r8]; add.f32 %f1, %f1, %f2;"
OF_FOUR = "shl.b32 %r7, %r5, 2; add.s32 %r8, %r2, %r7;" + "".join(
    f"ld.shared.f32 %f{10 + k}, [%r8+{512 * k}]; add.f32 %f1, %f1, %f{10 + k};" for k in range(4)
)
BY_POINTER = OF_FOUR.replace("shl.b32 %r7, %r5, 2; add.s32 %r8, %r2, %r7;", "").replace("%r8", "%r9")
BY_POINTER += "add.s32 %r9, %r9, 4;"
MULTIPLIED = "fma.rn.f32 %f1, %f1, %f1, %f2;"


def looped(e: Emulator, rounds: list[int], **form: str) -> Result:
    words = {"start": "mov.u32 %r5, %r1;", "step": "3", "compare": "lt.s32", "source": "%rd3", "pragma": ""}
    e.load(HEAD + LOOP.format(**(words | {"body": OF_ONE} | form)).replace(";", ";\n"))
    lanes = e.buffer(np.array(rounds, np.int32), "p")
    result = e.launch("k", 1, len(rounds), [lanes], count=True, checks=1)
    assert not result.findings
    return result


@pytest.mark.parametrize(
    ("rounds", "form", "issued"),
    [
        pytest.param(7, {}, 4 + 2 + 1, id="every leftover is needed"),
        pytest.param(8, {}, 8 + 2 + 1, id="none is, and all are issued"),
        pytest.param(1, {}, 2 + 1, id="fewer rounds than four"),
        pytest.param(8, {"compare": "lt.u32"}, 1 + 8 + 2 + 1, id="one more before, if it is unsigned"),
        pytest.param(8, {"compare": "ne.s32"}, 8 + 2, id="until it is equal"),
        pytest.param(
            8, {"compare": "gt.s32", "step": "-3", "start": "add.s32 %r5, %r1, 500;"}, 8 + 2 + 1, id="down"
        ),
        pytest.param(
            8, {"start": "mov.u32 %r5, 0;", "compare": "lt.u32"}, 1 + 8 + 2 + 1, id="a bound of its lane"
        ),
        pytest.param(8, {"body": OF_ONE + MULTIPLIED}, 8 + 1, id="two rounds are nine instructions"),
        pytest.param(8, {"body": OF_ONE + 5 * MULTIPLIED}, 8 + 1, id="one is eight"),
        pytest.param(8, {"body": OF_ONE + 6 * MULTIPLIED}, 8, id="one is nine"),
        pytest.param(8, {"body": OF_ONE + 6 * MULTIPLIED, "compare": "lt.u32"}, 8, id="and nothing before"),
        pytest.param(8, {"body": OF_FOUR}, 4 * 8, id="four loads and an address"),
        pytest.param(8, {"body": BY_POINTER}, 4 * (8 + 1), id="four loads by a pointer"),
        pytest.param(8, {"pragma": '\n.pragma "nounroll";'}, 8, id="a pragma"),
        pytest.param(8, {"step": "%r4"}, 8, id="a step from memory"),
        pytest.param(8, {"body": OF_ONE + "bar.sync 0;"}, 8, id="a barrier"),
        pytest.param(8, {"body": OF_ONE + "st.shared.f32 [%r8], %f2;"}, 8, id="a store before the next load"),
    ],
)
def test_rounds_that_are_left_over_of_an_unrolled_loop(
    device: Emulator, rounds: int, form: dict[str, str], issued: int
) -> None:
    counters = looped(device, 32 * [rounds], **form).counters
    assert counters["issued_shared_ld"] == issued
    assert counters["issued_branch_divergent"] == 0


def test_lanes_with_one_bound_leave_together(device: Emulator) -> None:
    """There two rounds keep their branch, and six instructions are the most that one may have."""
    for more, issued in ((0, 8 + 1), (3, 8 + 1), (4, 8)):
        form = {"start": "mov.u32 %r5, 0;", "source": "%rd1", "body": OF_ONE + more * MULTIPLIED}
        assert looped(device, 32 * [8], **form).counters["issued_shared_ld"] == issued


@pytest.mark.parametrize(
    ("rounds", "body", "parted", "issued"),
    [
        pytest.param([4, 5, 6, 7], OF_ONE, 0, 7, id="predicates part nobody"),
        pytest.param([4, 5, 6, 7], OF_ONE + MULTIPLIED, 1, 7, id="the branch around two rounds"),
        pytest.param([4, 5, 6, 7], OF_ONE + 6 * MULTIPLIED, 2, 7, id="and that around one"),
        pytest.param([1, 4, 8, 16], OF_ONE, 3, 16 + 3, id="four at a time"),
        pytest.param([2, 3], OF_ONE + 6 * MULTIPLIED, 1, 3, id="no four"),
    ],
)
def test_lanes_part_where_the_machine_code_has_a_branch(
    device: Emulator, rounds: list[int], body: str, parted: int, issued: int
) -> None:
    counters = looped(device, (32 * rounds)[:32], body=body).counters
    assert counters["issued_branch_divergent"] == parted
    assert counters["issued_shared_ld"] == issued
    assert counters["branch_divergent"] == len(set(rounds)) - 1
