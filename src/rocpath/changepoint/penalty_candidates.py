"""Candidate models of the log penalty, and their label errors."""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rocpath.changepoint.error_functions import PenaltyErrors, target_interval
from rocpath.changepoint.interval_path import LinearModels, best_interval_constant, interval_models
from rocpath.validation import Floats

# Tolerance of the optimality conditions, relative to the largest L1 weight. On five
# data sets (benchmarks/accuracy/constants.py), label errors were the same with 1e-4; with 0.01,
# they differed on three. Higher accuracy is slow if columns are nearly collinear.
_PATH_TOLERANCE = 1e-3
# Errors are averaged over penalties from half to twice the predicted one, an interval of
# log penalties with this half-width. The minimum of a sum of steps depends on a few
# sequences; the average is nearly as steep and less variable. On four data sets of peaks,
# the resulting constant made 5% fewer errors in new regions than the center of the widest
# interval with the fewest errors.
HALF_WIDTH = float(np.log(2.0))


class LabeledSequences(NamedTuple):
    """Features of sequences, in their original units, and their label errors."""

    X: Floats
    functions: list[PenaltyErrors]

    @property
    def intervals(self) -> Floats:
        """The target interval of each sequence."""
        return np.array([target_interval(one) for one in self.functions])

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Return the sequences of the given rows."""
        return self._replace(X=self.X[rows], functions=[self.functions[row] for row in rows])


class ErrorSteps:
    """Label errors of several sequences, as steps in flat arrays."""

    def __init__(self, functions: Sequence[PenaltyErrors]) -> None:
        errors = [(f.fp + f.fn).astype(np.float64) for f in functions]
        self.first = float(sum(one[0] for one in errors))
        self.example = np.repeat(np.arange(len(functions)), [len(one) - 1 for one in errors])
        self.value = np.concatenate([f.min_log_penalty[1:] for f in functions])
        self.rise = np.concatenate([np.diff(one) for one in errors])

    def averaged(self, log_penalty: Floats) -> Floats:
        """Sum the averaged errors over sequences (rows) for each model (column)."""
        # A step is weighted by the fraction of the averaging interval that lies above it.
        total = np.full(log_penalty.shape[1], self.first)
        for column, predicted in enumerate(log_penalty.T):
            above = (predicted[self.example] + HALF_WIDTH - self.value) / (2 * HALF_WIDTH)
            total[column] += self.rise @ np.clip(above, 0.0, 1.0)
        return total

    def best_shift(self, log_penalty: Floats) -> float:
        """Return the constant that minimizes averaged errors when added to log penalties."""
        if not self.value.size:
            return 0.0
        step = self.value - log_penalty[self.example]
        # The averaged errors are linear between these kinks, and constant outside.
        kink = np.concatenate((step - HALF_WIDTH, step + HALF_WIDTH))
        slope_change = np.concatenate((self.rise, -self.rise)) / (2 * HALF_WIDTH)
        order = np.argsort(kink, kind="stable")
        kink, slope = kink[order], np.cumsum(slope_change[order])
        rise = np.concatenate(([0.0], np.cumsum(slope[:-1] * np.diff(kink))))
        # The tolerance prevents rounding errors from splitting a flat minimum.
        is_best = rise <= rise.min() + 1e-9 * (1.0 + self.first)
        start = np.flatnonzero(is_best & ~np.append(False, is_best[:-1]))
        end = np.flatnonzero(is_best & ~np.append(is_best[1:], False))
        # The center of the widest interval is farthest from any additional error.
        widest = (kink[end] - kink[start]).argmax()
        return float(0.5 * kink[start[widest]] + 0.5 * kink[end[widest]])


def fit_path(sequences: LabeledSequences, fraction: Floats, *, margin: float) -> LinearModels:
    """Fit a model for each fraction of the largest L1 weight; the first is a constant."""
    models, _ = interval_models(
        sequences.X, sequences.intervals, fraction, margin=margin, tol=_PATH_TOLERANCE
    )
    return with_intercepts(sequences, models._replace(n_iter=np.zeros_like(models.n_iter)), margin)


def with_intercepts(
    sequences: LabeledSequences, models: LinearModels, margin: float
) -> LinearModels:
    """Set intercepts halfway between the minimizers of interval loss and of errors.

    The loss measures how far each sequence is from its target; the errors are the
    objective. Either alone was worse on some of five data sets.
    """
    steps, interval = ErrorSteps(sequences.functions), sequences.intervals
    intercept = []
    for fitted in (models.features.scaled(sequences.X) @ models.coef.T).T:
        by_loss = best_interval_constant(interval - fitted[:, None], margin=margin)
        intercept.append(0.5 * by_loss + 0.5 * steps.best_shift(fitted))
    return models._replace(intercept=np.array(intercept))
