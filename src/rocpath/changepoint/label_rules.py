"""Labels as rules that a search obeys: which changes may happen at which index."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rocpath.changepoint.labels import Labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocpath.changepoint.segmentation import Constraint

# In the order of the core's enumeration.
_CODES = {
    "no_change": 0,
    "one_change": 1,
    "at_least_one_change": 2,
    "no_peaks": 3,
    "peaks": 4,
    "peak_start": 5,
    "peak_end": 6,
}
_MAY_BE_EMPTY = ("no_change", "no_peaks")  # they ask for nothing to happen


class LabelRules(NamedTuple):
    """Labels of the changes, or of peaks the observations, first to last."""

    first: NDArray[np.int32]
    last: NDArray[np.int32]
    kind: NDArray[np.int32]


def check_labels(labels: object, constraint: Constraint) -> None:
    """Raise unless a search can obey such labels."""
    if labels is None:
        return
    if not isinstance(labels, Labels):
        raise TypeError(f"labels must be Labels, got {type(labels).__name__}.")
    if constraint is None:
        for row, kind in enumerate(labels.kind):
            if "peak" in kind:
                raise ValueError(
                    f"labels of peaks need constraint='up_down', got {kind!r} in row "
                    f"{row} and constraint=None."
                )


def count_positions(labels: Labels, position: NDArray[np.float64]) -> NDArray[np.int64]:
    """Count the positions up to each start, below each end and up to each end.

    Counts of the pieces of a sequence add up.
    """
    return np.array(
        [
            np.searchsorted(position, labels.start, side="right"),
            np.searchsorted(position, labels.end, side="left"),
            np.searchsorted(position, labels.end, side="right"),
        ]
    )


def label_rules(labels: Labels | None, count: NDArray[np.int64]) -> LabelRules:
    """Return the rules for labels, from the counts of all positions."""
    if labels is None:
        none = np.empty(0, dtype=np.int32)
        return LabelRules(none, none, none)
    is_of_peaks = np.array([kind in ("no_peaks", "peaks") for kind in labels.kind])
    up_to_start, below_end, up_to_end = count
    # A change at t needs t >= 1 and start < position[t] <= end. Observation t, which
    # ends where the next begins, overlaps a region if it begins before the region's end
    # and the next begins after its start.
    first = np.where(
        is_of_peaks, np.maximum(up_to_start - 1, 0), np.maximum(up_to_start, 1)
    )
    last = np.where(is_of_peaks, below_end, up_to_end) - 1
    for row in np.flatnonzero(first > last):
        if labels.kind[row] not in _MAY_BE_EMPTY:
            raise ValueError(
                f"labels must have room for what they ask, got {labels.kind[row]!r} in "
                f"row {row}, where no change can lie in ({labels.start[row]}, "
                f"{labels.end[row]}]."
            )
    kind = np.array([_CODES[kind] for kind in labels.kind])
    # The search meets them in order; an empty region that asks for nothing is no rule.
    order = np.argsort(labels.start, kind="stable")
    kept = order[(first <= last)[order]]
    return LabelRules(
        *(column[kept].astype(np.int32) for column in (first, last, kind))
    )
