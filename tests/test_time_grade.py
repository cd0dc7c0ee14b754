"""`make time-grade`: it grades solved kernels in a separate checkout, and counts the time of all processes."""

from pathlib import Path

import pytest
from conftest import ROOT
from fake_workbook import FakeWorkbook

from grader.authoring.checkouts import solved_checkout
from grader.authoring.time_grade import cost_of
from grader.core.errors import MachineError
from grader.core.workbook import Workbook


def test_what_is_graded_is_solved_and_unbuilt(built: Path, tmp_path: Path) -> None:
    workbook = Workbook(built)
    solved_checkout(workbook, tmp_path / "own")
    for chapter in workbook.chapters:
        kernel = (tmp_path / "own" / chapter.kernel).read_bytes()
        assert kernel == (ROOT / chapter.solution / "kernel.cu").read_bytes()
        assert (tmp_path / "own" / chapter.name).is_file()
        assert not (tmp_path / "own" / "build" / chapter.name).exists()
    assert not (tmp_path / "own" / "progress").exists()


def test_everything_that_runs_is_counted(tmp_path: Path) -> None:
    busy = "import time\nheld = bytearray(100 << 20)\nwhile time.process_time() < 0.5: pass\n"
    book = FakeWorkbook(tmp_path / "book", {"ch01": busy, "ch02": "# right\n"})
    cold, unchanged = cost_of(book.folder, [], 1), cost_of(book.folder, [], 1)
    assert (cold.status, unchanged.status) == (0, 0)
    assert book.ran() == ["ch01", "ch02"], "the second time nothing ran"
    assert cold.cpu_seconds > 0.5 + unchanged.cpu_seconds / 2
    assert cold.memory_mib > 120, "the kernel's 100 MiB, its own Python, and the grader that waits for it"
    assert min(cold.wall_seconds, unchanged.wall_seconds) > 0


def test_a_grade_that_fails_is_no_figure(tmp_path: Path) -> None:
    book = FakeWorkbook(tmp_path / "book", {})
    (book.folder / "chapters").mkdir()
    with pytest.raises(MachineError, match="there are no chapters here"):
        cost_of(book.folder, [], 1)


def test_only_the_chapters_that_are_named_are_graded(tmp_path: Path) -> None:
    book = FakeWorkbook(tmp_path / "book", {"ch01": "# right\n", "ch02": "# right\n"})
    assert cost_of(book.folder, ["ch02"], 1).status == 0
    assert book.ran() == ["ch02"]
