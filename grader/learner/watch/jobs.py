"""One piece of work at a time, beside the screen: a new one ends the previous one and everything that it started."""

import asyncio
import threading
from collections.abc import Callable

from ...core.processes import Processes


class Job:
    """One piece of work, as the work sees it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.processes = Processes()
        self._loop = loop
        self._is_current = True

    def tell(self, hear: Callable[[], None]) -> None:
        """Calls `hear` in the screen's thread, unless newer work has begun by then."""

        def still() -> None:
            if self._is_current:
                hear()

        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(still)

    def stop(self) -> None:
        """End its programs; it reports nothing more."""
        self._is_current = False
        self.processes.stop()


class Jobs:
    """The work of one screen. Everything except the work itself happens in the screen's thread."""

    def __init__(self, failed: Callable[[Exception], None]) -> None:
        self._failed = failed
        self._job: Job | None = None
        self._thread: threading.Thread | None = None

    def start(self, work: Callable[[Job], None]) -> None:
        """Start `work` in a thread, after ending the previous work."""
        before = self._thread
        self.stop()
        job = Job(asyncio.get_running_loop())

        def run() -> None:
            if before is not None:
                before.join()
            try:
                work(job)
            except KeyboardInterrupt:
                pass  # it was stopped
            except Exception as error:
                failure = error
                job.tell(lambda: self._failed(failure))

        self._job = job
        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the current work, if any."""
        if self._job is not None:
            self._job.stop()
            self._job = None
