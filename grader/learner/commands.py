"""What a learner asks for: where am I, a hint, the solution, another chapter first, a fresh start."""

import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from ..core.errors import PASSED, MachineError, NotYetError, UsageError
from ..core.history import History
from ..core.options import Begin, Chapters, Device, Force, Gpu, Json, One, check_device
from ..core.page import console, print_json
from ..core.workbook import Chapter, find_workbook, write_whole
from .grade import Options
from .hints import Hint, next_hint
from .markdown import print_prose, reflow
from .overview import document, overview
from .refresh import bring_up_to_date
from .restart import reset as reset_chapter
from .standing import following, place_of, standings


def status(as_json: Json = False) -> int:
    """Where you are and what comes next."""
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
    step: Annotated[int | None, typer.Option(help="A given hint: 1, 2 or 3.")] = None,
    as_json: Json = False,
) -> int:
    """The next hint of a chapter; the first is chosen by what your last run showed."""
    workbook = find_workbook()
    chosen = one_of(workbook.select([chapter]))
    bring_up_to_date(workbook, [chosen], quiet=as_json)
    given = next_hint(workbook, chosen, step)
    if as_json:
        print_json(hint_document(chosen, given))
        return PASSED
    print_hint(console(), chosen, given, f"More: make hint-{chosen.name}" if given.step < given.total else "")
    return PASSED


def print_hint(out: Console, chapter: Chapter, given: Hint, more: str) -> None:
    """A hint, and below it how to get another."""
    heading = f"{chapter.name} {chapter.title}, hint {given.step} of {given.total}"
    out.print(Text(heading, style="bold"))
    if given.title:
        out.print(Text(f"Your last run: {given.title}."))
    out.print()
    print_prose(given.text, out)
    out.print()
    if given.lesson:
        out.print(Text(f"Read: {given.lesson}"))
    if more:
        out.print(Text(more))


def hint_document(chapter: Chapter, given: Hint) -> dict[str, object]:
    """A hint as JSON."""
    return {
        "schema": "warpbook/hint/1",
        "chapter": chapter.name,
        "step": given.step,
        "of": given.total,
        "text": given.text,
        "mistake": given.mistake,
        "title": given.title or None,
        "lesson": given.lesson or None,
    }


def show(chapter: One, force: Force = False, as_json: Json = False) -> int:
    """The solution of a chapter, once you have passed it; with --force before, which is recorded."""
    workbook = find_workbook()
    chosen = one_of(workbook.select([chapter]))
    bring_up_to_date(workbook, [chosen], quiet=as_json)
    history = History(workbook.history)
    has_passed = history.has_passed(chosen.name)
    if not force and not has_passed:
        raise NotYetError(
            f"{chosen.name} is not passed yet (make grade CH={chosen.name} records it); "
            f"make hint-{chosen.name} helps, and make show-{chosen.name} FORCE=1 shows it all the same"
        )
    source = workbook.root / chosen.solution / "kernel.cu"
    if not source.is_file():
        raise MachineError(
            f"this copy of the workbook came without solutions ({chosen.solution}/kernel.cu); "
            "whoever handed it out has them"
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
    """Leave a chapter out for now: make goes on to the next."""
    return _mark(chapter, "skipped", as_json=as_json)


def resume(chapter: One, as_json: Json = False) -> int:
    """Take a chapter up, one that was skipped too: make leads to it."""
    return _mark(chapter, "resumed", as_json=as_json)


def _mark(name: str, what: str, *, as_json: bool) -> int:
    workbook = find_workbook()
    chosen = one_of(workbook.select([name]))
    bring_up_to_date(workbook, [chosen], quiet=as_json)
    History(workbook.history).note(chosen.name, what)
    next_one = following(standings(workbook), place_of(workbook))
    next_name = next_one and next_one.chapter.name
    if as_json:
        print_json({"schema": "warpbook/mark/1", "chapter": chosen.name, "mark": what, "next": next_name})
        return PASSED
    words = f"{chosen.name} is skipped; make resume-{chosen.name} takes it up again."
    if what == "resumed":
        is_passed = next_name != chosen.name
        words = f"{chosen.name} is passed already." if is_passed else f"{chosen.name} comes next."
    print(words)
    if next_name and next_name != chosen.name:
        print(
            f"Next: edit {next_one.chapter.kernel}, then make {next_name} && ./{next_name}"
            if next_one
            else ""
        )
    return PASSED


def reset(chapter: One, force: Force = False, as_json: Json = False) -> int:
    """Start a chapter afresh; your file is kept under build/kept/."""
    workbook = find_workbook()
    chosen = one_of(workbook.select([chapter]))
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
        print_json(
            {"schema": "warpbook/reset/1", "chapter": chosen.name, "kept": str(kept) if kept else None}
        )
    elif kept is None:
        print(f"{chosen.kernel} is the skeleton already.")
    else:
        print(f"{chosen.kernel} is the skeleton again; your file is {kept}")
    return PASSED


def watch(chapter: Begin = None, device: Device = "auto", gpu: Gpu = None) -> int:
    """Judge a chapter whenever its kernel.cu is saved."""
    from .watch import watch as watch_chapters  # its libraries are not needed for anything else

    check_device(device)
    workbook = find_workbook()
    chapters = workbook.select([])
    named = workbook.select([chapter]) if chapter else []
    next_one = following(standings(workbook), place_of(workbook))
    begin_with = named[0] if named else next_one.chapter if next_one else chapters[0]
    options = Options(device=device, profile=gpu, wants_page=True)
    return watch_chapters(workbook, chapters, options, begin_with=begin_with)


def ladder(chapters: Chapters = None, gpu: Gpu = None, as_json: Json = False) -> int:
    """How fast your chapters are, beside the references, CUB and the peak; here and as an SVG."""
    from .ladder import document as ladder_document
    from .ladder import ladder_of
    from .ladder.chart import chart
    from .ladder.picture import picture

    workbook = find_workbook()
    bring_up_to_date(workbook, workbook.select(chapters or []), quiet=as_json)
    made = ladder_of(workbook, workbook.select(chapters or []), gpu)
    path = workbook.build / "ladder.svg"
    write_whole(path, picture(made))
    shown = path.relative_to(workbook.root)
    if as_json:
        print_json(ladder_document(made, shown))
        return PASSED
    out = console()
    out.print(chart(made))
    out.print(Text(f"As a picture: {shown}"))
    return PASSED


def report(
    as_json: Json = False,
    open_it: Annotated[bool, typer.Option("--open", help="Show it in a browser.")] = False,
) -> int:
    """A page of your own: the ladder, the roofline, and an x-ray of every kernel; needs no network."""
    from .report import report as make_report

    workbook = find_workbook()
    bring_up_to_date(workbook, workbook.select([]), quiet=as_json)
    path, document_ = make_report(workbook)
    if as_json:
        print_json(document_)
    else:
        print(f"Your report: {path.relative_to(workbook.root)}")
    if open_it:
        import webbrowser

        webbrowser.open(path.as_uri())
    return PASSED


def one_of(chapters: list[Chapter]) -> Chapter:
    """The only chapter that was asked for."""
    return chapters[0]
