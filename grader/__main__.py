"""python -m grader: runs a command and turns every failure into a sentence and an exit status."""

import os
import sys
import traceback

from . import doctor
from .errors import INTERRUPTED, MACHINE, USAGE, GraderError, explain_os_error


def main(arguments: list[str]) -> int:
    """Runs one command; no exception leaves this function."""
    if arguments[:1] == ["doctor"] and "--help" not in arguments:
        return doctor.main(arguments[1:])  # must work before anything is installed
    try:
        import click

        from .cli import app
        from .page import speak_as_the_locale_does
    except ImportError as error:
        print(f"warpbook: the Python package {error.name} is missing; see make doctor", file=sys.stderr)
        return MACHINE
    speak_as_the_locale_does()
    try:
        status = app(arguments, prog_name="warpbook", standalone_mode=False)
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return USAGE
    except click.ClickException as error:
        print(f"warpbook: {error.format_message()}", file=sys.stderr)
        return USAGE
    except (KeyboardInterrupt, click.exceptions.Abort):
        print("warpbook: interrupted; what was finished is kept", file=sys.stderr)
        return INTERRUPTED


def guarded(arguments: list[str]) -> int:
    """`main`, with what is no fault of the command line told apart from the rest."""
    try:
        return main(arguments)
    except GraderError as error:
        print(f"warpbook: {error}", file=sys.stderr)
        return error.status
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return MACHINE
    except OSError as error:
        print(f"warpbook: {explain_os_error(error)}", file=sys.stderr)
        return MACHINE
    except KeyboardInterrupt:
        print("warpbook: interrupted; what was finished is kept", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        if os.environ.get("WARPBOOK_TRACEBACK"):
            traceback.print_exc()
        print(f"warpbook: a mistake in Warpbook itself ({type(error).__name__}: {error}); please report it, "
              "with what WARPBOOK_TRACEBACK=1 shows", file=sys.stderr)  # fmt: skip
        return MACHINE


if __name__ == "__main__":
    sys.exit(guarded(sys.argv[1:]))
