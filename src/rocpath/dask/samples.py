"""Rows in parts as a descent sees them: predictions, AUM, its gradient and its steps.

Predictions stay with the workers, 8 bytes a row; the client has those of a sample. All
searches and selections are those of rows in memory (:mod:`rocpath.descent`): they look
at the sample, which is the same for any partition, and ask all parts for the few
thresholds in a box and for sums of the others.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import fsum, inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import rocpath._core as _core
from rocpath.dask.auc_pairs import exact_auc
from rocpath.dask.buckets import Buckets, Scored
from rocpath.dask.fewest_errors import fewest_errors_constant
from rocpath.dask.weights import (
    ClassUnit,
    CountedLabels,
    WeightUnits,
    agreed_units,
    counted_labels,
)
from rocpath.matrices import add_pairs, pair_sums, row_products
from rocpath.step_choice import ChosenStep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rocpath.dask.parts import Facts, Part
    from rocpath.dask.passes import Passes
    from rocpath.descent import State
    from rocpath.step_choice import Quadratic

_FEW_ROWS = 50_000  # whose predictions the client may as well have all of
_MOST_LINES = 2**22  # that may come to the client, 134 MB
_CONFIDENCE = 4.0  # standard errors of a sample, within which the level is looked for


class Jumps(NamedTuple):
    """The jumps of all rows: whole numbers of units that all parts share."""

    margin: float
    units: WeightUnits

    def values(self, labels: CountedLabels) -> NDArray[np.float64]:
        """Return where the breakpoints stand."""
        return np.where(labels.is_positive, self.margin, -self.margin)

    def breakpoints(self, labels: CountedLabels) -> _core.Breakpoints:
        """Return the breakpoints of some rows."""
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
        """Return the thresholds of some rows as lines; flat ones without a change."""
        if change is None:
            change = np.zeros(prediction.size)
        return self.breakpoints(labels).lines(prediction, change)


class Level(NamedTuple):
    """Where FP reaches FN, and the counts of both before and after."""

    threshold: float
    counts: NDArray[np.int64]


@dataclass(eq=False)
class PartedVector:
    """An entry for every row: kept by the workers, and a sample of them here."""

    passes: Passes
    tasks: list[Any]
    sample: NDArray[np.float64]
    # Once they are known: AUM and its gradient need the level; AUC and the intercept,
    # the buckets.
    level: Level | None = field(default=None)
    buckets: Buckets | None = field(default=None)

    # The two operations that a descent does with predictions: it is written for arrays,
    # and so takes vectors in parts as well.
    def __rmul__(self, step: float) -> _Scaled:
        """Return a change of so many times the vector."""
        return _Scaled(self, step)

    def __add__(self, change: _Scaled) -> PartedVector:
        """Return the vector after a change, rounded as arrays are."""
        vector, step = change
        tasks = self.passes.each(_moved, self.tasks, vector.tasks, state=step)
        sample = _moved(self.sample, vector.sample, step)
        return PartedVector(self.passes, self.passes.keep(tasks), sample)


class _Scaled(NamedTuple):
    vector: PartedVector
    step: float


class PartedMatrix(NamedTuple):
    """Features in parts, with the products that a linear model needs."""

    samples: PartedSamples
    shape: tuple[int, int]

    def row_products(self, coef: NDArray[np.float64]) -> PartedVector:
        """Compute ``X @ coef``, in one pass."""
        samples = self.samples
        passes = samples.passes
        # Kept, as searches of the step look at them several times, and X is large.
        tasks = passes.keep(passes.each(_products, samples.parts, state=coef))
        here = passes.each(_at_places, tasks, samples.places)
        found = passes.results("predicting", here, reads_x=True)
        return PartedVector(passes, tasks, np.concatenate(found))

    def column_sums(self, predictions: PartedVector) -> NDArray[np.float64]:
        """Compute the gradient of AUM in the coef at some predictions, in one pass."""
        samples = self.samples
        state = samples.jumps, samples.level(predictions)
        tasks = samples.passes.each(
            _gradient_sums,
            samples.parts,
            samples.labels,
            predictions.tasks,
            state=state,
        )
        # Pairs add up in any order: as whole numbers, and nearly so as other numbers.
        return add_pairs(samples.passes.results("gradient", tasks, reads_x=True))


class PartedSamples(NamedTuple):
    """All rows as the one sample of a descent."""

    passes: Passes
    parts: list[Any]
    n_rows: int
    labels: list[Any]  # kept by the workers
    places: list[NDArray[np.int64]]  # of the sampled rows, within each part
    sampled: CountedLabels
    jumps: Jumps

    @classmethod
    def of_parts(
        cls, passes: Passes, parts: list[Any], facts: Facts, margin: float
    ) -> PartedSamples:
        """Tell apart the classes, and find the sampled rows."""
        positives = facts.classes[1:]
        units = WeightUnits(*map(ClassUnit, facts.class_counts.tolist()))
        if facts.are_weighted:
            units = agreed_units(passes, parts, positives)
        tasks = passes.each(_labels, parts, state=(positives, units))
        labels, places = passes.keep(tasks), sampled_places(facts.n_rows)
        tasks = passes.each(_labels_at, labels, places)
        sampled = CountedLabels.joined(passes.results("sampling", tasks))
        jumps = Jumps(margin, units)
        n_rows = sum(facts.n_rows)
        return cls(passes, parts, n_rows, labels, places, sampled, jumps)

    @property
    def has_few(self) -> bool:
        """Whether all rows are in the sample."""
        return self.n_rows <= _FEW_ROWS

    def areas(self, state: State) -> list[tuple[float, float]]:
        """Compute AUM and AUC."""
        predictions = state.predictions[0]
        tasks = self.passes.each(
            _aum_of_part,
            self.labels,
            predictions.tasks,
            state=(self.jumps, self.level(predictions)),
        )
        aum = fsum(self.passes.results("AUM", tasks))
        return [(aum, exact_auc(self._buckets(predictions)))]

    def gradient(self, state: State) -> PartedVector:
        """Return what the gradient is computed of, in the pass that needs it."""
        # An entry for every row would travel back to be multiplied by X; each part
        # computes its own instead, in `PartedMatrix.column_sums`.
        predictions: PartedVector = state.predictions[0]
        return predictions

    def choose_step(
        self, state: State, direction: State, added: Quadratic
    ) -> ChosenStep:
        """Go where AUM is the smallest."""
        here, change = state.predictions[0], direction.predictions[0]
        sample = self.jumps.lines(self.sampled, here.sample, change.sample)
        # The sample is then all there is, and no pass is needed.
        if self.has_few:
            return ChosenStep(_core.best_aum_step(sample, inf)["step"])

        # The core asks back for the lines inside a box of steps and thresholds; of the
        # others it needs sums only.
        def collapse(*box: float) -> dict[str, NDArray[Any]]:
            tasks = self.passes.each(
                _collapsed,
                self.labels,
                here.tasks,
                change.tasks,
                state=(self.jumps, box),
            )
            return _end_to_end(self.passes.results("best step", tasks))

        best = _core.best_aum_step_of_partitions(sample, self.n_rows, collapse, inf)
        return ChosenStep(best["step"])

    def intercept(self, state: State) -> float:
        """Find the constant with the fewest errors."""
        buckets = self._buckets(state.predictions[0])
        return fewest_errors_constant(buckets, self.jumps.units.in_core)

    def level(self, predictions: PartedVector) -> Level:
        """Find where FP reaches FN, by the sample and one pass over predictions."""
        if predictions.level is None:
            predictions.level = self._found_level(predictions)
        return predictions.level

    def _found_level(self, predictions: PartedVector) -> Level:
        sample = self.jumps.lines(self.sampled, predictions.sample)
        confidence = _CONFIDENCE
        # A bracket from a sample may miss the level; a wider one is then tried, and in
        # the end all thresholds, so that the answer is never the sample's.
        while True:
            low, high = -inf, inf
            if not self.has_few and confidence < 100.0:
                low, high = _core.level_bracket(sample, self.n_rows, confidence)
            tasks = self.passes.each(
                _near_level,
                self.labels,
                predictions.tasks,
                state=(self.jumps, (0.0, 0.0, low, high)),
            )
            inside = _end_to_end(self.passes.results("level", tasks))
            found = _core.level_inside(inside, sample)
            if found.pop("is_inside"):
                return Level(**found)
            confidence *= 4.0

    def _buckets(self, predictions: PartedVector) -> Buckets:
        if predictions.buckets is None:
            scored = self.passes.each(
                _scored, self.labels, predictions.tasks, state=self.jumps
            )
            predictions.buckets = Buckets.shuffled(self.passes, scored, self.n_rows)
        return predictions.buckets


def sampled_places(n_rows: Sequence[int]) -> list[NDArray[np.int64]]:
    """Return the places within each part of the rows that searches sample."""
    # By the number of a row among all: another partition has the same sample, and so
    # takes the same steps.
    total = sum(n_rows)
    place = np.arange(total)
    if total > _FEW_ROWS:
        place = _core.sampled_places(total)
    ends = np.cumsum(n_rows)
    pieces = np.split(place, np.searchsorted(place, ends[:-1]))
    first = np.concatenate(([0], ends[:-1]))
    return [piece - start for piece, start in zip(pieces, first, strict=True)]


def _end_to_end(parts: list[dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """Put what parts have inside a box together, bounded for the client."""
    # An error of ours tells more than a client that is killed.
    n_lines = sum(part["intercept"].size for part in parts)
    if n_lines > _MOST_LINES:
        raise _too_many(n_lines)
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


def _too_many(n_lines: int) -> MemoryError:
    return MemoryError(
        f"{n_lines:,} different thresholds lie too near each other to be searched in "
        f"parts, more than {_MOST_LINES:,}."
    )


def _labels(part: Part, state: tuple[NDArray[Any], WeightUnits]) -> CountedLabels:
    return counted_labels(part, *state)


def _labels_at(
    labels: CountedLabels, place: NDArray[np.int64], _: None
) -> CountedLabels:
    return labels.at(place)


def _at_places(entries: NDArray[Any], place: NDArray[np.int64], _: None) -> Any:
    return entries[place]


def _products(part: Part, coef: NDArray[np.float64]) -> NDArray[np.float64]:
    products: NDArray[np.float64] = row_products(part.X, coef)
    return products


def _moved(
    entries: NDArray[np.float64], change: NDArray[np.float64], step: float
) -> NDArray[np.float64]:
    return np.asarray(entries + step * change)


def _collapsed(
    labels: CountedLabels,
    prediction: NDArray[np.float64],
    change: NDArray[np.float64],
    state: tuple[Jumps, tuple[float, ...]],
) -> dict[str, NDArray[Any]]:
    jumps, box = state
    inside = _core.collapse_lines(jumps.lines(labels, prediction, change), *box)
    # Here too, before it travels.
    if inside["intercept"].size > _MOST_LINES:
        raise _too_many(inside["intercept"].size)
    return inside


def _near_level(
    labels: CountedLabels,
    prediction: NDArray[np.float64],
    state: tuple[Jumps, tuple[float, ...]],
) -> dict[str, NDArray[Any]]:
    # Thresholds are lines that do not move.
    return _collapsed(labels, prediction, np.zeros(prediction.size), state)


def _at_level(
    labels: CountedLabels,
    prediction: NDArray[np.float64],
    state: tuple[Jumps, Level],
) -> tuple[float, NDArray[np.float64]]:
    jumps, level = state
    return _core.at_level(
        jumps.breakpoints(labels),
        np.ascontiguousarray(prediction),
        level.threshold,
        level.counts,
        jumps.units.positive.total,
    )


def _aum_of_part(
    labels: CountedLabels,
    prediction: NDArray[np.float64],
    state: tuple[Jumps, Level],
) -> float:
    return _at_level(labels, prediction, state)[0]


def _gradient_sums(
    part: Part,
    labels: CountedLabels,
    prediction: NDArray[np.float64],
    state: tuple[Jumps, Level],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return pair_sums(part.X, _at_level(labels, prediction, state)[1])


def _scored(
    labels: CountedLabels, prediction: NDArray[np.float64], jumps: Jumps
) -> Scored:
    """Return minus the thresholds, which rank rows as predictions and margins do."""
    return Scored(-(jumps.values(labels) - prediction), labels)
