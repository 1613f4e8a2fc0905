"""Partitioned scores of labeled rows: counts in bins, sorted buckets, shuffled groups.

The signed weights of a partition, its jumps, are integer multiples of a unit, negative
for the negative class (:func:`rocpath.dask.weights.label_jumps`). AUC statistics do not
depend on the unit of either class.

Buckets cover disjoint ranges of scores. The ends of the ranges are quantiles of a sample,
so that buckets have similar sizes; equal scores are in the same bucket. Two scores in
different buckets are compared by their buckets. Each worker compares the scores within
its bucket, and needs only the counts of the lower buckets to compute the bucket's
contribution to an AUC.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pandas.util import hash_array  # type: ignore[import-untyped]

import rocpath._core as _core
from rocpath.dask.partitions import Partition, PartitionedRows
from rocpath.dask.passes import Passes
from rocpath.dask.scored_rows import ScoredPartition
from rocpath.dask.weights import Jumps, Vector, WeightUnits, common_units, label_jumps
from rocpath.evaluation.influence import components_of_positives
from rocpath.matrices import row_products
from rocpath.search.intercepts import exceeds_rounding, widest_best_interval

_MIN_SAMPLES, _SAMPLES_PER_BIN = 2**18, 16  # numbers of scores over all partitions
_ROWS_PER_BUCKET = 2**22  # 36 MB if all scores differ
_MAX_GROUPS = 2**23  # their sums, 0.5 GB, are sent to the client


class ScoreBins(NamedTuple):
    """Sums over the rows in each bin of scores; bins are in ascending order."""

    edge: Vector  # lower end of each bin except the first
    low: Vector  # smallest score in each bin
    high: Vector  # largest score in each bin
    sums: NDArray[np.float64]  # sums of weight**power by class, power (0 to 2) and bin

    def nonempty(self) -> Self:
        """Return the bins that contain rows."""
        used = self.low <= self.high
        return type(self)(self.edge, self.low[used], self.high[used], self.sums[..., used])

    def index_of(self, rows: ScoredPartition, name: str) -> NDArray[np.intp]:
        """Return the bin of each row."""
        return np.searchsorted(self.edge, getattr(rows, name), side="right")


class PartitionedScores(NamedTuple):
    """Scores kept by the workers, in the column ``name`` of their partitions."""

    passes: Passes
    tasks: Sequence[Any]
    n_rows: int
    n_positives: int
    units: WeightUnits
    name: str = "score"

    @classmethod
    def from_rows(
        cls, rows: PartitionedRows, positives: NDArray[Any], coef: Vector | None = None
    ) -> Self:
        """Return the scores in the partitions, or those of a linear model."""
        units = common_units(rows, positives)
        n_positives = int(rows.class_counts[np.isin(rows.classes, positives)].sum())
        passes = rows.passes
        scored = passes.each(_score, rows.tasks, positives=positives, units=units, coef=coef)
        return cls(passes, passes.keep(scored), sum(rows.n_rows), n_positives, units)

    @classmethod
    def read(cls, passes: Passes, y: Any, scores: Any, **others: Any) -> Self:
        """Check labels, scores, weights and other columns."""
        rows = PartitionedRows.read(passes, "scores", scores, y=y, is_binary=True, **others)
        return cls.from_rows(rows, rows.classes[1:])

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

    def splitters(self, n_bins: int) -> Vector:
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

    def bins_between(self, edge: Vector) -> ScoreBins:
        """Sum weights in bins that start at the edges, in one pass."""
        tasks = self.passes.each(_sum_bins, self.tasks, name=self.name, edge=edge)
        bins: ScoreBins = self.passes.total("counting scores", tasks, _combine)
        return bins


class GroupedRows(NamedTuple):
    """Shuffled rows, kept by the workers, with all rows of a group in one task."""

    tasks: list[Any]
    n_groups: int

    @classmethod
    def from_scores(cls, scores: PartitionedScores) -> Self | None:
        """Shuffle rows by group; return None if each row is its own group."""
        passes, n_pieces = scores.passes, scores.n_buckets
        pieces = passes.each(_split_groups, scores.tasks, n_pieces=n_pieces)
        tasks = passes.exchange(pieces, ScoredPartition.join, n_pieces)
        n_groups = sum(passes.run("counting groups", _count_groups, tasks))
        if n_groups < 2:
            raise ValueError("groups must have at least two different values, got one.")
        if n_groups > _MAX_GROUPS:
            raise MemoryError(
                f"groups must have at most {_MAX_GROUPS:,} different values, got {n_groups:,}."
            )
        return cls(tasks, n_groups) if n_groups < scores.n_rows else None


class ClassScores(NamedTuple):
    """Distinct scores of a class in ascending order, and the count of each."""

    score: Vector
    counts: Jumps  # int8 if all counts are one

    @classmethod
    def from_rows(cls, score: Vector, count: NDArray[Any]) -> Self:
        """Sort scores, and sum the counts of equal scores."""
        if count.dtype == np.int8:  # all counts are one, so only scores are sorted
            score = np.sort(score)
        else:
            order = np.argsort(score)
            score, count = score[order], count[order]
        # The slice is needed for an empty array, which has no new score.
        is_new = np.append(True, score[1:] != score[:-1])[: score.size]
        if not is_new.all():
            start = np.flatnonzero(is_new)
            score, count = score[start], np.add.reduceat(count, start, dtype=np.int64)
        return cls(score, count)

    @property
    def total(self) -> int:
        """Sum of the counts."""
        return int(self.counts.sum(dtype=np.int64))

    @property
    def repeats(self) -> NDArray[np.int64]:
        """Counts as the core expects them: an empty array if all are one."""
        counts = self.counts[:0] if self.counts.dtype == np.int8 else self.counts
        return counts.astype(np.int64, copy=False)

    def below(self, score: Vector, side: str) -> NDArray[np.int64]:
        """Sum the counts below ("left") or up to ("right") each score."""
        sums = np.concatenate(([0], np.cumsum(self.counts, dtype=np.int64)))
        return np.asarray(sums[np.searchsorted(self.score, score, side=side)])  # type: ignore[call-overload]


class Bucket(NamedTuple):
    """Scores of both classes within a bucket."""

    negative: ClassScores
    positive: ClassScores


class Below(NamedTuple):
    """Counts of each class in lower buckets, and in all buckets."""

    negative: int
    positive: int
    n_negative: int
    n_positive: int


class Buckets(NamedTuple):
    """Buckets in ascending order, kept by the workers, and their counts."""

    passes: Passes
    tasks: list[Any]
    n_negative: list[int]
    n_positive: list[int]

    @classmethod
    def from_scores(cls, scores: PartitionedScores) -> Self:
        """Sort scores into buckets."""
        passes = scores.passes
        edge = scores.splitters(scores.n_buckets) if scores.n_buckets > 1 else np.zeros(0)
        pieces = passes.each(_split, scores.tasks, name=scores.name, edge=edge)
        tasks = passes.exchange(pieces, _join, edge.size + 1)
        sizes = passes.run("sorting scores", _sizes, tasks)
        return cls(passes, tasks, *(list(side) for side in zip(*sizes, strict=True)))

    def run(self, name: str, function: Callable[..., Any], **shared: Any) -> Any:
        """Apply a function to each bucket, the counts below it, and shared arguments."""
        total = sum(self.n_negative), sum(self.n_positive)
        below = [
            Below(sum(self.n_negative[:k]), sum(self.n_positive[:k]), *total)
            for k in range(len(self.tasks))
        ]
        return self.passes.run(name, function, self.tasks, below, **shared)

    def auc(self, max_fpr: float = 1.0) -> float:
        """Compute the AUC, or the partial AUC up to a false positive rate."""
        if max_fpr < 1:
            areas = self.run("counting pairs", _partial_area, max_fpr=max_fpr)
            return float(sum(areas)) / sum(self.n_positive)
        doubled = self.run("counting pairs", _doubled_pairs)
        # As in the core, both integers are rounded once, and then their quotient.
        return float(sum(doubled)) / float(2 * sum(self.n_negative) * sum(self.n_positive))

    def fewest_errors_constant(
        self, units: tuple[float, float, float], largest_value: float
    ) -> float:
        """Find the constant that minimizes FP + FN when added to all predictions.

        The scores are minus the thresholds at which the errors of the rows change, which
        are positions of breakpoints, up to the largest value, minus predictions.
        """
        # An interval without scores may extend into the next nonempty bucket.
        first = self.run("thresholds", _first_score)
        fp_unit, tp_unit, divisor = units
        n_negative, n_positive = sum(self.n_negative), sum(self.n_positive)
        totals = n_negative * fp_unit / divisor, n_positive * tp_unit / divisor
        # Decreasing scores correspond to increasing constants.
        given = {"first": first, "totals": totals, "largest_value": largest_value}
        best = self.run("fewest errors", _best_intervals, **given)[::-1]
        # Below the smallest score, all rows are predicted positive.
        last = [np.array([x]) for x in (totals[0], -min(first), np.inf)]
        return widest_best_interval(*map(np.concatenate, zip(*best, last, strict=True)))


def _score(
    rows: Partition, positives: NDArray[Any], units: WeightUnits, coef: Vector | None
) -> ScoredPartition:
    block = rows.block
    score = block.astype(np.float64, copy=False) if coef is None else row_products(block, coef)
    jump = label_jumps(rows, positives, units)
    return ScoredPartition(score, jump, rows.other_scores, rows.groups)


def _sample(rows: ScoredPartition, name: str, n_sampled: int) -> tuple[Vector, float]:
    score = getattr(rows, name)
    # The sampled rows are evenly spaced, so that results are reproducible.
    sample = score[:: max(score.size // n_sampled, 1)]
    return sample, score.size / max(sample.size, 1)


def _sum_bins(rows: ScoredPartition, name: str, edge: Vector) -> ScoreBins:
    score, n_bins = getattr(rows, name), edge.size + 1
    low, high = np.full(n_bins, np.inf), np.full(n_bins, -np.inf)
    bins = ScoreBins(edge, low, high, np.empty((2, 3, n_bins)))
    index = bins.index_of(rows, name)
    np.minimum.at(low, index, score)
    np.maximum.at(high, index, score)
    for power in range(3):
        place = index + n_bins * rows.is_positive
        sums = np.bincount(place, rows.weight**power, 2 * n_bins)
        bins.sums[:, power] = sums.reshape(2, n_bins)
    return bins


def _combine(bins: list[ScoreBins]) -> ScoreBins:
    edge, low, high, sums = zip(*bins, strict=True)
    return ScoreBins(edge[0], np.min(low, axis=0), np.max(high, axis=0), np.sum(sums, axis=0))


def _split_groups(rows: ScoredPartition, n_pieces: int) -> list[ScoredPartition]:
    # Groups are identified by their hashes from here on. The probability that any two of
    # ten million groups collide is 3e-6.
    labels = np.asarray(rows.group)
    is_number = labels.dtype.kind in "biuf"
    # Zero is added because -0.0 and 0.0 have different hashes.
    code = hash_array(labels + 0 if is_number else labels.astype(str).astype(object))
    piece = code % np.uint64(n_pieces)
    rows = rows._replace(group=code)
    return [rows.take(np.flatnonzero(piece == k)) for k in range(n_pieces)]


def _count_groups(rows: ScoredPartition) -> int:
    return int(np.unique(np.asarray(rows.group)).size)


def _split(rows: ScoredPartition, name: str, edge: Vector) -> list[Bucket]:
    sides = []
    for members in (rows.jump < 0, rows.jump > 0):
        score, count = ClassScores.from_rows(
            getattr(rows, name)[members], np.abs(rows.jump[members])
        )
        # A bucket starts at the same score in all partitions, so that ties are together.
        ends = [0, *np.searchsorted(score, edge).tolist(), score.size]
        sides.append([ClassScores(score[a:b], count[a:b]) for a, b in pairwise(ends)])
    return [Bucket(*both) for both in zip(*sides, strict=True)]


def _join(pieces: list[Bucket]) -> Bucket:
    sides = zip(*pieces, strict=True)
    columns = (map(np.concatenate, zip(*side, strict=True)) for side in sides)
    return Bucket(*(ClassScores.from_rows(*both) for both in columns))


def _sizes(bucket: Bucket) -> tuple[int, int]:
    return bucket.negative.total, bucket.positive.total


def _doubled_pairs(bucket: Bucket, below: Below) -> int:
    """Count the correctly ordered pairs with a bucket's positives twice, and ties once."""
    negative, positive = bucket
    high, low = _core.doubled_pairs(
        negative.score, negative.repeats, positive.score, positive.repeats
    )
    # These are Python integers, because counts of pairs may exceed 64 bits.
    return (high << 64) + low + 2 * below.negative * positive.total


def _partial_area(bucket: Bucket, below: Below, max_fpr: float) -> float:
    """Sum the contributions of a bucket's positives to the partial AUC."""
    negative, positive = bucket
    up_to = below.negative + negative.below(positive.score, "right")
    tied = up_to - (below.negative + negative.below(positive.score, "left"))
    room = max_fpr - (below.n_negative - up_to) / below.n_negative
    _, added = components_of_positives(room, tied / below.n_negative)
    return float(positive.counts @ added)


def _first_score(bucket: Bucket, _: Below) -> float:
    return min((one.score[0] for one in bucket if one.score.size), default=np.inf)


def _best_intervals(
    bucket: Bucket,
    below: Below,
    first: list[float],
    totals: tuple[float, float],
    largest_value: float,
) -> list[Vector]:
    """Return the errors and ends of the best intervals above the scores of a bucket.

    For a constant in the interval between two adjacent scores, the rows with higher
    scores are predicted positive.
    """
    score = np.union1d(bucket.negative.score, bucket.positive.score)
    if score.size == 0:
        return [score, score, score]
    above = min((one for one in first if one > score[-1]), default=np.inf)
    up_to = [one.below(score, "right") for one in bucket]
    fpr = (below.n_negative - below.negative - up_to[0]) / below.n_negative
    tpr = (below.n_positive - below.positive - up_to[1]) / below.n_positive
    errors = fpr * totals[0] + (1.0 - tpr) * totals[1]
    low, high = -np.append(score[1:], above), -score
    is_safe = exceeds_rounding(low, high, largest_value)
    # Equal errors may differ by rounding, so nearly best intervals are kept too.
    is_best = is_safe & (errors <= errors[is_safe].min(initial=np.inf) * (1 + 1e-11))
    return [column[is_best][::-1] for column in (errors, low, high)]
