"""The roofline: operations per second against operations per byte, with the learner's kernels.

Also the time of a kernel, beside that of the reference and of its bytes alone.
"""

import math
from dataclasses import dataclass

from markupsafe import Markup

from ..figures import Figure, time_words
from ..svg import MARGIN, WIDTH, Drawing

_LEFT, _RIGHT, _TOP, _BOTTOM = 56.0, WIDTH - MARGIN, 20.0, 268.0
_BARS_LEFT, _BAR_ROW = 150.0, 30.0


@dataclass(frozen=True)
class Point:
    """One task of a chapter."""

    chapter: str
    task: str
    intensity: Figure  # floating-point operations per byte that must move
    gb_per_s: Figure
    gflops: Figure
    share: Figure | None  # of the peak bandwidth
    kind: str  # "modelled" or "measured"
    is_most: bool  # the intensity is an upper bound: the blocks' own operations could not be separated


@dataclass(frozen=True)
class Roof:
    """A device."""

    device: str
    peak_gb_per_s: Figure
    gflops: Figure | None  # additions; None if the clock is not known

    @property
    def ridge(self) -> float | None:
        """The intensity where the two roofs meet."""
        return self.gflops.value / self.peak_gb_per_s.value if self.gflops else None


def draw(roof: Roof, points: list[Point]) -> Markup:
    """The chart, both scales logarithmic."""
    said = [
        f"{point.chapter} {point.task}: {point.intensity.value:.3g} operations per byte, "
        f"{point.gflops.value:,.4g} billion per second"
        for point in points
    ]
    ridge = (
        f"; above {roof.ridge:.3g} operations per byte arithmetic is the limit, below it memory"
        if roof.ridge
        else ""
    )
    drawing = Drawing(
        f"The roofline of an {roof.device}, with {len(points)} kernels on it",
        f"Memory delivers {roof.peak_gb_per_s.value:,.0f} GB/s{ridge}. {'; '.join(said)}.",
        "roofline",
    )
    xs = [point.intensity.value for point in points] + ([roof.ridge] if roof.ridge else [])
    x_scale = _Scale(min(xs, default=0.1) / 2, max(xs, default=10) * 4, _LEFT, _RIGHT)
    highest = roof.gflops.value if roof.gflops else roof.peak_gb_per_s.value * x_scale.most
    lowest = min([point.gflops.value for point in points] or [highest / 1e4])
    y_scale = _Scale(lowest / 2, highest * 2, _BOTTOM, _TOP)
    _axes(drawing, x_scale, y_scale)
    _draw_roof(drawing, roof, x_scale, y_scale)
    places = [(x_scale.at(point.intensity.value), y_scale.at(point.gflops.value)) for point in points]
    for point, (x, y) in zip(points, places, strict=True):
        hint = f"{point.chapter} {point.task}: {point.gb_per_s.value:,.4g} GB/s {point.kind}"
        drawing.raw(f'<a href="#{point.chapter}" tabindex="-1">')
        drawing.rect("lane point" + (" dash" if point.is_most else ""), x - 4.5, y - 4.5, 9, 9, hint=hint)
        drawing.raw("</a>")
    for x, y, names in _labels(points, places):
        drawing.words(x, y, names, "small strong")
    return drawing.svg()


def draw_times(task: str, rows: list[tuple[str, str, Figure]]) -> Markup:
    """The time of a kernel beside others; `rows` are (words, look, seconds)."""
    most = max(seconds.value for _, _, seconds in rows)
    said = "; ".join(f"{words}: {time_words(seconds)}" for words, _, seconds in rows)
    drawing = Drawing(f"Time of {task}", said + ".", "times")
    for i, (words, look, seconds) in enumerate(rows):
        y = 6 + i * _BAR_ROW
        wide = max(1.5, (WIDTH - _BARS_LEFT - MARGIN - 90) * seconds.value / most)
        drawing.words(MARGIN, y + 15, words, "strong" if i == 0 else "")
        drawing.rect(look, _BARS_LEFT, y, wide, 20)
        drawing.number(_BARS_LEFT + wide + 8, y + 15, "", seconds, "time")
    return drawing.svg()


def _labels(points: list[Point], places: list[tuple[float, float]]) -> list[tuple[float, float, str]]:
    """The chapters of each cluster of points."""
    heaps: list[list[int]] = []
    for i in sorted(range(len(points)), key=lambda i: places[i]):
        near = [
            heap
            for heap in heaps
            if any(
                abs(places[i][0] - places[j][0]) < 13 and abs(places[i][1] - places[j][1]) < 11 for j in heap
            )
        ]
        merged = [i, *(j for heap in near for j in heap)]
        heaps = [heap for heap in heaps if heap not in near] + [merged]
    labels: list[tuple[float, float, str]] = []
    for heap in heaps:
        words = _short(sorted({int(points[i].chapter.removeprefix("ch")) for i in heap}))
        x, y = max(places[i][0] for i in heap) + 8, max(places[i][1] for i in heap) + 11
        while any(
            abs(y - b) < 12 and x < a + 7 * len(said) + 6 and a < x + 7 * len(words) + 6
            for a, b, said in labels
        ):
            y += 12
        labels.append((x, y, words))
    return labels


def _short(numbers: list[int]) -> str:
    """Chapters in few words, with ranges for consecutive ones."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{part[0]:02}" if len(part) == 1 else f"{part[0]:02}–{part[-1]:02}" for part in parts)


class _Scale:
    """A logarithmic scale between two places of the picture."""

    def __init__(self, least: float, most: float, start: float, end: float) -> None:
        self.least, self.most = least, most
        self._start, self._per = start, (end - start) / math.log(most / least)

    def at(self, value: float) -> float:
        return self._start + self._per * math.log(value / self.least)

    def powers(self) -> list[float]:
        """The powers of ten in it."""
        first, last = math.ceil(math.log10(self.least)), math.floor(math.log10(self.most))
        return [10.0**power for power in range(first, last + 1)]


def _axes(drawing: Drawing, x_scale: _Scale, y_scale: _Scale) -> None:
    for value in x_scale.powers():
        x = x_scale.at(value)
        drawing.lines("grid", [(x, _TOP, x, _BOTTOM)])
        drawing.words(x, _BOTTOM + 15, f"{value:g}", "small faint", "middle")
    for value in y_scale.powers():
        y = y_scale.at(value)
        drawing.lines("grid", [(_LEFT, y, _RIGHT, y)])
        drawing.words(_LEFT - 6, y + 4, f"{value:,.0f}" if value >= 1 else f"{value:g}", "small faint", "end")
    drawing.words(
        _RIGHT, _BOTTOM + 30, "floating-point operations per byte that must move", "small faint", "end"
    )
    drawing.words(MARGIN, 12, "billion operations a second", "small faint")


def _draw_roof(drawing: Drawing, roof: Roof, x_scale: _Scale, y_scale: _Scale) -> None:
    peak = roof.peak_gb_per_s.value
    corner = roof.ridge or x_scale.most
    start = max(x_scale.least, y_scale.least / peak)
    drawing.lines(
        "roof", [(x_scale.at(start), y_scale.at(start * peak), x_scale.at(corner), y_scale.at(corner * peak))]
    )
    if roof.gflops:
        y = y_scale.at(roof.gflops.value)
        drawing.lines("roof", [(x_scale.at(corner), y, _RIGHT, y)])
        drawing.number(_RIGHT, y - 6, "", roof.gflops, " billion additions/s", "small", "end")
    middle = math.sqrt(start * corner)
    drawing.number(
        x_scale.at(middle) - 8, y_scale.at(middle * peak) - 4, "", roof.peak_gb_per_s, " GB/s", "small", "end"
    )
