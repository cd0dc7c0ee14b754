"""Writes warpbook.ipynb, the workbook as a notebook, from the skeletons: a part of `make skeletons`.

`python3 -m grader.authoring.notebook` writes it, and with `--check` only compares. Its format is nbformat 4.5, without
outputs. grader/learner/notebook.py has the magics that it uses.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from ..core.entry import guarded
from ..core.workbook import Workbook, find_workbook, write_whole
from ..learner.folder.contents import skeleton

_INTRODUCTION = """\
# Warpbook

A workbook of CUDA kernels. Each chapter has a lesson and one kernel: edit the kernel in its cell and run the cell. You
learn whether the kernel is correct, what the hardware would do with it line by line, and how close it is to the
reference. With an NVIDIA GPU (Colab: *Runtime, Change runtime type*; Kaggle: *Settings, Accelerator*) kernels run on
it. Without one, an emulator runs and checks them.

First run the two cells that follow. They install the package `warpbook` from a wheel, which `make wheel` builds in a
checkout. Upload the wheel to the notebook's working folder, or add it to the notebook as a Kaggle data set."""
_INSTALL = """\
import glob, sys

wheels = glob.glob("warpbook-*.whl") + glob.glob("/kaggle/input/**/warpbook-*.whl", recursive=True)
if not wheels:
    raise SystemExit("There is no warpbook-*.whl in this folder: upload it, and run this cell again.")
!{sys.executable} -m pip install --quiet --disable-pip-version-check "{max(wheels)}"
!{sys.executable} -m warpbook --version"""
_FOLDER = """\
import os

if not os.path.exists("cuda-course"):
    !{sys.executable} -m warpbook new cuda-course
%cd -q cuda-course
%load_ext warpbook"""
_COMMANDS = """\
In each chapter:

- `%lesson ch01` shows the lesson.
- The cell that begins with `%%kernel ch01` holds the kernel. Running it writes the kernel to
  `cuda-course/chapters/` and judges it. `%%kernel ch01 --profile` shows more.
- `%warpbook hint ch01` gives a hint, chosen by your last run. `%warpbook` alone shows where you are, and
  `%warpbook --help` lists the other commands.

The folder `cuda-course` is lost when the machine of the notebook is. To keep your kernels, save the notebook; to keep
the history too, copy `cuda-course/progress`."""


def _cell(name: str, kind: str, text: str) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "id": name, "metadata": {}}
    if kind == "code":
        cell |= {"execution_count": None, "outputs": []}
    return cell | {"source": text.splitlines(keepends=True)}


def notebook(workbook: Workbook) -> str:
    """The notebook as JSON: how to install, then a lesson, a kernel and a hint for every chapter."""
    cells = [
        _cell("introduction", "markdown", _INTRODUCTION),
        _cell("install", "code", _INSTALL),
        _cell("folder", "code", _FOLDER),
        _cell("commands", "markdown", _COMMANDS),
    ]
    for chapter in workbook.chapters:
        name = chapter.name
        code = skeleton(workbook, chapter).decode().rstrip("\n")
        cells += [
            _cell(f"{name}-title", "markdown", f"## Chapter {int(name[2:])}: {chapter.title}"),
            _cell(f"{name}-lesson", "code", f"%lesson {name}"),
            _cell(f"{name}-kernel", "code", f"%%kernel {name}\n{code}"),
            _cell(f"{name}-hint", "code", f"%warpbook hint {name}"),
        ]
    document = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def path_of(root: Path) -> Path:
    """Where the notebook lies."""
    return root / "warpbook.ipynb"


def main(arguments: list[str] | None = None) -> int:
    """Write the notebook, or compare it; the exit status is 0 when it is in step with the skeletons."""
    parser = argparse.ArgumentParser(
        prog="python3 -m grader.authoring.notebook", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail when it is out of step")
    options = parser.parse_args(arguments)
    workbook = find_workbook()
    path = path_of(workbook.root)
    wanted = notebook(workbook)
    if path.exists() and path.read_text("utf-8") == wanted:
        return 0
    if options.check:
        print(f"notebook: {path.name} is out of step with the solutions; `make skeletons` updates it")
        return 1
    write_whole(path, wanted)
    print(f"  NOTEBOOK {path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(guarded(main))
