"""Running other programs so that none is left behind: each in a separate process group.

Also their environment, and how many may run at once.
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
    """How a program ended. `status` is negative for a signal, None if the time limit was reached."""

    status: int | None
    output: str
    seconds: float
    page: str = ""  # its terminal output, if it had a terminal


class Processes:
    """The running programs. `stop` ends all of them and prevents new ones."""

    def __init__(self) -> None:
        """Begin without any program."""
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
        """Run `command` to its end or for `limit` seconds. Raises OSError if it cannot be started.

        With `on_terminal` its standard output is a new terminal, so that it may use colours.
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
        """Let `stop` end a program that was started elsewhere, in its own process group."""
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
        """End all programs; threads in `run` return soon after."""
        with self._lock:
            self._stopped = True
            running = list(self._running)
        for process in running:
            _signal_group(process, signal.SIGTERM)


@contextlib.contextmanager
def interruptible(processes: Processes) -> Iterator[None]:
    """End all programs on Ctrl-C, SIGTERM and SIGHUP, so that the interrupted main thread need not wait."""

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
    """The results of `work` for each item, `jobs` at once, in the order of completion.

    An exception in `work`, or closing this generator, stops `processes` and starts nothing further.
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
    """Whether runs are timed on a GPU, which each then needs exclusively."""
    return device == "gpu" or (
        device == "auto" and any(Path(p).exists() for p in ("/dev/nvidiactl", "/dev/dxg"))
    )


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


class _Terminal:
    """A terminal for a program's output; a thread reads it, so that the program never blocks."""

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
        """The complete output, once the program and its children have ended."""
        self._close_inside()
        self._reader.join(_GRACE)
        return bytes(self._kept[-_KEPT:]).decode("utf-8", errors="replace").replace("\r\n", "\n")

    def _close_inside(self) -> None:
        if self.inside >= 0:
            os.close(self.inside)
            self.inside = -1

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # EIO: no process has the terminal open any more
            while part := os.read(self._outside, _KEPT):
                self._kept += part


def _signal_group(process: subprocess.Popen[Any], number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """End the program if it still runs, and then any process left in its group."""
    if process.poll() is None:
        _signal_group(process, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GRACE)
    _signal_group(process, signal.SIGKILL)
    process.wait()
