"""Confidence bands of ROC curves, pointwise or simultaneous."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocpath.evaluation.operating_points import RankedRows
from rocpath.evaluation.rate_bounds import (
    effective_counts,
    geometric_ranks,
    highest_rate,
    lowest_rate,
    simultaneous_rates,
)
from rocpath.validation import Floats

_GRID_RATIO = 1.02  # ratio of the ranks of consecutive thresholds
_GROUP_GRID_RATIO = 1.15  # coarser: each threshold requires a pass over the rows


class ROCBand(NamedTuple):
    """Bounds of both rates of a ROC curve, from the highest threshold to the lowest."""

    fpr_low: Floats
    fpr_high: Floats
    tpr_low: Floats
    tpr_high: Floats


def roc_band(
    is_positive: NDArray[np.bool_],
    score: Floats,
    confidence: float = 0.95,
    *,
    is_simultaneous: bool = False,
    groups: NDArray[np.intp] | None = None,
) -> ROCBand:
    """Compute the confidence band of a ROC curve, pointwise or simultaneous.

    Pointwise bounds are those of Clopper and Pearson for each rate. With groups, they
    use effective sample sizes.
    """
    rows = RankedRows.of(is_positive, score)
    index = threshold_grid(rows, ratio=_GRID_RATIO if groups is None else _GROUP_GRID_RATIO)
    sides = (~is_positive, rows.fp[index]), (is_positive, rows.tp[index])
    limits = []
    for side, count in sides:
        n_rows: Any = np.count_nonzero(side)
        if is_simultaneous:
            # Four one-sided families of bounds share the error probability.
            bounds = simultaneous_rates(n_rows, 1.0 - (1.0 - confidence) / 4.0)
            limits += [bound[count] for bound in bounds]
            continue
        if groups is not None:
            code, class_score = groups[side], score[side]
            counts = [effective_counts(class_score >= rows.score[one], code) for one in index]
            count, n_rows = np.array(counts).T
        # The two rates are independent, and each has a two-sided interval.
        level = 0.5 * (1.0 + float(np.sqrt(confidence)))
        limits += [bound(count, n_rows, level) for bound in (lowest_rate, highest_rate)]
    return ROCBand(*limits)


def threshold_grid(rows: RankedRows, *, ratio: float = _GRID_RATIO) -> NDArray[np.intp]:
    """Return indices of thresholds, closest together at the top of the ranking."""
    # Thresholds are usually chosen there, and rates change fastest.
    ranks = geometric_ranks(1, int(rows.n_predicted[-1]), ratio=ratio)
    index = np.searchsorted(rows.n_predicted, ranks, side="right") - 1
    return np.unique(np.append(0, index))
