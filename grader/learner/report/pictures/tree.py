"""The threads of a block from left to right, its levels from top to bottom, and the values passed between threads."""

from markupsafe import Markup

from ..exchange import BARRIER, OUTPUT, Exchange, Level, short
from ..figures import Figure
from ..svg import MARGIN, WIDTH, Drawing

_LEFT = 138.0  # where the threads begin
_STRIP, _GAP = 13.0, 34.0  # height of a strip of threads, and the room above it
_COUNT = 40.0  # room for the number of active threads, at the right
_SCALE_WIDTH = WIDTH - _LEFT - MARGIN - _COUNT


def draw(exchange: Exchange, most_links: int) -> Markup:
    """The picture of one block; a level with more than `most_links` links shows only some of them."""
    launch = exchange.launch
    drawing = Drawing(
        f"How the threads of block {exchange.block} of {launch.title} passed values on",
        f"{len(exchange.levels)} levels from top to bottom; the table below the picture has each in words.",
        "tree",
    )
    wide = _SCALE_WIDTH / launch.threads
    _axis(drawing, launch.threads, wide)
    y = 24.0
    before = None  # the bottom of the strip above
    for level in exchange.levels:
        if level.kind == BARRIER:
            y += 16
            _barrier(drawing, level, launch.threads, wide, y)
            y += 6
            continue
        y += _GAP if level.links or level.blocks else 18
        top = before if before is not None else y - _GAP
        links = sorted(level.links)[:: -(-len(level.links) // most_links) or 1]
        drawing.lines(
            "hot" if launch.threads <= 64 else "hot thin",
            [(_x(giver, wide), top, _x(taker, wide), y) for giver, taker in links],
        )
        if level.blocks:
            drawing.arrow("fine", _LEFT - 24, y - 16, _LEFT - 2, y + 3)
        _strip(drawing, level, launch.threads, wide, y)
        middle = y + _STRIP / 2
        drawing.words(MARGIN, middle - 1, f"line {level.line}" if level.line else "elsewhere", "strong small")
        drawing.words(MARGIN, middle + 12, _label(level), "faint small")
        active = active_figure(exchange, level)
        drawing.number(WIDTH - MARGIN, middle + 4.5, "", active, look="small", anchor="end")
        before = y + _STRIP
        y += _STRIP
    return drawing.svg()


def _label(level: Level) -> str:
    if level.links:
        apart = {abs(giver - taker) for giver, taker in level.links}
        far = f"{min(apart)}" if len(apart) == 1 else f"{min(apart)}–{max(apart)}"
        return f"{'shuffle' if level.kind == 'shuffle' else 'takes'}, {far} apart"
    if level.blocks:
        return f"from blocks {short(sorted(level.blocks), 1)}"
    return level.does


def _axis(drawing: Drawing, threads: int, wide: float) -> None:
    every = max(1, -(-threads // 256)) * (32 if threads > 32 else 8)
    for thread in range(0, threads, every):  # as many as fit
        drawing.words(_LEFT + thread * wide, 12, thread, "faint small", "start")
    drawing.words(MARGIN, 12, "thread", "faint small")
    drawing.words(WIDTH - MARGIN, 12, "at work", "faint small", "end")


def _strip(drawing: Drawing, level: Level, threads: int, wide: float, y: float) -> None:
    look = "good" if level.kind == OUTPUT else "lane"
    solid = level.takers if level.links else level.active
    for name, chosen in (
        ("idle", set(range(threads)) - level.active),
        ("spare", level.active - solid),
        (look, solid & level.active),
    ):
        drawing.boxes(f"strip {name}", _stretches(chosen, wide, y, _STRIP))


def _barrier(drawing: Drawing, level: Level, threads: int, wide: float, y: float) -> None:
    drawing.boxes("wall", _stretches(level.active, wide, y, 4))
    drawing.boxes("strip bad", _stretches(set(range(threads)) - level.active, wide, y, 4))
    drawing.words(MARGIN, y + 6, f"barrier, line {level.line}" if level.line else "barrier", "small")


def _stretches(
    threads: set[int], wide: float, y: float, tall: float
) -> list[tuple[float, float, float, float]]:
    """Adjacent threads as one box."""
    boxes = []
    for thread in sorted(threads):
        if thread - 1 not in threads:
            first = thread
        if thread + 1 not in threads:
            boxes.append((_LEFT + first * wide, y, max(2.0, (thread + 1 - first) * wide), tall))
    return boxes


def _x(thread: int, wide: float) -> float:
    x = _LEFT + (thread + 0.5) * wide
    return round(x) if wide < 3 else x


def active_figure(exchange: Exchange, level: Level) -> Figure:
    """How many threads executed a level, from the masks of its events."""
    events = ",".join(map(str, level.events))
    field = "masks" if level.kind == BARRIER else "mask"
    source = exchange.launch.pointer("events") + f"/{{{events}}}/{field}"
    return Figure(len(level.active), f"threads({source})")
