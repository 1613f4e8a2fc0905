"""Observations of a sequence as arrays: several columns, and missing values as NaN."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rocpath.arguments import finite_vector, read_only, same_length

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def observations(name: str, values: ArrayLike) -> NDArray[np.float64]:
    """Return a float64 vector in which NaN marks missing observations, or raise."""
    given = np.asanyarray(values)
    if given.dtype.kind != "f" or not np.isnan(given).any():
        return finite_vector(name, values)
    vector = np.array(given, dtype=np.float64)
    finite_vector(name, np.where(np.isnan(vector), 0.0, vector))
    return read_only(vector)


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
