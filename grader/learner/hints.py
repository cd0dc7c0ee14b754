"""Hints: three for each chapter, given one at a time; the last run's diagnosis selects the first."""

import re
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.text import Text

from ..core.errors import UsageError
from ..core.history import Event, History
from ..core.workbook import Chapter, Workbook, lesson_of
from .markdown import print_prose


@dataclass(frozen=True)
class Hint:
    """One hint as shown to the learner."""

    step: int
    total: int
    text: str  # Markdown
    mistake: str | None  # the diagnosis it was chosen by, as its slug ...
    title: str  # ... and in words; "" for none
    lesson: str  # where to read on: "chapters/ch04_warp_shuffle/README.md, Five steps"; "" for nowhere


def read_hints(workbook: Workbook, chapter: Chapter) -> list[str]:
    """The hints of chapters/chNN_name/hints.md, in order, one for each second-level heading."""
    path = workbook.root / chapter.material / "hints.md"
    try:
        text = path.read_text("utf-8", errors="replace")
    except FileNotFoundError:
        return []
    parts = re.split(r"^##\s+", text, flags=re.MULTILINE)[1:]
    # A heading that is only a number is left out, because the step is shown anyway.
    return [re.sub(r"\A(?:hint\s*)?\d[.:]?\s*\n+", "", part.strip(), flags=re.IGNORECASE) for part in parts]


def next_hint(workbook: Workbook, chapter: Chapter, step: int | None) -> Hint:
    """Hint `step`, or else the one that the last run's diagnosis names or the next one. The hint is recorded."""
    hints = read_hints(workbook, chapter)
    if not hints:
        raise UsageError(f"{chapter.name} has no hints")
    if step is not None and not 1 <= step <= len(hints):
        raise UsageError(f"{chapter.name} has hints 1 to {len(hints)}; there is no hint {step}")
    history = History(workbook.history)
    runs = history.runs(chapter.name)
    diagnosis = (runs[-1].diagnosis if runs else None) or {}
    mistake = str(diagnosis["mistake"]) if diagnosis.get("mistake") else None
    given = [event for event in history.events(chapter.name) if event.what == "hint"]
    number = step or min(choose(given, mistake, diagnosis.get("hint")), len(hints))
    history.note(chapter.name, "hint", step=number, mistake=mistake)
    return Hint(
        number,
        len(hints),
        hints[number - 1],
        mistake,
        str(diagnosis.get("title") or ""),
        lesson_of(workbook, diagnosis.get("lesson")),
    )


def choose(given: list[Event], mistake: str | None, about_it: Any) -> int:
    """The next step after the hints `given`, if hint `about_it` (or None) is about the mistake.

    For each mistake, its own hint comes first and the later ones follow, whatever was given for other
    mistakes.
    """
    if mistake and isinstance(about_it, int):
        for_it = [event.detail["step"] for event in given if event.detail.get("mistake") == mistake]
        return max(for_it) + 1 if for_it else about_it
    return max((event.detail["step"] for event in given), default=0) + 1


def print_hint(out: Console, chapter: Chapter, given: Hint, more: str) -> None:
    """Print a hint, and below it how to get another."""
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
