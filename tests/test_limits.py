"""Small limits of the machine: everything works, or says which limit is too low, with exit status 3."""

import subprocess
from pathlib import Path

import pytest
from fake_workbook import FakeWorkbook


def limited(limit: str, command: str, folder: Path, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", f"ulimit {limit}; {command} | cat; exit ${{PIPESTATUS[0]}}"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        **more,  # type: ignore[call-overload]
    )


CHAPTER = "build/programs/ch01 --device emulator --kernel solutions/ch01_single_thread/kernel.cu"


def test_sixteen_open_files_are_enough_for_a_chapter(built: Path) -> None:
    done = limited("-n 16", CHAPTER, built)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("limit", "words"),
    [("-n 9", "(ulimit -n)"), ("-n 5", "open files"), ("-v 50000", "memory"), ("-v 20000", "memory")],
)
def test_less_than_a_chapter_needs(built: Path, limit: str, words: str) -> None:
    done = limited(limit, CHAPTER, built)
    assert done.returncode == 3
    assert words in " ".join(done.stdout.split())


def test_no_file_may_be_written(built: Path, tmp_path: Path) -> None:
    done = limited("-f 0", f"{CHAPTER} --json {tmp_path}/x.json", built)
    assert done.returncode == 3
    assert "the limit on file sizes is too low (ulimit -f)" in done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("limit", "command", "words"),
    [
        ("-n 7", "grade --fresh", "the limit on open files is too low (ulimit -n)"),
        ("-f 1", "skip ch01", "(ulimit -f)"),
        ("-v 25000", "status", ""),
    ],
)
def test_the_grader(tmp_path: Path, limit: str, command: str, words: str) -> None:
    workbook = FakeWorkbook(tmp_path / "book", {"ch01": "# one\n"})
    python = " ".join(workbook.command(*command.split()))
    done = limited(limit, python, workbook.folder, env=workbook.environment())
    assert done.returncode != 0
    if words:
        assert (done.returncode, words in done.stderr) == (3, True), done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("names", [["HOME"], ["HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_ALL"]])
def test_without_a_home(tmp_path: Path, names: list[str]) -> None:
    workbook = FakeWorkbook(tmp_path / "book", {"ch01": "# one\n"})
    environment = {name: value for name, value in workbook.environment().items() if name not in names}
    for command in ("status", "grade", "doctor --json", "completion bash"):
        assert workbook.run(*command.split(), env=environment).returncode in (0, 3)


@pytest.mark.parametrize("temporary", ["/nonexistent", "/dev/null", "relative", ""])
def test_a_bad_tmpdir(tmp_path: Path, temporary: str) -> None:
    workbook = FakeWorkbook(tmp_path / "book", {"ch01": "# one\n"})
    done = workbook.run("grade", env=workbook.environment() | {"TMPDIR": temporary})
    assert (done.returncode, done.stderr) == (0, "")
