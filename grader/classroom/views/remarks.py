"""What is said of one chapter of one student, in words: the pages and every export show the same."""

import re
import textwrap
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from ...core.errors import GraderError
from ...core.result import cause
from ...core.speed import unit_of
from ...core.workbook import Workbook, find_workbook, lesson_of
from ..course import Late
from .lessons import lesson_page
from .spreadsheet import number

_MOST_LOG = 4000  # characters of a compiler's message

MEANINGS = {
    "PASS": "Right, and every goal met.",
    "SLOW": "Right, but not all goals are met.",
    "WRONG": "The result is wrong.",
    "OOB": "It reads or writes outside a buffer.",
    "MISALIGNED": "An address is not a multiple of the access's size.",
    "UNINIT": "It uses a value that was never set.",
    "RACE": "Two threads touch the same memory with nothing between them that orders them.",
    "SYNC": "A barrier or a mask leaves threads waiting, or names the wrong ones.",
    "FAULT": "The kernel stopped in a trap.",
    "TIMEOUT": "The kernel did not finish in time.",
    "LAUNCH": "The launch shape is refused.",
    "RESOURCE": "It needs more registers or shared memory than a block can have.",
    "BUILD": "It does not compile.",
    "BUILD_TIMEOUT": "The compiler did not finish in time.",
    "REJECT": "It is refused before it runs.",
    "OUTPUT_LIMIT": "It prints too much.",
    "UNSUPPORTED": "It uses an instruction that the emulator does not know.",
    "UNTRUSTED_TIME": "It was faster than the memory allows, so its time is not believed.",
    "INFRA": "It could not be judged, through no fault of its author. The teacher will see to it.",
    "MISSING": "No kernel of this chapter was handed in.",
}


@dataclass(frozen=True)
class GoalLine:
    """One goal of a chapter beside what was counted."""

    words: str  # "sectors per load request"
    goal: str  # "at most 4"
    value: str  # "16"; "" where nothing was counted
    state: str  # "met", "missed" ...
    points: str  # "1/4"

    def text(self) -> str:
        """In one line."""
        counted = f"{self.value} {self.words}" if self.value else self.words
        return f"{counted}, goal {self.goal}: {self.state}"


@dataclass(frozen=True)
class Remark:
    """One chapter of a student. Texts are "" where there is nothing to say; they may hold anything at all."""

    chapter: str
    title: str
    verdict: str
    earned: float | None  # before lateness; None: not known
    possible: float
    score: float | None  # after it
    factor: float  # of lateness
    meaning: str  # of the verdict
    what: str  # what happened
    where: tuple[str, ...]  # "kernel.cu:12:5"
    mistake: str  # the well-known mistake by its name
    why: str  # the mistake's name in it
    numbers: str
    case: str  # the run that showed it
    command: str  # that shows it again
    hint: str  # the command that gives the hint to read
    lesson: str  # where to read more
    lesson_page: str  # its place beside class.html or in a handout
    goals: tuple[GoalLine, ...]
    bandwidth: str
    receipt: str  # what a receipt handed in along with it is worth
    is_excused: bool = False  # it does not count for this student
    decided: str = ""  # by a person, in words
    counted: str = ""  # which of several submissions, and why
    lateness: str = ""
    correctness: str = ""  # the points for correct results, "1.5/3"; "" where nothing was judged
    worth: str = ""  # the points of the chapter itself, before they are scaled to the course's: "10"

    @property
    def passed(self) -> bool:
        """Whether the chapter counts as done."""
        return self.verdict == "PASS"

    def headline(self) -> str:
        """What happened, in one line."""
        lines = [line.strip() for line in (self.what or self.meaning).splitlines() if line.strip()]
        return next((line for line in lines if not line.endswith(":")), lines[0] if lines else self.meaning)

    def points(self) -> str:
        """Such as "7/10", with the lateness where there is any."""
        if self.is_excused:
            return "excused"
        if self.decided and self.score is not None and self.score != self.earned:
            return f"{number(self.score)}/{number(self.possible)}"
        if self.earned is None:
            return f"?/{number(self.possible)}"
        is_less = self.factor != 1 and self.earned  # of no points, lateness takes none
        late = f", late: times {self.factor:g} is {number(self.score)}" if is_less else ""
        return f"{number(self.earned)}/{number(self.possible)}{late}"

    def lines(self) -> list[tuple[str, str]]:
        """Label and text of each part that there is, in the order in which ./chNN shows them."""
        parts = [
            ("what", self.what or self.meaning),
            ("where", ", ".join(self.where)),
            ("why", self.why),
            ("numbers", self.numbers),
            ("case", self.case),
            ("again", self.command),
            *(("goal", goal.text()) for goal in self.goals),
            ("speed", self.bandwidth),
            ("hint", self.hint),
            ("read", self.lesson),
            ("counted", self.counted),
            ("late", self.lateness),
            ("by hand", self.decided),
            ("receipt", self.receipt),
        ]
        return [(label, text) for label, text in parts if text]

    def text(self) -> str:
        """All of it as plain text, 80 columns wide."""
        lines = [f"{self.chapter} {self.title}: {self.verdict}, {self.points()} points"]
        for label, text in self.lines():
            for i, part in enumerate(text.splitlines() or [""]):
                lines += textwrap.wrap(
                    part,
                    80,
                    initial_indent=f"  {'' if i else label:<8}",
                    subsequent_indent=" " * 10,
                    break_on_hyphens=False,
                )
        return "\n".join(lines)


def remarks(document: dict[str, Any], student: dict[str, Any]) -> list[Remark]:
    """What is said of each of a student's chapters, from a class.json."""
    titles = {one["chapter"]: one["title"] for one in document["course"]["chapters"]}
    workbook = _workbook()
    rule = Late(**document["course"]["late"])
    return [_remark(student, one, titles, rule, workbook) for one in student["chapters"]]


def which_counts(student: dict[str, Any], one: dict[str, Any]) -> str:
    """Which of several submissions of a chapter counts, and why; "" if there is only one."""
    if one["of"] < 2 or one["submission"] is None:
        return ""
    submission = student["submissions"][one["submission"]]
    at = f", received {submission['received']}" if submission["received"] else ""
    return f"{submission['name']}{at}: the {one['chosen_as']} of {one['of']}"


def decided(student: dict[str, Any], one: dict[str, Any]) -> str:
    """What a person decided about a chapter, with author and date; "" for nothing."""
    by_hand = one["by_hand"]
    if by_hand is None:
        return ""
    points = "" if by_hand["points"] is None else f"{number(by_hand['points'])} points"
    judged = one["points"]["earned"]
    if points and judged != by_hand["points"]:
        points += f" (judged: {'?' if judged is None else number(judged)})"
    said = ", ".join(part for part in (points, by_hand["comment"]) if part)
    return f"{said} - {by_hand['author']}, {by_hand['date']}"


def lateness(one: dict[str, Any], rule: Late) -> str:
    """How late a chapter was, and what that costs by the course's rule; "" if it was not."""
    if not one["days_late"]:
        return ""
    days = f"{one['days_late']} {'day' if one['days_late'] == 1 else 'days'} late"
    if free := one["days_late"] - rule.counted(one["days_late"]):
        days += f", {free} without penalty"
    if one["from_budget"]:
        days += f", {one['from_budget']} of the budget"
    return f"{days}: times {one['factor']:g}"


def trouble_of(student: dict[str, Any]) -> str:
    """Why nothing, or not all, of what a student handed in could be judged; "" if all of it could."""
    if student["trouble"]:
        return str(student["trouble"]["message"])
    said = not_counted(student)
    messages = {one["message"] if one["verdict"] == "MISSING" else "" for one in student["chapters"]}
    if student["submission"]["path"] and len(messages) == 1 and (message := messages.pop()):
        said.append(str(message))
    return "; ".join(said)


def not_counted(student: dict[str, Any]) -> list[str]:
    """Which of a student's submissions were refused as a whole and why, where another one could be judged."""
    if student["trouble"]:
        return []
    refused = [one for one in student["submissions"] if (one["trouble"] or {}).get("verdict") == "REJECT"]
    said = []
    for one in refused:
        name, why = one["name"], str(one["trouble"]["message"])
        for begin, instead in ((f"{name}: ", ""), (f"{name} ", "it ")):
            if why.startswith(begin):
                why = instead + why.removeprefix(begin)
        said.append(f"{name} is not counted: {why}")
    return said


def whole_text(document: dict[str, Any], student: dict[str, Any]) -> str:
    """All that is said of a student, as plain text."""
    trouble = student["trouble"]
    if trouble:
        return f"{MEANINGS[trouble['verdict']]} {trouble['message']}"
    return "\n\n".join([*not_counted(student), *(remark.text() for remark in remarks(document, student))])


def short_text(document: dict[str, Any], student: dict[str, Any]) -> str:
    """The same in one line, for a gradebook's comment column."""
    if student["trouble"]:
        return whole_text(document, student)
    said = not_counted(student)
    for remark in remarks(document, student):
        if remark.is_excused:
            said.append(f"{remark.chapter} excused")
            continue
        if remark.decided:
            said.append(f"{remark.chapter} {remark.verdict}, by hand: {remark.decided}")
            continue
        what = "" if remark.passed else f" - {remark.headline().rstrip('.')}"
        where = f" ({remark.where[0]})" if remark.where and not remark.passed else ""
        said.append(f"{remark.chapter} {remark.verdict} {remark.points()}{what}{where}")
    return "; ".join(said)


def _workbook() -> Workbook | None:
    try:
        return find_workbook()
    except GraderError:
        return None


def _remark(
    student: dict[str, Any],
    one: dict[str, Any],
    titles: dict[str, str],
    rule: Late,
    workbook: Workbook | None,
) -> Remark:
    result: dict[str, Any] = one["result"] or {}
    failed = _failed_case(result)
    check = failed.get("check") or {}
    diagnosis = result.get("diagnosis") or {}
    name = one["chapter"]
    verdict = one["verdict"]
    is_fine = verdict in ("PASS", "INFRA", "MISSING")
    return Remark(
        chapter=name,
        title=titles[name],
        verdict=verdict,
        earned=one["points"]["earned"],
        possible=one["points"]["possible"],
        score=one["score"],
        factor=one["factor"],
        meaning=MEANINGS[verdict],
        what=_cut(_what(one["message"], result)),
        where=_places(result),
        mistake=cause(diagnosis),
        why=_why(check, diagnosis),
        numbers=_numbers(check),
        case=_case(failed),
        command=_command(name, failed, result),
        hint="" if is_fine else _hint(name, diagnosis),
        lesson="" if is_fine or not workbook else lesson_of(workbook, diagnosis.get("lesson")),
        lesson_page=_lesson_page(name, diagnosis, titles) if workbook else "",
        goals=_goals(result.get("goals") or ()),
        bandwidth=_bandwidth(result.get("bandwidth") or {}),
        receipt=_receipt(one.get("receipt")),
        is_excused=one["excused"],
        decided=decided(student, one),
        counted=which_counts(student, one),
        lateness=lateness(one, rule),
        correctness=_correctness(result),
        worth=number(result["points"]["possible"]) if result else "",
    )


def _what(message: str, result: dict[str, Any]) -> str:
    """One sentence; of what did not compile all that the compiler says, line by line."""
    build = (result.get("build") or {}).get("message") or ""
    return str(build).strip() or message


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_LOG else text[:_MOST_LOG] + "\n..."


def _failed_case(result: dict[str, Any]) -> dict[str, Any]:
    index, cases = result.get("first_failure"), result.get("cases") or []
    return dict(cases[index]) if isinstance(index, int) and index < len(cases) else {}


def _places(result: dict[str, Any]) -> tuple[str, ...]:
    """The place that the page shows, and the other one of a race."""
    findings = result.get("findings") or []
    first = findings[0] if findings else {}
    places = [first.get("place") or result.get("place"), first.get("other_place")]
    found = []
    for place in places:
        if place:
            column = f":{place['column']}" if place["column"] else ""
            found.append(f"{place['file']}:{place['line']}{column}")
    return tuple(found)


def _why(check: dict[str, Any], diagnosis: dict[str, Any]) -> str:
    """What the wrong numbers say, then the well-known mistake by its name."""
    named = f"{cause(diagnosis)}. {diagnosis['why']}" if diagnosis else ""
    return " ".join(part for part in (str(check.get("why") or ""), named) if part)


def _numbers(check: dict[str, Any]) -> str:
    if "expected" not in check:
        return ""
    said = f"expected {check['expected']}, got {check.get('got', '')}"
    if check.get("difference") is not None:
        said += f", difference {check['difference']:.10g}"
    if check.get("budget") is not None:
        said += f", allowed {check['budget']:.10g}"
    if check.get("wrong", 0) > 1:
        said += f"; {check['wrong']:,} of {check['elements']:,} elements are wrong"
    return said


def _case(failed: dict[str, Any]) -> str:
    if not failed:
        return ""
    size = f"n = {failed['n']:,}"
    if "rows" in failed:
        size = f"{failed['rows']:,} rows of {failed['columns']:,}"
    shifted = f", base {failed['misalignment']} bytes off" if failed["misalignment"] else ""
    return f"{failed['task']}, {size}, {failed['family'].replace('_', ' ')}{shifted}, schedule {failed['schedule']}"


def _command(chapter: str, failed: dict[str, Any], result: dict[str, Any]) -> str:
    if not failed:
        return ""
    options = "" if "rows" in failed else f" --n {failed['n']}"
    options += f" --seed {failed['seed']}" if "seed" in failed else ""
    options += f" --schedule {failed['schedule']}" if failed["schedule"] else ""
    return f"./{chapter}{options}"


def _hint(chapter: str, diagnosis: dict[str, Any]) -> str:
    step = f" STEP={diagnosis['hint']}" if diagnosis.get("hint") else ""
    return f"make hint-{chapter}{step}"


def _lesson_page(chapter: str, diagnosis: dict[str, Any], known: Collection[str]) -> str:
    """The section that a mistake names, or else the chapter's lesson; "" if it is of a chapter outside the course."""
    name, _, slug = str(diagnosis.get("lesson") or chapter).partition("#")
    return lesson_page(name, slug) if name in known and not re.search(r"[^\w-]", slug) else ""


def _goals(goals: Sequence[dict[str, Any]]) -> tuple[GoalLine, ...]:
    several = len({goal["task"] for goal in goals}) > 1
    return tuple(_goal(goal, f"{goal['task']}: " if several else "") for goal in goals)


def _goal(goal: dict[str, Any], task: str) -> GoalLine:
    bound = "" if goal["bound"] == "exactly" else f"{goal['bound']} "
    return GoalLine(
        words=task + goal["words"],
        goal=f"{bound}{_figure(goal['limit'])}",
        value="" if goal["value"] is None else _figure(goal["value"]),
        state=goal["state"],
        points=f"{number(goal['earned'])}/{number(goal['points'])}",
    )


def _correctness(result: dict[str, Any]) -> str:
    """The points that are not for goals: all of them for a correct kernel, else those of its correct tasks."""
    if not result:
        return ""
    goals = result.get("goals") or ()
    most = result["points"]["possible"] - sum(goal["points"] for goal in goals)
    earned = most
    if result["verdict"] not in ("PASS", "SLOW"):
        earned = (result["points"]["earned"] or 0) - sum(goal["earned"] for goal in goals)
    return f"{number(round(earned, 2))}/{number(most)}"


def _figure(value: float) -> str:
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def _bandwidth(bandwidth: dict[str, Any]) -> str:
    if not bandwidth.get("gb_per_s"):
        return ""
    speed = unit_of(bandwidth).text(bandwidth["gb_per_s"])
    said = f"{speed} {bandwidth['kind']} for {bandwidth['device']}"
    if bandwidth.get("ratio") is not None:
        said += f", {bandwidth['ratio']:.2f} of the reference"
    return said


def _receipt(receipt: dict[str, Any] | None) -> str:
    if receipt is None:
        return ""
    if receipt["agrees"]:
        return "The receipt handed in agrees."
    return "The receipt handed in does not agree: " + " ".join(receipt["differences"])
