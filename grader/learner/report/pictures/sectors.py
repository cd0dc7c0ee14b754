"""One warp's access to global memory: 32 lanes, and the 32-byte sectors that they touch."""

from markupsafe import Markup

from ..launches import runs
from ..svg import MARGIN, TRANSACTIONS, WIDTH, Drawing, Gallery
from .lanes import TALL, TOP, draw_lanes, middle

SECTOR = 32  # bytes
_MEMORY, _TALL = 132.0, 26.0  # where the sectors begin, and their height


def touched(places: list[int | None], size: int) -> dict[int, dict[int, set[int]]]:
    """For each sector, the lanes that touch it, each with its bytes."""
    found: dict[int, dict[int, set[int]]] = {}
    for lane, at in enumerate(places):
        for byte in range(at, at + size) if at is not None else ():
            found.setdefault(byte // SECTOR, {}).setdefault(lane, set()).add(byte % SECTOR)
    return dict(sorted(found.items()))


def draw(places: list[int | None], size: int, does: str, gallery: Gallery) -> Markup:
    """`places` are bytes, the first from the start of a 128-byte line, None for idle lanes."""
    found = touched(places, size)
    drawing = Drawing(
        f"{sum(at is not None for at in places)} of 32 lanes touch {len(found)} sectors of 32 bytes",
        _words(found, does),
        "access",
    )
    gaps = sum(b > a + 1 for a, b in zip(found, list(found)[1:], strict=False))
    gap = 3.0
    wide = min(64.0, (WIDTH - 2 * MARGIN - gap * gaps) / len(found))
    x = (WIDTH - wide * len(found) - gap * gaps) / 2
    looks = {}
    starts = {}
    before = None
    for i, sector in enumerate(found):
        x += gap if before is not None and sector > before + 1 else 0
        looks[sector], starts[sector], before = f"t{i % TRANSACTIONS}", x, sector
        x += wide
    links: dict[str, list[tuple[float, float, float, float]]] = {}
    used: dict[str, list[tuple[float, float, float, float]]] = {}
    for sector, lanes in found.items():
        x = starts[sector]
        for lane, touched_bytes in lanes.items():
            into = x + wide * (min(touched_bytes) + max(touched_bytes) + 1) / 2 / SECTOR
            links.setdefault(looks[sector], []).append((middle(lane), TOP + TALL, into, _MEMORY))
        used.setdefault(looks[sector], []).extend(_stretches(sorted(set().union(*lanes.values())), x, wide))
    for look, lines in links.items():
        drawing.lines(look, lines)
    drawing.boxes("data", [(x, _MEMORY, wide, _TALL) for x in starts.values()])
    for look, boxes in used.items():
        drawing.boxes(look, boxes)
    for sector in found:
        if wide >= 22:
            drawing.words(
                starts[sector] + wide / 2,
                _MEMORY + _TALL + 14,
                f"+{sector * SECTOR}",
                "small faint",
                "middle",
            )
    draw_lanes(drawing, gallery, {lane: looks[s] for s, lanes in reversed(found.items()) for lane in lanes})
    drawing.words(
        MARGIN,
        _MEMORY + _TALL + 32,
        "below: sectors of 32 bytes; coloured: the bytes that are used",
        "small faint",
    )
    return drawing.svg(gallery)


def _stretches(used: list[int], x: float, wide: float) -> list[tuple[float, float, float, float]]:
    """The used bytes of one sector, as boxes."""
    boxes, i = [], 0
    while i < len(used):
        j = i
        while j + 1 < len(used) and used[j + 1] == used[j] + 1:
            j += 1
        boxes.append((x + wide * used[i] / SECTOR, _MEMORY, wide * (used[j] + 1 - used[i]) / SECTOR, _TALL))
        i = j + 1
    return boxes


def _words(found: dict[int, dict[int, set[int]]], does: str) -> str:
    """The picture for a screen reader."""
    said = [
        f"sector {sector}: lanes {runs(sorted(lanes))}, {len(set().union(*lanes.values()))} of 32 bytes used"
        for sector, lanes in list(found.items())[:8]
    ]
    more = f"; and {len(found) - 8} sectors more" if len(found) > 8 else ""
    return f"Each lane {does}. Sectors counted from the first line of 128 bytes: {'; '.join(said)}{more}."
