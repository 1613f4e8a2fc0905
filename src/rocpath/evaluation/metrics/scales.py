"""Scales on which intervals are formed.

A proportion has Wilson's interval with an effective number of rows, a metric between 0
and 1 is symmetric on the logit scale, and a positive one on the log scale. The AUC has
the scale of its own score test (score_interval.py).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from rocpath.evaluation.influence import Variance
from rocpath.evaluation.metrics.metric import Column
from rocpath.validation import Floats

_NO_VARIANCE = 1e-24  # below it, a variance is a rounding error


def t_quantile(freedom: float, confidence: float) -> float:
    """Return the two-sided quantile of Student's t distribution."""
    return float(special.stdtrit(freedom, 0.5 + 0.5 * confidence))


@dataclass(frozen=True)
class PlainScale:
    """Intervals that are symmetric around the value."""

    def limits(
        self, column: Column, center: float, variance: Variance, confidence: float
    ) -> tuple[float, float]:
        """Return the limits of the interval."""
        half = t_quantile(variance.freedom, confidence) * np.sqrt(variance.value)
        low, high = column.metric.bounds
        return max(center - half, low), min(center + half, high)

    def cautious_variance(self, column: Column, variance: Variance) -> float:
        """Return the variance itself."""
        return variance.value


@dataclass(frozen=True)
class LogitScale:
    """Intervals that are symmetric on the logit scale, for values between 0 and 1."""

    def limits(
        self, column: Column, center: float, variance: Variance, confidence: float
    ) -> tuple[float, float]:
        """Return the limits of the interval."""
        lowest, highest = column.metric.bounds
        share, middle = ((x - lowest) / (highest - lowest) for x in (column.value, center))
        if variance.value <= _NO_VARIANCE or not 0 < min(share, middle) <= max(share, middle) < 1:
            # The variance of a perfect ranking is zero. The limit is based on the largest
            # plausible share of rows that are ranked differently.
            limit = (1.0 - confidence) ** (1.0 / column.n_effective)
            low, high = min(share, limit), max(share, 1.0 - limit)
        else:
            error = np.sqrt(variance.value) / (highest - lowest)
            half = t_quantile(variance.freedom, confidence) * error / (share * (1.0 - share))
            low, high = special.expit(special.logit(middle) + np.array([-half, half])).tolist()
        low, high = (lowest + x * (highest - lowest) for x in (low, high))
        return float(min(low, column.value)), float(max(high, column.value))

    def link(self, bounds: tuple[float, float], values: Floats) -> tuple[Floats, Floats]:
        """Return the logits of several values, and their derivatives."""
        size = bounds[1] - bounds[0]
        share = (values - bounds[0]) / size
        if not ((share > 0) & (share < 1)).all():
            return values, np.ones(values.size)
        return special.logit(share), 1.0 / (size * share * (1.0 - share))

    def cautious_variance(self, column: Column, variance: Variance) -> float:
        """Return the variance, or that of an unobserved row if it is zero."""
        if variance.value > _NO_VARIANCE:
            return variance.value
        lowest, highest = column.metric.bounds
        return float(((highest - lowest) / (column.n_effective + 1.0)) ** 2)


@dataclass(frozen=True)
class LogScale:
    """Intervals that are symmetric on the log scale, for positive values."""

    def limits(
        self, column: Column, center: float, variance: Variance, confidence: float
    ) -> tuple[float, float]:
        """Return the limits of the interval."""
        value = column.value
        if variance.value <= _NO_VARIANCE or value <= 0:
            return value, max(value, 1.0 - (1.0 - confidence) ** (1.0 / column.n_effective))
        half = t_quantile(variance.freedom, confidence) * np.sqrt(variance.value) / value
        return float(value * np.exp(-half)), float(value * np.exp(half))

    def cautious_variance(self, column: Column, variance: Variance) -> float:
        """Return the variance, or that of an unobserved row if it is zero."""
        if variance.value > _NO_VARIANCE:
            return variance.value
        return 1.0 / (column.n_effective + 1.0) ** 2


@dataclass(frozen=True)
class RateScale:
    """Wilson's intervals, with the number of independent rows of the same variance.

    With ``is_share``, the rate is a share of the counted rows, so that its variance is
    known for each share if rows are independent.
    """

    is_share: bool = False

    def limits(
        self, column: Column, center: float, variance: Variance, confidence: float
    ) -> tuple[float, float]:
        """Return the limits of the interval."""
        value, n = column.value, n_equivalent(column, variance)
        square = t_quantile(variance.freedom, confidence) ** 2
        if self.is_share and column.sample.unit is None and column.sample.weight is None:
            n, square = column.n_effective, t_quantile(np.inf, confidence) ** 2
        low, high = wilson_limits(value, n, square)
        return float(low), float(high)

    def cautious_variance(self, column: Column, variance: Variance) -> float:
        """Return the variance with one more success and one more failure."""
        n = n_equivalent(column, variance)
        rate = (n * column.value + 1.0) / (n + 2.0)
        return max(variance.value, rate * (1.0 - rate) / (n + 2.0))


def n_equivalent(column: Column, variance: Variance) -> float:
    """Return the number of independent rows for which a rate has this variance."""
    value = column.value
    if variance.value <= _NO_VARIANCE or not 0 < value < 1:
        return column.n_effective
    return value * (1.0 - value) / variance.value


def wilson_limits(value: Any, n_rows: Any, square: float) -> tuple[Any, Any]:
    """Return Wilson's limits of rates; ``square`` is the squared quantile.

    Near 0 and 1, where few successes or failures are expected, limits are extended to
    those of a Poisson count (Brown, Cai and DasGupta, 2001), since Wilson's cover less.
    """
    middle = (value + 0.5 * square / n_rows) / (1.0 + square / n_rows)
    half = np.sqrt(square * (value * (1.0 - value) / n_rows + 0.25 * square / n_rows**2))
    half = half / (1.0 + square / n_rows)
    missing = 2.0 * special.ndtr(-np.sqrt(square))
    low = np.minimum(middle - half, value)
    high = np.maximum(middle + half, value)
    low = np.minimum(low, _poisson_limit(value, n_rows, missing))
    high = np.maximum(high, 1.0 - _poisson_limit(1.0 - value, n_rows, missing))
    return np.maximum(low, 0.0), np.minimum(high, 1.0)


def _poisson_limit(value: Any, n_rows: Any, missing: float) -> Any:
    """Return the lower limit of a rate with up to three events; 1 for more of them."""
    count = n_rows * np.asarray(value)
    is_few = count <= np.where(n_rows > 50, 3.0, 2.0) + 1e-9
    limit = special.gammaincinv(np.maximum(count, 1e-9), missing) / n_rows
    return np.where(is_few, limit, 1.0)
