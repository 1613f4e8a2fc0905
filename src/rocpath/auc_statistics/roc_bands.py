"""Confidence bands of ROC curves, pointwise or simultaneous."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rocpath.auc_statistics.operating_points import RankedRows
from rocpath.auc_statistics.rate_bounds import (
    highest_rate,
    lowest_rate,
    rate_bounds,
    rising_ranks,
    simultaneous_rates,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocpath.auc_statistics.groups import RowGroups

_GRID_RATIO = 1.02  # ratio of the ranks of two neighboring thresholds
_GROUP_GRID_RATIO = 1.15  # coarser: each threshold takes a pass over the rows


class ROCBand(NamedTuple):
    """Corners of the confidence band of a ROC curve, from no row positive to all."""

    fpr_low: NDArray[np.float64]
    fpr_high: NDArray[np.float64]
    tpr_low: NDArray[np.float64]
    tpr_high: NDArray[np.float64]


def roc_band(
    rows: RankedRows, confidence: float = 0.95, *, is_simultaneous: bool = False
) -> ROCBand:
    """Bound both rates at each threshold (Clopper and Pearson), or at all at once."""
    place = spread_places(rows)
    counts = (rows.fp[place], rows.n_negative), (rows.tp[place], rows.n_positive)
    if is_simultaneous:
        # Four one-sided families of bounds share the error probability.
        level = 1.0 - (1.0 - confidence) / 4.0
        bounds = [
            bound[count] for count, total in counts for bound in simultaneous_rates(total, level)
        ]
        return ROCBand(*bounds)
    level = _bound_confidence(confidence)
    return ROCBand(
        *(
            bound(count, total, level)
            for count, total in counts
            for bound in (lowest_rate, highest_rate)
        )
    )


def grouped_roc_band(
    is_positive: NDArray[np.bool_],
    score: NDArray[np.float64],
    groups: RowGroups,
    confidence: float = 0.95,
) -> ROCBand:
    """Bound both rates at each threshold, by :func:`grouped_rate_bounds`."""
    rows = RankedRows.of(is_positive, score)
    place = spread_places(rows, ratio=_GROUP_GRID_RATIO)
    level = _bound_confidence(confidence)
    limits: list[Any] = []
    for side in (~is_positive, is_positive):
        code, own = groups.code[side], score[side]
        limits += zip(
            *(grouped_rate_bounds(code, own >= rows.score[one], level) for one in place),
            strict=True,
        )
    return ROCBand(*(np.array(one) for one in limits))


def grouped_rate_bounds(
    code: NDArray[np.intp], is_counted: NDArray[np.bool_], level: float
) -> tuple[float, float]:
    """Bound the rate of counted rows, given the group of each row.

    The design effect is that of the clustered variance (Rao and Scott, 1992), and the
    bounds are those of Clopper and Pearson for the effective numbers of rows (Korn and
    Graubard, 1998).
    """
    size = np.bincount(code)
    n_groups, n_rows = np.count_nonzero(size), is_counted.size
    rate = float(is_counted.mean())
    simple = rate * (1.0 - rate) / n_rows
    # As if all rows of a group were alike where no variance is seen.
    effect = float((size**2).sum()) / n_rows
    if simple > 0 and n_groups > 1:
        square = float(((np.bincount(code, is_counted) - rate * size) ** 2).sum()) / n_rows**2
        effect = max(square * n_groups / (n_groups - 1) / simple, 1.0)
    return rate_bounds(rate * n_rows / effect, n_rows / effect, level)


def spread_places(rows: RankedRows, *, ratio: float = _GRID_RATIO) -> NDArray[np.intp]:
    """Choose distinct scores, close together at the top of the ranking."""
    # There thresholds are chosen, and rates change most.
    ranks = rising_ranks(1, int(rows.n_called[-1]), ratio=ratio)
    place = np.searchsorted(rows.n_called, ranks, side="right") - 1
    return np.unique(np.append(0, place))


def _bound_confidence(confidence: float) -> float:
    """Return the confidence of each of four bounds, two for each independent rate."""
    return 0.5 * (1.0 + float(np.sqrt(confidence)))
