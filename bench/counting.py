"""Instructions, sectors and bytes of every contender's kernels, counted by Nsight Compute in one short run."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .compiling import CompileError, tool
from .ncu import read_log
from .table import ROOT

METRICS = {
    "marker": "launch__grid_size",
    "seconds": "gpu__time_duration.sum",
    "instructions": "smsp__inst_executed.sum",
    "load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "registers": "launch__registers_per_thread",
    "warps_active_pct": "sm__warps_active.avg.pct_of_peak_sustained_active",
}
ADDED = ("instructions", "load_requests", "load_sectors", "dram_read_bytes", "dram_write_bytes")
SECONDS = 150.0


def count_contenders(works: Sequence[str], folder: Path) -> tuple[list[dict[str, Any]], str]:
    """One entry a contender, or why there are none. Runs this program once more, under ncu."""
    try:
        ncu = tool("ncu")
    except CompileError as error:
        return [], str(error)
    log = folder / "counters.csv"
    log.unlink(missing_ok=True)
    command = [
        *(ncu, "--csv", "--page", "raw", "--print-units", "base", "--log-file", str(log)),
        *("--clock-control", "none", "--cache-control", "all", "--profile-from-start", "off"),
        *("--kernel-name-base", "function", "--metrics", ",".join(METRICS.values())),
        *(sys.executable, "-m", "bench.bench", "--for-ncu", "--only", ",".join(works)),
    ]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS)
        words = done.stdout + done.stderr
    except subprocess.TimeoutExpired as error:
        words = f"{_text(error.stdout)}{_text(error.stderr)}stopped after {SECONDS:.0f} s"
    text = log.read_text(errors="replace") if log.exists() else ""
    entries = contenders_of(read_log(text, METRICS), words)
    last = " ".join((text + words).split())[-300:]
    return entries, "" if entries else f"ncu counted nothing: {last}"


def contenders_of(launches: Sequence[dict[str, object]], printed: str) -> list[dict[str, Any]]:
    """Adds up the launches behind each marker; `printed` names the contenders by the markers' numbers."""
    named = {
        int(found[1]): {"work": found[2], "n": int(found[3]), "name": found[4]}
        for found in re.finditer(r"^counted (\d+) (\w+) (\d+) (.+)$", printed, re.MULTILINE)
    }
    entries: dict[int, dict[str, Any]] = {}
    current: dict[str, Any] | None = None
    for launch in launches:
        if launch["kernel"] == "marker":
            number = int(str(launch.get("marker", 0)))
            current = None
            if number in named:
                current = entries.setdefault(number, {**named[number], "launches": 0})
            continue
        if current is None:
            continue
        current["launches"] += 1
        for key in ADDED:
            current[key] = current.get(key, 0) + _number(launch.get(key))
        if _number(launch.get("seconds")) >= current.get("longest_seconds", 0):
            current["longest_seconds"] = _number(launch.get("seconds"))
            for key in ("registers", "warps_active_pct"):
                current[key] = _number(launch.get(key))
    return [entries[number] for number in sorted(entries) if entries[number]["launches"]]


def _number(value: object) -> float:
    return value if isinstance(value, int | float) else 0


def _text(value: str | bytes | None) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value or ""
