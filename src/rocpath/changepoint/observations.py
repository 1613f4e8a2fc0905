"""Observations of a sequence as arrays: several columns, and missing values as NaN."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rocpath.arguments import finite_vector, read_only, same_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


def observations(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return a float64 vector in which NaN marks missing observations, or raise."""
    given = np.asanyarray(values)
    if given.ndim == 2:
        finite_vector(name, np.nan_to_num(given.astype(np.float64), nan=0.0).ravel())
        return read_only(given.astype(np.float64))
    if given.dtype.kind != "f" or not np.isnan(given).any():
        return finite_vector(name, values)
    vector = np.array(given, dtype=np.float64)
    finite_vector(name, np.where(np.isnan(vector), 0.0, vector))
    return read_only(vector)


def drawn_values(
    x: NDArray[np.float64], mean: Sequence[NDArray[np.float64]]
) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
    """Return one column to draw and the means of models in its units.

    Of several columns the mean is drawn, in units of their ranges.
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
    """Return the observations that are not missing, and their positive weights."""
    x = observations(name, values)
    weight = np.ones(x.size)
    if weights is not None:
        weight = finite_vector("weights", weights)
        same_length(x=x, weights=weight)
    is_observed = ~np.isnan(x)
    return x[is_observed], weight[is_observed]
