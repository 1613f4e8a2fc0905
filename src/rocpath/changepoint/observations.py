"""Validate observations, which may have several columns and NaN for missing values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rocpath.arguments import check_count, finite_vector, read_only

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


def observations(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return observations as float64, with NaN for missing values, or raise."""
    given = np.asanyarray(values)
    if given.ndim != 2 and (given.dtype.kind != "f" or not np.isnan(given).any()):
        return finite_vector(name, values)
    value = np.array(given, dtype=np.float64)
    finite_vector(name, np.where(np.isnan(value), 0.0, value).ravel())
    return read_only(value)


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
    """Return the largest number of changes that the observations allow."""
    given = np.asarray(x)
    n = given.shape[0] if given.ndim else 0
    if given.dtype.kind == "f":
        n -= int(np.isnan(given).reshape(n, -1).all(axis=1).sum())
    return min(max_changes, max(n - 1, 0))


def observed(
    name: str, values: ArrayLike, weights: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the observations that are not missing, and their weights."""
    x = observations(name, values)
    weight = np.ones(len(x))
    if weights is not None:
        weight = finite_vector("weights", weights)
        check_count("weights must have an entry", weight.size, len(x), "observations")
    is_missing = np.isnan(x) if x.ndim == 1 else np.isnan(x).any(axis=1)
    return x[~is_missing], weight[~is_missing]
