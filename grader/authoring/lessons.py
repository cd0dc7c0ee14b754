"""`make lessons`: fill in the generated parts of lessons and guides.

    <!-- code: docs/experiments/ch04/butterfly.cu#butterfly -->   a fragment of a file that the tests build
    <!-- output: ./ch04 --device emulator --kernel build/solutions/ch04/kernel.ptx -->   what a command prints today
    <!-- counted: sectors per request: ld_f32_unit = neighbours; ld_f32_stride8 = every eighth -->
                                  what an H200 counted, from tests/hardware_truth
    <!-- measured: ch04 -->   what a GPU's committed record says of a chapter
    <!-- predictions: ch04 -->   the questions of `make predict-ch04`

A fragment is the text between `// BEGIN name` and `// END name` in its file. `--check` compares everything
except the output of commands, in seconds, and changes nothing.
"""

import csv
import re
import shutil
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

from ..core.entry import guarded
from ..core.errors import MachineError
from ..core.workbook import find_workbook, write_whole
from ..learner import predict
from . import records
from .markers import MarkerError, Place, fill, places
from .shown_output import shown_output

_LANGUAGES = {
    ".cu": "cuda",
    ".cuh": "cuda",
    ".c": "c",
    ".h": "c",
    ".py": "python",
    ".sh": "sh",
    ".mk": "make",
}
_HEADER = re.compile(r"^// (EXPERIMENT|RUN|SHOWS): .*\n", re.MULTILINE)


def documents(root: Path) -> list[Path]:
    """Every document with places of the kinds listed here; README.md and others have separate commands."""
    found = [*root.glob("chapters/ch*/README.md"), *root.glob("docs/*.md")]
    marker = re.compile(rf"^<!-- ({'|'.join(KINDS)}): ", re.MULTILINE)
    return sorted(path for path in found if marker.search(path.read_text("utf-8")))


def fragment(text: str, region: str) -> str:
    """The text between `// BEGIN region` and `// END region`, dedented."""
    pattern = rf"^[ \t]*(?://|#) BEGIN {re.escape(region)}\n(.*?)^[ \t]*(?://|#) END {re.escape(region)}$"
    match = re.search(pattern, text, re.MULTILINE | re.DOTALL)
    if not match:
        raise MarkerError(f"no region {region}")
    return textwrap.dedent(match[1]).strip("\n")


def _code(root: Path, argument: str) -> str:
    name, _, region = argument.partition("#")
    path = root / name
    if not path.is_file():
        raise MarkerError(f"there is no file {name}")
    text = path.read_text("utf-8")
    code = fragment(text, region) if region else _HEADER.sub("", text).strip("\n")
    return f"```{_LANGUAGES.get(path.suffix, 'text')}\n{code}\n```\n"


# What the tables call a counter of tests/hardware_truth.
_COUNTERS = {
    "instructions": "inst",
    "requests": "global_ld_requests",
    "sectors": "global_ld_sectors",
    "stores": "global_st_requests",
    "store sectors": "global_st_sectors",
    "additions in the L2": "global_red_requests",
    "sectors of additions": "global_red_sectors",
    "shared loads": "inst_shared_ld",
    "shared stores": "inst_shared_st",
    "wavefronts": "shared_ld_wavefronts",
    "store wavefronts": "shared_st_wavefronts",
    "shared atomics": "inst_shared_atom",
    "atomic wavefronts": "shared_atom_wavefronts",
    "conflicts": "shared_ld_conflicts",
    "store conflicts": "shared_st_conflicts",
    "divergent branches": "branch_divergent",
    "registers": "registers",
    "time": "time_ns",
}


def hardware_counts(root: Path) -> dict[str, dict[str, str]]:
    """The counts that an H200 recorded, by pattern."""
    rows: dict[str, dict[str, str]] = {}
    for name in ("more_counters.csv", "counters.csv"):
        with open(root / "tests" / "hardware_truth" / name, newline="") as file:
            rows |= {row["kernel"]: row for row in csv.DictReader(file)}
    return rows


def _counted(root: Path, argument: str) -> str:
    """A table: behind the columns and a colon the rows, `pattern = words`, between semicolons."""
    columns, _, entries = argument.partition(": ")
    rows = hardware_counts(root)
    heads = [column.strip() for column in columns.split(",")]
    lines = ["| access | " + " | ".join(heads) + " |", "|---|" + "---:|" * len(heads)]
    for entry in entries.split("; "):
        pattern, _, words = entry.partition(" = ")
        if pattern not in rows or not words:
            raise MarkerError(f"no pattern `{pattern}` with its words in tests/hardware_truth")
        lines.append(f"| {words} | " + " | ".join(_count(rows[pattern], head) for head in heads) + " |")
    return "\n".join(lines) + "\n"


def _count(row: dict[str, str], head: str) -> str:
    above, _, below = head.partition(" per ")
    try:
        value = float(row[_COUNTERS[above]])
        if below:
            value /= float(row[_COUNTERS[f"{below}s"]])
    except (KeyError, ValueError, ZeroDivisionError) as error:
        raise MarkerError(f"`{head}` cannot be counted: {error}") from None
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def _output(root: Path, argument: str) -> str:
    print(f"  RUN      {argument}", flush=True)
    return shown_output(argument, root)


KINDS: dict[str, Callable[[Path, str], str]] = {
    "code": _code,
    "counted": _counted,
    "measured": records.table,
    "predictions": predict.as_list,
    "output": _output,
}


def content(root: Path, place: Place, *, runs_commands: bool) -> str:
    """What belongs into a place."""
    if place.kind not in KINDS:
        raise MarkerError(f"there is no kind of place called {place.kind}")
    if place.kind == "output" and not runs_commands:
        return place.body
    return KINDS[place.kind](root, place.argument)


def main(arguments: list[str]) -> int:
    """Fills every document, or those of the chapters named; with `--check` names those that are out of step."""
    root = find_workbook().root
    is_check = arguments == ["--check"]
    chapters = [] if is_check else arguments
    stale = 0
    for path in documents(root):
        name = path.relative_to(root)
        if (
            path.name == "teaching.md" and not is_check
        ):  # its commands begin with a class that nobody has graded
            shutil.rmtree(root / "build" / "first-class", ignore_errors=True)
        if chapters and path.parent.name[:4] not in chapters:
            continue
        text = path.read_text("utf-8")
        try:
            filled = fill(text, lambda place: content(root, place, runs_commands=not is_check))
            count = len(places(filled))
        except (MarkerError, MachineError) as error:
            print(f"warpbook: {name}: {error}", file=sys.stderr)
            return 1
        if filled == text:
            continue
        stale += 1
        if is_check:
            print(f"{name} is out of step; run `make lessons`", file=sys.stderr)
        else:
            write_whole(path, filled)
            print(f"  FILL     {name}: {count} places")
    return 1 if is_check and stale else 0


if __name__ == "__main__":
    sys.exit(guarded(lambda: main(sys.argv[1:])))
