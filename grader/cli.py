"""The commands behind the Makefile's targets, and the module of each.

A command's module is imported only when that command runs, not for another command or for a list of commands:
importing the modules of a class or a report takes several times as long as all of `./warpbook status`.
"""

import ast
import functools
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from . import __version__

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


def load(name: str) -> click.Command:
    """A command, ready to run."""
    module, function = COMMANDS[_PANELS[name]][name].split(":")
    made = typer.Typer(add_completion=False)
    made.command(name, context_settings=_SETTINGS.get(_PANELS[name]))(
        getattr(import_module(f".{module}", __package__), function)
    )
    return typer.main.get_command(made)


class _Commands(TyperGroup):
    """All commands: listed from their docstrings, imported one at a time."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_PANELS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _PANELS:
            return None
        return TyperCommand(cmd_name, help=_help(cmd_name), rich_help_panel=_PANELS[cmd_name])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and load(command.name or ""), rest

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise click.Abort from None  # typer prints nothing about a KeyboardInterrupt


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


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(f"warpbook {__version__}")
        ctx.exit()


app = _Commands(
    name="warpbook",
    no_args_is_help=True,
    params=[
        TyperOption(
            param_decls=["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_print_version,
            help="Print the version and exit.",
        )
    ],
    help="Build, judge and record the kernels of the workbook. Every command is also a target of make.",
)


def main(arguments: list[str]) -> Any:
    """Run a command and return its exit status. Errors in the command line are raised as click's exceptions."""
    return app.main(arguments, prog_name="warpbook", standalone_mode=False)
