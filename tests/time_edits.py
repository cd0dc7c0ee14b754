"""From an edit to its verdict: `python3 tests/time_edits.py [CHAPTERS]`, all if not given.

Changes a copy of each solution, so that nothing compiled is kept, and times `make chNN && ./chNN` for it on the
emulator, five times. Prints each chapter's median in seconds of wall time, and its least and most.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EDITS = 5


def seconds_to_verdict(chapter: str, kernel: Path) -> float:
    began = time.perf_counter()
    subprocess.run(["make", "-s", chapter], cwd=ROOT, check=True)
    judged = [f"./{chapter}", "--device", "emulator", "--kernel", kernel]
    subprocess.run(judged, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def main() -> None:
    folders = sorted((ROOT / "solutions").glob("ch*"))
    chapters = sys.argv[1:] or [folder.name[:4] for folder in folders]
    subprocess.run(["make", "-s", "drivers"], cwd=ROOT, check=True)
    print("chapter  median   least    most")
    with tempfile.TemporaryDirectory() as scratch:
        kernel = Path(scratch) / "kernel.cu"
        for folder in (one for one in folders if one.name[:4] in chapters):
            solution = (folder / "kernel.cu").read_text()
            times = []
            for edit in range(EDITS):
                kernel.write_text(f"{solution}// {time.time_ns()}, edit {edit}\n")
                times.append(seconds_to_verdict(folder.name[:4], kernel))
            print(
                f"{folder.name[:4]} {statistics.median(times):10.2f} {min(times):7.2f} {max(times):7.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
