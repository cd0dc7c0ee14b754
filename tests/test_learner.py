"""What a learner asks for: the page of `make`, skipping, hints by diagnosis, the solution; and what is kept of it."""

import hashlib
import json
import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, run_make
from fake_workbook import FakeWorkbook

from grader.core import history
from grader.core.history import Event, History, Run
from grader.core.workbook import Workbook
from grader.learner import hints, standing

SLOW = 'result["verdict"] = "SLOW"; result["points"]["earned"] = 4; status = 1\n'
WRONG = 'result["verdict"] = "WRONG"; result["points"]["earned"] = 0; status = 1\n'
BANDWIDTH = 'result["bandwidth"]["gb_per_s"] = {}\n'


def diagnosed(mistake: str, step: int | None, title: str = "A well-known one") -> str:
    found = {"mistake": mistake, "title": title, "why": "because", "hint": step, "lesson": "ch01#the-idea"}
    return WRONG + f'result["diagnosis"] = {found!r}\n'


@pytest.fixture
def book(tmp_path: Path) -> FakeWorkbook:
    made = FakeWorkbook(tmp_path / "book", {"ch01": "# one\n", "ch02": SLOW, "ch03": WRONG})
    lesson = made.folder / "chapters/ch01_fake/README.md"
    lesson.write_text(lesson.read_text() + "\n## The idea\n\nText.\n")
    return made


def line_of(page: str, chapter: str) -> str:
    (line,) = [line for line in page.splitlines() if line[3:].startswith(chapter)]
    return line


def states(document: dict) -> dict[str, str]:
    return {chapter["chapter"]: chapter["state"] for chapter in document["chapters"]}


# ---- Where am I ------------------------------------------------------------------------------------------


def test_one_line_a_chapter_and_what_is_next(book: FakeWorkbook) -> None:
    book.run("grade")
    page = book.run("status").stdout
    assert all(len(line) <= 80 for line in page.splitlines())
    assert "\033" not in page
    assert line_of(page, "ch01").split() == [
        "ch01",
        "Fake",
        "ch01",
        "passed",
        "10/10",
        "1,412",
        "modelled",
        "PASS",
    ]
    assert line_of(page, "ch02").split() == [
        ">",
        "ch02",
        "Fake",
        "ch02",
        "open",
        "4/10",
        "1,412",
        "modelled",
        "SLOW",
    ]
    assert "1 of 3 passed, 14 points" in page
    assert "█" * 8 + "░" * 16 in page
    for words in (
        "Next: ch02, Fake ch02. So far: SLOW.",
        "read   chapters/ch02_fake/README.md",
        "edit   chapters/ch02_fake/kernel.cu",
        "make ch02 && ./ch02",
        "make hint-ch02",
        "make skip-ch02",
    ):
        assert words in page


def test_titles_of_every_length_fit(book: FakeWorkbook) -> None:
    lesson = book.folder / "chapters/ch02_fake/README.md"
    lesson.write_text("# Chapter 2: " + "A title that is long and long " * 4 + "\n")
    book.kernel("ch02").write_text('result["verdict"] = "UNTRUSTED_TIME"; status = 1\n')
    book.run("grade", "ch02")
    page = book.run("status").stdout
    assert all(len(line) <= 80 for line in page.splitlines()[:12])
    assert line_of(page, "ch02").rstrip().endswith("UNTRUSTED_TIME")
    assert "A title that is long" in line_of(page, "ch02")


def test_the_best_bandwidth_is_of_a_right_run_on_one_device(book: FakeWorkbook) -> None:
    book.kernel("ch01").write_text(BANDWIDTH.format(3000.0))
    book.run("grade", "ch01")
    book.kernel("ch01").write_text(BANDWIDTH.format(2000.0))
    book.run("grade", "ch01")
    book.kernel("ch01").write_text(BANDWIDTH.format(9999.0) + WRONG)
    book.run("grade", "ch01")
    assert "3,000 modelled" in line_of(book.run("status").stdout, "ch01")
    book.kernel("ch01").write_text(BANDWIDTH.format(2100.0) + 'result["bandwidth"]["kind"] = "measured"\n')
    book.run("grade", "ch01")
    status, document = book.document("status")
    best = document["chapters"][0]["best"]
    assert (status, best["gb_per_s"], best["kind"]) == (0, 2100.0, "measured")


def test_an_edit_of_what_passed_is_open_again(book: FakeWorkbook) -> None:
    book.run("grade", "ch01")
    book.kernel("ch01").write_text("# edited\n")
    page = book.run("status").stdout
    assert "edited" in line_of(page, "ch01")
    assert "Next: ch01, Fake ch01. So far: edited since it passed." in page


def test_all_is_done(book: FakeWorkbook) -> None:
    for name in ("ch02", "ch03"):
        book.kernel(name).write_text("# right\n")
    book.run("grade")
    assert "All 3 chapters have passed." in book.run("status").stdout


def test_status_without_a_terminal_that_knows_more_than_ascii(book: FakeWorkbook) -> None:
    book.run("grade")
    environment = book.environment() | {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    page = book.run("status", env=environment).stdout
    assert page.isascii()
    assert "########................ 1 of 3 passed" in page
    title = book.folder / "chapters/ch01_fake/README.md"
    title.write_text("# Chapter 1: Größe\n", encoding="utf-8")
    assert "Gr??e" in book.run("status", env=environment).stdout
    document = json.loads(book.run("status", "--json", env=environment).stdout)
    assert document["chapters"][0]["title"] == "Größe", "a document is whole whatever the locale"


# ---- What was built by hand is judged --------------------------------------------------------------------


def built_by_hand(book: FakeWorkbook, chapter: str) -> None:
    """As `make chNN` leaves it."""
    folder = book.folder / "build" / chapter
    folder.mkdir(parents=True, exist_ok=True)
    sha256 = hashlib.sha256(book.kernel(chapter).read_bytes()).hexdigest()
    (folder / "build.json").write_text(json.dumps({"source_sha256": sha256}))
    (book.folder / chapter).write_text((book.folder / "programs" / chapter).read_text())
    (book.folder / chapter).chmod(0o755)


def test_status_judges_what_was_built_since(book: FakeWorkbook) -> None:
    assert states(book.document("status")[1])["ch01"] == "new"
    assert book.ran() == []
    built_by_hand(book, "ch01")
    _, document = book.document("status")
    assert states(document) == {"ch01": "passed", "ch02": "new", "ch03": "new"}
    assert document["next"] == "ch02"
    assert book.ran() == ["ch01"]
    assert book.document("status")[1] == document
    assert book.ran() == [], "it is judged once"
    book.kernel("ch01").write_text(WRONG)
    assert states(book.document("status")[1])["ch01"] == "edited", "not built, not judged"
    built_by_hand(book, "ch01")
    assert states(book.document("status")[1])["ch01"] == "open"


def test_a_hint_is_for_what_was_built_last(book: FakeWorkbook) -> None:
    book.kernel("ch01").write_text(diagnosed("tail-dropped", 2, "The tail is dropped"))
    built_by_hand(book, "ch01")
    assert book.document("hint", "ch01")[1]["mistake"] == "tail-dropped"


# ---- Skipping and coming back ----------------------------------------------------------------------------


def test_skip_and_resume(book: FakeWorkbook) -> None:
    done = book.run("skip", "ch01")
    assert (done.returncode, "make resume-ch01" in done.stdout) == (0, True)
    assert "Next: edit chapters/ch02_fake/kernel.cu, then make ch02 && ./ch02" in done.stdout
    _, document = book.document("status")
    assert (document["next"], states(document)["ch01"], document["skipped"]) == ("ch02", "skipped", 1)
    assert "1 skipped" in book.run("status").stdout
    book.run("skip", "ch02")
    _, document = book.document("skip", "ch03")
    assert document["next"] is None
    page = book.run("status").stdout
    assert "All chapters have passed except those you skipped. Return to one:\n  make resume-ch01" in page
    _, document = book.document("resume", "ch02")
    assert document["next"] == "ch02"
    assert book.document("status")[1]["next"] == "ch02"
    assert book.run("skip", "ch99").returncode == 2


def test_a_skipped_chapter_that_passes_is_passed(book: FakeWorkbook) -> None:
    book.run("skip", "ch01")
    book.run("grade", "ch01")
    assert states(book.document("status")[1])["ch01"] == "passed"
    assert "passed already" in book.run("resume", "ch01").stdout


def test_what_was_taken_up_leads_on_from_there(book: FakeWorkbook) -> None:
    book.run("resume", "ch02")
    assert book.document("status")[1]["next"] == "ch02"
    book.kernel("ch02").write_text("# right\n")
    book.run("grade", "ch02")
    assert book.document("status")[1]["next"] == "ch03"
    book.kernel("ch03").write_text("# right\n")
    book.run("grade", "ch03")
    assert book.document("status")[1]["next"] == "ch01", "round to what was left out"


# ---- Hints -----------------------------------------------------------------------------------------------


def steps(book: FakeWorkbook, count: int) -> list[int]:
    return [book.document("hint", "ch01")[1]["step"] for _ in range(count)]


def test_a_diagnosis_chooses_the_hint(book: FakeWorkbook) -> None:
    book.kernel("ch01").write_text(diagnosed("tail-dropped", 2, "The tail is dropped"))
    book.run("grade", "ch01")
    page = book.run("hint", "ch01").stdout
    for words in (
        "hint 2 of 3",
        "Your last run: The tail is dropped.",
        "second",
        "Read: chapters/ch01_fake/README.md, The idea",
        "More: make hint-ch01",
    ):
        assert words in page
    assert steps(book, 2) == [3, 3]
    book.kernel("ch01").write_text(diagnosed("plain-add", 1))
    book.run("grade", "ch01")
    assert steps(book, 2) == [1, 2], "another mistake begins with its own"
    assert book.document("hint", "ch01", "--step", "1")[1]["step"] == 1


def test_choosing_a_step() -> None:
    def given(*pairs: tuple[int, str | None]) -> list[Event]:
        return [Event("", "ch01", "hint", {"step": step, "mistake": mistake}) for step, mistake in pairs]

    assert hints.choose([], None, None) == 1
    assert hints.choose([], "a", 3) == 3
    assert hints.choose([], "a", None) == 1, "no hint is about it"
    assert hints.choose(given((1, None), (2, None)), None, None) == 3
    assert hints.choose(given((1, None), (2, None)), "a", 1) == 1
    assert hints.choose(given((3, "a"), (1, "b")), "b", 1) == 2
    assert hints.choose(given((2, "a")), None, None) == 3, "after a diagnosis that has gone"


def test_a_hint_about_one_todo(book: FakeWorkbook) -> None:
    """A hint may be about several TODOs; the others are not shown, and the next hint of the chapter stays the same."""
    (book.folder / "chapters/ch01_fake/hints.md").write_text(
        "# Hints\n\n## 1\n\nTODO 1: one. TODO 2 and\n3: a pair.\n\n## 2\n\nBoth are sums.\n\n"
        "## 3\n\nTODO 2: two,\nat last. TODO 3: three.\n"
    )

    def about(todo: int, *words: str) -> tuple[int, str]:
        given = book.document("hint", "ch01", "--todo", str(todo), *words)[1]
        return given["step"], given["text"]

    assert [about(2) for _ in range(3)] == [
        (1, "TODO 2 and\n3: a pair."), (3, "TODO 2: two,\nat last."), (3, "TODO 2: two,\nat last.")
    ]  # fmt: skip
    assert about(3, "--step", "3") == (3, "TODO 3: three.")
    assert about(1) == (1, "TODO 1: one.")
    whole = book.run("hint", "ch01").stdout
    assert "hint 1 of 3\n" in whole and "TODO 1: one.\n\nTODO 2 and 3: a pair." in whole
    assert "One TODO at a time: make hint-ch01 TODO=3" in whole
    assert "More: make hint-ch01 TODO=2" in book.run("hint", "ch01", "--todo", "2", "--step", "1").stdout
    for words, reason in (
        (("--todo", "4"), "no hint of ch01 has a part about TODO 4 alone"),
        (("--todo", "2", "--step", "2"), "hint 2 of ch01 has no part about TODO 2; take STEP=1 and STEP=3"),
    ):
        done = book.run("hint", "ch01", *words)
        assert (done.returncode, reason in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize("diagnosis", ["[]", '"x"', "{}", "{'mistake': 5, 'hint': 'x', 'lesson': 3}"])
def test_a_diagnosis_out_of_form_does_no_harm(book: FakeWorkbook, diagnosis: str) -> None:
    book.kernel("ch01").write_text(WRONG + f'result["diagnosis"] = {diagnosis}\n')
    book.run("grade", "ch01")
    assert book.document("hint", "ch01")[1]["step"] == 1


def test_every_lesson_that_a_diagnosis_names_is_found() -> None:
    workbook = Workbook(ROOT)
    assert hints.lesson_of(workbook, "ch04#five-steps").endswith("README.md, Five steps")
    assert hints.lesson_of(workbook, "ch99#nothing") == ""
    assert hints.lesson_of(workbook, None) == ""


# ---- The solution ----------------------------------------------------------------------------------------


def test_what_was_shown_is_recorded(book: FakeWorkbook) -> None:
    book.run("show", "ch01")
    book.run("show", "ch01", "--force")
    book.run("grade", "ch01")
    assert book.document("show", "ch01")[1]["passed"] is True
    shown = [event for event in history_of(book).events("ch01") if event.what == "shown"]
    assert [event.detail["passed"] for event in shown] == [False, True], "a refusal shows nothing"


def history_of(book: FakeWorkbook) -> History:
    return History(book.folder / "progress" / "history.sqlite")


# ---- The file --------------------------------------------------------------------------------------------


def run_of(chapter: str, **fields: object) -> Run:
    known = {
        "id": chapter, "time": "2026-01-01T00:00:00.000+00:00", "kind": "kernel", "chapter": chapter,
        "verdict": "PASS", "earned": 10, "possible": 10, "gb_per_s": 1.5, "bandwidth": "modelled",
        "ratio": 1.0, "counters": {"a": 1}, "kernel_sha256": "x", "device": {"name": "NVIDIA L4"},
        "seconds": 0.5, "workbook": "0.1.0",
    }  # fmt: skip
    return Run(**known | fields)  # type: ignore[arg-type]


def test_a_history_of_the_first_version_is_brought_up_to_date(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    with sqlite3.connect(path) as database:
        database.executescript(history._STEPS[0] + "PRAGMA user_version = 1;")
        row = ("id", "2025-12-31T00:00:00.000+00:00", "kernel", "ch01", "PASS", 10, 10, 99.0, "modelled", 0.5,
               "{}", "sha", '{"name": "NVIDIA L4"}', 1.0, "0.1.0")  # fmt: skip
        database.execute(f"INSERT INTO runs VALUES ({','.join('?' * 15)})", row)
    found = History(path).runs()
    assert [(run.id, run.gb_per_s, run.diagnosis, run.timing) for run in found] == [("id", 99.0, None, None)]
    History(path).add([run_of("ch02", diagnosis={"mistake": "m"}, timing={"peak_gb_per_s": 300})])
    History(path).note("ch02", "skipped")
    assert [run.chapter for run in History(path).runs()] == ["ch01", "ch02"]
    assert History(path).runs("ch02", with_counters=True) == [
        run_of("ch02", diagnosis={"mistake": "m"}, timing={"peak_gb_per_s": 300})
    ]
    assert [event.what for event in History(path).events()] == ["skipped"]


def test_many_programs_open_an_old_history_at_once(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    with sqlite3.connect(path) as database:
        database.executescript(history._STEPS[0] + "PRAGMA user_version = 1;")
    children = []
    for number in range(6):
        child = os.fork()
        if child == 0:
            try:
                History(path).note(f"ch{number:02}", "skipped")
                os._exit(0)
            except BaseException:
                os._exit(1)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 6
    assert len(History(path).events()) == 6


def test_recording_twice_records_once(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    for _ in range(2):
        History(path).add([run_of("ch01")])
    assert len(History(path).runs()) == 1


def test_bandwidths_of_different_devices_are_not_compared() -> None:
    slow_gpu = run_of("ch01", id="a", gb_per_s=290.0, timing={"device": "NVIDIA L4"})
    modelled = run_of("ch01", id="b", gb_per_s=4500.0, timing={"device": "NVIDIA H200"})
    assert standing.best_of([modelled, slow_gpu]) == slow_gpu
    assert standing.best_of([slow_gpu, modelled]) == modelled
    assert standing.best_of([run_of("ch01", verdict="WRONG")]) is None


# ---- Through make ----------------------------------------------------------------------------------------


def test_targets_of_every_chapter_can_be_completed() -> None:
    done = run_make("-npq", "--no-print-directory", folder=ROOT)
    for name in ("hint-ch04", "show-ch04", "skip-ch04", "resume-ch04", "reset-ch04", "ch04"):
        assert f"\n{name}:" in done.stdout, name


# ---- Markdown in a pipe ----------------------------------------------------------------------------------


def test_hints_in_a_pipe_are_80_columns_wide(book: FakeWorkbook) -> None:
    text = "## 1\n\n" + "word " * 60 + "\n\n- " + "item " * 40 + "\n- second\n\n    code " + "stays " * 30
    (book.folder / "chapters/ch01_fake/hints.md").write_text(f"# Hints\n\n{text}\n")
    lines = book.run("hint", "ch01").stdout.splitlines()
    assert [line for line in lines if len(line) > 80] == ["    code " + ("stays " * 30).rstrip()]
    assert "- second" in lines
    assert any(line.startswith("  item") for line in lines)


@pytest.mark.parametrize("text", ["```\nlong " + "x " * 60 + "\n\n\n```\n", "| a | " + "b " * 60 + "|"])
def test_what_is_no_prose_stays(text: str) -> None:
    from grader.learner.markdown import reflow

    assert reflow(text).split() == text.split()
    assert reflow(text).splitlines()[-1] == text.strip("\n").splitlines()[-1]


# ---- Without make ----------------------------------------------------------------------------------------


def test_the_command_runs_from_any_folder(tmp_path: Path) -> None:
    link = tmp_path / "warpbook"
    link.symlink_to(ROOT / "warpbook")
    environment = os.environ | {"WARPBOOK_PYTHON": sys.executable}
    done = subprocess.run(
        [link, "hint", "ch99"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert (done.returncode, "there is no chapter ch99" in done.stderr) == (2, True)
    environment["WARPBOOK_PYTHON"] = "no-such-python"
    done = subprocess.run([link, "status"], env=environment, capture_output=True, text=True)
    assert (done.returncode, "run make setup" in done.stderr) == (3, True)


# ---- The page about it -----------------------------------------------------------------------------------


def test_the_guide_names_every_key_and_schema() -> None:
    from grader.learner.watch.screen import KEYS, MORE_KEYS

    guide = (ROOT / "docs" / "commands.md").read_text()
    for key, *_ in [*KEYS, *MORE_KEYS]:
        for one in key.split(", "):
            assert (
                f"`{one}`" in guide or f"| {one}" in guide or f", {one}" in guide or f"`, {one}" in guide
            ), one
    sources = "".join(path.read_text() for path in (ROOT / "grader").rglob("*.py"))
    for schema in re.findall(r"`(warpbook/[a-z]+/\d)`", guide):
        assert f'"{schema}"' in sources, schema
