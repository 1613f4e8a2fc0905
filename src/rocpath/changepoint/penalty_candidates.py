"""Candidate models of the log penalty, the simplest first, and their losses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rocpath.changepoint.error_functions import (
    PenaltyErrors,
    can_be_learned,
    error_breakpoints,
    target_interval,
)
from rocpath.changepoint.interval_path import (
    FeatureRanges,
    LinearModels,
    best_interval_constant,
    interval_models,
)
from rocpath.linear_model import minimize_aum

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rocpath.step_choice import StepChoice

# Tolerance of the optimality conditions, relative to the largest L1 weight. On five
# data sets (benchmarks/constants.py) label errors were the same with 1e-4, but on three
# of them not with .01; higher accuracy is slow if columns are nearly collinear.
_PATH_TOLERANCE = 1e-3
# Errors are averaged over penalties from half to twice the predicted one. The minimum
# of a sum of steps depends on a few sequences; the average is nearly as steep and less
# variable. On four sets of peaks the resulting constant made 5% fewer errors in new
# regions than the center of the widest interval with the fewest errors.
BLUR = float(np.log(2.0))


class LabeledSequences(NamedTuple):
    """Features of sequences, in their original units, and label errors."""

    X: NDArray[np.float64]
    functions: list[PenaltyErrors]

    def take(self, rows: NDArray[np.intp]) -> LabeledSequences:
        """Return the sequences of the given rows."""
        return LabeledSequences(self.X[rows], [self.functions[row] for row in rows])


class ErrorSteps:
    """Label errors of several sequences, as steps in flat arrays."""

    def __init__(self, functions: Sequence[PenaltyErrors]) -> None:
        errors = [(f.fp + f.fn).astype(np.float64) for f in functions]
        self.first = float(sum(one[0] for one in errors))
        self.example = np.repeat(np.arange(len(functions)), [len(one) - 1 for one in errors])
        self.value = np.concatenate([f.min_log_penalty[1:] for f in functions])
        self.rise = np.concatenate([np.diff(one) for one in errors])

    def blurred(self, log_penalty: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum the averaged errors over sequences (rows) for each model (column)."""
        # A step is weighted by the fraction of the averaging interval that lies above it.
        total = np.full(log_penalty.shape[1], self.first)
        for column, predicted in enumerate(log_penalty.T):
            above = (predicted[self.example] + BLUR - self.value) / (2 * BLUR)
            total[column] += self.rise @ np.clip(above, 0.0, 1.0)
        return total

    def best_shift(self, log_penalty: NDArray[np.float64]) -> float:
        """Find the constant that, added to the log penalties, minimizes averaged errors."""
        if not self.value.size:
            return 0.0
        step = self.value - log_penalty[self.example]
        # The averaged errors are linear between these kinks, and constant outside.
        kink = np.concatenate((step - BLUR, step + BLUR))
        bend = np.concatenate((self.rise, -self.rise)) / (2 * BLUR)
        order = np.argsort(kink, kind="stable")
        kink, slope = kink[order], np.cumsum(bend[order])
        rise = np.concatenate(([0.0], np.cumsum(slope[:-1] * np.diff(kink))))
        # The tolerance prevents rounding errors from splitting a flat minimum.
        is_best = rise <= rise.min() + 1e-9 * (1.0 + self.first)
        start = np.flatnonzero(is_best & ~np.append(False, is_best[:-1]))
        end = np.flatnonzero(is_best & ~np.append(is_best[1:], False))
        # The center of the widest interval is farthest from any additional error.
        widest = (kink[end] - kink[start]).argmax()
        return float(0.5 * kink[start[widest]] + 0.5 * kink[end[widest]])


@dataclass(frozen=True, slots=True)
class Candidates:
    """L1 weights to try, as fractions of the largest, and settings of the descent."""

    fraction: NDArray[np.float64]
    margin: float
    step: StepChoice
    tol: float

    def path(self, sequences: LabeledSequences) -> LinearModels:
        """Fit a model for each L1 weight; the first is a constant."""
        models, _ = interval_models(
            sequences.X,
            _intervals(sequences),
            self.fraction,
            margin=self.margin,
            tol=_PATH_TOLERANCE,
        )
        n_steps = np.zeros(self.fraction.size, dtype=np.int64)
        return self._with_constants(sequences, models.features, models.coef, n_steps)

    def descent(
        self, sequences: LabeledSequences, chosen: int, n_steps: NDArray[np.int64]
    ) -> LinearModels:
        """Descend on AUM from a model of the path; one model for each number of steps.

        AUM is a function of minus the log penalty, and invariant to constants.
        """
        path = self.path(sequences)
        scaled = path.features.scaled(sequences.X)
        # Interval regression predicts log penalties; breakpoints use their negatives.
        coef, taken = -path.coef[chosen], 0
        coefs, counts = [], []
        for most in n_steps:
            # A single descent, which continues from the previous number of steps until
            # it has converged.
            if most > taken and can_be_learned(sequences.functions):
                descent = minimize_aum(
                    scaled,
                    error_breakpoints(sequences.functions),
                    coef=coef,
                    step=self.step,
                    max_steps=int(most) - taken,
                    tol=self.tol,
                )
                coef, taken = descent.coef, taken + descent.n_steps
            coefs.append(-coef)
            counts.append(taken)
        return self._with_constants(sequences, path.features, np.array(coefs), np.array(counts))

    def _with_constants(
        self,
        sequences: LabeledSequences,
        features: FeatureRanges,
        coef: NDArray[np.float64],
        n_steps: NDArray[np.int64],
    ) -> LinearModels:
        """Add intercepts halfway between the minimizers of interval loss and of errors.

        The loss measures how far each sequence is from its target; the errors are the
        objective. Either alone was worse on some of five data sets.
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
    # Later steps gain less, so widely spaced numbers are enough.
    powers = 2 ** np.arange(max_steps.bit_length())
    return np.unique(np.concatenate(([0], powers[powers <= max_steps], [max_steps])))


def _intervals(sequences: LabeledSequences) -> NDArray[np.float64]:
    return np.array([target_interval(one) for one in sequences.functions])
