"""The ladder as a self-contained SVG: light and dark, with a description for screen readers."""

from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ...core.history import day
from ...core.speed import figure
from . import Ladder, Rung

WIDTH = 960
_LEFT, _BARS = 236.0, 400.0  # where the bars begin, and how wide the scale is
_TIME, _TIME_WIDTH = 780.0, 164.0  # the same of what it was over time
_TOP, _STEP, _HEIGHT = 96.0, 36.0, 16.0  # of the rows
_STEPS = (1, 2, 2.5, 5)  # between lines of the scale, times a power of ten


@dataclass(frozen=True)
class Mark:
    """A place on the scale, with a tooltip."""

    x: float
    words: str


@dataclass(frozen=True)
class Row:
    """One chapter as it is drawn."""

    name: str
    title: str
    y: float  # of the bar's top
    words: str  # all of it, for a reader
    width: float
    figure: str
    share: str  # of the reference
    reference: Mark | None
    cub: Mark | None
    points: str  # of the line over time
    dots: list[tuple[float, float, str]]
    dates: str


def picture(ladder: Ladder) -> str:
    """The SVG's text."""
    folder = Path(__file__).resolve().parent
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["px"] = lambda value: f"{value:.1f}".removesuffix(".0")
    rows = [_row(rung, i, ladder) for i, rung in enumerate(ladder.rungs)]
    bottom = _TOP + _STEP * len(rows)
    return environment.get_template("picture.svg.j2").render(
        ladder=ladder,
        rows=rows,
        width=WIDTH,
        height=bottom + 48 + 20 * len(ladder.remarks),
        left=_LEFT,
        right=_LEFT + _BARS,
        time=_TIME,
        time_right=_TIME + _TIME_WIDTH,
        top=_TOP,
        bottom=bottom,
        bar=_HEIGHT,
        ticks=[(_x(value, ladder), figure(value) if value else "0") for value in _ticks(ladder.top_gb_per_s)],
        peak=Mark(_x(ladder.peak_gb_per_s, ladder), f"peak {figure(ladder.peak_gb_per_s)}")
        if ladder.peak_gb_per_s
        else None,
    )


def _x(gb_per_s: float, ladder: Ladder) -> float:
    return _LEFT + _BARS * gb_per_s / ladder.top_gb_per_s


def _ticks(top: float) -> list[float]:
    """Round values from 0 to near the top, at most six."""
    power = 10.0 ** len(str(int(top)))
    while True:
        power /= 10
        for step in sorted((step * power for step in _STEPS), reverse=True):
            if top / step >= 3:
                return [i * step for i in range(int(top / step) + 1)]


def _row(rung: Rung, number: int, ladder: Ladder) -> Row:
    y = _TOP + _STEP * number + (_STEP - _HEIGHT) / 2
    own = rung.gb_per_s or 0.0
    width = max(_BARS * ladder.place(rung, own) / ladder.top_gb_per_s, 1.5 if own else 0.0)
    reference = cub = None
    if rung.reference_gb_per_s:
        reference = Mark(
            _x(ladder.place(rung, rung.reference_gb_per_s), ladder),
            f"the reference {rung.unit.text(rung.reference_gb_per_s)}",
        )
    if rung.cub:
        place = _x(ladder.place(rung, rung.cub.gb_per_s), ladder)
        cub = Mark(place, f"{rung.cub.name} {rung.unit.text(rung.cub.gb_per_s)}")
    dots = _dots(rung, y)
    days = list(dict.fromkeys(day(run.time) for run in (rung.runs[:1] + rung.runs[-1:])))
    said = [f"{rung.chapter.name} {rung.chapter.title}: " + (rung.unit.text(own) if own else "not timed yet")]
    said += [mark.words for mark in (reference, cub) if mark]
    if rung.runs:
        said.append(f"{len(rung.runs)} correct runs, {' to '.join(days)}")
    return Row(
        name=rung.chapter.name,
        title=rung.chapter.title,
        y=y,
        words="; ".join(said),
        width=width,
        figure=rung.short(own) if own else "",
        share=f"{own / rung.reference_gb_per_s:.2f}" if own and rung.reference_gb_per_s else "",
        reference=reference,
        cub=cub,
        points=" ".join(f"{x:.1f},{dot_y:.1f}" for x, dot_y, _ in dots),
        dots=dots,
        dates=" to ".join(days),
    )


def _dots(rung: Rung, y: float) -> list[tuple[float, float, str]]:
    """One point for each run, in order from left to right, at the height of its share of the best."""
    best = rung.gb_per_s or 1.0
    step = _TIME_WIDTH / max(1, len(rung.runs) - 1)
    return [
        (
            _TIME + i * step,
            y + _HEIGHT - (_HEIGHT - 2) * (run.gb_per_s or 0.0) / best,
            f"{day(run.time)}: {rung.unit.text(run.gb_per_s or 0.0)}, {run.verdict}",
        )
        for i, run in enumerate(rung.runs)
    ]
