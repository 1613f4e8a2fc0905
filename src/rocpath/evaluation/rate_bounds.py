"""Confidence bounds of rates from counts (Clopper-Pearson) or from losses of groups."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from rocpath.validation import Floats

Interval = tuple[float, float]


def highest_rate(count: Any, n_rows: Any, confidence: float) -> Floats:
    """Return the upper confidence bound of a rate.

    It is also an upper bound on the probability of exceeding the (``count`` + 1)-th
    largest of ``n_rows`` draws from any distribution (Wilks).
    """
    count, n_rows = np.asarray(count), np.asarray(n_rows)
    # A binomial tail is an incomplete beta function of the rate; this is its inverse.
    rate = special.betaincinv(count + 1.0, np.maximum(n_rows - count, 1), confidence)
    return np.where(count < n_rows, rate, 1.0)


def lowest_rate(count: Any, n_rows: Any, confidence: float) -> Floats:
    """Return the lower confidence bound of a rate."""
    return 1.0 - highest_rate(np.asarray(n_rows) - count, n_rows, confidence)


def rate_bounds(count: Any, n_rows: Any, confidence: float) -> Interval:
    """Return the lower and upper bounds of a rate, each with this confidence."""
    return (
        float(lowest_rate(count, n_rows, confidence)),
        float(highest_rate(count, n_rows, confidence)),
    )


def effective_counts(
    is_case: NDArray[np.bool_], code: NDArray[np.intp] | None
) -> tuple[float, float]:
    """Return the effective numbers of cases and rows for bounds on a rate.

    Counts are divided by the design effect, the ratio of the clustered variance of the
    rate to its binomial variance (Rao and Scott, 1992). Clopper-Pearson bounds are
    then computed from the effective counts (Korn and Graubard, 1998). ``code`` is
    the group of each row.
    """
    n_rows, rate = is_case.size, float(is_case.mean())
    if code is None:
        return float(is_case.sum()), n_rows
    size, count = np.bincount(code), np.bincount(code, is_case)
    n_groups, simple = np.count_nonzero(size), rate * (1.0 - rate) * n_rows
    # If the observed variance is zero, all rows of a group are assumed to be equal.
    effect = float(size @ size) / n_rows
    if simple > 0 and n_groups > 1:
        square = float(((count - rate * size) ** 2).sum())
        effect = max(square * n_groups / (n_groups - 1) / simple, 1.0)
    return rate * n_rows / effect, n_rows / effect


def highest_loss(total: float, n_groups: float, confidence: float) -> float:
    """Return the Hoeffding-Bentkus upper bound of the expected loss of a group.

    The losses of the groups are independent, lie in [0, 1] and sum to ``total``. If
    losses are monotone in the threshold, the threshold with the largest loss whose
    bound does not exceed a target controls the expected loss of a new group with this
    confidence (Bates, Angelopoulos, Lei, Malik and Jordan, "Distribution-free,
    risk-controlling prediction sets", J. ACM 68, 2021, theorem 1 with equations 9 to
    11). Rows within a group may be correlated in any way.
    """
    mean = min(max(total / n_groups, 0.0), 1.0)

    def is_rejected(limit: float) -> bool:
        # Relative entropy of two Bernoulli distributions; 0 log 0 is 0.
        entropy = special.rel_entr(mean, limit) + special.rel_entr(1.0 - mean, 1.0 - limit)
        # Tolerance for rounding: a sum of ten losses of 0.1 must not be rounded up to 2.
        tail = np.e * special.bdtr(np.ceil(total - 1e-9), n_groups, limit)
        return bool(min(np.exp(-n_groups * entropy), tail) <= 1.0 - confidence)

    return smallest_root(is_rejected, mean, 1.0)


def smallest_root(is_above: Callable[[float], bool], low: float, high: float) -> float:
    """Find the smallest number in a range that satisfies a monotone condition."""
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if is_above(middle) else (middle, high)
    return high


def geometric_ranks(least: int, n_rows: int, *, ratio: float = 1.1) -> NDArray[np.int64]:
    """Return ranks from ``least`` to ``n_rows``, increasing by about this ratio."""
    # The error probability is divided among the ranks. With a few ranks, evenly spaced on
    # a logarithmic scale, each rank has a larger share, and little precision is lost.
    ranks, rank = [n_rows], least
    while rank < n_rows:
        ranks.append(rank)
        rank = max(rank + 1, int(ratio * rank))
    return np.unique(np.array(ranks, dtype=np.int64))


def simultaneous_rates(n_rows: int, confidence: float) -> tuple[Floats, Floats]:
    """Return lower and upper bounds that hold simultaneously for all counts.

    The lower bounds hold for all counts with this confidence, and so do the upper
    bounds. Each bound is that of the nearest rank on the conservative side, with the
    error probability divided by the number of ranks (Bonferroni).
    """
    # Ranks are close together at both ends, where relative differences matter.
    half = geometric_ranks(0, n_rows // 2, ratio=1.25)
    rank = np.union1d(half, n_rows - half)
    each = 1.0 - (1.0 - confidence) / rank.size
    count = np.arange(n_rows + 1)
    # Conservative: the nearest rank below for lower bounds, and above for upper bounds.
    below = np.searchsorted(rank, count, side="right") - 1
    above = np.searchsorted(rank, count, side="left")
    lowest = lowest_rate(rank, n_rows, each)[below]
    return lowest, highest_rate(rank, n_rows, each)[above]
