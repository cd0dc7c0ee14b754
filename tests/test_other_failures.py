"""Several tasks of a chapter fail: the page explains one in full, and the others below it."""

from pathlib import Path

import pytest
from conftest import ROOT
from repairs import applied
from test_repairs import judge, judge_named
from whole_kernels import kernel_text

TWO = [
    ("wrong/ch05/two_kernels_each_with_one", "sum_shared", "missing-barrier", "barrier"),
    ("wrong/ch15/two_kernels_each_with_one", "shared", "missing-barrier", "barrier"),
    ("wrong/ch11/two_kernels_each_with_one", "several a thread", "missing-barrier", "barrier"),
    # No entry is proved by the change, and so none is named.
    ("wrong/ch09/two_kernels_each_with_one", "doubles", None, "constant"),
]


@pytest.mark.parametrize(("name", "task", "mistake", "change"), TWO, ids=[row[0] for row in TWO])
def test_another_task_has_its_own_cause_and_proof(
    nvcc: str, built: Path, tmp_path: Path, name: str, task: str, mistake: str | None, change: str
) -> None:
    page, result = judge_named(built, name, tmp_path)
    (other,) = result["other_failures"]
    shown = result["cases"][result["first_failure"]]
    assert other["task"] == task != shown["task"]
    assert result["cases"][other["case"]]["task"] == task
    assert result["cases"][other["case"]]["verdict"] == other["verdict"]
    also = page[page.index(f" also {task}: {other['verdict']}, ") :]
    if mistake is None:
        assert other["diagnosis"] is None
    else:
        assert (other["diagnosis"]["mistake"], other["diagnosis"]["proof"]) == (mistake, "repair")
        assert f"why {other['diagnosis']['title']}. " in also
    assert [proved["change"] for proved in other["proof"]["changes"]] == [change]
    assert f"shown with {other['proof']['changes'][0]['words']}, all {other['proof']['cases']} cases" in also


@pytest.mark.parametrize("name", [row[0] for row in TWO[:2]])
def test_both_proved_changes_together_make_the_source_right(
    nvcc: str, built: Path, tmp_path: Path, name: str
) -> None:
    _, result = judge_named(built, name, tmp_path)
    changes = [result["proof"]["changes"][0], result["other_failures"][0]["proof"]["changes"][0]]
    changes.sort(key=lambda change: -change["line"])  # a new line moves only those behind it
    text = kernel_text(name)
    for change in changes:
        (text,) = applied(change, text, 0)
    kernel = tmp_path / "kernel.cu"
    kernel.write_text(text)
    _, repaired = judge(built, kernel, name.split("/")[1], tmp_path / "repaired.json", "--repair", "0")
    assert all(case["verdict"] == "PASS" for case in repaired["cases"])


def test_one_mistake_in_two_tasks_is_said_once(nvcc: str, built: Path, tmp_path: Path) -> None:
    page, result = judge_named(built, "wrong/ch08/lanes_keep_their_sum", tmp_path)
    (other,) = result["other_failures"]
    assert other["proof"]["changes"] == result["proof"]["changes"]
    assert (
        f"also {other['task']}: WRONG, too; with the same change, all {other['proof']['cases']} cases" in page
    )
    assert page.count(result["proof"]["changes"][0]["words"]) == 1


def test_one_formula_in_two_tasks_is_said_once(nvcc: str, built: Path, tmp_path: Path) -> None:
    text = next((ROOT / "solutions").glob("ch18_*/kernel.cu")).read_text()
    kernel = tmp_path / "kernel.cu"
    assert text.count("squares[r] / columns + EPSILON") == 1
    kernel.write_text(text.replace("squares[r] / columns", "squares[r] / (columns - 1)"))
    page, result = judge(built, kernel, "ch18", tmp_path / "result.json")
    (other,) = result["other_failures"]
    assert other["accounting"]["words"] == result["accounting"]["words"]
    assert f"also {other['task']}: WRONG, too, with the same formula" in page
    assert page.count(result["diagnosis"]["title"]) == 1


def test_a_goal_is_told_that_a_right_task_misses(nvcc: str, built: Path, tmp_path: Path) -> None:
    text = next((ROOT / "solutions").glob("ch10_*/kernel.cu")).read_text()
    kernel = tmp_path / "kernel.cu"
    grid, last_sum = "min(ceil_div(n, 256), per_sm * gpu->sm_count)", "c[last] = __hadd(a[last], b[last])"
    assert text.count(grid) == text.count(last_sum) == 1
    kernel.write_text(
        text.replace(grid, grid.replace("per_sm", "2 * per_sm")).replace(last_sum, "c[last] = a[last]")
    )
    page, result = judge(built, kernel, "ch10", tmp_path / "result.json")
    assert result["verdict"] == "WRONG"
    assert "also grid-stride, which is right, misses a goal at n = 1,048,576: " in page
    assert "waves of blocks goal 1 missed" in page


@pytest.mark.parametrize("name", ["wrong/ch16/inclusive_minus_own", "wrong/ch08/second_pass_without_loop"])
def test_one_cause_at_most_lacks_a_proof(nvcc: str, built: Path, tmp_path: Path, name: str) -> None:
    page, result = judge_named(built, name, tmp_path)
    causes = [result["diagnosis"], *(other["diagnosis"] for other in result["other_failures"])]
    guessed = [cause for cause in causes if cause and cause["proof"] is None]
    assert len(guessed) == page.count("Possibly: ") <= 1


def test_a_chapter_that_asks_for_names_explains_no_other_task(nvcc: str, built: Path, tmp_path: Path) -> None:
    _, result = judge_named(built, "wrong/ch13/nothing_named", tmp_path)
    assert result["other_failures"] == []
