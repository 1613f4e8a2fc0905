"""Confidence interval of a full or partial AUC, by inverting a score test.

A value x is rejected if its distance from the estimate exceeds a quantile times the
standard error expected *at x*, as in Wilson's interval for a proportion. The expected
variance depends on x as it does for two normal distributions of equal variance. It is
scaled to match DeLong's variance: for each class, it is multiplied by the ratio of the
observed to the expected variance. A small ratio is increased as if ``_PRIOR_ROWS`` more
rows had been observed with a ratio of 1, or with a larger ratio for large AUCs, where
heavy tails matter. As a result, the interval stays within [0, 1], has a positive width
where DeLong's variance is zero, and converges to DeLong's interval as the number of
rows increases.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import special

from rocpath.validation import Floats

# Both values were chosen by simulation (benchmarks/coverage/interval_coverage.py): with fewer prior
# rows or a normal quantile, coverage is too low with 20 positives; with more prior rows,
# DeLong's variance has too little influence where the normal model is wrong.
_PRIOR_ROWS = 5.0
_FREEDOM = 3.0
# Variances are shrunk toward 1.9 times that of the normal model at an AUC of 0.9, and
# 2.5 times at an AUC of 1. Otherwise, coverage for Cauchy scores is 0.87 to 0.91 there.
_HEAVY_TAILS = 3.0
# Below this effective number of rows, one row has nearly all the weight.
_SINGLE_ROW = 1.0001
# One misordered pair among 10^6 rows of each class gives a variance of 1e-18.
_ROUNDING = 1e-24


class ClassSpread(NamedTuple):
    """The variance of the structural components of one class.

    ``variance`` is the unbiased variance of a component, ``n_rows`` the (effective)
    number of rows, and ``freedom`` the degrees of freedom of ``variance``, 0 if it is
    unknown.
    """

    variance: float
    n_rows: float
    freedom: float

    @classmethod
    def from_deviations(cls, deviation: Floats, weight_sum: Floats, square_sum: Floats) -> Self:
        """Compute the variance from deviations and their weights.

        ``weight_sum`` and ``square_sum`` are sums of the weights, and of their squares,
        over the rows with each deviation.
        """
        total, squares = float(weight_sum.sum()), float(square_sum.sum())
        # Kish's effective sample size: the number of equally weighted rows with the same
        # variance of the mean.
        n_rows = total**2 / squares
        square = deviation * deviation
        second = float(weight_sum @ square) / total
        if n_rows < _SINGLE_ROW or second < _ROUNDING:
            return cls(0.0, n_rows, 0.0)
        variance = float(square_sum @ square) / squares / (1.0 - 1.0 / n_rows)
        # The relative variance of an estimated variance is (kurtosis - 1) / n_rows, and
        # that of a chi-squared variable is 2 / freedom.
        kurtosis = float(weight_sum @ square**2) / total / second**2
        return cls(variance, n_rows, min(n_rows - 1.0, 2.0 * n_rows / max(kurtosis - 1.0, 1e-9)))

    @property
    def is_single(self) -> bool:
        """Whether only one row has weight, so that the variance is unknown."""
        return self.n_rows < _SINGLE_ROW


def expected_spread(
    area: Any, positive: ClassSpread, negative: ClassSpread, max_fpr: float
) -> tuple[Floats, Floats, Floats]:
    """Return the model's variance of each class at an area, and the term shared by both."""
    of_positive, of_negative, pair = binormal_table(max_fpr).at(area)
    # Components estimated from finitely many rows of the other class vary more.
    extra = pair - of_positive - of_negative
    return (
        of_positive + extra / negative.n_rows,
        of_negative + extra / positive.n_rows,
        extra / (positive.n_rows * negative.n_rows),
    )


class DesignEffect(NamedTuple):
    """Effect of clustered rows on an interval.

    ``factor`` is the ratio of the variance to that of independent rows, ``freedom`` the
    degrees of freedom of the clusters, and ``center`` the AUC over pairs from different
    groups, because pairs within a group are overrepresented in a sample.
    """

    factor: float
    freedom: float
    center: float


def score_interval(
    area: float,
    positive: ClassSpread,
    negative: ClassSpread,
    *,
    confidence: float,
    max_fpr: float,
    design: DesignEffect | None = None,
    excess: float = 0.0,
) -> tuple[float, float]:
    """Return the limits of the interval; areas are divided by ``max_fpr``.

    ``excess`` is added to the variance, in units of the variance of a single pair.
    """
    sides = positive, negative
    expected, ratio = _ratios(area, sides, max_fpr)
    grid = binormal_table(max_fpr).area
    variance = _expected_variance(grid, sides, ratio, max_fpr)
    if design is None:
        parts = [r * e / side.n_rows for r, e, side in zip(ratio, expected, sides, strict=True)]
        design = DesignEffect(1.0, _freedom(parts, sides), area)
    quantile = special.stdtrit(design.freedom, 0.5 + 0.5 * confidence)
    variance = design.factor * variance + excess * grid * (1.0 - grid)
    return _limits(design.center, area, variance, quantile, max_fpr)


def shrunk_variance(
    area: float, positive: ClassSpread, negative: ClassSpread, *, max_fpr: float
) -> float:
    """Return the variance of the score test at the estimate, for independent rows."""
    sides = positive, negative
    ratio = _ratios(area, sides, max_fpr)[1]
    return float(_expected_variance(area, sides, ratio, max_fpr))


def _ratios(
    area: float, sides: tuple[ClassSpread, ClassSpread], max_fpr: float
) -> tuple[list[float], list[float]]:
    """Return the model's variances of both classes, and the shrunk ratios to them."""
    expected = [float(one) for one in expected_spread(area, *sides, max_fpr)[:2]]
    prior = _prior_ratio(area, max_fpr)
    return expected, [_shrunk_ratio(*one, prior) for one in zip(sides, expected, strict=True)]


def scaled_interval(
    area: float, variance: float, freedom: float, sizes: tuple[int, int], *, confidence: float
) -> tuple[float, float]:
    """Return the limits for an average of AUCs with a known variance.

    The variance is assumed to depend on the area like that of a single AUC of ``sizes``
    positives and negatives, multiplied by the ratio observed at the estimate.
    """
    sides = ClassSpread(0.0, sizes[0], 0.0), ClassSpread(0.0, sizes[1], 0.0)
    here = float(_expected_variance(area, sides, (1.0, 1.0), 1.0))
    ratio = 1.0
    if variance > _ROUNDING and here > 0:
        ratio = (freedom * variance / here + _PRIOR_ROWS) / (freedom + _PRIOR_ROWS)
    quantile = special.stdtrit(freedom + _PRIOR_ROWS, 0.5 + 0.5 * confidence)
    variances = _expected_variance(binormal_table(1.0).area, sides, (ratio, ratio), 1.0)
    return _limits(area, area, variances, quantile, 1.0)


def _expected_variance(
    area: Any, sides: tuple[ClassSpread, ClassSpread], ratio: Sequence[float], max_fpr: float
) -> Floats:
    """Return the variance of an AUC, with that of each class multiplied by a ratio."""
    of_positive, of_negative, shared = expected_spread(area, *sides, max_fpr)
    variance = ratio[0] * of_positive / sides[0].n_rows + ratio[1] * of_negative / sides[1].n_rows
    # The term shared by both classes was counted twice.
    return np.asarray(variance - min(ratio) * shared)


def _limits(
    center: float, area: float, variance: Floats, quantile: float, max_fpr: float
) -> tuple[float, float]:
    """Return the limits of the areas that are not rejected, given their variances."""
    grid = binormal_table(max_fpr).area
    distance = quantile * np.sqrt(np.maximum(variance, 0.0))
    low = _lower_limit(center, grid, distance)
    # By symmetry, the upper limit is one minus the lower limit for one minus the area.
    high = 1.0 - _lower_limit(1.0 - center, 1.0 - grid[::-1], distance[::-1])
    return min(low, area), max(high, area)


def _lower_limit(area: float, grid: Floats, distance: Floats) -> float:
    """Return the lower limit, whose distance from the area equals ``distance``."""
    n_below = int(np.searchsorted(grid, area))
    value = np.append(grid[:n_below], area)
    # The limit is next to the nearest rejected value. The expected variance is not
    # monotone: values farther away may not be rejected, but are not in the interval.
    excess = area - value - np.append(distance[:n_below], np.interp(area, grid, distance))
    rejected = np.flatnonzero(excess > 0)
    if rejected.size == 0:
        return 0.0
    last = int(rejected[-1])
    before, after = float(excess[last]), float(excess[last + 1])
    part = before / (before - after)
    return float(value[last] + part * (value[last + 1] - value[last]))


def _prior_ratio(area: float, max_fpr: float) -> float:
    """Return the value toward which the variance ratios of small samples are shrunk."""
    if max_fpr < 1:
        return 1.0
    # With heavy tails, a few positives score far below the others. They determine the
    # variance of a large AUC, but most small samples contain none of them.
    return 1.0 + _HEAVY_TAILS * max(abs(2.0 * area - 1.0) - 0.5, 0.0)


def _shrunk_ratio(spread: ClassSpread, expected: float, prior: float) -> float:
    if spread.freedom == 0 or expected <= 0:
        return prior
    observed = spread.variance / expected
    # The variance cannot be estimated from a few rows or a perfect ranking, so that of
    # the model is given the weight of _PRIOR_ROWS rows. A larger variance is not shrunk,
    # because it is a sign of heavy tails: with shrinkage, coverage for 20 + 20 Cauchy
    # scores at an AUC of 0.99 was 0.83.
    shrunk = (spread.freedom * observed + _PRIOR_ROWS * prior) / (spread.freedom + _PRIOR_ROWS)
    return max(observed, shrunk)


def _freedom(variances: list[float], sides: tuple[ClassSpread, ClassSpread]) -> float:
    """Return Satterthwaite's degrees of freedom of a sum of two variances."""
    parts = np.maximum(variances, 1e-300)
    freedom = np.array([side.freedom for side in sides]) + _PRIOR_ROWS
    return _FREEDOM / float((parts / parts.sum()) ** 2 @ (1.0 / freedom))


class _BinormalTable(NamedTuple):
    """Variances of the components of both classes and of a pair, by area."""

    area: Floats
    positive: Floats
    negative: Floats
    pair: Floats

    def at(self, area: Any) -> tuple[Floats, ...]:
        """Interpolate the three variances."""
        return tuple(np.interp(area, self.area, column) for column in self[1:])


# The table depends only on max_fpr, and a comparison of models uses it many times.
@lru_cache(maxsize=64)
def binormal_table(max_fpr: float) -> _BinormalTable:
    """Integrate over thresholds for a grid of distances between the class means."""
    # Normal densities vanish beyond 9 standard deviations.
    lowest = max(-float(special.ndtri(max_fpr)), -9.0)
    node, weight = np.polynomial.legendre.leggauss(160)
    threshold = lowest + 0.5 * (node + 1.0) * (9.5 - lowest)
    fpr = special.ndtr(-threshold)
    weight = weight * 0.5 * (9.5 - lowest)
    weight *= np.exp(-0.5 * threshold**2) / np.sqrt(2.0 * np.pi)
    # At the ends of the grid, the areas are 0 and 1 in float64.
    distance = np.linspace(-13.0, 13.0, 1041)
    # False negative rates are used because small differences matter near an area of 1.
    fnr = special.ndtr(threshold - distance[:, None])
    last = special.ndtr(lowest - distance)
    loss = fnr @ weight
    positive = 2.0 * fnr @ (weight * fpr) - loss**2
    over_last = fnr - last[:, None]
    negative = over_last**2 @ weight - (over_last @ weight) ** 2
    area = max_fpr - loss
    pair = (
        max_fpr**2 * (1.0 - last)
        + (1.0 - 2.0 * max_fpr) * (max_fpr * (1.0 - last) - area)
        - area**2
    )
    columns = [np.maximum(column, 0.0) / max_fpr**2 for column in (positive, negative, pair)]
    for column in columns:
        # Variances at areas of 0 and 1 are zero except for rounding error.
        column[[0, -1]] = 0.0
    return _BinormalTable(np.clip(area / max_fpr, 0.0, 1.0), *columns)
