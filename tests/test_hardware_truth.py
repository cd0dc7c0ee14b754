"""What the emulator counts against what an H200 counted, pattern by pattern, column by column.

The patterns are tests/hardware_truth/patterns*.cu, compiled to the PTX beside them; counters.csv holds the
figures of patterns.cu, cluster_counters.csv those of patterns_cluster.cu, and more_counters.csv those of the
others (record.py writes all on a GPU).
exceptions.csv lists allowed differences with their causes: kernel, column, hardware, emulator, cause. `*` as
hardware stands for a figure that another recording would not repeat. An exception that is not needed fails.
"""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest
from conftest import ROOT

from grader.core.toolkit import find_nvcc

FOLDER = Path(__file__).resolve().parent / "hardware_truth"
sys.path.insert(0, str(FOLDER))
import record  # noqa: E402

PTX = sorted(FOLDER.glob("patterns*.ptx"))
COMPARED = [
    column
    for column in (*record.COLUMNS, *record.MORE_COLUMNS)
    if column.startswith(("global_", "shared_", "local_")) and column != "shared_atom_conflicts"
]
# What the machine code issues, by the emulator's names.
ISSUED = {f"inst_shared_{op}": f"issued_shared_{op}" for op in ("ld", "st", "atom")} | {
    "branch_divergent": "issued_branch_divergent"
}
# The PTX instructions that a column counts.
INSTRUCTION = {
    "global_ld": r"ld(\.\w+)*\.global",
    "global_st": r"st(\.\w+)*\.global",
    "global_red": r"(red|atom)(\.\w+)*\.global",
    "global_atom": r"(red|atom)(\.\w+)*\.global",
    "shared_ld": r"ld(\.\w+)*\.shared",
    "shared_st": r"st(\.\w+)*\.shared",
    "shared_atom": r"(red|atom)(\.\w+)*\.shared",
    "local_ld": r"ld(\.\w+)*\.local",
    "local_st": r"st(\.\w+)*\.local",
    "inst_shared": r"(ld|st|red|atom)(\.\w+)*\.shared",
    "branch_divergent": r"bra",
}
# ncu's figure for atomics in shared memory has a few wavefronts in it that are nobody's: 521 for 512.
NOISE = {"shared_atom_wavefronts": 0.02}


def table(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(newline="") as file:
        return list(csv.DictReader(file))


@cache
def hardware() -> dict[str, dict[str, str]]:
    """{kernel: row} of all tables."""
    names = ("counters.csv", "more_counters.csv", "cluster_counters.csv")
    return {row["kernel"]: row for name in names for row in table(name)}


@cache
def exceptions() -> dict[tuple[str, str], dict[str, str]]:
    return {(row["kernel"], row["column"]): row for row in table("exceptions.csv")}


@cache
def start_file(folder: Path) -> Path:
    path = folder / "start.bin"
    path.write_bytes(bytes(record.start_values()))
    return path


def emulated(program: Path, ptx: Path, kernel: str, folder: Path) -> dict[str, int]:
    """The emulator's counters for one kernel, launched as record.py launches it."""
    answer = folder / f"{kernel}.json"
    buffer = f"buf:{record.BUFFER_FLOATS * 4}:{start_file(folder)}"
    command = [
        *(str(program), str(ptx), kernel, "--grid", str(record.GRID)),
        *("--block", ",".join(map(str, record.block_of(kernel))), "--checks", "mem"),
        *("--arg", buffer, "--arg", buffer, "--arg", f"i32:{record.N}", "--json", str(answer)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{kernel}: {done.stdout}{done.stderr}"
    counters: dict[str, int] = json.loads(answer.read_text())["counters"]
    return counters


def instructions_of(ptx: str, kernel: str, column: str) -> list[str]:
    """`line: instruction` for each instruction of the kernel that the column counts."""
    start = ptx.index(f".entry {kernel}(")
    first = ptx.count("\n", 0, start) + 1
    wanted = re.compile(r"\s*(@!?%\w+ )?" + INSTRUCTION["_".join(column.split("_")[:2])])
    return [
        f"{first + i}: {' '.join(line.split())}"
        for i, line in enumerate(ptx[start : ptx.index("\n}", start)].splitlines())
        if wanted.match(line)
    ]


def close(column: str, counted: int, recorded: int) -> bool:
    return 0 <= recorded - counted <= NOISE.get(column, 0) * recorded


def differences(kernel: str, counters: dict[str, int]) -> dict[str, tuple[int, int]]:
    """{column: (hardware, emulator)} where they differ."""
    row = hardware()[kernel]
    ours = {column: counters[column] for column in COMPARED}
    ours |= {column: counters[counter] for column, counter in ISSUED.items()}
    return {
        column: (int(row[column]), counted)
        for column, counted in ours.items()
        if row.get(column) and not close(column, counted, int(row[column]))
    }


def judge(kernel: str, ptx_name: str, ptx: str, found: dict[str, tuple[int, int]]) -> list[str]:
    """A paragraph for every difference without an exception and every exception without its difference."""
    told = []
    sass = {row["kernel"]: row["forms"] for row in table("sass.csv")}
    for column, (theirs, ours) in found.items():
        excused = exceptions().get((kernel, column))
        if excused and excused["hardware"] in ("*", str(theirs)) and excused["emulator"] == str(ours):
            continue
        why = f"; the exception says {excused['hardware']} and {excused['emulator']}" if excused else ""
        told.append(
            f"{kernel:26} {column:23} hardware {theirs:8} emulator {ours:8}  x{ours / max(theirs, 1):.3g}{why}"
        )
        told += [f"    {ptx_name}:{line}" for line in instructions_of(ptx, kernel, column)[:8]]
        told.append(f"    SASS {sass.get(kernel, 'not listed')}")
    told += [
        f"{kernel:26} {column:23} needs no exception any more"
        for named, column in exceptions()
        if named == kernel and column not in found
    ]
    return told


@pytest.mark.parametrize("path", PTX, ids=lambda path: path.stem)
def test_counts_are_the_hardwares(path: Path, built: Path, tmp_path: Path) -> None:
    ptx = path.read_text()
    kernels = [kernel for kernel in record.kernels_of(ptx) if kernel in hardware()]
    start_file(tmp_path)
    program = built / "build" / "bin" / "emulate"
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        counted = list(pool.map(lambda kernel: emulated(program, path, kernel, tmp_path), kernels))
    told: list[str] = []
    wrong = 0
    for kernel, counters in zip(kernels, counted, strict=True):
        lines = judge(kernel, path.name, ptx, differences(kernel, counters))
        wrong += bool(lines)
        told += lines
    assert not told, f"{wrong} of {len(kernels)} patterns\n" + "\n".join(told)


@pytest.mark.parametrize("path", PTX, ids=lambda path: path.stem)
def test_every_pattern_runs(path: Path, built: Path, tmp_path: Path) -> None:
    """Recorded or not: no finding of memcheck, nothing unsupported."""
    kernels = [kernel for kernel in record.kernels_of(path.read_text()) if kernel not in hardware()]
    start_file(tmp_path)
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        list(pool.map(lambda kernel: emulated(built / "build/bin/emulate", path, kernel, tmp_path), kernels))


def test_every_pattern_is_recorded() -> None:
    """All of a file, once it has rows."""
    first = record.kernels_of((FOLDER / "patterns.ptx").read_text())
    files = [record.kernels_of(path.read_text()) for path in PTX if path.stem != "patterns"]
    others = [kernel for kernels in files for kernel in kernels]
    assert len(set(first + others)) == len(first + others), "two patterns have one name"
    assert [row["kernel"] for row in table("counters.csv")] == first
    rows = {row["kernel"] for name in ("more_counters.csv", "cluster_counters.csv") for row in table(name)}
    if rows:
        missing = [k for kernels in files if rows & set(kernels) for k in kernels if k not in rows]
        assert not missing, f"not recorded: {' '.join(missing)}\nmake hardware-truth on a GPU, with --missing"
    assert rows <= set(others), f"recorded, and no pattern any more: {sorted(rows - set(others))}"


def test_exceptions_name_what_exists() -> None:
    names = {kernel for path in PTX for kernel in record.kernels_of(path.read_text())}
    rows = table("exceptions.csv")
    assert len(exceptions()) == len(rows), "an exception is listed twice"
    for row in rows:
        assert row["kernel"] in names and row["column"] in [*COMPARED, *ISSUED], row
        assert len(row["cause"]) > 20, f"{row['kernel']} {row['column']}: say why"


def compiler() -> str | None:
    """nvcc, if its version is the one that made the committed PTX."""
    command = find_nvcc(ROOT)
    if not command:
        return None
    version = subprocess.run([command, "--version"], capture_output=True, text=True).stdout
    made_by = re.search(r"release [\d.]+, V[\d.]+", PTX[0].read_text())
    return str(command) if made_by and made_by[0] in version else None


@pytest.mark.parametrize("path", PTX, ids=lambda path: path.stem)
@pytest.mark.by_turns
def test_committed_ptx_is_what_the_source_compiles_to(path: Path, tmp_path: Path) -> None:
    """With another compiler, or none, only the kernels' names are compared."""
    source = path.with_suffix(".cu")
    command = compiler()
    if command:
        fresh = tmp_path / path.name
        record.write_ptx(source, fresh, command)
        assert fresh.read_text() == path.read_text(), f"{path.name} is old: python3 {record.__file__} --ptx"
    plain = set(re.findall(r"^K\((\w+)\)", source.read_text(), re.MULTILINE))
    assert plain <= set(record.kernels_of(path.read_text())), f"{path.name} is old"


# ---- The recorder, as far as no GPU is needed ----------------------------------------------------------------

WIDE = """==PROF== Connected to process 7
"ID","Process ID","Kernel Name","Block Size","l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum","gpu__time_duration.sum","sm__warps_active.avg.pct_of_peak_sustained_active"
"","","","","","ns","%"
"0","7","ld_a","(256, 1, 1)","1,536","2,336.00","12.034"
"1","7","ld_b(const float *, float *, int)","(256, 1, 1)","0","2400","n/a"
"""  # noqa: E501
LONG = """"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","ld_a","l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum","","1,536"
"0","ld_a","gpu__time_duration.sum","ns","2336"
"1","ld_b","l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum","","0"
"""


def test_recorder_reads_both_forms_of_ncu() -> None:
    wide = record.read_ncu(WIDE, record.COLUMNS)
    assert wide[0] == {
        "kernel": "ld_a",
        "global_ld_requests": "1536",
        "time_ns": "2336",
        "achieved_occupancy_pct": "12.03",
    }
    assert wide[1]["kernel"] == "ld_b"
    assert (wide[1]["time_ns"], wide[1]["achieved_occupancy_pct"]) == ("2400", "")
    long = record.read_ncu(LONG, record.COLUMNS)
    assert long[0] == {"kernel": "ld_a", "global_ld_requests": "1536", "time_ns": "2336"}
    assert len(long) == 2
    assert record.read_ncu("==ERROR== no GPU\n", record.COLUMNS) == []


def test_recorder_columns_are_those_of_the_table() -> None:
    with (FOLDER / "counters.csv").open(newline="") as file:
        assert next(csv.reader(file)) == ["kernel", *record.COLUMNS]
    for name in ("more_counters.csv", "cluster_counters.csv"):
        with (FOLDER / name).open(newline="") as file:
            assert next(csv.reader(file)) == ["kernel", *record.COLUMNS, *record.MORE_COLUMNS]


def test_block_shapes_stand_in_names() -> None:
    assert record.block_of("ld_f32_unit") == (256, 1, 1)
    assert record.block_of("sh64_stride5_b32") == (32, 1, 1)
    assert record.block_of("rows_b32x8") == (32, 8, 1)
    assert record.block_of("swizzle_b8x4x8") == (8, 4, 8)


def test_recorder_says_what_it_lacks(tmp_path: Path) -> None:
    command = [sys.executable, str(FOLDER / "record.py"), "--out", str(tmp_path / "out")]
    done = subprocess.run(command, cwd=ROOT, env={"PATH": str(tmp_path)}, capture_output=True, text=True)
    assert done.returncode == 1
    assert "record: " in done.stderr
