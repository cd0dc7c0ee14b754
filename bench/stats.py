"""Figures from samples: medians, their uncertainty, ratios with an interval."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

RESAMPLES = 2000
CONFIDENCE = 0.95


def median(samples: Sequence[float]) -> float:
    """The middle one, or the mean of the two in the middle."""
    return float(np.median(samples))


def quartiles(samples: Sequence[float]) -> tuple[float, float]:
    """A quarter of the samples lies below the first, a quarter above the second."""
    low, high = np.quantile(samples, (0.25, 0.75))
    return float(low), float(high)


def relative_error(samples: Sequence[float]) -> float:
    """The standard error of the median over the median.

    It is sqrt(pi / 2) times the mean's; the spread is taken from the quartiles (of a normal distribution they
    are 1.349 standard deviations apart), so that a rare slow sample does not count.
    """
    if len(samples) < 2:
        return math.inf
    low, high = quartiles(samples)
    return math.sqrt(math.pi / 2) * (high - low) / 1.349 / math.sqrt(len(samples)) / median(samples)


def ratio_of_medians(above: Sequence[float], below: Sequence[float]) -> tuple[float, float, float]:
    """median(above) / median(below) with its bootstrap interval (percentiles, 95 %), the same at every call."""
    generator = np.random.default_rng(20)

    def medians(samples: Sequence[float]) -> np.ndarray:
        values = np.asarray(samples)
        return np.asarray(
            np.median(values[generator.integers(0, len(values), (RESAMPLES, len(values)))], axis=1)
        )

    ratios = medians(above) / medians(below)
    low, high = np.quantile(ratios, ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2))
    return median(above) / median(below), float(low), float(high)


def geometric_mean(values: Iterable[float]) -> float:
    """The n-th root of the product."""
    return float(np.exp(np.mean(np.log(list(values)))))
