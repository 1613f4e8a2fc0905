"""Scores of all parts sorted into buckets, such that equal scores share one.

Splitters come from a sample of every part, so buckets have about the same size. Scores
of different buckets compare by their buckets alone; what needs the order inside is
computed where a bucket lies, given the counts below it.
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

_ROWS_OF_A_BUCKET = 2**22  # 64 MB where all scores differ
_SAMPLED = 256  # scores of a part for every bucket, up to all of them


class Scored(NamedTuple):
    """Scores of rows, and their labels."""

    score: NDArray[np.float64]
    labels: CountedLabels


class ClassScores(NamedTuple):
    """Different scores of a class, rising, and how much rows count that have each."""

    score: NDArray[np.float64]
    repeats: NDArray[np.int64] | None  # None where all scores differ, of rows alike

    @classmethod
    def of(
        cls, score: NDArray[np.float64], count: NDArray[np.int64] | None = None
    ) -> ClassScores:
        """Sort scores, and count those that are equal."""
        # Scores that differ, as most do, need no counts beside them: half the memory.
        if count is None:
            return cls(np.sort(score), None).merged()
        order = np.argsort(score)
        return cls(score[order], count[order]).merged()

    @property
    def counts(self) -> NDArray[np.int64]:
        """How much the rows of each score count."""
        if self.repeats is None:
            return np.ones(self.score.size, dtype=np.int64)
        return self.repeats

    @property
    def total(self) -> int:
        """How much all rows count."""
        return self.score.size if self.repeats is None else int(self.repeats.sum())

    def merged(self) -> ClassScores:
        """Add up the counts of equal scores that lie side by side."""
        # The cut at the end is for no scores at all, of which none is new.
        is_new = np.append(True, self.score[1:] != self.score[:-1])[: self.score.size]
        if is_new.all():
            return self
        start = np.flatnonzero(is_new)
        return ClassScores(self.score[start], np.add.reduceat(self.counts, start))

    def below(self, score: NDArray[np.float64], side: str) -> NDArray[np.int64]:
        """Count the rows below ("left") or up to ("right") each score."""
        sums = np.concatenate(([0], np.cumsum(self.counts)))
        return np.asarray(sums[np.searchsorted(self.score, score, side=side)])  # type: ignore[call-overload]

    def cut(self, splitters: NDArray[np.float64]) -> list[ClassScores]:
        """Cut into buckets."""
        # A splitter begins its bucket, for all parts alike, so that ties meet.
        ends = np.searchsorted(self.score, splitters).tolist()
        pieces = zip([0, *ends], [*ends, self.score.size], strict=True)
        return [
            ClassScores(
                self.score[a:b], None if self.repeats is None else self.repeats[a:b]
            )
            for a, b in pieces
        ]

    @classmethod
    def joined(cls, pieces: Sequence[ClassScores]) -> ClassScores:
        """Put pieces of several parts together."""
        score = np.concatenate([piece.score for piece in pieces])
        if all(piece.repeats is None for piece in pieces):
            return cls.of(score)
        return cls.of(score, np.concatenate([piece.counts for piece in pieces]))


class Bucket(NamedTuple):
    """The scores of both classes within a bucket."""

    negative: ClassScores
    positive: ClassScores


class Below(NamedTuple):
    """How much rows of each class count in lower buckets, and in all."""

    negative: int
    positive: int
    n_negative: int
    n_positive: int


class Buckets(NamedTuple):
    """Buckets in rising order, kept by the workers, and how much their rows count."""

    passes: Passes
    tasks: list[Any]
    n_negative: list[int]
    n_positive: list[int]

    @classmethod
    def shuffled(cls, passes: Passes, scored: Sequence[Any], n_rows: int) -> Buckets:
        """Sort scores into buckets, given tasks of `Scored`."""
        # At least one a worker, so that none is idle, and more for many rows.
        n_buckets = max(passes.n_workers, -(-n_rows // _ROWS_OF_A_BUCKET))
        edge = np.zeros(0)
        if n_buckets > 1:
            edge = splitters(passes, scored, n_buckets)
        cut = delayed(_cut, pure=False)
        shared = delayed(edge, pure=False, traverse=False)
        pieces = [cut(one, shared) for one in scored]
        join = delayed(_joined, pure=False)
        tasks = passes.keep(
            [join([piece[k] for piece in pieces]) for k in range(edge.size + 1)]
        )
        sizes = passes.results("sorting scores", passes.each(_sizes, tasks))
        return cls(passes, tasks, *(list(side) for side in zip(*sizes, strict=True)))

    def each(self, name: str, function: Callable[[Bucket, Below], Any]) -> list[Any]:
        """Run a function of every bucket and the counts below it."""
        total = sum(self.n_negative), sum(self.n_positive)
        below = [
            Below(sum(self.n_negative[:k]), sum(self.n_positive[:k]), *total)
            for k in range(len(self.tasks))
        ]
        tasks = self.passes.each(partial(_without_state, function), self.tasks, below)
        results: list[Any] = self.passes.results(name, tasks)
        return results


def splitters(
    passes: Passes, scored: Sequence[Any], n_buckets: int
) -> NDArray[np.float64]:
    """Choose different scores that cut all into about equal buckets."""
    n_sampled = max(_SAMPLED * n_buckets // len(scored), 16)
    sampled = passes.results(
        "sampling scores", passes.each(_sampled, scored, state=n_sampled)
    )
    # A part with many rows counts for more, though its sample is no larger.
    score = np.concatenate([one for one, _ in sampled])
    weight = np.concatenate([np.full(one.size, each) for one, each in sampled])
    order = np.argsort(score)
    place = np.cumsum(weight[order])
    # Equal splitters are one: a score that many rows share has one bucket, if a large
    # one; it is counted, not stored row by row.
    wanted = place[-1] * np.arange(1, n_buckets) / n_buckets
    return np.unique(score[order][np.searchsorted(place, wanted)])


def _sampled(scored: Scored, n_sampled: int) -> tuple[NDArray[np.float64], float]:
    score = scored.score
    # Evenly spaced rows: the same for every run.
    sample = score[:: max(score.size // n_sampled, 1)]
    return sample, score.size / max(sample.size, 1)


def _cut(scored: Scored, edge: NDArray[np.float64]) -> tuple[Bucket, ...]:
    classes = []
    for members in (~scored.labels.is_positive, scored.labels.is_positive):
        units = scored.labels.units
        of_class = None if units is None else units[members]
        classes.append(ClassScores.of(scored.score[members], of_class).cut(edge))
    return tuple(Bucket(*both) for both in zip(*classes, strict=True))


def _joined(pieces: list[Bucket]) -> Bucket:
    return Bucket(
        ClassScores.joined([piece.negative for piece in pieces]),
        ClassScores.joined([piece.positive for piece in pieces]),
    )


def _sizes(bucket: Bucket, _: None) -> tuple[int, int]:
    return bucket.negative.total, bucket.positive.total


def _without_state(
    function: Callable[[Bucket, Below], Any], bucket: Bucket, below: Below, _: None
) -> Any:
    return function(bucket, below)
