"""A class in small for the tests: submissions side by side, with things beside them that none of them may reach."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.classroom.judge.kernel import judge_submission
from grader.classroom.judge.watchdog import Limits
from grader.classroom.judgement import Judgement, JudgeSettings
from grader.core import sandbox
from grader.core.processes import Processes
from grader.core.workbook import Workbook

MIB = 1 << 20
HOSTILE = Path(__file__).resolve().parent / "class" / "hostile"

RIGHT_KERNEL = """\
#include "warpbook.cuh"
LAUNCH(sum_single) { launch->grid = 1; launch->block = 1; }
__global__ void sum_single(const float *in, float *partial, int n) {
    float sum = 0.0f;
    for (int i = 0; i < n; i++) sum += in[i];
    partial[0] = sum;
}"""


@dataclass
class Classroom:
    """A folder with a submission, another's, the course's secret, a home and a pipe."""

    folder: Path
    workbook: Workbook

    def __post_init__(self) -> None:
        (self.folder / "me").mkdir(parents=True)
        for name in ("other/kernel.cu", "home/.ssh/id_ed25519", "secret"):
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"CANARY-{path.name}\n")
        os.mkfifo(self.folder / "fifo")

    @property
    def work(self) -> Path:
        return self.folder / "work"

    @property
    def mark(self) -> str:
        """A word by which this test's processes can be told from all others."""
        return f"MARK-{self.folder.name}-{os.getpid()}"

    @property
    def canaries(self) -> list[str]:
        """Texts that no output may hold: of what lies here, of this machine, of the solutions."""
        users = Path("/etc/passwd").read_text().splitlines()[0]
        return ["CANARY-", users, "BEGIN SOLUTION"]

    def kernel(self, text: str) -> Path:
        """A submission of that text, with the names of this folder filled in."""
        names = {
            "RIGHT_KERNEL": RIGHT_KERNEL,
            "OTHER": self.folder / "other" / "kernel.cu",
            "SECRET": self.folder / "secret",
            "HOME": self.folder / "home",
            "FIFO": self.folder / "fifo",
            "TOUCHED": self.folder / "touched",
            "BOOK": self.workbook.root,
        }
        for name, value in names.items():
            text = text.replace(f"@{name}@", str(value))
        path = self.folder / "me" / "kernel.cu"
        path.write_text(text, "utf-8")
        return path

    def judge(self, source: Path, chapter: str = "ch01", settings: JudgeSettings | None = None) -> Judgement:
        """What becomes of it; nothing may be left behind, whatever it was."""
        before = everything_below(self.folder)
        judgement = judge_submission(
            self.workbook,
            self.workbook.select([chapter])[0],
            source,
            self.work,
            settings or JudgeSettings(),
            Processes(),
        )
        left = everything_below(self.folder) - before - {"work"}
        assert not left, "left behind"
        return judgement


def everything_below(folder: Path) -> set[str]:
    """The names of all files and folders."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def running(word: str) -> list[int]:
    """The processes that have `word` among the words they were started with, or in a script among these."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if word.encode() in words and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found


def nothing_runs(word: str) -> bool:
    """Whether no such process is left, or all are gone a moment later."""
    for _ in range(100):
        if not running(word):
            return True
        time.sleep(0.02)
    return False


# ---- For the tests of what runs in a sandbox -----------------------------------------------------------------

needs_bubblewrap = pytest.mark.skipif(sandbox.unavailable() is not None, reason=str(sandbox.unavailable()))
LIMITS = Limits(
    seconds=20, memory_bytes=512 * MIB, processes=24, output_bytes=MIB, cpu_seconds=20, file_bytes=16 * MIB
)


def marked(limits: Limits, **changes: float) -> Limits:
    return Limits(**{**limits.__dict__, **changes})
