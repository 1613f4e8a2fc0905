"""The linear model of a descent, and the paper's method with it: `minimize_aum`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rocpath.arguments import (
    check_count,
    describe,
    finite_vector,
    number_from_zero,
    one_of,
    whole_number,
)
from rocpath.breakpoints import ErrorBreakpoints
from rocpath.descent import Descent, Goal, JudgedBy, Limits, State, descend
from rocpath.matrices import as_matrix, column_sums, row_products
from rocpath.step_choice import STEP_CHOICES, Quadratic, StepChoice, choose_step

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from rocpath.matrices import Matrix

# A direction this much smaller than what it is the rest of is rounding.
_RADIAL_REST = 1e-12


class LinearPredictor(NamedTuple):
    """Predictions ``X @ coef``, on training and perhaps on validation rows."""

    samples: tuple[Matrix, ...]
    l2: float = 0.0
    unit_norm: bool = False

    def predict(self, parameters: NDArray[np.float64]) -> State:
        """Compute the predictions of weights, as a `Model`."""
        state = State(
            parameters, tuple(row_products(X, parameters) for X in self.samples)
        )
        return self._normalized(state)

    def downhill(self, state: State, gradient: Any) -> State | None:
        """Go against the gradient; of unit weights, at right angles to them."""
        coef = state.parameters
        # The chain rule: predictions are X @ coef, so their gradient times X is that of
        # coef.
        direction = -column_sums(self.samples[0], gradient) - self.l2 * coef
        if self.unit_norm:
            # AUM of k times the predictions is k times as large: along coef itself it
            # shrinks towards the trivial minimum 0, where nothing is ranked.
            length = np.linalg.norm(direction)
            direction -= (direction @ coef) * coef
            if np.linalg.norm(direction) <= _RADIAL_REST * length:
                return None
        if not direction.any():
            return None
        return State(direction, tuple(row_products(X, direction) for X in self.samples))

    def moved(self, state: State, direction: State, step: float) -> State:
        """Go a step, and back to unit length if asked to."""
        return self._normalized(state.moved(direction, step))

    def quadratic(self, state: State, direction: State | None) -> Quadratic:
        """Return l2 / 2 · ‖coef‖² along the direction."""
        coef = state.parameters
        value = 0.5 * self.l2 * float(coef @ coef)
        if direction is None:
            return Quadratic(value)
        change = direction.parameters
        return Quadratic(
            value, self.l2 * float(coef @ change), self.l2 * float(change @ change)
        )

    def _normalized(self, state: State) -> State:
        if not self.unit_norm:
            return state
        # Divided by the length: a step towards zero, which carries predictions along.
        return state.moved(state, 1.0 / float(np.linalg.norm(state.parameters)) - 1.0)


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
        Stop after a step that improves what it is chosen by (AUM plus the L2 term, AUC,
        or validation AUC) by no more than this.
    validation : tuple of X and bp, optional
        Other data, by which the row of the result is chosen.
    patience : int, optional
        Stop after this many steps without a new largest validation AUC.
    unit_norm : bool
        Keep weights of length one, with directions at right angles to them.
    l2 : float
        Minimize AUM + l2 / 2 · ‖coef‖²; searches by AUM stay exact.
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
    choice = one_of("step", step, STEP_CHOICES)
    samples = [_checked_sample(X, bp)]
    samples += _checked_validation(validation, samples[0][0].shape[1], choice)
    if patience is not None and validation is None:
        raise ValueError(f"patience needs validation data, got patience={patience}.")
    limits = Limits(
        max_steps=whole_number("max_steps", max_steps, least=0),
        tol=number_from_zero("tol", tol),
        patience=patience and whole_number("patience", patience, least=1),
    )
    matrices, bps = zip(*samples, strict=True)
    # Training rows first, validation rows if any second: what `Model` says of samples.
    model = LinearPredictor(matrices, number_from_zero("l2", l2), bool(unit_norm))
    start = checked_start(coef, matrices[0].shape[1], unit_norm=model.unit_norm)
    goal = _goal(choice, number_from_zero("step_size", step_size))
    return descend(model, bps, start, goal, limits, progress)


def _goal(choice: StepChoice, constant: float) -> Goal:
    # A step that was chosen by AUC may raise AUM, and a descent that stopped for it
    # could be its first: each is judged by what it was chosen to improve.
    judged_by: JudgedBy = "objective"
    if choice == "best_auc":
        judged_by = "auc"
    elif choice.startswith("validation_auc"):
        judged_by = "validation_auc"
    return Goal(partial(choose_step, choice, constant=constant), judged_by)


def _checked_sample(
    X: Matrix, bp: ErrorBreakpoints, where: str = ""
) -> tuple[Matrix, ErrorBreakpoints]:
    if not isinstance(bp, ErrorBreakpoints):
        raise TypeError(f"{where}bp must be ErrorBreakpoints, got {describe(bp)}.")
    matrix = as_matrix(f"{where}X", X)
    rule = f"{where}X must have a row"
    check_count(rule, matrix.shape[0], bp.n_examples, "examples")
    return matrix, bp


def checked_start(
    coef: ArrayLike | None, n_features: int, *, unit_norm: bool
) -> NDArray[np.float64]:
    """Return the weights to start from, or raise."""
    start = np.zeros(n_features) if coef is None else finite_vector("coef", coef).copy()
    check_count("coef must have an entry", start.size, n_features, "columns of X")
    if unit_norm and not start.any():
        raise ValueError("coef must not be all zeros with unit_norm=True.")
    return start


def _checked_validation(
    validation: tuple[Matrix, ErrorBreakpoints] | None, n_features: int, choice: str
) -> list[tuple[Matrix, ErrorBreakpoints]]:
    if validation is None:
        if choice.startswith("validation_auc"):
            raise ValueError(f"validation must be given for step={choice!r}, got None.")
        return []
    if not isinstance(validation, tuple) or len(validation) != 2:
        raise TypeError(
            f"validation must be a tuple of X and bp, got {describe(validation)}."
        )
    sample = _checked_sample(*validation, where="validation ")
    if sample[0].shape[1] != n_features:
        raise ValueError(
            f"validation X must have {n_features} columns, as X has, got "
            f"{sample[0].shape[1]}."
        )
    return [sample]
