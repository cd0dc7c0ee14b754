"""The command `watch`."""

from ...core.errors import MachineError
from ...core.make import build_programs
from ...core.options import Begin, Device, Gpu, check_device, check_profile
from ...core.processes import cores
from ...core.workbook import Chapter, Workbook, find_workbook
from ..grade import Options
from ..standing import following, place_of, standings
from . import guard


def watch(chapter: Begin = None, device: Device = "auto", gpu: Gpu = None) -> int:
    """Judge a chapter whenever its kernel.cu is saved."""
    check_device(device)
    workbook = find_workbook()
    chapters = workbook.select([])
    named = workbook.select([chapter]) if chapter else []
    next_one = following(standings(workbook), place_of(workbook))
    begin_with = named[0] if named else next_one.chapter if next_one else chapters[0]
    options = Options(device=device, profile=gpu, wants_page=True)
    return _watch(workbook, chapters, options, begin_with=begin_with)


def _watch(workbook: Workbook, chapters: list[Chapter], options: Options, *, begin_with: Chapter) -> int:
    """Build the programs and show the screen until the learner quits; return the exit status."""
    guard.need_terminal()
    try:
        from . import screen  # which imports packages that only this command needs
    except ImportError as error:
        raise MachineError(f"the Python package {error.name} is missing; see make doctor") from None
    unbuilt = build_programs(workbook, chapters, jobs=cores())
    check_profile(workbook, options.profile)
    if begin_with.name in unbuilt:
        raise MachineError(f"./{begin_with.name} could not be built: {unbuilt[begin_with.name]}")
    return guard.run(lambda: screen.run(workbook, chapters, options, begin_with))
