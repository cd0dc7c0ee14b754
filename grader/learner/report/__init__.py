"""`make report`: one page without network access that shows the learner what their kernels did.

In reading order: collect.py gathers the data of each chapter and traces.py runs ./chNN --trace-only if
needed; chapter.py, lines.py, accesses.py, exchange.py and roof.py turn them into figures and words, each
number with its source (figures.py); pictures/ draws; document.py is the result as JSON, page.py as HTML.
"""

from base64 import b64encode
from pathlib import Path
from typing import Any

from ...core.history import now
from ...core.workbook import Workbook, write_whole
from ..ladder import document as ladder_document
from ..ladder import ladder_of
from ..ladder.picture import picture
from ..overview import document as standings_document
from ..standing import following, place_of
from .chapter import View, view
from .collect import Known, collect
from .document import document
from .page import render
from .pictures import roofline
from .roof import points_of, roof_of
from .svg import Detail, Gallery

PAGE = Path("report") / "index.html"  # in build/
BYTES_PER_CHAPTER = 200_000  # of the page, on average
# While the page is too large, the chapters with the largest traces are drawn with fewer details.
DETAILS = (
    Detail(4, 8, 8, 32, 1024),
    Detail(3, 4, 4, 28, 256),
    Detail(2, 2, 2, 16, 64),
    Detail(1, 1, 1, 0, 0),
)


def write_report(workbook: Workbook) -> tuple[Path, dict[str, Any]]:
    """Write the page; return its path and its contents as JSON."""
    known = collect(workbook)
    path = workbook.build / PAGE
    time = now()
    steps = [0] * len(known)  # how far each chapter's details are reduced: indices of DETAILS
    views = [view(one, DETAILS[0]) for one in known]
    html, made = _made(workbook, known, views, time)
    while len(html.encode()) > BYTES_PER_CHAPTER * len(known) and min(steps) + 1 < len(DETAILS):
        drawn = [_events(one) >> 2 * step for one, step in zip(known, steps, strict=True)]
        most = max(count for count, step in zip(drawn, steps, strict=True) if step + 1 < len(DETAILS))
        for i, count in enumerate(drawn):  # those of about the same size together: every page takes time
            if count > most // 2 and steps[i] + 1 < len(DETAILS):
                steps[i] += 1
                views[i] = view(known[i], DETAILS[steps[i]])
        html, made = _made(workbook, known, views, time)
    write_whole(path, html)
    return path, made


def _events(known: Known) -> int:
    """How much there is to draw of a chapter: the events of its trace."""
    if not known.trace:
        return 0
    return sum(len(kernel["events"]) for task in known.trace.document["tasks"] for kernel in task["kernels"])


def _made(workbook: Workbook, known: list[Known], views: list[View], time: str) -> tuple[str, dict[str, Any]]:
    """The page and the document."""
    standings = [one.standing for one in known]
    next_one = following(standings, place_of(workbook))
    summary = standings_document(standings, next_one)
    for chapter in summary["chapters"]:
        del chapter["diagnosis"]  # each chapter's part has it, if it may be shown
    gallery = Gallery()
    for one in views:
        gallery.add(one.gallery)
    ladder = ladder_of(workbook, workbook.chapters)
    roof, points = roof_of(views, ladder.device), points_of(views, ladder.device)
    html = render(
        time=time,
        summary=summary,
        views=views,
        next_one=next_one,
        ladder=ladder,
        ladder_picture="data:image/svg+xml;base64," + b64encode(picture(ladder).encode()).decode(),
        roof=roof,
        points=points,
        roofline=roofline.draw(roof, points) if roof and points else None,
        gallery=gallery.svg(),
    )
    return html, document(time, summary, ladder_document(ladder, Path("build") / PAGE), roof, points, views)
