"""Conversion of Dask arrays and data frames to tasks that return checked partitions.

A partition is a block of rows or scores with their labels. Error messages contain the
partition number and the row number within the partition.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray
from scipy import sparse

from rocpath.dask.passes import Passes, ReturnInvalid
from rocpath.matrices import Matrix
from rocpath.sample import check_two_classes, is_missing
from rocpath.validation import check_exact, check_masked

_MAX_CLASSES = 1000  # more distinct labels indicate a numeric target
_SUFFIX = " of rocpath"  # avoids clashes of temporary columns with the user's columns


class Partition(NamedTuple):
    """Block of features or scores, with the labels and weights of its rows.

    The block is a dense array or a CSR matrix of float32 or float64, with one dimension
    for scores. Rows with weight 0 are dropped. The scores of a second model and the
    groups are optional.
    """

    block: Matrix
    y: NDArray[Any]
    sample_weight: NDArray[np.float64] | None = None
    other_scores: NDArray[np.float64] | None = None
    groups: NDArray[Any] | None = None

    @property
    def weight(self) -> NDArray[np.float64]:
        """Weight of each row, 1 by default."""
        return np.ones(self.y.size) if self.sample_weight is None else self.sample_weight

    def take(self, index: NDArray[Any]) -> Self:
        """Select rows."""
        columns = [one if one is None else one[index] for one in self]
        return type(self)(*columns)  # type: ignore[arg-type]

    @classmethod
    def join(cls, pieces: Sequence[Self]) -> Self:
        """Concatenate rows."""
        # Empty partitions may have no columns.
        nonempty = [one for one in pieces if one.y.size] or pieces[:1]
        blocks, *columns = zip(*nonempty, strict=True)
        joined = [None if one[0] is None else np.concatenate(one) for one in columns]
        together = (
            sparse.vstack(blocks, "csr") if sparse.issparse(blocks[0]) else np.concatenate(blocks)
        )
        return cls(together, *joined)  # type: ignore[arg-type]


class PartitionedRows(NamedTuple):
    """Checked partitions of rows, and their summary from the first pass."""

    passes: Passes
    tasks: list[Any]  # each returns a `Partition`, which workers keep if memory permits
    n_rows: list[int]  # per partition
    n_bytes: int
    n_columns: int
    classes: NDArray[Any]
    class_counts: NDArray[np.int64]
    class_weights: NDArray[np.float64]  # sums over rows
    is_weighted: bool  # whether any weight differs from one

    @classmethod
    def read(
        cls, passes: Passes, name: str, X: Any, *, is_binary: bool = False, **columns: Any
    ) -> Self:
        """Align rows with labels and other columns, and check them in one pass.

        The arguments may be Dask arrays or data frames, in any combination. Columns
        that are None are ignored.
        """
        tasks = make_partitions(name, X, **columns)
        # The size of one partition predicts whether the workers can keep all of them.
        middle = len(tasks) // 2
        one = tasks[middle : middle + 1]
        (size,) = passes.run("reading a partition", ReturnInvalid(_n_bytes), one)
        kept = passes.keep(tasks) if size * len(tasks) <= passes.memory_to_keep else tasks
        checks = passes.each(ReturnInvalid(_summarize), kept, range(len(tasks)), name=name)
        found = passes.results("checking rows", checks, reads_x=True)
        n_rows, n_bytes, *_ = map(list, zip(*found, strict=True))
        if sum(n_bytes) > passes.memory_to_keep:
            kept = tasks
        # Empty partitions may have no columns, for example after a filter.
        summary = _combine(name, [one for one in found if one[0]], is_binary=is_binary)
        return cls(passes, kept, n_rows, sum(n_bytes), *summary)


def _combine(name: str, summaries: list[Any], *, is_binary: bool) -> tuple[Any, ...]:
    """Check that summaries agree; return the last five fields of `PartitionedRows`."""
    if not summaries:
        raise ValueError(f"{name} must have at least one row with a positive weight, got none.")
    _, _, widths, labels, counts, weights, are_weighted = zip(*summaries, strict=True)
    if min(widths) < max(widths):
        raise ValueError(
            "X must have the same number of columns in every partition, got "
            f"{min(widths)} and {max(widths)}."
        )
    if widths[0] == 0:
        raise ValueError("X must have at least one column, got none.")
    # Concatenation would convert numbers to text.
    if len({one.dtype.kind in "buifc" for one in labels}) > 1:
        raise ValueError("y must have the same type in all partitions, got numbers and text.")
    classes, index, _ = _sorted_labels(np.concatenate(labels))
    if is_binary:
        check_two_classes(classes)
    n_each, weight = (
        np.bincount(index, np.concatenate(one), classes.size) for one in (counts, weights)
    )
    return widths[0], classes, n_each.astype(np.int64), weight.astype(float), any(are_weighted)


def make_partitions(name: str, X: Any, **columns: Any) -> list[Any]:
    """Return one task per partition, with rows, labels and other columns aligned."""
    X = _check_collection(name, X, 1 if name == "scores" else 2)
    columns = {
        other: _align(name, X, other, _check_collection(other, column, 1))
        for other, column in columns.items()
        if column is not None
    }
    together = _one_frame(X, columns)
    if together is not None:
        blocks = [together.to_delayed()]
    else:
        # If sizes are unknown, the tasks check that rows and labels match.
        blocks = [_blocks(one) for one in (X, *columns.values())]
    for other, labels in zip(columns, blocks[1:], strict=False):
        if len(blocks[0]) != len(labels):
            raise ValueError(
                f"{name} and {other} must have the same partitions, got "
                f"{len(blocks[0])} and {len(labels)}; call compute_chunk_sizes() on "
                "arrays, or repartition data frames in the same way."
            )
    make = delayed(ReturnInvalid(_partition), pure=False)
    rows = enumerate(zip(*blocks, strict=True))
    return [make(name, number, list(columns), *entries) for number, entries in rows]


def _align(name: str, X: Any, other: str, column: Any) -> Any:
    """Rechunk a column like X, if the chunk sizes of both are known."""
    if not (isinstance(X, da.Array) and isinstance(column, da.Array)):
        return column
    rows, other_rows = X.chunks[0], column.chunks[0]
    if rows == other_rows or np.isnan([*rows, *other_rows]).any():
        return column
    if sum(rows) != sum(other_rows):
        raise ValueError(
            f"{name} and {other} must have the same number of rows, got {sum(rows)} "
            f"and {sum(other_rows)}."
        )
    # The column is rechunked because it is smaller than X.
    return column.rechunk((rows,))


def column_names(X: Any) -> NDArray[Any] | None:
    """Return the column names of a data frame."""
    if not isinstance(X, dd.DataFrame):
        return None
    return np.array([str(name) for name in X.columns], dtype=object)


def _partition(name: str, number: int, others: list[str], X: Any, *columns: Any) -> Partition:
    if others and not columns:  # all columns are in X, from `_one_frame`
        names = [other + _SUFFIX for other in others]
        X, columns = X.drop(columns=names), tuple(X[one] for one in names)
        X = X.iloc[:, 0] if name == "scores" else X
    block, found = as_block(name, X), {}
    for other, given in zip(others, columns, strict=True):
        check_masked(other, given)
        if other in ("sample_weight", "other_scores"):
            given = as_block(other, given).astype(np.float64, copy=False)
        column = found[other] = np.asarray(given).reshape(-1)
        if block.shape[0] != column.size:
            raise ValueError(
                f"{name} and {other} must have the same number of rows in every "
                f"partition, got {block.shape[0]} and {column.size} in partition "
                f"{number}."
            )
    rows = Partition(block, **found)
    weight = rows.sample_weight
    if weight is None:
        return rows
    rule = "sample_weight must be finite and non-negative"
    _check_none(~((weight >= 0) & (weight < np.inf)), rule, weight, number)
    if (weight > 0).all():
        return rows
    # Rows are checked before any are dropped, because errors contain the original row
    # number.
    _check(rows, number, name)
    return rows.take(weight > 0)


def _check(rows: Partition, number: int, name: str) -> None:
    _check_finite(name, rows.block, number)
    _check_none(is_missing(rows.y), "y must have no missing or infinite values", rows.y, number)
    if rows.other_scores is not None:
        _check_finite("other_scores", rows.other_scores, number)
    if rows.groups is not None:
        rule = "groups must have no missing or infinite values"
        _check_none(is_missing(rows.groups), rule, rows.groups, number)


def _n_bytes(rows: Partition) -> int:
    block = rows.block
    arrays = [block.data, block.indices, block.indptr] if sparse.issparse(block) else [block]
    columns = [array for array in rows[1:3] if array is not None]
    return int(sum(array.nbytes for array in (*arrays, *columns)))


def _summarize(rows: Partition, number: int, name: str) -> tuple[Any, ...]:
    """Check a partition; return its `PartitionedRows` fields from ``n_rows`` on."""
    _check(rows, number, name)
    block, y, weight = rows[:3]
    labels, index, counts = _sorted_labels(y)
    if labels.size > _MAX_CLASSES:
        raise ValueError(
            f"y must be class labels, got {labels.size} distinct values in partition {number}."
        )
    weights = np.bincount(index, weight, labels.size)
    is_weighted = weight is not None and bool((weight != 1.0).any())
    n_columns = 1 if block.ndim == 1 else block.shape[1]
    return y.size, _n_bytes(rows), n_columns, labels, counts, weights, is_weighted


def _sorted_labels(y: NDArray[Any]) -> Any:
    """Return the distinct labels, the index of each row's label, and their counts."""
    try:
        return np.unique(y, return_inverse=True, return_counts=True)
    except TypeError as error:
        raise TypeError(f"y must have labels that can be sorted: {error}.") from None


def _check_none(is_bad: NDArray[np.bool_], rule: str, values: NDArray[Any], number: int) -> None:
    if is_bad.any():
        row = int(is_bad.argmax())
        raise ValueError(f"{rule}, got {values[row]} in partition {number}, row {row}.")


def _check_collection(name: str, rows: Any, n_dimensions: int) -> Any:
    """Check the type of a collection, and return it with whole rows in each block."""
    if n_dimensions == 1 and isinstance(rows, dd.DataFrame) and len(rows.columns) == 1:
        rows = rows[rows.columns[0]]
    kind, expected = ("series", dd.Series) if n_dimensions == 1 else ("data frame", dd.DataFrame)
    if not isinstance(rows, (da.Array, expected)):
        raise TypeError(f"{name} must be a Dask array or {kind}, got {type(rows).__name__}.")
    if rows.ndim != n_dimensions:
        size = "two-dimensional" if n_dimensions == 2 else "one-dimensional"
        raise ValueError(f"{name} must be {size}, got {rows.ndim} dimensions.")
    # Matrix products require whole rows.
    if isinstance(rows, da.Array) and n_dimensions == 2 and rows.numblocks[1] != 1:
        rows = rows.rechunk({1: -1})
    return rows


def _one_frame(X: Any, columns: dict[str, Any]) -> Any:
    """Join features, labels and weights of one table, so that files are read once.

    If they were read separately, Dask might combine several files into one partition
    of the labels.
    """
    if any(isinstance(one, da.Array) for one in (X, *columns.values())):
        return None
    frame = X.to_frame() if isinstance(X, dd.Series) else X
    for name, column in columns.items():
        # With different divisions, Dask would shuffle rows to match their indices.
        if (frame.npartitions, frame.divisions) != (column.npartitions, column.divisions):
            return None
        try:
            frame = frame.assign(**{name + _SUFFIX: column})
        except ValueError:  # the columns are from different tables
            return None
    return frame


def _blocks(rows: Any) -> list[Any]:
    # Optimization might combine the partitions of data frames, differently for rows and
    # labels, and might duplicate tasks that the rows and labels of arrays share.
    tasks = rows.to_delayed(optimize_graph=False)
    return list(tasks.flat if isinstance(rows, da.Array) else tasks)


def as_block(name: str, X: Any) -> Matrix:
    """Convert a block of rows to an array or CSR matrix of float32 or float64."""
    check_masked(name, X)
    if hasattr(X, "to_numpy"):
        X = _from_pandas(name, X)
    block = X.tocsr() if sparse.issparse(X) else np.asarray(X)
    if block.dtype.kind not in "buif":
        raise TypeError(f"{name} must be real numbers, got dtype {block.dtype}.")
    # Float32 is not converted, because a copy would need twice the memory.
    if block.dtype in (np.float32, np.float64):
        return block
    numbers = block.astype(np.float64)
    if block.ndim == 1 and block.dtype in (np.int64, np.uint64):
        check_exact(name, block, numbers)
    return numbers


def _from_pandas(name: str, X: Any) -> NDArray[Any]:
    """Convert to numbers, with NaN for missing values; raise for other types."""
    frame = X.to_frame() if X.ndim == 1 else X
    for column, dtype in frame.dtypes.items():
        if getattr(dtype, "kind", "O") not in "buif":
            raise TypeError(
                f"{name} must be real numbers, got column {column!r} of type {dtype}: "
                "drop it, or encode it, for example with dask.dataframe.get_dummies."
            )
    # Columns of a single dtype, such as float32, are not converted.
    if len({str(dtype) for dtype in frame.dtypes}) == 1 and isinstance(dtype, np.dtype):
        return np.asarray(X)
    return np.asarray(X.to_numpy(dtype=np.float64, na_value=np.nan))


def _check_finite(name: str, X: Matrix, number: int) -> None:
    """Raise an error with the partition, row and column of any non-finite entry."""
    entries = X.data if sparse.issparse(X) else X
    # A sum allocates no memory. It is finite unless an entry is not finite or the sum
    # overflows; the second check distinguishes the two cases.
    with np.errstate(over="ignore", invalid="ignore"):
        looks_finite = np.isfinite(entries.sum(dtype=np.float64))
    is_bad = np.zeros(0) if looks_finite else ~np.isfinite(entries)
    if not is_bad.any():
        return
    if sparse.issparse(X):
        is_bad = sparse.csr_array((is_bad, X.indices, X.indptr), X.shape)
    row, *column = (int(index[0]) for index in is_bad.nonzero())
    in_column = f", column {column[0]}" if column else ""
    raise ValueError(
        f"{name} must be finite, got {X[(row, *column)]} in partition {number}, row "
        f"{row}{in_column}."
    )
