"""The ways to choose a step size when predictions move along a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from rocpath.line_search import Lines, aum_path, best_auc_step, best_aum_step, sweep
from rocpath.roc import aum

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocpath.breakpoints import ErrorBreakpoints
    from rocpath.search_results import AumPath, StepPath

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
GRID = tuple(10.0**power for power in range(-9, 1))


class Movement(NamedTuple):
    """Predictions that move along a line, with their error functions."""

    bp: ErrorBreakpoints
    predictions: NDArray[np.float64]
    direction: NDArray[np.float64]

    @property
    def lines(self) -> Lines:
        """The thresholds as functions of the step."""
        return Lines.from_predictions(*self)

    def aum_at(self, step: float) -> float:
        """Evaluate AUM at one step."""
        return aum(self.bp, self.predictions + step * self.direction)


class Quadratic(NamedTuple):
    """What a model adds to AUM along the line: its value and derivatives at step 0."""

    value: float = 0.0
    slope: float = 0.0
    curvature: float = 0.0

    @property
    def is_zero(self) -> bool:
        """Whether there is none."""
        return self.slope == 0 and self.curvature == 0

    def at(self, step: Any) -> Any:
        """Evaluate the change since step 0."""
        return step * (self.slope + 0.5 * step * self.curvature)


class ChosenStep(NamedTuple):
    """A step size, and how many crossings, kinks or grid points were looked at."""

    size: float
    n_crossings: int = 0


def choose_step(
    choice: StepChoice,
    train: Movement,
    validation: Movement,
    added: Quadratic,
    *,
    constant: float,
) -> ChosenStep:
    """Choose a step; ``minimize_aum`` says what the choices mean."""
    if choice == "constant":
        return ChosenStep(constant)
    if choice == "grid":
        values = [train.aum_at(size) + added.at(size) for size in GRID]
        return ChosenStep(GRID[int(np.argmin(values))], len(GRID))
    lines = train.lines
    if choice == "best_auc":
        return ChosenStep(best_auc_step(lines).step)
    if choice == "validation_auc":
        return ChosenStep(best_auc_step(validation.lines).step)
    if choice == "validation_auc_limited":
        limit = _best_aum(lines, added).size
        return ChosenStep(best_auc_step(validation.lines, max_step=limit).step)
    if choice == "best_aum":
        return _best_aum(lines, added)
    if choice == "first_min":
        return _first_min(lines, added)
    path = sweep(lines, max_crossings=len(lines) if choice == "linear" else None)
    return ChosenStep(_smallest(path, added), len(path) - 1)


def _first_min(lines: Lines, added: Quadratic) -> ChosenStep:
    """Go to the first local minimum; what is added moves it off the crossings."""
    if added.is_zero:
        path = sweep(lines, stop="first_min_aum")
        return ChosenStep(float(path.step[-1]), len(path) - 1)
    kinks = aum_path(lines)
    return ChosenStep(_smallest(kinks, added, first=True), len(kinks) - 1)


def _best_aum(lines: Lines, added: Quadratic) -> ChosenStep:
    if added.is_zero and lines.is_monotone:
        return ChosenStep(best_aum_step(lines).step)
    kinks = aum_path(lines)
    return ChosenStep(_smallest(kinks, added), len(kinks) - 1)


def _smallest(
    path: AumPath | StepPath, added: Quadratic, *, first: bool = False
) -> float:
    """Find the first or the global minimum of AUM plus what is added on a path."""
    if added.curvature == 0:
        return float(path.step[np.argmin(path.aum)])
    slope = path.aum_slope_after + added.slope
    end = np.append(path.step[1:], path.end)
    # On each piece the sum is a parabola, smallest at its vertex or nearest to it.
    vertex = np.clip(-slope / added.curvature, path.step, end)
    if first:
        is_rising = slope + added.curvature * end >= 0
        return float(vertex[np.argmax(is_rising)])
    value = path.aum + path.aum_slope_after * (vertex - path.step) + added.at(vertex)
    return float(vertex[np.argmin(value)])
