"""Parts of rows: Dask arrays and data frames as lists of tasks, checked part by part.

A part is a block of rows with their labels, or of scores with their labels. What is
wrong in one is told with the number of its partition and of the row in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import dask.array as da
import dask.dataframe as dd
import numpy as np
from dask.delayed import delayed
from scipy import sparse

from rocpath.arguments import describe

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocpath.dask.passes import Passes
    from rocpath.matrices import Matrix

_MOST_CLASSES = 1000  # more are numbers that were given for labels
# Columns that no table of a user has.
_LABEL, _WEIGHT = "label of rocpath", "weight of rocpath"


class Part(NamedTuple):
    """Rows, dense or CSR in float32 or float64, or scores; their labels and weights.

    Without weights all rows count alike; rows of weight 0 are left out.
    """

    X: Matrix
    y: NDArray[Any]
    weight: NDArray[np.float64] | None = None


class PartFacts(NamedTuple):
    """What the first pass tells of a part."""

    n_rows: int
    n_columns: int
    n_bytes: int
    labels: NDArray[Any]
    label_counts: NDArray[np.int64]
    label_weights: NDArray[np.float64]
    is_weighted: bool  # some row counts more or less than one


class Facts(NamedTuple):
    """What the first pass tells of all parts."""

    n_rows: list[int]  # by part
    n_columns: int
    n_bytes: int
    classes: NDArray[Any]
    class_counts: NDArray[np.int64]
    class_weights: NDArray[np.float64]  # sums over rows
    are_weighted: bool

    @classmethod
    def of(cls, facts: list[PartFacts], *, n_classes: int | None = None) -> Facts:
        """Put the facts of all parts together, and check that they agree."""
        n_rows = [one.n_rows for one in facts]
        if sum(n_rows) == 0:
            raise ValueError("there must be at least one row that counts, got none.")
        # Empty parts may have lost their columns, as after a filter.
        columns = {one.n_columns for one in facts if one.n_rows}
        if len(columns) > 1:
            raise ValueError(
                "X must have the same columns in every partition, got "
                f"{min(columns)} and {max(columns)}."
            )
        if columns == {0}:
            raise ValueError("X must have at least one column, got none.")
        labels = [one.labels for one in facts if one.n_rows]
        # Put together, numbers would become the text that they are written as.
        if len({one.dtype.kind in "buifc" for one in labels}) > 1:
            raise ValueError(
                "y must be of one type in all partitions, got numbers and others."
            )
        classes, place, _ = _sorted_labels(np.concatenate(labels))
        counts = np.concatenate([one.label_counts for one in facts if one.n_rows])
        weights = np.concatenate([one.label_weights for one in facts if one.n_rows])
        if n_classes is not None and classes.size != n_classes:
            raise ValueError(
                f"y must have exactly two classes, got {classes.size}: "
                f"{describe(classes.tolist())}."
            )
        return cls(
            n_rows,
            columns.pop(),
            sum(one.n_bytes for one in facts),
            classes,
            np.bincount(place, counts, classes.size).astype(np.int64),
            np.bincount(place, weights, classes.size).astype(np.float64),
            any(one.is_weighted for one in facts),
        )

    @property
    def first_row(self) -> list[int]:
        """The number of each part's first row among all rows."""
        return [0, *np.cumsum(self.n_rows).tolist()[:-1]]


def make_parts(name: str, X: Any, y: Any, sample_weight: Any = None) -> list[Any]:
    """Return a task for every part, with rows, labels and weights aligned.

    All are Dask arrays or data frames, or some of each.
    """
    X = _checked(name, X, 1 if name == "scores" else 2)
    columns = {"y": y}
    if sample_weight is not None:
        columns["sample_weight"] = sample_weight
    for other, column in columns.items():
        columns[other] = _aligned(name, X, other, _checked(other, column, 1))
    together = _one_frame(X, list(columns.values()))
    if together is not None:
        split = delayed(_split, pure=False)
        return [
            split(name, number, block)
            for number, block in enumerate(together.to_delayed())
        ]
    # Sizes may be unknown: whether rows and labels match is then seen part by part.
    blocks = [_blocks(one) for one in (X, *columns.values())]
    for other, labels in zip(columns, blocks[1:], strict=True):
        if len(blocks[0]) != len(labels):
            raise ValueError(
                f"{name} and {other} must have the same partitions, got "
                f"{len(blocks[0])} and {len(labels)}; call compute_chunk_sizes() of "
                "arrays, or repartition data frames alike."
            )
    make = delayed(_part, pure=False)
    return [
        make(name, number, *entries)
        for number, entries in enumerate(zip(*blocks, strict=True))
    ]


def _aligned(name: str, X: Any, other: str, column: Any) -> Any:
    """Return a column in the partitions of X, where the sizes of both are known."""
    rows, other_rows = _row_chunks(X), _row_chunks(column)
    if rows is None or other_rows is None or rows == other_rows:
        return column
    if sum(rows) != sum(other_rows):
        raise ValueError(
            f"{name} and {other} must have the same number of rows, got {sum(rows)} "
            f"and {sum(other_rows)}."
        )
    # The column moves, as it is the smaller.
    return column.rechunk((rows,))


def column_names(X: Any) -> NDArray[Any] | None:
    """Return the names of a data frame's columns."""
    if not isinstance(X, dd.DataFrame):
        return None
    return np.array([str(name) for name in X.columns], dtype=object)


def examined(
    passes: Passes, name: str, parts: list[Any], *, n_classes: int | None = None
) -> tuple[list[Any], Facts]:
    """Check every part, in one pass; return what is in them, and them.

    Workers keep them from then on, where there is room.
    """
    numbers = range(len(parts))
    if passes.client is None:
        # Its threads would hold all of it before anything is known of its size.
        tasks = passes.each(_examined, parts, numbers, state=name)
        found = passes.results("checking rows", tasks, reads_x=True)
        facts = Facts.of(found, n_classes=n_classes)
        return (passes.keep(parts) if passes.room >= facts.n_bytes else parts), facts
    kept = passes.keep(parts)
    left = passes.room

    def weighed(found: PartFacts) -> None:
        nonlocal left
        # Dropped as soon as it is known that there is too much: what still waits is
        # then computed for this pass alone.
        if left >= 0 > left - found.n_bytes:
            passes.forget(kept)
        left -= found.n_bytes

    tasks = passes.each(_examined, kept, numbers, state=name)
    found = passes.results("checking rows", tasks, reads_x=True, each=weighed)
    return (kept if left >= 0 else parts), Facts.of(found, n_classes=n_classes)


def as_block(name: str, X: Any) -> Matrix:
    """Turn a block of rows into an array or CSR matrix of float32 or float64."""
    _refuse_masked(name, X)
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
    # Float32 stays: copies would double the memory of the rows.
    is_float = block.dtype in (np.float32, np.float64)
    return block if is_float else block.astype(np.float64)


def _refuse_masked(name: str, block: Any) -> None:
    # What is behind a mask would be taken as it is.
    if np.ma.is_masked(block):
        raise ValueError(f"{name} must have no masked values, got a masked array.")


def _frame_dtype(name: str, X: Any) -> Any:
    """Keep float32 where all columns are; name a column that is not of numbers."""
    for column, dtype in X.dtypes.items():
        if getattr(dtype, "kind", "O") not in "buif":
            raise TypeError(
                f"{name} must be real numbers, got column {column!r} of type {dtype}: "
                "leave it out, or encode it, as dask.dataframe.get_dummies does."
            )
    return np.float32 if all(X.dtypes == np.float32) else np.float64


def _part(name: str, number: int, X: Any, y: Any, weight: Any = None) -> Part:
    _refuse_masked("y", y)
    part = Part(as_block(name, X), np.asarray(y).reshape(-1))
    if weight is not None:
        part = part._replace(weight=as_block("sample_weight", weight).reshape(-1))
    for other, column in (("y", part.y), ("sample_weight", part.weight)):
        if column is not None and part.X.shape[0] != column.size:
            raise ValueError(
                f"{name} and {other} must have the same number of rows in every "
                f"partition, got {part.X.shape[0]} and {column.size} in partition "
                f"{number}."
            )
    return part if part.weight is None else _counted(name, number, part)


def _counted(name: str, number: int, part: Part) -> Part:
    """Check weights, and leave out rows of weight 0."""
    weight = np.asarray(part.weight, dtype=np.float64)
    is_bad = ~((weight >= 0) & (weight < np.inf))
    if is_bad.any():
        row = int(is_bad.argmax())
        raise ValueError(
            f"sample_weight must be finite and not negative, got {weight[row]} in "
            f"partition {number}, row {row}."
        )
    is_counted = weight > 0
    if is_counted.all():
        return part._replace(weight=weight)
    # Here, as later rows have other numbers.
    _check_finite(name, part.X, number)
    _check_labels(part.y, number)
    return Part(part.X[is_counted], part.y[is_counted], weight[is_counted])


def _examined(part: Part, number: int, name: str) -> PartFacts:
    X, y, weight = part
    _check_finite(name, X, number)
    _check_labels(y, number)
    labels, place, counts = _sorted_labels(y)
    if labels.size > _MOST_CLASSES:
        raise ValueError(
            f"y must be labels of classes, got {labels.size} different values in "
            f"partition {number}."
        )
    return PartFacts(
        y.size,
        1 if X.ndim == 1 else X.shape[1],
        _n_bytes(X) + y.nbytes + (0 if weight is None else weight.nbytes),
        labels,
        counts,
        np.bincount(place, weight, labels.size).astype(np.float64),
        weight is not None and bool((weight != 1.0).any()),
    )


def _sorted_labels(y: NDArray[Any]) -> Any:
    """Return the different labels, the place of each among them, and counts."""
    try:
        return np.unique(y, return_inverse=True, return_counts=True)
    except TypeError as error:
        raise TypeError(f"y must be labels that can be sorted: {error}.") from None


def _check_labels(y: NDArray[Any], number: int) -> None:
    if y.dtype.kind in "buiUS":
        return
    if y.dtype.kind in "fc":
        is_missing = ~np.isfinite(y)
    else:
        # NaN and its kin among objects: they alone differ from themselves.
        is_missing = np.array([x is None or x != x for x in y], dtype=bool)
    if is_missing.any():
        row = int(is_missing.argmax())
        raise ValueError(
            f"y must be finite and complete, got {y[row]} in partition {number}, "
            f"row {row}."
        )


def _check_finite(name: str, X: Matrix, number: int) -> None:
    entries = X.data if sparse.issparse(X) else X
    # A sum needs no memory of the size of X; it is finite but where an entry is not, or
    # where it overflows, which the second look tells apart.
    with np.errstate(over="ignore", invalid="ignore"):
        looks_finite = np.isfinite(entries.sum(dtype=np.float64))
    if looks_finite or np.isfinite(entries).all():
        return
    if sparse.issparse(X):
        where = X.tocoo()
        place = int((~np.isfinite(where.data)).argmax())
        row, column, value = where.row[place], where.col[place], where.data[place]
    else:
        row, *rest = np.argwhere(~np.isfinite(X))[0]
        column, value = (rest[0] if rest else None), X[(row, *rest)]
    where_in_row = "" if column is None else f", column {column}"
    raise ValueError(
        f"{name} must be finite, got {value} in partition {number}, row {row}"
        f"{where_in_row}."
    )


def _n_bytes(X: Matrix) -> int:
    if sparse.issparse(X):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    return int(X.nbytes)


def _checked(name: str, rows: Any, dimensions: int) -> Any:
    """Return an array of one chunk of columns, a data frame or a series."""
    if dimensions == 1 and isinstance(rows, dd.DataFrame) and len(rows.columns) == 1:
        rows = rows[rows.columns[0]]
    expected = dd.DataFrame if dimensions == 2 else dd.Series
    if not isinstance(rows, (da.Array, expected)):
        kind = "data frame" if dimensions == 2 else "series"
        raise TypeError(
            f"{name} must be a Dask array or {kind}, got {type(rows).__name__}."
        )
    if rows.ndim != dimensions:
        raise ValueError(
            f"{name} must be of {dimensions} dimension{'s' * (dimensions > 1)}, got "
            f"{rows.ndim}."
        )
    # A part has whole rows, as a product needs them.
    if isinstance(rows, da.Array) and dimensions == 2 and rows.numblocks[1] != 1:
        rows = rows.rechunk({1: -1})
    return rows


def _one_frame(X: Any, columns: list[Any]) -> Any:
    """Join columns, labels and weights of one table, whose files are then read once.

    Read apart, Dask might put several files into one partition of the labels.
    """
    if any(isinstance(one, da.Array) for one in (X, *columns)):
        return None
    frame = X.to_frame() if isinstance(X, dd.Series) else X
    for name, column in zip((_LABEL, _WEIGHT), columns, strict=False):
        # With other divisions Dask would shuffle rows to match their indices.
        is_alike = frame.npartitions == column.npartitions
        if not is_alike or frame.divisions != column.divisions:
            return None
        try:
            frame = frame.assign(**{name: column})
        except ValueError:  # of two tables
            return None
    return frame


def _split(name: str, number: int, frame: Any) -> Part:
    X = frame.drop(columns=[_LABEL, _WEIGHT], errors="ignore")
    weight = frame.get(_WEIGHT)
    rows = X.iloc[:, 0] if name == "scores" else X
    return _part(name, number, rows, frame[_LABEL], weight)


def _row_chunks(rows: Any) -> tuple[int, ...] | None:
    """Return the sizes of the parts, where all are known."""
    if not isinstance(rows, da.Array) or np.isnan(rows.chunks[0]).any():
        return None
    sizes: tuple[int, ...] = rows.chunks[0]
    return sizes


def _blocks(rows: Any) -> list[Any]:
    # Not optimized: of frames that may join partitions, of labels other than of their
    # rows; of arrays, a task that rows and labels both need might be run for each.
    tasks = rows.to_delayed(optimize_graph=False)
    if isinstance(rows, da.Array):
        tasks = tasks.reshape(len(rows.chunks[0]))
    return list(tasks)
