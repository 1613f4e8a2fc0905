"""Differences between AUCs: DeLong's and Obuchowski's tests, and intervals."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from rocpath.evaluation.comparisons import checked_margin
from rocpath.evaluation.curves import ScoreCurve
from rocpath.evaluation.influence import Variance
from rocpath.evaluation.results import AUCComparison
from rocpath.sample import Sample
from rocpath.validation import Floats

# Below this fraction of the sum of both variances, the variance of a difference is a
# rounding error, and the rankings are equal. One swapped pair among 10^6 rows gives 1e-17.
_EQUAL_RANKINGS = 1e-22
_EQUAL_AREAS = 1e-14  # largest rounding error in the difference of two equal areas


def compare_auc(
    y: ArrayLike,
    scores: ArrayLike,
    other_scores: ArrayLike,
    *,
    confidence: float = 0.95,
    max_fpr: float | None = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    margin: float | None = None,
    positive: Any = None,
) -> AUCComparison:
    """Compare the AUCs of two scores of the same rows by DeLong's test.

    The interval combines the intervals of both AUCs, as in :func:`auc_interval`, with
    the correlation of the AUCs (the square-and-add rule of Newcombe, Zou and Donner).

    Parameters
    ----------
    y : array-like, shape (n_rows,)
        Labels with exactly two distinct values.
    scores, other_scores : array-like, shape (n_rows,)
        Scores, larger for rows that are more likely to be positive. Ties count one
        half.
    confidence, max_fpr, sample_weight, groups, positive
        As in :func:`auc_interval`. With groups, the test uses Student's t
        distribution.
    margin : float, optional
        Positive margin for tests of non-inferiority and equivalence.

    Returns
    -------
    AUCComparison

    Examples
    --------
    >>> import rocpath as rp
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> rp.compare_auc(y, [1, 2, 3, 5, 4, 6, 7, 8], [1, 5, 3, 7, 2, 4, 8, 6])
    AUC 0.938 and 0.625: difference +0.3125 (95% CI -0.1016 to +0.7266), p = 0.065
    """
    sample = Sample.from_labels(y, sample_weight=sample_weight, groups=groups, positive=positive)
    settings: Any = {"max_fpr": max_fpr, "confidence": confidence}
    one = ScoreCurve.of(sample, scores, **settings)
    two = ScoreCurve.of(sample, other_scores, name="other_scores", **settings)
    return compared(one, two, checked_margin(margin))


def compare_auc_unpaired(
    y: ArrayLike,
    scores: ArrayLike,
    other_y: ArrayLike,
    other_scores: ArrayLike,
    *,
    confidence: float = 0.95,
    max_fpr: float | None = None,
    groups: ArrayLike | None = None,
    other_groups: ArrayLike | None = None,
    margin: float | None = None,
    positive: Any = None,
) -> AUCComparison:
    """Compare the AUCs of two independent samples using DeLong's variances.

    Parameters
    ----------
    y, other_y : array-like
        Labels of each sample, with exactly two distinct values.
    scores, other_scores : array-like
        Scores of the rows of each sample.
    confidence, max_fpr, groups, margin, positive
        As in :func:`compare_auc`.
    other_groups : array-like, optional
        Groups of the rows of the second sample.

    Returns
    -------
    AUCComparison

    Examples
    --------
    >>> import rocpath as rp
    >>> rp.compare_auc_unpaired([0, 0, 1, 1], [1, 3, 2, 4], [0, 1, 0, 1], [2, 1, 3, 4])
    AUC 0.750 and 0.500: difference +0.2500 (95% CI -0.4767 to +0.7551), p = 0.68
    """
    settings: Any = {"max_fpr": max_fpr, "confidence": confidence}
    sample = Sample.from_labels(y, groups=groups, positive=positive)
    one = ScoreCurve.of(sample, scores, **settings)
    other = Sample.from_labels(other_y, groups=other_groups, positive=positive)
    two = ScoreCurve.of(other, other_scores, name="other_scores", **settings)
    first, second = one.test_variance, two.test_variance
    tested = Variance(first.value + second.value, min(first.freedom, second.freedom))
    variance = one.interval.standard_error**2 + two.interval.standard_error**2
    return difference_of(one, two, variance, tested, margin=checked_margin(margin))


def compared(
    one: ScoreCurve, two: ScoreCurve, margin: float | None = None, *, variance: float | None = None
) -> AUCComparison:
    """Compare the AUCs of two scores of the same rows.

    ``variance`` is DeLong's variance of the difference, if it is already known.
    """
    if one.sample.unit is not None:
        variance = (one.group_sums - two.group_sums).variance
        tested = (one.jackknife - two.jackknife).variance
    else:
        variance = _delong_variance(one, two) if variance is None else variance
        tested = Variance(variance, np.inf)
    scale = one.interval.standard_error**2 + two.interval.standard_error**2
    is_equal = abs(one.blocks.area - two.blocks.area) <= _EQUAL_AREAS
    if (
        is_equal
        and variance <= _EQUAL_RANKINGS * scale
        and (scale > 0 or _same_ranking(one.score, two.score, one.blocks.order))
    ):
        # Equal rankings have equal AUCs, and a test would divide by a rounding error.
        same = (one.interval.value, two.interval.value, 0.0, 0.0, 0.0, 0.0, 1.0)
        p_values = (None, None) if margin is None else (0.0, 0.0)
        return AUCComparison(*same, one.confidence, margin, *p_values)
    freedom = min(tested.freedom, _class_freedom(one, two))
    least = special.stdtrit(freedom, 0.5 + 0.5 * one.confidence) * np.sqrt(tested.value)
    return difference_of(one, two, variance, tested, margin=margin, least=float(least))


def _class_freedom(one: ScoreCurve, two: ScoreCurve) -> float:
    """Return Satterthwaite's degrees of freedom for DeLong's variance."""
    parts = np.sum([one.class_variances, two.class_variances], axis=0)
    # The variance for a single row is that of the model, not an estimate.
    terms = [
        part**2 / (spread.n_rows - 1.0)
        for part, spread in zip(parts, one.spreads, strict=True)
        if not spread.is_single
    ]
    return float(parts.sum() ** 2 / max(sum(terms), 1e-300))


def _same_ranking(score: Floats, other: Floats, order: NDArray[np.unsignedinteger]) -> bool:
    """Return whether both scores rank the rows equally; ``order`` sorts the first."""
    fall = -np.diff(score[order])
    other_fall = -np.diff(other[order])
    return bool((other_fall >= 0).all() and ((fall > 0) == (other_fall > 0)).all())


def _delong_variance(one: ScoreCurve, two: ScoreCurve) -> float:
    """Return DeLong's variance of the difference between two AUCs.

    For a class with a single row, both AUCs are treated as independent.
    """
    squares = one.sample.squared_influences(one.deviation - two.deviation)
    return sum(
        # The covariance cannot be estimated from a single row.
        one.class_variances[k] + two.class_variances[k]
        if one.spreads[k].is_single
        else squares[k] / (1.0 - 1.0 / one.spreads[k].n_rows)
        for k in (0, 1)
    )


def difference_of(
    one: ScoreCurve,
    two: ScoreCurve,
    variance: float,
    tested: Variance,
    *,
    margin: float | None = None,
    least: float = 0.0,
) -> AUCComparison:
    """Test the difference of two AUCs, and combine both intervals into one.

    ``variance`` is DeLong's or Obuchowski's variance of the difference, ``tested`` is
    the variance that the test uses, and ``least`` is a lower bound on the distance of
    each limit from the difference.
    """
    center = one.center - two.center
    # With few rows, the correlation of both AUCs is estimated poorly, and the interval of
    # the square-and-add rule alone would be too narrow.
    below, above = (max(distance, least) for distance in _distances(one, two, variance))
    scale = float(np.sqrt(tested.value))

    def p_value(bound: float, sign: int) -> float:
        """Return the one-sided p-value for ``sign * difference > bound``."""
        excess = sign * center - bound
        if scale > 0:
            return float(special.stdtr(tested.freedom, -excess / scale))
        # The variance is zero, as for AUCs of 0 and 1, where the interval has a positive
        # width: the test uses the width on the side of the hypothesis. If it is also
        # zero, a difference may still be a rounding error.
        width = max(below if sign * excess > 0 else above, _EQUAL_AREAS)
        quantile = float(special.ndtri(0.5 + 0.5 * one.confidence))
        return float(special.ndtr(-excess / width * quantile))

    p_values: tuple[float | None, float | None] = (None, None)
    if margin is not None:
        not_worse = p_value(-margin, 1)
        p_values = not_worse, max(not_worse, p_value(-margin, -1))
    difference = one.interval.value - two.interval.value
    return AUCComparison(
        one.interval.value,
        two.interval.value,
        difference,
        float(np.sqrt(variance)),
        max(min(center - below, difference), -one.max_fpr),
        min(max(center + above, difference), one.max_fpr),
        2.0 * p_value(0.0, 1 if center > 0 else -1) if scale > 0 or center else 1.0,
        one.confidence,
        margin,
        *p_values,
    )


def _distances(one: ScoreCurve, two: ScoreCurve, variance: float) -> tuple[float, float]:
    """Return the distances of both limits, by the square-and-add rule."""
    first, second = one.interval, two.interval
    both = first.standard_error * second.standard_error
    # Var(a - b) = Var(a) + Var(b) - 2 Cov(a, b), solved for the covariance.
    covariance = 0.5 * (first.standard_error**2 + second.standard_error**2 - variance)
    correlation = min(max(covariance / both, -1.0), 1.0) if both > 0 else 0.0

    def distance(a: float, b: float) -> float:
        return float(np.sqrt(max(a**2 + b**2 - 2.0 * correlation * a * b, 0.0)))

    # The difference is lowest where the first AUC is low and the second high.
    return (
        distance(one.center - first.low, second.high - two.center),
        distance(first.high - one.center, two.center - second.low),
    )
