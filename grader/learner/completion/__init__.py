"""`./warpbook completion bash`: the completion scripts for commands, options and chapters.

The scripts beside this file ask the program on the command line, ./warpbook or another name for it, and
contain no list of commands. They are printed to be sourced; nothing is written to a home folder.
"""

from importlib.resources import files
from typing import Annotated

import typer

from ...core.errors import PASSED, UsageError
from ...core.options import Json
from ...core.page import print_json

SHELLS = ("bash", "zsh", "fish")


def _begin_so(incomplete: str) -> list[str]:
    return [shell for shell in SHELLS if shell.startswith(incomplete)]


def completion(
    shell: Annotated[str, typer.Argument(help="bash, zsh or fish.", autocompletion=_begin_so)],
    as_json: Json = False,
) -> int:
    """Print the completion script of a shell, for commands, options and chapters."""
    if shell not in SHELLS:
        raise UsageError(f"completion is for {', '.join(SHELLS)}, not {shell!r:.40}")
    script = files(__package__).joinpath(f"warpbook.{shell}").read_text("utf-8")
    if as_json:
        print_json({"schema": "warpbook/completion/1", "shell": shell, "script": script})
    else:
        print(script, end="")
    return PASSED
