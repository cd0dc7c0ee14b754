"""Options and arguments that several commands share."""

import math
import subprocess
from typing import Annotated

import typer

from .errors import USAGE, UsageError
from .workbook import Workbook, find_workbook


def _names(incomplete: str) -> list[tuple[str, str]]:
    """The chapters whose names begin with `incomplete`, with their titles, for completion in a shell."""
    chapters = find_workbook().chapters
    return [(chapter.name, chapter.title) for chapter in chapters if chapter.name.startswith(incomplete)]


def _finite(value: float) -> float:
    """Refuse NaN, which no bound catches."""
    if math.isnan(value):
        raise typer.BadParameter("nan is not a number of seconds.")
    return value


_LONGEST = 86_400.0  # seconds: a day

Chapters = Annotated[
    list[str] | None,
    typer.Argument(help="Chapters, such as ch04; default all.", autocompletion=_names),
]
One = Annotated[str, typer.Argument(help="The chapter, such as ch04.", autocompletion=_names)]
Begin = Annotated[
    str | None, typer.Argument(help="The chapter to begin with, such as ch04.", autocompletion=_names)
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a page.")]
Force = Annotated[bool, typer.Option("--force", help="Do it without asking.")]
Device = Annotated[str, typer.Option(help="auto, emulator or gpu.")]
Gpu = Annotated[str | None, typer.Option(help="The GPU to model.")]
Jobs = Annotated[int, typer.Option(min=0, help="How many at once; 0: one for each core.")]
Limit = Annotated[
    float,
    typer.Option(min=0.1, max=_LONGEST, callback=_finite, help="Seconds for one chapter."),
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Run chapters that have not changed, too.")]


def check_profile(workbook: Workbook, profile: str | None) -> None:
    """Refuse an unknown --gpu. Only the programs know the list, so the first one that is built is asked."""
    built = (workbook.root / workbook.program(chapter) for chapter in workbook.chapters)
    program = next((path for path in built if path.exists()), None)
    if profile is None or program is None:
        return
    command = [str(program), "--gpu", profile, "--help"]
    try:
        asked = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return  # a later run reports what is wrong with the program
    if asked.returncode == USAGE:
        raise UsageError(asked.stderr.partition("\n")[0].partition(": ")[2])


def check_device(device: str) -> None:
    """Refuse an unknown --device."""
    if device not in ("auto", "emulator", "gpu"):
        raise UsageError(f"--device must be auto, emulator or gpu, not {device!r}")
