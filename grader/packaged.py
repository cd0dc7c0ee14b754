"""The command `warpbook` of the package: make's verbs without make, in a folder that `warpbook new` made.

The package's tree is a checkout with its programs built (grader/authoring/wheel.py writes it). This module tells them
where the learner's folder is, fetches a CUDA compiler where there is none, and then runs ./chNN or a command of cli.py.
"""

import hashlib
import os
import re
import sys
from pathlib import Path

from . import cli
from .core import entry
from .core.errors import UsageError
from .core.fetched import cache_folder, need_compiler
from .core.workbook import Workbook
from .learner.folder import find_folder

TREE = Path(__file__).resolve().parents[1]
# Commands that do not read the learner's folder.
_ANYWHERE = {
    "new", "doctor", "completion", "run", "check", "profile", "findings", "class", "handout", "exports", "gradescope",
    "autolab", "autograde",
}  # fmt: skip
_WHOLE_PROGRAMS = {"run", "check", "profile"}
_COMPILING = {
    "grade", "watch", "solutions", "leaderboard", "try", "class", "handout", "gradescope", "autolab", *_WHOLE_PROGRAMS,
}  # fmt: skip
# Those for people who change the workbook need its tests, which the package does not contain.
_OF_A_CHECKOUT = ("kill-rate", "clang-corpus", "kernel", "kernel-edit", "bench-emulator", "time-grade")
_TARGET = re.compile(r"(hint|show|skip|resume|reset|predict|try)-(ch\d\d.*)")
_CHAPTER = re.compile(r"(?:\./)?(ch\d\d)(?:_\w*)?/?")


def main() -> None:
    """Run the command line and end the process with its status."""
    sys.exit(entry.guarded(lambda: run(sys.argv[1:])))


def run(arguments: list[str]) -> int:
    """Run one command and return its exit status."""
    _prepare_environment()
    _register()
    words = _as_words(arguments or ["status"])
    is_about_itself = bool({"--help", "--version"} & set(words[:2]))
    name = words[0]
    chapter = _CHAPTER.fullmatch(name)
    folder = find_folder(Path.cwd())
    if (
        folder is None
        and not is_about_itself
        and (chapter or (name in cli.names() and name not in _ANYWHERE))
    ):
        raise UsageError(
            "this folder is not a workbook; warpbook new FOLDER makes one, and cd FOLDER enters it"
        )
    os.environ["WARPBOOK_WORKBOOK"] = str(folder or _own_folder())
    if not is_about_itself and (chapter or name in _COMPILING):
        need_compiler(TREE, whole_programs=name in _WHOLE_PROGRAMS or _needs_nvcc(words))
    if chapter and folder:
        workbook = Workbook(folder, TREE)
        return _run_chapter(workbook.command(workbook.select([chapter[1]])[0]), words[1:])
    from .__main__ import main as run_command

    return run_command(words)


def _needs_nvcc(words: list[str]) -> bool:
    """Whether a word is a chapter whose kernel.cu is a whole program, or an experiment that clang cannot compile."""
    if words[0] == "try":
        from .learner.experiments import experiments

        known = experiments(TREE)
        return any(known[word].needs_nvcc for word in words[1:] if word in known)
    named = {match[1] for word in words if (match := _CHAPTER.fullmatch(word))}
    workbook = Workbook(TREE)
    return any(one.name in named and workbook.is_program(one) for one in workbook.chapters)


def _prepare_environment() -> None:
    os.environ["WARPBOOK_COMMAND"] = "warpbook"
    os.environ["WARPBOOK_FOLDER"] = str(Path.cwd())  # where the command was typed
    os.environ["WARPBOOK_INCLUDE"] = str(TREE / "common" / "include")
    os.environ["WARPBOOK_VENV"] = ""  # the packages are those of this interpreter
    paths = [str(TREE), os.environ.get("PYTHONPATH", "")]  # for `python -m grader` in other processes
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))


def _register() -> None:
    """Change the list of commands to those that the package has."""
    cli.without(_OF_A_CHECKOUT)
    cli.add("The workbook itself", "new", "learner.folder.command:new")


def _as_words(arguments: list[str]) -> list[str]:
    """The same, with the name of one of make's targets, such as hint-ch04, as a command and its chapter."""
    target = _TARGET.fullmatch(arguments[0])
    return [*target.groups(), *arguments[1:]] if target else arguments


def _own_folder() -> Path:
    """A workbook for commands that are typed outside one, such as class: the tree's files, and a build/ to write in."""
    place = cache_folder() / f"tree-{hashlib.sha256(str(TREE).encode()).hexdigest()[:12]}"
    place.mkdir(parents=True, exist_ok=True)
    for path in TREE.iterdir():
        link = place / path.name
        if path.name not in ("build", "progress") and not (link.is_symlink() and link.readlink() == path):
            link.unlink(missing_ok=True)
            link.symlink_to(path)
    return place


def _run_chapter(program: str, arguments: list[str]) -> int:
    """Become ./chNN, which compiles the kernel if it has changed."""
    sys.stdout.flush()
    os.execv(program, [program, *arguments])
