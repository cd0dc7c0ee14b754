"""warpbook.ipynb: in step with the skeletons, and run from its first cell with the package in a new environment."""

import json
import os
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, skip_without_nvcc

from grader.authoring import notebook, wheel
from grader.core.workbook import Workbook
from grader.learner.notebook import parts_of_lesson

WORKBOOK = Workbook(ROOT)
CHAPTERS = WORKBOOK.chapters
KERNELS = [one.name for one in CHAPTERS if not WORKBOOK.is_program(one)]
PROGRAMS = [one.name for one in CHAPTERS if WORKBOOK.is_program(one)]
IN_TURN = [pytest.mark.slow, pytest.mark.by_turns]
needs_nbclient = pytest.mark.skipif(
    not (find_spec("nbclient") and find_spec("ipykernel")) and os.environ.get("CI") != "true",
    reason="needs the Python packages nbclient and ipykernel (requirements/notebook.txt; make test installs them)",
)


def test_it_is_in_step_with_the_skeletons() -> None:
    assert notebook.path_of(ROOT).read_text("utf-8") == notebook.notebook(WORKBOOK), (
        "make skeletons writes it"
    )


def test_every_chapter_has_its_cells() -> None:
    cells = json.loads(notebook.path_of(ROOT).read_text("utf-8"))["cells"]
    ids = [cell["id"] for cell in cells]
    assert len(set(ids)) == len(ids)
    for chapter in CHAPTERS:
        assert {f"{chapter.name}-{part}" for part in ("title", "lesson", "kernel", "hint")} <= set(ids)
    assert not [cell for cell in cells if cell.get("outputs")]


def test_pictures_of_a_lesson_are_parts() -> None:
    text = "# A\n\n![Words that\ngo over lines.](../../docs/pictures/a.svg)\n\nMore ![not](alone.svg) text\n"
    assert [kind for kind, _ in parts_of_lesson(text)] == ["text", "picture", "text"]
    assert parts_of_lesson(text)[1][1] == "../../docs/pictures/a.svg"
    for chapter in CHAPTERS:
        lesson = (ROOT / chapter.folder / "README.md").read_text("utf-8")
        pictures = [part for kind, part in parts_of_lesson(lesson) if kind == "picture"]
        assert len(pictures) == lesson.count(".svg)"), chapter.name


def environment_with_the_wheel(folder: Path) -> dict[str, str]:
    """A new Python in `folder`, which sees the packages of this one, as the kernel "python3" of Jupyter.

    Returns the environment in which Jupyter finds it.
    """
    home = folder / "home"
    python = home / "venv/bin/python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home / "venv"], check=True)
    site = next((home / "venv/lib").glob("python3*/site-packages"))
    (site / "tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
    spec = home / "jupyter/kernels/python3/kernel.json"
    spec.parent.mkdir(parents=True)
    argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec.write_text(json.dumps({"argv": argv, "display_name": "Python 3", "language": "python"}))
    return {"HOME": str(home), "JUPYTER_PATH": str(home / "jupyter"), "IPYTHONDIR": str(home / "ipython")}


def run_cells(cells: list[Any], folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Runs the cells in `folder`, where the wheel lies; what each printed, by its id. A cell that fails raises."""
    from nbclient import NotebookClient
    from nbformat import reads, validate

    document = reads(json.dumps(json.loads(notebook.notebook(WORKBOOK)) | {"cells": cells}), as_version=4)
    validate(document)
    for name, value in environment_with_the_wheel(folder).items():
        monkeypatch.setenv(name, value)
    client = NotebookClient(document, timeout=200, resources={"metadata": {"path": str(folder)}})
    client.execute(env={**os.environ, "PYTHONPATH": ""})
    shown = {}
    for cell in document.cells:
        texts = [output.get("text") or "".join(output.get("data", {})) for output in cell.get("outputs", [])]
        shown[cell["id"]] = "".join(texts)
    return shown


def cells_with_solutions(chapters: list[str]) -> list[Any]:
    """The notebook's cells for these chapters; after each kernel that begins the chapter, the solution."""
    cells = []
    for cell in json.loads(notebook.path_of(ROOT).read_text("utf-8"))["cells"]:
        chapter = cell["id"].split("-")[0]
        if chapter.startswith("ch") and chapter not in chapters:
            continue
        cells.append(cell)
        if cell["id"].endswith("-hint"):
            solution = next(one.solution for one in CHAPTERS if one.name == chapter) / "kernel.cu"
            source = f"%%kernel {chapter} --device emulator\n{(ROOT / solution).read_text()}"
            cells.append({**cell, "id": f"{chapter}-solution", "source": source})
    return cells


@needs_nbclient
@pytest.mark.parametrize(
    "chapters",
    [["ch01"], pytest.param(KERNELS, marks=IN_TURN), pytest.param(PROGRAMS, marks=IN_TURN)],
    ids=["first", "kernels", "programs"],
)
def test_its_cells_run_from_the_first(
    built: Path,
    chapters: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    skip_without_nvcc(chapters[0], request)
    wheel.write_wheel(ROOT, ROOT / "build", wheel.platform_of(""), tmp_path)
    shown = run_cells(cells_with_solutions(chapters), tmp_path, monkeypatch)
    assert "warpbook 0." in shown["install"]
    assert "cd cuda-course && warpbook ch01" in shown["folder"]
    for name in chapters:
        kernel, solution = shown[f"{name}-kernel"], shown[f"{name}-solution"]
        assert "image/svg+xml" in shown[f"{name}-lesson"] and "text/markdown" in shown[f"{name}-lesson"]
        assert "of 10 points" in kernel and "10 of 10 points" not in kernel, kernel
        assert f"warpbook hint {name}" in shown[f"{name}-hint"], shown[f"{name}-hint"]
        assert "10 of 10 points" in solution, solution
    first = next(one for one in CHAPTERS if one.name == chapters[0])
    state = tmp_path / "cuda-course" / first.folder / "kernel.cu"
    assert state.read_text() == (ROOT / first.solution / "kernel.cu").read_text()
