"""The commands behind the Makefile's targets."""

import sys

import typer

from . import doctor as doctor_module
from . import handin, learner
from .autograder.command import autograde, autolab, gradescope
from .bench_emulator import bench_emulator_command
from .classroom.command import class_command
from .classroom.exports.command import exports
from .completion import completion
from .errors import MACHINE, NOT_PASSED, PASSED
from .experiments import try_command
from .grading import Grade, Options, grade
from .handout.command import handout
from .killrate import kill_rate_command
from .leaderboard.command import leaderboard
from .options import Chapters, Device, Fresh, Gpu, Jobs, Json, Limit, check_device
from .page import print_json, progress_of, show_grade
from .predict import predict_command
from .stored import KERNEL, SOLUTION
from .time_grade import time_grade_command
from .workbook import find_workbook

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, help=__doc__)
for command in (
    learner.status,
    learner.hint,
    learner.show,
    learner.skip,
    learner.resume,
    learner.reset,
    learner.watch,
    learner.ladder,
    learner.report,
    leaderboard,
    handin.submission,
    handout,
    exports,
    gradescope,
    autolab,
    autograde,
    completion,
):
    app.command()(command)
app.command("class")(class_command)
app.command("predict")(predict_command)
app.command("try")(try_command)
app.command("time-grade")(time_grade_command)
app.command("kill-rate")(kill_rate_command)
app.command("bench-emulator")(bench_emulator_command)


@app.command("grade")
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
    return _grade(chapters, Options(KERNEL, device, gpu, jobs, time_limit, fresh), as_json)


@app.command("solutions")
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
    return _grade(chapters, Options(SOLUTION, device, gpu, jobs, time_limit, fresh), as_json)


def _grade(names: list[str] | None, options: Options, as_json: bool) -> int:
    check_device(options.device)
    workbook = find_workbook()
    chosen = workbook.select(names or [])
    with progress_of(len(chosen), quiet=as_json) as hear:
        graded = grade(workbook, chosen, options, hear)
    if as_json:
        print_json(graded.document())
    else:
        show_grade(graded)
    for trouble in graded.troubles:
        print(f"warpbook: {trouble}", file=sys.stderr)
    return _status_of(graded)


def _status_of(graded: Grade) -> int:
    if graded.troubles or any(outcome.result.verdict == "INFRA" for outcome in graded.outcomes):
        return MACHINE
    return PASSED if all(outcome.result.passed for outcome in graded.outcomes) else NOT_PASSED


@app.command("doctor")
def doctor_command(as_json: Json = False) -> int:
    """What is there, what is missing, and the one command that mends it."""
    return doctor_module.main(["--json"] if as_json else [])
