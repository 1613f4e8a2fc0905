"""Partitioned rows as the samples of a descent: predictions, AUM, gradient and steps.

Predictions stay on the workers, 8 bytes per row; the client has those of a sample. The
searches and selections are those for rows in memory (:mod:`rocpath.descent`): they use
the sample, which does not depend on the partitioning, and request from all partitions
the few thresholds inside a box and sums of the others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import fsum, inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import rocpath._core as _core
from rocpath.dask.auc_pairs import exact_auc
from rocpath.dask.buckets import Buckets, LabeledScores
from rocpath.dask.fewest_errors import fewest_errors_in_buckets
from rocpath.dask.weights import ClassUnit, CountedLabels, WeightUnits, common_units, counted_labels
from rocpath.matrices import add_pairs, pair_sums, row_products
from rocpath.step_choice import ChosenStep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rocpath.dask.partitions import DataSummary, Partition
    from rocpath.dask.passes import Passes
    from rocpath.descent import State
    from rocpath.step_choice import Quadratic

_FEW_ROWS = 50_000  # all of whose predictions are sent to the client
_MAX_LINES = 2**22  # that may be sent to the client, 134 MB
_CONFIDENCE = 4.0  # half width of the bracket of the level, in standard errors


class LabelJumps(NamedTuple):
    """The jumps of all rows, as whole numbers of units that all partitions share."""

    margin: float
    units: WeightUnits

    def values(self, labels: CountedLabels) -> NDArray[np.float64]:
        """Return the positions of the breakpoints."""
        return np.where(labels.is_positive, self.margin, -self.margin)

    def breakpoints(self, labels: CountedLabels) -> _core.Breakpoints:
        """Return the breakpoints of the given rows."""
        is_positive, _ = labels
        count = labels.counts
        return _core.Breakpoints(
            self.values(labels),
            np.arange(is_positive.size),
            np.where(is_positive, 0, count),
            np.where(is_positive, count, 0),
            *self.units.in_core,
            True,
        )

    def lines(
        self,
        labels: CountedLabels,
        prediction: NDArray[np.float64],
        change: NDArray[np.float64] | None = None,
    ) -> _core.Lines:
        """Return the thresholds of the given rows as lines, constant by default."""
        if change is None:
            change = np.zeros(prediction.size)
        return self.breakpoints(labels).lines(prediction, change)


class Level(NamedTuple):
    """The threshold where FP reaches FN, and the counts of both before and after."""

    threshold: float
    counts: NDArray[np.int64]


@dataclass(eq=False)
class PartitionedVector:
    """One entry per row, kept by the workers; the client has a sample of them."""

    passes: Passes
    tasks: list[Any]
    sample: NDArray[np.float64]
    # Cached: AUM and its gradient need the level, AUC and the intercept the buckets.
    level: Level | None = field(default=None)
    buckets: Buckets | None = field(default=None)

    # The two operations of a descent on predictions, which it expects to be arrays.
    def __rmul__(self, step: float) -> _Scaled:
        """Return the vector multiplied by a step."""
        return _Scaled(self, step)

    def __add__(self, change: _Scaled) -> PartitionedVector:
        """Add a multiple of a vector, with the rounding of arrays."""
        vector, step = change
        tasks = self.passes.each(_add_step, self.tasks, vector.tasks, state=step)
        sample = _add_step(self.sample, vector.sample, step)
        return PartitionedVector(self.passes, self.passes.keep(tasks), sample)


class _Scaled(NamedTuple):
    vector: PartitionedVector
    step: float


class PartitionedMatrix(NamedTuple):
    """Partitioned features, with the products that a linear model needs."""

    samples: PartitionedSamples
    shape: tuple[int, int]

    def row_products(self, coef: NDArray[np.float64]) -> PartitionedVector:
        """Compute ``X @ coef``, in one pass."""
        samples = self.samples
        passes = samples.passes
        # Kept, because the line search reads them several times and X is large.
        tasks = passes.keep(passes.each(_products, samples.partitions, state=coef))
        sampled = passes.each(_take, tasks, samples.sampled_rows)
        found = passes.results("predicting", sampled, reads_x=True)
        return PartitionedVector(passes, tasks, np.concatenate(found))

    def column_sums(self, predictions: PartitionedVector) -> NDArray[np.float64]:
        """Compute the gradient of AUM in the coef, in one pass."""
        samples = self.samples
        state = samples.jumps, samples.level(predictions)
        tasks = samples.passes.each(
            _gradient_sums, samples.partitions, samples.labels, predictions.tasks, state=state
        )
        # Sums of pairs hardly depend on the order, and not at all for whole numbers.
        return add_pairs(samples.passes.results("gradient", tasks, reads_x=True))

    def difference_of_means(self) -> NDArray[np.float64]:
        """Subtract the mean of the negatives from that of the positives, in a pass."""
        samples = self.samples
        tasks = samples.passes.each(
            _mean_sums, samples.partitions, samples.labels, state=samples.jumps.units
        )
        return add_pairs(samples.passes.results("means", tasks, reads_x=True))


class PartitionedSamples(NamedTuple):
    """All rows, as the single sample of a descent."""

    passes: Passes
    partitions: list[Any]
    n_rows: int
    labels: list[Any]  # kept by the workers
    sampled_rows: list[NDArray[np.int64]]  # row numbers within each partition
    sampled_labels: CountedLabels
    jumps: LabelJumps

    @classmethod
    def from_partitions(
        cls, passes: Passes, partitions: list[Any], summary: DataSummary, margin: float
    ) -> PartitionedSamples:
        """Compute the labels, and sample rows."""
        positives = summary.classes[1:]
        units = WeightUnits(*map(ClassUnit, summary.class_counts.tolist()))
        if summary.is_weighted:
            units = common_units(passes, partitions, positives)
        tasks = passes.each(_labels, partitions, state=(positives, units))
        labels, rows = passes.keep(tasks), sample_rows(summary.n_rows)
        tasks = passes.each(_take_labels, labels, rows)
        sampled = CountedLabels.concatenate(passes.results("sampling", tasks))
        n_rows, jumps = sum(summary.n_rows), LabelJumps(margin, units)
        return cls(passes, partitions, n_rows, labels, rows, sampled, jumps)

    @property
    def is_small(self) -> bool:
        """Whether the sample contains all rows."""
        return self.n_rows <= _FEW_ROWS

    def areas(self, state: State) -> list[tuple[float, float]]:
        """Compute AUM and AUC."""
        predictions = state.predictions[0]
        tasks = self.passes.each(
            _partial_aum,
            self.labels,
            predictions.tasks,
            state=(self.jumps, self.level(predictions)),
        )
        aum = fsum(self.passes.results("AUM", tasks))
        return [(aum, exact_auc(self._buckets(predictions)))]

    def gradient(self, state: State) -> PartitionedVector:
        """Return the predictions, from which the gradient is computed when needed."""
        # Each partition computes its own entries in `PartitionedMatrix.column_sums`:
        # a vector of them would be sent to the client and back.
        predictions: PartitionedVector = state.predictions[0]
        return predictions

    def choose_step(self, state: State, direction: State, added: Quadratic) -> ChosenStep:
        """Return the step with the smallest AUM."""
        here, change = state.predictions[0], direction.predictions[0]
        sample = self.jumps.lines(self.sampled_labels, here.sample, change.sample)
        # The sample contains all rows, so no pass is needed.
        if self.is_small:
            return ChosenStep(_core.best_aum_step(sample, inf)["step"])

        # The core requests the lines inside a box of steps and thresholds, and only
        # sums of the others.
        def collapse(*box: float) -> dict[str, NDArray[Any]]:
            tasks = self.passes.each(
                _collapsed, self.labels, here.tasks, change.tasks, state=(self.jumps, box)
            )
            return _concatenate(self.passes.results("best step", tasks))

        best = _core.best_aum_step_of_partitions(sample, self.n_rows, collapse, inf)
        return ChosenStep(best["step"])

    def intercept(self, state: State) -> float:
        """Find the constant with the fewest errors."""
        buckets = self._buckets(state.predictions[0])
        return fewest_errors_in_buckets(buckets, self.jumps.units.in_core)

    def level(self, predictions: PartitionedVector) -> Level:
        """Find where FP reaches FN, from the sample and one pass over predictions."""
        if predictions.level is None:
            predictions.level = self._find_level(predictions)
        return predictions.level

    def _find_level(self, predictions: PartitionedVector) -> Level:
        sample = self.jumps.lines(self.sampled_labels, predictions.sample)
        confidence = _CONFIDENCE
        # If the bracket from the sample misses the level, a wider one is tried, and
        # finally all thresholds, so that the result does not depend on the sample.
        while True:
            low, high = -inf, inf
            if not self.is_small and confidence < 100.0:
                low, high = _core.level_bracket(sample, self.n_rows, confidence)
            tasks = self.passes.each(
                _near_level,
                self.labels,
                predictions.tasks,
                state=(self.jumps, (0.0, 0.0, low, high)),
            )
            inside = _concatenate(self.passes.results("level", tasks))
            found = _core.level_inside(inside, sample)
            if found.pop("is_inside"):
                return Level(**found)
            confidence *= 4.0

    def _buckets(self, predictions: PartitionedVector) -> Buckets:
        if predictions.buckets is None:
            scores = self.passes.each(_score, self.labels, predictions.tasks, state=self.jumps)
            predictions.buckets = Buckets.shuffle(self.passes, scores, self.n_rows)
        return predictions.buckets


def sample_rows(n_rows: Sequence[int]) -> list[NDArray[np.int64]]:
    """Return the sampled row numbers within each partition."""
    # Sampled by row number among all rows, so that every partitioning has the same
    # sample and takes the same steps.
    total = sum(n_rows)
    sampled = np.arange(total)
    if total > _FEW_ROWS:
        sampled = _core.sampled_places(total)
    ends = np.cumsum(n_rows)
    pieces = np.split(sampled, np.searchsorted(sampled, ends[:-1]))
    first = np.concatenate(([0], ends[:-1]))
    return [piece - start for piece, start in zip(pieces, first, strict=True)]


def _concatenate(found: list[dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """Concatenate the lines inside a box, if the client has room for them."""
    # A clear error is better than a client that runs out of memory.
    n_lines = sum(one["intercept"].size for one in found)
    if n_lines > _MAX_LINES:
        raise _too_many(n_lines)
    return {key: np.concatenate([one[key] for one in found]) for key in found[0]}


def _too_many(n_lines: int) -> MemoryError:
    return MemoryError(
        f"at most {_MAX_LINES:,} thresholds may be close to the best step, got "
        f"{n_lines:,}: round the scores, or use fewer rows."
    )


def _labels(rows: Partition, state: tuple[NDArray[Any], WeightUnits]) -> CountedLabels:
    return counted_labels(rows, *state)


def _take_labels(labels: CountedLabels, index: NDArray[np.int64], _: None) -> CountedLabels:
    return labels.take(index)


def _take(entries: NDArray[Any], index: NDArray[np.int64], _: None) -> Any:
    return entries[index]


def _products(rows: Partition, coef: NDArray[np.float64]) -> NDArray[np.float64]:
    products: NDArray[np.float64] = row_products(rows.X, coef)
    return products


def _add_step(
    entries: NDArray[np.float64], change: NDArray[np.float64], step: float
) -> NDArray[np.float64]:
    return np.asarray(entries + step * change)


def _collapsed(
    labels: CountedLabels,
    prediction: NDArray[np.float64],
    change: NDArray[np.float64],
    state: tuple[LabelJumps, tuple[float, ...]],
) -> dict[str, NDArray[Any]]:
    jumps, box = state
    inside = _core.collapse_lines(jumps.lines(labels, prediction, change), *box)
    # Checked before it is sent.
    if inside["intercept"].size > _MAX_LINES:
        raise _too_many(inside["intercept"].size)
    return inside


def _near_level(
    labels: CountedLabels,
    prediction: NDArray[np.float64],
    state: tuple[LabelJumps, tuple[float, ...]],
) -> dict[str, NDArray[Any]]:
    # Thresholds are lines of slope zero.
    return _collapsed(labels, prediction, np.zeros(prediction.size), state)


def _at_level(
    labels: CountedLabels, prediction: NDArray[np.float64], state: tuple[LabelJumps, Level]
) -> tuple[float, NDArray[np.float64]]:
    jumps, level = state
    return _core.at_level(
        jumps.breakpoints(labels),
        np.ascontiguousarray(prediction),
        level.threshold,
        level.counts,
        jumps.units.positive.total,
    )


def _partial_aum(
    labels: CountedLabels, prediction: NDArray[np.float64], state: tuple[LabelJumps, Level]
) -> float:
    return _at_level(labels, prediction, state)[0]


def _gradient_sums(
    rows: Partition,
    labels: CountedLabels,
    prediction: NDArray[np.float64],
    state: tuple[LabelJumps, Level],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return pair_sums(rows.X, _at_level(labels, prediction, state)[1])


def _mean_sums(
    rows: Partition, labels: CountedLabels, units: WeightUnits
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    positive, negative = (labels.counts / one.total for one in units[::-1])
    return pair_sums(rows.X, np.where(labels.is_positive, positive, -negative))


def _score(
    labels: CountedLabels, prediction: NDArray[np.float64], jumps: LabelJumps
) -> LabeledScores:
    """Return minus the thresholds, which rank rows by predictions and margins."""
    return LabeledScores(-(jumps.values(labels) - prediction), labels)
