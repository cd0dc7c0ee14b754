"""A chapter's last run in build/results: its result, and what that depends on.

`chNN.json` is what ./chNN wrote; `chNN.run.json` has the id of the run in the history and the key of
everything that the result depends on. If the key is still the same, the chapter need not run again.
"""

import contextlib
import fcntl
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .. import __version__
from ..core.fingerprint import Hasher, tools_fingerprint
from ..core.history import Run
from ..core.processes import Processes
from ..core.result import BrokenResultError, Result, parse_result
from ..core.workbook import Chapter, Workbook, write_json

KERNEL, SOLUTION = "kernel", "solution"


@dataclass(frozen=True)
class Asked:
    """The options of a run that its result depends on."""

    kind: str = KERNEL
    device: str = "auto"
    profile: str | None = None  # of the GPU to model

    def source(self, chapter: Chapter) -> Path:
        """The kernel.cu that is judged, relative to the root."""
        return chapter.kernel if self.kind == KERNEL else chapter.solution / "kernel.cu"


class Store:
    """The stored results of one kind of run."""

    def __init__(self, workbook: Workbook, asked: Asked) -> None:
        """Hash what all chapters depend on, and create the folder."""
        self.workbook = workbook
        self.asked = asked
        self.hasher = Hasher()
        self.tools = tools_fingerprint(workbook, self.hasher)
        self.folder = workbook.build / "results" / ("" if asked.kind == KERNEL else "solutions")
        self.folder.mkdir(parents=True, exist_ok=True)

    def result_file(self, chapter: Chapter) -> Path:
        """The path to which ./chNN writes its result."""
        return self.folder / f"{chapter.name}.json"

    def source_sha256(self, chapter: Chapter) -> str:
        """The hash of the kernel.cu that is judged."""
        return self.hasher.file(self.workbook.root / self.asked.source(chapter))

    def key(self, chapter: Chapter) -> str:
        """One hash of everything that the result of `chapter` depends on."""
        files = [self.asked.source(chapter), chapter.solution / "kernel.cu"]
        hashes = [self.hasher.file(self.workbook.root / path) for path in files]
        program = self.hasher.file(self.workbook.root / self.workbook.program(chapter))
        return self.hasher.combined(
            __version__,
            self.asked.kind,
            self.asked.device,
            str(self.asked.profile),
            self.tools,
            program,
            *hashes,
        )

    def read(self, chapter: Chapter) -> tuple[Result, Run] | None:
        """The earlier result of the same kernel, program and machine, or None."""
        try:
            kept = json.loads(self._run_file(chapter).read_text("utf-8"))
            if kept["key"] != self.key(chapter):
                return None
            result = parse_result(self.result_file(chapter).read_bytes(), chapter.name, kept["seconds"])
            return result, run_of(kept["id"], kept["time"], self.asked.kind, result, kept["kernel_sha256"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError, BrokenResultError):
            return None

    def write(self, chapter: Chapter, run: Run, key: str) -> None:
        """Record which run the stored result belongs to."""
        kept = {
            "key": key,
            "id": run.id,
            "time": run.time,
            "seconds": run.seconds,
            "kernel_sha256": run.kernel_sha256,
        }
        write_json(self._run_file(chapter), kept)

    @contextlib.contextmanager
    def alone(self, chapter: Chapter, processes: Processes) -> Iterator[bool]:
        """Keep other programs from what is stored for a chapter; whether one had to be waited for."""
        has_waited = False
        with open(self.folder / f"{chapter.name}.lock", "ab") as lock:
            while True:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    has_waited = True
                except OSError:
                    break  # some network disks have no locks
                if processes.is_stopped:
                    raise KeyboardInterrupt
                time.sleep(0.05)
            yield has_waited

    def forget(self, chapter: Chapter) -> None:
        """Remove what is stored for a chapter."""
        for stale in (self.result_file(chapter), self._run_file(chapter)):
            stale.unlink(missing_ok=True)

    def _run_file(self, chapter: Chapter) -> Path:
        return self.folder / f"{chapter.name}.run.json"


def run_of(identity: str, time: str, kind: str, result: Result, sha256: str) -> Run:
    """A result as a row of the history."""
    counters = result.document.get("counters")
    return Run(
        id=str(identity),
        time=str(time),
        kind=kind,
        chapter=result.chapter,
        verdict=result.verdict,
        earned=result.earned,
        possible=result.possible,
        gb_per_s=result.gb_per_s,
        bandwidth=result.bandwidth_kind,
        ratio=result.ratio,
        counters=counters if isinstance(counters, dict) else {},
        kernel_sha256=str(sha256),
        device=result.device,
        seconds=result.seconds,
        workbook=__version__,
        diagnosis=result.diagnosis,
        timing=result.timing,
    )
