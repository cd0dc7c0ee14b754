"""The judgements so far: one file for each kernel of each student, written atomically.

An entry is valid for the inputs of its key. A run therefore resumes where an interrupted one stopped, and
judges a kernel again if it, the workbook, the tools or the course's settings have changed. An entry is checked like a
result that comes out of a sandbox: one that was damaged or edited is judged again, and reported.
"""

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import __version__
from ..core.fingerprint import Hasher, tools_fingerprint
from ..core.result import VERDICTS, BrokenResultError, Result, check_result, load_json, number
from ..core.workbook import Chapter, Workbook, write_whole
from .judge.stages import IMAGE
from .judge.validation import Expected, UnbelievableError, check_asked
from .judgement import Judgement, JudgeSettings
from .similarity.words import LONGEST_WORD, MOST_INSTRUCTIONS
from .submissions.untrusted import printable_text
from .tasks import Task

_SCHEMA = "warpbook/judgement/2"
_MOST_BYTES = 16 << 20  # of an entry


class InvalidEntryError(Exception):
    """An entry that no run wrote as it is; the text names the file and the place, and says what is wrong."""


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
        "seconds": judgement.seconds,
        "peak_bytes": judgement.peak_bytes,
        "code": None if judgement.code is None else " ".join(judgement.code),
        "verdict": judgement.verdict,
        "possible": result.possible,
        "message": result.message,
        "document": judgement.document,  # null: no judge wrote one, and there are no points
    }
    entry["seal"] = _seal(entry)
    write_whole(task.entry, json.dumps(entry, ensure_ascii=False, allow_nan=False))


def read_entry(task: Task) -> Judgement | None:
    """The judgement stored for a task, if it has the task's key; also INFRA, which a later run may replace.

    Raises InvalidEntryError for a file that is not as a run wrote it.
    """
    try:
        with open(task.entry, "rb") as file:
            raw = file.read(_MOST_BYTES + 1)
    except OSError:
        return None
    try:
        return _judgement(task, raw)
    except json.JSONDecodeError as error:
        raise InvalidEntryError(f"{task.entry}:{error.lineno}: it is not JSON ({error.msg})") from None
    except (KeyError, TypeError, AttributeError):
        raise InvalidEntryError(f"{task.entry}: a part of it is missing") from None
    except (ValueError, BrokenResultError, UnbelievableError) as error:
        raise InvalidEntryError(f"{task.entry}: {printable_text(str(error))}") from None


def read_code(path: Path) -> tuple[str, ...] | None:
    """What the kernel of an entry compiles to, in words, whatever the entry's key; () if that is not known."""
    try:
        entry = load_json(path.read_bytes()[:_MOST_BYTES].decode("utf-8"))
        seal = entry.pop("seal", None)
        if entry["schema"] != _SCHEMA or seal != _seal(entry):
            return ()
        return None if entry["code"] is None else tuple(str(entry["code"]).split())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return ()


def _judgement(task: Task, raw: bytes) -> Judgement | None:
    """The judgement in an entry; the first check is the cheapest. Raises ValueError and errors of results."""
    if len(raw) > _MOST_BYTES:
        raise ValueError(f"it has more than {_MOST_BYTES >> 20} MiB")
    entry = load_json(raw.decode("utf-8"))
    if not isinstance(entry, dict) or not isinstance(entry.get("schema"), str):
        raise ValueError('it has no "schema"')
    if entry["schema"] != _SCHEMA or entry.get("key") != task.key:
        return None  # of another version, or of other inputs
    if entry.pop("seal", None) != _seal(entry):
        raise ValueError("it was changed after it was written")
    seconds, peak, code = number(entry["seconds"]), entry["peak_bytes"], entry["code"]
    if seconds is None or seconds < 0 or isinstance(peak, bool) or not isinstance(peak, int) or peak < 0:
        raise ValueError("seconds or peak_bytes: not a count")
    if code is not None and (not isinstance(code, str) or len(code) > MOST_INSTRUCTIONS * LONGEST_WORD):
        raise ValueError("code: not words of an image")
    result = _result(task, entry, seconds)
    return Judgement(
        result.verdict,
        result,
        entry["document"],
        entry["kernel_sha256"],
        seconds,
        peak,
        None if code is None else tuple(code.split()),
    )


def _result(task: Task, entry: dict[str, Any], seconds: float) -> Result:
    """The result of an entry, about the task's kernel and settings."""
    sha256, document = entry["kernel_sha256"], entry["document"]
    try:
        source = hashlib.sha256(task.source.read_bytes()).hexdigest()
    except OSError:
        source = sha256  # it is no longer there, and what was judged is in the key
    if document is None:
        if sha256 not in ("", source):
            raise ValueError("kernel_sha256: it is about another kernel.cu")
        verdict, possible, message = entry["verdict"], number(entry["possible"]), entry["message"]
        if not isinstance(verdict, str) or verdict not in VERDICTS - {"PASS", "SLOW"}:
            raise ValueError(f"verdict: {verdict!r:.40} without a result of the judge")
        if possible is None or possible < 0 or not isinstance(message, str):
            raise ValueError("possible or message: not as a run writes it")
        return Result(task.chapter, verdict, 0, possible, printable_text(message), seconds, {})
    if sha256 != source:
        raise ValueError("kernel_sha256: it is about another kernel.cu")
    result = check_result(document, task.chapter, seconds)
    settings = task.settings
    check_asked(
        result,
        Expected(task.chapter, IMAGE, source, None, settings.secret, settings.schedules, settings.sizes),
    )
    if (entry["verdict"], entry["possible"]) != (result.verdict, result.possible):
        raise ValueError("verdict or possible: not those of its document")
    return replace(result, message=printable_text(result.message))


def _seal(entry: dict[str, Any]) -> str:
    """A hash of an entry, which shows damage and changes by hand."""
    return hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()
