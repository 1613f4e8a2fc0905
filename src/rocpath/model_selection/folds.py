"""Split rows into folds: stratified, grouped, in blocks, or forward in time."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold, check_cv
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length


class Fold(NamedTuple):
    """Indices of the training rows and of the held-out rows."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]


def block_folds(n_rows: int, groups: Any, cv: Any, random_state: Any = None) -> list[Fold]:
    """Split rows into folds of whole groups or, without groups, of consecutive rows.

    Consecutive rows of a file are often similar, so shuffled folds would overestimate
    how well a model generalizes. ``cv`` is their maximum number, a splitter of
    scikit-learn, or an iterable of splits.
    """
    rows = np.empty(n_rows)
    if not isinstance(cv, int):
        return [Fold(*pair) for pair in check_cv(cv).split(rows, groups=groups)]
    if groups is None:
        split = KFold(min(cv, n_rows)).split(rows) if n_rows > 1 else ()
        return [Fold(*pair) for pair in split]
    check_consistent_length(rows, groups)
    names, group = np.unique(groups, return_inverse=True)
    # A single fold would leave no rows to train on.
    if names.size < 2:
        return []
    # GroupKFold assigns the largest groups first, each to the smallest fold; groups of
    # equal size are assigned in random order.
    number = check_random_state(random_state).permutation(names.size)[group]
    split = GroupKFold(min(cv, names.size)).split(rows, groups=number)
    return [Fold(*pair) for pair in split]
