"""Observations with one or several columns and missing values (NaN), and their noise."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.changepoint.cost_properties import COSTS
from rocpath.validation import (
    check_count,
    check_masked,
    check_none,
    describe,
    finite_number,
    finite_vector,
    read_only,
)

_BLOCK_SIZES = (1, 2, 4)
# Fraction of the squared differences that is used. The largest ones, which changes may
# affect, are dropped.
_KEPT = 0.75
# Mean of the smallest 75% of squares of standard normal variables.
_KEPT_MEAN = 0.368
# Smallest variance of a segment, relative to the noise variance or the mean square.
_SMALLEST_VARIANCE = 1e-6


def observations(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return observations as float64, with NaN for missing values, or raise."""
    check_masked(name, values)
    given = np.asanyarray(values)
    is_table = given.ndim == 2 and given.dtype.kind in "buif"
    has_missing = given.ndim == 1 and given.dtype.kind == "f" and bool(np.isnan(given).any())
    if not is_table and not has_missing:
        return finite_vector(name, values)
    value = np.array(given, dtype=np.float64)
    finite_vector(name, np.where(np.isnan(value), 0.0, value).ravel())
    return read_only(value)


def checked_sequences(sequences: Sequence[ArrayLike]) -> list[NDArray[np.float64]]:
    """Return a non-empty list of sequences of observations, or raise."""
    given = list(sequences)
    if not given:
        raise ValueError("sequences must have at least one sequence, got none.")
    if np.ndim(given[0]) == 0:
        raise TypeError(
            f"sequences must be a list of arrays, got {describe(given[0])} for sequence 0: "
            "for one sequence x, pass [x]."
        )
    values = [observations(f"sequences[{k}]", one) for k, one in enumerate(given)]
    for k, one in enumerate(values):
        if is_incomplete(one).all():
            raise ValueError(f"sequences[{k}] must have an observation that is not NaN, got none.")
    return [one.ravel() if one.shape[1:] == (1,) else one for one in values]


def is_incomplete(x: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return a mask of the observations with a missing value in any column."""
    return np.isnan(x) if x.ndim == 1 else np.asarray(np.isnan(x).any(axis=1))


def drawn_values(
    x: NDArray[np.float64], mean: Sequence[NDArray[np.float64]]
) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
    """Return one column to plot, and the means of models in the same units.

    Several columns are scaled by their ranges and averaged.
    """
    if x.ndim == 1:
        return x, list(mean)
    low, high = np.nanmin(x, axis=0), np.nanmax(x, axis=0)
    width = np.where(high > low, high - low, 1.0)
    return (
        np.asarray(((x - low) / width).mean(axis=1)),
        [np.asarray(((one - low) / width).mean(axis=1)) for one in mean],
    )


def possible_changes(x: ArrayLike, max_changes: int) -> int:
    """Return ``max_changes``, or the largest possible number of changes if it is smaller."""
    n_observed = int((~is_incomplete(observations("x", x))).sum())
    return min(max_changes, max(n_observed - 1, 0))


def observed(
    name: str, values: ArrayLike, weights: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.intp] | None]:
    """Return the observations that are not missing, their weights, and their indices.

    The indices are None if no observation is missing.
    """
    x = observations(name, values)
    if weights is not None:
        check_count("weights must have an entry", np.size(weights), len(x), "observations")
    is_used = ~is_incomplete(x)
    index = None
    if not is_used.all():
        index = np.flatnonzero(is_used)
        x, weights = x[index], None if weights is None else np.asanyarray(weights)[index]
    weight = np.ones(len(x)) if weights is None else finite_vector("weights", weights)
    check_none(weight <= 0, "weights must be positive", weight)
    return x, weight, index


def variance(x: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """Return the variance around the mean, for an observation of weight 1."""
    mean = np.average(x, weights=weight)
    return float(weight @ (x - mean) ** 2) / x.size


def difference_variance(
    x: NDArray[np.float64],
    weight: NDArray[np.float64],
    *,
    least: float = 1 / 8,
    sizes: Sequence[int] = _BLOCK_SIZES,
) -> float:
    """Estimate the noise variance from differences of neighboring block means.

    The largest estimate over several block sizes is returned. It is at least ``least``
    times the total variance, because most neighboring values may be equal.
    """
    x = x - np.median(x)  # avoids cancellation
    largest = least * variance(x, weight)
    for size in sizes:
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


def robust_threshold(
    x: NDArray[np.float64], weight: NDArray[np.float64], cost: str, threshold: float | None = None
) -> float:
    """Return the threshold of a robust cost, which by default is estimated from the noise."""
    if threshold is not None:
        if not finite_number("threshold", threshold) > 0:
            raise ValueError(f"threshold must be positive, got {threshold}.")
        return float(threshold)
    # Outliers must not raise the threshold, so the total variance gives no lower bound here.
    noise = difference_variance(x, weight, least=0.0) or difference_variance(x, weight)
    return COSTS[cost].threshold * float(np.sqrt(noise)) or 1.0


def variance_floor(x: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """Return a lower bound for segment variances, at least that of rounding if values repeat."""
    distinct = np.unique(x)
    step = float(np.diff(distinct).min()) if 1 < distinct.size < x.size else 0.0
    noise = _SMALLEST_VARIANCE * difference_variance(x, weight)
    return max(step**2 / 12, noise, np.finfo(float).tiny)


def positive_squares(x: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return squares, increased to a lower bound for segment variances.

    The bound is a fraction of the mean square and, if there are zeros, at least the
    variance of rounding to multiples of the smallest nonzero value.
    """
    square = x**2
    floor = _SMALLEST_VARIANCE * float(np.average(square, weights=weight))
    step = square.min(where=square > 0, initial=np.inf) if square.min() == 0 else 0.0
    return np.maximum(square, max(floor, step / 12 if step < np.inf else 0.0, np.finfo(float).tiny))


def one_for_each(name: str, given: Any, n: int) -> list[Any]:
    """Return a list with one entry per sequence, by default None, or raise."""
    if given is None:
        return [None] * n
    entries = list(given)
    check_count(f"{name} must have an entry", len(entries), n, "sequences")
    return entries
