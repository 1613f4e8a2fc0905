"""Bounds of rates from counts (Clopper-Pearson), for one count or for all at once."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from numpy.typing import NDArray


def highest_rate(count: Any, n_rows: Any, confidence: float) -> NDArray[np.float64]:
    """Return the upper confidence bound of a rate.

    It also bounds the probability above the ``count + 1`` largest of ``n_rows`` draws
    from any distribution (Wilks).
    """
    count, n_rows = np.asarray(count), np.asarray(n_rows)
    # A binomial tail is an incomplete beta function of the rate, and this its inverse.
    rate = special.betaincinv(count + 1.0, np.maximum(n_rows - count, 1), confidence)
    return np.where(count < n_rows, rate, 1.0)


def lowest_rate(count: Any, n_rows: Any, confidence: float) -> NDArray[np.float64]:
    """Return the lower confidence bound of a rate."""
    count, n_rows = np.asarray(count), np.asarray(n_rows)
    rate = special.betaincinv(np.maximum(count, 1), n_rows - count + 1.0, 1.0 - confidence)
    return np.where(count > 0, rate, 0.0)


def rate_bounds(count: float, n_rows: float, confidence: float) -> tuple[float, float]:
    """Return both bounds, each with this confidence."""
    return (
        float(lowest_rate(count, n_rows, confidence)),
        float(highest_rate(count, n_rows, confidence)),
    )


def largest_count_below(rate: float, n_rows: int, confidence: float) -> int:
    """Return the largest count whose upper bound is at most ``rate``, or -1."""

    def highest(count: int) -> float:
        return float(highest_rate(count, n_rows, confidence))

    # It increases with the count, so that bisection finds it.
    return bisect_right(range(n_rows), rate, key=highest) - 1


def rising_ranks(least: int, n_rows: int, *, ratio: float = 1.1) -> NDArray[np.int64]:
    """Return ranks from ``least`` to ``n_rows``, each larger by about this ratio."""
    # The error probability is divided among the ranks: few of them, evenly spaced on a
    # logarithmic scale, lose little precision and leave more of it for each.
    ranks, rank = [n_rows], least
    while rank < n_rows:
        ranks.append(rank)
        rank = max(rank + 1, int(ratio * rank))
    return np.unique(np.array(ranks, dtype=np.int64))


def simultaneous_rates(
    n_rows: int, confidence: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return lower and upper bounds by count from 0, each valid for all counts at once.

    Each is that of the nearest rank on the conservative side, with the error
    probability divided by the number of ranks (Bonferroni).
    """
    # Close together at both ends, where relative differences matter.
    half = rising_ranks(0, n_rows // 2, ratio=1.25)
    rank = np.union1d(half, n_rows - half)
    each = 1.0 - (1.0 - confidence) / rank.size
    count = np.arange(n_rows + 1)
    # Conservative: a rank below for the lower bound, above for the upper one.
    below = np.searchsorted(rank, count, side="right") - 1
    above = np.searchsorted(rank, count, side="left")
    lowest = lowest_rate(rank, n_rows, each)[below]
    return lowest, highest_rate(rank, n_rows, each)[above]
