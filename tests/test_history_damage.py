"""One bad row of the history, or a clock that was wrong: the row is left out and named, and everything else works."""

import os
import shlex
import sqlite3
import subprocess
from pathlib import Path

import pytest
from fake_workbook import FakeWorkbook

from grader.core.history import History, Run, moment_of

GOOD = "2026-01-0{}T12:00:00.000+00:00"
BAD = {
    "a bad time": "UPDATE runs SET time = 'yesterday' WHERE rowid = 2",
    "the year 10000": "UPDATE runs SET time = '+10000-01-01T00:00:00.000+00:00' WHERE rowid = 2",
    "the year 1": "UPDATE runs SET time = '0001-01-01T00:00:00+00:00' WHERE rowid = 2",
    "the last moment": "UPDATE runs SET time = '9999-12-31T23:59:59-14:00' WHERE rowid = 2",
    "half a row": "UPDATE runs SET device = '{\"name\": 3' WHERE rowid = 2",
    "JSON of another kind": "UPDATE runs SET device = '[]' WHERE rowid = 2",
    "an infinite speed": "UPDATE runs SET gb_per_s = 9e999 WHERE rowid = 2",
    "more points than there are": "UPDATE runs SET earned = 99 WHERE rowid = 2",
    "less than no points": "UPDATE runs SET earned = -1 WHERE rowid = 2",
    "a word for a number": "UPDATE runs SET earned = 'ten' WHERE rowid = 2",
    "bytes that are not UTF-8": "UPDATE runs SET verdict = CAST(X'50FF41' AS TEXT) WHERE rowid = 2",
    "a blob": "UPDATE runs SET verdict = X'00FF' WHERE rowid = 2",
    "escape sequences": "UPDATE runs SET workbook = char(27) || '[31m' WHERE rowid = 2",
    "a number for JSON": "UPDATE runs SET timing = 7 WHERE rowid = 2",
}


def run(number: int, time: str, **changed: object) -> Run:
    values = {"verdict": "PASS", "gb_per_s": 100.0 * number, "bandwidth": "modelled", "ratio": 1.0} | changed
    return Run(str(number), time, "kernel", "ch01", values["verdict"], 10.0, 10.0, values["gb_per_s"],
               values["bandwidth"], values["ratio"], {}, "0" * 64, {"name": "H200"}, 0.5, "1.0")  # fmt: skip


@pytest.fixture
def book(tmp_path: Path) -> FakeWorkbook:
    made = FakeWorkbook(tmp_path / "it's a $book", {"ch01": "# one\n"})
    History(made.folder / "progress/history.sqlite").add([run(i, GOOD.format(i)) for i in (1, 2, 3)])
    return made


@pytest.mark.parametrize("what", BAD)
def test_one_bad_row_is_left_out_and_named(book: FakeWorkbook, what: str) -> None:
    path = book.folder / "progress/history.sqlite"
    with sqlite3.connect(path) as database:
        database.execute(BAD[what])
    for command in (["status", "--json"], ["ladder"], ["hint", "ch01"]):
        done = book.run(*command)
        assert done.returncode == 0, done.stderr
        assert done.stderr.count(f"warpbook: {path}: row 2 of runs is left out: its ") == 1
        assert len(done.stderr) < 400 and "\033" not in done.stderr
    assert len(History(path).runs()) == 2
    with sqlite3.connect(path) as database:
        assert database.execute("SELECT count(*) FROM runs").fetchone() == (3,), "nothing is lost"


def test_bad_rows_of_other_tables(book: FakeWorkbook) -> None:
    path = book.folder / "progress/history.sqlite"
    assert book.run("skip", "ch01").returncode == 0
    with sqlite3.connect(path) as database:
        database.execute(
            "INSERT INTO events (time, chapter, what, detail) VALUES ('now', 'ch01', 'hint', '{')"
        )
        database.execute(
            "INSERT INTO timings VALUES ('x', 'when', 'ch01', '', 'modelled', 'H', 1, 9e999, 1, 1, '')"
        )
    done = book.run("status")
    assert (done.returncode, done.stderr.count("left out")) == (0, 1)
    assert len(History(path).timings("ch01")) == 0


def test_a_prediction_that_is_not_one(book: FakeWorkbook) -> None:
    folder = book.folder / "progress/predictions"
    folder.mkdir(parents=True)
    (folder / "ch01.txt").write_bytes(b"barriers\tx\twords\tnan\nrubbish\n\xff\xfe\nbarriers\tx\twords\t4\n")
    (book.folder / "chapters/ch01_fake/predictions.toml").write_text("")
    done = book.run("predict", "ch01", "--json")
    assert "an error in Warpbook itself" not in done.stderr


def test_the_last_run_is_the_last_that_was_recorded_even_if_a_clock_was_wrong(tmp_path: Path) -> None:
    history = History(tmp_path / "history.sqlite")
    history.add([run(1, GOOD.format(1)), run(2, "2999-01-01T00:00:00.000+00:00"), run(3, GOOD.format(3))])
    assert [one.id for one in history.runs()] == ["1", "2", "3"]
    history.add([run(4, GOOD.format(2))])  # of ./ch01 by hand, recorded later
    assert [one.id for one in history.runs()] == ["1", "4", "2", "3"] or [one.id for one in history.runs()] == [
        "1", "2", "4", "3"]  # fmt: skip


@pytest.mark.parametrize("seconds", [-1e12, -1.0, 0.0, 253402300800.0, 1e18, float("inf")])
def test_any_clock_gives_a_moment_that_can_be_read(tmp_path: Path, seconds: float) -> None:
    history = History(tmp_path / "history.sqlite")
    history.add([run(1, moment_of(seconds))])
    assert len(history.runs()) == 1


@pytest.mark.parametrize("seconds", [-86400, 2**33, 253402300800 + 86400, 2**40])
def test_a_run_by_hand_from_any_time_is_recorded(book: FakeWorkbook, seconds: int) -> None:
    result = book.folder / "build/results/by-hand/ch01.json"
    result.parent.mkdir(parents=True)
    book.run("grade", "ch01")
    left = (book.folder / "build/results/ch01.json").read_text()
    result.write_text(left.replace('"build": {}', '"build": {"source_sha256": "' + "1" * 64 + '"}'))
    try:
        os.utime(result, (seconds, seconds))
    except OSError:
        pytest.skip("this file system has no such time")
    before = len(History(book.folder / "progress/history.sqlite").runs())
    done = book.run("status")
    assert (done.returncode, done.stderr) == (0, "")
    assert len(History(book.folder / "progress/history.sqlite").runs()) == before + 1


def test_the_command_that_a_message_gives_can_be_pasted(book: FakeWorkbook) -> None:
    path = book.folder / "progress/history.sqlite"
    path.write_bytes(b"this is not a database, and it is long enough to be seen as a broken one" * 20)
    done = book.run("status")
    assert done.returncode == 3
    command = done.stderr.strip().partition("begin a new one: ")[2]
    assert shlex.split(command)[0] == "mv"
    assert subprocess.run(["sh", "-c", command], cwd="/", timeout=10).returncode == 0
    assert not path.exists()
    assert book.run("status").returncode == 0
