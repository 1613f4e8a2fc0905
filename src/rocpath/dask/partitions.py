"""Partitions of rows: Dask arrays and data frames as lists of tasks, each one checked.

A partition is a block of rows with their labels, or of scores with their labels. Errors
name the partition and the row within it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask.delayed import delayed

from rocpath.arguments import check_two_classes, is_missing, refuse_masked
from rocpath.dask.blocks import as_block, block_bytes, check_finite
from rocpath.dask.passes import ReturnInvalid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocpath.dask.passes import Passes
    from rocpath.matrices import Matrix

_MAX_CLASSES = 1000  # more distinct labels indicate a numeric target
_SUFFIX = " of rocpath"  # for names of columns that no user's table has


class Partition(NamedTuple):
    """Rows, dense or CSR in float32 or float64, or scores; their labels and weights.

    Rows of weight 0 are dropped. Other scores and groups of the rows are optional.
    """

    X: Matrix
    y: NDArray[Any]
    weight: NDArray[np.float64] | None = None
    other_scores: NDArray[np.float64] | None = None
    groups: NDArray[Any] | None = None

    def take(self, index: NDArray[Any]) -> Partition:
        """Select rows."""
        columns = [one if one is None else one[index] for one in self]
        return Partition(*columns)  # type: ignore[arg-type]


class PartitionSummary(NamedTuple):
    """What the first pass learns about one partition."""

    n_rows: int
    n_columns: int
    n_bytes: int
    labels: NDArray[Any]
    label_counts: NDArray[np.int64]
    label_weights: NDArray[np.float64]
    is_weighted: bool  # some weight differs from one


class DataSummary(NamedTuple):
    """What the first pass learns about all partitions."""

    n_rows: list[int]  # per partition
    n_columns: int
    n_bytes: int
    classes: NDArray[Any]
    class_counts: NDArray[np.int64]
    class_weights: NDArray[np.float64]  # sums over rows
    is_weighted: bool

    @classmethod
    def from_partitions(
        cls, summaries: list[PartitionSummary], *, is_binary: bool = False
    ) -> DataSummary:
        """Combine the summaries of all partitions, and check that they agree."""
        n_rows = [one.n_rows for one in summaries]
        if sum(n_rows) == 0:
            raise ValueError("X must have at least one row with a positive weight, got none.")
        # Empty partitions may have no columns, for example after a filter.
        nonempty = [one for one in summaries if one.n_rows]
        columns = {one.n_columns for one in nonempty}
        if len(columns) > 1:
            raise ValueError(
                "X must have the same columns in every partition, got "
                f"{min(columns)} and {max(columns)}."
            )
        if columns == {0}:
            raise ValueError("X must have at least one column, got none.")
        labels = [one.labels for one in nonempty]
        # Concatenation would convert numbers to text.
        if len({one.dtype.kind in "buifc" for one in labels}) > 1:
            raise ValueError("y must have the same type in all partitions, got numbers and text.")
        classes, index, _ = _sorted_labels(np.concatenate(labels))
        if is_binary:
            check_two_classes(classes)
        counts = np.concatenate([one.label_counts for one in nonempty])
        weights = np.concatenate([one.label_weights for one in nonempty])
        return cls(
            n_rows,
            columns.pop(),
            sum(one.n_bytes for one in summaries),
            classes,
            np.bincount(index, counts, classes.size).astype(np.int64),
            np.bincount(index, weights, classes.size).astype(np.float64),
            any(one.is_weighted for one in summaries),
        )

    @property
    def first_row(self) -> list[int]:
        """The index of each partition's first row among all rows."""
        return [0, *np.cumsum(self.n_rows).tolist()[:-1]]


def make_partitions(
    name: str, X: Any, y: Any, sample_weight: Any = None, **others: Any
) -> list[Any]:
    """Return one task per partition, with rows, labels and other columns aligned.

    The arguments may be Dask arrays or data frames, in any combination. Those that are
    None are absent.
    """
    X = _check_collection(name, X, 1 if name == "scores" else 2)
    columns = {"y": y, "sample_weight": sample_weight, **others}
    columns = {
        other: _align(name, X, other, _check_collection(other, column, 1))
        for other, column in columns.items()
        if column is not None
    }
    together = _one_frame(X, columns)
    if together is not None:
        split = delayed(ReturnInvalid(_split), pure=False)
        return [
            split(name, number, block, list(columns))
            for number, block in enumerate(together.to_delayed())
        ]
    # If sizes are unknown, each partition checks that its rows and labels match.
    blocks = [_blocks(one) for one in (X, *columns.values())]
    for other, labels in zip(columns, blocks[1:], strict=True):
        if len(blocks[0]) != len(labels):
            raise ValueError(
                f"{name} and {other} must have the same partitions, got "
                f"{len(blocks[0])} and {len(labels)}; call compute_chunk_sizes() on "
                "arrays, or repartition data frames in the same way."
            )
    make = delayed(ReturnInvalid(_partition), pure=False)
    return [
        make(name, number, X_block, list(columns), *entries)
        for number, (X_block, *entries) in enumerate(zip(*blocks, strict=True))
    ]


def _align(name: str, X: Any, other: str, column: Any) -> Any:
    """Return a column in the partitions of X, if the sizes of both are known."""
    rows, other_rows = _row_chunks(X), _row_chunks(column)
    if rows is None or other_rows is None or rows == other_rows:
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


def check_partitions(
    passes: Passes, name: str, partitions: list[Any], *, is_binary: bool = False
) -> tuple[list[Any], DataSummary]:
    """Check and summarize every partition in one pass.

    The returned partitions are kept by the workers if memory permits.
    """
    numbers = range(len(partitions))
    if passes.client is None:
        # Kept only once its size is known: threads would hold all of it meanwhile.
        tasks = passes.each(ReturnInvalid(_summarize), partitions, numbers, state=name)
        found = passes.results("checking rows", tasks, reads_x=True)
        summary = DataSummary.from_partitions(found, is_binary=is_binary)
        fits = passes.memory_to_keep >= summary.n_bytes
        return (passes.keep(partitions) if fits else partitions), summary
    kept = passes.keep(partitions)
    left = passes.memory_to_keep

    def subtract_size(found: PartitionSummary) -> None:
        nonlocal left
        # Dropped as soon as the data are known to be too large: the remaining tasks
        # then serve this pass alone.
        if left >= 0 > left - found.n_bytes:
            passes.forget(kept)
        left -= found.n_bytes

    tasks = passes.each(ReturnInvalid(_summarize), kept, numbers, state=name)
    found = passes.results("checking rows", tasks, reads_x=True, each=subtract_size)
    summary = DataSummary.from_partitions(found, is_binary=is_binary)
    return (kept if left >= 0 else partitions), summary


def _partition(name: str, number: int, X: Any, others: list[str], *columns: Any) -> Partition:
    block, found = as_block(name, X), {}
    for other, given in zip(others, columns, strict=True):
        refuse_masked(other, given)
        is_numeric = other in ("sample_weight", "other_scores")
        column = as_block(other, given) if is_numeric else np.asarray(given)
        column = column.reshape(-1)
        if block.shape[0] != column.size:
            raise ValueError(
                f"{name} and {other} must have the same number of rows in every "
                f"partition, got {block.shape[0]} and {column.size} in partition "
                f"{number}."
            )
        if other == "other_scores":
            check_finite(other, column, number)
        if other == "groups":
            _refuse_any(is_missing(column), "groups must be complete", column, number)
        found[{"sample_weight": "weight"}.get(other, other)] = column
    rows = Partition(block, **found)
    return rows if rows.weight is None else _drop_weightless(name, number, rows)


def _drop_weightless(name: str, number: int, rows: Partition) -> Partition:
    """Check weights, and drop rows of weight 0."""
    weight = np.asarray(rows.weight, dtype=np.float64)
    rule = "sample_weight must be finite and non-negative"
    _refuse_any(~((weight >= 0) & (weight < np.inf)), rule, weight, number)
    is_counted = weight > 0
    if is_counted.all():
        return rows._replace(weight=weight)
    # Checked here, because dropping rows changes the row numbers.
    check_finite(name, rows.X, number)
    _check_labels(rows.y, number)
    return rows._replace(weight=weight).take(is_counted)


def _summarize(rows: Partition, number: int, name: str) -> PartitionSummary:
    X, y, weight = rows[:3]
    check_finite(name, X, number)
    _check_labels(y, number)
    labels, index, counts = _sorted_labels(y)
    if labels.size > _MAX_CLASSES:
        raise ValueError(
            f"y must be class labels, got {labels.size} distinct values in partition {number}."
        )
    return PartitionSummary(
        y.size,
        1 if X.ndim == 1 else X.shape[1],
        block_bytes(X) + y.nbytes + (0 if weight is None else weight.nbytes),
        labels,
        counts,
        np.bincount(index, weight, labels.size).astype(np.float64),
        weight is not None and bool((weight != 1.0).any()),
    )


def _sorted_labels(y: NDArray[Any]) -> Any:
    """Return the distinct labels, the index of each row's label, and their counts."""
    try:
        return np.unique(y, return_inverse=True, return_counts=True)
    except TypeError as error:
        raise TypeError(f"y must have labels that can be sorted: {error}.") from None


def _check_labels(y: NDArray[Any], number: int) -> None:
    _refuse_any(is_missing(y), "y must be finite and complete", y, number)


def _refuse_any(is_bad: NDArray[np.bool_], rule: str, values: NDArray[Any], number: int) -> None:
    if is_bad.any():
        row = int(is_bad.argmax())
        raise ValueError(f"{rule}, got {values[row]} in partition {number}, row {row}.")


def _check_collection(name: str, rows: Any, n_dimensions: int) -> Any:
    """Return an array with one chunk of columns, a data frame or a series."""
    if n_dimensions == 1 and isinstance(rows, dd.DataFrame) and len(rows.columns) == 1:
        rows = rows[rows.columns[0]]
    expected = dd.DataFrame if n_dimensions == 2 else dd.Series
    if not isinstance(rows, (da.Array, expected)):
        kind = "data frame" if n_dimensions == 2 else "series"
        raise TypeError(f"{name} must be a Dask array or {kind}, got {type(rows).__name__}.")
    if rows.ndim != n_dimensions:
        kind = "two-dimensional" if n_dimensions == 2 else "one-dimensional"
        raise ValueError(f"{name} must be {kind}, got {rows.ndim} dimensions.")
    # Products need whole rows.
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
        # With different divisions Dask would shuffle rows to match their indices.
        is_aligned = frame.npartitions == column.npartitions
        if not is_aligned or frame.divisions != column.divisions:
            return None
        try:
            frame = frame.assign(**{name + _SUFFIX: column})
        except ValueError:  # from two different tables
            return None
    return frame


def _split(name: str, number: int, frame: Any, others: list[str]) -> Partition:
    columns = [frame[other + _SUFFIX] for other in others]
    X = frame.drop(columns=[other + _SUFFIX for other in others])
    rows = X.iloc[:, 0] if name == "scores" else X
    return _partition(name, number, rows, others, *columns)


def _row_chunks(rows: Any) -> tuple[int, ...] | None:
    """Return the sizes of the partitions, if all are known."""
    if not isinstance(rows, da.Array) or np.isnan(rows.chunks[0]).any():
        return None
    sizes: tuple[int, ...] = rows.chunks[0]
    return sizes


def _blocks(rows: Any) -> list[Any]:
    # Not optimized: for frames that might combine partitions, differently for labels
    # and rows; for arrays, a task that both need might run twice.
    tasks = rows.to_delayed(optimize_graph=False)
    if isinstance(rows, da.Array):
        tasks = tasks.reshape(len(rows.chunks[0]))
    return list(tasks)
