"""Predict, then run: the questions, the answers kept, and the page that shows both."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, skip_without_nvcc

from grader.learner import predict

SHUFFLES = "shuffles / warps\t\tshuffles per warp\t5\n"


@pytest.fixture
def workbook(tmp_path: Path, built: Path) -> Path:
    """A checkout with separate progress."""
    return checkout_at(tmp_path, built, "ch04", "ch08")


def checkout_at(folder: Path, built: Path, *chapters: str) -> Path:
    for name in ("Makefile", "build", "chapters", "common"):
        (folder / name).symlink_to(built / name)
    for name in chapters:  # a program takes the folder that its own file is in for the checkout
        shutil.copy(built / name, folder / name)
    return folder


def say(folder: Path, chapter: str, words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "grader", "predict", chapter],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        input=words,
        capture_output=True,
        text=True,
    )


def kept(folder: Path, chapter: str) -> str:
    return (folder / "progress" / "predictions" / f"{chapter}.txt").read_text()


def page(folder: Path, built: Path, chapter: str, *arguments: str) -> str:
    image = built / "build" / "predict" / chapter
    (source,) = built.glob(f"solutions/{chapter}_*/kernel.cu")
    subprocess.run([built / "build/bin/compile", source, image, "--quiet"], check=True, cwd=built)
    done = subprocess.run(
        [
            folder / chapter,
            "--device",
            "emulator",
            "--kernel",
            image / "kernel.ptx",
            "--schedules",
            "0",
            *arguments,
        ],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    return done.stdout


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        (" 1,056 \n", 1056),
        ("4.5", 4.5),
        ("1e3", 1000),
        ("2^20", 2**20),
        ("-1", -1),
        ("1_000", 1000),
    ],
)
def test_numbers_as_people_write_them(text: str, value: float) -> None:
    assert predict.number(text) == value


@pytest.mark.parametrize("text", ["", "five", "1 000", "nan", "inf", "2^", "^2", "9^9999", "0^-1"])
def test_what_is_no_number(text: str) -> None:
    with pytest.raises((ValueError, OverflowError, ZeroDivisionError)):
        predict.number(text)


def test_answers_are_kept_and_a_slip_is_asked_again(workbook: Path) -> None:
    done = say(workbook, "ch04", "5\nmany\n8,448\n1400\n")
    assert done.returncode == 0, done.stderr
    assert "A number, please" in done.stdout
    lines = kept(workbook, "ch04").splitlines(keepends=True)
    assert lines[0] == SHUFFLES
    assert [line.rsplit("\t", 1)[1] for line in lines] == ["5\n", "8448\n", "1400\n"]
    assert max(map(len, done.stdout.splitlines())) <= 120


def test_enter_skips_a_question_and_the_end_all_of_them(workbook: Path) -> None:
    assert say(workbook, "ch04", "\n8448\n").returncode == 0
    assert "floats in partial\t8448\n" in kept(workbook, "ch04")
    assert "shuffles" not in kept(workbook, "ch04")
    before = kept(workbook, "ch04")
    done = say(workbook, "ch04", "")
    assert done.returncode == 0
    assert "Skipped" in done.stdout
    assert kept(workbook, "ch04") == before


def test_wrong_usage(workbook: Path) -> None:
    assert say(workbook, "ch99", "").returncode == 2
    done = subprocess.run(
        [sys.executable, "-m", "grader", "predict"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 2


def test_the_page_shows_what_was_said_beside_what_is(workbook: Path, built: Path) -> None:
    assert "predicted" not in page(workbook, built, "ch04")
    say(workbook, "ch04", "6\n8448\n")
    shown = page(workbook, built, "ch04")
    rows = {" ".join(line.split()) for line in shown.splitlines()}
    assert "predicted you said it is" in rows
    assert "shuffles per warp 6 5" in rows
    assert "floats in partial 8,448 8,448" in rows
    assert max(map(len, shown.splitlines())) <= 80
    assert "points" in shown.splitlines()[-1]


def test_a_task_is_found_by_its_name(workbook: Path, built: Path) -> None:
    say(workbook, "ch08", "1056\n1056\n")
    rows = {" ".join(line.split()) for line in page(workbook, built, "ch08").splitlines()}
    assert "additions to out 1,056 1,056" in rows
    assert "partial sums 1,056 1,056" in rows


@pytest.mark.parametrize(
    "line",
    [
        "",
        "\n",
        "shuffles / warps\tshuffles per warp\t5\n",
        "shuffles /\t\tx\t5\n",
        "nothing known\t\tx\t5\n",
        "shuffles / warps\tno such task\tx\t5\n",
        "shuffles / warps\t\tx\tfive\n",
        "shuffles / warps\t\tx\t\n",
        f"shuffles / warps\t\t{'x' * 60}\t5\n",
        "\x1b[2J\t\t\x1b[2J\t5\n",
        "a" * 9000,
    ],
)
def test_a_damaged_file_does_no_harm(workbook: Path, built: Path, line: str) -> None:
    folder = workbook / "progress" / "predictions"
    folder.mkdir(parents=True)
    (folder / "ch04.txt").write_text(line)
    shown = page(workbook, built, "ch04", "--n", "1024")
    assert "predicted" not in shown
    assert "\x1b" not in shown
    assert "Correct in these cases" in shown


def test_control_characters_are_not_shown(workbook: Path, built: Path) -> None:
    folder = workbook / "progress" / "predictions"
    folder.mkdir(parents=True)
    (folder / "ch04.txt").write_text(SHUFFLES.replace("per", "\x1b[31m"))
    shown = page(workbook, built, "ch04")
    assert "\x1b" not in shown
    assert "predicted" in shown


@pytest.mark.parametrize("folder", sorted((ROOT / "chapters").glob("ch*")), ids=lambda path: path.name)
def test_every_measure_has_a_value(
    folder: Path, built: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """No question asks for what the page cannot show; bandwidth may be unknown on some devices."""
    chapter = folder.name[:4]
    skip_without_nvcc(chapter, request)
    checkout_at(tmp_path, built, chapter)
    asked = predict.questions(folder)
    say(tmp_path, chapter, "1\n" * len(asked))
    rows = page(tmp_path, built, chapter).splitlines()
    for one in asked:
        (row,) = [line for line in rows if line.strip().startswith(one.words) and "goal" not in line]
        assert "not known" not in row or one.measure.startswith("bandwidth"), row
