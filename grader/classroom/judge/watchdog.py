"""Running a program that nobody trusts: watched, within limits, and ended with all that it started."""

import contextlib
import os
import selectors
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from ...core.processes import Processes
from ...core.workbook import Workbook
from .groups import limited_group

_LOOK = 0.05  # seconds between two looks at what runs
_GRACE = 10.0  # seconds for it to go once it was told to
_WORDS = 64 * 1024  # bytes kept of what it says on standard error
_OURS = 2  # processes that are not the program's: its keeper, and bubblewrap outside the sandbox
_TICK = 1 / os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


class Stop(Enum):
    """What was exceeded where a program had to be ended."""

    TIME = "time"
    MEMORY = "memory"
    PROCESSES = "processes"
    OUTPUT = "output"


@dataclass(frozen=True)
class Limits:
    """For one program and all that it starts, together unless it says otherwise."""

    seconds: float  # of wall-clock time
    memory_bytes: int  # resident
    processes: int
    output_bytes: int  # on standard output; on standard error the first 64 KiB count, and no more is kept
    cpu_seconds: int  # of each process
    file_bytes: int  # of the largest file
    address_bytes: int = 0  # of each process; 0: as much as it likes

    def script(self, *, is_alone: bool) -> str:
        """The same as shell commands for what a process can be told itself.

        Where it is not alone in its namespace the user's other processes would count too.
        """
        parts = ["-c 0", f"-t {self.cpu_seconds}", f"-f {self.file_bytes // 512}"]
        if self.address_bytes:
            parts.append(f"-v {self.address_bytes // 1024}")
        lines = [f"ulimit {part} || exit 125" for part in parts]
        if is_alone:  # shells differ in what they call it
            lines.append(f"ulimit -u {self.processes} 2>/dev/null || ulimit -p {self.processes}")
        return "".join(line + "\n" for line in lines)


@dataclass(frozen=True)
class Ended:
    """How it went. `status` is 128 more than a signal's number; it says nothing where the program was stopped."""

    status: int
    stop: Stop | None
    output: bytes  # all of standard output
    words: str  # the beginning of standard error
    seconds: float
    peak_bytes: int  # resident, of all its processes together
    cpu_seconds: float  # that it got of the processors, all together


def run_watched(
    workbook: Workbook,
    command: Sequence[str | Path],
    limits: Limits,
    processes: Processes,
    *,
    folder: Path,
    environment: Mapping[str, str],
) -> Ended:
    """Runs `command` to its end or to one of its limits. Raises OSError when it cannot be started.

    Raises KeyboardInterrupt once `processes` were stopped. However it ends, and however this process does, what
    it started ends with it (common/driver/keep_main.c).
    """
    begun = time.monotonic()
    with limited_group(limits.processes + _OURS) as group:
        process = subprocess.Popen(
            [*_joining(group), workbook.out / "bin" / "keep", str(os.getpid()), *command],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        with process, processes.holding(process):
            watch = _Watch(process, limits, begun + limits.seconds)
            try:
                stop = watch.until_the_end()
            finally:
                _end(process)
    if processes.is_stopped:
        raise KeyboardInterrupt
    words = bytes(watch.words).decode("utf-8", errors="replace")
    return Ended(
        process.returncode,
        stop,
        bytes(watch.output),
        words,
        time.monotonic() - begun,
        watch.peak_bytes,
        watch.cpu_seconds,
    )


def _joining(group: Path | None) -> list[str]:
    """What comes before a command that is to run in a control group, if the system lets it."""
    return ["/bin/sh", "-c", '{ echo $$ >"$0"; } 2>/dev/null; exec "$@"', str(group)] if group else []


class _Watch:
    def __init__(self, process: subprocess.Popen[bytes], limits: Limits, deadline: float) -> None:
        self.process = process
        self.limits = limits
        self.deadline = deadline
        self.output = bytearray()
        self.words = bytearray()
        self.peak_bytes = 0
        self.cpu_seconds = 0.0

    def until_the_end(self) -> Stop | None:
        """Reads what it prints until it has ended, or until it must be ended."""
        next_look = 0.0
        with selectors.DefaultSelector() as pipes:
            for pipe, kept in ((self.process.stdout, self.output), (self.process.stderr, self.words)):
                if pipe:
                    os.set_blocking(pipe.fileno(), False)
                    pipes.register(pipe, selectors.EVENT_READ, kept)
            while True:
                for key, _ in pipes.select(_LOOK) if pipes.get_map() else []:
                    if not self._take(key.fd, key.data):
                        pipes.unregister(key.fileobj)
                if not pipes.get_map():
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        self.process.wait(_LOOK)
                now = time.monotonic()
                if now >= self.deadline:
                    return Stop.TIME
                if len(self.output) > self.limits.output_bytes:
                    return Stop.OUTPUT
                if now >= next_look:
                    next_look = now + _LOOK
                    if stop := self._look():
                        return stop
                if self.process.poll() is not None:
                    self._rest(pipes)
                    return Stop.OUTPUT if len(self.output) > self.limits.output_bytes else None

    def _take(self, descriptor: int, kept: bytearray) -> bool:
        """Keeps what there is to read; False at the end of the pipe."""
        try:
            part = os.read(descriptor, 1 << 16)
        except BlockingIOError:
            return True
        if kept is self.output:
            kept += part
        else:
            kept += part[: _WORDS - len(kept)]
        return bool(part)

    def _rest(self, pipes: selectors.BaseSelector) -> None:
        """Reads what an ended program has left in its pipes; what it left behind may hold them open."""
        for key in list(pipes.get_map().values()):
            while self._take(key.fd, key.data) and len(self.output) <= self.limits.output_bytes:
                if not pipes.select(0):
                    break

    def _look(self) -> Stop | None:
        """Counts the processes and the memory of what runs."""
        family = _family(self.process.pid, self.limits.processes + _OURS + 1)
        resident = _resident(family)
        self.peak_bytes = max(self.peak_bytes, resident)
        self.cpu_seconds = max(self.cpu_seconds, _processor_seconds(family))
        if len(family) > self.limits.processes + _OURS:
            return Stop.PROCESSES
        return Stop.MEMORY if resident > self.limits.memory_bytes else None


def _end(process: subprocess.Popen[bytes]) -> None:
    """Tell it to end; its keeper then ends everything that it started."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            process.wait(_GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _family(pid: int, most: int) -> list[int]:
    """A living process and all below it, parents before children; no more than `most`, or it might grow for ever."""
    found = [pid]
    for one in found:
        try:
            for thread in Path(f"/proc/{one}/task").iterdir():
                found += map(int, (thread / "children").read_text("ascii").split())
        except OSError:
            continue  # it is gone
        if len(found) >= most:
            break
    return found[:most]


def _resident(family: list[int]) -> int:
    """Bytes in memory: each one's own, and what they share counted once."""
    own = shared = 0
    for pid in family:
        try:
            with open(f"/proc/{pid}/statm", encoding="ascii") as file:
                numbers = file.read().split()
        except OSError:
            continue
        own += int(numbers[1]) - int(numbers[2])
        shared = max(shared, int(numbers[2]))
    return (own + shared) * _PAGE


def _processor_seconds(family: list[int]) -> float:
    """What they and their children that have ended got of the processors: proc(5), stat, fields 14 to 17."""
    ticks = 0
    for pid in family:
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
            ticks += sum(map(int, fields[11:15]))
    return ticks * _TICK
