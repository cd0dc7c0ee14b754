"""Standard output and standard error: in the locale's encoding, and safe if the reader closes the pipe early.

Uses only the standard library, because `make doctor` runs before anything is installed.
"""

import codecs
import io
import locale
import os
import sys
from typing import Any, TextIO


def prepare() -> None:
    """Set up both streams before anything is printed.

    By default, Python writes UTF-8 even if the locale supports only ASCII. ./chNN writes ? for a character
    that it cannot encode, and so do these streams. PYTHONIOENCODING takes precedence.
    """
    sys.stdout, sys.stderr = _prepared(sys.stdout, 1), _prepared(sys.stderr, 2)


class _Patient(io.FileIO):
    """If the reader has closed the pipe, output is lost, and the command continues to its exit status."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
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
