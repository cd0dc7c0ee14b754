"""ptxas works beside the cases of a run: what it finds counts as if it had come first."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOLUTION = ROOT / "solutions/ch01_single_thread/kernel.cu"


class Assembler:
    """chapter 1 with the real nvcc, and a script in place of ptxas."""

    def __init__(self, nvcc: str, folder: Path) -> None:
        real = Path(nvcc).resolve().parent
        self.kernel, self.bin, self.result = folder / "kernel.cu", folder / "bin", folder / "result.json"
        self.ptxas = real / "ptxas"
        self.bin.mkdir()
        (self.bin / "nvcc").write_text(f'#!/bin/sh\nexec "{real}/nvcc" "$@"\n')
        (self.bin / "nvcc").chmod(0o755)
        self.kernel.write_text(SOLUTION.read_text())
        name = hashlib.sha256(str(self.kernel.resolve()).encode()).hexdigest()[:16]
        self.build = ROOT / "build/other" / name

    def start(self, script: str) -> subprocess.Popen[str]:
        (self.bin / "ptxas").write_text(f"#!/bin/sh\n{script}\n")
        (self.bin / "ptxas").chmod(0o755)
        command: list[str | Path] = [ROOT / "ch01", "--device", "emulator"]
        command += ["--kernel", self.kernel, "--json", self.result]
        variables = os.environ | {"WARPBOOK_NVCC": str(self.bin / "nvcc"), "WARPBOOK_COMPILER": "nvcc"}
        return subprocess.Popen(command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, text=True)

    def run(self, script: str) -> tuple[int, dict[str, Any]]:
        with self.start(script) as driver:
            driver.communicate(timeout=100)
        return driver.returncode, json.loads(self.result.read_text())

    def temporary(self) -> list[Path]:
        return list(self.build.glob(".compile-*"))


@pytest.fixture
def assembler(nvcc: str, tmp_path: Path) -> Iterator[Assembler]:
    assembler = Assembler(nvcc, tmp_path)
    yield assembler
    shutil.rmtree(assembler.build, ignore_errors=True)


def test_registers_are_known_when_ptxas_ends_after_the_cases(assembler: Assembler) -> None:
    status, late = assembler.run(f'sleep 3; exec "{assembler.ptxas}" "$@"')
    assert (status, late["verdict"]) == (0, "PASS")
    assert all(kernel["registers"] > 0 for kernel in late["build"]["kernels"])
    assert not assembler.temporary()
    (assembler.build / "build.json").unlink()
    status, soon = assembler.run(f'exec "{assembler.ptxas}" "$@"')
    assert (soon["bandwidth"], soon["goals"]) == (late["bandwidth"], late["goals"])


@pytest.mark.parametrize("pause", ["", "sleep 3; "])
def test_what_ptxas_refuses_is_not_judged(assembler: Assembler, pause: str) -> None:
    words = "ptxas error   : Entry function 'sum' uses too much shared data (0x20000 bytes, 0xc000 max)"
    status, result = assembler.run(f'{pause}echo "{words}"; exit 255')
    assert (status, result["verdict"], result["cases"]) == (1, "RESOURCE", [])
    assert not assembler.temporary()
    assert json.loads((assembler.build / "build.json").read_text())["verdict"] == "RESOURCE"


def test_a_driver_that_is_ended_leaves_no_ptxas(assembler: Assembler) -> None:
    with assembler.start("echo $$ > ../ptxas.pid; exec sleep 60") as driver:
        file = assembler.build / "ptxas.pid"
        deadline = time.monotonic() + 60
        while not (file.exists() and file.read_text().strip()) and time.monotonic() < deadline:
            time.sleep(0.05)
        process = Path("/proc") / file.read_text().strip()
        driver.send_signal(signal.SIGTERM)
        driver.wait(timeout=20)
    deadline = time.monotonic() + 20
    while (process.exists() or assembler.temporary()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not process.exists()
    assert not assembler.temporary()
    assert not (assembler.build / "build.json").exists()
