"""python -m grader: run a command."""

import sys

from .core import entry
from .core.errors import MACHINE, USAGE


def main(arguments: list[str]) -> int:
    """Run one command; failures leave it as exceptions, except errors in the command line."""
    if arguments[:1] == ["doctor"] and "--help" not in arguments:
        from .learner import doctor  # works before anything is installed

        return doctor.main(arguments[1:])
    try:
        import typer

        from . import cli
    except ImportError as error:
        print(f"warpbook: the Python package {error.name} is missing; see make doctor", file=sys.stderr)
        return MACHINE
    try:
        status = cli.main(arguments)
    except typer.TyperException as error:
        print(f"warpbook: {error.format_message()}", file=sys.stderr)
        return USAGE
    except typer.Abort:
        raise KeyboardInterrupt from None
    return status if isinstance(status, int) else 0


def guarded(arguments: list[str]) -> int:
    """Call `main` and report its failures; no exception leaves it."""
    return entry.guarded(lambda: main(arguments))


if __name__ == "__main__":
    sys.exit(guarded(sys.argv[1:]))
