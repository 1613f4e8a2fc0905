"""Comparisons of a metric between scores: differences, their tests, and an overall test."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rocpath.evaluation.columns import design_warnings, interval_of, named_scores, panel_of
from rocpath.evaluation.comparison_results import MetricComparison, MetricDifference
from rocpath.evaluation.designs import Design, design_of
from rocpath.evaluation.influence import Variance
from rocpath.evaluation.metrics.metric import Column
from rocpath.evaluation.metrics.names import metric_of
from rocpath.evaluation.metrics.scales import t_quantile
from rocpath.sample import Sample
from rocpath.validation import Floats, finite_number, share_between

# Below this fraction of the sum of both variances, the variance of a difference is a
# rounding error, and the rankings are equal. One swapped pair among 10^6 rows gives 1e-17.
_EQUAL_RANKINGS = 1e-22
_EQUAL_VALUES = 1e-14  # largest rounding error in the difference of two equal values


def compare(
    y: ArrayLike,
    scores: Any,
    metric: Any = "auc",
    *,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    confidence: float = 0.95,
    margin: float | None = None,
    positive: Any = None,
) -> MetricComparison:
    """Compare a metric between several scores.

    Parameters
    ----------
    y : array-like, shape (n_rows,)
        Labels with exactly two distinct values.
    scores : dict of array-like, data frame or array, shape (n_rows, n_scores)
        Scores, one per column, larger for rows that are more likely to be positive.
    metric : str or metric
        As in :func:`interval`.

    Returns
    -------
    MetricComparison

    Examples
    --------
    >>> import rocpath as rp
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> S = {"a": [1, 2, 3, 5, 4, 6, 7, 8], "b": [1, 5, 3, 7, 2, 4, 8, 6]}
    >>> round(rp.compare(y, S).difference, 4)
    0.3125
    """
    sample = Sample.from_outcome(y, groups=groups, sample_weight=sample_weight, positive=positive)
    columns = named_scores(sample, scores)
    panel = panel_of(metric_of(metric), sample, columns)
    settings = share_between("confidence", confidence), checked_margin(margin)
    return comparison_of(design_of([panel]), list(columns), *settings)


def checked_margin(margin: float | None) -> float | None:
    """Return a positive margin, or raise."""
    if margin is None:
        return None
    value = finite_number("margin", margin)
    if not value > 0:
        raise ValueError(f"margin must be positive, got {value:g}.")
    return value


def comparison_of(
    design: Design, names: Sequence[str], confidence: float, margin: float | None = None
) -> MetricComparison:
    """Compare the columns of a design."""
    warnings = design_warnings(design.columns[0].sample)
    intervals = {name: interval_of(design, k, confidence, warnings) for k, name in enumerate(names)}
    pairs = list(combinations(range(len(names)), 2))
    tests = [_PairTest(design, *pair) for pair in pairs]
    adjusted = holm([test.p_value(0.0) for test in tests])
    differences = {
        (names[i], names[j]): test.result(confidence, margin, p)
        for (i, j), test, p in zip(pairs, tests, adjusted, strict=True)
    }
    if len(names) == 2:
        only = differences[names[0], names[1]]
        statistic = tests[0].statistic ** 2
        overall: tuple[float, int, float, float] = (statistic, 1, only.freedom, only.p_value)
    else:
        overall = _overall(design, min(adjusted))
    return MetricComparison(
        name=design.columns[0].metric.name,
        intervals=intervals,
        differences=differences,
        statistic=overall[0],
        n_contrasts=overall[1],
        freedom=overall[2],
        p_value=overall[3],
        confidence=confidence,
        margin=margin,
        warnings=warnings,
    )


def _overall(design: Design, least_p_value: float) -> tuple[float, int, float, float]:
    """Test all differences from the last column at once.

    ``least_p_value`` is the smallest adjusted p-value of the pairs; it is used if there
    are too few degrees of freedom for an F test, or differences without variance.
    """
    n_columns = len(design.columns)
    contrasts = np.eye(n_columns)[:-1] - np.eye(n_columns)[-1]
    test = design.test(contrasts)
    return (*test[:3], test.p_value if test.is_reliable else least_p_value)


class _PairTest:
    """One statistic for the interval and the test of a difference between two columns."""

    def __init__(self, design: Design, i: int, j: int) -> None:
        one, two = design.columns[i], design.columns[j]
        self.value = float(one.value - two.value)
        self.center = float(design.center[i] - design.center[j])
        contrast = np.zeros(len(design.columns))
        contrast[[i, j]] = 1.0, -1.0
        plain = design.variance(contrast)
        single = [
            design.variance(np.abs(contrast) * (np.arange(contrast.size) == k)) for k in (i, j)
        ]
        self.asymptotic_variance = plain.value
        self.variance = Variance(_cautious_variance((one, two), single, plain), plain.freedom)
        low, high = one.metric.bounds
        self.largest = high - low
        if self._is_equal(one, two, plain.value, sum(part.value for part in single)):
            self.center = 0.0
            self.variance = Variance(0.0, plain.freedom)

    def _is_equal(self, one: Column, two: Column, variance: float, scale: float) -> bool:
        """Return whether both scores rank the rows equally."""
        return (
            one.sample is two.sample
            and abs(self.value) <= _EQUAL_VALUES
            and variance <= _EQUAL_RANKINGS * scale
            and (scale > 0 or same_ranking(one.score, two.score))
        )

    @property
    def statistic(self) -> float:
        """Student's t statistic."""
        return self._statistic(0.0)

    def _statistic(self, bound: float) -> float:
        error = float(np.sqrt(self.variance.value))
        excess = self.center - bound
        if error > 0:
            return excess / error
        return float(np.copysign(np.inf, excess)) if excess else 0.0

    def p_value(self, bound: float) -> float:
        """Return the two-sided p-value of the hypothesis that the difference is ``bound``."""
        return float(2.0 * special.stdtr(self.variance.freedom, -abs(self._statistic(bound))))

    def result(self, confidence: float, margin: float | None, adjusted: float) -> MetricDifference:
        """Return the difference with its interval and p-values."""
        half = t_quantile(self.variance.freedom, confidence) * np.sqrt(self.variance.value)
        not_inferior = equivalent = None
        if margin is not None:
            freedom = self.variance.freedom
            not_inferior = float(special.stdtr(freedom, -self._statistic(-margin)))
            equivalent = max(not_inferior, float(special.stdtr(freedom, self._statistic(margin))))
        return MetricDifference(
            value=self.value,
            low=max(min(self.center - half, self.value), -self.largest),
            high=min(max(self.center + half, self.value), self.largest),
            standard_error=float(np.sqrt(self.variance.value)),
            freedom=self.variance.freedom,
            p_value=self.p_value(0.0),
            adjusted_p_value=adjusted,
            asymptotic_standard_error=float(np.sqrt(self.asymptotic_variance)),
            confidence=confidence,
            margin=margin,
            non_inferiority_p_value=not_inferior,
            equivalence_p_value=equivalent,
        )


def _cautious_variance(
    columns: tuple[Column, Column], single: Sequence[Variance], plain: Variance
) -> float:
    """Return the variance of a difference, with the scales' variances of both values.

    The variance from influences is zero for two perfect rankings, and too small in small
    samples. The scales' variances account for that, so they are combined with the
    correlation of the influences.
    """
    first, second = (part.value for part in single)
    both = np.sqrt(first * second)
    correlation = min(max(0.5 * (first + second - plain.value) / both, -1.0), 1.0) if both else 0.0
    one, two = (
        column.metric.scale.cautious_variance(column, part)
        for column, part in zip(columns, single, strict=True)
    )
    return float(max(plain.value, one + two - 2.0 * correlation * np.sqrt(one * two)))


def same_ranking(score: Floats, other: Floats) -> bool:
    """Return whether both scores rank the rows equally."""
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
