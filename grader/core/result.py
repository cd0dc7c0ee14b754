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
_TENTH = 0.1 + 1e-6  # points are cut to tenths


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
        return number(self._bandwidth().get("gb_per_s"))

    @property
    def ratio(self) -> float | None:
        """The bandwidth divided by the reference's bandwidth."""
        return number(self._bandwidth().get("ratio"))

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


def cause(diagnosis: dict[str, Any]) -> str:
    """The title of a diagnosis, marked as possible where the run does not prove it; "" for no diagnosis."""
    if not diagnosis:
        return ""
    return str(diagnosis["title"]) if diagnosis.get("proof") else f"Possibly: {diagnosis['title']}"


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
        document = load_json(text)
    except ValueError as error:
        raise BrokenResultError(f"it is not JSON ({error})") from None
    return check_result(document, chapter, seconds)


def load_json(text: bytes | str) -> Any:
    """Parse JSON whose numbers a program can compute with. Raises ValueError for all other text."""
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_finite, parse_int=_whole)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def check_result(document: object, chapter: str, seconds: float) -> Result:
    """The result in a document, wherever it was stored; raises BrokenResultError where it contradicts itself.

    This is the one check for results: of ./chNN, of the journal, of reports, of class.json and of exports.
    """
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
    earned, possible = number(points.get("earned")), number(points.get("possible"))
    if earned is None or possible is None or not 0 <= earned <= possible:
        raise BrokenResultError("its points are not valid")
    if number(seconds) is None or seconds < 0:
        raise BrokenResultError("its seconds are not valid")
    _check_verdict(document, verdict)
    _check_points(document, verdict, earned, possible)
    return Result(chapter, verdict, earned, possible, _message(document), seconds, document)


def _check_verdict(document: dict[str, Any], verdict: str) -> None:
    """Raise BrokenResultError where cases or the build say otherwise than the verdict."""
    cases, build, goals = document.get("cases", []), document.get("build"), document.get("goals", [])
    for name, items in (("cases", cases), ("goals", goals), ("findings", document.get("findings", []))):
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise BrokenResultError(f"its {name} are not a list of objects")
    verdicts = [case.get("verdict", "none at all") for case in cases]
    if any(one is not None and one not in VERDICTS for one in verdicts):  # None: not run
        raise BrokenResultError("a case has an unknown verdict")
    if verdict not in ("PASS", "SLOW"):
        return
    if any(one != "PASS" for one in verdicts):
        raise BrokenResultError(f"it says {verdict}, but not every case passed")
    if isinstance(build, dict) and build.get("verdict", "PASS") != "PASS":
        raise BrokenResultError(f"it says {verdict}, but the build says {build['verdict']!r:.40}")
    missed = any(goal.get("state") == "missed" for goal in goals)
    if goals and missed != (verdict == "SLOW"):
        raise BrokenResultError(f"it says {verdict}, but {'a' if missed else 'no'} goal was missed")


def _check_points(document: dict[str, Any], verdict: str, earned: float, possible: float) -> None:
    """Raise BrokenResultError where the points are not those of the goals and of a correct kernel."""
    sums = [0.0, 0.0]
    for goal in document.get("goals", []):
        part, whole = number(goal.get("earned")), number(goal.get("points"))
        if part is None or whole is None or not 0 <= part <= whole:
            raise BrokenResultError("the points of a goal are not valid")
        if verdict in ("PASS", "SLOW") and (goal.get("state") == "met") and part != whole:
            raise BrokenResultError("a goal that was met does not have its points")
        sums[0] += part
        sums[1] += whole
    most = sums[0] + max(0.0, possible - sums[1])  # correctness earns what is not for goals
    is_right = verdict in ("PASS", "SLOW")
    too_few = is_right and document.get("goals") and earned < most - _TENTH  # without goals: a part of a run
    if earned > most + _TENTH or too_few:
        raise BrokenResultError(f"it gives {earned:g} points, and its goals add up to {most:g}")
    if not is_right and possible > 0 and earned == possible:
        raise BrokenResultError(f"it says {verdict}, and gives all points")


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


def number(value: object) -> float | None:
    """The value if it is a finite number, else None."""
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
