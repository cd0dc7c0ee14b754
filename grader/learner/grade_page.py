"""A grading run on a terminal: its progress while chapters run, and its table with the next step."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Group, RenderableType
from rich.text import Text

from ..core.command_words import is_packaged, spoken
from ..core.page import Entry, WideOrStacked, bandwidth_text, console, points_text, table, verdict_text
from ..core.workbook import Chapter
from .grade import Grade, Outcome, ignore
from .grade import Progress as Hear
from .store import KERNEL

_LEAST = 64  # columns that the table needs


def next_step(outcome: Outcome, kind: str) -> str:
    """What to do about a verdict, in a few words."""
    name, verdict = outcome.chapter.name, outcome.result.verdict
    if verdict == "PASS":
        return ""
    if verdict == "INFRA":
        return spoken("make doctor")
    if kind != KERNEL:
        return f"a broken reference: {outcome.result.message}"
    if verdict in ("BUILD", "BUILD_TIMEOUT", "REJECT", "UNSUPPORTED"):
        return spoken(f"make {name}")
    return spoken(f"make hint-{name}")


def show_grade(grade: Grade) -> None:
    """The table of a grading run and a line with the next step."""
    console().print(grade_page(grade))


def grade_page(grade: Grade) -> RenderableType:
    """Print a grading run: its table, what could not be judged, the sum, the next step."""
    rows: list[tuple[str | Text, ...]] = []
    for outcome in grade.outcomes:
        result = outcome.result
        rows.append(
            (
                Text(f"{outcome.chapter.name} {outcome.chapter.title}"),
                verdict_text(result.verdict),
                points_text(result.earned, result.possible) if result.possible else "",
                bandwidth_text(result),
                Text(next_step(outcome, grade.kind)),
            )
        )
    columns = [("chapter", ""), ("verdict", ""), ("points", "right"), ("bandwidth", ""), ("what next", "")]
    if not any(row[3] for row in rows):
        rows = [(*row[:3], row[4]) for row in rows]
        del columns[3]
    entries = [
        Entry(row[0], [("", row[1]), *zip([name for name, _ in columns[2:]], row[2:], strict=True)])
        for row in rows
    ]
    parts: list[RenderableType] = [WideOrStacked(table(rows, columns), entries, _LEAST), ""]
    parts += [
        Text(f"{outcome.chapter.name}: {outcome.result.message}")
        for outcome in grade.outcomes
        if outcome.result.verdict == "INFRA"
    ]
    passed = sum(outcome.result.passed for outcome in grade.outcomes)
    reused = sum(outcome.reused for outcome in grade.outcomes)
    summary = f"{passed} of {len(grade.outcomes)} passed, {grade.earned:g} of {grade.possible:g} points"
    parts.append(summary + (f"; {reused} unchanged, not run again" if reused else "") + ".")
    if grade.left_out:
        names = " ".join(chapter.name for chapter in grade.left_out)
        first = grade.left_out[0].name
        how = spoken(f"make {first}") if is_packaged() else f"make COMPILER=nvcc {first}"
        parts.append(Text(f"Left out: {names}. A whole program needs nvcc, which {how} fetches."))
    if grade.kind == KERNEL and (following := first_open(grade.outcomes)):
        judging = spoken(f"make {following.name} && ./{following.name}")
        parts.append(Text(f"Next: edit {following.kernel}, then {judging}"))
    return Group(*parts)


def first_open(outcomes: list[Outcome]) -> Chapter | None:
    """The first chapter that has not passed for a reason that the learner can change."""
    return next((o.chapter for o in outcomes if not o.result.passed and o.result.verdict != "INFRA"), None)


@contextmanager
def progress_of(total: int, *, quiet: bool) -> Iterator[Hear]:
    """A progress line on standard error while chapters run; nothing if that is not a terminal."""
    out = console(error=True)
    if quiet or not out.is_terminal:
        yield ignore
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(24), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=out, transient=True) as bar:
        task = bar.add_task("", total=total)

        def hear(outcome: Outcome | None, running: list[str]) -> None:
            bar.update(task, advance=1 if outcome else 0, description=" ".join(running))

        yield hear
