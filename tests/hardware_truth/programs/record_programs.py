#!/usr/bin/env python3
"""Profiles the kernels of whole programs with Nsight Compute several times: runs.csv.

    python3 tests/hardware_truth/programs/record_programs.py --sources FOLDER --out FOLDER [--only FILE]

needs nvcc, ncu and a GPU, and nothing beyond Python's own library. FOLDER has the projects that programs.csv names
(cuda-samples, HeCBench, llm.c, rodinia, training). FILE is a CSV with the columns program and kernel: these kernels
are profiled, or all of a program where the kernel is left empty; without FILE, all of all. Each program runs `--runs`
times, so that the table has the least and the most that a counter shows:

    program, kernel, launches, counter, runs, min, max, values

A counter is the sum over a kernel's launches. What failed or found no time is told on stderr, and is not in the table.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from record import read_ncu, tool, write_rows  # noqa: E402

_OPERATIONS = ("ld", "st", "red", "atom")
METRICS = {
    f"global_{op}_{what}": f"l1tex__t_{what}_pipe_lsu_mem_global_op_{op}.sum"
    for op in _OPERATIONS
    for what in ("requests", "sectors")
}
METRICS |= {
    f"local_{op}_{what}": f"l1tex__t_{what}_pipe_lsu_mem_local_op_{op}.sum"
    for op in ("ld", "st")
    for what in ("requests", "sectors")
}
METRICS |= {f"issued_shared_{op}": f"smsp__inst_executed_op_shared_{op}.sum" for op in ("ld", "st", "atom")}
METRICS |= {
    f"shared_{op}_wavefronts": f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum"
    for op in ("ld", "st", "atom")
}
METRICS |= {
    f"shared_{op}_conflicts": f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum"
    for op in ("ld", "st")
}
METRICS["issued_branch_divergent"] = "smsp__sass_branch_targets_threads_divergent.sum"
COLUMNS = ["program", "kernel", "launches", "counter", "runs", "min", "max", "values"]
PROGRAM_SECONDS = 60.0  # for one run of ncu
COMPILERS = 8

Program = dict[str, str]
Sums = dict[
    str, tuple[int, dict[str, int]]
]  # of one run, by kernel: its launches and the sum of each counter


def compile_program(program: Program, sources: Path, output: Path) -> bool:
    """Builds one program with nvcc, in its own folder."""
    command = [tool("nvcc"), "-arch=sm_90", "-lineinfo", "-O3", "-std=c++17"]
    command += [f"-I{sources}/cuda-samples/Common", *program["files"].split(), *program["flags"].split()]
    folder = sources / program["folder"]
    done = subprocess.run([*command, "-o", str(output)], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        print(f"{program['program']}: not compiled\n{done.stderr[-400:]}", file=sys.stderr)
    return done.returncode == 0


def profile(program: Program, executable: Path, sources: Path, kernels: list[str], log: Path) -> Sums:
    """One run under ncu; {} if it failed."""
    launches = ["--launch-count", "60"]
    if program["launches"] == "one of each shape":
        launches = ["--filter-mode", "per-launch-config", "--launch-count", "1"]
    if all(kernels) and kernels:
        names = "|".join(kernel.partition("(")[0] for kernel in kernels)
        launches += ["--kernel-name-base", "mangled", "--kernel-name", f"regex:^({names})$"]
    command = [
        *(tool("ncu"), "--csv", "--page", "raw", "--print-units", "base", "--print-kernel-base", "mangled"),
        *("--clock-control", "none", "--cache-control", "all", "--replay-mode", "kernel", *launches),
        *("--metrics", ",".join(METRICS.values()), "--log-file", str(log)),
        *(str(executable), *program["arguments"].split()),
    ]
    said = ""
    try:
        done = subprocess.run(
            command,
            cwd=sources / program["folder"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PROGRAM_SECONDS,
        )
        said = done.stderr
    except subprocess.TimeoutExpired:
        said = "took too long"
    text = log.read_text(errors="replace") if log.exists() else ""
    sums: Sums = {}
    for row in read_ncu(text, METRICS):
        kernel = str(row["kernel"])
        count, totals = sums.get(kernel, (0, dict.fromkeys(METRICS, 0)))
        sums[kernel] = (count + 1, {m: totals[m] + round(float(str(row[m]))) for m in METRICS if row.get(m)})
    if not sums:
        errors = [line for line in text.splitlines() if "==ERROR==" in line]
        print(f"{program['program']}: no rows: {errors[:2]} {said[-200:]}", file=sys.stderr)
    return sums


def rows_of(runs: dict[str, list[Sums]]) -> list[dict[str, object]]:
    """The table; a run with another number of launches than the first one is told and left out."""
    rows: list[dict[str, object]] = []
    for name, found in runs.items():
        for kernel in dict.fromkeys(kernel for sums in found for kernel in sums):
            seen = [sums[kernel] for sums in found if kernel in sums]
            launches = seen[0][0]
            same = [counters for count, counters in seen if count == launches]
            if len(same) < len(seen):
                print(f"{name}: {kernel}: launches {[count for count, _ in seen]}", file=sys.stderr)
            for counter in METRICS:
                values = [counters[counter] for counters in same if counter in counters]
                if any(values):
                    figures = (name, kernel, launches, counter, len(values), min(values), max(values))
                    rows.append(dict(zip(COLUMNS, (*figures, " ".join(map(str, values))), strict=True)))
    return rows


def record(options: argparse.Namespace, work: Path) -> int:
    """Everything; 0 if every program ran as often as it should."""
    began = time.monotonic()
    sources, only = options.sources.resolve(), defaultdict(list)
    with (HERE / "programs.csv").open(newline="") as file:
        programs = list(csv.DictReader(file))
    if options.only:
        with options.only.open(newline="") as file:
            for row in csv.DictReader(file):
                only[row["program"]].append(row["kernel"])
        programs = [program for program in programs if program["program"] in only]
    runs: dict[str, list[Sums]] = defaultdict(list)
    builds: dict[tuple[str, ...], tuple[Path, Future[bool]]] = {}

    def one(program: Program, number: int) -> None:
        executable, built = builds[program["folder"], program["files"], program["flags"]]
        name = program["program"]
        if not built.result() or time.monotonic() - began > options.seconds:
            return
        log = work / f"{name}.{number}.csv"
        sums = profile(program, executable, sources, only[name], log)
        if sums:
            runs[name].append(sums)

    with ThreadPoolExecutor(COMPILERS) as compilers, ThreadPoolExecutor(options.jobs) as profilers:
        for program in programs:
            key = (program["folder"], program["files"], program["flags"])
            if key not in builds:
                executable = work / program["program"]
                builds[key] = (executable, compilers.submit(compile_program, program, sources, executable))
        done = [profilers.submit(one, p, number) for number in range(options.runs) for p in programs]
        for future in done:
            future.result()
    options.out.mkdir(parents=True, exist_ok=True)
    write_rows(options.out / "runs.csv", rows_of(runs), COLUMNS)
    short = [f"{p['program']} {len(runs[p['program']])}" for p in programs]
    short = [told for told in short if not told.endswith(f" {options.runs}")]
    print(
        f"{len(programs)} programs, {time.monotonic() - began:.0f} s; fewer runs: {', '.join(short) or 'none'}"
    )
    return 1 if short else 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Profile whole programs with ncu several times.")
    parser.add_argument("--sources", type=Path, required=True, help="the folder of the projects")
    parser.add_argument("--out", type=Path, required=True, help="the folder for runs.csv")
    parser.add_argument("--only", type=Path, help="a CSV of the programs and kernels to profile")
    parser.add_argument("--runs", type=int, default=5, help="how often each program runs (default 5)")
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time (default 1)")
    parser.add_argument("--seconds", type=float, default=3600, help="start no run after that many")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        return record(options, Path(work))


if __name__ == "__main__":
    sys.exit(main())
