"""Chapter 13 shows what happened and keeps to itself what it is called."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from whole_kernels import kernel_file, kernel_text

SOLUTION = (ROOT / "solutions" / "ch13_find_the_bug" / "kernel.cu").read_text()
CHAPTER = (ROOT / "chapters" / "ch13_find_the_bug" / "chapter.c").read_text()
ANSWERS = (ROOT / "chapters" / "ch13_find_the_bug" / "answers.h").read_text()  # not in a handout
NAMES = re.findall(r"^    ([A-Z][A-Z0-9_]+),", SOLUTION, re.MULTILINE)


def judged(built: Path, tmp_path: Path, kernel: str) -> tuple[str, dict[str, Any]]:
    """The page and the result of a kernel of tests/wrong/ch13 on the emulator."""
    source = kernel_file(f"wrong/ch13/{kernel}")
    compiled = subprocess.run([built / "build" / "bin" / "compile", source, tmp_path, "--quiet"], cwd=built)
    assert compiled.returncode == 0
    result = tmp_path / "result.json"
    done = subprocess.run(
        ["./ch13", "--device", "emulator", "--kernel", tmp_path / "kernel.ptx", "--json", result],
        cwd=built,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return " ".join(done.stdout.split()), json.loads(result.read_text())


def test_a_wrong_name_is_told_without_the_right_one(built: Path, tmp_path: Path) -> None:
    page, result = judged(built, tmp_path, "lockstep_in_place_of_a_barrier")
    assert "the mistake named in reverse_tiles is not the one (1 of 8 are wrong)" in page
    assert "should be" not in page
    assert "expected" not in page
    number = NAMES.index("BARRIER_ONLY_SAID")
    assert f"should be {number}" not in json.dumps(result)
    assert not re.search(rf'"expected\w*": "?{number}\b', json.dumps(result))


@pytest.mark.parametrize(
    ("kernel", "mistake", "words"),
    [
        ("tree_down_to_64", "half-a-tree", "The tree stops"),
        ("points_as_float4", "float4-for-a-float3", "Three floats are read"),
        ("padded_by_two", "bank-conflicts", "Lanes conflict in one bank"),
    ],
)
def test_the_mistake_is_in_the_result_and_not_on_the_page(
    built: Path, tmp_path: Path, kernel: str, mistake: str, words: str
) -> None:
    page, result = judged(built, tmp_path, kernel)
    assert result["diagnosis"]["mistake"] == mistake
    assert words not in page


def test_kernels_are_shown_before_the_names_that_follow_from_them(built: Path, tmp_path: Path) -> None:
    text = kernel_text("wrong/ch13/tree_down_to_64")
    source = tmp_path / "kernel.cu"
    source.write_text(re.sub(r"(IN_SUM_TREE = )\w+", r"\1NOT_NAMED_YET", text))
    done = subprocess.run([built / "build" / "bin" / "compile", source, tmp_path, "--quiet"], cwd=built)
    assert done.returncode == 0
    shown = subprocess.run(
        ["./ch13", "--device", "emulator", "--kernel", tmp_path / "kernel.ptx"],
        cwd=built,
        capture_output=True,
        text=True,
    )
    assert "sum_tree computes a wrong result" in shown.stdout
    assert "7 of 9 right; not yet sum_tree, names" in " ".join(shown.stdout.split())


def test_the_table_has_the_numbers_of_the_list() -> None:
    kernels = re.findall(r'"(\w+)"', re.search(r"kernels\[\] = \{(.*?)\}", CHAPTER, re.DOTALL)[1])
    numbers = [int(n) for n in re.sub(r"//.*", "", ANSWERS).split(",")]
    named = dict(re.findall(r"^constexpr Mistake IN_(\w+) = (\w+);", SOLUTION, re.MULTILINE))
    assert [kernel.upper() for kernel in kernels] == list(named)
    assert [NAMES[number] for number in numbers] == list(named.values())
    assert len(NAMES) > 8 + 1, "the list is longer than what is in it"
