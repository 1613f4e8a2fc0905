"""Climb a smoothed AUC by quasi-Newton steps over all rows at once.

Smoothed, a pair counts by the normal distribution function of the difference of its
predictions, over a width. The derivative by the prediction of a row is then the density
of the other class there, which is read off a grid: value and gradient take linear time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import ndimage, optimize

from rocpath.linear import sums_over_rows, weighted_sums
from rocpath.ranking.columns import Columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocpath.ranking.labelled_rows import LabelledRows

_FARTHEST = 10.0  # standard deviations; predictions beyond do not move
_CELLS = 8  # of the grid, in a width
_MOST_ITERATIONS = 100


def climb_smoothed(
    rows: LabelledRows, start: NDArray[np.float64], width: float
) -> NDArray[np.float64]:
    """Maximise the AUC smoothed over a width, in standard deviations at the start."""
    columns = Columns.measured(rows.X, rows.balanced_weight)
    share = 2.0 * rows.balanced_weight
    scale = columns.scale
    is_varying = np.isfinite(scale)

    def objective(at: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        coef = at / scale
        predictions = weighted_sums(rows.X, coef) - columns.center @ coef
        value, slope = smoothed_auc(predictions, rows.is_positive, share, width)
        sums = sums_over_rows(rows.X, slope) - columns.center * slope.sum()
        return -value, -sums / scale

    unit = rows.standardized(start).coef
    found = optimize.minimize(
        objective,
        np.where(is_varying, unit * np.where(is_varying, scale, 0.0), 0.0),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _MOST_ITERATIONS},
    )
    return np.asarray(found.x / scale)


def smoothed_auc(
    predictions: NDArray[np.float64],
    is_positive: NDArray[np.bool_],
    share: NDArray[np.float64],
    width: float,
) -> tuple[float, NDArray[np.float64]]:
    """Return the smoothed AUC and its derivative by the predictions.

    The shares of each class sum to one.
    """
    cell = width / _CELLS
    n_cells = int(2.0 * _FARTHEST / cell) + 10 * _CELLS
    near = np.clip(predictions, -_FARTHEST, _FARTHEST)
    place = near / cell + 0.5 * n_cells
    left = place.astype(np.intp)
    beyond = place - left
    value = 0.0
    derivative = np.empty(predictions.size)
    for side, sign in ((is_positive, 1.0), (~is_positive, -1.0)):
        other = ~side
        mass = np.bincount(left[other], share[other] * (1.0 - beyond[other]), n_cells)
        mass += np.bincount(left[other] + 1, share[other] * beyond[other], n_cells)
        density = ndimage.gaussian_filter1d(mass, _CELLS, mode="constant", truncate=5)
        below = np.cumsum(density) - 0.5 * density
        low, high = below[left[side]], below[left[side] + 1]
        derivative[side] = sign * share[side] * (high - low) / cell
        value = share[side] @ (low + beyond[side] * (high - low))
    derivative[near != predictions] = 0.0
    return 1.0 - float(value), derivative
