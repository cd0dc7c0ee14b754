"""`make try-ch04-early-return`: a small kernel that shows something, run by one command.

docs/experiments/ch04/early_return.cu opens with what it is about, how it is run, and what must be seen:

    // EXPERIMENT: What happens to a shuffle when lanes have left.
    // RUN: ./ch04 --device emulator --kernel $PTX
    // SHOWS: that lane has exited

It is compiled first; where that alone shows it, there is no RUN. Commands are printed, with their output, as a
reader could type them. The status is 0 when everything that must be seen was seen.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from .building import clean_environment
from .errors import MACHINE, NOT_PASSED, PASSED, USAGE, GraderError, UsageError
from .workbook import Workbook, find_workbook

_HEADER = re.compile(r"^// (EXPERIMENT|RUN|SHOWS): (.*?) *$", re.MULTILINE)
_LIMIT = 60.0  # seconds for one command


@dataclass(frozen=True)
class Experiment:
    """One file of docs/experiments."""

    name: str  # "ch04-early-return"
    path: Path  # relative to the root
    about: str
    runs: tuple[str, ...]
    shows: tuple[str, ...]  # all of them must stand in the output, blanks and line ends counting as one


def read_experiment(root: Path, path: Path) -> Experiment:
    """Reads the head of docs/experiments/chNN/name.cu."""
    found = _HEADER.findall((root / path).read_text("utf-8"))
    about = [text for kind, text in found if kind == "EXPERIMENT"]
    runs = tuple(text for kind, text in found if kind == "RUN")
    shows = tuple(text for kind, text in found if kind == "SHOWS")
    if len(about) != 1 or not shows:
        raise UsageError(f"{path} needs one EXPERIMENT line and at least one SHOWS")
    return Experiment(f"{path.parent.name}-{path.stem.replace('_', '-')}", path, about[0], runs, shows)


def experiments(root: Path) -> dict[str, Experiment]:
    """All of them, by name."""
    paths = sorted(path.relative_to(root) for path in (root / "docs" / "experiments").glob("ch*/*.cu"))
    return {made.name: made for made in (read_experiment(root, path) for path in paths)}


def folder_of(experiment: Experiment) -> Path:
    """Where its kernel.ptx goes, relative to the root."""
    return Path("build") / "experiments" / experiment.path.parent.name / experiment.path.stem


def _run(workbook: Workbook, command: str) -> str:
    environment = clean_environment() | {"COLUMNS": "80"}
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=workbook.root,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=_LIMIT,
    )
    return done.stdout


def carry_out(workbook: Workbook, experiment: Experiment) -> bool:
    """Compiles, runs, prints; whether it showed what it should."""
    folder = folder_of(experiment)
    compiler = (workbook.out / "bin" / "compile").relative_to(workbook.root)
    compile_command = f"{compiler} {experiment.path} {folder} --quiet"
    commands = [compile_command, *(run.replace("$PTX", f"{folder}/kernel.ptx") for run in experiment.runs)]
    print(f"{experiment.about}\n", flush=True)
    seen = ""
    for command in commands:
        print(f"$ {command}", flush=True)
        output = _run(workbook, command)
        print(output, end="" if output.endswith("\n") or not output else "\n", flush=True)
        seen += output
    plain = " ".join(seen.split())
    missing = [words for words in experiment.shows if " ".join(words.split()) not in plain]
    for words in missing:
        print(f"warpbook: this should have shown: {words}", file=sys.stderr)
    return not missing


def main(arguments: list[str]) -> int:
    """Carries out the experiments named."""
    try:
        workbook = find_workbook()
        known = experiments(workbook.root)
        for name in arguments:
            if name not in known:
                near = [other for other in known if other[:4] == name[:4]] or sorted(known)
                raise UsageError(f"there is no experiment {name}; there are: {', '.join(near)}")
        done = [carry_out(workbook, known[name]) for name in arguments]
        return PASSED if all(done) else NOT_PASSED
    except UsageError as error:
        print(f"warpbook: {error}", file=sys.stderr)
        return USAGE
    except (GraderError, subprocess.TimeoutExpired) as error:
        print(f"warpbook: {error}", file=sys.stderr)
        return MACHINE
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return MACHINE
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
