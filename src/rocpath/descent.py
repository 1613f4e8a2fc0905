"""Descent on AUM: a model, a gradient, and a step found by exact line search.

The loop knows predictions, a direction and a step, and nothing of how parameters make
predictions: that is the model's part (`Model`). With a linear model it is the paper's
method, `minimize_aum`.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np

from rocpath.arguments import read_only
from rocpath.breakpoints import ErrorBreakpoints
from rocpath.roc import (
    auc,
    aum,
    aum_gradient,
    curve_errors,
    inside_interval,
    roc_curve,
)
from rocpath.step_choice import ChosenStep, Movement, Quadratic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray


# Steps after which predictions are computed anew: rounding has then added up to a few
# hundred units in the last place, and the product costs a thirtieth of the descent.
_RENEWED_EVERY = 32
StoppedBy = Literal["tolerance", "max_steps", "validation", "gradient"]
JudgedBy = Literal["objective", "auc", "validation_auc"]


class State(NamedTuple):
    """Parameters and what they predict on every sample; a direction has the same form.

    As a direction, parameters and predictions are the changes for a step of 1.
    """

    parameters: NDArray[np.float64]
    predictions: tuple[Any, ...]  # arrays, or what adds and scales as they do

    def moved(self, direction: State, step: float) -> State:
        """Go a step along a direction, in parameters and predictions alike."""
        changes = zip(self.predictions, direction.predictions, strict=True)
        return State(
            self.parameters + step * direction.parameters,
            tuple(prediction + step * change for prediction, change in changes),
        )


class Model(Protocol):
    """What a model says of itself so that `descend` can move it.

    Predictions must be linear in the parameters along the directions it gives.
    """

    def predict(self, parameters: NDArray[np.float64]) -> State:
        """Compute the predictions of parameters, on the training sample first."""

    def downhill(self, state: State, gradient: Any) -> State | None:
        """Turn a gradient in the training predictions into a direction, or None."""

    def moved(self, state: State, direction: State, step: float) -> State:
        """Go a step; predictions are carried along, not computed again."""

    def quadratic(self, state: State, direction: State | None) -> Quadratic:
        """Return what the model adds to AUM, here and along a direction."""


class Samples(Protocol):
    """What training and perhaps validation rows say of a state."""

    def areas(self, state: State) -> list[tuple[float, float]]:
        """Compute AUM and AUC of each sample: one, or two with validation rows."""

    def gradient(self, state: State) -> Any:
        """Compute the gradient of AUM in the training predictions."""

    def chosen_step(
        self, state: State, direction: State, added: Quadratic
    ) -> ChosenStep:
        """Choose a step along a direction, given what the model adds to AUM there."""

    def intercept(self, state: State) -> float:
        """Find the constant with the fewest errors on the training rows."""


@dataclass(frozen=True, slots=True, eq=False)
class Descent:
    """Hold a linear model and how descent came to it.

    The arrays have one row for the start and one for every step. Without validation
    data their validation columns are NaN.

    Attributes
    ----------
    coef : array, shape (n_features,)
        Weights of the chosen row: the last, or with validation data the first one
        with the largest validation AUC.
    intercept : float
        The constant with the fewest errors, FP + FN in the units of the breakpoints,
        at these weights; AUM and AUC do not depend on it.
    chosen : int
        The row of ``coef``.
    n_steps : int
        How many steps were taken.
    stopped_by : {"tolerance", "max_steps", "validation", "gradient"}
        Why there are no more: no improvement above the tolerance, the number of steps,
        the patience with validation AUC, or a gradient that is zero or, with
        ``unit_norm``, only lengthens or shortens the weights.
    aum, auc, validation_aum, validation_auc : arrays, shape (n_steps + 1,)
        The areas of each row, at the predictions that the steps were chosen for; those
        of the chosen row at ``X @ coef``.
    norm : array, shape (n_steps + 1,)
        Length of the weights.
    step : array, shape (n_steps + 1,)
        The step size that led to the row; 0 for the start.
    n_crossings : array of int, shape (n_steps + 1,)
        Crossings, kinks or grid points that the search for the step looked at; 0 where
        it does not visit them one by one.
    seconds : array, shape (n_steps + 1,)
        Time since the start of the descent.
    """

    coef: NDArray[np.float64]
    intercept: float
    chosen: int
    n_steps: int
    stopped_by: StoppedBy
    aum: NDArray[np.float64]
    auc: NDArray[np.float64]
    validation_aum: NDArray[np.float64]
    validation_auc: NDArray[np.float64]
    norm: NDArray[np.float64]
    step: NDArray[np.float64]
    n_crossings: NDArray[np.int64]
    seconds: NDArray[np.float64]


def fewest_errors_constant(
    bp: ErrorBreakpoints, predictions: NDArray[np.float64]
) -> float:
    """Find the constant to add to all predictions with the fewest errors, FP + FN."""
    curve = roc_curve(bp, predictions)
    errors = np.add(*curve_errors(bp, curve))
    # Rates of equal errors may differ by rounding.
    is_best = errors <= errors.min() * (1 + 1e-12)
    low, high = curve.threshold[is_best].T
    # The widest of the best stretches is the safest; one without an end has no middle.
    width = np.where(np.isfinite(high - low), high - low, 2.0)
    low, high = low[width.argmax()], high[width.argmax()]
    return inside_interval(float(low), float(high))


class Record(NamedTuple):
    """What is written down of a step; the fields are those of `Descent`."""

    aum: float
    auc: float
    validation_aum: float
    validation_auc: float
    norm: float
    step: float
    n_crossings: int
    seconds: float


class Limits(NamedTuple):
    """When a descent ends."""

    max_steps: int
    tol: float = 0.0
    patience: int | None = None

    def reached(self, number: int, chosen: int, improvement: float) -> StoppedBy | None:
        """Tell which limit ends a descent after a step, or None."""
        if improvement <= self.tol:
            return "tolerance"
        if self.patience is not None and number - chosen >= self.patience:
            return "validation"
        return "max_steps" if number == self.max_steps else None


class Goal(NamedTuple):
    """What a descent is to improve: a way to choose steps, and what they are judged by.

    ``choose`` takes how training and validation predictions move, and what the model
    adds to AUM along the way.
    """

    choose: Callable[[Movement, Movement, Quadratic], ChosenStep]
    judged_by: JudgedBy = "objective"


def descend(
    model: Model,
    bps: Sequence[ErrorBreakpoints],
    start: NDArray[np.float64],
    goal: Goal,
    limits: Limits,
    progress: Callable[[int, float, float], None] | None = None,
) -> Descent:
    """Move a model by predictions that are arrays, with error functions ``bps``."""
    samples = _MemorySamples(bps, goal.choose)
    return descend_on(samples, model, start, limits, goal.judged_by, progress)


def descend_on(
    samples: Samples,
    model: Model,
    start: NDArray[np.float64],
    limits: Limits,
    judged_by: JudgedBy = "objective",
    progress: Callable[[int, float, float], None] | None = None,
) -> Descent:
    """Move the parameters of a model until no step improves them.

    Parameters
    ----------
    samples : Samples
        Training rows and perhaps others for validation, wherever they lie.
    model : Model
        Makes predictions on them.
    start : array
        Parameters.
    limits : Limits
        When to end.
    judged_by : {"objective", "auc", "validation_auc"}
        What steps must improve: AUM with what the model adds, or an AUC.
    progress : callable, optional
        Called after each step with its number, AUM and AUC.

    Returns
    -------
    Descent
    """
    watch = _Watch(samples, time.perf_counter(), judged_by)
    records: list[Record] = []
    chosen = 0
    stopped_by: StoppedBy | None = None
    for number, (state, record, improvement) in enumerate(_walk(model, start, watch)):
        records.append(record)
        is_better = record.validation_auc > records[chosen].validation_auc
        # Without validation rows the last state is the answer, also where AUC has
        # fallen on the way: that is the paper's method.
        if number == 0 or np.isnan(record.validation_auc) or is_better:
            chosen, best = number, state
        if progress is not None and number > 0:
            progress(number, record.aum, record.auc)
        stopped_by = limits.reached(number, chosen, improvement)
        if stopped_by is not None:
            break
    best = model.predict(best.parameters)
    # What is written of the parameters returned is what they predict, to the last bit.
    records[chosen] = watch.renewed(record=records[chosen], state=best)
    return Descent(
        coef=read_only(best.parameters),
        intercept=samples.intercept(best),
        chosen=chosen,
        n_steps=len(records) - 1,
        stopped_by=stopped_by or "gradient",  # where the walk itself came to an end
        **_columns(records),
    )


def _columns(records: list[Record]) -> dict[str, NDArray[Any]]:
    fields = zip(Record._fields, zip(*records, strict=True), strict=True)
    return {name: read_only(np.array(column)) for name, column in fields}


def _walk(
    model: Model, start: NDArray[np.float64], watch: _Watch
) -> Iterator[tuple[State, Record, float]]:
    """Give the start, and after every step the state and how much it improved."""
    state = model.predict(start)
    record = watch.record(state, ChosenStep(0.0))
    # The start improves on nothing: no tolerance may stop there.
    goodness = watch.goodness(record, model.quadratic(state, None))
    yield state, record, np.inf
    for number in itertools.count(1):
        # Where thresholds are tied AUM has a kink: the gradient is the mean of its two
        # one-sided derivatives (Hillman & Hocking), and need not lead down.
        direction = model.downhill(state, watch.samples.gradient(state))
        if direction is None:
            return
        # A search never sees the model: only how predictions move, and what the model
        # adds to AUM, as a parabola in the step.
        added = model.quadratic(state, direction)
        step = watch.samples.chosen_step(state, direction, added)
        state = model.moved(state, direction, step.size)
        if number % _RENEWED_EVERY == 0:
            state = model.predict(state.parameters)
        record = watch.record(state, step)
        before = goodness
        goodness = watch.goodness(record, model.quadratic(state, None))
        yield state, record, goodness - before


class _MemorySamples(NamedTuple):
    """The error functions of samples whose predictions are arrays, as `Samples`."""

    bps: Sequence[ErrorBreakpoints]
    choose: Callable[[Movement, Movement, Quadratic], ChosenStep]

    def areas(self, state: State) -> list[tuple[float, float]]:
        return [
            (aum(bp, prediction), auc(bp, prediction))
            for bp, prediction in zip(self.bps, state.predictions, strict=True)
        ]

    def gradient(self, state: State) -> NDArray[np.float64]:
        return aum_gradient(self.bps[0], state.predictions[0])

    def chosen_step(
        self, state: State, direction: State, added: Quadratic
    ) -> ChosenStep:
        parts = zip(self.bps, state.predictions, direction.predictions, strict=True)
        moving = [Movement(*part) for part in parts]
        # Of one sample both are it; choices by validation then were refused before.
        return self.choose(moving[0], moving[-1], added)

    def intercept(self, state: State) -> float:
        return fewest_errors_constant(self.bps[0], state.predictions[0])


class _Watch(NamedTuple):
    """The samples by which states are measured, and what steps are judged by."""

    samples: Samples
    start_time: float
    judged_by: JudgedBy

    def record(self, state: State, step: ChosenStep) -> Record:
        unknown = float("nan")
        (train_aum, train_auc), *validation = self.samples.areas(state)
        return Record(
            train_aum,
            train_auc,
            *(validation[0] if validation else (unknown, unknown)),
            norm=float(np.linalg.norm(state.parameters)),
            step=step.size,
            n_crossings=step.n_crossings,
            seconds=time.perf_counter() - self.start_time,
        )

    def goodness(self, record: Record, added: Quadratic) -> float:
        """Return what steps are chosen to increase."""
        if self.judged_by == "objective":
            return -record.aum - added.value
        return record.auc if self.judged_by == "auc" else record.validation_auc

    def renewed(self, *, record: Record, state: State) -> Record:
        step = ChosenStep(record.step, record.n_crossings)
        return self.record(state, step)._replace(seconds=record.seconds)
