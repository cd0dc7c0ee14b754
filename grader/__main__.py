"""python -m grader: run a command, and turn every failure into a sentence and an exit status."""

import os
import sys

from .core import streams
from .core.errors import INTERRUPTED, MACHINE, USAGE, GraderError, explain_os_error


def main(arguments: list[str]) -> int:
    """Run one command; failures leave it as exceptions, except errors in the command line."""
    streams.prepare()
    if arguments[:1] == ["doctor"] and "--help" not in arguments:
        from .learner import doctor  # works before anything is installed

        return doctor.main(arguments[1:])
    try:
        import click

        from . import cli
    except ImportError as error:
        print(f"warpbook: the Python package {error.name} is missing; see make doctor", file=sys.stderr)
        return MACHINE
    try:
        status = cli.main(arguments)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return USAGE
    except click.ClickException as error:
        print(f"warpbook: {error.format_message()}", file=sys.stderr)
        return USAGE
    except click.exceptions.Abort:
        raise KeyboardInterrupt from None
    return status if isinstance(status, int) else 0


def guarded(arguments: list[str]) -> int:
    """Call `main` and report its failures; no exception leaves it."""
    try:
        return main(arguments)
    except GraderError as error:
        print(f"warpbook: {error}", file=sys.stderr)
        return error.status
    except OSError as error:
        print(f"warpbook: {explain_os_error(error)}", file=sys.stderr)
        return MACHINE
    except KeyboardInterrupt:
        print("warpbook: interrupted; what was finished is kept", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        if os.environ.get("WARPBOOK_TRACEBACK"):
            import traceback

            traceback.print_exc()
        print(f"warpbook: an error in Warpbook itself ({type(error).__name__}: {error}); please report it "
              "with the output of WARPBOOK_TRACEBACK=1", file=sys.stderr)  # fmt: skip
        return MACHINE


if __name__ == "__main__":
    sys.exit(guarded(sys.argv[1:]))
