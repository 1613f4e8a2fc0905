"""Variance of the noise of a sequence, from differences of neighbors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BLOCKS = (1, 2, 4)
_KEPT = 0.75  # smallest fraction of squared differences, which few changes affect
# Mean of the smallest 75% of squares of standard normal variables.
_KEPT_MEAN = 0.368


def variance(x: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """Return the variance around the mean of an observation of weight 1."""
    mean = np.average(x, weights=weight)
    return float(weight @ (x - mean) ** 2) / x.size


def difference_variance(
    x: NDArray[np.float64], weight: NDArray[np.float64], *, least: float = 1 / 8
) -> float:
    """Return the largest variance from differences of neighboring block means.

    At least a fraction of the variance, for values that seldom differ from the next.
    """
    x = x - np.median(x)  # so that products with weights lose no digits
    largest = least * variance(x, weight)
    for size in _BLOCKS:
        n_blocks = x.size // size
        if n_blocks < 2:
            break
        block = slice(0, n_blocks * size)
        total = weight[block].reshape(n_blocks, size).sum(axis=1)
        moment = (weight * x)[block].reshape(n_blocks, size).sum(axis=1)
        spread = 1 / total[:-1] + 1 / total[1:]
        square = np.sort(np.diff(moment / total) ** 2 / spread)
        kept = square[: max(1, int(_KEPT * square.size))]
        largest = max(largest, float(kept.mean()) / _KEPT_MEAN)
    return largest
