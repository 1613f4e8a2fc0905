"""Subsampling of the rows of each class, independently of the partitioning.

Rows are selected by a hash of the row number. A hash of their content would select
either all or none of many identical rows.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocpath.dask.partitions import Partition, PartitionedRows

MAX_ROWS_PER_CLASS = 20_000  # as in the ascent of `rocpath.AUCClassifier`
_MAX_BYTES = 2**28  # of all rows that are sent to the client
_MIN_ROWS_PER_CLASS = 1_000  # regardless of the number of columns


def subsample(rows: PartitionedRows, seed: int) -> Partition:
    """Send at most ``MAX_ROWS_PER_CLASS`` rows of each class to the client.

    Rows keep their original order, and labels are replaced by class indices.
    """
    counts, n_rows = rows.class_counts, sum(rows.n_rows)
    affordable = int(_MAX_BYTES / (rows.n_bytes / n_rows * counts.size))
    n_wanted = min(MAX_ROWS_PER_CLASS, max(affordable, _MIN_ROWS_PER_CLASS))
    # Six standard deviations are added, so that there are almost never too few.
    share = np.minimum((n_wanted + 6.0 * np.sqrt(n_wanted)) / counts, 1.0)
    # At most the largest float64 below 2**64, because the cast would overflow.
    limit = np.minimum(share * 2.0**64, 2.0**64 - 2048).astype(np.uint64)
    limit[share == 1.0] = np.iinfo(np.uint64).max
    first_row = np.cumsum([0, *rows.n_rows[:-1]]).tolist()
    given = {"classes": rows.classes, "limit": limit, "seed": seed}
    tasks = rows.passes.each(_sample, rows.tasks, first_row, **given)
    found = rows.passes.results("sampling rows", tasks, reads_x=True)
    hashes = np.concatenate([one for one, _ in found])
    sample = Partition.join([one for _, one in found])
    # Rows with the lowest hashes, so that smaller samples are subsets of larger ones.
    is_kept = np.zeros(hashes.size, dtype=bool)
    for label in range(counts.size):
        here = np.flatnonzero(sample.y == label)
        is_kept[here[np.argsort(hashes[here])[:n_wanted]]] = True
    if is_kept.all() and hashes.size == n_rows:
        return sample
    sample = sample.take(is_kept)
    # As in memory, each class keeps its total weight.
    factor = rows.class_weights / np.bincount(sample.y, sample.weight, counts.size)
    return sample._replace(sample_weight=sample.weight * factor[sample.y])


def row_hashes(first_row: int, n_rows: int, seed: int) -> NDArray[np.uint64]:
    """Hash row numbers to uniform integers, by the finalizer of SplitMix64."""
    step = np.uint64(0x9E3779B97F4A7C15)
    with np.errstate(over="ignore"):
        mixed = np.arange(first_row, first_row + n_rows).astype(np.uint64)
        mixed = (mixed + np.uint64(seed) * np.uint64(0xD1342543DE82EF95) + step) * step
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def _sample(
    rows: Partition, first_row: int, classes: NDArray[Any], limit: NDArray[np.uint64], seed: int
) -> tuple[NDArray[np.uint64], Partition]:
    """Select the rows whose hash is at most the limit of their class; return both."""
    class_index = np.searchsorted(classes, rows.y)
    hashes = row_hashes(first_row, class_index.size, seed)
    is_sampled = hashes <= limit[class_index]
    return hashes[is_sampled], rows._replace(y=class_index).take(is_sampled)
