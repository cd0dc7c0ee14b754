"""Everything that can be wrong around the programs: each a clear message and the right exit status."""

import os
import shlex
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import run_make
from fake_workbook import FakeWorkbook


@pytest.fixture
def workbook(tmp_path: Path) -> FakeWorkbook:
    return FakeWorkbook(tmp_path / "book", {"ch01": "# one\n", "ch02": "# two\n"})


# ---- The grader's command line ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["grade", "ch99"],
        ["grade", "ch01", "nonsense"],
        ["grade", ""],
        ["grade", "../../etc/passwd"],
        ["grade", "ch\x1b[31m"],
        ["grade", "--", "--help"],
        ["grade", "x" * 100000],
        ["grade", "--device", "toaster"],
        ["grade", "--jobs", "-1"],
        ["grade", "--jobs", "many"],
        ["grade", "--time-limit", "0"],
        ["grade", "--nonsense"],
        ["hint", "ch99"],
        ["hint"],
        ["hint", "ch01", "--step", "0"],
        ["show", "ch99"],
        ["reset", "ch99", "--force"],
        ["status", "ch01"],
        ["doctor", "--nonsense"],
        ["nonsense"],
        [],
    ],
)
def test_wrong_usage_is_exit_status_2(workbook: FakeWorkbook, arguments: list[str]) -> None:
    done = workbook.run(*arguments)
    assert done.returncode == 2
    assert (done.stderr + done.stdout).strip()
    assert "\033" not in done.stderr
    assert len(done.stderr) < 3000
    assert workbook.ran() == []


def test_unknown_chapter_lists_those_there_are(workbook: FakeWorkbook) -> None:
    assert "there is no chapter ch99; there are: ch01 ch02" in workbook.run("grade", "ch99").stderr


def test_no_chapters(workbook: FakeWorkbook) -> None:
    shutil.rmtree(workbook.folder / "chapters")
    (workbook.folder / "chapters").mkdir()
    done = workbook.run("grade")
    assert done.returncode == 3
    assert "no chapters" in done.stderr


def test_a_chapter_without_hints(workbook: FakeWorkbook) -> None:
    (workbook.folder / "chapters" / "ch01_fake" / "hints.md").unlink()
    assert "has no hints" in workbook.run("hint", "ch01").stderr


def test_no_make(workbook: FakeWorkbook, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = workbook.run("grade")
    assert done.returncode == 3
    assert "apt-get install make" in done.stderr


def test_output_pipe_closed(workbook: FakeWorkbook) -> None:
    command = f"{sys.executable} -m grader status | true"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=workbook.folder,
        env=workbook.environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


@pytest.mark.parametrize(
    ("command", "status"), [("grade ch01", 0), ("grade", 1), ("grade --help", 0), ("doctor --json", 0)]
)
def test_a_reader_who_leaves_changes_no_status(workbook: FakeWorkbook, command: str, status: int) -> None:
    workbook.kernel("ch02").write_text(
        'result["verdict"] = "WRONG"; result["points"]["earned"] = 0; status = 1\n'
    )
    read, write = os.pipe()
    os.close(read)
    if command.startswith("doctor"):
        status = workbook.run(*command.split()).returncode  # whatever this machine lacks
    done = subprocess.run(
        workbook.command(*command.split()),
        cwd=workbook.folder,
        env=workbook.environment(),
        stdout=write,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    os.close(write)
    assert (done.returncode, "warpbook:" in done.stderr) == (status, False), done.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_a_stream_that_is_closed(workbook: FakeWorkbook, closed: str) -> None:
    command = f"{shlex.join(workbook.command('grade', 'ch01'))} {closed}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=workbook.folder,
        env=workbook.environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, "mistake" in done.stderr) == (0, False), done.stderr


def test_a_kernel_that_is_no_file_is_not_waited_for(workbook: FakeWorkbook) -> None:
    workbook.kernel("ch01").unlink()
    os.mkfifo(workbook.kernel("ch01"))
    assert workbook.run("status").returncode == 0


def test_what_is_written_is_for_whom_the_umask_says(workbook: FakeWorkbook) -> None:
    done = subprocess.run(
        ["bash", "-c", f"umask 077; {shlex.join(workbook.command('grade', 'ch01'))}"],
        cwd=workbook.folder,
        env=workbook.environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert stat.S_IMODE((workbook.folder / "build" / "results.json").stat().st_mode) == 0o600


# ---- What lies in the way --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "damage", [b"this is not a database, whatever its name says" * 50, b"SQLite format 3\0" + b"x" * 4096]
)
def test_damaged_history(workbook: FakeWorkbook, damage: bytes) -> None:
    (workbook.folder / "progress").mkdir()
    (workbook.folder / "progress" / "history.sqlite").write_bytes(damage)
    done = workbook.run("grade")
    assert done.returncode == 3
    assert "mv " in done.stderr
    assert "2 of 2 passed" in done.stdout, "the verdicts are shown anyway"
    for command in ("status", "show"):
        assert workbook.run(command, *(["ch01"] if command == "show" else [])).returncode == 3


def test_history_is_a_folder(workbook: FakeWorkbook) -> None:
    (workbook.folder / "progress" / "history.sqlite").mkdir(parents=True)
    done = workbook.run("grade")
    assert done.returncode == 3
    assert "history" in done.stderr
    assert "2 of 2 passed" in done.stdout


def test_history_of_a_newer_version(workbook: FakeWorkbook) -> None:
    workbook.run("grade")
    import sqlite3

    with sqlite3.connect(workbook.folder / "progress" / "history.sqlite") as database:
        database.execute("PRAGMA user_version = 99")
    done = workbook.run("status")
    assert done.returncode == 3
    assert "newer Warpbook" in done.stderr


def test_results_is_a_folder(workbook: FakeWorkbook) -> None:
    (workbook.folder / "build" / "results.json").mkdir(parents=True)
    done = workbook.run("grade")
    assert done.returncode == 3
    assert "build/results.json could not be written" in done.stderr
    assert "2 of 2 passed" in done.stdout
    assert not list((workbook.folder / "build").glob(".results*")), "no half-written file is left"


def test_a_result_is_a_folder(workbook: FakeWorkbook) -> None:
    (workbook.folder / "build" / "results" / "ch01.json").mkdir(parents=True)
    status, document = workbook.document("grade")
    assert status == 3
    assert [chapter["verdict"] for chapter in document["chapters"]] == ["INFRA", "PASS"]


def test_build_is_a_file(workbook: FakeWorkbook) -> None:
    (workbook.folder / "build").write_text("in the way")
    done = workbook.run("grade")
    assert done.returncode == 3
    assert done.stderr.strip()


def test_progress_is_a_file(workbook: FakeWorkbook) -> None:
    (workbook.folder / "progress").write_text("in the way")
    done = workbook.run("hint", "ch01")
    assert done.returncode == 3
    assert "a file is in the place of a folder" in done.stderr
    assert workbook.run("grade").returncode == 3


def in_namespace(workbook: FakeWorkbook, script: str) -> subprocess.CompletedProcess[str]:
    """Runs a script that may mount things nobody else sees; skips where nobody may mount."""
    done = subprocess.run(
        ["unshare", "-m", "bash", "-c", script],
        cwd=workbook.folder,
        env=workbook.environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("this machine lets nobody mount")
    return done


def test_unwritable_build_folder(workbook: FakeWorkbook) -> None:
    subprocess.run(["make", "-s", "program-ch01", "program-ch02", "tools"], cwd=workbook.folder, check=True)
    if os.geteuid() == 0:  # root may write everywhere but on a read-only disk
        read_only = "mount --bind build build && mount -o remount,ro,bind build || exit 77; "
        done = in_namespace(workbook, f"{read_only} exec {sys.executable} -m grader grade")
    else:
        (workbook.folder / "build").chmod(0o555)
        done = workbook.run("grade")
        (workbook.folder / "build").chmod(0o755)
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert "build" in done.stderr
    assert "not allowed" in done.stderr or "Read-only" in done.stderr


def test_disk_full(workbook: FakeWorkbook) -> None:
    """A limit on file sizes stands in for a full disk: a write fails in the middle."""
    script = f"ulimit -f 0; trap '' XFSZ; exec {sys.executable} -m grader grade"
    workbook.run("grade")
    workbook.kernel("ch01").write_text("# edited\n")
    before = (workbook.folder / "build" / "results.json").read_text()
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=workbook.folder,
        env=workbook.environment(),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 3
    assert "Traceback" not in done.stderr
    assert (workbook.folder / "build" / "results.json").read_text() == before, "the old result stays whole"
    assert workbook.run("grade").returncode == 0


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="needs to mount a small disk")
def test_small_disk_full(workbook: FakeWorkbook) -> None:
    script = (
        "mount -t tmpfs -o size=64k none build 2>/dev/null || exit 77; "
        "cp -r /proc/self/environ build/x; dd if=/dev/zero of=build/full bs=1k count=64 2>/dev/null; "
        f"exec {sys.executable} -m grader grade"
    )
    (workbook.folder / "build").mkdir()
    done = in_namespace(workbook, script)
    assert done.returncode == 3
    assert "Traceback" not in done.stderr


# ---- The Makefile of the real checkout -------------------------------------------------------------------


def test_make_without_a_compiler(checkout: Path, tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    needed = "sh make mkdir dirname mktemp rm mv sed printf cat getconf head python3 cp ln find grep env"
    for name in needed.split():
        if path := shutil.which(name):
            (tools / name).symlink_to(path)
    done = run_make("program-ch01", folder=checkout, PATH=str(tools))
    assert done.returncode == 2
    assert "no working C compiler" in done.stderr
    assert "apt-get install gcc" in done.stderr


def test_make_with_a_compiler_that_is_not_there(checkout: Path) -> None:
    done = run_make("program-ch01", "CC=no-such-compiler", folder=checkout)
    assert done.returncode == 2
    assert "called no-such-compiler" in done.stderr


def test_make_with_a_python_that_is_not_there(checkout: Path) -> None:
    done = run_make("grade", "PYTHON=no-such-python", folder=checkout)
    assert done.returncode == 2
    assert "no Python 3.11 or newer called no-such-python" in done.stderr


def test_make_with_an_old_python(checkout: Path, tmp_path: Path) -> None:
    old = tmp_path / "old-python"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    done = run_make("grade", f"PYTHON={old}", folder=checkout)
    assert done.returncode == 2
    assert "no Python 3.11 or newer" in done.stderr


def test_make_with_build_in_the_way(checkout: Path) -> None:
    (checkout / "build").write_text("in the way")
    done = run_make("program-ch01", folder=checkout)
    assert done.returncode == 2
    assert "cannot write to the folder build" in done.stderr


@pytest.mark.parametrize("goal", ["ch99", "chapter"])
def test_make_an_unknown_chapter(checkout: Path, goal: str) -> None:
    done = run_make(goal, folder=checkout)
    assert done.returncode == 2
    assert f"there is no chapter {goal}; there are: ch01 ch02" in done.stderr


def test_make_two_chapters_of_one_number(checkout: Path) -> None:
    shutil.copytree(checkout / "chapters/ch01_one", checkout / "chapters/ch01_again")
    done = run_make("program-ch01", folder=checkout)
    assert done.returncode == 2
    assert "same number" in done.stderr


def test_make_a_source_that_does_not_compile(checkout: Path) -> None:
    (checkout / "chapters/ch01_one/chapter.c").write_text("int chapter = ;\n")
    done = run_make("-k", "program-ch01", "program-ch02", folder=checkout)
    assert done.returncode == 2
    assert "chapters/ch01_one/chapter.c:1:15: error" in done.stderr
    assert (checkout / "ch02").exists()
    assert not (checkout / "ch01").exists()


@pytest.mark.slow
def test_pip_failing_says_so(checkout: Path) -> None:
    (checkout / "requirements/runtime.txt").write_text("no-such-package==0 --hash=sha256:" + "0" * 64 + "\n")
    done = run_make("grade", folder=checkout, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(checkout))
    assert done.returncode == 2
    assert "pip could not install requirements/runtime.txt" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (checkout / ".venv" / ".installed-runtime").exists()
