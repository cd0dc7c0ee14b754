"""PTX for the tests: compiled by nvcc once a session where there is one, else as committed.

    python tests/cuda_images.py          writes every committed .ptx again

A committed .ptx names in its first line the hash of the .cu that it came from.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import subprocess
from pathlib import Path

from grader.core.toolkit import find_nvcc

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
SOURCES = [
    TESTS / "data" / "ptx" / f"{name}.cu"
    for name in ("control_flow", "synchronisation", "memory", "tensor", "async")
]
SOURCES.append(TESTS / "hardware_truth" / "async_forms.cu")


def committed(source: Path) -> Path:
    """Where the PTX for machines without nvcc lies."""
    return source.with_suffix(".ptx")


def _stamp(source: Path) -> str:
    return f"// from {source.name}, sha256 {hashlib.sha256(source.read_bytes()).hexdigest()}\n"


def compile_ptx(source: Path, output: Path, nvcc: Path) -> None:
    """Compiles for the emulator; names of files lose their folders, so that every machine gets one text."""
    raw = output.with_suffix(f".{os.getpid()}.raw")
    architecture = "compute_90" if "for compute_90" in source.read_text() else "compute_80"
    command = [str(nvcc), "-ptx", "-lineinfo", f"-arch={architecture}", "-std=c++17"]
    done = subprocess.run([*command, str(source), "-o", str(raw)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    text = re.sub(r'^(\s*\.file\s+\d+ )"[^"]*/([^"/]+)"', r'\1"\2"', raw.read_text(), flags=re.MULTILINE)
    raw.write_text(_stamp(source) + text)
    raw.replace(output)


def is_from(ptx: Path, source: Path) -> bool:
    """True when `ptx` was made from `source` as it is now."""
    with ptx.open() as text:
        return text.readline() == _stamp(source)


@functools.cache
def image(source: Path) -> Path:
    """The PTX of a .cu file."""
    nvcc = find_nvcc(ROOT)
    if nvcc is None:
        return committed(source)
    built = ROOT / "build" / "tests" / f"{source.stem}.ptx"
    if not built.exists() or not is_from(built, source):
        built.parent.mkdir(parents=True, exist_ok=True)
        compile_ptx(source, built, nvcc)
    return built


if __name__ == "__main__":
    compiler = find_nvcc(ROOT)
    assert compiler, "there is no nvcc here"
    for each in SOURCES:
        compile_ptx(each, committed(each), compiler)
        print(committed(each).relative_to(ROOT))
