"""The command `ladder`."""

from rich.text import Text

from ...core.errors import PASSED
from ...core.options import Chapters, Gpu, Json
from ...core.page import console, print_json
from ...core.workbook import find_workbook, write_whole
from ..refresh import bring_up_to_date
from . import document, ladder_of
from .chart import chart
from .picture import picture


def ladder(chapters: Chapters = None, gpu: Gpu = None, as_json: Json = False) -> int:
    """Show how fast your chapters are, beside the references, CUB and the peak; also as an SVG."""
    workbook = find_workbook()
    bring_up_to_date(workbook, workbook.select(chapters or []), quiet=as_json)
    made = ladder_of(workbook, workbook.select(chapters or []), gpu)
    path = workbook.build / "ladder.svg"
    write_whole(path, picture(made))
    shown = path.relative_to(workbook.root)
    if as_json:
        print_json(document(made, shown))
        return PASSED
    out = console()
    out.print(chart(made))
    out.print(Text(f"As a picture: {shown}"))
    return PASSED
