"""Parts of the rows for validation, chosen by what the rows contain.

Equal rows are never on both sides of a split, and neither the order of the rows nor
whether one is repeated or has a larger weight changes the split.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from rocpath.linear import Matrix, dense_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray


def row_numbers(X: Matrix, rng: np.random.RandomState) -> NDArray[np.uint64]:
    """Give each row a random number; equal rows get the same one."""
    factor = rng.randint(0, 2**62, size=X.shape[1], dtype=np.uint64) * 2 + 1
    if sparse.issparse(X):
        X = sparse.csr_array(X)
        mixed = _mixed_bits(X.data.astype(np.float64)) * factor[X.indices]
        # Differences of wrapping sums are exact.
        total = np.concatenate(([np.uint64(0)], np.cumsum(mixed, dtype=np.uint64)))
        return _scrambled(total[X.indptr[1:]] - total[X.indptr[:-1]])
    return np.concatenate(
        [
            _scrambled((_mixed_bits(block) * factor).sum(axis=1, dtype=np.uint64))
            for _, block in dense_blocks(X)
        ]
    )


def ranks_within_classes(
    number: NDArray[np.uint64], is_positive: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """Rank the rows of each class by their numbers; equal numbers share a rank."""
    rank = np.empty(number.size, dtype=np.intp)
    for members in (is_positive, ~is_positive):
        rank[members] = np.unique(number[members], return_inverse=True)[1]
    return rank


def _mixed_bits(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Turn values into integers; 0.0 becomes 0, as an entry that is not stored."""
    bits = (values + 0.0).view(np.uint64)  # -0.0 becomes 0.0
    return bits ^ (bits >> np.uint64(29))


def _scrambled(number: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Let every bit depend on all others."""
    number = (number ^ (number >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
    return number ^ (number >> np.uint64(32))
