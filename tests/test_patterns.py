"""The 52 kernels of hardware_truth/patterns.cu: what they compute, and what an H200 counts for them.

Every kernel's meaning is written again in NumPy, in the order of its own additions, so outputs are compared
to the bit. Counters are compared with hardware_truth/counters.csv; differences are listed in EXCEPTIONS, with
both figures and the cause.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from cuda_images import SOURCES, TESTS, committed, is_from
from emulator import ALL_CHECKS, Emulator, Result

F32 = np.float32
BLOCKS, THREADS, N = 64, 256, 16384  # the launch of record.cu
LENGTH = 64 * N
I = np.arange(N)  # noqa: E741 - as patterns.cu calls it
T = I % THREADS
BLOCK = I // THREADS

Array = np.ndarray
Meaning = Callable[[Array, Array], Array]
MEANINGS: dict[str, Meaning] = {}


def meaning(function: Meaning) -> Meaning:
    """Registers the NumPy meaning of the kernel of that name: (in, out before) -> out after."""
    MEANINGS[function.__name__] = function
    return function


def inputs() -> Array:
    """As record.cu fills both buffers."""
    return ((np.arange(LENGTH, dtype=np.int64) * 7919 % 101).astype(F32) / F32(8)).astype(F32)


def put(out: Array, where: Array | slice, values: Array) -> Array:
    out = out.copy()
    out[where] = values
    return out


def fused_multiply_add(a: Array, b: Array, c: Array) -> Array:
    """a * b + c rounded once: the product is exact in a double, the sum is rounded to odd, then to float."""
    with np.errstate(over="ignore", invalid="ignore"):
        product, c = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
        total = product + c
        part = total - product
        error = (product - (total - part)) + (c - part)
        even = (total.view(np.uint64) & np.uint64(1)) == 0
        inexact = np.isfinite(total) & (error != 0) & even
        total = np.where(inexact, np.nextafter(total, np.where(error > 0, np.inf, -np.inf)), total)
        return total.astype(F32)


def h(x: Array) -> Array:
    """The hash of patterns.cu."""
    u = (x.astype(np.uint64) * 2654435761 & 0xFFFFFFFF).astype(np.uint64)
    u ^= u >> np.uint64(13)
    u = u * np.uint64(2246822519) & np.uint64(0xFFFFFFFF)
    return ((u ^ (u >> np.uint64(16))) & np.uint64(16383)).astype(np.int64)


# ---- Loads and stores ------------------------------------------------------------------------------------------
def gathers(name: str, index: Array) -> None:
    MEANINGS[name] = lambda i, o: put(o, I, i[index])


gathers("ld_f32_unit", I)
gathers("ld_f32_stride2", 2 * I)
gathers("ld_f32_stride4", 4 * I)
gathers("ld_f32_stride8", 8 * I)
gathers("ld_f32_stride32", 32 * I)
gathers("ld_f32_offset1", I + 1)
gathers("ld_f32_reversed", N - 1 - I)
gathers("ld_f32_broadcast", BLOCK)
gathers("ld_f32_gather", h(I))


def some_lanes(name: str, active: Array) -> None:
    MEANINGS[name] = lambda i, o: put(o, I[active], i[I[active]])


some_lanes("ld_f32_half_warp", T % 32 < 16)
some_lanes("ld_f32_even_lanes", T % 2 == 0)
some_lanes("early_exit", T < 200)


def vector_sum(elements: int, stride: int = 1) -> Meaning:
    def of(i: Array, o: Array) -> Array:
        vectors = i.reshape(-1, elements)[stride * I]
        total = vectors[:, 0].copy()
        for k in range(1, elements):
            total += vectors[:, k]
        return put(o, I, total)

    return of


MEANINGS["ld_f32x2"] = vector_sum(2)
MEANINGS["ld_f32x4"] = vector_sum(4)
MEANINGS["ld_f32x4_stride2"] = vector_sum(4, 2)
MEANINGS["ld_u8"] = lambda i, o: put(o, I, i.view(np.uint8)[I].astype(F32))
MEANINGS["ld_u16"] = lambda i, o: put(o, I, i.view(np.uint16)[I].astype(F32))


@meaning
def ld_f64(i: Array, o: Array) -> Array:
    with np.errstate(all="ignore"):
        return put(o, I, i.view(np.float64)[I].astype(F32))


@meaning
def st_f32x4(i: Array, o: Array) -> Array:
    o = o.copy()
    o.reshape(-1, 4)[I] = np.stack([i[I], *(np.full(N, v, F32) for v in (1, 2, 3))], axis=1)
    return o


MEANINGS["st_f32_stride8"] = lambda i, o: put(o, 8 * I, i[I])


@meaning
def st_u8(i: Array, o: Array) -> Array:
    o = o.copy()
    o.view(np.uint8)[I] = i[I].astype(np.uint8)
    return o


# ---- Shared memory: what is read back is another thread's value -----------------------------------------------
OTHER = (I & ~255) | ((T ^ 32) & 255)
for name in ("sh_unit", "sh_stride2", "sh_stride3", "sh_stride16"):
    gathers(name, OTHER)
gathers("sh_broadcast", BLOCK * 256 + T // 32)
gathers("sh_two_words", BLOCK * 256 + 32 * (T & 1))
gathers("sh_tile_col32", BLOCK * 256 + T // 32 + T % 32)
gathers("sh_tile_col33", BLOCK * 256 + T // 32 + T % 32)
some_lanes("sh_half_warp", T % 32 < 16)
MEANINGS["sh_f32x2"] = lambda i, o: put(o, I, i[OTHER] + F32(1))
MEANINGS["sh_f32x4"] = lambda i, o: put(o, I, i[OTHER] + F32(1) + F32(2) + F32(3))
MEANINGS["sh_f32x4_stride2"] = MEANINGS["sh_f32x4"]
MEANINGS["sh_u8"] = lambda i, o: put(o, I, i[OTHER].astype(np.uint8).astype(F32))


# ---- Atomics: all sums here are multiples of 1/8 below 2^21, so every order gives the same bits ----------------
def adds(name: str, where: Array) -> None:
    def of(i: Array, o: Array) -> Array:
        total = o.astype(np.float64)
        np.add.at(total, where, i[: len(where)].astype(np.float64))
        assert np.abs(total).max() * 8 < 2**24
        return total.astype(F32)

    MEANINGS[name] = of


adds("red_f32_same", 0 * I)
adds("red_f32_block", BLOCK)
adds("red_f32_unit", I)


@meaning
def red_f32_lane0(i: Array, o: Array) -> Array:
    return put(o, slice(0, 1), o[:1] + F32(i[I[T % 32 == 0]].astype(np.float64).sum()))


@meaning
def red_i32_same(i: Array, o: Array) -> Array:
    o = o.copy()
    o.view(np.int32)[0] += i[I].astype(np.int32).sum()
    return o


@meaning
def atom_f32_used(i: Array, o: Array) -> Array:
    """In thread order, as schedule 0 runs them."""
    o = o.copy()
    for a in range(8):
        mine = I[a == (I & 7)]
        running = np.concatenate([o[a : a + 1].astype(np.float64), i[mine]]).cumsum()
        o[1024 + mine], o[a] = running[:-1], running[-1]
    return o


@meaning
def atom_cas(i: Array, o: Array) -> Array:
    o = o.copy()
    words = o.view(np.int32)
    for thread in range(N):
        old = int(words[thread & 31])
        if old == 0:
            words[thread & 31] = thread
        o[1024 + thread] = F32(old)
    return o


def block_sums(i: Array, o: Array) -> Array:
    return put(o, slice(0, BLOCKS), i[I].astype(np.float64).reshape(BLOCKS, THREADS).sum(axis=1).astype(F32))


MEANINGS["sh_atom_f32_same"] = block_sums
MEANINGS["sh_atom_i32_same"] = lambda i, o: block_sums(i.astype(np.int32).astype(F32), o)


# ---- Reductions ------------------------------------------------------------------------------------------------
def tree(steps: Callable[[Array], Iterator[tuple[Array, int]]]) -> Meaning:
    """s[k] += s[k + d] for all k of a step at once, block by block."""

    def of(i: Array, o: Array) -> Array:
        s = i[I].reshape(BLOCKS, THREADS).copy()
        for k, d in steps(np.arange(THREADS)):
            s[:, k] = s[:, k] + s[:, k + d]
        return put(o, slice(0, BLOCKS), s[:, 0])

    return of


DOUBLING = [1, 2, 4, 8, 16, 32, 64, 128]
MEANINGS["tree_modulo"] = tree(lambda t: ((t[t % (2 * d) == 0], d) for d in DOUBLING))
MEANINGS["tree_strided"] = tree(lambda t: ((2 * d * t[2 * d * t < 256], d) for d in DOUBLING))
MEANINGS["tree_sequential"] = tree(lambda t: ((t[t < d], d) for d in reversed(DOUBLING)))


@meaning
def shuffle_down(i: Array, o: Array) -> Array:
    v, lane = i[I].reshape(-1, 32).copy(), np.arange(32)
    for d in (16, 8, 4, 2, 1):
        v = v + v[:, np.where(lane + d < 32, lane + d, lane)]
    return put(o, slice(0, N // 32), v[:, 0])


@meaning
def shuffle_xor(i: Array, o: Array) -> Array:
    v = i[I].reshape(-1, 32).copy()
    for d in (16, 8, 4, 2, 1):
        v = v + v[:, np.arange(32) ^ d]
    return put(o, I, v.ravel())


def strided_sum(first: Array, step: int) -> Meaning:
    def of(i: Array, o: Array) -> Array:
        total = np.zeros(N, F32)
        for k in range(8):
            total += i[first + k * step]
        return put(o, I, total)

    return of


MEANINGS["grid_stride"] = strided_sum(I, N)
MEANINGS["blocked_chunk"] = strided_sum(8 * I, 1)


# ---- Divergence ------------------------------------------------------------------------------------------------
@meaning
def diverge_two_way(i: Array, o: Array) -> Array:
    v = i[I].astype(np.float64)
    return put(o, I, np.where(T & 1, np.sin(v) * o[I], np.cos(v) + o[I + N]).astype(F32))


@meaning
def diverge_loop(i: Array, o: Array) -> Array:
    v = i[I].copy()
    for k in range(31):
        v = np.where(k < T % 32, fused_multiply_add(v, v, np.full(N, i[k], F32)), v)
    return put(o, I, v)


# sin.approx and cos.approx: PTX ISA, table of maximum absolute errors, 2^-14.7 outside [-pi, pi]; times |out|.
TOLERANCES = {"diverge_two_way": 2**-14.7 * 12.5}
ORDERED = {"atom_f32_used", "atom_cas"}  # the values that threads get back depend on their order


# ---- The counters ----------------------------------------------------------------------------------------------
COLUMNS = {
    **{
        f"global_{op}_{unit}": f"global_{op}_{unit}"
        for op in ("ld", "st", "red", "atom")
        for unit in ("requests", "sectors")
    },
    **{f"inst_global_{op}": f"global_{op}_requests" for op in ("ld", "st", "red")},
    **{f"inst_shared_{op}": f"shared_{op}" for op in ("ld", "st", "atom")},
    **{f"shared_{op}_wavefronts": f"shared_{op}_wavefronts" for op in ("ld", "st", "atom")},
    **{f"shared_{op}_conflicts": f"shared_{op}_conflicts" for op in ("ld", "st")},
    **{f"local_ld_{unit}": f"local_ld_{unit}" for unit in ("requests", "sectors")},
    "branch_divergent": "branch_divergent",
}

PREDICATED = (
    "ptxas turns a short `if` into predicated instructions: no branch diverges, and warps whose lanes are all "
    "switched off issue the instruction too (inst_* counts it, no wavefront does)"
)
NOBODYS = "some wavefronts are nobody's, 9 of 521 here; another recording would have others"
CAS_LOOP = (
    "an atomic add of floats in shared memory is a compare-and-swap loop in SASS: it loads, retries and diverges, "
    "and how long its warps turn in it together is chance"
)
UNROLLED = "ptxas unrolls the loop again, by 16, 8 and 4, so lanes of one request are at different turns"

# kernel -> column -> (an H200 counts, the emulator counts, why)
EXCEPTIONS: dict[str, dict[str, tuple[int, int, str]]] = {
    "ld_f32_half_warp": {"branch_divergent": (0, 512, PREDICATED)},
    "ld_f32_even_lanes": {"branch_divergent": (0, 512, PREDICATED)},
    "sh_half_warp": {"branch_divergent": (0, 1024, PREDICATED)},
    "red_f32_lane0": {"branch_divergent": (0, 512, PREDICATED)},
    "sh_atom_i32_same": {
        "shared_atom_wavefronts": (521, 512, NOBODYS),
        "inst_shared_st": (512, 64, PREDICATED),
        "branch_divergent": (0, 128, PREDICATED),
    },
    "sh_atom_f32_same": {
        "inst_shared_ld": (85511, 64, CAS_LOOP),
        "inst_shared_st": (512, 64, PREDICATED),
        "inst_shared_atom": (85447, 512, CAS_LOOP),
        "shared_ld_wavefronts": (92672, 129344, CAS_LOOP),
        "shared_atom_wavefronts": (171084, 258560, CAS_LOOP),
        "branch_divergent": (15872, 128, CAS_LOOP),
    },
    "tree_modulo": {
        "inst_shared_ld": (8256, 6080, PREDICATED),
        "inst_shared_st": (4608, 3520, PREDICATED),
        "branch_divergent": (0, 3072, PREDICATED),
    },
    "tree_strided": {
        "inst_shared_ld": (7744, 1344, PREDICATED),
        "inst_shared_st": (4608, 1280, PREDICATED),
        "branch_divergent": (0, 384, PREDICATED),
    },
    "tree_sequential": {
        "inst_shared_ld": (8256, 1600, PREDICATED),
        "inst_shared_st": (4608, 1280, PREDICATED),
        "branch_divergent": (0, 384, PREDICATED),
    },
    "shuffle_down": {"branch_divergent": (0, 512, PREDICATED)},
    "diverge_two_way": {"branch_divergent": (0, 512, PREDICATED)},
    "diverge_loop": {
        "global_ld_sectors": (32768, 22528, UNROLLED),
        "branch_divergent": (4096, 5632, UNROLLED),
    },
    "early_exit": {"branch_divergent": (0, 64, PREDICATED)},
}


def recorded() -> dict[str, dict[str, int]]:
    with (TESTS / "hardware_truth" / "counters.csv").open() as table:
        rows = list(csv.DictReader(table))
    return {row["kernel"]: {column: int(row[column]) for column in COLUMNS} for row in rows}


RECORDED = recorded()


# ---- Running ---------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def device(emulator_built: Path) -> Iterator[Emulator]:
    with Emulator() as e:
        e.load(TESTS / "hardware_truth" / "patterns.ptx")
        yield e


def run(e: Emulator, kernel: str, schedule: int, *, count: bool = False) -> tuple[Array, Result]:
    before = inputs()
    given, out = e.buffer(before, "in"), e.buffer(before, "out")
    result = e.launch(
        kernel, BLOCKS, THREADS, [given, out, N], schedule=schedule, count=count, checks=ALL_CHECKS
    )
    assert result.completed
    assert (given.read(F32) == before).all(), "the input was written to"
    after = out.read(F32)
    given.free()
    out.free()
    return after, result


def test_every_pattern_has_a_meaning(device: Emulator) -> None:
    assert sorted(device.kernels()) == sorted(MEANINGS) == sorted(RECORDED)
    assert len(MEANINGS) == 52


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_committed_ptx_is_in_step(source: Path) -> None:
    assert is_from(committed(source), source), "run: python tests/cuda_images.py"


@pytest.mark.parametrize("kernel", MEANINGS)
def test_output(device: Emulator, kernel: str) -> None:
    before = inputs()
    expected = MEANINGS[kernel](before, before)
    for schedule in (0, 1, 2):
        if schedule and kernel in ORDERED:
            continue
        got, result = run(device, kernel, schedule)
        assert not result.findings
        if kernel in TOLERANCES:
            assert np.abs(got - expected).max() <= TOLERANCES[kernel]
        else:
            wrong = np.flatnonzero(got.view(np.uint32) != expected.view(np.uint32))
            assert not len(wrong), (
                f"schedule {schedule}: out[{wrong[0]}] is {got[wrong[0]]}, not {expected[wrong[0]]}"
            )


@pytest.mark.parametrize("schedule", [1, 2, 3])
def test_atomics_in_any_order(device: Emulator, schedule: int) -> None:
    """What threads get back may change with the order; that each got the sum of those before it may not."""
    before = inputs()
    got, result = run(device, "atom_f32_used", schedule)
    assert not result.findings
    for a in range(8):
        mine = I[a == (I & 7)]
        # Threads that add 0 change nothing and come first among equals.
        order = np.lexsort((before[mine] != 0, got[1024 + mine]))
        running = np.concatenate([before[a : a + 1].astype(np.float64), before[mine][order]]).cumsum()
        assert (got[1024 + mine][order] == running[:-1]).all()
        assert got[a] == running[-1]
    got, result = run(device, "atom_cas", schedule)
    assert not result.findings
    words = before.view(np.int32)
    for a in range(1, 32):
        mine = I[a == (I & 31)]
        expected = F32(int(words[a]))
        assert (got[1024 + mine] == expected).all(), "nothing but address 0 holds 0"
    first = got[1024 + I[(I & 31) == 0]]
    winner = got.view(np.int32)[0]
    assert winner % 32 == 0
    assert set(first.tolist()) <= {0.0, float(winner)}
    assert (first == winner).sum() >= 1


@pytest.mark.parametrize("kernel", MEANINGS)
def test_counters(device: Emulator, kernel: str) -> None:
    _, result = run(device, kernel, 0, count=True)
    excepted = EXCEPTIONS.get(kernel, {})
    for column, counter in COLUMNS.items():
        hardware, emulated, why = excepted.get(
            column, (RECORDED[kernel][column], RECORDED[kernel][column], "")
        )
        assert RECORDED[kernel][column] == hardware, (
            f"{column}: the table of exceptions is wrong about the H200"
        )
        assert result.counters[counter] == emulated, f"{column} {why}"
        assert column not in excepted or hardware != emulated, f"{column} is not an exception"


def test_counters_of_lines_add_up(device: Emulator) -> None:
    for kernel in ("tree_modulo", "atom_f32_used", "diverge_loop"):
        _, result = run(device, kernel, 0, count=True)
        for name, total in result.counters.items():
            parts = [line[name] for line in result.lines.values()]
            assert (max(parts) if name == "atomic_max_lanes" else sum(parts)) == total
