"""Hints: three for each chapter, given one at a time; the last run's diagnosis selects the first.

A hint may have parts that begin with "TODO 5:" or "TODO 2 and 3:", and a learner may ask for one of them alone.
"""

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
    todo: int | None  # it is about this TODO alone; None: about all that the step is about
    todos: list[int]  # those that may be asked for alone, in any step of the chapter


_PART = re.compile(r"\bTODO\s+(\d+(?:(?:,\s+|\s+and\s+)\d+)*):")


def todos_of(text: str) -> dict[int, str]:
    """The parts of a hint that are about one TODO, or about several at once, by the number of the TODO."""
    marks = list(_PART.finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)] if marks else []
    return {
        int(number): text[mark.start() : end].strip()
        for mark, end in zip(marks, ends, strict=True)
        for number in re.findall(r"\d+", mark[1])
    }


def read_hints(workbook: Workbook, chapter: Chapter) -> list[str]:
    """The hints of chapters/chNN_name/hints.md, in order, one for each second-level heading."""
    path = workbook.root / chapter.material / "hints.md"
    try:
        text = path.read_text("utf-8", errors="replace")
    except FileNotFoundError:
        return []
    parts = re.split(r"^##\s+", text, flags=re.MULTILINE)[1:]
    # A heading that is only a number is left out, because the step is shown anyway. Each TODO is a paragraph.
    texts = [re.sub(r"\A(?:hint\s*)?\d[.:]?\s*\n+", "", part.strip(), flags=re.IGNORECASE) for part in parts]
    return [re.sub(rf"\s+(?={_PART.pattern})", "\n\n", text) for text in texts]


def next_hint(workbook: Workbook, chapter: Chapter, step: int | None, todo: int | None = None) -> Hint:
    """Hint `step`, or else the one that the last run's diagnosis names or the next one. The hint is recorded.

    With `todo`, only the part about that TODO: of hint `step`, or else of the next one that has such a part.
    """
    hints = read_hints(workbook, chapter)
    if not hints:
        raise UsageError(f"{chapter.name} has no hints")
    if step is not None and not 1 <= step <= len(hints):
        raise UsageError(f"{chapter.name} has hints 1 to {len(hints)}; there is no hint {step}")
    parts = [todos_of(text) for text in hints]
    todos = sorted(set().union(*parts))
    history = History(workbook.history)
    runs = history.runs(chapter.name)
    diagnosis = (runs[-1].diagnosis if runs else None) or {}
    mistake = str(diagnosis["mistake"]) if diagnosis.get("mistake") else None
    given = [event for event in history.events(chapter.name) if event.what == "hint"]
    if todo is not None:
        mistake = None  # it was asked for, whatever the last run showed
        number = step_about(todo, parts, step, given, chapter.name)
        text = parts[number - 1][todo]
    else:
        of_steps = [event for event in given if event.detail.get("todo") is None]
        number = step or min(choose(of_steps, mistake, diagnosis.get("hint")), len(hints))
        text = hints[number - 1]
    history.note(chapter.name, "hint", step=number, mistake=mistake, todo=todo)
    return Hint(
        number,
        len(hints),
        text,
        mistake,
        str(diagnosis.get("title") or "") if todo is None else "",
        lesson_of(workbook, diagnosis.get("lesson")) if todo is None else "",
        todo,
        todos,
    )


def step_about(
    todo: int, parts: list[dict[int, str]], step: int | None, given: list[Event], chapter: str
) -> int:
    """The step to take the part about a TODO from: the one asked for, or the next that has one, or the last."""
    steps = [number for number, part in enumerate(parts, 1) if todo in part]
    if not steps or step not in (None, *steps):
        if not steps:
            raise UsageError(f"no hint of {chapter} has a part about TODO {todo} alone")
        where = " and ".join(f"STEP={number}" for number in steps)
        raise UsageError(f"hint {step} of {chapter} has no part about TODO {todo}; take {where}")
    if step is not None:
        return step
    last = max((event.detail["step"] for event in given if event.detail.get("todo") == todo), default=0)
    return next((number for number in steps if number > last), steps[-1])


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
    about = f", TODO {given.todo}" if given.todo is not None else ""
    heading = f"{chapter.name} {chapter.title}, hint {given.step} of {given.total}{about}"
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


def more_hints(chapter: Chapter, given: Hint) -> str:
    """How to get another hint, with make's words; "" after the last one."""
    if given.todo is not None:
        return f"More: make hint-{chapter.name} TODO={given.todo}" if given.step < given.total else ""
    lines = [f"More: make hint-{chapter.name}"] if given.step < given.total else []
    if len(given.todos) > 1:
        lines.append(f"One TODO at a time: make hint-{chapter.name} TODO={given.todos[-1]}, for example")
    return "\n".join(lines)


def hint_document(chapter: Chapter, given: Hint) -> dict[str, object]:
    """A hint as JSON."""
    return {
        "schema": "warpbook/hint/1",
        "chapter": chapter.name,
        "step": given.step,
        "of": given.total,
        "todo": given.todo,
        "text": given.text,
        "mistake": given.mistake,
        "title": given.title or None,
        "lesson": given.lesson or None,
    }
