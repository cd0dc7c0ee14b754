"""Fair samples: contenders take turns, and an event pair brackets the GPU's time alone.

A sample is enqueued completely, without waiting: outputs poisoned, a delay that keeps the stream busy while
the host continues, the L2 emptied, an event, the work, an event. Once all of it is enqueued the first event
must still lie ahead of the GPU; a sample where it does not (the host was behind, and its time would count) is
dropped, and that contender's delay doubled. So is every sample of a batch during which the GPU's clocks were held down.

The states of the L2 before the work:
    cold   two buffers of four times its size: one written, then the other read, so that the cache is clean;
    dirty  the same, read first: the cache is full of lines that have to be written back before others can come;
    warm   the work runs once before the delay, on the same input, and nothing empties the cache.
"""

from __future__ import annotations

import ctypes
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from . import stats
from .clocks import Clocks
from .gpu import Device, Launch, i64, u32, u64
from .shape import LaunchShape

LEAST_DELAY = 60e-6
LONGEST_DELAY = 4e-3
BATCH_ROUNDS = 10
STATES = ("cold", "dirty", "warm")  # of the L2


@dataclass
class Contender:
    """One way to do the work. `enqueue(slot)` does all of it, on the input and output number `slot`."""

    name: str
    role: str  # "reference", "peer" or "floor"
    enqueue: Callable[[int], None]
    reset: Callable[[], None] = lambda: None  # poisons the outputs
    check: Callable[[], str] = lambda: ""  # what is wrong with the outputs of all slots; "" when nothing is
    is_synchronous: bool = False  # it waits for its result, and its user waits with it
    note: str = ""


@dataclass
class Samples:
    """What was measured of one contender."""

    seconds: list[float] = field(default_factory=list)
    host_behind: int = 0  # samples dropped
    slowed: int = 0  # samples dropped
    slowed_by: set[str] = field(default_factory=set)
    error: str = ""
    host_seconds: float = 0.0  # of the host, to enqueue one sample's work
    delay: float = LEAST_DELAY


@dataclass(frozen=True)
class Effort:
    """When to stop."""

    least: int = 30  # samples of each contender
    most: int = 2000
    error: float = 0.001  # standard error over the median, of everyone but the floor
    seconds: float = 3.0  # for all contenders together


class Timer:
    """Measures contenders on a device; owns the buffers that empty the L2."""

    def __init__(self, device: Device, module: Any, clocks: Clocks) -> None:
        self.device, self.clocks = device, clocks
        self.flush_bytes = 4 * device.figures["l2_bytes"] // 4096 * 4096
        written, read = device.allocate(self.flush_bytes), device.allocate(self.flush_bytes)
        sink = device.allocate(256)
        device.fill(read, 0, self.flush_bytes)
        self._free = (written, read, sink)
        wide = LaunchShape((8 * device.figures["sm_count"], 1, 1), (256, 1, 1))
        count = i64(self.flush_bytes // 16)
        self._flush_write = Launch(
            device, device.function(module, "flush_write"), wide, [u64(written), count, u32(1)]
        )
        self._flush_read = Launch(
            device, device.function(module, "flush_read"), wide, [u64(read), count, u64(sink)]
        )
        self._cycles = ctypes.c_longlong()
        one = LaunchShape((1, 1, 1), (1, 1, 1))
        self._delay = Launch(device, device.function(module, "delay"), one, [self._cycles])
        self._hertz = 1e3 * device.figures["clock_khz"]
        self._events: list[tuple[Any, Any]] = []
        self._random = random.Random(7)

    def empty_l2(self, state: str) -> None:
        """Enqueues what leaves the cache without anything of a contender's, and "cold" (clean) or "dirty"."""
        first, last = (self._flush_write, self._flush_read)[:: -1 if state == "dirty" else 1]
        first()
        last()

    def delay(self, seconds: float) -> None:
        """Enqueues a wait."""
        self._cycles.value = int(seconds * self._hertz)
        self._delay()

    def measure(
        self, contenders: Sequence[Contender], launches: int, effort: Effort, *, state: str
    ) -> dict[str, Samples]:
        """Seconds of one run of each contender's work, where a sample runs it `launches` times.

        Samples with a warm L2 run it on input 0 every time, others on the inputs 0 to launches - 1. A contender that
        raises an exception keeps its message and is left out from there on.
        """
        results = {contender.name: Samples() for contender in contenders}
        running = [
            each for each in contenders if self._warm_up(each, results[each.name], launches, state=state)
        ]
        deadline = time.monotonic() + effort.seconds
        while running:
            self._batch(running, results, launches, state=state)
            running = [contender for contender in running if not results[contender.name].error]
            counts = [len(results[contender.name].seconds) for contender in running]
            if not counts or time.monotonic() > deadline or min(counts) >= effort.most:
                break
            errors = [
                stats.relative_error(results[contender.name].seconds)
                for contender in running
                if contender.role != "floor"
            ]
            if min(counts) >= effort.least and max(errors, default=0.0) <= effort.error:
                break
        return results

    def _warm_up(self, contender: Contender, samples: Samples, launches: int, *, state: str) -> bool:
        """Runs the contender a few times and takes the host's time for it; False when it fails."""
        try:
            for _ in range(3):
                self.device.synchronize()
                begin = time.perf_counter()
                for slot in range(launches):
                    contender.enqueue(0 if state == "warm" else slot)
                samples.host_seconds = time.perf_counter() - begin
            self.device.synchronize()
        except Exception as error:
            samples.error = _words(error)
            return False
        samples.delay = LEAST_DELAY
        if not contender.is_synchronous:
            samples.delay = min(LONGEST_DELAY, LEAST_DELAY + 1.5 * samples.host_seconds)
        return True

    def _batch(
        self, contenders: Sequence[Contender], results: dict[str, Samples], launches: int, *, state: str
    ) -> None:
        """Enqueues some rounds of all contenders, each round in another order, and then reads the times."""
        taken: list[tuple[Contender, Any, Any]] = []
        reasons: set[str] = set(self.clocks.slowed_by() or ())
        for _ in range(BATCH_ROUNDS):
            order = [each for each in contenders if not results[each.name].error]
            self._random.shuffle(order)
            for contender in order:
                samples = results[contender.name]
                begin, end = self._pair(len(taken))
                try:
                    self._enqueue(contender, samples.delay, launches, begin, end, state=state)
                    is_late = not contender.is_synchronous and self.device.is_reached(begin)
                except Exception as error:
                    samples.error = _words(error)
                    continue
                if is_late:
                    samples.host_behind += 1
                    samples.delay = min(LONGEST_DELAY, 2 * samples.delay)
                else:
                    taken.append((contender, begin, end))
        reasons.update(self.clocks.slowed_by() or ())  # while the GPU is still at work
        self.device.synchronize()
        for contender, begin, end in taken:
            samples = results[contender.name]
            if reasons:
                samples.slowed += 1
                samples.slowed_by |= reasons
            else:
                samples.seconds.append(self.device.seconds(begin, end) / launches)

    def _enqueue(
        self, contender: Contender, delay: float, launches: int, begin: Any, end: Any, *, state: str
    ) -> None:
        device, enqueue = self.device, contender.enqueue
        contender.reset()
        if state == "warm":
            enqueue(0)
            self.delay(delay)
        else:
            self.delay(delay)
            self.empty_l2(state)
        device.mark(begin)
        for slot in range(launches):
            enqueue(0 if state == "warm" else slot)
        device.mark(end)

    def _pair(self, index: int) -> tuple[Any, Any]:
        while index >= len(self._events):
            self._events.append((self.device.event(), self.device.event()))
        return self._events[index]


def _words(error: Exception) -> str:
    """One line for the record."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:300]
