"""Commands of a learner: status, hint, show, skip, resume, reset."""

import sys
from typing import Annotated

import typer

from ..core.command_words import spoken
from ..core.errors import PASSED, MachineError, NotYetError, UsageError
from ..core.history import History
from ..core.options import Force, Json, One
from ..core.page import console, print_json
from ..core.workbook import find_workbook
from .hints import hint_document, more_hints, next_hint, print_hint
from .markdown import print_prose, reflow
from .overview import document, overview
from .refresh import bring_up_to_date
from .restart import reset as reset_chapter
from .standing import following, place_of, standings


def status(as_json: Json = False) -> int:
    """Show where you are and what comes next."""
    workbook = find_workbook()
    bring_up_to_date(workbook, workbook.select([]), quiet=as_json)
    made = standings(workbook)
    next_one = following(made, place_of(workbook))
    if as_json:
        print_json(document(made, next_one))
    else:
        console().print(overview(made, next_one))
    return PASSED


def hint(
    chapter: One,
    step: Annotated[int | None, typer.Option(help="A particular hint: 1, 2 or 3.")] = None,
    todo: Annotated[int | None, typer.Option(help="Only what is about this TODO.")] = None,
    as_json: Json = False,
) -> int:
    """Show the next hint of a chapter; the first one is chosen by your last run."""
    workbook = find_workbook()
    chosen = workbook.select([chapter])[0]
    bring_up_to_date(workbook, [chosen], quiet=as_json)
    given = next_hint(workbook, chosen, step, todo)
    if as_json:
        print_json(hint_document(chosen, given))
        return PASSED
    print_hint(console(), chosen, given, spoken(more_hints(chosen, given)))
    return PASSED


def show(chapter: One, force: Force = False, as_json: Json = False) -> int:
    """Show the solution of a chapter that you have passed; with --force even before, which is recorded."""
    workbook = find_workbook()
    chosen = workbook.select([chapter])[0]
    bring_up_to_date(workbook, [chosen], quiet=as_json)
    history = History(workbook.history)
    has_passed = history.has_passed(chosen.name)
    if not force and not has_passed:
        raise NotYetError(
            f"{chosen.name} is not passed yet (make grade CH={chosen.name} records it); "
            f"make hint-{chosen.name} helps, and make show-{chosen.name} FORCE=1 shows it anyway"
        )
    source = workbook.root / chosen.solution / "kernel.cu"
    if not source.is_file():
        raise MachineError(
            f"this copy of the workbook has no solutions ({chosen.solution}/kernel.cu); ask your teacher "
            "for them"
        )
    history.note(chosen.name, "shown", passed=has_passed)
    kernel = source.read_text("utf-8", errors="replace")
    notes_file = workbook.root / chosen.solution / "notes.md"
    notes = notes_file.read_text("utf-8", errors="replace") if notes_file.is_file() else ""
    if as_json:
        print_json(
            {
                "schema": "warpbook/solution/1",
                "chapter": chosen.name,
                "passed": has_passed,
                "kernel": kernel,
                "notes": notes,
            }
        )
        return PASSED
    out = console()
    if out.is_terminal and not out.no_color:
        from rich.syntax import Syntax

        out.print(Syntax(kernel, "cuda", theme="ansi_dark", background_color="default"))
        print_prose(notes, out)
    else:
        print(kernel.rstrip() + ("\n\n" + reflow(notes) if notes else ""))
    return PASSED


def skip(chapter: One, as_json: Json = False) -> int:
    """Skip a chapter for now; make continues with the next one."""
    return _mark(chapter, "skipped", as_json=as_json)


def resume(chapter: One, as_json: Json = False) -> int:
    """Return to a chapter, even a skipped one; make shows it next."""
    return _mark(chapter, "resumed", as_json=as_json)


def _mark(name: str, what: str, *, as_json: bool) -> int:
    workbook = find_workbook()
    chosen = workbook.select([name])[0]
    bring_up_to_date(workbook, [chosen], quiet=as_json)
    History(workbook.history).note(chosen.name, what)
    next_one = following(standings(workbook), place_of(workbook))
    next_name = next_one and next_one.chapter.name
    if as_json:
        print_json({"schema": "warpbook/mark/1", "chapter": chosen.name, "mark": what, "next": next_name})
        return PASSED
    words = f"{chosen.name} is skipped; make resume-{chosen.name} returns to it."
    if what == "resumed":
        is_passed = next_name != chosen.name
        words = f"{chosen.name} is passed already." if is_passed else f"{chosen.name} comes next."
    print(spoken(words))
    if next_name and next_name != chosen.name:
        print(
            spoken(f"Next: edit {next_one.chapter.kernel}, then make {next_name} && ./{next_name}")
            if next_one
            else ""
        )
    return PASSED


def reset(chapter: One, force: Force = False, as_json: Json = False) -> int:
    """Restore a chapter's skeleton; your file is kept under build/kept/."""
    workbook = find_workbook()
    chosen = workbook.select([chapter])[0]
    if not force:
        if not sys.stdin.isatty():
            raise UsageError(f"there is no terminal to ask on; use make reset-{chosen.name} FORCE=1")
        try:
            answer = input(f"Replace {chosen.kernel} with the skeleton? Your file is kept. [y/N] ")
        except EOFError:
            answer = ""
        if answer.strip().lower() not in ("y", "yes"):
            print("Nothing changed.")
            return PASSED
    kept = reset_chapter(workbook, chosen)
    if as_json:
        print_json(
            {"schema": "warpbook/reset/1", "chapter": chosen.name, "kept": str(kept) if kept else None}
        )
    elif kept is None:
        print(f"{chosen.kernel} is already the skeleton.")
    else:
        print(f"{chosen.kernel} is the skeleton again; your file is {kept}")
    return PASSED


def doctor(as_json: Json = False) -> int:
    """Check what is installed and what is missing, with a command to fix each problem."""
    from .doctor import (
        main,  # __main__.py runs doctor directly, before anything is installed; this is for --help
    )

    return main(["--json"] if as_json else [])
