"""The difference between two quantities: one statistic for its interval and its test."""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rocpath.evaluation.comparison_results import MetricDifference
from rocpath.evaluation.designs import Design
from rocpath.evaluation.influence import Variance
from rocpath.evaluation.metrics.metric import Column
from rocpath.evaluation.metrics.scales import t_quantile
from rocpath.validation import Floats

# Below this fraction of the sum of both variances, the variance of a difference is a
# rounding error, and the rankings are equal. One swapped pair among 10^6 rows gives 1e-17.
_EQUAL_RANKINGS = 1e-22
_EQUAL_VALUES = 1e-14  # largest rounding error in the difference of two equal values


class CautiousVariance(NamedTuple):
    """The variance from influences, and the larger one that tests use.

    The first is zero for two perfect rankings, and too small in small samples. The
    scales of the metrics account for that.
    """

    plain: Variance
    cautious: float


def cautious_variance(design: Design, quantity: Floats) -> CautiousVariance:
    """Return both variances of a column, or of a difference between columns."""
    plain = design.variance(quantity)
    used = np.flatnonzero(quantity)
    if used.size == 1:
        column: Column = design.columns[used[0]]
        return CautiousVariance(plain, column.metric.scale.cautious_variance(column, plain))
    first = cautious_variance(design, np.maximum(quantity, 0.0))
    second = cautious_variance(design, np.maximum(-quantity, 0.0))
    return combined(plain, first, second)


def combined(
    plain: Variance, first: CautiousVariance, second: CautiousVariance
) -> CautiousVariance:
    """Return the variance of a difference, from those of both values.

    The larger variances have the correlation of the influences.
    """
    a, b = first.plain.value, second.plain.value
    if min(a, b) <= 0 or plain.value <= _EQUAL_RANKINGS * (a + b):
        # The correlation is unknown.
        return CautiousVariance(plain, max(plain.value, first.cautious + second.cautious))
    s, t = np.sqrt(first.cautious / a), np.sqrt(second.cautious / b)
    # s²a + t²b - 2st·cov, written without cancellation for nearly equal rankings.
    value = s * t * plain.value + (s - t) * (s * a - t * b)
    return CautiousVariance(plain, float(max(plain.value, value)))


class PairTest:
    """The difference between two weighted sums of columns."""

    def __init__(self, design: Design, first: Floats, second: Floats) -> None:
        contrast = first - second
        columns = design.columns
        value = np.array([column.value for column in columns])
        self.value = float(contrast @ value)
        self.center = float(contrast @ design.center)
        parts = [cautious_variance(design, quantity) for quantity in (first, second)]
        both = combined(design.variance(contrast), *parts)
        self.asymptotic_variance = both.plain.value
        self.variance = Variance(both.cautious, both.plain.freedom)
        low, high = columns[0].metric.bounds
        self._largest = float((high - low) * np.abs(contrast).sum() / 2.0)
        scale = sum(part.plain.value for part in parts)
        used = [columns[k] for k in np.flatnonzero(contrast)]
        if abs(self.value) <= _EQUAL_VALUES and _rank_equally(used, both.plain.value, scale):
            self.center, self.variance = 0.0, Variance(0.0, both.plain.freedom)

    @cached_property
    def standard_error(self) -> float:
        """Standard error that the interval and the test use."""
        return float(np.sqrt(self.variance.value))

    @property
    def statistic(self) -> float:
        """Student's t statistic."""
        return self._statistic(0.0)

    def _statistic(self, bound: float) -> float:
        excess = self.center - bound
        if self.standard_error > 0:
            return excess / self.standard_error
        return float(np.copysign(np.inf, excess)) if excess else 0.0

    def p_value(self, bound: float) -> float:
        """Return the two-sided p-value of the hypothesis that the difference is ``bound``."""
        return float(2.0 * special.stdtr(self.variance.freedom, -abs(self._statistic(bound))))

    def result(self, confidence: float, margin: float | None, adjusted: float) -> MetricDifference:
        """Return the difference with its interval and p-values."""
        freedom = self.variance.freedom
        half = t_quantile(freedom, confidence) * self.standard_error
        not_inferior = equivalent = None
        if margin is not None:
            not_inferior = float(special.stdtr(freedom, -self._statistic(-margin)))
            equivalent = max(not_inferior, float(special.stdtr(freedom, self._statistic(margin))))
        return MetricDifference(
            value=self.value,
            low=float(max(min(self.center - half, self.value), -self._largest)),
            high=float(min(max(self.center + half, self.value), self._largest)),
            standard_error=self.standard_error,
            freedom=freedom,
            p_value=self.p_value(0.0),
            adjusted_p_value=adjusted,
            asymptotic_standard_error=float(np.sqrt(self.asymptotic_variance)),
            confidence=confidence,
            margin=margin,
            non_inferiority_p_value=not_inferior,
            equivalence_p_value=equivalent,
        )


def _rank_equally(columns: Sequence[Column], variance: float, scale: float) -> bool:
    """Return whether two columns of the same rows rank them equally."""
    if len(columns) != 2 or columns[0].sample is not columns[1].sample:
        return False
    if variance > _EQUAL_RANKINGS * scale:
        return False
    return scale > 0 or same_ranking(columns[0].score, columns[1].score)


def same_ranking(score: Floats, other: Floats) -> bool:
    """Return whether both scores rank the rows equally."""
    if score.ndim > 1:
        return bool((score == other).all())
    order = np.argsort(score)
    rise, other_rise = np.diff(score[order]), np.diff(other[order])
    return bool((other_rise >= 0).all() and ((rise > 0) == (other_rise > 0)).all())


def holm(p_value: Sequence[float]) -> list[float]:
    """Adjust p-values by Holm's method, which controls the family-wise error rate."""
    # The k-th smallest of n p-values is multiplied by n - k + 1, and the adjusted p-values
    # must not decrease.
    order: NDArray[np.intp] = np.argsort(p_value, kind="stable")
    times = np.arange(order.size, 0, -1)
    adjusted = np.empty(order.size)
    adjusted[order] = np.maximum.accumulate(times * np.asarray(p_value)[order])
    return np.minimum(adjusted, 1.0).tolist()  # type: ignore[no-any-return]
