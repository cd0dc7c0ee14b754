"""The mathematical functions of common/include/clang on the emulator, against double precision: their largest errors in
units in the last place are those that the CUDA C++ Programming Guide ("Mathematical Functions") promises for nvcc."""

import math
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from emulator import Emulator

from grader.core.toolkit import find_clang

CLANG = find_clang(ROOT)
pytestmark = pytest.mark.skipif(CLANG is None, reason="there is no clang for CUDA: make COMPILER=clang setup")
COUNT = 4096

# Name, numpy's function of doubles, the range, and the largest error of the guide.
FLOATS: list[tuple[str, Callable[[np.ndarray], np.ndarray], float, float, float]] = [
    ("expf", np.exp, -103.0, 88.7, 2),
    ("exp2f", np.exp2, -149.0, 127.9, 2),
    ("exp10f", lambda x: np.power(10.0, x), -44.0, 38.5, 2),
    ("logf", np.log, 1e-38, 10.0, 1),
    ("log2f", np.log2, 1e-38, 10.0, 1),
    ("log10f", np.log10, 1e-38, 10.0, 2),
    ("sqrtf", np.sqrt, 0.0, 1e30, 0.5),
    ("rsqrtf", lambda x: 1 / np.sqrt(x), 1e-20, 1e20, 2),
    ("tanhf", np.tanh, -6.0, 6.0, 2),
    ("erff", np.vectorize(math.erf), -4.5, 4.5, 2),
    ("sinf", np.sin, -90000.0, 90000.0, 2),
    ("cosf", np.cos, -90000.0, 90000.0, 2),
    ("sinf", np.sin, -1e30, 1e30, 2),
    ("tanf", np.tan, -1000.0, 1000.0, 4),
    ("atanf", np.arctan, -100.0, 100.0, 2),
    ("asinf", np.arcsin, -1.0, 1.0, 2),
    ("acosf", np.arccos, -1.0, 1.0, 2),
    ("cbrtf", np.cbrt, -1e6, 1e6, 1),
]
DOUBLES: list[tuple[str, Callable[[np.ndarray], np.ndarray], float, float, float]] = [
    ("exp", np.exp, -700.0, 700.0, 1),
    ("log", np.log, 1e-300, 10.0, 1),
    ("log2", np.log2, 1e-300, 10.0, 1),
    ("sin", np.sin, -1000.0, 1000.0, 2),
    ("cos", np.cos, -1000.0, 1000.0, 2),
    ("atan", np.arctan, -100.0, 100.0, 2),
]


@pytest.fixture(scope="module")
def ptx(tmp_path_factory: pytest.TempPathFactory) -> str:
    """One kernel for each function."""
    folder = tmp_path_factory.mktemp("math")
    lines = ['#include "warpbook.cuh"']
    for kind, rows in (("float", FLOATS), ("double", DOUBLES)):
        lines += [
            f'extern "C" __global__ void of_{name}(const {kind} *in, {kind} *out) '
            f"{{ int i = blockIdx.x * blockDim.x + threadIdx.x; out[i] = {name}(in[i]); }}"
            for name in dict.fromkeys(row[0] for row in rows)
        ]
    lines.append(
        'extern "C" __global__ void of_powf(const float *in, float *out) '
        "{ int i = blockIdx.x * blockDim.x + threadIdx.x; out[i] = powf(in[2 * i], in[2 * i + 1]); }"
    )
    (folder / "kernel.cu").write_text("\n".join(lines) + "\n")
    environment = {**os.environ, "WARPBOOK_COMPILER": "clang", "WARPBOOK_CLANG": str(CLANG)}
    done = subprocess.run(
        [ROOT / "build/bin/compile", folder / "kernel.cu", folder, "--ptxas", "0"],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return Path(folder / "kernel.ptx").read_text()


def computed(ptx: str, name: str, values: np.ndarray, count: int) -> np.ndarray:
    with Emulator() as e:
        e.load(ptx)
        out = e.buffer(count * values.itemsize, "out")
        result = e.launch(f"of_{name}", count // 256, 256, [e.buffer(values, "in"), out])
        assert not result.findings, result.findings
        return out.read(values.dtype).copy()


def worst(got: np.ndarray, exact: np.ndarray) -> float:
    """The largest error in units in the last place of the exact result, rounded to the type of `got`."""
    with np.errstate(over="ignore"):
        unit = np.spacing(np.abs(exact.astype(got.dtype))).astype(np.float64)
    return float(np.max(np.abs(got.astype(np.float64) - exact) / unit))


@pytest.mark.parametrize(("name", "exact", "low", "high", "bound"), FLOATS)
def test_errors_of_floats(ptx: str, name: str, exact, low: float, high: float, bound: float) -> None:  # type: ignore[no-untyped-def]
    values = np.random.default_rng(1).uniform(low, high, COUNT).astype(np.float32)
    assert worst(computed(ptx, name, values, COUNT), exact(values.astype(np.float64))) <= bound


@pytest.mark.parametrize(("name", "exact", "low", "high", "bound"), DOUBLES)
def test_errors_of_doubles(ptx: str, name: str, exact, low: float, high: float, bound: float) -> None:  # type: ignore[no-untyped-def]
    values = np.random.default_rng(2).uniform(low, high, COUNT)
    exact_values = exact(values.astype(np.longdouble))
    got = computed(ptx, name, values, COUNT)
    error = np.abs(got.astype(np.longdouble) - exact_values) / np.spacing(np.abs(got))
    assert float(np.max(error)) <= bound + 0.5


def test_powers(ptx: str) -> None:
    generator = np.random.default_rng(3)
    values = np.empty(2 * COUNT, np.float32)
    values[::2], values[1::2] = generator.uniform(0.01, 50, COUNT), generator.uniform(-15, 15, COUNT)
    exact = np.power(values[::2].astype(np.float64), values[1::2].astype(np.float64))
    assert worst(computed(ptx, "powf", values, COUNT), exact) <= 4


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("expf", [np.inf, -np.inf, 200, -200, 0], [np.inf, 0, np.inf, 0, 1]),
        ("logf", [0, np.inf, 1, -1], [-np.inf, np.inf, 0, np.nan]),
        ("tanhf", [np.inf, -np.inf, 0, 30], [1, -1, 0, 1]),
        ("erff", [np.inf, -np.inf, 0, 10], [1, -1, 0, 1]),
        ("sinf", [0, np.inf], [0, np.nan]),
    ],
)
def test_ends_of_the_range(ptx: str, name: str, values: list[float], expected: list[float]) -> None:
    padded = np.zeros(256, np.float32)
    padded[: len(values)] = values
    padded[len(values)] = np.nan
    got = computed(ptx, name, padded, 256)
    np.testing.assert_array_equal(got[: len(values)], np.array(expected, np.float32))
    assert np.isnan(got[len(values)])
