"""Confidence bands of ROC curves, pointwise or simultaneous."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rocpath.auc_statistics.operating_points import RankedRows
from rocpath.auc_statistics.rate_bounds import (
    highest_rate,
    lowest_rate,
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
    """Bound both rates at each threshold with effective numbers of rows.

    The design effect of each rate is that of its clustered variance (Rao and Scott,
    1992), and the bounds are those of Clopper and Pearson for the effective counts
    (Korn and Graubard, 1998).
    """
    rows = RankedRows.of(is_positive, score)
    place = spread_places(rows, ratio=_GROUP_GRID_RATIO)
    level = _bound_confidence(confidence)
    limits: list[list[Any]] = [[], [], [], []]
    for k, side in enumerate((~is_positive, is_positive)):
        code, own = groups.code[side], score[side]
        size = np.bincount(code)
        size = size[size > 0]
        n_groups = size.size
        for one in place:
            called = own >= rows.score[one]
            count = np.bincount(code, called)[np.bincount(code) > 0]
            rate = float(called.mean())
            simple = rate * (1.0 - rate) / own.size
            # As if all rows of a group were alike where no variance is seen.
            effect = float((size**2).sum()) / own.size
            if simple > 0:
                square = float(((count - rate * size) ** 2).sum()) / own.size**2
                effect = max(square * n_groups / max(n_groups - 1, 1) / simple, 1.0)
            n_rows = own.size / effect
            limits[2 * k].append(lowest_rate(rate * n_rows, n_rows, level))
            limits[2 * k + 1].append(highest_rate(rate * n_rows, n_rows, level))
    return ROCBand(*(np.array(one, dtype=np.float64) for one in limits))


def spread_places(rows: RankedRows, *, ratio: float = _GRID_RATIO) -> NDArray[np.intp]:
    """Choose distinct scores, close together at the top of the ranking."""
    # There thresholds are chosen, and rates change most.
    ranks = rising_ranks(1, int(rows.n_called[-1]), ratio=ratio)
    place = np.searchsorted(rows.n_called, ranks, side="right") - 1
    return np.unique(np.append(0, place))


def _bound_confidence(confidence: float) -> float:
    """Return the confidence of each of four bounds, two for each independent rate."""
    return 0.5 * (1.0 + float(np.sqrt(confidence)))
