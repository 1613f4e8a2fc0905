"""Results of segmentation, and the models that each penalty selects."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.validation import (
    check_none,
    describe,
    finite_vector,
    read_only,
    same_length,
    whole_numbers,
)


@dataclass(frozen=True, slots=True, eq=False)
class ModelSelection:
    """Models that are selected by some penalty, in order of increasing penalty.

    Row j is selected by penalties p with ``min_penalty[j] <= p < max_penalty[j]``. Of
    two equally good models, the one with fewer changes is selected. The first row
    starts at 0, and the last one ends at infinity.

    Attributes
    ----------
    n_changes : array of int
        Number of changes, in decreasing order.
    cost : array
        Cost without the penalty, in increasing order.
    min_penalty, max_penalty : array
        Limits of the penalties that select the model.
    model : array of int
        Index of the model in the arguments of `model_selection`.
    """

    n_changes: NDArray[np.int64]
    cost: NDArray[np.float64]
    min_penalty: NDArray[np.float64]
    max_penalty: NDArray[np.float64]
    model: NDArray[np.int64]

    def __len__(self) -> int:
        """Return the number of selected models."""
        return self.n_changes.size

    def select(self, penalty: ArrayLike) -> Any:
        """Return the number of changes that a penalty selects.

        Parameters
        ----------
        penalty : float or array-like
            Non-negative penalties.

        Returns
        -------
        int or array of int
        """
        at = np.asarray(penalty)
        if at.dtype.kind not in "buif":
            raise TypeError(f"penalty must be real numbers, got {describe(penalty)}.")
        if not (at >= 0).all():
            raise ValueError(f"penalty must be non-negative, got {at[~(at >= 0)].flat[0]}.")
        # At the limit between two rows, the one with fewer changes is selected.
        row = np.searchsorted(self.min_penalty, at, side="right") - 1
        return self.n_changes[row][()]


@dataclass(frozen=True, slots=True, eq=False)
class Segmentations:
    """Best segmentations of a sequence with 0, 1, 2, ... changes.

    Attributes
    ----------
    cost : array, shape (max_changes + 1,)
        Cost of the best model with k changes; infinite if no model satisfies the labels
        and the minimum length. Without labels, a minimum length or a constraint, it
        does not increase with k.
    changes : tuple of arrays of int
        ``changes[k]`` contains the k indices where new segments start, in increasing
        order, from 1 to n - 1: the segments are ``x[0:c0], x[c0:c1], ...``. The array
        is empty if the model does not exist.
    mean : tuple of arrays
        ``mean[k]`` contains the means of the k + 1 segments, with one row per segment
        if there are several columns, or their variances for ``cost="variance"``.
    n : int
        Length of the sequence.
    slope : tuple of arrays or None
        For ``cost="linear"``, the slopes of the lines per observation; ``mean`` then
        contains the values in the middle of the segments.
    """

    cost: NDArray[np.float64]
    changes: tuple[NDArray[np.int64], ...]
    mean: tuple[NDArray[np.float64], ...]
    n: int
    slope: tuple[NDArray[np.float64], ...] | None = None

    def __len__(self) -> int:
        """Return the number of models, ``max_changes + 1``."""
        return len(self.changes)

    def selection(self) -> ModelSelection:
        """Return the models that are selected by some penalty, as `model_selection` does."""
        possible = np.flatnonzero(np.isfinite(self.cost))
        selection = model_selection(self.cost[possible], possible)
        return replace(selection, model=selection.n_changes)


@dataclass(frozen=True, slots=True, eq=False)
class Segmentation:
    """Best segmentation of a sequence for one penalty.

    Attributes
    ----------
    cost : float
        Cost without the penalty.
    changes : array of int
        Indices where new segments start, as in `Segmentations`.
    mean : array
        Means of the segments, or their variances for ``cost="variance"``.
    penalty : float
        Penalty per change.
    n : int
        Length of the sequence.
    position : array or None
        Positions of the changes, if the observations have positions.
    slope : array or None
        For ``cost="linear"``, the slope of each line per observation; ``mean`` then
        contains the values in the middle of the segments.
    model : str or None
        Cost of the segments, which ``cost="auto"`` chooses.
    gain : array or None
        Increase in cost if only this change is removed.
    intervals : array, shape (n_changes, 2), or None
        First and last index of the confidence interval of each change.
    season : array or None
        Seasonal pattern that was subtracted, starting at the first observation.
    warnings : tuple of str
        Why the model may be wrong, and what to do about it; empty if no defect was found.
    """

    cost: float
    changes: NDArray[np.int64]
    mean: NDArray[np.float64]
    penalty: float
    n: int
    position: NDArray[np.float64] | None = None
    slope: NDArray[np.float64] | None = None
    model: str | None = None
    gain: NDArray[np.float64] | None = None
    intervals: NDArray[np.int64] | None = None
    season: NDArray[np.float64] | None = None
    warnings: tuple[str, ...] = ()

    def fitted(self) -> NDArray[np.float64]:
        """Return the mean or the line of the segment of each observation, without a season."""
        length = np.diff([0, *self.changes, self.n])
        fitted = np.repeat(self.mean, length, axis=0)
        if self.slope is not None:
            start = np.repeat(np.append(0, self.changes), length)
            middle = start + (np.repeat(length, length) - 1) / 2
            fitted = fitted + np.repeat(self.slope, length) * (np.arange(self.n) - middle)
        return np.asarray(fitted)

    def around(self, k: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the means before and after a change, or the values of the lines there.

        Parameters
        ----------
        k : int
            Index of the change.

        Returns
        -------
        tuple of array
            Means, or values, before and after the change.
        """
        before, after = self.mean[k], self.mean[k + 1]
        if self.slope is not None:
            length = np.diff([0, *self.changes, self.n])
            before = before + self.slope[k] * (length[k] - 1) / 2
            after = after - self.slope[k + 1] * (length[k + 1] - 1) / 2
        return before, after

    @property
    def n_changes(self) -> int:
        """Number of changes."""
        return self.changes.size


def model_selection(cost: ArrayLike, n_changes: ArrayLike | None = None) -> ModelSelection:
    """Find the model that minimizes cost + penalty * n_changes, for every penalty.

    The selected models are the vertices of the lower convex hull of cost against
    changes. They are found in linear time and without rounding: costs are compared as
    rational numbers, so a model on an edge of the hull, which is never better than one
    with fewer changes, is not selected.

    Parameters
    ----------
    cost : array-like, shape (n_models,)
        Cost of each model.
    n_changes : array-like of int, shape (n_models,), optional
        Number of changes of each model, in any order and without duplicates; by default
        0, 1, 2, ...

    Returns
    -------
    ModelSelection

    Examples
    --------
    >>> from rocpath import changepoint as cp
    >>> selection = cp.model_selection([20.0, 7.0, 6.0, 0.0])
    >>> selection.n_changes.tolist()
    [3, 1, 0]
    >>> selection.min_penalty.tolist()
    [0.0, 3.5, 13.0]
    >>> selection.select([1.0, 3.5, 100.0]).tolist()
    [3, 1, 0]
    """
    costs = finite_vector("cost", cost)
    if costs.size == 0:
        raise ValueError("cost must have at least one entry, got none.")
    changes = whole_numbers("n_changes", np.arange(costs.size) if n_changes is None else n_changes)
    same_length(cost=costs, n_changes=changes)
    check_none(changes < 0, "n_changes must not be negative", changes)
    order = np.argsort(changes, kind="stable")
    is_repeated = changes[order][1:] == changes[order][:-1]
    if is_repeated.any():
        raise ValueError(
            f"n_changes must not repeat, got {changes[order][1:][is_repeated][0]} twice."
        )
    corners, penalties = _lower_hull(costs[order].tolist(), changes[order].tolist())
    model = order[corners][::-1]
    # Rows are in order of increasing penalty, and so of decreasing number of changes.
    min_penalty = np.array([0.0, *penalties])
    return ModelSelection(
        read_only(changes[model]),
        read_only(costs[model]),
        read_only(min_penalty),
        read_only(np.append(min_penalty[1:], np.inf)),
        read_only(model.astype(np.int64)),
    )


def _lower_hull(cost: list[float], n_changes: list[int]) -> tuple[list[int], list[float]]:
    """Return the vertices in order of increasing changes, and the penalties between them.

    A model whose two penalties round to the same number is dropped.
    """
    # Collinear models are common, for example if two changes have the same gain. With
    # rounded slopes, whether the middle one is selected would be arbitrary.
    whole, unit = _whole_numbers(cost)

    def fall_and_run(first: int, last: int) -> tuple[int, int]:
        return whole[first] - whole[last], n_changes[last] - n_changes[first]

    hull: list[int] = []
    for new in range(len(cost)):
        # A model with more changes but no lower cost is never selected, even at penalty 0.
        if hull and whole[new] >= whole[hull[-1]]:
            continue
        # The last vertex is removed if the next slope is at least as steep.
        while len(hull) > 1:
            fall, run = fall_and_run(hull[-2], hull[-1])
            new_fall, new_run = fall_and_run(hull[-1], new)
            if new_fall * run < fall * new_run:
                break
            hull.pop()
        hull.append(new)
    corners, penalties = [hull[-1]], [0.0]
    for corner in hull[-2::-1]:
        fall, run = fall_and_run(corner, corners[-1])
        # Division of Python integers of any size is correctly rounded.
        penalty = fall / (unit * run)
        if penalty > penalties[-1]:
            corners.append(corner)
            penalties.append(penalty)
        else:
            corners[-1] = corner
    return corners[::-1], penalties[1:]


def _whole_numbers(values: list[float]) -> tuple[list[int], int]:
    """Express finite numbers exactly as integer multiples of 1 / unit."""
    ratios = [value.as_integer_ratio() for value in values]
    unit = max(denominator for _, denominator in ratios)
    return [number * (unit // denominator) for number, denominator in ratios], unit
