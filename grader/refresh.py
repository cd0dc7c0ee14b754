"""Judging what the learner has built and run by hand, so that `make` and the hints speak of the file as it is.

`make ch04 && ./ch04` leaves no record. Where kernel.cu has been compiled since the last one, the emulator judges
it again here, which takes a fraction of a second. Times on a GPU take longer and are left to `make grade`.
"""

from .grading import Options, judge, measures
from .page import progress_of
from .standing import is_built_and_unjudged, standings
from .workbook import Chapter, Workbook

_LIMIT = 30.0  # seconds for one chapter


def judge_what_was_built(workbook: Workbook, chapters: list[Chapter], *, quiet: bool) -> None:
    """Judges and records those of `chapters` of which ./chNN has an image newer than every record."""
    options = Options(time_limit=_LIMIT)
    if measures(options.device):
        return
    wanted = [
        standing.chapter
        for standing in standings(workbook)
        if standing.chapter in chapters and is_built_and_unjudged(workbook, standing)
    ]
    if wanted:
        with progress_of(len(wanted), quiet=quiet) as hear:
            judge(workbook, wanted, options, hear)
