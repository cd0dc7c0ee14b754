"""`make time-grade`: what grading all chapters costs, solved, when nothing was built or judged yet and once more.

It uses a separate checkout under build/time-grade, so that no history and no kernels are touched. The
programs are built beforehand: the time is that of nvcc, the emulator and the grader. CPU seconds are the
figure to compare; wall seconds are those of a machine that may have other work.
"""

import os
import resource
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.text import Text

from ..core.errors import NOT_PASSED, PASSED, MachineError
from ..core.make import build_programs
from ..core.options import Chapters, Jobs, Json
from ..core.page import console, print_json, table
from ..core.processes import clean_environment, cores
from ..core.workbook import find_workbook
from .checkouts import solved_checkout

_LIMIT = 600.0  # seconds


@dataclass(frozen=True)
class Cost:
    """Of one `make grade`."""

    wall_seconds: float
    cpu_seconds: float  # of all processes together
    memory_mib: float  # the most that all had at one moment, shared pages counted in each
    status: int


def time_grade_command(chapters: Chapters = None, jobs: Jobs = 0, as_json: Json = False) -> int:
    """What grading all chapters, or those named, costs, solved: cold, and with nothing changed."""
    workbook = find_workbook()
    graded = workbook.select(chapters or [])
    if unbuilt := build_programs(workbook, graded, jobs=cores()):
        raise MachineError("; ".join(f"./{name} cannot be built: {why}" for name, why in unbuilt.items()))
    folder = workbook.build / "time-grade"
    shutil.rmtree(folder, ignore_errors=True)
    solved_checkout(workbook, folder)
    try:
        costs = {
            name: cost_of(folder, [chapter.name for chapter in graded], jobs)
            for name in ("cold", "unchanged")
        }
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if as_json:
        documents = {name: asdict(cost) for name, cost in costs.items()}
        print_json({"schema": "warpbook/time-grade/1", "cores": cores(), "chapters": len(graded)} | documents)
    else:
        rows: list[tuple[str | Text, ...]] = [
            (name, f"{cost.wall_seconds:.1f} s", f"{cost.cpu_seconds:.1f} s", f"{cost.memory_mib:,.0f} MiB")
            for name, cost in costs.items()
        ]
        out = console()
        out.print(f"{len(graded)} chapters, solved, on {cores()} cores")
        out.print(table(rows, [("", ""), ("wall", "right"), ("CPU", "right"), ("memory", "right")]))
    return PASSED if all(cost.status == 0 for cost in costs.values()) else NOT_PASSED


def cost_of(folder: Path, chapters: list[str], jobs: int) -> Cost:
    """Runs the grader there, on the emulator."""
    options = ["--device", "emulator", "--jobs", str(jobs)]
    command = [sys.executable, "-m", "grader", "grade", *options, "--", *chapters]
    environment = clean_environment() | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    most = [0.0]
    watcher = threading.Thread(target=_watch_memory, args=(process, most), daemon=True)
    watcher.start()
    try:
        _, said = process.communicate(timeout=_LIMIT)
    except BaseException:
        process.kill()
        raise
    wall = time.monotonic() - began
    watcher.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode not in (0, 1):
        raise MachineError(f"grading failed: {said.decode(errors='replace').strip()[-300:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(round(wall, 3), round(cpu, 3), round(most[0], 1), process.returncode)


def _watch_memory(process: "subprocess.Popen[bytes]", most: list[float]) -> None:
    while process.poll() is None:
        most[0] = max(most[0], _resident_mib(process.pid))
        time.sleep(0.1)  # what it takes is missing to what is timed


def _resident_mib(ancestor: int) -> float:
    """What a process and all below it have in memory now."""
    pages, family = 0, [str(ancestor)]
    for pid in family:  # which grows
        try:
            pages += int(Path("/proc", pid, "statm").read_text("ascii").split()[1])
            for thread in Path("/proc", pid, "task").iterdir():
                family += (thread / "children").read_text("ascii").split()
        except OSError:
            continue  # it has ended
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
