"""The timeline of a whole program: its copies and kernels, a row for each stream."""

from markupsafe import Markup

from ..figures import Figure, Record, time_words
from ..svg import MARGIN, WIDTH, Drawing

_LEFT, _ROW, _TALL = 92.0, 34.0, 22.0
_LOOKS = {"kernel": "lane", "copy-in": "data", "copy-out": "good"}
_WORDS = {"kernel": "kernel", "copy-in": "copy to the device", "copy-out": "copy to the host"}


def draw(record: Record) -> Markup | None:
    """The picture; None for a result without a timeline."""
    timeline = record.raw("timeline")
    if not timeline or not timeline["work"] or timeline["seconds"] <= 0:
        return None
    used = sorted({work["stream"] for work in timeline["work"]})
    totals = {
        kind: sum(one["end"] - one["start"] for one in timeline["work"] if one["kind"] == kind)
        for kind in _LOOKS
    }
    seconds = Figure(timeline["seconds"], f"{record.name}:/timeline/seconds")
    said = ", ".join(f"{_WORDS[kind]} {total * 1e6:,.1f} µs" for kind, total in totals.items() if total)
    drawing = Drawing(
        f"What the program let the device do, in {len(used)} streams",
        f"{time_words(seconds)} in all; together: {said}.",
        "timeline",
    )
    scale = (WIDTH - MARGIN - _LEFT) / timeline["seconds"]
    for row, stream in enumerate(used):
        y = MARGIN + row * _ROW
        drawing.words(MARGIN, y + 15, f"stream {stream}" if stream else "default")
        drawing.lines("", [(_LEFT, y + _TALL, WIDTH - MARGIN, y + _TALL)])
        for work in timeline["work"]:
            if work["stream"] != stream:
                continue
            start, width = work["start"] * scale, (work["end"] - work["start"]) * scale
            drawing.rect(_LOOKS[work["kind"]], _LEFT + start, y, max(width, 0.8), _TALL, hint=_hint(work))
    y = MARGIN + len(used) * _ROW + 12
    drawing.words(_LEFT, y, "0")
    drawing.number(WIDTH - MARGIN, y, "", seconds, "time", anchor="end")
    x = _LEFT
    for kind, words in _WORDS.items():
        drawing.rect(_LOOKS[kind], x, y + 12, 12, 12)
        drawing.words(x + 18, y + 22, words)
        x += 150
    return drawing.svg()


def _hint(work: dict[str, object]) -> str:
    start, end = float(str(work["start"])), float(str(work["end"]))
    what = str(work["kernel"] or f"{_WORDS[str(work['kind'])]}, {work['bytes']:,} bytes")
    return f"{what}: {(end - start) * 1e6:,.1f} µs from {start * 1e6:,.1f} µs on"
