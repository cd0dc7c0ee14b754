"""What can go wrong outside a kernel, and the exit status each ends with."""

import errno
import os

PASSED = 0
NOT_PASSED = 1
USAGE = 2
MACHINE = 3
INTERRUPTED = 130


class GraderError(Exception):
    """A failure with a sentence for a person; nothing else of it is ever shown."""

    status = MACHINE


class UsageError(GraderError):
    """What was asked for makes no sense: an unknown chapter, a hint that does not exist."""

    status = USAGE


class MachineError(GraderError):
    """The machine cannot do it: no compiler, a folder that cannot be written, a broken history."""

    status = MACHINE


class NotYetError(GraderError):
    """Refused for now: the solution of a chapter that is not passed."""

    status = NOT_PASSED


def explain_os_error(error: OSError) -> str:
    """An OSError in words that name the file and, where there is one, the remedy."""
    where = os.fspath(error.filename) if isinstance(error.filename, str | os.PathLike) else ""
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            reason = "the disk is full"
        case errno.EFBIG:
            reason = "a limit on file sizes stands in the way (ulimit -f)"
        case errno.EACCES | errno.EPERM | errno.EROFS:
            reason = f"not allowed ({error.strerror}); check who owns it and whether the disk is read-only"
        case errno.EISDIR:
            reason = "there is a folder of that name; move it away"
        case errno.ENOTDIR | errno.EEXIST:
            reason = "a file stands where a folder is needed; move it away"
        case _:
            reason = error.strerror or str(error)
    return f"{where}: {reason}" if where else reason
