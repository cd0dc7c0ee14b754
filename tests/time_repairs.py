"""What the search for a proof costs: `python3 tests/time_repairs.py [KERNELS]`, 60 if not given.

Judges wrong kernels of all chapters, evenly spaced in tests/kill_rate.csv, with `--repair 0` and without, in turns, and
prints the user time that is added: the median, the 90th percentile, the most and the slowest kernels.
"""

import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STOPPED = {"BUILD", "BUILD_TIMEOUT", "REJECT", "RESOURCE", "LAUNCH", "SLOW"}  # nothing is looked for


def user_seconds(command: list[str | Path]) -> float:
    """The user time of a command and of the processes that it starts."""
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return usage.ru_utime


def main() -> None:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    with (ROOT / "tests" / "kill_rate.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["path"].startswith("tests/wrong/")]
    rows = [row for row in rows if row["verdict"] not in STOPPED]
    chosen = [rows[i * len(rows) // wanted]["path"] for i in range(wanted)]
    names = [str(Path(path).relative_to("tests").with_suffix("")) for path in chosen]
    subprocess.run(["make", "-s", "kernel", "K=wrong"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    added: list[tuple[float, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            image = Path(folder) / name
            subprocess.run(
                ["build/bin/compile", f"build/kernels/{name}.cu", image, "--quiet"], cwd=ROOT, check=False
            )
            command: list[str | Path] = [f"./{name.split('/')[1]}", "--device", "emulator"]
            command += ["--kernel", image / "kernel.ptx", "--json", image / "result.json"]
            without = user_seconds([*command, "--repair", "0"])
            seconds = user_seconds(command) - without
            document = json.loads((image / "result.json").read_text())
            added.append((seconds, f"{name} ({'proved' if document['proof'] else 'no repair'})"))
    added.sort()
    times = [seconds for seconds, _ in added]
    print(
        f"{len(times)} kernels: median {statistics.median(times):.2f} s, "
        f"90th percentile {times[len(times) * 9 // 10]:.2f} s, most {times[-1]:.2f} s of user time added"
    )
    for seconds, name in added[-5:]:
        print(f"{seconds:6.2f} s  {name}")


if __name__ == "__main__":
    main()
