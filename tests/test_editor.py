"""`make editor`: clangd reads every kernel without an error, and VS Code's task finds the places of findings."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, run_make

from grader.core.workbook import Workbook
from grader.learner.editor import editor_files

WORKBOOK = Workbook(ROOT)
PROGRAMS = [chapter.folder.name for chapter in WORKBOOK.chapters if WORKBOOK.is_program(chapter)]
KERNELS = sorted(
    str(path.relative_to(ROOT))
    for part in ("chapters", "solutions")
    for path in (ROOT / part).glob("*/kernel.cu")
    if path.parent.name not in PROGRAMS
)
# "E[12:00:00.000] [undeclared_var_use] Line 19: use of undeclared identifier 'x'", as opposed to a refactoring that
# does not apply.
ERROR = re.compile(r"^E\[[\d:.]+\] \[[\w-]+\] Line \d+: .*", re.MULTILINE)
needs_clangd = pytest.mark.skipif(
    not shutil.which("clangd"), reason="no clangd; on Debian: apt-get install clangd"
)


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("settings")
    for name, text in editor_files(Workbook(ROOT), ROOT, packaged=False).items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


def errors_in(file: Path | str, settings: Path) -> list[str]:
    command = ["clangd", f"--check={file}", f"--compile-commands-dir={settings}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert "All checks completed" in done.stderr, done.stderr
    return ERROR.findall(done.stderr)


@needs_clangd
@pytest.mark.parametrize(
    "kernel", [pytest.param(name, marks=[] if "ch04" in name else pytest.mark.by_turns) for name in KERNELS]
)
def test_clangd_reads_every_kernel(kernel: str, settings: Path) -> None:
    assert errors_in(ROOT / kernel, settings) == []


@needs_clangd
@pytest.mark.parametrize("program", PROGRAMS)
def test_clangd_is_silent_about_a_whole_program(program: str, tmp_path: Path) -> None:
    """It needs NVIDIA's headers. Without the part for it in .clangd, there are errors."""
    folder = tmp_path / "chapters" / program
    folder.mkdir(parents=True)
    shutil.copy(ROOT / "chapters" / program / "kernel.cu", folder)
    settings = editor_files(WORKBOOK, tmp_path, packaged=True)
    (tmp_path / "compile_commands.json").write_text(settings["compile_commands.json"])
    assert errors_in(folder / "kernel.cu", tmp_path)
    (tmp_path / ".clangd").write_text(settings[".clangd"])
    assert errors_in(folder / "kernel.cu", tmp_path) == []


@needs_clangd
def test_clangd_shows_an_error(tmp_path: Path) -> None:
    source = (
        ROOT / "chapters/ch04_warp_shuffle/kernel.cu"
    ).read_text() + "__global__ void wrong() { nothing(); }\n"
    (tmp_path / "chapters/ch04_warp_shuffle").mkdir(parents=True)
    (tmp_path / "chapters/ch04_warp_shuffle/kernel.cu").write_text(source)
    settings = editor_files(Workbook(ROOT), tmp_path, packaged=True)
    (tmp_path / "compile_commands.json").write_text(settings["compile_commands.json"])
    (error,) = errors_in(tmp_path / "chapters/ch04_warp_shuffle/kernel.cu", tmp_path)
    assert "nothing" in error


def test_the_task_judges_the_file_and_finds_the_places(built: Path, settings: Path) -> None:
    """The task's command, with the words that VS Code puts in, and its pattern on what that prints."""
    tasks = json.loads((settings / ".vscode/tasks.json").read_text())["tasks"]
    judge = next(task for task in tasks if task.get("group", {}).get("isDefault"))
    words = [word.replace("${fileDirnameBasename}", "ch01_single_thread") for word in judge["args"]]
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    command = [judge["command"], *words, "--device", "emulator"]
    done = subprocess.run(command, cwd=built, env=clean, capture_output=True, text=True)
    pattern = judge["problemMatcher"]["pattern"]
    places = [found for line in done.stdout.splitlines() if (found := re.search(pattern["regexp"], line))]
    assert places, done.stdout + done.stderr
    assert places[0][pattern["file"]] == "chapters/ch01_single_thread/kernel.cu"
    assert int(places[0][pattern["line"]]) > 0
    assert places[0][pattern["severity"]] in ("error", "warning")


def test_settings_of_the_learners_are_kept(checkout: Path) -> None:
    (checkout / ".vscode").mkdir()
    (checkout / ".vscode/tasks.json").write_text("{}")
    shutil.copytree(ROOT / "grader", checkout / "grader", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", checkout)
    shutil.rmtree(checkout / "chapters/ch02_two")
    done = run_make("-s", "editor", "VENV=", f"PYTHON={sys.executable}", folder=checkout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ".vscode/tasks.json is yours and was kept" in done.stdout
    assert (checkout / ".vscode/tasks.json").read_text() == "{}"
    assert (checkout / ".clangd").is_file()
