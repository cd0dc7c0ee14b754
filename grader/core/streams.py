"""Standard output and standard error: in the locale's encoding, and safe if they cannot be written.

Uses only the standard library, because `make doctor` runs before anything is installed.
"""

import codecs
import contextlib
import io
import locale
import os
import sys
from typing import Any, TextIO


def finish() -> OSError | None:
    """Write what both streams still hold. Returns why output was lost, or None."""
    lost = None
    for stream in (sys.stderr, sys.stdout):
        with contextlib.suppress(ValueError):  # closed
            stream.flush()
        raw = getattr(getattr(stream, "buffer", None), "raw", None)
        lost = raw.lost if isinstance(raw, _Patient) else None
    return lost


def prepare() -> None:
    """Set up both streams before anything is printed.

    By default, Python writes UTF-8 even if the locale supports only ASCII. ./chNN writes ? for a character
    that it cannot encode, and so do these streams. PYTHONIOENCODING takes precedence.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:  # no other file may get a closed one's number
        pass
    os.close(descriptor)
    sys.stdout, sys.stderr = _prepared(sys.stdout, 1), _prepared(sys.stderr, 2)


class _Patient(io.FileIO):
    """After an error, output is lost, and the command continues to its exit status."""

    lost: OSError | None = None

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if not isinstance(error, BrokenPipeError):  # a reader that leaves has what it wants
                self.lost = error
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return memoryview(data).nbytes


def _prepared(stream: TextIO | None, number: int) -> TextIO:
    """A stream for a file descriptor, replacing Python's, which is missing if the descriptor was closed."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    is_told = bool(os.environ.get("PYTHONIOENCODING"))
    return io.TextIOWrapper(
        io.BufferedWriter(_Patient(number, "w", closefd=False)),
        stream.encoding if is_told else codecs.lookup(locale.getencoding()).name,
        errors="replace",
        line_buffering=True,  # in a pipe too, so that output and errors appear in order
        write_through=stream.write_through,
    )
