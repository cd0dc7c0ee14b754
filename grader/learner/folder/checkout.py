"""`make update`: new chapters and lessons in a checkout, by git, around the learner's kernels.

The learner's kernel.cu are set aside, the branch is moved forward to what it follows, and the kernels are written back.
If anything fails, they are written back anyway: they are in memory and under build/kept/.
"""

import re
import subprocess
from pathlib import Path

from ...core.errors import MachineError, UsageError
from ...core.processes import clean_environment
from ...core.workbook import Workbook, write_whole
from .update import Changes, beside

_KERNEL = re.compile(r"chapters/\w+/kernel\.cu")


def update_checkout(workbook: Workbook) -> Changes:
    """Fast-forward to the branch that this one follows. Raises UsageError if files other than kernels are changed."""
    root = workbook.root
    if not (root / ".git").exists():
        raise UsageError(
            "this workbook is not a git checkout, so it cannot be updated; unpack a newer one, and copy your "
            "chapters/*/kernel.cu and progress/ into it"
        )
    changed = [line[3:] for line in _git(root, "status", "--porcelain", "--untracked-files=no").splitlines()]
    others = [name for name in changed if not _KERNEL.fullmatch(name)]
    if others:
        raise UsageError(
            f"files other than kernels are changed: {', '.join(others[:5])}; commit them, or undo the changes with "
            "git restore, and say make update again"
        )
    _git(root, "fetch", "--quiet")
    before = _git(root, "rev-parse", "HEAD").strip()
    upstream = _git(root, "rev-parse", "@{upstream}").strip()
    kernels = {name: (root / name).read_bytes() for name in changed if (root / name).is_file()}
    for name, content in kernels.items():
        write_whole(workbook.build / "kept" / "update" / name, content)
    try:
        if kernels:
            _git(root, "checkout", "--quiet", "HEAD", "--", *kernels)
        _git(root, "merge", "--quiet", "--ff-only", upstream)
        return _changes(root, before, kernels)
    finally:
        for name, content in kernels.items():
            write_whole(root / name, content)


def _changes(root: Path, before: str, kernels: dict[str, bytes]) -> Changes:
    """What is new since `before`; the new skeleton of a kernel that the learner changed is written beside it."""
    changes = Changes()
    for line in _git(root, "diff", "--name-status", "--no-renames", before, "HEAD").splitlines():
        kind, name = line.split("\t")
        if name in kernels and kind == "M":
            write_whole(root / beside(name), (root / name).read_bytes())
            changes.beside.append((name, beside(name)))
        elif kind == "A":
            changes.added.append(name)
        elif kind == "M":
            changes.renewed.append(name)
    return changes


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-c", "core.quotePath=false", *arguments],
            cwd=root,
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
        )
    except FileNotFoundError:
        raise MachineError("git is not on PATH. On Debian or Ubuntu: apt-get install git") from None
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise MachineError(f"git {arguments[0]} failed: {said[-1] if said else 'it printed nothing'}")
    return done.stdout
