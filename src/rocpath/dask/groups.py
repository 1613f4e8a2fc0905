"""Groups of partitioned rows: a shuffle after which each group is in one task."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from pandas.util import hash_array  # type: ignore[import-untyped]

from rocpath.dask.partitions import Partition

if TYPE_CHECKING:
    from typing import Any

    from rocpath.dask.scores import PartitionedScores

_MAX_GROUPS = 2**23  # whose sums are sent to the client, 0.5 GB


class GroupedRows(NamedTuple):
    """Tasks of rows, kept by the workers, with all rows of a group in one of them."""

    tasks: list[Any]
    n_groups: int

    @classmethod
    def of(cls, scores: PartitionedScores) -> GroupedRows | None:
        """Shuffle rows by their groups; return None if each row is a group."""
        passes, n_pieces = scores.passes, scores.n_buckets
        tasks = passes.exchange(_split_groups, Partition.join, scores.tasks, n_pieces, n_pieces)
        n_groups = sum(passes.results("counting groups", passes.each(_count_groups, tasks)))
        if n_groups < 2:
            raise ValueError("groups must have at least two different values, got one.")
        if n_groups > _MAX_GROUPS:
            raise MemoryError(
                f"groups must have at most {_MAX_GROUPS:,} different values, got {n_groups:,}."
            )
        return cls(tasks, n_groups) if n_groups < scores.n_rows else None


def _split_groups(rows: Partition, n_pieces: int) -> list[Partition]:
    # The hash identifies a group from here on: among ten million groups, two have the
    # same one with a probability of 3e-6.
    labels = np.asarray(rows.groups)
    is_number = labels.dtype.kind in "biuf"
    # Zero is added because -0.0 and 0.0 have different hashes.
    code = hash_array(labels + 0 if is_number else labels.astype(str).astype(object))
    piece = code % np.uint64(n_pieces)
    rows = rows._replace(groups=code)
    return [rows.take(np.flatnonzero(piece == k)) for k in range(n_pieces)]


def _count_groups(rows: Partition, _: None) -> int:
    return int(np.unique(np.asarray(rows.groups)).size)
