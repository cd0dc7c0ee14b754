"""common/driver/build/compile.c: from a kernel.cu to PTX, safely, and what is said when it cannot be done."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from native_build import COMMON, SUPPORT, build

GOOD = """#include "warpbook.cuh"

LAUNCH(add) {
    launch->block = 256;
    launch->grid = ceil_div(n, 256);
}

__global__ void add(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + 1;
}
"""

Compile = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with_images = {"audit.c", "image.c", "builds.c"}  # these need the chapter, too
    sources = [path for path in sorted((COMMON / "driver/build").glob("*.c")) if path.name not in with_images]
    ptx = [
        *sorted((COMMON / "emulator/ptx").glob("*.c")),
        COMMON / "emulator/arena.c",
    ]  # registers are estimated from it
    return build(tmp_path_factory.mktemp("compile") / "compile", [*sources, *ptx, *SUPPORT])


@pytest.fixture
def workbook(root: Path, tmp_path: Path) -> Path:
    """A working folder with the header, as the checkout has it, and one kernel."""
    (tmp_path / "common/include").mkdir(parents=True)
    shutil.copy(root / "common/include/warpbook.cuh", tmp_path / "common/include")
    (tmp_path / "chapters/ch01_add").mkdir(parents=True)
    (tmp_path / "chapters/ch01_add/kernel.cu").write_text(GOOD)
    return tmp_path


@pytest.fixture
def compile_kernel(program: Path, workbook: Path, nvcc: str) -> Compile:
    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [program, *(arguments or ("chapters/ch01_add/kernel.cu",))],
            cwd=workbook,
            env={**os.environ, "WARPBOOK_NVCC": nvcc, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )

    return run


def source(workbook: Path, text: str | bytes) -> None:
    path = workbook / "chapters/ch01_add/kernel.cu"
    path.write_bytes(text.encode() if isinstance(text, str) else text)


def record(workbook: Path, folder: str = "build/ch01") -> dict[str, object]:
    return json.loads((workbook / folder / "build.json").read_text())


def leftovers(folder: Path) -> set[str]:
    products = {"kernel.ptx", "kernel.cubin", "build.json", "headers", ".lock"}
    return {entry.name for entry in folder.iterdir()} - products


# ---- What works ----------------------------------------------------------------------------------------------


def test_a_good_kernel_becomes_ptx_and_a_record(compile_kernel: Compile, workbook: Path) -> None:
    done = compile_kernel()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("chapters/ch01_add/kernel.cu -> build/ch01/kernel.ptx")
    ptx = (workbook / "build/ch01/kernel.ptx").read_text()
    assert ".target sm_80" in ptx and ".loc" in ptx
    assert '"chapters/ch01_add/kernel.cu"' in ptx and '"common/include/warpbook.cuh"' in ptx
    assert str(workbook) not in ptx
    build_json = record(workbook)
    assert (build_json["schema"], build_json["ok"], build_json["verdict"]) == (
        "warpbook/build/1",
        True,
        "PASS",
    )
    kernels = {kernel["name"]: kernel for kernel in build_json["kernels"]}  # type: ignore[attr-defined]
    assert set(kernels) == {"launch_add", "_Z3addPKfPfi"}
    assert kernels["_Z3addPKfPfi"]["registers"] > 0
    assert (kernels["launch_add"]["line"], kernels["_Z3addPKfPfi"]["line"]) == (3, 8)
    assert re.fullmatch(r"\d+\.\d+\.\d+", str(build_json["nvcc_version"]))
    assert not leftovers(workbook / "build/ch01")


def test_the_line_of_a_kernel_is_that_of_its_name(compile_kernel: Compile, workbook: Path) -> None:
    source(workbook, "\n\n__global__ void late(int *p) { *p = 1; }\n")
    assert compile_kernel().returncode == 0
    assert [kernel["line"] for kernel in record(workbook)["kernels"]] == [3]  # type: ignore[attr-defined]


def test_a_cubin_comes_on_request(compile_kernel: Compile, workbook: Path) -> None:
    done = compile_kernel("chapters/ch01_add/kernel.cu", "out", "--cubin", "--arch", "90", "--ptxas", "90")
    assert done.returncode == 0, done.stderr
    assert (workbook / "out/kernel.cubin").read_bytes().startswith(b"\x7fELF")
    assert ".target sm_90" in (workbook / "out/kernel.ptx").read_text()


def test_ptxas_may_be_left_out_and_never_assembles_for_less_than_the_ptx(
    compile_kernel: Compile, workbook: Path
) -> None:
    assert compile_kernel("chapters/ch01_add/kernel.cu", "out", "--ptxas", "0").returncode == 0
    assert record(workbook, "out")["kernels"] == []
    assert compile_kernel("chapters/ch01_add/kernel.cu", "out", "--ptxas", "75").returncode == 0
    assert record(workbook, "out")["sass_arch"] == 80


def test_spills_and_shared_memory_are_reported(compile_kernel: Compile, workbook: Path) -> None:
    source(
        workbook,
        """__global__ void __launch_bounds__(1024, 2) many(float *p) {
            __shared__ float tile[100];
            float v[96];
            #pragma unroll
            for (int i = 0; i < 96; i++) v[i] = p[i * 1024 + threadIdx.x];
            tile[threadIdx.x % 100] = v[3];
            __syncthreads();
            float s = tile[(threadIdx.x + 1) % 100];
            #pragma unroll
            for (int i = 0; i < 96; i++) for (int j = 0; j < 96; j += 17) s += v[i] * v[(i * 7 + j) % 96];
            #pragma unroll
            for (int i = 0; i < 96; i++) p[i * 1024 + threadIdx.x] = s * v[i];
        }""",
    )
    assert compile_kernel().returncode == 0
    (kernel,) = record(workbook)["kernels"]  # type: ignore[misc]
    assert kernel["shared_bytes"] == 400 and kernel["barriers"] == 1 and kernel["registers"] <= 32
    assert kernel["spill_store_bytes"] > 0 and kernel["spill_load_bytes"] > 0 and kernel["stack_bytes"] > 0


def test_names_that_a_shell_would_read_are_only_names(compile_kernel: Compile, workbook: Path) -> None:
    folder = workbook / 'O\'Brien $(touch owned) "y" ; z'
    folder.mkdir()
    (folder / "-kernel.cu").write_text(GOOD)
    done = compile_kernel(f"{folder.name}/-kernel.cu", f"build/{folder.name}")
    assert done.returncode == 0, done.stderr
    assert not (workbook / "owned").exists()
    assert "touch owned" in (workbook / "build" / folder.name / "kernel.ptx").read_text()


def test_nvcc_runs_what_is_between_backquotes(compile_kernel: Compile, workbook: Path) -> None:
    """It hands its own folder to a shell: such a folder is refused."""
    folder = workbook / "a `touch owned` folder"
    folder.mkdir()
    (folder / "kernel.cu").write_text(GOOD)
    done = compile_kernel(f"{folder.name}/kernel.cu", f"build/{folder.name}")
    assert done.returncode == 3
    assert "rename or move it" in done.stderr
    assert not (workbook / "owned").exists()


def test_warnings_are_shown_and_kept(compile_kernel: Compile, workbook: Path) -> None:
    source(workbook, GOOD.replace("int i =", "int unused;\n    int i ="))
    done = compile_kernel()
    assert done.returncode == 0
    assert done.stderr == (
        'chapters/ch01_add/kernel.cu:9:9: warning: variable "unused" was declared but never referenced\n'
        "      int unused;\n          ^\n"
    )
    assert record(workbook)["log"] == done.stderr
    assert compile_kernel("--quiet", "chapters/ch01_add/kernel.cu").stderr == ""
    again = compile_kernel()
    assert "unchanged" in again.stdout and again.stderr == done.stderr, "they hold until the kernel changes"


def test_warnings_of_headers_are_not_shown(compile_kernel: Compile, workbook: Path) -> None:
    with open(workbook / "common/include/warpbook.cuh", "a") as header:
        header.write("__device__ inline int careless() { int unused; return 1; }\n")
    done = compile_kernel()
    assert (done.returncode, done.stderr) == (0, "")


# ---- Reuse ---------------------------------------------------------------------------------------------------


def test_nothing_is_run_when_nothing_changed(compile_kernel: Compile, workbook: Path) -> None:
    assert "unchanged" not in compile_kernel().stdout
    assert "unchanged" in compile_kernel().stdout
    source(workbook, GOOD + "// one more line\n")
    assert "unchanged" not in compile_kernel().stdout
    assert "unchanged" in compile_kernel().stdout
    with open(workbook / "common/include/warpbook.cuh", "a") as header:
        header.write("// one more line\n")
    assert "unchanged" not in compile_kernel().stdout
    assert (
        "unchanged" not in compile_kernel("chapters/ch01_add/kernel.cu", "build/ch01", "--arch", "90").stdout
    )
    assert "unchanged" not in compile_kernel("--always", "chapters/ch01_add/kernel.cu").stdout


# ---- Headers that are kept -------------------------------------------------------------------------------------

WITH_HEADERS = """// A kernel with headers that take long to read.
#include "warpbook.cuh"

#include <cuda_bf16.h>  // what the rest includes: nothing
#include <cuda_pipeline.h>
#include <float.h>

#define TWICE(x) ((x) + (x))

__device__ __nv_bfloat16 zero_of(float) { return __float2bfloat16(TWICE(0.0f)); }
__device__ int larger(long long a, int b) { return (int)max(a, b); }
""" + GOOD.split("\n", 1)[1].replace(
    "in[i] + 1;", "in[i] + fminf(FLT_MAX, INFINITY) * (float)zero_of(in[i]) + larger(n, i) + rsqrtf(in[0]);"
)


def ptx_of(workbook: Path) -> str:
    """The image without what depends on the name of a folder for temporary files."""
    text = (workbook / "build/ch01/kernel.ptx").read_text()
    bytes_of_names = re.sub(r",?\n\.b8 ", ",", text)
    prefix = ",".join(str(byte) for byte in b"_INTERNAL_")
    return re.sub(prefix + r"(,\d+){8}", prefix, bytes_of_names)


def headers_of(workbook: Path) -> tuple[int, bytes] | None:
    path = workbook / "build/ch01/headers"
    return (path.stat().st_ino, path.read_bytes()) if path.exists() else None


@pytest.fixture
def logging_nvcc(nvcc: str, workbook: Path) -> Path:
    """An nvcc that writes its arguments to the file `log`, with a ptxas beside it that says nothing."""
    path = workbook / "bin/nvcc"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\necho "$@" >> "{workbook}/log"\nexec "{nvcc}" "$@"\n')
    path.chmod(0o755)
    shutil.copy(shutil.which("true") or "/bin/true", workbook / "bin/ptxas")
    return path


@pytest.mark.parametrize(
    "text", [GOOD, WITH_HEADERS, "// No header.\n__global__ void none(int *p) { *p = 1; }\n"]
)
def test_an_edit_has_the_same_image_with_headers_that_are_kept(
    compile_kernel: Compile, workbook: Path, text: str
) -> None:
    source(workbook, text)
    compile_kernel()
    assert headers_of(workbook) is None
    first = ptx_of(workbook)
    source(workbook, text + "// an edit\n")
    compile_kernel()
    kept = headers_of(workbook)
    assert kept and ptx_of(workbook) == first
    source(workbook, text + "// another edit\n")
    compile_kernel()
    assert headers_of(workbook) == kept and ptx_of(workbook) == first
    assert not leftovers(workbook / "build/ch01")


def test_what_nvcc_compiles_although_nothing_names_it_stays(compile_kernel: Compile, workbook: Path) -> None:
    with open(workbook / "common/include/warpbook.cuh", "a") as header:
        header.write(
            'extern "C" __global__ void kernel_of_the_header(int *p) { *p = 7; }\n'
            "__constant__ constexpr int number_of_the_header = 6;\n"
            "#pragma nv_exec_check_disable\n"
            "template <class F> __host__ __device__ void call_anything(F f) { f(); }\n"
        )
    images = []
    for edit in range(3):
        source(workbook, f"{WITH_HEADERS}// {edit}\n")
        assert compile_kernel().returncode == 0
        images.append(ptx_of(workbook))
    assert headers_of(workbook)
    assert images[1:] == images[:1] * 2
    assert "kernel_of_the_header" in images[0]
    assert "number_of_the_header" in images[0]


def test_kept_headers_spare_nvcc(compile_kernel: Compile, workbook: Path, logging_nvcc: Path) -> None:
    calls = []
    for edit in range(3):
        source(workbook, f"{WITH_HEADERS}// {edit}\n")
        (workbook / "log").write_text("")
        assert compile_kernel(WARPBOOK_NVCC=str(logging_nvcc)).returncode == 0
        lines = (workbook / "log").read_text().splitlines()
        calls.append(["--dryrun" in line for line in lines if line != "--version"])
    assert calls == [[False], [True], []]


def test_kept_headers_are_made_again_when_they_have_changed(compile_kernel: Compile, workbook: Path) -> None:
    text, edits = WITH_HEADERS, 0

    def edit(*arguments: str, **variables: str) -> bool:
        """Compiles an edit; whether the headers were made again."""
        nonlocal edits
        edits += 1
        source(workbook, f"{text}// {edits}\n")
        before = headers_of(workbook)
        done = compile_kernel("chapters/ch01_add/kernel.cu", "build/ch01", *arguments, **variables)
        assert done.returncode == 0, done.stderr
        return headers_of(workbook) != before

    assert [edit(), edit(), edit()] == [False, True, False]
    text = text.replace("<float.h>", "<limits.h>").replace("FLT_MAX", "CHAR_MAX")
    assert edit()
    text = "// one more line\n" + text
    assert edit()
    with open(workbook / "common/include/warpbook.cuh", "a") as header:
        header.write("__device__ inline float three_halves() { return 1.5f; }\n")
    text = text.replace("+ rsqrtf", "+ three_halves() + rsqrtf")
    assert edit() and "0f3FC00000" in ptx_of(workbook)
    assert edit("--arch", "90")
    assert edit(PATH=os.environ["PATH"] + ":/nowhere")
    assert edit()  # PATH is as before
    kept = workbook / "build/ch01/headers"
    content = kept.read_bytes()
    size = re.search(rb"\n(\d+) \d+ \d+ [^\n]*/cuda_bf16\.h\n", content)
    assert size
    # As if cuda_bf16.h had had another size when its text was kept, and as if the disk had been full.
    kept.write_bytes(content[: size.start(1)] + b"9" * len(size[1]) + content[size.end(1) :])
    assert edit() and len(kept.read_bytes()) == len(content)
    kept.write_bytes(content[:-1])
    assert edit() and len(kept.read_bytes()) == len(content)
    assert not edit()


@pytest.mark.parametrize(
    "line",
    [
        "#include <cmath>",
        "#  include <cmath>",
        "static const int number = __COUNTER__;",
        "static const char *const file = __BASE_FILE__;",
        '#pragma push_macro("LAUNCH")',
    ],
)
def test_a_source_whose_end_depends_on_its_beginning_is_compiled_whole(
    compile_kernel: Compile, workbook: Path, line: str
) -> None:
    for edit in range(2):
        source(workbook, f"{GOOD}\n{line}\n// {edit}\n")
        assert compile_kernel().returncode == 0
    assert headers_of(workbook) is None


def test_errors_and_warnings_are_the_same_with_headers_that_are_kept(
    compile_kernel: Compile, workbook: Path
) -> None:
    for edit in range(2):
        source(workbook, f"{WITH_HEADERS}// {edit}\n")
        compile_kernel()
    kept = headers_of(workbook)
    for mistake in [
        "__global__ void one(float *p) { *p = no_such_name(1.0f) + __shfl_down_sync(1, 2); }",
        "__global__ void two(float *p) { int unused = 1; *p = 1; }",
        "__device__ float fminf(float a) { return a; }\n__global__ void three(float *p) { *p = fminf(*p, 1); }",
        "#error four",
        "#define INFINITY 1",
    ]:
        source(workbook, f"{WITH_HEADERS}{mistake}\n")
        here = compile_kernel()
        there = compile_kernel("chapters/ch01_add/kernel.cu", "build/other")
        assert (here.returncode, here.stderr) == (there.returncode, there.stderr.replace("other", "ch01"))
        assert record(workbook)["log"] == record(workbook, "build/other")["log"]
        shutil.rmtree(workbook / "build/other")
    assert headers_of(workbook) == kept


# ---- Damage ---------------------------------------------------------------------------------------------------


def test_a_damaged_product_is_made_again(compile_kernel: Compile, workbook: Path) -> None:
    compile_kernel()
    for name, damage in [
        ("kernel.ptx", b"nonsense"),
        ("build.json", b"{"),
        ("kernel.ptx", None),
        ("build.json", None),
    ]:
        path = workbook / "build/ch01" / name
        path.unlink()
        if damage is not None:
            path.write_bytes(damage)
        done = compile_kernel()
        assert done.returncode == 0 and "unchanged" not in done.stdout
        assert b".visible .entry" in (workbook / "build/ch01/kernel.ptx").read_bytes()


@pytest.mark.parametrize(
    "line", ['#include "/tmp/x.h"', "#  define HEADER <cmath>\n#include HEADER", "#incl\\\nude <cmath>"]
)
def test_a_source_that_reads_other_files_is_never_reused(
    compile_kernel: Compile, workbook: Path, line: str
) -> None:
    other = workbook / "x.h"
    other.write_text("")
    source(workbook, line.replace("/tmp/x.h", str(other)) + "\n" + GOOD)
    for _ in range(2):
        done = compile_kernel()
        assert done.returncode == 0 and "unchanged" not in done.stdout, done.stderr


def test_system_headers_do_not_hinder_reuse(compile_kernel: Compile, workbook: Path) -> None:
    source(
        workbook,
        "#include <cuda_bf16.h>\n#include <cooperative_groups/reduce.h>\n// what to include: nothing\n"
        + GOOD,
    )
    assert compile_kernel().returncode == 0
    assert "unchanged" in compile_kernel().stdout


def test_results_stay_good_when_the_compiler_is_gone(compile_kernel: Compile, workbook: Path) -> None:
    compile_kernel()
    gone = compile_kernel(WARPBOOK_NVCC=str(workbook / "nvcc"))
    assert gone.returncode == 0 and "unchanged" in gone.stdout
    source(workbook, GOOD + "\n")
    gone = compile_kernel(WARPBOOK_NVCC=str(workbook / "nvcc"))
    assert gone.returncode == 3 and "WARPBOOK_NVCC is" in gone.stderr
    assert not (workbook / "build/ch01/kernel.ptx").exists()


def test_an_error_is_repeated_without_compiling(compile_kernel: Compile, workbook: Path) -> None:
    source(workbook, "__global__ void broken(int *p) { *p = ; }\n")
    first, second = compile_kernel(), compile_kernel()
    assert (first.returncode, first.stderr) == (second.returncode, second.stderr) == (1, first.stderr)


def test_many_at_once_into_one_folder(
    program: Path, compile_kernel: Compile, workbook: Path, nvcc: str
) -> None:
    command = [str(program), "chapters/ch01_add/kernel.cu"]
    environment = {**os.environ, "WARPBOOK_NVCC": nvcc}
    runs = [
        subprocess.Popen(command, cwd=workbook, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(6)
    ]
    said = [run.communicate(timeout=120)[0] for run in runs]
    assert [run.returncode for run in runs] == [0] * 6
    assert sum("unchanged" in line for line in said) == 5


# ---- What the learner got wrong --------------------------------------------------------------------------------


def test_a_compile_error_names_the_learners_file(compile_kernel: Compile, workbook: Path) -> None:
    compile_kernel()
    source(workbook, GOOD.replace("in[i] + 1", "in[j] + 1"))
    done = compile_kernel()
    assert done.returncode == 1 and done.stdout == ""
    assert "chapters/ch01_add/kernel.cu does not compile" in done.stderr
    assert 'chapters/ch01_add/kernel.cu:10:28: error: identifier "j" is undefined' in done.stderr
    assert f"{'^':>30}" in done.stderr
    assert str(workbook) not in done.stderr and ".compile-" not in done.stderr
    assert record(workbook)["verdict"] == "BUILD"
    assert not (workbook / "build/ch01/kernel.ptx").exists(), "an image of yesterday's source must not run"


def test_a_page_of_errors_is_enough(compile_kernel: Compile, workbook: Path) -> None:
    source(workbook, "".join(f"int f{i}() {{ return x{i}; }}\n" for i in range(500)))
    done = compile_kernel()
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) < 50
    assert done.stderr.endswith('... and 92 more errors: "log" in build/ch01/build.json\n')
    assert len(record(workbook)["log"].splitlines()) > 300  # type: ignore[attr-defined]


def test_candidates_in_headers_are_not_listed(compile_kernel: Compile, workbook: Path) -> None:
    call = "__device__ int least(int a, int b, int c, int d) { return min(a, b, c, d); }\n"
    source(workbook, GOOD + call + "__device__ int second() { return nowhere; }\n")
    done = compile_kernel()
    assert done.returncode == 1
    assert 'no instance of overloaded function "min" matches the argument list' in done.stderr
    assert "argument types are: (int, int, int, int)" in done.stderr
    assert 'identifier "nowhere" is undefined' in done.stderr, "notes to one error hide no other"
    assert len(done.stderr.splitlines()) < 16
    assert str(record(workbook)["log"]).count(": note") > 10


def test_a_header_or_template_names_the_line_that_used_it(compile_kernel: Compile, workbook: Path) -> None:
    text = GOOD.replace("ceil_div(n, 256)", "ceil_div(make_float4(1, 2, 3, 4), 256)")
    source(
        workbook,
        text + "template <typename T> __device__ T twice(T v) {\n    return v + v;\n}\n"
        "__device__ float4 call(float4 v) { return twice(v); }\n",
    )
    done = compile_kernel()
    assert (
        'chapters/ch01_add/kernel.cu:5:20: error: no suitable conversion function from "float4" to "long long"'
        " exists\n      launch->grid = ceil_div(make_float4(1, 2, 3, 4), 256);\n                     ^\n"
        "  in line 53 of warpbook.cuh, which this line calls:\n"
    ) in done.stderr
    assert 'chapters/ch01_add/kernel.cu:13:14: error: no operator "+" matches these operands\n' in done.stderr
    assert (
        f"  called from line 15:\n      __device__ float4 call(float4 v) {{ return twice(v); }}\n{'^':>49}\n"
    ) in done.stderr


def test_columns_are_those_of_the_file(compile_kernel: Compile, workbook: Path) -> None:
    """nvcc counts in the line without comments, with single blanks, and with macros replaced."""
    line = "\t__shared__   float s[ 4 ];  /* a  b */ s[0]   =  nowhere ; // tail nowhere"
    source(workbook, GOOD.replace("    if (i < n)", line + "\n    if (i < n)"))
    done = compile_kernel()
    assert f"kernel.cu:10:{line.index('nowhere') + 1}: error: " in done.stderr
    shown = done.stderr.splitlines()
    code = next(i for i, one in enumerate(shown) if "__shared__" in one)
    assert shown[code + 1].index("^") == shown[code].index("nowhere")


def test_control_characters_in_errors_are_shown_not_sent(compile_kernel: Compile, workbook: Path) -> None:
    source(workbook, '#error "\x1b[2J\x1b]0;owned\x07 \u202e"\n')
    done = compile_kernel()
    assert done.returncode == 1
    assert "\x1b" not in done.stderr and "\x07" not in done.stderr and "\u202e" not in done.stderr
    assert "\\x1b" in done.stderr


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b" \n\t\n", "is empty"),
        (b"// a\n// \xff\n", "kernel.cu:2: the byte 0xff is not UTF-8"),
        (b"// \xc0\xaf\n", "not UTF-8"),
        ("// a".encode("utf-16-le"), "kernel.cu:1: the file contains a NUL byte"),
        (b"//" + b"x" * (1 << 20), "larger than 1 MiB"),
        (b'#include "missing.h"\n', "missing.h: No such file"),
        (b"int main(", "error"),
    ],
)
def test_a_source_that_is_none(compile_kernel: Compile, workbook: Path, content: bytes, words: str) -> None:
    source(workbook, content)
    done = compile_kernel()
    assert done.returncode == 1 and words in done.stderr, done.stderr


def test_a_path_that_is_no_file(compile_kernel: Compile, workbook: Path) -> None:
    path = workbook / "chapters/ch01_add/kernel.cu"
    path.unlink()
    assert "there is no file chapters/ch01_add/kernel.cu" in compile_kernel().stderr
    path.symlink_to("nowhere")
    assert "there is no file chapters/ch01_add/kernel.cu" in compile_kernel().stderr
    path.unlink()
    path.mkdir()
    assert "is a folder" in compile_kernel().stderr
    path.rmdir()
    os.mkfifo(path)
    began = time.monotonic()
    done = compile_kernel()
    assert done.returncode == 1 and "a pipe, socket or device" in done.stderr
    assert time.monotonic() - began < 5
    path.unlink()
    path.symlink_to("/dev/zero")
    assert "a pipe, socket or device" in compile_kernel().stderr


def test_too_much_shared_memory_is_a_matter_of_resources(compile_kernel: Compile, workbook: Path) -> None:
    source(
        workbook,
        "\n__global__ void big(int *p) { __shared__ int t[20000]; t[*p] = 1; __syncthreads(); *p = t[0]; }\n",
    )
    done = compile_kernel()
    assert done.returncode == 1
    assert done.stderr == (
        "chapters/ch01_add/kernel.cu:2: the kernel big declares 80000 bytes of shared memory; "
        "a block may declare at most 49152\n"
    )
    assert record(workbook)["verdict"] == "RESOURCE"


def test_an_error_in_inline_asm_names_the_line(compile_kernel: Compile, workbook: Path) -> None:
    source(workbook, GOOD.replace("if (i < n)", 'asm volatile("nonsense %0, 3;" :: "r"(i));\n    if (i < n)'))
    done = compile_kernel()
    assert done.returncode == 1
    assert "does not assemble" in done.stderr and "chapters/ch01_add/kernel.cu:10:" in done.stderr


def test_a_line_directive_leaves_no_name_of_a_temporary_folder(
    compile_kernel: Compile, workbook: Path
) -> None:
    source(workbook, GOOD.replace("if (i < n)", '\n#line 7 "../else where/x.cu"\n    if (i < n)'))
    assert compile_kernel().returncode == 0
    ptx = (workbook / "build/ch01/kernel.ptx").read_text()
    assert '"../else where/x.cu"' in ptx and ".compile-" not in ptx


def test_a_line_directive_leaves_nothing_that_a_terminal_obeys(
    compile_kernel: Compile, workbook: Path
) -> None:
    name = "a\x1b[2J\u202eb\x9bc.cu"
    source(workbook, GOOD.replace("if (i < n)", f'\n#line 7 "{name}"\n    if (i < n)'))
    assert compile_kernel().returncode == 0
    (shown,) = re.findall(r'"(.*b.*c\.cu)"', (workbook / "build/ch01/kernel.ptx").read_text())
    assert shown.isprintable() and shown.startswith("a")


def test_the_same_source_is_the_same_image_at_any_time(compile_kernel: Compile, workbook: Path) -> None:
    names = "__DATE__, __TIME__, __TIMESTAMP__, __FILE__"
    text = GOOD.replace("if (i < n)", f'if (n < 0) printf("%s %s %s %s", {names});\n    if (i < n)')
    source(workbook, "#include <cstdio>\n" + text)
    images = []
    for _ in range(2):
        time.sleep(1.1)  # __TIME__ goes by seconds
        assert compile_kernel("chapters/ch01_add/kernel.cu", "out", "--always").returncode == 0
        images.append((workbook / "out/kernel.ptx").read_bytes())
    assert images[0] == images[1]


def test_a_compiler_that_does_not_end_is_stopped_with_all_its_children(
    compile_kernel: Compile, workbook: Path
) -> None:
    source(
        workbook,
        "template<int A, int B> struct T { enum { v = T<A - 1, 2 * B>::v + T<A - 1, 2 * B + 1>::v }; };\n"
        "template<int B> struct T<0, B> { enum { v = B }; };\n"
        "__global__ void k(int *p) { *p = T<24, 0>::v; }\n",
    )
    began = time.monotonic()
    done = compile_kernel("chapters/ch01_add/kernel.cu", "out", "--time-limit", "1")
    assert time.monotonic() - began < 20
    assert done.returncode == 1 and "did not finish within 1 s" in done.stderr, done.stderr
    assert record(workbook, "out")["verdict"] == "BUILD_TIMEOUT"
    assert not leftovers(workbook / "out")
    assert_nothing_runs_in(workbook)


def assert_nothing_runs_in(folder: Path) -> None:
    """Killed processes are given a moment to be gone."""
    deadline = time.monotonic() + 10
    while running_in(folder) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not running_in(folder)


def running_in(folder: Path) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str((process / "cwd").readlink()).startswith(str(folder)):
                found.append((process / "comm").read_text().strip())
        except OSError:
            continue
    return found


# ---- What the machine got wrong ----------------------------------------------------------------------------------


def fake_nvcc(folder: Path, script: str) -> str:
    folder.mkdir(exist_ok=True)
    for name in ("nvcc", "ptxas"):
        (folder / name).write_text("#!/bin/sh\n" + script)
        (folder / name).chmod(0o755)
    return str(folder / "nvcc")


def test_a_broken_compiler_is_no_fault_of_the_learners(compile_kernel: Compile, workbook: Path) -> None:
    broken = fake_nvcc(workbook / "bin", "echo 'nvcc fatal   : Could not open libdevice'; exit 1\n")
    done = compile_kernel(WARPBOOK_NVCC=broken)
    assert done.returncode == 3
    assert "fails on an empty kernel" in done.stderr and "Could not open libdevice" in done.stderr
    assert not (workbook / "build/ch01/build.json").exists()


def test_a_crash_on_one_kernel_alone_is_the_learners(compile_kernel: Compile, workbook: Path) -> None:
    script = 'case "$*" in *probe.cu*) exit 0;; *--version*) exit 0;; esac\necho "cicc died"; kill -SEGV $$\n'
    done = compile_kernel(WARPBOOK_NVCC=fake_nvcc(workbook / "bin", script))
    assert done.returncode == 1 and "cicc died" in done.stderr and "signal 11" in done.stderr


def test_output_without_end_is_cut(compile_kernel: Compile, workbook: Path) -> None:
    script = 'case "$*" in *--version*) exit 0;; esac\nyes "kernel.cu(1): error: again" | head -c 20000000; exit 1\n'
    done = compile_kernel(WARPBOOK_NVCC=fake_nvcc(workbook / "bin", script))
    assert done.returncode == 1
    assert len(done.stderr) < 10000 and "more than 1 MiB" in done.stderr


COMPILES = """case "$0 $*" in *--version*) exit 0;; */nvcc\\ *) {work};; esac
exec "{folder}/${{0##*/}}" "$@"
"""
BURN = (
    "(ulimit -t 1; while :; do :; done) 2>/dev/null"  # a second of processor time, or less on a busy machine
)


@pytest.mark.parametrize(
    ("work", "verdict"),
    [
        ("sleep 5", "PASS"),  # as on a busy machine, where a compiler waits for a processor
        (BURN, "PASS"),
        ("; ".join([BURN] * 6), "BUILD_TIMEOUT"),  # all together
        ("while :; do :; done", "BUILD_TIMEOUT"),
        ("sleep 300", "BUILD_TIMEOUT"),  # which load does not explain
    ],
)
def test_the_limit_is_of_processor_time(
    compile_kernel: Compile, workbook: Path, nvcc: str, work: str, verdict: str
) -> None:
    slow = fake_nvcc(workbook / "bin", COMPILES.format(work=work, folder=Path(nvcc).resolve().parent))
    began = time.monotonic()
    done = compile_kernel("chapters/ch01_add/kernel.cu", "out", "--time-limit", "3.5", WARPBOOK_NVCC=slow)
    assert time.monotonic() - began < 40
    assert record(workbook, "out")["verdict"] == verdict, done.stderr
    if verdict == "BUILD_TIMEOUT":
        assert done.returncode == 1
        assert "did not finish within 3.5 s of processor time, or 17.5 s by the clock, on" in done.stderr
    assert not leftovers(workbook / "out")
    assert_nothing_runs_in(workbook)


def test_what_the_compiler_leaves_running_is_ended(compile_kernel: Compile, workbook: Path) -> None:
    script = 'case "$*" in *--version*) exit 0;; esac\nsleep 300 &\necho "kernel.cu(1): error: x"; exit 1\n'
    began = time.monotonic()
    assert compile_kernel(WARPBOOK_NVCC=fake_nvcc(workbook / "bin", script)).returncode == 1
    assert time.monotonic() - began < 20
    assert_nothing_runs_in(workbook)


def test_variables_that_change_the_compiler_do_not_reach_it(compile_kernel: Compile, workbook: Path) -> None:
    script = f'case "$*" in *--version*) exit 0;; esac\nenv > {workbook}/seen; echo "kernel.cu(1): error: x"; exit 1\n'
    names = [
        "NVCC_APPEND_FLAGS",
        "NVCC_PREPEND_FLAGS",
        "CUDA_INJECTION64_PATH",
        "CPATH",
        "CPLUS_INCLUDE_PATH",
    ]
    compile_kernel(WARPBOOK_NVCC=fake_nvcc(workbook / "bin", script), **dict.fromkeys(names, "-owned"))
    seen = (workbook / "seen").read_text()
    assert "owned" not in seen and "TMPDIR=." in seen


def test_no_compiler_at_all_says_what_to_do(program: Path, workbook: Path, tmp_path: Path) -> None:
    if Path("/usr/local/cuda/bin/nvcc").exists():
        pytest.skip("this machine has one in its usual place")
    environment = {**os.environ, "PATH": str(tmp_path / "empty")}
    environment.pop("WARPBOOK_NVCC", None)
    done = subprocess.run(
        [program, "chapters/ch01_add/kernel.cu"],
        cwd=workbook,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 3 and "run: make" in done.stderr


def test_a_build_folder_that_cannot_be_written(compile_kernel: Compile, workbook: Path) -> None:
    (workbook / "build").write_text("a file, not a folder")
    done = compile_kernel()
    assert done.returncode == 3 and "build is a file" in done.stderr
    (workbook / "build").unlink()
    if os.geteuid() == 0:
        return
    (workbook / "build").mkdir(mode=0o555)
    done = compile_kernel()
    assert done.returncode == 3 and "permission denied" in done.stderr


def test_a_header_that_is_gone(compile_kernel: Compile, workbook: Path) -> None:
    done = compile_kernel("chapters/ch01_add/kernel.cu", "out", "--include", "nowhere")
    assert done.returncode == 3 and "nowhere/warpbook.cuh" in done.stderr


def test_an_interrupt_stops_the_compiler_and_cleans_up(program: Path, workbook: Path) -> None:
    slow = fake_nvcc(workbook / "bin", 'case "$*" in *--version*) exit 0;; esac\nsleep 300\n')
    run = subprocess.Popen(
        [program, "chapters/ch01_add/kernel.cu"],
        cwd=workbook,
        env={**os.environ, "WARPBOOK_NVCC": slow},
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 20
    while len(running_in(workbook / "build")) < 1 and time.monotonic() < deadline:
        time.sleep(0.02)
    run.send_signal(signal.SIGINT)
    assert run.wait(timeout=20) == -signal.SIGINT
    assert not leftovers(workbook / "build/ch01")
    run.communicate()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--nonsense"],
        ["a.cu"],
        ["a.cu", "b", "c"],
        ["a.cu", "b", "--arch"],
        ["a.cu", "b", "--arch", "x"],
        ["a.cu", "b", "--time-limit", "-1"],
        ["--include"],
        [""],
    ],
)
def test_wrong_usage(compile_kernel: Compile, arguments: list[str]) -> None:
    done = compile_kernel(*arguments)
    assert done.returncode == 2 and "usage: compile" in done.stderr


def test_help(compile_kernel: Compile) -> None:
    done = compile_kernel("--help")
    assert done.returncode == 0 and "--time-limit" in done.stdout
