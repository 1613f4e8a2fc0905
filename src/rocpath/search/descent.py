"""Descent on AUM: a model, a gradient, and a step found by an exact line search.

The loop uses only predictions, a direction and a step size; how parameters produce
predictions is up to the `Model`. With a linear model it is the method of the paper,
`minimize_aum`.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any, Literal, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from rocpath.search.breakpoints import ErrorBreakpoints
from rocpath.search.intercepts import fewest_errors_constant, without_margin
from rocpath.search.roc import auc, aum, aum_gradient
from rocpath.search.step_choice import ChosenStep, Movement, Quadratic
from rocpath.validation import Floats, read_only

# Number of steps after which predictions are recomputed: by then rounding errors have
# accumulated to a few hundred ulps, and recomputing takes a thirtieth of the time.
_RECOMPUTE_EVERY = 32
_SMALLEST_INCREASE = 1e-9  # relative increase of the objective that is not a rounding error
StoppedBy = Literal["tolerance", "max_steps", "validation", "gradient"]
Criterion = Literal["objective", "auc", "validation_auc"]


class Vector(Protocol):
    """Interface of a vector with one entry per row: an array, or partitions of one."""

    def __add__(self, other: Self, /) -> Self:
        """Add two vectors."""

    def __rmul__(self, factor: float, /) -> Self:
        """Multiply the vector by a number."""


class State(NamedTuple):
    """Parameters and their predictions on every sample.

    A direction has the same form: its parameters and predictions are the changes for a
    step of size 1.
    """

    parameters: Floats
    predictions: tuple[Any, ...]  # vectors

    def step(self, direction: Self, size: float) -> Self:
        """Take a step along a direction, in parameters and predictions alike."""
        changes = zip(self.predictions, direction.predictions, strict=True)
        return self._replace(
            parameters=self.parameters + size * direction.parameters,
            predictions=tuple(prediction + size * change for prediction, change in changes),
        )


class Model(Protocol):
    """Interface of a model that `descend` can optimize.

    Predictions must be linear in the parameters along the directions that it returns.
    """

    def predict(self, parameters: Floats) -> State:
        """Compute the predictions of the parameters, on the training sample first."""

    def evaluate(self, parameters: Floats) -> State:
        """Compute predictions as users do, with the same rounding."""

    def descent_direction(self, state: State, gradient: Any) -> State | None:
        """Return a descent direction, or None at a minimum.

        The gradient is that of AUM with respect to the training predictions, a vector.
        """

    def step(self, state: State, direction: State, size: float) -> State:
        """Take a step; predictions are updated, not recomputed."""

    def quadratic(self, state: State, direction: State | None) -> Quadratic:
        """Return the model's own term of the objective, here and along a direction."""


class Samples(Protocol):
    """Interface of the training rows and, optionally, the validation rows."""

    def areas(self, state: State) -> list[tuple[float, float]]:
        """Compute AUM and AUC of each sample: one, or two with validation rows."""

    def gradient(self, state: State) -> Vector:
        """Compute the gradient of AUM with respect to the training predictions."""

    def choose_step(self, state: State, direction: State, added: Quadratic) -> ChosenStep:
        """Choose a step along a direction, given the model's term of the objective."""

    def intercept(self, state: State) -> float:
        """Find the constant with the fewest errors on the training rows."""


@dataclass(frozen=True, slots=True, eq=False)
class Descent:
    """Linear model, and the steps of the descent that led to it.

    The arrays have one row for the initial weights and one for every step. Without
    validation data their validation columns are NaN.

    Attributes
    ----------
    coef : array, shape (n_features,)
        Weights of the chosen row.
    intercept : float
        A constant with the fewest errors of ``X @ coef + intercept``, FP + FN in the
        units of the breakpoints, from an interval that is wider than the rounding error
        of this sum. AUM and AUC do not depend on it.
    chosen : int
        Row of ``coef``: with validation data the first row with the largest validation
        AUC; otherwise the first row with the largest AUC if steps are chosen by AUC,
        and the last row if they are chosen by AUM, unless the last step made AUM plus the
        L2 term larger.
    n_steps : int
        Number of steps taken.
    stopped_by : {"tolerance", "max_steps", "validation", "gradient"}
        Reason for stopping: no improvement above the tolerance, the maximum number of
        steps, no new largest validation AUC within ``patience`` steps, or a gradient
        that is zero or, with ``unit_norm``, changes only the norm of the weights.
    aum, auc, validation_aum, validation_auc : arrays, shape (n_steps + 1,)
        Areas of each row. Those of the chosen row are computed from ``X @ coef``. For
        labels, AUC is that of the predictions, also if the breakpoints have a margin.
    norm : array, shape (n_steps + 1,)
        Euclidean norm of the weights.
    step : array, shape (n_steps + 1,)
        Step size that led to the row; 0 for the initial weights.
    n_crossings : array of int, shape (n_steps + 1,)
        Number of crossings, kinks or grid points that the line search examined; 0 for
        searches that do not visit them one by one.
    seconds : array, shape (n_steps + 1,)
        Time since the start of the descent.
    """

    coef: Floats
    intercept: float
    chosen: int
    n_steps: int
    stopped_by: StoppedBy
    aum: Floats
    auc: Floats
    validation_aum: Floats
    validation_auc: Floats
    norm: Floats
    step: Floats
    n_crossings: NDArray[np.int64]
    seconds: Floats


@dataclass(frozen=True, eq=False)
class ArraySamples:
    """Samples in memory: their error functions, and a function that chooses steps.

    ``choose`` takes the movements of training and validation predictions and the
    model's term of the objective. AUC is that of the error functions without a margin.
    """

    bps: Sequence[ErrorBreakpoints]
    choose: Callable[[Movement, Movement, Quadratic], ChosenStep]

    @cached_property
    def rankings(self) -> list[ErrorBreakpoints]:
        """Error functions without a margin."""
        return [without_margin(bp) for bp in self.bps]

    def areas(self, state: State) -> list[tuple[float, float]]:
        """Compute AUM and AUC of each sample."""
        return [
            (aum(bp, prediction), auc(ranking, prediction))
            for bp, ranking, prediction in zip(
                self.bps, self.rankings, state.predictions, strict=True
            )
        ]

    def gradient(self, state: State) -> Floats:
        """Compute the gradient of AUM with respect to the training predictions."""
        return aum_gradient(self.bps[0], state.predictions[0])

    def choose_step(self, state: State, direction: State, added: Quadratic) -> ChosenStep:
        """Choose a step along a direction."""
        fields = zip(self.bps, self.rankings, state.predictions, direction.predictions, strict=True)
        moving = [Movement(*of_sample) for of_sample in fields]
        # Without validation rows, the training rows are passed twice; step choices that
        # need validation rows have already been rejected.
        return self.choose(moving[0], moving[-1], added)

    def intercept(self, state: State) -> float:
        """Find the constant with the fewest errors on the training rows."""
        return fewest_errors_constant(self.bps[0], state.predictions[0])


def descend(
    samples: Samples,
    model: Model,
    initial: Floats,
    *,
    max_steps: int,
    tol: float = 0.0,
    patience: int | None = None,
    criterion: Criterion = "objective",
    progress: Callable[[int, float, float], None] | None = None,
) -> Descent:
    """Optimize the parameters of a model until no step improves the criterion.

    Parameters
    ----------
    samples : Samples
        Training rows and, optionally, validation rows, in memory or elsewhere.
    model : Model
        Model that makes predictions for these rows.
    initial : array
        Initial parameters.
    max_steps : int
        Maximum number of steps.
    tol : float
        Tolerance: the descent stops when a step improves the criterion by no more than
        this.
    patience : int, optional
        Maximum number of steps without a new largest validation AUC.
    criterion : {"objective", "auc", "validation_auc"}
        Quantity that steps must improve: AUM plus the model's own term, AUC or
        validation AUC. With either AUC, the best row is returned.
    progress : callable, optional
        Function called after each step with its number, AUM and AUC.

    Returns
    -------
    Descent
    """
    start_time = time.perf_counter()
    rows: list[dict[str, Any]] = []
    chosen, score = 0, -np.inf
    stopped_by: StoppedBy = "gradient"
    is_by_auc = criterion != "objective"
    best = before = initial
    for state, step in _states(samples, model, initial, is_by_auc=is_by_auc):
        rows.append(_row(samples, state, step, start_time))
        n_steps = len(rows) - 1
        if n_steps == 0 or _is_chosen(rows[-1], rows[chosen], is_by_auc=is_by_auc):
            chosen, best = n_steps, state.parameters
        if progress is not None and n_steps > 0:
            progress(n_steps, rows[-1]["aum"], rows[-1]["auc"])
        previous = score
        score = _score(criterion, rows[-1], model.quadratic(state, None))
        if score - previous <= tol:
            stopped_by = "tolerance"
            # The last step may be worse than none.
            is_worse = previous - score > _SMALLEST_INCREASE * abs(previous)
            if is_worse and not is_by_auc and chosen == n_steps:
                chosen, best = n_steps - 1, before
        elif patience is not None and n_steps - chosen >= patience:
            stopped_by = "validation"
        elif n_steps == max_steps:
            stopped_by = "max_steps"
        else:
            before = state.parameters
            continue
        break
    return _result(samples, model.evaluate(best), rows, chosen, stopped_by)


def _result(
    samples: Samples, state: State, rows: list[dict[str, Any]], chosen: int, stopped_by: StoppedBy
) -> Descent:
    rows[chosen].update(_areas(samples, state))
    columns = {name: read_only(np.array([row[name] for row in rows])) for name in rows[0]}
    coef, intercept = read_only(state.parameters), samples.intercept(state)
    return Descent(coef, intercept, chosen, len(rows) - 1, stopped_by, **columns)


def _states(
    samples: Samples, model: Model, initial: Floats, *, is_by_auc: bool
) -> Iterator[tuple[State, ChosenStep]]:
    """Iterate over the states of a descent and the steps that led to them."""
    # A search by AUC may find a plateau so narrow that rounding decides which side of
    # it the predictions fall on. States are therefore compared by the AUC that a user
    # of the weights obtains.
    compute = model.evaluate if is_by_auc else model.predict
    state, step = compute(initial), ChosenStep(0.0)
    for n_steps in count(1):
        yield state, step
        # Where thresholds are tied, AUM has a kink. The gradient is then the mean of the
        # one-sided derivatives (Hillman & Hocking), and AUM may increase in the opposite
        # direction.
        direction = model.descent_direction(state, samples.gradient(state))
        if direction is None:
            return
        # A search does not use the model, only how predictions move and the model's
        # term of the objective as a quadratic function of the step.
        step = samples.choose_step(state, direction, model.quadratic(state, direction))
        state = model.step(state, direction, step.size)
        if is_by_auc or n_steps % _RECOMPUTE_EVERY == 0:
            state = compute(state.parameters)


def _row(samples: Samples, state: State, step: ChosenStep, start_time: float) -> dict[str, Any]:
    """Return the entries of one row of `Descent`."""
    return {
        **_areas(samples, state),
        "norm": float(np.linalg.norm(state.parameters)),
        "step": step.size,
        "n_crossings": step.n_crossings,
        "seconds": time.perf_counter() - start_time,
    }


def _areas(samples: Samples, state: State) -> dict[str, float]:
    train, *validation = samples.areas(state)
    unknown = (float("nan"), float("nan"))
    areas = (*train, *(validation[0] if validation else unknown))
    names = ("aum", "auc", "validation_aum", "validation_auc")
    return dict(zip(names, areas, strict=True))


def _score(criterion: Criterion, row: dict[str, Any], added: Quadratic) -> float:
    """Return the quantity that steps are chosen to increase."""
    if criterion == "objective":
        return float(-row["aum"] - added.value)
    return float(row[criterion])


def _is_chosen(row: dict[str, Any], best: dict[str, Any], *, is_by_auc: bool) -> bool:
    """Return whether a new row replaces the best one as the result."""
    if not np.isnan(row["validation_auc"]):
        return bool(row["validation_auc"] > best["validation_auc"])
    # With steps chosen by AUM the last row is the result, even if AUC has decreased:
    # this is the method of the paper.
    return not is_by_auc or bool(row["auc"] > best["auc"])
