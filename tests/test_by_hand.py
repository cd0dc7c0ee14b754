"""Runs of ./chNN by hand count: what ./chNN leaves, and that the grader records it once and for its own kernel."""

import hashlib
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from fake_workbook import FakeWorkbook

from grader.core.history import History, Run
from grader.core.toolkit import find_compiler
from grader.core.workbook import Workbook
from grader.learner.by_hand import take_up

# ---- What ./chNN leaves ----------------------------------------------------------------------------------


@pytest.fixture
def ch01(tmp_path: Path, built: Path) -> Path:
    """./ch01 in a separate checkout; its kernel.cu is the solution."""
    folder = tmp_path / "book"
    for name in ("common", "solutions"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).symlink_to(built / name)
    (chapter,) = built.glob("chapters/ch01_*")
    shutil.copytree(chapter, folder / "chapters" / chapter.name)
    shutil.copy(built / "solutions" / chapter.name / "kernel.cu", folder / "chapters" / chapter.name)
    shutil.copy(built / "build" / "programs" / "ch01", folder)
    return folder / "ch01"


def run(program: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    compiler = find_compiler(ROOT)
    assert compiler, "no compiler of kernels: make setup"
    command = [program, "--device", "emulator", *arguments]
    environment = os.environ | {f"WARPBOOK_{compiler.name.upper()}": str(compiler.path)} | variables
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


def left_by(program: Path) -> Path:
    return program.parent / "build" / "results" / "by-hand" / "ch01.json"


def test_a_full_run_leaves_its_result(ch01: Path, tmp_path: Path) -> None:
    done = run(ch01, "--json", str(tmp_path / "own.json"))
    assert done.returncode == 0, done.stdout + done.stderr
    left = json.loads(left_by(ch01).read_text())
    assert left == json.loads((tmp_path / "own.json").read_text())
    assert (left["verdict"], left["options"]["device"], left["options"]["gpu"]) == ("PASS", "emulator", None)
    (kernel,) = ch01.parent.glob("chapters/*/kernel.cu")
    assert left["build"]["source_sha256"] == hashlib.sha256(kernel.read_bytes()).hexdigest()
    assert [path.name for path in left_by(ch01).parent.iterdir()] == ["ch01.json"], (
        "written completely and renamed"
    )
    kernel.write_text(kernel.read_text().replace("#include", "#incline", 1))
    assert run(ch01).returncode == 1
    assert json.loads(left_by(ch01).read_text())["verdict"] == "BUILD", "what failed counts too"


def test_what_is_not_the_whole_leaves_nothing(ch01: Path) -> None:
    (kernel,) = ch01.parent.glob("chapters/*/kernel.cu")
    for arguments in (
        ["--n", "33"],
        ["--seed", "7"],
        ["--schedules", "0"],
        ["--schedule", "3"],
        ["--time", "1024"],
        ["--kernel", str(kernel)],
        ["--against", str(kernel)],
        ["--help"],
    ):
        assert run(ch01, *arguments).returncode == 0, arguments
        assert not left_by(ch01).exists(), arguments
    assert run(ch01, "--quiet", WARPBOOK_RECORDED="1").returncode == 0
    assert not left_by(ch01).exists(), "the grader records what it runs itself"


def test_where_nothing_can_be_left_the_verdict_stands(ch01: Path) -> None:
    (ch01.parent / "build" / "results").mkdir(parents=True)
    (ch01.parent / "build" / "results" / "by-hand").write_text("in the way")
    done = run(ch01)
    assert done.returncode == 0
    assert "build/results/by-hand" in done.stderr


# ---- What the grader does with it -------------------------------------------------------------------------


@pytest.fixture
def book(tmp_path: Path) -> FakeWorkbook:
    return FakeWorkbook(tmp_path / "book", {"ch01": "# one\n", "ch02": "# two\n"})


def by_hand(book: FakeWorkbook, chapter: str = "ch01", seconds: float = 0.0, **more: Any) -> None:
    """As ./chNN leaves it, `seconds` later than the first time, with all else older."""
    program = book.folder / chapter
    if not program.exists():
        subprocess.run(["make", "-s", f"program-{chapter}", "tools"], cwd=book.folder, check=True)
    sha256 = hashlib.sha256(book.kernel(chapter).read_bytes()).hexdigest()
    result = {
        "schema": "warpbook/result/1",
        "chapter": chapter,
        "verdict": "PASS",
        "device": {"kind": "emulator", "name": "H200"},
        "points": {"earned": 10, "possible": 10},
        "options": {"device": "auto", "gpu": None},
        "build": {"source_sha256": sha256},
        "times": {"run_seconds": 0.25 + seconds},
        "bandwidth": {"gb_per_s": 2000.0, "kind": "modelled", "device": "H200"},
    }
    path = book.folder / "build" / "results" / "by-hand" / f"{chapter}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result | more))
    long_ago = time.time() - 1000
    for file in book.folder.rglob("*"):
        if file.is_file() and file != path:
            os.utime(file, (long_ago, long_ago))
    os.utime(path, (long_ago + 10 + seconds,) * 2)


def history(book: FakeWorkbook, chapter: str = "ch01") -> list[Run]:
    return History(Workbook(book.folder).history).runs(chapter)


def test_a_file_in_the_way_is_told_once(book: FakeWorkbook) -> None:
    (book.folder / "build").mkdir(exist_ok=True)
    (book.folder / "build" / "results").write_text("in the way\n")
    (trouble,) = take_up(Workbook(book.folder), Workbook(book.folder).chapters)
    assert trouble.endswith("build/results: a file is in the place of a folder; move it away")


@pytest.mark.parametrize("command", ["status", "ladder", "grade", "leaderboard", "hint ch01", "skip ch01"])
def test_every_command_that_shows_runs_sees_it(book: FakeWorkbook, command: str) -> None:
    toml = 'work = "sum"\nreference = "ch01"\npeers = {}\n'
    (book.folder / "chapters" / "ch01_fake" / "leaderboard.toml").write_text(toml)
    by_hand(book)
    book.run(*command.split())
    (seen,) = [run for run in history(book) if run.gb_per_s == 2000.0]
    assert (seen.verdict, seen.seconds) == ("PASS", 0.25)
    assert seen.kernel_sha256 == hashlib.sha256(book.kernel("ch01").read_bytes()).hexdigest()


def test_it_is_recorded_once(book: FakeWorkbook) -> None:
    by_hand(book)
    for _ in range(3):
        book.run("status")
    book.run("grade", "ch01")
    assert len(history(book)) == 1
    by_hand(book, seconds=5)
    book.run("status")
    assert len(history(book)) == 1, "the same result again is not a new run"
    by_hand(book, seconds=9, bandwidth={"gb_per_s": 1900.0, "kind": "measured", "device": "NVIDIA L4"})
    book.run("status")
    assert [run.bandwidth for run in history(book)] == ["modelled", "measured"], "another device is"


def test_grade_need_not_run_it_again(book: FakeWorkbook) -> None:
    by_hand(book)
    status, document = book.document("grade", "ch01")
    (chapter,) = document["chapters"]
    assert (status, chapter["reused"], chapter["gb_per_s"], book.ran()) == (0, True, 2000.0, [])
    book.document("grade", "--device", "emulator", "ch01")
    assert book.ran() == ["ch01"], "another device was asked for"


@pytest.mark.parametrize("newer", ["kernel", "program", "header", "reference"])
def test_grade_runs_what_has_changed_since(book: FakeWorkbook, newer: str) -> None:
    by_hand(book)
    path = {
        "kernel": book.kernel("ch01"),
        "program": book.folder / "programs" / "ch01",
        "header": book.folder / "common" / "include" / "warpbook.cuh",
        "reference": book.folder / "solutions" / "ch01_fake" / "kernel.cu",
    }[newer]
    before = hashlib.sha256(book.kernel("ch01").read_bytes()).hexdigest()
    path.write_text(path.read_text() + "# edited\n")
    book.run("grade", "ch01")
    assert book.ran() == ["ch01"]
    by_hand_run, graded = history(book)
    assert (by_hand_run.kernel_sha256, by_hand_run.gb_per_s) == (before, 2000.0), (
        "a result stays its kernel's own"
    )
    assert (graded.gb_per_s, graded.kernel_sha256 == before) == (1412.0, newer != "kernel")


def test_an_edit_after_the_run_is_an_edit(book: FakeWorkbook) -> None:
    by_hand(book)
    book.kernel("ch01").write_text("# another\n")
    _, document = book.document("status")
    assert (document["chapters"][0]["state"], document["chapters"][0]["verdict"]) == ("edited", "PASS")


@pytest.mark.parametrize(
    "damage", ["", "{}", "[]", "\x00", '{"schema": "warpbook/result/1", "chapter": "ch02"}']
)
def test_what_is_damaged_is_told_once(book: FakeWorkbook, damage: str) -> None:
    by_hand(book)
    (book.folder / "build" / "results" / "by-hand" / "ch01.json").write_text(damage)
    done = book.run("status")
    assert done.returncode == 0
    assert "a run of ./ch01 by hand is not recorded" in done.stderr
    assert book.run("status").stderr == ""
    assert history(book) == []


def test_without_a_kernel_of_its_own_it_is_not_recorded(book: FakeWorkbook) -> None:
    by_hand(book, build=None)
    book.run("status")
    by_hand(book, verdict="INFRA")
    book.run("status")
    assert history(book) == []
