"""Blend the scores of models: weights from 0 up, of sum one, for a large AUC.

Logistic stacking with weights from 0 up is the start. From there one weight after the
other is set to its best value from 0 up, found by an exact search of all
(`best_auc_step`): AUC on the rows given never falls. How much of that holds on other
rows is decided by AUC on rows held out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import logit

from rocpath.line_search import best_auc_step
from rocpath.lines import Lines
from rocpath.matrices import Columns
from rocpath.ranking.convex_problem import ConvexProblem
from rocpath.ranking.cross_validation import CrossValidatedAUC, Folds
from rocpath.roc import auc

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocpath.matrices import LinearModel
    from rocpath.ranking.labeled_rows import LabeledRows

# L2 terms of the stacking, each 1/C of scikit-learn's LogisticRegression, and the one
# from which AUC is climbed: alone it was the best of all candidates on 32 tables.
_L2_TERMS = (100.0, 10.0, 1.0)
_CLIMBED = 10.0
# A candidate behind the best by one standard error has exp(-1/2) of its weight.
_ERRORS_BEHIND = 1.0
# Smaller shares than this moved no weight by more than 0.01 on six tables.
_LEAST_SHARE = 0.05
# Of one weight to the sum of the others: beyond, the score stands alone for AUC.
_LARGEST_RATIO = 1e3
_MOST_ROUNDS = 10  # a guard: on six tables climbs ended after one to three
# Part of the AUC's standard error that a search may miss: finer would be noise. On 35
# tables (benchmarks/constants.py) .05 changed AUC by .0002 ± .0002, and .8 by
# .0004 ± .0003.
_PART_OF_ERROR = 0.2
# Probabilities of 0 and 1 become these log-odds, about those of one row in a million.
_MOST_LOG_ODDS = 14.0
# Rows of each class that are enough to climb and to choose by, and for stacking.
_ENOUGH_TO_CLIMB = 3_000
_ENOUGH_TO_STACK = 20_000


def are_probabilities(scores: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell for each model whether all its scores are from 0 to 1."""
    return np.asarray((scores.min(axis=0) >= 0) & (scores.max(axis=0) <= 1))


class Scale(NamedTuple):
    """Puts the scores of each model on a scale where they can be added.

    It is the mean of log-odds and ranks, both standardized: a model that is too sure of
    itself has log-odds with long tails, and ranks cut off those that are right.
    """

    sorted_score: NDArray[np.float64]  # of measured rows, rounded; a column a model
    share_below: NDArray[np.float64]  # part of the weight before each, and in all
    is_probability: NDArray[np.bool_]  # else scores are taken for log-odds
    odds: Columns
    rank: Columns

    @classmethod
    def from_scores(
        cls,
        scores: NDArray[np.float64],
        sample_weight: NDArray[np.float64],
        is_probability: NDArray[np.bool_] | None = None,
    ) -> Scale:
        """Measure the scores of rows that models were not fitted to."""
        if is_probability is None:
            is_probability = are_probabilities(scores)
        n_models = scores.shape[1]
        as_is = Columns.as_given(n_models)
        rounded = _rounded(scores)
        order = np.argsort(rounded, axis=0)
        below = np.zeros((len(scores) + 1, n_models))
        np.cumsum(sample_weight[order], axis=0, out=below[1:])
        below /= below[-1]
        ranked = np.take_along_axis(rounded, order, axis=0)
        raw = cls(ranked, below, is_probability, as_is, as_is)
        return raw._replace(
            odds=Columns.from_matrix(raw.odds_of(scores), sample_weight),
            rank=Columns.from_matrix(raw.ranks_of(scores), sample_weight),
        )

    def of(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return scaled scores, with mean 0 where they were measured."""
        return 0.5 * (self.odds_of(scores) + self.ranks_of(scores))

    def odds_of(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return standardized log-odds."""
        share = np.clip(np.where(self.is_probability, scores, 0.5), 0.0, 1.0)
        with np.errstate(divide="ignore"):
            odds = np.clip(logit(share), -_MOST_LOG_ODDS, _MOST_LOG_ODDS)
        return self.odds.scaled(np.where(self.is_probability, odds, scores))

    def ranks_of(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return standardized ranks: the share of measured rows with lower scores."""
        # Equal scores have the middle of their ranks. Shares of the sample weight, not
        # of rows: a row of weight 2 must be as good as two rows.
        columns = zip(
            self.sorted_score.T, self.share_below.T, _rounded(scores).T, strict=True
        )
        middles = [
            below[np.searchsorted(measured, score, side="left")]
            + below[np.searchsorted(measured, score, side="right")]
            for measured, below, score in columns
        ]
        return self.rank.scaled(0.5 * np.column_stack(middles))


def _rounded(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round scores to 32 bits, so that equal rows have equal ranks.

    A model may score the same row anew with another last bit, depending on which rows
    stand beside it.
    """
    mantissa, exponent = np.frexp(scores)
    return np.asarray(np.ldexp(np.rint(mantissa * 2.0**32), exponent - 32))


def equal_weights(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give every score that varies the same weight."""
    is_varying = np.ptp(scores, axis=0) > 0
    if not is_varying.any():
        return np.full(is_varying.size, 1.0 / is_varying.size)
    return np.asarray(is_varying / is_varying.sum())


def stacked_weights(rows: LabeledRows, l2: float) -> NDArray[np.float64]:
    """Fit a logistic loss with an L2 term by weights from 0 up; their sum is set to 1.

    If no score helps, weights are equal.
    """
    scores, n_models = rows.X, rows.X.shape[1]
    columns = Columns.as_given(n_models)
    problem = ConvexProblem(
        scores, columns, np.inf, rows.sign, rows.sample_weight, "logistic"
    )

    def loss(
        parameters: NDArray[np.float64],
    ) -> tuple[float, NDArray[np.float64]]:
        weights = parameters[:-1]
        value, slope, _ = problem.derivatives(scores @ weights + parameters[-1])
        value += 0.5 * l2 * float(weights @ weights)
        return value, np.append(slope @ scores + l2 * weights, slope.sum())

    start = np.append(equal_weights(scores), 0.0)
    bounds = [(0.0, None)] * n_models + [(None, None)]
    # To the end: stopped early, the weights would depend on how rows were summed, and a
    # row of weight 2 would not be as good as two rows.
    to_the_end = {"ftol": 1e-14, "gtol": 1e-8}
    found = minimize(
        loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=to_the_end
    )
    weights = np.asarray(found.x[:-1])
    # All at 0 where no score ranks better than chance, in the right direction.
    if not weights.sum() > 0:
        return equal_weights(scores)
    return np.asarray(weights / weights.sum())


def best_weights(rows: LabeledRows, start: NDArray[np.float64]) -> NDArray[np.float64]:
    """Climb AUC from the start, one weight after the other, while a round gains."""
    scores, bp = rows.X, rows.breakpoints
    weights = start / start.sum()
    blend = scores @ weights
    tol = _PART_OF_ERROR * rows.auc_error(blend)
    highest = auc(bp, blend, max_fpr=rows.max_fpr)
    for _ in range(_MOST_ROUNDS):
        before = highest
        for k, score in enumerate(scores.T):
            others = weights.sum() - weights[k]
            # AUC does not see the scale of a score that stands alone.
            if others <= 0:
                continue
            best = best_auc_step(
                Lines.from_predictions(bp, blend - weights[k] * score, score),
                tol=tol,
                max_step=_LARGEST_RATIO * others,
                max_fpr=rows.max_fpr,
            )
            moved = weights.copy()
            moved[k] = best.step
            moved /= moved.sum()
            # Not the value of the search: weights of sum one round blends anew, which
            # may part what was tied.
            blended = scores @ moved
            value = auc(bp, blended, max_fpr=rows.max_fpr)
            if value > highest:
                weights, blend, highest = moved, blended, value
        if highest <= before + tol:
            break
    return np.asarray(weights)


class BlendHistory(NamedTuple):
    """How a blend was found; AUC and errors are those on rows held out.

    Attributes
    ----------
    member_auc : array, shape (n_members,)
        Of each model alone, and not of a part.
    tried : list of str
        Every candidate.
    auc : array, shape (n_tried,)
        Of the candidates, the mean over the folds.
    error : array, shape (n_tried,)
        Standard error of the difference to the best candidate.
    share : array, shape (n_tried,)
        Of the candidate in the weights of the blend.
    """

    member_auc: NDArray[np.float64]
    tried: list[str]
    auc: NDArray[np.float64]
    error: NDArray[np.float64]
    share: NDArray[np.float64]


class Blend(NamedTuple):
    """Scaled scores added by weights, and the log-odds that follow from the sum."""

    scale: Scale
    weights: NDArray[np.float64]
    model: LinearModel
    history: BlendHistory

    def log_odds(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Predict log-odds from the scores of the models."""
        scaled = self.scale.of(scores)
        return np.asarray(scaled @ self.model.coef + self.model.intercept)


def fit_blend(rows: LabeledRows, fold: NDArray[np.intp]) -> Blend:
    """Find the weights of scores, which are the columns of rows not yet subsampled."""
    judged_fold = _judging_folds(fold, rows)
    # The ranks of rows are dealt out within a class, so these are the ones kept.
    few = rows.subsampled(_ENOUGH_TO_CLIMB)
    few_fold = judged_fold[rows.rank < _ENOUGH_TO_CLIMB]
    # Thousands of rows measure a scale as well as all of them, which take long to sort.
    scale = Scale.from_scores(few.X, few.sample_weight, are_probabilities(rows.X))
    trial = _Trial.made(few, few_fold, scale)
    share = trial.judge.shares(_ERRORS_BEHIND, _LEAST_SHARE)
    scaled = rows.subsampled(_ENOUGH_TO_STACK)
    scaled = replace(scaled, X=trial.scale.of(scaled.X))
    # Candidates are averaged, not chosen: of equals, any choice would follow noise.
    weights = share @ np.array(list(candidates(scaled).values()))
    held_out = trial.folds.held_out_scores(
        [share @ of_fold for of_fold in trial.weights]
    )
    negative, positive = np.bincount(rows.is_positive, rows.sample_weight)
    model = held_out.log_odds(scaled.standardized(weights), (negative, positive))
    return Blend(trial.scale, weights, model, _history(rows, trial, share))


def candidates(rows: LabeledRows) -> dict[str, NDArray[np.float64]]:
    """Find weights in several ways, by name."""
    found = {f"stacking, l2 {l2:g}": stacked_weights(rows, l2) for l2 in _L2_TERMS}
    start = stacked_weights(rows, _CLIMBED)
    climbed = best_weights(rows.subsampled(_ENOUGH_TO_CLIMB), start)
    found["halfway to the best AUC"] = 0.5 * (start + climbed)
    found["best AUC"] = climbed
    return found


class _Trial(NamedTuple):
    """The candidates, each fitted without one fold after the other."""

    scale: Scale
    names: list[str]
    folds: Folds
    weights: list[NDArray[np.float64]]
    judge: CrossValidatedAUC

    @classmethod
    def made(cls, rows: LabeledRows, fold: NDArray[np.intp], scale: Scale) -> _Trial:
        scaled = replace(rows, X=scale.of(rows.X))
        train = [scaled.take(fold != k) for k in np.unique(fold)]
        folds = Folds(scaled, fold, train)
        found = [candidates(part) for part in train]
        weights = [np.array(list(one.values())) for one in found]
        judge = folds.evaluate([list(of_fold) for of_fold in weights])
        return cls(scale, list(found[0]), folds, weights, judge)


def _history(
    rows: LabeledRows, trial: _Trial, share: NDArray[np.float64]
) -> BlendHistory:
    bp, judge = rows.breakpoints, trial.judge
    _, error = judge.gain(int(judge.auc.argmax()))
    member_auc = np.array([auc(bp, score) for score in rows.X.T])
    return BlendHistory(member_auc, trial.names, judge.auc, error, share)


def _judging_folds(fold: NDArray[np.intp], rows: LabeledRows) -> NDArray[np.intp]:
    """Join folds until each has rows of both classes, and number them from 0."""
    judged = np.full_like(fold, -1)
    number = 0
    for one in np.unique(fold):
        judged[fold == one] = number
        number += np.unique(rows.is_positive[judged == number]).size == 2
    # What is left over at the end has one class: it joins the last fold.
    judged[judged == number] = number - 1
    return judged if number > 1 else rows.rank % 2
