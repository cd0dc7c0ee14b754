"""Lines of a terminal as parts of an SVG that is readable on light and dark pages."""

from collections.abc import Iterable
from xml.sax.saxutils import escape

COLUMNS = 80
ADVANCE, LINE, SIZE, MARGIN = (
    7.8,
    19,
    13,
    16,
)  # units: a character's width, a line, a letter's height, the edge
WIDTH = round(COLUMNS * ADVANCE + 2 * MARGIN)
STYLE = f"""\
svg{{--paper:#fff;--edge:#d5dae3;--ink:#1d2330;--faint:#5a6375;--bad:#b3261e;--good:#1f7a3d;--warning:#8a5a00}}
@media (prefers-color-scheme:dark){{svg{{--paper:#171b23;--edge:#39414f;--ink:#e8ebf2;--faint:#a4aec0;\
--bad:#ff8a80;--good:#6cc98a;--warning:#e0a94a}}}}
text{{font:{SIZE}px ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:var(--ink);\
white-space:pre}}
.paper{{fill:var(--paper);stroke:var(--edge)}}.strong{{font-weight:700}}.faint{{fill:var(--faint)}}
.bad{{fill:var(--bad);font-weight:700}}.good{{fill:var(--good)}}.warning{{fill:var(--warning)}}
"""


def baseline(row: int, sheet: int = 0) -> int:
    """The y of the foot of the letters in a row; the first row is 0. The sheet begins at `sheet`."""
    return sheet + MARGIN + LINE * row + SIZE


def paper(y: float, height: float) -> str:
    """The sheet that rows are written on."""
    top = f"{y + 0.5:g}".removeprefix("0")  # half a unit inside, where the edge is drawn
    return f'<rect class="paper" x=".5" y="{top}" width="{WIDTH - 1}" height="{height - 1:g}" rx="8"/>'


def words(column: int, y: int, style: str, text: str) -> str:
    """Adjacent words in one style; their length is fixed, so that columns stay columns whatever font there is."""
    looks = f' class="{style}"' if style else ""
    x, length = MARGIN + column * ADVANCE, len(text) * ADVANCE
    return f'<text{looks} x="{x:.1f}" y="{y}" textLength="{length:.1f}">{escape(text)}</text>'


def svg(height: int, title: str, description: str, style: str, parts: Iterable[str]) -> str:
    """The whole file; `title` and `description` are what is read aloud."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-labelledby="t d">\n<title id="t">{escape(title)}</title>\n'
        f'<desc id="d">{escape(description)}</desc>\n<style>\n{style}</style>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )
