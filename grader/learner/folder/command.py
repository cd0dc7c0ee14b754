"""`warpbook new`, and `make update`, which is also `warpbook update`."""

import os
from pathlib import Path
from typing import Annotated

import typer

from ... import __version__
from ...core.errors import PASSED, MachineError, explain_os_error
from ...core.options import Json
from ...core.page import print_json
from ...core.workbook import Workbook, find_workbook
from .checkout import update_checkout
from .update import Changes, new_folder, update_folder


def new(
    folder: Annotated[Path, typer.Argument(help="The folder to make.")] = Path("warpbook"),
    here: Annotated[bool, typer.Option("--here", help="Make the folder that you are in a workbook.")] = False,
    as_json: Json = False,
) -> int:
    """Make a folder with the lessons, the kernels to write, and settings for editors."""
    start = Path(os.environ.get("WARPBOOK_FOLDER", "."))  # where the command was typed
    tree = Workbook(Path(__file__).resolve().parents[3])
    place = start if here else start / folder
    try:
        changes = new_folder(tree, place, __version__)
    except OSError as error:
        raise MachineError(f"the folder could not be made: {explain_os_error(error)}") from None
    if as_json:
        _print_json(changes, folder=str(place.absolute()))
        return PASSED
    enter = "" if here else f"cd {folder} && "
    print(f"{folder if not here else 'This folder'} has {len(tree.chapters)} chapters. Begin with chapter 1:")
    print(f"  {enter}warpbook ch01")
    _print_beside(changes)
    return PASSED


def update(as_json: Json = False) -> int:
    """Bring new chapters and lessons; your kernels stay as they are."""
    workbook = find_workbook()
    try:
        if workbook.is_packaged:
            changes = update_folder(Workbook(workbook.tree), workbook.root, __version__)
        else:
            changes = update_checkout(workbook)
    except OSError as error:
        raise MachineError(f"the workbook could not be updated: {explain_os_error(error)}") from None
    if as_json:
        _print_json(changes, folder=str(workbook.root))
        return PASSED
    if not (changes.added or changes.renewed or changes.beside):
        print(f"Everything is up to date with version {__version__}.")
        return PASSED
    chapters = sorted({Path(name).parts[1] for name in changes.added if name.startswith("chapters/")})
    print(f"{len(changes.added)} new files, {len(changes.renewed)} renewed; your kernels are as they were.")
    if chapters:
        print(f"New chapters: {', '.join(chapters)}.")
    _print_beside(changes)
    return PASSED


def _print_beside(changes: Changes) -> None:
    for yours, new_one in changes.beside:
        print(f"{yours} is yours and was kept; the new version is beside it: {new_one}")


def _print_json(changes: Changes, folder: str) -> None:
    kept = [{"file": yours, "new": new_one} for yours, new_one in changes.beside]
    print_json(
        {
            "schema": "warpbook/update/1",
            "version": __version__,
            "folder": folder,
            "added": changes.added,
            "renewed": changes.renewed,
            "kept": kept,
        }
    )
