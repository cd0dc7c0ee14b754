"""Make each chapter's skeleton from its solution, or check that the two are in step.

core/skeleton.py says which lines of a solution steer its skeleton.

Run `python3 -m grader.authoring.skeletons` to write chapters/*/kernel.cu, and with `--check` to compare only.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path

from ..core.entry import guarded
from ..core.skeleton import MarkerError, make_skeleton

ROOT = Path(__file__).resolve().parents[2]


def solutions(root: Path = ROOT) -> list[Path]:
    """The solutions' kernel.cu, in the order of the chapters."""
    return sorted((root / "solutions").glob("ch[0-9][0-9]_*/kernel.cu"))


def skeleton_path(solution: Path) -> Path:
    """Where the skeleton of a solution lies."""
    return solution.parents[2] / "chapters" / solution.parent.name / "kernel.cu"


def main(arguments: list[str] | None = None) -> int:
    """Write the skeletons, or compare them; the exit status is 0 when all are in step."""
    parser = argparse.ArgumentParser(
        prog="python3 -m grader.authoring.skeletons", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail when one is out of step")
    parser.add_argument(
        "--root", type=Path, default=ROOT, help="the repository (default: the one of this file)"
    )
    options = parser.parse_args(arguments)

    status = 0
    for solution in solutions(options.root):
        path = skeleton_path(solution)
        shown = path.relative_to(options.root)
        try:
            wanted = make_skeleton(
                solution.read_text(encoding="utf-8"), str(solution.relative_to(options.root))
            ).text
        except MarkerError as error:
            print(f"skeletons: {error}", file=sys.stderr)
            status = 1
            continue
        present = path.read_text(encoding="utf-8") if path.exists() else ""
        if present == wanted:
            continue
        if options.check:
            status = 1
            print(f"skeletons: {shown} is out of step with its solution; `make skeletons` updates it")
            sys.stdout.writelines(
                difflib.unified_diff(
                    present.splitlines(keepends=True), wanted.splitlines(keepends=True), "present", "wanted"
                )
            )
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted, encoding="utf-8")
            print(f"skeletons: wrote {shown}")
    return status


if __name__ == "__main__":
    sys.exit(guarded(main))
