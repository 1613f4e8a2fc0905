"""Climb a smoothed AUC over all columns at once, in linear time a step.

A pair of rows counts by the normal distribution function of the difference of its
predictions over a width. So a positive row counts by the smoothed distribution
function of the negatives, which is read off a grid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import ndimage, optimize

from rocpath.matrices import sums_over_rows, weighted_sums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocpath.matrices import Columns
    from rocpath.ranking.labelled_rows import LabelledRows

_FARTHEST = 10.0  # standard deviations; predictions beyond have no slope
_CELLS = 8  # of the grid in a width
_REACH = 5  # widths that a row is smoothed over, to either side
_MOST_ITERATIONS = 100


def climb_smoothed(
    rows: LabelledRows,
    columns: Columns,
    start: NDArray[np.float64],
    width: float,
) -> NDArray[np.float64]:
    """Maximise the AUC smoothed over a width, in standard deviations at the start."""
    share = 2.0 * rows.balanced_weight

    def objective(scaled: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        coef = scaled / columns.scale
        predictions = weighted_sums(rows.X, coef) - columns.center @ coef
        value, slope = smoothed_auc(predictions, rows.is_positive, share, width)
        sums = sums_over_rows(rows.X, slope) - columns.center * slope.sum()
        return -value, -sums / columns.scale

    found = optimize.minimize(
        objective,
        columns.scaled_coef(rows.standardized(start).coef),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _MOST_ITERATIONS},
    )
    return np.asarray(found.x / columns.scale)


def smoothed_auc(
    predictions: NDArray[np.float64],
    is_positive: NDArray[np.bool_],
    share: NDArray[np.float64],
    width: float,
) -> tuple[float, NDArray[np.float64]]:
    """Return the smoothed AUC and its derivative by the predictions.

    The shares of each class sum to one. A row lies between two cells of the grid and
    counts in both, so that the derivative is exact for the value on the grid.
    """
    cell = width / _CELLS
    n_cells = int(2.0 * _FARTHEST / cell) + 2 * _REACH * _CELLS
    near = np.clip(predictions, -_FARTHEST, _FARTHEST)
    place = near / cell + 0.5 * n_cells
    left = place.astype(np.intp)
    part = place - left
    derivative = np.empty(predictions.size)
    for side, sign in ((~is_positive, -1.0), (is_positive, 1.0)):
        other = ~side
        mass = np.bincount(left[other], share[other] * (1.0 - part[other]), n_cells)
        mass += np.bincount(left[other] + 1, share[other] * part[other], n_cells)
        density = ndimage.gaussian_filter1d(
            mass, _CELLS, mode="constant", truncate=_REACH
        )
        below = np.cumsum(density) - 0.5 * density
        at, rise = below[left[side]], below[left[side] + 1] - below[left[side]]
        derivative[side] = sign * share[side] * rise / cell
        value = float(share[side] @ (at + part[side] * rise))
    derivative[near != predictions] = 0.0
    return value, derivative
