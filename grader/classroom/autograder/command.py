"""`make gradescope`, `make autolab`, and `make autograde`, which both run on the platform."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from ...core.errors import MACHINE, PASSED, UsageError
from ...core.options import Chapters, Json
from ...core.page import print_json
from ...core.workbook import Workbook, find_workbook, write_whole
from ..exports import autolab as autolab_format
from ..exports import check50, classroom50, junit
from ..exports import gradescope as gradescope_format
from ..exports.files import json_text
from .bundle import write_autolab, write_gradescope

Text = Callable[[dict[str, Any], dict[str, Any]], str]
_FORMATS: dict[str, Text] = {
    "gradescope": lambda document, student: json_text(gradescope_format.results(document, student)),
    "autolab": autolab_format.output,
    "classroom50": lambda document, student: json_text(classroom50.result(document, student)),
    "check50": lambda document, student: json_text(check50.checks(document, student)),
    "junit": lambda document, student: junit.xml(document, [student]),
}
Out = Annotated[Path | None, typer.Option(help="Where to write; default a folder in build/.")]


def gradescope(chapters: Chapters = None, out: Out = None, as_json: Json = False) -> int:
    """Write the autograder for Gradescope, one zip archive to upload."""
    workbook = find_workbook()
    path = out or workbook.build / "gradescope" / "autograder.zip"
    files = write_gradescope(workbook, workbook.select(chapters or []), path)
    return _say(workbook, path, path.stat().st_size, files, as_json=as_json)


def autolab(chapters: Chapters = None, out: Out = None, as_json: Json = False) -> int:
    """Write the autograder for Autolab, autograde-Makefile and autograde.tar."""
    workbook = find_workbook()
    folder = out or workbook.build / "autolab"
    files = write_autolab(workbook, workbook.select(chapters or []), folder)
    path = folder / "autograde.tar"
    return _say(workbook, path, path.stat().st_size, files, as_json=as_json)


def _say(workbook: Workbook, path: Path, size: int, files: int, *, as_json: bool) -> int:
    if as_json:
        print_json({"schema": "warpbook/autograder/1", "path": str(path), "files": files, "bytes": size})
    else:
        print(f"{workbook.shown(path)}: {files} files, {size / 1e6:.1f} MB")
    return PASSED


def autograde(
    handin: Annotated[
        Path | None, typer.Argument(metavar="SUBMISSION", help="The folder or file that was handed in.")
    ] = None,
    chapters: Chapters = None,
    form: Annotated[str, typer.Option("--format", help=f"One of {', '.join(_FORMATS)}.")] = "gradescope",
    out: Annotated[Path | None, typer.Option(help="The file to write; default standard output.")] = None,
    metadata: Annotated[Path | None, typer.Option(help="Gradescope's submission_metadata.json.")] = None,
    ready: Annotated[
        bool, typer.Option("--ready", help="Only build and run the parts that every submission needs.")
    ] = False,
) -> int:
    """Grade one submission in a platform's container, and write the result in the platform's format.

    Exit with 0 if grading is complete, whatever the score, and with 3 and no result if it failed.
    """
    from . import one  # takes what only grading a class needs

    if form not in _FORMATS:
        raise UsageError(f"there is no format {form!r} for one submission; there are: {', '.join(_FORMATS)}")
    workbook = find_workbook()
    chosen = workbook.select(chapters or [])
    if ready:
        one.prepare(workbook, chosen)
        return PASSED
    if handin is None or not handin.exists():
        raise UsageError(f"there is no submission {handin or ''}: name the folder or file that was handed in")
    who, title = one.read_metadata(metadata)
    document = one.grade_one(workbook, chosen, handin, who, title or "Warpbook")
    if why := one.infra(document):
        print(f"warpbook: it could not be judged, which is not its author's fault: {why}", file=sys.stderr)
        return MACHINE
    text = _FORMATS[form](document, document["students"][0])
    if out:
        write_whole(out, text)
    else:
        sys.stdout.write(text)
    return PASSED
