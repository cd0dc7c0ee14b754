"""The arithmetic of the emulator against answers that an H200 gave (tests/hardware_truth/alu_answers.npz)."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent / "hardware_truth"))
import alu_forms

alu = alu_forms.alu
FORMS = alu_forms.forms()


def recorded() -> dict[str, np.ndarray]:
    with np.load(alu_forms.ANSWERS) as data:
        keys, counts, values = data["keys"], data["counts"], data["values"]
    ends = np.cumsum(counts)
    return {str(k): values[e - c : e] for k, c, e in zip(keys, counts, ends, strict=True)}


ANSWERS = recorded()

# What the ISA allows those approximations that the emulator rounds correctly: units in the last place, and an
# absolute error where that is the promise. The promise for sin and cos holds from -pi to pi only, so nothing
# is compared outside.
ULPS = {"tanh.approx": 2**13}
ABSOLUTE = {"sin.approx": 2.0**-20.5, "cos.approx": 2.0**-20.5}
EXACT = {"div", "ex2", "lg2", "rcp", "rsqrt", "sqrt"}
# fns counts from at most 31 places away.
UNDEFINED = {"fns": lambda mask, base, n: base > 31 or abs(alu.signed(n, 32)) > 32}


def is_exact(op: str) -> bool:
    """An approximation whose bits are the hardware's, which tests/alu allows the ISA's error."""
    words = op.split(".")
    return words[0] in EXACT and words[-1] == "f32" and words[1] in ("approx", "full")


def as_float(bits: int) -> float:
    return float(np.uint32(bits).view(np.float32))


def agree(op: str, arguments: list[int], have: int, want: int) -> bool:
    """Equality, or what the ISA promises of an approximation of .f32."""
    head, _, _ = op.partition(".")
    if have == want or (head in UNDEFINED and UNDEFINED[head](*arguments)):
        return True
    words = op.split(".")
    if words[-1] != "f32":
        return False
    form = ".".join(words[:2])
    x, y = as_float(have), as_float(want)
    if form in ULPS:
        subnormal = max(abs(x), abs(y)) < 2.0**-125  # a GPU flushes some of these
        return abs(have - want) <= ULPS[form] or (subnormal and abs(x - y) < 2.0**-126)
    if form in ABSOLUTE:
        return not abs(as_float(arguments[0])) <= np.pi or abs(x - y) <= ABSOLUTE[form]
    return False


def groups() -> dict[str, list[str]]:
    by: dict[str, list[str]] = {}
    for key in ANSWERS:
        by.setdefault(key.partition(".")[0], []).append(key)
    return by


GROUPS = groups()


def emulated(case: object) -> list[list[int]]:
    """The emulator's results for the recorded inputs, one list per destination."""
    columns = alu_forms.inputs(case)
    destinations = alu.parts_of(case.to)
    results: list[list[int]] = [[] for _ in destinations]
    for start in range(0, alu_forms.ROWS, alu.LANES):
        rows = slice(start, start + alu.LANES)
        sources = [
            (
                kind,
                sum(bit << lane for lane, bit in enumerate(column[rows])) if kind == "pred" else column[rows],
            )
            for kind, column in zip(case.sources, columns, strict=True)
        ]
        before = [0 if kind == "pred" else [0] * alu.LANES for kind in destinations]
        got, _, _ = alu.execute(case.op, case.to, sources, before=before)
        for k, kind in enumerate(destinations):
            results[k] += [got[k] >> lane & 1 for lane in range(alu.LANES)] if kind == "pred" else got[k]
    return results


@pytest.mark.parametrize("opcode", sorted(GROUPS))
def test_answers_are_the_hardwares(opcode: str) -> None:
    wrong: list[str] = []
    for key in GROUPS[opcode]:
        assert key in FORMS, f"{key} was recorded but is not a form of tests/alu any more"
        case = FORMS[key]
        columns = alu_forms.inputs(case)
        for k, (have, want) in enumerate(zip(emulated(case), ANSWERS[key], strict=True)):
            for row in range(alu_forms.ROWS):
                given = [column[row] for column in columns]
                answer, ours = int(want[row]), have[row]
                same = None if is_exact(case.op) else case.same
                if not (agree(case.op, given, ours, answer) or (same and same(ours, answer))):
                    arguments = ", ".join(map(hex, given))
                    wrong.append(
                        f"{key} [{k}]: ({arguments}) -> {have[row]:#x}, an H200 says {int(want[row]):#x}"
                    )
                    break
    assert not wrong, f"{len(wrong)} forms differ:\n" + "\n".join(wrong[:40])


def test_nothing_is_left_out() -> None:
    with np.load(alu_forms.ANSWERS) as data:
        refused = {str(k) for k in data["refused"]}
    missing = set(FORMS) - set(ANSWERS) - refused
    assert not missing, f"not recorded: {sorted(missing)[:20]}"
