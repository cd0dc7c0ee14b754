"""Puts the real output of the commands that README.md shows into it.

A place for output is a fenced block between two comments:

    <!-- output: make help -->
    ```
    ...
    ```
    <!-- end -->

`python -m grader.readme` runs each command and fills its block; `--check` only sees whether every place
has the right form. A command may fail: a learner's first verdict does. The commands run one after the other in a
copy of the checkout without anybody's progress, so that they show what a newcomer sees.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .building import clean_environment
from .workbook import find_workbook, write_whole

_PLACE = re.compile(r"<!-- output: (?P<command>[^\n]+?) -->\n(?P<body>.*?)<!-- end -->", re.DOTALL)
_BODY = re.compile(r"```(?:text)?\n(?P<text>.*?)```\n", re.DOTALL)


@dataclass(frozen=True)
class Place:
    """One place for output."""

    command: str
    text: str  # what stands there now


class FormError(Exception):
    """README.md's markers are not as they should be."""


def places(readme: str) -> list[Place]:
    """The places of `readme`, in order; FormError when a marker has no partner or no block."""
    found = []
    for match in _PLACE.finditer(readme):
        body = _BODY.fullmatch(match["body"])
        if body is None:
            raise FormError(f"the output of `{match['command']}` is not one fenced block")
        found.append(Place(match["command"], body["text"]))
    if not len(found) == readme.count("<!-- output:") == readme.count("<!-- end -->"):
        raise FormError("an output marker has no partner")
    return found


@contextmanager
def newcomers_copy(root: Path) -> Iterator[Path]:
    """A copy of the checkout with its programs and packages, and nothing that anybody has done in it."""
    with tempfile.TemporaryDirectory(prefix="warpbook-readme-") as name:
        copy = Path(name) / "warpbook"
        copy.mkdir()
        private = {".git", ".venv", "build", "progress"}
        for path in root.iterdir():
            if path.name in private or re.fullmatch(r"ch\d\d", path.name):
                continue
            if path.is_dir():
                shutil.copytree(path, copy / path.name, symlinks=True)
            else:
                shutil.copy2(path, copy / path.name)
        (copy / ".venv").symlink_to(root / ".venv")
        (copy / "build").mkdir()
        for made in ("bin", "lib", "obj", "programs"):
            shutil.copytree(root / "build" / made, copy / "build" / made)
        for made in ("config.mk", "flags", "sources"):
            shutil.copy2(root / "build" / made, copy / "build" / made)
        for program in (copy / "build" / "programs").iterdir():
            (copy / program.name).hardlink_to(program)
        yield copy


def output_of(command: str, root: Path) -> str:
    """What a command prints on a page of 80 columns, both streams together."""
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=root,
        env=clean_environment() | {"NO_COLOR": "1", "COLUMNS": "80"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    lines = [line.rstrip() for line in done.stdout.replace(str(root), ".").splitlines()]
    return "\n".join(lines).strip("\n")


def fill(readme: str, root: Path) -> str:
    """`readme` with what its commands print today."""

    def run(match: re.Match[str]) -> str:
        print(f"  RUN      {match['command']}", flush=True)
        text = output_of(match["command"], root)
        return f"<!-- output: {match['command']} -->\n```text\n{text}\n```\n<!-- end -->"

    return _PLACE.sub(run, readme)


def main(arguments: list[str]) -> int:
    """Fills README.md, or with `--check` looks at its form."""
    root = find_workbook().root
    path = root / "README.md"
    readme = path.read_text("utf-8")
    try:
        count = len(places(readme))
    except FormError as error:
        print(f"warpbook: README.md: {error}", file=sys.stderr)
        return 1
    if arguments != ["--check"]:
        with newcomers_copy(root) as copy:
            filled = fill(readme, copy)
        write_whole(path, filled)
        print(f"README.md shows today's output of {count} commands")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
