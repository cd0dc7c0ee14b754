"""Skeletons are made from solutions, and nothing but the exercise is in them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from grader.authoring import skeletons

ROOT = Path(__file__).resolve().parent.parent
SOLUTIONS = skeletons.solutions(ROOT)
NAMES = [path.parent.name for path in SOLUTIONS]
# What a skeleton may be left with: it builds and runs, but is not yet right or not yet fast.
SKELETON_VERDICTS = {"WRONG", "SLOW", "LAUNCH"}

each_solution = pytest.mark.parametrize("solution", SOLUTIONS, ids=NAMES)


def made(solution: Path) -> skeletons.Skeleton:
    return skeletons.make_skeleton(solution.read_text(encoding="utf-8"), solution.parent.name)


def test_every_chapter_has_a_solution_and_the_other_way_round() -> None:
    chapters = sorted(path.name for path in (ROOT / "chapters").glob("ch[0-9][0-9]_*"))
    assert chapters == NAMES
    assert len(NAMES) >= 8


@each_solution
def test_a_chapter_folder_has_its_files(solution: Path) -> None:
    name = solution.parent.name
    for file in ("README.md", "kernel.cu", "chapter.c", "hints.md"):
        path = ROOT / "chapters" / name / file
        assert path.is_file(), path
        assert path.stat().st_size > 0, path
    assert (solution.parent / "notes.md").is_file()


@each_solution
def test_the_skeleton_is_in_step(solution: Path) -> None:
    present = skeletons.skeleton_path(solution).read_text(encoding="utf-8")
    assert present == made(solution).text, "run `make skeletons`"


def test_check_reports_a_skeleton_that_is_out_of_step(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for solution in SOLUTIONS[:1]:
        name = solution.parent.name
        shutil.copytree(solution.parent, tmp_path / "solutions" / name)
        shutil.copytree(ROOT / "chapters" / name, tmp_path / "chapters" / name)
        arguments = ["--root", str(tmp_path)]
        assert skeletons.main([*arguments, "--check"]) == 0
        skeleton = tmp_path / "chapters" / name / "kernel.cu"
        skeleton.write_text(skeleton.read_text(encoding="utf-8") + "// mine\n", encoding="utf-8")
        assert skeletons.main([*arguments, "--check"]) == 1
        assert "-// mine" in capsys.readouterr().out
        assert skeletons.main(arguments) == 0
        assert skeletons.main([*arguments, "--check"]) == 0


@each_solution
def test_a_skeleton_declares_its_verdict_and_numbers_its_todos(solution: Path) -> None:
    skeleton = made(solution)
    assert skeleton.verdict in SKELETON_VERDICTS
    assert skeleton.todos
    assert skeleton.todos == tuple(range(1, len(skeleton.todos) + 1))
    assert "SKELETON" not in skeleton.text
    assert "SOLUTION" not in skeleton.text


@pytest.mark.by_turns(3)
@each_solution
def test_a_skeleton_gets_the_verdict_it_declares(
    solution: Path, built: Path, nvcc: str, tmp_path: Path
) -> None:
    chapter, result = solution.parent.name[:4], tmp_path / "result.json"
    kernel = skeletons.skeleton_path(solution)
    command = [f"./{chapter}", "--device", "emulator", "--kernel", kernel, "--repair", "0", "--json", result]
    subprocess.run(command, cwd=built, capture_output=True)
    assert json.loads(result.read_text())["verdict"] == made(solution).verdict


@each_solution
def test_no_line_of_the_solution_leaks(solution: Path) -> None:
    """Meaningful lines (not braces and the like) are only in the solution."""
    skeleton = made(solution)
    hints = (ROOT / "chapters" / solution.parent.name / "hints.md").read_text(encoding="utf-8")
    lesson = (ROOT / "chapters" / solution.parent.name / "README.md").read_text(encoding="utf-8")
    shown = {line.strip() for line in skeleton.text.splitlines()}
    shown_before, is_open, hidden = set(), True, set()
    for line in (text.strip() for text in solution.read_text(encoding="utf-8").splitlines()):
        is_open = (is_open and "BEGIN SOLUTION" not in line) or "END SOLUTION" in line
        if is_open and line not in hidden:
            shown_before.add(line)
        elif not is_open:
            hidden.add(line)
    for line in skeleton.hidden:
        code = line.split("//")[0].strip()
        if len(re.findall(r"\w+", code)) < 4 or code in skeleton.given:
            continue
        # What an earlier kernel of the file shows, and the head of a loop, give nothing away.
        is_known = code in shown_before or code.startswith("for (")
        assert code not in shown or is_known, f"in the skeleton: {code}"
        assert code not in hints, f"in the hints: {code}"
        assert code not in lesson, f"in the lesson: {code}"


@each_solution
def test_hints_are_three_and_graded(solution: Path) -> None:
    text = (ROOT / "chapters" / solution.parent.name / "hints.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## .*$", text, flags=re.MULTILINE)
    assert headings == ["## 1", "## 2", "## 3"]
    for part in re.split(r"^## \d$", text, flags=re.MULTILINE)[1:]:
        assert len(part.split()) >= 12, "a hint says something"


@each_solution
def test_the_lesson_is_a_lesson(solution: Path) -> None:
    text = (ROOT / "chapters" / solution.parent.name / "README.md").read_text(encoding="utf-8")
    assert 400 <= len(text.split()) <= 4000
    headings = re.findall(r"^## (.*)$", text, flags=re.MULTILINE)
    for wanted in ("The exercise", "Reading the verdict", "Myths"):
        assert wanted in headings


@pytest.mark.by_turns(3)
@pytest.mark.parametrize("which", ["skeleton", "solution"])
@each_solution
def test_compiles_without_a_warning(solution: Path, which: str, nvcc: str, tmp_path: Path) -> None:
    source = skeletons.skeleton_path(solution) if which == "skeleton" else solution
    include = ROOT / "common" / "include"
    done = subprocess.run(
        [nvcc, "-ptx", "-std=c++17", "-arch=compute_80", "-Werror", "all-warnings", f"-I{include}",
         "-o", str(tmp_path / "kernel.ptx"), str(source)],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert not (done.stdout + done.stderr).strip()


# ---- The markers themselves -------------------------------------------------------------------------------

GOOD = """\
// SKELETON VERDICT: WRONG
__global__ void f() {
    // BEGIN SOLUTION
    // TODO 1: think
    //         twice
    // SKELETON: if (a) {
    // SKELETON:     b();
    // SKELETON: }
    // a remark about the solution is part of it
    c();
    // and so is this one
    // END SOLUTION
}
"""


def test_markers_become_a_skeleton() -> None:
    skeleton = skeletons.make_skeleton(GOOD)
    assert skeleton.text == (
        "__global__ void f() {\n"
        "    // TODO 1: think\n"
        "    //         twice\n"
        "    if (a) {\n"
        "        b();\n"
        "    }\n"
        "}\n"
    )
    assert skeleton.verdict == "WRONG"
    assert skeleton.todos == (1,)
    assert skeleton.hidden == (
        "// a remark about the solution is part of it",
        "c();",
        "// and so is this one",
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("// SKELETON VERDICT: WRONG\n", "", "no SKELETON VERDICT"),
        ("__global__", "// SKELETON VERDICT: SLOW\n__global__", "second SKELETON VERDICT"),
        ("    // END SOLUTION\n", "", "BEGIN SOLUTION without its END"),
        ("    // BEGIN SOLUTION\n", "", "outside a solution"),
        (GOOD[GOOD.index("    // a remark") : GOOD.index("    // END")], "", "nothing is left"),
        ("TODO 1", "TODO 2", "numbered"),
        ("    // and so is this one", "    // SKELETON: d();", "come first"),
        ("    c();\n", "    // BEGIN SOLUTION\n    c();\n", "BEGIN SOLUTION within"),
        ("}\n", "}\n// END SOLUTION\n", "END SOLUTION without"),
    ],
)
def test_markers_that_are_wrong_are_named(old: str, new: str, message: str) -> None:
    text = GOOD[: GOOD.rindex(old)] + new + GOOD[GOOD.rindex(old) + len(old) :]
    with pytest.raises(skeletons.MarkerError, match=message):
        skeletons.make_skeleton(text)
