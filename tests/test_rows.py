"""Rows with a bound for each element: inputs, right answers, bounds and what a page says of wrong ones."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
from native_driver import build

LOGITS, MASKED = 16, 17
F32, BF16 = 0, 2
THREE_PASSES, BFLOAT16, LAYER_NORM = "three passes", "bfloat16", "layer norm"  # as chapter 18 names its tasks
UNIT = 2.0**-24
RANDOM = np.random.default_rng(18)


@pytest.fixture(scope="session")
def probe() -> Path:
    return build("rows_probe")


def run(probe: Path, *arguments: object, data: bytes = b"") -> bytes:
    done = subprocess.run([probe, *map(str, arguments)], input=data, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows_of(probe: Path, family: int, rows: int, columns: int, seed: int = 1) -> np.ndarray:
    made = run(probe, "fill", family, rows * columns, columns, seed, F32)
    return np.frombuffer(made, np.float32).reshape(rows, columns)


class Answer:
    """What a check says of an output, with what it should be."""

    def __init__(self, probe: Path, task: str, inputs: list[np.ndarray], out: np.ndarray) -> None:
        rows, columns = out.shape
        data = b"".join(each.tobytes() for each in (*inputs, out))
        answer = run(probe, "check", task, rows, columns, 128, data=data)
        outcome, what, why, numbers = answer.split(b"\n", 3)
        self.outcome, self.what, self.why = outcome.decode(), what.decode(), why.decode()
        self.values, self.bounds = np.frombuffer(numbers).reshape(2, rows, columns)


def softmax(x: np.ndarray) -> np.ndarray:
    """In floats, by neighbours in pairs."""
    power = np.exp(x - x.max(axis=1, keepdims=True))
    return power / power.sum(axis=1, keepdims=True)


def online(x: np.ndarray) -> np.ndarray:
    """In floats, one element after the other in each of 32 lanes, which are then combined."""
    low = np.float32(np.finfo(np.float32).min)
    padded = np.full((len(x), -(-x.shape[1] // 32) * 32), -np.inf, np.float32)
    padded[:, : x.shape[1]] = x
    lanes = padded.reshape(len(x), -1, 32)
    maximum = np.full((len(x), 32), low)
    total = np.zeros((len(x), 32), np.float32)
    for k in range(lanes.shape[1]):
        larger = np.maximum(maximum, lanes[:, k])
        total = total * np.exp(maximum - larger) + np.exp(lanes[:, k] - larger)
        maximum = larger
    top = maximum.max(axis=1, keepdims=True)
    total = (total * np.exp(maximum - top)).sum(axis=1, keepdims=True)
    return np.exp(x - top) * (np.float32(1) / total)


# ---- Inputs ----------------------------------------------------------------------------------------------


def test_logits_overflow_underflow_rise_and_have_peaks(probe: Path) -> None:
    x = rows_of(probe, LOGITS, 400, 100)
    high, low = x.min(axis=1) > 89, x.max(axis=1) < -104
    steps = np.sign(np.diff(x, axis=1))
    peaks = (x == 120).sum(axis=1)
    for share in (
        high,
        low,
        (steps > 0).all(axis=1),
        (steps < 0).all(axis=1),
        peaks == 1,
        peaks == 2,
        x.min(axis=1) > 9000,
    ):
        assert 10 < share.sum() < 150
    assert (x[:, 0] == 120).any()
    assert (x[:, -1] == 120).any()
    assert (x[:, 1:-1] == 120).any()


def test_masked_rows_leave_a_power_of_two_or_all(probe: Path) -> None:
    x = rows_of(probe, MASKED, 400, 100)
    left = np.isfinite(x).sum(axis=1)
    assert set(left) <= {0, 1, 2, 4, 8, 16, 32, 64, 100}
    assert all((left == count).any() for count in (0, 1, 16, 100))
    assert all(len(set(row[np.isfinite(row)])) <= 1 for row in x)


# ---- Bounds ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "bound", "got", "near"),
    [
        (1.0, 0.0, 1.0, True),
        (1.0, 0.0, 1.0078125, False),
        (1.003, 0.0, 1.0, True),  # 1 and 1.0078125 are neighbours: 1.003 rounds down
        (1.003, 0.0, 1.0078125, False),
        (1.0039, 1e-5, 1.0078125, True),  # and a float within the bound of 1.0039 rounds up
        (1.0038, 1e-5, 1.0078125, False),
        (float("nan"), 0.0, float("nan"), True),
        (1.0, 0.5, float("nan"), False),
        (1.0, float("inf"), float("nan"), True),
    ],
)
def test_a_bfloat16_is_what_a_number_within_the_bound_rounds_to(probe, value, bound, got, near) -> None:
    assert run(probe, "near", BF16, value, bound, got) == (b"1\n" if near else b"0\n")


@pytest.mark.parametrize("columns", [1, 7, 128, 1000, 4097])
@pytest.mark.parametrize("family", [LOGITS, MASKED])
@pytest.mark.parametrize("compute", [softmax, online])
def test_softmax_in_floats_is_right_in_two_orders(probe, columns, family, compute) -> None:
    x = rows_of(probe, family, 24, columns)
    with np.errstate(all="ignore"):
        answer = Answer(probe, THREE_PASSES, [x], compute(x))
    assert answer.outcome == "right", answer.what


def test_the_bounds_of_a_softmax_are_small(probe: Path) -> None:
    """A row of 2,048 normal numbers: far below the share of one element in the sum."""
    x = RANDOM.normal(size=(4, 2048)).astype(np.float32)
    answer = Answer(probe, THREE_PASSES, [x], softmax(x))
    relative = answer.bounds / answer.values
    assert relative.max() < 2.0**-13
    assert relative.max() > 10 * UNIT
    assert np.allclose(answer.values.sum(axis=1), 1, atol=1e-14)


def test_equal_numbers_have_exact_shares(probe: Path) -> None:
    for value in (0.0, 0.7, -3e38):
        answer = Answer(
            probe, THREE_PASSES, [np.full((1, 64), value, np.float32)], np.full((1, 64), 1 / 64, np.float32)
        )
        assert answer.outcome == "right"
        assert not answer.bounds.any()


@pytest.mark.parametrize("special", [np.nan, np.inf])
def test_a_special_value_makes_the_whole_row_nan(probe: Path, special: float) -> None:
    x = np.ones((2, 8), np.float32)
    x[1, 5] = special
    assert np.isnan(Answer(probe, THREE_PASSES, [x], x).values[1]).all()
    assert not np.isnan(Answer(probe, THREE_PASSES, [x], x).values[0]).any()
    weights = [np.ones(8, np.float32), np.zeros(8, np.float32)]
    assert np.isnan(Answer(probe, LAYER_NORM, [x, *weights], x).values[1]).all()


def test_minus_infinity_alone_is_nan_and_beside_others_0(probe: Path) -> None:
    x = np.full((2, 4), -np.inf, np.float32)
    x[0, 2] = -1000
    out = np.array([[0, 0, 1, 0], [np.nan] * 4], np.float32)
    assert Answer(probe, THREE_PASSES, [x], out).outcome == "right"
    assert Answer(probe, THREE_PASSES, [x], np.nan_to_num(out)).outcome == "special"


def layer_norm(x: np.ndarray, gamma: np.ndarray, beta: np.ndarray) -> np.ndarray:
    mean = x.mean(axis=1, dtype=np.float32, keepdims=True)
    scale = 1 / np.sqrt(((x - mean) ** 2).mean(axis=1, keepdims=True) + np.float32(1e-5))
    return (x - mean) * scale * gamma + beta


@pytest.mark.parametrize("columns", [1, 7, 128, 1000, 4097])
def test_layer_norm_in_floats_is_right_and_the_mean_of_squares_is_not(probe: Path, columns: int) -> None:
    x = rows_of(probe, LOGITS, 24, columns)
    gamma, beta = (RANDOM.uniform(-2, 2, columns).astype(np.float32) for _ in range(2))
    answer = Answer(probe, LAYER_NORM, [x, gamma, beta], layer_norm(x, gamma, beta))
    assert answer.outcome == "right", answer.what
    if columns < 100:
        return
    mean = x.mean(axis=1, dtype=np.float32, keepdims=True)
    variance = (x * x).mean(axis=1, dtype=np.float32, keepdims=True) - mean * mean
    with np.errstate(all="ignore"):
        wrong = (x - mean) / np.sqrt(variance + np.float32(1e-5)) * gamma + beta
    assert Answer(probe, LAYER_NORM, [x, gamma, beta], wrong).outcome in ("budget", "special")


# ---- What a page says of wrong rows ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda y: y * np.array([[1], [1], [1.25], [1]]), "Each element of row 2 is 1.25 times what it should be."),
        (lambda y: y * np.array([[1], [1], [1.25], [1]]), "The elements of row 2 add up to 1.25, not to 1."),
        (lambda y: np.where(np.arange(100) >= 96, 0, y), "All 4 rows are wrong, in columns 96 to 99 only."),
        (lambda y: y * np.nan, "there is a NaN among them."),
        (lambda y: np.roll(y, 1, axis=0), "The elements of row 0 add up to 1."),
    ],
)  # fmt: skip
def test_a_wrong_softmax_says_which_rows_and_columns(probe: Path, change, why: str) -> None:
    x = RANDOM.normal(size=(4, 100)).astype(np.float32)
    answer = Answer(probe, THREE_PASSES, [x], change(softmax(x)).astype(np.float32))
    assert answer.outcome in ("budget", "special")
    assert why in answer.why


def test_a_truncated_bfloat16_is_wrong(probe: Path) -> None:
    def halves(numbers: np.ndarray, *, is_rounded: bool) -> np.ndarray:
        bits = numbers.astype(np.float32).view(np.uint32)
        if is_rounded:
            bits = bits + 0x7FFF + ((bits >> 16) & 1)
        return (bits >> 16).astype(np.uint16)

    x = RANDOM.normal(size=(4, 256)).astype(np.float32)
    narrow = halves(x, is_rounded=True)
    y = softmax((narrow.astype(np.uint32) << 16).view(np.float32))
    assert Answer(probe, BFLOAT16, [narrow], halves(y, is_rounded=True)).outcome == "right"
    assert Answer(probe, BFLOAT16, [narrow], halves(y, is_rounded=False)).outcome == "budget"
