"""The handout: no line of a solution in it, the same bytes every time, and a workbook that works."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT, compiler_variables, one_of_the_long

from grader.classroom.handout import handout_members, leaks
from grader.core.distribution import Member
from grader.core.skeleton import make_skeleton
from grader.core.workbook import Workbook

CHAPTERS = ["ch03", "ch04"]


@pytest.fixture(scope="module")
def members() -> list[Member]:
    workbook = Workbook(ROOT)
    return handout_members(workbook, workbook.select(CHAPTERS), "CUDA, spring")


@pytest.fixture(scope="module")
def whole() -> list[Member]:
    workbook = Workbook(ROOT)
    return handout_members(workbook, workbook.chapters)


def hidden_lines(chapter: str) -> set[str]:
    """What only a solution says, of more than a few words, found without the tool's own help."""
    solution = next((ROOT / "solutions").glob(f"{chapter}_*/kernel.cu")).read_text()
    skeletons = "\n".join(path.read_text() for path in (ROOT / "chapters").glob("ch*/kernel.cu"))
    left_out = make_skeleton(solution).hidden
    return {line.strip() for line in left_out if len(line.strip()) >= 30 and line.strip() not in skeletons}


def test_no_file_has_a_line_of_a_solution(whole: list[Member]) -> None:
    secrets = set().union(*(hidden_lines(chapter.name) for chapter in Workbook(ROOT).chapters))
    assert len(secrets) > 100
    for member in whole:
        if not member.name.startswith("docs/experiments/"):
            text = member.content.decode("utf-8", "replace")
            found = {secret for secret in secrets if secret in text}
            assert not found, (member.name, found)


def test_lessons_are_pages_that_need_no_network(members: list[Member]) -> None:
    """A feedback page in the folder feedback/ links to ../lessons/ch04.html."""
    pages = {member.name: member.content.decode() for member in members if member.name.startswith("lessons/")}
    assert sorted(pages) == ["lessons/ch03.html", "lessons/ch04.html"]
    for text in pages.values():
        links = re.findall(r'(?:src|href)="([^"]*)"', text)
        beside = {link.partition("#")[0] for link in links if not link.startswith(("#", "data:", "https://"))}
        assert {f"lessons/{link}" for link in beside} <= pages.keys()


def test_sources_tests_and_teachers_tools_stay_behind(whole: list[Member]) -> None:
    names = {member.name for member in whole}
    assert not [name for name in names if name.startswith(("tests/", ".git", "build/", "progress/"))]
    assert not [
        name for name in names if name.startswith("solutions/") and name.endswith(("kernel.cu", ".md"))
    ]
    assert {"mk/workbook.mk", "mk/class.mk", "requirements/dev.txt", "docs/sources.md"}.isdisjoint(names)
    assert {
        "Makefile",
        "mk/learn.mk",
        "requirements/runtime.txt",
        "LICENSE",
        "README.md",
        "mkdocs.yml",
    } <= names


def test_no_compiled_code_goes_along(whole: list[Member]) -> None:
    """A reference's PTX could be pasted into a kernel as inline assembly."""
    for member in whole:
        assert not re.search(
            rb"^\s*\.(visible )?\.?entry \w|^\.target |^\.version ", member.content, re.MULTILINE
        )
        assert not member.content.startswith((b"\x7fELF", b"\x50\xed\x55\xba", b"!<arch>"))
        assert not member.name.endswith((".ptx", ".cubin", ".o", ".a", ".so", "build.json"))
    folders = {member.name.rpartition("/")[0] for member in whole if member.name.startswith("solutions/")}
    assert len(folders) == len(Workbook(ROOT).chapters)
    names = {member.name.rpartition("/")[2] for member in whole if member.name.startswith("solutions/")}
    assert names == {"skeleton.cu", "reference.times"}


def test_references_are_numbers(whole: list[Member]) -> None:
    times = [member for member in whole if member.name.endswith("reference.times")]
    assert len(times) > 10
    for member in times:
        for line in member.content.decode().splitlines()[1:]:
            device, task, *numbers = line.split("\t")
            assert device == "NVIDIA H200" and task
            assert len(numbers) == 4 and 0 < float(numbers[3]) < 1


def test_the_names_of_chapter_13_stay_behind(whole: list[Member]) -> None:
    """Neither as a table, nor as the numbers of the enumerators beside each kernel."""
    solution = next((ROOT / "solutions").glob("ch13_*/kernel.cu")).read_text()
    enumerators = re.search(r"enum Mistake \{(.*?)\};", solution, re.DOTALL)
    assert enumerators
    order = re.findall(r"^\s*([A-Z0-9_]+),", enumerators[1], re.MULTILINE)
    right = [
        order.index(name)
        for name in re.findall(r"^constexpr Mistake IN_\w+ = (\w+);", solution, re.MULTILINE)
    ]
    assert len(right) == 8 and 0 not in right
    sequence = " ".join(map(str, right))
    for member in whole:
        assert sequence not in " ".join(re.findall(r"\d+", member.content.decode("utf-8", "replace"))), (
            member.name
        )
        assert not member.name.endswith("answers.h")


def test_an_image_or_an_answer_is_a_leak(members: list[Member]) -> None:
    workbook = Workbook(ROOT)
    chosen = workbook.select(CHAPTERS)
    answers = re.sub("//.*", "", next(ROOT.glob("chapters/ch13_*/answers.h")).read_text())
    for content in (
        b"// notes\n.visible .entry sum_tree(\n",
        b"  .entry k()",
        b".version 8.0\n.target sm_80\n",
        b"\x7fELF\x02\x01",
        answers.encode(),
        answers.replace(",", " /* and */ ").encode(),
    ):
        (leak,) = leaks(workbook, chosen, [Member("docs/a.md", content)])
        assert leak.member == "docs/a.md"


def test_the_commands_are_whole(whole: list[Member]) -> None:
    """Templates, styles and what shells complete with are as much of a command as its code."""
    files = {
        path for path in (ROOT / "grader").rglob("*") if path.is_file() and "__pycache__" not in path.parts
    }
    assert {path.relative_to(ROOT).as_posix() for path in files} <= {member.name for member in whole}


def test_a_leak_is_found_wherever_it_is(members: list[Member]) -> None:
    workbook = Workbook(ROOT)
    chosen = workbook.select(CHAPTERS)
    assert leaks(workbook, chosen, members) == []
    secret = max(hidden_lines("ch05"), key=len)  # of a chapter that is not even handed out
    for text in (f"as in\n    {secret}\n", "x\n\t" + "   ".join(secret.split()) + "\n"):
        (leak,) = leaks(workbook, chosen, [Member("docs/a.md", text.encode())])
        assert (leak.member, leak.line, leak.chapter) == ("docs/a.md", 2, "ch05")
    # Two short lines that are adjacent only in a solution.
    solution = (ROOT / "solutions/ch04_warp_shuffle/kernel.cu").read_text()
    short = [line.strip() for line in make_skeleton(solution).hidden if line.strip()]
    assert leaks(workbook, chosen, [Member("docs/experiments/ch04/x.cu", "\n".join(short).encode())])


def test_some_chapters_only_and_no_link_leads_out(members: list[Member]) -> None:
    names = {member.name for member in members}
    assert {name.split("/")[1] for name in names if name.startswith("chapters/")} == {
        "ch03_tree_reduction",
        "ch04_warp_shuffle",
    }
    assert {name.split("/")[2] for name in names if name.startswith("docs/experiments/")} == {"ch03", "ch04"}
    readme = next(member for member in members if member.name == "README.md").content.decode()
    assert readme.startswith("# CUDA, spring\n")
    assert "ch04 Warp shuffle" in readme
    assert "ch05" not in readme
    lesson = next(m for m in members if m.name == "chapters/ch03_tree_reduction/README.md").content.decode()
    assert "../ch02_coalescing" not in lesson


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "WARPBOOK"))
    }
    return subprocess.run(
        ["make", "-s", f"PYTHON={sys.executable}", "VENV=", "CFLAGS=-O0", *arguments],
        cwd=folder,
        env=environment | compiler_variables() | {"NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A handout of one chapter as a student has it, written by the command."""
    folder = tmp_path_factory.mktemp("handout")
    command = [
        sys.executable,
        "-m",
        "grader",
        "handout",
        "--json",
        "--out",
        str(folder / "a.zip"),
        "--",
        "ch04",
    ]
    first = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert first.returncode == 0, first.stderr
    assert json.loads(first.stdout)["chapters"] == ["ch04"]
    command[command.index(str(folder / "a.zip"))] = str(folder / "b.zip")
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    assert (folder / "a.zip").read_bytes() == (folder / "b.zip").read_bytes()
    with zipfile.ZipFile(folder / "a.zip") as archive:
        archive.extractall(folder)
    yield folder / "warpbook"
    shutil.rmtree(folder)


@one_of_the_long("a handout")
def test_a_student_can_work_with_it(unpacked: Path) -> None:
    kernel = unpacked / "chapters/ch04_warp_shuffle/kernel.cu"
    skeleton = kernel.read_bytes()
    assert skeleton == (unpacked / "solutions/ch04_warp_shuffle/skeleton.cu").read_bytes()
    graded = run(unpacked, "grade")
    assert "0 of 1 passed" in graded.stdout, graded.stderr

    shutil.copyfile(ROOT / "solutions/ch04_warp_shuffle/kernel.cu", kernel)
    graded = run(unpacked, "grade")
    assert "1 of 1 passed, 10 of 10 points" in graded.stdout, graded.stderr
    result = json.loads((unpacked / "build/results/ch04.json").read_text())
    assert result["bandwidth"]["ratio"] == pytest.approx(1, abs=0.01)  # of the reference's recorded time
    assert result["bandwidth"]["reference"] == "solutions/ch04_warp_shuffle/reference.times"

    assert "1 kernel, 1 receipt" in run(unpacked, "submission").stdout
    shown = run(unpacked, "show-ch04")
    assert "has no solutions" in shown.stderr
    solutions = run(unpacked, "solutions")
    assert "this copy of the workbook has no solutions" in solutions.stdout + solutions.stderr
    assert "is the skeleton again" in run(unpacked, "reset-ch04", "FORCE=1").stdout
    assert kernel.read_bytes() == skeleton
