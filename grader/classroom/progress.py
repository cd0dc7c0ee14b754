"""What a person sees while a class is graded: a bar on a terminal, a line now and then in a pipe."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..core.page import console

_EVERY = 15.0  # seconds between two lines in a pipe


class Hear(Protocol):
    """Listens to how far a run is."""

    def begin(self, what: str, total: int) -> None:
        """A phase of `total` steps begins."""

    def step(self) -> None:
        """One of them is done."""

    def say(self, line: str) -> None:
        """An event that is shown on a separate line."""


class _Lines:
    def __init__(self) -> None:
        self._what = ""
        self._total = self._done = 0
        self._next = 0.0

    def begin(self, what: str, total: int) -> None:
        self._what, self._total, self._done = what, total, 0
        self._next = time.monotonic() + _EVERY
        self.say(f"{what}: {total}")

    def step(self) -> None:
        self._done += 1
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _EVERY
            self.say(f"{self._what}: {self._done} of {self._total}")

    def say(self, line: str) -> None:
        print(line.rstrip("\n"), file=sys.stderr, flush=True)


class _Bar:
    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task = bar.add_task("", total=None)

    def begin(self, what: str, total: int) -> None:
        self._bar.reset(self._task, total=total, description=what)

    def step(self) -> None:
        self._bar.advance(self._task)

    def say(self, line: str) -> None:
        self._bar.console.print(line.rstrip("\n"), markup=False, highlight=False)


@contextmanager
def hearing() -> Iterator[Hear]:
    """Shows a run on standard error."""
    out = console(error=True)
    if not out.is_terminal:
        yield _Lines()
        return
    columns = (TextColumn("{task.description}"), BarColumn(24), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=out, transient=True) as bar:
        yield _Bar(bar)
