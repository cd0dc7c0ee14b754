"""The learner's progress: each chapter's last verdict and best bandwidth, and which chapter comes next."""

import json
from dataclasses import dataclass

from ..core.fingerprint import sha256_of
from ..core.history import Event, History, Run
from ..core.workbook import Chapter, Workbook

PASSED, OPEN, EDITED, NEW, SKIPPED = "passed", "open", "edited", "new", "skipped"


@dataclass(frozen=True)
class Standing:
    """One chapter as last judged."""

    chapter: Chapter
    last: Run | None
    best: Run | None  # the fastest right run on the device that it was last timed on
    has_passed: bool  # ever
    is_edited: bool  # kernel.cu has changed since the last run
    is_skipped: bool

    @property
    def is_done(self) -> bool:
        """Passed, and the file has not changed since."""
        return self.last is not None and self.last.verdict == "PASS" and not self.is_edited

    @property
    def state(self) -> str:
        """One word; a chapter that passed counts as passed even if it was skipped earlier."""
        if self.is_done:
            return PASSED
        if self.is_skipped:
            return SKIPPED
        if self.last is None:
            return NEW
        return EDITED if self.is_edited else OPEN

    @property
    def is_waiting(self) -> bool:
        """Whether there is still work to do."""
        return self.state not in (PASSED, SKIPPED)


def standings(workbook: Workbook) -> list[Standing]:
    """Every chapter's standing, from the history."""
    runs: dict[str, list[Run]] = {}
    for run in History(workbook.history).runs():
        runs.setdefault(run.chapter, []).append(run)
    skipped = _skipped(History(workbook.history).events())
    made = []
    for chapter in workbook.select([]):
        mine = runs.get(chapter.name, [])
        last = mine[-1] if mine else None
        made.append(
            Standing(
                chapter,
                last,
                best_of(mine),
                any(run.verdict == "PASS" for run in mine),
                last is not None and last.kernel_sha256 != sha256_of(workbook.root / chapter.kernel),
                chapter.name in skipped,
            )
        )
    return made


def following(made: list[Standing], at: str | None) -> Standing | None:
    """The chapter to work on: `at`, chosen last, or else the next unfinished one, wrapping to the first."""
    place = next((i for i, standing in enumerate(made) if standing.chapter.name == at), 0)
    return next((standing for standing in made[place:] + made[:place] if standing.is_waiting), None)


def place_of(workbook: Workbook) -> str | None:
    """The name of the chapter that the learner chose last; None if none was ever chosen."""
    chosen = [event for event in History(workbook.history).events() if event.what in ("at", "resumed")]
    return chosen[-1].chapter if chosen else None


def best_of(runs: list[Run]) -> Run | None:
    """The fastest correct run, of the last device and kind only, because others cannot be compared."""
    timed = [run for run in runs if run.gb_per_s is not None and run.verdict in ("PASS", "SLOW")]
    if not timed:
        return None
    comparable = [run for run in timed if timed_on(run) == timed_on(timed[-1])]
    return max(comparable, key=lambda run: run.gb_per_s or 0)


def timed_on(run: Run) -> tuple[str | None, str]:
    """The kind of a run's bandwidth (measured or modelled), and its GPU."""
    return run.bandwidth, str((run.timing or run.device).get("device") or run.device.get("name") or "")


def is_built_and_unjudged(workbook: Workbook, standing: Standing) -> bool:
    """Whether ./chNN has compiled the current kernel.cu and no result is recorded."""
    chapter = standing.chapter
    if standing.last is not None and not standing.is_edited:
        return False
    try:
        built = json.loads((workbook.build / chapter.name / "build.json").read_text("utf-8"))
        source = built["source_sha256"]
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return bool(source == sha256_of(workbook.root / chapter.kernel)) and (
        (workbook.root / workbook.program(chapter)).is_file()
    )


def _skipped(events: list[Event]) -> set[str]:
    """The chapters that were skipped and not resumed."""
    found: set[str] = set()
    for event in events:
        if event.what == "skipped":
            found.add(event.chapter)
        elif event.what == "resumed":
            found.discard(event.chapter)
    return found
