"""What a handout knows about its references: how long each takes on the modelled device."""

from ...core.distribution import Member
from ...core.errors import MachineError
from ...core.make import need_programs
from ...core.processes import Processes, cores
from ...core.workbook import Chapter, Workbook
from ..judge.references import prepare_reference

_HEAD = (
    "# Modelled times of the reference: device, task, n, rows, columns, seconds. Written by make handout.\n"
)


def times_members(workbook: Workbook, chapters: list[Chapter]) -> list[Member]:
    """For each chapter with a bandwidth, solutions/chNN_name/reference.times, which ./chNN compares kernels with.

    The references are run now, unless that was done before. Raises MachineError if one does not pass. A whole program
    has no bandwidth, and needs nvcc, which a teacher need not have.
    """
    processes = Processes()
    timed = [chapter for chapter in chapters if not workbook.is_program(chapter)]
    need_programs(workbook, timed, jobs=cores(), processes=processes)
    members = []
    for chapter in timed:
        result = prepare_reference(workbook, chapter, "emulator", processes).result
        bandwidth = result.document.get("bandwidth")
        tasks = (bandwidth.get("tasks") or [bandwidth]) if isinstance(bandwidth, dict) else []
        lines = [_line(chapter, task) for task in tasks if task.get("kind") == "modelled"]
        if lines:
            text = _HEAD + "".join(lines)
            members.append(Member(f"{chapter.solution.as_posix()}/reference.times", text.encode()))
    return members


def _line(chapter: Chapter, task: dict[str, object]) -> str:
    """One task's time, in the form that common/driver/judge/recorded_reference.c reads."""
    device, name, seconds = task["device"], task["task"], task["seconds"]
    if not isinstance(seconds, float) or not seconds > 0:
        raise MachineError(f"the reference of {chapter.name} has no modelled time for {name}")
    size = "\t".join(str(task.get(part) or 0) for part in ("n", "rows", "columns"))
    return f"{device}\t{name}\t{size}\t{seconds!r}\n"
