#!/usr/bin/env python3
"""Compares `./warpbook profile` of whole programs with what Nsight Compute counted: counters.csv.

    python3 tests/hardware_truth/programs/compare_programs.py --sources FOLDER --profiles FOLDER [--list]

--sources has the projects that programs.csv names. Each program without a document NAME.json in --profiles is run, and
its profile is kept there. llm.c's programs were recorded with B = 2, T = 32, V = 1000 and repeat_times = 1 in place of
the sizes in their sources. Of each set the figures are apart:

    equal      to the first run of ncu
    within     not equal, but between the least and the most that ncu showed in several runs, if these differ
    different  otherwise; `of which ncu varies`: it had other figures in another run
    missing    no figure here: the program, or the kernel, did not run, or not as often

`--list` writes the counters that are not equal, with their causes (causes.csv), but not those of the set that is held
out: no rule is to be fitted to it.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
HELD_OUT = "held out"
RUN_SECONDS = 300.0
STATES = ("equal", "within", "different", "of which ncu varies", "missing")

Row = dict[str, str]


def read(name: str) -> list[Row]:
    with (HERE / name).open(newline="") as file:
        return list(csv.DictReader(file))


def run(program: Row, sources: Path, document: Path) -> None:
    """Profiles one program; what it says goes to a log beside the document."""
    command = [
        str(ROOT / "warpbook"),
        "profile",
        "--lines",
        "0",
        "--out",
        str(document),
        *program["files"].split(),
    ]
    command += ["-O3", "-std=c++17", f"-I{sources}/cuda-samples/Common", *program["flags"].split(), "--"]
    with document.with_suffix(".log").open("w") as log:
        child = subprocess.Popen(
            [*command, *program["arguments"].split()],
            cwd=sources / program["folder"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            child.wait(timeout=RUN_SECONDS)
        except subprocess.TimeoutExpired:
            log.write(f"stopped after {RUN_SECONDS:.0f} s\n")
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)  # warpbook, and the program that it runs
                child.wait()


def state_of(row: Row, kernels: dict[str, Any], is_sampled: bool) -> tuple[str, float | None]:
    """What became of one counter, and its figure here."""
    kernel = kernels.get(row["kernel"])
    launches = int(row["launches"])
    if not kernel or (kernel["launches"] != launches and not is_sampled):
        return "missing", None
    here = kernel["counters"][row["counter"]] * launches / kernel["launches"]
    if here == int(row["first"]):
        return "equal", here
    if int(row["min"]) <= here <= int(row["max"]):
        return "within", here
    return "different", here


def kernels_of(document: Path) -> dict[str, Any]:
    if not document.is_file():
        return {}
    return {
        kernel["symbol"].partition("(")[0]: kernel for kernel in json.loads(document.read_text())["kernels"]
    }


def compare(profiles: Path, is_listed: bool) -> int:
    programs = {row["program"]: row for row in read("programs.csv")}
    causes = {(row["program"], row["kernel"], row["counter"]): row["cause"] for row in read("causes.csv")}
    documents = {name: kernels_of(profiles / f"{name}.json") for name in programs}
    totals: dict[str, Counter[str]] = defaultdict(Counter)
    by_cause: Counter[str] = Counter()
    for row in read("counters.csv"):
        program = programs[row["program"]]
        is_sampled = program["launches"] == "one of each shape"
        state, here = state_of(row, documents[row["program"]], is_sampled)
        total = totals[program["set"]]
        total["all"] += 1
        total[state] += 1
        total["of which ncu varies"] += state == "different" and row["min"] != row["max"]
        if state == "equal" or program["set"] == HELD_OUT:
            continue
        cause = causes.get((row["program"], row["kernel"], row["counter"]), "no cause is known")
        by_cause[f"{state}: {cause}"] += 1
        if is_listed:
            ncu = (
                row["first"] if row["min"] == row["max"] else f"{row['first']} ({row['min']} to {row['max']})"
            )
            print(
                f"{row['program']} {row['kernel']} {row['counter']}: {here} here, ncu {ncu}; {state}: {cause}"
            )
    for cause, count in by_cause.most_common():
        print(f"{count:5} {cause}")
    for name, total in totals.items():
        figures = ", ".join(f"{state} {total[state]}" for state in STATES)
        print(
            f"{name}: {total['all']} counters: {figures}; equal {100 * total['equal'] / total['all']:.1f} %"
        )
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare profiles of whole programs with ncu's counters.")
    parser.add_argument("--sources", type=Path, required=True, help="the folder of the projects")
    parser.add_argument("--profiles", type=Path, required=True, help="the folder for the profiles")
    parser.add_argument("--list", action="store_true", help="write each counter that is not equal")
    options = parser.parse_args()
    options.profiles.mkdir(parents=True, exist_ok=True)
    sources, profiles = options.sources.resolve(), options.profiles.resolve()
    todo = [row for row in read("programs.csv") if not (profiles / f"{row['program']}.json").exists()]
    with ThreadPoolExecutor(max(1, (os.cpu_count() or 2) // 2)) as pool:
        list(pool.map(lambda row: run(row, sources, profiles / f"{row['program']}.json"), todo))
    return compare(profiles, options.list)


if __name__ == "__main__":
    sys.exit(main())
