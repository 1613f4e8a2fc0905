"""Climb AUC: smoothed over all columns at once, then exactly along single columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from rocpath.line_search import best_auc_step
from rocpath.lines import Lines
from rocpath.matrices import Columns, weighted_sums
from rocpath.ranking.smooth_auc import climb_smoothed
from rocpath.roc import auc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rocpath.ranking.labelled_rows import LabelledRows

_TOLERANCE = 3e-4
_FARTHEST = 1e100  # predictions that may still be squared
_MOST_COLUMNS = 64  # in one round
_MOST_OF_A_CLASS_IN_A_ROUND = 3_000
MOST_OF_A_CLASS_TO_CLIMB = 20_000


class Ascent(NamedTuple):
    """How to climb: over which widths the AUC is smoothed, and the rounds after it."""

    widths: tuple[float, ...]
    n_rounds: int
    rng: np.random.RandomState

    def stages(
        self, rows: LabelledRows, start: NDArray[np.float64]
    ) -> Iterator[NDArray[np.float64]]:
        """Give the start, and the weights after every width and every round."""
        coef = start
        yield coef
        rows = rows.thinned(MOST_OF_A_CLASS_TO_CLIMB)
        columns = Columns.measured(rows.X, rows.balanced_weight)
        for width in self.widths:
            coef = climb_smoothed(rows, columns, coef, width)
            yield coef
        rows = rows.thinned(_MOST_OF_A_CLASS_IN_A_ROUND)
        for _ in range(self.n_rounds):
            coef = _round(rows, columns.scale, coef, self.rng)
            yield coef


def _round(
    rows: LabelledRows,
    scale: NDArray[np.float64],
    start: NDArray[np.float64],
    rng: np.random.RandomState,
) -> NDArray[np.float64]:
    """Take the globally best AUC step along one column after the other."""
    bp = rows.breakpoints
    columns = sparse.csc_array(rows.X) if sparse.issparse(rows.X) else rows.X
    coef = start.copy()
    predictions = weighted_sums(rows.X, coef)
    best_auc = auc(bp, predictions)
    for k in rng.permutation(np.flatnonzero(np.isfinite(scale)))[:_MOST_COLUMNS]:
        column = (
            columns[:, [k]].toarray() if sparse.issparse(columns) else columns[:, k]
        )
        change = column.ravel().astype(np.float64) / scale[k]
        lines = Lines.from_predictions(bp, predictions, change)
        best = best_auc_step(lines, tol=_TOLERANCE, two_sided=True)
        moved = predictions + best.step * change
        if best.value > best_auc and np.abs(moved).max() < _FARTHEST:
            coef[k] += best.step / scale[k]
            predictions = moved
            best_auc = best.value
    return coef
