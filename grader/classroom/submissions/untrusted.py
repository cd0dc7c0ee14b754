"""What somebody else has made, handled with care: sizes have limits, names are shown printable, files are regular.

Nothing in a text that others have chosen acts, hides or turns around on any terminal, file or page.
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import IO

_MEGABYTE = 1 << 20
_MOST_TEXT = 64 * 1024  # characters: a page or two
_MOST_NAME = 200


# ---- Sizes ----------------------------------------------------------------------------------------------------


class Refused(Exception):  # noqa: N818 - a decision, not a mishap
    """Why something was not taken, in a sentence that names the archive and the member."""


@dataclass(frozen=True)
class Limits:
    """Generous for kernels, small for a machine."""

    archive_bytes: int = 32 * _MEGABYTE
    total_bytes: int = 64 * _MEGABYTE  # unpacked
    members: int = 2000
    ratio: int = 200  # of unpacked to packed bytes, from 1 MiB on
    name_length: int = 4096  # characters: as long as a path can be
    depth: int = 16  # folders in each other
    file_bytes: int = _MEGABYTE  # one kernel; what is longer is left out, the rest is taken
    kernels: int = 200  # in one archive, and in a whole submission, as are total_bytes of them
    archives: int = 20  # in a submission
    seconds: int = 20  # of computing, to unpack all archives of a submission


LIMITS = Limits()


# ---- Names and texts ------------------------------------------------------------------------------------------


def printable(text: str | bytes | Path) -> str:
    """A name, or a text that has to stay on its line: what is not UTF-8 or not printable is escaped."""
    shown = text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else str(text)
    return "".join(c if c.isprintable() else _escaped(c) for c in shown)


def short(name: str) -> str:
    """The same of a name in a sentence, which is not to be longer than a sentence is."""
    shown = printable(name)
    return shown if len(shown) <= _MOST_NAME else f"{shown[:_MOST_NAME]}..."


def printable_text(text: str) -> str:
    """A text of several lines: the ends of lines stay, and no more of it than somebody would read."""
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text[:_MOST_TEXT])


def _escaped(character: str) -> str:
    if (
        "\udc80" <= character <= "\udcff"
    ):  # a byte of a file name that is not UTF-8, in Python's representation
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


# ---- Files ----------------------------------------------------------------------------------------------------


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
    status = os.fstat(handle)  # of the opened file, even if the path has changed by now
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
