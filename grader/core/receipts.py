"""Receipts: records of passing runs, compared with a second judgement of the same kernel.

A receipt records what a learner's machine counted; it earns no points. The teacher's own run decides, and
pages show a receipt that disagrees with it: the kernel was changed afterwards, the workbook has another
version, or the receipt was written by hand.
"""

import json
import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import __version__
from .result import VERDICTS, Result, load_json, number
from .workbook import Workbook, write_json

SCHEMA = "warpbook/receipt/1"
MOST_BYTES = 256 * 1024  # the limit when reading a receipt; a written one has a few KiB
_HASH = re.compile(r"[0-9a-f]{64}")
_VERSION = re.compile(r"([0-9]{1,6}(\.[0-9]{1,6}){0,3}([.+-]?[a-z]{1,8}[0-9]{0,6})?)?")  # "" for no compiler


class BrokenReceiptError(Exception):
    """A file that is not a receipt; the text says why."""


@dataclass(frozen=True)
class Comparison:
    """A receipt compared with a second judgement of the kernel that was handed in with it."""

    agrees: bool
    differences: list[str] = field(default_factory=list)  # sentences, including what could not be compared

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {"agrees": self.agrees, "differences": self.differences}


def receipt_of(result: Result, kernel_sha256: str) -> dict[str, Any]:
    """The receipt of a run that passed."""
    build = result.document.get("build")
    return {
        "schema": SCHEMA,
        "workbook": __version__,
        "chapter": result.chapter,
        "verdict": result.verdict,
        "points": {"earned": result.earned, "possible": result.possible},
        "kernel_sha256": kernel_sha256,
        "nvcc": build.get("nvcc", "") if isinstance(build, dict) else "",
        "device": result.device,
        "counters": _counts(result.document),
    }


def write_receipt(workbook: Workbook, result: Result, kernel_sha256: str) -> Path:
    """Write the receipt of a passing run to progress/receipts/chNN.json, replacing an earlier one."""
    path = receipts_of(workbook) / f"{result.chapter}.json"
    receipt = receipt_of(result, kernel_sha256)
    try:
        if json.loads(path.read_bytes()) == receipt:
            return path
    except (OSError, ValueError):
        pass
    write_json(path, receipt)
    return path


def receipts_of(workbook: Workbook) -> Path:
    """The folder of a learner's receipts."""
    return workbook.progress / "receipts"


def parse_receipt(content: bytes, chapter: str) -> dict[str, Any]:
    """Parse a receipt that was handed in. Raises BrokenReceiptError for any bytes that are not one."""
    if len(content) > MOST_BYTES:
        raise BrokenReceiptError(f"it is longer than {MOST_BYTES // 1024} KiB")
    try:
        document = load_json(content)
    except ValueError:
        raise BrokenReceiptError("it is not JSON") from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise BrokenReceiptError(f'its "schema" is not "{SCHEMA}"')
    if document.get("chapter") != chapter:
        raise BrokenReceiptError(f'its "chapter" is not "{chapter}"')
    for name in ("workbook", "verdict", "kernel_sha256", "nvcc"):
        if not isinstance(document.get(name), str) or len(document[name]) > 200:
            raise BrokenReceiptError(f'its "{name}" is not a short text')
    if not _HASH.fullmatch(document["kernel_sha256"]):
        raise BrokenReceiptError('its "kernel_sha256" is not a SHA-256')
    if document["verdict"] not in VERDICTS:
        raise BrokenReceiptError('its "verdict" is not one of ./chNN')
    for name in ("workbook", "nvcc"):
        if not _VERSION.fullmatch(document[name]):
            raise BrokenReceiptError(f'its "{name}" is not a version')
    points = document.get("points")
    earned, possible = (
        (number(points.get("earned")), number(points.get("possible")))
        if isinstance(points, dict)
        else (None, None)
    )
    if earned is None or possible is None or not 0 <= earned <= possible:
        raise BrokenReceiptError('its "points" are not valid')
    if not isinstance(document.get("counters"), dict):
        raise BrokenReceiptError('its "counters" are not an object')
    return document


def compare(receipt: dict[str, Any], result: Result, kernel_sha256: str) -> Comparison:
    """Whether a parsed receipt agrees with judging the kernel again."""
    if receipt["kernel_sha256"] != kernel_sha256:
        return Comparison(agrees=False, differences=["the receipt belongs to a different kernel.cu"])
    differences = []
    if receipt["verdict"] != result.verdict:
        differences.append(
            f"the receipt says {_short(receipt['verdict'])}, judged again it is {result.verdict}"
        )
    points = receipt["points"]
    if (points["earned"], points["possible"]) != (result.earned, result.possible):
        differences.append(
            f"the receipt says {points['earned']:g} of {points['possible']:g} points, judged again it is "
            f"{result.earned:g} of {result.possible:g}"
        )
    if receipt["workbook"] != __version__:
        differences.append(
            f"the receipt is from workbook {_short(receipt['workbook'])}, and this is {__version__}: "
            "counters are not compared"
        )
        return Comparison(agrees=False, differences=differences)
    build = result.document.get("build")
    nvcc = build.get("nvcc", "") if isinstance(build, dict) else ""
    if receipt["nvcc"] != nvcc:
        differences.append(
            f"the receipt's kernel was compiled by nvcc {_short(receipt['nvcc'])}, here by {_short(nvcc)}: "
            "counters are not compared"
        )
        return Comparison(agrees=len(differences) == 1, differences=differences)
    differences += _counter_differences(receipt["counters"], _counts(result.document))
    return Comparison(agrees=not differences, differences=differences)


def _counts(document: dict[str, Any]) -> dict[str, Any]:
    """By task: {"n", kernel -> counter -> count}, of a result."""
    made: dict[str, Any] = {}
    counters = document.get("counters")
    for task, counted in counters.items() if isinstance(counters, dict) else ():
        if isinstance(counted, dict) and "kernels" in counted:
            kernels = {name: dict(kernel["counts"]) for name, kernel in counted["kernels"].items()}
            made[task] = {"n": counted["n"], "kernels": kernels}
    return made


def _counter_differences(there: Any, here: dict[str, Any]) -> list[str]:
    """The first few differences, as sentences; `there` may be any JSON value."""
    differences = []
    for task, counted in here.items():
        theirs = there.get(task)
        if not isinstance(theirs, dict) or theirs.get("n") != counted["n"]:
            differences.append(f"{task}: the receipt counts nothing at n = {counted['n']:,}")
            continue
        kernels = theirs.get("kernels")
        for name, counts in counted["kernels"].items():
            claimed = kernels.get(name) if isinstance(kernels, dict) else None
            for counter, count in counts.items():
                said = claimed.get(counter) if isinstance(claimed, dict) else None
                if said != count or isinstance(said, bool):
                    differences.append(f"{name}: {counter} is {count:,}, the receipt says {_number(said)}")
    most = 5
    if len(differences) > most:
        differences[most:] = [f"and {len(differences) - most} more"]
    return differences


def _number(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18:
        return f"{value:,}"
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:g}"
    return "nothing" if value is None else "no number"


def _short(text: str) -> str:
    shown = "".join(c if c.isprintable() else "?" for c in text[:40])
    return shown or "nothing"
