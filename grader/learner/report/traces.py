"""The traces for the pictures: ./chNN --trace runs again only if the kernel or the program has changed."""

import json
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.errors import explain_os_error
from ...core.fingerprint import Hasher
from ...core.processes import Processes, clean_environment, cores, side_by_side
from ...core.workbook import Chapter, Workbook, write_json
from .figures import Record

SCHEMA = "warpbook/trace/1"
_LIMIT = 20.0  # seconds for one chapter
_MOST_BYTES = 16 << 20


@dataclass(frozen=True)
class Traced:
    """A trace, or why there is none."""

    trace: Record | None
    why: str = ""


def trace_all(workbook: Workbook, chapters: list[Chapter]) -> dict[str, Traced]:
    """The trace of each chapter's current kernel.cu, one at a time on each core."""
    hasher, processes = Hasher(), Processes()

    def trace(chapter: Chapter) -> tuple[str, Traced]:
        return chapter.name, _trace(workbook, chapter, hasher, processes)

    with closing(side_by_side(trace, chapters, cores(), processes)) as found:
        return dict(found)


def _trace(workbook: Workbook, chapter: Chapter, hasher: Hasher, processes: Processes) -> Traced:
    folder = workbook.build / "traces"
    path, stamp = folder / f"{chapter.name}.json", folder / f"{chapter.name}.key.json"
    program = workbook.root / workbook.program(chapter)
    if not program.is_file():
        return Traced(None, f"./{chapter.name} is not built: make {chapter.name}.")
    key = hasher.combined(hasher.file(workbook.root / chapter.kernel), hasher.file(program))
    if stored := _stored(path, stamp, key, chapter):
        return stored
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        finished = processes.run(
            [workbook.command(chapter), "--trace-only", path],
            folder=workbook.root,
            limit=_LIMIT,
            environment=clean_environment(),
        )
        if finished.status is None:
            why = f"it did not finish within {_LIMIT:g} s"
        elif path.is_file():
            why = ""
        else:
            lines = finished.output.strip().splitlines()
            why = lines[-1].strip() if lines else f"it ended with status {finished.status}"
        write_json(stamp, {"key": key, "why": why})
        return _stored(path, stamp, key, chapter) or Traced(None, "The trace cannot be read.")
    except OSError as error:
        return Traced(None, f"It could not be traced: {explain_os_error(error)}")


def _stored(path: Path, stamp: Path, key: str, chapter: Chapter) -> Traced | None:
    """The stored trace of the same kernel and program."""
    try:
        known: dict[str, Any] = json.loads(stamp.read_text("utf-8"))
        if known["key"] != key:
            return None
        if known["why"]:
            return Traced(None, f"There is no trace of it: {known['why']}")
        if path.stat().st_size > _MOST_BYTES:
            return Traced(None, "Its trace is too large to be drawn.")
        document = json.loads(path.read_text("utf-8"))
        if document["schema"] != SCHEMA or document["chapter"] != chapter.name:
            return None
        if not document["tasks"]:
            return Traced(None, f"There is no trace of it: {document['message']}")
        return Traced(Record(f"{chapter.name}.trace", document))
    except (OSError, ValueError, KeyError, TypeError):
        return None
