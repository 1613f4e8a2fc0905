"""Scores of all partitions, sorted into buckets that cover disjoint ranges of scores.

The ends of the ranges are quantiles of a sample, so that buckets have similar sizes;
equal scores are in the same bucket. Two scores in different buckets are compared by
their buckets. Each worker compares the scores within its bucket, and needs only the
counts of the lower buckets to compute the bucket's contribution to an AUC.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

import rocpath._core as _core
from rocpath.auc_statistics.influence import components_of_positives
from rocpath.dask.partitions import Partition
from rocpath.dask.passes import Passes
from rocpath.dask.scores import PartitionedScores
from rocpath.descent import widest_best_interval


class ClassScores(NamedTuple):
    """Distinct scores of a class in ascending order, and the count of each."""

    score: NDArray[np.float64]
    counts: NDArray[np.int8] | NDArray[np.int64]  # int8 if all are one

    @classmethod
    def from_rows(cls, score: NDArray[np.float64], count: NDArray[Any]) -> Self:
        """Sort scores, and sum the counts of equal scores."""
        if count.dtype == np.int8:  # all are one, so only scores are sorted
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
        """The sum of the counts."""
        return int(self.counts.sum(dtype=np.int64))

    @property
    def repeats(self) -> NDArray[np.int64]:
        """The counts as the core expects them: an empty array if all are one."""
        counts = self.counts[:0] if self.counts.dtype == np.int8 else self.counts
        return counts.astype(np.int64, copy=False)

    def below(self, score: NDArray[np.float64], side: str) -> NDArray[np.int64]:
        """Sum the counts below ("left") or up to ("right") each score."""
        sums = np.concatenate(([0], np.cumsum(self.counts, dtype=np.int64)))
        return np.asarray(sums[np.searchsorted(self.score, score, side=side)])  # type: ignore[call-overload]


class Bucket(NamedTuple):
    """The scores of both classes within a bucket."""

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
    def of(cls, scores: PartitionedScores) -> Self:
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
        # As in the core, each integer is rounded once, and then the quotient.
        return float(sum(doubled)) / float(2 * sum(self.n_negative) * sum(self.n_positive))

    def fewest_errors_constant(self, units: tuple[float, float, float]) -> float:
        """Find the constant that minimizes FP + FN when added to all predictions.

        The scores are minus the thresholds at which the errors of the rows change.
        """
        # An interval without scores may extend into the next nonempty bucket.
        first = self.run("thresholds", _first_score)
        fp_unit, tp_unit, divisor = units
        n_negative, n_positive = sum(self.n_negative), sum(self.n_positive)
        totals = n_negative * fp_unit / divisor, n_positive * tp_unit / divisor
        # In decreasing order of the scores, which is the increasing order of constants.
        best = self.run("fewest errors", _best_intervals, first=first, totals=totals)[::-1]
        # Below the smallest score, all rows are predicted positive.
        last = [np.array([x]) for x in (totals[0], -min(first), np.inf)]
        return widest_best_interval(*map(np.concatenate, zip(*best, last, strict=True)))


def _split(rows: Partition, name: str, edge: NDArray[np.float64]) -> list[Bucket]:
    sides = []
    for members in (rows.y < 0, rows.y > 0):
        score, count = ClassScores.from_rows(getattr(rows, name)[members], np.abs(rows.y[members]))
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
    # Python integers, because counts of pairs may exceed 64 bits.
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
    bucket: Bucket, below: Below, first: list[float], totals: tuple[float, float]
) -> list[NDArray[np.float64]]:
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
    # Equal errors may differ by rounding, so nearly best intervals are kept too.
    is_best = errors <= errors.min() * (1 + 1e-11)
    return [one[is_best][::-1] for one in (errors, low, high)]
