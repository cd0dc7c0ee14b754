"""What the grader prints: tables and sentences, in colour on a terminal, plain in a pipe, 80 columns wide."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from ..learner.grade import Grade, Outcome, ignore
from ..learner.grade import Progress as Hear
from ..learner.stored import KERNEL
from .narrow import Entry, WideOrStacked
from .result import Result
from .workbook import Chapter

_LEAST = 64  # columns that the table of a grade needs
_NARROWEST = 20  # columns; COLUMNS=0 and the like would leave no room for a word
_STYLES = {"PASS": "bold green", "SLOW": "yellow", "INFRA": "bold magenta", "-": "dim"}


def print_json(document: Any) -> None:
    """Prints a document whole, whatever the encoding."""
    is_unicode = sys.stdout.encoding.lower().startswith("utf")
    print(json.dumps(document, indent=2, ensure_ascii=not is_unicode))


def console(*, error: bool = False) -> Console:
    """The console for standard output or standard error; width 80 where there is no terminal."""
    stream = sys.stderr if error else sys.stdout
    asked = os.environ.get("COLUMNS", "")
    width = max(int(asked), _NARROWEST) if asked.isdecimal() else None if stream.isatty() else 80
    return Console(file=stream, width=width, highlight=False, soft_wrap=False, emoji=False)


def verdict_text(verdict: str) -> Text:
    """A verdict in its colour."""
    return Text(verdict, style=_STYLES.get(verdict, "red"))


def bandwidth_text(result: Result) -> str:
    """Bandwidth in one cell: "1,412 GB/s modelled, 1.00 of ref", "4,541 GB/s measured, 0.95 of ref, noisy"."""
    if result.gb_per_s is None:
        return ""
    share = f", {result.ratio:.2f} of ref" if result.ratio is not None else ""
    noisy = ", noisy" if result.is_too_noisy else ""
    return f"{figure(result.gb_per_s)} GB/s {result.bandwidth_kind or ''}".strip() + share + noisy


def figure(gb_per_s: float | None) -> str:
    """A bandwidth with as many digits as mean something; "-" for none."""
    if gb_per_s is None:
        return "-"
    return f"{gb_per_s:,.0f}" if gb_per_s >= 10 else f"{gb_per_s:.2g}"


def points_text(earned: float, possible: float) -> str:
    """Points in one cell: "7/10"."""
    return f"{earned:g}/{possible:g}"


def next_step(outcome: Outcome, kind: str) -> str:
    """What to do about one verdict, in a few words."""
    name, verdict = outcome.chapter.name, outcome.result.verdict
    if verdict == "PASS":
        return ""
    if verdict == "INFRA":
        return "make doctor"
    if kind != KERNEL:
        return f"a broken reference: {outcome.result.message}"
    if verdict in ("BUILD", "BUILD_TIMEOUT", "REJECT", "UNSUPPORTED"):
        return f"make {name}"
    return f"make hint-{name}"


class Bar:
    """So many of so many, as a bar that is read without colours too."""

    def __init__(self, count: float, total: float, width: int) -> None:
        self._filled = round(width * min(1.0, count / total)) if total else 0
        self._width = width

    def __rich_console__(self, out: Console, options: ConsoleOptions) -> RenderResult:
        filled, rest = ("#", ".") if options.ascii_only else ("\u2588", "\u2591")
        yield Text.assemble(
            (filled * self._filled, "green"), (rest * (self._width - self._filled), "dim"), end=""
        )

    def __rich_measure__(self, out: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(self._width, self._width)


def table(rows: list[tuple[str | Text, ...]], columns: list[tuple[str, str]]) -> Table:
    """A plain table; `columns` are (heading, "left" or "right")."""
    made = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1))
    for heading, side in columns:
        made.add_column(heading, justify="right" if side == "right" else "left", overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made


def show_grade(grade: Grade) -> None:
    """The table of a grade run and the one line of what comes next."""
    console().print(grade_page(grade))


def grade_page(grade: Grade) -> RenderableType:
    """A grade run: its table, what could not be judged, the sum, what comes next."""
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
    if grade.kind == KERNEL and (following := first_open(grade.outcomes)):
        parts.append(Text(f"Next: edit {following.kernel}, then make {following.name} && ./{following.name}"))
    return Group(*parts)


def first_open(outcomes: list[Outcome]) -> Chapter | None:
    """The first chapter that is not passed and that the learner can do something about."""
    return next((o.chapter for o in outcomes if not o.result.passed and o.result.verdict != "INFRA"), None)


@contextmanager
def progress_of(total: int, *, quiet: bool) -> Iterator[Hear]:
    """A progress line on standard error while chapters run; nothing where that is no terminal."""
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
