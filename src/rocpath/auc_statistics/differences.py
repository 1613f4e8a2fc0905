"""Differences between AUCs: DeLong's and Obuchowski's tests, and intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from rocpath.auc_statistics.curves import class_variances
from rocpath.auc_statistics.results import AUCComparison, AUCInterval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocpath.auc_statistics.curves import Curve

# Below this ratio to the variance of either AUC, the variance of a difference is the
# rounding error of two equal rankings. One exchanged pair among 10^6 rows gives 1e-17.
_EQUAL_RANKINGS = 1e-22
_EQUAL_AREAS = 1e-14  # differences of equal areas by rounding


def compared(
    one: Curve, two: Curve, margin: float | None = None, variance: float | None = None
) -> AUCComparison:
    """Compare two scores of the same rows; DeLong's variance may be known already."""
    stable, freedom = None, np.inf
    if variance is None:
        apart = one.deviation - two.deviation
        cluster = one.sample.cluster_variance(apart)
        if cluster is None:
            variance = _delong_variance(one, two, apart)
        else:
            variance, stable, freedom = cluster
    scale = one.interval.standard_error**2 + two.interval.standard_error**2
    is_equal = abs(one.blocks.area - two.blocks.area) <= _EQUAL_AREAS
    if (
        is_equal
        and variance <= _EQUAL_RANKINGS * scale
        and (scale > 0 or _ranks_alike(one.score, two.score, one.blocks.order))
    ):
        # Scores of one order have nothing to compare; a test would divide by rounding.
        same = (one.interval.value, two.interval.value, 0.0, 0.0, 0.0, 0.0, 1.0)
        p_values = (None, None) if margin is None else (0.0, 0.0)
        return AUCComparison(*same, one.confidence, margin, *p_values)
    return difference_of(
        one.interval,
        two.interval,
        variance,
        centers=(one.center, two.center),
        stable=stable,
        freedom=freedom,
        margin=margin,
    )


def _ranks_alike(
    score: NDArray[np.float64], other: NDArray[np.float64], order: NDArray[np.unsignedinteger]
) -> bool:
    """Return whether both scores rank all rows alike; ``order`` sorts the first."""
    fall = -np.diff(score[order])
    other_fall = -np.diff(other[order])
    return bool((other_fall >= 0).all() and ((fall > 0) == (other_fall > 0)).all())


def _delong_variance(one: Curve, two: Curve, apart: NDArray[np.float64]) -> float:
    """Return DeLong's variance; for single rows, as if both AUCs were independent."""
    sample, max_fpr = one.sample, one.max_fpr
    of_means = [
        class_variances(curve.blocks.area / max_fpr, curve.spreads, max_fpr) for curve in (one, two)
    ]
    total = 0.0
    squares = zip(sample.squared_influences(apart), sample.unbiased_parts, strict=True)
    for k, (square, part) in enumerate(squares):
        # A single row has no deviation from its mean, and so no observable covariance.
        if one.spreads[k].is_single:
            total += (of_means[0][k] + of_means[1][k]) * max_fpr**2
        else:
            total += square / part
    return total


def difference_of(
    one: AUCInterval,
    two: AUCInterval,
    variance: float,
    *,
    centers: tuple[float, float] | None = None,
    stable: float | None = None,
    freedom: float = np.inf,
    margin: float | None = None,
) -> AUCComparison:
    """Combine two intervals by the square-and-add rule, given the variance.

    ``centers`` are the AUCs that the intervals are centered at, ``stable`` is the
    variance of the test, and ``freedom`` its degrees of freedom.
    """
    difference = one.value - two.value
    first, second = centers or (one.value, two.value)
    center = first - second
    error = float(np.sqrt(variance))
    both = one.standard_error * two.standard_error
    # Var(a - b) = Var(a) + Var(b) - 2 Cov(a, b), solved for the covariance.
    covariance = 0.5 * (one.standard_error**2 + two.standard_error**2 - variance)
    correlation = min(max(covariance / both, -1.0), 1.0) if both > 0 else 0.0

    def distance(a: float, b: float) -> float:
        square = a**2 + b**2 - 2.0 * correlation * a * b
        return float(np.sqrt(max(square, 0.0)))

    # The difference is lowest where the first AUC is low and the second high.
    below = distance(first - one.low, two.high - second)
    above = distance(one.high - first, second - two.low)
    quantile = float(special.ndtri(0.5 + 0.5 * one.confidence))
    scale = error if stable is None else float(np.sqrt(stable))

    def deviate(excess: float) -> float:
        if scale > 0:
            return excess / scale
        # Both AUCs are at an end, where the variance is zero but the interval has a
        # positive width: the test uses its width towards the hypothesis. Without any
        # width both rank alike, and the difference is rounding.
        width = below if excess > 0 else above
        return excess / width * quantile if width > 0 else 0.0

    def upper_tail(excess: float) -> float:
        return float(special.stdtr(freedom, -deviate(excess)))

    p_values: tuple[float | None, float | None] = (None, None)
    if margin is not None:
        not_worse = upper_tail(center + margin)
        p_values = not_worse, max(not_worse, upper_tail(margin - center))
    return AUCComparison(
        one.value,
        two.value,
        difference,
        error,
        min(center - below, difference),
        max(center + above, difference),
        2.0 * upper_tail(abs(center)) if scale > 0 or center else 1.0,
        one.confidence,
        margin,
        *p_values,
    )
