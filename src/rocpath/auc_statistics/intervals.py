"""How sure an AUC is: DeLong's variance, intervals, and a test of two AUCs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import special

from rocpath.arguments import finite_vector, same_length, share_between
from rocpath.auc_statistics.influence import Placements, class_sums, place_rows
from rocpath.auc_statistics.score_interval import (
    ClassSpread,
    expected_spread,
    score_interval,
    unbiased_part,
)
from rocpath.binary_labels import label_weights, positive_labels
from rocpath.partial_auc import rate_up_to_one

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, eq=False)
class AUCInterval:
    """Hold an AUC, its standard error, and an interval.

    Attributes
    ----------
    value : float
        The AUC, or the area left of ``max_fpr``.
    standard_error : float
        DeLong's. It is 0 at an AUC of exactly 1 or 0, where the interval is not of
        width zero. The spread of a class of a single row, which cannot be estimated,
        is that of two normal distributions.
    low, high : float
        Ends of the interval, within 0 and the largest possible area.
    confidence : float
        How often such intervals hold the true area.
    """

    value: float
    standard_error: float
    low: float
    high: float
    confidence: float


@dataclass(frozen=True, slots=True, eq=False)
class AUCComparison:
    """Hold the difference of the AUCs of two scores of the same rows.

    Attributes
    ----------
    value, other_value : float
        The two AUCs, or areas left of ``max_fpr``.
    difference : float
        The first less the second.
    standard_error : float
        DeLong's, with the covariance of both AUCs.
    low, high : float
        Ends of the interval of the difference.
    p_value : float
        Two-sided, of the hypothesis that both are equal (DeLong's test).
    confidence : float
        How often such intervals hold the true difference.
    """

    value: float
    other_value: float
    difference: float
    standard_error: float
    low: float
    high: float
    p_value: float
    confidence: float


def auc_interval(
    y: ArrayLike,
    scores: ArrayLike,
    *,
    confidence: float = 0.95,
    max_fpr: float | None = None,
    sample_weight: ArrayLike | None = None,
    positive: Any = None,
) -> AUCInterval:
    """Compute an AUC with DeLong's standard error and an interval.

    The interval holds every AUC that is not refuted by the one seen, with the standard
    error expected at that AUC, as Wilson's does for a share.

    Parameters
    ----------
    y : array-like, shape (n_rows,)
        Labels of exactly two values.
    scores : array-like, shape (n_rows,)
        Larger for rows that are more likely positive; ties count one half.
    confidence : float
        Between 0 and 1.
    max_fpr : float, optional
        Take the area left of this false positive rate, between 0 and ``max_fpr``.
    sample_weight : array-like, shape (n_rows,), optional
        How much each row counts, as in a sample drawn with unequal chances: rows are
        independent, and only the proportions of weights matter. A weight of 2 is not
        two rows.
    positive : label, optional
        The positive class; by default the larger of the two labels.

    Returns
    -------
    AUCInterval

    Examples
    --------
    >>> import rocpath as rp
    >>> area = rp.auc_interval([0, 0, 0, 1, 1, 1], [1, 2, 4, 3, 5, 6])
    >>> print(f"{area.value:.3f}, from {area.low:.3f} to {area.high:.3f}")
    0.889, from 0.396 to 0.986
    """
    rows = _Rows.checked(y, sample_weight, positive)
    score = rows.scores("scores", scores)
    confidence = share_between("confidence", confidence)
    max_fpr = rate_up_to_one("max_fpr", max_fpr)
    placed = place_rows(score, *rows, max_fpr)
    spreads = _spreads(rows, placed, max_fpr)
    return interval_of_spreads(placed.area, spreads, confidence, max_fpr)


def compare_auc(
    y: ArrayLike,
    scores: ArrayLike,
    other_scores: ArrayLike,
    *,
    confidence: float = 0.95,
    max_fpr: float | None = None,
    sample_weight: ArrayLike | None = None,
    positive: Any = None,
) -> AUCComparison:
    """Compare the AUCs of two scores of the same rows by DeLong's test.

    The interval combines those of :func:`auc_interval` with the correlation of both
    AUCs (the square-and-add rule of Newcombe, Zou and Donner).

    Parameters
    ----------
    y : array-like, shape (n_rows,)
        Labels of exactly two values.
    scores, other_scores : array-like, shape (n_rows,)
        Larger for rows that are more likely positive; ties count one half.
    confidence, max_fpr, sample_weight, positive
        As for :func:`auc_interval`.

    Returns
    -------
    AUCComparison

    Examples
    --------
    >>> import rocpath as rp
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> result = rp.compare_auc(y, [1, 2, 3, 5, 4, 6, 7, 8], [1, 5, 3, 7, 2, 4, 8, 6])
    >>> print(f"{result.difference:.4f}, p = {result.p_value:.2f}")
    0.3125, p = 0.06
    """
    rows = _Rows.checked(y, sample_weight, positive)
    score = rows.scores("scores", scores)
    other = rows.scores("other_scores", other_scores)
    confidence = share_between("confidence", confidence)
    max_fpr = rate_up_to_one("max_fpr", max_fpr)
    first, second = (place_rows(each, *rows, max_fpr) for each in (score, other))
    spreads = [_spreads(rows, each, max_fpr) for each in (first, second)]
    one, two = (
        interval_of_spreads(each.area, spread, confidence, max_fpr)
        for each, spread in zip((first, second), spreads, strict=True)
    )
    # Scores of one order have nothing to compare. Their variance is 0 but for rounding,
    # which a test would divide by.
    if first.area == second.area and _ranks_alike(score, other, first.order):
        same = (one.value, two.value, 0.0, 0.0, 0.0, 0.0, 1.0)
        return AUCComparison(*same, one.confidence)
    variance = _variance_of_difference(rows, first, second, spreads, max_fpr)
    return _difference(one, two, variance)


class _Rows(NamedTuple):
    """Checked labels, and weights unless all rows count alike."""

    is_positive: NDArray[np.bool_]
    weight: NDArray[np.float64] | None

    @classmethod
    def checked(
        cls, y: ArrayLike, sample_weight: ArrayLike | None, positive: Any
    ) -> _Rows:
        is_positive = positive_labels(y, positive)
        if sample_weight is None:
            return cls(is_positive, None)
        return cls(is_positive, label_weights(is_positive, sample_weight))

    def scores(self, name: str, given: ArrayLike) -> NDArray[np.float64]:
        score = finite_vector(name, given, copy=False)
        same_length(**{"y": self.is_positive, name: score})
        return score

    def unbiased_parts(self) -> list[float]:
        """Return which part of a variance deviations from the class's mean show."""
        if self.weight is None:
            n_positive = int(np.count_nonzero(self.is_positive))
            sizes = n_positive, self.is_positive.size - n_positive
            return [1.0 - 1.0 / size for size in sizes]
        return [
            unbiased_part(self.weight[side])
            for side in (self.is_positive, ~self.is_positive)
        ]

    def squared_influences(self, deviation: NDArray[np.float64]) -> list[float]:
        """Sum the squares of deviations by class, each with its share of the class."""
        weight = 1.0 if self.weight is None else self.weight
        square = (weight * deviation) ** 2
        negative, positive = np.bincount(self.is_positive, square)
        n_negative, n_positive = np.bincount(self.is_positive, self.weight)
        return [float(positive) / n_positive**2, float(negative) / n_negative**2]


def _ranks_alike(
    score: NDArray[np.float64],
    other: NDArray[np.float64],
    order: NDArray[np.unsignedinteger],
) -> bool:
    """Tell whether both scores rank all rows alike; ``order`` sorts the first."""
    fall = -np.diff(score[order])
    other_fall = -np.diff(other[order])
    return bool((other_fall >= 0).all() and ((fall > 0) == (other_fall > 0)).all())


def _spreads(rows: _Rows, placed: Placements, max_fpr: float) -> list[ClassSpread]:
    # Of weights of one the squares are the weights.
    square_sums = placed.tp, placed.fp
    if rows.weight is not None:
        square_sums = class_sums(
            rows.is_positive, rows.weight**2, placed.order, placed.start
        )
    return [
        # As a share of the largest area, as the model's tables have it.
        ClassSpread.of(deviation / max_fpr, sums, squares, seen)
        for deviation, sums, squares, seen in zip(
            (placed.positive, placed.negative),
            (placed.tp, placed.fp),
            square_sums,
            rows.unbiased_parts(),
            strict=True,
        )
    ]


def interval_of_spreads(
    area: float, spread: list[ClassSpread], confidence: float, max_fpr: float
) -> AUCInterval:
    """Make the interval of an area, given the spread of positives and of negatives."""
    share = area / max_fpr
    positive, negative = spread
    low, high = score_interval(
        share, positive, negative, confidence=confidence, max_fpr=max_fpr
    )
    variance = sum(_variances(share, spread, max_fpr))
    return AUCInterval(
        area,
        max_fpr * float(np.sqrt(variance)),
        max_fpr * low,
        max_fpr * high,
        confidence,
    )


def _variances(share: float, spread: list[ClassSpread], max_fpr: float) -> list[float]:
    """Return DeLong's variance of the mean by class; of a single row, the model's."""
    positive, negative = spread
    expected = expected_spread(np.array(share), positive, negative, max_fpr)
    return [
        (float(model) if side.is_single else side.variance) / side.n_rows
        for side, model in zip(spread, expected[:2], strict=True)
    ]


def _variance_of_difference(
    rows: _Rows,
    one: Placements,
    two: Placements,
    spreads: list[list[ClassSpread]],
    max_fpr: float,
) -> float:
    """Return DeLong's variance; of single rows, as if both AUCs were independent."""
    apart = one.deviations(rows.is_positive) - two.deviations(rows.is_positive)
    of_means = [
        _variances(placed.area / max_fpr, spread, max_fpr)
        for placed, spread in zip((one, two), spreads, strict=True)
    ]
    total = 0.0
    seen = zip(rows.squared_influences(apart), rows.unbiased_parts(), strict=True)
    for k, (square, part) in enumerate(seen):
        # One row has no deviation from its mean, and so no covariance that could be
        # seen.
        if spreads[0][k].is_single:
            total += (of_means[0][k] + of_means[1][k]) * max_fpr**2
        else:
            total += square / part
    return total


def _difference(one: AUCInterval, two: AUCInterval, variance: float) -> AUCComparison:
    """Square and add the distances to the ends, less what both AUCs have in common."""
    difference = one.value - two.value
    error = float(np.sqrt(variance))
    both = one.standard_error * two.standard_error
    # Var(a - b) = Var(a) + Var(b) - 2 Cov(a, b), solved for what is not known.
    covariance = 0.5 * (one.standard_error**2 + two.standard_error**2 - variance)
    correlation = min(max(covariance / both, -1.0), 1.0) if both > 0 else 0.0

    def reach(first: float, second: float) -> float:
        square = first**2 + second**2 - 2.0 * correlation * first * second
        return float(np.sqrt(max(square, 0.0)))

    # The difference is lowest where the first AUC is low and the second high.
    below = reach(one.value - one.low, two.high - two.value)
    above = reach(one.high - one.value, two.value - two.low)
    if error == 0 and difference != 0:
        # Both AUCs are at an end, where DeLong's variance is zero but the interval
        # is not of width zero: the test uses its width towards no difference.
        quantile = float(special.ndtri(0.5 + 0.5 * one.confidence))
        width = below if difference > 0 else above
        # Without any width both rank alike, and what differs is the last digit.
        deviate = difference / width * quantile if width > 0 else 0.0
    else:
        deviate = difference / error if error > 0 else 0.0
    return AUCComparison(
        one.value,
        two.value,
        difference,
        error,
        difference - below,
        difference + above,
        float(2.0 * special.ndtr(-abs(deviate))),
        one.confidence,
    )
