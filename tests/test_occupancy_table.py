"""Chapter 6's table, lines that are always asked and drawn ones, beside NVIDIA's occupancy calculator."""

from __future__ import annotations

import math
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.core.toolkit import header_folder

ROOT = Path(__file__).resolve().parent.parent
CHAPTER = ROOT / "chapters" / "ch06_occupancy" / "chapter.c"

# The calculator needs the compute capability, which is not a column of the table.
COMPUTE_CAPABILITY = {
    "Jetson_TX2": (6, 2),
    "V100": (7, 0),
    "T4": (7, 5),
    "A100": (8, 0),
    "RTX_3090": (8, 6),
    "L4": (8, 9),
    "RTX_4090": (8, 9),
    "H100": (9, 0),
    "H200": (9, 0),
    "B200": (10, 0),
    "RTX_5060": (12, 0),
    "RTX_5070_Ti": (12, 0),
    "RTX_5090": (12, 0),
}

SEEDS = 20  # of drawn lines

# Prints for each row: the GPU, the question, chapter.c's answer, the calculator's answer, and three figures
# of the GPU that the calculator knows by itself (blocks per SM, unit of shared memory, of registers).
PROGRAM = r"""
#include CHAPTER
#include <cuda_occupancy.h>
#include <string.h>

static const struct { const char *name; int major, minor; } capabilities[] = { CAPABILITIES };

uint64_t random_bits(uint64_t seed, uint64_t stream, uint64_t index) {
    uint64_t bits = seed * 0x9e3779b97f4a7c15u + stream * 0xbf58476d1ce4e5b9u + index * 0x94d049bb133111ebu;
    for (int i = 0; i < 4; i++) bits = (bits ^ (bits >> 29)) * 0xbf58476d1ce4e5b9u;
    return bits ^ (bits >> 32);
}

static int questions[ROWS][QUESTION_INTS], answers[ROWS][ANSWER_INTS];

static int compare(uint64_t seed, int first) {
    const void *inputs[] = {questions};
    const TableView view = {.seed = seed, .count = ROWS * ANSWER_INTS, .inputs = inputs};
    make_questions(&view, questions);
    make_answers(&view, answers);
    for (int row = first; row < ROWS; row++) {
        const int *q = questions[row];
        const char *name = row < ASKED ? asked_of[row] : gpu_names[drawn_gpu(seed, row - ASKED)];
        cudaOccDeviceProp gpu = {0};
        for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++) {
            if (strcmp(capabilities[i].name, name) == 0) {
                gpu.computeMajor = capabilities[i].major;
                gpu.computeMinor = capabilities[i].minor;
            }
        }
        gpu.numSms = q[0];
        gpu.maxThreadsPerMultiprocessor = q[1];
        gpu.maxThreadsPerBlock = q[2];
        gpu.regsPerMultiprocessor = q[4];
        gpu.regsPerBlock = q[5];
        gpu.sharedMemPerMultiprocessor = (size_t)q[6];
        gpu.sharedMemPerBlockOptin = (size_t)q[7];
        gpu.sharedMemPerBlock = 48 * 1024; // without opting in, on all of these
        gpu.reservedSharedMemPerBlock = (size_t)q[8];
        gpu.warpSize = 32;

        cudaOccFuncAttributes kernel = {0};
        kernel.maxThreadsPerBlock = INT_MAX;
        kernel.numRegs = q[11];
        kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
        kernel.maxDynamicSharedSizeBytes = (size_t)q[12];
        kernel.numBlockBarriers = 1;

        cudaOccDeviceState state = {0};
        state.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT;

        cudaOccResult r = {0};
        if (cudaOccMaxActiveBlocksPerMultiprocessor(&r, &gpu, &kernel, &state, q[10], (size_t)q[12]) !=
            CUDA_OCC_SUCCESS) {
            printf("the calculator refuses row %d\n", row);
            return 1;
        }
        int unit = 0, registers = 0;
        cudaOccSMemAllocationGranularity(&unit, &gpu);
        cudaOccRegAllocationGranularity(&registers, &gpu);

        printf("%d %s", row >= ASKED, name);
        for (int i = 0; i < QUESTION_INTS; i++) printf(" %d", q[i]);
        for (int i = 0; i < ANSWER_INTS; i++) printf(" %d", answers[row][i]);
        int blocks = r.activeBlocksPerMultiprocessor, warps = blocks * ((q[10] + 31) / 32);
        printf(" %d %d %d %d %d %d %d %d", r.blockLimitWarps, r.blockLimitRegs, r.blockLimitSharedMem,
               r.blockLimitBlocks, blocks, warps, 100 * warps / (q[1] / 32), blocks * q[0]);
        printf(" %d %d %d\n", r.blockLimitBlocks, unit, registers);
    }
    return 0;
}

int main(void) {
    for (int seed = 0; seed < SEEDS; seed++)
        if (compare((uint64_t)seed, seed ? ASKED : 0)) return 1;
    return 0;
}
"""


@dataclass(frozen=True)
class Row:
    """One line of TABLE, as chapter.c has it and as the calculator answers it."""

    is_drawn: bool
    gpu: str
    question: tuple[int, ...]
    answer: tuple[int, ...]
    calculated: tuple[int, ...]
    blocks_per_sm: int
    shared_unit: int
    register_unit: int

    def __str__(self) -> str:
        threads, registers, shared = self.question[-3:]
        return f"{self.gpu}: {threads} threads, {registers} registers, {shared} bytes"


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory, nvcc: str) -> list[Row]:
    """The table, each line beside what the calculator says."""
    include = header_folder(Path(nvcc), "cuda_occupancy.h")
    compiler = next((cc for cc in ("cc", "gcc", "clang") if shutil.which(cc)), None)
    if include is None or compiler is None:
        pytest.skip("needs cuda_occupancy.h (CUDA toolkit or NVIDIA's wheels) and a C compiler")
    folder = tmp_path_factory.mktemp("occupancy")
    capabilities = ", ".join(
        f'{{"{name}", {major}, {minor}}}' for name, (major, minor) in COMPUTE_CAPABILITY.items()
    )
    source = folder / "oracle.c"
    source.write_text(PROGRAM.replace("CAPABILITIES }", f"{capabilities} }}"), encoding="utf-8")
    program = folder / "oracle"
    subprocess.run(
        [
            compiler,
            "-std=gnu17",
            f'-DCHAPTER="{CHAPTER}"',
            f"-DSEEDS={SEEDS}",
            f"-I{ROOT / 'common'}",
            f"-isystem{include}",
            "-o",
            str(program),
            str(source),
        ],
        check=True,
    )
    output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    table = []
    for line in output.splitlines():
        is_drawn, gpu, *numbers = line.split()
        values = tuple(map(int, numbers))
        table.append(Row(is_drawn == "1", gpu, values[:13], values[13:21], values[21:29], *values[29:]))
    return table


def test_every_line_is_what_the_calculator_answers(rows: list[Row]) -> None:
    """But those with a unit of shared memory that the calculator, which knows each GPU's, does not take."""
    known = [row for row in rows if row.question[9] == row.shared_unit]
    assert len(known) > 0.7 * len(rows) and all(row in known for row in rows if not row.is_drawn)
    wrong = [f"{row}: {row.answer}, not {row.calculated}" for row in known if row.answer != row.calculated]
    assert not wrong, "\n".join(wrong)


def test_units_of_shared_memory_are_rounded_up_to(rows: list[Row]) -> None:
    for row in rows:
        _, per_sm, per_block, reserved, unit = (row.question[i] for i in (0, 6, 7, 8, 9))
        asked = row.question[-1]
        taken = math.ceil((asked + reserved) / unit) * unit
        assert row.answer[2] == (0 if asked > per_block else 2**31 - 1 if taken == 0 else per_sm // taken), (
            row
        )


def test_the_figures_of_each_gpu_are_those_the_calculator_knows(rows: list[Row]) -> None:
    for row in rows:
        assert row.question[3] == row.blocks_per_sm, row
        assert row.question[9] == row.shared_unit or row.is_drawn, row
        assert row.register_unit == 256, row


def test_the_table_has_every_gpu_and_no_line_twice(rows: list[Row]) -> None:
    for is_drawn in (False, True):
        questions = [(row.gpu, row.question) for row in rows if row.is_drawn == is_drawn]
        assert {gpu for gpu, _ in questions} == set(COMPUTE_CAPABILITY)
        assert len(set(questions)) == len(questions) >= 100


def test_drawn_lines_ask_for_what_the_others_do_not(rows: list[Row]) -> None:
    drawn = [row for row in rows if row.is_drawn]
    assert len({row.question[0] for row in drawn}) > 100  # SMs
    assert {row.question[4] for row in drawn} == {32768, 65536, 98304, 131072}  # registers
    assert len({row.answer for row in drawn}) > len(drawn) / 2


def test_an_l4_holds_six_blocks_of_256(rows: list[Row]) -> None:
    """The example that the chapter grew from: 32 bytes asked for, 1,024 reserved."""
    [row] = [row for row in rows if row.gpu == "L4" and row.question[-3:] == (256, 12, 32)]
    assert row.answer[4:] == (6, 48, 100, 348)


def test_every_limit_decides_somewhere(rows: list[Row]) -> None:
    """Each of the four is the only smallest in some line, and each formula says 0 somewhere it should."""
    for is_drawn in (False, True):
        answers = [row.answer for row in rows if row.is_drawn == is_drawn]
        for limit in range(4):
            others = [i for i in range(4) if i != limit]
            assert any(all(answer[limit] < answer[i] for i in others) for answer in answers), limit
        for limit in range(3):
            assert any(answer[limit] == 0 for answer in answers), limit
