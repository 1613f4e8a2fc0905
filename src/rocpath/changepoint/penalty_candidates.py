"""Candidate models of the log penalty, and the choice among them."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length

from rocpath.changepoint.error_functions import PenaltyErrors, target_interval
from rocpath.changepoint.interval_path import LinearModels, best_interval_constant, interval_models
from rocpath.validation import Floats, read_only

Split: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp]]

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


class CandidateChoice(NamedTuple):
    """Cross-validated losses of the candidates, and the chosen one."""

    chosen: int  # simplest candidate within ``n_errors`` standard errors of the best
    mean: Floats  # mean loss of each candidate
    standard_error: Floats  # standard error of the paired difference from the best


def choose_candidate(
    splits: Iterable[Split],
    losses: Callable[[NDArray[np.intp], NDArray[np.intp]], Floats],
    *,
    n_errors: float,
) -> CandidateChoice | None:
    """Choose the simplest candidate within ``n_errors`` standard errors of the best.

    Parameters
    ----------
    splits : iterable of pairs of arrays
        Training and test rows of each fold.
    losses : callable
        Function that fits the candidates to the training rows and returns their losses
        on the test rows, the simplest candidate first.
    n_errors : float
        Number of standard errors by which a candidate may be worse than the best; 0
        chooses the best.

    Returns
    -------
    CandidateChoice or None
        None if there are no folds.
    """
    table = np.array([losses(train, test) for train, test in splits])
    if not len(table):
        return None
    mean = table.mean(axis=0)
    # Differences are paired by fold, because losses vary more between folds than between
    # candidates.
    difference = table - table[:, [mean.argmin()]]
    n_folds = len(table)
    # The standard error of a single fold is 0, so that the best candidate is chosen.
    error = difference.std(axis=0, ddof=min(1, n_folds - 1)) / np.sqrt(n_folds)
    # argmax returns the first, which is the simplest.
    is_as_good = difference.mean(axis=0) <= n_errors * error
    return CandidateChoice(int(is_as_good.argmax()), read_only(mean), read_only(error))


def group_splits(n_rows: int, groups: Any, n_folds: int, random_state: Any = None) -> list[Split]:
    """Split rows into folds of whole groups or, without groups, of consecutive rows.

    Consecutive rows of a file are often similar, so shuffled folds would overestimate
    how well a model generalizes.
    """
    rows = np.empty(n_rows)
    if groups is None:
        return list(KFold(min(n_folds, n_rows)).split(rows)) if n_rows > 1 else []
    check_consistent_length(rows, groups)
    names, group = np.unique(groups, return_inverse=True)
    # A single fold would leave no rows to train on.
    if names.size < 2:
        return []
    # GroupKFold assigns the largest groups first, each to the smallest fold; groups of
    # equal size are assigned in random order.
    number = check_random_state(random_state).permutation(names.size)[group]
    return list(GroupKFold(min(n_folds, names.size)).split(rows, groups=number))
