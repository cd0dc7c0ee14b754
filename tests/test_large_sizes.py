"""Sizes beyond 2^31 and 2^32 bytes, of which a few blocks run: docs/judging.md."""

import json
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import ROOT

from grader.authoring.shown_output import compile_images

SCHEMA = json.loads((ROOT / "docs" / "result.schema.json").read_text())
CHAPTERS = [f"ch{number:02}" for number in range(2, 20)]


def run(built: Path, chapter: str, tmp_path: Path, *options: str) -> tuple[str, dict[str, Any]]:
    """The page of a chapter's solution on the emulator, and its result."""
    image = f"build/solutions/{chapter}/kernel.ptx"
    compile_images(image, built)
    file = tmp_path / f"{chapter}.json"
    command = [f"./{chapter}", "--device", "emulator", "--kernel", image, "--json", str(file), *options]
    done = subprocess.run(command, cwd=built, capture_output=True, text=True)
    return done.stdout + done.stderr, json.loads(file.read_text()) if file.exists() else {}


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_chapter_is_tried_at_a_large_size(chapter: str, built: Path, tmp_path: Path) -> None:
    page, result = run(built, chapter, tmp_path)
    jsonschema.validate(result, SCHEMA)
    large = [case for case in result["cases"] if case.get("sampled")]
    assert large, "no task has a large size"
    assert {case["verdict"] for case in large} == {"PASS"}, page
    silent = {case["task"] for case in large if "inconclusive" in case}
    assert silent == ({"sum_slots", "sum_unrolled", "sum_tree"} if chapter == "ch13" else set()), page
    assert max(case["n"] for case in large) > 1 << 29
    assert "a few blocks out of many" in " ".join(page.split())


@pytest.mark.parametrize("chapter", ["ch02", "ch08", "ch10", "ch14"])
def test_one_size_is_the_runs_own(chapter: str, built: Path, tmp_path: Path) -> None:
    sizes = []
    for secret in ("the-first-of-two-secrets", "the-second-of-two-secrets"):
        _, result = run(built, chapter, tmp_path, "--secret", secret)
        sizes.append({case["n"] for case in result["cases"] if 1 << 21 <= case["n"] <= 1 << 24})
    first, second = sizes
    assert (len(first - second), len(second - first)) == (1, 1)


def test_a_chosen_large_size_runs_alone(built: Path, tmp_path: Path) -> None:
    page, result = run(built, "ch02", tmp_path, "--n", "1500000000")
    assert [(case["n"], case.get("sampled")) for case in result["cases"]] == [(1500000000, True)]
    assert "correct    a few blocks out of many: 1,500,000,000 elements" in page
    page, _ = run(built, "ch01", tmp_path, "--n", "1500000000")
    assert "ch01: on the emulator --n goes up to 67,108,864 in this chapter" in page


def test_too_few_blocks_say_nothing(built: Path, tmp_path: Path) -> None:
    page, result = run(built, "ch14", tmp_path, "--n", "17000000000")
    (case,) = result["cases"]
    assert (case["verdict"], case["inconclusive"]) == ("PASS", True)
    assert case["message"].startswith("so few blocks share the work")
    assert "not at 17,000,000,000 elements" in page
