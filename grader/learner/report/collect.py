"""The data of each chapter: its current file, its last result, and whether the two belong together."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.command_words import spoken
from ...core.fingerprint import sha256_of
from ...core.processes import cores
from ...core.result import BrokenResultError, parse_result
from ...core.workbook import Chapter, Workbook
from ..listing import Listing, read_listing
from ..standing import Standing, standings
from .figures import Record
from .traces import Traced, trace_all

# Verdicts without an image to trace; the result says why.
_NOT_BUILT = ("BUILD", "BUILD_TIMEOUT", "REJECT")


@dataclass(frozen=True)
class Known:
    """One chapter."""

    standing: Standing
    source: list[str]  # the lines of kernel.cu as it is now
    result: Record | None  # of this very file; its name is the chapter's
    trace: Record | None  # likewise; its name is "ch05.trace"
    listing: Listing  # its instructions, line by line
    remark: str  # what is missing, why, and what to type; "" for nothing
    keeps_names: bool  # it asks for the names of mistakes, so the page must not show them

    @property
    def chapter(self) -> Chapter:
        """Which one."""
        return self.standing.chapter

    @property
    def name(self) -> str:
        """Its name: "ch05"."""
        return self.standing.chapter.name

    @property
    def verdict(self) -> str | None:
        """Of the last run, even of an earlier file; None if there was none."""
        return self.standing.last.verdict if self.standing.last else None


def collect(workbook: Workbook) -> list[Known]:
    """All chapters in order. A chapter whose kernel has changed since its last trace is traced now."""
    made = standings(workbook)
    results = {one.chapter.name: _result(workbook, one.chapter) for one in made}
    built = [
        one.chapter
        for one in made
        if (result := results[one.chapter.name]) and result.raw("verdict") not in _NOT_BUILT
    ]
    # A whole program has a timeline in its result, and no trace.
    traced = trace_all(workbook, [chapter for chapter in built if not workbook.is_program(chapter)])
    listed = _list_all(workbook, built)
    nothing = Listing({})
    return [
        _known(
            workbook,
            one,
            results[one.chapter.name],
            traced.get(one.chapter.name),
            listed.get(one.chapter.name, nothing),
        )
        for one in made
    ]


def _list_all(workbook: Workbook, chapters: list[Chapter]) -> dict[str, Listing]:
    """The instructions of each chapter's current kernel.cu, one chapter at a time on each core."""

    def one(chapter: Chapter) -> tuple[str, Listing]:
        ptx = workbook.build / chapter.name / "kernel.ptx"
        cache = workbook.build / "listings" / f"{chapter.name}.json"
        return chapter.name, read_listing(workbook, ptx, [str(chapter.kernel)], hide="launch_", cache=cache)

    with ThreadPoolExecutor(cores()) as pool:
        return dict(pool.map(one, chapters))


def _known(
    workbook: Workbook, standing: Standing, result: Record | None, traced: Traced | None, listing: Listing
) -> Known:
    chapter = standing.chapter
    remark = ""
    if result is None:
        remark = _why_no_result(workbook, standing)
    elif traced is not None and traced.trace is None:
        remark = traced.why
    return Known(
        standing=standing,
        source=_text(workbook.root / chapter.kernel).splitlines(),
        result=result,
        trace=traced.trace if traced else None,
        listing=listing,
        remark=remark,
        keeps_names="hides_answer" in _text(workbook.root / chapter.material / "chapter.c"),
    )


def _result(workbook: Workbook, chapter: Chapter) -> Record | None:
    """The stored result of the current file, or None."""
    folder = workbook.build / "results"
    try:
        stored: dict[str, Any] = json.loads((folder / f"{chapter.name}.run.json").read_text("utf-8"))
        if stored["kernel_sha256"] != sha256_of(workbook.root / chapter.kernel):
            return None
        text = (folder / f"{chapter.name}.json").read_bytes()
        return Record(chapter.name, parse_result(text, chapter.name, 0.0).document)
    except (OSError, ValueError, KeyError, TypeError, BrokenResultError):
        return None


def _why_no_result(workbook: Workbook, standing: Standing) -> str:
    name = standing.chapter.name
    if not (workbook.root / standing.chapter.kernel).is_file():
        return spoken(f"There is no {standing.chapter.kernel}. make reset-{name} restores the skeleton.")
    if standing.last is None:
        return spoken(f"It was never judged: make {name} && ./{name}, or make grade CH={name}.")
    if standing.is_edited:
        return spoken(f"The file was edited since it was judged: make grade CH={name} judges it as it is.")
    return spoken(f"The details of the last run are gone: make grade CH={name} FRESH=1 brings them back.")


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return ""
