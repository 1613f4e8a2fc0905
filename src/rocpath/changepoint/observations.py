"""Validate observations, which may have several columns and NaN for missing values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.arguments import (
    check_count,
    describe,
    finite_vector,
    read_only,
    refuse_any,
    refuse_masked,
)


def observations(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return observations as float64, with NaN for missing values, or raise."""
    refuse_masked(name, values)
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
            f"sequences must be a list of arrays, got {describe(given[0])} for sequence 0."
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
    """Return ``max_changes``, reduced if there are not enough observations."""
    n_observed = int((~is_incomplete(observations("x", x))).sum())
    return min(max_changes, max(n_observed - 1, 0))


def observed(
    name: str, values: ArrayLike, weights: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the observations that are not missing, and their weights."""
    x = observations(name, values)
    weight = np.ones(len(x))
    if weights is not None:
        weight = finite_vector("weights", weights)
        check_count("weights must have an entry", weight.size, len(x), "observations")
    is_used = ~is_incomplete(x)
    weight = weight[is_used]
    refuse_any(weight <= 0, "weights must be positive", weight)
    return x[is_used], weight
