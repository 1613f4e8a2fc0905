"""Partial AUC: the area under part of a ROC curve."""

import numpy as np
from numpy.typing import NDArray

from rocpath.validation import finite_number, rate_up_to_one

_SMALLEST_RATE = 2.0**-60  # smallest nonzero border in the core (cpp/region.hpp)


def checked_region(
    name: str, is_monotone: bool, max_fpr: float | None, min_tpr: float | None
) -> dict[str, float]:
    """Return the region of a partial AUC, by default the whole curve, or raise."""
    lowest = 0.0 if min_tpr is None else finite_number("min_tpr", min_tpr)
    if not 0 <= lowest < 1:
        raise ValueError(f"min_tpr must be in [0, 1), got {lowest}.")
    region = {"max_fpr": rate_up_to_one("max_fpr", max_fpr), "min_tpr": lowest}
    for argument, rate in region.items():
        if 0 < rate < _SMALLEST_RATE:
            raise ValueError(
                f"{argument} must be at least 2**-60, got {rate}: areas are computed in "
                "60-bit integers."
            )
    if not is_monotone and (max_fpr is not None or min_tpr is not None):
        raise ValueError(
            f"{name} must have monotone errors for max_fpr and min_tpr, got errors "
            "that increase and decrease: their ROC curve may loop."
        )
    return region


def partial_area(
    fp: NDArray[np.int64], tp: NDArray[np.int64], *, max_fpr: float, min_tpr: float
) -> float:
    """Return the area under the curve up to ``max_fpr`` and above ``min_tpr``.

    ``fp`` and ``tp`` are non-decreasing and contain every point of the curve, from 0 to
    their totals. The curve is linear between points, so a tie at a border counts
    proportionally.
    """
    fpr, tpr = fp / fp[-1], tp / tp[-1]
    n_left = int(np.searchsorted(fpr, max_fpr, side="right"))
    # Where the curve is vertical at max_fpr, interp may return any of its heights, but
    # the width is zero.
    height = np.append(tpr[:n_left], np.interp(max_fpr, fpr, tpr)) - min_tpr
    width = np.diff(np.append(fpr[:n_left], max_fpr))
    before, after = height[:-1], height[1:]
    mean = 0.5 * (before + after)
    # A segment that crosses the lower border has a triangle above it.
    rises = (before < 0) & (after > 0)
    mean[rises] = 0.5 * after[rises] ** 2 / (after[rises] - before[rises])
    mean[after <= 0] = 0.0
    return float(width @ mean)


def standardized_area(area: float, *, max_fpr: float, min_tpr: float) -> float:
    """Scale a partial area to 1/2 for chance and 1 for a perfect ranking (McClish)."""
    largest = max_fpr * (1.0 - min_tpr)
    # The part of the region below the diagonal is a triangle, or empty.
    chance = 0.5 * max(0.0, max_fpr - min_tpr) ** 2
    return 0.5 * (1.0 + (area - chance) / (largest - chance))
