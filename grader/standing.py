"""Where the learner stands: the last verdict of each chapter, and which comes next."""

import hashlib
from dataclasses import dataclass

from .history import History, Run
from .workbook import Chapter, Workbook


@dataclass(frozen=True)
class Standing:
    """One chapter as last graded."""

    chapter: Chapter
    last: Run | None
    has_passed: bool  # ever
    is_edited: bool  # kernel.cu has changed since the last run

    @property
    def is_done(self) -> bool:
        """Passed, and not changed since into something unproved."""
        return self.last is not None and self.last.verdict == "PASS" and not self.is_edited


def standings(workbook: Workbook) -> list[Standing]:
    """Every chapter's standing, from the history."""
    runs: dict[str, list[Run]] = {}
    for run in History(workbook.history).runs():
        runs.setdefault(run.chapter, []).append(run)
    made = []
    for chapter in workbook.select([]):
        mine = runs.get(chapter.name, [])
        last = mine[-1] if mine else None
        try:
            now = hashlib.sha256((workbook.root / chapter.kernel).read_bytes()).hexdigest()
        except OSError:
            now = ""
        edited = last is not None and last.kernel_sha256 != now
        made.append(Standing(chapter, last, any(run.verdict == "PASS" for run in mine), edited))
    return made
