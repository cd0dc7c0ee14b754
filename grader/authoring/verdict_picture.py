"""The picture in README.md: the page about a kernel that lacks a barrier, as a terminal shows it.

The kernel is the reference of chapter 3 without the barrier at the end of a level. Its page is run for the picture
each time, in colour, and drawn as an SVG of text that is readable on light and dark pages.
"""

import os
import pty
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from ..core.processes import clean_environment
from .markers import MarkerError
from .terminal_picture import LINE, MARGIN, STYLE, baseline, paper, svg, words

PICTURE = Path("docs/assets/verdict.svg")
COMMAND = "make ch03 && ./ch03"
_KERNEL = Path("chapters/ch03_tree_reduction/kernel.cu")
_REFERENCE = Path("solutions/ch03_tree_reduction/kernel.cu")
_BARRIER = re.compile(r"^ {8}__syncthreads\(\);.*\n", re.MULTILINE)  # in the loop, the only one so deep

# What common/driver/page writes before words of each style.
_STYLES = {"0": "", "1": "strong", "2": "faint", "32": "good", "33": "warning", "1;31": "bad"}
_ESCAPE = re.compile(r"\x1b\[([\d;]*)m")


def verdict_picture(copy: Path) -> str:
    """The SVG, made by running `COMMAND` in `copy`, a newcomer's checkout, whose chapter 3 is overwritten."""
    reference = (copy / _REFERENCE).read_text("utf-8")
    kernel, removed = _BARRIER.subn("", reference)
    if removed != 1:
        raise MarkerError(
            f"{_REFERENCE} has {removed} barriers in its loop; one is taken out for the picture"
        )
    before = (copy / _KERNEL).read_text("utf-8")
    (copy / _KERNEL).write_text(kernel, "utf-8")
    try:
        return _drawn(_page(copy))
    finally:
        (copy / _KERNEL).write_text(before, "utf-8")


def _page(copy: Path) -> list[str]:
    """The lines that the command prints on a terminal, with colours; not what is built, nor how long it took."""
    built = subprocess.run(
        ["make", "-s", "ch03"], cwd=copy, env=clean_environment(), capture_output=True, text=True
    )
    if built.returncode != 0:
        raise MarkerError(f"the kernel of the picture could not be built: {built.stderr.strip()[-400:]}")
    terminal, screen = pty.openpty()
    environment = clean_environment() | {"TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
    environment.pop("NO_COLOR", None)
    # With standard error elsewhere nothing is drawn over.
    process = subprocess.Popen(
        ["./ch03"], cwd=copy, env=environment, stdin=screen, stdout=screen, stderr=subprocess.DEVNULL
    )
    os.close(screen)
    printed = b"".join(_chunks(terminal))
    os.close(terminal)
    if process.wait() != 1:
        raise MarkerError(f"{COMMAND} ends with {process.returncode} for a kernel without its barrier")
    lines = printed.decode("utf-8").replace("\r\n", "\n").strip("\n").split("\n")
    return [re.sub(r" +(up to date|\d+\.\d\d s)$", "", line) for line in lines]


def _chunks(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            chunk = os.read(terminal, 65536)
        except OSError:  # Linux says so when the other side is closed
            return
        if not chunk:
            return
        yield chunk


def _drawn(lines: list[str]) -> str:
    height = (len(lines) + 1) * LINE + 2 * MARGIN
    plain = [_ESCAPE.sub("", line) for line in lines]
    parts = [paper(0, height)]
    for number, line in enumerate([f"\x1b[2m$\x1b[0m {COMMAND}", *lines]):
        parts += [words(column, baseline(number), style, text) for column, style, text in _runs(line)]
    verdict = next(line for line in plain if line.startswith("  RACE"))
    return svg(
        height,
        " ".join(verdict.split()),
        f"{COMMAND} prints: {' '.join(' '.join(plain).split())}",
        STYLE,
        parts,
    )


def _runs(line: str) -> Iterator[tuple[int, str, str]]:
    """Adjacent words of a line in one style: the column of the first letter, the style, the words."""
    column, style = 0, ""
    for i, part in enumerate(_ESCAPE.split(line)):
        if i % 2:
            if part not in _STYLES:
                raise MarkerError(f"the page uses a style that the picture does not know: {part}")
            style = _STYLES[part]
            continue
        for found in re.finditer(r"\S+(?: \S+)*", part):
            yield column + found.start(), style, found[0]
        column += len(part)
