"""`./chNN --n N`: a chosen size. It may be too small to judge goals, or not be the size of a matrix."""

import json
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import ROOT

from grader.authoring.shown_output import compile_images

SCHEMA = json.loads((ROOT / "docs" / "result.schema.json").read_text())


def run(
    built: Path, chapter: str, n: int, tmp_path: Path
) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """The page of a chapter's solution at one size, and its result."""
    image = f"build/solutions/{chapter}/kernel.ptx"
    compile_images(image, built)
    file = tmp_path / f"{chapter}.json"
    command = [f"./{chapter}", "--device", "emulator", "--kernel", image, "--n", str(n), "--json", str(file)]
    done = subprocess.run(command, cwd=built, capture_output=True, text=True)
    return done, json.loads(file.read_text()) if file.exists() else {}


@pytest.mark.parametrize(
    ("chapter", "n", "measure"),
    [("ch09", 8, "global_ld_sectors / global_ld_requests"), ("ch14", 5, "n / input_ld_requests")],
)
def test_a_goal_is_not_missed_below_its_size(
    chapter: str, n: int, measure: str, built: Path, tmp_path: Path
) -> None:
    done, result = run(built, chapter, n, tmp_path)
    assert (done.returncode, result["verdict"]) == (0, "PASS"), done.stdout
    jsonschema.validate(result, SCHEMA)
    (goal,) = [goal for goal in result["goals"] if goal["measure"] == measure]
    assert (goal["state"], goal["met"], goal["earned"]) == ("not judged", None, 0)
    assert "missed" not in {goal["state"] for goal in result["goals"]}
    words = " ".join(done.stdout.split())
    assert f"goals are for n = 1,048,576, and this run has too few elements: ./{chapter}" in words
    assert f"Correct in these cases. To run all of them: ./{chapter}" in words
    assert "why" not in [line[2:5] for line in done.stdout.splitlines()], "nothing is missed"
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_at_their_size_goals_are_judged(built: Path, tmp_path: Path) -> None:
    done, result = run(built, "ch09", 1 << 20, tmp_path)
    assert {goal["state"] for goal in result["goals"]} == {"met"}
    assert "too few elements" not in done.stdout


def test_a_size_that_no_matrix_has(built: Path, tmp_path: Path) -> None:
    done, _ = run(built, "ch09", 9, tmp_path)
    assert done.returncode == 2
    assert done.stderr == "ch09: no matrix of this chapter has 9 elements; the nearest has 8: --n 8\n"


def test_a_size_of_one_task_alone(built: Path, tmp_path: Path) -> None:
    done, result = run(built, "ch13", 132_000, tmp_path)
    assert (done.returncode, result["verdict"]) == (0, "PASS"), done.stdout
    assert "n = 0" not in done.stdout, "tasks without that size are left out"
