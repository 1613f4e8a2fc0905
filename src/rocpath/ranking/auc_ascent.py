"""Ascent on AUC: smoothed, over all columns at once, or exact, along single columns.

Cross-validation decides whether an ascent is used, how many steps it takes, and whether
the result is its end or the midpoint between the initial model and its end.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from rocpath.matrices import sums_over_rows, weighted_sums
from rocpath.ranking.convex_problem import Vector
from rocpath.ranking.cross_validation import evaluate_models
from rocpath.ranking.labeled_rows import LabeledRows
from rocpath.search.line_search import best_auc_step_along

# Tolerance of a search in standard errors of the AUC. With 1,200 to 3,200 rows, exact
# searches took three times as long and gained only a hundredth of a standard error.
_TOLERANCE = 0.25
_MAX_PREDICTION = 1e100  # squares of larger predictions might overflow
_MAX_COLUMNS = 64  # number of columns in one pass, so that wide tables do not take minutes
# Numbers of rows per class and of columns in the pass that decides whether coordinate
# ascent is tried. This pass takes a tenth of the time of a fit; full passes would take
# two thirds. Coordinate ascent rarely improves AUC, but extreme outliers may reduce the
# AUC of the initial models by .1, and a few rows are enough to detect this.
_SCREENING_ROWS = 200
_SCREENING_COLUMNS = 32
_MAX_ROWS_PER_CLASS = 3_000  # number of rows in a search, which then takes 0.03 s
# Fractions of the way from the initial model to the end of an ascent. The midpoint keeps
# most of a real gain and little of a spurious one, and ranked better on 50 tables. The
# end is better if the initial model is misled by outliers.
_FRACTIONS = (0.5, 1.0)

# Smoothed AUC is computed on a grid over +-10 standard deviations; predictions beyond
# it have a derivative of zero. With 8 cells per bandwidth, smoothed AUC is within 1e-3 of
# the sum over pairs.
_GRID_END = 10.0
_CELLS = 8
_KERNEL_END = 5  # in bandwidths; beyond it the normal density is below 2e-6
_MAX_ITERATIONS = 100  # most ascents end earlier, after 20 to 100 evaluations
# Gains in AUC below this are far below its standard error. On five tables, SciPy's
# default of 2e-9 took 1.6 times as many evaluations and did not rank new rows better.
_MIN_GAIN = 1e-6
_DISTANCE = np.arange(-_KERNEL_END * _CELLS, _KERNEL_END * _CELLS + 1) / _CELLS
_KERNEL = np.exp(-0.5 * _DISTANCE**2)
_KERNEL /= _KERNEL.sum()

AscentKind = Literal["smoothed", "coordinate"]


class Ascent(NamedTuple):
    """Bandwidths, maximum number of coordinate-ascent passes, and random number generator."""

    widths: tuple[float, ...]
    n_rounds: int
    rng: np.random.RandomState

    def step(self, kind: AscentKind, number: int, rows: LabeledRows, coef: Vector) -> Vector:
        """Take one step: maximize smoothed AUC, or pass over the columns once."""
        if kind == "smoothed":
            return maximize_smoothed_auc(rows, self.widths[number], coef)
        columns = self.rng.permutation(coef.size)[:_MAX_COLUMNS]
        return coordinate_pass(rows.subsampled(_MAX_ROWS_PER_CLASS), coef, columns)


class Stage(NamedTuple):
    """Model at a fraction of the way from the initial model to the end of an ascent."""

    kind: AscentKind = "smoothed"
    n_steps: int = 0  # number of bandwidths or passes
    fraction: float = 0.0
    coefs: Sequence[Vector] = ()  # coefficients for each fold
    gain: float = 0.0  # gain in cross-validated AUC over the initial model
    error: float = 0.0  # standard error of the gain


def ascend(ascent: Ascent, stage: Stage, rows: LabeledRows, initial: Vector) -> Vector:
    """Run the steps of a stage on the given rows, and return the coefficients."""
    end = initial
    for number in range(stage.n_steps):
        end = ascent.step(stage.kind, number, rows, end)
    return _between(initial, end, stage.fraction, rows)


def _between(initial: Vector, end: Vector, fraction: float, rows: LabeledRows) -> Vector:
    """Interpolate between models, scaled such that their predictions have the same spread."""
    # Without scaling, the longer of the two vectors would dominate.
    first, last = rows.standardized(initial).coef, rows.standardized(end).coef
    return np.asarray(first + fraction * (last - first))


def tried_stages(rows: LabeledRows, ascent: Ascent, initial: Sequence[Vector]) -> Iterator[Stage]:
    """Try both kinds of ascent on the folds, each until a step does not improve AUC.

    An ascent that does not help on a few rows or on two folds is abandoned.
    """
    best = 0.0
    for kind in get_args(AscentKind):
        if kind == "coordinate" and not _gains_on_few_rows(rows, ascent, initial):
            continue
        ends, n_folds = list(initial), len(rows.training)
        for number in range(len(ascent.widths) if kind == "smoothed" else ascent.n_rounds):
            for begin, end in ((0, 2), (2, n_folds)):
                for k in range(begin, min(end, n_folds)):
                    ends[k] = ascent.step(kind, number, rows.training[k], ends[k])
                tried = _evaluated(rows, kind, number + 1, initial, ends[:end])
                # A smaller gain on two folds is rarely significant on all folds.
                is_promising = max(stage.gain - 0.5 * stage.error for stage in tried) > 0
                if not is_promising:
                    break
            yield from tried
            gain = max(stage.gain for stage in tried)
            if not is_promising or gain <= best:
                break
            best = gain


def _gains_on_few_rows(rows: LabeledRows, ascent: Ascent, initial: Sequence[Vector]) -> bool:
    """Return whether coordinate ascent on a few rows gains more than one standard error."""
    if ascent.n_rounds == 0:
        return False
    few = rows.training[0].subsampled(_SCREENING_ROWS)
    columns = ascent.rng.permutation(initial[0].size)[:_SCREENING_COLUMNS]
    end = coordinate_pass(few, initial[0], columns)
    gain, error = evaluate_models(rows, [[initial[0], end]]).gain(over=0)
    return bool(gain[1] > error[1])


def _evaluated(
    rows: LabeledRows,
    kind: AscentKind,
    n_steps: int,
    initial: Sequence[Vector],
    ends: Sequence[Vector],
) -> list[Stage]:
    """Evaluate the stages of an ascent on the folds on which it has been run."""
    coefs = [
        [first, *(_between(first, last, fraction, train) for fraction in _FRACTIONS)]
        for first, last, train in zip(initial, ends, rows.training, strict=False)
    ]
    gain, error = evaluate_models(rows, coefs).gain(over=0)
    return [
        Stage(kind, n_steps, fraction, [of_fold[k] for of_fold in coefs], gain[k], error[k])
        for k, fraction in enumerate(_FRACTIONS, start=1)
    ]


def coordinate_pass(
    rows: LabeledRows, initial: Vector, columns: Iterable[int], *, least: float = -np.inf
) -> Vector:
    """Take the globally best AUC step along each column in turn.

    No step makes a coefficient smaller than ``least``.
    """
    # Extracting a column from a CSR matrix would take a pass over all entries.
    X = sparse.csc_array(rows.X) if sparse.issparse(rows.X) else rows.X
    coef = initial.copy()
    predictions = weighted_sums(rows.X, coef)
    best_auc, error = rows.auc_with_error(predictions)
    # Directions are single columns: steps along AUM gradients do not improve a good
    # initial model, while a single coefficient can still be set to its globally best value.
    for k in columns:
        column = X[:, [k]]
        change = (column.toarray() if sparse.issparse(column) else column).ravel()
        # With the column itself as the direction, the step is added to its coefficient.
        best = best_auc_step_along(
            rows.breakpoints,
            predictions,
            change,
            tol=_TOLERANCE * error,
            min_step=least - coef[k],
            max_fpr=rows.max_fpr,
        )
        moved = predictions + best.step * change
        # The search counts pairs, and the initial AUC is a sum, so they may differ by
        # rounding.
        is_better = best.value > best_auc + 1e-12
        if is_better and np.abs(moved).max() < _MAX_PREDICTION:
            coef[k] += best.step
            predictions = moved
            best_auc = best.value
    return coef


def maximize_smoothed_auc(rows: LabeledRows, width: float, initial: Vector) -> Vector:
    """Maximize smoothed AUC; ``width`` is in standard deviations of the predictions."""
    share = 2.0 * rows.sample.balanced_weight
    # Sparse columns are not centered, and the grid is centered at zero.
    center = sums_over_rows(rows.X, rows.sample.balanced_weight)

    def objective(coef: Vector) -> tuple[float, Vector]:
        predictions = weighted_sums(rows.X, coef) - center @ coef
        value, slope = smoothed_auc(
            predictions, rows.is_positive, share, width, rows.max_fpr or 1.0
        )
        return -value, center * slope.sum() - sums_over_rows(rows.X, slope)

    # The bandwidth is in standard deviations, and AUC does not depend on the scale.
    start = rows.standardized(initial).coef
    options = {"maxiter": _MAX_ITERATIONS, "ftol": _MIN_GAIN}
    found = optimize.minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
    return np.asarray(found.x)


def smoothed_auc(
    predictions: Vector,
    is_positive: NDArray[np.bool_],
    share: Vector,
    width: float,
    max_fpr: float = 1.0,
) -> tuple[float, Vector]:
    """Return smoothed AUC up to ``max_fpr``, and its gradient with respect to predictions.

    A pair of rows counts as the normal distribution function of the difference between
    its predictions, divided by the bandwidth. A positive row therefore counts as the
    smoothed distribution function of the negatives, which is interpolated on a grid.
    The shares of each class sum to one. The share of a row is divided between the two
    nearest cells of the grid, so that the derivative is exact for the value on the
    grid.
    """
    cell = width / _CELLS
    n_cells = int(2.0 * _GRID_END / cell) + 2 * _KERNEL_END * _CELLS
    near = np.clip(predictions, -_GRID_END, _GRID_END)
    position = near / cell + 0.5 * n_cells
    left = position.astype(np.intp)
    fraction = position - left

    def below(of_class: Vector) -> Vector:
        """Return the smoothed distribution function of a class at every cell."""
        right = of_class * fraction
        mass = np.bincount(left, of_class - right, n_cells)
        mass += np.bincount(left + 1, right, n_cells)
        density = np.convolve(mass, _KERNEL, mode="same")
        return np.asarray(np.cumsum(density) - 0.5 * density)

    # Rows of the other class get a share of 0, which is faster than selecting rows.
    positive, negative = share * is_positive, share * ~is_positive
    negative_below = below(negative)
    rise = np.diff(negative_below)[left]
    # A positive row adds ``max_fpr`` minus its smoothed false positive rate.
    room = negative_below[left] + fraction * rise - (1.0 - max_fpr)
    if max_fpr < 1:
        positive = positive * (room > 0)
    value = float(positive @ room)
    derivative = positive * rise - negative * np.diff(below(positive))[left]
    derivative /= cell
    derivative[near != predictions] = 0.0
    return value, derivative
