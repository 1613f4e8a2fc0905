"""Labels as constraints on a search: the changes that are allowed at each index."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

import rocpath._core as _core
from rocpath.arguments import check_increase
from rocpath.changepoint.labels import KINDS, Labels, refuse_outside

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocpath.changepoint.pieces import Piece
    from rocpath.changepoint.segmentation import Constraint


# The first and last change of each label (or observation, for peaks), and its kind.
LabelRules: TypeAlias = "tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]"


class LabelPlaces:
    """Convert the positions of labels to indices, piece by piece."""

    def __init__(self, labels: Labels | None, constraint: Constraint) -> None:
        check_label_kinds(labels, constraint)
        self.labels = labels
        self.first: float | None = None
        self.last = -np.inf
        # Numbers of positions up to each start, below each end and up to each end,
        # summed over pieces, so that positions need not be kept.
        n_labels = 0 if labels is None else len(labels)
        self.count = np.zeros((3, n_labels), dtype=np.int64)

    def add(self, piece: Piece, offset: int) -> None:
        """Count the positions of a piece that starts at index ``offset``."""
        position = piece.position
        if position is not None:
            rule = "position must be finite and increase"
            check_increase(rule, position, after=self.last, offset=offset)
            self.last = float(position[-1])
            if self.first is None:
                self.first = float(position[0])
        if self.labels is None:
            return
        if position is None:
            position = np.arange(float(offset), float(offset + len(piece.x)))
        start, end = self.labels.start, self.labels.end
        self.count[0] += np.searchsorted(position, start, side="right")
        self.count[1] += np.searchsorted(position, end, side="left")
        self.count[2] += np.searchsorted(position, end, side="right")

    def rules(self, n: int) -> LabelRules:
        """Return the constraints, once all n positions have been counted."""
        labels = self.labels
        if labels is None:
            none = np.empty(0, dtype=np.int32)
            return none, none, none
        if self.first is None:
            refuse_outside(labels, 0.0, float(n), has_position=False)
        else:
            refuse_outside(labels, self.first, self.last, has_position=True)
        is_of_peaks = np.array([KINDS[kind].counts == "peak" for kind in labels.kind])
        up_to_start, below_end, up_to_end = self.count
        # A change at t requires t >= 1 and start < position[t] <= end. Observation t,
        # which ends where the next starts, overlaps a region if it starts before the
        # end of the region and the next one starts after its start.
        first = np.where(is_of_peaks, np.maximum(up_to_start - 1, 0), np.maximum(up_to_start, 1))
        last = np.where(is_of_peaks, below_end, up_to_end) - 1
        for row in np.flatnonzero(first > last):
            if KINDS[labels.kind[row]].least > 0:
                raise ValueError(
                    f"labels{labels.where} must allow the changes they require, got "
                    f"{labels.kind[row]!r} in row {labels.row[row]}, where no change can lie in "
                    f"({labels.start[row]}, {labels.end[row]}]."
                )
        kind = np.array([_core.LabelKind[kind].value for kind in labels.kind])
        # Sorted as the search reads them; empty regions that require no change are dropped.
        order = np.argsort(labels.start, kind="stable")
        kept = order[(first <= last)[order]]
        return tuple(column[kept].astype(np.int32) for column in (first, last, kind))  # type: ignore[return-value]


def check_label_kinds(labels: object, constraint: Constraint) -> None:
    """Raise unless the labels, if any, can be used with the constraint."""
    if labels is None:
        return
    if not isinstance(labels, Labels):
        raise TypeError(f"labels must be Labels, got {type(labels).__name__}.")
    if constraint is None:
        for row, kind in zip(labels.row, labels.kind, strict=True):
            if KINDS[kind].counts != "change":
                raise ValueError(
                    f"labels of peaks need constraint='up_down', got constraint=None and "
                    f"{kind!r} in row {row}{labels.where}."
                )
