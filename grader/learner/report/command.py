"""The command `report`."""

from typing import Annotated

import typer

from ...core.errors import PASSED
from ...core.options import Json
from ...core.page import print_json
from ...core.workbook import find_workbook
from ..refresh import bring_up_to_date
from . import write_report


def report(
    as_json: Json = False,
    open_it: Annotated[bool, typer.Option("--open", help="Show it in a browser.")] = False,
) -> int:
    """A page of your own: the ladder, the roofline, and an x-ray of every kernel; needs no network."""
    workbook = find_workbook()
    bring_up_to_date(workbook, workbook.select([]), quiet=as_json)
    path, document_ = write_report(workbook)
    if as_json:
        print_json(document_)
    else:
        print(f"Your report: {path.relative_to(workbook.root)}")
    if open_it:
        import webbrowser

        webbrowser.open(path.as_uri())
    return PASSED
