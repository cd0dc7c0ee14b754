"""wgmma of the emulator against an H200's answers: tests/hardware_truth/wgmma/record.npz."""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path

import pytest

sys.path.extend(str(Path(__file__).resolve().parent / "hardware_truth" / x) for x in ("tensor", "wgmma"))
from emulator import Emulator
from forms import hash_of
from wgmma_forms import HEADER, Run, launched, operands, read_record

KERNELS: dict[str, list[tuple[Run, list[int]]]] = {}
for one in read_record():
    KERNELS.setdefault(one[0].form.name, []).append(one)
TYPES = [list(names) for _, names in groupby(KERNELS, lambda name: name.split("_")[1:4])]


@pytest.mark.parametrize("names", TYPES, ids=lambda names: "_".join(names[0].split("_")[1:4]))
def test_answers_are_the_hardwares(names: list[str], emulator_built: Path) -> None:
    for name in names:
        with Emulator() as e:
            e.load(HEADER + KERNELS[name][0][0].form.ptx())
            for run, hashes in KERNELS[name]:
                got, result = launched(e, run, operands(run))
                assert not result.findings, (run.key, result.findings)
                mine = [hash_of(got[i : i + run.batch]) for i in range(0, run.tiles, run.batch)]
                assert mine == hashes, f"{run.key}: family {run.family}, {run.a}, {run.b}"


def test_nothing_is_left_out() -> None:
    runs = [run for of_kernel in KERNELS.values() for run, _ in of_kernel]
    assert len(KERNELS) >= 130
    assert sum(run.tiles for run in runs) >= 9_000
    assert {run.a.swizzle for run in runs} == {run.b.swizzle for run in runs} == {0, 1, 2, 3}
