"""Estimates of the noise variance from differences of neighbors, and limits based on them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.arguments import finite_number
from rocpath.changepoint.observations import observed

_BLOCKS = (1, 2, 4)
# Fraction of the squared differences that is used. The largest ones, which changes may
# affect, are dropped.
_KEPT = 0.75
# Mean of the smallest 75% of squares of standard normal variables.
_KEPT_MEAN = 0.368
# Thresholds in standard deviations of the noise: 3 as Fearnhead and Rigaill recommend,
# 1.345 for 95% efficiency with normal noise.
ROBUST = {"biweight": 3.0, "huber": 1.345}
# Smallest variance of a segment, relative to that of the noise.
_SMALLEST_VARIANCE = 1e-6


def variance(x: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """Return the variance of an observation of weight 1 around the mean."""
    mean = np.average(x, weights=weight)
    return float(weight @ (x - mean) ** 2) / x.size


def difference_variance(
    x: NDArray[np.float64], weight: NDArray[np.float64], *, least: float = 1 / 8
) -> float:
    """Estimate the noise variance from differences of neighboring block means.

    The largest estimate over several block sizes is returned. It is at least ``least``
    times the total variance, because most neighboring values may be equal.
    """
    x = x - np.median(x)  # so that products with weights do not lose digits
    largest = least * variance(x, weight)
    for size in _BLOCKS:
        n_blocks = x.size // size
        if n_blocks < 2:
            break
        block = slice(0, n_blocks * size)
        total = weight[block].reshape(n_blocks, size).sum(axis=1)
        moment = (weight * x)[block].reshape(n_blocks, size).sum(axis=1)
        spread = 1 / total[:-1] + 1 / total[1:]
        square = np.diff(moment / total) ** 2 / spread
        n_kept = max(1, int(_KEPT * square.size))
        kept = np.partition(square, n_kept - 1)[:n_kept]
        largest = max(largest, float(kept.mean()) / _KEPT_MEAN)
    return largest


def noise_scaled(
    x: NDArray[np.float64], weights: ArrayLike | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return columns centered and scaled by their noise, their medians and their scales.

    A one-dimensional sequence is returned unchanged.
    """
    if x.ndim == 1:
        return x, np.zeros(1), np.ones(1)
    value, weight = observed("x", x, weights)
    unit = np.array([difference_variance(one, weight) for one in value.T])
    unit = np.sqrt(np.where(unit > 0, unit, 1.0))
    median = np.median(value, axis=0)
    return (x - median) / unit, median, unit


def robust_threshold(
    x: NDArray[np.float64], weight: NDArray[np.float64], cost: str, threshold: float | None = None
) -> float:
    """Return the threshold of a robust cost, by default estimated from the noise."""
    if threshold is not None:
        if not finite_number("threshold", threshold) > 0:
            raise ValueError(f"threshold must be positive, got {threshold}.")
        return float(threshold)
    # Outliers must not raise the threshold, so the total variance gives no lower bound here.
    noise = difference_variance(x, weight, least=0.0) or difference_variance(x, weight)
    return ROBUST[cost] * float(np.sqrt(noise)) or 1.0


def variance_floor(x: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """Return a lower bound for segment variances, at least that of rounding if values repeat."""
    distinct = np.unique(x)
    step = float(np.diff(distinct).min()) if 1 < distinct.size < x.size else 0.0
    noise = _SMALLEST_VARIANCE * difference_variance(x, weight)
    return max(step**2 / 12, noise, np.finfo(float).tiny)
