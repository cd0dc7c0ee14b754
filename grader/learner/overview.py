"""The page of `make`: one line for each chapter, the progress, the next step and the command to type."""

from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ..core.command_words import spoken
from ..core.history import Run
from ..core.page import Bar, Entry, WideOrStacked, points_text, verdict_text
from ..core.result import cause
from ..core.speed import GB_PER_S, unit_of
from .standing import EDITED, NEW, OPEN, PASSED, SKIPPED, Standing

_TITLE = 30  # columns: all that is left of 80
_LEAST = 60  # columns that the table needs
_STYLES = {PASSED: "bold green", OPEN: "", EDITED: "yellow", NEW: "dim", SKIPPED: "dim"}


def overview(made: list[Standing], next_one: Standing | None) -> RenderableType:
    """The complete page, at most 80 columns wide."""
    return Group(chapters_table(made, next_one), "", progress(made), "", Group(*what_next(made, next_one)))


def chapters_table(made: list[Standing], marked: Standing | None, mark: str = ">") -> RenderableType:
    """One line for each chapter, with a mark before `marked`; two lines if the terminal is narrow."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("", width=len(mark), no_wrap=True)
    table.add_column("chapter", max_width=_TITLE)
    for heading, side in (
        ("state", "left"),
        ("points", "right"),
        ("best GB/s", "right"),
        ("last verdict", "left"),
    ):
        table.add_column(heading, justify="right" if side == "right" else "left", no_wrap=True)
    entries = []
    for standing in made:
        last = standing.last
        name = Text(f"{standing.chapter.name} {standing.chapter.title}")
        sign = Text(mark if standing is marked else "", style="bold")
        state = Text(standing.state, style=_STYLES[standing.state])
        points = points_text(last.earned, last.possible) if last else ""
        verdict = verdict_text(last.verdict) if last else ""
        best = best_text(standing.best)
        table.add_row(sign, name, state, points, best.replace("/s ", "/s\n"), verdict)
        cells: list[tuple[str, Text | str]] = [("", state), ("", points), ("best GB/s", best), ("", verdict)]
        title = Text.assemble((mark if standing is marked else " " * len(mark), "bold"), " ", name)
        entries.append(Entry(title, cells))
    return WideOrStacked(table, entries, _LEAST)


def best_text(best: Run | None) -> str:
    """A speed with its kind, and with its unit if that is not GB/s: "1,412 modelled", "28.9 TFLOP/s modelled"."""
    if best is None or best.gb_per_s is None:
        return ""
    unit = unit_of(best.timing)
    speed = (unit.figure if unit.name == GB_PER_S else unit.text)(best.gb_per_s)
    return f"{speed} {best.bandwidth or ''}".strip()


def progress(made: list[Standing]) -> RenderableType:
    """A bar and its figures in words."""
    table = Table.grid(padding=(0, 1))
    words = progress_words(made)
    table.add_row(Bar(_count(made, PASSED), len(made), 24), words)
    return WideOrStacked(table, [Entry(words, [])], _LEAST)


def progress_words(made: list[Standing]) -> str:
    """The progress: "3 of 14 passed, 1 skipped, 34 points"."""
    points = sum(standing.last.earned for standing in made if standing.last)
    skipped = f", {count} skipped" if (count := _count(made, SKIPPED)) else ""
    return f"{_count(made, PASSED)} of {len(made)} passed{skipped}, {points:g} points"


def last_words(standing: Standing) -> str:
    """The outcome of the last run in a sentence; "" if there was no run or no problem."""
    last = standing.last
    if last is None or last.verdict == "PASS":
        return "edited since it passed" if standing.state == EDITED else ""
    title = cause(last.diagnosis or {})
    words = f"{last.verdict}, {title}" if title else last.verdict
    return f"{words}; edited since" if standing.is_edited else words


def what_next(made: list[Standing], next_one: Standing | None) -> list[Text]:
    """The chapter to work on and what to type, or that there is none."""
    if next_one is None:
        skipped = [standing.chapter.name for standing in made if standing.state == SKIPPED]
        if skipped:
            return [
                Text("All chapters have passed except those you skipped. Return to one:"),
                Text(spoken(f"  make resume-{skipped[0]}")),
            ]
        return [Text(spoken(f"All {len(made)} chapters have passed. See how fast they are: make ladder"))]
    chapter = next_one.chapter
    said = last_words(next_one)
    lines = [
        f"Next: {chapter.name}, {chapter.title}." + (f" So far: {said}." if said else ""),
        f"  read   {chapter.folder}/README.md",
        f"  edit   {chapter.kernel}",
        f"  try    make {chapter.name} && ./{chapter.name}    or at every save: make watch",
        f"  stuck  make hint-{chapter.name}    or another chapter first: make skip-{chapter.name}",
        "  keep   make grade    runs and records everything; make help lists the rest",
    ]
    return [Text(spoken(line)) for line in lines]


def document(made: list[Standing], next_one: Standing | None) -> dict[str, Any]:
    """The page as JSON."""
    return {
        "schema": "warpbook/status/1",
        "next": next_one and next_one.chapter.name,
        "passed": _count(made, PASSED),
        "skipped": _count(made, SKIPPED),
        "points": sum(standing.last.earned for standing in made if standing.last),
        "chapters": [_standing_document(standing) for standing in made],
    }


def _standing_document(standing: Standing) -> dict[str, Any]:
    last, best = standing.last, standing.best
    return {
        "chapter": standing.chapter.name,
        "title": standing.chapter.title,
        "folder": str(standing.chapter.folder),
        "state": standing.state,
        "verdict": last and last.verdict,
        "diagnosis": last and last.diagnosis and last.diagnosis.get("mistake"),
        "points": last and {"earned": last.earned, "possible": last.possible},
        "time": last and last.time,
        "best": best
        and {"gb_per_s": best.gb_per_s, "kind": best.bandwidth, "ratio": best.ratio, "time": best.time},
        "passed_before": standing.has_passed,
        "edited_since": standing.is_edited,
        "skipped": standing.is_skipped,
    }


def _count(made: list[Standing], state: str) -> int:
    return sum(standing.state == state for standing in made)
