"""Loads, stores, atomics and variables of every space and width, and what is said when they go wrong."""

from __future__ import annotations

import ctypes
import gc
import itertools
import struct
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from cuda_images import TESTS, image
from emulator import ALL_CHECKS, RACE, Buffer, Emulator, EmulatorError, Result, Value, check_layout
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

WITHOUT_RACES = ALL_CHECKS & ~RACE
HEADER = ".version 9.0\n.target sm_90\n.address_size 64\n"


@pytest.fixture(scope="module")
def device(emulator_built: Path) -> Iterator[Emulator]:
    with Emulator() as e:
        e.load(image(TESTS / "data" / "ptx" / "memory.cu"))
        yield e


def test_the_binding_mirrors_the_header(tmp_path: Path) -> None:
    check_layout(tmp_path)


def source_line(text: str) -> int:
    source = (TESTS / "data" / "ptx" / "memory.cu").read_text().splitlines()
    return next(i for i, line in enumerate(source, 1) if text in line)


# ---- Every width and vector in every space ---------------------------------------------------------------------
TYPES = {
    "b8": 1,
    "u8": 1,
    "s8": 1,
    "b16": 2,
    "u16": 2,
    "s16": 2,
    "b32": 4,
    "u32": 4,
    "s32": 4,
    "f32": 4,
    "b64": 8,
    "u64": 8,
    "f64": 8,
}
FORMS = [(t, n) for t, width in TYPES.items() for n in (1, 2, 4) if width * n <= 16]


def register_class(width: int) -> str:
    return {1: "b16", 2: "b16", 4: "b32", 8: "b64"}[width]


def copier(type_name: str, elements: int, space: str) -> str:
    """A kernel that moves one vector a thread from `in`, through `space`, to `out`."""
    width = TYPES[type_name]
    size = width * elements
    registers = [f"%v{k}" for k in range(elements)]
    vector = registers[0] if elements == 1 else "{" + ", ".join(registers) + "}"
    v = "" if elements == 1 else f".v{elements}"
    form = f"{v}.{type_name}"
    declarations = ""
    if space == "shared":
        declarations = f".shared .align 16 .b8 tile[{32 * size}];"
        through = f"mov.u64 %a5, tile; add.u64 %a5, %a5, %a4; st.shared{form} [%a5], {vector};"
        through += (
            "".join(f"mov.{register_class(width)} {r}, 0;" for r in registers)
            + f"ld.shared{form} {vector}, [%a5];"
        )
    elif space == "local":
        declarations = ".local .align 16 .b8 mine[64];"
        through = f"st.local{form} [mine+16], {vector};" + "".join(
            f"mov.{register_class(width)} {r}, 0;" for r in registers
        )
        through += f"mov.u64 %a5, mine; ld.local{form} {vector}, [%a5+16];"
    elif space == "generic shared":
        declarations = f".shared .align 16 .b8 tile[{32 * size}];"
        through = (
            f"mov.u64 %a5, tile; cvta.shared.u64 %a5, %a5; add.u64 %a5, %a5, %a4; st{form} [%a5], {vector};"
        )
        through += f"ld{form} {vector}, [%a5];"
    elif space == "generic local":
        declarations = ".local .align 16 .b8 mine[64];"
        through = f"mov.u64 %a5, mine; cvta.local.u64 %a5, %a5; st{form} [%a5+32], {vector};"
        through += f"ld{form} {vector}, [%a5+32];"
    elif space == "volatile":
        through = f"st.volatile.global{form} [%a3], {vector}; ld.volatile.global{form} {vector}, [%a3];"
    else:
        through = ""
    load = {"generic": "ld", "nc": "ld.global.nc"}.get(space, "ld.global")
    store = "st" if space == "generic" else "st.global"
    return f"""{HEADER}.visible .entry k(.param .u64 p_in, .param .u64 p_out) {{
  .reg .b64 %a<9>; .reg .b32 %t; .reg .{register_class(width)} %v<4>; {declarations}
  ld.param.u64 %a0, [p_in]; ld.param.u64 %a1, [p_out]; mov.u32 %t, %tid.x;
  mul.wide.u32 %a4, %t, {size}; add.u64 %a2, %a0, %a4; add.u64 %a3, %a1, %a4;
  {load}{form} {vector}, [%a2]; {through}
  {store}{form} [%a3], {vector}; ret; }}"""


@pytest.mark.parametrize(
    "space", ["global", "nc", "generic", "volatile", "shared", "local", "generic shared", "generic local"]
)
def test_copy(emulator_built: Path, space: str) -> None:
    rng = np.random.default_rng(7)
    for type_name, elements in FORMS:
        with Emulator() as e:
            e.load(copier(type_name, elements, space))
            for threads in (32, 13):
                data = rng.integers(0, 256, threads * TYPES[type_name] * elements, dtype=np.uint8)
                given_buffer, out = e.buffer(data, "in"), e.buffer(len(data), "out")
                result = e.launch("k", 1, threads, [given_buffer, out])
                assert result.completed
                assert not result.findings, (type_name, elements)
                assert (out.read() == data).all(), (type_name, elements)


@pytest.mark.parametrize(
    ("load", "register", "expected"),
    [
        ("s8", "b32", lambda b: b.view(np.int8).astype(np.int32)),
        ("u8", "b32", lambda b: b.astype(np.int32)),
        ("s16", "b32", lambda b: b.view(np.int16).astype(np.int32)),
        ("u16", "b32", lambda b: b.view(np.uint16).astype(np.int32)),
        ("s8", "b64", lambda b: b.view(np.int8).astype(np.int64)),
        ("s32", "b64", lambda b: b.view(np.int32).astype(np.int64)),
        ("u32", "b64", lambda b: b.view(np.uint32).astype(np.int64)),
        ("b16", "b64", lambda b: b.view(np.uint16).astype(np.int64)),
    ],
)
def test_wider_registers(
    emulator_built: Path, load: str, register: str, expected: Callable[[np.ndarray], np.ndarray]
) -> None:
    """A load into a wider register extends by its type's sign; a store takes the low part."""
    width, wide = TYPES[load], TYPES[register]
    text = f"""{HEADER}.visible .entry k(.param .u64 p_in, .param .u64 p_out, .param .u64 p_low) {{
  .reg .b64 %a<9>; .reg .b32 %t; .reg .{register} %v;
  ld.param.u64 %a0, [p_in]; ld.param.u64 %a1, [p_out]; ld.param.u64 %a2, [p_low]; mov.u32 %t, %tid.x;
  mad.wide.u32 %a0, %t, {width}, %a0; mad.wide.u32 %a1, %t, {wide}, %a1; mad.wide.u32 %a2, %t, {width}, %a2;
  ld.global.{load} %v, [%a0]; st.global.{register} [%a1], %v; st.global.{load} [%a2], %v; ret; }}"""
    data = np.random.default_rng(3).integers(0, 256, 32 * width, dtype=np.uint8)
    with Emulator() as e:
        e.load(text)
        given_buffer, out, low = e.buffer(data), e.buffer(32 * wide), e.buffer(32 * width)
        assert not e.launch("k", 1, 32, [given_buffer, out, low]).findings
        assert out.read(f"i{wide}").tolist() == expected(data).tolist()
        assert (low.read() == data).all()


def test_parameters(device: Emulator) -> None:
    packed = struct.pack("<cxhid3f4x", b"q", -300, 1 << 30, 0.125, 1.5, 2.5, 3.5)
    out, same = device.buffer(72), device.buffer(np.frombuffer(packed, np.uint8))
    given = [
        Value("u8", 200),
        Value("raw", packed),
        Value("raw", struct.pack("<h", -5)),
        Value("f64", 6.5),
        same,
        2,
        out,
    ]
    result = device.launch("parameters", 1, 1, given)
    assert not result.findings
    assert out.read(np.float64).tolist() == [-56, ord("q"), -300, 1 << 30, 0.125, 3.5, -5, 6.5, 3.625]
    info = device.info("parameters")
    assert [(p.offset, p.bytes) for p in info.parameters[:7]] == [
        (0, 1),
        (8, 32),
        (40, 2),
        (48, 8),
        (56, 8),
        (64, 4),
        (72, 8),
    ]


# ---- Bounds ----------------------------------------------------------------------------------------------------
INDEXED = """.visible .entry k(.param .u64 p_in, .param .u64 p_out, .param .u64 p_index) {{
  .reg .b64 %a<9>; .reg .b32 %t, %v<4>; .reg .pred %p;
  ld.param.u64 %a0, [p_in]; ld.param.u64 %a1, [p_out]; ld.param.u64 %a2, [p_index]; mov.u32 %t, %tid.x;
  mul.wide.u32 %a3, %t, 4; add.u64 %a1, %a1, %a3; add.u64 %a0, %a0, %a2; mov.u32 %v0, 1;
  mov.u32 %v1, 2; mov.u32 %v2, 3; mov.u32 %v3, 4;
  setp.eq.u32 %p, %t, 5; @%p {access};
  st.global.u32 [%a1], %v0; ret; }}"""


def access(
    text: str, index: int, nbytes: int = 64, *, read_only: bool = False, misalignment: int = 0
) -> Result:
    """Thread 5 accesses byte `index` of a buffer."""
    with Emulator() as e:
        e.load(HEADER + INDEXED.format(access=text))
        data, out = (
            e.buffer(np.zeros(nbytes, np.uint8), "data", misalignment=misalignment),
            e.buffer(4 * 32, "out"),
        )
        data.set_read_only(read_only)
        result = e.launch("k", 1, 32, [data, out, Value("i64", index)])
        assert result.completed == (not result.findings)
        return result


GUARDED = """.visible .entry k(.param .u64 p_in, .param .u64 p_out) {
  .reg .b64 %a<9>; .reg .b32 %t, %v;
  ld.param.u64 %a0, [p_in]; ld.param.u64 %a1, [p_out]; mov.u32 %t, %tid.x;
  mul.wide.u32 %a3, %t, 4; add.u64 %a1, %a1, %a3; add.u64 %a0, %a0, %a3;
  .loc 1 7 1
  ld.global.u32 %v, [%a0];
  .loc 1 8 1
  st.global.u32 [%a1], %v; ret; }
.file 1 "kernel.cu"
"""


@pytest.mark.parametrize("schedule", [0, 1])
def test_a_guarded_line_leaves_out_what_lies_outside(emulator_built: Path, schedule: int) -> None:
    with Emulator() as e:
        e.load(HEADER + GUARDED)
        data, out = e.buffer(np.arange(1, 21, dtype=np.uint32), "data"), e.buffer(4 * 32, "out")
        assert e.launch("k", 1, 32, [data, out], schedule=schedule).finding.kind == "OUT_OF_BOUNDS"
        assert e.launch("k", 1, 32, [data, out], schedule=schedule, guarded_line=8).findings  # not that line
        result = e.launch("k", 1, 32, [data, out], schedule=schedule, guarded_line=7)
        assert result.completed and not result.findings
        assert out.read(np.uint32).tolist() == [*range(1, 21), *[0] * 12]
        short = e.buffer(4 * 20, "short")
        whole = e.buffer(np.arange(32, dtype=np.uint32), "whole")
        assert not e.launch("k", 1, 32, [whole, short], schedule=schedule, guarded_line=8).findings
        assert short.read(np.uint32).tolist() == [*range(20)]


ALL_LANES = """.visible .entry k(.param .u64 p_data, .param .u64 p_out, .param .u32 p_step, .param .u32 p_start) {{
  .reg .b64 %a<4>; .reg .b32 %t, %s, %o, %r, %v; .shared .align 16 .b8 s[1024];
  ld.param.u64 %a0, [p_data]; ld.param.u64 %a1, [p_out]; ld.param.u32 %s, [p_step]; ld.param.u32 %o, [p_start];
  mov.u32 %t, %tid.x; mul.wide.u32 %a3, %t, 4; add.u64 %a1, %a1, %a3; mad.lo.u32 %r, %t, %s, %o;
  cvt.s64.s32 %a2, %r; add.u64 %a2, %a2, %a0; mov.u32 %v, s; add.u32 %r, %r, %v;
  st.shared.u32 [%r], %t; {load};
  st.global.u32 [%a1], %v; ret; }}"""


@pytest.mark.parametrize(
    ("step", "start", "lane"),
    [
        (4, 0, None),
        (4, 128, None),
        (0, 8, None),
        (8, 16, None),
        (4, -64, 0),  # of shared memory: lanes 0 to 15 are just below 2^32, and the others begin at 0
        (4, 2, 0),
        (0, 6, 0),
        (0, -4, 0),
        (0, 1024, 0),
        (4, 1024 - 64, 16),
        (8, 1024 - 8 * 20, 20),
    ],
)
@pytest.mark.parametrize("load", ["ld.global.u32 %v, [%a2]", "ld.shared.u32 %v, [%r]"])
def test_all_lanes_in_steps(emulator_built: Path, load: str, step: int, start: int, lane: int | None) -> None:
    """Lanes one after the other, in one place or further apart, inside and across an end."""
    store = "st.shared.u32 [%r], %t; "
    text = ALL_LANES if "shared" in load else ALL_LANES.replace(store, "")
    with Emulator() as e:
        e.load(HEADER + text.format(load=load))
        data = e.buffer(np.arange(256, dtype=np.uint32), "data")
        out = e.buffer(128, "out")
        result = e.launch("k", 1, 32, [data, out, Value("i32", step), Value("i32", start)], checks=0)
        if lane is not None:
            assert result.finding.kind == ("MISALIGNED" if start % 4 else "OUT_OF_BOUNDS")
            assert result.finding.lane == lane
            return
        assert not result.findings
        at = [(start + step * i) // 4 for i in range(32)]
        stored = {place: i for i, place in enumerate(at)}  # the last lane's value stays
        assert out.read(np.uint32).tolist() == ([stored[p] for p in at] if "shared" in load else at)


WHO = "thread (5,0,0) of block (0,0,0) "


@pytest.mark.parametrize(
    ("text", "index", "kind", "said"),
    [
        ("ld.global.u32 %v0, [%a0]", 0, None, ""),
        ("ld.global.u32 %v0, [%a0]", 60, None, ""),
        (
            "ld.global.u32 %v0, [%a0]",
            -4,
            "OUT_OF_BOUNDS",
            "reads 4 bytes that begin 4 bytes before data, which has 64",
        ),
        (
            "st.global.u32 [%a0], %v0",
            64,
            "OUT_OF_BOUNDS",
            "writes 4 bytes at byte 64 of data, which has 64: they end 4 bytes past its end",
        ),
        (
            "ld.global.u32 %v0, [%a0+8]",
            64,
            "OUT_OF_BOUNDS",
            "reads 4 bytes at byte 72 of data, which has 64: they end 12 bytes past its end",
        ),
        (
            "ld.u32 %v0, [%a0]",
            1 << 32,
            "OUT_OF_BOUNDS",
            "reads 4 bytes at byte 4294967296 of data, which has 64: they end 4294967236 bytes past its end",
        ),
        (
            "st.u32 [%a0], %v0",
            -(1 << 33),
            "OUT_OF_BOUNDS",
            "writes 4 bytes that begin 8589934592 bytes before data, which has 64",
        ),
        (
            "atom.global.add.u32 %v0, [%a0], 1",
            64,
            "OUT_OF_BOUNDS",
            "updates atomically 4 bytes at byte 64 of data, which has 64: they end 4 bytes past its end",
        ),
        ("ld.global.v4.u32 {%v0, %v1, %v2, %v3}, [%a0]", 48, None, ""),
        (
            "ld.global.v2.u32 {%v0, %v1}, [%a0]",
            62,
            "MISALIGNED",
            "reads 8 bytes at 0x",
        ),
        ("ld.global.u32 %v0, [%a0]", 2, "MISALIGNED", "reads 4 bytes at 0x"),
        ("st.global.v4.u32 [%a0], {%v0, %v1, %v2, %v3}", 8, "MISALIGNED", "writes 16 bytes at 0x"),
        ("red.global.add.u32 [%a0], 1", 1, "MISALIGNED", "updates atomically 4 bytes at 0x"),
    ],
)
def test_bounds(emulator_built: Path, text: str, index: int, kind: str | None, said: str) -> None:
    result = access(text, index)
    if kind is None:
        assert not result.findings
        return
    finding = result.finding
    assert finding.kind == kind
    assert finding.fatal
    assert finding.lane == 5
    if kind == "OUT_OF_BOUNDS":
        assert finding.message == WHO + said
        assert (finding.object, finding.object_bytes) == ("data", 64)
    else:
        assert (
            finding.message == f"{WHO}{said}{finding.address:x}, which is not a multiple of {finding.bytes}"
        )
    assert finding.is_store == (not text.startswith("ld"))
    assert finding.is_atomic == text.startswith(("atom", "red"))


def test_alignment_is_of_the_address_not_of_the_index(emulator_built: Path) -> None:
    assert access("ld.global.u32 %v0, [%a0]", 0, misalignment=2).finding.kind == "MISALIGNED"
    assert not access("ld.global.u32 %v0, [%a0]", 2, misalignment=2).findings
    assert not access("ld.global.v4.u32 {%v0, %v1, %v2, %v3}, [%a0]", 8, misalignment=8).findings


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("ld.global.u32 %v0, [%a2]", "OUT_OF_BOUNDS", "reads 4 bytes through a null pointer (address 0x0)"),
        ("st.u32 [%a2+16], %v0", "OUT_OF_BOUNDS", "writes 4 bytes through a null pointer (address 0x10)"),
        ("ld.global.u32 %v0, [s]", "OUT_OF_BOUNDS", "reads 4 bytes through a null pointer (address 0x0)"),
        ("ld.shared.u32 %v0, [%a0]", "OUT_OF_BOUNDS", "of shared s, which has 64"),
        ("st.shared.u32 [s+64], %v0", "OUT_OF_BOUNDS", "writes 4 bytes at byte 64 of shared s, which has 64"),
        (
            "ld.shared.u32 %v0, [s-4]",
            "OUT_OF_BOUNDS",
            "reads 4 bytes that begin 4 bytes before shared s, which has 64",
        ),
        (  # as nvcc calculates it, in 32 bits
            "mov.u32 %v3, s; add.u32 %v3, %v3, -492; @%p ld.shared.u32 %v0, [%v3]",
            "OUT_OF_BOUNDS",
            "reads 4 bytes that begin 492 bytes before shared s, which has 64",
        ),
        (
            "ld.local.u32 %v0, [l+32]",
            "OUT_OF_BOUNDS",
            "reads 4 bytes of local memory at byte 32, outside the thread's arrays",
        ),
        (
            "st.local.u32 [l-4], %v0",
            "OUT_OF_BOUNDS",
            "writes 4 bytes of local memory that begin 4 bytes before the thread's arrays",
        ),
        ("st.global.u32 [c], %v0", "READ_ONLY", "writes to c, which is read-only"),
        ("atom.global.add.u32 %v0, [c], 1", "READ_ONLY", "updates c, which is read-only"),
        ("ld.const.u32 %v0, [%a0]", "OUT_OF_BOUNDS", ""),
    ],
)
def test_wrong_places(emulator_built: Path, text: str, kind: str, said: str) -> None:
    kernel = INDEXED.format(access=text).replace(
        ".reg .pred %p;",
        ".reg .pred %p; .shared .align 4 .b8 s[64]; .local .align 4 .b8 l[32]; mov.u64 %a8, s;",
    )
    with Emulator() as e:
        e.load(HEADER + ".const .align 4 .b8 c[16] = {1};\n" + kernel)
        data, out = e.buffer(np.zeros(64, np.uint8), "data"), e.buffer(128, "out")
        result = e.launch("k", 1, 32, [data, out, Value("i64", 0)])
    assert result.finding.kind == kind
    assert said in result.finding.message
    assert result.finding.lane == 5


def test_a_shared_address_in_a_global_instruction(emulator_built: Path) -> None:
    text = INDEXED.format(access="ld.global.u32 %v0, [%a8]").replace(
        ".reg .pred %p;",
        ".reg .pred %p; .shared .align 4 .b8 s[64]; mov.u64 %a8, s; cvta.shared.u64 %a8, %a8;",
    )
    with Emulator() as e:
        e.load(HEADER + text)
        result = e.launch(
            "k", 1, 32, [e.buffer(np.zeros(64, np.uint8), "data"), e.buffer(128), Value("i64", 0)]
        )
    assert result.finding.kind == "WRONG_SPACE"
    assert "which is shared memory, with an instruction for global memory" in result.finding.message


def test_read_only(emulator_built: Path) -> None:
    assert not access("ld.global.u32 %v0, [%a0]", 4, read_only=True).findings
    for text in ("st.global.u32 [%a0], %v0", "red.global.add.u32 [%a0], 1"):
        finding = access(text, 4, read_only=True).finding
        assert finding.kind == "READ_ONLY"
        assert "data, which is read-only" in finding.message


def test_an_unsupported_store_is_named(emulator_built: Path) -> None:
    with Emulator() as e:
        e.load(HEADER + INDEXED.format(access="st.const.u32 [%a0], %v0"))
        data, out = e.buffer(np.zeros(64, np.uint8), "data"), e.buffer(128, "out")
        finding = e.launch("k", 1, 32, [data, out, Value("i64", 0)]).finding
    assert finding.kind == "UNSUPPORTED"
    assert "this form of st is not supported: .const" in finding.message


def test_a_buffer_that_was_freed(emulator_built: Path) -> None:
    with Emulator() as e:
        e.load(HEADER + INDEXED.format(access="ld.global.u32 %v0, [%a0]"))
        data, out = e.buffer(np.zeros(64, np.uint8), "data"), e.buffer(128, "out")
        data.free()
        assert e.launch("k", 1, 32, [data, out, Value("i64", 0)]).finding.kind == "OUT_OF_BOUNDS"
        with pytest.raises(EmulatorError):
            data.read()


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    indices=st.lists(st.integers(-3, 70), min_size=32, max_size=32),
    active=st.integers(0, (1 << 32) - 1),
    store=st.booleans(),
)
def test_gather_and_scatter(emulator_built: Path, indices: list[int], active: int, store: bool) -> None:
    """Any lanes, any indices: all is as in Python, or the first lane that is out of bounds is named."""
    moved = "st.global.u32 [%a0], %v0" if store else "ld.global.u32 %v0, [%a0]"
    text = f"""{HEADER}
.visible .entry k(.param .u64 p_data, .param .u64 p_out, .param .u64 p_index, .param .u32 p_active) {{
  .reg .b64 %a<9>; .reg .b32 %t, %v<4>; .reg .pred %p;
  ld.param.u64 %a0, [p_data]; ld.param.u64 %a1, [p_out]; ld.param.u64 %a2, [p_index]; ld.param.u32 %v1, [p_active];
  mov.u32 %t, %tid.x; mul.wide.u32 %a3, %t, 4; add.u64 %a1, %a1, %a3; add.u64 %a2, %a2, %a3; ld.global.s32 %a4, [%a2];
  shl.b64 %a4, %a4, 2; add.u64 %a0, %a0, %a4; add.u32 %v0, %t, 1000;
  shr.u32 %v2, %v1, %t; and.b32 %v2, %v2, 1; setp.ne.u32 %p, %v2, 0; @%p {moved}; st.global.u32 [%a1], %v0; ret; }}"""
    data = np.arange(67, dtype=np.uint32)
    with Emulator() as e:
        e.load(text)
        buffers = e.buffer(data, "data"), e.buffer(128, "out"), e.buffer(np.array(indices, np.int32), "index")
        result = e.launch("k", 1, 32, [*buffers, np.uint32(active)], checks=WITHOUT_RACES)
        after, out = buffers[0].read(np.uint32), buffers[1].read(np.uint32)
    lanes = [lane for lane in range(32) if active >> lane & 1]
    outside = [lane for lane in lanes if not 0 <= indices[lane] < 67]
    if outside:
        assert result.finding.kind == "OUT_OF_BOUNDS"
        assert result.finding.lane == outside[0]
        assert result.finding.index == 4 * indices[outside[0]]
        assert (after == data).all(), "nothing is stored by an instruction that fails"
        return
    assert not result.findings
    if store:
        for lane in lanes:
            data[indices[lane]] = lane + 1000
        assert (after == data).all()
    else:
        assert out.tolist() == [indices[lane] if lane in lanes else lane + 1000 for lane in range(32)]


def test_shared_array_overrun_into_its_neighbour(device: Emulator) -> None:
    data = np.arange(33, dtype=np.int32)
    for shift, lane in ((0, None), (1, 31), (40, 0)):
        data[32] = shift
        out = device.buffer(128, "out")
        result = device.launch("shared_neighbour", 1, 32, [device.buffer(data, "in"), out])
        if lane is None:
            assert not result.findings
            assert out.read(np.int32).tolist() == [31] * 32
        else:
            assert result.finding.kind == "OUT_OF_BOUNDS"
            assert result.finding.message == (
                f"thread ({lane},0,0) of block (0,0,0) reads 4 bytes at byte {4 * (lane + shift)} of shared first, "
                "which has 128"
            )
            assert result.finding.line == source_line("first[T + in[32]]")
            assert (result.finding.object, result.finding.index) == ("shared first", 4 * (lane + shift))


def test_dynamic_shared_memory(device: Emulator) -> None:
    out = device.buffer(128, "out")
    for nbytes, at, kind in (
        (128, 31, None),
        (128, 32, "OUT_OF_BOUNDS"),
        (124, 3, "OUT_OF_BOUNDS"),
        (0, 0, "OUT_OF_BOUNDS"),
    ):
        result = device.launch("dynamic_shared", 1, 32, [out, at], shared=nbytes)
        assert result.kinds == ([kind] if kind else [])
        if kind:
            assert f"of shared room, which has {nbytes}" in result.finding.message
        else:
            assert out.read(np.int32).tolist() == [31 + t % 8 for t in range(32)]
    assert device.launch("dynamic_shared", 1, 32, [out, 0], shared=227 * 1024 - 32).completed
    refused = device.launch("dynamic_shared", 1, 32, [out, 0], shared=227 * 1024)
    assert refused.finding.message == "the block needs 232480 bytes of shared memory; H200 allows 232448"


def test_local_array_overrun(device: Emulator) -> None:
    data = np.concatenate([np.arange(8), np.arange(32) % 8]).astype(np.int32)
    out = device.buffer(128, "out")
    assert not device.launch("local_overrun", 1, 32, [device.buffer(data, "in"), out]).findings
    assert out.read(np.int32).tolist() == [t % 8 for t in range(32)]
    data[8 + 9] = 8
    result = device.launch("local_overrun", 1, 32, [device.buffer(data, "in"), out])
    assert result.finding.kind == "OUT_OF_BOUNDS"
    assert result.finding.lane == 9
    assert result.finding.line == source_line("out[T] = a[in[8 + T]]")


# ---- What nobody has written -----------------------------------------------------------------------------------
def test_initcheck_global(emulator_built: Path) -> None:
    with Emulator() as e:
        e.load(copier("u32", 1, "global"))
        data, out = e.buffer(128, "in"), e.buffer(128, "out")
        data.write(np.zeros(17, np.uint32))
        data.write(np.zeros(14, np.uint32), offset=4 * 18)
        finding = e.launch("k", 1, 32, [data, out]).finding
        assert finding.kind == "UNINITIALISED"
        assert not finding.fatal
        assert (
            finding.message
            == "thread (17,0,0) of block (0,0,0) reads 4 bytes at byte 68 of in, which nothing has written, "
            "and a stored value depends on it"
        )
        assert (finding.lane, finding.index, finding.object, finding.bytes) == (17, 68, "in", 4)
        assert not e.launch("k", 1, 32, [data, out], checks=ALL_CHECKS & ~2).findings
        data.fill(1)
        assert not e.launch("k", 1, 32, [data, out]).findings
        data.fill(1, initialised=False)
        finding = e.launch("k", 1, 32, [data, out]).finding
        assert (finding.lane, finding.count) == (0, 32)


ACROSS = """.visible .entry k(.param .u64 p_data, .param .u64 p_out) {
  .reg .b64 %a<4>; .reg .b32 %t, %v; .reg .pred %p;
  ld.param.u64 %a0, [p_data]; ld.param.u64 %a1, [p_out]; mov.u32 %t, %tid.x;
  mul.wide.u32 %a2, %t, 16; add.u64 %a2, %a2, %a0; mul.wide.u32 %a3, %t, 4; add.u64 %a1, %a1, %a3;
  setp.ne.u32 %p, %t, 9; @%p st.global.v4.u32 [%a2+12], {%t, %t, %t, %t};
  mul.wide.u32 %a3, %t, 16; add.u64 %a3, %a3, %a0; ld.global.u32 %v, [%a3+16]; st.global.u32 [%a1], %v; ret; }"""


def test_initcheck_across_words_of_bits(emulator_built: Path) -> None:
    """A buffer that begins 4 bytes past a multiple of 16: an aligned group lies in bytes 60 to 75 of it."""
    with Emulator() as e:
        e.load(HEADER + ACROSS)
        data, out = e.buffer(12 + 512, "data", misalignment=4), e.buffer(128, "out")
        finding = e.launch("k", 1, 32, [data, out]).finding
        assert (finding.kind, finding.lane, finding.count) == ("UNINITIALISED", 9, 1)


def test_initcheck_part_of_a_vector(emulator_built: Path) -> None:
    with Emulator() as e:
        e.load(copier("u32", 4, "global"))
        data, out = e.buffer(512, "in"), e.buffer(512, "out")
        data.write(np.zeros(127, np.uint32))
        finding = e.launch("k", 1, 32, [data, out]).finding
        assert (finding.kind, finding.lane, finding.bytes) == ("UNINITIALISED", 31, 16)


@pytest.mark.parametrize("schedule", [0, 1, 2])
def test_initcheck_shared(device: Emulator, schedule: int) -> None:
    data, out = device.buffer(np.arange(64, dtype=np.int32), "in"), device.buffer(256, "out")
    result = device.launch(
        "uninitialised_shared", 2, 64, [data, out], schedule=schedule, checks=WITHOUT_RACES
    )
    first = result.finding.block[0]
    assert result.finding.message == (
        f"thread ({56 - first},0,0) of block ({first},0,0) reads 4 bytes at byte {28 + 4 * first} of shared s, "
        "which nothing has written, and a stored value depends on it"
    )
    assert result.finding.count == 2, "once in each block: shared memory is fresh in every one"


def test_shared_memory_of_a_function(device: Emulator) -> None:
    """It counts for the kernels that can reach the function, and for no others."""
    x, out = np.arange(32, dtype=np.int32) ** 2, device.buffer(128, "out")
    result = device.launch("shared_in_function", 1, 32, [device.buffer(x, "in"), out])
    assert not result.findings
    assert (out.read(np.int32) == (x[::-1] + 1) * 2).all()
    sizes = {
        name: device.info(name).static_shared
        for name in ("shared_in_function", "dynamic_shared", "traps", "async_copy")
    }
    assert sizes == {"shared_in_function": 400, "dynamic_shared": 32, "traps": 0, "async_copy": 2048}


def test_initcheck_local(device: Emulator) -> None:
    data = np.concatenate([[5], 3 * np.arange(32) % 16]).astype(np.int32)
    out = device.buffer(128, "out")
    result = device.launch("uninitialised_local", 1, 32, [device.buffer(data, "in"), out])
    assert result.finding.kind == "UNINITIALISED"
    assert (result.finding.lane, result.finding.index) == (5, 4 * 15)
    assert result.finding.count == 32 - 10, "five of sixteen are written"
    data[0] = 16
    assert not device.launch("uninitialised_local", 1, 32, [device.buffer(data, "in"), out]).findings


UNSET = "a variable that nothing has set, and "
UNWRITTEN = "of in, which nothing has written, and "


@pytest.mark.parametrize(
    ("name", "n", "kind", "where", "said", "used"),
    [
        (
            "unset_sum",
            5,
            "UNINITIALISED",
            "sum += in[k];",
            UNSET + "a stored value depends on it at line ",
            "out[T] = sum;",
        ),
        ("unset_sum", 0, "UNINITIALISED", "out[T] = sum;", UNSET + "a stored value depends on it", None),
        (
            "unset_in_some_lanes",
            19,
            "UNINITIALISED",
            "v += __shfl_xor",
            UNSET + "a stored value depends on it at line ",
            "if (T % 16 < 4)",
        ),
        (
            "unset_address",
            5,
            "UNINITIALISED",
            "k ^= in[i];",
            UNSET + "an address depends on it at line ",
            "in[k & 31]",
        ),
        (
            "unset_atomic",
            5,
            "UNINITIALISED",
            "sum += in[k];",
            UNSET + "an atomic depends on it at line ",
            "atomicAdd(out, sum)",
        ),
        (
            "unset_condition",
            5,
            "UNINITIALISED",
            "left -= in[k];",
            UNSET + "a condition depends on it at line ",
            "while (left > 40",
        ),
        (
            "unset_printed",
            5,
            "UNINITIALISED",
            "sum += in[k];",
            UNSET + "what printf prints depends on it at line ",
            'printf("%d %d',
        ),
        (
            "unset_through_a_call",
            5,
            "UNINITIALISED",
            "v += in[k];",
            UNSET + "a stored value depends on it at line ",
            "out[T] = v;",
        ),
        (
            "unset_through_shared",
            19,
            "UNINITIALISED",
            "tile[T] = v;",
            UNSET + "a stored value depends on it at line ",
            "out[T] = tile[31 - T]",
        ),
        (
            "reads_ahead",
            3,
            "UNINITIALISED",
            "for (int k = 0; k < n; k++) {",
            UNWRITTEN + "a stored value depends on it at line ",
            "out[T] = sum;",
        ),
        (
            "reads_ahead_into_shared",
            2,
            "UNINITIALISED",
            "tile[(k + 1) % 2][T] = in",
            UNWRITTEN + "a stored value depends on it at line ",
            "out[T] = tile[k % 2][T]",
        ),
        (
            "reads_ahead_asynchronously",
            2,
            "UNINITIALISED",
            "&tile[(k + 1) % 2][T], in",
            UNWRITTEN + "a stored value depends on it at line ",
            "out[T] = tile[k % 2][T]",
        ),
        (
            "copies_read_too_soon",
            2,
            "UNINITIALISED",
            "out[T] = tile[T];",
            "of shared tile, which the asynchronous copy at line ",
            None,
        ),
    ],
)
@pytest.mark.parametrize("schedule", [0, 1, 2])
def test_undefined_values_are_followed_to_their_use(
    device: Emulator, name: str, n: int, kind: str, where: str, said: str, used: str | None, schedule: int
) -> None:
    data, out = device.buffer(4 * 128, "in"), device.buffer(np.zeros(64, np.int32), "out")
    data.write(np.arange(32, dtype=np.int32))
    result = device.launch(
        name, 1, 32, [data, out, Value("i32", n)], schedule=schedule, checks=WITHOUT_RACES, steps=1_000_000
    )
    assert result.finding.kind == kind
    assert said in result.finding.message
    lines = (TESTS / "data" / "ptx" / "memory.cu").read_text().splitlines()
    begin = next(i for i, line in enumerate(lines) if f"({name})" in line)

    def line_of(text: str) -> int:
        return next(i for i, line in enumerate(lines[begin:], begin + 1) if text in line)

    assert result.finding.line == line_of(where)
    assert result.finding.other_line == (line_of(used) if used else 0)


def test_an_undefined_value_names_the_thread_that_read_it(device: Emulator) -> None:
    data, out = device.buffer(4, "in"), device.buffer(np.zeros(64, np.int32), "out")
    result = device.launch(
        "unset_through_another_warp", 1, 64, [data, out, Value("i32", 32)], checks=WITHOUT_RACES
    )
    finding = result.finding
    assert (finding.kind, finding.thread, finding.warp) == ("UNINITIALISED", (31, 0, 0), 0)
    assert finding.index == 4 * (31 + 32)
    assert finding.message.startswith(
        "thread (31,0,0) of block (0,0,0) reads 4 bytes at byte 252 of shared tile"
    )


@pytest.mark.parametrize(
    ("name", "n"),
    [
        ("unset_but_not_used", 19),
        ("unset_in_some_lanes", 32),
        ("unset_through_shared", 32),
        ("reads_ahead", 2),
        ("reads_ahead_into_shared", 1),
        ("reads_ahead_asynchronously", 1),
        ("selects_what_is_set", 3),
        ("strays_of_a_tile", 1),
        ("strays_of_a_tile", 5),
        ("copies_read_too_soon", 1),
    ],
)
@pytest.mark.parametrize("schedule", [0, 1, 2])
def test_undefined_values_that_nothing_depends_on(device: Emulator, name: str, n: int, schedule: int) -> None:
    data, out = device.buffer(4 * 128, "in"), device.buffer(np.zeros(64, np.int32), "out")
    data.write(np.arange(32, dtype=np.int32))
    result = device.launch(name, 1, 32, [data, out, Value("i32", n)], schedule=schedule, checks=WITHOUT_RACES)
    assert result.completed
    assert not result.findings


def test_garbage_depends_on_the_schedule(device: Emulator) -> None:
    seen = set()
    for schedule in (0, 1, 2, 1):
        data, out = device.buffer(np.zeros(32, np.int32)), device.buffer(np.zeros(64, np.int32))
        device.launch("unset_sum", 1, 32, [data, out, Value("i32", 1)], schedule=schedule)
        seen.add(tuple(out.read(np.int32)))
    assert len(seen) == 3


def test_an_exchange_may_come_first(device: Emulator) -> None:
    data, out = device.buffer(np.zeros(32, np.int32)), device.buffer(128)
    assert not device.launch("exchange_starts", 1, 32, [data, out]).findings
    assert out.read(np.int32).tolist() == [5] * 32


# ---- Atomics ---------------------------------------------------------------------------------------------------
def wrap(bits: int, *, signed: bool = False) -> Callable[[int], int]:
    def of(x: int) -> int:
        x %= 1 << bits
        return x - (1 << bits) if signed and x >> bits - 1 else x

    return of


def integer_atomics() -> Iterator[tuple[str, np.dtype, Callable[[int, int], int]]]:
    for name, dtype in [("i32", np.int32), ("u32", np.uint32), ("i64", np.int64), ("u64", np.uint64)]:
        bits, signed = 8 * np.dtype(dtype).itemsize, name[0] == "i"
        whole = wrap(bits, signed=signed)
        if name != "i64":
            yield f"add_{name}", np.dtype(dtype), lambda old, v, whole=whole: whole(old + v)
        yield f"min_{name}", np.dtype(dtype), min
        yield f"max_{name}", np.dtype(dtype), max
        if not signed:
            yield f"and_{name}", np.dtype(dtype), lambda old, v: old & v
            yield f"or_{name}", np.dtype(dtype), lambda old, v: old | v
            yield f"xor_{name}", np.dtype(dtype), lambda old, v: old ^ v
            yield f"exch_{name}", np.dtype(dtype), lambda old, v: v
            yield (
                f"cas_{name}",
                np.dtype(dtype),
                lambda old, v, whole=whole: whole(v + 1) if old == v else old,
            )
    yield "cas_u16", np.dtype(np.uint16), lambda old, v: (v + 1) % 65536 if old == v else old
    yield "inc_u32", np.dtype(np.uint32), lambda old, v: 0 if old >= v else old + 1
    yield "dec_u32", np.dtype(np.uint32), lambda old, v: v if old == 0 or old > v else old - 1


NATIVE = {name for name, _, _ in integer_atomics()} | {"add_f32", "add_f64", "exch_f32"}
INTEGER = {name: (dtype, update) for name, dtype, update in integer_atomics()}


def run_atomic(
    e: Emulator, name: str, start: np.ndarray, values: np.ndarray, *, shared: bool, schedule: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    at, given_values, old = e.buffer(start, "at"), e.buffer(values, "values"), e.buffer(values.nbytes, "old")
    # The loops by compare and swap start with a plain read, as the CUDA guide writes them: a race, if a harmless one.
    checks = ALL_CHECKS if name in NATIVE else WITHOUT_RACES
    result = e.launch(
        name, 1, len(values), [at, given_values, old, int(shared)], schedule=schedule, checks=checks
    )
    assert result.completed
    assert not result.findings
    got = at.read(start.dtype), old.read(values.dtype)
    for buffer in (at, given_values, old):
        buffer.free()
    return got


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    seed=st.integers(0, 1 << 30), threads=st.integers(1, 40), shared=st.booleans(), schedule=st.integers(0, 3)
)
@pytest.mark.parametrize("name", INTEGER)
def test_integer_atomics(
    device: Emulator, name: str, seed: int, threads: int, shared: bool, schedule: int
) -> None:
    dtype, update = INTEGER[name]
    rng = np.random.default_rng(seed)
    small = name[:3] in ("inc", "dec", "cas")
    raw = rng.integers(0, 6 if small else 256, (threads + 4, dtype.itemsize), dtype=np.uint8)
    if small:
        raw[:, 1:] = 0
    cells = raw.reshape(-1).view(dtype)
    start, values = cells[:4].copy(), cells[4:].copy()
    after, old = run_atomic(device, name, start, values, shared=shared, schedule=schedule)
    for a in range(4):
        # Some order of the lanes must explain all that was seen: follow the old values from the start.
        left = [t for t in range(threads) if t % 4 == a]
        if schedule == 0 and threads <= 32:  # lanes come in order, warps as they leave the barrier
            value = int(start[a])
            for t in left:
                assert old[t] == value
                value = update(value, int(values[t]))
            assert after[a] == value
        else:
            assert explained(
                int(start[a]), int(after[a]), [(int(values[t]), int(old[t])) for t in left], update
            )


def explained(value: int, after: int, left: list[tuple[int, int]], update: Callable[[int, int], int]) -> bool:
    if not left:
        return value == after
    tried = set()
    for k, (operand, old) in enumerate(left):
        if old != value or (operand, old) in tried:
            continue
        tried.add((operand, old))
        if explained(update(value, operand), after, left[:k] + left[k + 1 :], update):
            return True
    return False


def bfloat_round(x: np.ndarray) -> np.ndarray:
    """float32 values that bfloat16 can hold, nearest even."""
    bits = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(
    "name",
    ["add_f32", "add_f64", "add_f16", "add_bf16", "add_f16x2", "add_bf16x2", "exch_f32", "cas_loop_f64"],
)
def test_float_atomics(device: Emulator, name: str, shared: bool) -> None:
    rng = np.random.default_rng(11)
    kind = name.rsplit("_", 1)[1]
    pairs = 2 if kind.endswith("x2") else 1
    raw = rng.normal(size=(36, pairs)) * 8
    if kind.startswith("bf16"):
        data = bfloat_round(raw)
        stored = (data.view(np.uint32) >> 16).astype(np.uint16)
    else:
        data = stored = raw.astype({"f32": np.float32, "f64": np.float64}.get(kind, np.float16))
    words = (
        np.ascontiguousarray(stored)
        .view({2: np.uint16, 4: np.uint32, 8: np.uint64}[stored.itemsize * pairs])
        .ravel()
    )
    after, old = run_atomic(device, name, words[:4].copy(), words[4:].copy(), shared=shared)
    cells, seen = data[:4].copy(), np.empty_like(data[4:])
    for t in range(32):  # schedule 0: in lane order
        seen[t] = cells[t % 4]
        if name.startswith("exch"):
            cells[t % 4] = data[4 + t]
        else:
            total = cells[t % 4] + data[4 + t]
            cells[t % 4] = bfloat_round(total) if kind.startswith("bf16") else total
    for got, expected in ((after, cells), (old, seen)):
        if kind.startswith("bf16"):
            values = (got.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
        else:
            values = got.view(data.dtype)
        if name == "cas_loop_f64" and got is old:
            continue  # the loops of the lanes interleave
        if name == "cas_loop_f64":
            assert np.allclose(values, expected.ravel(), rtol=1e-14)
        else:
            assert values.tolist() == expected.ravel().tolist()


@pytest.mark.parametrize("shared", [False, True])
def test_additions_of_subnormal_floats(device: Emulator, shared: bool) -> None:
    """In global memory they are zeros before and after; an H200 leaves 0 where 40 partials of ch04 are subnormal."""
    tiny, least = np.float32(1e-41), np.float32(2.0**-126)
    start = np.array([0, tiny, least, -tiny], np.float32)
    values = np.array([tiny, 1, -least * np.float32(0.75), -tiny], np.float32)
    after, old = run_atomic(device, "add_f32", start, values, shared=shared)
    assert after.tolist() == ((start + values).tolist() if shared else [0, 1, least, 0])
    assert old.view(np.float32).tolist() == start.tolist()


def test_vector_atomics(emulator_built: Path) -> None:
    text = f"""{HEADER}.visible .entry k(.param .u64 p_at, .param .u64 p_old) {{
  .reg .b64 %a<4>; .reg .b32 %t; .reg .f32 %f<9>;
  ld.param.u64 %a0, [p_at]; ld.param.u64 %a1, [p_old]; mov.u32 %t, %tid.x;
  mad.wide.u32 %a1, %t, 16, %a1; cvt.rn.f32.u32 %f8, %t;
  atom.global.add.v4.f32 {{%f0, %f1, %f2, %f3}}, [%a0], {{%f8, 0f3F800000, 0f40000000, 0f40800000}};
  red.global.add.v2.f32 [%a0+16], {{%f8, 0f3F800000}};
  st.global.v4.f32 [%a1], {{%f0, %f1, %f2, %f3}}; ret; }}"""
    with Emulator() as e:
        e.load(text)
        at, old = e.buffer(np.zeros(6, np.float32)), e.buffer(512)
        assert not e.launch("k", 1, 32, [at, old]).findings
        assert at.read(np.float32).tolist() == [496, 32, 64, 128, 496, 32]
        assert old.read(np.float32).reshape(32, 4)[31].tolist() == [465, 31, 62, 124]


# ---- Module variables ------------------------------------------------------------------------------------------
def test_module_variables(device: Emulator) -> None:
    device.reset_variables()
    x = np.arange(32, dtype=np.int32) + 6
    given_buffer, out = device.buffer(x, "in"), device.buffer(np.zeros(256, np.int32), "out")
    assert device.variables_changed() is None
    result = device.launch("module_variables", 1, 32, [given_buffer, out], checks=WITHOUT_RACES)
    assert not result.findings
    got = out.read(np.int32).reshape(32, 8)
    assert got[:, 0].tolist() == [41] * 32
    assert got[:, 1].tolist() == [[150, 25, 0][v % 3] for v in x]
    assert got[:, 2].tolist() == [[1, -2, 3, -4, 5, -6][v % 6] for v in x]
    assert got[:, 3].tolist() == [ord("enw"[v % 3]) for v in x]
    assert got[:, 4].tolist() == [ord("x") + 25 + 41 + [7, 8, 9][v % 3] for v in x]
    assert got[:, 5].tolist() == [-v if v & 1 else v + 1 for v in x]
    assert device.variables_changed() == "pointers"
    device.reset_variables()
    assert device.variables_changed() is None
    device.launch("add_to_counter", 1, 8, [2])
    assert device.variables_changed() == "counter"
    device.launch("module_variables", 1, 32, [given_buffer, out], checks=WITHOUT_RACES)
    assert out.read(np.int32)[0] == 57, "variables keep their values from launch to launch"
    device.reset_variables()
    device.launch("module_variables", 1, 32, [given_buffer, out], checks=WITHOUT_RACES)
    assert out.read(np.int32)[0] == 41
    device.reset_variables()


# ---- Asynchronous copies ---------------------------------------------------------------------------------------
def run_async(
    e: Emulator, name: str, blocks: int = 1, schedule: int = 0
) -> tuple[np.ndarray, Result, np.ndarray]:
    data = np.arange(1000, 1320, dtype=np.int32)
    out = e.buffer(np.zeros(64 * blocks, np.int32), "out")
    result = e.launch(name, blocks, 64, [e.buffer(data, "in"), out], schedule=schedule, checks=WITHOUT_RACES)
    return out.read(np.int32), result, data


@pytest.mark.parametrize("schedule", range(4))
def test_async_copy(device: Emulator, schedule: int) -> None:
    t = np.arange(64)
    got, result, data = run_async(device, "async_copy", schedule=schedule)
    assert not result.findings
    assert (got == data[(4 * t + 5) % 256] + data[256 + 63 - t]).all()
    got, result, data = run_async(device, "async_copy_first_only", schedule=schedule)
    assert not result.findings
    assert (got == data[(4 * t + 5) % 256]).all()
    _, result, _ = run_async(device, "async_copy_second_too_early", schedule=schedule)
    assert result.finding.kind == "UNINITIALISED"
    assert result.finding.object == "shared tile"
    assert result.finding.index >= 256, "the first copy has landed, the second has not"
    got, result, _ = run_async(device, "async_copy_without_wait", schedule=schedule)
    assert set(result.kinds) == {"UNINITIALISED"}
    assert "of shared tile, which the asynchronous copy at line" in result.findings[0].message


def test_async_copies_end_with_their_block(device: Emulator) -> None:
    got, result, _ = run_async(device, "async_left_behind", blocks=3)
    assert not result.findings
    assert (got == -1).all()


@pytest.mark.parametrize("n", [0, 1, 3, 4, 6, 255, 256])
def test_async_copy_of_a_tail(device: Emulator, n: int) -> None:
    """Bytes beyond the source size are zeros and are not read, so the buffer may end there."""
    data = np.arange(1, n + 1, dtype=np.int32)
    out = device.buffer(1024, "out")
    result = device.launch("async_copy_tail", 1, 64, [device.buffer(data, "in"), out, n])
    assert not result.findings
    assert out.read(np.int32).tolist() == data.tolist() + [0] * (256 - n)


def test_async_copy_out_of_bounds(device: Emulator) -> None:
    out = device.buffer(256, "out")
    result = device.launch("async_copy", 1, 64, [device.buffer(np.zeros(300, np.int32), "in"), out])
    assert result.finding.kind == "OUT_OF_BOUNDS"
    assert "reads 4 bytes at byte 1200 of in, which has 1200" in result.finding.message


# ---- Output, assertions, traps, clocks, special registers ------------------------------------------------------
def printed(thread: int) -> str:
    return (
        f"{thread}    -7|42   |00042 +3 4000000000 ff BEEF 10 {chr(ord('A') + thread)}%\n"
        "-1099511627776 18446744073709551615 5 -3 4\n"
        "1.500000 2.35  1.235e+04 0.0001 0x1p+0 text|   right|l   |cu\n"
        "    17|18  |3.14\n"
        "plain\n"
    )


def test_printf(device: Emulator) -> None:
    assert device.launch("prints", 1, 32, [1]).output == printed(0).replace("2.35", f"{2.345:.2f}")
    two = device.launch("prints", 1, 32, [2]).output
    assert sorted(two.splitlines()) == sorted(
        (printed(0) + printed(1)).replace("2.35", f"{2.345:.2f}").splitlines()
    )


def test_printf_is_bounded(device: Emulator) -> None:
    for given_limit, limit in ((0, 65536), (1000, 1000)):
        result = device.launch("prints_for_ever", 4, 64, output=given_limit)
        assert not result.completed
        assert result.finding.kind == "OUTPUT_LIMIT"
        assert result.finding.message.endswith(f"printed more than {limit} bytes")
        assert limit - 16 < len(result.output) <= limit
        assert set(result.output.splitlines()) == {"again and again"}


def test_assert(device: Emulator) -> None:
    assert device.launch("asserts", 2, 64, [64]).completed
    finding = device.launch("asserts", 2, 64, [40]).finding
    assert finding.kind == "ASSERT"
    assert (
        finding.message
        == 'thread (40,0,0) of block (0,0,0) failed the assertion `T < limit && "small enough"`'
    )
    assert finding.line == source_line("void asserts")


@pytest.mark.parametrize(("name", "words"), [("traps", "a trap instruction"), ("breaks", "a breakpoint")])
def test_trap(device: Emulator, name: str, words: str) -> None:
    assert device.launch(name, 1, 64, [99]).completed
    result = device.launch(name, 1, 64, [37])
    assert not result.completed
    assert (result.finding.kind, result.finding.thread) == ("TRAP", (37, 0, 0))
    assert (
        result.finding.message == f"thread (37,0,0) of block (0,0,0) executes {words}, which ends the kernel"
    )


@pytest.mark.parametrize("schedule", [0, 1])
def test_clocks_go_forward(device: Emulator, schedule: int) -> None:
    out = device.buffer(4 * 8 * 128, "out")
    for _ in range(2):
        result = device.launch("clocks", 2, 64, [out], schedule=schedule)
        assert not result.findings
        clocks = out.read(np.uint64).reshape(128, 4)
        assert (clocks[:, :3] > 0).all()
        assert (clocks[:, :3] < 1 << 32).all()


def test_special_registers(device: Emulator) -> None:
    out = device.buffer(64 * 2 * 70, "out")
    assert not device.launch("special", 2, 70, [out]).findings
    got = out.read(np.uint32).reshape(140, 16)
    for i, row in enumerate(got.tolist()):
        lane, thread, block = i % 70 % 32, i % 70, i // 70
        bit = 1 << lane
        at_least = 0x100000000 - bit
        assert row[:12] == [
            lane,
            thread // 32,
            132,
            bit,
            bit - 1,
            2 * bit - 1,
            at_least,
            at_least - bit,
            70,
            2,
            block,
            thread,
        ]
        assert row[12] < 132
        assert row[13] == 64
        assert row[14] == 32


def test_findings_are_bounded(emulator_built: Path) -> None:
    loads = "".join(
        f"ld.global.u32 %r, [%a+{4 * k}]; setp.eq.u32 %p, %r, 1; @%p bra L{k};\nL{k}:\n" for k in range(5)
    )
    with Emulator() as e:
        e.load(
            f"{HEADER}.visible .entry k(.param .u64 p) {{\n"
            f".reg .b64 %a; .reg .b32 %r; .reg .pred %p; ld.param.u64 %a, [p];\n{loads}ret; }}"
        )
        data = e.buffer(20)
        for limit, kept in ((0, 5), (3, 3)):
            result = e.launch("k", 1, 2, [data], max_findings=limit)
            assert [f.index for f in result.findings] == [4 * k for k in range(kept)]
            assert result.findings_total == 10
            assert {f.count for f in result.findings} == {2}


class MallocInfo(ctypes.Structure):
    """struct mallinfo2 of glibc."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena",
            "ordblks",
            "smblks",
            "hblks",
            "hblkhd",
            "usmblks",
            "fsmblks",
            "used",
            "free",
            "keepcost",
        )
    ]


@pytest.mark.parametrize(
    ("source", "kernel", "grid", "block", "arguments"),
    [
        ("memory", "traps", 40, 64, [3]),
        ("memory", "prints_for_ever", 4, 64, []),
        ("memory", "async_copy", 3, 64, [160, 4096]),
        ("memory", "async_copy_without_wait", 3, 64, [4096, 4096]),
        ("memory", "local_overrun", 1, 32, [64, 4096]),
        ("control_flow", "deep_recursion", 2, 32, [4096]),
        ("control_flow", "endless_for_one_lane", 2, 64, [4096]),
        ("control_flow", "exit_inside_calls", 3, 77, [4096, 4096]),
        ("synchronisation", "barrier_not_reached", 4, 64, [4096, 4096]),
        ("synchronisation", "grid_sync", 4, 64, [4096, 8192]),
    ],
)
def test_a_launch_that_is_stopped_frees_all(
    emulator_built: Path, source: str, kernel: str, grid: int, block: int, arguments: list[int]
) -> None:
    """What malloc has given out grows by less than its smallest block a launch.

    What Python itself takes now and then is in that figure too; a leak is there every time.
    """
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallinfo2"):
        pytest.skip("there is no mallinfo2 here")
    libc.mallinfo2.restype = MallocInfo
    ptx = image(TESTS / "data" / "ptx" / f"{source}.cu")

    def launches(count: int) -> int:
        for k in range(count):
            with Emulator() as e:
                e.load(ptx)
                given = [e.buffer(np.ones(a // 4, np.int32)) if a > 63 else a for a in arguments]
                e.launch(kernel, grid, block, given, schedule=k % 3, steps=4000, count=True)
        gc.collect()
        return int(libc.mallinfo2().used) + int(libc.mallinfo2().hblkhd)

    used = [launches(6), *(launches(40) for _ in range(3))]
    assert min(after - before for before, after in itertools.pairwise(used)) < 40 * 24, used


def test_buffers(emulator_built: Path) -> None:
    with Emulator() as e:
        empty: Buffer = e.buffer(0, "empty")
        assert empty.read().size == 0
        with pytest.raises(EmulatorError, match="misaligned by less than 2 MiB"):
            e.buffer(4, misalignment=2 << 20)
        with pytest.raises(EmulatorError, match="no memory"):
            e.buffer(1 << 60)
        small = e.buffer(np.arange(3, dtype=np.uint8))
        with pytest.raises(EmulatorError, match="are not in any buffer"):
            small.write(np.zeros(4, np.uint8))
        with pytest.raises(EmulatorError, match="not the start of a buffer"):
            Buffer(e, small.address + 1, 2).free()
        assert small.read().tolist() == [0, 1, 2]
        many = [e.buffer(np.full(5, k, np.uint8)) for k in range(200)]
        assert all((b.read() == k).all() for k, b in enumerate(many))


@pytest.mark.parametrize("space", ["global", "shared", "local", "const"])
@pytest.mark.parametrize(("at", "kind"), [(1, "MISALIGNED"), (3, "MISALIGNED"), (4, "OUT_OF_BOUNDS")])
def test_an_unaligned_access_to_the_last_word_is_misaligned(
    emulator_built: Path, space: str, at: int, kind: str
) -> None:
    if space == "local" and kind == "OUT_OF_BOUNDS":
        at = 16  # a frame is a multiple of 16 bytes
    where, variable = "", f".{space} .align 4 .b8 v[4];"
    if space in ("global", "const"):
        where, variable = variable, ""
    access = f"ld.{space}.u32 %r, [%d+{at}];" if space == "const" else f"st.{space}.u32 [%d+{at}], 1;"
    with Emulator() as e:
        e.load(
            f".version 9.0\n.target sm_80\n.address_size 64\n{where}\n.visible .entry k() {{ {variable} .reg .b64 %d; "
            f".reg .b32 %r; mov.u64 %d, v; {access} ret; }}"
        )
        assert e.launch("k", 1, 1).finding.kind == kind
