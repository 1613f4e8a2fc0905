"""Worth of each change: its gain in cost, and the penalties for which it persists."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.changepoint.observations import (
    checked_sequences,
    observations,
    one_for_each,
    possible_changes,
)
from rocpath.changepoint.penalty_default import noise_scaled
from rocpath.changepoint.search import checked_sequence, fit
from rocpath.changepoint.segment_costs import Constraint, SegmentCost
from rocpath.changepoint.segmentation import segment
from rocpath.changepoint.segmentation_results import Segmentation, Segmentations
from rocpath.validation import check_count, read_only, whole_number

_MAX_WORK = 2 * 10**7  # number of changes times length; takes about ten seconds


@dataclass(frozen=True, slots=True, eq=False)
class ChangeWorth:
    """Worth of each change of a segmentation.

    Attributes
    ----------
    changes : array of int
        Indices where new segments start.
    gain : array
        Increase in cost if only this change is removed.
    min_penalty, max_penalty : array
        Limits of the interval of penalties, around that of the segmentation, for which
        the best segmentation contains the change. The lower limit is 0 if the change
        persists in all computed models with smaller penalties. Both limits are NaN if
        computing the models would take too long.
    """

    changes: NDArray[np.int64]
    gain: NDArray[np.float64]
    min_penalty: NDArray[np.float64]
    max_penalty: NDArray[np.float64]


def change_worth(
    x: ArrayLike,
    segmentation: Segmentation,
    *,
    cost: SegmentCost = "normal",
    weights: ArrayLike | None = None,
    constraint: Constraint = None,
    min_length: int = 1,
    max_changes: int | None = None,
) -> ChangeWorth:
    """Compute the gain in cost and the penalty interval of each change.

    Parameters
    ----------
    x : array-like, shape (n,) or (n, d)
        The sequence.
    segmentation : Segmentation
        Result of `segment_penalty` with the same settings.
    cost, weights, constraint, min_length
        As for `segment`.
    max_changes : int, optional
        Maximum number of changes of the models that determine the penalties; by
        default, twice the number of changes of the segmentation, and at least ten more.
        If this default times the length of the sequence exceeds 20 million, no models
        are computed.

    Returns
    -------
    ChangeWorth

    Examples
    --------
    >>> from rocpath import changepoint as cp
    >>> x = [1, 1, 5, 5, 5, 2]
    >>> worth = cp.change_worth(x, cp.segment_penalty(x, 1.0))
    >>> worth.changes.tolist(), worth.gain.round(2).tolist()
    ([2, 5], [19.2, 6.75])
    >>> worth.max_penalty.round(2).tolist()
    [14.08, 6.75]
    """
    value = observations("x", x)
    check_count(
        "x must have an entry", len(value), segmentation.n, "observations of the segmentation"
    )
    gain = change_gains(value, segmentation.changes, cost=cost, weights=weights)
    most = segmentation.n_changes
    most = max(2 * most, most + 10) if max_changes is None else max_changes
    most = possible_changes(value, whole_number("max_changes", most, least=0))
    low = high = np.full(segmentation.n_changes, np.nan)
    if max_changes is not None or most * len(value) <= _MAX_WORK:
        settings: dict[str, Any] = {"cost": cost, "weights": weights}
        settings |= {"constraint": constraint, "min_length": min_length}
        low, high = _persistence(segmentation, segment(value, most, **settings))
    return ChangeWorth(segmentation.changes, read_only(gain), read_only(low), read_only(high))


def change_gains(
    x: NDArray[np.float64],
    changes: NDArray[np.int64],
    *,
    cost: SegmentCost,
    weights: ArrayLike | None,
) -> NDArray[np.float64]:
    """Return the increase in cost if each change is removed separately."""
    sequence = checked_sequence(x, weights, cost=cost)
    at = changes if sequence.index is None else np.searchsorted(sequence.index, changes)
    # Removing every second change merges the two segments at each removed change.
    models = [at, at[1::2], at[::2]]
    change = np.concatenate(models).astype(np.int32)
    n_changes = np.array([one.size for one in models])
    fits = fit(sequence, change, np.zeros_like(change), n_changes)
    own, even, odd = np.split(fits["segment_cost"], np.cumsum(n_changes + 1)[:-1])
    joint = np.empty(at.size)
    joint[::2], joint[1::2] = even[: joint[::2].size], odd[1 : 1 + joint[1::2].size]
    return np.asarray(joint - own[:-1] - own[1:])


def changes_worth(
    sequences: Sequence[ArrayLike],
    found: Sequence[Segmentation],
    *,
    weights: Sequence[ArrayLike | None] | None = None,
    cost: SegmentCost | None = None,
    constraint: Constraint = None,
    min_length: int = 1,
) -> list[ChangeWorth]:
    """Compute `change_worth` for several sequences.

    If a sequence has several columns, each is scaled by its noise.

    Parameters
    ----------
    sequences : list of array-like
        The sequences, each of shape (n,) or (n, d).
    found : list of Segmentation
        Results of `detect_changes` with the same settings.
    weights : list of array-like or None, optional
        Weights of the observations of each sequence.
    cost : str, optional
        Cost of a segment; by default that of each segmentation.
    constraint, min_length
        As for `segment`.

    Returns
    -------
    list of ChangeWorth
    """
    settings: dict[str, Any] = {"constraint": constraint, "min_length": min_length}
    every = one_for_each("weights", weights, len(found))
    every_worth = []
    for x, one, weight in zip(checked_sequences(sequences), found, every, strict=True):
        own: Any = cost or one.model or "normal"
        scaled = noise_scaled(x, weight)[0]
        every_worth.append(change_worth(scaled, one, cost=own, weights=weight, **settings))
    return every_worth


def _persistence(
    best: Segmentation, models: Segmentations
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    selection = models.selection()
    at = int(np.searchsorted(selection.min_penalty, best.penalty, side="right")) - 1
    has = np.array([np.isin(best.changes, models.changes[k]) for k in selection.n_changes])
    # Number of consecutive models with each change, toward smaller and larger penalties.
    n_down = np.logical_and.accumulate(has[at::-1]).sum(axis=0)
    n_up = np.logical_and.accumulate(has[at:]).sum(axis=0)
    low = selection.min_penalty[np.minimum(at, at + 1 - n_down)]
    high = selection.max_penalty[np.maximum(at, at - 1 + n_up)]
    # If the selected model is tied with ``best`` and lacks a change, the interval of that
    # change contains only this penalty.
    low, high = (np.where(has[at], limit, best.penalty) for limit in (low, high))
    return np.minimum(low, best.penalty), high
