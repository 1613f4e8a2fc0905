"""Split the rows of a table into folds: stratified, grouped, or forward in time."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.utils import check_random_state

from rocpath.ranking.cross_validation import stratified_folds

# Standard errors from 30 block means have 29 degrees of freedom, and neighbors are
# correlated only over a small part of a block.
_N_TIME_BLOCKS = 30


class Fold(NamedTuple):
    """Indices of the training rows and of the held-out rows."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]


class RowDesign(NamedTuple):
    """Groups, copies, times and weights of the rows.

    Attributes
    ----------
    group : array of int or None
        Number of the group of each row; rows of a group stay in one fold.
    copy : array of int or None
        Number shared by identical rows, which also stay in one fold.
    time : array of float or None
        Time of each row. If given, models are trained on the past and evaluated on the
        future.
    sample_weight : array of float or None
        Weight of each row.
    unit : array of int or None
        Number of the independent unit of each row; None if all rows are independent.
    """

    group: NDArray[np.intp] | None = None
    copy: NDArray[np.intp] | None = None
    time: NDArray[np.float64] | None = None
    sample_weight: NDArray[np.float64] | None = None
    unit: NDArray[np.intp] | None = None

    def with_units(self) -> Self:
        """Return the design with its independent units.

        With groups, these are the groups, and groups that share identical rows are one
        unit. With times only, they are blocks of consecutive times, since rows that are
        close in time are rarely independent. Otherwise, they are the distinct rows.
        """
        if self.group is None and self.time is not None:
            return self._replace(unit=_time_blocks(self.time))
        if self.group is None or self.copy is None:
            return self._replace(unit=self.copy if self.group is None else self.group)
        n_groups, n_copies = int(self.group.max()) + 1, int(self.copy.max()) + 1
        edges = sparse.coo_array(
            (np.ones(self.group.size), (self.group, n_groups + self.copy)),
            shape=(n_groups + n_copies, n_groups + n_copies),
        )
        component = connected_components(edges, directed=False)[1][self.group]
        return self._replace(unit=np.unique(component, return_inverse=True)[1])

    @property
    def statistics(self) -> dict[str, Any]:
        """Arguments ``groups`` and ``sample_weight`` of statistics and estimators."""
        return {"groups": self.unit, "sample_weight": self.sample_weight}

    @property
    def sampled(self) -> str:
        """Unit for which guarantees hold: new groups or new rows."""
        return "rows" if self.group is None else "groups"

    @property
    def distinct_share(self) -> float:
        """Number of distinct rows relative to the number of rows."""
        return 1.0 if self.copy is None else np.unique(self.copy).size / self.copy.size

    @property
    def weight(self) -> float | NDArray[np.float64]:
        """Weights of the rows, or 1."""
        return 1.0 if self.sample_weight is None else self.sample_weight

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Select rows."""
        taken: Any = [None if one is None else one[rows] for one in self]
        return type(self)(*taken)


def _time_blocks(time: NDArray[np.float64]) -> NDArray[np.intp]:
    """Assign rows to blocks of consecutive times with about equal numbers of rows."""
    rank = np.searchsorted(np.sort(time), time)
    block = rank * _N_TIME_BLOCKS // time.size
    return np.unique(block, return_inverse=True)[1]


def split_rows(
    is_positive: NDArray[np.bool_], design: RowDesign, n_folds: int, random_state: int | None
) -> list[Fold]:
    """Split rows into folds whose training and held-out rows contain both classes.

    There are fewer folds if a class has too few rows or groups, and none if it has only
    one.
    """
    if design.time is not None:
        return list(_forward_folds(is_positive, design, n_folds))
    rows = np.arange(is_positive.size)
    unit = rows if design.unit is None else design.unit
    _, first, unit = np.unique(unit, return_index=True, return_inverse=True)
    # Units are permuted in the order of the table, so that copies do not change the folds.
    rank = np.empty(first.size, dtype=np.intp)
    rank[np.argsort(first)] = check_random_state(random_state).permutation(first.size)
    for n_used in range(n_folds, 1, -1):
        fold = stratified_folds(is_positive, unit, rank[unit], n_used)
        if np.unique(2 * fold + is_positive).size == 2 * n_used:
            return [Fold(rows[fold != k], rows[fold == k]) for k in range(n_used)]
    return []


def _forward_folds(
    is_positive: NDArray[np.bool_], design: RowDesign, n_folds: int
) -> Iterator[Fold]:
    """Yield the rows before a time window for training, and those in it for testing.

    Training rows of units that are in the window are excluded, and so are copies of
    rows in the window.
    """
    time = np.asarray(design.time)
    order = np.argsort(time, kind="stable")
    # One more window than folds, since the first is used only for training.
    edges = order.size * np.arange(1, n_folds + 1) // (n_folds + 1)
    # Rows with the same time are never on both sides of an edge.
    starts = np.unique(np.searchsorted(time[order], time[order][edges]))
    starts = starts[starts > 0].tolist()
    begin = starts.pop(0) if starts else order.size
    for end in [*starts, order.size]:
        train, test = order[:begin], order[begin:end]
        for unit in (design.unit, design.copy):
            if unit is not None:
                train = train[~np.isin(unit[train], unit[test])]
        has_both = [0 < is_positive[rows].sum() < rows.size for rows in (train, test)]
        # A test window without both classes is extended by the next one; it is added to the
        # training rows as long as these lack a class.
        if all(has_both):
            yield Fold(np.sort(train), np.sort(test))
        if all(has_both) or not has_both[0]:
            begin = end
