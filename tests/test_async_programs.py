"""Pipelines, rings of bulk copies and clusters in CUDA C++, right and wrong; and the forms that a GPU is asked for."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from cuda_images import TESTS, image
from emulator import Emulator, Result

FORMS = TESTS / "hardware_truth"
sys.path.insert(0, str(FORMS))
import async_forms  # noqa: E402

SCHEDULES = (0, 1, 2, 3, 4, 8)
N = 1024


@pytest.fixture(scope="module")
def device(emulator_built: Path) -> Iterator[Emulator]:
    with Emulator() as e:
        e.load(image(TESTS / "data" / "ptx" / "async.cu"))
        yield e


GIVEN = np.random.default_rng(5).integers(-1000, 1000, N).astype(np.int32)


def run(device: Emulator, name: str, schedule: int) -> tuple[np.ndarray, Result]:
    given, out = device.buffer(GIVEN, "in"), device.buffer(np.zeros(N, np.int32), "out")
    blocks, threads = {"stages": (1, 96), "ring": (1, 160), "store": (1, 128), "total": (4, 64)}[
        name.split("_")[0]
    ]
    result = device.launch(name, blocks, threads, [given, out, N], schedule=schedule)
    got = out.read(np.int32)
    given.free()
    out.free()
    return got, result


def expected(name: str) -> np.ndarray:
    with np.errstate(over="ignore"):
        if name == "stages":
            t = np.arange(64) & 31
            weights = np.arange(32)[:, None] ^ t[None, :]
            return (GIVEN.reshape(-1, 32).sum(0)[:, None] * weights).sum(0).astype(np.int32)
        if name == "ring":
            value = np.zeros(128, np.int32)
            for chunk in GIVEN.reshape(-1, 128):
                value = value * np.int32(3) + chunk[::-1]
            return value
        return GIVEN * np.int32(2) if name == "store" else GIVEN.sum(dtype=np.int32)[None]


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", ["stages", "ring", "store", "total"])
def test_right(device: Emulator, name: str, schedule: int) -> None:
    got, result = run(device, f"{name}_right", schedule)
    assert not result.findings
    wanted = expected(name)
    assert np.array_equal(got[: len(wanted)], wanted)


BAD_WAIT = "has not delivered (the wait for its mbarrier must come first)"
WRONG = {  # under schedule 0, and under every other: a finding of one of these kinds
    "stages_no_wait": ("DEADLOCK", "waits for ever at the mbarrier in shared full", {"RACE"}),
    "stages_wrong_count": ("DEADLOCK", "still waits for 64 of 96 arrivals", {"DEADLOCK"}),
    "stages_no_release": ("DEADLOCK", "still waits for 64 of 96 arrivals", {"DEADLOCK"}),
    "ring_no_wait": ("UNINITIALISED", BAD_WAIT, {"RACE", "UNINITIALISED"}),
    "ring_wrong_parity": ("RACE", "reads shared tile", {"RACE"}),
    "ring_no_expect": ("DEADLOCK", "bytes that no expect_tx has announced", {"RACE"}),
    "ring_wrong_count": ("RACE", "writes shared tile", {"RACE"}),
    "ring_no_release": ("BAD_BARRIER", "its phase waits for 0 of 1 arrivals", {"BAD_BARRIER"}),
    "store_no_wait": ("RACE", "which the bulk copy at line ", {"RACE"}),
    "store_early_exit": ("RACE", "may not have read its shared memory when the block ends", {"RACE"}),
    "store_no_fence": ("RACE", "no thread of the block has made a fence.proxy.async since", {"RACE"}),
    "total_no_sync": ("RACE", "nothing orders the two blocks", {"RACE"}),
}


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", WRONG)
def test_wrong(device: Emulator, name: str, schedule: int) -> None:
    kind, words, kinds = WRONG[name]
    _, result = run(device, name, schedule)
    if schedule:
        assert kinds & set(result.kinds)
    else:
        assert any(f.kind == kind and words in f.message for f in result.findings), result.findings


def test_a_block_that_ends_before_others_read_its_memory(device: Emulator) -> None:
    """Whether it ends first depends on the order: under a fifth of the schedules it does not."""
    _, result = run(device, "total_early_exit", 0)
    assert any(
        f.kind == "OUT_OF_BOUNDS" and "whose threads have all ended" in f.message for f in result.findings
    )
    found = [run(device, "total_early_exit", schedule)[1].kinds for schedule in range(1, 41)]
    assert sum("OUT_OF_BOUNDS" in kinds for kinds in found) >= 20


# ---- Forms ---------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def forms(emulator_built: Path) -> Iterator[Emulator]:
    with Emulator() as e:
        e.load(image(FORMS / "async_forms.cu"))
        yield e


@pytest.mark.parametrize("name", async_forms.names())
def test_forms(forms: Emulator, name: str) -> None:
    """The same under every schedule, without a finding, and as the GPU says where it has been asked."""
    rows = set()
    for schedule in SCHEDULES:
        words, result = async_forms.run(forms, name, schedule)
        assert not result.findings, schedule
        rows.add(async_forms.row(name, words))
    assert len(rows) == 1
    answers = FORMS / "async_answers.csv"
    if answers.exists():
        with answers.open() as file:
            recorded = {row["form"]: row for row in csv.DictReader(file)}
        if name in recorded:
            assert rows == {",".join(recorded[name].values())}
