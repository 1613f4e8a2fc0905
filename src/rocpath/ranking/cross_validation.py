"""Cross-validated AUC of models, and standard errors of differences in AUC."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from rocpath.matrices import LinearModel, weighted_sums
from rocpath.ranking.convex_problem import Vector
from rocpath.ranking.labeled_rows import LabeledRows

_MANY_ENTRIES = 10**7  # with more entries, only two folds are fitted, to limit the time
_MIN_SLOPE = 1e-3  # for log-odds; rounding must not change the order of scores
_MAX_SCORE = 5.0  # standard deviations at which scores are clipped for log-odds
_MAX_ITERATIONS = 100  # for log-odds; ten are usual, and fifty with fewer than ten rows
_TOLERANCE = 1e-10  # for the slope and the intercept of log-odds
_MIN_INFORMATION = 1e-12  # variance of scores that are constant up to rounding


@dataclass(frozen=True, slots=True, eq=False)
class CrossValidatedAUC:
    """AUC of several models on held-out rows.

    Attributes
    ----------
    auc : array, shape (n_models,)
        Mean over the folds. Scores of different folds are not compared, since they come
        from different fits.
    influence : array, shape (n_clusters, n_models)
        Influence of each cluster of dependent rows on that mean.
    """

    auc: Vector
    influence: NDArray[np.float64]

    def gain(self, over: int) -> tuple[Vector, Vector]:
        """Return the gain of each model over model ``over``, and its standard error."""
        difference = self.influence - self.influence[:, [over]]
        return self.auc - self.auc[over], np.sqrt((difference**2).sum(axis=0))

    def shares(self, n_errors: float, least: float) -> Vector:
        """Weight models by their distance from the best one in standard errors.

        A model that is behind by ``n_errors`` standard errors has exp(-1/2) times the
        weight of the best. Weights below ``least`` times that weight are set to zero.
        """
        gain, error = self.gain(int(self.auc.argmax()))
        with np.errstate(divide="ignore", invalid="ignore"):
            # Two models with the same ranking differ by 0, with a standard error of 0.
            behind = np.where(gain < 0, gain / (n_errors * error), 0.0)
        share = np.exp(-0.5 * behind**2)
        share[share < least] = 0.0
        return np.asarray(share / share.sum())


def log_odds(
    held_out: LabeledRows, model: LinearModel, negative: float, positive: float
) -> LinearModel:
    """Convert a model of standardized scores to one of log-odds (Platt scaling).

    The only column of ``held_out`` contains the standardized scores of held-out rows;
    ``negative`` and ``positive`` are the total weights of the classes.
    """
    # A row of weight 2 is equivalent to two rows, but weights below 1 do not reduce the
    # number of rows.
    n_rows = max(held_out.sample_weight.sum(), len(held_out))
    weight = 2.0 * held_out.balanced_weight * n_rows
    weight *= np.where(held_out.is_positive, positive, negative) / (positive + negative)
    # Scores are clipped, because a few outliers would otherwise determine the slope.
    score = np.clip(held_out.X[:, 0], -_MAX_SCORE, _MAX_SCORE)
    prior_log_odds = np.log(positive) - np.log(negative)
    slope, intercept = _firth_estimate(score, held_out.is_positive, weight, prior_log_odds)
    if slope < _MIN_SLOPE:
        # If held-out scores are no better than chance, only class frequencies are used.
        slope, intercept = _MIN_SLOPE, prior_log_odds
    return LinearModel(slope * model.coef, float(slope * model.intercept + intercept))


def _firth_estimate(
    score: Vector, is_positive: NDArray[np.bool_], weight: Vector, intercept: float
) -> tuple[float, float]:
    """Fit a logistic regression on one score, and return its slope and intercept.

    Weights sum to the number of rows. Maximum likelihood overestimates the slope if
    there are few rows, and has no finite estimate if scores separate the classes.
    Firth's term removes this bias. It is not applied to the intercept, so that the mean
    probability is the class frequency.
    """
    slope = 0.0
    for _ in range(_MAX_ITERATIONS):
        odds = slope * score + intercept
        # One minus a probability would lose digits for a rare class.
        probability, other = expit(odds), expit(-odds)
        residual = weight * np.where(is_positive, other, -probability)
        information = weight * probability * other
        of_intercept = float(information.sum())
        # With scores centered at this mean, slope and intercept are uncorrelated.
        mean = float(information @ score) / of_intercept
        centered = score - mean
        square = centered**2
        of_slope = float(information @ square)
        if of_slope < _MIN_INFORMATION * of_intercept:
            break  # the scores are constant
        leverage = information * (1.0 / of_intercept + square / of_slope)
        gradient = centered @ (residual + leverage * (0.5 - probability))
        curvature = of_slope + (leverage * probability * other) @ square
        # After longer steps, all probabilities might be 0 or 1.
        change = np.clip((gradient / curvature, residual.sum() / of_intercept), -1.0, 1.0)
        slope += change[0]
        intercept += change[1] - mean * change[0]
        if np.abs(change).max() < _TOLERANCE:
            break
    return slope, intercept


class Folds(NamedTuple):
    """Rows, the fold in which each is held out, and the training rows of the folds."""

    rows: LabeledRows
    fold: NDArray[np.intp]
    train: list[LabeledRows]

    @classmethod
    def from_rows(cls, rows: LabeledRows, fold: NDArray[np.intp]) -> Self:
        """Join folds until each has rows of both classes, and select training rows."""
        fold = joined_folds(fold, rows)
        n_fitted = 2 if rows.X.size > _MANY_ENTRIES else int(fold.max()) + 1
        return cls(rows, fold, [rows.take(fold != k) for k in range(n_fitted)])

    def evaluate(self, coefs: Sequence[Sequence[Vector]]) -> CrossValidatedAUC:
        """Evaluate models, given their coefficients for each of the first folds."""
        rows, n_models = self.rows, len(coefs[0])
        auc = np.zeros(n_models)
        influence = np.zeros((rows.clusters.max() + 1, n_models))
        for k, of_fold in enumerate(coefs):
            here = replace(rows, group=rows.clusters).take(self.fold == k)
            scores = weighted_sums(here.X, np.transpose(of_fold))
            for model, score in enumerate(np.ascontiguousarray(scores.T)):
                area, by_cluster = here.auc_with_influence(score)
                auc[model] += area / len(coefs)
                # This is the influence on the mean over folds; no cluster is in two folds.
                influence[: by_cluster.size, model] += by_cluster / len(coefs)
        return CrossValidatedAUC(auc, influence)

    def held_out(self, coefs: Sequence[Vector]) -> LabeledRows:
        """Return held-out rows with the standardized scores of a model as X."""
        # Rows of folds that were not fitted have no score and are dropped.
        score = np.full((len(self.rows), 1), np.nan)
        for k, (coef, train) in enumerate(zip(coefs, self.train, strict=True)):
            here = self.fold == k
            score[here, 0] = self.rows.take(here).predictions(train.standardized(coef))
        return replace(self.rows, X=score).take(np.isfinite(score[:, 0]))


def stratified_folds(
    label: NDArray[Any], group: NDArray[np.intp], rank: NDArray[np.intp], n_folds: int
) -> NDArray[np.intp]:
    """Assign groups to folds with about equal numbers of rows of every class.

    Ranks determine the order of groups of equal size.
    """
    _, first, number = np.unique(group, return_index=True, return_inverse=True)
    classes, n_rows = np.unique(label, return_counts=True)
    # Groups are assigned from the largest to the smallest, by rows of the rarest class
    # first, going back and forth over the folds.
    sizes = [-np.bincount(number, label == one) for one in classes[np.argsort(-n_rows)]]
    order = np.lexsort((rank[first], *sizes))
    back_and_forth = np.append(np.arange(n_folds), np.arange(n_folds)[::-1])
    fold = np.empty(first.size, dtype=np.intp)
    fold[order] = np.resize(back_and_forth, first.size)
    return fold[number]


def joined_folds(fold: NDArray[np.intp], rows: LabeledRows) -> NDArray[np.intp]:
    """Join folds until each has rows of both classes, and number them from 0."""
    joined = np.full_like(fold, -1)
    number = 0
    for one in np.unique(fold):
        joined[fold == one] = number
        number += np.unique(rows.is_positive[joined == number]).size == 2
    # The remaining rows are all of one class: they join the last fold.
    joined[joined == number] = number - 1
    return joined if number > 1 else rows.rank % 2
