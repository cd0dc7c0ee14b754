"""The command `leaderboard`."""

from ...core.command_words import spoken
from ...core.errors import PASSED, MachineError, UsageError
from ...core.options import Chapters, Device, Fresh, Gpu, Json, check_device, check_profile
from ...core.page import console, print_json
from ...core.workbook import Chapter, Workbook, find_workbook
from ..ladder.peers import bench_record, recorded_devices
from ..refresh import bring_up_to_date
from ..standing import Standing, standings
from . import RIGHT, Setting, board_of, devices, document, setting_of, sizes_of
from .board import board_page
from .measurement import is_timed, time_kernel

DEFAULT_DEVICE = "NVIDIA H200"  # the default device of the model


def leaderboard(
    chapters: Chapters = None,
    device: Device = "auto",
    gpu: Gpu = None,
    fresh: Fresh = False,
    as_json: Json = False,
) -> int:
    """Show your capstone beside CUB, torch, the reference and the roofline, size by size."""
    check_device(device)
    workbook = find_workbook()
    chapter, setting = _capstone(workbook, chapters or [])
    bring_up_to_date(workbook, [chapter], quiet=as_json)
    (standing,) = [one for one in standings(workbook) if one.chapter == chapter]
    shown = _device(workbook, chapter, gpu)
    sizes = sizes_of(bench_record(workbook.tree, shown), setting)
    if _is_right(standing) and (fresh or not is_timed(workbook, chapter, sizes, device, gpu)):
        time_kernel(workbook, chapter, sizes, device, gpu)
    board = board_of(workbook, chapter, setting, _device(workbook, chapter, gpu))
    if not _is_right(standing):
        board.remarks.append(_not_timed(standing))
    if as_json:
        print_json(document(board))
    else:
        console().print(board_page(board))
    return PASSED


def _capstone(workbook: Workbook, names: list[str]) -> tuple[Chapter, Setting]:
    chosen = workbook.select(names)
    found = [(chapter, setting) for chapter in chosen if (setting := setting_of(workbook, chapter))]
    if found:
        return found[-1]
    if names:
        raise UsageError(f"{chosen[0].name} has no leaderboard; make leaderboard shows the existing one")
    raise MachineError("no chapter here has a leaderboard.toml")


def _device(workbook: Workbook, chapter: Chapter, gpu: str | None) -> str:
    """The device to show: the one whose name contains `gpu`, or else the one timed last."""
    known = [*devices(workbook, chapter), DEFAULT_DEVICE, *recorded_devices(workbook.tree)]
    wanted = [name for name in known if gpu is None or gpu.lower() in name.lower()]
    if not wanted:
        check_profile(workbook, gpu)
    return wanted[0] if wanted else str(gpu)


def _is_right(standing: Standing) -> bool:
    return standing.last is not None and standing.last.verdict in RIGHT and not standing.is_edited


def _not_timed(standing: Standing) -> str:
    """Why the current kernel.cu is not timed."""
    name = standing.chapter.name
    if standing.last is None or standing.is_edited:
        return spoken(f"the current {standing.chapter.kernel} was not judged: make {name} && ./{name}")
    return (
        f"the current {standing.chapter.kernel} is {standing.last.verdict}, and wrong kernels are not timed."
    )
