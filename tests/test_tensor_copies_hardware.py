"""Tensor maps and copies of the emulator against an H200 and its driver: tests/hardware_truth/tma/record.npz."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parent / "hardware_truth" / "tma"))
from emulator import Emulator
from tensor_copy_cases import KERNELS, Recorded, encoded, hash_of, input_words, launched, read_record

RECORDED = read_record()
COPIES = [r for r in RECORDED if r.case.kind != "map" and not r.is_refused]


def test_maps_are_the_drivers() -> None:
    for r in RECORDED:
        words, why = encoded(r.case, 0x7F00_0000_0000 + r.case.base)
        assert (words is None) == r.is_refused, f"{r.case}: {why}"
        assert words is None or hash_of(words[2:]) == r.map, r.case


def kind_of(r: Recorded) -> str:
    return f"{r.case.kind}-{r.case.rank}d"


@pytest.mark.parametrize("schedule", [0, 3])
@pytest.mark.parametrize("kind", sorted({kind_of(r) for r in COPIES}))
def test_copies_are_the_hardwares(kind: str, schedule: int, emulator_built: Path) -> None:
    with Emulator() as e:
        e.load(KERNELS)
        source = e.buffer(input_words(), "in")
        for r in COPIES:
            if kind_of(r) != kind:
                continue
            got, result = launched(e, source, r.case, schedule)
            if r.has_failed:  # rows at odd places, and stores to places before the tensor
                assert result.finding.kind in {"MISALIGNED", "OUT_OF_BOUNDS"}, r.case
            else:
                assert not result.findings, (r.case, result.findings)
                assert hash_of(got) == r.words, r.case


def test_nothing_is_left_out() -> None:
    assert len(RECORDED) >= 2_000
    assert len(COPIES) >= 900
    assert {r.case.swizzle for r in COPIES} == {0, 1, 2, 3}
    assert sum(not r.has_failed for r in COPIES) >= 700
