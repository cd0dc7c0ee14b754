"""What the search for a proof costs: `python3 tests/time_repairs.py [KERNELS [AT_A_TIME]]`, 60 if not given, and one.

Judges wrong kernels of all chapters, evenly spaced in tests/kill_rate.csv, with `--repair 0` and twice without, and
prints the seconds that are added, by the clock and of the driver's processors: the median, the 90th percentile and
the most, of those for which something is looked for and of all that fail; and the slowest kernels. The first page of
a build folder takes longer: it makes the headers that are kept for all later ones (driver/build/kept_headers.h). A
machine with three processors for each kernel at a time takes about as long for one as an idle one.
"""

import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
STOPPED = {"BUILD", "BUILD_TIMEOUT", "REJECT", "RESOURCE", "LAUNCH", "SLOW"}  # nothing is looked for


class Taken(NamedTuple):
    clock: float
    user: float


def taken(command: list[str | Path]) -> Taken:
    """Seconds of a command and of the processes that it starts and waits for."""
    began = time.monotonic()
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return Taken(time.monotonic() - began, usage.ru_utime)


def report(what: str, times: list[float]) -> None:
    """One line for a list of seconds."""
    times = sorted(times)
    print(
        f"{what}: {len(times)} kernels, median {statistics.median(times):.2f} s, "
        f"90th percentile {times[len(times) * 9 // 10]:.2f} s, most {times[-1]:.2f} s, "
        f"{sum(seconds > 2 for seconds in times)} of more than 2 s"
    )


class Added(NamedTuple):
    """What the search adds to one kernel's page, and what to call it."""

    clock: float
    user: float
    first: float  # by the clock, to the first page of its build folder
    name: str


def judged(name: str, folder: Path) -> Added:
    image = folder / name
    subprocess.run(["build/bin/compile", f"build/kernels/{name}.cu", image, "--quiet"], cwd=ROOT, check=False)
    command: list[str | Path] = [f"./{name.split('/')[1]}", "--device", "emulator"]
    command += ["--kernel", image / "kernel.ptx", "--json", image / "result.json"]
    without, first, whole = taken([*command, "--repair", "0"]), taken(command), taken(command)
    proof = json.loads((image / "result.json").read_text())["proof"]
    return Added(
        whole.clock - without.clock,
        whole.user - without.user,
        first.clock - without.clock,
        f"{name} ({'proved' if proof else 'no repair'}, {without.clock:.2f} s without)",
    )


def main() -> None:
    wanted, at_a_time = (*map(int, sys.argv[1:3]), *(60, 1)[len(sys.argv) - 1 :])
    with (ROOT / "tests" / "kill_rate.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["path"].startswith("tests/wrong/")]
    failing = len(rows)
    rows = [row for row in rows if row["verdict"] not in STOPPED]
    chosen = [rows[i * len(rows) // wanted]["path"] for i in range(wanted)]
    names = [str(Path(path).relative_to("tests").with_suffix("")) for path in chosen]
    subprocess.run(["make", "-s", "kernel", "K=wrong"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(at_a_time) as executor:
        added = list(executor.map(lambda name: judged(name, Path(folder)), names))
    clock = [one.clock for one in added]
    report("by the clock", clock)
    report("by the clock, first page of a folder", [one.first for one in added])
    report("user time", [one.user for one in added])
    report(
        "by the clock, of all that fail", clock + [0.0] * round(wanted * (failing - len(rows)) / len(rows))
    )
    for one in sorted(added)[-10:]:
        print(f"{one.clock:6.2f} s  {one.name}")


if __name__ == "__main__":
    main()
