"""Running other programs so that none is left behind: each in a process group of its own.

Also the environment that they run in, and how many may run at once.
"""

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

_GRACE = 2.0  # seconds between asking a program to end and ending it
_KEPT = 64 * 1024  # bytes of output kept: the last ones
# Variables that change what nvcc or the loader do, and those of the make above us.
_CLEARED = (
    "NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS", "LD_PRELOAD", "LD_AUDIT", "CUDA_INJECTION64_PATH",
    "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MAKE_TERMOUT", "MAKE_TERMERR",
)  # fmt: skip


_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


@dataclass(frozen=True)
class Finished:
    """How a program ended. `status` is negative for a signal, None when its time ran out."""

    status: int | None
    output: str
    seconds: float
    page: str = ""  # what it showed on its terminal, where it was given one


class Processes:
    """The programs now running. `stop` ends them all and lets no more start."""

    def __init__(self) -> None:
        """Nothing runs yet."""
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[Any]] = set()
        self._stopped = False

    def run(
        self,
        command: Sequence[str | Path],
        *,
        folder: Path,
        limit: float,
        environment: Mapping[str, str] | None = None,
        on_terminal: bool = False,
    ) -> Finished:
        """Runs `command` to its end or for `limit` seconds. Raises OSError when it cannot be started.

        With `on_terminal` its standard output is a terminal of its own, for which it may use colours.
        """
        begun = time.monotonic()
        with tempfile.TemporaryFile() as output, contextlib.ExitStack() as resources:
            terminal = resources.enter_context(_Terminal()) if on_terminal else None
            with self._lock:
                if self._stopped:
                    raise KeyboardInterrupt
                process = subprocess.Popen(
                    command,
                    cwd=folder,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=terminal.inside if terminal else output,
                    stderr=output,
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
            page = terminal.shown() if terminal else ""
        return Finished(status, text, time.monotonic() - begun, page)

    @contextlib.contextmanager
    def holding(self, process: subprocess.Popen[Any]) -> Iterator[None]:
        """Lets `stop` end a program that was started elsewhere, in a process group of its own."""
        with self._lock:
            self._running.add(process)
            is_late = self._stopped
        try:
            if is_late:
                _signal_group(process, signal.SIGTERM)
            yield
        finally:
            with self._lock:
                self._running.discard(process)

    @property
    def is_stopped(self) -> bool:
        """Whether `stop` was called."""
        with self._lock:
            return self._stopped

    def stop(self) -> None:
        """Ends everything that runs; threads in `run` return soon after."""
        with self._lock:
            self._stopped = True
            running = list(self._running)
        for process in running:
            _signal_group(process, signal.SIGTERM)


@contextlib.contextmanager
def interruptible(processes: Processes) -> Iterator[None]:
    """Ends what runs on Ctrl-C, SIGTERM and SIGHUP, so that the interrupted main thread need not wait."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    except KeyboardInterrupt:
        processes.stop()
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def side_by_side(
    work: Callable[[_Given], _Made], given: Iterable[_Given], jobs: int, processes: Processes
) -> Generator[_Made]:
    """What `work` makes of each, `jobs` at once, in the order in which they are done.

    An exception, of theirs or where the caller closes this, stops `processes` and begins nothing further.
    """
    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(work, one) for one in given]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BaseException:
            processes.stop()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def clean_environment() -> dict[str, str]:
    """The environment for everything the grader runs."""
    return {name: value for name, value in os.environ.items() if name not in _CLEARED}


def measures(device: str) -> bool:
    """Whether runs are timed on a GPU, which they must then have for themselves."""
    return device == "gpu" or (
        device == "auto" and any(Path(p).exists() for p in ("/dev/nvidiactl", "/dev/dxg"))
    )


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0))


class _Terminal:
    """A terminal for a program's output; a thread takes what is shown, so that nobody waits for room."""

    def __init__(self) -> None:
        self.inside = -1
        self._outside = -1
        self._kept = bytearray()
        self._reader = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> Self:
        self._outside, self.inside = os.openpty()
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._close_inside()
        self._reader.join(_GRACE)
        os.close(self._outside)

    def shown(self) -> str:
        """All of it, once the program and what it started have ended."""
        self._close_inside()
        self._reader.join(_GRACE)
        return bytes(self._kept[-_KEPT:]).decode("utf-8", errors="replace").replace("\r\n", "\n")

    def _close_inside(self) -> None:
        if self.inside >= 0:
            os.close(self.inside)
            self.inside = -1

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # EIO: nobody has the inside open any more
            while part := os.read(self._outside, _KEPT):
                self._kept += part


def _signal_group(process: subprocess.Popen[Any], number: int) -> None:
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
