"""Other checkouts made from this one: as a newcomer has it, and with every kernel solved.

What make has built is taken along, so that make there finds nothing to do.
"""

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..core.workbook import Workbook

_FILES = ("config.mk", "flags", "sources")
_FOLDERS = ("bin", "lib", "obj", "programs", "cudart", "ccbin")
_PRIVATE = {".git", ".venv", "build", "progress"}
_LINKED = ("Makefile", "mk", "common", "bench", "docs", ".venv")


@contextmanager
def newcomers_copy(root: Path) -> Iterator[Path]:
    """A copy of the checkout with its programs and packages, and nothing that anybody has done in it."""
    with tempfile.TemporaryDirectory(prefix="warpbook-readme-") as name:
        copy = Path(name) / "warpbook"
        copy.mkdir()
        for path in root.iterdir():
            if path.name in _PRIVATE or re.fullmatch(r"ch\d\d", path.name):
                continue
            if path.is_dir():
                shutil.copytree(path, copy / path.name, symlinks=True)
            else:
                shutil.copy2(path, copy / path.name)
        (copy / ".venv").symlink_to(root / ".venv")
        _take_along(root, copy)
        yield copy


def solved_checkout(workbook: Workbook, folder: Path) -> None:
    """Makes a checkout with every kernel.cu solved, the programs built, and no kernel compiled or judged."""
    root = workbook.root
    folder.mkdir(parents=True)
    for name in _LINKED:
        if (root / name).exists():
            (folder / name).symlink_to(root / name)
    for name in ("chapters", "solutions"):
        shutil.copytree(root / name, folder / name)
    for chapter in workbook.chapters:
        shutil.copy(folder / chapter.solution / "kernel.cu", folder / chapter.kernel)
    _take_along(root, folder)


def _take_along(root: Path, folder: Path) -> None:
    """Copies the programs and what they were built from to the checkout in `folder`: no kernel, no result."""
    (folder / "build").mkdir()
    for name in _FILES:
        shutil.copy2(root / "build" / name, folder / "build" / name)
    for name in _FOLDERS:
        if (root / "build" / name).is_dir():  # cudart and ccbin are not there on every machine
            shutil.copytree(root / "build" / name, folder / "build" / name)
    for program in (folder / "build" / "programs").iterdir():
        (folder / program.name).hardlink_to(program)
