"""Opening files that somebody else has put there: regular files, and nothing else."""

import os
import stat
from pathlib import Path
from typing import IO

from .limits import Refused


def open_regular(path: str | Path, most: int, *, folder: int | None = None) -> IO[bytes]:
    """Opens a regular file of at most `most` bytes; `folder` is the open folder that `path` is relative to.

    No link is followed in the last part of the path, and no FIFO's other end waited for. Raises Refused, whose
    sentence lacks its subject: "is a symbolic link"; and OSError where the machine does not let us read it.
    """
    mode = os.stat(path, dir_fd=folder, follow_symlinks=False).st_mode
    if not stat.S_ISREG(mode):
        raise Refused(f"is {kind_of(mode)}, not a file")  # opening some devices does something already
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    handle = os.open(path, flags, dir_fd=folder)
    status = os.fstat(handle)  # of what was opened, whatever stands there by now
    refused = ""
    if not stat.S_ISREG(status.st_mode):
        refused = f"is {kind_of(status.st_mode)}, not a file"
    elif status.st_size > most:
        refused = f"has {status.st_size:,} bytes; at most {most:,} are taken"
    if refused:
        os.close(handle)
        raise Refused(refused)
    return os.fdopen(handle, "rb")


def kind_of(mode: int) -> str:
    """What a file's mode says it is."""
    words = {
        stat.S_IFLNK: "a symbolic link",
        stat.S_IFDIR: "a folder",
        stat.S_IFIFO: "a FIFO",
        stat.S_IFSOCK: "a socket",
        stat.S_IFBLK: "a device",
        stat.S_IFCHR: "a device",
        stat.S_IFREG: "a file",
    }
    return words.get(stat.S_IFMT(mode), "of an unknown type")
