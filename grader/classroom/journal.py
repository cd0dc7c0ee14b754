"""The judgements so far: one file for each kernel of each student, written atomically.

An entry is valid for the inputs of its key. A run therefore resumes where an interrupted one stopped, and
judges a kernel again if it, the workbook, the tools or the course's settings have changed.
"""

import json
from typing import Any

from .. import __version__
from ..core.fingerprint import Hasher, tools_fingerprint
from ..core.result import Result
from ..core.workbook import Chapter, Workbook, write_whole
from .judgement import Judgement, JudgeSettings
from .tasks import Task

_SCHEMA = "warpbook/judgement/2"


class Keys:
    """Everything that a judgement depends on, as one hash; what is the same for all is read once."""

    def __init__(self, workbook: Workbook) -> None:
        """Reads the tools."""
        self._workbook = workbook
        self._hasher = Hasher()
        self._tools = tools_fingerprint(workbook, self._hasher)

    def key(self, chapter: Chapter, kernel_sha256: str, settings: JudgeSettings) -> str:
        """Two kernels with the same key get the same judgement."""
        root = self._workbook.root
        program = self._hasher.file(root / self._workbook.program(chapter))
        solution = self._hasher.file(root / chapter.solution / "kernel.cu")
        options = json.dumps(settings.document(), sort_keys=True)
        return self._hasher.combined(
            __version__, chapter.name, kernel_sha256, options, program, solution, self._tools
        )


def write_entry(task: Task, judgement: Judgement) -> None:
    """Keeps a task's judgement."""
    result = judgement.result
    entry = {
        "schema": _SCHEMA,
        "key": task.key,
        "kernel_sha256": judgement.kernel_sha256,
        "verdict": judgement.verdict,
        "seconds": judgement.seconds,
        "peak_bytes": judgement.peak_bytes,
        "chapter": result.chapter,
        "earned": result.earned,
        "possible": result.possible,
        "message": result.message,
        "is_sound": judgement.document is not None,
        "code": None if judgement.code is None else " ".join(judgement.code),
        "document": result.document,
    }
    write_whole(task.entry, json.dumps(entry, ensure_ascii=False, allow_nan=False))


def read_entry(task: Task) -> Judgement | None:
    """The judgement stored for a task, if it has the task's key; also INFRA, which a later run may replace."""
    try:
        entry: dict[str, Any] = json.loads(task.entry.read_text("utf-8"))
        if entry["schema"] != _SCHEMA or entry["key"] != task.key:
            return None
        result = Result(
            str(entry["chapter"]),
            str(entry["verdict"]),
            float(entry["earned"]),
            float(entry["possible"]),
            str(entry["message"]),
            float(entry["seconds"]),
            dict(entry["document"]),
        )
        return Judgement(
            result.verdict,
            result,
            result.document if entry["is_sound"] else None,
            str(entry["kernel_sha256"]),
            result.seconds,
            int(entry["peak_bytes"]),
            None if entry["code"] is None else tuple(entry["code"].split()),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
