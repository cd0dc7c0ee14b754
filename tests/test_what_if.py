"""What-if: the model's answers beside the kernel that was really changed so, and the causes they prove."""

from __future__ import annotations

import csv
import ctypes as c
import json
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import ROOT
from whole_kernels import kernel_file

from bench.compiling import compile_one
from bench.emulated import EmulatedDevice
from bench.emulator_library import ModelWork, library
from bench.gpu import i32, u64
from bench.model import Estimate, Model, device_of, read_record
from bench.table import Kernel, read_table
from bench.tracing import ModelShape, Point, Tracer

RECORD = read_record()
PASSES = {entry["name"]: entry["passes"] for entry in RECORD["kernels"]}
NO_CONFLICTS, COALESCED, NO_DIVERGENCE = 1, 2, 4  # WHAT_IF_* of launch.h
SCHEMA = json.loads((ROOT / "docs" / "result.schema.json").read_text())


# ---- The model ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table(emulator_built: Path) -> dict[str, Kernel]:
    return {kernel.name: kernel for kernel in read_table()}


def traced(kernel: Kernel, what_if: int = 0) -> Point:
    """A kernel at 2^28 elements."""
    tracer = Tracer(RECORD, [kernel])
    tracer.device.what_if = what_if
    try:
        return tracer.point(kernel, 2**28, 0.0, PASSES[kernel.name])
    finally:
        tracer.close()


def seconds(point: Point) -> float:
    return Model([point]).estimate(device_of(RECORD), point).seconds


@pytest.mark.parametrize(
    ("name", "what_if", "changed"),
    [
        ("transpose, tile", NO_CONFLICTS, "transpose, padded tile"),
        ("ch11 tile", NO_CONFLICTS, "ch11 padded"),
        ("shared, 8 lanes a bank", NO_CONFLICTS, "shared, no conflict"),
        ("a chunk a thread", COALESCED, "plain, compiler unrolls"),
        ("rows, a thread a row", COALESCED, "rows, a warp a row"),
        ("add, a chunk a thread", COALESCED, "add, grid-stride"),
    ],
)
def test_a_supposed_timing_is_that_of_the_changed_kernel(
    nvcc: str, table: dict[str, Kernel], name: str, what_if: int, changed: str
) -> None:
    real = seconds(traced(table[changed]))
    assert seconds(traced(table[name])) > 1.25 * real
    assert seconds(traced(table[name], what_if)) == pytest.approx(real, rel=0.1)


@pytest.mark.parametrize("name", ["plain, compiler unrolls", "add, grid-stride", "transpose, padded tile"])
def test_what_is_right_already_gains_nothing(nvcc: str, table: dict[str, Kernel], name: str) -> None:
    supposed = seconds(traced(table[name], NO_CONFLICTS | COALESCED | NO_DIVERGENCE))
    assert supposed == pytest.approx(seconds(traced(table[name])), rel=0.02)


@pytest.mark.parametrize("loads", [2, 4, 8])
def test_supposed_loads_are_those_of_an_unrolled_loop(
    nvcc: str, table: dict[str, Kernel], loads: int
) -> None:
    point = traced(table["float, blocks of 256"])
    library().model_loads_in_flight.restype = c.c_double
    assert library().model_loads_in_flight(c.byref(point.works[0])) == pytest.approx(1, abs=0.01)
    library().model_with_loads_in_flight(c.byref(point.works[0]), c.c_double(loads))
    assert seconds(point) == pytest.approx(seconds(traced(table[f"float, {loads} in a row"])), rel=0.1)


def test_fewer_loads_than_there_are_change_nothing(nvcc: str, table: dict[str, Kernel]) -> None:
    point = traced(table["float, 4 in a row"])
    before = seconds(point)
    library().model_with_loads_in_flight(c.byref(point.works[0]), c.c_double(2))
    assert seconds(point) == before


@pytest.mark.parametrize("blocks", [1, 2, 4])
def test_supposed_occupancy_is_that_of_less_shared_memory(
    nvcc: str, table: dict[str, Kernel], blocks: int
) -> None:
    point = traced(table[f"{blocks} resident block{'s' * (blocks > 1)} of 256"])
    point.shapes[0].shared_bytes = 128
    assert seconds(point) == pytest.approx(seconds(traced(table["plain, compiler unrolls"])), rel=0.1)


def test_without_divergence_lanes_are_as_good_as_warps(nvcc: str, emulator_built: Path) -> None:
    def work(kernel: str, what_if: int) -> ModelWork:
        device = EmulatedDevice(dict(RECORD["device"]))
        device.tracing, device.what_if = True, what_if
        function = device.function(compile_one(ROOT / "tests" / "data" / "divergence.cu"), kernel)
        n = 1 << 16
        places = [u64(device.allocate(4 * n)) for _ in range(2)]
        for place in places:
            device.fill(place.value, 0, 4 * n)
        device.launch(function, (8, 1, 1), (256, 1, 1), (*places, i32(n)))
        return device.work[0]

    def time(of: ModelWork) -> float:
        made, shape = Estimate(), ModelShape(8 * 132, 256, 16, 0)
        library().model_estimate(c.byref(device_of(RECORD)), c.byref(shape), c.byref(of), c.byref(made))
        return made.units

    lanes, warps = work("one_lane_in_eight", 0), work("one_warp_in_eight", 0)
    packed = work("one_lane_in_eight", NO_DIVERGENCE)
    assert time(lanes) > 3 * time(warps)
    assert time(packed) == pytest.approx(time(warps), rel=0.1)


# ---- ./chNN ------------------------------------------------------------------------------------------------------


def judge(built: Path, name: str, folder: Path) -> tuple[str, dict[str, Any]]:
    """The page of a kernel, in single spaces, and its result."""
    result, chapter = folder / "result.json", name.split("/")[1]
    command = [f"./{chapter}", "--device", "emulator", "--kernel", kernel_file(name), "--json", result]
    done = subprocess.run(command, cwd=built, capture_output=True, text=True)
    document = json.loads(result.read_text())
    jsonschema.validate(document, SCHEMA)
    return " ".join(done.stdout.split()), document


# The changes, and what the model gives with them beside the reference, which is the kernel so changed.
PROVED = [
    ("ch02/chunk_per_thread", "uncoalesced", ["coalesced"]),
    ("ch02/lanes_a_grid_apart", "uncoalesced", ["coalesced"]),
    ("ch02/not_unrolled", "few-loads-under-way", ["loads-in-flight"]),
    ("ch02/unsigned_index", "few-loads-under-way", ["loads-in-flight"]),
    ("ch02/one_block_an_sm", "not-one-wave", ["grid"]),
    ("ch02/eight_small_blocks", "not-one-wave", ["grid"]),
    ("ch02/unsigned_index_of_few_blocks", "not-one-wave", ["grid"]),
    ("ch02/blocks_of_one_warp", "low-occupancy", ["block"]),
    ("ch02/room_for_a_tile", "low-occupancy", ["shared-memory"]),
    ("ch02/sums_in_one_bank", "bank-conflicts", ["no-conflicts", "loads-in-flight"]),
    ("ch02/one_lane_in_eight", "divergent-warps", ["no-divergence", "loads-in-flight"]),
    ("ch07/four_groups_a_lane", "uncoalesced", ["coalesced"]),
    ("ch07/unsigned_index", "few-loads-under-way", ["loads-in-flight"]),
    ("ch07/half_of_the_blocks", "not-one-wave", ["grid"]),
    ("ch08/a_block_for_each_sm", "not-one-wave", ["grid"]),
    ("ch09/a_chunk_a_lane", "uncoalesced", ["coalesced"]),
    ("ch09/a_thread_a_row", "uncoalesced", ["coalesced", "grid"]),
    ("ch11/large_tile_not_padded", "tile-not-padded", ["no-conflicts"]),
    ("ch12/one_load_a_round", "one-load-at-a-time", ["loads-in-flight"]),
    ("ch14/a_block_for_two_sms", "not-one-wave", ["grid"]),
    ("ch14/letters_in_turn", "collected-in-turn", ["collected-at-once"]),
    ("ch14/partials_in_turn", "collected-in-turn", ["collected-at-once"]),
    ("ch16/chain_with_fences", "blocks-wait-in-turn", ["no-chain"]),
    ("ch16/release_acquire", "blocks-wait-in-turn", ["no-chain"]),
    ("ch16/relaxed_states", "told-by-plain-stores", ["told-by-atomics"]),
    ("ch16/volatile_states", "told-by-plain-stores", ["told-by-atomics"]),
    ("ch16/volatile_states_in_long_tiles", "told-by-plain-stores", ["told-by-atomics"]),
    ("ch18/row_in_local_memory", "array-in-local-memory", ["no-local-memory"]),
]


@pytest.mark.by_turns(3)
@pytest.mark.parametrize(("name", "mistake", "changes"), PROVED, ids=[name for name, _, _ in PROVED])
def test_a_slow_kernel_gets_its_cause_from_the_model(
    nvcc: str, built: Path, tmp_path: Path, name: str, mistake: str, changes: list[str]
) -> None:
    page, result = judge(built, f"wrong/{name}", tmp_path)
    proof, diagnosis = result["proof"], result["diagnosis"]
    assert (diagnosis["mistake"], diagnosis["proof"]) == (mistake, "what-if")
    assert [change["change"] for change in proof["changes"]] == changes
    assert proof["ratio"] == pytest.approx(1, rel=0.1)
    assert result["what_if"] is None
    words = " and ".join(change["words"] for change in proof["changes"])
    assert f"{words} the model gives {100 * proof['ratio']:.1f} % of the reference" in page
    assert "Possibly" not in page


COLLECTING = list(csv.DictReader((ROOT / "tests" / "data" / "collecting.csv").open()))


@pytest.mark.by_turns(2)
@pytest.mark.parametrize("row", COLLECTING, ids=[row["kernel"] for row in COLLECTING])
def test_collecting_takes_as_long_as_on_the_gpu(
    nvcc: str, built: Path, tmp_path: Path, row: dict[str, str]
) -> None:
    """One block adds up what the others left, by all its threads or by one, beside the ratios of an H200."""
    _, result = judge(built, row["kernel"], tmp_path)
    assert result["bandwidth"]["ratio"] == pytest.approx(
        float(row["ratio_on_h200"]), rel=float(row["within"])
    )


def test_what_misses_the_goal_is_no_cause(nvcc: str, built: Path, tmp_path: Path) -> None:
    page, result = judge(built, "wrong/ch11/one_element_a_thread", tmp_path)
    assert (result["diagnosis"]["proof"], result["proof"]) == ("counter", None)
    assert result["what_if"]["ratio"] < 0.95
    assert "no change that was tried reaches the goal" in page


def test_a_cause_that_nothing_proves_is_not_named(nvcc: str, built: Path, tmp_path: Path) -> None:
    """Every block would do all the work, so that more of them do not help."""
    _, result = judge(built, "wrong/ch14/one_warp", tmp_path)
    assert result["verdict"] == "SLOW"
    assert (result["diagnosis"], result["proof"]) == (None, None)


def test_two_goals_with_different_causes_have_a_cause_each(nvcc: str, built: Path, tmp_path: Path) -> None:
    """Without the conflicts the bandwidth is as low as before."""
    page, result = judge(built, "wrong/ch05/two_goals_missed", tmp_path)
    first, second = result["diagnosis"], result["second_diagnosis"]
    assert (first["mistake"], first["proof"]) == ("bank-conflicts", "counter")
    assert (second["mistake"], second["proof"]) == ("few-loads-under-way", "what-if")
    assert f"{first['title']}. {first['why']}" in page
    assert f"{second['title']}. {second['why']}" in page


def test_a_proof_does_not_break_a_goal_of_the_shape(nvcc: str, built: Path, tmp_path: Path) -> None:
    """More blocks would help here too, but the chapter allows two for each SM."""
    _, result = judge(built, "wrong/ch12/reload_every_sum", tmp_path)
    assert [change["change"] for change in result["proof"]["changes"]] == ["loads-in-flight"]


def test_a_passing_kernel_is_asked_nothing(nvcc: str, built: Path, tmp_path: Path) -> None:
    page, result = judge(built, "right/ch14/letters", tmp_path)
    assert result["verdict"] == "PASS"
    assert (result["proof"], result["what_if"]) == (None, None)
    assert "the model gives" not in page


def test_a_goal_counts_loads_of_the_input_alone(nvcc: str, built: Path, tmp_path: Path) -> None:
    _, result = judge(built, "right/ch14/letters_read_again", tmp_path)
    counts = result["counters"]["sum"]["kernels"]["sum"]["counts"]
    assert 2**20 / counts["global_ld_requests"] < 120
    assert 2**20 / counts["input_ld_requests"] > 127
