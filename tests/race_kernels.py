"""The kernels of tests/kernels/race: what each must be blamed for, how it is run, its PTX.

python tests/race_kernels.py      compiles what has changed into tests/data/ptx/race
"""

from __future__ import annotations

import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from cuda_images import ROOT, TESTS, compile_ptx, is_from

from grader.core.toolkit import find_nvcc

SOURCES = TESTS / "kernels" / "race"
COMPILED = TESTS / "data" / "ptx" / "race"


@dataclass(frozen=True)
class Expected:
    """A race of two lines, in whichever order they came."""

    kind: str
    lines: frozenset[int]


@dataclass(frozen=True)
class RaceKernel:
    """One kernel, as the first lines of its file describe it."""

    source: Path
    run: list[str]  # as behind `emulate FILE.ptx`
    expected: Expected | None  # None: clean

    @property
    def name(self) -> str:
        return self.source.stem

    def image(self) -> Path:
        """Its PTX: the committed, which is of this very source, or else compiled now."""
        path = COMPILED / f"{self.name}.ptx"
        if not path.exists() or not is_from(path, self.source):
            nvcc = find_nvcc(ROOT)
            assert nvcc, f"{path.name} is older than its source: run python tests/race_kernels.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            compile_ptx(self.source, path, nvcc)
        return path


def read_kernel(source: Path) -> RaceKernel:
    first, second = source.read_text(encoding="utf-8").split("\n")[:2]
    run = re.fullmatch(r"// RUN: (.+)", second)
    found = re.fullmatch(r"// FINDS: (RACE|INFO) line (\d+) other (\d+)", first)
    assert run, f"{source.name}: the second line must be '// RUN: kernel --grid ...'"
    assert found or first == "// CLEAN", (
        f"{source.name}: the first line must be '// CLEAN' or '// FINDS: ...'"
    )
    if not found:
        return RaceKernel(source, run[1].split(), None)
    kind = "RACE" if found[1] == "RACE" else "RACE_SAME_VALUE"
    return RaceKernel(source, run[1].split(), Expected(kind, frozenset({int(found[2]), int(found[3])})))


def race_kernels() -> list[RaceKernel]:
    return [read_kernel(source) for source in sorted(SOURCES.glob("*.cu"))]


def main() -> None:
    kernels = race_kernels()
    with ThreadPoolExecutor(os.cpu_count() or 1) as workers:
        list(workers.map(RaceKernel.image, kernels))
    for gone in {path.stem for path in COMPILED.glob("*.ptx")} - {kernel.name for kernel in kernels}:
        (COMPILED / f"{gone}.ptx").unlink()
    print(f"{len(kernels)} kernels in {COMPILED.relative_to(TESTS.parent)}")


if __name__ == "__main__":
    sys.exit(main())
