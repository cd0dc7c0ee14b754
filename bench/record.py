"""Records how fast the present GPU runs every kernel of the table, and why: bench/records/DEVICE.json.

    python -m bench.record            measures, counts with ncu, writes the record
    python -m bench.record --dry-run  compiles everything and lists what would run; needs no GPU
    python -m bench.record --missing --out new.json
                                      only what bench/records/NVIDIA-H200.json lacks, or has of an older file
    python -m bench.record --add new.json
                                      puts those entries into that record; needs no GPU

Each sample is one run of all launches of a kernel with a cold, clean L2: outputs poisoned or zeroed, a buffer of
four times the L2 written and another one read, then an event, the launches, an event, all in one stream, so that
the launches are queued before the GPU needs them. The GPU's clocks and settings stay as they are.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.compiling import CompileError, compile_all, entry_named, ptxas_figures, tool
from bench.gpu import Device, Function, GpuError, i32, i64, u32, u64
from bench.ncu import count_launches
from bench.shape import LaunchShape
from bench.table import ROOT, SIZES, TERMS, Kernel, Pass, TableError, read_table
from grader.core.entry import guarded

VARIANTS = ROOT / "bench" / "variants"
RECORDS = ROOT / "bench" / "records"
COMMITTED = RECORDS / "NVIDIA-H200.json"  # the record that the time model is compared with
CHECK, CALIBRATE = VARIANTS / "check.cu", VARIANTS / "calibrate.cu"
COUNTED_SIZES = (2**22, 2**26)

LONGEST_LAUNCH = 0.5  # seconds; sizes that would take longer are left out
SAMPLES, FEWEST_SAMPLES = 25, 5
SECONDS_A_SIZE = 0.12  # of one kernel's running time, beyond the fewest samples
POISON = 0x7FC00000
LEAST_BUFFER = 2**24  # elements: more than any grid that does not grow with n has threads
SCRATCH_BYTES = 64 << 20
STATE_BYTES = 2 << 20
RING = 2**28  # elements of what latencies of memory are measured on


class WrongResultError(Exception):
    """A kernel of the table does not compute what it should."""


@dataclass
class Bench:
    """A device with the buffers that all kernels share."""

    device: Device
    largest: int
    modules: dict[Path, Any] = field(default_factory=dict)
    functions: dict[tuple[Path, str, int], Function] = field(default_factory=dict)
    buffers: dict[str, int] = field(default_factory=dict)

    def function(self, source: Path, name: str, shared: int = 0) -> Function:
        """A kernel of one of the table's files."""
        key = (source, name, shared)
        if key not in self.functions:
            self.functions[key] = self.device.function(self.modules[source], name, shared)
        return self.functions[key]

    def prepare(self, kernels: list[Kernel]) -> None:
        """Loads all images, allocates and fills."""
        device = self.device
        for source, ptx in compile_all([k.source for k in kernels] + [CHECK, CALIBRATE]).items():
            self.modules[source] = device.load(ptx)
        self.bytes_of = dict.fromkeys(("in", "in2", "out"), 4 * self.largest)
        if any("in64" in each.args for kernel in kernels for each in kernel.passes):
            self.bytes_of["in64"] = 8 * self.largest
        self.bytes_of |= {
            "scratch": SCRATCH_BYTES,
            "ticket": 1 << 16,
            "state": STATE_BYTES,
            "total": 256,
            "shape": 256,
            "figures": 256,
        }
        self.flush_bytes = 4 * device.figures["l2_bytes"]
        self.bytes_of |= {"flush": self.flush_bytes, "clean": self.flush_bytes}
        for name, count in self.bytes_of.items():
            self.buffers[name] = device.allocate(count)
        for name, salt in (("in", 0), ("in2", 77)):
            self.check_launch("fill_values", name, i64(self.largest), u32(salt))
        if "in64" in self.bytes_of:
            self.check_launch("fill_doubles", "in64", i64(self.largest), u32(0))
        for name in ("ticket", "flush", "clean"):
            device.fill(self.buffers[name], 0, self.bytes_of[name])
        figures = device.figures
        names = ["sm_count", "max_threads_per_block", "max_threads_per_sm", "max_blocks_per_sm"]
        names += ["registers_per_sm", "shared_per_sm", "shared_per_block"]
        told = [figures[name] for name in names] + [32]  # struct GpuFigures of warpbook.cuh
        device.write(self.buffers["figures"], b"".join(x.to_bytes(4, "little") for x in told))
        self.begin, self.end = device.event(), device.event()

    def seconds_of(self, launch: Callable[[], None]) -> float:
        """Of what `launch` enqueues, from event to event."""
        self.device.mark(self.begin)
        launch()
        self.device.mark(self.end)
        self.device.synchronize()
        return self.device.seconds(self.begin, self.end)

    def shapes(self, kernel: Kernel, n: int) -> list[LaunchShape]:
        """The shape of every pass at n; runs the LAUNCH kernels where the file has them."""

        def ask(name: str, count: int) -> LaunchShape:
            function = self.function(kernel.source, f"launch_{name}")
            shape = self.buffers["shape"]
            self.device.fill(shape, 0, 256)
            sizes = (i64(size) for size in (count, *kernel.matrix(n)))
            self.device.launch(
                function, (1, 1, 1), (1, 1, 1), (u64(shape), u64(self.buffers["figures"]), *sizes)
            )
            raw = self.device.read(shape, 56)
            told = [int.from_bytes(raw[8 * i : 8 * i + 8], "little", signed=True) for i in range(7)]
            grid, block = (tuple(max(1, x) for x in told[i : i + 3]) for i in (0, 3))
            return LaunchShape(grid, block, told[6])  # type: ignore[arg-type]

        return kernel.ask_shapes(n, self.device.figures["sm_count"], ask)

    def check_launch(self, kernel: str, buffer: str, *arguments: Any) -> None:
        """Runs a kernel of check.cu over a buffer with a grid that fills the GPU."""
        function = self.function(CHECK, kernel)
        grid = (8 * self.device.figures["sm_count"], 1, 1)
        self.device.launch(function, grid, (256, 1, 1), (u64(self.buffers[buffer]), *arguments))

    def total(self, kernel: str, *arguments: Any) -> int:
        """What a kernel of check.cu adds up."""
        self.device.fill(self.buffers["total"], 0, 256)
        self.check_launch(kernel, "total", *arguments)
        return int.from_bytes(self.device.read(self.buffers["total"], 8), "little", signed=True)

    def clean_l2(self) -> None:
        """Writes four times the L2, then reads as much: nothing of ours is left in it, and all of it is clean."""
        self.device.fill(self.buffers["flush"], 0, self.flush_bytes)
        self.check_read("clean")

    def check_read(self, name: str, count: int = 0) -> None:
        """Reads the first bytes of a buffer, or all."""
        count = (count or self.bytes_of[name]) // 16
        self.check_launch("read_all", name, i64(count), u64(self.buffers["total"]))


class Prepared:
    """One kernel of the table at one size, with its shapes and arguments."""

    def __init__(self, bench: Bench, kernel: Kernel, n: int, told: int | None = None) -> None:
        """`told` is the n that the kernel is given, where that is not its number of elements."""
        self.bench, self.kernel, self.n = bench, kernel, n
        self.told = n if told is None else told
        self.shapes = bench.shapes(kernel, n)
        self.functions: list[Function] = []
        self.arguments: list[tuple[Any, ...]] = []
        for i, each in enumerate(kernel.passes):
            self.functions.append(bench.function(kernel.source, each.kernel, self.shapes[i].shared))
            self.arguments.append(self._arguments(each, self.shapes[i - 1] if i else None))
        self.outputs = kernel.output_count(n, self.shapes[-1])
        if kernel.element_bytes * self.outputs > bench.bytes_of["out"]:
            raise TableError(f"{kernel.name}: {self.outputs} outputs are more than the buffer holds")

    def _arguments(self, each: Pass, before: LaunchShape | None) -> tuple[Any, ...]:
        integers = self.kernel.integers(self.told, before)

        def made(name: str) -> Any:
            if name not in integers:
                return u64(self.bench.buffers[name])
            return (i64 if name == "n64" else i32)(integers[name])

        return tuple(made(name) for name in each.args)

    def reset(self) -> None:
        """Poisons or zeroes what is written."""
        bench = self.bench
        if any("state" in each.args for each in self.kernel.passes):
            bench.device.fill(bench.buffers["state"], 0, STATE_BYTES)
        pattern = 0 if self.kernel.zeroed else POISON
        bench.device.fill(bench.buffers["out"], pattern, min(8 * self.outputs + 64, bench.bytes_of["out"]))

    def launch(self) -> None:
        """All passes, in stream order."""
        for function, arguments, shape in zip(self.functions, self.arguments, self.shapes, strict=True):
            self.bench.device.launch(function, shape.grid, shape.block, arguments, shape.shared)

    def sample(self, *, cold: bool = True) -> float:
        """Seconds of one run."""
        bench = self.bench
        self.reset()
        if cold:
            bench.clean_l2()
        return bench.seconds_of(self.launch)

    def check(self) -> None:
        """Looks at what the last run left. Raises WrongResultError."""
        wrong = self._wrong()
        if wrong:
            raise WrongResultError(f"{self.kernel.name} at n = {self.n}: {wrong}")

    def _wrong(self) -> str:
        bench, kernel, n, out = self.bench, self.kernel, self.n, self.bench.buffers["out"]
        if kernel.check == "nothing":
            return ""
        if kernel.check in ("sum", "sum64", "l1"):
            if kernel.check == "l1":
                blocks = i64(self.shapes[0].blocks)
                expected = bench.total("expect_in_l1", i64(n), blocks)
            else:
                count = i64(n // kernel.every // kernel.times)
                expected = kernel.times * bench.total("expect_sum", count, i64(kernel.every))
            kind = "found_sum64" if kernel.check == "sum64" else "found_sum"
            found = bench.total(kind, i64(self.outputs), u64(out))
            return "" if found == expected else f"the sum is {found}, not {expected}"
        if kernel.check == "polynomial":
            wrong = bench.total("wrong_polynomial", i64(n), u64(out), i32(TERMS))
        else:
            name = {"square": "written", "product": "written"}.get(kernel.check, kernel.check)
            wrong = bench.total(f"wrong_{name}", i64(n), u64(out))
        return f"{wrong} elements are wrong" if wrong else ""


def median_interval(samples: list[float]) -> tuple[float, float, float]:
    """The median and the order statistics that enclose it with 95 % (binomial; by ranks)."""
    ordered, count = sorted(samples), len(samples)
    half = 1.96 * math.sqrt(count) / 2
    low, high = max(0, math.floor(count / 2 - half)), min(count - 1, math.ceil(count / 2 + half))
    middle = (ordered[(count - 1) // 2] + ordered[count // 2]) / 2
    return middle, ordered[low], ordered[high]


def measure(prepared: Prepared) -> dict[str, Any]:
    """Median, interval and shape of one kernel at one size; its result is checked first and last."""
    prepared.sample(cold=False)
    prepared.check()
    samples: list[float] = []
    while len(samples) < FEWEST_SAMPLES or (len(samples) < SAMPLES and sum(samples) < SECONDS_A_SIZE):
        samples.append(prepared.sample())
        if len(samples) == 3 and sum(samples) > 2 * SECONDS_A_SIZE:
            break
    prepared.check()
    middle, low, high = median_interval(samples)
    moved = prepared.kernel.bytes_that_must_move(prepared.n, prepared.outputs)
    shapes = [{"grid": s.grid, "block": s.block, "shared": s.shared} for s in prepared.shapes]
    return {
        "n": prepared.n,
        "seconds": float(f"{middle:.6g}"),
        "low": float(f"{low:.6g}"),
        "high": float(f"{high:.6g}"),
        "samples": len(samples),
        "bytes": moved,
        "gb_per_s": float(f"{moved / middle / 1e9:.5g}"),
        "shapes": shapes,
    }


def record_kernel(bench: Bench, kernel: Kernel, sizes: tuple[int, ...]) -> dict[str, Any]:
    """Everything timed of one kernel."""
    points: list[dict[str, Any]] = []
    left_out: list[int] = []
    for n in sizes:
        if n > kernel.most:
            continue
        growth = n / points[-1]["n"] if points else 1.0
        if points and points[-1]["seconds"] * growth > LONGEST_LAUNCH:
            left_out.append(n)
            continue
        prepared = Prepared(bench, kernel, n)
        points.append(measure(prepared))
    figures = []
    if not points:
        raise TableError(f"{kernel.name}: it is measured at no size")
    for each, function, shape in zip(kernel.passes, prepared.functions, prepared.shapes, strict=True):
        figures.append(
            {
                "kernel": each.kernel,
                "registers": function.registers,
                "static_shared": function.shared_bytes,
                "local_bytes": function.local_bytes,
                "resident_blocks": bench.device.resident_blocks(function, shape.block_threads, shape.shared),
            }
        )
    return {
        "name": kernel.name,
        "source": kernel.source_hash,
        "passes": figures,
        "points": points,
        "left_out": left_out,
    }


# ---- Single figures of the device ----------------------------------------------------------------------------


def calibrate(bench: Bench) -> dict[str, float]:
    """Cycles of single operations, latencies, the clock."""
    total, ring = u64(bench.buffers["total"]), bench.device.allocate(4 * RING)
    figures: dict[str, float] = {}

    def measure(kernel: str, threads: int, start: int = 0) -> tuple[int, int]:
        function = bench.function(CALIBRATE, kernel)
        bench.device.launch(function, (1, 1, 1), (threads, 1, 1), (total, u64(ring), u32(start)))
        raw = bench.device.read(bench.buffers["total"], 16)
        return int.from_bytes(raw[:8], "little"), int.from_bytes(raw[8:], "little")

    def cycles(kernel: str, threads: int, steps: int, *, elements: int = 0, cold: bool = False) -> float:
        times = []
        for i in range(5):
            if cold:
                bench.clean_l2()
            elif elements:
                read = bench.function(CHECK, "read_all")
                bench.device.launch(read, (264, 1, 1), (256, 1, 1), (u64(ring), i64(elements // 4), total))
            times.append(measure(kernel, threads, 3 if threads > 1 else 7 * i)[0] / steps)
        return sorted(times)[2]

    for name, kernel in (("fma", "fma"), ("mad", "add"), ("root", "root"), ("shuffle", "shuffle")):
        figures[f"{name}_cycles"] = cycles(f"cycles_{kernel}", 32, 1024)
    figures["shared_cycles"] = cycles("cycles_shared", 32, 1024)
    for warps in (1, 4, 8, 32):
        figures[f"barrier_{warps}_warps_cycles"] = cycles("cycles_barrier", 32 * warps, 1024)

    def make_ring(elements: int) -> None:
        fill = bench.function(CHECK, "fill_next")
        bench.device.launch(fill, (1056, 1, 1), (256, 1, 1), (u64(ring), i64(elements)))

    make_ring(2**10)
    figures["l1_cycles"] = cycles("cycles_l1", 1, 1024)
    figures["atomic_cycles"] = cycles("cycles_atomic", 1, 64, elements=2**10)
    for mib in (1, 16, 32):
        make_ring(mib << 18)
        figures[f"l2_{mib}_mib_cycles"] = cycles("cycles_memory", 1, 1024, elements=mib << 18)
    for mib in (64, RING >> 18):
        make_ring(mib << 18)
        figures[f"dram_{mib}_mib_cycles"] = cycles("cycles_memory", 1, 1024, cold=True)
    figures |= _atomics(bench)
    spun, nanoseconds = measure("clock_rate", 1)
    figures["clock_khz"] = 1e6 * spun / nanoseconds
    return {key: float(f"{value:.5g}") for key, value in figures.items()}


def _atomics(bench: Bench) -> dict[str, float]:
    """Nanoseconds of atomics of a full grid on one line of 128 bytes, and on two that are some lines apart."""
    to, blocks, threads, rounds = bench.buffers["flush"], 8 * bench.device.figures["sm_count"], 256, 64
    requests = blocks * threads // 32 * rounds
    bench.device.fill(to, 0, 1 << 16)

    def each(kernel: str, mask: int, apart: int = 0) -> float:
        function = bench.function(CALIBRATE, kernel)
        arguments = (u64(to), u32(apart), u32(mask), u32(rounds))

        def launch() -> None:
            bench.device.launch(function, (blocks, 1, 1), (threads, 1, 1), arguments)

        return 1e9 * sorted(bench.seconds_of(launch) for _ in range(5))[2] / requests

    figures = {
        "atomic_word_ns": each("atomics_u32", 0) / 32,  # 32 lanes on a word
        "atomic_sector_ns": each("atomics_u32", 31) / 4,  # on all words of four sectors
        "atomic_float_ns": each("atomics_f32", 0) / 32,
    }
    return figures | {f"atomic_line_{apart}_ns": each("atomics_u32", 31, apart) for apart in range(1, 8)}


def nvidia_smi() -> dict[str, str]:
    """Driver version and clocks as nvidia-smi tells them; empty without it."""
    fields = "driver_version,clocks.sm,clocks.mem,clocks.max.sm,power.draw,temperature.gpu,"
    fields += "clocks_event_reasons.active"
    try:
        done = subprocess.run(
            ["nvidia-smi", "-i", "0", f"--query-gpu={fields}", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=20,
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    told = [part.strip() for part in done.stdout.strip().split(",")]
    return dict(zip(fields.split(","), told, strict=False)) if done.returncode == 0 else {}


# ---- Under ncu --------------------------------------------------------------------------------------------------


def launch_for_ncu(kernels: list[Kernel], sizes: tuple[int, ...]) -> None:
    """Runs every kernel once at each size: what ncu looks at. The order is that of `expected_launches`."""
    bench = Bench(Device(), max(LEAST_BUFFER, *sizes))
    bench.prepare(kernels)
    # ncu saves and restores what a kernel writes between passes: the tickets of one launch stay whole.
    for kernel in kernels:
        for n in sizes:
            prepared = Prepared(bench, kernel, n)
            prepared.reset()
            prepared.launch()
            bench.device.synchronize()


def with_ncu(kernels: list[Kernel], record: dict[str, Any], sizes: tuple[int, ...], seconds: float) -> None:
    """Adds `counters` to every kernel of the record, a list of one entry a size and pass."""
    passes = {each.kernel for kernel in kernels for each in kernel.passes}
    # What took long is left out: ncu runs it some ten times.
    timed = {entry["name"]: entry for entry in record["kernels"]}

    def is_short(kernel: Kernel, n: int) -> bool:
        points = {point["n"]: point["seconds"] for point in timed[kernel.name]["points"]}
        return bool(points.get(n, math.inf) < 0.1)

    chosen = [k for k in kernels if all(is_short(k, n) for n in sizes)]
    with tempfile.TemporaryDirectory() as folder:
        names = Path(folder) / "names.json"
        names.write_text(json.dumps({"names": [k.name for k in chosen], "sizes": sizes}))
        command = [sys.executable, "-m", "bench.record", "--for-ncu", str(names)]
        launches, missing = count_launches(command, passes, Path(folder), seconds)
    record["ncu_missing_metrics"] = missing
    record["ncu_left_out"] = [k.name for k in kernels if k not in chosen]
    at = 0
    for kernel in chosen:
        counters: list[dict[str, Any]] = []
        for n in sizes:
            for each in kernel.passes:
                if at >= len(launches):
                    break
                told = launches[at]
                if told.pop("kernel") != each.kernel:
                    raise GpuError(f"ncu: launch {at} is not {each.kernel}")
                counters.append({"n": n, "kernel": each.kernel, **told})
                at += 1
        timed[kernel.name]["counters"] = counters
    record["ncu_launches"] = at


# ---- The whole ----------------------------------------------------------------------------------------------------


def write_record(record: dict[str, Any], path: Path) -> None:
    """Write it to a new file, one point of a kernel per line, and rename it into place."""
    text = json.dumps(record, indent=1)
    # Lists of numbers and innermost objects on one line: a record is read in diffs.
    text = re.sub(r"[\[{][^\[\]{}]*[\]}]", lambda found: re.sub(r"\s*\n\s*", " ", found[0]), text)
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    scratch.write_text(text + "\n")
    scratch.replace(path)


def dry_run(kernels: list[Kernel], sizes: tuple[int, ...]) -> int:
    """Compiles everything, checks that the kernels named are there, and lists what would run."""
    made = compile_all([k.source for k in kernels] + [CHECK, CALIBRATE])
    figures = {source: ptxas_figures(ptx) for source, ptx in made.items()}
    print(f"{'kernel':44} {'regs':>4} {'spill':>5}  shape at n = {max(sizes):,} on 132 SMs")
    for kernel in kernels:
        for each in kernel.passes:
            wanted = [each.kernel] + ([f"launch_{each.kernel}"] if kernel.asks_launch else [])
            there = figures[kernel.source]
            if absent := [name for name in wanted if not entry_named(name, there)]:
                raise TableError(f"{kernel.name}: {kernel.source.name} has no {', '.join(absent)}")
            told = there[entry_named(each.kernel, there) or ""]
            words = "LAUNCH"
            if not kernel.asks_launch:
                shape = kernel.shape(max(sizes), 132)
                words = f"{shape.grid} x {shape.block}, {shape.shared} bytes"
            spill = told["spill_store_bytes"] + told["spill_load_bytes"]
            print(f"{kernel.name:44} {told['registers']:4} {spill:5}  {words}")
    print(f"{len(kernels)} kernels, {len(sizes)} sizes each")
    return 0


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="bench.record", description=__doc__.splitlines()[0])
    parser.add_argument("--dry-run", action="store_true", help="compile and list; needs no GPU")
    parser.add_argument("--only", help="kernels whose name matches this pattern")
    parser.add_argument("--sizes", help="n, comma-separated, powers of 4", default="")
    parser.add_argument("--out", type=Path, help="instead of bench/records/DEVICE.json")
    parser.add_argument("--no-ncu", action="store_true", help="times only")
    parser.add_argument("--missing", action="store_true", help="what the record lacks; with --out")
    parser.add_argument("--add", type=Path, metavar="FILE", help="put the entries of this record into it")
    parser.add_argument("--counted", help="n at which ncu counts, comma-separated", default="")
    parser.add_argument("--ncu-seconds", type=float, default=240.0, help="the most that ncu may take (240)")
    parser.add_argument("--for-ncu", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    try:
        kernels = read_table()
        sizes = tuple(int(text) for text in given.sizes.split(",")) if given.sizes else SIZES
        if given.for_ncu:
            asked = json.loads(given.for_ncu.read_text())
            launch_for_ncu([k for k in kernels if k.name in asked["names"]], tuple(asked["sizes"]))
            return 0
        if given.add:
            return add_entries(kernels, given.add)
        if given.missing:
            kernels = missing(kernels)
        if given.only:
            kernels = [k for k in kernels if re.search(given.only, k.name)]
        if given.dry_run:
            return dry_run(kernels, sizes)
        counted = tuple(int(text) for text in given.counted.split(",")) if given.counted else COUNTED_SIZES
        seconds = 0.0 if given.no_ncu else given.ncu_seconds
        return record(kernels, sizes, given.out, counted, seconds)
    except (GpuError, CompileError, TableError, WrongResultError) as error:
        print(f"warpbook: {error}", file=sys.stderr)
        return 3


def missing(kernels: list[Kernel]) -> list[Kernel]:
    """What the committed record does not have, or has of a file that has changed."""
    told = {entry["name"]: entry["source"] for entry in json.loads(COMMITTED.read_text())["kernels"]}
    return [kernel for kernel in kernels if told.get(kernel.name) != kernel.source_hash]


def add_entries(kernels: list[Kernel], path: Path) -> int:
    """Puts the entries of a record into the committed one, in the table's order; each says when it was made."""
    whole, new = json.loads(COMMITTED.read_text()), json.loads(path.read_text())
    if new["device"]["name"] != whole["device"]["name"]:
        raise TableError(f"{path} is of {new['device']['name']}, not of {whole['device']['name']}")
    entries = {entry["name"]: entry for entry in whole["kernels"]}
    entries |= {entry["name"]: {**entry, "date": new["date"]} for entry in new["kernels"]}
    whole["kernels"] = [entries[kernel.name] for kernel in kernels if kernel.name in entries]
    whole["calibration"] = new["calibration"] | whole["calibration"]  # figures that it lacked
    write_record(whole, COMMITTED)
    print(f"{len(new['kernels'])} entries added; {len(whole['kernels'])} in {COMMITTED.relative_to(ROOT)}")
    return 0


def record(
    kernels: list[Kernel],
    sizes: tuple[int, ...],
    out: Path | None,
    counted: tuple[int, ...],
    ncu_seconds: float,
) -> int:
    """Measures and writes. A kernel whose result is wrong is named, left out, and makes the status 1."""
    began = time.monotonic()
    bench = Bench(Device(), max(LEAST_BUFFER, *sizes))
    bench.prepare(kernels)
    device = bench.device
    made: dict[str, Any] = {
        "schema": "warpbook/record/1",
        "device": {"name": device.name, "cuda": device.cuda_version, "memory_bytes": device.memory_bytes},
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "smi_before": nvidia_smi(),
    }
    made["device"] |= device.figures
    made["calibration"] = calibrate(bench)
    print(f"{device.name}, CUDA {device.cuda_version}; {made['calibration']}", flush=True)
    made["kernels"] = []
    wrong: list[str] = []
    for kernel in kernels:
        try:
            entry = record_kernel(bench, kernel, sizes)
        except WrongResultError as error:
            wrong.append(str(error))
            print(f"WRONG {error}", flush=True)
            continue
        made["kernels"].append(entry)
        last = entry["points"][-1]
        print(
            f"{time.monotonic() - began:6.1f} s  {kernel.name:44} n = {last['n']:>13,}"
            f"  {last['seconds'] * 1e6:>10.1f} us  {last['gb_per_s']:>8.1f} GB/s",
            flush=True,
        )
    made["smi_after"] = nvidia_smi()
    name = re.sub(r"\W+", "-", device.name).strip("-")
    path = out or RECORDS / f"{name}.json"
    write_record(made, path)  # what is timed is kept whatever becomes of ncu
    if ncu_seconds > 0:
        measured = {entry["name"] for entry in made["kernels"]}
        try:
            tool("ncu")
        except CompileError as error:
            print(f"no counters: {error}", flush=True)
        else:
            with_ncu(
                [k for k in kernels if k.name in measured],
                made,
                tuple(n for n in counted if n <= max(sizes)),
                seconds=ncu_seconds,
            )
            write_record(made, path)
    shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    print(f"{len(made['kernels'])} kernels into {shown}, {time.monotonic() - began:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(guarded(main))
