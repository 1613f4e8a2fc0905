"""Structural components of partitioned rows, from the bins of their scores.

The functions of a partition return sums, which are small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from pandas.util import hash_array  # type: ignore[import-untyped]

from rocpath.auc_statistics.groups import pairs_within_groups
from rocpath.auc_statistics.influence import place_rows
from rocpath.dask.partitions import Partition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rocpath.dask.passes import Passes
    from rocpath.dask.scores import ScoreBins

_MAX_GROUPS = 2**23  # whose sums are sent to the client, 0.5 GB


class Deviation(NamedTuple):
    """The structural components of one score, or the difference of those of two.

    A term is the name of a score, its bins, and the components by class and bin.
    """

    terms: tuple[tuple[str, ScoreBins, NDArray[np.float64]], ...]

    def __sub__(self, other: Deviation) -> Deviation:
        return Deviation((*self.terms, *other.terms))

    def of(self, rows: Partition) -> NDArray[np.float64]:
        """Return the deviations of the rows of a partition."""
        label = (rows.y > 0).astype(np.intp)
        first, *rest = (
            by_bin[label, bins.index_of(rows, name)] for name, bins, by_bin in self.terms
        )
        return np.asarray(first - rest[0] if rest else first)


def shuffle_groups(passes: Passes, partitions: Sequence[Any]) -> tuple[list[Any], int]:
    """Return tasks of rows, all rows of a group in one of them, and count groups."""
    n_pieces = len(partitions)
    tasks = passes.exchange(_split_groups, _join_rows, partitions, n_pieces, n_pieces)
    n_groups = sum(passes.results("counting groups", passes.each(_count_groups, tasks)))
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
    return Partition(*joined)  # type: ignore[arg-type]


def _count_groups(rows: Partition, _: None) -> int:
    return int(np.unique(np.asarray(rows.groups)).size)


def square_sums(rows: Partition, deviation: Deviation) -> NDArray[np.float64]:
    """Sum the squared influences of negatives and of positives."""
    square = (rows.y * deviation.of(rows)) ** 2
    return np.asarray(np.bincount(rows.y > 0, square, 2), dtype=float)


def sums_by_group(rows: Partition, deviation: Deviation) -> NDArray[np.float64]:
    """Return the sums of `GroupSums`, by class and group."""
    weight, each = np.abs(rows.y).astype(np.float64), deviation.of(rows)
    group, code = np.unique(np.asarray(rows.groups), return_inverse=True)
    columns = (weight, weight**2, weight * each, weight * each**2)
    key, size = code + group.size * (rows.y > 0), 2 * group.size
    sums = [np.bincount(key, column, size) for column in columns]
    return np.asarray(sums, dtype=float).reshape(4, 2, group.size)


def n_won_inside(rows: Partition, name: str) -> float:
    """Return the weight of correctly ordered pairs of the same group."""
    if rows.y.size == 0:
        return 0.0
    score, is_positive = getattr(rows, name), rows.y > 0
    weight = np.abs(rows.y).astype(np.float64)
    code = np.unique(np.asarray(rows.groups), return_inverse=True)[1]
    with np.errstate(invalid="ignore", divide="ignore"):  # only the order is used
        blocks = place_rows(score, is_positive, weight, 1.0)
    return float(pairs_within_groups(code, blocks, score, is_positive, weight).won.sum())
