"""Fit one linear ranking: convex starts, averaged, then an ascent of AUC.

What is averaged, and how far the ascent goes, is decided by AUC on rows held out
(:mod:`rocpath.ranking.held_out`): a start counts by how surely it is not worse than the
best one, and a stage of the ascent must be better than its start by a standard error.
All of it happens in scaled columns, on no more rows of a class than tell something; the
model is given back for the columns as they are.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple, get_args

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from rocpath.matrices import Columns, LinearModel, sums_over_rows, weighted_sums
from rocpath.ranking.auc_ascent import Ascent, Climb
from rocpath.ranking.convex_start import (
    MOST_COLUMNS_FOR_NEWTON,
    ConvexProblem,
    Loss,
    clipping,
)
from rocpath.ranking.held_out import HeldOutAUC
from rocpath.ranking.labelled_rows import LabelledRows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from rocpath.ranking.convex_start import Blocks

_L2S = tuple(10.0**power for power in range(1, -6, -1))
_FEWEST_OF_A_CLASS = 10  # to hold some out
_FEWEST_FOR_A_COLUMN = 10  # of a class, to move all columns at once without overfitting
_MOST_TO_CLIMB = 20_000  # of a class; the AUC of so many has an error below 0.003
_MOST_TO_TRY = 3_000  # of a class, in what is fitted for every fold and l2
_MANY_ENTRIES = 10**7  # of which two folds take long enough
# A start half a standard error behind the best counts exp(-1/2) as much. On 64 tables
# one standard error ranked as well but less evenly, the best start alone worse.
_BEHIND = 0.5
_SMALLEST_SHARE = 0.05  # less changes no ranking, but costs a fit
# Of the way from the start to the end of a climb. Halfway keeps most of a true gain and
# little of a false one, and ranked better on 50 tables; a start that is misled, as by
# far rows, must be left behind.
_PARTS = (0.5, 1.0)


class Settings(NamedTuple):
    """How to fit a ranking."""

    n_folds: int
    ascent: Ascent
    progress: Callable[[str], None]


class ConvexStart(NamedTuple):
    """A loss, whether classes count alike and tails are clipped for it, and its l2."""

    loss: Loss
    is_balanced: bool
    is_clipped: bool
    l2: float


# Three that fail on different tables. On 64 tables these three ranked as well as all
# six of plain or balanced logistic and balanced hinge, clipped or not.
_KINDS: tuple[tuple[Loss, bool, bool], ...] = (
    ("logistic", False, False),
    ("logistic", True, True),
    ("squared_hinge", True, False),
)
_PLAIN_START = ConvexStart("logistic", is_balanced=True, is_clipped=False, l2=0.01)


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
        Mean over the folds, of the averaged start, and halfway and all the way to the
        end of every climb: of the smoothed AUC, over width after width, and of the AUC
        itself, round after round, each up to the first that gained nothing. Gains of
        climbs that lost on two folds are those on the two.
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
    all_rows: LabelledRows,
    settings: Settings,
    class_weight: tuple[float, float],
    given: NDArray[np.float64] | None = None,
) -> Ranking:
    """Fit a linear ranking; a coef given takes the place of the convex starts.

    The weights of negatives and positives matter to the log-odds alone.
    """
    # Small matrices are slower on several threads, and far slower on a busy machine.
    n_threads = 1 if all_rows.X.shape[1] <= MOST_COLUMNS_FOR_NEWTON else None
    with threadpool_limits(n_threads, user_api="blas"):
        some = all_rows.thinned(_MOST_TO_CLIMB)
        columns = Columns.measured(some.X, some.sample_weight)
        rows = some.scaled(columns)
        if given is not None:
            given = columns.scaled_coef(given)
        coef, scored, history = _fit_scaled(rows, settings, given)
        if history.chosen == 0 and given is None and len(rows) < len(all_rows):
            settings.progress("fitting the start to all rows")
            coef = _refitted(all_rows, columns, history, coef)
        odds = scored.rows.log_odds(scored.score, class_weight)
        model = odds.after(rows.standardized(coef))
        return Ranking(columns.unscaled(*model), history)


class _Scored(NamedTuple):
    """Rows, and the standardized scores of models that were not fitted to them."""

    rows: LabelledRows
    score: NDArray[np.float64]


def _fit_scaled(
    rows: LabelledRows, settings: Settings, given: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], _Scored, History]:
    """Fit a coef to scaled columns."""
    n_different = rows.fewest_different(max(_FEWEST_OF_A_CLASS, settings.n_folds))
    if n_different < _FEWEST_OF_A_CLASS:
        return _plain(rows, given)
    few = rows.thinned(_MOST_TO_TRY)
    ascent = settings.ascent
    n_fewest = min(rows.is_positive.sum(), (~rows.is_positive).sum())
    if n_fewest < _FEWEST_FOR_A_COLUMN * rows.X.shape[1]:
        ascent = ascent._replace(widths=())
    starts = _convex_starts(rows.X.shape[1]) if given is None else []
    folds = _Folds.split(few, min(settings.n_folds, n_different))
    settings.progress("choosing a start")
    reach = clipping(few.X)
    fitted = [_fitted(train, starts, reach, given) for train in folds.train]
    judged = folds.judged(fitted)
    share = judged.shares(_BEHIND, _SMALLEST_SHARE)
    settings.progress("climbing on parts of the rows")
    first = [
        _average(coefs, share, train)
        for coefs, train in zip(fitted, folds.train, strict=True)
    ]
    tried = [_Tried(None, first, 0.0, 0.0), *_climbed(folds, ascent, first)]
    chosen = max(range(len(tried)), key=lambda k: tried[k].gain - tried[k].error)
    settings.progress("climbing on all rows")
    used = [start for start, part in zip(starts, share, strict=False) if part > 0]
    coef = _average(_fitted(rows, used, reach, given), share[share > 0], rows)
    stage = tried[chosen].stage
    if stage is not None:
        coef = stage.reached(ascent, coef, rows)
    start_auc = folds.judged([[one] for one in first]).auc
    history = History(
        starts,
        judged.auc,
        share,
        stage_auc=start_auc + [one.gain for one in tried],
        stage_error=np.array([one.error for one in tried]),
        chosen=chosen,
    )
    return coef, folds.scored(tried[chosen].coefs), history


class _Folds(NamedTuple):
    """Rows held out in turn, and the others."""

    rows: LabelledRows
    fold: NDArray[np.intp]
    train: list[LabelledRows]

    @classmethod
    def split(cls, rows: LabelledRows, n_folds: int) -> _Folds:
        """Deal rows out by their ranks; of very many entries only two parts."""
        fold = rows.rank % n_folds
        n_tried = 2 if rows.X.size > _MANY_ENTRIES else n_folds
        return cls(rows, fold, [rows.at(fold != k) for k in range(n_tried)])

    def judged(self, coefs: Sequence[Sequence[NDArray[np.float64]]]) -> HeldOutAUC:
        """Judge models, of which each of the first folds has its own fit."""
        is_out = self.fold < len(coefs)
        score = np.zeros((len(self.rows), len(coefs[0])))
        for k, of_fold in enumerate(coefs):
            here = self.fold == k
            score[here] = weighted_sums(self.rows.X[here], np.transpose(of_fold))
        out = self.rows.at(is_out)
        return HeldOutAUC.measured(
            score[is_out], out.is_positive, out.sample_weight, self.fold[is_out]
        )

    def scored(self, coefs: Sequence[NDArray[np.float64]]) -> _Scored:
        """Return the rows held out with the scores of one model, standardized."""
        score = np.full(len(self.rows), np.nan)
        for k, (coef, train) in enumerate(zip(coefs, self.train, strict=True)):
            here = self.fold == k
            score[here] = self.rows.at(here).predictions(train.standardized(coef))
        is_out = np.isfinite(score)
        return _Scored(self.rows.at(is_out), score[is_out])


class _Tried(NamedTuple):
    """A stage, its coef on every fold, and its gain over the start on rows held out."""

    stage: _Stage | None
    coefs: Sequence[NDArray[np.float64]]
    gain: float
    error: float


class _Stage(NamedTuple):
    """A place on the way from the start to where a climb ends."""

    climb: Climb
    number: int  # of climbs of this kind, each from the end of the last one
    part: float  # of the way

    def between(
        self, start: NDArray[np.float64], end: NDArray[np.float64], rows: LabelledRows
    ) -> NDArray[np.float64]:
        """Return the coef there; predictions of both ends have the same spread."""
        first, last = rows.standardized(start).coef, rows.standardized(end).coef
        return np.asarray(first + self.part * (last - first))

    def reached(
        self, ascent: Ascent, start: NDArray[np.float64], rows: LabelledRows
    ) -> NDArray[np.float64]:
        """Climb there."""
        ends = ascent.climbs(self.climb, rows, start)
        end = next(itertools.islice(ends, self.number - 1, None))
        return self.between(start, end, rows)


def _climbed(
    folds: _Folds, ascent: Ascent, start: Sequence[NDArray[np.float64]]
) -> Iterator[_Tried]:
    """Climb on every fold, until a climb gains nothing, and judge every stage.

    Two folds tell at once that most climbs gain nothing; the others then need none.
    """
    best = 0.0
    for climb in get_args(Climb):
        ends = [
            ascent.climbs(climb, train, coef)
            for train, coef in zip(folds.train, start, strict=True)
        ]
        for number in itertools.count(1):
            end = list(itertools.chain(*(itertools.islice(e, 1) for e in ends[:2])))
            if not end:
                break
            stages = [_Stage(climb, number, part) for part in _PARTS]
            tried = _tried(folds, stages, start, end)
            if max(one.gain for one in tried) > 0:
                end += [next(e) for e in ends[2:]]
                tried = _tried(folds, stages, start, end)
            yield from tried
            gain = max(one.gain for one in tried)
            if gain <= best:
                break
            best = gain


def _tried(
    folds: _Folds,
    stages: Sequence[_Stage],
    start: Sequence[NDArray[np.float64]],
    end: Sequence[NDArray[np.float64]],
) -> list[_Tried]:
    """Judge the stages of one climb, on the folds that it has ends for."""
    coefs = [
        [first, *(stage.between(first, last, train) for stage in stages)]
        for first, last, train in zip(start, end, folds.train, strict=False)
    ]
    gain, error = folds.judged(coefs).gain(over=0)
    return [
        _Tried(stage, [of_fold[k] for of_fold in coefs], gain[k], error[k])
        for k, stage in enumerate(stages, start=1)
    ]


def _convex_starts(n_features: int) -> list[ConvexStart]:
    """List the starts; tails are clipped only in the dense rows of few columns."""
    few = n_features <= MOST_COLUMNS_FOR_NEWTON
    return [
        ConvexStart(loss, is_balanced, is_clipped and few, l2)
        for loss, is_balanced, is_clipped in _KINDS
        for l2 in _L2S
    ]


def _fitted(
    rows: LabelledRows,
    starts: Sequence[ConvexStart],
    reach: NDArray[np.float64],
    given: NDArray[np.float64] | None,
) -> list[NDArray[np.float64]]:
    """Fit the starts, in order, to scaled columns."""
    if given is not None:
        return [given]
    center = np.zeros(rows.X.shape[1])
    if sparse.issparse(rows.X):
        center = sums_over_rows(rows.X, rows.balanced_weight)
    columns = Columns(center, np.ones(center.size))
    return [model.coef for model in _solved(rows, columns, starts, reach)]


def _solved(
    rows: LabelledRows,
    columns: Columns,
    starts: Sequence[ConvexStart],
    reach: NDArray[np.float64],
    near: LinearModel | None = None,
) -> Iterator[LinearModel]:
    """Solve the problems of the starts, from a near solution if one is known."""
    plain_weight = rows.sample_weight / rows.sample_weight.sum()
    blocks: dict[bool, Blocks | None] = {}
    for kind, of_kind in itertools.groupby(starts, key=lambda start: start[:3]):
        loss, is_balanced, is_clipped = kind
        problem = ConvexProblem(
            rows.X,
            columns,
            reach if is_clipped else np.inf,
            rows.sign,
            rows.balanced_weight if is_balanced else plain_weight,
            loss,
        )
        if is_clipped not in blocks:
            blocks[is_clipped] = problem.blocks()
        l2s = [start.l2 for start in of_kind]
        yield from problem.solutions(l2s, near, blocks[is_clipped])


def _average(
    coefs: Sequence[NDArray[np.float64]],
    share: NDArray[np.float64],
    rows: LabelledRows,
) -> NDArray[np.float64]:
    """Average models whose predictions have the same spread."""
    parts = zip(share, coefs, strict=True)
    scaled = [part * rows.standardized(coef).coef for part, coef in parts if part > 0]
    return np.asarray(np.sum(scaled, axis=0))


def _refitted(
    rows: LabelledRows,
    columns: Columns,
    history: History,
    coef: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Fit the best start to all of very many rows, a block of scaled ones at a time."""
    best = int(history.share.argmax())
    start = history.start[best]
    reach = clipping(rows.X)
    (model,) = _solved(rows, columns, [start], reach, columns.unscaled(coef))
    return columns.scaled_coef(model.coef)


def _plain(
    rows: LabelledRows, given: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], _Scored, History]:
    """Fit a regularized model, for too few rows to hold some out."""
    starts = [_PLAIN_START] if given is None else []
    (coef,) = _fitted(rows, starts, np.full(rows.X.shape[1], np.inf), given)
    score = rows.predictions(rows.standardized(coef))
    nothing = np.zeros(0)
    history = History(starts, nothing, np.ones(1), nothing, nothing, 0)
    return coef, _Scored(rows, score), history
