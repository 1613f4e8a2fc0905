"""Fit one linear ranking: convex starts, averaged, then an ascent of AUC.

What is averaged, and how far the ascent goes, is decided by AUC on rows held out: a
start counts by how surely it is not worse than the best one, and a stage of the ascent
must be better than its start by one and a half standard errors.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from rocpath.auc_statistics.influence import auc_with_influence
from rocpath.matrices import Columns, LinearModel, weighted_sums
from rocpath.ranking.auc_ascent import MOST_OF_A_CLASS_TO_CLIMB, Ascent
from rocpath.ranking.convex_start import (
    MOST_COLUMNS_FOR_NEWTON,
    ConvexProblem,
    Loss,
)
from rocpath.ranking.labelled_rows import LabelledRows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

_ALPHAS = tuple(10.0**power for power in range(1, -6, -1))
_FEWEST_OF_A_CLASS = 10  # to hold some out
_FEWEST_FOR_A_COLUMN = 10  # of a class, to move all columns at once
_MANY_ROWS = 20_000
_MANY_ENTRIES = 10**7
_MOST_OF_A_CLASS = 5_000  # to choose by, of many rows
_ENOUGH_FOR_TWO_FOLDS = 500  # of a class; fewer tell little
_SMALLEST_SHARE = 0.05
_SURELY = 1.5  # standard errors by which a stage must be better


class Settings(NamedTuple):
    """How to fit a ranking."""

    n_folds: int
    ascent: Ascent
    progress: Callable[[str], None]


class ConvexStart(NamedTuple):
    """A loss, whether tails are clipped for it, and the penalty."""

    loss: Loss
    is_clipped: bool
    alpha: float


_PLAIN_START = ConvexStart("logistic", is_clipped=False, alpha=0.01)


class History(NamedTuple):
    """How a ranking was found; AUC and errors are those on rows held out.

    Attributes
    ----------
    start : list of ConvexStart
        The starts tried; empty where one was given.
    start_auc : array, shape (n_starts,)
        Mean over the folds.
    share : array, shape (n_starts,)
        Of each start in the average.
    stage_auc : array, shape (n_stages,)
        Mean over the folds, of the averaged start and of each stage of the ascent.
    stage_error : array, shape (n_stages,)
        Standard error of the gain over the averaged start.
    chosen : int
        The stage taken.
    """

    start: list[ConvexStart]
    start_auc: NDArray[np.float64]
    share: NDArray[np.float64]
    stage_auc: NDArray[np.float64]
    stage_error: NDArray[np.float64]
    chosen: int


class Ranking(NamedTuple):
    """A linear model whose predictions are log-odds, and how it was found."""

    model: LinearModel
    history: History


def fit_ranking(
    rows: LabelledRows,
    settings: Settings,
    given: NDArray[np.float64] | None = None,
) -> Ranking:
    """Fit a linear ranking; weights given take the place of the convex starts."""
    # Small matrices are slower on several threads, and far slower on a busy machine.
    n_threads = 1 if rows.X.shape[1] <= MOST_COLUMNS_FOR_NEWTON else None
    with threadpool_limits(n_threads, user_api="blas"):
        return _fit_ranking(rows, settings, given)


def _fit_ranking(
    rows: LabelledRows, settings: Settings, given: NDArray[np.float64] | None
) -> Ranking:
    n_different = rows.fewest_different(max(_FEWEST_OF_A_CLASS, settings.n_folds))
    if n_different < _FEWEST_OF_A_CLASS:
        return _plain_ranking(rows, given)
    settings = settings._replace(n_folds=min(settings.n_folds, n_different))
    n_fewest = min(rows.is_positive.sum(), (~rows.is_positive).sum())
    if n_fewest < _FEWEST_FOR_A_COLUMN * rows.X.shape[1]:
        settings = settings._replace(ascent=settings.ascent._replace(widths=()))
    has_many = len(rows) > _MANY_ROWS
    chosen_by = rows.thinned(_MOST_OF_A_CLASS) if has_many else rows
    starts = _convex_starts(rows.X.shape[1]) if given is None else []
    is_enough = has_many and n_fewest >= _ENOUGH_FOR_TWO_FOLDS
    is_much = is_enough or chosen_by.X.size > _MANY_ENTRIES
    n_tried = 2 if is_much else settings.n_folds
    validation = _Validation(rows, chosen_by, starts, settings, given, n_tried)
    settings.progress("choosing a start")
    start_auc, share = validation.choose_start()
    if has_many:
        share = (np.arange(share.size) == share.argmax()).astype(float)
    settings.progress("climbing on parts of the rows")
    stage_auc, stage_error, chosen, score = validation.choose_stage(share)

    settings.progress("climbing on all rows")
    models = _fitted(chosen_by, starts, share, given)
    if has_many and chosen == 0:
        models = _fitted(rows, starts, share, given, near=models)
    coef = _average(models, share, rows)
    if chosen > 0:
        stages = settings.ascent.stages(rows, coef)
        climbed = next(itertools.islice(stages, chosen, None))
        # The ascent may have seen only a part of the rows.
        if rows.auc(climbed) > rows.auc(coef):
            coef = climbed
    model = rows.standardized(coef)
    is_scored = np.isfinite(score)
    odds = rows.at(is_scored).log_odds(score[is_scored], like=rows)
    history = History(starts, start_auc, share, stage_auc, stage_error, chosen)
    return Ranking(odds.after(model), history)


class _Validation:
    """Fits to all folds but one, tried on that one."""

    def __init__(
        self,
        rows: LabelledRows,
        few: LabelledRows,
        starts: list[ConvexStart],
        settings: Settings,
        given: NDArray[np.float64] | None,
        n_tried: int,
    ) -> None:
        self._rows = rows
        self._few = few  # of the rows, for what is tried often
        self._n_tried = n_tried
        self._starts = starts
        self._settings = settings
        self._given = given
        self._models: list[list[LinearModel]] = []

    def choose_start(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return AUC and share of each start."""
        n_starts = max(len(self._starts), 1)
        everyone = np.ones(n_starts)
        for fold in range(self._n_tried):
            train = self._few.at(self._fold(self._few) != fold)
            self._models.append(_fitted(train, self._starts, everyone, self._given))
        coefs = [[model.coef for model in models] for models in self._models]
        mean_auc, influence = self._held_out(self._few, coefs)
        best = int(mean_auc.argmax())
        error = np.sqrt(((influence - influence[:, [best]]) ** 2).sum(axis=0))
        behind = mean_auc[best] - mean_auc
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.exp(-0.5 * np.where(behind > 0, behind / error, 0.0) ** 2)
        share[share < _SMALLEST_SHARE] = 0.0
        share[_is_too_weak(self._starts, mean_auc)] = 0.0
        return mean_auc, share / share.sum()

    def choose_stage(
        self, share: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], int, NDArray[np.float64]]:
        """Return AUC and error of each stage, the stage to take, and its scores."""
        stages = []
        trains = []
        climbed_on = self._rows.thinned(MOST_OF_A_CLASS_TO_CLIMB)
        for fold, models in enumerate(self._models):
            train = climbed_on.at(self._fold(climbed_on) != fold)
            used = [one for one, part in zip(models, share, strict=True) if part > 0]
            start = _average(used, share, train)
            stages.append(list(self._settings.ascent.stages(train, start)))
            trains.append(train)
        mean_auc, influence = self._held_out(self._rows, stages)
        error = np.sqrt(((influence - influence[:, [0]]) ** 2).sum(axis=0))
        chosen = int((mean_auc - mean_auc[0] - _SURELY * error).argmax())
        score = np.full(len(self._rows), np.nan)
        for fold, train in enumerate(trains):
            is_out = self._fold(self._rows) == fold
            model = train.standardized(stages[fold][chosen])
            score[is_out] = self._rows.at(is_out).predictions(model)
        return mean_auc, error, chosen, score

    def _fold(self, rows: LabelledRows) -> NDArray[np.intp]:
        """Return the fold of each row, the same in all of the rows and in few."""
        return rows.rank % self._settings.n_folds

    def _held_out(
        self, rows: LabelledRows, coefs: list[list[NDArray[np.float64]]]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return AUC by model, mean over folds, and the rows' influence on it."""
        mean_auc = np.zeros(len(coefs[0]))
        influence = np.zeros((len(rows), len(coefs[0])))
        for fold, models in enumerate(coefs):
            is_out = self._fold(rows) == fold
            test = rows.at(is_out)
            for k, coef in enumerate(models):
                area, on_rows = auc_with_influence(
                    weighted_sums(test.X, coef), test.is_positive, test.weight
                )
                mean_auc[k] += area / len(coefs)
                influence[is_out, k] = on_rows / len(coefs)
        return mean_auc, influence


def _convex_starts(n_features: int) -> list[ConvexStart]:
    clippings = (False, True) if n_features <= MOST_COLUMNS_FOR_NEWTON else (False,)
    losses: tuple[Loss, ...] = ("logistic", "squared_hinge")
    return [
        ConvexStart(loss, is_clipped, alpha)
        for loss in losses
        for is_clipped in clippings
        for alpha in _ALPHAS
    ]


def _is_too_weak(
    starts: Sequence[ConvexStart], start_auc: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Tell which penalties are below a tenth of the best one of their kind.

    With too small a penalty the weights of rare columns may be anything, which the
    few rows held out may not show.
    """
    best: dict[tuple[Loss, bool], int] = {}
    for k, start in enumerate(starts):
        if start_auc[k] > start_auc[best.setdefault(start[:2], k)]:
            best[start[:2]] = k
    least = [0.099 * starts[best[start[:2]]].alpha for start in starts]
    is_too_weak = [
        start.alpha < alpha for start, alpha in zip(starts, least, strict=True)
    ]
    return np.array(is_too_weak or [False])


def _fitted(
    rows: LabelledRows,
    starts: Sequence[ConvexStart],
    share: NDArray[np.float64],
    given: NDArray[np.float64] | None,
    near: Sequence[LinearModel] | None = None,
) -> list[LinearModel]:
    """Fit the starts that have a share, in order, from near solutions if known."""
    if given is not None:
        return [LinearModel(given, 0.0)]
    alphas: dict[tuple[Loss, bool], list[float]] = {}
    for (loss, is_clipped, alpha), part in zip(starts, share, strict=True):
        if part > 0:
            alphas.setdefault((loss, is_clipped), []).append(alpha)
    columns = Columns.measured(rows.X, rows.balanced_weight)
    sign = np.where(rows.is_positive, 1.0, -1.0)
    fitted: list[LinearModel] = []
    for (loss, is_clipped), path in alphas.items():
        problem = ConvexProblem(
            rows.X, columns, is_clipped, sign, rows.balanced_weight, loss
        )
        start = None if near is None else near[len(fitted)]
        fitted += problem.solutions(path, start)
    return fitted


def _average(
    models: Sequence[LinearModel],
    share: NDArray[np.float64],
    rows: LabelledRows,
) -> NDArray[np.float64]:
    """Average models whose predictions have the same spread."""
    parts = zip(share[share > 0], models, strict=True)
    scaled = [part * rows.standardized(model.coef).coef for part, model in parts]
    return np.asarray(np.sum(scaled, axis=0))


def _plain_ranking(rows: LabelledRows, given: NDArray[np.float64] | None) -> Ranking:
    """Fit a regularized model, for too few rows to hold some out."""
    starts = [_PLAIN_START] if given is None else []
    (start,) = _fitted(rows, starts, np.ones(1), given)
    model = rows.standardized(start.coef)
    odds = rows.log_odds(rows.predictions(model), like=rows)
    nothing = np.zeros(0)
    history = History(starts, nothing, np.ones(1), nothing, nothing, 0)
    return Ranking(odds.after(model), history)
