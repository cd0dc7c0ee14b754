"""The commands behind the Makefile's targets, and the module of each.

A command's module is imported only when that command runs, not for another command or for a list of commands:
importing the modules of a class or a report takes several times as long as all of `./warpbook status`.
"""

import ast
import functools
import os
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.completion import get_completion_inspect_parameters
from typer.core import TyperArgument, TyperCommand, TyperGroup

from . import __version__
from .core.errors import USAGE

# For each panel of --help, the commands with their functions, whose docstrings are the help texts.
COMMANDS = {
    "Learning": {
        "status": "learner.commands:status",
        "grade": "learner.grade_command:grade_command",
        "watch": "learner.watch.command:watch",
        "hint": "learner.commands:hint",
        "show": "learner.commands:show",
        "skip": "learner.commands:skip",
        "resume": "learner.commands:resume",
        "reset": "learner.commands:reset",
        "predict": "learner.predict:predict_command",
        "try": "learner.experiments:try_command",
        "ladder": "learner.ladder.command:ladder",
        "leaderboard": "learner.leaderboard.command:leaderboard",
        "report": "learner.report.command:report",
        "submission": "learner.handin:submission",
        "completion": "learner.completion:completion",
    },
    "Whole programs": {
        "run": "learner.programs.command:run",
        "check": "learner.programs.command:check",
        "profile": "learner.programs.command:profile",
        "findings": "learner.programs.command:findings",
    },
    "Teaching": {
        "handout": "classroom.handout.command:handout",
        "class": "classroom.command:class_command",
        "exports": "classroom.exports.command:exports",
        "gradescope": "classroom.autograder.command:gradescope",
        "autolab": "classroom.autograder.command:autolab",
        "autograde": "classroom.autograder.command:autograde",
    },
    "The workbook itself": {
        "doctor": "learner.commands:doctor",
        "update": "learner.folder.command:update",
        "editor": "learner.editor:editor",
        "solutions": "learner.grade_command:solutions_command",
        "kill-rate": "authoring.killrate:kill_rate_command",
        "clang-corpus": "authoring.clang_corpus:clang_corpus_command",
        "kernel": "authoring.kernel_command:kernel_command",
        "kernel-edit": "authoring.kernel_command:kernel_edit_command",
        "bench-emulator": "authoring.bench_emulator:bench_emulator_command",
        "time-grade": "authoring.time_grade:time_grade_command",
    },
}
# What follows the program's name is nvcc's or the program's.
_SETTINGS = {"Whole programs": {"allow_interspersed_args": False}}
_PANELS = {name: panel for panel, commands in COMMANDS.items() for name in commands}
_HERE = Path(__file__).parent


def names() -> list[str]:
    """Every command."""
    return list(_PANELS)


def add(panel: str, name: str, function: str) -> None:
    """Add a command that only the package has."""
    COMMANDS[panel][name] = function
    _PANELS[name] = panel


def without(left_out: Iterable[str]) -> None:
    """Remove the commands that only a checkout has."""
    for name in left_out:
        del COMMANDS[_PANELS.pop(name)][name]


def load(name: str) -> TyperCommand:
    """A command, ready to run."""
    module, function = COMMANDS[_PANELS[name]][name].split(":")
    made = typer.Typer(add_completion=False)
    made.command(name, cls=_Command, context_settings=_SETTINGS.get(_PANELS[name]))(
        getattr(import_module(f".{module}", __package__), function)
    )
    command = typer.main.get_command(made)
    assert isinstance(command, TyperCommand)
    return command


def _shown_as_flags(parameters: list[Any]) -> list[Any]:
    """The same parameters, with flags that are shown without a type: typer shows --json as `--json <bool>`.

    A flag that is not given is False: for any other value typer imports pydantic, which doubles the time of a command.
    """
    for parameter in parameters:
        if getattr(parameter, "is_flag", False):
            parameter.metavar = ""
            parameter.default = parameter.default or False
    return parameters


class _Command(TyperCommand):
    """One command; an argument whose name describes several words is shown in the usage as it is written."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _shown_as_flags(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        named = [parameter.metavar for parameter in self.params if isinstance(parameter, TyperArgument)]
        pieces = super().collect_usage_pieces(ctx)
        return [*pieces[:1], *(name or piece for name, piece in zip(named, pieces[1:], strict=True))]


class _Commands(TyperGroup):
    """All commands: listed from their docstrings, imported one at a time.

    The class of `ctx` has no public name.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        return _shown_as_flags(super().get_params(ctx))

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(_PANELS)

    def get_command(self, ctx: Any, cmd_name: str) -> TyperCommand | None:  # noqa: ARG002
        if cmd_name not in _PANELS:
            return None
        return TyperCommand(cmd_name, help=_help(cmd_name), rich_help_panel=_PANELS[cmd_name])

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, TyperCommand | None, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        return name, load(command.name or "") if command else None, rest

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise typer.Abort from None  # typer makes an exit status of a KeyboardInterrupt and says nothing


def _help(name: str) -> str:
    """A command's docstring, read without importing its module."""
    module, function = COMMANDS[_PANELS[name]][name].split(":")
    place = _HERE / module.replace(".", "/")
    return _docstrings(place / "__init__.py" if place.is_dir() else place.with_suffix(".py"))[function]


@functools.cache
def _docstrings(path: Path) -> dict[str, str]:
    """The docstrings of a file's functions."""
    tree = ast.parse(path.read_bytes())
    return {
        node.name: ast.get_docstring(node) or "" for node in tree.body if isinstance(node, ast.FunctionDef)
    }


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"warpbook {__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version and exit."),
    ] = False,
) -> None:
    """Build, judge and record the kernels of the workbook. Every command is also a target of make."""


_made = typer.Typer(name="warpbook", cls=_Commands, callback=_options, add_completion=False)
app = typer.main.get_command(_made)


def main(arguments: list[str]) -> Any:
    """Run a command and return its exit status. Errors in the command line are raised as typer's exceptions."""
    if "_WARPBOOK_COMPLETE" in os.environ:
        get_completion_inspect_parameters()  # which makes the shells known whose completion is asked for
    elif not arguments:
        app.main(["--help"], prog_name="warpbook", standalone_mode=False)
        return USAGE
    return app.main(arguments, prog_name="warpbook", standalone_mode=False)
