"""Grades a class made by make_class.py and holds everything to what was declared: `make class-drill`.

Checked are every verdict, that nothing outside the output folder has changed, and that no process is left.
Exit status 0: all as declared; 1: something was not.
"""

import argparse
import contextlib
import ctypes
import hashlib
import json
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hostile_archives import Expected
from make_class import CHAPTERS, ROOT, make_class

_SUBREAPER = 36  # prctl's PR_SET_CHILD_SUBREAPER: what a run leaves behind becomes a child of ours


@dataclass
class Drill:
    """What came of it."""

    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0
    peak_bytes: int = 0  # of all processes together, pages that they share counted once
    kernels: int = 0
    killed: int = 0  # runs that SIGKILL ended


def snapshot(folder: Path) -> dict[str, str]:
    """Every file below a folder with its content, without opening what is none."""
    found = {}
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in [*folders, *files]:
            path = Path(place) / name
            status = path.lstat()
            content = ""
            if stat.S_ISREG(status.st_mode):
                content = hashlib.sha256(path.read_bytes()).hexdigest()
            elif stat.S_ISLNK(status.st_mode):
                content = str(path.readlink())
            found[str(path)] = f"{status.st_mode:o} {content}"
    return found


def children_of(process: int) -> list[int]:
    try:
        tasks = Path(f"/proc/{process}/task").iterdir()
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []


def living(process: int, patience: float = 5.0) -> list[str]:
    """What still runs below a process, after some time to end; what has ended is taken note of."""
    until = time.monotonic() + patience
    while True:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        children = children_of(process)
        if not children or time.monotonic() > until:
            return [name_of(child) for child in children]
        time.sleep(0.1)


def name_of(process: int) -> str:
    try:
        return f"{process} {Path(f'/proc/{process}/comm').read_text().strip()}"
    except OSError:
        return str(process)


def family_of(process: int) -> list[int]:
    family = [process]
    for one in family:
        family += children_of(one)
    return family


class Watch(threading.Thread):
    """Looks now and then at how much memory a process and all below it have."""

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self.process = process
        self.peak = 0
        self.ended = threading.Event()

    def run(self) -> None:
        while not self.ended.wait(0.5):
            self.peak = max(self.peak, sum(map(self.memory, family_of(self.process))))

    def memory(self, process: int) -> int:
        try:
            text = Path(f"/proc/{process}/smaps_rollup").read_text()
            return 1024 * int(next(line.split()[1] for line in text.splitlines() if line.startswith("Pss:")))
        except (OSError, StopIteration):
            return 0


def drill(
    folder: Path, students: int, jobs: int, kills: int, watched: list[Path], *, is_compared: bool
) -> Drill:
    """Makes the class in FOLDER, grades it there, and looks at everything.

    The first KILLS runs are ended by SIGKILL at random moments; the last one resumes and finishes. For
    comparison, the class is graded once more without interruptions, and the gradebook must be the same.
    """
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    expected = make_class(folder, students)
    out, home, temporary = folder / "graded", folder / "home", folder / "tmp"
    home.mkdir()
    temporary.mkdir()
    watched = [folder / "submissions", home, *([] if kills else [temporary]), *watched]
    before = {str(path): snapshot(path) for path in watched}
    beside = sorted(path.name for path in folder.iterdir())
    command = [sys.executable, "-m", "grader", "class", str(folder / "submissions"), "--out", str(out)]
    command += ["--course", str(folder / "course.toml"), "--jobs", str(jobs)]
    environment = os.environ | {"HOME": str(home), "TMPDIR": str(temporary), "PYTHONDONTWRITEBYTECODE": "1"}
    done = Drill()
    begun = time.monotonic()
    longest = 3 + 1.5 * students / max(1, kills)  # seconds, so that the kills spread over all of the work
    while True:
        started = time.monotonic()
        process = subprocess.Popen(command, cwd=ROOT, env=environment)
        watch = Watch(process.pid)
        watch.start()
        is_last = done.killed == kills
        if not is_last:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(random.uniform(0, longest))
            process.kill()
        status = process.wait()
        if status == -signal.SIGKILL:
            done.killed += 1
        elif not is_last:  # it was over before; the next kill has to come sooner
            longest = min(longest, time.monotonic() - started)
        watch.ended.set()
        watch.join()
        done.peak_bytes = max(done.peak_bytes, watch.peak)
        if left := living(os.getpid()):
            done.problems.append(f"processes are left: {left}")
        if is_last:
            break
    done.seconds = time.monotonic() - begun
    if status != 0:
        done.problems.append(f"the command ended with status {status}")
    for path in watched:
        after = snapshot(path)
        changed = sorted(set(before[str(path)].items()) ^ set(after.items()))
        done.problems += [f"changed: {name}" for name, _ in changed[:20]]
    new = sorted({path.name for path in folder.iterdir()} - {*beside, out.name})
    done.problems += [f"new beside the output: {name}" for name in new]
    if (out / "class.json").exists():
        document = json.loads((out / "class.json").read_text("utf-8"))
        compare(expected, document, done)
    if (out / "work").exists():
        done.problems.append("the work folder is left")
    if is_compared:
        whole = folder / "whole"
        subprocess.run(
            [str(whole) if word == str(out) else word for word in command], cwd=ROOT, env=environment
        )
        if (whole / "gradebook.csv").read_bytes() != (out / "gradebook.csv").read_bytes():
            done.problems.append("the gradebook of the interrupted runs is another")
    return done


def compare(expected: dict[str, Expected], document: dict[str, Any], done: Drill) -> None:
    """Every verdict with what was declared."""
    students = {student["id"]: student for student in document["students"]}
    for name in sorted(set(expected) ^ set(students)):
        done.problems.append(f"{name}: {'not graded' if name in expected else 'nobody handed that in'}")
    for name in sorted(set(expected) & set(students)):
        wanted, student = expected[name], students[name]
        trouble = student["trouble"]["verdict"] if student["trouble"] else ""
        if trouble != wanted.trouble:
            done.problems.append(f"{name}: {trouble or 'no trouble'}, not {wanted.trouble or 'no trouble'}")
            continue
        for chapter in student["chapters"]:
            allowed = wanted.chapters.get(chapter["chapter"], ["MISSING"])
            done.kernels += bool(chapter["kernel"])
            if not trouble and chapter["verdict"] not in allowed:
                words = f"{chapter['verdict']}, not {' or '.join(allowed)}: {chapter['message'][:120]}"
                done.problems.append(f"{name} {chapter['chapter']}: {words}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--students", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--kills", type=int, default=0, help="end so many runs by SIGKILL before the last")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "class-drill")
    parser.add_argument(
        "--only", action="store_true", help="look at FOLDER only, where others change the checkout"
    )
    options = parser.parse_args()
    shutil.rmtree(options.folder, ignore_errors=True)
    options.folder.mkdir(parents=True)
    watched = [ROOT / name for name in ("chapters", "solutions", "progress", "common", "grader", "tests")]
    existing = [] if options.only else [path for path in watched if path.exists()]
    is_compared = options.kills > 0 and not options.only
    done = drill(
        options.folder, options.students, options.jobs, options.kills, existing, is_compared=is_compared
    )
    for problem in done.problems:
        print(problem)
    print(
        f"{options.students} students, {done.kernels} kernels of {CHAPTERS[0]} to {CHAPTERS[-1]}: "
        f"{done.seconds:.0f} s on {len(os.sched_getaffinity(0))} cores, "
        f"{done.peak_bytes / 2**20:.0f} MiB at most, "
        + (f"{done.killed} times ended by SIGKILL, " if done.killed else "")
        + f"{len(done.problems)} problems"
    )
    return bool(done.problems)


if __name__ == "__main__":
    sys.exit(main())
