"""The time model: its parts by themselves, and all of it beside the committed record of an H200.

`make model-report` prints what is judged here.
"""

from __future__ import annotations

import csv
import ctypes as c
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from whole_kernels import kernel_file

from bench import model_report
from bench.compiling import compile_one, entry_named, ptxas_figures
from bench.emulated import EmulatedDevice
from bench.emulator_library import ModelWork, library
from bench.gpu import i32, u64
from bench.model import BOUNDS, Estimate, ModelDevice, device_of, errors, fit, read_record
from bench.record import Bench, Prepared
from bench.table import ROOT, Kernel, TableError, read_table
from bench.tracing import ModelShape, Run
from grader.authoring.markers import places

RECORD = read_record()
VARIANTS = ROOT / "bench" / "variants"
# The record is of nvcc's code, and bench/compiling.py calls nvcc.
needs_nvcc = pytest.mark.usefixtures("nvcc")


# ---- Tracing ---------------------------------------------------------------------------------------------------


class Traced:
    """Runs kernels of one .cu on the emulator and returns what the trace found."""

    def __init__(self, source: Path) -> None:
        self.device = EmulatedDevice(dict(RECORD["device"]))
        self.device.tracing = True
        self.image = compile_one(source)

    def run(
        self, kernel: str, grid: int, block: int, *arguments: Any, shared: int = 0, registers: int = 0
    ) -> ModelWork:
        function = self.device.function(self.image, kernel)
        function = type(function)(function.name, function.handle, registers, 0, 0, 1024)
        self.device.launch(function, (grid, 1, 1), (block, 1, 1), arguments, shared)
        return self.device.work[-1]

    def buffer(self, floats: int) -> u64:
        address = self.device.allocate(4 * floats)
        self.device.fill(address, 0, 4 * floats)
        return u64(address)


@pytest.fixture(scope="module")
def sums(nvcc: str) -> Traced:
    del nvcc
    return Traced(VARIANTS / "sums.cu")


@pytest.fixture(scope="module")
def access(nvcc: str) -> Traced:
    del nvcc
    return Traced(VARIANTS / "access.cu")


def per_block(work: ModelWork, part: str) -> float:
    return float(getattr(work.block_time, part) / work.blocks)


@pytest.mark.parametrize(
    ("kernel", "elements_a_step"),
    [
        ("sum_float_1", 1),
        ("sum_float_4", 4),
        ("sum_float_8", 8),
        ("sum_float4_1", 4),
        ("sum_float4_4", 16),
    ],
)
def test_loads_before_the_first_addition_wait_together(
    sums: Traced, kernel: str, elements_a_step: int
) -> None:
    n = 4 * 256 * 64
    work = sums.run(kernel, 4, 256, sums.buffer(n), sums.buffer(4), i32(n))
    assert per_block(work, "dram_trips") == 64 / elements_a_step
    assert work.first == n / 8
    assert work.load_bytes == 4 * n


def test_too_few_registers_split_a_batch_of_loads(sums: Traced) -> None:
    n = 4 * 256 * 64
    arguments = (sums.buffer(n), sums.buffer(4), i32(n))
    plenty = sums.run("sum_float4_8", 4, 256, *arguments, registers=64)
    few = sums.run("sum_float4_8", 4, 256, *arguments, registers=34)
    assert per_block(few, "dram_trips") == 2 * per_block(plenty, "dram_trips")


@needs_nvcc
def test_a_loop_with_a_constant_step_is_unrolled() -> None:
    """ptxas makes four turns of chapter 1's loop one; nvcc had made four of its elements one before."""
    traced = Traced(ROOT / "solutions" / "ch01_single_thread" / "kernel.cu")
    work = traced.run("sum_single", 1, 1, traced.buffer(4096), traced.buffer(1), i32(4096))
    assert per_block(work, "dram_trips") == 4096 / 16


@needs_nvcc
def test_a_dependent_chain_takes_its_latency() -> None:
    traced = Traced(VARIANTS / "work.cu")
    n = 256 * 16
    arguments = (traced.buffer(n), traced.buffer(1), i32(n))
    short, long = (traced.run(f"sum_chain_{depth}", 1, 256, *arguments) for depth in (64, 256))
    a_step = (per_block(long, "cycles") - per_block(short, "cycles")) / 16 / 192
    assert a_step == pytest.approx(RECORD["calibration"]["fma_cycles"], rel=0.05)


def test_distances_tell_which_cache_can_answer(access: Traced) -> None:
    n = 256 * 128
    arguments = (access.buffer(n), access.buffer(1), i32(n))
    # Chunks: every lane comes back to its sector 7 times of 8, 32 lines later.
    chunks = access.run("sum_chunk", 1, 256, *arguments)
    assert chunks.first == n / 8
    assert chunks.again_warp == 7 * n / 8
    assert chunks.warp_distance[5] == chunks.again_warp
    # Side by side nothing comes back, and a second time over the array comes back after all of it.
    beside = access.run("sum_chunk_of_block", 1, 256, *arguments)
    assert beside.again_warp == beside.again_block == 0
    again = access.run("sum_again", 1, 256, *arguments)
    assert again.first == n / 4 / 8
    assert again.warp_distance[5] == again.again_warp == 3 * n / 4 / 8


@needs_nvcc
def test_atomics_queue_where_blocks_share_an_address() -> None:
    traced = Traced(VARIANTS / "atomics.cu")
    n = 8 * 256
    arguments = (traced.buffer(n), traced.buffer(n), i32(n))
    one, spread, apart = (
        traced.run(f"atomic_{name}", 8, 256, *arguments) for name in ("every_thread", "spread", "apart")
    )
    assert one.atomic_slice == one.atomic_floats == n
    # A slice has four lines of four sectors of each KiB; every operation takes a whole sector.
    assert spread.atomic_slice == spread.atomic_whole == 16 * spread.atomic_floats == 16 * n / 1024
    assert apart.atomic_slice == 0  # a place that one block uses alone is not a common queue
    assert apart.atomic_sectors == n / 8


CHAINS = ROOT / "tests" / "data" / "chains.cu"
LINKS = 31  # of 32 blocks
ATOMIC = ("by_atomics", "by_compare_and_swap")


@pytest.fixture(scope="module")
def chains(nvcc: str) -> Traced:
    del nvcc
    return Traced(CHAINS)


@pytest.mark.parametrize(
    ("kernel", "links"),
    [
        ("each_for_the_last", LINKS),
        ("with_a_ticket", LINKS),
        ("by_atomics", LINKS),
        ("by_compare_and_swap", LINKS),
        ("for_the_last_but_one", LINKS // 2),
        ("tells_nobody", LINKS),
        ("waits_for_the_second", LINKS - 1),
        ("by_turns", LINKS),
    ],
)
def test_a_chain_of_blocks_takes_a_link_for_each(chains: Traced, kernel: str, links: int) -> None:
    work = chains.run(kernel, LINKS + 1, 1, chains.buffer(64), chains.buffer(64))
    # From the start of a store half a trip until it is seen, of an atomic 1.25, and one for the poll. The first block
    # has not waited, so the second one's wait does not count.
    assert work.chain.l2_trips == (1.5 if kernel not in ATOMIC else 2.25) * (links - 1)


def test_links_take_about_as_long_as_on_a_gpu(chains: Traced) -> None:
    device = device_of(RECORD)
    with CHAINS.with_suffix(".csv").open() as file:
        measured = {row["kernel"]: float(row["microseconds"]) for row in csv.DictReader(file)}
    blocks, shorter, modelled = 64, 32, {}
    for kernel in measured:
        short, long = (
            chains.run(kernel, count, 1, chains.buffer(64), chains.buffer(64)).chain
            for count in (shorter, blocks)
        )
        cycles = long.cycles - short.cycles + (long.l2_trips - short.l2_trips) * device.l2_latency
        modelled[kernel] = 1e6 * cycles / device.clock_hz / (blocks - shorter)
    assert modelled == pytest.approx(measured, rel=0.2)


@pytest.mark.parametrize(
    ("kernel", "passed_on", "told_plainly"),
    [
        ("looks_back", LINKS, LINKS - 1),  # what the first block stores was known before it waited
        ("looks_back_at_atomics", LINKS, 0),
        ("looks_back_by_atomics", LINKS, 0),
        ("looks_back_in_two_arrays", LINKS, LINKS - 1),
        ("all_for_the_first", LINKS, 0),
        ("last_one_reads", 0, 0),
        ("alone", 0, 0),
    ],
)
def test_blocks_that_need_not_follow_each_other_are_no_chain(
    chains: Traced, kernel: str, passed_on: int, told_plainly: int
) -> None:
    work = chains.run(kernel, LINKS + 1, 1, chains.buffer(64), chains.buffer(64))
    assert work.chain.l2_trips == work.chain.cycles == work.links == 0
    assert (work.passed_on, work.told_plainly) == (passed_on, told_plainly)


@pytest.mark.slow
@pytest.mark.by_turns
@needs_nvcc
def test_instructions_are_about_those_that_a_gpu_counts() -> None:
    report = full_report()
    told = {entry["name"]: entry.get("counters", []) for entry in report.record["kernels"]}
    ratios = [
        point.works[0].issued / counters["instructions"]
        for point in report.model.points
        for counters in told[point.kernel.name]
        if point.n == counters["n"] == 2**26 and counters["kernel"] == point.kernel.passes[0].kernel
    ]
    assert len(ratios) > 100
    assert np.mean([1 / 1.25 < ratio < 1.25 for ratio in ratios]) >= 0.93
    assert np.median(ratios) == pytest.approx(1, abs=0.1)


# ---- Time ------------------------------------------------------------------------------------------------------


def estimate(device: ModelDevice, shape: ModelShape, work: ModelWork) -> Estimate:
    made = Estimate()
    library().model_estimate(c.byref(device), c.byref(shape), c.byref(work), c.byref(made))
    return made


def a_copy_of(work: ModelWork, **changes: float) -> ModelWork:
    made = ModelWork.from_buffer_copy(work)
    for name, value in changes.items():
        setattr(made, name, value)
    return made


@pytest.fixture(scope="module")
def some_work(sums: Traced) -> ModelWork:
    n = 1056 * 256 * 64
    part = n // 32
    return sums.run("sum_float_1", 33, 256, sums.buffer(part), sums.buffer(33), i32(part))


SHAPE = ModelShape(33, 256, 16, 128)


@pytest.mark.parametrize(
    "field",
    ["first", "first_pairs", "issued", "shared_wavefronts", "load_lines", "atomic_slice", "stored_first"],
)
def test_more_work_never_takes_less_time(some_work: ModelWork, field: str) -> None:
    device = device_of(RECORD)
    seconds = [
        estimate(
            device, SHAPE, a_copy_of(some_work, **{field: (getattr(some_work, field) + 1) * times})
        ).seconds
        for times in (1, 1e2, 1e4, 1e6)
    ]
    assert seconds == sorted(seconds)
    assert seconds[-1] > seconds[0]


def test_every_limiter_has_its_words(some_work: ModelWork) -> None:
    device = device_of(RECORD)
    words = {
        "launch": a_copy_of(some_work, first=0, first_pairs=0, load_lines=0, load_sectors=0, issued=1),
        "memory": a_copy_of(some_work, first_pairs=1e9),
        "instructions": a_copy_of(some_work, issued=1e11),
        "atomics": a_copy_of(some_work, atomic_slice=1e9, atomic_floats=1e9),
        "blocks that wait for one another": a_copy_of(some_work),
        "bytes in flight": some_work,
    }
    words["blocks that wait for one another"].chain.l2_trips = 1e6
    words["launch"].block_time.dram_trips = words["launch"].block_time.cycles = 0
    for begin, work in words.items():
        made = estimate(device, SHAPE, work)
        assert begin in made.words.decode(), made.words
        assert made.seconds > 0


def added_by_atomics(work: ModelWork, shape: ModelShape) -> float:
    """In units of the atomics themselves."""
    device = device_of(RECORD)
    with_them = estimate(device, shape, a_copy_of(work, atomic_slice=1e4))
    without = estimate(device, shape, a_copy_of(work, atomic_slice=0, atomic_floats=0))
    return (with_them.seconds - without.seconds) / with_them.atomics


def test_atomics_at_the_end_overlap_where_blocks_wait_for_units(some_work: ModelWork) -> None:
    """All but one of a SM's blocks end earlier; those that wait for memory end together."""
    busy, idle = a_copy_of(some_work, issued=1e8), a_copy_of(some_work, issued=1)
    eight, alone = ModelShape(8 * 132, 256, 16, 128), ModelShape(132, 256, 16, 128)
    assert added_by_atomics(idle, eight) == pytest.approx(1, abs=0.05)
    assert added_by_atomics(busy, eight) == pytest.approx(1 / 8, abs=0.02)
    assert added_by_atomics(busy, alone) == pytest.approx(1, abs=0.05)


def test_blocks_at_the_edges_are_no_more_in_a_larger_image() -> None:
    """Two rows of blocks do ten times as much as the others."""
    runs, works, whole = (Run * 2)(), (ModelWork * 2)(), ModelWork()
    in_row, edge, inner = 4, 10, 1
    for k, rows in enumerate((2, 4)):
        runs[k] = Run(blocks=in_row * rows, elements=1024 * rows)
        works[k].blocks, works[k].issued = in_row * rows, in_row * (2 * edge + (rows - 2) * inner)
        works[k].block_most.cycles = 7
    rows = 1000
    library().model_whole(runs, works, 2, c.c_uint64(in_row * rows), c.c_double(1024 * rows), c.byref(whole))
    assert whole.blocks == in_row * rows
    assert whole.issued == in_row * (2 * edge + (rows - 2) * inner)
    assert whole.block_most.cycles == 7


def test_resident_blocks_are_those_of_the_driver() -> None:
    """What the driver told for every kernel of the record."""
    lib, device = library(), device_of(RECORD)
    lib.model_resident_blocks.restype = c.c_double
    for entry in RECORD["kernels"]:
        shapes = entry["points"][-1]["shapes"]
        for told, shape in zip(entry["passes"], shapes, strict=True):
            threads = shape["block"][0] * shape["block"][1]
            asked = ModelShape(1, threads, told["registers"], told["static_shared"] + shape["shared"])
            assert lib.model_resident_blocks(c.byref(device), c.byref(asked)) == told["resident_blocks"], (
                entry
            )


# ---- Beside the record -------------------------------------------------------------------------------------------

_report: list[model_report.Report] = []


# Every kernel of the record runs for it, which takes a minute: one run in three has it.
def needs_full_report(test: Callable[[], None]) -> Callable[[], None]:
    return needs_nvcc(pytest.mark.one_of("model", ("none", "none", "model"))(test))


def full_report() -> model_report.Report:
    if not _report:
        _report.append(model_report.make_report(RECORD))
    return _report[0]


@needs_full_report
def test_the_model_agrees_with_an_h200() -> None:
    report = full_report()
    assert len(set(report.model.names)) >= 60
    assert np.abs(report.off).mean() < 0.10
    assert np.abs(report.left_out).mean() <= 0.15
    assert len(report.stale) <= 0.1 * len(read_table()), (
        "make record-gpu: too many kernels are not the record's"
    )


@needs_full_report
def test_no_two_solutions_are_in_the_wrong_order() -> None:
    report = full_report()
    assert model_report.wrong_order(report.model, report.device) == []


@needs_full_report
def test_the_limiter_is_the_one_that_ncu_saw() -> None:
    report = full_report()
    assert len(report.agreements) > 100
    assert report.agreement >= 0.9, report.disagreements()


@needs_full_report
def test_the_constants_are_those_that_fit_best() -> None:
    """Within a percent: a better fit would be a better model for nothing. And each within its bounds."""
    report = full_report()
    fitted = fit(report.model, report.device, rounds=5)
    assert np.abs(report.off).mean() < np.abs(errors(report.model, fitted)).mean() + 0.01
    for name, (low, high) in BOUNDS.items():
        assert low * 0.999 <= getattr(report.device, name) <= high * 1.001, name


def numbers(text: str) -> list[float]:
    return [float(word) for word in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", text.replace(",", ""))]


@needs_full_report
def test_the_document_has_todays_figures() -> None:
    """To half a percent: another release of nvcc makes slightly other PTX."""
    text = model_report.DOCUMENT.read_text()
    filled = {place.argument: place.body for place in places(text)}
    report = full_report()
    assert numbers(filled["summary"]) == pytest.approx(numbers(report.summary()), abs=0.5), (
        "make model-report"
    )
    assert numbers(filled["constants"]) == pytest.approx(numbers(report.constants()), rel=1e-3), (
        "make model-report"
    )
    assert filled["table"].count("\n") == report.table().count("\n"), "make model-report"


@needs_full_report
def test_every_figure_is_shown_with_the_band_that_was_found() -> None:
    profiles = (ROOT / "common/gpu/profiles.c").read_text()
    shown = dict(
        re.findall(
            r'^    \{"([^"]+)",\n(?:(?!^    \{").)*?\.error_band = ([\d.]+)',
            profiles,
            re.MULTILINE | re.DOTALL,
        )
    )
    shown[""] = re.search(r"never_compared = ([\d.]+);", profiles)[1]
    found = {band.gpu: f"{band.width:.2f}" for band in full_report().bands}
    assert shown == found, "make model-report, and common/gpu/profiles.c"
    text = model_report.DOCUMENT.read_text()
    for width in found.values():
        assert f"+/- {100 * float(width):.0f} % |" in text


# ---- ./chNN ------------------------------------------------------------------------------------------------------


def chapter(tmp_path: Path, name: str, *more: str, kernel: Path | None = None) -> dict[str, Any]:
    """The result of a kernel file, or of the solution."""
    program, result = ROOT / "build" / "programs" / name, tmp_path / "result.json"
    source = kernel or next((ROOT / "solutions").glob(f"{name}_*/kernel.cu"))
    command = [program, "--device", "emulator", "--kernel", source, "--json", result, *more]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode in (0, 1), done.stderr
    return dict(json.loads(result.read_text()))


@pytest.mark.parametrize("name", ["ch02", "ch08", "ch11"])
def test_a_solution_is_as_fast_as_itself(tmp_path: Path, name: str) -> None:
    result = chapter(tmp_path, name)
    bandwidth = result["bandwidth"]
    assert result["verdict"] == "PASS"
    assert result["points"] == {"earned": 10, "possible": 10}
    assert bandwidth["kind"] == "modelled"
    assert bandwidth["device"] == "NVIDIA H200"
    assert bandwidth["ratio"] == bandwidth["ratio_low"] == bandwidth["ratio_high"] == 1
    assert bandwidth["limiter"]
    # The second time the reference's times are those that were kept.
    assert chapter(tmp_path, name)["bandwidth"] == bandwidth


@needs_nvcc
def test_what_the_page_models_is_what_the_record_has(tmp_path: Path) -> None:
    measured = {entry["name"]: entry["points"] for entry in RECORD["kernels"]}
    for name in ("ch02", "ch05", "ch07"):
        bandwidth = chapter(tmp_path, name)["bandwidth"]
        seconds = next(point["seconds"] for point in measured[name] if point["n"] == bandwidth["n"])
        assert bandwidth["seconds"] == pytest.approx(seconds, rel=0.1)


@needs_nvcc
def test_an_image_is_modelled_without_its_edges(tmp_path: Path) -> None:
    """Most blocks of the modelled part lie at an edge, where elements are tested, and few of the whole."""
    names = {"tile": "ch17 tile", "column, 3 x 3": "ch17 column 3", "column, 7 x 7": "ch17 column 7"}
    measured = {entry["name"]: entry["points"] for entry in RECORD["kernels"]}
    tasks = {task["task"]: task for task in chapter(tmp_path, "ch17")["bandwidth"]["tasks"]}
    for task, name in names.items():
        seconds = next(point["seconds"] for point in measured[name] if point["n"] == tasks[task]["n"])
        assert tasks[task]["seconds"] == pytest.approx(seconds, rel=0.1)


def test_a_slow_kernel_earns_less_and_is_told_why(tmp_path: Path) -> None:
    bandwidth = chapter(tmp_path, "ch02", kernel=kernel_file("wrong/ch02/chunk_per_thread"))["bandwidth"]
    assert 0.1 < bandwidth["ratio"] < 0.5
    assert "load and store units" in bandwidth["limiter"] or "L2" in bandwidth["limiter"]


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("wrong/ch02/chunks_beyond_2_to_the_25", 0.5),  # in the large case of that size
        ("wrong/ch14/one_load_in_flight_for_large_n", 0.9),  # in blocks that run for the model alone
    ],
)
def test_a_kernel_that_is_slow_at_the_modelled_size_alone_is_slow(
    tmp_path: Path, name: str, most: float
) -> None:
    result = chapter(tmp_path, Path(name).parent.name, kernel=kernel_file(name))
    bandwidth = result["bandwidth"]
    assert bandwidth["ratio"] < most
    assert re.search(
        r"at this size its blocks take \d+(\.\d)? times as long as smaller ones suggest", bandwidth["message"]
    )
    assert result["points"]["earned"] < 10
    assert result["what_if"] is None


# Chapter 14's solution takes another way beyond 2^26 elements than at the sizes that the model runs.
def test_another_way_that_is_not_slower_counts_as_extrapolated(tmp_path: Path) -> None:
    bandwidth = chapter(tmp_path, "ch14")["bandwidth"]
    assert bandwidth["ratio"] == 1
    assert bandwidth["message"] == ""


PROFILES = re.findall(r'^    \{"([^"]+)",$', (ROOT / "common/gpu/profiles.c").read_text(), re.MULTILINE)


@pytest.mark.parametrize("gpu", [name for name in PROFILES if name != "H200"])
def test_every_profile_has_a_model(tmp_path: Path, gpu: str) -> None:
    result = chapter(tmp_path, "ch07", "--gpu", gpu)
    bandwidth = result["bandwidth"]
    # clang's code has fewer loads under way, which a GPU with more bandwidth to a multiprocessor shows.
    least = 0.6 if result["build"].get("clang") else 0.8
    assert least < bandwidth["gb_per_s"] / bandwidth["peak_gb_per_s"] < 1
    assert ("published" in bandwidth["message"]) == (gpu != "H100")
    assert bandwidth["error_band"] > 0.1
    assert bandwidth["ratio"] == 1


# ---- The table -----------------------------------------------------------------------------------------------------


# The model knows no waiting between the blocks of scan_once, the table no third pass, and no rows of 16 bits.
NOT_RECORDED = {
    "scan_once",
    "sum_tiles",
    "scan_sums",
    "scan_tiles",
    "softmax_bfloat16",
    "layer_norm_bfloat16",
}


def test_every_timed_solution_stands_in_the_table() -> None:
    named = {each.kernel for kernel in read_table() for each in kernel.passes}
    for source in sorted((ROOT / "solutions").glob("ch*/kernel.cu")):
        chapter = (ROOT / "chapters" / source.parent.name / "chapter.c").read_text()
        text = re.sub(r"//[^\n]*", "", chapter)
        # A macro may hold what tasks have in common.
        for name, body in re.findall(r"#define (\w+)((?:.*\\\n)*.*)", text):
            text = re.sub(rf"\b{name}\b", lambda _, body=body: body, text)
        for kernel in re.findall(r"LAUNCH\((\w+)\)", source.read_text()):
            tasks = [task for task in re.split(r"\.buffers\s*=", text) if f'.kernel = "{kernel}"' in task]
            untimed = all("NOT_TIMED" in task or "EXPECT_TABLE" in task for task in tasks) or not tasks
            if not untimed:
                assert kernel in named or kernel in NOT_RECORDED, (
                    f"{source}: {kernel} is not in {VARIANTS / 'variants.toml'}"
                )


@needs_nvcc
def test_the_table_is_large_enough_and_compiles() -> None:
    kernels = read_table()
    assert sum(not kernel.is_solution for kernel in kernels) >= 30
    for source in {kernel.source for kernel in kernels}:
        there = ptxas_figures(compile_one(source))
        for kernel in kernels:
            if kernel.source == source:
                assert all(entry_named(each.kernel, there) for each in kernel.passes), kernel.name


@pytest.mark.parametrize("change", [{"grid": 1}, {"check": "unheard of"}, {"args": ["nobody"]}, {"block": 0}])
def test_a_wrong_entry_is_told(tmp_path: Path, change: dict[str, Any]) -> None:
    entry = {
        "name": "x",
        "kernel": "k",
        "args": ["in"],
        "block": 32,
        "per_sm": 1,
        "outputs": "1",
        "check": "sum",
    }
    entry |= change
    line = ", ".join(f"{key} = {value!r}".replace("'", '"') for key, value in entry.items())
    table = tmp_path / "table.toml"
    table.write_text(f'[[source]]\nfile = "x.cu"\nkernels = [{{ {line} }}]\n')
    with pytest.raises(TableError):
        read_table(table)


@pytest.fixture(scope="module")
def bench(nvcc: str) -> Bench:
    del nvcc
    made = Bench(EmulatedDevice(dict(RECORD["device"]) | {"l2_bytes": 1 << 16}), 1 << 20)  # type: ignore[arg-type]
    made.prepare(read_table())
    return made


@pytest.mark.parametrize("kernel", read_table(), ids=lambda kernel: kernel.name)
def test_every_kernel_of_the_table_is_right(bench: Bench, kernel: Kernel) -> None:
    prepared = Prepared(bench, kernel, 1 << 16)
    prepared.reset()
    if kernel.check != "nothing":
        with pytest.raises(Exception, match="at n = "):
            prepared.check()  # poison and zeros are not results
    prepared.launch()
    prepared.check()


@needs_nvcc
def test_the_recorder_lists_what_it_would_run() -> None:
    done = subprocess.run(
        ["make", "record-gpu", "ARGS=--dry-run"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert f"{len(read_table())} kernels, 8 sizes each" in done.stdout
