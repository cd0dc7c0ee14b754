"""Derives the skeleton of an exercise from its solution.

The solution is the only source of an exercise. These lines in it define the skeleton:

    // SKELETON VERDICT: WRONG      the verdict that the skeleton must get; not in the skeleton
    // BEGIN SOLUTION               what the learner has to write begins here
    // TODO 1: the idea             stays, with the further lines of the same comment,
    //         in more words        which are indented; other comments are part of the solution
    // SKELETON: return 0;          code of the skeleton, in place of the solution
    ...                             the solution: left out
    // END SOLUTION
"""

import re
from dataclasses import dataclass

VERDICT = re.compile(r"^\s*// SKELETON VERDICT: (?P<verdict>[A-Z_]+)$")
BEGIN = re.compile(r"^\s*// BEGIN SOLUTION$")
END = re.compile(r"^\s*// END SOLUTION$")
TODO = re.compile(r"^\s*// TODO (?P<number>\d+): \S")
KEPT_CODE = re.compile(r"^(?P<indent>\s*)// SKELETON:(?: (?P<code>.*))?$")
TODO_GOES_ON = re.compile(r"^\s*//   ")


class MarkerError(Exception):
    """The markers of a solution are wrong; the text says where and how."""


@dataclass(frozen=True)
class Skeleton:
    """The exercise that a solution defines."""

    text: str  # of the skeleton
    verdict: str  # that the skeleton must get
    todos: tuple[int, ...]  # the numbers of the TODOs, in the order met
    given: tuple[str, ...]  # lines of the skeleton that replace the solution, stripped
    hidden: tuple[str, ...]  # lines of the solution that the skeleton leaves out, stripped


def make_skeleton(solution: str, name: str = "kernel.cu") -> Skeleton:
    """Derive the skeleton from a solution's text. `name` is for the messages of MarkerError."""
    kept: list[str] = []
    given: list[str] = []
    hidden: list[str] = []
    todos: list[int] = []
    verdict = ""
    begun_at = 0  # the line of BEGIN SOLUTION; 0 outside
    in_head = False  # still in the TODO and SKELETON lines of a solution
    in_todo = False  # the line before is of a TODO

    for number, line in enumerate(solution.splitlines(), start=1):
        if match := VERDICT.match(line):
            if verdict:
                raise MarkerError(f"{name}:{number}: a second SKELETON VERDICT")
            verdict = match["verdict"]
        elif BEGIN.match(line):
            if begun_at:
                raise MarkerError(f"{name}:{number}: BEGIN SOLUTION within that of line {begun_at}")
            begun_at, in_head, in_todo = number, True, False
        elif END.match(line):
            if not begun_at:
                raise MarkerError(f"{name}:{number}: END SOLUTION without its BEGIN")
            begun_at = 0
        elif not begun_at:
            if KEPT_CODE.match(line) or TODO.match(line):
                raise MarkerError(f"{name}:{number}: TODO or SKELETON outside a solution")
            kept.append(line)
        elif in_head and (match := KEPT_CODE.match(line)):
            kept.append((match["indent"] + (match["code"] or "")).rstrip())
            given.append(kept[-1].strip())
            in_todo = False
        elif in_head and (match := TODO.match(line)):
            todos.append(int(match["number"]))
            kept.append(line)
            in_todo = True
        elif in_todo and TODO_GOES_ON.match(line):
            kept.append(line)
        else:
            in_head = in_todo = False
            if KEPT_CODE.match(line) or TODO.match(line):
                raise MarkerError(f"{name}:{number}: TODO and SKELETON lines come first in a solution")
            if line.strip():
                hidden.append(line.strip())

    if begun_at:
        raise MarkerError(f"{name}:{begun_at}: BEGIN SOLUTION without its END")
    if not verdict:
        raise MarkerError(f"{name}: no SKELETON VERDICT line")
    if not hidden:
        raise MarkerError(f"{name}: nothing is left for the learner to write")
    if todos != list(range(1, len(todos) + 1)):
        raise MarkerError(f"{name}: TODOs are numbered {todos}, not 1, 2, 3 ...")
    return Skeleton("\n".join(kept) + "\n", verdict, tuple(todos), tuple(given), tuple(hidden))
