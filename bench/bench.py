"""`make bench`: every reference beside its peers, in one run, taking turns, on the present GPU.

    python -m bench.bench            measures everything, writes bench/records/bench-DEVICE.json, the tables of
                                     docs/benchmarks.md and its plots
    python -m bench.bench --quick    a few sizes in a minute; writes build/bench/quick-DEVICE.json alone

Every contender's result is compared with the right one before and after it is timed. One that fails is
recorded with its message, and the others continue. The GPU's clocks and settings stay as they are.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from grader.core.entry import guarded
from grader.core.workbook import find_workbook, write_json

from . import claims, report, stats
from .clocks import Clocks
from .compiling import CompileError, tool
from .counting import count_contenders
from .gpu import Device, GpuError
from .peers import (
    Library,
    MissingError,
    Torch,
    Triton,
    cccl_folders,
    cccl_version,
    compile_peers,
    driver_version,
    one_line,
    toolkit_cccl,
)
from .references import REFERENCES, Solutions
from .table import ROOT
from .timing import STATES, Contender, Effort, Samples, Timer
from .works import WORKS, Size, Tools, Work

SCHEMA = "warpbook/bench/1"
RECORDS = ROOT / "bench" / "records"
LEFT_FREE = 2 << 30  # bytes of device memory for PyTorch's and CUDA's own needs
COUNTED = {"sum": Size(2**26), "add": Size(2**26), "add_bf16": Size(2**26)}  # under ncu; else the only size


def launches_per_sample(bytes_moved: int) -> int:
    """So many that a sample takes some 20 microseconds where one launch takes less."""
    return 8 if bytes_moved <= 16 << 20 else 4 if bytes_moved <= 64 << 20 else 1


# ---- Finding what there is -------------------------------------------------------------------------------


def prepare(build: Path, out: Path, works: Sequence[type[Work]]) -> tuple[Tools, dict[str, str]]:
    """The device with everything that takes part, and the versions of it all."""
    device = Device()
    folder = build / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    cubin = folder / f"support-{device.architecture}.cubin"
    nvcc = tool("nvcc")
    done = subprocess.run(
        [
            nvcc,
            "-std=c++17",
            "-O3",
            "-cubin",
            f"-arch={device.architecture}",
            "-o",
            str(cubin),
            "bench/support.cu",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise CompileError(f"bench/support.cu does not compile: {done.stdout}{done.stderr}")
    support = device.load(cubin)
    clocks = Clocks(device.pci_bus_id)
    tools = Tools(device, support, Solutions(device, build, out), Timer(device, support, clocks))
    driver = driver_version(device) if clocks.missing else clocks.driver
    versions = {"driver": driver, "CUDA": device.cuda_version, "nvcc": _nvcc_release(nvcc)}
    if clocks.missing:
        tools.missing["NVML"] = clocks.missing
    _find_libraries(tools, build, versions)
    try:
        tools.torch = Torch(device)
        versions["PyTorch"] = tools.torch.version
        tools.triton = Triton()
        versions["Triton"] = tools.triton.version
    except Exception as error:
        tools.missing["Triton" if tools.torch else "PyTorch"] = one_line(error)
        if not tools.torch:
            tools.missing["Triton"] = "it is launched through PyTorch's tensors"
    return tools, versions


def _find_libraries(tools: Tools, build: Path, versions: dict[str, str]) -> None:
    """CUB and thrust of every CCCL that is here, the newest first."""
    try:
        folders = [*cccl_folders(build), toolkit_cccl()]
    except MissingError as error:
        folders = cccl_folders(build)
        tools.missing["CUB of the toolkit"] = str(error)
    releases = {cccl_version(folder): folder for folder in reversed(folders)}
    with ThreadPoolExecutor(len(releases) or 1) as pool:
        jobs = {
            version: pool.submit(compile_peers, build, folder, tools.device.architecture)
            for version, folder in releases.items()
        }
    for version, job in jobs.items():
        try:
            tools.libraries.append(Library(tools.device, job.result(), version))
        except Exception as error:
            tools.missing[f"CUB {version}"] = one_line(error)
    tools.libraries.sort(key=lambda each: [int(x) for x in each.version.split(".")], reverse=True)
    if tools.libraries:
        versions["CCCL (CUB, thrust)"] = ", ".join(each.version for each in tools.libraries)
    else:
        tools.missing.setdefault("CUB", "its headers were not found or did not compile")


def _nvcc_release(nvcc: str) -> str:
    done = subprocess.run([nvcc, "--version"], capture_output=True, text=True)
    found = re.search(r"V([\d.]+)", done.stdout)
    return found[1] if found else "unknown"


def describe(device: Device) -> dict[str, Any]:
    """The GPU's figures."""
    kept = ("sm_count", "clock_khz", "memory_clock_khz", "memory_bus_bits", "l2_bytes")
    return {
        "name": device.name,
        "architecture": device.architecture,
        **{key: device.figures[key] for key in kept},
        "memory_bytes": device.memory_bytes,
        "peak_gb_per_s": _rounded(device.peak_bytes_per_second / 1e9),
    }


# ---- Measuring -------------------------------------------------------------------------------------------


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")


def run_and_check(contenders: Sequence[Contender], slots: int, tools: Tools) -> dict[str, str]:
    """Runs every contender once on all inputs. Names of those that fail or are wrong, and how."""
    wrong: dict[str, str] = {}
    for contender in contenders:
        try:
            contender.reset()
            for slot in range(slots):
                contender.enqueue(slot)
            tools.device.synchronize()
            if complaint := contender.check():
                wrong[contender.name] = f"wrong result: {complaint}"
        except Exception as error:
            wrong[contender.name] = one_line(error)
    return wrong


def measure_size(tools: Tools, kind: type[Work], size: Size, effort: Effort) -> list[dict[str, Any]]:
    """The entries of one size, one for each state of the L2."""
    slots = launches_per_sample(kind.bytes_of(size))
    work = kind(tools, size, slots)
    try:
        contenders, failed = work.contenders()
        work.fill()
        failed |= run_and_check(contenders, slots, tools)
        work.fill_for_timing()
        entries = []
        for state in STATES:
            taking_part = [each for each in contenders if each.name not in failed]
            samples = tools.timer.measure(taking_part, slots, effort, state=state)
            late = run_and_check(taking_part, slots, tools)
            late = {name: f"after the timed runs: {words}" for name, words in late.items()}
            entries.append(entry_of(work, contenders, samples, failed | late, state=state))
        return entries
    finally:
        work.close()


def entry_of(
    work: Work,
    contenders: Sequence[Contender],
    samples: dict[str, Samples],
    failed: dict[str, str],
    *,
    state: str,
) -> dict[str, Any]:
    """One case of the record."""
    size, moved = work.size, work.bytes_of(work.size)
    results = []
    for contender in contenders:
        one = samples.get(contender.name, Samples())
        error = failed.get(contender.name) or one.error
        entry: dict[str, Any] = {"name": contender.name, "role": contender.role}
        if contender.note:
            entry["note"] = contender.note
        if not error and not one.seconds:
            error = "no sample was clean"
        if error:
            entry["error"] = error
        else:
            middle, (low, high) = stats.median(one.seconds), stats.quartiles(one.seconds)
            entry |= {
                "us": _rounded(1e6 * middle),
                "quartiles_us": [_rounded(1e6 * low), _rounded(1e6 * high)],
                "relative_error": float(f"{stats.relative_error(one.seconds):.2g}"),
                "samples": len(one.seconds),
            }
            if contender.role != "floor":
                entry["gb_per_s"] = _rounded(moved / middle / 1e9)
        if one.host_behind or one.slowed:
            entry["dropped"] = {"host behind": one.host_behind, "clocks low": one.slowed}
            entry["clocks_low_by"] = sorted(one.slowed_by)
        results.append(entry)
    named = {each.name for each in contenders}
    results += [
        {"name": name, "role": _role(name), "error": error}
        for name, error in failed.items()
        if name not in named
    ]
    good = {each["name"]: samples[each["name"]].seconds for each in results if "us" in each}
    best = {each.name for each in REFERENCES if each.is_best}
    peers = [each.name for each in contenders if each.role == "peer" and each.name in good]
    ratios = []
    for reference in sorted(best & good.keys()):
        for peer in peers:
            ratio, low, high = stats.ratio_of_medians(good[peer], good[reference])
            told = [_rounded(x) for x in (ratio, low, high)]
            ratios.append({"reference": reference, "peer": peer, "ratio": told[0], "interval": told[1:]})
    return {
        "work": work.key,
        "n": size.n,
        "rows": size.rows,
        "columns": size.columns,
        "l2": state,
        "bytes": moved,
        "launches_per_sample": work.slots,
        "results": results,
        "ratios": ratios,
    }


def _role(name: str) -> str:
    return "reference" if name in {each.name for each in REFERENCES} else "peer"


def measure(
    tools: Tools, works: Sequence[type[Work]], effort: Effort, *, quick: bool
) -> list[dict[str, Any]]:
    """All cases. A size that cannot be set up is named in the record, and the others continue."""
    cases: list[dict[str, Any]] = []
    tools.timer.delay(0.05)  # from idle clocks to working ones
    for kind in works:
        for size in kind.sizes(quick=quick):
            begun = time.monotonic()
            try:
                entries = measure_size(tools, kind, size, effort)
            except Exception as error:
                entries = [failed_case(kind, size, one_line(error))]
            cases += entries
            print(progress(entries, time.monotonic() - begun), flush=True)
    return cases


def failed_case(kind: type[Work], size: Size, error: str) -> dict[str, Any]:
    """The record's entry of a size that could not be measured."""
    entry: dict[str, Any] = {"work": kind.key, "n": size.n, "rows": size.rows, "columns": size.columns}
    entry |= {"l2": "cold", "bytes": kind.bytes_of(size), "launches_per_sample": 0}
    return entry | {"results": [], "ratios": [], "error": error}


def progress(entries: Sequence[dict[str, Any]], seconds: float) -> str:
    """One line on the terminal a size."""
    first = entries[0]
    words = f"  {first['work']:<10} {report.size_words(first):<16} "
    if "error" in first:
        return f"{words}{first['error']}"
    told = []
    for entry in entries:
        best = claims.against_best(entry)
        if best:
            told.append(f"{entry['l2']} {best.gb_per_s:,.0f} GB/s, {best.ratio:.3f} x {best.peer}")
        failed = [each["name"] for each in entry["results"] if "error" in each]
        if failed:
            told.append(f"{entry['l2']} without {', '.join(failed)}")
    return f"{words}{'; '.join(told)} ({seconds:.1f} s)"


# ---- The whole -------------------------------------------------------------------------------------------


def run_for_ncu(tools: Tools, works: Sequence[type[Work]]) -> None:
    """Every contender once, behind a marker that says which comes: what ncu looks at."""
    index = 0
    for kind in works:
        size = COUNTED.get(kind.key) or kind.sizes(quick=False)[-1]
        work = kind(tools, size, 1)
        contenders, _ = work.contenders()
        work.fill()
        tools.device.synchronize()
        for contender in contenders:
            index += 1
            with contextlib.suppress(Exception):  # the timed runs told it
                contender.reset()
                contender.enqueue(0)  # what is compiled at first use is compiled now
                tools.device.synchronize()
                tools.device.profiled(on=True)
                tools.launch("marker", [], blocks=index)
                contender.enqueue(0)
                tools.device.synchronize()
                tools.device.profiled(on=False)
                print(f"counted {index} {kind.key} {size.n} {contender.name}", flush=True)
        work.close()


def make_record(
    tools: Tools, versions: dict[str, str], cases: list[dict[str, Any]], seconds: float, effort: Effort
) -> dict[str, Any]:
    """Everything but the counters."""
    return {
        "schema": SCHEMA,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "command": "make bench",
        "device": describe(tools.device),
        "versions": versions,
        "python": platform.python_version(),
        "missing": tools.missing,
        "clocks": tools.timer.clocks.now(),
        "method": {
            "flush_bytes": tools.timer.flush_bytes,
            "least_samples": effort.least,
            "most_samples": effort.most,
            "relative_error": effort.error,
            "confidence": stats.CONFIDENCE,
            "resamples": stats.RESAMPLES,
        },
        "cases": cases,
        "seconds": round(seconds, 1),
    }


def _arguments(given: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="a few sizes, nothing committed is written")
    parser.add_argument("--only", default="", help="works, by commas: " + ",".join(w.key for w in WORKS))
    parser.add_argument("--out", type=Path, help="write the record there, and no tables")
    parser.add_argument("--no-counters", action="store_true", help="leave ncu out")
    parser.add_argument("--seconds", type=float, default=3.0, help="for one size and state of the L2 (3)")
    parser.add_argument("--for-ncu", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(given)


def main(arguments: Sequence[str]) -> int:
    """Measures, writes, prints. 0: all claims hold; 1: some do not; 2: usage; 3: the machine's fault."""
    given = _arguments(arguments)
    wanted = {key.strip() for key in given.only.split(",") if key.strip()}
    unknown = wanted - {work.key for work in WORKS}
    if unknown:
        print(f"warpbook: there is no work {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    works = [work for work in WORKS if not wanted or work.key in wanted]
    workbook = find_workbook()
    begun = time.monotonic()
    try:
        tools, versions = prepare(workbook.build, workbook.out, works)
        if given.for_ncu:
            run_for_ncu(tools, works)
            return 0
        effort = Effort(seconds=given.seconds / (4 if given.quick else 1))
        print(f"{tools.device.name}; " + ", ".join(f"{k} {v}" for k, v in versions.items()), flush=True)
        for name, why in tools.missing.items():
            print(f"  missing: {name}: {why}", flush=True)
        cases = measure(tools, works, effort, quick=given.quick)
    except (GpuError, CompileError, OSError) as error:
        print(f"warpbook: {error}", file=sys.stderr)
        return 3
    record = make_record(tools, versions, cases, time.monotonic() - begun, effort)
    if not given.quick and not given.no_counters:
        record["counters"], why = count_contenders([work.key for work in works], workbook.build / "bench")
        if why:
            record["missing"]["ncu"] = why
        record["seconds"] = round(time.monotonic() - begun, 1)
    slug = re.sub(r"[^A-Za-z0-9]+", "-", tools.device.name).strip("-")
    is_whole = not given.quick and not wanted and not given.out
    partial = workbook.build / "bench" / f"{'quick' if given.quick else 'part'}-{slug}.json"
    path = RECORDS / f"bench-{slug}.json" if is_whole else given.out or partial
    write_json(path, record)
    if is_whole:
        report.write(ROOT)
    print(report.for_terminal(record))
    print(f"{os.path.relpath(path, Path.cwd())} written, {record['seconds']:.0f} s in all")
    return 0 if all(claim.is_met for claim in claims.judge(record)) else 1


if __name__ == "__main__":
    sys.exit(guarded(lambda: main(sys.argv[1:])))
