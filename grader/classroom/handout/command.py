"""`make handout`."""

from pathlib import Path
from typing import Annotated

import typer

from ...core.errors import PASSED, MachineError, explain_os_error
from ...core.options import Chapters, Json
from ...core.page import print_json
from ...core.workbook import find_workbook
from . import write_handout


def handout(
    chapters: Chapters = None,
    out: Annotated[Path | None, typer.Option(help="The archive to write; build/handout.zip.")] = None,
    title: Annotated[str, typer.Option(help="The course's name, for the handout's README.")] = "",
    as_json: Json = False,
) -> int:
    """Write the workbook for students, without the solutions in any form, as one archive."""
    workbook = find_workbook()
    chosen = workbook.select(chapters or [])
    path = out or workbook.build / "handout.zip"
    try:
        files = write_handout(workbook, chosen, path, title)
        size = path.stat().st_size
    except OSError as error:
        raise MachineError(f"the handout could not be written: {explain_os_error(error)}") from None
    if as_json:
        names = [chapter.name for chapter in chosen]
        document = {"path": str(path), "files": files, "bytes": size, "chapters": names}
        print_json({"schema": "warpbook/handout/1", **document})
    else:
        listed = ", ".join(chapter.name for chapter in chosen)
        print(f"{workbook.shown(path)}: {listed}; no part of a solution is in it")
    return PASSED
