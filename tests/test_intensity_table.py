"""Chapter 12's table, line by line: the costs of its loops as the emulator counts them, the rest in fractions."""

from __future__ import annotations

import functools
import math
import re
import subprocess
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from cuda_images import compile_ptx
from emulator import Emulator, Value
from native_build import compiler

ROOT = Path(__file__).resolve().parents[1]
CHAPTER = (ROOT / "chapters" / "ch12_intensity" / "chapter.c").read_text()
KERNEL = (ROOT / "solutions" / "ch12_intensity" / "kernel.cu").read_text()
PROFILES = (ROOT / "common" / "gpu" / "profiles.c").read_text()
LOOPS = ["COPY", "SCALE", "SCALE_ADD", "SCALE_ADD_FLOAT4", "DOT", "MULTIPLY_COMPLEX", "POLYNOMIAL"]
# Float units of an SM, by compute capability: CUDA C++ Programming Guide, "Throughput of Native Arithmetic
# Instructions", results per clock for 32-bit floating-point multiply-add.
LANES = {"7_5": 64, "8_0": 64, "8_6": 128, "8_9": 128, "9_0": 128, "10_0": 128, "12_0": 128}
TURNS = 256

# Each loop once for every thread. What a register holds in the loop of the chapter is `out` here, 8 bytes more.
WRAPPERS = """
__global__ void run_copy(const float *x, float *y) { copy(x, y, threadIdx.x); }
__global__ void run_scale(float *x) { scale(x, 2.0f, threadIdx.x); }
__global__ void run_scale_add(const float *x, float *y) { scale_add(x, y, 2.0f, threadIdx.x); }
__global__ void run_scale_add_float4(const float4 *x, float4 *y) {
    scale_add_float4(x, y, 2.0f, threadIdx.x);
}
__global__ void run_dot(const float *x, const float *y, float *out) {
    float sum = out[threadIdx.x];
    dot(x, y, sum, threadIdx.x);
    out[threadIdx.x] = sum;
}
__global__ void run_multiply_complex(const float2 *x, const float2 *y, float2 *z) {
    multiply_complex(x, y, z, threadIdx.x);
}
__global__ void run_polynomial(const float *x, const float *term, float *y, int terms) {
    polynomial(x, term, y, terms, threadIdx.x);
}
"""


# Prints for each row: whether it was drawn, the GPU, the question, and chapter.c's answer.
PROGRAM = r"""
#include CHAPTER

uint64_t random_bits(uint64_t seed, uint64_t stream, uint64_t index) {
    uint64_t bits = seed * 0x9e3779b97f4a7c15u + stream * 0xbf58476d1ce4e5b9u + index * 0x94d049bb133111ebu;
    for (int i = 0; i < 4; i++) bits = (bits ^ (bits >> 29)) * 0xbf58476d1ce4e5b9u;
    return bits ^ (bits >> 32);
}

int main(void) {
    static int questions[ROWS][QUESTION_INTS];
    static long long answers[ROWS][ANSWER_LONGS];
    for (int seed = 0; seed < 20; seed++) {
        const void *inputs[] = {questions};
        const TableView view = {.seed = (uint64_t)seed, .count = ROWS * ANSWER_LONGS, .inputs = inputs};
        make_questions(&view, questions);
        make_answers(&view, answers);
        for (int row = seed ? ASKED : 0; row < ROWS; row++) {
            printf("%d %s", row >= ASKED, row < ASKED ? asked_of[row] : "drawn");
            for (int i = 0; i < QUESTION_INTS; i++) printf(" %d", questions[row][i]);
            for (int i = 0; i < ANSWER_LONGS; i++) printf(" %lld", answers[row][i]);
            printf("\n");
        }
    }
    return 0;
}
"""


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    is_drawn: bool
    gpu: str
    figures_of_gpu: tuple[int, ...]  # SMs, lanes, MHz, bits, MHz
    loop: str
    terms: int
    turns: int
    answers: tuple[int, ...]  # flops, bytes, intensity, limiter, attainable, time
    figures: tuple[int, ...]  # peak, bandwidth, ridge


def gpus() -> dict[str, tuple[int, ...]]:
    found = re.findall(r"^#define (\w+) ((?:\d+, )+\d+)$", CHAPTER, re.MULTILINE)
    return {name: tuple(map(int, values.split(", "))) for name, values in found}


@functools.cache
def rows() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "rows.c", Path(folder) / "rows"
        source.write_text(PROGRAM)
        path = ROOT / "chapters" / "ch12_intensity" / "chapter.c"
        command = [
            *compiler(),
            "-std=gnu17",
            f'-DCHAPTER="{path}"',
            f"-I{ROOT / 'common'}",
            "-o",
            program,
            source,
            "-lm",
        ]
        subprocess.run(command, check=True)
        printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    table = []
    for line in printed.splitlines():
        is_drawn, gpu, *words = line.split()
        v = tuple(map(int, words))
        answers = (*v[8:10], *v[13:])
        table.append(Row(is_drawn == "1", gpu, v[:5], LOOPS[v[5]], v[6], v[7], answers, v[10:13]))
    return table


@pytest.fixture(scope="module")
def counted(
    emulator_built: Path, nvcc: str, tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[str, int], tuple[int, int]]:
    """FLOPs and bytes of a turn, by loop and number of terms."""
    folder = tmp_path_factory.mktemp("loops")
    loops = KERNEL[KERNEL.index("__device__ void copy(") : KERNEL.index("// The cost of one iteration.")]
    source = folder / "loops.cu"
    source.write_text(loops + WRAPPERS)
    compile_ptx(source, folder / "loops.ptx", Path(nvcc))
    costs = {}
    with Emulator() as e:
        e.load(folder / "loops.ptx")
        names = re.findall(r"\.entry (_Z\d+run_\w+?)\(", (folder / "loops.ptx").read_text())
        for loop in LOOPS:
            (mangled,) = [n for n in names if re.match(rf"_Z\d+run_{loop.lower()}P", n)]
            for terms in (
                sorted({row.terms for row in rows() if row.terms <= 600 and not row.is_drawn})
                if loop == "POLYNOMIAL"
                else [1]
            ):
                buffers = [e.buffer(np.ones(4 * TURNS, np.float32), name) for name in "abc"]
                if loop == "POLYNOMIAL":
                    arguments = [*buffers, Value("i32", terms)]
                else:
                    arguments = buffers[: {"SCALE": 1, "DOT": 3, "MULTIPLY_COMPLEX": 3}.get(loop, 2)]
                result = e.launch(mangled, 1, TURNS, arguments, count=True)
                assert not result.findings
                moved = result.counters["global_ld_bytes"] + result.counters["global_st_bytes"]
                besides = {"DOT": 8, "POLYNOMIAL": 4 * terms}.get(loop, 0)
                flops = Fraction(result.counters["float_ops"], TURNS)
                moved = Fraction(moved, TURNS) - besides
                assert flops.denominator == moved.denominator == 1
                costs[loop, terms] = (int(flops), int(moved))
    return costs


def test_the_figures_of_each_gpu_are_those_of_its_profile() -> None:
    profiles = {}
    for block in re.split(r"\n    \{\"", PROFILES)[1:]:
        name = block[: block.index('"')].replace(" ", "_")
        fields = {key: int(value) for key, value in re.findall(r"\.(\w+) = (\d+)", block)}
        lanes = LANES[re.search(r"COMPUTE_(\w+)", block)[1]]
        clock, memory = fields["clock_khz"] // 1000, fields["memory_clock_khz"] // 1000
        profiles[name] = (fields["sm_count"], lanes, clock, fields["memory_bus_bits"], memory)
    mine = gpus()
    assert mine == {name: profiles[name] for name in mine}
    assert len(mine) == 8


def test_every_line_follows_from_the_figures_and_what_a_turn_costs(
    counted: dict[tuple[str, int], tuple[int, int]],
) -> None:
    for row in rows():
        sms, lanes, clock, bus, memory = row.figures_of_gpu
        if (row.loop, row.terms) in counted:
            flops, moved = counted[row.loop, row.terms]
        else:  # counting every drawn polynomial would take long: each term costs what the second one does
            (two, moved), (three, _) = counted[row.loop, 2], counted[row.loop, 3]
            flops = two + (three - two) * (row.terms - 2)
        peak = Fraction(sms * lanes * 2 * clock)
        bandwidth = Fraction(2 * memory * bus, 8)
        intensity, ridge = Fraction(flops, moved), peak / bandwidth
        is_arithmetic = intensity > ridge
        time = max(flops * row.turns / peak, moved * row.turns / bandwidth)
        assert row.figures == (peak, bandwidth, math.floor(1000 * ridge)), row
        assert row.answers == (
            flops * row.turns,
            moved * row.turns,
            math.floor(1000 * intensity),
            int(is_arithmetic),
            math.floor(min(peak, intensity * bandwidth)),
            math.ceil(time),
        ), row


def test_the_table_asks_for_every_loop_and_both_limits_of_every_gpu() -> None:
    table = [row for row in rows() if not row.is_drawn]
    assert {row.figures_of_gpu for row in table} == set(gpus().values())
    assert {row.loop for row in table} == set(LOOPS)
    assert {row.gpu for row in table} == set(gpus())
    for gpu in {row.gpu for row in table}:
        assert {row.answers[3] for row in table if row.gpu == gpu} == {0, 1}, gpu
    asked = [(row.gpu, row.loop, row.terms, row.turns) for row in table]
    assert len(set(asked)) == len(asked) >= 50
    drawn = [row for row in rows() if row.is_drawn]
    assert {row.loop for row in drawn} == set(LOOPS) and {row.answers[3] for row in drawn} == {0, 1}
    assert len({row.figures_of_gpu for row in drawn}) > len(drawn) - 10


def test_a_float4_changes_no_intensity() -> None:
    scalar, vector = (
        {row.answers[2] for row in rows() if row.loop == loop} for loop in ("SCALE_ADD", "SCALE_ADD_FLOAT4")
    )
    assert scalar == vector


def test_some_lines_are_decided_close_to_the_ridge() -> None:
    """So that comparing rounded figures does not do."""
    for limiter in (0, 1):
        assert any(
            row.answers[3] == limiter and row.answers[2] // 1000 == row.figures[2] // 1000 for row in rows()
        )
