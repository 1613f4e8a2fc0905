"""Climb AUC: smoothed over all columns at once, or exactly along single columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from scipy import sparse

from rocpath.line_search import best_auc_step
from rocpath.lines import Lines
from rocpath.matrices import weighted_sums
from rocpath.ranking.smooth_auc import climb_smoothed
from rocpath.roc import auc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rocpath.ranking.labelled_rows import LabelledRows

# Standard errors of the AUC that a search may leave. Exact searches took three times as
# long and found steps that were better by a twentieth of a standard error at most.
_TOLERANCE = 0.25
_FARTHEST = 1e100  # predictions that may still be squared
_MOST_COLUMNS = 64  # in one round, so that wide tables do not take minutes
_MOST_OF_A_CLASS = 3_000  # in a search, whose time grows faster than the rows


Climb = Literal["smoothed", "searched"]


class Ascent(NamedTuple):
    """How to climb: over which widths the AUC is smoothed, and rounds of searches."""

    widths: tuple[float, ...]
    n_rounds: int
    rng: np.random.RandomState

    def climbs(
        self, climb: Climb, rows: LabelledRows, start: NDArray[np.float64]
    ) -> Iterator[NDArray[np.float64]]:
        """Give the coef after every width or every round, each from the last one."""
        coef = start
        if climb == "smoothed":
            for width in self.widths:
                coef = climb_smoothed(rows, coef, width)
                yield coef
        else:
            rows = rows.thinned(_MOST_OF_A_CLASS)
            for _ in range(self.n_rounds):
                coef = _round(rows, coef, self.rng)
                yield coef


def _round(
    rows: LabelledRows, start: NDArray[np.float64], rng: np.random.RandomState
) -> NDArray[np.float64]:
    """Take the globally best AUC step along one column after the other."""
    bp = rows.breakpoints
    columns = sparse.csc_array(rows.X) if sparse.issparse(rows.X) else rows.X
    coef = start.copy()
    predictions = weighted_sums(rows.X, coef)
    best_auc = auc(bp, predictions)
    n_fewest = min(rows.is_positive.sum(), (~rows.is_positive).sum())
    tolerance = _TOLERANCE * float(np.sqrt(best_auc * (1.0 - best_auc) / n_fewest))
    for k in rng.permutation(coef.size)[:_MOST_COLUMNS]:
        column = columns[:, [k]]
        change = (column.toarray() if sparse.issparse(column) else column).ravel()
        lines = Lines.from_predictions(bp, predictions, change)
        best = best_auc_step(lines, tol=tolerance, two_sided=True)
        moved = predictions + best.step * change
        if best.value > best_auc and np.abs(moved).max() < _FARTHEST:
            coef[k] += best.step
            predictions = moved
            best_auc = best.value
    return coef
