"""`make exports`."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ...core.errors import PASSED, UsageError, explain_os_error
from ...core.options import Json
from ...core.page import print_json
from ...core.result import BrokenResultError, load_json
from ..canonical import SCHEMA, check_class
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
        Path | None, typer.Option(help="What Canvas or Moodle exported; comes back with the grades in it.")
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
    if missing:
        print(
            f"warpbook: no score, not judged whole: {', '.join(missing)}; make class again",
            file=sys.stderr,
        )
    return PASSED


def read_class(graded: Path) -> dict[str, Any]:
    """The class.json in a folder, or that file itself. Raises UsageError when it is none."""
    path = graded / "class.json" if graded.is_dir() else graded
    try:
        document = load_json(path.read_text("utf-8"))
    except OSError as error:
        raise UsageError(
            f"there is no graded class in {graded}: {explain_os_error(error)}; make class writes one"
        ) from None
    except ValueError as error:
        raise UsageError(f"{path} is not a class.json: {error}") from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise UsageError(f'{path} is not a class.json: it has no "schema": "{SCHEMA}"')
    try:
        check_class(document)
    except (BrokenResultError, KeyError, TypeError, AttributeError) as error:
        what = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise UsageError(f"{path} is damaged: {what}; make class writes it again") from None
    return document


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
