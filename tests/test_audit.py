"""common/driver/build/audit.c: what a submission's PTX may hold before anything of it is launched."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from native_build import COMMON, SUPPORT, build

ADD = "add(const float *in, float *out, int n)"
HEAD = "__global__ void add(const float *in, float *out, int n)"
KERNEL = HEAD + " { int i = threadIdx.x; if (i < n) out[i] = in[i]; }\n"
LAUNCH = "LAUNCH(add) { launch->block = 32; launch->grid = 1; }\n"

Audit = Callable[..., str]


@pytest.fixture(scope="session")
def probe(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    emulator = COMMON / "emulator"
    parser = [emulator / "arena.c", *sorted((emulator / "ptx").glob("*.c"))]
    audit = COMMON / "driver" / "build" / "audit.c"
    sources = [root / "tests/native/audit_probe.c", audit, *SUPPORT, *parser]
    return build(tmp_path_factory.mktemp("audit") / "audit_probe", sources)


@pytest.fixture
def audit(probe: Path, nvcc: str, root: Path, tmp_path: Path) -> Audit:
    """Compiles a source and says what the audit says of it."""

    def run(source: str, *kernels: str) -> str:
        (tmp_path / "kernel.cu").write_text('#include "warpbook.cuh"\n' + source)
        command: list[str | Path] = [
            nvcc,
            "-ptx",
            "-lineinfo",
            "-std=c++17",
            "-arch=compute_80",
            "-I",
            root / "common/include",
            "kernel.cu",
        ]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return judge(probe, tmp_path, *(kernels or (ADD,)))

    return run


def judge(probe: Path, folder: Path, *kernels: str) -> str:
    command: list[str | Path] = [probe, "kernel.ptx", "--source", "kernel.cu", *kernels]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout.strip().replace(str(folder) + "/", "")


@pytest.mark.parametrize(
    "extra",
    [
        "",
        "__device__ __noinline__ float twice(float x) { return 2 * x; }\n",
        "__constant__ float weights[4] = {1, 2, 3, 4};\n__constant__ int size;\n",
        "__device__ const int table[4] = {1, 2, 3, 4};\n",
        "__device__ int nobody_uses_it;\n",
    ],
)
def test_what_is_allowed_beside_the_kernel(audit: Audit, extra: str) -> None:
    assert audit(extra + KERNEL) == "accepted _Z3addPKfPfi"


@pytest.mark.parametrize(
    "body",
    [
        "extern __shared__ float tile[]; tile[threadIdx.x] = in[0]; out[0] = tile[n];",
        "__shared__ float tile[32]; tile[threadIdx.x] = in[0]; out[0] = tile[n];",
        'printf("%d %s\\n", n, "text");',
        "assert(n > 0);",
        "const int steps[4] = {4, 3, 2, 1}; out[0] = steps[n & 3];",
        "static const int steps[4] = {4, 3, 2, 1}; out[0] = steps[n & 3];",
        "float local[40]; for (int i = 0; i < 40; i++) local[(i * n) % 40] = in[i]; out[0] = local[n];",
        'asm volatile("{ .reg .u32 r; mov.u32 r, %tid.x; }");',
        "out[0] = sinf(in[0]) + powf(in[1], in[2]) + tgammaf(in[3]);",
    ],
)
def test_what_is_allowed_inside_a_kernel(audit: Audit, body: str) -> None:
    source = f"#include <cstdio>\n#include <cassert>\n{HEAD} {{ {body} }}\n"
    assert audit(source).startswith("accepted")


WEIGHTS = ("--constant", "weights", "4")
SCALED = KERNEL.replace("in[i]", "weights[i % 4] * in[i]")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("__constant__ float weights[4];\n" + SCALED, "accepted _Z3addPKfPfi"),
        (KERNEL, "accepted _Z3addPKfPfi"),  # which does without them
        ("__constant__ float weights[4];\n__constant__ int tens[2] = {10, 100};\n" + SCALED, "accepted"),
        ("__constant__ float weights[5];\n" + SCALED, "kernel.cu:2: weights must be declared at file scope"),
        ("__device__ const float weights[4] = {1};\n" + SCALED, "kernel.cu:2: weights must be declared"),
        (
            "__constant__ float weight[4];\n" + SCALED.replace("weights", "weight"),
            "kernel.cu:2: weight is in constant memory, has no initial value, and is none of the variables",
        ),
    ],
)
def test_a_constant_that_the_driver_fills(audit: Audit, source: str, words: str) -> None:
    assert audit(source, *WEIGHTS, ADD).startswith(words)


def test_names_may_be_plain_or_mangled(audit: Audit) -> None:
    assert audit(KERNEL) == "accepted _Z3addPKfPfi"
    assert audit('extern "C" ' + KERNEL) == "accepted add"
    assert audit(LAUNCH + KERNEL, ADD + ":launch") == "accepted _Z3addPKfPfi launch_add"
    scale = "__global__ void scale(double *x, long long n, float by) { x[n] *= by; }\n"
    assert audit(KERNEL + scale, "scale(double *x, long long n, float by)", ADD).endswith(
        "_Z5scalePdxf _Z3addPKfPfi"
    )


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (KERNEL.replace("add(", "ad("), "kernel.cu:2: no kernel named add; kernel.cu defines ad: rename it"),
        (KERNEL.replace("add(", "something_else("), "defines something_else: rename it"),
        (
            "__device__ int unused;\n",
            ":0: no kernel named add in kernel.cu: it must define __global__ void " + ADD,
        ),
        ("namespace mine {\n" + KERNEL + "}\n", "kernel.cu:3: the kernel add is in a namespace or class"),
        (
            KERNEL.replace("int n)", "long long n)"),
            f"must be {ADD[3:]}; kernel.cu has (const float *, float *, long long)",
        ),
        (KERNEL.replace("int n)", "int n, int m)"), "kernel.cu has (const float *, float *, int, int)"),
        ("__global__ void add(float *out, int n) { out[n] = 1; }\n", "kernel.cu has (float *, int)"),
        ("__global__ void add() {}\n", "kernel.cu has ()"),
        (
            KERNEL.replace("int n)", "float n)").replace("i < n", "i < (int)n"),
            "kernel.cu has (const float *, float *, float)",
        ),
        (
            "struct S { int a[3]; };\n__global__ void add(S s, float *out, int n) { out[n] = s.a[1]; }\n",
            "has (S, float *, int)",
        ),
        (
            'extern "C" __global__ void add(const float *in, float *out, long long n, double d) { out[n] = d; }\n',
            "(a pointer or 8-byte integer, a pointer or 8-byte integer, a pointer or 8-byte integer, double)",
        ),
        (KERNEL + "__global__ void add(int *p) { *p = 1; }\n", "defines the kernel add more than once"),
        (
            (
                "template <int N> __global__ void add(const float *in, float *out, int n) { out[n] = in[N]; }\n"
                "template __global__ void add<1>(const float *, float *, int);\n"
                "template __global__ void add<2>(const float *, float *, int);\n"
            ),
            "more than once",
        ),
        (
            KERNEL + "__global__ void extra(int *p) { *p = 1; }\n",
            "kernel.cu:3: kernel.cu defines another kernel, extra",
        ),
        (LAUNCH + KERNEL, "kernel.cu:2: LAUNCH(add) belongs to no kernel of this chapter"),
    ],
)
def test_a_wrong_kernel_is_explained(audit: Audit, source: str, words: str) -> None:
    assert words in audit(source)


def test_a_device_function_of_the_kernels_name(audit: Audit) -> None:
    source = (
        "__device__ __noinline__ void add(const float *in, float *out, int n) { out[n] = in[n]; }\n"
        "__global__ void other(const float *in, float *out, int n) { add(in, out, n); }\n"
    )
    assert "kernel.cu:2: add is not a kernel: declare it __global__ void add(const float *in" in audit(source)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (KERNEL, "no LAUNCH(add) in kernel.cu"),
        (
            LAUNCH.replace("add", "ad") + KERNEL,
            "kernel.cu:2: no LAUNCH(add) in kernel.cu, but a LAUNCH(ad): rename it",
        ),
        (LAUNCH + LAUNCH.replace("add", "more") + KERNEL, "kernel.cu:3: LAUNCH(more) belongs to no kernel"),
        (
            'extern "C" __global__ void launch_add(int n) {}\n' + KERNEL,
            "launch_add is not declared as in warpbook.cuh",
        ),
    ],
)
def test_a_wrong_launch_is_explained(audit: Audit, source: str, words: str) -> None:
    assert words in audit(source, ADD + ":launch")


@pytest.mark.parametrize(
    ("declaration", "statement", "words"),
    [
        (
            "__device__ int counter;",
            "out[0] = counter;",
            "kernel.cu:3: counter is a variable of 4 bytes in global memory",
        ),
        (
            "__device__ int counter = 0;",
            "counter = n;",
            "kernel.cu:3: counter is a variable of 4 bytes in global memory",
        ),
        (
            "__device__ int counter = 5;",
            "counter = n;",
            "kernel.cu:3: a kernel writes the variable counter",
        ),
        (
            "__device__ int counter = 5;",
            "atomicAdd(&counter, 1);",
            "a kernel writes the variable counter",
        ),
        (
            "__device__ int counter = 5;",
            "out[0] = atomicAdd(&counter, 1);",
            "a kernel writes the variable counter",
        ),
        (
            "__device__ float table[4] = {1, 2, 3, 4};",
            "table[n] = 1;",
            "a kernel writes the variable table",
        ),
        (
            "__device__ float table[4] = {1, 2, 3, 4};",
            "float *p = table + n; if (n > 3) p++; *p = 1;",
            "a kernel writes the variable table",
        ),
        (
            "__managed__ int shared_with_host = 3;",
            "",
            "kernel.cu:3: the variable shared_with_host is __managed__",
        ),
        ("", "static int seen; out[0] = seen++;", "seen is a variable of 4 bytes in global memory"),
        ("", "static int seen = 3; out[0] = seen++;", "a kernel writes the variable seen"),
    ],
)
def test_what_would_outlive_a_launch_is_refused(
    audit: Audit, declaration: str, statement: str, words: str
) -> None:
    source = f"{declaration}\n{HEAD} {{ {statement} out[n] = in[n]; }}\n"
    assert words in audit("\n" + source)


def test_a_variable_that_is_only_read_is_no_matter(audit: Audit) -> None:
    body = "out[0] = five + table[n & 3]; const float *p = table; if (n > 2) p += 2; out[1] = *p;"
    source = f"__device__ int five = 5;\n__device__ float table[4] = {{1, 2, 3, 4}};\n{HEAD} {{ {body} }}\n"
    assert audit(source) == "accepted _Z3addPKfPfi"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            "float *p = (float *)malloc(n); p[0] = in[0]; out[0] = p[0]; free(p);",
            "allocates memory in a kernel",
        ),
        (
            "float *p = new float[n]; p[n - 1] = in[0]; out[0] = p[n - 1]; delete[] p;",
            "allocates memory in a kernel",
        ),
    ],
)
def test_allocation_in_a_kernel_is_refused(audit: Audit, body: str, words: str) -> None:
    assert words in audit(f"{HEAD} {{ {body} }}\n")


# ---- What comes in through inline asm ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            ".reg .u32 r; .global .u32 hidden; st.global.u32 [hidden], 1;",
            "hidden is a variable of 4 bytes in global memory",
        ),
        (
            ".reg .u32 r; .global .u32 hidden = 7; atom.global.add.u32 r, [hidden], 1;",
            "a kernel writes the variable hidden",
        ),
        ("ret; } .visible .entry evil() {", "another kernel, evil, by asm"),
        ("ret; } .visible .entry launch_add() {", "another kernel, launch_add, by asm"),
        (
            "ret; } .global .u32 outside_it; .func nothing() { .reg .u32 r; ld.global.u32 r, [outside_it];",
            "outside_it is a variable of 4 bytes in global memory",
        ),
        ("ret; } .extern .func malloc; .func nothing() {", "allocates memory"),
        ("ret; } .extern .func outside; .func nothing() {", "calls outside, which is not defined"),
        ("ret; } .extern .global .u32 other; .func nothing() {", "the variable other is declared extern"),
    ],
)
def test_inline_asm_smuggles_nothing_in(audit: Audit, text: str, words: str) -> None:
    source = KERNEL.replace("out[i] = in[i]; }", f'out[i] = in[i]; asm volatile("{text}"); }}')
    assert words in audit(source)


def test_an_alias_is_refused(probe: Path, audit: Audit, tmp_path: Path) -> None:
    assert audit(KERNEL).startswith("accepted")
    ptx = (tmp_path / "kernel.ptx").read_text()
    (tmp_path / "kernel.ptx").write_text(ptx + "\n// .alias in a comment\n/* .alias */\n")
    assert judge(probe, tmp_path, ADD).startswith("accepted")
    (tmp_path / "kernel.ptx").write_text(ptx + "\n.alias second, _Z3addPKfPfi;\n")
    done = subprocess.run([probe, "kernel.ptx", ADD], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode in (1, 2), "neither audit nor parser let an alias pass"


# ---- Names ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("symbol", "words"),
    [
        ("_Z11sum_shufflePKfPfi", "sum_shuffle(const float *, float *, int)"),
        ("_Z3addPKfS0_Pfi", "add(const float *, const float *, float *, int)"),
        ("_Z1fPKPKcS3_RKdV", "f(?)"),
        ("_Z1fPPfS_S0_", "f(float **, float *, float **)"),
        ("_Z1gPfS_S0_", "g(?)"),
        ("_Z1hP6float4S_10some_thing", "h(float4 *, float4, some_thing)"),
        ("_Z1fv", "f()"),
        ("_Z1fxjbdmy", "f(long long, unsigned, bool, double, unsigned long, unsigned long long)"),
        ("_Z2tkILi3EEvPi", "tk(?)"),
        ("_Z2tkI6float4Li256ELb1EEvPT_", "tk(?)"),
        ("_ZN2ns5innerEPi6float4x", "inner(?)"),
        ("_ZZN2ns5innerEPi6float4xE7counter", "counter(?)"),
        ("_ZZ3addPKfPfiE4seen_0", "seen(?)"),
        ("_ZL5table", "table(?)"),
        ("plain", "plain(?)"),
        ("_Z", "_Z(?)"),
        ("_Z99short", "_Z99short(?)"),
        ("_Z3addPKfS99_", "add(?)"),
        ("_ZN", "_ZN(?)"),
        ("_Z1fI", "_Z1fI(?)"),
        ("_Z1f" + "P" * 100 + "f", "f(?)"),
        ("_Z99999999999999999999f", "_Z99999999999999999999f(?)"),
    ],
)
def test_symbols_are_read_as_the_abi_writes_them(probe: Path, symbol: str, words: str) -> None:
    done = subprocess.run([probe, "--name", symbol], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == words
