"""Nsight Compute: counters of every launch of a program, as Python numbers."""

from __future__ import annotations

import csv
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from bench.compiling import tool
from bench.table import ROOT

_STALLS = (
    "long_scoreboard",
    "short_scoreboard",
    "barrier",
    "branch_resolving",
    "dispatch_stall",
    "drain",
    "imc_miss",
    "lg_throttle",
    "math_pipe_throttle",
    "membar",
    "mio_throttle",
    "no_instruction",
    "not_selected",
    "selected",
    "sleeping",
    "tex_throttle",
    "wait",
)
METRICS = {
    "seconds": "gpu__time_duration.sum",
    "cycles": "sm__cycles_elapsed.max",
    "active_cycles": "sm__cycles_active.avg",
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "dram_pct": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "l2_pct": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "l2_sectors": "lts__t_sectors.sum",
    "l2_read_sectors": "lts__t_sectors_op_read.sum",
    "l2_write_sectors": "lts__t_sectors_op_write.sum",
    "l2_red_sectors": "lts__t_sectors_op_red.sum",
    "l2_atom_sectors": "lts__t_sectors_op_atom.sum",
    "l2_hit_pct": "lts__t_sector_hit_rate.pct",
    "l1_pct": "l1tex__throughput.avg.pct_of_peak_sustained_active",
    "l1_hit_pct": "l1tex__t_sector_hit_rate.pct",
    "l1_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1_load_hits": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
    "lsu_wavefronts": "l1tex__data_pipe_lsu_wavefronts.sum",
    "lsu_wavefronts_pct": "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed",
    "lsuin_pct": "l1tex__lsuin_requests.avg.pct_of_peak_sustained_elapsed",
    "shared_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "instructions": "smsp__inst_executed.sum",
    "thread_instructions": "smsp__thread_inst_executed.sum",
    "issue_active_pct": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "issue_elapsed_pct": "smsp__issue_active.avg.pct_of_peak_sustained_elapsed",
    "warps_active_pct": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "fma_pct": "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
    "alu_pct": "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active",
    "xu_pct": "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active",
    "lsu_pct": "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active",
    "atomic_l2_pct": "lts__d_atomic_input_cycles_active.avg.pct_of_peak_sustained_elapsed",
    **{f"stall_{s}": f"smsp__average_warps_issue_stalled_{s}_per_issue_active.ratio" for s in _STALLS},
}


def _number(text: str) -> float | None:
    text = text.replace(",", "").strip()
    try:
        value = float(text)
    except ValueError:
        return None
    return int(value) if value == int(value) and abs(value) < 2**53 else float(f"{value:.5g}")


def read_log(log: str, metrics: dict[str, str]) -> list[dict[str, object]]:
    """The launches of ncu's wide CSV, in order."""
    table = list(csv.reader(line for line in log.splitlines() if line.startswith('"')))
    if not table:
        return []
    at = {name: i for i, name in enumerate(table[0])}
    launches: list[dict[str, object]] = []
    for row in table[1:]:
        if len(row) != len(table[0]) or not row[at["ID"]].isdigit():
            continue  # the units
        entry: dict[str, object] = {"kernel": row[at["Kernel Name"]].partition("(")[0]}
        for key, metric in metrics.items():
            value = _number(row[at[metric]]) if metric in at else None
            if value is not None:
                entry[key] = value / 1e9 if key == "seconds" else value
        launches.append(entry)
    return launches


def count_launches(
    command: list[str], kernels: Iterable[str], folder: Path, seconds: float
) -> tuple[list[dict[str, object]], list[str]]:
    """Runs `command` under ncu; counts every launch of the kernels so named, each once.

    Returns the launches in order and the metrics that this ncu does not know, which are left out.
    """
    wanted = dict(METRICS)
    missing: list[str] = []
    pattern = "regex:^(" + "|".join(sorted(re.escape(name) for name in kernels)) + ")$"
    for attempt in range(8):
        log = folder / f"ncu-{attempt}.csv"
        full = [
            *(tool("ncu"), "--csv", "--page", "raw", "--print-units", "base", "--log-file", str(log)),
            *("--clock-control", "none", "--cache-control", "all", "--replay-mode", "kernel"),
            *("--kernel-name-base", "function", "--kernel-name", pattern),
            *("--metrics", ",".join(wanted.values()), *command),
        ]
        try:
            done = subprocess.run(full, cwd=ROOT, capture_output=True, text=True, timeout=seconds)
            words = done.stdout + done.stderr
        except subprocess.TimeoutExpired:
            words = f"stopped after {seconds:.0f} s"
        text = log.read_text(errors="replace") if log.exists() else ""
        launches = read_log(text, wanted)
        if launches:
            return launches, missing
        # "Failed to find metric regex:^sm__no_such(\\..*)?$" or the name as it was given
        unknown = set(re.findall(r"[Ff]ailed to find metric\s+(?:regex:\^?)?([\w.]+)", text + words))
        dropped = [k for k, m in wanted.items() if any(m == u or m.startswith(u) for u in unknown)]
        if not dropped:
            tail = "\n".join((text + words).splitlines()[-12:])
            print(f"ncu counted nothing:\n{tail}", file=sys.stderr)
            return [], missing
        missing += [wanted.pop(key) for key in dropped]
    return [], missing
