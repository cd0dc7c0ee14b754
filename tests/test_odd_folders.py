"""A checkout may be in any folder; where nvcc cannot work in one, a message says so and nothing is executed."""

import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import run_make

ODD = [
    "it's",
    "a $HOME",
    "$(touch executed)",
    "50% #1",
    'a"b',
    "a;b&c|d",
    "-x",
    "a\\b",
    "Zoë 你好",
    "a*[b]?",
    "a:b=c",
    "~",
]


@pytest.mark.timeout(900)  # everything is built again, which takes long on a busy machine
@pytest.mark.parametrize("name", ODD)
def test_make_works(checkout: Path, name: str) -> None:
    folder = checkout.parent / "below" / name
    shutil.copytree(checkout, folder)
    (folder / "grader").mkdir()
    (folder / "grader" / "__main__.py").write_text("import sys; print('graded', *sys.argv[1:])\n")
    done = run_make("program-ch01", "status", "PYTHON=python3", "VENV=", folder=folder)
    assert (done.returncode, "graded status" in done.stdout) == (0, True), done.stderr
    assert subprocess.run([folder / "ch01"]).returncode == 0
    again = run_make("program-ch01", "PYTHON=python3", "VENV=", folder=folder)
    assert (again.returncode, again.stdout) == (0, "")
    assert not list(checkout.parent.rglob("executed"))


@pytest.mark.parametrize("name", ODD)
def test_kernels_are_compiled(built: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    kernel = folder / "kernel.cu"
    shutil.copy(built / "solutions/ch01_single_thread/kernel.cu", kernel)
    done = subprocess.run(
        [built / "build/bin/compile", kernel, folder / "out"],
        cwd=built,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    assert (folder / "out/kernel.ptx").exists()
    assert not list(tmp_path.rglob("executed"))


def test_a_backquote(built: Path, tmp_path: Path, nvcc: str) -> None:
    folder = tmp_path / "a`touch executed`b"
    folder.mkdir()
    kernel = built / "solutions/ch01_single_thread/kernel.cu"
    done = subprocess.run(
        [built / "build/bin/compile", kernel, folder], cwd=built, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 3
    assert "a folder with a backquote (`) in its path; rename or move it: " in done.stderr
    assert [path.name for path in folder.iterdir() if not path.name.startswith(".lock")] == []
