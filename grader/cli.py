"""The commands behind the Makefile's targets."""

import json
import sys
from typing import Annotated, Any

import typer
from rich.markdown import Markdown
from rich.syntax import Syntax
from rich.text import Text

from . import doctor as doctor_module
from .errors import MACHINE, NOT_PASSED, PASSED, NotYetError, UsageError
from .grading import KERNEL, SOLUTION, Grade, Options, grade
from .hints import next_hint
from .history import History
from .page import console, points_text, progress_of, show_grade, table, verdict_text
from .restart import reset as reset_chapter
from .standing import Standing, standings
from .workbook import Chapter, find_workbook

app = typer.Typer(add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False, help=__doc__)

Chapters = Annotated[list[str] | None, typer.Argument(help="Chapters, as ch04; all when none is named.")]
One = Annotated[str, typer.Argument(help="The chapter, as ch04.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of a page.")]
Force = Annotated[bool, typer.Option("--force", help="Do not ask; do it even so.")]
Device = Annotated[str, typer.Option(help="auto, emulator or gpu.")]
Gpu = Annotated[str | None, typer.Option(help="The GPU that the model speaks of.")]
Jobs = Annotated[int, typer.Option(min=0, help="How many at once; 0: as many as there are cores.")]
Limit = Annotated[float, typer.Option(min=0.1, help="Seconds for one chapter.")]
Fresh = Annotated[bool, typer.Option("--fresh", help="Run even what has not changed.")]


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
    if options.device not in ("auto", "emulator", "gpu"):
        raise UsageError(f"--device is auto, emulator or gpu, not {options.device!r}")
    workbook = find_workbook()
    chosen = workbook.select(names or [])
    with progress_of(len(chosen), quiet=as_json) as hear:
        graded = grade(workbook, chosen, options, hear)
    if as_json:
        _print_json(graded.document())
    else:
        show_grade(graded)
    for trouble in graded.troubles:
        print(f"warpbook: {trouble}", file=sys.stderr)
    return _status_of(graded)


def _status_of(graded: Grade) -> int:
    if graded.troubles or any(outcome.result.verdict == "INFRA" for outcome in graded.outcomes):
        return MACHINE
    return PASSED if all(outcome.result.passed for outcome in graded.outcomes) else NOT_PASSED


@app.command("status")
def status_command(as_json: Json = False) -> int:
    """Where you are and what comes next."""
    workbook = find_workbook()
    made = standings(workbook)
    following = next((standing for standing in made if not standing.is_done), None)
    if as_json:
        _print_json({"schema": "warpbook/status/1", "next": following and following.chapter.name,
                     "chapters": [_standing_document(standing) for standing in made]})  # fmt: skip
        return PASSED
    out = console()
    rows: list[tuple[str | Text, ...]] = []
    for standing in made:
        last = standing.last
        rows.append(
            (
                Text(f"{standing.chapter.name} {standing.chapter.title}"),
                verdict_text(last.verdict if last else "-"),
                points_text(last.earned, last.possible) if last else "",
                "edited since" if standing.is_edited else "",
            )
        )
    out.print(table(rows, [("chapter", ""), ("last graded", ""), ("points", "right"), ("", "")]))
    out.print()
    done = sum(standing.is_done for standing in made)
    if following is None:
        out.print(f"All {done} chapters are passed.")
        return PASSED
    chapter = following.chapter
    out.print(f"{done} of {len(made)} passed. Next: {chapter.name}, {chapter.title}.")
    out.print(Text(f"  read  {chapter.folder}/README.md"))
    out.print(Text(f"  edit  {chapter.kernel}"))
    out.print(Text(f"  try   make {chapter.name} && ./{chapter.name}    (stuck? make hint-{chapter.name})"))
    out.print(Text("  keep  make grade    runs and records everything; make help lists the rest"))
    return PASSED


def _standing_document(standing: Standing) -> dict[str, Any]:
    last = standing.last
    return {
        "chapter": standing.chapter.name,
        "title": standing.chapter.title,
        "verdict": last and last.verdict,
        "points": last and {"earned": last.earned, "possible": last.possible},
        "time": last and last.time,
        "passed_before": standing.has_passed,
        "edited_since": standing.is_edited,
    }


@app.command("hint")
def hint_command(
    chapter: One,
    step: Annotated[int | None, typer.Option(help="A given hint: 1, 2 or 3.")] = None,
    as_json: Json = False,
) -> int:
    """The next hint of a chapter."""
    workbook = find_workbook()
    chosen = _one(workbook.select([chapter]))
    number, total, text = next_hint(workbook, chosen, step)
    if as_json:
        _print_json(
            {"schema": "warpbook/hint/1", "chapter": chosen.name, "step": number, "of": total, "text": text}
        )
        return PASSED
    out = console()
    out.print(Text(f"{chosen.name} {chosen.title}, hint {number} of {total}\n", style="bold"))
    if out.is_terminal:
        out.print(Markdown(text))
    else:
        print(text)
    if number < total:
        out.print(Text(f"\nMore: make hint-{chosen.name}"))
    return PASSED


@app.command("show")
def show_command(chapter: One, force: Force = False, as_json: Json = False) -> int:
    """The solution of a chapter, once you have passed it."""
    workbook = find_workbook()
    chosen = _one(workbook.select([chapter]))
    if not force and not History(workbook.history).has_passed(chosen.name):
        raise NotYetError(
            f"{chosen.name} is not passed yet (make grade CH={chosen.name} records it); "
            f"make hint-{chosen.name} helps, and make show-{chosen.name} FORCE=1 shows it all the same"
        )
    kernel = (workbook.root / chosen.solution / "kernel.cu").read_text("utf-8", errors="replace")
    notes_file = workbook.root / chosen.solution / "notes.md"
    notes = notes_file.read_text("utf-8", errors="replace") if notes_file.is_file() else ""
    if as_json:
        _print_json(
            {"schema": "warpbook/solution/1", "chapter": chosen.name, "kernel": kernel, "notes": notes}
        )
        return PASSED
    out = console()
    if out.is_terminal and not out.no_color:
        out.print(Syntax(kernel, "cuda", theme="ansi_dark", background_color="default"))
        out.print(Markdown(notes))
    else:
        print(kernel.rstrip() + ("\n\n" + notes.rstrip() if notes else ""))
    return PASSED


@app.command("reset")
def reset_command(chapter: One, force: Force = False, as_json: Json = False) -> int:
    """Start a chapter afresh; your file is kept under build/kept/."""
    workbook = find_workbook()
    chosen = _one(workbook.select([chapter]))
    if not force:
        if not sys.stdin.isatty():
            raise UsageError(f"nobody can be asked here; say make reset-{chosen.name} FORCE=1")
        try:
            answer = input(f"Put the skeleton in place of {chosen.kernel}? Your file is kept. [y/N] ")
        except EOFError:
            answer = ""
        if answer.strip().lower() not in ("y", "yes"):
            print("Nothing changed.")
            return PASSED
    kept = reset_chapter(workbook, chosen)
    if as_json:
        _print_json(
            {"schema": "warpbook/reset/1", "chapter": chosen.name, "kept": str(kept) if kept else None}
        )
    elif kept is None:
        print(f"{chosen.kernel} is the skeleton already.")
    else:
        print(f"{chosen.kernel} is the skeleton again; your file is {kept}")
    return PASSED


@app.command("doctor")
def doctor_command(as_json: Json = False) -> int:
    """What is there, what is missing, and the one command that mends it."""
    return doctor_module.main(["--json"] if as_json else [])


def _one(chapters: list[Chapter]) -> Chapter:
    return chapters[0]


def _print_json(document: Any) -> None:
    print(json.dumps(document, indent=2, ensure_ascii=False))
