"""Bounds of rates from counts: for one count (Clopper-Pearson), or for all at once."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from numpy.typing import NDArray


def highest_rate(count: Any, n_rows: Any, confidence: float) -> NDArray[np.float64]:
    """Return the highest rate at which so few of ``n_rows`` are not too unlikely.

    It also bounds the part of any distribution above all but the largest ``count`` of
    ``n_rows`` numbers drawn from it (Wilks).
    """
    count, n_rows = np.asarray(count), np.asarray(n_rows)
    # A binomial tail is an incomplete beta function of the rate, and this its inverse.
    rate = special.betaincinv(count + 1.0, np.maximum(n_rows - count, 1), confidence)
    return np.where(count < n_rows, rate, 1.0)


def lowest_rate(count: Any, n_rows: Any, confidence: float) -> NDArray[np.float64]:
    """Return the lowest rate at which so many of ``n_rows`` are not too unlikely."""
    count, n_rows = np.asarray(count), np.asarray(n_rows)
    rate = special.betaincinv(
        np.maximum(count, 1), n_rows - count + 1.0, 1.0 - confidence
    )
    return np.where(count > 0, rate, 0.0)


def rate_bounds(count: int, n_rows: int, confidence: float) -> tuple[float, float]:
    """Return bounds of Clopper and Pearson, each with this confidence."""
    return (
        float(lowest_rate(count, n_rows, confidence)),
        float(highest_rate(count, n_rows, confidence)),
    )


def largest_count_below(rate: float, n_rows: int, confidence: float) -> int:
    """Return the largest count whose highest rate is at most ``rate``, or -1."""

    def highest(count: int) -> float:
        return float(highest_rate(count, n_rows, confidence))

    # It rises with the count, so halving finds it in log2(n_rows) looks.
    return bisect_right(range(n_rows), rate, key=highest) - 1


def rising_ranks(least: int, n_rows: int, *, ratio: float = 1.1) -> NDArray[np.int64]:
    """Return ranks from ``least`` to ``n_rows``, each larger by about this ratio."""
    # The confidence is divided among the ranks tried: few that are spread evenly in
    # their logarithm lose little, and cost less of it than all.
    ranks, rank = [n_rows], least
    while rank < n_rows:
        ranks.append(rank)
        rank = max(rank + 1, int(ratio * rank))
    return np.unique(np.array(ranks, dtype=np.int64))


def simultaneous_rates(
    n_rows: int, confidence: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return by count from 0 a lowest and a highest rate, each for all counts at once.

    Each is that of the nearest rank tried on the safe side, with what is left of the
    confidence divided by the number of them (Bonferroni).
    """
    # Close together at both ends, where rates differ by their size.
    half = rising_ranks(0, n_rows // 2, ratio=1.25)
    rank = np.union1d(half, n_rows - half)
    each = 1.0 - (1.0 - confidence) / rank.size
    count = np.arange(n_rows + 1)
    # On the safe side: a rank that was tried below for the lowest rate, above for the
    # highest.
    below = np.searchsorted(rank, count, side="right") - 1
    above = np.searchsorted(rank, count, side="left")
    lowest = lowest_rate(rank, n_rows, each)[below]
    return lowest, highest_rate(rank, n_rows, each)[above]
