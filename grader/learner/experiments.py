"""`make try-ch04-early-return`: run a small kernel that demonstrates a fact.

docs/experiments/ch04/early_return.cu begins with its subject, its commands, and the output to expect:

    // EXPERIMENT: What happens to a shuffle when lanes have left.
    // RUN: ./ch04 --device emulator --kernel $PTX
    // SHOWS: that lane has exited

It is compiled first; if the compiler's output is enough, there is no RUN line. Commands are printed as a
reader could type them, with their output. The status is 0 if the output contains everything expected. A line
"// NEEDS: nvcc" is in those that clang, with the workbook's own headers, cannot compile.
"""

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ..core.command_words import spoken
from ..core.errors import MACHINE, NOT_PASSED, PASSED, MachineError, UsageError
from ..core.options import Json
from ..core.page import print_json
from ..core.processes import clean_environment
from ..core.toolkit import find_compiler
from ..core.workbook import Workbook, find_workbook
from .markdown import reflow

_HEADER = re.compile(r"^// (EXPERIMENT|RUN|SHOWS|NEEDS): (.*?) *$", re.MULTILINE)
_LIMIT = 60.0  # seconds for one command


@dataclass(frozen=True)
class Experiment:
    """One file of docs/experiments."""

    name: str  # "ch04-early-return"
    path: Path  # relative to the root
    about: str
    runs: tuple[str, ...]
    shows: tuple[str, ...]  # all of them must occur in the output; any white space counts as one blank
    needs_nvcc: bool = False


def read_experiment(root: Path, path: Path) -> Experiment:
    """Parse the first lines of docs/experiments/chNN/name.cu."""
    found = _HEADER.findall((root / path).read_text("utf-8"))
    about = [text for kind, text in found if kind == "EXPERIMENT"]
    runs = tuple(text for kind, text in found if kind == "RUN")
    shows = tuple(text for kind, text in found if kind == "SHOWS")
    needs = [text for kind, text in found if kind == "NEEDS"]
    if len(about) != 1 or not shows:
        raise UsageError(f"{path} needs one EXPERIMENT line and at least one SHOWS")
    if needs not in ([], ["nvcc"]):
        raise UsageError(f"{path}: what an experiment can need is nvcc, not {', '.join(needs)}")
    name = f"{path.parent.name}-{path.stem.replace('_', '-')}"
    return Experiment(name, path, about[0], runs, shows, bool(needs))


def experiments(root: Path) -> dict[str, Experiment]:
    """All experiments, sorted by name."""
    paths = sorted(path.relative_to(root) for path in (root / "docs" / "experiments").glob("ch*/*.cu"))
    return {made.name: made for made in (read_experiment(root, path) for path in paths)}


def folder_of(experiment: Experiment) -> Path:
    """The folder of its kernel.ptx, relative to the root."""
    return Path("build") / "experiments" / experiment.path.parent.name / experiment.path.stem


def _run(workbook: Workbook, command: str) -> tuple[int, str]:
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
    return done.returncode, done.stdout


def _own_command() -> str:
    """The package's command, which need not be on PATH."""
    return f"{shlex.quote(sys.executable)} -m warpbook"


def _shown(workbook: Workbook, command: str) -> str:
    """A command without the places of the package's files."""
    if not workbook.is_packaged:
        return command
    command = command.replace(f"{_own_command()} ", "warpbook ")
    command = command.replace(f"{workbook.out}/programs/", "warpbook ").replace(f"{workbook.out}/bin/", "")
    return command.replace(f"{workbook.tree}/", "")


@dataclass(frozen=True)
class Carried:
    """The outcome of an experiment."""

    experiment: Experiment
    outputs: list[tuple[str, str]]  # each command and what it printed
    missing: list[str]  # of what should have been seen


def carry_out(workbook: Workbook, experiment: Experiment, hear: Callable[[str], None]) -> Carried:
    """Compile and run; `hear` gets the output for the reader as it comes.

    Raises MachineError with the compiler's words where the machine cannot compile it.
    """
    folder = folder_of(experiment)
    compiler = workbook.shown(workbook.out / "bin" / "compile")
    source = workbook.shown(workbook.tree / experiment.path)
    compile_command = f"{shlex.quote(str(compiler))} {shlex.quote(str(source))} {folder} --quiet"
    runs = [run.replace("$PTX", f"{folder}/kernel.ptx") for run in experiment.runs]
    if workbook.is_packaged:
        for chapter in workbook.chapters:
            program = shlex.quote(workbook.command(chapter))
            runs = [run.replace(f"./{chapter.name} ", f"{program} ") for run in runs]
        tree = shlex.quote(str(workbook.tree))
        runs = [
            run.replace("./warpbook ", f"{_own_command()} ").replace(" docs/", f" {tree}/docs/")
            for run in runs
        ]
    commands = [compile_command, *runs]
    hear(f"{reflow(experiment.about)}\n\n")
    outputs = []
    for command in commands:
        hear(f"$ {_shown(workbook, command)}\n")
        status, output = _run(workbook, command)
        if command == compile_command and status == MACHINE:
            raise MachineError(output.strip())
        hear(output if output.endswith("\n") or not output else output + "\n")
        outputs.append((command, output))
    plain = " ".join(" ".join(output for _, output in outputs).split())
    missing = [words for words in experiment.shows if " ".join(words.split()) not in plain]
    return Carried(experiment, outputs, missing)


def _document(carried: Carried) -> dict[str, object]:
    return {
        "name": carried.experiment.name,
        "about": carried.experiment.about,
        "commands": [{"command": command, "output": output} for command, output in carried.outputs],
        "shows": list(carried.experiment.shows),
        "missing": carried.missing,
    }


def _names(incomplete: str) -> list[tuple[str, str]]:
    """The experiments whose names begin with `incomplete`, for completion in a shell."""
    known = experiments(find_workbook().tree)
    return [(one.name, one.about) for one in known.values() if one.name.startswith(incomplete)]


Names = Annotated[
    list[str] | None,
    typer.Argument(
        help="Experiments, such as ch04-early-return; without any, list them.", autocompletion=_names
    ),
]


def try_command(names: Names = None, as_json: Json = False) -> int:
    """Run an experiment of a lesson, or list them."""
    workbook = find_workbook()
    known = experiments(workbook.tree)
    for name in names or []:
        if name not in known:
            near = [other for other in known if other[:4] == name[:4]] or sorted(known)
            raise UsageError(f"there is no experiment {name}; there are: {', '.join(near)}")
    if not names:
        if as_json:
            listed = [{"name": one.name, "about": one.about} for one in known.values()]
            print_json({"schema": "warpbook/experiments/1", "experiments": listed})
        else:
            for experiment in known.values():
                print(spoken(f"make try-{experiment.name}\n    {experiment.about}"))
        return PASSED

    compiler = find_compiler(workbook.tree)
    for name in names:
        if known[name].needs_nvcc and compiler and compiler.name == "clang":
            raise MachineError(
                f"{name} needs nvcc, and the compiler chosen here is clang. Set WARPBOOK_COMPILER=nvcc; in a checkout, "
                "make setup COMPILER=nvcc fetches one"
            )

    def hear(text: str) -> None:
        if not as_json:
            print(text, end="", flush=True)

    try:
        done = [carry_out(workbook, known[name], hear) for name in names]
    except subprocess.TimeoutExpired as error:
        raise MachineError(str(error)) from None
    if as_json:
        print_json({"schema": "warpbook/experiments/1", "experiments": [_document(one) for one in done]})
    for one in done:
        for words in one.missing:
            print(f"warpbook: missing from the output: {words}", file=sys.stderr)
    return NOT_PASSED if any(one.missing for one in done) else PASSED
