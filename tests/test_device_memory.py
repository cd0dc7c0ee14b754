"""malloc(), free() and alloca() in kernels; managed variables, several images, several devices."""

from __future__ import annotations

import ctypes as c
from pathlib import Path

import numpy as np
import pytest
from emulator import Emulator, EmulatorError, Result, Value

from bench.emulator_library import CText, CVariable

HEADER = ".version 9.0\n.target sm_80\n.address_size 64\n"
DECLARED = ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"


def malloc(to: str, size: str) -> str:
    return (
        f"{{ .param .b64 n, r; st.param.b64 [n], {size}; call (r), malloc, (n); ld.param.b64 {to}, [r]; }} "
    )


def free(address: str) -> str:
    return f"{{ .param .b64 p; st.param.b64 [p], {address}; call free, (p); }} "


def kernel(code: str) -> str:
    """%d0 is `out`, %t the thread."""
    return (
        f"{HEADER}{DECLARED}.visible .entry k(.param .u64 out) {{ .reg .b64 %d<8>; .reg .b32 %r<8>, %t; .reg .pred %p; "
        f"ld.param.u64 %d0, [out]; mov.u32 %t, %tid.x; {code} ret; }}"
    )


def run(code: str, threads: int = 1, *, heap: int = 0, blocks: int = 1) -> tuple[Result, np.ndarray]:
    with Emulator() as e:
        if heap:
            e.call("set_heap", heap)
        e.load(kernel(code))
        out = e.buffer(np.zeros(threads, np.uint64))
        result = e.launch("k", blocks, threads, [out])
        return result, out.read(np.uint64)


# ---- malloc() and free() ---------------------------------------------------------------------------------------
def test_each_thread_has_its_own_allocation(emulator_built: Path) -> None:
    code = malloc("%d1", "100") + (
        "cvt.u64.u32 %d2, %t; st.u64 [%d1+88], %d2; bar.sync 0; ld.u64 %d3, [%d1+88]; "
        "mad.wide.u32 %d4, %t, 8, %d0; st.global.u64 [%d4], %d3; "
    )
    result, out = run(code + free("%d1"), 64)
    assert not result.findings
    assert out.tolist() == list(range(64))


@pytest.mark.parametrize(
    ("code", "kind", "said"),
    [
        (
            malloc("%d1", "10") + "st.u8 [%d1+10], 1;",
            "OUT_OF_BOUNDS",
            "byte 10 of an allocation, which has 10",
        ),
        (
            malloc("%d1", "16") + "ld.u32 %r1, [%d1+16];",
            "OUT_OF_BOUNDS",
            "byte 16 of an allocation, which has 16",
        ),
        (
            malloc("%d1", "16") + "st.u32 [%d1], 1; " + free("%d1") + "ld.u32 %r1, [%d1];",
            "OUT_OF_BOUNDS",
            "byte 0 of an allocation of 16 bytes that free() has released",
        ),
        (malloc("%d1", "16") + free("%d1") + free("%d1"), "BAD_FREE", "16 bytes that is free already"),
        (
            malloc("%d1", "16") + "add.u64 %d1, %d1, 8;" + free("%d1"),
            "BAD_FREE",
            "which malloc() in a kernel did not",
        ),
        (free("%d0"), "BAD_FREE", "which malloc() in a kernel did not"),
        (malloc("%d1", "16") + "ld.u32 %r1, [%d1+4]; st.global.u32 [%d0], %r1;", "UNINITIALISED", "malloc()"),
    ],
)
def test_what_is_wrong_with_an_allocation(emulator_built: Path, code: str, kind: str, said: str) -> None:
    result, _ = run(code)
    found = next(f for f in result.findings if f.kind == kind)
    assert said in found.message


def test_a_leak_is_told_and_fails_nothing(emulator_built: Path) -> None:
    result, _ = run(malloc("%d1", "24"), 3)
    assert result.completed
    assert (result.finding.kind, result.finding.count) == ("LEAK", 3)
    assert "24 bytes that malloc() returned here are not freed" in result.finding.message


def test_free_of_nothing_is_allowed(emulator_built: Path) -> None:
    assert not run(free("0"))[0].findings


def test_a_full_heap_gives_null(emulator_built: Path) -> None:
    code = (
        malloc("%d1", "4000000") + malloc("%d2", "4000000") + malloc("%d3", "4000000") + malloc("%d4", "0")
        + "or.b64 %d3, %d3, %d4; setp.eq.u64 %p, %d2, 0; selp.b64 %d3, 1, %d3, %p; st.global.u64 [%d0], %d3; "
        + free("%d1") + malloc("%d5", "4000000") + "setp.eq.u64 %p, %d5, 0; @%p trap; "
        + free("%d5") + free("%d2")
    )  # fmt: skip
    result, out = run(code)
    assert not result.findings
    assert out.tolist() == [0]
    assert run(malloc("%d1", "4000000") + "st.global.u64 [%d0], %d1;", heap=1 << 16)[1].tolist() == [0]


def test_what_is_freed_is_used_again(emulator_built: Path) -> None:
    loop = (
        "mov.u32 %r0, 0; AGAIN: " + malloc("%d1", "1000") + "setp.eq.u64 %p, %d1, 0; @%p trap; st.u32 [%d1], %r0; "
        + free("%d1") + "add.u32 %r0, %r0, 1; setp.lt.u32 %p, %r0, 500; @%p bra AGAIN; "
    )  # fmt: skip
    assert not run(loop, heap=1 << 16)[0].findings


def test_allocations_outlive_the_launch(emulator_built: Path) -> None:
    with Emulator() as e:
        out = e.buffer(np.zeros(1, np.uint64))
        e.load(kernel(malloc("%d1", "8") + "st.u32 [%d1], 42; st.global.u64 [%d0], %d1;"))
        assert e.launch("k", 1, 1, [out]).finding.kind == "LEAK"
        e.load(
            kernel(
                "ld.global.u64 %d1, [%d0]; ld.u32 %r1, [%d1]; " + free("%d1") + "st.global.u32 [%d0], %r1;"
            )
        )
        assert not e.launch("k", 1, 1, [out]).findings
        assert out.read(np.uint32)[0] == 42


# ---- alloca() --------------------------------------------------------------------------------------------------
def test_alloca_gives_each_lane_its_own_bytes(emulator_built: Path) -> None:
    code = (
        "add.u32 %r0, %t, 1; mul.wide.u32 %d1, %r0, 8; alloca.u64 %d2, %d1, 16; cvta.local.u64 %d2, %d2; "
        "add.u64 %d3, %d2, %d1; cvt.u64.u32 %d4, %t; st.u64 [%d3+-8], %d4; bar.warp.sync -1; ld.u64 %d5, [%d3+-8]; "
        "mad.wide.u32 %d6, %t, 8, %d0; st.global.u64 [%d6], %d5; "
    )
    result, out = run(code, 32)
    assert not result.findings
    assert out.tolist() == list(range(32))


def test_the_stack_is_restored(emulator_built: Path) -> None:
    loop = (
        "mov.u32 %r0, 0; AGAIN: stacksave.u64 %d1; alloca.u64 %d2, 4096; st.local.u32 [%d2], %r0; "
        "stackrestore.u64 %d1; add.u32 %r0, %r0, 1; setp.lt.u32 %p, %r0, 1000; @%p bra AGAIN; "
    )
    assert not run(loop)[0].findings
    result, _ = run(loop.replace("stackrestore.u64 %d1;", ""))
    assert result.finding.kind == "STACK_OVERFLOW"
    assert "alloca() of 4096 bytes" in result.finding.message


def test_a_callee_does_not_overlap_what_alloca_gave(emulator_built: Path) -> None:
    module = (
        f"{HEADER}.func f() {{ .local .align 8 .b8 mine[64]; .reg .b64 %d; mov.u64 %d, mine; st.local.u64 [%d], -1; "
        "ret; }\n.visible .entry k(.param .u64 out) { .reg .b64 %d<4>; ld.param.u64 %d0, [out]; "
        "alloca.u64 %d1, 64; st.local.u64 [%d1], 5; call f; ld.local.u64 %d2, [%d1]; st.global.u64 [%d0], %d2; ret; }"
    )
    with Emulator() as e:
        e.load(module)
        out = e.buffer(np.zeros(1, np.uint64))
        assert not e.launch("k", 1, 1, [out]).findings
        assert out.read(np.uint64).tolist() == [5]


# ---- Variables, images, devices --------------------------------------------------------------------------------
COUNTER = (
    HEADER
    + ".visible .global .attribute(.managed) .align 4 .u32 _ZN1a5countE = 7;\n.visible .entry add() { .reg .b64 %d; "
    ".reg .b32 %r; mov.u64 %d, _ZN1a5countE; atom.global.add.u32 %r, [%d], 1; ret; }\n"
)


def add_image(e: Emulator, ptx: str, name: str) -> int:
    text = ptx.encode()
    return e.call("add_image", c.byref(CText(text=text, bytes=len(text), name=name.encode())), 1)


def variable(e: Emulator, image: int | None, name: str) -> CVariable | None:
    found = CVariable()
    done = e.lib.emulator_find_variable(e.handle, image, name.encode(), c.byref(found))
    return found if done else None


def value(e: Emulator, found: CVariable) -> int:
    data = np.zeros(1, np.uint32)
    e.call("read", data.ctypes.data, found.address, 4)
    return int(data[0])


def test_a_managed_variable_is_written_by_host_and_kernel(emulator_built: Path) -> None:
    with Emulator() as e:
        e.load(COUNTER)
        found = variable(e, None, "count")
        assert found
        assert (found.bytes, found.is_managed, found.is_constant) == (4, True, False)
        e.call("write", found.address, (100).to_bytes(4, "little"), 4)
        assert not e.launch("add", 2, 32).findings
        assert value(e, found) == 164


def test_images_live_side_by_side(emulator_built: Path) -> None:
    with Emulator() as e:
        first, second = add_image(e, COUNTER, "first"), add_image(e, COUNTER, "second")
        assert variable(e, None, "count") is None  # which one?
        one, two = variable(e, first, "count"), variable(e, second, "_ZN1a5countE")
        assert one
        assert two
        assert one.address != two.address
        assert not e.launch("add", 1, 1).findings  # of the first image
        assert (value(e, one), value(e, two)) == (8, 7)
        e.lib.emulator_remove_image(first)
        assert not e.launch("add", 1, 3).findings
        assert value(e, two) == 10
        with pytest.raises(EmulatorError):
            value(e, one)


def test_devices_and_host_memory(emulator_built: Path) -> None:
    """Any number of buffers over memory of the host, on several devices at once."""
    devices = [Emulator() for _ in range(3)]
    shared = np.zeros(3 * 1000, np.uint32)
    text = kernel("ld.global.u32 %r0, [%d0]; add.u32 %r0, %r0, 1; st.global.u32 [%d0], %r0; ")
    for number, e in enumerate(devices):
        e.load(text)
        e.lib.emulator_adopt.restype = c.c_uint64
        e.lib.emulator_adopt.argtypes = [
            c.c_void_p,
            c.c_void_p,
            c.c_size_t,
            c.c_size_t,
            c.c_char_p,
            c.c_void_p,
        ]
        addresses = [
            e.call("adopt", shared.ctypes.data + 4 * (1000 * number + i), 4, 0, b"pinned")
            for i in range(1000)
        ]
        for address in addresses[:: 100 + number]:
            assert not e.launch("k", 1, 1, [Value("u64", address)], checks=0).findings
    for number, e in enumerate(devices):
        e.__exit__(None, None, None)
        mine = shared[1000 * number :][:1000]
        assert mine.sum() == len(range(0, 1000, 100 + number))
