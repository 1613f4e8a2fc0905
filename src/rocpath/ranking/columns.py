"""Columns of a feature matrix on a common scale, without a copy of the matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from rocpath.matrices import Matrix, dense_blocks, sums_over_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_REACH = 2.0  # standard deviations that a clipped column may be away from its mean
_FEW_VALUES = 10
_MANY_ROWS = 10_000


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Hold center and scale of every column.

    Attributes
    ----------
    center : array, shape (n_features,)
        Weighted means.
    scale : array, shape (n_features,)
        Weighted standard deviations; infinite for a constant column, which so becomes
        zero.
    is_tailed : array of bool, shape (n_features,)
        Whether a column has enough different values to have tails.
    """

    center: NDArray[np.float64]
    scale: NDArray[np.float64]
    is_tailed: NDArray[np.bool_]

    @classmethod
    def measured(cls, X: Matrix, weight: NDArray[np.float64]) -> Columns:
        """Measure the columns of a matrix, rows counted by their weights."""
        share = weight / weight.sum()
        center = sums_over_rows(X, share)
        deviation, largest = _spread(X, share, center)
        # Rounding leaves a constant column this much variation at most.
        rounding = 1e-7 if sparse.issparse(X) else 1e-12
        is_constant = deviation <= rounding * largest
        return cls(
            center=center,
            scale=np.where(is_constant, np.inf, deviation),
            is_tailed=_count_values(X) > _FEW_VALUES,
        )

    def scaled_weights(self, coef: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights of the scaled columns that predict the same."""
        is_varying = np.isfinite(self.scale)
        scaled = np.zeros(coef.size)
        scaled[is_varying] = coef[is_varying] * self.scale[is_varying]
        return scaled

    def blocks(
        self, X: Matrix, *, clipped: bool
    ) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Give the scaled rows block by block, tails cut off if asked for.

        Columns are cut at two standard deviations from their means: a convex loss is
        then not ruled by a few outliers.
        """
        reach = np.where(self.is_tailed & clipped, _REACH, np.inf)
        for rows, block in dense_blocks(X):
            block -= self.center
            block /= self.scale
            yield rows, np.clip(block, -reach, reach, out=block)


def _spread(
    X: Matrix, share: NDArray[np.float64], center: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return standard deviation and largest absolute value of each column."""
    if sparse.issparse(X):
        largest = np.asarray(abs(X).max(axis=0).todense(), dtype=np.float64).ravel()
    else:
        largest = np.zeros(X.shape[1])
        for _, block in dense_blocks(X):
            largest = np.maximum(largest, np.abs(block).max(axis=0, initial=0.0))
    # A power of two near the largest value, so that squares stay within float64.
    unit = np.ldexp(1.0, np.frexp(largest)[1] - 1)
    center = center / unit
    if sparse.issparse(X):
        small = X.astype(np.float64)
        small.data /= unit[small.indices]
        squares = sums_over_rows(small.multiply(small).tocsr(), share)
        variance = np.maximum(squares - center**2, 0.0)
    else:
        variance = np.zeros(X.shape[1])
        for rows, block in dense_blocks(X):
            variance += share[rows] @ (block / unit - center) ** 2
    return np.sqrt(variance) * unit, largest


def _count_values(X: Matrix) -> NDArray[np.intp]:
    """Count the values of each column, in the first rows if there are many."""
    head = X[:_MANY_ROWS]
    if sparse.issparse(head):
        entries = head.tocoo()
        order = np.lexsort((entries.data, entries.col))
        column, value = entries.col[order], entries.data[order]
        is_new = (np.diff(column) != 0) | (np.diff(value) != 0)
        is_new = np.append(column.size > 0, is_new)[: column.size]
        return 1 + np.bincount(column[is_new], minlength=X.shape[1])
    ordered = np.sort(head, axis=0)
    return np.asarray(1 + np.count_nonzero(np.diff(ordered, axis=0), axis=0))
