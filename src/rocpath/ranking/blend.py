"""Blends of the scores of models, with non-negative weights that sum to one.

The initial weights are those of non-negative logistic stacking. From there, coordinate
ascent sets each weight in turn to its best non-negative value, found by an exact search
(`best_auc_step`), so that AUC on the given rows never decreases. Cross-validated AUC
determines how much of the ascent is used.
"""

from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from rocpath.matrices import Columns, LinearModel
from rocpath.ranking.auc_ascent import coordinate_pass
from rocpath.ranking.convex_problem import ConvexProblem, quasi_newton
from rocpath.ranking.cross_validation import evaluate_models, held_out_scores, log_odds
from rocpath.ranking.labeled_rows import LabeledRows
from rocpath.search.roc import auc

# L2 penalties of stacking, each 1/C of scikit-learn's LogisticRegression, and the one
# from which the ascent starts: it was the best single candidate on 32 tables.
_L2_PENALTIES = (100.0, 10.0, 1.0)
_INITIAL_L2 = 10.0
# A candidate that is one standard error behind the best has exp(-1/2) of its share.
_ERRORS_BEHIND = 1.0
# Smaller shares are set to zero. On six tables, they did not change any weight by more
# than 0.01.
_MIN_SHARE = 0.05
_MAX_PASSES = 10  # safeguard; on six tables, the ascent ended after one to three passes
# Log-odds at which probabilities are clipped, about those of one in a million.
_MAX_LOG_ODDS = 14.0
# Maximum number of rows per class for ascent and cross-validation, and for stacking.
_ROWS_TO_ASCEND = 3_000
_ROWS_TO_STACK = 20_000


class Scale(NamedTuple):
    """Common scale of scores: the mean of standardized log-odds and standardized ranks.

    Log-odds of an overconfident model have long tails, and ranks do not. Ranks lose the
    confidence of a good model, and log-odds preserve it.
    """

    sorted_score: NDArray[np.float64]  # rounded; one column for each model
    share_below: NDArray[np.float64]  # share of the weight below each row; the last is 1
    is_probability: NDArray[np.bool_]  # other scores are treated as log-odds
    odds: Columns
    rank: Columns

    @classmethod
    def from_scores(cls, scores: NDArray[np.float64], sample_weight: NDArray[np.float64]) -> Self:
        """Estimate the scale from held-out scores."""
        is_probability = (scores.min(axis=0) >= 0) & (scores.max(axis=0) <= 1)
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

    def transform(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return scaled scores."""
        return 0.5 * (self.odds_of(scores) + self.ranks_of(scores))

    def odds_of(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return standardized log-odds."""
        share = np.clip(np.where(self.is_probability, scores, 0.5), 0.0, 1.0)
        with np.errstate(divide="ignore"):
            odds = np.clip(logit(share), -_MAX_LOG_ODDS, _MAX_LOG_ODDS)
        return self.odds.scaled(np.where(self.is_probability, odds, scores))

    def ranks_of(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return standardized ranks: the share of rows with lower scores."""
        # Equal scores get the mean of their ranks. Ranks are shares of the sample weight,
        # so that a row of weight 2 is equivalent to two rows.
        columns = zip(self.sorted_score.T, self.share_below.T, _rounded(scores).T, strict=True)
        middles = [
            below[np.searchsorted(measured, score, side="left")]
            + below[np.searchsorted(measured, score, side="right")]
            for measured, below, score in columns
        ]
        return self.rank.scaled(0.5 * np.column_stack(middles))


def _rounded(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round scores to 32 bits, so that equal rows have equal ranks.

    A model may score the same row with a different last bit, depending on the other
    rows of its batch.
    """
    mantissa, exponent = np.frexp(scores)
    return np.asarray(np.ldexp(np.rint(mantissa * 2.0**32), exponent - 32))


def stacked_weights(rows: LabeledRows, l2: float) -> NDArray[np.float64]:
    """Fit non-negative logistic stacking with an L2 penalty; weights sum to one.

    If no score is better than chance, weights are equal.
    """
    n_models = rows.X.shape[1]
    columns = Columns.as_given(n_models)
    problem = ConvexProblem(rows.X, columns, np.inf, rows.sign, rows.sample_weight, "logistic")
    bounds = [(0.0, None)] * n_models + [(None, None)]
    # The problem is solved to convergence. Otherwise, the weights would depend on the
    # order of summation, and a row of weight 2 would not be equivalent to two rows.
    options = {"ftol": 1e-14, "gtol": 1e-8}
    start = np.zeros(n_models + 1)
    weights = quasi_newton(problem, l2, start, options=options, bounds=bounds)[:-1]
    if not weights.any():
        return np.full(n_models, 1.0 / n_models)
    return np.asarray(weights / weights.sum())


def best_weights(rows: LabeledRows, initial: NDArray[np.float64]) -> NDArray[np.float64]:
    """Increase AUC by coordinate ascent, until a pass does not improve it."""
    weights = initial
    highest, _ = rows.auc_with_error(rows.X @ weights)
    for _ in range(_MAX_PASSES):
        moved = coordinate_pass(rows, weights, range(weights.size), least=0.0)
        moved /= moved.sum() or 1.0
        # The AUC of the search is not used, because normalized weights round differently,
        # which may break ties.
        area, _ = rows.auc_with_error(rows.X @ moved)
        # Zero weights are better only than a blend that is worse than chance.
        if area <= highest or not moved.any():
            break
        weights, highest = moved, area
    return weights


class BlendHistory(NamedTuple):
    """Candidates for the weights of a blend; all AUC values are cross-validated.

    Attributes
    ----------
    member_auc : array, shape (n_members,)
        Full AUC of each model alone, even with ``max_fpr``.
    tried : list of str
        Names of the candidates.
    auc : array, shape (n_tried,)
        AUC of the candidates, mean over the folds.
    error : array, shape (n_tried,)
        Standard error of the difference from the best candidate.
    share : array, shape (n_tried,)
        Share of the candidate in the weights of the blend.
    """

    member_auc: NDArray[np.float64]
    tried: list[str]
    auc: NDArray[np.float64]
    error: NDArray[np.float64]
    share: NDArray[np.float64]


class Blend(NamedTuple):
    """Scale of the scores, weights of scaled scores, and log-odds model of their sum."""

    scale: Scale
    weights: NDArray[np.float64]
    model: LinearModel
    history: BlendHistory

    def log_odds(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Predict log-odds from the scores of the models."""
        scaled = self.scale.transform(scores)
        return np.asarray(scaled @ self.model.coef + self.model.intercept)


def fit_blend(rows: LabeledRows, fold: NDArray[np.intp]) -> Blend:
    """Fit the weights of the scores in the columns of ``rows``."""
    few = rows.subsampled(_ROWS_TO_ASCEND)
    # A few thousand rows are enough for the scale, and sorting all rows would take long.
    scale = Scale.from_scores(few.X, few.sample_weight)
    few = replace(few, X=scale.transform(few.X))
    # Ranks are those within a class, so this selects the rows of the subsample.
    few = few.in_folds(fold[rows.rank < _ROWS_TO_ASCEND])
    found = [candidates(train) for train in few.training]
    of_folds = [np.array(list(one.values())) for one in found]
    evaluated = evaluate_models(few, [list(of_fold) for of_fold in of_folds])
    share = evaluated.shares(_ERRORS_BEHIND, _MIN_SHARE)
    many = rows.subsampled(_ROWS_TO_STACK)
    many = replace(many, X=scale.transform(many.X))
    # Candidates are averaged, because noise would decide between nearly equal ones.
    weights = share @ np.array(list(candidates(many).values()))
    held_out = held_out_scores(few, [share @ of_fold for of_fold in of_folds])
    totals = np.bincount(rows.is_positive, rows.sample_weight)
    model = log_odds(held_out, many.standardized(weights), *totals)
    member_auc = np.array([auc(rows.breakpoints, score) for score in rows.X.T])
    _, error = evaluated.gain(int(evaluated.auc.argmax()))
    history = BlendHistory(member_auc, list(found[0]), evaluated.auc, error, share)
    return Blend(scale, weights, model, history)


def candidates(rows: LabeledRows) -> dict[str, NDArray[np.float64]]:
    """Return candidates for the weights, by name."""
    # Copies of rows and dependent rows must not weaken the penalties.
    unit = rows.sample_weight.sum() / np.unique(rows.clusters).size
    found = {f"stacking, l2 {l2:g}": stacked_weights(rows, l2 * unit) for l2 in _L2_PENALTIES}
    initial = found[f"stacking, l2 {_INITIAL_L2:g}"]
    best = best_weights(rows.subsampled(_ROWS_TO_ASCEND), initial)
    return found | {"halfway to the best AUC": 0.5 * (initial + best), "best AUC": best}
