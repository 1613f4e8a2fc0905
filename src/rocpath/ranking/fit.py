"""Fit of one linear ranking: an average of initial models, then an ascent on AUC.

Cross-validated AUC (:mod:`rocpath.ranking.cross_validation`) determines the weights of
the average and the number of ascent steps: an initial model is weighted by how far it
is behind the best one in standard errors, and a stage of the ascent is used only if it
improves on the average by more than a standard error. All fits use scaled columns and a
limited number of rows of each class; coefficients are returned for the original
columns.
"""

from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
from threadpoolctl import threadpool_limits

from rocpath.matrices import Columns, LinearModel, copied_rows, equal_rows
from rocpath.model_selection.folds import stratified_folds
from rocpath.ranking.auc_ascent import Ascent, Stage, ascend, tried_stages
from rocpath.ranking.convex_problem import MAX_COLUMNS_FOR_NEWTON, Vector, clipping
from rocpath.ranking.cross_validation import evaluate_models, held_out_scores, log_odds
from rocpath.ranking.initial_models import (
    DEFAULT_INITIAL_MODEL,
    InitialModel,
    average,
    common_scale,
    fit_initial_models,
    initial_models,
    solve_models,
)
from rocpath.ranking.labeled_rows import LabeledRows

# Changes in AUC in the comments below are those on new rows of 54 tables
# (benchmarks/accuracy/constants.py).
# Minimum number of rows of a class for cross-validation. With 7 to 20 positives, a
# minimum of 20 decreased AUC by .0017 ± .0011; one of 5 increased it by .0013 ± .0018 and
# took 1.5 times as long.
_FEWEST_OF_A_CLASS = 10
# Number of rows of a class per column below which a smoothed ascent may overfit. Values
# of 3 or 30 affected three tables, and changed AUC by .0001 ± .0001.
_FEWEST_FOR_A_COLUMN = 10
_MOST_TO_FIT = 20_000  # rows of a class; their AUC has a standard error below 0.003
# Maximum number of rows of a class in cross-validation, where models are fitted for every
# fold and L2 penalty: 300 took .4 of the time, but decreased AUC by .0007 ± .0004.
_MOST_TO_TRY = 3_000
# A model half a standard error behind the best has exp(-1/2) of its share. On 64 tables,
# one standard error ranked as well on average but less consistently, and the best model
# alone ranked worse.
_ERRORS_BEHIND = 0.5
_MIN_SHARE = 0.05  # models with smaller shares do not change rankings, but take a fit each


class History(NamedTuple):
    """Models and stages tried for a ranking; all AUC values are cross-validated.

    Attributes
    ----------
    initial_models : list of InitialModel
        Initial models; a single one if there are too few rows for cross-validation.
    initial_auc : array, shape (n_models,)
        Mean AUC over the folds; empty without cross-validation.
    share : array, shape (n_models,)
        Weight of each model in the average.
    stage_auc : array, shape (n_stages,)
        Mean AUC over the folds: first of the average, then of two stages, halfway and
        all the way, for each bandwidth of the smoothed ascent and for each pass of
        coordinate ascent, up to the first that did not improve AUC. An ascent without a
        clear gain on two folds was not evaluated on the others. Coordinate ascent was
        tried only if a pass over a small subsample gained more than a standard error.
    stage_error : array, shape (n_stages,)
        Standard error of the difference from the average.
    chosen : int
        Index of the stage used; 0 for the average.
    """

    initial_models: list[InitialModel]
    initial_auc: Vector
    share: Vector
    stage_auc: Vector
    stage_error: Vector
    chosen: int


class Candidate(NamedTuple):
    """Ranking of scaled columns, fitted to at most 20,000 rows of each class.

    Attributes
    ----------
    rows : LabeledRows
        Rows to which the ranking was fitted, with scaled columns.
    columns : Columns
        Center and scale of the columns.
    relative_scale : array, shape (n_features,)
        Second scale of the columns, relative to the first (`common_scale`).
    initial_coef, coef : array, shape (n_features,)
        Coefficients of the average of the initial models, and after the ascent.
    held_out : LabeledRows
        Rows with their cross-validated scores, used to fit the log-odds.
    history : History
        Models and stages that were tried.
    """

    rows: LabeledRows
    columns: Columns
    relative_scale: Vector
    initial_coef: Vector
    coef: Vector
    held_out: LabeledRows
    history: History

    @property
    def clip_bound(self) -> Vector:
        """Absolute values at which clipped initial models clip the scaled columns."""
        return clipping(self.rows.X)

    @property
    def best_initial_model(self) -> InitialModel:
        """Initial model with the largest share."""
        return self.history.initial_models[int(self.history.share.argmax())]

    def refitted(self, all_rows: LabeledRows) -> Vector:
        """Refit the best initial model to all rows, unless an ascent is used."""
        # An ascent depends on the rows it was run on; an initial model can use all rows.
        if self.history.chosen > 0 or len(self.rows) == len(all_rows):
            return self.coef
        best = self.best_initial_model
        scale = self.scale_of(best)
        columns = Columns(self.columns.center, self.columns.scale * scale)
        bound, near = self.clip_bound / scale, self.coef * scale
        with _blas_threads(all_rows):
            (coef,) = solve_models(all_rows, columns, [best], bound, near)
        return np.asarray(coef / scale)

    def scale_of(self, model: InitialModel) -> Vector:
        """Return the scale of the columns of a model, relative to unit variance."""
        return self.relative_scale if model.has_common_scale else np.ones(self.coef.size)

    def log_odds(self, coef: Vector, negative: float, positive: float) -> LinearModel:
        """Scale coefficients to log-odds, given the total weights of the classes.

        Scale and intercept are fitted to held-out scores, because a model is
        overconfident on its training rows.
        """
        model = log_odds(self.held_out, self.rows.standardized(coef), negative, positive)
        return self.columns.unscaled(*model)


# The last four attributes of a `Candidate`.
_Fit: TypeAlias = tuple[Vector, Vector, LabeledRows, History]


def search_ranking(all_rows: LabeledRows, ascent: Ascent, n_folds: int) -> Candidate:
    """Fit a linear ranking."""
    with _blas_threads(all_rows):
        sample = all_rows.subsampled(_MOST_TO_FIT)
        # Columns are scaled with the original weights: with class-balanced weights, a rare
        # category that occurs in a few positives got a large coefficient.
        columns = Columns.from_matrix(sample.X, sample.sample_weight)
        scale = common_scale(sample.X, columns)
        rows = sample.scaled(columns)
        given = rows.sample
        distinct = given if given.unit is not None else replace(given, copy=equal_rows(rows.X))
        if distinct.n_minority < _FEWEST_OF_A_CLASS:
            return Candidate(rows, columns, scale, *_fit_default(rows))
        if given.unit is None and distinct.copy is not None:
            rows = replace(rows, sample=replace(given, copy=copied_rows(distinct.copy)))
        # A smoothed ascent may overfit if a class has few rows per column.
        if rows.sample.n_minority < _FEWEST_FOR_A_COLUMN * rows.X.shape[1]:
            ascent = ascent._replace(widths=())
        return Candidate(rows, columns, scale, *_fit_scaled(rows, scale, ascent, n_folds))


def _blas_threads(rows: LabeledRows) -> threadpool_limits:
    # Small matrices are slower on several threads, and far slower on a busy machine.
    n_threads = 1 if min(rows.X.shape) <= MAX_COLUMNS_FOR_NEWTON else None
    return threadpool_limits(n_threads, user_api="blas")


def _fit_scaled(rows: LabeledRows, scale: Vector, ascent: Ascent, n_folds: int) -> _Fit:
    """Fit and average initial models, and run the ascent that cross-validation selects."""
    few = rows.subsampled(_MOST_TO_TRY)
    n_folds = min(n_folds, few.sample.n_minority)
    few = few.in_folds(stratified_folds(few.is_positive, few.clusters, few.rank, n_folds))
    clip_bound = clipping(few.X)
    models = initial_models(rows.X.shape[1], has_common_scale=bool((scale != 1.0).any()))
    fitted = [
        fit_initial_models(train, models, clip_bound, scale, is_precise=False)
        for train in few.training
    ]
    evaluated = evaluate_models(few, fitted)
    share = evaluated.shares(_ERRORS_BEHIND, _MIN_SHARE)
    averages = [
        average(coefs, share, train) for coefs, train in zip(fitted, few.training, strict=True)
    ]
    tried = [Stage(coefs=averages), *tried_stages(few, ascent, averages)]
    # The average has gain 0 and error 0, so a stage must gain more than its standard error.
    chosen = max(range(len(tried)), key=lambda k: tried[k].gain - tried[k].error)
    # Models with a share of zero need not be fitted to all rows.
    used = [model for model, part in zip(models, share, strict=True) if part > 0]
    coefs = fit_initial_models(rows, used, clip_bound, scale)
    initial_coef = average(coefs, share[share > 0], rows)
    coef = ascend(ascent, tried[chosen], rows, initial_coef)
    stage_auc = evaluate_models(few, [[one] for one in averages]).auc + [one.gain for one in tried]
    errors = np.array([one.error for one in tried])
    history = History(models, evaluated.auc, share, stage_auc, errors, chosen)
    return initial_coef, coef, held_out_scores(few, tried[chosen].coefs), history


def _fit_default(rows: LabeledRows) -> _Fit:
    """Fit one regularized model, for tables with too few rows to cross-validate."""
    models, ones = [DEFAULT_INITIAL_MODEL], np.ones(rows.X.shape[1])
    (coef,) = fit_initial_models(rows, models, np.inf * ones, ones)
    score = rows.predictions(rows.standardized(coef))
    empty = np.zeros(0)
    history = History(models, empty, np.ones(1), empty, empty, 0)
    return coef, coef, replace(rows, X=score[:, None]), history
