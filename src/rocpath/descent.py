"""Gradient descent on AUM, each step with an exact line search (the paper's method)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from rocpath.arguments import (
    describe,
    finite_vector,
    number_from_zero,
    one_of,
    whole_number,
)
from rocpath.breakpoints import ErrorBreakpoints
from rocpath.matrices import as_matrix, sums_over_rows, weighted_sums
from rocpath.roc import (
    auc,
    aum,
    aum_gradient,
    curve_errors,
    inside_interval,
    roc_curve,
)
from rocpath.step_choice import (
    STEP_CHOICES,
    Movement,
    Penalty,
    StepChoice,
    choose_step,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from rocpath.matrices import Matrix

_UNKNOWN = (float("nan"), float("nan"))

StoppedBy = Literal["tolerance", "max_steps", "validation", "gradient"]


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
        the patience with validation AUC, or a direction of zero.
    aum, auc, validation_aum, validation_auc : arrays, shape (n_steps + 1,)
        The areas of each row.
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


def minimize_aum(
    X: Matrix,
    bp: ErrorBreakpoints,
    *,
    coef: ArrayLike | None = None,
    step: StepChoice = "first_min",
    max_steps: int = 1000,
    tol: float = 1e-5,
    validation: tuple[Matrix, ErrorBreakpoints] | None = None,
    patience: int | None = None,
    unit_norm: bool = False,
    l2: float = 0.0,
    step_size: float = 0.1,
    progress: Callable[[int, float, float], None] | None = None,
) -> Descent:
    """Descend along minus the gradient of AUM, each step with a line search.

    Binary AUM has a trivial minimum: it shrinks with the weights, and AUC may fall
    while it does. The paper's method ignores that. Against it, use ``unit_norm``,
    ``l2`` with a margin (:meth:`ErrorBreakpoints.from_labels`), a step chosen by AUC,
    or validation data.

    Parameters
    ----------
    X : array or CSR matrix, shape (n_examples, n_features)
        Features, float32 or float64; predictions are ``X @ coef``.
    bp : ErrorBreakpoints
        The error functions, of binary labels or of changepoint penalties.
    coef : array-like, shape (n_features,), optional
        Weights to start from; by default zero.
    step : str
        How to choose the size of each step. On the training data: ``"first_min"``,
        the first local minimum of AUM; ``"linear"``, the best AUM among as many
        crossings as there are breakpoints; ``"quadratic"``, the best among all
        crossings; ``"best_aum"``, the same as quadratic without visiting them all;
        ``"best_auc"``, the largest AUC; ``"grid"``, the best AUM of the sizes 1e-9,
        1e-8, ..., 1; ``"constant"``, always ``step_size``. ``"validation_auc"`` is the
        largest AUC on the validation data, and ``"validation_auc_limited"`` that up to
        the best AUM step on the training data.
    max_steps : int
        Most steps to take.
    tol : float
        Stop after a step that improves what it is chosen by (AUM plus penalty, AUC, or
        validation AUC) by no more than this.
    validation : tuple of X and bp, optional
        Other data, by which the row of the result is chosen.
    patience : int, optional
        Stop after this many steps without a new largest validation AUC.
    unit_norm : bool
        Keep weights of length one, with directions at right angles to them.
    l2 : float
        Minimise AUM + l2 / 2 · ‖coef‖²; searches by AUM stay exact.
    step_size : float
        The step of ``step="constant"``.
    progress : callable, optional
        Called after each step with its number, AUM and AUC.

    Returns
    -------
    Descent

    Examples
    --------
    >>> import numpy as np
    >>> import rocpath as rp
    >>> X = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 1.0], [3.0, 2.0]])
    >>> bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    >>> descent = rp.minimize_aum(X, bp, coef=[-1.0, 0.0], step="best_aum")
    >>> float(descent.auc[0]), float(descent.auc[-1])
    (0.0, 1.0)
    """
    train = _Sample.checked(X, bp)
    choice = one_of("step", step, STEP_CHOICES)
    problem = _Problem(
        samples=(train, *_checked_validation(validation, train, choice)),
        choice=choice,
        l2=number_from_zero("l2", l2),
        unit_norm=bool(unit_norm),
        step_size=number_from_zero("step_size", step_size),
        start_time=time.perf_counter(),
    )
    if patience is not None and validation is None:
        raise ValueError(f"patience needs validation data, got patience={patience}.")
    limits = _Limits(
        max_steps=whole_number("max_steps", max_steps, least=0),
        tol=number_from_zero("tol", tol),
        patience=patience and whole_number("patience", patience, least=1),
    )
    start = _checked_start(coef, train, unit_norm=problem.unit_norm)
    return _descend(problem, limits, start, progress)


def fewest_errors_constant(
    bp: ErrorBreakpoints, predictions: NDArray[np.float64]
) -> float:
    """Find the constant to add to all predictions with the fewest errors, FP + FN."""
    curve = roc_curve(bp, predictions)
    errors = np.add(*curve_errors(bp, curve))
    is_best = errors <= errors.min() * (1 + 1e-12)
    low, high = curve.threshold[is_best].T
    # The widest of the best stretches is the safest; one without an end has no middle.
    width = np.where(np.isfinite(high - low), high - low, 2.0)
    low, high = low[width.argmax()], high[width.argmax()]
    return inside_interval(float(low), float(high))


class _Sample(NamedTuple):
    X: Matrix
    bp: ErrorBreakpoints

    @classmethod
    def checked(cls, X: Matrix, bp: ErrorBreakpoints, where: str = "") -> _Sample:
        if not isinstance(bp, ErrorBreakpoints):
            raise TypeError(f"{where}bp must be ErrorBreakpoints, got {describe(bp)}.")
        matrix = as_matrix(f"{where}X", X)
        if matrix.shape[0] != bp.n_examples:
            raise ValueError(
                f"{where}X must have a row for each of the {bp.n_examples} examples, "
                f"got {matrix.shape[0]}."
            )
        return cls(matrix, bp)


class _Limits(NamedTuple):
    max_steps: int
    tol: float
    patience: int | None


class _Point(NamedTuple):
    """Weights, what they predict on each sample, and what is recorded of them."""

    weights: NDArray[np.float64]
    predictions: list[NDArray[np.float64]]
    aum: float
    auc: float
    validation_aum: float
    validation_auc: float
    norm: float
    step: float
    n_crossings: int
    seconds: float


@dataclass(frozen=True, slots=True)
class _Problem:
    samples: tuple[_Sample, ...]  # training data, then validation data if there is any
    choice: StepChoice
    l2: float
    unit_norm: bool
    step_size: float
    start_time: float

    def predictions(self, weights: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        return [weighted_sums(sample.X, weights) for sample in self.samples]

    def point(
        self, weights: NDArray[np.float64], step: float = 0.0, n_crossings: int = 0
    ) -> _Point:
        if self.unit_norm:
            weights = weights / np.linalg.norm(weights)
        predictions = self.predictions(weights)
        areas = [
            (aum(sample.bp, prediction), auc(sample.bp, prediction))
            for sample, prediction in zip(self.samples, predictions, strict=True)
        ]
        validation_aum, validation_auc = areas[1] if len(areas) > 1 else _UNKNOWN
        return _Point(
            weights=weights,
            predictions=predictions,
            aum=areas[0][0],
            auc=areas[0][1],
            validation_aum=validation_aum,
            validation_auc=validation_auc,
            norm=float(np.linalg.norm(weights)),
            step=step,
            n_crossings=n_crossings,
            seconds=time.perf_counter() - self.start_time,
        )

    def next_point(self, at: _Point) -> _Point | None:
        """Take a step; None where the direction is zero."""
        bp = self.samples[0].bp
        gradient = aum_gradient(bp, at.predictions[0])
        direction = -sums_over_rows(self.samples[0].X, gradient) - self.l2 * at.weights
        if self.unit_norm:
            direction -= (direction @ at.weights) * at.weights
        if not direction.any():
            return None
        movements = [
            Movement(sample.bp, prediction, change)
            for sample, prediction, change in zip(
                self.samples, at.predictions, self.predictions(direction), strict=True
            )
        ]
        chosen = choose_step(
            self.choice,
            movements[0],
            movements[-1],
            penalty=Penalty(
                slope=self.l2 * float(at.weights @ direction),
                curvature=self.l2 * float(direction @ direction),
            ),
            constant=self.step_size,
        )
        return self.point(at.weights + chosen.size * direction, *chosen)

    def goodness(self, at: _Point) -> float:
        """Return what steps are chosen to increase."""
        if self.choice == "best_auc":
            return at.auc
        if self.choice in ("validation_auc", "validation_auc_limited"):
            return at.validation_auc
        return -at.aum - 0.5 * self.l2 * float(at.weights @ at.weights)


def _descend(
    problem: _Problem,
    limits: _Limits,
    start: NDArray[np.float64],
    progress: Callable[[int, float, float], None] | None,
) -> Descent:
    has_validation = len(problem.samples) > 1
    last = best = problem.point(start)
    points = [last]
    chosen = 0
    stopped_by: StoppedBy = "max_steps"
    for number in range(1, limits.max_steps + 1):
        point = problem.next_point(last)
        if point is None:
            stopped_by = "gradient"
            break
        improvement = problem.goodness(point) - problem.goodness(last)
        last = point
        points.append(last._replace(weights=start, predictions=[]))
        if not has_validation or last.validation_auc > best.validation_auc:
            chosen, best = number, last
        if progress is not None:
            progress(number, last.aum, last.auc)
        if improvement <= limits.tol:
            stopped_by = "tolerance"
            break
        if limits.patience is not None and number - chosen >= limits.patience:
            stopped_by = "validation"
            break
    columns = {
        name: np.array([getattr(point, name) for point in points])
        for name in _Point._fields[2:]
    }
    for array in (*columns.values(), best.weights):
        array.setflags(write=False)
    return Descent(
        coef=best.weights,
        intercept=fewest_errors_constant(problem.samples[0].bp, best.predictions[0]),
        chosen=chosen,
        n_steps=len(points) - 1,
        stopped_by=stopped_by,
        **columns,
    )


def _checked_start(
    coef: ArrayLike | None, train: _Sample, *, unit_norm: bool
) -> NDArray[np.float64]:
    n_features = train.X.shape[1]
    start = np.zeros(n_features) if coef is None else finite_vector("coef", coef).copy()
    if start.size != n_features:
        raise ValueError(
            f"coef must have an entry for each of the {n_features} columns of X, "
            f"got {start.size}."
        )
    if unit_norm and not start.any():
        raise ValueError("coef must not be all zeros with unit_norm=True.")
    return start


def _checked_validation(
    validation: tuple[Matrix, ErrorBreakpoints] | None, train: _Sample, choice: str
) -> tuple[_Sample, ...]:
    if validation is None:
        if choice in ("validation_auc", "validation_auc_limited"):
            raise ValueError(f"validation must be given for step={choice!r}, got None.")
        return ()
    if not isinstance(validation, tuple) or len(validation) != 2:
        raise TypeError(
            f"validation must be a tuple of X and bp, got {describe(validation)}."
        )
    sample = _Sample.checked(*validation, where="validation ")
    if sample.X.shape[1] != train.X.shape[1]:
        raise ValueError(
            f"validation X must have {train.X.shape[1]} columns, as X has, got "
            f"{sample.X.shape[1]}."
        )
    return (sample,)
