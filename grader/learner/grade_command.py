"""The commands `grade` and `solutions`."""

import sys

from ..core.errors import MACHINE, NOT_PASSED, PASSED
from ..core.options import Chapters, Device, Fresh, Gpu, Jobs, Json, Limit, check_device
from ..core.page import print_json
from ..core.toolkit import find_compiler
from ..core.workbook import Chapter, Workbook, find_workbook
from .grade import Grade, Options, grade
from .grade_page import progress_of, show_grade
from .store import KERNEL, SOLUTION


def grade_command(
    chapters: Chapters = None,
    device: Device = "auto",
    gpu: Gpu = None,
    jobs: Jobs = 0,
    time_limit: Limit = 180.0,
    fresh: Fresh = False,
    as_json: Json = False,
) -> int:
    """Build, run and record your kernels."""
    return _grade(chapters, Options(KERNEL, device, gpu, jobs, time_limit, fresh), as_json=as_json)


def solutions_command(
    chapters: Chapters = None,
    device: Device = "auto",
    gpu: Gpu = None,
    jobs: Jobs = 0,
    time_limit: Limit = 180.0,
    fresh: Fresh = False,
    as_json: Json = False,
) -> int:
    """Build, run and record the reference solutions."""
    return _grade(chapters, Options(SOLUTION, device, gpu, jobs, time_limit, fresh), as_json=as_json)


def _grade(names: list[str] | None, options: Options, *, as_json: bool) -> int:
    check_device(options.device)
    workbook = find_workbook()
    left_out = [] if names else _need_another_compiler(workbook)
    chosen = [chapter for chapter in workbook.select(names or []) if chapter not in left_out]
    with progress_of(len(chosen), quiet=as_json) as hear:
        graded = grade(workbook, chosen, options, hear, left_out=left_out)
    if as_json:
        print_json(graded.document())
    else:
        show_grade(graded)
    for trouble in graded.troubles:
        print(f"warpbook: {trouble}", file=sys.stderr)
    return _status_of(graded)


def _need_another_compiler(workbook: Workbook) -> list[Chapter]:
    """The chapters that are whole programs, which need nvcc, where clang compiles kernels."""
    programs = [chapter for chapter in workbook.chapters if workbook.is_program(chapter)]
    compiler = find_compiler(workbook.tree) if programs else None
    return programs if compiler and compiler.name == "clang" else []


def _status_of(graded: Grade) -> int:
    if graded.troubles or any(outcome.result.verdict == "INFRA" for outcome in graded.outcomes):
        return MACHINE
    return PASSED if all(outcome.result.passed for outcome in graded.outcomes) else NOT_PASSED
