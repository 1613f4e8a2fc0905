"""Confidence bands of ROC curves, pointwise or simultaneous.

At a false positive rate t, the number of negatives above the threshold is a binomial
variable K. Given K, the threshold lies between two consecutive negatives, and the number
of positives above it is known up to those between these negatives. The bounds of the true
positive rate are quantiles of a mixture of beta distributions over K. A simultaneous band
uses the same bounds with a higher confidence level, which is found by simulation.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from rocpath.evaluation.influence import place_rows
from rocpath.evaluation.rate_bounds import effective_counts
from rocpath.sample import count_groups
from rocpath.validation import Floats

_N_RATES = 36  # false positive rates on each side of one half
# Nodes of the distribution of K are equally spaced on the normal scale.
_NODE = np.linspace(-4.5, 4.5, 31)
_HALF = 0.5 * (_NODE[1] - _NODE[0])
_WEIGHT = special.ndtr(_NODE + _HALF) - special.ndtr(_NODE - _HALF)
# The level of a simultaneous band is that of normal scores with the same AUC. It depends
# little on the distribution, and little on the number of rows beyond 1,000 of each class.
_N_SAMPLES = 500
_MOST_ROWS = 1_000
_AREAS = (0.55, 0.95)


class ROCBand(NamedTuple):
    """Bounds of the true positive rate at increasing false positive rates."""

    fpr: Floats
    tpr_low: Floats
    tpr_high: Floats


def roc_band(
    is_positive: NDArray[np.bool_],
    score: Floats,
    confidence: float = 0.95,
    *,
    is_simultaneous: bool = False,
    groups: NDArray[np.intp] | None = None,
) -> ROCBand:
    """Compute the confidence band of a ROC curve, pointwise or simultaneous.

    A pointwise band contains the true positive rate at each false positive rate with
    this confidence, and a simultaneous band contains the whole curve. With groups,
    pointwise bands use effective sample sizes.
    """
    n_positive, n_negative = int(is_positive.sum()), int((~is_positive).sum())
    fpr = fpr_grid(n_negative)
    missing = 1.0 - confidence
    if is_simultaneous:
        area = place_rows(score, is_positive, None, 1.0).area
        missing = _simultaneous_level(n_positive, n_negative, round(area, 2), missing)
    mixture = _Mixture.from_scores(is_positive, score, fpr, groups, confidence)
    low, high = mixture.bounds(0.5 * missing)
    if is_simultaneous:
        # ROC curves increase, so bounds that hold simultaneously may increase, too.
        low, high = np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1]
    return ROCBand(fpr, low, high)


def fpr_grid(n_negative: int) -> Floats:
    """Return false positive rates from 0 to 1, closest together at both ends."""
    half = np.geomspace(0.25 / n_negative, 0.5, _N_RATES)
    return np.concatenate(([0.0], half, 1.0 - half[-2::-1], [1.0]))


class _Mixture(NamedTuple):
    """Numbers of positives above the threshold, for each FPR (row) and node of K (column).

    ``below`` and ``above`` bound the number of positives, and ``n_rows`` is the
    (effective) number of positives.
    """

    below: Floats
    above: Floats
    n_rows: Floats

    @classmethod
    def from_scores(
        cls,
        is_positive: NDArray[np.bool_],
        score: Floats,
        fpr: Floats,
        groups: NDArray[np.intp] | None = None,
        confidence: float = 0.95,
    ) -> Self:
        """Count positives between consecutive negatives."""
        positive, negative = np.sort(score[is_positive]), np.sort(score[~is_positive])[::-1]
        n_positive, n_negative = positive.size, negative.size
        effect = np.ones((2, fpr.size))
        if groups is not None:
            threshold = negative[np.minimum((fpr * n_negative).astype(int), n_negative - 1)]
            sides = [(score[side], groups[side]) for side in (~is_positive, is_positive)]
            effect = np.array([_design_effects(*side, threshold, confidence) for side in sides])
        size = np.maximum((n_negative / effect[0]).round(), 1.0)
        rank = np.rint(_node_counts(tuple(size), tuple(fpr)) * (n_negative / size)[:, None])
        rank = rank.astype(np.intp)
        below = np.append(0, n_positive - np.searchsorted(positive, negative, side="right"))
        above = np.append(n_positive - np.searchsorted(positive, negative, side="left"), n_positive)
        column = effect[1][:, None]
        return cls(below[rank] / column, above[rank] / column, n_positive / column)

    def lower(self, tpr: Floats) -> Floats:
        """Return the distribution function of the lower bounds at rates."""
        # The number of positives is in the middle half of its range, and a beta
        # distribution has half a row more of each kind (Jeffreys), except that no lower
        # bound exceeds 0 if no positive is above the threshold.
        first = self.below + 0.25 * (self.above - self.below)
        share = special.betainc(first + 0.5, self.n_rows - first + 0.5, tpr[:, None])
        share[self.below == 0] = 1.0
        return np.asarray(share @ _WEIGHT)

    def upper(self, tpr: Floats) -> Floats:
        """Return the complementary distribution function of the upper bounds at rates."""
        # By symmetry, this is the lower bound of the share of positives below.
        n_rows = self.n_rows + np.zeros_like(self.above)
        mirrored = _Mixture(np.maximum(n_rows - self.above, 0.0), n_rows - self.below, n_rows)
        return mirrored.lower(1.0 - tpr)

    def bounds(self, missing: float) -> tuple[Floats, Floats]:
        """Return bounds of the true positive rate, each with this error probability."""
        low, high = (_smallest_rates(side, missing, len(self.below)) for side in self._sides)
        return low, 1.0 - high

    @property
    def _sides(self) -> tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]]:
        return self.lower, lambda fnr: self.upper(1.0 - fnr)


def _smallest_rates(
    distribution: Callable[[Floats], Floats], probability: float, n_rates: int
) -> Floats:
    """Return the quantiles of distributions on [0, 1], from below."""
    low, high = np.zeros(n_rates), np.ones(n_rates)
    for _ in range(32):
        middle = 0.5 * (low + high)
        is_below = distribution(middle) < probability
        low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
    return low


@lru_cache(maxsize=8)
def _node_counts(size: tuple[float, ...], fpr: tuple[float, ...]) -> Floats:
    """Return the number of negatives above the threshold at each FPR and node."""
    counts = stats.binom.ppf(special.ndtr(_NODE), np.array(size)[:, None], np.array(fpr)[:, None])
    return np.asarray(counts)


def _design_effects(
    score: Floats, code: NDArray[np.intp], threshold: Floats, confidence: float
) -> Floats:
    """Return the design effect of the rate above each threshold, for the rows of a class."""
    n_rows = [effective_counts(score >= one, code)[1] for one in threshold]
    # Quantiles of Student's t distribution account for few groups (Korn and Graubard).
    quantile = special.stdtrit(max(count_groups(code) - 1, 1), 0.5 + 0.5 * confidence)
    normal = special.ndtri(0.5 + 0.5 * confidence)
    return np.asarray(score.size / np.array(n_rows) * (quantile / normal) ** 2)


@lru_cache(maxsize=64)
def _simultaneous_level(n_positive: int, n_negative: int, area: float, missing: float) -> float:
    """Return the error probability of each bound for a simultaneous band."""
    sizes = [min(count, _MOST_ROWS) for count in (n_positive, n_negative)]
    fpr = fpr_grid(sizes[1])[1:-1:2]
    shift = np.sqrt(2.0) * special.ndtri(np.clip(area, *_AREAS))
    tpr = special.ndtr(special.ndtri(fpr) + shift)
    rng = np.random.default_rng(0)
    is_positive = np.repeat([True, False], sizes)
    level = np.empty(_N_SAMPLES)
    for k in range(_N_SAMPLES):
        score = rng.standard_normal(is_positive.size) + shift * is_positive
        mixture = _Mixture.from_scores(is_positive, score, fpr)
        # The curve is outside all bands with a larger error probability than this.
        level[k] = 2.0 * min(mixture.lower(tpr).min(), mixture.upper(tpr).min())
    return float(np.quantile(level, missing))
