"""The part of the area under a ROC curve where errors of one kind are rare."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rocpath.arguments import finite_number

if TYPE_CHECKING:
    from numpy.typing import NDArray


def rate_up_to_one(name: str, rate: float | None) -> float:
    """Return a largest rate above 0, at most 1, which is also the default; or raise."""
    value = 1.0 if rate is None else finite_number(name, rate)
    if not 0 < value <= 1:
        raise ValueError(f"{name} must be above 0 and at most 1, got {value}.")
    return value


def region_border(max_fpr: float | None) -> float | None:
    """Return a largest rate below 1, or None for all of AUC."""
    value = rate_up_to_one("max_fpr", max_fpr)
    return value if value < 1 else None


def rate_below_one(name: str, rate: float | None) -> float:
    """Return a smallest rate from 0, which is also the default, below 1; or raise."""
    value = 0.0 if rate is None else finite_number(name, rate)
    if not 0 <= value < 1:
        raise ValueError(f"{name} must be at least 0 and below 1, got {value}.")
    return value


def checked_region(
    name: str, is_monotone: bool, max_fpr: float | None, min_tpr: float | None
) -> dict[str, float]:
    """Return the part of the curve that counts, all of it by default, or raise."""
    region = {
        "max_fpr": rate_up_to_one("max_fpr", max_fpr),
        "min_tpr": rate_below_one("min_tpr", min_tpr),
    }
    if not is_monotone and (max_fpr is not None or min_tpr is not None):
        raise ValueError(
            f"{name} must be monotone for max_fpr and min_tpr, got errors that rise "
            "and fall: their ROC curve may loop."
        )
    return region


def partial_area(
    fp: NDArray[np.int64], tp: NDArray[np.int64], *, max_fpr: float, min_tpr: float
) -> float:
    """Return the area below the curve, left of ``max_fpr`` and above ``min_tpr``.

    ``fp`` and ``tp`` never fall and hold every point of the curve, from 0 to their
    totals; between two points the curve is straight, so a tie at a border is cut in
    proportion.
    """
    fpr, tpr = fp / fp[-1], tp / tp[-1]
    n_left = int(np.searchsorted(fpr, max_fpr, side="right"))
    # Where the curve stands upright at max_fpr, interp may give any height of it, over
    # a width of zero.
    height = np.append(tpr[:n_left], np.interp(max_fpr, fpr, tpr)) - min_tpr
    width = np.diff(np.append(fpr[:n_left], max_fpr))
    before, after = height[:-1], height[1:]
    mean = 0.5 * (before + after)
    # Of a segment that rises through the lower border, a triangle is above it.
    rises = (before < 0) & (after > 0)
    mean[rises] = 0.5 * after[rises] ** 2 / (after[rises] - before[rises])
    mean[after <= 0] = 0.0
    return float(width @ mean)


def standardized_area(area: float, *, max_fpr: float, min_tpr: float) -> float:
    """Map the partial area of chance to 1/2 and the largest one to 1 (McClish)."""
    largest = max_fpr * (1.0 - min_tpr)
    # The triangle of the diagonal within the rectangle, if it reaches into it.
    chance = 0.5 * max(0.0, max_fpr - min_tpr) ** 2
    return 0.5 * (1.0 + (area - chance) / (largest - chance))
