"""Errors that are not a kernel's fault, and their exit statuses."""

import errno
import os

PASSED = 0
NOT_PASSED = 1
USAGE = 2
MACHINE = 3
INTERRUPTED = 130


class GraderError(Exception):
    """A failure with a sentence for the user, which is all that is shown."""

    status = MACHINE


class UsageError(GraderError):
    """The request is wrong: an unknown chapter, a hint that does not exist."""

    status = USAGE


class MachineError(GraderError):
    """The machine cannot do this: no compiler, a folder that is not writable, a broken history."""

    status = MACHINE


class NotYetError(GraderError):
    """Refused for now, such as the solution of a chapter that is not passed."""

    status = NOT_PASSED


def explain_os_error(error: OSError) -> str:
    """An OSError in words, with the file and, if there is one, the remedy."""
    where = os.fspath(error.filename) if isinstance(error.filename, str | os.PathLike) else ""
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            reason = "the disk is full"
        case errno.EFBIG:
            reason = "the limit on file sizes is too low (ulimit -f)"
        case errno.EMFILE | errno.ENFILE:
            reason = "the limit on open files is too low (ulimit -n)"
        case errno.EAGAIN:
            reason = "the limit on processes is too low (ulimit -u), or the machine has no room for another"
        case errno.ENOMEM:
            reason = "out of memory; close other programs, or raise the limit (ulimit -v)"
        case errno.EACCES | errno.EPERM | errno.EROFS:
            reason = f"not allowed ({error.strerror}); check its owner and whether the disk is read-only"
        case errno.EISDIR:
            reason = "a folder has that name; move it away"
        case errno.ENOTDIR | errno.EEXIST:
            reason = "a file is in the place of a folder; move it away"
        case _:
            reason = error.strerror or str(error)
    return f"{where}: {reason}" if where else reason
