"""Scores of all partitions sorted into buckets, such that equal scores share one.

Splitters come from a sample of every partition, so buckets have similar sizes. Scores
of different buckets are compared by their buckets alone; what needs the order inside a
bucket is computed by its worker, given the counts below it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from dask.delayed import delayed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rocpath.dask.passes import Passes
    from rocpath.dask.weights import CountedLabels

_ROWS_PER_BUCKET = 2**22  # 64 MB if all scores differ
_SAMPLES_PER_BUCKET = 256  # from every partition, up to all of its scores


class LabeledScores(NamedTuple):
    """Scores of rows, and their labels."""

    score: NDArray[np.float64]
    labels: CountedLabels


class ClassScores(NamedTuple):
    """Distinct scores of a class in ascending order, and the count of each."""

    score: NDArray[np.float64]
    repeats: NDArray[np.int64] | None  # None if every count is one

    @classmethod
    def from_rows(
        cls, score: NDArray[np.float64], count: NDArray[np.int64] | None = None
    ) -> ClassScores:
        """Sort scores, and add up the counts of equal ones."""
        # Most scores are distinct and need no counts, which halves the memory.
        if count is None:
            return cls(np.sort(score), None).merged()
        order = np.argsort(score)
        return cls(score[order], count[order]).merged()

    @property
    def counts(self) -> NDArray[np.int64]:
        """The count of each score."""
        if self.repeats is None:
            return np.ones(self.score.size, dtype=np.int64)
        return self.repeats

    @property
    def total(self) -> int:
        """The sum of the counts."""
        return self.score.size if self.repeats is None else int(self.repeats.sum())

    def merged(self) -> ClassScores:
        """Add up the counts of equal scores, which are adjacent."""
        # The slice is for no scores at all, of which none is new.
        is_new = np.append(True, self.score[1:] != self.score[:-1])[: self.score.size]
        if is_new.all():
            return self
        start = np.flatnonzero(is_new)
        return ClassScores(self.score[start], np.add.reduceat(self.counts, start))

    def below(self, score: NDArray[np.float64], side: str) -> NDArray[np.int64]:
        """Sum the counts below ("left") or up to ("right") each score."""
        sums = np.concatenate(([0], np.cumsum(self.counts)))
        return np.asarray(sums[np.searchsorted(self.score, score, side=side)])  # type: ignore[call-overload]

    def split(self, splitters: NDArray[np.float64]) -> list[ClassScores]:
        """Split into buckets."""
        # A splitter begins its bucket in every partition, so that ties meet.
        ends = np.searchsorted(self.score, splitters).tolist()
        pieces = zip([0, *ends], [*ends, self.score.size], strict=True)
        return [
            ClassScores(self.score[a:b], None if self.repeats is None else self.repeats[a:b])
            for a, b in pieces
        ]

    @classmethod
    def concatenate(cls, pieces: Sequence[ClassScores]) -> ClassScores:
        """Combine the pieces of several partitions."""
        score = np.concatenate([piece.score for piece in pieces])
        if all(piece.repeats is None for piece in pieces):
            return cls.from_rows(score)
        return cls.from_rows(score, np.concatenate([piece.counts for piece in pieces]))


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
    def shuffle(cls, passes: Passes, scores: Sequence[Any], n_rows: int) -> Buckets:
        """Sort scores into buckets, given tasks of `LabeledScores`."""
        # At least one per worker, so that none is idle.
        n_buckets = max(passes.n_workers, -(-n_rows // _ROWS_PER_BUCKET))
        edge = np.zeros(0)
        if n_buckets > 1:
            edge = splitters(passes, scores, n_buckets)
        split = delayed(_split, pure=False)
        shared = delayed(edge, pure=False, traverse=False)
        pieces = [split(one, shared) for one in scores]
        join = delayed(_concatenate, pure=False)
        tasks = passes.keep([join([piece[k] for piece in pieces]) for k in range(edge.size + 1)])
        sizes = passes.results("sorting scores", passes.each(_sizes, tasks))
        return cls(passes, tasks, *(list(side) for side in zip(*sizes, strict=True)))

    def each(self, name: str, function: Callable[[Bucket, Below], Any]) -> list[Any]:
        """Apply a function to every bucket and the counts below it."""
        total = sum(self.n_negative), sum(self.n_positive)
        below = [
            Below(sum(self.n_negative[:k]), sum(self.n_positive[:k]), *total)
            for k in range(len(self.tasks))
        ]
        tasks = self.passes.each(partial(_without_state, function), self.tasks, below)
        results: list[Any] = self.passes.results(name, tasks)
        return results


def splitters(passes: Passes, scores: Sequence[Any], n_buckets: int) -> NDArray[np.float64]:
    """Select distinct scores that split all scores into similar buckets."""
    n_sampled = max(_SAMPLES_PER_BUCKET * n_buckets // len(scores), 16)
    samples = passes.results("sampling scores", passes.each(_sample, scores, state=n_sampled))
    # All samples have the same size, so those of large partitions get more weight.
    score = np.concatenate([one for one, _ in samples])
    weight = np.concatenate([np.full(one.size, each) for one, each in samples])
    order = np.argsort(score)
    rank = np.cumsum(weight[order])
    # Equal splitters are merged: a frequent score has a single bucket, perhaps a large
    # one, in which it is stored once with its count.
    wanted = rank[-1] * np.arange(1, n_buckets) / n_buckets
    return np.unique(score[order][np.searchsorted(rank, wanted)])


def _sample(scores: LabeledScores, n_sampled: int) -> tuple[NDArray[np.float64], float]:
    score = scores.score
    # Evenly spaced rows, so that every run is the same.
    sample = score[:: max(score.size // n_sampled, 1)]
    return sample, score.size / max(sample.size, 1)


def _split(scores: LabeledScores, edge: NDArray[np.float64]) -> tuple[Bucket, ...]:
    score, (is_positive, units) = scores
    classes = []
    for members in (~is_positive, is_positive):
        count = None if units is None else units[members]
        classes.append(ClassScores.from_rows(score[members], count).split(edge))
    return tuple(Bucket(*both) for both in zip(*classes, strict=True))


def _concatenate(pieces: list[Bucket]) -> Bucket:
    return Bucket(
        ClassScores.concatenate([piece.negative for piece in pieces]),
        ClassScores.concatenate([piece.positive for piece in pieces]),
    )


def _sizes(bucket: Bucket, _: None) -> tuple[int, int]:
    return bucket.negative.total, bucket.positive.total


def _without_state(
    function: Callable[[Bucket, Below], Any], bucket: Bucket, below: Below, _: None
) -> Any:
    return function(bucket, below)
