"""`make exports`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ...core.errors import PASSED
from ...core.options import Json
from ...core.page import print_json
from ..canonical import read_class
from . import FORMATS, export, left_out


def exports(
    graded: Annotated[Path, typer.Argument(metavar="CLASS", help="What make class wrote: its folder.")],
    formats: Annotated[
        str,
        typer.Option(
            "--format", help=f"One or more of {', '.join(FORMATS)}, with commas; all when left out."
        ),
    ] = "",
    out: Annotated[Path | None, typer.Option(help="The folder to write; CLASS/exports.")] = None,
    roster: Annotated[
        Path | None,
        typer.Option(help="What Canvas, Moodle or Blackboard exported; comes back with the grades."),
    ] = None,
    assignment: Annotated[
        str, typer.Option(help="With a roster: the assignment that gets the totals, or in Moodle a chapter.")
    ] = "",
    as_json: Json = False,
) -> int:
    """Write a graded class in the formats of other tools."""
    document = read_class(graded)
    folder = out or (graded if graded.is_dir() else graded.parent) / "exports"
    chosen = [name.strip() for name in formats.split(",") if name.strip()]
    written = export(document, folder, chosen, roster, assignment)
    missing = left_out(document)
    if as_json:
        print_json(
            {"schema": "warpbook/exports/1", "written": [str(path) for path in written], "left_out": missing}
        )
    else:
        for place, count in _counted(written).items():
            print(f"{place}" + (f": {count} files" if count > 1 else ""))
    if not chosen and roster is None:
        names = ", ".join(name for name, form in FORMATS.items() if form.with_roster)
        print(
            f"warpbook: not written: {names}: each needs the platform's\n"
            "own file, ROSTER= (--roster); docs/exports.md says how to export it",
            file=sys.stderr,
        )
    if missing:
        print(
            f"warpbook: no score, not judged whole: {', '.join(missing)}; make class again",
            file=sys.stderr,
        )
    return PASSED


def _counted(written: list[Path]) -> dict[Path, int]:
    """Files that stand alone, and the folders of those that do not, each with how many were written."""
    folders: dict[Path, list[Path]] = {}
    for path in written:
        folders.setdefault(path.parent, []).append(path)
    counted: dict[Path, int] = {}
    for folder, paths in folders.items():
        if folder.name in FORMATS and len(paths) > 1:
            counted[folder] = len(paths)
        else:
            counted |= dict.fromkeys(paths, 1)
    return counted
