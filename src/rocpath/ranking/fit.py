"""Fit one linear ranking: an average of initial models, then coordinate ascent on AUC.

Cross-validated AUC (:mod:`rocpath.ranking.cross_validation`) decides on the weights of
the average and on the number of ascent steps: an initial model is weighted by how far
it is behind the best one in standard errors, and a stage of the ascent is used only if
it improves on the average by more than a standard error. All fits use scaled columns
and a bounded number of rows of each class; coefficients are returned for the original
columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from rocpath.matrices import Columns, LinearModel
from rocpath.ranking.auc_ascent import Ascent, TriedStage, tried_climbs
from rocpath.ranking.convex_problem import MOST_COLUMNS_FOR_NEWTON, clipping
from rocpath.ranking.cross_validation import Folds, HeldOutScores
from rocpath.ranking.initial_models import (
    DEFAULT_INITIAL_MODEL,
    InitialModel,
    average,
    fit_initial_models,
    initial_models,
    refit_initial_model,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rocpath.ranking.labeled_rows import LabeledRows

# Changes of AUC below are those on new rows of 54 tables, by benchmarks/constants.py.
# Rows of a class, to hold some out. With 7 to 20 positives, 20 lost .0017 ± .0011; 5
# gained .0013 ± .0018 and took half as long again.
_FEWEST_OF_A_CLASS = 10
# Rows of a class for each column, below which moving all columns may overfit. Three
# tables felt 3 or 30 instead, and AUC changed by .0001 ± .0001.
_FEWEST_FOR_A_COLUMN = 10
_MOST_TO_CLIMB = 20_000  # of a class; the AUC of so many has an error below 0.003
# Rows of a class in what is fitted for every fold and l2: 300 took .4 of the time, but
# lost .0007 ± .0004.
_MOST_TO_TRY = 3_000
# A start half a standard error behind the best counts exp(-1/2) as much. On 64 tables
# one standard error ranked as well but less evenly, the best start alone worse.
_ERRORS_BEHIND = 0.5
_LEAST_SHARE = 0.05  # less changes no ranking, but costs a fit


class Settings(NamedTuple):
    """How to fit a ranking."""

    n_folds: int
    ascent: Ascent
    progress: Callable[[str], None]


class History(NamedTuple):
    """How a ranking was found; AUC and errors are those on rows held out.

    Attributes
    ----------
    initial_models : list of InitialModel
        The starts tried; empty where one was given.
    initial_auc : array, shape (n_starts,)
        Mean over the folds.
    share : array, shape (n_starts,)
        Of each start in the average.
    stage_auc : array, shape (n_stages,)
        Mean over the folds, of the averaged start, and halfway and all the way to the
        end of every climb: of the smoothed AUC, over width after width, and of the AUC
        itself, round after round, each up to the first that gained nothing. Gains of
        climbs that lost on two folds are those on the two.
    stage_error : array, shape (n_stages,)
        Standard error of the gain over the averaged start.
    chosen : int
        The stage taken.
    """

    initial_models: list[InitialModel]
    initial_auc: NDArray[np.float64]
    share: NDArray[np.float64]
    stage_auc: NDArray[np.float64]
    stage_error: NDArray[np.float64]
    chosen: int


class Ranking(NamedTuple):
    """A linear model whose predictions are log-odds, and how it was found."""

    model: LinearModel
    history: History


class Candidate(NamedTuple):
    """A ranking of scaled columns, fitted to at most 20,000 rows of each class.

    Attributes
    ----------
    rows : LabeledRows
        The rows it was fitted to, with scaled columns.
    columns : Columns
        Center and scale of the columns.
    initial_coef, coef : array, shape (n_features,)
        Averaged initial model, and the model after the ascent.
    scored : HeldOutScores
        Cross-validated scores, to which the log-odds are fitted.
    history : History
        What was tried.
    """

    rows: LabeledRows
    columns: Columns
    initial_coef: NDArray[np.float64]
    coef: NDArray[np.float64]
    scored: HeldOutScores
    history: History

    @property
    def clip_bound(self) -> NDArray[np.float64]:
        """Absolute values at which clipped initial models clip the scaled columns."""
        return clipping(self.rows.X)

    @property
    def best_initial_model(self) -> InitialModel | None:
        """The initial model with the largest share, unless a coef was given."""
        if not self.history.initial_models:
            return None
        return self.history.initial_models[int(self.history.share.argmax())]

    def refitted(self, all_rows: LabeledRows) -> NDArray[np.float64]:
        """Refit the best initial model to all rows, where no ascent step was kept."""
        best = self.best_initial_model
        # An ascent depends on the rows it was made on; an initial model can use all.
        if self.history.chosen > 0 or best is None or len(self.rows) == len(all_rows):
            return self.coef
        with _blas_threads(all_rows):
            return refit_initial_model(all_rows, self.columns, best, self.coef)

    def ranking(
        self, coef: NDArray[np.float64], class_weight: tuple[float, float]
    ) -> Ranking:
        """Scale predictions to log-odds, given the weights of negatives and positives.

        The log-odds fit held-out scores: a model is too confident on its own rows.
        """
        model = self.scored.log_odds(self.rows.standardized(coef), class_weight)
        return Ranking(self.columns.unscaled(*model), self.history)


def search_ranking(
    all_rows: LabeledRows,
    settings: Settings,
    given: NDArray[np.float64] | None = None,
) -> Candidate:
    """Fit a linear ranking; a given coef replaces the initial models."""
    with _blas_threads(all_rows):
        some = all_rows.subsampled(_MOST_TO_CLIMB)
        # By plain weights: with class-balanced ones a rare category, seen among few
        # positives, got a large coefficient.
        columns = Columns.from_matrix(some.X, some.sample_weight)
        if given is not None:
            given = columns.scaled_coef(given)
        rows = some.scaled(columns)
        fitted = _fit_scaled(rows, settings, given)
        return Candidate(rows, columns, *fitted)


def _blas_threads(rows: LabeledRows) -> threadpool_limits:
    # Small matrices are slower on several threads, and far slower on a busy machine.
    n_threads = 1 if min(rows.X.shape) <= MOST_COLUMNS_FOR_NEWTON else None
    return threadpool_limits(n_threads, user_api="blas")


class _Fitted(NamedTuple):
    """The averaged start, the coef after a climb, scores held out, and how it went."""

    start: NDArray[np.float64]
    coef: NDArray[np.float64]
    scored: HeldOutScores
    history: History


def _fit_scaled(
    rows: LabeledRows, settings: Settings, given: NDArray[np.float64] | None
) -> _Fitted:
    """Fit a coef to scaled columns."""
    n_different = rows.n_unique_minority(max(_FEWEST_OF_A_CLASS, settings.n_folds))
    if n_different < _FEWEST_OF_A_CLASS:
        return _plain(rows, given)
    few = rows.subsampled(_MOST_TO_TRY)
    ascent = _suited(settings.ascent, rows)
    starts = initial_models(rows.X.shape[1]) if given is None else []
    folds = Folds.from_rows(few, min(settings.n_folds, n_different))
    settings.progress("choosing a start")
    clip_bound = clipping(few.X)
    fitted = [
        fit_initial_models(train, starts, clip_bound, given) for train in folds.train
    ]
    judged = folds.evaluate(fitted)
    share = judged.shares(_ERRORS_BEHIND, _LEAST_SHARE)
    settings.progress("climbing on parts of the rows")
    first = [
        average(coefs, share, train)
        for coefs, train in zip(fitted, folds.train, strict=True)
    ]
    tried = [TriedStage(None, first, 0.0, 0.0), *tried_climbs(folds, ascent, first)]
    # The start gains 0 with error 0: a stage must be better by its standard error.
    chosen = max(range(len(tried)), key=lambda k: tried[k].gain - tried[k].error)
    settings.progress("climbing on all rows")
    # What counts nothing need not be fitted to all rows.
    used = [start for start, part in zip(starts, share, strict=False) if part > 0]
    start = average(
        fit_initial_models(rows, used, clip_bound, given), share[share > 0], rows
    )
    stage = tried[chosen].stage
    coef = start if stage is None else stage.reached(ascent, start, rows)
    initial_auc = folds.evaluate([[one] for one in first]).auc
    history = History(
        starts,
        judged.auc,
        share,
        stage_auc=initial_auc + [one.gain for one in tried],
        stage_error=np.array([one.error for one in tried]),
        chosen=chosen,
    )
    return _Fitted(start, coef, folds.held_out_scores(tried[chosen].coefs), history)


def _suited(ascent: Ascent, rows: LabeledRows) -> Ascent:
    """Move all columns at once only where each class has many rows for a column."""
    has_few = rows.n_minority < _FEWEST_FOR_A_COLUMN * rows.X.shape[1]
    return ascent._replace(widths=()) if has_few else ascent


def _plain(rows: LabeledRows, given: NDArray[np.float64] | None) -> _Fitted:
    """Fit a regularized model, for too few rows to hold some out."""
    starts = [DEFAULT_INITIAL_MODEL] if given is None else []
    (coef,) = fit_initial_models(rows, starts, np.full(rows.X.shape[1], np.inf), given)
    score = rows.predictions(rows.standardized(coef))
    nothing = np.zeros(0)
    history = History(starts, nothing, np.ones(1), nothing, nothing, 0)
    return _Fitted(coef, coef, HeldOutScores(rows, score), history)
