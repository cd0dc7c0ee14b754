"""The plots of a `make bench` record, as SVG in the colours of docs/pictures, light and dark."""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from . import claims
from .timing import STATES

# (light, dark) of every colour that is drawn with; the file carries both, and the viewer chooses.
COLOURS = {
    "paper": ("#ffffff", "#171b23"),
    "ink": ("#1d2330", "#e8ebf2"),
    "faint": ("#5a6375", "#a4aec0"),
    "line": ("#b4bccb", "#4d576a"),
    "blue": ("#3567c7", "#7fa8f5"),
    "amber": ("#a86d12", "#e0a94a"),
    "green": ("#277a43", "#6cc98a"),
    "red": ("#b93434", "#f08a8a"),
    "purple": ("#7a4bb5", "#c3a0f0"),
    "teal": ("#0f7f86", "#5ccad0"),
}
_SERIES = ("blue", "amber", "green", "red", "purple", "teal")
_MARKERS = ("o", "s", "^", "D", "v", "P")
# FP32 operations a clock of one SM, by compute capability (CUDA C++ Programming Guide, "Arithmetic
# Instructions": results per clock cycle per multiprocessor; an addition is one).
_ADDS_PER_CLOCK = {"70": 64, "75": 64, "80": 64, "86": 128, "89": 128, "90": 128, "100": 128, "120": 128}


def _light(name: str) -> str:
    return COLOURS[name][0]


def digest(record: dict[str, Any]) -> str:
    """Of what the plots show and how: a plot that carries another one is out of step."""
    shown = json.dumps([record["cases"], record["device"]], sort_keys=True)
    return hashlib.sha256(shown.encode() + Path(__file__).read_bytes()).hexdigest()[:16]


def render(record: dict[str, Any]) -> dict[str, str]:
    """File names and SVG texts."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update(
        {
            "svg.fonttype": "none",  # text stays text
            "svg.hashsalt": "warpbook",  # the same record gives the same file
            "font.family": "sans-serif",
            "font.size": 10,
            "axes.edgecolor": _light("line"),
            "axes.facecolor": _light("paper"),
            "figure.facecolor": _light("paper"),
            "axes.labelcolor": _light("ink"),
            "axes.spines.right": False,
            "axes.spines.top": False,
            "xtick.color": _light("faint"),
            "ytick.color": _light("faint"),
            "text.color": _light("ink"),
            "legend.frameon": False,
        }
    )
    drawn: dict[str, Callable[[dict[str, Any], Any], str]] = {
        "sum-bandwidth.svg": _sum_bandwidth,
        "sum-ratio.svg": _sum_ratio,
        "roofline.svg": _roofline,
    }
    return {name: _svg(record, draw) for name, draw in drawn.items()}


def _svg(record: dict[str, Any], draw: Callable[[dict[str, Any], Any], str]) -> str:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    axes = figure.add_subplot()
    description = draw(record, axes)
    file = io.StringIO()
    title = axes.get_title()
    figure.savefig(
        file, format="svg", metadata={"Date": None, "Creator": None, "Title": title, "Source": digest(record)}
    )
    return themed(file.getvalue(), title, description)


def themed(svg: str, title: str, description: str) -> str:
    """The picture with variables for its colours, a title and a description for who cannot see it."""

    def variables(column: int) -> str:
        return "".join(f"--{name}:{pair[column]};" for name, pair in COLOURS.items())

    for name, (light, _) in COLOURS.items():
        svg = re.sub(rf"(?<=: ){light}", f"var(--{name})", svg)
    style = (
        f"<style>svg{{{variables(0)}}}"
        f"@media (prefers-color-scheme:dark){{svg{{{variables(1)}}}}}"
        'text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif!important}</style>'
    )
    words = f'<title id="t">{_escaped(title)}</title>\n<desc id="d">{_escaped(description)}</desc>\n{style}\n'
    svg = svg.replace("<svg ", '<svg role="img" aria-labelledby="t d" ', 1)
    return (
        "\n".join(
            line.rstrip() for line in re.sub(r"(<svg [^>]*>\n)", rf"\1{words}", svg, count=1).splitlines()
        )
        + "\n"
    )


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _sizes_axis(axes: Any, sizes: Sequence[int]) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xticks([n for n in sizes if n.bit_length() % 4 == 3], minor=False)
    axes.xaxis.set_minor_locator(_no_ticks())
    axes.xaxis.set_major_formatter(
        lambda value, _: f"2^{round(value).bit_length() - 1}" if value >= 1 else ""
    )
    axes.set_xlabel("floats")
    axes.grid(visible=True, axis="y", color=_light("line"), linewidth=0.5)


def _no_ticks() -> Any:
    from matplotlib.ticker import NullLocator

    return NullLocator()


def _legend(axes: Any, **where: Any) -> None:
    if axes.get_legend_handles_labels()[0]:
        axes.legend(**where)


def _sum_bandwidth(record: dict[str, Any], axes: Any) -> str:
    cases = claims.cases_of(record, "sum")
    axes.set_title(f"Sum of n floats on an {record['device']['name']}, cold L2")
    shown = (claims.CAPSTONE, *claims.SUM_PEERS, "thrust::reduce")
    for i, name in enumerate(shown):
        points = [(case["n"], mine["gb_per_s"]) for case in cases if (mine := claims.result_of(case, name))]
        if points:
            axes.plot(
                *zip(*points, strict=True),
                label=name,
                color=_light(_SERIES[i]),
                marker=_MARKERS[i],
                markersize=4,
                linewidth=2.2 if i == 0 else 1.3,
            )
    peak = record["device"]["peak_gb_per_s"]
    axes.axhline(peak, color=_light("faint"), linewidth=1, linestyle="--")
    axes.annotate(
        f"memory's peak, {peak:,.0f} GB/s",
        (0.01, peak),
        xycoords=("axes fraction", "data"),
        xytext=(0, 3),
        textcoords="offset points",
        color=_light("faint"),
        fontsize=9,
    )
    if cases:
        _sizes_axis(axes, [case["n"] for case in cases])
    axes.set_ylabel("GB/s")
    axes.set_ylim(0, 1.1 * peak)
    _legend(axes, loc="upper left", bbox_to_anchor=(0, 0.92))
    return "Bandwidth of the capstone and its peers against the number of floats."


def _sum_ratio(record: dict[str, Any], axes: Any) -> str:
    axes.set_title(f"The capstone over the fastest of its peers, {record['device']['name']}")
    sizes: set[int] = set()
    for i, l2 in enumerate(STATES):
        found = [
            (case["n"], best)
            for case in claims.cases_of(record, "sum", l2)
            if (best := claims.against_best(case, claims.CAPSTONE))
        ]
        sizes.update(n for n, _ in found)
        if found:
            ratios = [best.ratio for _, best in found]
            axes.errorbar(
                [n for n, _ in found],
                ratios,
                yerr=[
                    [max(0.0, best.ratio - best.low) for _, best in found],
                    [max(0.0, best.high - best.ratio) for _, best in found],
                ],
                label=f"{l2} L2",
                color=_light(_SERIES[i]),
                marker=_MARKERS[i],
                markersize=4,
                linewidth=1.6,
                capsize=2,
            )
    axes.axhline(1, color=_light("faint"), linewidth=1, linestyle="--")
    if sizes:
        _sizes_axis(axes, sorted(sizes))
    axes.set_ylabel("peer's time over the capstone's")
    axes.set_ylim(bottom=min(0.9, axes.get_ylim()[0]))
    _legend(axes, loc="upper right")
    return "Ratio of medians at every size, with its 95 % interval; above 1 the capstone is faster."


def _roofline(record: dict[str, Any], axes: Any) -> str:
    """Operations a second against operations a byte, at the largest size of each work, with a cold L2."""
    device = record["device"]
    axes.set_title(f"Under the roof of an {device['name']}")
    peak = device["peak_gb_per_s"]
    rate = _ADDS_PER_CLOCK.get(device["architecture"].removeprefix("sm_"), 64)
    adds = rate * device["sm_count"] * device["clock_khz"] / 1e6  # billions a second
    intensities = [1 / 64, adds / peak, 64]
    axes.plot(
        intensities, [min(adds, peak * x) for x in intensities], color=_light("ink"), linewidth=1.5, zorder=1
    )
    points = (
        ("sum", claims.CAPSTONE, "sum", 1),
        ("rows", claims.ROWS, "rows", 1),
        ("add", claims.ADD, "vector add, float", 1),
        ("add_bf16", claims.ADD_BF16, "vector add, bfloat16", 1),
    )
    for i, (work, name, words, operations) in enumerate(points):
        cases = claims.cases_of(record, work)
        mine = claims.result_of(cases[-1], name) if cases else None
        if mine is None:
            continue
        intensity = operations * cases[-1]["n"] / cases[-1]["bytes"]
        share = mine["gb_per_s"] / peak
        axes.plot(
            intensity,
            intensity * mine["gb_per_s"],
            marker=_MARKERS[i],
            markersize=8,
            linestyle="none",
            color=_light(_SERIES[i]),
            label=f"{words}: {100 * share:.0f} % of the roof",
        )
    axes.annotate(
        f"{peak:,.0f} GB/s",
        (1 / 40, peak / 40),
        xytext=(-6, 6),
        textcoords="offset points",
        ha="right",
        color=_light("faint"),
        fontsize=9,
    )
    axes.annotate(
        f"{adds / 1e3:,.1f} T additions/s",
        (64, adds),
        xytext=(0, 4),
        textcoords="offset points",
        ha="right",
        color=_light("faint"),
        fontsize=9,
    )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_ylim(peak / 200, 3 * adds)
    axes.xaxis.set_major_formatter(lambda value, _: f"1/{round(1 / value)}" if value < 1 else f"{value:.0f}")
    axes.set_xlabel("additions a byte")
    axes.set_ylabel("billion additions a second")
    _legend(axes, loc="lower right")
    return (
        "Additions a second against additions a byte; every point lies close under the slope of the memory."
    )
