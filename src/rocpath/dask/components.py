"""Structural components of partitioned rows, from the bins of their scores.

The functions of a partition return sums, which are small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from dask.delayed import delayed
from pandas.util import hash_array  # type: ignore[import-untyped]

from rocpath.auc_statistics.groups import pairs_within_groups
from rocpath.auc_statistics.influence import place_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocpath.dask.partitions import Partition
    from rocpath.dask.passes import Passes

_MAX_GROUPS = 2**23  # whose sums are sent to the client, 0.5 GB


class RankComponent(NamedTuple):
    """The structural components of the rows, by bins of one of their scores."""

    name: str
    edge: NDArray[np.float64]
    positive: NDArray[np.float64]
    negative: NDArray[np.float64]

    def of(self, rows: Partition, is_positive: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the components of the rows of a partition."""
        index = _bin_index(rows, self.name, self.edge)
        return np.where(is_positive, self.positive[index], self.negative[index])


class Deviation(NamedTuple):
    """The components of one score, or the difference of those of two."""

    terms: tuple[RankComponent, ...]

    def __sub__(self, other: Deviation) -> Deviation:
        return Deviation((*self.terms, *other.terms))

    def of(self, rows: Partition, is_positive: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the deviations of the rows of a partition."""
        first, *rest = (one.of(rows, is_positive) for one in self.terms)
        return first - rest[0] if rest else first


def shuffle_groups(passes: Passes, partitions: list[Any]) -> tuple[list[Any], int]:
    """Return tasks of rows, all rows of a group in one of them, and count groups."""
    split = delayed(_split_groups, pure=False)
    join = delayed(_join_rows, pure=False)
    pieces = [split(one, len(partitions)) for one in partitions]
    tasks = [join([piece[k] for piece in pieces]) for k in range(len(partitions))]
    tasks = passes.keep(tasks)
    found = passes.results("counting groups", passes.each(_count_groups, tasks))
    n_groups = sum(found)
    if n_groups < 2:
        raise ValueError("groups must have at least two different values, got one.")
    if n_groups > _MAX_GROUPS:
        raise MemoryError(
            f"groups must have at most {_MAX_GROUPS:,} different values, got {n_groups:,}."
        )
    return tasks, n_groups


def _split_groups(rows: Partition, n_pieces: int) -> list[Partition]:
    # The hash identifies a group from here on: among ten million groups, two have the
    # same one with a probability of 3e-6.
    labels = np.asarray(rows.groups)
    if labels.dtype.kind not in "biuf":
        labels = labels.astype(str).astype(object)
    code = hash_array(labels)
    piece = (code % np.uint64(n_pieces)).astype(np.intp)
    rows = rows._replace(groups=code)
    return [rows.take(np.flatnonzero(piece == k)) for k in range(n_pieces)]


def _join_rows(pieces: list[Partition]) -> Partition:
    columns = zip(*pieces, strict=True)
    joined = [None if one[0] is None else np.concatenate(one) for one in columns]
    return type(pieces[0])(*joined)  # type: ignore[arg-type]


def _count_groups(rows: Partition, _: None) -> int:
    return int(np.unique(_groups(rows)).size)


def _groups(rows: Partition) -> NDArray[Any]:
    return np.asarray(rows.groups)


def _weights(rows: Partition) -> NDArray[np.float64]:
    return np.ones(rows.y.size) if rows.weight is None else rows.weight


def weight_powers(rows: Partition, positive: NDArray[Any]) -> NDArray[np.float64]:
    """Sum the weights to the powers of 0 to 3, of positives and of negatives."""
    is_positive, weight = np.isin(rows.y, positive), _weights(rows)
    return np.array(
        [
            [float((weight[side] ** k).sum()) for k in range(4)]
            for side in (is_positive, ~is_positive)
        ]
    )


def _bin_index(rows: Partition, name: str, edge: NDArray[np.float64]) -> NDArray[np.intp]:
    score = np.asarray(getattr(rows, name), dtype=np.float64)
    return np.searchsorted(edge, score, side="right")


def bin_sums(
    rows: Partition, state: tuple[str, NDArray[np.float64], NDArray[Any]]
) -> NDArray[np.float64]:
    """Sum the weights and their squares, by class and bin."""
    name, edge, positive = state
    n_bins = edge.size + 1
    index = _bin_index(rows, name, edge) + n_bins * np.isin(rows.y, positive)
    weight = _weights(rows)
    sums = [np.bincount(index, weight**k, 2 * n_bins) for k in (1, 2)]
    return np.asarray(sums, dtype=float).reshape(2, 2, n_bins).swapaxes(0, 1)


def square_sums(rows: Partition, state: tuple[Deviation, NDArray[Any]]) -> NDArray[np.float64]:
    """Sum the squared influences of positives and of negatives."""
    deviation, positive = state
    is_positive = np.isin(rows.y, positive)
    square = (_weights(rows) * deviation.of(rows, is_positive)) ** 2
    return np.asarray(np.bincount(is_positive, square, 2)[::-1], dtype=float)


def sums_by_group(rows: Partition, state: tuple[Deviation, NDArray[Any]]) -> NDArray[np.float64]:
    """Return the sums of `GroupSums`, by class and group."""
    deviation, positive = state
    is_positive, weight = np.isin(rows.y, positive), _weights(rows)
    group, code = np.unique(_groups(rows), return_inverse=True)
    each = deviation.of(rows, is_positive)
    columns = (weight, weight**2, weight * each, weight * each**2)
    key, size = code + group.size * is_positive, 2 * group.size
    sums = [np.bincount(key, column, size) for column in columns]
    return np.asarray(sums, dtype=float).reshape(4, 2, group.size)


def n_won_inside(rows: Partition, state: tuple[str, NDArray[Any]]) -> float:
    """Return the weight of correctly ordered pairs of the same group."""
    name, positive = state
    if rows.y.size == 0:
        return 0.0
    score = np.asarray(getattr(rows, name), dtype=np.float64)
    is_positive = np.isin(rows.y, positive)
    code = np.unique(_groups(rows), return_inverse=True)[1]
    weight = _weights(rows)
    with np.errstate(invalid="ignore", divide="ignore"):  # only the order is used
        blocks = place_rows(score, is_positive, weight, 1.0)
    inside = pairs_within_groups(code, blocks, score, is_positive, weight)
    return float(inside.won.sum())
