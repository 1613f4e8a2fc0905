"""Partitioned rows as the samples of a descent: predictions, AUM, gradient and steps.

Predictions stay on the workers, 8 bytes per row; the client has those of a sample. The
searches and selections are those for rows in memory (:mod:`rocpath.descent`): they use
the sample, which does not depend on the partitioning, and request from all partitions
the few thresholds inside a box and sums of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import rocpath._core as _core
from rocpath.dask.buckets import Buckets
from rocpath.dask.partitions import Partition, PartitionedRows
from rocpath.dask.scores import PartitionedScores
from rocpath.dask.weights import WeightUnits, common_units, label_jumps
from rocpath.matrices import add_pairs, pair_sums, row_products
from rocpath.step_choice import ChosenStep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rocpath.dask.passes import Passes
    from rocpath.descent import State
    from rocpath.step_choice import Quadratic

    Vector = NDArray[np.float64]
    Jumps = NDArray[np.int8] | NDArray[np.int64]  # of `label_jumps`

_FEW_ROWS = 50_000  # all of whose predictions are sent to the client
_MAX_LINES = 2**22  # that may be sent to the client, 134 MB
_CONFIDENCE = 4.0  # half width of the bracket of the level, in standard errors


class LabelErrors(NamedTuple):
    """The error functions of all rows: where they jump, and in which units."""

    margin: float
    units: WeightUnits

    def values(self, jump: Jumps) -> Vector:
        """Return the positions of the breakpoints."""
        return np.where(jump > 0, self.margin, -self.margin)

    def breakpoints(self, jump: Jumps) -> _core.Breakpoints:
        """Return the breakpoints of the given rows."""
        count = jump.astype(np.int64)
        return _core.Breakpoints(
            self.values(jump),
            np.arange(jump.size),
            np.maximum(-count, 0),
            np.maximum(count, 0),
            *self.units.in_core,
            True,
        )

    def lines(self, jump: Jumps, prediction: Vector, change: Vector | None = None) -> _core.Lines:
        """Return the thresholds of the given rows as lines, constant by default."""
        if change is None:
            change = np.zeros(prediction.size)
        return self.breakpoints(jump).lines(prediction, change)


class Level(NamedTuple):
    """The threshold where FP reaches FN, and the counts of both before and after."""

    threshold: float
    counts: NDArray[np.int64]


@dataclass(eq=False)
class PartitionedVector:
    """One entry per row, kept by the workers; the client has a sample of them."""

    passes: Passes
    tasks: list[Any]
    sample: Vector
    # Cached: AUM and its gradient need the level, AUC and the intercept the buckets.
    level: Level | None = None
    buckets: Buckets | None = None

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

    def row_products(self, coef: Vector) -> PartitionedVector:
        """Compute ``X @ coef``, in one pass."""
        rows, passes = self.samples.rows, self.samples.rows.passes
        # Kept, because the line search reads them several times and X is large.
        tasks = passes.keep(rows.each(_products, state=coef))
        sampled = passes.each(_take, tasks, self.samples.sampled_rows)
        found = passes.results("predicting", sampled, reads_x=True)
        return PartitionedVector(passes, tasks, np.concatenate(found))

    def column_sums(self, predictions: PartitionedVector) -> Vector:
        """Compute the gradient of AUM in the coef, in one pass."""
        samples = self.samples
        state = samples.errors, samples.level(predictions)
        tasks = samples.rows.each(_gradient_sums, samples.jumps, predictions.tasks, state=state)
        # Sums of pairs hardly depend on the order, and not at all for whole numbers.
        return add_pairs(samples.rows.passes.results("gradient", tasks, reads_x=True))

    def difference_of_means(self) -> Vector:
        """Subtract the mean of the negatives from that of the positives, in a pass."""
        samples = self.samples
        tasks = samples.rows.each(_mean_sums, samples.jumps, state=samples.errors.units)
        return add_pairs(samples.rows.passes.results("means", tasks, reads_x=True))


class PartitionedSamples(NamedTuple):
    """All rows, as the single sample of a descent."""

    rows: PartitionedRows
    n_rows: int
    jumps: list[Any]  # kept by the workers
    sampled_rows: list[NDArray[np.int64]]  # row numbers within each partition
    sampled_jumps: Jumps
    errors: LabelErrors

    @classmethod
    def of(cls, rows: PartitionedRows, margin: float) -> PartitionedSamples:
        """Compute the labels, and sample rows."""
        passes, positives = rows.passes, rows.classes[1:]
        units = common_units(rows, positives)
        jumps = passes.keep(rows.each(label_jumps, state=(positives, units)))
        sampled_rows = sample_rows(rows.n_rows)
        found = passes.results("sampling", passes.each(_take, jumps, sampled_rows))
        errors, n_rows = LabelErrors(margin, units), sum(rows.n_rows)
        return cls(rows, n_rows, jumps, sampled_rows, np.concatenate(found), errors)

    @property
    def is_small(self) -> bool:
        """Whether the sample contains all rows."""
        return self.n_rows <= _FEW_ROWS

    def areas(self, state: State) -> list[tuple[float, float]]:
        """Compute AUM and AUC."""
        predictions = state.predictions[0]
        found = self._each("AUM", _partial_aum, [predictions], self.level(predictions))
        return [(fsum(found), self._buckets(predictions).auc())]

    def gradient(self, state: State) -> PartitionedVector:
        """Return the predictions, from which the gradient is computed when needed."""
        # Each partition computes its own entries in `PartitionedMatrix.column_sums`:
        # a vector of them would be sent to the client and back.
        predictions: PartitionedVector = state.predictions[0]
        return predictions

    def choose_step(self, state: State, direction: State, added: Quadratic) -> ChosenStep:
        """Return the step with the smallest AUM."""
        here, change = state.predictions[0], direction.predictions[0]
        sample = self.errors.lines(self.sampled_jumps, here.sample, change.sample)
        # The sample contains all rows, so no pass is needed.
        if self.is_small:
            return ChosenStep(_core.best_aum_step(sample, inf)["step"])

        # The core requests the lines inside a box of steps and thresholds, and only
        # sums of the others.
        def collapse(*box: float) -> dict[str, NDArray[Any]]:
            return _concatenate(self._each("best step", _collapsed, [here, change], box))

        best = _core.best_aum_step_of_partitions(sample, self.n_rows, collapse, inf)
        return ChosenStep(best["step"])

    def intercept(self, state: State) -> float:
        """Find the constant with the fewest errors."""
        buckets = self._buckets(state.predictions[0])
        return buckets.fewest_errors_constant(self.errors.units.in_core)

    def level(self, predictions: PartitionedVector) -> Level:
        """Find where FP reaches FN, from the sample and one pass over predictions."""
        if predictions.level is None:
            predictions.level = self._find_level(predictions)
        return predictions.level

    def _find_level(self, predictions: PartitionedVector) -> Level:
        sample = self.errors.lines(self.sampled_jumps, predictions.sample)
        confidence = _CONFIDENCE
        # If the bracket from the sample misses the level, a wider one is tried, and
        # finally all thresholds, so that the result does not depend on the sample.
        while True:
            low, high = -inf, inf
            if not self.is_small and confidence < 100.0:
                low, high = _core.level_bracket(sample, self.n_rows, confidence)
            box = (0.0, 0.0, low, high)
            inside = _concatenate(self._each("level", _near_level, [predictions], box))
            found = _core.level_inside(inside, sample)
            if found.pop("is_inside"):
                return Level(**found)
            confidence *= 4.0

    def _buckets(self, predictions: PartitionedVector) -> Buckets:
        if predictions.buckets is None:
            passes = self.rows.passes
            tasks = passes.each(_score, self.jumps, predictions.tasks, state=self.errors)
            scores = PartitionedScores(passes, tasks, self.n_rows, int(self.rows.class_counts[1]))
            predictions.buckets = Buckets.of(scores)
        return predictions.buckets

    def _each(self, name: str, function: Any, vectors: list[PartitionedVector], at: Any) -> Any:
        """Apply a function to the labels and entries of every partition."""
        columns, passes = [one.tasks for one in vectors], self.rows.passes
        return passes.results(
            name, passes.each(function, self.jumps, *columns, state=(self.errors, at))
        )


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
    _check_size(sum(one["intercept"].size for one in found))
    return {key: np.concatenate([one[key] for one in found]) for key in found[0]}


def _check_size(n_lines: int) -> None:
    # A clear error is better than a client that runs out of memory.
    if n_lines > _MAX_LINES:
        raise MemoryError(
            f"at most {_MAX_LINES:,} thresholds may be close to the best step, got "
            f"{n_lines:,}: round the scores, or use fewer rows."
        )


def _take(entries: NDArray[Any], index: NDArray[np.int64], _: None) -> NDArray[Any]:
    return entries[index]


def _products(rows: Partition, coef: Vector) -> Vector:
    products: Vector = row_products(rows.X, coef)
    return products


def _add_step(entries: Vector, change: Vector, step: float) -> Vector:
    return np.asarray(entries + step * change)


def _collapsed(
    jump: Jumps, prediction: Vector, change: Vector, state: tuple[LabelErrors, tuple[float, ...]]
) -> dict[str, NDArray[Any]]:
    errors, box = state
    inside = _core.collapse_lines(errors.lines(jump, prediction, change), *box)
    _check_size(inside["intercept"].size)  # before it is sent
    return inside


def _near_level(
    jump: Jumps, prediction: Vector, state: tuple[LabelErrors, tuple[float, ...]]
) -> dict[str, NDArray[Any]]:
    # Thresholds are lines of slope zero.
    return _collapsed(jump, prediction, np.zeros(prediction.size), state)


def _at_level(
    jump: Jumps, prediction: Vector, state: tuple[LabelErrors, Level]
) -> tuple[float, Vector]:
    errors, level = state
    n_positive = errors.units.positive.total
    prediction = np.ascontiguousarray(prediction)
    return _core.at_level(errors.breakpoints(jump), prediction, *level, n_positive)


def _partial_aum(jump: Jumps, prediction: Vector, state: tuple[LabelErrors, Level]) -> float:
    return _at_level(jump, prediction, state)[0]


def _gradient_sums(
    rows: Partition, jump: Jumps, prediction: Vector, state: tuple[LabelErrors, Level]
) -> tuple[Vector, Vector]:
    return pair_sums(rows.X, _at_level(jump, prediction, state)[1])


def _mean_sums(rows: Partition, jump: Jumps, units: WeightUnits) -> tuple[Vector, Vector]:
    total = np.where(jump > 0, units.positive.total, units.negative.total)
    return pair_sums(rows.X, jump / total)


def _score(jump: Jumps, prediction: Vector, errors: LabelErrors) -> Partition:
    """Return minus the thresholds, which rank rows by predictions and margins."""
    return Partition(-(errors.values(jump) - prediction), jump)
