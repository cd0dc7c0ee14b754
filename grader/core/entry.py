"""What every program of the grader does around its work: its streams, and failures as a sentence and a status."""

import os
import sys
from collections.abc import Callable

from . import notices, streams
from .command_words import spoken
from .errors import INTERRUPTED, MACHINE, PASSED, GraderError, explain_os_error


def guarded(work: Callable[[], int | None]) -> int:
    """Do `work`, which returns the exit status, and report its failures; no exception leaves this function."""
    streams.prepare()
    status = _status_of(work)
    for sentence in notices.take():
        print(f"warpbook: {spoken(sentence)}", file=sys.stderr)
    lost = streams.finish()
    if lost is None:
        return status
    print(f"warpbook: standard output: {explain_os_error(lost)}", file=sys.stderr)
    return MACHINE


def _status_of(work: Callable[[], int | None]) -> int:
    try:
        return work() or PASSED
    except SystemExit as error:  # of argparse, which has printed what is wrong
        return error.code if isinstance(error.code, int) else PASSED if error.code is None else MACHINE
    except GraderError as error:
        print(f"warpbook: {spoken(str(error))}", file=sys.stderr)
        return error.status
    except OSError as error:
        print(f"warpbook: {explain_os_error(error)}", file=sys.stderr)
        return MACHINE
    except MemoryError:
        print(
            "warpbook: out of memory; close other programs, or raise the limit (ulimit -v)", file=sys.stderr
        )
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
