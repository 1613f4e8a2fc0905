"""The influence of each row on the area under a ROC curve (structural components)."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocpath import _core
from rocpath.validation import Floats


def auc_with_influence(
    score: Floats, is_positive: NDArray[np.bool_], weight: Floats, *, max_fpr: float = 1.0
) -> tuple[float, Floats]:
    """Return the (partial) AUC of scores, and the influence of each row on it.

    For independent rows, the sum of squared influences is DeLong's variance of the AUC
    up to a factor of m / (m - 1) for each class of m rows, and the sum of squared
    differences of influences is the variance of the difference of two AUCs.
    """
    blocks = place_rows(score, is_positive, weight, max_fpr)
    total = np.where(is_positive, blocks.tp.sum(), blocks.fp.sum())
    return blocks.area, weight / total * blocks.deviations(is_positive)


class Variance(NamedTuple):
    """A variance, and its degrees of freedom."""

    value: float
    freedom: float


def unit_variance(influence: Floats, groups: NDArray[np.intp] | None = None) -> Variance:
    """Compute the variance of an estimate from the influences of rows or groups."""
    n_units = influence.size
    if groups is not None:
        n_units = int(np.count_nonzero(np.bincount(groups)))
        influence = np.asarray(np.bincount(groups, influence))
    square = influence**2
    total = float(square.sum())
    # A few units may account for nearly all of the influence.
    freedom = total**2 / max(float(square @ square), 1e-300) - 1.0
    return Variance(total * n_units / (n_units - 1), max(freedom, 1.0))


class ScoreBlocks(NamedTuple):
    """Class weights and structural components by block, in descending order of score.

    A block is a set of rows with equal structural components: tied rows, or consecutive
    rows of one class. ``positive`` and ``negative`` are the centered structural
    components of a row of that class in the block; ``order`` sorts the rows by score,
    and ``start`` holds the first position of each block in it.
    """

    area: float
    positive: Floats
    negative: Floats
    tp: Floats
    fp: Floats
    order: NDArray[np.unsignedinteger]
    start: NDArray[np.intp]

    def deviations(self, is_positive: NDArray[np.bool_]) -> Floats:
        """Return the centered structural component of each row."""
        size = np.diff(np.append(self.start, self.order.size))
        ranked = np.repeat(np.where(self.tp > 0, self.positive, self.negative), size)
        # Only blocks of tied rows can contain both classes.
        if self.is_mixed:
            ranked = np.where(is_positive[self.order], ranked, np.repeat(self.negative, size))
        deviation = np.empty(self.order.size)
        deviation[self.order] = ranked
        return deviation

    @property
    def is_mixed(self) -> bool:
        """Whether a block has rows of both classes."""
        return bool(np.any((self.tp > 0) & (self.fp > 0)))


def place_rows(
    score: Floats,
    is_positive: NDArray[np.bool_],
    weight: Floats | None,
    max_fpr: float,
    min_tpr: float = 0.0,
) -> ScoreBlocks:
    """Compute the (partial) AUC and structural components; ties count one half."""
    order = descending_order(score)
    label = is_positive[order]
    # Rows of a block have equal components, so all sums are over blocks. If the classes
    # are well separated, there are far fewer blocks than rows.
    start, is_mixed = _block_starts(score, label, order)
    if weight is None and not is_mixed:
        # Blocks of one class only need to be counted.
        size = np.diff(np.append(start, label.size)).astype(np.float64)
        tp = np.where(label[start], size, 0.0)
        fp = size - tp
    else:
        tp, fp = class_sums(label, None if weight is None else weight[order], start)
    return ScoreBlocks(*block_components(tp, fp, max_fpr, min_tpr), tp, fp, order, start)


def block_components(
    tp: Floats, fp: Floats, max_fpr: float, min_tpr: float = 0.0
) -> tuple[float, Floats, Floats]:
    """Compute the (partial) AUC and the components from the weights in each block.

    The ROC curve is linear within a block, from the rates before it to those after it,
    and only the fraction of the block from ``first`` to ``last`` is in the region. The
    component of a positive is the width of the region to the right of it, and that of a
    negative its height above it, both clipped to the region; within a block they are
    means over the segment. Derivatives with respect to the ends of the region are zero.
    """
    n_positive, n_negative = float(tp.sum()), float(fp.sum())
    width, height = fp / n_negative, tp / n_positive
    left, lower = np.cumsum(fp) - fp, np.cumsum(tp) - tp
    last: Any = _fraction_below(max_fpr * n_negative - left, fp) if max_fpr < 1 else 1.0
    first: Any = 0.0
    if min_tpr > 0:
        first = np.minimum(_fraction_below(min_tpr * n_positive - lower, tp), last)
    inside = last - first
    # Counts of rows are exact, unlike rates.
    area = (fp * inside) @ (lower + 0.5 * tp * (first + last) - min_tpr * n_positive)
    # Rounding must not make the area exceed that of a perfect ranking.
    value = min(max(float(area) / (n_positive * n_negative), 0.0), max_fpr * (1.0 - min_tpr))
    # Means over the segment of its clipped position.
    mean = inside * (1.0 - 0.5 * (first + last))
    of_positive = -(np.cumsum(width * inside) - width * inside + width * mean)
    of_negative = np.cumsum(height * inside) - height * inside + height * mean
    return (
        value,
        of_positive - float(height @ of_positive),
        of_negative - float(width @ of_negative),
    )


def components_of_positives(room: Floats, tied: Floats) -> tuple[Floats, Floats]:
    """Return the counted fraction of tied negatives, and the component of a positive.

    ``room`` is the distance to max_fpr before the tied negatives.
    """
    counted = np.clip(room, 0.0, tied)
    fraction = _fraction_below(room, tied)
    return fraction, np.maximum(room - tied, 0.0) + 0.5 * counted * fraction


def _fraction_below(room: Floats, length: Floats) -> Floats:
    """Return the fraction of each segment that is before a limit at distance ``room``."""
    # A segment without length is entirely before or after the limit.
    fraction = (room > 0).astype(np.float64)
    np.divide(np.clip(room, 0.0, length), length, out=fraction, where=length > 0)
    return fraction


def descending_order(score: Floats) -> NDArray[np.unsignedinteger]:
    """Return the order that sorts rows by descending score."""
    # The compiled sort takes a third of the time of NumPy's sort, which would account for
    # half of the time of an interval. Its indices have 32 bits.
    if score.size >= 2**32:
        return np.argsort(score)[::-1].astype(np.uint64)
    order: NDArray[np.unsignedinteger] = _core.sorted_order(score)
    return order[::-1]


def _block_starts(
    score: Floats, label: NDArray[np.bool_], order: NDArray[np.unsignedinteger]
) -> tuple[NDArray[np.intp], bool]:
    """Return block starts: where the class changes, and at both ends of mixed ties.

    The flag is whether there are ties of both classes.
    """
    change = np.flatnonzero(label[1:] != label[:-1])
    before, after = score[order[change]], score[order[change + 1]]
    # Within a tie of both classes the order is arbitrary, but the class changes
    # somewhere; both ends of the tie are found by binary search.
    is_tied = before == after
    if not is_tied.any():
        return np.append(0, change + 1), False
    start = [np.zeros(1, dtype=np.intp), change[~is_tied] + 1]
    tie = np.unique(before[is_tied])
    rising = score[order[::-1]]
    for side in ("left", "right"):
        edge = order.size - np.searchsorted(rising, tie, side=side)
        start.append(edge[edge < order.size])
    # np.unique is slower here, because it hashes.
    starts = np.sort(np.concatenate(start))
    return np.asarray(starts[np.append(True, starts[1:] != starts[:-1])]), True


def class_sums(
    label: NDArray[np.bool_], weight: Floats | None, start: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """Sum the weights of positives and negatives in each block of sorted rows."""
    if weight is None:
        # Without weights it is enough to count, in one pass over the rows.
        tp = np.add.reduceat(label, start, dtype=np.float64)
        return tp, np.diff(np.append(start, label.size)) - tp
    tp, fp = (np.add.reduceat(np.where(side, weight, 0.0), start) for side in (label, ~label))
    return tp, fp
