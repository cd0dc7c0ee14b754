"""The lessons: their form, their pictures, and that nothing in them was typed that a command can know."""

import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from conftest import ROOT

from grader.authoring import lessons, markers, records
from grader.authoring.lessons import fragment
from grader.authoring.shown_output import compile_images, output_of, steady
from grader.core.errors import UsageError
from grader.core.toolkit import find_clang
from grader.learner import predict
from grader.learner.experiments import Experiment, experiments, read_experiment

LESSONS = sorted((ROOT / "chapters").glob("ch*/README.md"))
EXPERIMENTS = experiments(ROOT)
PICTURES = sorted((ROOT / "docs" / "pictures").glob("*.svg"))
each_lesson = pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.parent.name)
each_experiment = pytest.mark.parametrize("name", EXPERIMENTS)

# The order of a lesson; the sections about the idea come between the first and the second.
ORDER = [
    "What you will be able to do",
    "The exercise",
    "Reading the verdict",
    "What an H200 measured",
    "Predict, then run",
    "Questions",
    "Myths",
    "Further reading",
]
WRITE_UPS = [
    "VectorSum for the GPU MODE competition (L4)",
    "Summing rows for LLM inference (RTX 5090)",
    "Reduction, part 0 (RTX 5070 Ti)",
    "Notes on optimising kernels (Fermi, Kepler)",
    "Vector addition, optimising (RTX 5060)",
]


def chapter_of(path: Path) -> str:
    return path.parent.name[:4]


def prose(text: str) -> str:
    """Text that was typed and is not a command."""
    typed = markers.without(text)
    return re.sub(r"^    .*$", "", re.sub(r"!\[[^\]]*\]\([^)]*\)", "", typed), flags=re.MULTILINE)


def sections(text: str) -> dict[str, str]:
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


# ---- Form --------------------------------------------------------------------------------------------------------


@each_lesson
def test_a_lesson_has_its_parts_in_order(path: Path) -> None:
    names = list(sections(path.read_text()))
    assert [name for name in names if name in ORDER] == ORDER
    assert names[0] == ORDER[0]
    assert names.index("The exercise") >= 3, "the idea comes first, in two sections or more"
    if "Going further" in names:
        assert names.index("Going further") == names.index("Questions") - 1


@each_lesson
def test_the_exercise_comes_early_and_the_questions_soon(path: Path) -> None:
    """The heading of the exercise is within the first 60 lines of the file, counted with everything in it.

    At most 1,500 words come before the questions. A word is a run of characters other than blanks in the text that
    was typed: generated places, pictures and commands indented by four blanks have none.
    """
    text = path.read_text()
    line = text.splitlines().index("## The exercise") + 1
    assert line <= 60, f"the exercise begins in line {line}: ideas it can do without go after it"
    words = len(prose(text.partition("\n## Questions\n")[0]).split())
    assert words <= 1500, f"{words} words before the questions"


@each_lesson
def test_a_lesson_is_of_a_length_to_read(path: Path) -> None:
    words = len(prose(path.read_text()).split())
    assert 800 <= words <= 2000, words


@each_lesson
def test_a_lesson_has_pictures_questions_and_answers(path: Path) -> None:
    text = path.read_text()
    assert (
        len(re.findall(r"^!\[[^\]]{8,}\]\(\.\./\.\./docs/pictures/[a-z0-9-]+\.svg\)$", text, re.MULTILINE))
        >= 2
    )
    questions = sections(text)["Questions"]
    assert 3 <= questions.count("<details") == questions.count("</details>") <= 5
    for answer in re.findall(r"</summary>\n\n(.*?)\n\n</details>", questions, re.DOTALL):
        assert len(answer.split()) >= 8
    assert len(re.findall(r"</summary>\n\n", questions)) == questions.count("<details")


@each_lesson
def test_every_myth_has_its_experiment(path: Path) -> None:
    myths = re.split(r"^(?=\*\*\")", sections(path.read_text())["Myths"], flags=re.MULTILINE)[1:]
    assert len(myths) >= 2
    for myth in myths:
        named = re.findall(r"make (try-ch\d\d-[a-z0-9-]+)", " ".join(myth.split()))
        assert named, myth
        for name in named:
            assert name.removeprefix("try-") in EXPERIMENTS, name


@each_lesson
def test_code_and_output_are_included_not_typed(path: Path) -> None:
    text = path.read_text()
    assert "```" not in markers.without(text)
    kinds = {place.kind for place in markers.places(text)}
    assert {"output", "counted", "measured", "predictions"} <= kinds
    for place in markers.places(text):
        assert place.body.strip(), f"{place.kind}: {place.argument} is empty; run make lessons"
        assert "Traceback" not in place.body


@each_lesson
def test_a_lesson_asks_for_three_numbers(path: Path) -> None:
    asked = predict.questions(path.parent)
    assert len(asked) == 3
    for one in asked:
        assert one.question.endswith(("?", ".")) and len(one.words) <= 30
    assert f"make predict-{chapter_of(path)}" in sections(path.read_text())["Predict, then run"]


@each_lesson
def test_a_record_that_is_there_is_shown(path: Path) -> None:
    records = list((ROOT / "bench" / "records").glob("*.json"))
    places = [place for place in markers.places(path.read_text()) if place.kind == "measured"]
    assert places
    if records:
        assert any("|---" in place.body for place in places), "run make lessons"


def test_every_write_up_is_cited() -> None:
    cited = "\n".join(" ".join(sections(path.read_text())["Further reading"].split()) for path in LESSONS)
    for title in WRITE_UPS:
        assert title in cited, title


# ---- In step -----------------------------------------------------------------------------------------------------


def test_included_code_and_tables_are_in_step() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "grader.authoring.lessons", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


# One command of this guide works on what the one before has left.
TEACHING = ROOT / "docs" / "teaching.md"


def outputs(path: Path) -> list[str]:
    return [place.argument for place in markers.places(path.read_text()) if place.kind == "output"]


OUTPUTS = sorted(
    {command for path in lessons.documents(ROOT) if path != TEACHING for command in outputs(path)}
)


@pytest.mark.by_turns(3)
@pytest.mark.parametrize("command", OUTPUTS)
def test_shown_output_is_todays(command: str, built: Path, nvcc: str) -> None:
    """As nvcc compiles: the pages name its registers, and are what its PTX leads to."""
    del nvcc
    shown = {
        place.body
        for path in lessons.documents(ROOT)
        for place in markers.places(path.read_text())
        if place.argument == command
    }
    compile_images(command, built)
    today = output_of(command, built)
    for body in shown:
        text = re.fullmatch(r"```text\n(.*)\n```\n", body, re.DOTALL)
        assert text, body
        assert steady(text[1]) == steady(today), "run make lessons"
        assert max(map(len, text[1].splitlines())) <= 80


def test_what_every_file_of_c_changes_is_not_compared() -> None:
    """How large an archive of the workbook is; that it is written, and where, is compared."""
    line = "build/gradescope/autograder.zip: 1031 files, 5.7 MB"
    assert steady(line) == steady(line.replace("1031", "987").replace("5.7", "12.0"))
    for other in (
        line.replace("zip", "tar"),
        line.replace(", 5.7 MB", ""),
        line + ", and a warning",
        "build/exports/check50: 6 files",
    ):
        assert steady(line) != steady(other)
    assert steady("build/exports/check50: 6 files") != steady("build/exports/check50: 5 files")


@pytest.mark.skipif(
    shutil.which("bwrap") is None and "WARPBOOK_CI" not in os.environ, reason="needs bubblewrap"
)
def test_the_first_class_goes_as_the_guide_says(built: Path) -> None:
    shutil.rmtree(built / "build" / "first-class", ignore_errors=True)
    for place in markers.places(TEACHING.read_text()):
        today = steady(output_of(place.argument, built))
        assert steady(place.body) == today, f"{place.argument}: run make lessons"


# ---- Experiments -------------------------------------------------------------------------------------------------


@pytest.mark.by_turns
@each_experiment
def test_an_experiment_shows_what_it_says(name: str, built: Path, request: pytest.FixtureRequest) -> None:
    if EXPERIMENTS[name].needs_nvcc:
        request.getfixturevalue("nvcc")
    done = subprocess.run(
        [sys.executable, "-m", "grader", "try", name], cwd=built, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@each_experiment
def test_an_experiment_is_named_in_its_lesson(name: str) -> None:
    (lesson,) = (ROOT / "chapters").glob(f"{name[:4]}_*/README.md")
    assert f"make try-{name}`" in " ".join(lesson.read_text().split()), f"make try-{name}"


def test_an_experiment_that_shows_something_else_fails(tmp_path: Path, built: Path) -> None:
    folder = tmp_path / "docs" / "experiments" / "ch04"
    folder.mkdir(parents=True)
    for name in ("Makefile", "build", "chapters", "common"):
        (tmp_path / name).symlink_to(built / name)
    text = (ROOT / "docs/experiments/ch04/down.cu").read_text()
    (folder / "down.cu").write_text(text.replace("lane 0 gave 100 and received 104", "lane 0 gave 7"))
    done = subprocess.run(
        [sys.executable, "-m", "grader", "try", "ch04-down"],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin:/usr/local/cuda/bin", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "missing from the output: lane 0 gave 7" in done.stderr


@pytest.mark.skipif(find_clang(ROOT) is None, reason="there is no clang for CUDA: make COMPILER=clang setup")
def test_with_clang_an_experiment_that_needs_nvcc_says_so(built: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "grader", "try", "ch07-malloc-alignment"],
        cwd=built,
        env=os.environ | {"WARPBOOK_COMPILER": "clang"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert "ch07-malloc-alignment needs nvcc" in done.stderr and len(done.stderr.splitlines()) == 1


def test_a_machine_that_cannot_compile_an_experiment_says_why(built: Path, tmp_path: Path) -> None:
    """And not that the experiment showed something else."""
    done = subprocess.run(
        [sys.executable, "-m", "grader", "try", "ch04-down"],
        cwd=built,
        env=os.environ | {"WARPBOOK_COMPILER": "nvcc", "WARPBOOK_NVCC": str(tmp_path / "nvcc")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 3
    assert "WARPBOOK_NVCC" in done.stderr and "missing from the output" not in done.stderr


def test_an_unknown_experiment_names_the_ones_there_are() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "grader", "try", "ch04-nothing"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert "ch04-butterfly" in done.stderr


def test_an_experiment_needs_its_head(tmp_path: Path) -> None:
    (tmp_path / "ch04").mkdir()
    (tmp_path / "ch04" / "x_y.cu").write_text("// EXPERIMENT: About.\n// RUN: true\n")
    with pytest.raises(UsageError, match="SHOWS"):
        read_experiment(tmp_path, Path("ch04/x_y.cu"))
    (tmp_path / "ch04" / "x_y.cu").write_text("// EXPERIMENT: About.\n// RUN: true\n// SHOWS: it\n")
    (tmp_path / "ch04" / "z.cu").write_text("// EXPERIMENT: About.\n// SHOWS: it\n// NEEDS: a GPU\n")
    with pytest.raises(UsageError, match="nvcc, not a GPU"):
        read_experiment(tmp_path, Path("ch04/z.cu"))
    assert read_experiment(tmp_path, Path("ch04/x_y.cu")) == Experiment(
        "ch04-x-y", Path("ch04/x_y.cu"), "About.", ("true",), ("it",)
    )


# ---- Pictures ----------------------------------------------------------------------------------------------------


def test_pictures_are_in_step() -> None:
    done = subprocess.run(
        [sys.executable, "docs/pictures/draw.py", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_a_picture_can_be_read_by_all(path: Path) -> None:
    text = path.read_text()
    svg = ElementTree.fromstring(text)
    names = [child.tag.rpartition("}")[2] for child in svg]
    assert names[:2] == ["title", "desc"]
    assert all(svg[i].text and len(svg[i].text or "") > 8 for i in (0, 1))
    assert "prefers-color-scheme:dark" in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    users = [
        lesson for lesson in [*LESSONS, *(ROOT / "docs").glob("*.md")] if path.name in lesson.read_text()
    ]
    assert users, "no document shows it"


# ---- Markers -----------------------------------------------------------------------------------------------------


def test_places_are_found_and_filled() -> None:
    text = "a\n<!-- code: x#y -->\nold\n<!-- end -->\nb\n<!-- output: ls -l -->\n<!-- end -->\n"
    found = markers.places(text)
    assert [(place.kind, place.argument, place.body) for place in found] == [
        ("code", "x#y", "old\n"),
        ("output", "ls -l", ""),
    ]
    filled = markers.fill(text, lambda place: f"new {place.kind}\n")
    assert "<!-- code: x#y -->\nnew code\n<!-- end -->" in filled
    assert markers.fill(filled, lambda place: place.body) == filled
    assert "new" not in markers.without(filled)


@pytest.mark.parametrize(
    "text",
    [
        "<!-- code: x -->\n",
        "<!-- end -->\n",
        "<!-- code: x -->\n<!-- code: y -->\n<!-- end -->\n",
        "<!-- code: x --> <!-- end -->\n",
    ],
)
def test_markers_without_a_partner_are_found(text: str) -> None:
    with pytest.raises(markers.MarkerError):
        markers.places(text)


def test_a_fragment_is_cut_out_and_moved_to_the_left() -> None:
    text = "int x;\n    // BEGIN a\n    if (x) {\n        y();\n    }\n    // END a\n# BEGIN b\nz\n# END b\n"
    assert fragment(text, "a") == "if (x) {\n    y();\n}"
    assert fragment(text, "b") == "z"
    with pytest.raises(markers.MarkerError):
        fragment(text, "c")


def test_counts_come_from_the_hardware() -> None:
    table = lessons.KINDS["counted"](ROOT, "sectors per request, instructions: ld_f32_unit = side by side")
    assert (
        table
        == "| access | sectors per request | instructions |\n|---|---:|---:|\n| side by side | 4 | 6,656 |\n"
    )
    for wrong in ("sectors: nothing = x", "sectors per shuffle: ld_f32_unit = x", "colour: ld_f32_unit = x"):
        with pytest.raises(markers.MarkerError):
            lessons.KINDS["counted"](ROOT, wrong)


def test_measurements_come_from_the_record(tmp_path: Path) -> None:
    argument = "ch02 = the reference; a chunk a thread = chunks"
    assert records.table(tmp_path, argument) == records.NO_RECORD
    folder = tmp_path / "bench" / "records"
    folder.mkdir(parents=True)
    other = {
        "schema": "warpbook/record/1",
        "device": {"name": "NVIDIA L4"},
        "date": "2026-01-01",
        "kernels": [],
    }
    (folder / "A.json").write_text(json.dumps(other))
    assert records.table(tmp_path, argument) == records.NO_RECORD
    points = [{"n": 2**20, "gb_per_s": 1234.5}, {"n": 2**28, "gb_per_s": 0.1234}]
    kernels = [{"name": name, "points": points} for name in ("ch02", "a chunk a thread")]
    other |= {"device": {"name": "NVIDIA H200"}, "kernels": kernels}
    (folder / "H.json").write_text(json.dumps(other))
    assert records.table(tmp_path, argument).splitlines()[-2:] == [
        "| the reference | - | 1,234 | - | 0.123 |",
        "| chunks | - | 1,234 | - | 0.123 |",
    ]
    for wrong in ("nothing = x", "ch02"):
        with pytest.raises(markers.MarkerError):
            records.table(tmp_path, wrong)
