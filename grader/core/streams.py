"""Standard output and standard error: in the locale's encoding, and no harm done by a reader who leaves early.

Only the standard library is used: `make doctor` runs before anything is installed.
"""

import codecs
import io
import locale
import os
import sys
from typing import Any, TextIO


def prepare() -> None:
    """Makes both ready, before anything is printed.

    Python alone would write UTF-8 where the locale knows no more than ASCII. ./chNN writes ? for what it cannot
    say, and so do these. PYTHONIOENCODING decides where it is set.
    """
    sys.stdout, sys.stderr = _prepared(sys.stdout, 1), _prepared(sys.stderr, 2)


class _Patient(io.FileIO):
    """Where nobody reads any more, what is written is lost, and the command goes on to its exit status."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return memoryview(data).nbytes


def _prepared(stream: TextIO | None, number: int) -> TextIO:
    """The stream for a file descriptor, in place of the one that Python made, if any: it may have been closed."""
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    is_told = bool(os.environ.get("PYTHONIOENCODING"))
    return io.TextIOWrapper(
        io.BufferedWriter(_Patient(number, "w", closefd=False)),
        stream.encoding if is_told else codecs.lookup(locale.getencoding()).name,
        errors="replace",
        line_buffering=True,  # in a pipe too: what is printed and what is complained of come in the order said
        write_through=stream.write_through,
    )
