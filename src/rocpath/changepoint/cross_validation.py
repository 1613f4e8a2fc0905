"""Choose among nested models by cross-validation, with folds of whole groups."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length

from rocpath.arguments import read_only

Split: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp]]


class CandidateChoice(NamedTuple):
    """Cross-validated losses of the candidates, and the chosen one."""

    chosen: int  # the simplest within the allowed standard errors of the best
    mean: NDArray[np.float64]  # loss of each candidate
    standard_error: NDArray[np.float64]  # of the paired difference from the best


def choose_candidate(
    splits: Iterable[Split],
    losses: Callable[[NDArray[np.intp], NDArray[np.intp]], NDArray[np.float64]],
    *,
    n_errors: float,
) -> CandidateChoice | None:
    """Choose the simplest candidate within ``n_errors`` standard errors of the best.

    Parameters
    ----------
    splits : iterable of two arrays of rows
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
    """Split rows into folds of whole groups or, without groups, of neighboring rows.

    Neighboring rows of a file are often similar, so shuffled folds would overestimate
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
    # The largest groups come first, each in the smallest fold; the order of groups of
    # equal size is random.
    number = check_random_state(random_state).permutation(names.size)[group]
    return list(GroupKFold(min(n_folds, names.size)).split(rows, groups=number))
