"""Split rows into folds: stratified, grouped, in blocks, or forward in time."""

import numbers
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    PredefinedSplit,
    StratifiedGroupKFold,
    StratifiedShuffleSplit,
    check_cv,
)
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length

from rocpath.sample import Sample
from rocpath.validation import whole_number


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


def stratified_splits(sample: Sample, n_folds: int, random_state: int | None) -> list[Fold]:
    """Split rows into stratified folds that keep independent units together.

    There are fewer folds if a class has too few rows or units, and none if it has only
    one.
    """
    rows = np.arange(len(sample))
    _, first, unit = np.unique(sample.units, return_index=True, return_inverse=True)
    # Units are permuted in the order of the table, so that copies do not change the folds.
    rank = np.empty(first.size, dtype=np.intp)
    rank[np.argsort(first)] = check_random_state(random_state).permutation(first.size)
    for n_used in range(n_folds, 1, -1):
        fold = stratified_folds(sample.is_positive, unit, rank[unit], n_used)
        if np.unique(2 * fold + sample.is_positive).size == 2 * n_used:
            return [Fold(rows[fold != k], rows[fold == k]) for k in range(n_used)]
    return []


def stratified_folds(
    label: NDArray[Any], group: NDArray[np.intp], rank: NDArray[np.intp], n_folds: int
) -> NDArray[np.intp]:
    """Assign groups to folds with about equal numbers of rows of every class.

    Ranks determine the order of groups of equal size.
    """
    _, first, number = np.unique(group, return_index=True, return_inverse=True)
    classes, n_rows = np.unique(label, return_counts=True)
    # Groups are assigned from the largest to the smallest, by rows of the rarest class
    # first, going back and forth over the folds.
    sizes = [-np.bincount(number, label == one) for one in classes[np.argsort(-n_rows)]]
    order = np.lexsort((rank[first], *sizes))
    back_and_forth = np.append(np.arange(n_folds), np.arange(n_folds)[::-1])
    fold = np.empty(first.size, dtype=np.intp)
    fold[order] = np.resize(back_and_forth, first.size)
    return fold[number]


def joined_folds(
    fold: NDArray[np.intp], is_positive: NDArray[np.bool_], rank: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Join folds until each has rows of both classes, and number them from 0."""
    joined = np.full_like(fold, -1)
    number = 0
    for label in np.unique(fold):
        joined[fold == label] = number
        number += np.unique(is_positive[joined == number]).size == 2
    # The remaining rows are all of one class: they join the last fold.
    joined[joined == number] = number - 1
    return joined if number > 1 else rank % 2


def forward_splits(sample: Sample, n_folds: int) -> Iterator[Fold]:
    """Yield the rows before a time window for training, and those in it for testing.

    Training rows of units that are in the window are excluded, and so are copies of
    rows in the window.
    """
    time = np.asarray(sample.time)
    order = np.argsort(time, kind="stable")
    # One more window than folds, since the first is used only for training.
    edges = order.size * np.arange(1, n_folds + 1) // (n_folds + 1)
    # Rows with the same time are never on both sides of an edge.
    starts = np.unique(np.searchsorted(time[order], time[order][edges]))
    starts = starts[starts > 0].tolist()
    begin = starts.pop(0) if starts else order.size
    for end in [*starts, order.size]:
        train, test = order[:begin], order[begin:end]
        for unit in (sample.unit, sample.copy):
            if unit is not None:
                train = train[~np.isin(unit[train], unit[test])]
        has_both = [0 < sample.is_positive[rows].sum() < rows.size for rows in (train, test)]
        # A test window without both classes is extended by the next one; it is added to the
        # training rows as long as these lack a class.
        if all(has_both):
            yield Fold(np.sort(train), np.sort(test))
        if all(has_both) or not has_both[0]:
            begin = end


def class_splits(
    cv: Any,
    y: NDArray[Any],
    groups: NDArray[np.intp] | None,
    copies: NDArray[np.intp],
    rng: np.random.RandomState,
) -> tuple[list[Fold], NDArray[np.intp]]:
    """Split rows into folds, and return the splits and the test fold of each row.

    Raises an error if a row is not in exactly one test fold, or if a training set lacks
    a class.
    """
    # For prefit models, only the weights of the blend are cross-validated.
    cv = 5 if isinstance(cv, str) else cv
    if isinstance(cv, numbers.Integral):
        # Every fold needs rows of every class to be evaluated.
        rarest = int(np.unique(y, return_counts=True)[1].min())
        n_folds = min(whole_number("cv", cv, least=2), rarest)
        together, groups = copies if groups is None else groups, None
        cv = PredefinedSplit(stratified_folds(y, together, rng.permutation(y.size), n_folds))
    splits = check_cv(cv, y, classifier=True).split(np.zeros(len(y)), y, groups)
    folds = [Fold(*pair) for pair in splits]
    # A row in two test folds would count twice; a row in none would have no score.
    n_times = np.bincount(np.concatenate([test for _, test in folds]), minlength=len(y))
    if (n_times != 1).any():
        row = int((n_times != 1).argmax())
        raise ValueError(
            "cv must have every row in exactly one test fold, got row "
            f"{row} in {n_times[row]} test folds."
        )
    fold = np.empty(len(y), dtype=np.intp)
    for number, (train, test) in enumerate(folds):
        fold[test] = number
        missing = np.setdiff1d(y, y[train])
        if missing.size:
            raise ValueError(
                "cv must have rows of every class in every training set, got none of "
                f"class {missing.tolist()[0]!r} in the training set of fold {number}. Every "
                "class needs rows in at least two folds, and folds keep groups together."
            )
    return folds, fold


def calibration_fold(sample: Sample, share: float, random_state: int | None) -> Fold:
    """Split rows into training rows and a share of calibration rows.

    Independent units are not divided. With times, the calibration rows are the latest.
    """
    if sample.time is not None:
        order = np.argsort(sample.time, kind="stable")
        start = sample.time[order][round((1.0 - share) * len(sample))]
        is_test = sample.time >= start
        is_train = ~is_test
        for unit in (sample.unit, sample.copy):
            if unit is not None:
                is_train &= ~np.isin(unit, unit[is_test])
        fold = Fold(np.flatnonzero(is_train), np.flatnonzero(is_test))
    else:
        is_grouped = sample.unit is not None
        splitter = calibration_splitter(share, is_grouped=is_grouped, random_state=random_state)
        fold = Fold(*next(splitter.split(sample.units, sample.is_positive, sample.unit)))
    for name, rows in (("training", fold.train), ("calibration", fold.test)):
        if np.unique(sample.is_positive[rows]).size < 2:
            raise ValueError(
                f"calibration_size must leave both classes in the {name} rows, got {share:g} and "
                f"{rows.size} rows of one class: one class has too few rows or groups."
            )
    return fold


def group_splitter(cv: Any) -> Any:
    """Return a splitter that keeps groups together if ``cv`` is a number of folds."""
    return StratifiedGroupKFold(cv) if isinstance(cv, int) else cv


def calibration_splitter(
    share: float, *, is_grouped: bool, random_state: Any
) -> StratifiedShuffleSplit | GroupShuffleSplit:
    """Return a splitter of rows into training rows and a share of calibration rows.

    Without groups it is stratified; otherwise, the share is one of groups.
    """
    kind = GroupShuffleSplit if is_grouped else StratifiedShuffleSplit
    return kind(1, test_size=share, random_state=random_state)
