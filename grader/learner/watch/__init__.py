"""`make watch`: judges a chapter as soon as its kernel.cu is saved.

guard.py has the process around the screen that leaves the terminal as it found it, files.py tells what was saved,
jobs.py does one piece of work at a time beside the screen, work.py says what they are, pages.py makes text of
a width out of what came of them, and screen.py shows it and listens to the keys.
"""

from ...core.errors import MachineError
from ...core.make import build_programs
from ...core.options import check_profile
from ...core.workbook import Chapter, Workbook
from ..grade import Options, cores


def watch(workbook: Workbook, chapters: list[Chapter], options: Options, *, begin_with: Chapter) -> int:
    """Builds the programs and keeps the screen until the learner ends it; returns the exit status."""
    from . import guard

    guard.need_terminal()
    try:
        from . import screen
    except ImportError as error:
        raise MachineError(f"the Python package {error.name} is missing; see make doctor") from None
    unbuilt = build_programs(workbook, chapters, jobs=cores())
    check_profile(workbook, options.profile)
    if begin_with.name in unbuilt:
        raise MachineError(f"./{begin_with.name} could not be built: {unbuilt[begin_with.name]}")
    return guard.run(lambda: screen.run(workbook, chapters, options, begin_with))
