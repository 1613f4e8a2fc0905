"""Partitioned scores of labeled rows: counts in bins, and a shuffle by group.

A partition contains the scores as ``X`` and signed weights as ``y``: integer multiples
of a unit, negative for the negative class (:func:`rocpath.dask.weights.label_jumps`).
AUC statistics do not depend on the unit of either class.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pandas.util import hash_array  # type: ignore[import-untyped]

from rocpath.dask.partitions import Partition, PartitionedRows
from rocpath.dask.passes import Passes
from rocpath.dask.weights import WeightUnits, common_units, label_jumps
from rocpath.matrices import row_products

_MIN_SAMPLES, _SAMPLES_PER_BIN = 2**18, 16  # in all partitions together
_ROWS_PER_BUCKET = 2**22  # 36 MB if all scores differ
_MAX_GROUPS = 2**23  # their sums, 0.5 GB, are sent to the client


class ScoreBins(NamedTuple):
    """Sums over the rows in bins of the scores, in ascending order."""

    edge: NDArray[np.float64]  # lower end of each bin except the first
    low: NDArray[np.float64]  # smallest score in each bin
    high: NDArray[np.float64]  # largest score in each bin
    sums: NDArray[np.float64]  # of weight**power for powers 0 to 2, by class, power and bin

    def nonempty(self) -> Self:
        """Return the bins that contain rows."""
        used = self.low <= self.high
        return type(self)(self.edge, self.low[used], self.high[used], self.sums[..., used])

    def index_of(self, rows: Partition, name: str) -> NDArray[np.intp]:
        """Return the bin of each row."""
        return np.searchsorted(self.edge, getattr(rows, name), side="right")


class PartitionedScores(NamedTuple):
    """Scores kept by the workers, in the column ``name`` of their partitions."""

    passes: Passes
    tasks: Sequence[Any]
    n_rows: int
    n_positives: int
    units: WeightUnits
    name: str = "X"

    @classmethod
    def of(
        cls, rows: PartitionedRows, positives: NDArray[Any], coef: NDArray[np.float64] | None = None
    ) -> Self:
        """Return the given scores, or the scores of a linear model."""
        units = common_units(rows, positives)
        n_positives = int(rows.class_counts[np.isin(rows.classes, positives)].sum())
        passes = rows.passes
        scored = passes.each(_score, rows.tasks, positives=positives, units=units, coef=coef)
        return cls(passes, passes.keep(scored), sum(rows.n_rows), n_positives, units)

    @classmethod
    def read(cls, passes: Passes, y: Any, scores: Any, **others: Any) -> Self:
        """Check labels, scores, weights and other columns."""
        rows = PartitionedRows.read(passes, "scores", scores, y=y, is_binary=True, **others)
        return cls.of(rows, rows.classes[1:])

    @property
    def is_weighted(self) -> bool:
        """Whether weights are unequal."""
        negative, positive = self.units
        is_one_each = negative.total + positive.total == self.n_rows
        return not is_one_each or negative.unit != positive.unit

    @property
    def n_buckets(self) -> int:
        """Number of tasks of a shuffle: at least one per worker, so that none is idle."""
        return max(len(self.passes.memory_limits), -(-self.n_rows // _ROWS_PER_BUCKET))

    def splitters(self, n_bins: int) -> NDArray[np.float64]:
        """Select distinct scores that split all scores into bins of similar size."""
        n_sampled = max(_MIN_SAMPLES, _SAMPLES_PER_BIN * n_bins) // len(self.tasks) + 16
        given = {"name": self.name, "n_sampled": n_sampled}
        samples = self.passes.run("sampling scores", _sample, self.tasks, **given)
        # All samples have the same size, so those of large partitions get more weight.
        score = np.concatenate([one for one, _ in samples])
        weight = np.concatenate([np.full(one.size, each) for one, each in samples])
        order = np.argsort(score)
        rank = np.cumsum(weight[order])
        # Equal splitters are merged.
        wanted = rank[-1] * np.arange(1, n_bins) / n_bins
        return np.unique(score[order][np.searchsorted(rank, wanted)])

    def bins(self, n_bins: int) -> ScoreBins:
        """Sum weights in bins of similar size; frequent scores get separate bins."""
        edge = self.splitters(n_bins)
        return self.bins_between(np.union1d(edge, np.nextafter(edge, np.inf)))

    def bins_between(self, edge: NDArray[np.float64]) -> ScoreBins:
        """Sum weights in bins that start at the edges, in one pass."""
        tasks = self.passes.each(_sum_bins, self.tasks, name=self.name, edge=edge)
        bins: ScoreBins = self.passes.total("counting scores", tasks, _combine)
        return bins


class GroupedRows(NamedTuple):
    """Shuffled rows, kept by the workers, with all rows of a group in one task."""

    tasks: list[Any]
    n_groups: int

    @classmethod
    def of(cls, scores: PartitionedScores) -> Self | None:
        """Shuffle rows by group; return None if each row is its own group."""
        passes, n_pieces = scores.passes, scores.n_buckets
        pieces = passes.each(_split_groups, scores.tasks, n_pieces=n_pieces)
        tasks = passes.exchange(pieces, Partition.join, n_pieces)
        n_groups = sum(passes.run("counting groups", _count_groups, tasks))
        if n_groups < 2:
            raise ValueError("groups must have at least two different values, got one.")
        if n_groups > _MAX_GROUPS:
            raise MemoryError(
                f"groups must have at most {_MAX_GROUPS:,} different values, got {n_groups:,}."
            )
        return cls(tasks, n_groups) if n_groups < scores.n_rows else None


def _score(
    rows: Partition, positives: NDArray[Any], units: WeightUnits, coef: NDArray[np.float64] | None
) -> Partition:
    score = rows.X.astype(np.float64, copy=False) if coef is None else row_products(rows.X, coef)
    jump = label_jumps(rows, positives, units)
    return Partition(score, jump, None, rows.other_scores, rows.groups)


def _sample(rows: Partition, name: str, n_sampled: int) -> tuple[NDArray[np.float64], float]:
    score = getattr(rows, name)
    # Evenly spaced rows, so that results are reproducible.
    sample = score[:: max(score.size // n_sampled, 1)]
    return sample, score.size / max(sample.size, 1)


def _sum_bins(rows: Partition, name: str, edge: NDArray[np.float64]) -> ScoreBins:
    score, n_bins = getattr(rows, name), edge.size + 1
    low, high = np.full(n_bins, np.inf), np.full(n_bins, -np.inf)
    bins = ScoreBins(edge, low, high, np.empty((2, 3, n_bins)))
    index = bins.index_of(rows, name)
    np.minimum.at(low, index, score)
    np.maximum.at(high, index, score)
    weight = np.abs(rows.y).astype(np.float64)
    for power in range(3):
        sums = np.bincount(index + n_bins * (rows.y > 0), weight**power, 2 * n_bins)
        bins.sums[:, power] = sums.reshape(2, n_bins)
    return bins


def _combine(bins: list[ScoreBins]) -> ScoreBins:
    edge, low, high, sums = zip(*bins, strict=True)
    return ScoreBins(edge[0], np.min(low, axis=0), np.max(high, axis=0), np.sum(sums, axis=0))


def _split_groups(rows: Partition, n_pieces: int) -> list[Partition]:
    # From here on, groups are identified by their hashes: the probability that any two of
    # ten million groups collide is 3e-6.
    labels = np.asarray(rows.groups)
    is_number = labels.dtype.kind in "biuf"
    # Zero is added because -0.0 and 0.0 have different hashes.
    code = hash_array(labels + 0 if is_number else labels.astype(str).astype(object))
    piece = code % np.uint64(n_pieces)
    rows = rows._replace(groups=code)
    return [rows.take(np.flatnonzero(piece == k)) for k in range(n_pieces)]


def _count_groups(rows: Partition) -> int:
    return int(np.unique(np.asarray(rows.groups)).size)
