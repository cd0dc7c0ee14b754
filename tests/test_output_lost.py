"""Standard output that is full or closed: exit status 3 and a sentence, or nothing at all; and nothing else is lost."""

import os
import subprocess
from pathlib import Path

import pytest
from fake_workbook import FakeWorkbook

from grader.cli import COMMANDS
from grader.core.workbook import Workbook


@pytest.fixture(scope="module")
def workbook(tmp_path_factory: pytest.TempPathFactory) -> FakeWorkbook:
    return FakeWorkbook(tmp_path_factory.mktemp("full") / "book", {"ch01": "# one\n"})


def shell(
    command: str, folder: Path, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=100
    )


@pytest.mark.parametrize(
    "command",
    [
        *(f"{name} --help" for commands in COMMANDS.values() for name in commands),
        *(
            "status",
            "status --json",
            "grade",
            "grade --json",
            "hint ch01",
            "ladder",
            "doctor",
            "doctor --json",
        ),
        *("completion bash", "--version", "--help", "skip ch01", "resume ch01", "reset ch01 --force"),
    ],
)
def test_a_full_disk(workbook: FakeWorkbook, command: str) -> None:
    python = workbook.command(*command.split())
    done = shell(f"exec {' '.join(python)} >/dev/full", workbook.folder, workbook.environment())
    assert done.returncode == 3
    assert "warpbook: standard output: the disk is full" in done.stderr
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr


def test_no_stream_can_be_written(workbook: FakeWorkbook) -> None:
    python = " ".join(workbook.command("status"))
    assert shell(f"{python} >/dev/full 2>&1", workbook.folder, workbook.environment()).returncode == 3


def test_what_ran_is_recorded_anyway(workbook: FakeWorkbook) -> None:
    python = " ".join(workbook.command("grade", "--fresh"))
    before = len(recorded(workbook))
    assert shell(f"{python} >/dev/full", workbook.folder, workbook.environment()).returncode == 3
    assert len(recorded(workbook)) == before + 1


def recorded(workbook: FakeWorkbook) -> list[object]:
    from grader.core.history import History

    return list(History(Workbook(workbook.folder).history).runs())


@pytest.mark.parametrize("command", ["status", "grade --fresh", "doctor"])
def test_a_file_that_is_opened_never_gets_the_number_of_a_closed_stream(
    workbook: FakeWorkbook, command: str
) -> None:
    python = " ".join(workbook.command(*command.split()))
    fine = shell(python, workbook.folder, workbook.environment()).returncode
    done = shell(f"{python} <&- >&- 2>&-", workbook.folder, workbook.environment())
    assert done.returncode == fine
    for path in workbook.folder.rglob("*"):
        if path.is_file():
            assert b"verdict\xe2" not in path.read_bytes() and b"Next:" not in path.read_bytes()


@pytest.mark.parametrize("program", ["skeletons --check --help", "style", "architecture --help"])
def test_the_programs_of_authors(root: Path, program: str) -> None:
    done = shell(f".venv/bin/python -m grader.authoring.{program} >/dev/full", root)
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr
    assert done.returncode == 3 or not done.stderr


@pytest.mark.parametrize(
    "options", ["", "--quiet", "--profile", "--json /dev/full", "--help", "--trace /dev/full"]
)
def test_a_chapter(built: Path, tmp_path: Path, options: str) -> None:
    kernel = "" if options == "--help" else "--kernel solutions/ch01_single_thread/kernel.cu"
    to = ">/dev/null" if "full" in options else ">/dev/full"
    done = shell(f"{built}/build/programs/ch01 {kernel} {options} --device emulator {to}", built)
    assert done.returncode == 3
    assert done.stderr.count("the disk is full") == 1


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_chapter_with_closed_streams(built: Path, tmp_path: Path, closed: str) -> None:
    program = f"{built}/build/programs/ch01 --kernel solutions/ch01_single_thread/kernel.cu --device emulator"
    result = tmp_path / "result.json"
    assert shell(f"{program} --json {result} {closed}", built).returncode == 0
    assert result.read_text().startswith("{") and "emulator, as" not in result.read_text()


def test_a_reader_that_leaves_changes_no_status(built: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [
        built / "build/programs/ch01",
        "--kernel",
        "solutions/ch01_single_thread/kernel.cu",
        "--device",
        "emulator",
    ]
    done = subprocess.run(command, cwd=built, stdout=write, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")


def test_tools(built: Path) -> None:
    for tool in ("compile", "emulate"):
        done = shell(f"build/bin/{tool} --help >/dev/full", built)
        assert done.returncode in (2, 3) and "the disk is full" in done.stderr
