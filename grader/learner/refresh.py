"""Adds what the learner has built and run by hand to the history, so that every command shows it.

The results of `./ch04` are recorded (by_hand.py). If kernel.cu has been compiled but not run, the emulator
judges it here, in a fraction of a second. Timing on a GPU takes longer and is left to `./ch04` and `make
grade`.
"""

import sys

from ..core.processes import measures
from ..core.workbook import Chapter, Workbook
from .by_hand import take_up
from .grade import Options, judge
from .grade_page import progress_of
from .standing import is_built_and_unjudged, standings

_LIMIT = 30.0  # seconds for one chapter


def bring_up_to_date(workbook: Workbook, chapters: list[Chapter], *, quiet: bool) -> None:
    """Record runs of ./chNN by hand; judge and record kernels that were compiled but not run."""
    for trouble in take_up(workbook, chapters):
        print(f"warpbook: {trouble}", file=sys.stderr)
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
