"""Products of a feature matrix, dense or sparse, with weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

Matrix: TypeAlias = Any  # array, or CSR matrix, of float32 or float64

_BLOCK_ENTRIES = 2**20


def as_matrix(name: str, X: Matrix) -> Matrix:
    """Return a finite array or CSR matrix of float32 or float64, or raise."""
    if sparse.issparse(X):
        matrix = X.tocsr()
        entries = matrix.data
    else:
        matrix = entries = np.asarray(X)
    if matrix.ndim != 2:
        raise ValueError(
            f"{name} must be two-dimensional, got an array of shape {matrix.shape}."
        )
    if entries.dtype.kind not in "buif":
        raise TypeError(f"{name} must be real numbers, got dtype {entries.dtype}.")
    if entries.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
        entries = matrix.data if sparse.issparse(X) else matrix
    # A sum overflows only where an entry is not finite or absurdly large.
    with np.errstate(over="ignore", invalid="ignore"):
        looks_finite = np.isfinite(entries.sum(dtype=np.float64))
    if not looks_finite and not np.isfinite(entries).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity.")
    return matrix


def weighted_sums(X: Matrix, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute ``X @ weights`` in float64, without a float64 copy of X."""
    if sparse.issparse(X) or X.dtype == np.float64:
        return np.asarray(X @ weights, dtype=np.float64)
    return np.concatenate([block @ weights for _, block in dense_blocks(X)])


def sums_over_rows(X: Matrix, factor: NDArray[np.float64]) -> NDArray[np.float64]:
    """Compute ``X.T @ factor`` in float64, without a float64 copy of X."""
    if sparse.issparse(X) or X.dtype == np.float64:
        return np.asarray(X.T @ factor, dtype=np.float64)
    total = np.zeros(X.shape[1])
    for rows, block in dense_blocks(X):
        total += block.T @ factor[rows]
    return total


def dense_blocks(X: Matrix) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Give the rows block by block, as new float64 arrays."""
    n_rows = max(_BLOCK_ENTRIES // max(X.shape[1], 1), 1)
    for begin in range(0, max(X.shape[0], 1), n_rows):
        rows = slice(begin, begin + n_rows)
        block = X[rows].toarray() if sparse.issparse(X) else X[rows]
        yield rows, block.astype(np.float64)
