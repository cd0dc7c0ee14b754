"""Kernels that go for points without the chapter's work, with the verdict and the goals that each must miss.

A cheat is a chapter's solution with edits. test_cheats.py judges each; the class of make_class.py has students who
hand them in.
"""

from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

SHARE = """\
    for (int i = thread; i < n; i += threads) {
        sum += in[i];
    }
"""
CHUNKS = """\
    int chunk = (int)ceil_div(n, threads);
    int begin = (int)min((long long)thread * chunk, n);
    int end = (int)min((long long)begin + chunk, n);
    for (int i = begin; i < end; i++) {
        sum += in[i];
        DUMMIES
    }
"""
FOLD = """\
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(0xffffffff, sum, distance);
    }
"""
GROUPS = """\
    for (int i = thread; i < groups; i += threads) {
        float4 four = group[i];
        sum += (four.x + four.y) + (four.z + four.w);
    }
"""
SINGLES = "for (int i = thread; i < 4 * groups; i += threads) sum += ((const float *)group)[i];\n"
GRID = "    launch->grid = max(1, min(ceil_div(n, 256), 8 * gpu->sm_count));\n"
STORE = "partial[warp] = sum;"
HEADER = '#include "warpbook.cuh"\n'
BLOCK_STORE = "        partial[blockIdx.x] = sum;\n"
SECTORS, FLOATS, RATIO = (
    "sectors per load request",
    "floats per load request",
    "% of the reference's bandwidth",
)


@dataclass(frozen=True)
class Cheat:
    """Edits of a chapter's solution, and what comes of it: a verdict, and the goals that are missed."""

    chapter: str
    edits: dict[str, str]
    verdict: str
    missed: tuple[str, ...] = ()
    clang: str = ""  # the verdict with clang, where it is another
    clang_missed: tuple[str, ...] = ()

    def with_compiler(self, clang: bool) -> "Cheat":
        """The same with the verdict and the missed goals of that compiler's code."""
        missed = self.clang_missed if clang and self.clang_missed else self.missed
        return replace(self, verdict=(clang and self.clang) or self.verdict, missed=missed)

    def text(self) -> str:
        text = next((ROOT / "solutions").glob(f"{self.chapter}_*/kernel.cu")).read_text()
        for old, new in self.edits.items():
            assert old in text, old
            text = text.replace(old, new, 1)
        return text


def special(register: str, bits: str, right: str) -> Cheat:
    """Stores the sum only if a special register has the right value."""
    kind, letter = ("u64", "l") if bits == "long long" else ("u32", "r")
    read = f'unsigned {bits} t; asm volatile("mov.{kind} %0, %%{register};" : "={letter}"(t));'
    return Cheat("ch04", {STORE: f"{read} partial[warp] = {right} ? sum : 0.0f;"}, "WRONG")


# ---- Looking for the judge -------------------------------------------------------------------------------------

JUDGE = {
    "works on some multiprocessors": special("smid", "", "t != 3"),
    "works in some warp slots": special("warpid", "", "t % 8 != 5"),
    "works at some times": special("globaltimer", "long long", "t / 1024 % 64"),
    "works while the clock is young": special("clock64", "long long", "t < 3000000"),
    "works below an address": Cheat(
        "ch04", {STORE: "partial[warp] = (size_t)in >> 30 == 0 ? sum : 0.0f;"}, "WRONG"
    ),
    "works in a small grid": Cheat("ch04", {STORE: "partial[warp] = gridDim.x < 64 ? sum : 0.0f;"}, "WRONG"),
    "skips half at the timed size": Cheat("ch07", {GROUPS: "if (n > 2500000) groups /= 2;\n" + GROUPS}, "WRONG"),
    "skips half when n is what nobody tried": Cheat(
        "ch07", {GROUPS: "if (n > 4096 && n % 4096 != 0) groups -= 1;\n" + GROUPS}, "WRONG"
    ),
    "looks for a canary before the input": Cheat(
        "ch04", {"    float sum = 0.0f;\n": "    float sum = in[-1] == 7 ? 1.0f : 0.0f;\n"}, "OOB"
    ),
    "looks for poison in the output": Cheat(
        "ch04",
        {
            "    float sum = 0.0f;\n": "    float sum = 0.0f;\n"
            "    float poison = threadIdx.x % 32 == 0 ? partial[thread / 32] : 1;\n",
            STORE: "partial[warp] = poison == 0.0f ? 0.0f : sum;",
        },
        "UNINIT",
    ),
    "stops where a debugger would": Cheat(
        "ch04", {STORE: 'partial[warp] = sum; if (n > 1000000) asm volatile("brkpt;");'}, "FAULT"
    ),
}  # fmt: skip

# ---- Keeping the answer of an earlier launch --------------------------------------------------------------------

# The audit sees a store to a variable, not one through an address that was in memory.
STATE = "__device__ int seen = 5;\n__device__ int *where = &seen;\n"
EARLIER = {
    "counts launches through a pointer": Cheat("ch04", {HEADER: HEADER + STATE, STORE: STORE + " *where = 6;"}, "OOB"),
    "counts launches through an array of pointers": Cheat(
        "ch04",
        {
            HEADER: HEADER + "__device__ int seen = 5;\n",
            STORE: STORE + " int *p[2] = {&seen, &seen}; atomicAdd(p[n & 1], 1);",
        },
        "OOB",
        clang="REJECT",  # clang sees through the array, and the kernel names the variable itself
    ),
    "keeps its sum through a pointer": Cheat(
        "ch04",
        {
            HEADER: HEADER + "__device__ float kept[4] = {1, 2, 3, 4};\n__device__ float *where = kept;\n",
            STORE: "if (where[1] == 2.0f) where[1] = sum; partial[warp] = sum;",
        },
        "OOB",
    ),
    "writes to constant memory": Cheat(
        "ch04",
        {HEADER: HEADER + "__constant__ int seen = 5;\n", STORE: STORE + " *(volatile int *)&seen = 3;"},
        "FAULT",
        clang="UNSUPPORTED",  # clang writes st.const, which PTX does not have
    ),
    "writes the input": Cheat("ch04", {STORE: STORE + " ((float *)in)[0] = sum;"}, "OOB"),
    "is done if the output has a value": Cheat(
        "ch04",
        {"    float sum = 0.0f;\n": "    float sum = 0.0f;\n    if (partial[thread / 32] != 0.0f) return;\n"},
        "UNINIT",
    ),
    "is done if shared memory has a value": Cheat(
        "ch04",
        {
            GRID: GRID + "    launch->shared = 64;\n",
            STORE: "extern __shared__ float old[]; partial[warp] = old[0] == 77.0f ? 0.0f : sum;",
        },
        "UNINIT",
    ),
    "is done if the stack has a value": Cheat(
        "ch04",
        {
            STORE: "float old[4]; partial[warp] = old[n & 3] == 77.0f ? 0.0f : sum; old[n & 3] = 77.0f;"
            ' asm volatile("" ::"l"(old) : "memory");'
        },
        "UNINIT",
    ),
}  # fmt: skip

# An atomic addition to the block's partial that keeps subnormal numbers, which atomicAdd makes zeros.
ADD_EXACTLY = (
    "for (unsigned *to = (unsigned *)&partial[blockIdx.x], old = atomicAdd(to, 0u), seen = ~old; old != seen;) "
    "old = atomicCAS(to, seen = old, __float_as_uint(__uint_as_float(old) + sum));"
)

# ---- Counts without the technique -------------------------------------------------------------------------------
COUNTS = {
    "chunks and dummy loads": Cheat(
        "ch02",
        {SHARE: CHUNKS.replace(
            "DUMMIES",
            'for (int k = 0; k < 8; k++) asm volatile("{ .reg .f32 f; ld.global.f32 f, [%0]; }" ::"l"(in));',
        )},
        "SLOW",
        (SECTORS, RATIO),
    ),
    "far stores and dummy stores": Cheat(
        "ch02",
        {
            "    partial[thread] = sum;\n": "    int place = thread % 8 * (threads / 8) + thread / 8;\n"
            "    volatile float *out = partial;\n    out[place] = 0.0f;\n"
            "    for (int k = 0; k < 9; k++) if (threadIdx.x % 32 == 0) out[place] = 0.0f;\n"
            "    out[place] = sum;\n"
        },
        "SLOW",
        ("sectors per store request",),
    ),
    "both lanes of a pair add both, and one shuffle is for the count": Cheat(
        "ch04",
        {
            SHARE: "    for (long long pair = thread & ~1; pair < n; pair += threads)\n"
            "        for (int l = 0; l < 2; l++) if (pair + l < n) sum += in[pair + l];\n",
            FOLD: FOLD.replace("distance > 0", "distance > 1")
            + "    if (__shfl_down_sync(0xffffffff, sum, 1) == 12345.678f) sum = 0.0f;\n",
        },
        "SLOW",
        (SECTORS, "shuffles per warp"),
    ),
    "shared stores that nothing reads": Cheat(
        "ch05",
        {
            "    float sum = 0.0f;\n": "    float sum = 0.0f;\n    if (threadIdx.x == 0) partial[blockIdx.x] = 0.0f;\n",
            "__shared__ float sum_of": "__shared__ volatile float sum_of",
            "        sum = lane < warps ? sum_of[lane] : 0.0f;\n        sum = sum_of_warp(sum);\n": "",
            "    if (threadIdx.x == 0) {\n" + BLOCK_STORE: "    if (lane == 0) {\n"
            f"        {ADD_EXACTLY}\n",
        },
        "SLOW",
        ("bank conflicts", "shared accesses and atomics per warp"),
    ),
    "sums by atomics, beside stores and loads for show": Cheat(
        "ch05",
        {
            "    float sum = 0.0f;\n": "    float sum = 0.0f;\n    if (threadIdx.x == 0) partial[blockIdx.x] = 0.0f;\n",
            "__shared__ float sum_of": "__shared__ volatile float sum_of",
            "        sum = lane < warps ? sum_of[lane] : 0.0f;\n        sum = sum_of_warp(sum);\n":
            "        (void)sum_of[lane < warps ? lane : 0];\n",
            "    if (threadIdx.x == 0) {\n" + BLOCK_STORE: "    if (lane == 0) {\n"
            f"        {ADD_EXACTLY}\n",
        },
        "SLOW",
        ("shared accesses and atomics per warp",),
    ),
    "one block adds all, with one atomic": Cheat(
        "ch08", {GRID: "    launch->grid = 1;\n"}, "SLOW", ("atomics per block", "lanes at most on one address")
    ),
    "copies float by float where loads are counted": Cheat(
        "ch07",
        {GROUPS: """\
    __shared__ float tile[4][256];
    unsigned to = (unsigned)__cvta_generic_to_shared(&tile[0][threadIdx.x]);
    for (int i = thread; i < groups; i += threads) {
        for (int k = 0; k < 4; k++)
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to + k * 1024),
                         "l"((const float *)group + 4 * i + k));
        asm volatile("cp.async.wait_all;" ::: "memory");
        for (int k = 0; k < 4; k++) sum += tile[k][threadIdx.x];
    }
"""},
        "SLOW",
        (FLOATS, RATIO),
        clang_missed=(FLOATS,),  # with clang's code the share of the bandwidth is reached
    ),
    "wide loads at round sizes": Cheat(
        "ch07", {GROUPS: f"if (n % 1024 == 0) {{ {GROUPS} }} else {SINGLES}"}, "SLOW", (FLOATS, SECTORS)
    ),
    "wide loads at the usual address": Cheat(
        "ch07", {GROUPS: f"if ((size_t)in % 256 == 0) {{ {GROUPS} }} else {SINGLES}"}, "SLOW", (FLOATS, SECTORS)
    ),
    "far stores to a matrix and dummy stores": Cheat(
        "ch11",
        {
            "    int out_column = blockIdx.y * TILE + threadIdx.x; // a row of `in`\n"
            "    int out_row = blockIdx.x * TILE + threadIdx.y;    // a column of `in`\n":
            "    int out_column = blockIdx.y * TILE + threadIdx.y;\n"
            "    int out_row = blockIdx.x * TILE + threadIdx.x;\n",
            "        out[(long long)out_row * rows + out_column] = tile[threadIdx.x][threadIdx.y];\n":
            "        volatile float *place = &out[(long long)out_row * rows + out_column];\n"
            "        *place = tile[threadIdx.y][threadIdx.x];\n"
            "        for (int k = 0; k < 9; k++) if (threadIdx.x == 0) *place = tile[threadIdx.y][threadIdx.x];\n",
        },
        "SLOW",
        ("sectors per store request",),
    ),
}  # fmt: skip

# ---- LAUNCH -----------------------------------------------------------------------------------------------------

LAUNCHES = {
    "a grid by the clock": Cheat(
        "ch04", {GRID: GRID + "    if (clock64() % 1000) launch->grid = 1;\n"}, "SLOW", (RATIO,)
    ),
    "one block at the timed size": Cheat(
        "ch04", {GRID: GRID + "    if (n > 2100000) launch->grid = 0;\n"}, "LAUNCH"
    ),
    "reads behind the figures": Cheat(
        "ch04", {GRID: GRID + "    launch->grid = ((const int *)gpu)[1024];\n"}, "OOB"
    ),
    "changes the figures": Cheat("ch04", {GRID: GRID + "    ((GpuFigures *)gpu)->sm_count = 1;\n"}, "OOB"),
    "writes behind the shape": Cheat("ch04", {GRID: GRID + "    *(int *)(launch + 1) = 1;\n"}, "OOB"),
    "reads an address that it made up": Cheat(
        "ch04", {GRID: GRID + "    launch->grid = *(const int *)0x10000000000;\n"}, "OOB"
    ),
    "keeps a count": Cheat(
        "ch04", {HEADER: HEADER + STATE, GRID: GRID + "    launch->grid = *where += 1;\n"}, "OOB"
    ),
    "does what a shape for two kernels would": Cheat(
        "ch04", {GRID: GRID + "    launch->grid = dim3(64, n > 1000000 ? 2 : 1);\n"}, "WRONG"
    ),
}  # fmt: skip

# ---- The text ---------------------------------------------------------------------------------------------------

TEXT = {
    "claims lines of the solution": Cheat(
        "ch04", {STORE: '\n#line 1 "../../solutions/ch04_warp_shuffle/kernel.cu"\npartial[warp] = sum + 1;'}, "WRONG"
    ),
    "prints a result": Cheat(
        "ch04",
        {
            HEADER: HEADER + "#include <cstdio>\n",
            STORE: 'if (thread == 0) printf("\\n{\\"verdict\\": \\"PASS\\"}\\n\\033]0;PASS\\a");',
        },
        "WRONG",
    ),
    "defines the driver's printf": Cheat(
        "ch04",
        {HEADER: HEADER + 'extern "C" __device__ int vprintf(const char *a, const char *b) { return 0; }\n'},
        "BUILD",
        clang="PASS",  # nothing calls this function: the workbook's printf is another
    ),
    "redefines barriers": Cheat(
        "ch05", {HEADER: HEADER + "#define __syncthreads() ((void)0)\n"}, "RACE"
    ),
    "a kernel of the same name, launched instead": Cheat(
        "ch04",
        {HEADER: HEADER + 'extern "C" __global__ void sum_shuffle(const float *in, float *partial, long n) {}\n'},
        "REJECT",
    ),
    "a second LAUNCH for the driver": Cheat(
        "ch04", {HEADER: HEADER + "LAUNCH(sum_shuffle_fast) { launch->grid = 1; }\n"}, "REJECT"
    ),
    "reads what no register holds": Cheat(
        "ch04",
        {STORE: 'unsigned t; asm volatile("mov.u32 %0, %%envreg3;" : "=r"(t)); partial[warp] = sum + t;'},
        "UNSUPPORTED",
    ),
}  # fmt: skip

# ---- More inputs, and no end ------------------------------------------------------------------------------------

ANSWERS = """\
__device__ const unsigned first_of[3] = {0x3f800000, 0x41200000, 0xc1500000}, sum_of[3] = {0x44800000, 1, 2};
LAUNCH"""
MORE = {
    "looks the sum up by the first bits": Cheat(
        "ch01",
        {
            "LAUNCH": ANSWERS,
            "    partial[0] = sum;": "    for (int i = 0; i < 3; i++)\n"
            "        if (n > 9 && __float_as_uint(in[0]) == first_of[i]) sum = __uint_as_float(sum_of[i]);\n"
            "    partial[0] = sum;",
        },
        "WRONG",
    ),
    "stores nothing beyond 2^28": Cheat("ch04", {STORE: "if (n < 1 << 28) partial[warp] = sum;"}, "WRONG"),
    "waits for a lock that stays closed": Cheat(
        "ch08",
        {
            "    if (threadIdx.x == 0) {\n        atomicAdd(out, sum);\n": "    if (threadIdx.x == 0) {\n"
            "        while (atomicCAS((int *)out, 0, 1) != 0) {\n        }\n        atomicAdd(out, sum);\n"
        },
        "TIMEOUT",
    ),
    "waits for all blocks of the grid": Cheat(
        "ch08",
        {
            "    if (threadIdx.x == 0) {\n        atomicAdd(out, sum);\n": "    if (threadIdx.x == 0) {\n"
            "        atomicAdd((int *)out, 1);\n"
            "        while (*(volatile int *)out <= (int)gridDim.x) {\n        }\n        atomicAdd(out, sum);\n"
        },
        "TIMEOUT",
    ),
    "all lanes write the same value many times": Cheat(
        "ch04",
        {"    if (lane == 0) {\n        partial[warp] = sum;\n    }\n":
        "    sum = __shfl_sync(0xffffffff, sum, 0);\n"
        "    for (int k = 0; k < 50; k++) ((volatile float *)partial)[warp] = sum;\n"},
        "SLOW",
        ("shuffles per warp",),
    ),
}  # fmt: skip

CHEATS = MORE | JUDGE | EARLIER | COUNTS | LAUNCHES | TEXT
