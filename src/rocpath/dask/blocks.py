"""Blocks of rows: arrays and CSR matrices of finite numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from rocpath.arguments import refuse_masked

if TYPE_CHECKING:
    from rocpath.matrices import Matrix


def as_block(name: str, X: Any) -> Matrix:
    """Convert a block of rows to an array or CSR matrix of float32 or float64."""
    refuse_masked(name, X)
    if sparse.issparse(X):
        block = X.tocsr()
    elif hasattr(X, "to_numpy") and hasattr(X, "columns"):
        block = X.to_numpy(dtype=_frame_dtype(name, X), na_value=np.nan)
    elif hasattr(X, "to_numpy"):
        block = X.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        block = np.asarray(X)
    if block.dtype.kind not in "buif":
        raise TypeError(f"{name} must be real numbers, got dtype {block.dtype}.")
    # Float32 is not converted: copies would double the memory.
    is_float = block.dtype in (np.float32, np.float64)
    return block if is_float else block.astype(np.float64)


def _frame_dtype(name: str, X: Any) -> Any:
    """Return float32 if all columns are; raise if a column is not numeric."""
    for column, dtype in X.dtypes.items():
        if getattr(dtype, "kind", "O") not in "buif":
            raise TypeError(
                f"{name} must be real numbers, got column {column!r} of type {dtype}: "
                "drop it, or encode it, for example by dask.dataframe.get_dummies."
            )
    return np.float32 if all(X.dtypes == np.float32) else np.float64


def check_finite(name: str, X: Matrix, number: int) -> None:
    """Raise if an entry is not finite, with its partition, row and column."""
    entries = X.data if sparse.issparse(X) else X
    # A sum allocates no memory. It is finite unless an entry is not finite or the sum
    # overflows, which the second check distinguishes.
    with np.errstate(over="ignore", invalid="ignore"):
        looks_finite = np.isfinite(entries.sum(dtype=np.float64))
    if looks_finite or np.isfinite(entries).all():
        return
    if sparse.issparse(X):
        # Its rows are few enough to look at one by one.
        row = next(k for k in range(X.shape[0]) if not np.isfinite(X[[k]].data).all())
        X, offset = X[[row]].toarray(), row
    else:
        offset = 0
    row, *column = np.argwhere(~np.isfinite(X))[0]
    in_column = f", column {column[0]}" if column else ""
    raise ValueError(
        f"{name} must be finite, got {X[(row, *column)]} in partition {number}, row "
        f"{offset + row}{in_column}."
    )


def block_bytes(X: Matrix) -> int:
    """Return the memory of a block."""
    if sparse.issparse(X):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    return int(X.nbytes)
