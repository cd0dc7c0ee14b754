"""The driver's inputs, reference sums, checks, goals, plan and page layout, each against a separate reference."""

import json
import math
import re
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from native_driver import build

ROOT = Path(__file__).resolve().parents[1]
FAMILIES = [
    "integers", "ones", "constants", "uniform", "normal", "cancelling", "ten_orders", "nan", "infinity", "infinities",
    "negative_zeros", "subnormals", "huge",
]  # fmt: skip
FAMILIES_OF_BYTES = ["skewed", "runs", "ramp"]
F32, BF16, I32, U8 = 0, 2, 3, 7
POISON = struct.pack("<I", 0x7FF17FF1)
SUM, ROWS, TRANSPOSE, ADD, WORKSPACE, SUM_BFLOAT16, HISTOGRAM, SCAN, EXCLUSIVE_SCAN = range(9)


@pytest.fixture(scope="session")
def probe() -> Path:
    return build("driver_probe")


def run(probe: Path, *arguments: object, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([probe, *map(str, arguments)], input=data, capture_output=True, timeout=60)


def inputs(
    probe: Path, family: str, count: int, terms: int | None = None, seed: int = 0, stream: int = 0
) -> np.ndarray:
    terms = count if terms is None else terms
    done = run(probe, "inputs", FAMILIES.index(family), count, terms, seed, stream, F32)
    assert done.returncode == 0
    return np.frombuffer(done.stdout, np.float32)


# ---- Inputs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 33, 1025, 65537, 1 << 20, (1 << 20) + 1, 3_000_000])
def test_integers_add_up_exactly_in_any_order(probe: Path, count: int) -> None:
    values = inputs(probe, "integers", count).astype(np.float64)
    assert np.all(values == np.rint(values))
    assert np.abs(values).sum() <= 2**24
    if count <= 1 << 20:
        assert np.all(values != 0)  # leaving one out always shows
        assert count < 3 or len(np.unique(values)) > min(count, 2**24 // count) // 3
    else:
        for part in (values[:1000], values[-1000:]):
            assert np.all(part != 0)
        assert np.count_nonzero(values) > 200_000


def test_rows_are_exact_each(probe: Path) -> None:
    values = inputs(probe, "integers", 64 * 2048, 2048).reshape(64, 2048).astype(np.float64)
    assert np.abs(values).sum(axis=1).max() <= 2**24
    assert np.abs(values).max() > 1000


def test_families_hold_what_they_promise(probe: Path) -> None:
    values = {family: inputs(probe, family, 4097) for family in FAMILIES}
    for family, others in (("ones", 0.5), ("constants", np.float32(2.1))):  # one element that differs
        kinds, counts = np.unique(values[family], return_counts=True)
        assert len(kinds) == 2 and min(counts) == 1 and kinds[np.argmin(counts)] == others
    assert abs(values["uniform"].mean()) < 0.05
    assert values["uniform"].min() >= -1
    assert values["uniform"].max() < 1
    assert abs(values["normal"].mean() - 4) < 0.1
    assert abs(values["normal"].std() - 1) < 0.1
    assert abs(values["cancelling"][:-1].sum(dtype=np.float64)) < 1e-1 * np.abs(values["cancelling"]).sum(
        dtype=np.float64
    )
    magnitudes = np.log10(np.abs(values["ten_orders"]))
    assert magnitudes.min() < -4.9
    assert magnitudes.max() > 4.9
    assert np.isnan(values["nan"]).sum() == 1
    assert np.isposinf(values["infinity"]).sum() == 3
    assert np.isfinite(values["infinity"]).sum() == 4094
    assert np.isposinf(values["infinities"]).sum() == np.isneginf(values["infinities"]).sum() == 1
    assert np.count_nonzero(values["negative_zeros"]) == 1
    assert np.all(np.signbit(values["negative_zeros"][values["negative_zeros"] == 0]))
    assert np.all(np.abs(values["subnormals"]) < np.finfo(np.float32).tiny)
    assert np.all(values["subnormals"] != 0)


def test_inputs_depend_on_seed_and_stream_alone(probe: Path) -> None:
    base = inputs(probe, "uniform", 1000)
    assert np.array_equal(base, inputs(probe, "uniform", 1000))
    assert np.array_equal(base[:10], inputs(probe, "uniform", 10))
    assert not np.array_equal(base, inputs(probe, "uniform", 1000, seed=1))
    assert not np.array_equal(base, inputs(probe, "uniform", 1000, stream=1))


def bytes_of(probe: Path, family: str, count: int, seed: int = 0) -> np.ndarray:
    number = [*FAMILIES, *FAMILIES_OF_BYTES].index(family)
    done = run(probe, "inputs", number, count, count, seed, 0, U8)
    assert done.returncode == 0
    return np.frombuffer(done.stdout, np.uint8)


def test_families_of_bytes_hold_what_they_promise(probe: Path) -> None:
    n = 100_000
    values = {family: bytes_of(probe, family, n) for family in ["integers", "constants", *FAMILIES_OF_BYTES]}
    bins = {family: np.sort(np.bincount(of, minlength=256))[::-1] for family, of in values.items()}
    assert bins["integers"].min() > 0.7 * n / 256 and bins["integers"].max() < 1.3 * n / 256
    assert list(bins["constants"][:3]) == [n - 1, 1, 0]
    assert abs(bins["skewed"][0] / n - 0.75) < 0.05 and bins["skewed"][1] > 0.1 * n
    assert 300 < np.count_nonzero(np.diff(values["runs"])) < n / 20
    assert set(np.diff(values["ramp"].astype(np.int32))) == {1, -255}
    for family, of in values.items():
        assert np.array_equal(of[:100], bytes_of(probe, family, n)[:100])
        assert not np.array_equal(of[:100], bytes_of(probe, family, n, seed=1)[:100])


def test_the_schema_of_results_knows_every_family() -> None:
    source = (ROOT / "common" / "driver" / "plan" / "inputs.c").read_text()
    schema = json.loads((ROOT / "docs" / "result.schema.json").read_text())
    families = schema["$defs"]["case"]["properties"]["family"]["enum"]
    assert families == re.findall(r'\[FAMILY_\w+\] = \{"(\w+)"', source)
    assert families[: len(FAMILIES) + len(FAMILIES_OF_BYTES)] == [*FAMILIES, *FAMILIES_OF_BYTES]


# ---- Reference sums ----------------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), max_size=60))
def test_sums_are_those_of_fsum(probe: Path, values: list[float]) -> None:
    done = run(probe, "sum", len(values), data=np.array(values, np.float32).tobytes())
    total, magnitude = map(float, done.stdout.split())
    exact = math.fsum(values)
    assert abs(total - exact) <= 2**-52 * abs(exact) + 2**-90 * math.fsum(map(abs, values))
    assert math.isclose(magnitude, math.fsum(map(abs, values)), rel_tol=1e-14)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, math.nan, 2], "nan"),
        ([1, math.inf], "inf"),
        ([-math.inf, 5], "-inf"),
        ([math.inf, 1, -math.inf], "nan"),
        ([], "0"),
    ],
)
def test_special_values_follow_the_rules_of_addition(probe: Path, values: list[float], expected: str) -> None:
    done = run(probe, "sum", len(values), data=np.array(values, np.float32).tobytes())
    assert done.stdout.split()[0].decode().lstrip("-" if expected == "nan" else "") == expected


# ---- Checks ------------------------------------------------------------------------------------------------------


class Answer:
    def __init__(self, done: subprocess.CompletedProcess[bytes]) -> None:
        lines = done.stdout.decode().split("\n")
        self.right = done.returncode == 0
        self.outcome, self.what, self.why = lines[0], lines[1], lines[2]
        self.share = float(lines[3])
        self.index, self.wrong, self.buffer = lines[4].split(" ")


def check_sum(probe: Path, values: np.ndarray, partials: np.ndarray, family: str = "integers") -> Answer:
    blocks = len(partials)
    data = values.tobytes() + partials.astype(np.float32).tobytes() * 2  # "out" is as large as "partial"
    return Answer(run(probe, "check", SUM, FAMILIES.index(family), len(values), blocks, 256, data=data))


def split(values: np.ndarray, blocks: int) -> np.ndarray:
    return np.array([values[b::blocks].sum(dtype=np.float64) for b in range(blocks)], np.float32)


@pytest.mark.parametrize("n", [1, 2, 31, 257, 1025, 65537])
def test_a_right_sum_is_right(probe: Path, n: int) -> None:
    values = inputs(probe, "integers", n)
    assert check_sum(probe, values, split(values, 8)).right


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        (lambda v: v[:-1], "the last element, as if left out"),
        (lambda v: v[1:], "element 0, as if left out"),
        (lambda v: v[: len(v) // 4 * 4], "the tail of 279 modulo 4, as if left out"),
        (lambda v: v[: len(v) // 32 * 32], "the tail of 279 modulo 32, as if left out"),
        (lambda v: np.append(v, v[-1]), "the last element, as if counted twice"),
        (lambda v: np.append(v, v[-3:]), "the tail of 279 modulo 4, as if counted twice"),
        (lambda v: np.append(v, v), "exactly twice the sum"),
        (lambda v: v[:0], "nothing was added"),
        (lambda v: np.delete(v, 77), "element 77, as if left out"),
        (lambda v: v[32:], "the first 32 elements, as if left out"),
        (lambda v: v[:-9], "elements 270 to 278, as if left out"),
    ],
)
def test_a_wrong_sum_says_which_elements(probe: Path, mistake, words: str) -> None:
    values = inputs(probe, "integers", 279)
    answer = check_sum(probe, values, split(mistake(values), 2))
    assert answer.outcome == "value"
    assert words in answer.why


def test_no_cause_is_named_where_chance_could_name_it(probe: Path) -> None:
    for seed in range(40):
        values = inputs(probe, "integers", 1025, seed=seed)
        wrong = split(values, 4)
        wrong[1] += np.float32(1 + seed * 17)
        assert check_sum(probe, values, wrong).why == ""


def test_every_partial_must_be_written(probe: Path) -> None:
    values = inputs(probe, "integers", 1025)
    partials = split(values, 8)
    poisoned = partials.copy().view(np.uint32)
    poisoned[5] = 0x7FF17FF1
    answer = check_sum(probe, values, poisoned.view(np.float32))
    assert (answer.outcome, answer.index, answer.buffer) == ("not_written", "5", "partial")
    poisoned[:] = 0x7FF17FF1
    assert "none of the 8 elements" in check_sum(probe, values, poisoned.view(np.float32)).what


def test_rounding_is_allowed_and_nothing_beyond(probe: Path) -> None:
    values = inputs(probe, "uniform", 65537)
    partials = split(values, 8)
    answer = check_sum(probe, values, partials, "uniform")
    assert answer.right
    assert 0 < answer.share < 0.2
    # gamma_h sum|x| + u|s| with h as expected.h says: t = ceil(n / 2048) + 6, log2(256) and one more.
    u = 2.0**-24
    h = math.ceil(65537 / 2048) + 6 + 8 + 1
    total = math.fsum(map(float, values))
    budget = h * u / (1 - h * u) * math.fsum(map(abs, map(float, values))) + u * abs(total)
    for factor, right in ((0.97, True), (1.03, False)):
        moved = np.array([total + factor * budget, 0, 0, 0, 0, 0, 0, 0], np.float64)
        moved[1] = moved[0] - float(np.float32(moved[0]))  # the rest that a float cannot hold
        assert check_sum(probe, values, moved, "uniform").right is right


def test_bfloat16_may_round_by_half_of_its_own_last_place(probe: Path) -> None:
    """One and nine times half of the step behind it, in that order: every addition rounds to even, back to one."""
    one, half_step = 0x3F80, 0x3B80
    values = np.array([one] + 9 * [half_step], np.uint16)
    for total, right in ((one, True), (0x3F00, False)):  # 1.0, which serial addition gives, and 0.5
        data = values.tobytes() + np.array([total], np.uint16).tobytes()
        answer = Answer(
            run(probe, "check", SUM_BFLOAT16, FAMILIES.index("uniform"), len(values), 1, 1, data=data)
        )
        assert answer.right is right, answer.what


def test_whole_numbers_have_no_budget(probe: Path) -> None:
    values = inputs(probe, "integers", 65537)
    partials = split(values, 8)
    partials[0] += 1
    assert check_sum(probe, values, partials).outcome == "value"


@pytest.mark.parametrize("family", ["nan", "infinity", "infinities"])
def test_special_values_must_come_out(probe: Path, family: str) -> None:
    values = inputs(probe, family, 257)
    with np.errstate(invalid="ignore"):
        right = np.array([values.sum(), 0], np.float32)
    assert check_sum(probe, values, right, family).right
    for wrong in (0.0, -math.inf, math.inf if family != "infinity" else math.nan):
        assert check_sum(probe, values, np.array([wrong, 0]), family).outcome == "special"


def test_a_nan_that_nobody_put_in(probe: Path) -> None:
    values = inputs(probe, "uniform", 257)
    answer = check_sum(probe, values, np.array([1, np.nan, 2]), "uniform")
    assert answer.outcome == "special"
    assert "partial[1]" in answer.why


def test_rows(probe: Path) -> None:
    values = inputs(probe, "integers", 15, 5).reshape(3, 5)
    sums = values.sum(axis=1, dtype=np.float64).astype(np.float32)
    arguments = ("check", ROWS, 0, "3x5", 3, 32)
    assert Answer(run(probe, *arguments, data=values.tobytes() + sums.tobytes())).right
    sums[2] += 1
    answer = Answer(run(probe, *arguments, data=values.tobytes() + sums.tobytes()))
    assert (answer.outcome, answer.index, answer.wrong) == ("value", "2", "1")
    sums[2] = values[2, :4].sum(dtype=np.float64)
    answer = Answer(run(probe, *arguments, data=values.tobytes() + sums.tobytes()))
    assert "the last element, as if left out" in answer.why  # of its row


def test_a_workspace_is_left_as_it_was_found(probe: Path) -> None:
    values = inputs(probe, "integers", 33)
    right = values.tobytes() + np.float32(values.sum(dtype=np.float64)).tobytes()
    arguments = ("check", WORKSPACE, 0, 33, 1, 32)
    assert Answer(run(probe, *arguments, data=right + np.array([0, 0], np.uint32).tobytes())).right
    answer = Answer(run(probe, *arguments, data=right + np.array([0, 7], np.uint32).tobytes()))
    assert (answer.outcome, answer.index, answer.buffer) == ("not_zero", "1", "ticket")
    assert "ticket[1] is 7 after the run; it must be 0 again" in answer.what


def test_transpose(probe: Path) -> None:
    values = inputs(probe, "integers", 15, 16).reshape(3, 5)
    arguments = ("check", TRANSPOSE, 0, "3x5", 1, 32)
    assert Answer(run(probe, *arguments, data=values.tobytes() + values.T.tobytes())).right
    answer = Answer(run(probe, *arguments, data=values.tobytes() + values.tobytes()))
    assert answer.outcome == "value"
    assert "That value belongs at index" in answer.why


def check_histogram(probe: Path, values: np.ndarray, bins: np.ndarray) -> Answer:
    data = values.tobytes() + bins.astype(np.uint32).tobytes()
    return Answer(run(probe, "check", HISTOGRAM, 0, len(values), 1, 256, data=data))


@pytest.mark.parametrize("n", [0, 1, 255, 4097])
def test_a_right_histogram_is_right(probe: Path, n: int) -> None:
    values = bytes_of(probe, "integers", n)
    assert check_histogram(probe, values, np.bincount(values, minlength=256)).right


@pytest.mark.parametrize(
    ("mistake", "why"),
    [
        (lambda bins: bins + (np.arange(256) == 7), "Bin 7 alone is wrong. All bins together count 5,001 elements"),
        (lambda bins: bins * (np.arange(256) < 128), "Bins 128 to 255 are wrong and hold 0. All bins together count"),
        (lambda bins: bins * 3, "Bins 0 to 255 are wrong: every bin is 3 times its count. All"),
        (lambda bins: bins - np.isin(np.arange(256), [3, 9]), "2 bins from 3 to 9 are wrong. All bins"),
    ],
)  # fmt: skip
def test_a_wrong_histogram_says_which_bins(probe: Path, mistake, why: str) -> None:
    values = bytes_of(probe, "integers", 5000)
    answer = check_histogram(probe, values, mistake(np.bincount(values, minlength=256)))
    assert answer.outcome == "value"
    assert why in answer.why


def test_a_histogram_is_tried_with_the_families_of_bytes(probe: Path) -> None:
    cases = plan(probe, HISTOGRAM)
    assert {case[1] for case in cases} == {"integers", "constants", *FAMILIES_OF_BYTES}
    assert set(FAMILIES_OF_BYTES).isdisjoint(case[1] for case in plan(probe, ADD))


def check_scan(probe: Path, values: np.ndarray, scan: np.ndarray, family: str = "integers") -> Answer:
    """Of floats inclusive, of ints exclusive; two blocks of 32 threads."""
    task = EXCLUSIVE_SCAN if values.dtype == np.int32 else SCAN
    data = values.tobytes() + scan.astype(values.dtype).tobytes()
    return Answer(run(probe, "check", task, FAMILIES.index(family), len(values), 2, 32, data=data))


@pytest.mark.parametrize("n", [0, 1, 33, 4097])
@pytest.mark.parametrize("number", [np.float32, np.int32])
def test_a_right_scan_is_right(probe: Path, n: int, number: type) -> None:
    values = inputs(probe, "integers", n).astype(number)
    sums = np.cumsum(values, dtype=np.float64)
    assert check_scan(probe, values, sums - values if number is np.int32 else sums).right


def reaching_back(values: np.ndarray, length: int, stretches: int) -> np.ndarray:
    """Sums that begin so many stretches of `length` elements before their own."""
    starts = [max(0, i // length - stretches) * length for i in range(len(values))]
    return np.array([values[start : i + 1].sum() for i, start in enumerate(starts)])


@pytest.mark.parametrize(
    ("mistake", "why"),
    [
        (lambda x: x, "At n = 300, every element of the output is the element of the input at its place."),
        (lambda x: np.cumsum(x) - x, "lacks the element at its own place: the scan is exclusive."),
        (lambda x: reaching_back(x, 32, 0), "At n = 300, the sum begins again at 0 after every 32 elements."),
        (lambda x: reaching_back(x, 32, 1), "reaches back to the 32 elements before its own 32, and no"),
        (lambda x: np.cumsum(x) - np.cumsum(np.append(np.zeros(16), x[:-16])), "holds the last 16 elements only."),
        (lambda x: np.cumsum(x) + 31 * x[0], "At n = 300, the first sum holds the first element 32 times."),
        (lambda x: np.cumsum(x) + x[64:128].sum() * (np.arange(300) // 64 == 1), "64 to 127 are too large by the sum"),
        (lambda x: np.cumsum(x) + (np.arange(300) == 299), "Element 299 alone is wrong."),
        (lambda x: np.cumsum(x) + (np.arange(300) > 250), "Elements 251 to 299 are wrong."),
        (lambda x: np.cumsum(x) + (np.arange(300) % 100 > 97), "6 elements from 98 to 299 are wrong."),
    ],
)  # fmt: skip
def test_a_wrong_scan_says_by_which_rule(probe: Path, mistake, why: str) -> None:
    values = inputs(probe, "integers", 300).astype(np.float64)
    answer = check_scan(probe, values.astype(np.float32), mistake(values))
    assert answer.outcome == "value"
    assert why in answer.why


def test_a_wrong_exclusive_scan_says_that_it_is_inclusive(probe: Path) -> None:
    values = inputs(probe, "integers", 300).astype(np.int32)
    assert "the scan is inclusive" in check_scan(probe, values, np.cumsum(values)).why


def test_a_scan_has_the_budget_of_the_sum_so_far(probe: Path) -> None:
    values = inputs(probe, "normal", 5000)
    sums = np.cumsum(values, dtype=np.float64)
    u = 2.0**-24
    h = math.ceil(5000 / 64) + 6 + 5 + 1 + math.ceil(5000 / 32) + 64  # neighbours in a thread
    budgets = (h * u / (1 - h * u) + u) * sums  # all values are positive
    for at, factor, right in ((4999, 0.9, True), (4999, 1.1, False), (40, 1.2, False), (40, 0.8, True)):
        moved = sums.copy()
        moved[at] += factor * budgets[at]
        assert check_scan(probe, values, moved, "normal").right is right


@pytest.mark.parametrize("family", ["nan", "infinity", "infinities"])
def test_special_values_reach_every_later_sum_and_no_earlier_one(probe: Path, family: str) -> None:
    values = inputs(probe, family, 257)
    with np.errstate(invalid="ignore"):
        right = np.cumsum(values, dtype=np.float64)
    assert check_scan(probe, values, right, family).right
    at = int(np.flatnonzero(~np.isfinite(right))[0])
    finite = right.copy()
    finite[at] = 1.0
    assert check_scan(probe, values, finite, family).outcome == "special"
    if at > 0:
        right[at - 1] = math.nan
        assert check_scan(probe, values, right, family).outcome == "special"


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_bfloat16_additions_are_rounded_once(probe: Path, left: int, right: int) -> None:
    """Two elements each; NumPy's float32 sum, rounded to the upper half by hand, is the reference."""
    a, b = (np.array([bits & 0xFFFF, bits >> 16], np.uint16) for bits in (left, right))
    with np.errstate(all="ignore"):
        wide = (a.astype(np.uint32) << 16).view(np.float32) + (b.astype(np.uint32) << 16).view(np.float32)
    bits = wide.view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    rounded = np.where(np.isnan(wide), np.uint16(0x7FFF), rounded).astype(np.uint16)
    data = a.tobytes() + b.tobytes() + rounded.tobytes()
    answer = Answer(run(probe, "check", ADD, 0, 2, 1, 32, data=data))
    assert answer.right, (a, b, rounded, answer.what)


def test_where_a_bfloat16_belongs_is_not_guessed(probe: Path) -> None:
    """Of numbers with 8 bits many are equal by chance."""
    a, b = (np.arange(1, 33, dtype=np.float32) * k for k in (1, 2))
    sums = a + b
    sums[[2, 9]] = sums[[9, 2]]
    data = b"".join((values.view(np.uint32) >> 16).astype(np.uint16).tobytes() for values in (a, b, sums))
    answer = Answer(run(probe, "check", ADD, 0, 32, 1, 32, data=data))
    assert (answer.outcome, answer.index, answer.wrong) == ("value", "2", "2")
    assert "belongs at" not in answer.why


# ---- Goals -------------------------------------------------------------------------------------------------------


def goal(probe: Path, measure: str, bound: int = 0, limit: float = 0) -> list[str]:
    return run(probe, "goal", measure, bound, limit).stdout.decode().split("\n")


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ("instructions", 1),
        ("global_ld_sectors / global_ld_requests", 4 / 3),
        ("(instructions + thread_instructions) * 2 - 1", 5),
        ("2 - 1 - 1", 0),
        ("8 / 4 / 2", 1),
        ("1 + 2 * 3", 7),
        ("0 / 0", 0),
        ("warps / blocks", 8),
        ("threads", 2048),
        ("block", 256),
        ("registers", 32),
        ("occupancy", 1),
        ("blocks_per_sm", 8),
        ("waves", 8 / (132 * 8)),
        ("n", 2048),
    ],
)
def test_measures(probe: Path, measure: str, value: float) -> None:
    state, got, _, _ = goal(probe, measure, 2, value)
    assert (state, float(got)) == ("met", pytest.approx(value))


@pytest.mark.parametrize(
    "measure", ["", "nonsense", "1 +", "(1", "1 2", "1 / ", "n)", "(" * 100, "global_ld_sectors &", "é"]
)
def test_measures_that_make_no_sense_are_said_to_be_broken(probe: Path, measure: str) -> None:
    assert goal(probe, measure)[0] == "broken"


def test_what_has_no_value_is_not_yet_counted(probe: Path) -> None:
    assert goal(probe, "bandwidth_ratio", 1, 0.9)[0] == "not yet counted"
    assert goal(probe, "1 - bandwidth", 1, 0.9)[2] == "bandwidth"


def test_bounds(probe: Path) -> None:
    assert [goal(probe, "n", bound, 2048)[0] for bound in range(3)] == ["met"] * 3
    assert [goal(probe, "n", bound, 2049)[0] for bound in range(3)] == ["met", "missed", "missed"]
    assert [goal(probe, "n", bound, 2047)[0] for bound in range(3)] == ["missed", "met", "missed"]


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "blocks"),
    # Lines of the H200 in chapter 6's table, which NVIDIA's own calculator answers.
    [
        (256, 12, 32, 8),
        (32, 16, 0, 32),
        (1000, 65, 0, 0),
        (256, 40, 49152, 4),
        (256, 33, 128, 6),
        (640, 48, 40000, 2),
    ],
)
def test_resident_blocks(probe: Path, threads: int, registers: int, shared: int, blocks: int) -> None:
    assert int(run(probe, "resident", threads, registers, shared).stdout) == blocks


# ---- The plan ----------------------------------------------------------------------------------------------------


def plan(
    probe: Path, task: int = SUM, *, gpu: bool = False, n: int = -1
) -> list[tuple[int, str, int, int, int, int]]:
    rows = [line.split() for line in run(probe, "plan", task, int(gpu), n).stdout.decode().splitlines()]
    return [
        (int(r[0]), r[1], int(r[2]), int(r[3]), int(r[4]), int(r[5])) for r in rows if r[6] == r[8] == "0"
    ]


def recounts(probe: Path, task: int) -> list[tuple[int, int, int]]:
    """Size, base and shift of all buffers, where goals are counted again."""
    rows = [line.split() for line in run(probe, "plan", task, 0, -1).stdout.decode().splitlines()]
    return [(int(r[0]), int(r[2]), int(r[7])) for r in rows if int(r[6])]


def test_the_plan_has_every_size_family_and_schedule(probe: Path) -> None:
    cases = plan(probe)
    sizes = {case[0] for case in cases}
    wanted = {
        0,
        1,
        2,
        3,
        4,
        5,
        7,
        31,
        32,
        33,
        63,
        64,
        65,
        255,
        256,
        257,
        1023,
        1024,
        1025,
        4096,
        65535,
        65536,
        65537,
    }
    wanted |= {2**20, 2**20 + 1}
    assert sizes > wanted
    assert 3 <= len(sizes - wanted) <= 8  # those of the run's own
    assert {case[1] for case in cases} == set(FAMILIES)
    assert {case[4] for case in cases} == {0, 1, 2, 3}
    assert [case for case in cases if case[5]] == [(2**20, "integers", 0, 0, 0, 1)]
    assert len(set(cases)) == len(cases)
    assert [case[0] for case in cases] == sorted(case[0] for case in cases)
    # Each large case takes tens of milliseconds: there is room for a handful.
    assert sum(case[0] > 100_000 for case in cases) <= 7


def test_goals_are_counted_where_nobody_can_know(probe: Path) -> None:
    for task in (SUM, ADD):
        (n, base, shift), (other, moved, further) = recounts(probe, task)
        assert n != other and all(3 * 2**18 <= size <= 2**20 for size in (n, other))
        assert shift != further and all(0 < one < 2**16 and one % 256 == 0 for one in (shift, further))
        assert base == 0 and (moved > 0) == (task == ADD) and moved % 2 == 0  # as far as the chapter allows


def test_bases_are_moved_where_the_chapter_allows_it(probe: Path) -> None:
    assert {case[2] for case in plan(probe)} == {0}
    cases = plan(probe, ADD)
    assert {case[2] for case in cases} == {0, 2, 4, 6, 8, 10, 12, 14}  # elements of two bytes
    assert any(case[3] for case in cases)


def test_a_gpu_goes_beyond_2_to_the_28(probe: Path) -> None:
    assert max(case[0] for case in plan(probe, gpu=True)) == 2**28 + 3


def test_one_size_alone(probe: Path) -> None:
    assert {case[0] for case in plan(probe, n=777)} == {777}
    assert len(plan(probe, n=2**24)) <= 4  # seconds each


# ---- The page ----------------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(
    st.text(alphabet="ab é\nWx. ", max_size=300).filter(lambda text: "\0" not in text),
    st.integers(0, 60),
    st.integers(0, 60),
)
def test_no_line_is_wider_than_the_page(probe: Path, words: str, at: int, indent: int) -> None:
    lines = run(probe, "wrap", at, indent, words).stdout.decode().removesuffix("\n").split("\n")
    assert at + len(lines[0]) <= 80 or len(lines[0]) == 0
    assert all(len(line) <= 80 for line in lines[1:])
    assert "".join("".join(lines).split()) == "".join(words.split())
