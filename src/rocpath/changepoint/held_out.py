"""Choose among nested candidates by what they lose on groups held out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length

from rocpath.arguments import read_only

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    Split: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp]]


class HeldOutChoice(NamedTuple):
    """What candidates lose on the parts held out, and which was chosen."""

    chosen: int  # the simplest within the allowed standard errors of the best
    mean: NDArray[np.float64]  # of what each candidate loses on the parts
    standard_error: NDArray[np.float64]  # of the difference to the best, part by part


def choose_candidate(
    splits: Iterable[Split],
    losses: Callable[[NDArray[np.intp], NDArray[np.intp]], NDArray[np.float64] | None],
    *,
    n_errors: float,
) -> HeldOutChoice | None:
    """Find the simplest candidate that is about as good as the best on rows held out.

    Parameters
    ----------
    splits : iterable of two arrays of rows
        Training and held-out rows of each part.
    losses : callable
        Fits to the training rows and returns what every candidate, from the simplest
        on, loses on the held-out rows; None if nothing can be learned there.
    n_errors : float
        By how many standard errors a candidate may be worse than the best; 0 takes
        the best itself.

    Returns
    -------
    HeldOutChoice or None
        None if no part could be learned from.
    """
    found = [losses(train, test) for train, test in splits]
    table = np.array([one for one in found if one is not None])
    if not len(table):
        return None
    mean = table.mean(axis=0)
    # Paired by part: parts differ more from each other than candidates do on one.
    difference = table - table[:, [mean.argmin()]]
    n_parts = len(table)
    # A single part shows no spread: then only the best itself is as good.
    error = difference.std(axis=0, ddof=min(1, n_parts - 1)) / np.sqrt(n_parts)
    # argmax finds the first, and the first is the simplest.
    is_as_good = difference.mean(axis=0) <= n_errors * error
    return HeldOutChoice(int(is_as_good.argmax()), read_only(mean), read_only(error))


def group_splits(
    n_rows: int, groups: Any, n_folds: int, random_state: Any = None
) -> list[Split]:
    """Split rows into parts of whole groups, or of neighbors if there are no groups.

    Rows that come in order are alike when they are near; a part that is scattered among
    its neighbors says too little about rows of another kind.
    """
    if groups is None:
        if n_rows < 2:
            return []
        return list(KFold(min(n_folds, n_rows)).split(np.empty(n_rows)))
    groups = np.asarray(groups)
    check_consistent_length(np.empty(n_rows), groups)
    _, group = np.unique(groups, return_inverse=True)
    fold = _balanced(np.bincount(group), n_folds, random_state)[group]
    every = np.arange(n_rows)
    return [
        (every[fold != one], every[fold == one])
        # One fold alone leaves nothing to train on.
        for one in (np.unique(fold) if fold.any() else [])
    ]


def _balanced(
    size: NDArray[np.intp], n_folds: int, random_state: Any
) -> NDArray[np.intp]:
    """Give each group the number of a fold, such that folds have about equal size."""
    if size.size <= n_folds:
        return np.arange(size.size)
    fold, total = np.zeros(size.size, dtype=np.intp), np.zeros(n_folds)
    order = check_random_state(random_state).permutation(size.size)
    # The largest first, each to the fold that has least: the small ones even it out.
    for group in order[np.argsort(-size[order], kind="stable")]:
        fold[group] = total.argmin()
        total[fold[group]] += size[group]
    return fold
