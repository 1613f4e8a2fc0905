"""Linear models of the log penalty, from the simplest on, and what they lose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np

from rocpath.changepoint.error_functions import (
    PenaltyErrors,
    can_be_learned,
    error_breakpoints,
    target_interval,
)
from rocpath.changepoint.interval_path import (
    best_interval_constant,
    interval_path,
    largest_alpha,
)
from rocpath.changepoint.log_penalty_model import FeatureColumns
from rocpath.linear_model import minimize_aum
from rocpath.roc import auc, aum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rocpath.step_choice import StepChoice

Monitor = Literal["errors", "auc", "aum"]
MONITORS: tuple[str, ...] = get_args(Monitor)
# Of the optimality conditions, as a part of the largest L1 weight. On five sets
# (benchmarks/constants.py) label errors were the same with 1e-4, on three of them not
# with .01, and columns that are nearly alike make more digits slow to find.
_PATH_TOLERANCE = 1e-3
# Errors count as the mean over penalties from half to twice the predicted one. A few
# sequences decide where a sum of steps is smallest; the mean is nearly as steep and
# moves less. On four sets of peaks the constant found so made 5% fewer errors on new
# regions than the one in the middle of the widest best stretch.
BLUR = float(np.log(2.0))


class LabeledSequences(NamedTuple):
    """Features of sequences, as given, and their label errors."""

    X: NDArray[np.float64]
    functions: list[PenaltyErrors]

    def at(self, rows: NDArray[np.intp]) -> LabeledSequences:
        """Return some of them."""
        return LabeledSequences(self.X[rows], [self.functions[row] for row in rows])


class ErrorSteps:
    """The errors of some sequences as steps, all in one array."""

    def __init__(self, functions: Sequence[PenaltyErrors]) -> None:
        errors = [(f.fp + f.fn).astype(np.float64) for f in functions]
        self.first = float(sum(one[0] for one in errors))
        self.example = np.repeat(
            np.arange(len(functions)), [len(one) - 1 for one in errors]
        )
        self.value = np.concatenate([f.min_log_penalty[1:] for f in functions])
        self.rise = np.concatenate([np.diff(one) for one in errors])

    def blurred(self, log_penalty: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum over sequences (rows) the blurred errors of each model (column)."""
        # A step is passed in the part of the neighborhood that lies above it.
        total = np.full(log_penalty.shape[1], self.first)
        for column, predicted in enumerate(log_penalty.T):
            above = (predicted[self.example] + BLUR - self.value) / (2 * BLUR)
            total[column] += self.rise @ np.clip(above, 0.0, 1.0)
        return total

    def best_shift(self, log_penalty: NDArray[np.float64]) -> float:
        """Find the constant to add to predictions with the fewest blurred errors."""
        if not self.value.size:
            return 0.0
        step = self.value - log_penalty[self.example]
        # The blurred errors are linear between these, and constant beyond them.
        kink = np.concatenate((step - BLUR, step + BLUR))
        bend = np.concatenate((self.rise, -self.rise)) / (2 * BLUR)
        order = np.argsort(kink, kind="stable")
        kink, slope = kink[order], np.cumsum(bend[order])
        rise = np.concatenate(([0.0], np.cumsum(slope[:-1] * np.diff(kink))))
        # Rounding of sums must not cut the flat bottom into pieces.
        is_best = rise <= rise.min() + 1e-9 * (1.0 + self.first)
        start = np.flatnonzero(is_best & ~np.append(False, is_best[:-1]))
        end = np.flatnonzero(is_best & ~np.append(is_best[1:], False))
        # The middle of the widest is farthest from anything that would cost an error.
        widest = (kink[end] - kink[start]).argmax()
        return float(0.5 * kink[start[widest]] + 0.5 * kink[end[widest]])


class LinearModels(NamedTuple):
    """Coefficients and intercepts of the log penalty, one row a model.

    The coefficients are of scaled columns.
    """

    features: FeatureColumns
    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    n_steps: NDArray[np.int64]

    def losses(
        self, held_out: LabeledSequences, monitor: Monitor
    ) -> NDArray[np.float64] | None:
        """Judge every model on sequences held out; None where none can be judged."""
        X, functions = held_out
        fitted = self.features.scaled(X) @ self.coef.T + self.intercept
        if monitor == "errors":
            return ErrorSteps(functions).blurred(fitted)
        # A fold whose errors no penalty changes has no AUC.
        if not can_be_learned(functions):
            return None
        bp = error_breakpoints(functions)
        if monitor == "auc":
            # Negative, since candidates are compared by what they lose.
            return np.array([-auc(bp, -column) for column in fitted.T])
        return np.array([aum(bp, -column) for column in fitted.T])


@dataclass(frozen=True, slots=True)
class Candidates:
    """What is tried: L1 weights, as parts of the largest, then steps of descent."""

    alpha_part: NDArray[np.float64]
    margin: float
    step: StepChoice
    tol: float

    def path(self, sequences: LabeledSequences) -> LinearModels:
        """Fit a model for each L1 weight; the first is a constant."""
        features = FeatureColumns.measured(sequences.X)
        scaled = features.scaled(sequences.X)
        interval = _intervals(sequences)
        coef = np.zeros((self.alpha_part.size, scaled.shape[1]))
        if np.isfinite(interval).any():
            # Parts of each fold's own largest: the first is a constant in every fold,
            # and the same number has about as many features, so that folds can be
            # compared.
            largest = largest_alpha(scaled, interval, margin=self.margin)
            if largest > 0:
                coef = interval_path(
                    scaled,
                    interval,
                    largest * self.alpha_part,
                    margin=self.margin,
                    tol=_PATH_TOLERANCE,
                ).coef
        n_steps = np.zeros(len(coef), dtype=np.int64)
        return self._with_constants(sequences, features, coef, n_steps)

    def descent(
        self,
        sequences: LabeledSequences,
        chosen: int,
        n_steps: NDArray[np.int64],
    ) -> LinearModels:
        """Descend on AUM from a model of the path; one model for each number of steps.

        AUM is of minus the log penalty, and does not see constants.
        """
        path = self.path(sequences)
        scaled = path.features.scaled(sequences.X)
        # Interval regression predicts log penalties, and breakpoints are of minus them.
        coef, taken = -path.coef[chosen], 0
        found = []
        can_descend = can_be_learned(sequences.functions)
        for most in n_steps:
            # One descent in parts: each number of steps goes on from the last, and one
            # that has converged takes no more.
            if can_descend and most > taken:
                descent = minimize_aum(
                    scaled,
                    error_breakpoints(sequences.functions),
                    coef=coef,
                    step=self.step,
                    max_steps=int(most) - taken,
                    tol=self.tol,
                )
                coef, taken = descent.coef, taken + descent.n_steps
            found.append((coef, taken))
        coefs = -np.array([one for one, _ in found])
        counts = np.array([count for _, count in found])
        return self._with_constants(sequences, path.features, coefs, counts)

    def _with_constants(
        self,
        sequences: LabeledSequences,
        features: FeatureColumns,
        coef: NDArray[np.float64],
        n_steps: NDArray[np.int64],
    ) -> LinearModels:
        """Add constants, halfway between the best by interval loss and by errors.

        The loss sees how far every sequence is from its target and the errors see what
        counts; either alone was worse on some of five data sets.
        """
        steps, interval = ErrorSteps(sequences.functions), _intervals(sequences)
        intercept = []
        for fitted in (features.scaled(sequences.X) @ coef.T).T:
            rest = interval - fitted[:, None]
            by_loss = best_interval_constant(rest, margin=self.margin)
            intercept.append(0.5 * by_loss + 0.5 * steps.best_shift(fitted))
        return LinearModels(features, coef, np.array(intercept), n_steps)


def steps_to_try(max_steps: int) -> NDArray[np.int64]:
    """Return 0, powers of two, and the largest number of steps."""
    # How much a step gains falls with their number, so numbers far apart are enough.
    powers = 2 ** np.arange(max_steps.bit_length())
    return np.unique(np.concatenate(([0], powers[powers <= max_steps], [max_steps])))


def _intervals(sequences: LabeledSequences) -> NDArray[np.float64]:
    return np.array([target_interval(one) for one in sequences.functions])
