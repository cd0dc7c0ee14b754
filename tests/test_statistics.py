"""common/driver's statistics of times, against numpy and against samples whose truth is known."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from native_driver import build


@pytest.fixture(scope="session")
def probe() -> Path:
    return build("driver_probe")


def compare(probe: Path, count: int, sets: np.ndarray) -> np.ndarray:
    """A row (ratio, low, high, median, relative error) for each set of `count` times and `count` of a reference."""
    data = np.ascontiguousarray(sets, np.float64).tobytes()
    done = subprocess.run([probe, "compare", str(count)], input=data, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return np.array([[float(word) for word in line.split()] for line in done.stdout.splitlines()])


def enough(probe: Path, times: list[float], reference: list[float], elapsed: float) -> list[bool]:
    data = np.array(times + reference, np.float64).tobytes()
    arguments = [probe, "enough", str(len(times)), str(elapsed)]
    done = subprocess.run(arguments, input=data, capture_output=True, timeout=60)
    return [word == b"1" for word in done.stdout.split()]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 50), min_size=2, max_size=41))
def test_medians_and_errors_are_numpys(probe: Path, values: list[int]) -> None:
    times = np.array(values, np.float64)
    ratio, low, high, median, error = compare(probe, len(values), np.concatenate([times, times[::-1]]))[0]
    assert median == np.median(times)
    assert error == pytest.approx(times.std(ddof=1) / np.sqrt(len(times)) / times.mean())
    assert ratio == 1
    assert low <= 1 <= high


def samples(count: int, sets: int, ratio: float, noise: float, seed: int = 7) -> np.ndarray:
    random = np.random.default_rng(seed)
    spread = 1 + noise * random.standard_normal((sets, 2, count))
    return 1e-3 * spread * np.array([[1.0], [ratio]])


def test_the_same_against_itself_lies_within_its_interval(probe: Path) -> None:
    found = compare(probe, 30, samples(30, 300, 1.0, 0.01))
    outside = np.sum((found[:, 1] > 1) | (found[:, 2] < 1))
    assert outside <= 2  # of 300 at 99.9 %
    assert np.median(found[:, 2] - found[:, 1]) < 0.03  # and it says something


def test_two_percent_are_told_apart(probe: Path) -> None:
    found = compare(probe, 30, samples(30, 200, 1.02, 0.005))
    assert np.mean(found[:, 1] > 1) > 0.95
    assert np.median(found[:, 0]) == pytest.approx(1.02, abs=0.002)


def test_what_slows_both_down_cancels(probe: Path) -> None:
    sets = samples(40, 50, 1.02, 0.001)
    drift = 1 + 0.3 * np.abs(np.sin(np.arange(40) / 6))
    found = compare(probe, 40, sets * drift)
    assert np.all(found[:, 1] < 1.02)
    assert np.all(found[:, 2] > 1.02)
    assert np.mean(found[:, 1] > 1) > 0.9


def test_a_clock_with_coarse_steps_is_not_believed_beyond_them(probe: Path) -> None:
    times = np.full(30, 3.0)
    times[0] = 4.0  # the step is 1
    reference = np.full(30, 4.0)
    reference[0] = 3.0
    (_, low, high, _, _) = compare(probe, 30, np.concatenate([times, reference]))[0]
    assert low < 1 < high


def test_one_outlier_moves_nothing(probe: Path) -> None:
    sets = samples(30, 20, 1.0, 0.002)
    sets[:, 0, 3] *= 50
    found = compare(probe, 30, sets)
    assert np.all(np.abs(found[:, 0] - 1) < 0.003)


def test_the_same_samples_give_the_same_interval(probe: Path) -> None:
    sets = samples(30, 2, 1.0, 0.01)
    sets[1] = sets[0]
    first, second = compare(probe, 30, sets)
    assert list(first) == list(second)


def test_when_to_stop(probe: Path) -> None:
    quiet, noisy = [1.0, 1.001] * 15, [1.0, 1.5] * 15
    assert enough(probe, quiet, quiet, 0.1) == [True, True]
    assert enough(probe, quiet[:29], quiet[:29], 0.1) == [False, False]
    assert enough(probe, quiet, noisy, 0.1) == [False, True]
    assert enough(probe, noisy, quiet, 9.9) == [False, False]
    assert enough(probe, noisy, noisy, 10.0) == [True, True]
    assert enough(probe, [1.0], [1.0], 10.0) == [True, True]
    assert enough(probe, [1.0, 2.0] * 1000, [1.0, 2.0] * 1000, 1.0) == [True, True]
