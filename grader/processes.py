"""Running other programs so that none is left behind: each in a process group of its own."""

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_GRACE = 2.0  # seconds between asking a program to end and ending it
_KEPT = 64 * 1024  # bytes of output kept: the last ones


@dataclass(frozen=True)
class Finished:
    """How a program ended. `status` is negative for a signal, None when its time ran out."""

    status: int | None
    output: str
    seconds: float


class Processes:
    """The programs now running. `stop` ends them all and lets no more start."""

    def __init__(self) -> None:
        """Nothing runs yet."""
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped = False

    def run(
        self,
        command: Sequence[str | Path],
        *,
        folder: Path,
        limit: float,
        environment: Mapping[str, str] | None = None,
    ) -> Finished:
        """Runs `command` to its end or for `limit` seconds. Raises OSError when it cannot be started."""
        begun = time.monotonic()
        with tempfile.TemporaryFile() as output:
            with self._lock:
                if self._stopped:
                    raise KeyboardInterrupt
                process = subprocess.Popen(
                    command,
                    cwd=folder,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
                self._running.add(process)
            status: int | None
            try:
                status = process.wait(limit)
            except subprocess.TimeoutExpired:
                status = None
            finally:
                _end_group(process)
                with self._lock:
                    self._running.discard(process)
            size = output.seek(0, os.SEEK_END)
            output.seek(max(0, size - _KEPT))
            text = output.read().decode("utf-8", errors="replace")
        return Finished(status, text, time.monotonic() - begun)

    def stop(self) -> None:
        """Ends everything that runs; threads in `run` return soon after."""
        with self._lock:
            self._stopped = True
            running = list(self._running)
        for process in running:
            _signal_group(process, signal.SIGTERM)


def _signal_group(process: subprocess.Popen[bytes], number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Ends the program if it still runs, and then whatever it left behind in its group."""
    if process.poll() is None:
        _signal_group(process, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)
    _signal_group(process, signal.SIGKILL)
    process.wait()
