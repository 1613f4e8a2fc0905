"""Climb AUC: smoothed over all columns at once, or exactly along single columns.

How far to climb is tried on folds: halfway or all the way, one climb or several.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from scipy import sparse

from rocpath.line_search import best_auc_step
from rocpath.lines import Lines
from rocpath.matrices import weighted_sums
from rocpath.ranking.smooth_auc import climb_smoothed
from rocpath.roc import auc

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from rocpath.ranking.cross_validation import Folds
    from rocpath.ranking.labeled_rows import LabeledRows

# Standard errors of the AUC that a search may leave. Among 1,200 to 3,200 rows exact
# searches took three times as long, for a hundredth of a standard error.
_TOLERANCE = 0.25
_LARGEST_PREDICTION = 1e100  # that may still be squared
_MOST_COLUMNS = 64  # in one round, so that wide tables do not take minutes
_MOST_OF_A_CLASS = 3_000  # in a search, which then takes 0.03 s, and grows with them
# Of the way from the start to the end of a climb. Halfway keeps most of a true gain and
# little of a false one, and ranked better on 50 tables; a start that is misled, as by
# far rows, must be left behind.
_PARTS = (0.5, 1.0)

Climb = Literal["smoothed", "searched"]


class Ascent(NamedTuple):
    """How to climb: over which widths the AUC is smoothed, and rounds of searches."""

    widths: tuple[float, ...]
    n_rounds: int
    rng: np.random.RandomState

    def climbs(
        self, climb: Climb, rows: LabeledRows, start: NDArray[np.float64]
    ) -> Iterator[NDArray[np.float64]]:
        """Give the coef after every width or every round, each from the last one."""
        coef = start
        if climb == "smoothed":
            for width in self.widths:
                coef = climb_smoothed(rows, coef, width)
                yield coef
        else:
            rows = rows.subsampled(_MOST_OF_A_CLASS)
            for _ in range(self.n_rounds):
                coef = _round(rows, coef, self.rng)
                yield coef


def _round(
    rows: LabeledRows, start: NDArray[np.float64], rng: np.random.RandomState
) -> NDArray[np.float64]:
    """Take the globally best AUC step along one column after the other."""
    bp = rows.breakpoints
    # Rows are stored together; to find a column there would take a pass each.
    columns = sparse.csc_array(rows.X) if sparse.issparse(rows.X) else rows.X
    coef = start.copy()
    predictions = weighted_sums(rows.X, coef)
    best_auc = auc(bp, predictions, max_fpr=rows.max_fpr)
    tol = _TOLERANCE * float(np.sqrt(best_auc * (1.0 - best_auc) / rows.n_minority))
    if rows.max_fpr is not None:
        tol = _TOLERANCE * rows.auc_error(predictions)
    # Single columns: gradients of AUM add nothing to a good start, while one weight can
    # still be moved to where AUC is largest of all.
    for k in rng.permutation(coef.size)[:_MOST_COLUMNS]:
        column = columns[:, [k]]
        change = (column.toarray() if sparse.issparse(column) else column).ravel()
        # With the column itself as the direction, a step is what is added to its
        # weight.
        lines = Lines.from_predictions(bp, predictions, change)
        best = best_auc_step(lines, tol=tol, two_sided=True, max_fpr=rows.max_fpr)
        moved = predictions + best.step * change
        if best.value > best_auc and np.abs(moved).max() < _LARGEST_PREDICTION:
            coef[k] += best.step
            predictions = moved
            best_auc = best.value
    return coef


class TriedStage(NamedTuple):
    """A stage, its coef on every fold, and its gain over the start on rows held out."""

    stage: Stage | None
    coefs: Sequence[NDArray[np.float64]]
    gain: float
    error: float


class Stage(NamedTuple):
    """A place on the way from the start to where a climb ends."""

    climb: Climb
    number: int  # of climbs of this kind, each from the end of the last one
    part: float  # of the way

    def between(
        self, start: NDArray[np.float64], end: NDArray[np.float64], rows: LabeledRows
    ) -> NDArray[np.float64]:
        """Return the coef there; predictions of both ends have the same spread."""
        # Else a longer one of two vectors would be most of what is between them.
        first, last = rows.standardized(start).coef, rows.standardized(end).coef
        return np.asarray(first + self.part * (last - first))

    def reached(
        self, ascent: Ascent, start: NDArray[np.float64], rows: LabeledRows
    ) -> NDArray[np.float64]:
        """Climb there."""
        ends = ascent.climbs(self.climb, rows, start)
        end = next(itertools.islice(ends, self.number - 1, None))
        return self.between(start, end, rows)


def tried_climbs(
    folds: Folds, ascent: Ascent, start: Sequence[NDArray[np.float64]]
) -> Iterator[TriedStage]:
    """Climb on every fold, until a climb gains nothing, and judge every stage.

    Two folds tell at once that most climbs gain nothing; the others then need none.
    """
    best = 0.0
    for climb in get_args(Climb):
        # Generators: a climb that gains nothing on two folds is not made on the others,
        # and one that stops is not made to its end.
        ends = [
            ascent.climbs(climb, train, coef)
            for train, coef in zip(folds.train, start, strict=True)
        ]
        for number in itertools.count(1):
            end = [coef for one in ends[:2] for coef in itertools.islice(one, 1)]
            if not end:
                break
            stages = [Stage(climb, number, part) for part in _PARTS]
            tried = _judged_stages(folds, stages, start, end)
            if max(stage.gain for stage in tried) > 0:
                end += [next(one) for one in ends[2:]]
                tried = _judged_stages(folds, stages, start, end)
            yield from tried
            gain = max(stage.gain for stage in tried)
            if gain <= best:
                break
            best = gain


def _judged_stages(
    folds: Folds,
    stages: Sequence[Stage],
    start: Sequence[NDArray[np.float64]],
    end: Sequence[NDArray[np.float64]],
) -> list[TriedStage]:
    """Judge the stages of one climb, on the folds that it has ends for."""
    coefs = [
        [first, *(stage.between(first, last, train) for stage in stages)]
        for first, last, train in zip(start, end, folds.train, strict=False)
    ]
    gain, error = folds.evaluate(coefs).gain(over=0)
    return [
        TriedStage(stage, [of_fold[k] for of_fold in coefs], gain[k], error[k])
        for k, stage in enumerate(stages, start=1)
    ]
