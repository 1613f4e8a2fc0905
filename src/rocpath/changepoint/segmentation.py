"""The best segmentations of a sequence: with 0..K changes, or for a penalty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from rocpath.arguments import available_memory, nonnegative_number, one_of, read_only, whole_number
from rocpath.changepoint.array_costs import array_models, is_array_cost
from rocpath.changepoint.segmentation_passes import checked_sequence, fit, search
from rocpath.changepoint.segmentation_results import Segmentation, Segmentations

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from rocpath.changepoint.labels import Labels
    from rocpath.changepoint.pieces import SequencePieces

SegmentCost = Literal["normal", "poisson", "biweight", "huber", "mean_variance"]
Constraint = Literal["up_down"] | None

# Bytes for a change in a result and in the search (77 to 79 were measured with 1,000
# and 2,000 changes), and for a function of a segment below the minimum length.
_CHANGE_BYTES = 80
_WAITING_BYTES = 500


def segment(
    x: ArrayLike | SequencePieces,
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

    Exact, by functional pruning: in practice O(K n log n) time for K changes of n
    observations, and memory that does not grow with n. Several columns and
    ``cost="mean_variance"`` use the pruning of PELT, which is quadratic if there are
    few changes; robust costs are quadratic too. Consecutive segments may have equal
    means.

    Parameters
    ----------
    x : array-like, shape (n,), or SequencePieces
        The sequence, also of shape (n, d); non-negative for ``cost="poisson"``. NaN
        marks missing observations, which have weight 0. Memory-mapped arrays stay on
        disk.
    max_changes : int
        Maximum number of changes, below n.
    cost : {"normal", "poisson", "biweight", "huber", "mean_variance"}
        Cost of observations x with weights w in a segment with center μ: Σ w (x - μ)²;
        Σ w (μ - x log μ) with 0 log 0 = 0; Σ w min((x - μ)², c²); Σ w h(x - μ) with
        h(r) = r² up to c and c (2 abs(r) - c) beyond; or W log σ² with the total weight
        W and the variance σ² of the segment, of at least two observations. Costs of
        several columns are added.
    weights : array-like, shape (n,), optional
        Positive weights; 1 by default. For run-length encoded data, the lengths of the
        runs; the best changes are always between runs.
    constraint : {None, "up_down"}
        With ``"up_down"`` the means alternate: those of segments 1, 3, ... (peaks) are
        not lower than those of their neighbors 0, 2, ... (background). An even number
        of changes gives complete peaks. For normal and Poisson costs.
    labels : Labels, optional
        Labels that the segmentation must satisfy; labels of peaks require
        ``constraint="up_down"``. For normal and Poisson costs.
    position : array-like, shape (n,), optional
        Positions of the observations in the units of the labels, as for
        `label_errors`; by default their indices.
    min_length : int
        Minimum number of observations in a segment. Above 1 the search takes several
        times as long. Not for robust costs.
    threshold : float, optional
        The constant c of a robust cost; by default 3 (biweight) or 1.345 (Huber) times
        the standard deviation of the noise, from differences of neighbors.

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
    max_changes = whole_number("max_changes", max_changes, least=0)
    if is_array_cost(x, _known_cost(cost)):
        arrays = array_models(
            x,  # type: ignore[arg-type]
            cost=cost,
            weights=weights,
            max_changes=max_changes,
            min_length=whole_number("min_length", min_length, least=1),
            threshold=threshold,
            constraint=constraint,
            labels=labels,
        )
        models = (tuple(arrays.changes), tuple(arrays.mean), arrays.n)
        return Segmentations(read_only(np.array(arrays.cost)), *models)
    sequence = checked_sequence(
        x, weights, position, cost=cost, constraint=constraint, labels=labels
    )
    if max_changes >= sequence.n:
        raise ValueError(
            f"max_changes must be below the length of x, {sequence.n}, got {max_changes}."
        )
    min_length = _checked_min_length(min_length, sequence.n, max_changes + 1)
    _refuse_too_large((max_changes + 1) * (max_changes + 2) // 2 * _CHANGE_BYTES)
    found = search(sequence, max_changes=max_changes, min_length=min_length)
    costs, mean, _ = fit(sequence, found)
    if not np.isfinite(costs).any():
        raise _impossible(f"max_changes={max_changes}", min_length)
    if constraint is None and labels is None and min_length == 1:
        # Costs of equal models can differ by rounding.
        costs = read_only(np.minimum.accumulate(costs))
    # Models that do not exist have -1 changes.
    n_changes = np.maximum(found["n_changes"], 0)
    n_segments = found["n_changes"] + 1
    change = read_only(sequence.original(found["change"]))
    return Segmentations(
        costs,
        tuple(np.split(change, np.cumsum(n_changes)[:-1])),
        tuple(np.split(mean, np.cumsum(n_segments)[:-1])),
        sequence.n_all,
    )


def segment_penalty(
    x: ArrayLike | SequencePieces,
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
    """Find the segmentation with the smallest cost plus penalty times changes.

    Exact, by functional pruning, in practice in O(n log n) time, and in memory that
    does not grow with n; see `segment` for other costs. It is the model that
    `model_selection` selects for the penalty; of two equally good models it may be
    either.

    Parameters
    ----------
    x : array-like, shape (n,), or SequencePieces
        The sequence, as for `segment`; `bedgraph_pieces` reads a file.
    penalty : float
        Non-negative penalty of a change; infinity allows none.
    cost, weights, constraint, labels, position, min_length, threshold
        As for `segment`.
    progress : callable, optional
        Function that is called with the number of observations done and of all, a few
        times a second.

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
    penalty = nonnegative_number("penalty", penalty)
    if is_array_cost(x, _known_cost(cost)):
        best = array_models(
            x,  # type: ignore[arg-type]
            cost=cost,
            weights=weights,
            penalty=penalty,
            min_length=whole_number("min_length", min_length, least=1),
            threshold=threshold,
            constraint=constraint,
            labels=labels,
        )
        return Segmentation(best.cost[0], best.changes[0], best.mean[0], penalty, best.n)
    sequence = checked_sequence(
        x, weights, position, cost=cost, constraint=constraint, labels=labels
    )
    min_length = _checked_min_length(min_length, sequence.n, 2)
    price = penalty
    if sequence.low == sequence.high and labels is None:
        price = np.inf  # a constant sequence has no changes at any penalty
    found = search(sequence, penalty=price, min_length=min_length, progress=progress)
    costs, mean, place = fit(sequence, found)
    if not np.isfinite(costs[0]):
        raise _impossible(f"penalty={penalty}", min_length)
    change = read_only(sequence.original(found["change"]))
    return Segmentation(float(costs[0]), change, mean, penalty, sequence.n_all, place)


def _known_cost(cost: str) -> str:
    known: str = one_of("cost", cost, get_args(SegmentCost))
    return known


def _checked_min_length(min_length: int, n: int, n_states: int) -> int:
    min_length = whole_number("min_length", min_length, least=1)
    if min_length > n:
        raise ValueError(f"min_length must be at most the length of x, {n}, got {min_length}.")
    if min_length > 1:
        _refuse_too_large(2 * n_states * min_length * _WAITING_BYTES)
    return min_length


def _refuse_too_large(n_bytes: int) -> None:
    if n_bytes > available_memory():
        raise MemoryError(
            f"the search and its models may take {n_bytes / 1e9:,.1f} GB, more than "
            "the memory at hand. Set a smaller max_changes or min_length."
        )


def _impossible(setting: str, min_length: int) -> ValueError:
    return ValueError(
        f"labels and min_length must leave a segmentation, got none with {setting} "
        f"and min_length={min_length}."
    )
