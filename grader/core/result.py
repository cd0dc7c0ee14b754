"""One chapter's result as the rest of the grader uses it, and the check of a document written by ./chNN."""

import json
import math
from dataclasses import dataclass
from typing import Any

SCHEMA = "warpbook/result/1"

VERDICTS = {
    "PASS", "SLOW", "WRONG", "OOB", "MISALIGNED", "UNINIT", "RACE", "SYNC", "FAULT", "TIMEOUT", "LAUNCH",
    "RESOURCE", "BUILD", "BUILD_TIMEOUT", "REJECT", "OUTPUT_LIMIT", "UNSUPPORTED", "UNTRUSTED_TIME", "INFRA",
}  # fmt: skip
_MOST_DIGITS = 20  # of a whole number: 64 bits, with a sign


class BrokenResultError(Exception):
    """A document that is not a result; the text says why."""


@dataclass(frozen=True)
class Result:
    """A run's verdict. `document` is everything that the program wrote."""

    chapter: str
    verdict: str
    earned: float
    possible: float
    message: str  # for INFRA, what went wrong; otherwise the first finding or missed goal; one sentence
    seconds: float
    document: dict[str, Any]

    @property
    def passed(self) -> bool:
        """Whether the chapter counts as passed."""
        return self.verdict == "PASS"

    @property
    def gb_per_s(self) -> float | None:
        """The measured or modelled bandwidth, or None."""
        return _number(self._bandwidth().get("gb_per_s"))

    @property
    def ratio(self) -> float | None:
        """The bandwidth divided by the reference's bandwidth."""
        return _number(self._bandwidth().get("ratio"))

    @property
    def bandwidth_kind(self) -> str | None:
        """Whether the bandwidth is "measured" or "modelled"."""
        kind = self._bandwidth().get("kind")
        return kind if kind in ("measured", "modelled") else None

    @property
    def timing(self) -> dict[str, Any] | None:
        """Everything known about the bandwidth except the single samples; None if nothing is known."""
        if self.gb_per_s is None:
            return None
        left_out = ("seconds_of_samples", "reference_seconds_of_samples", "tasks")
        return {name: value for name, value in self._bandwidth().items() if name not in left_out}

    @property
    def diagnosis(self) -> dict[str, Any] | None:
        """The well-known mistake that the run showed, or None."""
        diagnosis = self.document.get("diagnosis")
        return diagnosis if isinstance(diagnosis, dict) else None

    @property
    def is_too_noisy(self) -> bool:
        """Whether the measured ratio is too noisy to decide if it earns all points."""
        return self._bandwidth().get("state") == "too noisy to decide"

    @property
    def device(self) -> dict[str, Any]:
        """The device of the run."""
        device = self.document.get("device")
        return device if isinstance(device, dict) else {}

    def _bandwidth(self) -> dict[str, Any]:
        bandwidth = self.document.get("bandwidth")
        return bandwidth if isinstance(bandwidth, dict) else {}


def infra(chapter: str, message: str, seconds: float = 0.0, possible: float = 0.0) -> Result:
    """The result of a chapter that could not be judged. It never counts as zero points."""
    document = {
        "schema": SCHEMA,
        "chapter": chapter,
        "verdict": "INFRA",
        "points": {"earned": 0, "possible": possible},
        "findings": [{"verdict": "INFRA", "message": message}],
    }
    return Result(chapter, "INFRA", 0, possible, message, seconds, document)


def parse_result(text: bytes, chapter: str, seconds: float) -> Result:
    """Read what ./chNN wrote; raises BrokenResultError if it is not a valid result of that chapter."""
    try:
        document = json.loads(text, parse_constant=_refuse, parse_float=_finite, parse_int=_whole)
    except (ValueError, RecursionError) as error:
        raise BrokenResultError(f"it is not JSON ({error})") from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise BrokenResultError(f'it has no "schema": "{SCHEMA}"')
    if document.get("chapter") != chapter:
        raise BrokenResultError(f"it is about chapter {document.get('chapter')!r:.40}")
    verdict = document.get("verdict")
    if verdict not in VERDICTS:
        raise BrokenResultError(f"it has the unknown verdict {verdict!r:.40}")
    points = document.get("points")
    if not isinstance(points, dict):
        raise BrokenResultError("it has no points")
    earned, possible = _number(points.get("earned")), _number(points.get("possible"))
    if earned is None or possible is None or not 0 <= earned <= possible:
        raise BrokenResultError("its points are not valid")
    return Result(chapter, verdict, earned, possible, _message(document), seconds, document)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits:.20} is too large a number")
    return number


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"{digits:.20} ... is too large a number")
    return int(digits)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value


def _message(document: dict[str, Any]) -> str:
    """The reason in one sentence: the result's, else that of the first finding or the build, else a missed goal."""
    if isinstance(document.get("message"), str) and document["message"]:
        return str(document["message"])
    findings = document.get("findings")
    for finding in findings if isinstance(findings, list) else []:
        if isinstance(finding, dict) and isinstance(finding.get("message"), str):
            return str(finding["message"])
    build = document.get("build")
    if isinstance(build, dict) and isinstance(build.get("message"), str) and build["message"]:
        return str(build["message"])
    goals = document.get("goals")
    for goal in goals if isinstance(goals, list) else []:
        if isinstance(goal, dict) and goal.get("state") == "missed":
            return f"goal not met: {goal.get('words') or 'see the page'}"
    return ""
