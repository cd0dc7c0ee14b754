"""The program of docs/your-own-program.md: it builds around the reference and around a skeleton, and fails well."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT

PROGRAM = ROOT / "docs" / "examples" / "sum_program.cu"
SOLUTION = ROOT / "solutions" / "ch08_atomics_two_pass" / "kernel.cu"


def library_folder(nvcc: Path) -> Path | None:
    """Where libcudart lies: nvcc does not look where NVIDIA's wheels have it. None: nothing can be linked."""
    home = nvcc.resolve().parents[1]
    found = next(home.glob("**/libcudart_static.a"), None)
    return found.parent if found and shutil.which("g++") else None


def build(nvcc: str, output: Path, kernels: Path | None) -> bool:
    """Builds the program, or its object file where nothing can be linked; whether it can be run."""
    libraries = library_folder(Path(nvcc))
    command = [nvcc, "-std=c++17", "-Werror", "all-warnings", f"-I{ROOT / 'common' / 'include'}"]
    command += ["-gencode", "arch=compute_80,code=compute_80", "-Xcompiler", "-Wall,-Wextra"]
    command += [f'-DKERNELS="{kernels}"'] if kernels else []
    command += [str(PROGRAM), "-o", str(output)] + (["-L", str(libraries)] if libraries else ["-c"])
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not done.stderr.strip(), done.stderr
    return libraries is not None


@pytest.fixture(scope="module")
def program(nvcc: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own") / "own_program"
    if not build(nvcc, path, SOLUTION):
        pytest.skip("no libcudart to link with: the program was compiled only")
    return path


def test_it_builds_around_the_learners_file(nvcc: str, tmp_path: Path) -> None:
    build(nvcc, tmp_path / "own_program", None)


@pytest.mark.parametrize("wrong", [["x"], ["-1"], ["1", "2"], ["99999999999"], ["3e"]])
def test_wrong_usage_is_told(program: Path, wrong: list[str]) -> None:
    done = subprocess.run([program, *wrong], capture_output=True, text=True)
    assert done.returncode == 2
    assert "usage: own_program [N]" in done.stderr


def test_without_a_gpu_the_first_call_is_named(program: Path) -> None:
    done = subprocess.run(
        [program, "100"], capture_output=True, text=True, env=os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    )
    assert done.returncode == 3
    assert "sum_program.cu:" in done.stderr and "cudaSetDevice(0)" in done.stderr


@pytest.mark.gpu
def test_on_a_gpu_both_sums_are_right(program: Path) -> None:
    if not Path("/dev/nvidiactl").exists():
        pytest.skip("needs an NVIDIA GPU")
    for n in ("0", "1", "1000003"):
        done = subprocess.run([program, n], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.count("right") == 2
