"""A large class on a Slurm of two nodes on this machine, of which one dies in the middle: `make class-scale`.

The run is ended by SIGKILL once and resumed; later, a node loses power. Checked are that no kernel is judged twice,
except those that were being judged when their node died, and that the gradebook is the same, byte for byte, as that of
one machine. The judge is that of fake_class.py, or with --real the workbook's own.
Exit status 0: all of this holds; 1: it does not.
"""

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[2]), str(Path(__file__).resolve().parents[1])]

from classroom import RIGHT_KERNEL  # noqa: E402 - found by the line above
from slurm.cluster import Cluster, missing, temporary_cluster  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
GRADE = Path(__file__).with_name("grade_class.py")
LOST = "node2"


def make_submissions(folder: Path, students: int, *, is_real: bool) -> None:
    """One kernel each: right, wrong or slow by turns, and no two the same."""
    lines = ["PASS 0.02", "WRONG 0.02", "SLOW 0.02"]
    rows = ["id,name"]
    for number in range(students):
        name = f"s{number:04}"
        rows.append(f"{name},Student {number}")
        path = folder / "submissions" / name / "ch01.cu"
        path.parent.mkdir(parents=True)
        wrong = RIGHT_KERNEL.replace("i < n", "i < n - 1")
        text = f"// {name}\n{wrong if number % 3 == 1 else RIGHT_KERNEL}\n"
        path.write_text(text if is_real else f"// {lines[number % 3]}\n// {name}\n")
    (folder / "roster.csv").write_text("\n".join(rows) + "\n")
    course = (
        'title = "Many"\nchapters = ["ch01"]\nroster = "roster.csv"\nsecret = "of a made-up class only"\n'
    )
    (folder / "course.toml").write_text(course)


class Run:
    """`grader class` over the submissions, into a folder."""

    def __init__(self, folder: Path, out: str, environment: dict[str, str], *, is_real: bool) -> None:
        command = [sys.executable, "-m", "grader", "class"] if is_real else [sys.executable, str(GRADE)]
        command += [
            str(folder / "submissions"),
            "--out",
            str(folder / out),
            "--course",
            str(folder / "course.toml"),
        ]
        if environment:
            command += ["--engine", "slurm", "--slurm", "batch=8", "--slurm", "memory=64M"]
        self.journal = folder / out / "journal"
        known = os.environ | environment | {"PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(command, cwd=ROOT, env=known, stdout=subprocess.DEVNULL)
        self.peak = 0
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self) -> None:
        """Notes how much memory the command has at most."""
        while self.process.poll() is None:
            with contextlib.suppress(OSError, StopIteration):
                text = Path(f"/proc/{self.process.pid}/status").read_text()
                line = next(line for line in text.splitlines() if line.startswith("VmHWM:"))
                self.peak = max(self.peak, int(line.split()[1]) * 1024)
            time.sleep(0.2)

    def judged(self) -> int:
        """How many judgements are in the journal."""
        return sum(1 for _ in self.journal.glob("*/ch01.json"))

    def wait_until(self, judged: int) -> bool:
        """Whether so many are there before the command ends."""
        while self.judged() < judged:
            if self.process.poll() is not None:
                return False
            time.sleep(0.05)
        return True


def scale(folder: Path, students: int, cluster: Cluster, *, is_real: bool) -> list[str]:
    """All problems."""
    make_submissions(folder, students, is_real=is_real)
    problems = []
    begun = time.monotonic()
    first = Run(folder, "cluster", cluster.environment, is_real=is_real)
    if not first.wait_until(students // 5):
        problems.append("the first run ended before it was killed")
    first.process.kill()
    first.process.wait()
    second = Run(folder, "cluster", cluster.environment, is_real=is_real)
    if not second.wait_until(students // 2):
        problems.append("the second run ended before the node died")
    jobs = sum(state == "RUNNING" for _, state, _ in cluster.queue())
    cluster.kill_node(LOST)
    cluster.give_up_node(LOST)
    if status := second.process.wait():
        problems.append(f"the second run ended with status {status}")
    seconds = time.monotonic() - begun
    alone = Run(folder, "alone", {}, is_real=is_real)
    if status := alone.process.wait():
        problems.append(f"the run on one machine ended with status {status}")
    books = [(folder / out / "gradebook.csv").read_bytes() for out in ("cluster", "alone")]
    if books[0] != books[1]:
        problems.append("the gradebooks differ")
    twice = 0
    log = folder / "judged.log"
    if log.exists():
        counts = Counter(line.split()[0] for line in log.read_text("ascii").splitlines())
        twice = sum(counts.values()) - 2 * students  # one on the cluster, and one alone
        if len(counts) != students or not 0 <= twice <= jobs:
            problems.append(f"{len(counts)} students judged, {twice} kernels twice, with {jobs} jobs running")
    peak = max(first.peak, second.peak)
    print(
        f"{students} submissions on two nodes, one of them lost: {seconds:.0f} s, {peak / 2**20:.0f} MiB at most, "
        f"{twice} kernels begun twice, {len(problems)} problems"
    )
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--students", type=int, default=1000)
    parser.add_argument("--real", action="store_true", help="judge real kernels")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "class-scale")
    options = parser.parse_args()
    if lacking := missing():
        print(f"not installed: {' '.join(lacking)} (on Debian: apt install slurm-wlm munge)", file=sys.stderr)
        return 3
    shutil.rmtree(options.folder, ignore_errors=True)
    options.folder.mkdir(parents=True)
    with temporary_cluster(cpus=2, nodes=2) as cluster:
        problems = scale(options.folder, options.students, cluster, is_real=options.real)
    for problem in problems:
        print(problem)
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
