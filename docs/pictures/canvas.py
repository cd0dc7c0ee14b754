"""The visual language of the pictures: cells, arrows and words, in colours that suit light and dark pages.

Blue is a lane or thread at work, grey one that idles or a place that is empty. Amber is memory. Green is a
result, or bytes that are used; red is waste or trouble. A picture is at most 540 units wide, so that its words
can be read on a phone.
"""

from collections.abc import Callable
from xml.sax.saxutils import escape

WIDTH = 540
MARGIN = 14
SIZE = 13  # of words, in units

_STYLE = """\
svg{--paper:#fff;--ink:#1d2330;--faint:#5a6375;--line:#8a94a6;--idle:#eceff4;--idle-edge:#b4bccb;\
--lane:#d9e6ff;--lane-edge:#3567c7;--data:#fdebc8;--data-edge:#a86d12;--good:#d3efdb;--good-edge:#277a43;\
--bad:#fbd9d9;--bad-edge:#b93434}
@media (prefers-color-scheme:dark){svg{--paper:#171b23;--ink:#e8ebf2;--faint:#a4aec0;--line:#7c879b;\
--idle:#262c38;--idle-edge:#4d576a;--lane:#1f3a6e;--lane-edge:#7fa8f5;--data:#51390f;--data-edge:#e0a94a;\
--good:#17472a;--good-edge:#6cc98a;--bad:#5c2020;--bad-edge:#f08a8a}}
text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;fill:var(--ink)}
.faint{fill:var(--faint)}.strong{font-weight:600}.small{font-size:11px}
.mono{font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}
rect{stroke-width:1.2}.paper{fill:var(--paper)}
.idle{fill:var(--idle);stroke:var(--idle-edge)}.lane{fill:var(--lane);stroke:var(--lane-edge)}
.data{fill:var(--data);stroke:var(--data-edge)}.good{fill:var(--good);stroke:var(--good-edge)}
.bad{fill:var(--bad);stroke:var(--bad-edge)}.frame{fill:none;stroke:var(--line)}
.empty{fill:none;stroke:var(--idle-edge);stroke-dasharray:3 3}
path{fill:none;stroke:var(--line);stroke-width:1.4}path.hot{stroke:var(--lane-edge)}
path.trouble{stroke:var(--bad-edge)}path.fine{stroke:var(--good-edge)}path.dash{stroke-dasharray:4 3}
path.head{stroke:none;fill:var(--line)}path.head.hot{fill:var(--lane-edge)}
path.head.trouble{fill:var(--bad-edge)}path.head.fine{fill:var(--good-edge)}
"""


def _number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")


class Canvas:
    """One picture; what is drawn later lies above."""

    def __init__(self, title: str, description: str) -> None:
        """`title` and `description` are what a screen reader says."""
        self.title = title
        self.description = description
        self._parts: list[str] = []
        self._bottom = 0.0

    def _reach(self, y: float) -> None:
        self._bottom = max(self._bottom, y)

    def cell(
        self, x: float, y: float, w: float, h: float, kind: str, words: object = "", style: str = ""
    ) -> None:
        """A box of one of the kinds above, with words in its middle."""
        self._parts.append(
            f'<rect class="{kind}" x="{_number(x)}" y="{_number(y)}" width="{_number(w)}" '
            f'height="{_number(h)}" rx="{_number(min(3.0, w / 4))}"/>'
        )
        self._reach(y + h)
        if str(words):
            self.words(x + w / 2, y + h / 2 + 4.5, words, "middle", style)

    def row(
        self, x: float, y: float, w: float, h: float, cells: list[tuple[str, object]], style: str = "small"
    ) -> None:
        """Cells side by side: (kind, words) each."""
        for i, (kind, words) in enumerate(cells):
            self.cell(x + i * w, y, w, h, kind, words, style)

    def words(self, x: float, y: float, words: object, anchor: str = "start", style: str = "") -> None:
        """One line; `anchor` is start, middle or end. Words that would leave the picture are a mistake."""
        wide = len(str(words)) * (6.9 if "mono" in style else 6.3) * (11 if "small" in style else 13) / 11
        left = x - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
        assert 0 <= left <= WIDTH - wide, f"{self.title}: no room for {words!r}"
        looks = f' class="{style}"' if style else ""
        where = "" if anchor == "start" else f' text-anchor="{anchor}"'
        self._parts.append(
            f'<text x="{_number(x)}" y="{_number(y)}"{where}{looks}>{escape(str(words))}</text>'
        )
        self._reach(y + 4)

    def line(self, points: list[tuple[float, float]], kind: str = "") -> None:
        """A line through points."""
        path = "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in points)
        looks = f' class="{kind}"' if kind else ""
        self._parts.append(f'<path{looks} d="{path}"/>')
        self._reach(max(y for _, y in points))

    def arrow(self, x0: float, y0: float, x1: float, y1: float, kind: str = "") -> None:
        """A straight arrow with its head at the second point."""
        length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
        ux, uy = (x1 - x0) / length, (y1 - y0) / length
        bx, by = x1 - 6 * ux, y1 - 6 * uy
        self.line([(x0, y0), (bx, by)], kind)
        corners = [(x1, y1), (bx - 3 * uy, by + 3 * ux), (bx + 3 * uy, by - 3 * ux)]
        path = "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in corners) + "Z"
        self._parts.append(f'<path class="head{" " + kind if kind else ""}" d="{path}"/>')

    def brace(self, x0: float, x1: float, y: float, words: object = "", style: str = "small faint") -> None:
        """A bracket below things from x0 to x1, with words under it."""
        self.line([(x0, y), (x0, y + 5), (x1, y + 5), (x1, y)])
        if str(words):
            self.words((x0 + x1) / 2, y + 18, words, "middle", style)

    def key(self, y: float, entries: list[tuple[str, str]]) -> None:
        """What the colours mean in this picture, on one line."""
        x = float(MARGIN)
        for kind, words in entries:
            self.cell(x, y, 12, 12, kind)
            self.words(x + 17, y + 10, words, style="small faint")
            x += 17 + 6.1 * len(words) + 16

    def svg(self) -> str:
        """The whole file."""
        height = _number(round(self._bottom + MARGIN))
        body = "\n".join(self._parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
            f'height="{height}" role="img" aria-labelledby="t d">\n'
            f'<title id="t">{escape(self.title)}</title>\n<desc id="d">{escape(self.description)}</desc>\n'
            f"<style>\n{_STYLE}</style>\n"
            f'<rect class="paper" width="{WIDTH}" height="{height}" rx="6"/>\n{body}\n</svg>\n'
        )


Drawing = Callable[[Canvas], None]
pictures: dict[str, tuple[str, str, Drawing]] = {}


def picture(name: str, title: str, description: str) -> Callable[[Drawing], Drawing]:
    """Declares the function below as the picture NAME.svg."""

    def keep(draw: Drawing) -> Drawing:
        assert name not in pictures, f"two pictures are called {name}"
        pictures[name] = (title, description, draw)
        return draw

    return keep


def render(name: str) -> str:
    """The picture of that name as SVG."""
    title, description, draw = pictures[name]
    canvas = Canvas(title, description)
    draw(canvas)
    return canvas.svg()
