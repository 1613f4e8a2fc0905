"""Descent on AUM for partitioned rows, with the same steps as in memory.

The loop is that of :mod:`rocpath.search.descent`. Predictions stay on the workers and take 8
bytes per row; the client keeps only those of a sample of rows. A search uses the sample
to find a range that probably contains the solution. It then requests from each partition
the few thresholds inside this range, and sums over the others.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, inf
from operator import getitem
from typing import Any, NamedTuple, Self

import numpy as np
from distributed import Client
from numpy.typing import ArrayLike, NDArray

import rocpath._core as _core
from rocpath.dask.partitions import Partition, PartitionedRows
from rocpath.dask.passes import Passes
from rocpath.dask.scored_rows import ScoredPartition
from rocpath.dask.scores import Buckets, PartitionedScores
from rocpath.dask.vectors import PartitionedVector
from rocpath.dask.weights import Jumps, Vector, WeightUnits, common_units, label_jumps
from rocpath.matrices import add_pairs, pair_sums, row_products
from rocpath.search.descent import Descent, State, descend
from rocpath.search.linear_model import LinearPredictor, checked_initial, warn_if_trivial
from rocpath.search.step_choice import ChosenStep, Quadratic
from rocpath.validation import finite_number, nonnegative_number, one_of, whole_number

# Threshold at which FP reaches FN, and the counts of both before and after it.
Level = tuple[float, NDArray[np.int64]]
Box = tuple[float, ...]  # smallest and largest step, smallest and largest threshold

_FEW_ROWS = 50_000  # number of rows up to which the sample contains all of them
_MAX_LINES = 2**22  # maximum number of lines sent to the client (134 MB)
_CONFIDENCE = 4.0  # half-width of the bracket for the level, in standard errors


def minimize_aum(
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    coef: ArrayLike | None = None,
    step: str = "best_aum",
    max_steps: int = 1000,
    tol: float = 1e-5,
    unit_norm: bool = False,
    margin: float = 1.0,
    progress: Callable[[int, float, float], None] | None = None,
    client: Client | None = None,
) -> Descent:
    """Minimize AUM by gradient descent with exact line searches.

    The steps equal those of :func:`rocpath.minimize_aum` with ``step="best_aum"`` and
    the breakpoints ``ErrorBreakpoints.from_labels(y, sample_weight=sample_weight,
    margin=margin)``, for any partitioning of the rows. Only the sums over rows that form
    the gradient may be rounded differently, after 100 bits; they are exact if X contains
    integers or multiples of a power of two. Each step reads X twice; the check of X, the
    initial predictions and the final evaluation read it once each.

    Parameters
    ----------
    X : Dask array or data frame, shape (n_rows, n_features)
        Features. Blocks may be CSR matrices, and chunk sizes may be unknown.
    y : Dask array or series, shape (n_rows,)
        Labels of exactly two values; the larger is the positive class.
    sample_weight : Dask array or series, shape (n_rows,), optional
        Sample weights. Rows with weight 0 are dropped.
    coef : array-like, shape (n_features,), optional
        Initial weights. The default is the difference of the class means, which
        requires another pass over X.
    step : {"best_aum"}
        Rule that chooses the size of each step. The other rules of
        :func:`rocpath.minimize_aum` require all rows in the memory of one process.
    max_steps, tol, unit_norm
        Same as for :func:`rocpath.minimize_aum`.
    margin : float
        Position of the breakpoints: +margin for positives and -margin for negatives.
        With 0, AUM has a trivial minimum, where all predictions are equal.
    progress : callable, optional
        Function called after each step with its number, AUM and AUC.
    client : Client, optional
        Dask client that runs the computation. The default is the most recent client
        or, if there is none, Dask's local scheduler.

    Returns
    -------
    Descent

    Warns
    -----
    UserWarning
        If ``coef`` is a trivial minimum: all predictions are equal and AUM is 0.

    Examples
    --------
    >>> import dask.array as da
    >>> from rocpath.dask import minimize_aum
    >>> X = da.from_array([[0.0, 1.0], [1.0, 3.0], [2.0, 1.0], [3.0, 2.0]], chunks=2)
    >>> descent = minimize_aum(X, da.from_array([0, 0, 1, 1]), coef=[-1.0, 0.0])
    >>> float(descent.auc[0]), float(descent.auc[-1])
    (0.0, 1.0)
    """
    one_of("step", step, ("best_aum",))
    max_steps = whole_number("max_steps", max_steps, least=0)
    tol = nonnegative_number("tol", tol)
    margin = finite_number("margin", margin)
    with Passes(client) as passes:
        columns = {"y": y, "sample_weight": sample_weight}
        rows = PartitionedRows.read(passes, "X", X, is_binary=True, **columns)
        samples = _PartitionedSamples.from_rows(rows, margin)
        start = samples.difference_of_means() if coef is None else coef
        initial = checked_initial(start, rows.n_columns, unit_norm=unit_norm)
        if coef is not None:
            warn_if_trivial(initial, has_margin=margin != 0)
        model = LinearPredictor((_PartitionedFeatures(samples),), unit_norm=bool(unit_norm))
        return descend(samples, model, initial, max_steps=max_steps, tol=tol, progress=progress)


class _LabelErrors(NamedTuple):
    """Error functions of all rows: positions and units of their jumps."""

    margin: float
    units: WeightUnits

    def values(self, jump: Jumps) -> Vector:
        """Return the positions of the breakpoints."""
        return np.where(jump > 0, self.margin, -self.margin)

    def breakpoints(self, jump: Jumps) -> _core.Breakpoints:
        """Return the breakpoints of the given rows."""
        count, example = jump.astype(np.int64), np.arange(jump.size)
        fp, tp = np.maximum(-count, 0), np.maximum(count, 0)
        return _core.Breakpoints(self.values(jump), example, fp, tp, *self.units.in_core, True)

    def lines(self, jump: Jumps, prediction: Vector, change: Vector | None = None) -> _core.Lines:
        """Return the thresholds of the given rows as lines, constant by default."""
        if change is None:
            change = np.zeros(prediction.size)
        return self.breakpoints(jump).lines(prediction, change)


@dataclass(eq=False)
class _Predictions:
    """Vector of predictions that workers keep, and a sample of it on the client."""

    samples: "_PartitionedSamples"
    entries: PartitionedVector
    sample: Vector

    def __rmul__(self, factor: float) -> Self:
        """Multiply the predictions by a number."""
        return type(self)(self.samples, factor * self.entries, factor * self.sample)

    def __add__(self, other: Self) -> Self:
        """Add predictions, rounded as for NumPy arrays."""
        # The sum is kept because the line search uses it several times.
        entries = (self.entries + other.entries).kept()
        return type(self)(self.samples, entries, self.sample + other.sample)

    @cached_property
    def level(self) -> Level:
        """Threshold at which FP reaches FN, usually found in one pass over predictions."""
        samples, confidence = self.samples, _CONFIDENCE
        sample = samples.errors.lines(samples.sampled_jumps, self.sample)
        # If the bracket from the sample misses the level, a wider one is tried, and
        # finally all thresholds, so that the result does not depend on the sample.
        while True:
            low, high = -inf, inf
            if not samples.is_small and confidence < 100.0:
                low, high = _core.level_bracket(sample, samples.n_rows, confidence)
            box = (0.0, 0.0, low, high)
            inside = _concatenate(samples.run("level", _collapsed, self.entries, box=box))
            level = _core.level_inside(inside, sample)
            if level["is_inside"]:
                return level["threshold"], level["counts"]
            confidence *= 4.0

    def buckets(self, errors: "_LabelErrors") -> Buckets:
        """Return minus the thresholds of given error functions, sorted into buckets."""
        samples, passes = self.samples, self.entries.passes
        tasks = passes.each(_score, samples.jumps, self.entries.tasks, errors=errors)
        counts = samples.n_rows, int(samples.rows.class_counts[1])
        return Buckets.from_scores(PartitionedScores(passes, tasks, *counts, errors.units))


class _PartitionedSamples(NamedTuple):
    """Partitioned rows, with the interface of samples in a descent."""

    rows: PartitionedRows
    n_rows: int
    jumps: list[Any]  # kept by the workers
    sampled_rows: list[NDArray[np.int64]]  # row numbers within each partition
    sampled_jumps: Jumps
    errors: _LabelErrors

    @classmethod
    def from_rows(cls, rows: PartitionedRows, margin: float) -> Self:
        """Compute the jumps of the labels, and sample rows."""
        passes, positives = rows.passes, rows.classes[1:]
        units = common_units(rows, positives)
        jumps = passes.each(label_jumps, rows.tasks, positives=positives, units=units)
        jumps, sampled_rows = passes.keep(jumps), sample_rows(rows.n_rows)
        found = passes.run("sampling", getitem, jumps, sampled_rows)
        errors, n_rows = _LabelErrors(margin, units), sum(rows.n_rows)
        return cls(rows, n_rows, jumps, sampled_rows, np.concatenate(found), errors)

    def difference_of_means(self) -> Vector:
        """Subtract the mean of the negatives from that of the positives."""
        passes, units = self.rows.passes, self.errors.units
        tasks = passes.each(_mean_sums, self.rows.tasks, self.jumps, units=units)
        return add_pairs(passes.results("means", tasks, reads_x=True))

    @property
    def is_small(self) -> bool:
        """Whether the sample contains all rows."""
        return self.n_rows <= _FEW_ROWS

    def areas(self, state: State) -> list[tuple[float, float]]:
        """Compute AUM and AUC."""
        predictions: _Predictions = state.predictions[0]
        sums = self.run("AUM", _partial_aum, predictions.entries, level=predictions.level)
        # AUC is that of the predictions, without a margin.
        ranking = self.errors._replace(margin=0.0)
        return [(fsum(sums), predictions.buckets(ranking).auc())]

    def gradient(self, state: State) -> PartitionedVector:
        """Compute the gradient of AUM with respect to the predictions."""
        predictions: _Predictions = state.predictions[0]
        columns = self.jumps, predictions.entries.tasks
        given = {"errors": self.errors, "level": predictions.level}
        return PartitionedVector(
            self.rows.passes, self.rows.passes.each(_gradient, *columns, **given)
        )

    def choose_step(self, state: State, direction: State, added: Quadratic) -> ChosenStep:
        """Return the step with the smallest AUM."""
        here: _Predictions = state.predictions[0]
        change: _Predictions = direction.predictions[0]
        sample = self.errors.lines(self.sampled_jumps, here.sample, change.sample)
        # No pass is needed if the sample contains all rows.
        if self.is_small:
            return ChosenStep(_core.best_aum_step(sample, inf)["step"])

        vectors = here.entries, change.entries

        # The core requests the lines inside a box of steps and thresholds, and sums over
        # the others.
        def collapse(*box: float) -> dict[str, NDArray[Any]]:
            return _concatenate(self.run("best step", _collapsed, *vectors, box=box))

        best = _core.best_aum_step_of_partitions(sample, self.n_rows, collapse, inf)
        return ChosenStep(best["step"])

    def intercept(self, state: State) -> float:
        """Return the intercept with the fewest errors."""
        predictions: _Predictions = state.predictions[0]
        buckets = predictions.buckets(self.errors)
        return buckets.fewest_errors_constant(self.errors.units.in_core, abs(self.errors.margin))

    def run(self, name: str, function: Any, *vectors: PartitionedVector, **shared: Any) -> Any:
        """Apply a function to the labels and vector entries of every partition."""
        columns = self.jumps, *(one.tasks for one in vectors)
        return self.rows.passes.run(name, function, *columns, errors=self.errors, **shared)


class _PartitionedFeatures(NamedTuple):
    """Features of partitioned rows, with the interface of features of a linear model."""

    samples: _PartitionedSamples

    def predict(self, coef: Vector) -> _Predictions:
        """Compute ``X @ coef``, in one pass."""
        passes = self.samples.rows.passes
        # Predictions are kept because the line search uses them several times and X is large.
        tasks = passes.each(_products, self.samples.rows.tasks, coef=coef)
        entries = PartitionedVector(passes, tasks).kept()
        sampled = passes.each(getitem, entries.tasks, self.samples.sampled_rows)
        pieces = passes.results("predicting", sampled, reads_x=True)
        return _Predictions(self.samples, entries, np.concatenate(pieces))

    def evaluate(self, coef: Vector) -> _Predictions:
        """Compute ``X @ coef``, in one pass."""
        return self.predict(coef)

    def column_sums(self, factor: PartitionedVector) -> Vector:
        """Compute ``X.T @ factor``, in one pass."""
        passes = self.samples.rows.passes
        tasks = passes.each(_pair_sums, self.samples.rows.tasks, factor.tasks)
        # Pairs of float64 numbers have twice the precision, so the order of rows hardly
        # matters; for integers, it does not matter at all.
        return add_pairs(passes.results("gradient", tasks, reads_x=True))


def sample_rows(n_rows: Sequence[int]) -> list[NDArray[np.int64]]:
    """Return the sampled row numbers within each partition."""
    # Rows are sampled by their global row number, so that neither the sample nor the
    # steps depend on the partitioning.
    total = sum(n_rows)
    sampled = _core.sampled_places(total) if total > _FEW_ROWS else np.arange(total)
    ends = np.cumsum(n_rows)
    pieces = np.split(sampled, np.searchsorted(sampled, ends[:-1]))
    return [piece - first for piece, first in zip(pieces, ends - n_rows, strict=True)]


def _concatenate(found: list[dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """Concatenate the lines inside a box, if they fit into the client's memory."""
    _check_size(sum(one["intercept"].size for one in found))
    return {key: np.concatenate([one[key] for one in found]) for key in found[0]}


def _check_size(n_lines: int) -> None:
    """Raise an error before the client runs out of memory."""
    if n_lines > _MAX_LINES:
        raise MemoryError(
            f"at most {_MAX_LINES:,} thresholds can be sent to the client, got {n_lines:,} "
            "close to the best step: use fewer rows."
        )


def _products(rows: Partition, coef: Vector) -> Vector:
    return row_products(rows.block, coef)


def _pair_sums(rows: Partition, factor: Vector) -> tuple[Vector, Vector]:
    return pair_sums(rows.block, factor)


def _collapsed(
    jump: Jumps, prediction: Vector, change: Vector | None = None, *, errors: _LabelErrors, box: Box
) -> dict[str, NDArray[Any]]:
    inside = _core.collapse_lines(errors.lines(jump, prediction, change), *box)
    _check_size(inside["intercept"].size)  # on the worker, before lines are sent
    return inside


def _at_level(
    jump: Jumps, prediction: Vector, errors: _LabelErrors, level: Level
) -> tuple[float, Vector]:
    n_positive = errors.units.positive.total
    prediction = np.ascontiguousarray(prediction)
    return _core.at_level(errors.breakpoints(jump), prediction, *level, n_positive)


def _partial_aum(jump: Jumps, prediction: Vector, errors: _LabelErrors, level: Level) -> float:
    return _at_level(jump, prediction, errors, level)[0]


def _gradient(jump: Jumps, prediction: Vector, errors: _LabelErrors, level: Level) -> Vector:
    return _at_level(jump, prediction, errors, level)[1]


def _mean_sums(rows: Partition, jump: Jumps, units: WeightUnits) -> tuple[Vector, Vector]:
    total = np.where(jump > 0, units.positive.total, units.negative.total)
    return pair_sums(rows.block, jump / total)


def _score(jump: Jumps, prediction: Vector, errors: _LabelErrors) -> ScoredPartition:
    """Return negated thresholds, which rank rows by predictions and margins."""
    return ScoredPartition(-(errors.values(jump) - prediction), jump)
