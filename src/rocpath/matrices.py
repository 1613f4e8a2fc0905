"""Dense and sparse feature matrices: products with weights, and scaled columns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import rocpath._core as _core
from rocpath.hashing import INCREMENT, mixed_bits
from rocpath.validation import Floats, check_masked

Matrix: TypeAlias = Any  # array, or CSR matrix, of float32 or float64

_BLOCK_ENTRIES = 2**20  # 8 MB of float64 at a time, however many rows there are
_LARGEST_COEF = 1e308  # bound that keeps the weights of columns with tiny values finite


class LinearModel(NamedTuple):
    """Weights of the original columns, and an intercept."""

    coef: Floats
    intercept: float


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Center and scale of every column.

    Attributes
    ----------
    center : array, shape (n_features,)
        Means of the columns.
    scale : array, shape (n_features,)
        Standard deviations; infinite for a constant column, which becomes zero.
    """

    center: Floats
    scale: Floats

    @classmethod
    def from_matrix(cls, X: Matrix, sample_weight: Floats | None = None) -> Self:
        """Compute means and standard deviations, weighted if weights are given."""
        n_rows = X.shape[0]
        weight = np.ones(n_rows) if sample_weight is None else sample_weight
        share = weight / weight.sum()
        center = sums_over_rows(X, share)
        deviation, largest = _spread(X, share, center)
        # Rounding may make a constant column deviate by this fraction. The variance of a
        # sparse column is a difference of squares, which loses half of the digits.
        rounding = 1e-7 if sparse.issparse(X) else 1e-12
        is_constant = deviation <= rounding * largest
        return cls(center=center, scale=np.where(is_constant, np.inf, deviation))

    @classmethod
    def as_given(cls, n_features: int) -> Self:
        """Return the identity scaling: center 0 and scale 1."""
        return cls(center=np.zeros(n_features), scale=np.ones(n_features))

    def scaled(self, X: Matrix) -> Floats:
        """Return a dense copy with columns of mean 0 and standard deviation 1."""
        return np.concatenate([block for _, block in self.blocks(X)])

    def scaled_sparse(self, X: Matrix) -> Matrix:
        """Return a sparse copy with columns of standard deviation 1, not centered."""
        scaled = X.tocsr().astype(np.float64)
        # A centered copy would be dense; callers center the predictions instead.
        scaled.data /= self.scale[scaled.indices]
        return scaled

    def blocks(self, X: Matrix) -> Iterator[tuple[slice, Floats]]:
        """Iterate over blocks of scaled rows."""
        for rows, block in dense_blocks(X):
            block -= self.center
            block /= self.scale
            yield rows, block

    def scaled_coef(self, coef: Floats) -> Floats:
        """Convert weights of the original columns to those of the scaled columns."""
        # The infinite scale of a constant column times 0 would be NaN.
        is_varying = np.isfinite(self.scale)
        return np.multiply(coef, self.scale, out=np.zeros(coef.size), where=is_varying)

    def unscaled(self, scaled_coef: Floats, intercept: float = 0.0) -> LinearModel:
        """Convert a model of the scaled columns to one of the original columns."""
        with np.errstate(over="ignore"):
            coef = scaled_coef / self.scale
        coef = np.clip(coef, -_LARGEST_COEF, _LARGEST_COEF)
        return LinearModel(coef, float(intercept - self.center @ coef))


def as_matrix(name: str, X: Matrix) -> Matrix:
    """Return a finite array or CSR matrix of float32 or float64, or raise."""
    check_masked(name, X)
    matrix: Matrix = X.tocsr() if sparse.issparse(X) else np.asarray(X)
    if matrix.ndim != 2:
        raise ValueError(f"{name} must be two-dimensional, got an array of shape {matrix.shape}.")
    if matrix.dtype.kind not in "buif":
        raise TypeError(f"{name} must be real numbers, got dtype {matrix.dtype}.")
    # float32 is kept to halve the memory; products use float64, block by block.
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
    entries = matrix.data if sparse.issparse(matrix) else matrix
    # The sum can be non-finite only if an entry is non-finite or extremely large.
    with np.errstate(over="ignore", invalid="ignore"):
        looks_finite = np.isfinite(entries.sum(dtype=np.float64))
    if not looks_finite and not np.isfinite(entries).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity.")
    return matrix


def weighted_sums(X: Matrix, coef: Floats) -> Any:
    """Compute ``X @ coef`` in float64, without a float64 copy of X."""
    if sparse.issparse(X) or X.dtype == np.float64:
        return np.asarray(X @ coef, dtype=np.float64)
    return np.concatenate([block @ coef for _, block in dense_blocks(X)])


def sums_over_rows(X: Matrix, factor: Floats) -> Floats:
    """Compute ``X.T @ factor`` in float64, without a float64 copy of X."""
    if sparse.issparse(X) or X.dtype == np.float64:
        return np.asarray(X.T @ factor, dtype=np.float64)
    total = np.zeros(X.shape[1])
    for rows, block in dense_blocks(X):
        total += block.T @ factor[rows]
    return total


def row_products(X: Matrix, coef: Floats) -> Floats:
    """Compute ``X @ coef`` such that no row's product depends on other rows.

    The result is the same for any partition of the rows and any number of threads.
    """
    if sparse.issparse(X):
        return np.asarray(X @ coef, dtype=np.float64)
    return _core.row_products(X, np.ascontiguousarray(coef))


def column_sums(X: Matrix, factor: Floats) -> Floats:
    """Compute ``X.T @ factor`` independently of the order of the rows.

    Sums are accumulated with twice the digits of float64 before they are rounded.
    """
    return add_pairs([pair_sums(X, factor)])


def pair_sums(X: Matrix, factor: Floats) -> tuple[Floats, Floats]:
    """Compute sums over the rows of a partition, each as the sum of two floats."""
    if not sparse.issparse(X):
        return _core.column_sums(X, factor)
    return _core.sparse_column_sums(
        X.indptr.astype(np.int64),
        X.indices.astype(np.int64),
        X.data.astype(np.float64),
        factor,
        X.shape[1],
    )


def add_pairs(pairs: Sequence[tuple[Floats, Floats]]) -> Floats:
    """Add the sums of all partitions, and round once."""
    halves = np.stack([half for pair in pairs for half in pair])
    return np.array([fsum(column) for column in halves.T])


def equal_rows(X: Matrix) -> NDArray[np.intp]:
    """Return an integer code for each row; equal rows have equal codes."""
    # The code is based on the sum of 64-bit hashes of the entries: among a million
    # different rows, two have the same sum with a probability of 3e-8.
    if sparse.issparse(X):
        # Zeros are ignored, whether stored or not.
        row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        total = np.zeros(X.shape[0], dtype=np.uint64)
        np.add.at(total, row, _entry_hashes(X.indices, X.data.astype(np.float64)))
    else:
        column = np.arange(X.shape[1])
        hashes = (_entry_hashes(column, block) for _, block in dense_blocks(X))
        total = np.concatenate([each.sum(axis=1, dtype=np.uint64) for each in hashes])
    return np.unique(total, return_inverse=True)[1]


def copied_rows(code: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the codes of equal rows, or different codes if rows are equal by chance."""
    # A few columns with few categories have frequent combinations: if one makes up more
    # than a tenth of the rows, equal rows are independent rows and not copies.
    is_frequent = np.bincount(code).max() > 0.1 * code.size
    return np.arange(code.size) if is_frequent else code


def _entry_hashes(column: NDArray[np.integer[Any]], value: Floats) -> NDArray[np.uint64]:
    """Hash entries with their column numbers; the hash of zero is 0."""
    with np.errstate(over="ignore"):
        code = value.view(np.uint64) + (column.astype(np.uint64) + np.uint64(1)) * INCREMENT
    return np.where(value == 0, np.uint64(0), mixed_bits(code))


def dense_blocks(X: Matrix) -> Iterator[tuple[slice, Floats]]:
    """Iterate over blocks of rows, copied to float64 arrays."""
    n_rows = max(_BLOCK_ENTRIES // max(X.shape[1], 1), 1)
    # An empty matrix has one block, so that np.concatenate has an input.
    for begin in range(0, max(X.shape[0], 1), n_rows):
        rows = slice(begin, begin + n_rows)
        block = X[rows].toarray() if sparse.issparse(X) else X[rows]
        yield rows, block.astype(np.float64)


def _spread(X: Matrix, share: Floats, center: Floats) -> tuple[Floats, Floats]:
    """Return the standard deviation and largest absolute value of each column."""
    if sparse.issparse(X):
        largest = np.asarray(abs(X).max(axis=0).todense(), dtype=np.float64).ravel()
    else:
        largest = np.zeros(X.shape[1])
        for _, block in dense_blocks(X):
            largest = np.maximum(largest, np.abs(block).max(axis=0, initial=0.0))
    # Dividing by a power of two near the largest value prevents overflow of squares.
    unit = np.ldexp(1.0, np.frexp(largest)[1] - 1)
    center = center / unit
    if sparse.issparse(X):
        # Centering would make X dense, so the square of the mean is subtracted.
        small = X.astype(np.float64)
        small.data /= unit[small.indices]
        squares = sums_over_rows(small.multiply(small).tocsr(), share)
        variance = np.maximum(squares - center**2, 0.0)
    else:
        variance = np.zeros(X.shape[1])
        for rows, block in dense_blocks(X):
            # A second pass, over deviations, avoids cancellation.
            variance += share[rows] @ (block / unit - center) ** 2
    return np.sqrt(variance) * unit, largest
