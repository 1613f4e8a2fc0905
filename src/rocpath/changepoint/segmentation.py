"""Optimal segmentations of a sequence, with 0 to K changes or for a penalty."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.changepoint.cost_properties import COSTS
from rocpath.changepoint.labels import Labels
from rocpath.changepoint.search import CheckedSequence, checked_sequence, fit, search
from rocpath.changepoint.segment_costs import Constraint, SegmentCost
from rocpath.changepoint.segmentation_results import Segmentation, Segmentations
from rocpath.memory import available_memory
from rocpath.validation import nonnegative_number, one_of, read_only, whole_number

# Bytes per change in the search and its results (77 to 79 were measured with 1,000 and
# 2,000 changes), and per cost function of a segment that is not yet of minimum length.
_CHANGE_BYTES = 80
_WAITING_BYTES = 500


def segment(
    x: ArrayLike,
    max_changes: int,
    *,
    cost: SegmentCost = "normal",
    weights: ArrayLike | None = None,
    constraint: Constraint = None,
    labels: Labels | None = None,
    position: ArrayLike | None = None,
    min_length: int = 1,
    threshold: float | None = None,
) -> Segmentations:
    """Find the best segmentation for every number of changes up to a maximum.

    The search is exact. It uses functional pruning, which in practice takes
    O(K n log n) time for K changes and n observations, and little memory besides
    copies of the data. For robust costs, it takes quadratic time. For several columns
    and ``cost="mean_variance"``, PELT is used, which takes quadratic time if there are
    few changes. Consecutive segments may have equal means.

    Parameters
    ----------
    x : array-like, shape (n,), or (n, d) for ``"normal"`` and ``"mean_variance"``
        The sequence. NaN marks missing observations, which have weight 0.
    max_changes : int
        Maximum number of changes, less than the number of non-missing observations.
    cost : str
        Cost of a segment: one of the names in `rocpath.changepoint.segment_costs`, which
        defines them; the user guide describes their use.
    weights : array-like, shape (n,), optional
        Positive weights of the observations; 1 by default. For run-length encoded data,
        these are the lengths of the runs; without a constraint, optimal changes are
        always between runs.
    constraint : {None, "up_down"}
        Constraint on the means. With ``"up_down"``, they alternate: the means of
        segments 1, 3, ... (peaks) are not lower than those of their neighbors 0, 2, ...
        (background). With an even number of changes, all peaks are complete. The
        constraint is not available for robust costs, ``"linear"``, ``"mean_variance"``
        or several columns.
    labels : Labels, optional
        Labels that the segmentation must satisfy; labels of peaks require
        ``constraint="up_down"``.
    position : array-like, shape (n,), optional
        Positions of the observations in the units of the labels, as for
        `label_errors`; by default their indices.
    min_length : int
        Minimum number of observations in a segment; a shorter sequence is one segment.
        With values above 1, the search takes several times as long.
    threshold : float, optional
        Threshold c of a robust cost; by default 3 (biweight) or 1.345 (Huber) times the
        standard deviation of the noise, estimated from differences of neighboring
        observations.

    Returns
    -------
    Segmentations

    Raises
    ------
    MemoryError
        If the models would not fit into memory.

    Examples
    --------
    >>> from rocpath import changepoint as cp
    >>> x = [1, 1, 5, 5, 5, 2]
    >>> models = cp.segment(x, 2)
    >>> models.cost.tolist()
    [20.833333333333332, 6.75, 0.0]
    >>> [changes.tolist() for changes in models.changes]
    [[], [2], [2, 5]]
    >>> models.mean[2].tolist()
    [1.0, 5.0, 2.0]
    >>> labels = cp.Labels([2], [5], ["one_change"])
    >>> cp.segment(x, 1, labels=labels).changes[1].tolist()
    [3]
    """
    one_of("cost", cost, get_args(SegmentCost))
    max_changes = whole_number("max_changes", max_changes, least=0)
    sequence = checked_sequence(
        x, weights, position, cost=cost, constraint=constraint, labels=labels, threshold=threshold
    )
    n_observed = sequence.weight.size
    if max_changes >= n_observed:
        raise ValueError(
            "max_changes must be less than the number of non-missing observations, "
            f"{n_observed}, got {max_changes}."
        )
    _check_memory(segmentation_bytes(max_changes))
    models = _best_models(sequence, min_length, max_changes=max_changes)
    if constraint is None and labels is None and min_length == 1 and COSTS[cost].min_length == 1:
        # Costs of equal models can differ by rounding.
        models = replace(models, cost=read_only(np.minimum.accumulate(models.cost)))
    return models


def segmentation_bytes(max_changes: int) -> int:
    """Return the approximate memory of the models with up to ``max_changes`` changes."""
    return (max_changes + 1) * (max_changes + 2) // 2 * _CHANGE_BYTES


def segment_penalty(
    x: ArrayLike,
    penalty: float,
    *,
    cost: SegmentCost = "normal",
    weights: ArrayLike | None = None,
    constraint: Constraint = None,
    labels: Labels | None = None,
    position: ArrayLike | None = None,
    min_length: int = 1,
    threshold: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Segmentation:
    """Find the segmentation that minimizes cost + penalty * number of changes.

    The search is exact. Functional pruning, which is also used for robust costs, takes
    O(n log n) time in practice, and little memory besides copies of the data. For
    several columns and ``cost="mean_variance"``, PELT is used. The result is the model
    that `model_selection` selects for the penalty, except that ties between equally
    good models may be broken differently.

    Parameters
    ----------
    x : array-like, shape (n,), or (n, d) for ``"normal"`` and ``"mean_variance"``
        The sequence, as for `segment`.
    penalty : float
        Non-negative penalty per change; an infinite penalty allows no changes.
    cost, weights, constraint, labels, position, min_length, threshold
        Settings of the search, as for `segment`.
    progress : callable, optional
        Function that is called several times per second with the number of processed
        observations and the total number.

    Returns
    -------
    Segmentation

    Examples
    --------
    >>> from rocpath import changepoint as cp
    >>> best = cp.segment_penalty([1, 1, 5, 5, 5, 2], penalty=10)
    >>> best.changes.tolist(), best.cost
    ([2], 6.75)
    >>> labels = cp.Labels([0, 2], [2, 6], ["no_change", "one_change"])
    >>> cp.segment_penalty([1, 1, 5, 5, 5, 2], 10, labels=labels).changes.tolist()
    [3]
    """
    one_of("cost", cost, get_args(SegmentCost))
    penalty = nonnegative_number("penalty", penalty)
    sequence = checked_sequence(
        x, weights, position, cost=cost, constraint=constraint, labels=labels, threshold=threshold
    )
    # A constant sequence has no changes at any penalty.
    is_constant = sequence.low == sequence.high and labels is None
    models = _best_models(
        sequence, min_length, penalty=np.inf if is_constant else penalty, progress=progress
    )
    (cost_of_best,), (changes,), (mean,) = models.cost.tolist(), models.changes, models.mean
    slope = None if models.slope is None else models.slope[0]
    at = None if position is None else read_only(np.asarray(position, float)[changes])
    return Segmentation(cost_of_best, changes, mean, penalty, models.n, at, slope)


def _best_models(
    sequence: CheckedSequence, min_length: int, **search_settings: Any
) -> Segmentations:
    shortest = whole_number("min_length", min_length, least=1)
    shortest = max(shortest, COSTS[sequence.cost].min_length)
    shortest = min(shortest, sequence.weight.size)  # a sequence that is too short is one segment
    if shortest > 1:
        n_states = search_settings.get("max_changes", 1) + 1
        _check_memory(2 * n_states * shortest * _WAITING_BYTES)
    found = search(sequence, min_length=shortest, **search_settings)
    # -1 marks numbers of changes that labels or the minimum length do not allow.
    is_model = found["n_changes"] >= 0
    if not is_model.any():
        given = next(f"{name}={search_settings[name]}" for name in search_settings)
        raise ValueError(
            "labels and min_length must allow at least one segmentation, got none with "
            f"{given} and min_length={shortest}."
        )
    n_changes = found["n_changes"][is_model]
    fits = fit(sequence, found["change"], found["is_tied"], n_changes)
    cost = np.full(is_model.size, np.inf)
    cost[is_model] = fits["cost"]
    mean, slope = _centers(sequence, fits["mean"], found["change"], n_changes)
    ends = np.cumsum(np.where(is_model, found["n_changes"], 0))[:-1]
    mean_ends = np.cumsum(found["n_changes"] + 1)[:-1]
    return Segmentations(
        read_only(cost),
        tuple(np.split(sequence.original(found["change"]), ends)),
        tuple(np.split(read_only(mean), mean_ends)),
        sequence.n,
        None if slope is None else tuple(np.split(read_only(slope), mean_ends)),
    )


def _centers(
    sequence: CheckedSequence,
    center: NDArray[np.float64],
    change: NDArray[np.int32],
    n_changes: NDArray[np.int64],
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return the mean of each segment, and the slopes and values in the middle of lines."""
    if not COSTS[sequence.cost].uses_time:
        return center.reshape(-1, *sequence.origin.shape) + sequence.origin, None
    value, slope, time = center.reshape(-1, 3).T
    models = np.split(sequence.original(change), np.cumsum(n_changes)[:-1])
    start = np.concatenate([np.append(0, one) for one in models])
    end = np.concatenate([np.append(one, sequence.n) for one in models])
    middle = (start + end - 1) / 2
    return value + slope * (middle - time) + sequence.origin, np.array(slope)


def _check_memory(n_bytes: int) -> None:
    if n_bytes > available_memory():
        raise MemoryError(
            f"the search and its models may take {n_bytes / 1e9:,.1f} GB, more than "
            "the available memory: decrease max_changes or min_length."
        )
