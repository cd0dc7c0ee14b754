"""The chapters' references as a class is judged against them: images, built and proved by the teacher's own run.

A sandbox is shown the folder of the image and never the solution's source.
"""

import fcntl
import json
import re
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.errors import MachineError
from ...core.fingerprint import Hasher
from ...core.processes import Processes, clean_environment
from ...core.result import BrokenResultError, Result, parse_result
from ...core.workbook import Chapter, Workbook, write_json

_SECONDS = 600.0


@dataclass(frozen=True)
class Reference:
    """A chapter's reference, which passed on this machine."""

    folder: Path  # with kernel.ptx, build.json and the figures modelled for it
    result: Result

    @property
    def possible(self) -> float:
        """The most points that a run of ./chNN gives."""
        return self.result.possible


def prepare_reference(
    workbook: Workbook,
    chapter: Chapter,
    device: str,
    processes: Processes,
    environment: Mapping[str, str] | None = None,
) -> Reference:
    """Builds and runs the reference where that was not done yet. Raises MachineError when it does not pass.

    `environment` chooses the GPU.
    """
    stamp = (workbook.root, chapter.name, device, *_times(workbook, chapter))
    with _lock:
        if stamp not in _known:
            _known[stamp] = _prepare(workbook, chapter, device, processes, environment)
        return _known[stamp]


_lock = threading.Lock()
_known: dict[tuple[object, ...], Reference] = {}


def _times(workbook: Workbook, chapter: Chapter) -> list[int]:
    """When what a reference is made of was last changed."""
    solution = workbook.root / chapter.solution
    files = [workbook.root / workbook.program(chapter), solution / "kernel.cu", solution / "kernel.ptx"]
    return [path.stat().st_mtime_ns if path.exists() else 0 for path in files]


def _prepare(
    workbook: Workbook,
    chapter: Chapter,
    device: str,
    processes: Processes,
    environment: Mapping[str, str] | None,
) -> Reference:
    folder, kept = _folder(workbook, chapter), workbook.build / "class" / f"{chapter.name}.{device}.json"
    kept.parent.mkdir(parents=True, exist_ok=True)
    with _alone(kept.with_suffix(".lock")):
        if folder.is_relative_to(workbook.build):
            _compile(workbook, chapter, folder, processes)
        elif workbook.is_program(chapter):  # of which only the image is here: nothing can be run
            return Reference(folder, _unproved(workbook, chapter))
        key = _key(workbook, chapter, folder)
        if result := _kept(kept, key, chapter):
            return Reference(folder, result)
        result = run_reference(workbook, chapter, folder, device, processes, environment)
        if result.verdict not in ("PASS", "SLOW"):
            raise MachineError(
                f"the reference of {chapter.name} does not pass on this machine, so nothing can be judged "
                f"against it: {result.verdict} {result.message}"
            )
        write_json(kept, {"key": key, "seconds": result.seconds, "result": result.document})
        return Reference(folder, result)


def _unproved(workbook: Workbook, chapter: Chapter) -> Result:
    text = (workbook.root / chapter.folder / "chapter.c").read_text("utf-8")
    points = re.search(r"^    \.points = (\d+),$", text, re.MULTILINE)
    possible = float(points[1]) if points else 0.0
    return Result(chapter.name, "PASS", possible, possible, "", 0.0, {})


def _folder(workbook: Workbook, chapter: Chapter) -> Path:
    """The path of the image: in build/, or in an autograder in place of the solution's source."""
    solution = workbook.root / chapter.solution
    if (solution / "kernel.cu").is_file():
        return workbook.build / "reference" / chapter.name
    if (solution / "kernel.ptx").is_file():
        return solution
    raise MachineError(
        f"there is no reference of {chapter.name}: neither a kernel.cu nor an image in {solution}"
    )


def reference_image(workbook: Workbook, chapter: Chapter) -> bytes | None:
    """The PTX of a reference that was prepared before; None if there is none."""
    try:
        return (_folder(workbook, chapter) / "kernel.ptx").read_bytes()
    except (OSError, MachineError):
        return None


def _compile(workbook: Workbook, chapter: Chapter, folder: Path, processes: Processes) -> None:
    source = chapter.solution / "kernel.cu"
    command: list[str | Path] = [
        workbook.out / "bin" / "compile",
        source,
        folder.relative_to(workbook.root),
        "--quiet",
    ]
    done = processes.run(command, folder=workbook.root, limit=_SECONDS, environment=clean_environment())
    if done.status != 0:
        raise MachineError(f"{source} does not compile: {done.output.strip()[-300:]}")


def _key(workbook: Workbook, chapter: Chapter, folder: Path) -> str:
    hasher = Hasher()
    stat = (workbook.root / workbook.program(chapter)).stat()
    return hasher.combined(hasher.file(folder / "kernel.ptx"), f"{stat.st_size} {stat.st_mtime_ns}")


def _kept(path: Path, key: str, chapter: Chapter) -> Result | None:
    try:
        kept: dict[str, Any] = json.loads(path.read_bytes())
        if kept["key"] != key:
            return None
        return parse_result(json.dumps(kept["result"]).encode(), chapter.name, kept["seconds"])
    except (OSError, ValueError, KeyError, TypeError, BrokenResultError):
        return None


def run_reference(
    workbook: Workbook,
    chapter: Chapter,
    folder: Path,
    device: str,
    processes: Processes,
    environment: Mapping[str, str] | None = None,
) -> Result:
    """Runs ./chNN as the teacher would, which also keeps what is modelled for the reference beside its image.

    Raises MachineError where there is no result.
    """
    output = workbook.build / "class" / f".{chapter.name}.{uuid.uuid4().hex}.json"
    command: list[str | Path] = [workbook.root / workbook.program(chapter), "--quiet", "--device", device]
    command += ["--kernel", folder / "kernel.ptx", "--json", output]
    try:
        done = processes.run(
            command,
            folder=workbook.root,
            limit=_SECONDS,
            environment=clean_environment() | dict(environment or {}),
        )
        return parse_result(output.read_bytes(), chapter.name, done.seconds)
    except FileNotFoundError:
        raise MachineError(
            f"./{chapter.name} cannot judge its own reference: {done.output.strip()[-300:]}"
        ) from None
    except BrokenResultError as error:
        raise MachineError(f"./{chapter.name} wrote a broken result for its reference: {error}") from None
    finally:
        output.unlink(missing_ok=True)


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """One at a time, of all processes on machines that share the folder."""
    with open(lock, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
