"""Drawing the page's pictures: boxes, lines and words in the colours of docs/pictures.

The classes mean the same as there: blue `lane` is a lane or thread at work, grey `idle` one that idles, amber
`data` memory, green `good` a result or bytes used, red `bad` waste or trouble. `t0` to `t7` distinguish
transactions.
"""

import hashlib
import itertools
from base64 import urlsafe_b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from xml.sax.saxutils import escape

from markupsafe import Markup

from .figures import Figure, marks, time_words
from .figures import words as words_of

WIDTH = 540  # units, so that words can be read on a phone
MARGIN = 14
TRANSACTIONS = 8  # colours, used in turn

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Detail:
    """Limits on details, so that the page stays small."""

    warps: int  # of one access
    iterations: int  # of each of them
    patterns: int  # different pictures of one access
    levels: int  # of one tree
    links: int  # of one level of a tree


def number(value: float) -> str:
    """A coordinate."""
    return f"{value:.1f}".removesuffix(".0").replace("-0.", "-.")


def _strokes(lines: list[tuple[float, float, float, float]]) -> str:
    """Straight lines as a path: each point is relative to the previous one, because there may be thousands."""
    path, before = "", (0.0, 0.0)
    for x0, y0, x1, y1 in lines:
        a, b = (round(x0, 1), round(y0, 1)), (round(x1, 1), round(y1, 1))
        path += "m" + _pair(a[0] - before[0], a[1] - before[1])
        path += f"v{number(b[1] - a[1])}" if a[0] == b[0] else "l" + _pair(b[0] - a[0], b[1] - a[1])
        before = b
    return path


def _pair(x: float, y: float) -> str:
    second = number(y)
    return number(x) + ("" if second.startswith("-") else " ") + second


class Drawing:
    """One picture; later elements are drawn on top."""

    def __init__(self, title: str, description: str, kind: str) -> None:
        """A screen reader reads `title` and `description`; `kind` is the picture's class."""
        self.title, self.description, self.kind = title, description, kind
        self._parts: list[str] = []
        self._bottom = 0.0

    def rect(
        self, look: str, x: float, y: float, w: float, h: float, *, hint: str = "", more: str = ""
    ) -> None:
        """A box; `hint` is a tooltip, `more` are attributes."""
        shape = (
            f'<rect class="{look}" x="{number(x)}" y="{number(y)}" width="{number(w)}" height="{number(h)}"'
        )
        extra = f" {more}" if more else ""
        self._parts.append(
            f"{shape}{extra}><title>{escape(hint)}</title></rect>" if hint else f"{shape}{extra}/>"
        )
        self._bottom = max(self._bottom, y + h)

    def boxes(self, look: str, boxes: Iterable[tuple[float, float, float, float]]) -> None:
        """Many boxes of the same look as one shape."""
        path = "".join(
            f"M{number(x)} {number(y)}h{number(w)}v{number(h)}h-{number(w)}z" for x, y, w, h in boxes
        )
        if path:
            self._parts.append(f'<path class="{look}" d="{path}"/>')

    def lines(self, look: str, lines: Iterable[tuple[float, float, float, float]]) -> None:
        """Many straight lines of the same look as one shape."""
        path = _strokes([(x0, y0, x1, y1) for x0, y0, x1, y1 in lines])
        if path:
            self._parts.append(f'<path class="line {look}" d="{path}"/>')

    def posts(self, look: str, tall: float, tops: Iterable[tuple[float, float]]) -> None:
        """Many vertical boxes of the same look, as strokes: `tops` are the middles of their upper edges."""
        path = _strokes([(x, y, x, y + tall) for x, y in tops])
        if path:
            self._parts.append(f'<path class="post {look}" d="{path}"/>')

    def arrow(self, look: str, x0: float, y0: float, x1: float, y1: float) -> None:
        """A straight arrow with its head at the second point."""
        length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
        ux, uy = (x1 - x0) / length, (y1 - y0) / length
        bx, by = x1 - 6 * ux, y1 - 6 * uy
        self.lines(look, [(x0, y0, bx, by)])
        corners = [(x1, y1), (bx - 3 * uy, by + 3 * ux), (bx + 3 * uy, by - 3 * ux)]
        path = "M" + "L".join(f"{number(x)} {number(y)}" for x, y in corners) + "z"
        self._parts.append(f'<path class="head {look}" d="{path}"/>')

    def words(self, x: float, y: float, words: object, look: str = "", anchor: str = "") -> None:
        """A line of words."""
        self._text(x, y, escape(str(words)), look, anchor)

    def number(
        self,
        x: float,
        y: float,
        before: str,
        figure: Figure,
        after: str = "",
        look: str = "",
        anchor: str = "",
    ) -> None:
        """A line with a number, in the format of the page."""
        shown = time_words(figure) if after == "time" else words_of(figure)
        behind = "" if after == "time" else escape(after)
        text = f"{escape(before)}<tspan {marks(figure)}>{escape(shown)}</tspan>{behind}"
        self._text(x, y, text, look, anchor)

    def _text(self, x: float, y: float, text: str, look: str, anchor: str) -> None:
        attributes = f' class="{look}"' if look else ""
        attributes += f' text-anchor="{anchor}"' if anchor else ""
        self._parts.append(f'<text x="{number(x)}" y="{number(y)}"{attributes}>{text}</text>')
        self._bottom = max(self._bottom, y + 4)

    def raw(self, text: str) -> None:
        """Any other element, unchanged."""
        self._parts.append(text)

    def body(self) -> str:
        """The elements drawn so far."""
        return "".join(self._parts)

    def grow(self, y: float) -> None:
        """Extend the picture down to `y`."""
        self._bottom = max(self._bottom, y)

    def svg(self, gallery: "Gallery | None" = None) -> Markup:
        """The element, with unique ids. With a gallery, the body is stored there once."""
        one = next(_numbers)
        role = "group" if "<a " in self.body() else "img"  # an image hides the links in it
        height = number(round(self._bottom + 8))
        body = self.body()
        if gallery is not None:
            body = gallery.use(body)
        return Markup(
            f'<svg class="picture {self.kind}" viewBox="0 0 {WIDTH} {height}" role="{role}" '
            f'aria-labelledby="pt{one} pd{one}"><title id="pt{one}">{escape(self.title)}</title>'
            f'<desc id="pd{one}">{escape(self.description)}</desc>{body}</svg>'
        )


class Gallery:
    """Bodies of identical pictures, each written once and used wherever it is shown."""

    def __init__(self) -> None:
        """Empty."""
        self._ids: dict[str, str] = {}

    def use(self, body: str) -> str:
        """An element that shows `body`, which has the same id in every gallery."""
        digest = hashlib.blake2b(body.encode(), digest_size=6).digest()
        name = self._ids.setdefault(body, "g" + urlsafe_b64encode(digest).decode())
        return f'<use href="#{name}"/>'

    def add(self, other: "Gallery") -> None:
        """Also have the bodies of another gallery."""
        self._ids.update(other._ids)

    def svg(self) -> Markup:
        """All bodies, in an element that is not visible itself."""
        groups = "".join(f'<g id="{name}">{body}</g>' for body, name in self._ids.items())
        return Markup(f'<svg class="picture gallery" width="0" height="0" aria-hidden="true">{groups}</svg>')
