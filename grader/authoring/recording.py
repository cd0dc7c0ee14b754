"""The recording in README.md: `make watch` while a kernel is edited, as an SVG that moves by itself: `make recording`.

`make watch` is run for it in a terminal of 80 columns, in a newcomer's checkout, and the kernel of chapter 1 is saved
three times: the skeleton, a mistake, the reference. What the terminal showed is kept as it was; only the times between
two screens are not those of the run, so that a screen can be read. Where less motion is asked for, and on paper, the
page about the mistake is shown, and nothing moves.
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import Self

import pyte
from pyte.screens import Char

from ..core.entry import guarded
from ..core.errors import MachineError
from ..core.processes import clean_environment
from ..core.workbook import find_workbook, write_whole
from .checkouts import newcomers_copy
from .markers import MarkerError
from .terminal_picture import ADVANCE, COLUMNS, LINE, MARGIN, STYLE, baseline, paper, svg, words

RECORDING = Path("docs/assets/watch.svg")
COMMAND = "make watch"
_KERNEL = Path("chapters/ch01_single_thread/kernel.cu")
_REFERENCE = Path("solutions/ch01_single_thread/kernel.cu")
_MISTAKE = ("i < n;", "i < n - 1;")
_PART = re.compile(r"^    // TODO 1:.*?(?=^    partial\[0\] = sum;)", re.MULTILINE | re.DOTALL)

_ROWS = 22
_LONGEST = 120.0  # seconds until a verdict must be there
_QUIET = 0.5  # seconds without a change: the screen is complete
_READ = 5.0  # seconds that a verdict stays
_PROMPT, _SHORTEST, _PASSING = 1.5, 0.15, 0.8  # seconds: the command alone; bounds for screens on the way

_COLOURS = {"default": "", "red": "bad", "green": "good", "brown": "warning"}
_MOTION = """\
.bar{fill:var(--ink)}.on{fill:var(--paper)}.part{visibility:hidden}.still{visibility:visible}
@media screen and (prefers-reduced-motion:no-preference){
"""


@dataclass(frozen=True)
class Words:
    """Adjacent characters of a row in one style."""

    column: int
    style: str
    text: str
    is_reverse: bool


Rows = tuple[tuple[Words, ...], ...]


@dataclass(frozen=True)
class Frame:
    """What is shown for a while: the terminal, and which version of the kernel is saved."""

    rows: Rows
    version: int
    seconds: float


class Terminal:
    """A command on its own terminal, and what that terminal shows."""

    def __init__(self, command: list[str], folder: Path) -> None:
        self._screen = pyte.Screen(COLUMNS, _ROWS)
        self._stream = pyte.ByteStream(self._screen)
        environment = clean_environment() | {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        for name in ("NO_COLOR", "COLUMNS", "LINES"):
            environment.pop(name, None)
        self._process, self._descriptor = pty.fork()
        if self._process == 0:
            try:
                os.chdir(folder)
                os.execvpe(command[0], command, environment)
            finally:
                os._exit(127)
        fcntl.ioctl(self._descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, COLUMNS, 0, 0))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.kill(self._process, signal.SIGKILL)
        os.close(self._descriptor)
        os.waitpid(self._process, 0)

    def press(self, key: str) -> None:
        """Presses a key."""
        os.write(self._descriptor, key.encode())

    def text(self) -> str:
        """All rows, as text."""
        return "\n".join(self._screen.display)

    def rows(self) -> Rows:
        """All rows, with their styles."""
        return tuple(tuple(_runs(self._screen.buffer[row])) for row in range(_ROWS))

    def screens(self, verdict: str, before: str) -> list[tuple[Rows, float]]:
        """Each screen until one with that verdict stays that is not the one `before`; and when it was there first."""
        end = time.monotonic() + _LONGEST
        seen: list[tuple[Rows, float]] = []
        while True:
            if select.select([self._descriptor], [], [], _QUIET)[0]:
                try:
                    self._stream.feed(os.read(self._descriptor, 65536))
                except OSError as error:  # Linux says so when the command has ended
                    raise MachineError(f"{COMMAND} ended early; it showed:\n{self.text()}") from error
                if not seen or self.rows() != seen[-1][0]:
                    seen.append((self.rows(), time.monotonic()))
            elif f" {verdict} " in self._screen.display[0] and self.text() != before:
                return seen
            if time.monotonic() > end:
                raise MachineError(f"{COMMAND} shows no verdict after {_LONGEST:.0f} s, but:\n{self.text()}")


def _runs(row: dict[int, Char]) -> Iterator[Words]:
    """The words of a row: adjacent characters of one style, without the spaces around them."""

    def style(column: int) -> tuple[str, bool]:
        cell = row[column]
        if cell.fg not in _COLOURS:
            raise MarkerError(f"the screen uses a colour that the recording does not know: {cell.fg}")
        return _COLOURS[cell.fg] or ("strong" if cell.bold else ""), cell.reverse

    for (looks, is_reverse), columns in groupby(range(COLUMNS), style):
        first, *rest = columns
        text = "".join(row[column].data for column in (first, *rest))
        if is_reverse:
            yield Words(first, looks, text, is_reverse=True)
            continue
        for found in re.finditer(r"\S+(?: \S+)*", text):
            yield Words(first + found.start(), looks, found[0], is_reverse=False)


def record(copy: Path) -> str:
    """The SVG of a run in `copy`, a newcomer's checkout, whose kernel of chapter 1 is overwritten."""
    skeleton = (copy / _KERNEL).read_text("utf-8")
    begun, solved = _part(skeleton), _part((copy / _REFERENCE).read_text("utf-8"))
    if _MISTAKE[0] not in solved:
        raise MarkerError(f"{_REFERENCE} has no {_MISTAKE[0]} to make a mistake in")
    right = re.sub(r"^ *// (?:BEGIN|END) SOLUTION\n", "", solved, flags=re.MULTILINE)
    versions = [skeleton.replace(begun, part) for part in (begun, right.replace(*_MISTAKE), right)]
    verdicts = ["WRONG", "WRONG", "PASS"]
    frames = [Frame(((Words(0, "faint", "$", False), Words(2, "", COMMAND, False)),), 0, _PROMPT)]  # noqa: FBT003
    with Terminal(COMMAND.split(), copy) as terminal:
        for version, (kernel, verdict) in enumerate(zip(versions, verdicts, strict=True)):
            before = terminal.text()
            if version:
                write_whole(copy / _KERNEL, kernel)
            frames += _timed(terminal.screens(verdict, before), version)
        terminal.press("q")
    text = _drawn(frames, [_shown_part(kernel) for kernel in versions])
    if str(copy) in text:
        raise MarkerError(f"the screen of {COMMAND} names the folder {copy}")
    return text


def _timed(seen: list[tuple[Rows, float]], version: int) -> Iterator[Frame]:
    """Screens that one could see, each as long as it was there within bounds, and the last one long enough to read."""
    for (rows, start), (_, end) in pairwise(seen):
        if end - start >= _SHORTEST and any(rows):
            yield Frame(rows, version, min(end - start, _PASSING))
    yield Frame(seen[-1][0], version, _READ)


def _part(kernel: str) -> str:
    """The part of the kernel that a learner writes."""
    found = _PART.search(kernel)
    if found is None:
        raise MarkerError(f"{_KERNEL} has no part for TODO 1")
    return found[0]


def _shown_part(kernel: str) -> list[str]:
    return [line.removeprefix("    ") for line in _part(kernel).rstrip().splitlines()]


def _drawn(frames: list[Frame], parts: list[list[str]]) -> str:
    heading = ["the skeleton", "saved with a mistake", "saved again"]
    upper = _ROWS * LINE + 2 * MARGIN
    editor = upper + MARGIN // 2  # where the second sheet begins
    height = editor + (max(map(len, parts)) + 1) * LINE + 2 * MARGIN
    total = sum(frame.seconds for frame in frames)
    starts = [sum(frame.seconds for frame in frames[:i]) for i in range(len(frames) + 1)]
    still = max(i for i, frame in enumerate(frames) if frame.version == 1)
    drawn, motion = [paper(0, upper), paper(editor, height - editor)], []

    def add(name: str, content: list[str], begin: float, end: float, *, is_still: bool) -> None:
        drawn.append(
            f'<g id="{name}" class="part{" still" if is_still else ""}">\n' + "\n".join(content) + "\n</g>"
        )
        motion.append(_motion(name, begin / total, end / total, total))

    for i, frame in enumerate(frames):
        content = [part for row, line in enumerate(frame.rows) for part in _row(row, line)]
        add(f"s{i}", content, starts[i], starts[i + 1], is_still=i == still)
    for version, lines in enumerate(parts):
        mine = [i for i, frame in enumerate(frames) if frame.version == version]
        text = [words(0, baseline(0, editor), "faint", f"{_KERNEL}, {heading[version]}")]
        text += [
            words(
                len(line) - len(line.lstrip()),
                baseline(1 + row, editor),
                "strong" if version and line not in parts[version - 1] else "",
                line.strip(),
            )
            for row, line in enumerate(lines)
        ]
        add(f"k{version}", text, starts[mine[0]], starts[mine[-1] + 1], is_still=version == 1)
    return svg(
        height,
        "make watch while the kernel of chapter 1 is edited",
        _description(frames, parts),
        STYLE + _MOTION + "\n".join(motion) + "\n}\n",
        drawn,
    )


def _row(row: int, line: tuple[Words, ...]) -> Iterator[str]:
    for run in line:
        if run.is_reverse:
            x, width = MARGIN + run.column * ADVANCE, len(run.text) * ADVANCE
            yield f'<rect class="bar" x="{x:.1f}" y="{MARGIN + LINE * row - 2}" width="{width:.1f}" height="{LINE}"/>'
            for found in re.finditer(r"\S+(?: \S+)*", run.text):
                yield words(run.column + found.start(), baseline(row), "on", found[0])
        else:
            yield words(run.column, baseline(row), run.style, run.text)


def _motion(name: str, begin: float, end: float, total: float) -> str:
    """A part's visibility over one round: `begin` and `end` are fractions of it."""
    first = "" if begin == 0 else "0%{visibility:hidden}"
    last = "" if end > 0.9999 else f"{100 * end:.2f}%{{visibility:hidden}}"
    until = f"100%{{visibility:{'hidden' if last else 'visible'}}}"
    return (
        f"@keyframes {name}{{{first}{100 * begin:.2f}%{{visibility:visible}}{last}{until}}}\n"
        f"#{name}{{animation:{name} {total:.1f}s step-end infinite}}"
    )


def _description(frames: list[Frame], parts: list[list[str]]) -> str:
    """The recording in words: each version of the kernel and the page about it."""
    said = []
    for version, name in enumerate(("The skeleton", "Saved with a mistake", "Saved again")):
        last = [frame for frame in frames if frame.version == version][-1]
        page = " ".join(run.text.strip() for line in last.rows for run in line)
        said.append(
            f"{name}: {' '.join(' '.join(parts[version]).split())} The screen: {' '.join(page.split())}"
        )
    return f"A terminal with {COMMAND}, and below it the part of the kernel that is edited. " + " ".join(said)


def main() -> int:
    """Records and writes the SVG."""
    root = find_workbook().root
    try:
        with newcomers_copy(root) as copy:
            print(f"  RECORD   {COMMAND}", flush=True)
            text = record(copy)
    except MarkerError as error:
        print(f"warpbook: {error}", file=sys.stderr)
        return 1
    write_whole(root / RECORDING, text)
    print(f"{RECORDING}: {len(text.encode()) / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(guarded(main))
