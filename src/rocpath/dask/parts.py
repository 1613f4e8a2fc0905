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
_LABEL = "label of rocpath"  # a column that no table of a user has


class Part(NamedTuple):
    """Rows, dense or CSR in float32 or float64, or scores; and their labels."""

    X: Matrix
    y: NDArray[Any]


class PartFacts(NamedTuple):
    """What the first pass tells of a part."""

    n_rows: int
    n_columns: int
    n_bytes: int
    labels: NDArray[Any]
    label_counts: NDArray[np.int64]


class Facts(NamedTuple):
    """What the first pass tells of all parts."""

    n_rows: list[int]  # by part
    n_columns: int
    n_bytes: int
    classes: NDArray[Any]
    class_counts: NDArray[np.int64]

    @classmethod
    def of(cls, facts: list[PartFacts], *, n_classes: int | None = None) -> Facts:
        """Put the facts of all parts together, and check that they agree."""
        n_rows = [one.n_rows for one in facts]
        if sum(n_rows) == 0:
            raise ValueError("X must have at least one row, got only empty partitions.")
        # Empty parts may have lost their columns, as after a filter.
        columns = {one.n_columns for one in facts if one.n_rows}
        if len(columns) > 1:
            raise ValueError(
                "X must have the same columns in every partition, got "
                f"{min(columns)} and {max(columns)}."
            )
        classes, place = np.unique(
            np.concatenate([one.labels for one in facts if one.n_rows]),
            return_inverse=True,
        )
        counts = np.concatenate([one.label_counts for one in facts if one.n_rows])
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
        )

    @property
    def first_row(self) -> list[int]:
        """The number of each part's first row among all rows."""
        return [0, *np.cumsum(self.n_rows).tolist()[:-1]]


def make_parts(name: str, X: Any, y: Any) -> list[Any]:
    """Return a task for every part, with X and y aligned.

    Both are Dask arrays or data frames, or one of each.
    """
    dimensions = 1 if name == "scores" else 2
    X, y = _checked(name, X, dimensions), _checked("y", y, 1)
    rows, other_rows = _row_chunks(X), _row_chunks(y)
    if rows is not None and other_rows is not None and rows != other_rows:
        if sum(rows) != sum(other_rows):
            raise ValueError(
                f"{name} and y must have the same number of rows, got {sum(rows)} and "
                f"{sum(other_rows)}."
            )
        # The labels move, as they are the smaller.
        y = y.rechunk((rows,))
    together = _one_frame(X, y)
    if together is not None:
        split = delayed(_split, pure=False)
        return [
            split(name, number, block)
            for number, block in enumerate(together.to_delayed())
        ]
    # Sizes may be unknown: whether rows and labels match is then seen part by part.
    blocks, labels = _blocks(X), _blocks(y)
    if len(blocks) != len(labels):
        raise ValueError(
            f"{name} and y must have the same partitions, got {len(blocks)} and "
            f"{len(labels)}; where chunk sizes are unknown, call compute_chunk_sizes()."
        )
    make = delayed(_part, pure=False)
    return [
        make(name, number, *pair)
        for number, pair in enumerate(zip(blocks, labels, strict=True))
    ]


def column_names(X: Any) -> NDArray[Any] | None:
    """Return the names of a data frame's columns."""
    if not isinstance(X, dd.DataFrame):
        return None
    return np.array([str(name) for name in X.columns], dtype=object)


def examine(passes: Passes, name: str, parts: list[Any]) -> list[PartFacts]:
    """Check every part, in one pass, and tell what is in it."""
    numbers = range(len(parts))
    tasks = passes.each(_examined, parts, numbers, state=name)
    facts: list[PartFacts] = passes.results("checking rows", tasks, reads_x=True)
    return facts


def as_block(name: str, X: Any) -> Matrix:
    """Turn a block of rows into an array or CSR matrix of float32 or float64."""
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


def _frame_dtype(name: str, X: Any) -> Any:
    """Keep float32 where all columns are; name a column that is not of numbers."""
    for column, dtype in X.dtypes.items():
        if getattr(dtype, "kind", "O") not in "buif":
            raise TypeError(
                f"{name} must be real numbers, got column {column!r} of type {dtype}."
            )
    return np.float32 if all(X.dtypes == np.float32) else np.float64


def _part(name: str, number: int, X: Any, y: Any) -> Part:
    part = Part(as_block(name, X), np.asarray(y).reshape(-1))
    if part.X.shape[0] != part.y.size:
        raise ValueError(
            f"{name} and y must have the same number of rows in every partition, got "
            f"{part.X.shape[0]} and {part.y.size} in partition {number}."
        )
    return part


def _examined(part: Part, number: int, name: str) -> PartFacts:
    X, y = part
    _check_finite(name, X, number)
    if y.dtype.kind in "fc":
        is_missing = ~np.isfinite(y)
    else:
        # NaN and its kin among objects: they alone differ from themselves.
        is_missing = np.array([x is None or x != x for x in y], dtype=bool)
        if y.dtype.kind in "buiUS":
            is_missing = np.zeros(y.size, dtype=bool)
    if is_missing.any():
        row = int(is_missing.argmax())
        raise ValueError(
            f"y must be finite and complete, got {y[row]} in partition {number}, "
            f"row {row}."
        )
    labels, counts = np.unique(y, return_counts=True)
    if labels.size > _MOST_CLASSES:
        raise ValueError(
            f"y must be labels of classes, got {labels.size} different values in "
            f"partition {number}."
        )
    return PartFacts(
        y.size,
        1 if X.ndim == 1 else X.shape[1],
        _n_bytes(X) + y.nbytes,
        labels,
        counts,
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


def _one_frame(X: Any, y: Any) -> Any:
    """Join columns and labels of one table, whose files are then read once.

    Read apart, Dask might put several files into one partition of the labels.
    """
    if isinstance(X, da.Array) or isinstance(y, da.Array):
        return None
    frame = X.to_frame() if isinstance(X, dd.Series) else X
    # With other divisions Dask would shuffle rows to match their indices.
    if frame.npartitions != y.npartitions or frame.divisions != y.divisions:
        return None
    try:
        return frame.assign(**{_LABEL: y})
    except ValueError:  # of two tables
        return None


def _split(name: str, number: int, frame: Any) -> Part:
    X, y = frame.drop(columns=_LABEL), frame[_LABEL]
    return _part(name, number, X.iloc[:, 0] if name == "scores" else X, y)


def _row_chunks(rows: Any) -> tuple[int, ...] | None:
    """Return the sizes of the parts, where all are known."""
    if not isinstance(rows, da.Array) or np.isnan(rows.chunks[0]).any():
        return None
    sizes: tuple[int, ...] = rows.chunks[0]
    return sizes


def _blocks(rows: Any) -> list[Any]:
    if isinstance(rows, da.Array):
        return list(rows.to_delayed().reshape(len(rows.chunks[0])))
    # Not optimized, which may join partitions, of labels other than of their rows.
    return list(rows.to_delayed(optimize_graph=False))
