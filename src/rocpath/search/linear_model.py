"""Linear model for a descent, and `minimize_aum`, the method of the paper."""

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from rocpath.matrices import Matrix, as_matrix, column_sums, row_products, weighted_sums
from rocpath.search.breakpoints import ErrorBreakpoints
from rocpath.search.descent import ArraySamples, Criterion, Descent, State, Vector, descend
from rocpath.search.intercepts import without_empty
from rocpath.search.step_choice import STEP_CHOICES, Quadratic, StepChoice, choose_step
from rocpath.validation import (
    Floats,
    check_count,
    describe,
    finite_vector,
    nonnegative_number,
    one_of,
    whole_number,
)

# A tangential part of the direction below this fraction of its norm is rounding error.
_SMALLEST_TANGENT = 1e-12


class Features(Protocol):
    """Interface of the features of a sample, in memory or in partitions."""

    def predict(self, coef: Floats) -> Vector:
        """Compute ``X @ coef``, rounded independently of how rows are partitioned."""

    def evaluate(self, coef: Floats) -> Vector:
        """Compute ``X @ coef``, rounded as for a user of the weights."""

    def column_sums(self, factor: Any) -> Floats:
        """Compute ``X.T @ factor`` of a vector, independently of the order of the rows."""


class ArrayFeatures(NamedTuple):
    """Features in memory."""

    X: Matrix

    def predict(self, coef: Floats) -> Floats:
        """Compute ``X @ coef``, rounded independently of how rows are partitioned."""
        return row_products(self.X, coef)

    def evaluate(self, coef: Floats) -> Floats:
        """Compute ``X @ coef``, rounded as NumPy and SciPy round it."""
        return np.asarray(weighted_sums(self.X, coef))

    def column_sums(self, factor: Floats) -> Floats:
        """Compute ``X.T @ factor``, independently of the order of the rows."""
        return column_sums(self.X, factor)


class LinearPredictor(NamedTuple):
    """Linear model ``X @ coef`` on training rows and, optionally, validation rows."""

    features: tuple[Features, ...]
    l2: float = 0.0
    unit_norm: bool = False

    def predict(self, parameters: Floats) -> State:
        """Compute predictions that do not depend on how the rows are partitioned."""
        return State(parameters, tuple(one.predict(parameters) for one in self.features))

    def evaluate(self, parameters: Floats) -> State:
        """Compute predictions as users of the weights do."""
        return State(parameters, tuple(one.evaluate(parameters) for one in self.features))

    def descent_direction(self, state: State, gradient: Any) -> State | None:
        """Return minus the gradient or, with ``unit_norm``, its tangential part."""
        coef = state.parameters
        # By the chain rule, X.T times the gradient in X @ coef is the gradient in coef.
        direction = -self.features[0].column_sums(gradient) - self.l2 * coef
        if self.unit_norm:
            # AUM is proportional to the scale of the predictions: along coef it shrinks
            # toward the trivial minimum 0, where all predictions are equal.
            norm = np.linalg.norm(direction)
            direction -= (direction @ coef) * coef
            if np.linalg.norm(direction) <= _SMALLEST_TANGENT * norm:
                return None
        # If the square of its norm underflows, the L2 term is zero in float64.
        if not direction.any() or (self.l2 > 0 and not self.l2 * float(direction @ direction) > 0):
            return None
        return self.predict(direction)

    def step(self, state: State, direction: State, size: float) -> State:
        """Take a step and, with ``unit_norm``, return to unit length."""
        state = state.step(direction, size)
        if not self.unit_norm:
            return state
        # Dividing by the norm is a step toward zero, which also updates predictions.
        return state.step(state, 1.0 / float(np.linalg.norm(state.parameters)) - 1.0)

    def quadratic(self, state: State, direction: State | None) -> Quadratic:
        """Return l2 / 2 · ‖coef‖² along the direction."""
        coef = state.parameters
        value = 0.5 * self.l2 * float(coef @ coef)
        if direction is None:
            return Quadratic(value)
        change = direction.parameters
        return Quadratic(value, self.l2 * float(coef @ change), self.l2 * float(change @ change))


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
    """Minimize AUM by gradient descent with a line search for each step.

    AUM of binary labels has a trivial minimum: it decreases with the norm of the
    weights, and AUC may decrease with it. The method of the paper does not prevent
    this. For a useful model, use breakpoints with a margin
    (``ErrorBreakpoints.from_labels(y, margin=1)``), for which AUM is a class-balanced
    hinge loss; or ``unit_norm``, a step chosen by AUC, or validation data.

    Parameters
    ----------
    X : array or CSR matrix, shape (n_examples, n_features)
        Features, float32 or float64; predictions are ``X @ coef``.
    bp : ErrorBreakpoints
        Error functions of binary labels or of changepoint penalties.
    coef : array-like, shape (n_features,), optional
        Initial weights. The default is the difference of the class means, the mean of
        X over positives minus the mean over negatives; for error functions in general,
        examples are weighted by their share of all false negatives and of all false
        positives.
    step : str
        Rule that chooses the size of each step. Rules based on the training data:
        ``"first_min"``, the first local minimum of AUM; ``"linear"``, the smallest AUM
        among as many crossings as there are breakpoints; ``"quadratic"``, the smallest
        AUM among all crossings; ``"best_aum"``, the same result without visiting all
        crossings; ``"best_auc"``, the largest AUC; ``"grid"``, the smallest AUM of the
        sizes 1e-9, 1e-8, ..., 1; ``"constant"``, always ``step_size``. Rules based on
        the validation data: ``"validation_auc"``, the largest validation AUC, and
        ``"validation_auc_limited"``, the largest one up to the step with the smallest
        training AUM. With a rule based on AUC, the row with the largest AUC is
        returned, which is never worse than the initial weights. For binary labels,
        ``"best_aum"`` finds the same minimum as ``"first_min"`` in a third of the time;
        the two steps differ by at most an ulp, which may decide on which side of a tie
        the next gradient is computed.
    max_steps : int
        Maximum number of steps.
    tol : float
        Tolerance: the descent stops when a step improves the quantity that steps are
        chosen by (AUM plus the L2 term, AUC, or validation AUC) by no more than this.
    validation : tuple of X and bp, optional
        Validation data; the row with the largest validation AUC is returned.
    patience : int, optional
        Maximum number of steps without a new largest validation AUC.
    unit_norm : bool
        Whether to keep the weights at norm one, with directions tangential to the unit
        sphere.
    l2 : float
        Strength of the L2 term: AUM + l2 / 2 · ‖coef‖² is minimized. Line searches for
        AUM remain exact.
    step_size : float
        Step size of ``step="constant"``.
    progress : callable, optional
        Function called after each step with its number, AUM and AUC.

    Returns
    -------
    Descent

    Warns
    -----
    UserWarning
        If ``coef`` is a trivial minimum: all predictions are equal and AUM is 0.

    Examples
    --------
    >>> import numpy as np
    >>> import rocpath as rp
    >>> X = np.array([[0.0, 1.0], [1.0, 3.0], [2.0, 1.0], [3.0, 2.0]])
    >>> bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1], margin=1)
    >>> descent = rp.minimize_aum(X, bp, coef=[-1.0, 0.0], step="best_aum")
    >>> float(descent.auc[0]), float(descent.auc[-1])
    (0.0, 1.0)
    """
    choice = one_of("step", step, STEP_CHOICES)
    samples = [_checked_sample(X, bp)]
    samples += _checked_validation(validation, samples[0][0].shape[1], choice, patience)
    matrices, bps = zip(*samples, strict=True)
    # Training rows first, then validation rows: the order that `Model` requires.
    features = tuple(map(ArrayFeatures, matrices))
    model = LinearPredictor(features, nonnegative_number("l2", l2), bool(unit_norm))
    start = features[0].column_sums(class_mean_weights(bp)) if coef is None else coef
    initial = checked_initial(start, matrices[0].shape[1], unit_norm=model.unit_norm)
    if coef is not None:
        # If all breakpoints are at one value, all errors jump at one threshold.
        warn_if_trivial(initial, has_margin=bool(np.ptp(bp.value) > 0))
    constant = nonnegative_number("step_size", step_size)
    choose = partial(choose_step, choice, constant=constant)
    return descend(
        ArraySamples(list(map(without_empty, bps)), choose),
        model,
        initial,
        max_steps=whole_number("max_steps", max_steps, least=0),
        tol=nonnegative_number("tol", tol),
        patience=patience,
        criterion=_criterion(choice),
        progress=progress,
    )


def class_mean_weights(bp: ErrorBreakpoints) -> Floats:
    """Return the weights with which the rows sum to the difference of the class means."""
    # Multiples of units, as for partitions: an ulp may decide about a tie later on.
    false_negatives = np.bincount(bp.example, bp.jumps.tp, bp.n_examples)
    false_positives = np.bincount(bp.example, bp.jumps.fp, bp.n_examples)
    return np.asarray(false_negatives / bp.jumps.tp.sum() - false_positives / bp.jumps.fp.sum())


def checked_initial(coef: ArrayLike, n_features: int, *, unit_norm: bool) -> Floats:
    """Return the initial weights, scaled to norm one with ``unit_norm``, or raise."""
    initial = finite_vector("coef", coef).copy()
    check_count("coef must have one entry", initial.size, n_features, "columns of X")
    if not unit_norm:
        return initial
    if not initial.any():
        raise ValueError(
            "coef must have a nonzero entry with unit_norm=True, got only zeros. If "
            "coef was not given, the class means are equal; set coef."
        )
    return np.asarray(initial / np.linalg.norm(initial))


def warn_if_trivial(coef: Floats, *, has_margin: bool) -> None:
    """Warn if the weights are zero and AUM of equal predictions is 0."""
    if not coef.any() and not has_margin:
        warnings.warn(
            "coef is zero, which is a trivial minimum: all predictions are equal and "
            "AUM is 0. Omit coef to start from the difference of the class means, or "
            "use margin=1 for the breakpoints, as in ErrorBreakpoints.from_labels(y, margin=1).",
            UserWarning,
            stacklevel=3,
        )


def _criterion(choice: StepChoice) -> Criterion:
    # A step chosen by AUC may increase AUM, so steps are assessed by the quantity that
    # they were chosen to improve.
    if choice == "best_auc":
        return "auc"
    return "validation_auc" if choice.startswith("validation_auc") else "objective"


def _checked_sample(
    X: Matrix, bp: ErrorBreakpoints, where: str = ""
) -> tuple[Matrix, ErrorBreakpoints]:
    if not isinstance(bp, ErrorBreakpoints):
        raise TypeError(f"{where}bp must be ErrorBreakpoints, got {describe(bp)}.")
    matrix = as_matrix(f"{where}X", X)
    rule = f"{where}X must have one row"
    check_count(rule, matrix.shape[0], bp.n_examples, "examples")
    return matrix, bp


def _checked_validation(
    validation: tuple[Matrix, ErrorBreakpoints] | None,
    n_features: int,
    choice: str,
    patience: int | None,
) -> list[tuple[Matrix, ErrorBreakpoints]]:
    if patience is not None:
        whole_number("patience", patience, least=1)
    if validation is None:
        is_needed = choice.startswith("validation_auc")
        if is_needed or patience is not None:
            use = f"step={choice!r}" if is_needed else f"patience={patience}"
            raise ValueError(f"validation must be given for {use}, got None.")
        return []
    if not isinstance(validation, tuple) or len(validation) != 2:
        raise TypeError(f"validation must be a tuple of X and bp, got {describe(validation)}.")
    sample = _checked_sample(*validation, where="validation ")
    if sample[0].shape[1] != n_features:
        raise ValueError(
            f"validation X must have the {n_features} columns of X, got {sample[0].shape[1]}."
        )
    return [sample]
