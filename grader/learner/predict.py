"""`make predict-ch04`: three numbers to predict before the next run shows them.

The questions are in chapters/chNN_name/predict.toml. The answers go to progress/predictions/chNN.txt, one
line each, tab-separated: the measure (an expression, as for goals), its task (may be empty), its name on the
page, and the number. ./chNN shows each beside the counted value (common/driver/page/prediction_rows.c). Nothing is
graded.
"""

import math
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import PASSED, MachineError
from ..core.notices import tell
from ..core.options import Json, One
from ..core.page import print_json
from ..core.workbook import Workbook, find_workbook, write_whole
from .markdown import reflow


@dataclass(frozen=True)
class Question:
    """One question."""

    question: str  # a sentence
    words: str  # what the page calls it
    measure: str  # see common/driver/plan/chapter.h
    task: str  # "" for the first


def questions(folder: Path) -> list[Question]:
    """The questions in a chapter's folder."""
    path = folder / "predict.toml"
    try:
        asked = tomllib.loads(path.read_text("utf-8"))["ask"]
        return [Question(one["question"], one["words"], one["measure"], one.get("task", "")) for one in asked]
    except FileNotFoundError:
        raise MachineError(f"there is no {path}") from None
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise MachineError(f"{path} is not a list of questions: {error}") from None


def as_list(root: Path, chapter: str) -> str:
    """The questions as a Markdown list."""
    (folder,) = root.glob(f"chapters/{chapter}_*")
    return "".join(f"{i}. {one.question}\n" for i, one in enumerate(questions(folder), 1))


def number(text: str) -> float:
    """1056, 1,056, 4.5, 1e6 or 2^20 as a number; ValueError for anything else."""
    plain = text.strip().replace(",", "").replace("_", "")
    base, power, exponent = plain.partition("^")
    value = float(base) ** float(exponent) if power else float(plain)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def answers_file(workbook: Workbook, chapter: str) -> Path:
    """The file with the answers of a chapter."""
    return workbook.progress / "predictions" / f"{chapter}.txt"


def ask(asked: list[Question]) -> list[tuple[Question, float]] | None:
    """Ask the questions; Enter skips one, and the end of the input skips the rest. None if none was answered."""
    answers = []
    for i, one in enumerate(asked, 1):
        while True:
            print(reflow(f"{i}. {one.question}"))
            print("   > ", end="", flush=True)
            line = sys.stdin.readline()
            if not sys.stdin.isatty():
                print(line.strip())
            if not line or not line.strip():
                break
            try:
                answers.append((one, number(line)))
                break
            except (ValueError, OverflowError, ZeroDivisionError):
                print("   A number, please, such as 4, 1,056 or 2^20; Enter skips.")
        if not line:
            break
    return answers or None


def kept_answers(path: Path) -> dict[tuple[str, str], float]:
    """Earlier answers, by measure and task; malformed lines are left out, as by ./chNN."""
    try:
        lines = path.read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    answers = {}
    for at, line in enumerate(lines, 1):
        try:
            measure, task, _, value = line.split("\t")
            answers[measure, task] = number(value)
        except (ValueError, OverflowError, ZeroDivisionError):
            tell(f"{path}:{at}: is left out: it is not a prediction")
    return answers


def predict_command(chapter: One, as_json: Json = False) -> int:
    """Predict three numbers before the next run shows them; --json prints questions and answers without asking."""
    workbook = find_workbook()
    (chosen,) = workbook.select([chapter])
    asked = questions(workbook.root / chosen.material)
    path = answers_file(workbook, chosen.name)
    if as_json:
        said = kept_answers(path)
        shown = [
            {"question": one.question, "words": one.words, "measure": one.measure, "task": one.task or None,
             "answer": said.get((one.measure, one.task))}
            for one in asked
        ]  # fmt: skip
        print_json({"schema": "warpbook/predictions/1", "chapter": chosen.name, "questions": shown})
        return PASSED
    print(f"{chosen.name} {chosen.title}: three numbers. Nothing is graded; Enter skips.\n")
    try:
        answers = ask(asked)
    except KeyboardInterrupt:
        print("\nSkipped; nothing was changed.")
        return PASSED
    if answers is None:
        kept = "your earlier answers stay" if path.exists() else "nothing is kept"
        print(f"\nSkipped; {kept}.")
        return PASSED
    lines = [f"{one.measure}\t{one.task}\t{one.words}\t{value:.12g}\n" for one, value in answers]
    write_whole(path, "".join(lines))
    print(
        f"\nKept. Once the kernel is right, the page of ./{chosen.name} shows them beside the\ncounted "
        "values."
    )
    return PASSED
