"""Repairs in the source: the variants of a kernel.cu, the text that has all of them, and what they prove."""

import re
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT
from native_driver import build
from test_repairs import judge
from whole_kernels import kernel_text

KERNEL = """\
#include "warpbook.cuh"
const int TILE = 32, WIDE = 64;
#define STEP 8
LAUNCH(sums) { launch->block = 256; }
template <int COUNT> __device__ float fold(float value) {
    for (int distance = COUNT / 2; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffff, value, distance);
    return value;
}
// with a barrier; a semicolon
__global__ void sums(const float *in, float *out, int n, int rows) {
    __shared__ float tile[TILE][TILE + 1];
    const int HALF = TILE / 2;
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f, room[HALF];
    room[0] = static_cast<float>(n);
    for (int i = thread; i < n && rows > 0; i++) {
        sum =+ in[i];
        if (i == 7) continue;
    }
    tile[threadIdx.x][0] = fold<32>(sum) * (1 / STEP);
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = tile[0][0] + room[0];
}
"""


@pytest.fixture(scope="module")
def probe() -> Path:
    return build("variants_probe")


def variants(probe: Path, folder: Path, text: str) -> list[str]:
    kernel = folder / "kernel.cu"
    kernel.write_text(text)
    done = subprocess.run([probe, kernel], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def check_tried(probe: Path, folder: Path, text: str, words: str) -> None:
    told = variants(probe, folder, text)
    line = words.rsplit(" ", 1)[-1]
    assert words in told, "\n".join(one for one in told if one.endswith(f" {line}"))


def text_of_all(probe: Path, kernel: Path) -> str:
    done = subprocess.run([probe, kernel, "--text"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "words",
    [
        "distance >= 0 instead of distance > 0 in line 6",
        (
            "__shfl_xor_sync(0xffffffff, value, distance) "
            "instead of __shfl_down_sync(0xffffffff, value, distance) in line 7"
        ),
        "threadIdx.x instead of blockIdx.x * blockDim.x + threadIdx.x in line 14",
        "blockIdx.x * blockDim.x - threadIdx.x instead of blockIdx.x * blockDim.x + threadIdx.x in line 14",
        "1.0f instead of 0.0f in line 15",
        "i < rows instead of i < n in line 17",
        "i < n || rows > 0 instead of i < n && rows > 0 in line 17",
        "i += gridDim.x * blockDim.x instead of i++ in line 17",
        "+= instead of = in line 18",
        "(i + 1) instead of i in line 18",
        "break instead of continue in line 19",
        "no statement in line 22",
        "(float)1 / STEP instead of 1 / STEP in line 21",
        "1 / WIDE instead of 1 / STEP in line 21",
        "true instead of threadIdx.x == 0 in line 23",
        "__syncwarp() before line 23",
        "line 22 moved before line 21",
        "threadIdx.x == 31 instead of threadIdx.x == 0 in line 23",
        "__syncthreads() before line 20",
        "at most one round of the loop in line 17",
    ],
)
def test_the_slips_that_are_tried(probe: Path, tmp_path: Path, words: str) -> None:
    check_tried(probe, tmp_path, KERNEL, words)


MORE = """\
#include "warpbook.cuh"
__global__ void more(const float *in, float *out, int n, int rows) {
    int left = blockIdx.x * 8, top = blockIdx.y * 8;
    int whole = n / 8;
    float mine = 0.0f, a = in[left], b = in[top];
    if (threadIdx.x < n) {
        mine = in[threadIdx.x];
    }
    for (int k = 0; k < rows; k++) {
        for (int i = whole; i < n; i++) {
            mine += in[i] * a;
        }
        out[k] = mine;
    }
    out[left] = in[left] * a + in[top] * b;
    a += __shfl_up_sync(0xffffffff, a, 2);
    a += __shfl_up_sync(0xffffffff, a, 1);
    out[blockIdx.x + rows] = a + in[8 * rows + top];
    do {
        mine -= 1.0f;
    } while (mine > b);
    out[n] = mine;
}
"""


@pytest.mark.parametrize(
    "words",
    [
        "the values of left and top exchanged in line 3",
        "for (int j = threadIdx.x; j < n; j += blockDim.x) and += instead of if (threadIdx.x < n) in line 6",
        "mine = 0.0f before line 10",
        "mine = 0 before line 14",
        "a and b exchanged in line 15",
        "[left + 8 * whole] instead of each [left] in line 15",
        "__shfl_down_sync instead of __shfl_up_sync in each of lines 16 to 17",
        "blockIdx.x * blockDim.x + rows instead of blockIdx.x + rows in line 18",
        "rows + 8 * top instead of 8 * rows + top in line 18",
        "the test before the first round of the loop in line 19",
    ],
)
def test_more_slips_that_are_tried(probe: Path, tmp_path: Path, words: str) -> None:
    check_tried(probe, tmp_path, MORE, words)


SLIPS = """\
#include "warpbook.cuh"
const int HIGH = 8, WIDE = 64;
__device__ float2 combine(float2 a, float2 b, float top) {
    float2 both;
    both.x = a.x * (a.y - top) + b.x;
    return both;
}
__device__ unsigned before_group(const float *in) {
    return (size_t)in / 4 % 4;
}
__device__ float ends(const float *in, int n, unsigned head, int groups) {
    int behind = 4 * groups + threadIdx.x;
    return behind < n ? in[behind] : 0.0f;
}
__global__ void slips(const float *in, float *out, int *bins, int rows, int columns) {
    __shared__ float tile[HIGH + 2][WIDE + 2];
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    int to_column = blockIdx.y * 32 + threadIdx.x, to_row = blockIdx.x * 32 + threadIdx.y;
    unsigned head = before_group(in);
    float sum;
    for (int i = threadIdx.x; i < HIGH * WIDE; i += 8 * rows) tile[0][i] = ends(in, rows, head, columns);
    if (row < rows && column < columns) {
        sum + in[row];
        out[to_row] = __shfl_down_sync(0xffffffff, column, sum);
    }
    if (rows = 3) bins[column]++;
    bins[row] += columns;
    atomicExch(bins, bins[0] + rows);
    float value = 0.0f;
    for (int k = 1; k < gridDim.x; k++) value = value * sum + in[k];
    for (int k = 0; k < rows; k++) out[k] = out[k - 1] + in[k];
}
"""


@pytest.mark.parametrize(
    "words",
    [
        "a.x * (a.y - top) + b.x * (b.y - top) instead of a.x * (a.y - top) + b.x in line 5",
        "(4 - (size_t)in / 4 % 4) % 4 instead of (size_t)in / 4 % 4 in line 9",
        "4 * groups + threadIdx.x + head instead of 4 * groups + threadIdx.x in line 12",
        "sum = 0 before line 21",
        "i < HIGH * (WIDE + 2) instead of i < HIGH * WIDE in line 21",
        "rows instead of 8 * rows in line 21",
        "ends(in, rows, columns, head) instead of ends(in, rows, head, columns) in line 21",
        "to_column < rows && to_row < columns instead of row < rows && column < columns in line 22",
        "rows and columns exchanged in line 22",
        "+= instead of + in line 23",
        (
            "__shfl_down_sync(0xffffffff, sum, column) "
            "instead of __shfl_down_sync(0xffffffff, column, sum) in line 24"
        ),
        "rows == 3 instead of rows = 3 in line 26",
        "atomicAdd(&bins[column], 1) in line 26",
        "atomicAdd(&bins[row], columns) in line 27",
        "atomicAdd(bins, rows) instead of atomicExch(bins, bins[0] + rows) in line 28",
        "in[0] instead of 0.0f in line 29",
        "k < columns instead of k < gridDim.x in line 30",
        "the rounds of the loop in line 31 in the other order",
    ],
)
def test_slips_of_single_names_and_calls(probe: Path, tmp_path: Path, words: str) -> None:
    check_tried(probe, tmp_path, SLIPS, words)


GUARDS = """\
#include "warpbook.cuh"
struct Cost {
    int flops, bytes;
};
__device__ constexpr Cost DOT = {2, 2 * 8};
const int MOST_ROWS = 65535;
template <int SIDE>
__device__ float corner(const float *in, int top, int left) {
    return top >= SIDE ? in[top + left] : 0.0f;
}
__global__ void guards(const float *in, float *out, float *tree, int n, int rows) {
    __shared__ float two[2][64], slots[32];
    const int EACH = 4, STEP = 8;
    unsigned head = (4 - (size_t)in / 4 % 4) % 4;
    int groups = (n - head) / 4, left = blockDim.x, half = (left + 1) / 2, turn = 0, k = threadIdx.x;
    long long row = ((long long)blockIdx.x << 16) + blockIdx.y;
    float sum = 0.0f, more = 1.0f;
    if (k < half) tree[k] += tree[k + half];
    two[turn][k] = k < rows ? in[k] : 0.0f;
    two[1][k] = k + turn < n ? in[groups] : 0.0f;
    more = in[k];
    bool is_wide = n % 4 == 0;
    for (int i = k; i < n; i += STEP) slots[k % EACH] += in[i + k * EACH];
    for (int d = 0; d < rows; d++) sum += two[0][d] * (is_wide ? 0x7f : 1);
    float total = sum;
    out[row * 32 + k] = corner<3>(in, k - 3, left) + slots[turn] + DOT.bytes;
    out[blockIdx.x * 32] = total;
    if (k < left) out[k * STEP] = more;
    float mine = slots[k];
    float4 four = ((const float4 *)in)[k + 2];
    unsigned past = 4 - head;
    for (int y = 0; y < n; y += 1) out[y] = expf(in[y]) * (four.x + four.x) + mine * 0.25f + in[y + 2 * left];
    if (turn + k < n) out[past] = in[turn * n + k];
}
"""


@pytest.mark.parametrize(
    "words",
    [
        # Constants of all of kernel.cu, which are not sizes.
        "3 * 8 instead of 2 * 8 in line 5",
        "2 * 12 instead of 2 * 8 in line 5",
        "(long long)blockIdx.x * MOST_ROWS instead of (long long)blockIdx.x << 16 in line 16",
        "top >= (SIDE - 1) instead of top >= SIDE in line 9",
        # A head is never longer than what there is, and groups are counted in their elements.
        "min((int)((4 - (size_t)in / 4 % 4) % 4), n) instead of (4 - (size_t)in / 4 % 4) % 4 in line 14",
        "4 * groups instead of groups in line 20",
        # A bound comes from the access that it guards.
        "k + half < left instead of k < half in line 18",
        "k < left / 2 instead of k < half in line 18",
        # Parts of the conditions of similar accesses, and of other numbers.
        "k < rows && k + turn < n instead of k < rows in line 19",
        "k < rows ? in[k] : 0 instead of in[k] in line 21",
        "n % 4 == 0 && rows % 4 == 0 instead of n % 4 == 0 in line 22",
        "k + turn < n && blockIdx.x == 0 instead of k + turn < n in line 20",
        "threadIdx.x == 0 ? sum : 0 instead of sum in line 25",
        # What other expressions have.
        "EACH * STEP instead of STEP in line 23",
        "k * EACH < left instead of k < left in line 28",
        "k + half < left instead of k < left in line 28",
        "d < 64 instead of d < rows in line 24",
        "1 - turn instead of turn in line 19",
        "31 instead of turn in line 26",
        "0xff instead of 0x7f in line 24",
        "left - 3 instead of left in line 26",
        "blockIdx.x * blockDim.x instead of blockIdx.x * 32 in line 27",
        "k < blockDim.x / 32 ? slots[k] : 0 instead of slots[k] in line 29",
        "slots[0] instead of total in line 27",
        "k + 2 * left instead of k + 2 in line 30",
        "(4 - head) % 4 instead of 4 - head in line 31",
        "blockDim.y instead of 1 in line 32",
        "in[y] - sum instead of in[y] in line 32",
        "four.x + four.w instead of four.x + four.x in line 32",
        "0.125f instead of 0.25f in line 32",
        "turn * n + (turn + k) instead of turn * n + k in line 33",
    ],
)
def test_what_guards_an_access_and_what_others_say(probe: Path, tmp_path: Path, words: str) -> None:
    check_tried(probe, tmp_path, GUARDS, words)


def test_a_constant_is_changed_where_it_is_used(probe: Path, tmp_path: Path) -> None:
    """By another constant of its type: what is declared outside of functions has one value."""
    kernel = tmp_path / "kernel.cu"
    kernel.write_text(GUARDS)
    text = text_of_all(probe, kernel)
    (name,) = set(re.findall(r"constexpr Cost (DOT_\d+) = \{2, 3 \* 8\};", text))
    assert text.index(name) < text.index("constexpr Cost DOT = {2, 2 * 8};")
    assert re.search(rf"\({name}\)", text)


def test_what_the_compiler_needs_to_know_stays(probe: Path, tmp_path: Path) -> None:
    """Sizes of arrays, arguments of templates, constants and LAUNCH have no variants."""
    told = variants(probe, tmp_path, KERNEL)
    lines = {int(line) for one in told for line in re.findall(r"line (\d+)$", one)}
    assert not lines & {2, 3, 4, 5, 10, 11}
    assert not [one for one in told if "static_cast<" in one and "instead" in one and "<=" in one]
    of_array = [one for one in told if one.endswith(("line 12", "line 13"))]
    assert all(one.startswith(("__syncthreads()", "__syncwarp()", "__threadfence()")) for one in of_array), (
        of_array
    )


@pytest.mark.parametrize("chapter", ["ch05", "ch09", "ch12", "ch17"])
def test_all_variants_of_a_solution_compile(nvcc: str, probe: Path, tmp_path: Path, chapter: str) -> None:
    """In one text, in which few do not fit the types of what they replace."""
    (solution,) = (ROOT / "solutions").glob(f"{chapter}_*/kernel.cu")
    text = text_of_all(probe, solution)
    assert text.count("warpbook_variant ==") > 50
    kernel = tmp_path / "kernel.cu"
    kernel.write_text(text)
    options = ["-ptx", "-arch=compute_80", "-std=c++17", f"-I{ROOT / 'common' / 'include'}", "-w"]
    done = subprocess.run(
        [nvcc, *options, "-o", tmp_path / "kernel.ptx", kernel], capture_output=True, text=True
    )
    errors = re.findall(r"\((\d+)\): error", done.stderr)
    assert len(errors) <= text.count("warpbook_variant ==") / 50, done.stderr


def test_any_text_can_be_read(probe: Path, tmp_path: Path) -> None:
    """Parts of a kernel, which end anywhere, are read without an error of memory."""
    (solution,) = (ROOT / "solutions").glob("ch18_*/kernel.cu")
    whole = solution.read_text()
    for size in range(0, len(whole), 2011):
        kernel = tmp_path / "kernel.cu"
        kernel.write_text(whole[:size])
        text_of_all(probe, kernel)
    for size in range(len(KERNEL) - 700, len(KERNEL), 3):
        kernel.write_text(KERNEL[:size])
        text_of_all(probe, kernel)
    hostile = sorted((ROOT / "tests" / "class" / "hostile").glob("*.cu"))
    assert len(hostile) > 20
    for kernel in hostile:
        if kernel.stat().st_size <= 64 * 1024:  # variant_search.c
            subprocess.run([probe, kernel, "--text"], capture_output=True, timeout=60).check_returncode()


@pytest.mark.parametrize(
    "deep", ["{" * 20000, "if (n) " * 9000, "out[0] = " + "(" * 30000, "for (;;) " * 7000]
)
def test_what_is_nested_too_deeply_is_left_alone(probe: Path, tmp_path: Path, deep: str) -> None:
    kernel = tmp_path / "kernel.cu"
    kernel.write_text(f"__global__ void sums(float *out, int n) {{\n{deep}\n")
    done = subprocess.run([probe, kernel, "--text"], capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, 3), done.stderr


PROVED = [
    ("wrong/ch01/stop_at_infinity", "continue instead of break in line 17"),
    ("wrong/ch02/moves_on_by_one", "i += gridDim.x * blockDim.x instead of i++ in line 15"),
    (
        "wrong/ch03/every_second_slot_twice",
        "threadIdx.x % (2 * stride) == 0 instead of threadIdx.x % stride == 0 in line 23",
    ),
    ("wrong/ch03/syncwarp_in_branch", "line 33 moved behind line 34"),
    ("wrong/ch05/slot_by_lane", "warp instead of lane in line 32"),
    ("wrong/ch08/changes_its_input", "no statement in line 59"),
    ("wrong/ch09/threads_of_two_warps", "128 instead of 64 in line 65"),
    ("wrong/ch10/a_plus_a", "a[i] + b[i] instead of a[i] + a[i] in line 17"),
]


def changed(words: str, text: str) -> str:
    """The text of a kernel with what the page shows."""
    lines = text.split("\n")
    if found := re.fullmatch(r"(.+) instead of (.+) in line (\d+)", words):
        at = int(found[3]) - 1
        assert lines[at].count(found[2]) == 1
        lines[at] = lines[at].replace(found[2], found[1])
    elif found := re.fullmatch(r"no statement in line (\d+)", words):
        lines[int(found[1]) - 1] = ""
    elif found := re.fullmatch(r"line (\d+) moved behind line (\d+)", words):
        moved = lines[int(found[1]) - 1]
        lines[int(found[1]) - 1] = ""
        lines.insert(int(found[2]), moved)
    return "\n".join(lines)


@pytest.mark.by_turns
@pytest.mark.parametrize(("name", "words"), PROVED, ids=[name for name, _ in PROVED])
def test_a_change_of_the_source_proves_what_no_edit_of_the_ptx_mends(
    nvcc: str, built: Path, tmp_path: Path, name: str, words: str
) -> None:
    chapter, kernel = name.split("/")[1], tmp_path / "kernel.cu"
    kernel.write_text(kernel_text(name))
    page, result = judge(built, kernel, chapter, tmp_path / "result.json", "--repair", "12000")
    assert [change["words"] for change in result["proof"]["changes"]] == [words]
    assert f"shown with {words}, all {result['proof']['cases']} cases" in page
    assert not result["diagnosis"] or result["diagnosis"]["proof"]
    task = result["cases"][result["first_failure"]]["task"]
    kernel.write_text(changed(words, kernel_text(name)))
    _, repaired = judge(built, kernel, chapter, tmp_path / "repaired.json", "--repair", "0")
    assert {case["verdict"] for case in repaired["cases"] if case["task"] == task} == {"PASS"}


TWO_PLACES = """\
#include "warpbook.cuh"
LAUNCH(sum_single) { launch->block = launch->grid = 1; }
__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = n > 0 ? in[0] : 0.0f;
    int ahead = 4;
    for (int i = 1; i < n; i++)
        sum += in[i];
    int back = 2;
    partial[0] = sum * (ahead - back);
}
"""


def test_what_could_be_mended_in_two_places_is_named_in_none(nvcc: str, built: Path, tmp_path: Path) -> None:
    """3 instead of 4 in line 5, or 3 instead of 2 in line 8."""
    kernel = tmp_path / "kernel.cu"
    kernel.write_text(TWO_PLACES)
    _, result = judge(built, kernel, "ch01", tmp_path / "result.json")
    assert result["verdict"] in ("WRONG", "RACE")
    assert result["proof"] is None or result["proof"]["kind"] != "repair"


@pytest.mark.parametrize(
    ("chapter", "was", "now", "false"),
    [
        # All rows skip the loop of four if its bound is threadIdx.x, but lanes of a warp a row do not.
        (
            "ch09",
            "    for (; i < groups",
            "    for (int i = thread; i < groups",
            "i + 3 * threads < threadIdx.x",
        ),
        # threadIdx.x is the index only in the first round, which all but the largest cases have alone.
        (
            "ch14",
            "        letters[i] = 0;",
            "        letters[blockIdx.x] = 0;",
            "threadIdx.x instead of blockIdx.x",
        ),
    ],
)
def test_a_change_must_hold_for_other_tasks_and_in_the_largest_case(
    nvcc: str, built: Path, tmp_path: Path, chapter: str, was: str, now: str, false: str
) -> None:
    (solution,) = (ROOT / "solutions").glob(f"{chapter}_*/kernel.cu")
    text = solution.read_text()
    assert text.count(was) == 1
    kernel = tmp_path / "kernel.cu"
    kernel.write_text(text.replace(was, now))
    page, result = judge(built, kernel, chapter, tmp_path / "result.json")
    assert result["verdict"] != "PASS"
    assert false not in page


def test_an_image_alone_is_not_compiled_again(nvcc: str, built: Path, tmp_path: Path) -> None:
    """A class's judge gets an image in a sandbox without a compiler: it looks at the PTX only."""
    kernel = tmp_path / "kernel.cu"
    kernel.write_text(kernel_text("wrong/ch10/a_plus_a"))
    image = tmp_path / "kernel.ptx"
    options = ["-ptx", "-lineinfo", "-arch=compute_80", "-std=c++17", f"-I{ROOT / 'common' / 'include'}"]
    subprocess.run([nvcc, *options, "-o", image, kernel], check=True, capture_output=True)
    _, result = judge(built, image, "ch10", tmp_path / "result.json")
    assert result["verdict"] == "WRONG"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kernel.cu", "kernel.ptx", "result.json"]


CONTINUED = """\
#include "warpbook.cuh"
LAUNCH(sums) { launch->block = 256; }
__global__ void sums(const float *in, float *out, int n) {
    __shared__ float tile[32][32];
    const int x = threadIdx.x, y = threadIdx.y, T = gridDim.x * blockDim.x;
    float sum = 0.0f;
    for (int i = x; i + T < n; i += 2 * T) {
        sum += in[i] + in[i + T];
    }
    for (int i = n / (2 * T) * 2 * T + x; i < n; i += T) {
        sum += in[i];
    }
    tile[y + 8 * n][x ^ y] = sum;
}
"""


@pytest.mark.parametrize(
    "words",
    [
        "the i that the loop in line 7 ends with instead of n / (2 * T) * 2 * T + x in line 10",
        "x ^ (y + 8 * n) instead of x ^ y in line 13",
    ],
)
def test_what_a_loop_or_an_index_takes_from_its_neighbour(probe: Path, tmp_path: Path, words: str) -> None:
    check_tried(probe, tmp_path, CONTINUED, words)


def test_a_loop_that_sets_its_counter_is_not_continued(probe: Path, tmp_path: Path) -> None:
    text = CONTINUED.replace("in[i] + in[i + T];", "in[i++] + in[i + T];")
    assert not [words for words in variants(probe, tmp_path, text) if "ends with" in words]


CLAMPED = """\
#include "warpbook.cuh"
__global__ void rows(const float *a, const float *b, float *c, int n, int k) {
    __shared__ float tile[32];
    int row = min(k - 1, n + 3), y = threadIdx.x;
    tile[y] = b[(long long)row * n + y];
    tile[y] = a[min(row + y, 2 * n - 1)];
    c[min(y, n - 1)] = tile[y] + b[min(y, n)];
}
"""


@pytest.mark.parametrize(
    "words",
    [
        "(n + 3 < k ? b[(long long)row * n + y] : 0) instead of b[(long long)row * n + y] in line 5",
        "(row + y < 2 * n ? a[min(row + y, 2 * n - 1)] : 0) instead of a[min(row + y, 2 * n - 1)] in line 6",
    ],
)
def test_what_is_kept_inside_an_array_is_tried_as_zero(probe: Path, tmp_path: Path, words: str) -> None:
    check_tried(probe, tmp_path, CLAMPED, words)


def test_a_minimum_that_is_no_last_place_is_left_alone(probe: Path, tmp_path: Path) -> None:
    told = variants(probe, tmp_path, CLAMPED)
    assert not any(" ? " in words and words.endswith("line 7") and ": 0" in words for words in told)


COMPARED = """\
#include "warpbook.cuh"
__global__ void whole(const float *in, float *out, int n) {
    int top = blockIdx.x, left = threadIdx.x, end = top + 3;
    if (top >= 0 && left >= 0 && end + 7 <= n && left + 5 <= n) out[top] = in[left];
}
"""


def test_every_comparison_of_a_line_is_tried(probe: Path, tmp_path: Path) -> None:
    for words in ("top > 0 instead of top >= 0", "left + 5 < n instead of left + 5 <= n"):
        check_tried(probe, tmp_path, COMPARED, f"{words} in line 4")


QUOTIENTS = """\
#include "warpbook.cuh"
struct Answer { int warps, percent; };
__global__ void answers(const float *in, int *out, Answer of, int n, int parts) {
    int places = n / 32, factor = 100 / places;
    of.percent = 100 / places * of.warps;
    out[0] = of.warps * (100 / (n / 32)) + max(n / parts, 1) * parts;
    out[1] = factor * of.warps + n / parts * parts;
    out[2] = (int)(in[0] / 3.0f * n);
    float part = in[1];
    out[3] = (int)(part / parts * n);
}
"""


@pytest.mark.parametrize(
    "words",
    [
        "100 * of.warps / places instead of 100 / places * of.warps in line 5",
        "(long long)100 * of.warps / places instead of 100 / places * of.warps in line 5",
        "100 * of.warps / (n / 32) instead of of.warps * (100 / (n / 32)) in line 6",
        "100 * of.warps / places instead of factor * of.warps in line 7",
    ],
)
def test_a_division_is_tried_after_the_product(probe: Path, tmp_path: Path, words: str) -> None:
    told = variants(probe, tmp_path, QUOTIENTS)
    now, _, was = words.partition(" instead of ")
    assert any(one.startswith(now) and was.rsplit(" in ", 1)[1] in one for one in told), told


@pytest.mark.parametrize(
    "words",
    [
        "factor * of.warps + n * parts / parts instead of factor * of.warps + n / parts * parts in line 7",
        "in[0] * n / 3.0f instead of in[0] / 3.0f * n in line 8",
        "part * n / parts instead of part / parts * n in line 10",
    ],
    ids=["rounded down to a multiple", "a float", "a variable of floats"],
)
def test_a_quotient_that_loses_nothing_is_left_alone(probe: Path, tmp_path: Path, words: str) -> None:
    told = variants(probe, tmp_path, QUOTIENTS)
    line = words.rsplit(" ", 1)[-1]
    assert any(one.endswith(f" {line}") for one in told)
    assert words not in told


ROUNDS = """\
#include "warpbook.cuh"
__global__ void sums(const float *in, float *out, int n, int rows) {
    float most = -INFINITY, sum = 0.0f, all = 0.0f;
    for (int row = 0; row < rows; row++) {
        int begin = row * n;
        for (int i = 0; i < n; i++) {
            most = fmaxf(most, in[begin + i]);
            sum += in[begin + i];
            all += in[begin + i];
        }
        out[row] = most + sum;
    }
    out[rows] = all;
}
"""


@pytest.mark.parametrize("words", ["most = -INFINITY before line 5", "sum = 0.0f before line 5"])
def test_what_each_round_begins_with(probe: Path, tmp_path: Path, words: str) -> None:
    check_tried(probe, tmp_path, ROUNDS, words)


THREADS = """\
#include "warpbook.cuh"
__global__ void numbered(const float *in, float *out, int n, int k) {
    int base = blockIdx.x * blockDim.x, thread = base + threadIdx.x, mine = threadIdx.x;
    if ((long long)n * k % 16 == 0) out[thread] = in[mine];
    if ((n + k) % 4 == 0) out[thread / 32] = in[n];
}
"""


@pytest.mark.parametrize(
    "words",
    [
        "threadIdx.x instead of thread in line 4",
        "(blockIdx.x * blockDim.x + threadIdx.x) instead of mine in line 4",
        "(n % 4 == 0 && k % 4 == 0) instead of (long long)n * k % 16 == 0 in line 4",
        "(n % 16 == 0 && k % 16 == 0) instead of (long long)n * k % 16 == 0 in line 4",
        "(n % 4 == 0 && k % 4 == 0) instead of (n + k) % 4 == 0 in line 5",
    ],
)
def test_numbers_of_threads_and_multiples(probe: Path, tmp_path: Path, words: str) -> None:
    check_tried(probe, tmp_path, THREADS, words)
