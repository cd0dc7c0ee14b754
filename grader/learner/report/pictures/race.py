"""A race: two threads, two lines and one place in memory, without any order."""

import textwrap
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from ..figures import Figure, Record
from ..svg import MARGIN, WIDTH, Drawing

_BOX, _TALL = 216.0, 62.0


@dataclass(frozen=True)
class Side:
    """The access of one of the two threads."""

    thread: str  # "thread 64 of block 0"
    does: str  # "writes"
    line: Figure | None
    code: str  # of that line; "" if it is not in the learner's file


@dataclass(frozen=True)
class Race:
    """A finding about two threads; `first` came earlier."""

    message: str
    first: Side
    second: Side
    place: str  # "shared slot, byte 256 of 512"
    order: str  # "write-after-read"
    drawing: Markup


def races(record: Record, source: list[str], most: int = 3) -> list[Race]:
    """The races of a result, one for each pair of lines."""
    found: list[Race] = []
    seen = set()
    for i, finding in enumerate(record.raw("findings") or []):
        if finding.get("kind") != "race" or "thread" not in finding:
            continue
        pair = tuple((finding.get(name) or {}).get("line") for name in ("place", "other_place"))
        if pair not in seen and len(found) < most:
            seen.add(pair)
            found.append(_race(record, i, finding, source))
    return found


def _race(record: Record, i: int, finding: dict[str, Any], source: list[str]) -> Race:
    message = str(finding.get("message", ""))
    order = next(
        (o for o in ("write-after-read", "read-after-write", "write-after-write") if o in message), ""
    )
    later = "writes" if finding.get("is_store") else "reads"
    if finding.get("is_atomic"):
        later = "updates atomically"
    earlier = "read" if order == "write-after-read" else "wrote"
    first = _side(record, i, "other_", earlier, finding, source)
    second = _side(record, i, "", later, finding, source)
    place = f"{finding.get('object', 'memory')}, byte {finding.get('index', 0)} of {finding.get('object_bytes', 0)}"
    return Race(message, first, second, place, order, _draw(message, first, second, place, order))


def _side(record: Record, i: int, which: str, does: str, finding: dict[str, Any], source: list[str]) -> Side:
    line = record.figure("findings", i, f"{which}place", "line")
    code = ""
    if line is not None and 1 <= line.value <= len(source):
        code = source[int(line.value) - 1].strip()
    thread, block = (_triple(finding.get(f"{which}{name}")) for name in ("thread", "block"))
    return Side(f"thread {thread} of block {block}", does, line, code)


def _triple(value: Any) -> str:
    """(64,0,0) as "64"; with more dimensions, all that are used."""
    numbers = list(value or [0])
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return ",".join(map(str, numbers)) if len(numbers) == 1 else f"({','.join(map(str, numbers))})"


def _draw(message: str, first: Side, second: Side, place: str, order: str) -> Markup:
    said = f"First {_sentence(first)}. Then {_sentence(second)}. Nothing orders the two."
    drawing = Drawing(f"A race on {place}", said, "race")
    left, right = float(MARGIN), WIDTH - MARGIN - _BOX
    for x, side in ((left, first), (right, second)):
        drawing.words(x + _BOX / 2, 16, side.thread, "strong", "middle")
        drawing.lines("dash", [(x + _BOX / 2, 24, x + _BOX / 2, 246)])
    for x, y, side in ((left, 40.0, first), (right, 172.0, second)):
        drawing.rect("bad" if side is second else "lane", x, y, _BOX, _TALL)
        if side.line:
            drawing.number(x + 10, y + 20, f"{side.does}, line ", side.line, look="strong")
        else:
            drawing.words(x + 10, y + 20, f"{side.does}, outside your file", "strong")
        for i, part in enumerate(_wrapped(side.code)):
            drawing.words(x + 10, y + 37 + 14 * i, part, "code small")
    middle = WIDTH / 2
    drawing.rect("data", middle - 120, 122, 240, 30)
    drawing.words(middle, 141, place, "small", "middle")
    _arrow(drawing, "fine", first, (left + _BOX / 2 + 40, 40 + _TALL), (left + _BOX / 2 + 64, 121))
    _arrow(drawing, "trouble", second, (right + _BOX / 2 - 40, 172), (right + _BOX / 2 - 64, 153))
    drawing.words(
        MARGIN,
        262,
        "Neither a barrier nor anything else orders the two" + (f": {order}." if order else "."),
        "small",
    )
    drawing.words(MARGIN, 278, "Time runs downwards; another run may have the opposite order.", "small faint")
    return drawing.svg()


def _arrow(
    drawing: Drawing, look: str, side: Side, box: tuple[float, float], memory: tuple[float, float]
) -> None:
    """A write goes to memory, a read comes from memory."""
    reads = side.does in ("read", "reads")
    drawing.arrow(look, *(memory if reads else box), *(box if reads else memory))


def _sentence(side: Side) -> str:
    where = f"at line {side.line.value:.0f}" if side.line else "outside your file"
    return f"{side.thread} {side.does} it {where}"


def _wrapped(code: str, columns: int = 30) -> list[str]:
    """A line of code in at most two pieces."""
    return textwrap.wrap(code, columns, max_lines=2, placeholder=" …")
