"""Magics for a notebook on Colab, Kaggle or a laptop: `%load_ext warpbook` of the package registers them.

    %lesson ch04            show the lesson with its pictures
    %%kernel ch04           write the cell to the chapter's kernel.cu and judge it; --profile and other options follow
    %warpbook hint ch04     run a command

The folder of the learner is the one that `warpbook new` made, at or above the working folder.
"""

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..core.errors import GraderError, UsageError
from ..core.workbook import Chapter, Workbook, write_whole
from .folder import find_folder

TREE = Path(__file__).resolve().parents[2]
_PICTURE = re.compile(r"^!\[((?:[^\]]|\n)*?)\]\(([^)\s]+\.svg)\)$", re.MULTILINE)


def register(shell: Any) -> None:
    """Add the magics to IPython's shell."""
    shell.register_magic_function(lesson, "line", "lesson")
    shell.register_magic_function(kernel, "cell", "kernel")
    shell.register_magic_function(command, "line", "warpbook")


def _reporting(work: Callable[..., None]) -> Callable[..., None]:
    """A magic whose failures are one sentence, as on the command line, in place of a traceback."""

    def guarded(*texts: str) -> None:
        try:
            work(*texts)
        except (GraderError, OSError) as error:
            print(f"warpbook: {error}")

    guarded.__doc__ = work.__doc__
    return guarded


def _chapter(name: str) -> tuple[Workbook, Chapter]:
    folder = find_folder(Path.cwd())
    if folder is None:
        raise UsageError(
            "this folder is not a workbook; !warpbook new cuda-course makes one, and %cd cuda-course enters it"
        )
    workbook = Workbook(folder, TREE)
    return workbook, workbook.select([name])[0]


def _words(line: str, usage: str) -> list[str]:
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"{line}: {error}") from None
    if not words:
        raise UsageError(f"name a chapter: {usage}")
    return words


def parts_of_lesson(text: str) -> list[tuple[str, str]]:
    """A lesson as ("text", Markdown) and ("picture", link) in order: a front end may not find pictures by links."""
    parts, place = [], 0
    for match in _PICTURE.finditer(text):
        parts += [("text", text[place : match.start()]), ("picture", match[2])]
        place = match.end()
    return [(kind, part) for kind, part in [*parts, ("text", text[place:])] if part.strip()]


@_reporting
def lesson(line: str) -> None:
    """Show the lesson of a chapter: %lesson ch04."""
    from IPython.display import SVG, Markdown, display

    workbook, chapter = _chapter(_words(line, "%lesson ch04")[0])
    page = workbook.root / chapter.folder / "README.md"
    for kind, part in parts_of_lesson(page.read_text("utf-8")):
        display(Markdown(part) if kind == "text" else SVG(filename=str(page.parent / part)))


@_reporting
def kernel(line: str, cell: str) -> None:
    """Write the cell to a chapter's kernel.cu and judge it: %%kernel ch04."""
    words = _words(line, "%%kernel ch04")
    workbook, chapter = _chapter(words[0])
    write_whole(workbook.root / chapter.kernel, cell if cell.endswith("\n") else cell + "\n")
    _run([chapter.name, *words[1:]])


@_reporting
def command(line: str) -> None:
    """Run a command of the workbook: %warpbook hint ch04."""
    _run(_words(line, "%warpbook hint ch04") if line.strip() else [])


def _run(words: list[str]) -> None:
    """Run `warpbook` with these words, and print what it prints as it comes. The cell does not fail with the kernel."""
    with subprocess.Popen(
        [sys.executable, "-m", "warpbook", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace",
    ) as run:  # fmt: skip
        assert run.stdout
        try:
            for text in run.stdout:
                print(text, end="", flush=True)
        except KeyboardInterrupt:  # the button that stops a cell; the program has received it too
            run.wait(timeout=10)
    if run.returncode < 0:
        print(f"warpbook: the command ended by signal {-run.returncode}")
