"""The output of commands that documents show: what they print today, on a page of 80 columns."""

import re
import subprocess
from pathlib import Path

from ..core.processes import clean_environment
from .markers import MarkerError

_IMAGE = re.compile(r"build/(?:experiments/ch\d\d/\w+|(?:solutions|chapters)/ch\d\d)(?=/kernel\.ptx)")
# What differs from one machine or run to another: what was built on the way, how long it took, and how many
# cases were under way beside the one that ended the run. How many files of the workbook an archive holds, and its
# size, change with every file of C; its name and the form of the line are compared.
_UNSTEADY = re.compile(
    r"( +\d+\.\d\d s| +up to date|^  (?:NVCC|KERNEL) .*\n|^  (CC|LINK|AR) .*\n|^kernels: \d+ of \d+\n"
    r"|^  failed .* not run after that$|(?<=\.zip: )\d+ files, [\d.]+ MB$|(?<=\.tar: )\d+ files, [\d.]+ MB$)",
    re.MULTILINE,
)


def shown_output(command: str, root: Path) -> str:
    """The fenced block for a command that is run in `root`, a checkout with its programs."""
    compile_images(command, root)
    return f"```text\n{output_of(command, root)}\n```\n"


def compile_images(command: str, root: Path) -> None:
    """Compiles the experiments, solutions and kernels whose images a command names."""
    for image in _IMAGE.findall(command):
        parts = image.split("/")
        if parts[1] == "experiments":
            source = Path("docs", *parts[1:]).with_suffix(".cu")
        else:
            (folder,) = root.glob(f"{parts[1]}/{parts[2]}_*")
            source = folder.relative_to(root) / "kernel.cu"
        done = subprocess.run(
            ["build/bin/compile", source, image, "--quiet"], cwd=root, capture_output=True, text=True
        )
        if done.returncode != 0:  # a page about a kernel that is not there is none to show
            raise MarkerError(f"{source} could not be compiled: {(done.stderr or done.stdout).strip()}")


def output_of(command: str, root: Path) -> str:
    """What a command prints, both streams together; it may fail, as a learner's first verdict does."""
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=root,
        env=clean_environment() | {"NO_COLOR": "1", "COLUMNS": "80", "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    lines = [line.rstrip() for line in done.stdout.replace(str(root), ".").splitlines()]
    return "\n".join(lines).strip("\n")


def steady(block: str) -> str:
    """A block or output without what differs from one machine or run to another."""
    text = block.removeprefix("```text\n").removesuffix("```\n")
    return _UNSTEADY.sub("", text).strip()
