"""Rules for choosing the step size when predictions move along a line."""

from typing import Literal, NamedTuple, get_args

import numpy as np

from rocpath.search.breakpoints import ErrorBreakpoints
from rocpath.search.line_search import aum_path, best_auc_step, best_aum_step, sweep
from rocpath.search.lines import Lines
from rocpath.search.roc import aum
from rocpath.search.search_results import AUMPath, smallest_aum
from rocpath.validation import Floats

StepChoice = Literal[
    "first_min",
    "linear",
    "quadratic",
    "best_aum",
    "best_auc",
    "validation_auc",
    "validation_auc_limited",
    "grid",
    "constant",
]
STEP_CHOICES: tuple[str, ...] = get_args(StepChoice)
GRID = tuple(10.0**power for power in range(-9, 1))  # as in the paper's comparison
# Relative rounding error of predictions that the step with the largest AUC must tolerate:
# that of a product ``X @ coef`` in which at most 11 bits cancel.
_ROUNDING = 2.0**-40


class Movement(NamedTuple):
    """Predictions that move along a line, and their error functions."""

    bp: ErrorBreakpoints
    ranking: ErrorBreakpoints  # without a margin
    predictions: Floats
    direction: Floats

    @property
    def lines(self) -> Lines:
        """The thresholds as functions of the step."""
        return Lines.from_predictions(self.bp, self.predictions, self.direction)

    @property
    def ranking_lines(self) -> Lines:
        """The thresholds without a margin, whose AUC is that of the predictions."""
        return Lines.from_predictions(self.ranking, self.predictions, self.direction)


class Quadratic(NamedTuple):
    """The model's own term of the objective: value and derivatives at step 0."""

    value: float = 0.0
    slope: float = 0.0
    curvature: float = 0.0

    @property
    def is_zero(self) -> bool:
        """Whether the term does not change along the line."""
        return self.slope == 0 and self.curvature == 0

    def change_at(self, step: float) -> float:
        """Evaluate the change since step 0."""
        return step * (self.slope + 0.5 * step * self.curvature)


class ChosenStep(NamedTuple):
    """A step size, and the number of crossings, kinks or grid points examined."""

    size: float
    n_crossings: int = 0


def choose_step(
    choice: StepChoice, train: Movement, validation: Movement, added: Quadratic, *, constant: float
) -> ChosenStep:
    """Choose a step; `minimize_aum` documents the choices."""
    if choice == "constant":
        return ChosenStep(constant)
    if choice == "grid":
        # Unlike a line search, a grid search computes AUM again for each size.
        bp, _, start, change = train
        values = [aum(bp, start + size * change) + added.change_at(size) for size in GRID]
        return ChosenStep(GRID[int(np.argmin(values))], len(GRID))
    if choice == "best_auc":
        return best_auc(train.ranking_lines)
    if choice == "validation_auc":
        return best_auc(validation.ranking_lines)
    lines = train.lines
    if choice == "validation_auc_limited":
        # The direction is that of the training AUM, and is not justified beyond its
        # minimum.
        limit = _best_aum(lines, added).size
        return best_auc(validation.ranking_lines, max_step=limit)
    if choice == "best_aum":
        return _best_aum(lines, added)
    try:
        if choice == "first_min":
            return _first_min(lines, added)
        # The paper's variants examine as many crossings as lines, or up to one per pair.
        path = sweep(lines, max_crossings=len(lines) if choice == "linear" else None)
    except MemoryError as error:
        raise MemoryError(
            f"step={choice!r} visits more crossings than fit into memory: use step='best_aum', "
            "which does not visit all of them."
        ) from error
    return _smallest(path, added)


def best_auc(lines: Lines, *, tol: float = 0.0, max_step: float | None = None) -> ChosenStep:
    """Choose the step with the largest AUC that rounded predictions attain."""
    # For non-monotone errors, no rounding margin is known to be safe.
    rounding = _ROUNDING if lines.is_monotone else 0.0
    best = best_auc_step(lines, tol=tol, max_step=max_step, rounding=rounding)
    return ChosenStep(best.step)


def _first_min(lines: Lines, added: Quadratic) -> ChosenStep:
    """Choose the first local minimum; the added term moves it off the crossings."""
    if added.is_zero:
        # This is the search of the paper, kept in order to count its crossings. For
        # monotone errors, `best_aum` finds the same AUM without them.
        path = sweep(lines, stop="first_min_aum")
        return ChosenStep(float(path.step[-1]), len(path) - 1)
    return _smallest(aum_path(lines), added, first=True)


def _best_aum(lines: Lines, added: Quadratic) -> ChosenStep:
    # A quadratic term moves the minimum between kinks, and non-monotone errors may have
    # several minima: both cases need the path, but only its kinks.
    if added.is_zero and lines.is_monotone:
        return ChosenStep(best_aum_step(lines).step)
    return _smallest(aum_path(lines), added)


def _smallest(path: AUMPath, added: Quadratic, *, first: bool = False) -> ChosenStep:
    best = smallest_aum(path, first=first, l2_slope=added.slope, l2_curvature=added.curvature)
    return ChosenStep(best.step, len(path) - 1)
