"""What make has built, taken along into a second checkout, so that make there finds nothing to do."""

import shutil
from pathlib import Path

_FILES = ("config.mk", "flags", "sources")
_FOLDERS = ("bin", "lib", "obj", "programs", "ccbin")


def take_along(root: Path, folder: Path) -> None:
    """Copies the programs and what they were built from to the checkout in `folder`: no kernel, no result."""
    (folder / "build").mkdir()
    for name in _FILES:
        shutil.copy2(root / "build" / name, folder / "build" / name)
    for name in _FOLDERS:
        if (root / "build" / name).is_dir():  # build/ccbin is not there on most machines
            shutil.copytree(root / "build" / name, folder / "build" / name)
    for program in (folder / "build" / "programs").iterdir():
        (folder / program.name).hardlink_to(program)
