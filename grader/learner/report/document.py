"""The report as JSON: everything on the page, every number with its source."""

from typing import Any

from .chapter import View
from .exchange import Level
from .figures import Figure, plain
from .lines import Line
from .pictures.roofline import Point, Roof

SCHEMA = "warpbook/report/1"


def document(
    time: str,
    summary: dict[str, Any],
    ladder: dict[str, Any],
    roof: Roof | None,
    points: list[Point],
    views: list[View],
) -> dict[str, Any]:
    """The whole."""
    return {
        "schema": SCHEMA,
        "time": time,
        "summary": summary,
        "ladder": ladder,
        "roofline": roof
        and plain({
            "device": roof.device,
            "peak_gb_per_s": roof.peak_gb_per_s,
            "additions_gflops": roof.gflops,
            "points": [
                {"chapter": point.chapter, "task": point.task, "intensity": point.intensity, "gflops": point.gflops,
                 "gb_per_s": point.gb_per_s, "share": point.share, "kind": point.kind}
                for point in points
            ],
        }),
        "chapters": [plain(_chapter(view)) for view in views],
    }  # fmt: skip


def _chapter(view: View) -> dict[str, Any]:
    return {
        "chapter": view.name,
        "title": view.title,
        "state": view.known.standing.state,
        "verdict": view.known.verdict,
        "points": {"earned": view.earned, "possible": view.possible},
        "remark": view.known.remark,
        "diagnosis": view.diagnosis and {"title": view.diagnosis[0], "why": view.diagnosis[1]},
        "findings": [
            {"kind": one.kind, "verdict": one.verdict, "message": one.message, "line": one.line, "times": one.times}
            for one in view.findings
        ],
        "findings_left_out": view.findings_left_out,
        "goals": [
            {"task": goal.task, "words": goal.words, "bound": goal.bound, "limit": goal.limit, "value": goal.value,
             "state": goal.state, "earned": goal.earned, "points": goal.points}
            for goal in view.goals
        ],
        "races": [
            {"message": race.message, "lines": [race.first.line, race.second.line],
             "threads": [race.first.thread, race.second.thread]}
            for race in view.races
        ],
        "lines": [_line(line) for line in view.lines if line.opens],
        "trees": [
            {"kernel": tree.exchange.launch.title, "block": tree.exchange.block,
             "levels": [_level(level, active) for level, active in tree.rows], "left_out": tree.exchange.left_out}
            for tree in view.trees
        ],
        "occupancy": [
            {"kernel": one.kernel, "blocks": one.blocks, "warps": one.warps, "limiter": one.limiter,
             "limits": {limit.name: limit.blocks for limit in one.limits}}
            for one in view.occupancy
        ],
        "times": [
            {"task": one.task, "kind": one.kind, "device": one.device, "n": one.n, "gb_per_s": one.gb_per_s,
             "ratio": one.ratio, "limiter": one.limiter}
            for one in view.timed
        ],
    }  # fmt: skip


def _line(line: Line) -> dict[str, Any]:
    return {
        "line": line.number,
        "ptx": [{"text": one.text, "meaning": one.meaning} for one in line.code.ptx],
        "sass": [
            {"offset": one.place, "text": one.text, "meaning": one.meaning} for one in line.code.sass
        ],
        "kernels": [
            {"task": one.task, "kernel": one.kernel, "counts": dict(one.counts)} for one in line.kernels
        ],
        "accesses": [
            {"kernel": one.launch.title, "does": one.does, "space": one.space, "patterns": len(one.patterns),
             "steps": [step.event for step in one.steps], "left_out": one.left_out}
            for one in line.accesses
        ],
    }  # fmt: skip


def _level(level: Level, active: Figure) -> dict[str, Any]:
    return {
        "kind": level.kind,
        "line": level.line,
        "threads": active,
        "links": sorted(level.links),
        "blocks": sorted(level.blocks),
    }
