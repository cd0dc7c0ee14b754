"""The row of 32 lanes at the top of every picture of one warp, and the row of 32 banks below some."""

from ..svg import MARGIN, Drawing, Gallery

LANE = 16.0  # width of a lane, and of a bank
TOP, TALL = 24.0, 34.0  # of the row of lanes
_NUMBERED = (*range(0, 32, 4), 31)


def middle(lane: int) -> float:
    """The middle of a lane, or of the bank of that number."""
    return MARGIN + LANE * (lane + 0.5)


def draw_lanes(drawing: Drawing, gallery: Gallery, looks: dict[int, str]) -> None:
    """All 32 lanes with their numbers; active lanes in the colours of their transactions, the others grey."""
    row = Drawing("", "", "")
    row.boxes("idle", [(middle(lane) - LANE / 2 + 0.5, TOP, LANE - 1, TALL) for lane in range(32)])
    _numbers(row, 16)
    drawing.raw(gallery.use(row.body()))
    for look in sorted(set(looks.values())):
        drawing.posts(look, TALL, [(middle(lane), TOP) for lane, has in sorted(looks.items()) if has == look])
    drawing.grow(TOP + TALL)


def draw_bank_numbers(drawing: Drawing, gallery: Gallery, y: float) -> None:
    """The numbers of the banks."""
    row = Drawing("", "", "")
    _numbers(row, 0)
    drawing.raw(f'<g transform="translate(0 {y:.0f})">{gallery.use(row.body())}</g>')
    drawing.grow(y + 4)


def _numbers(row: Drawing, y: float) -> None:
    for lane in _NUMBERED:
        row.words(middle(lane), y, lane, "small faint", "middle")
