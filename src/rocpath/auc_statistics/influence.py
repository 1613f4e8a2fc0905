"""The area under a ROC curve as a mean over rows: what each row gives to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rocpath import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray


def auc_with_influence(
    score: NDArray[np.float64],
    is_positive: NDArray[np.bool_],
    weight: NDArray[np.float64],
    *,
    max_fpr: float = 1.0,
) -> tuple[float, NDArray[np.float64]]:
    """Return the (partial) AUC of scores, and the influence of each row on it.

    The sum of squared influences is DeLong's variance of the AUC but for a factor of
    m / (m - 1) for each class of m rows, and that of the differences of influences
    the variance of the difference of two AUCs.
    """
    placed = place_rows(score, is_positive, weight, max_fpr)
    total = np.where(is_positive, placed.tp.sum(), placed.fp.sum())
    return placed.area, weight / total * placed.deviations(is_positive)


class Placements(NamedTuple):
    """By group, from the largest score: weights of both classes, and what they give.

    A group are rows that no ROC curve tells apart: ties, and neighbors of one class.
    ``positive`` and ``negative`` tell by how much the area would differ if all rows of
    the class stood here; ``order`` sorts the rows by score, and ``start`` is where
    groups start in it.
    """

    area: float
    positive: NDArray[np.float64]
    negative: NDArray[np.float64]
    tp: NDArray[np.float64]
    fp: NDArray[np.float64]
    order: NDArray[np.unsignedinteger]
    start: NDArray[np.intp]

    def deviations(self, is_positive: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return what each row gives."""
        size = np.diff(np.append(self.start, self.order.size))
        ranked = np.where(
            is_positive[self.order],
            np.repeat(self.positive, size),
            np.repeat(self.negative, size),
        )
        deviation = np.empty(self.order.size)
        deviation[self.order] = ranked
        return deviation


def place_rows(
    score: NDArray[np.float64],
    is_positive: NDArray[np.bool_],
    weight: NDArray[np.float64] | None,
    max_fpr: float,
) -> Placements:
    """Place rows among those of the other class, ties counting half.

    With shares F of the negatives above a group and a in it, a positive there adds the
    integral of min(1, (t - F) / a) over t from F to max_fpr to the area. What a
    negative adds is the derivative of the sum of all these.
    """
    order = falling_order(score)
    # Rows of a group give the same, so all sums are over groups: far fewer than rows
    # where the classes hardly mix.
    start = _group_starts(score, is_positive, order)
    tp, fp = class_sums(is_positive, weight, order, start)
    n_positive, n_negative = float(tp.sum()), float(fp.sum())
    tied = fp / n_negative
    # How far it still is to max_fpr at the start of a group; negative beyond it.
    room = max_fpr - (np.cumsum(fp) - fp) / n_negative
    counted = np.clip(room, 0.0, tied)
    # Of negatives tied in a group, the part left of max_fpr counts; a group without any
    # is before max_fpr or after it.
    part = (room > 0).astype(np.float64)
    np.divide(counted, tied, out=part, where=tied > 0)
    of_positive = np.maximum(room - tied, 0.0) + 0.5 * counted * part
    # Rounding must not make a perfect ranking better than perfect.
    area = min(float(tp @ of_positive) / n_positive, max_fpr)
    # Positives above a negative win against it, tied ones by half. What it gives is
    # that less the mean, since shares of a class sum to one wherever a row stands.
    won = (np.cumsum(tp * part) - 0.5 * tp * part**2) / n_positive
    of_negative = won - float(fp @ won) / n_negative
    return Placements(area, of_positive - area, of_negative, tp, fp, order, start)


def falling_order(score: NDArray[np.float64]) -> NDArray[np.unsignedinteger]:
    """Sort rows from the largest score down."""
    # The core's sort takes a third of numpy's time, which would be half of an
    # interval's, but its indices have 32 bits.
    if score.size >= 2**32:
        return np.argsort(score)[::-1].astype(np.uint64)
    order: NDArray[np.unsignedinteger] = _core.sorted_order(score)
    return order[::-1]


def _group_starts(
    score: NDArray[np.float64],
    is_positive: NDArray[np.bool_],
    order: NDArray[np.unsignedinteger],
) -> NDArray[np.intp]:
    """Start a group where the class changes, and before and after ties of both."""
    label = is_positive[order]
    change = np.flatnonzero(label[1:] != label[:-1])
    before, after = score[order[change]], score[order[change + 1]]
    # In a tie of both classes the order is accidental, but the class changes in it
    # somewhere; its two ends are looked up.
    is_tied = before == after
    start = [np.zeros(1, dtype=np.intp), change[~is_tied] + 1]
    if is_tied.any():
        tie = np.unique(before[is_tied])
        rising = score[order[::-1]]
        for side in ("left", "right"):
            edge = order.size - np.searchsorted(rising, tie, side=side)
            start.append(edge[edge < order.size])
    # Not np.unique, which is slower: it hashes.
    starts = np.sort(np.concatenate(start))
    return np.asarray(starts[np.append(True, starts[1:] != starts[:-1])])


def class_sums(
    is_positive: NDArray[np.bool_],
    weight: NDArray[np.float64] | None,
    order: NDArray[np.unsignedinteger],
    start: NDArray[np.intp],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum the weights of both classes in each group."""
    if weight is None:
        # Without weights it is enough to count, in one pass over the rows.
        tp = np.add.reduceat(is_positive[order], start, dtype=np.float64)
        return tp, np.diff(np.append(start, order.size)) - tp
    tp, fp = (
        np.add.reduceat(np.where(side, weight, 0.0)[order], start)
        for side in (is_positive, ~is_positive)
    )
    return tp, fp
