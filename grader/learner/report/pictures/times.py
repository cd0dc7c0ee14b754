"""How long a kernel takes, beside the reference and the time that its bytes alone would take."""

from markupsafe import Markup

from ..figures import Figure, time_words
from ..svg import MARGIN, WIDTH, Drawing

_LEFT, _ROW = 150.0, 30.0


def draw(task: str, rows: list[tuple[str, str, Figure]]) -> Markup:
    """`rows` are (words, look, seconds)."""
    most = max(seconds.value for _, _, seconds in rows)
    said = "; ".join(f"{words}: {time_words(seconds)}" for words, _, seconds in rows)
    drawing = Drawing(f"Time of {task}", said + ".", "times")
    for i, (words, look, seconds) in enumerate(rows):
        y = 6 + i * _ROW
        wide = max(1.5, (WIDTH - _LEFT - MARGIN - 90) * seconds.value / most)
        drawing.words(MARGIN, y + 15, words, "strong" if i == 0 else "")
        drawing.rect(look, _LEFT, y, wide, 20)
        drawing.number(_LEFT + wide + 8, y + 15, "", seconds, "time")
    return drawing.svg()
