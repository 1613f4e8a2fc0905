"""Cross-validated AUC of models, and the standard errors of differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rocpath.auc_statistics.influence import auc_with_influence
from rocpath.matrices import Columns, LinearModel, weighted_sums
from rocpath.ranking.convex_problem import ConvexProblem
from rocpath.ranking.labeled_rows import LabeledRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_MANY_ENTRIES = 10**7  # above which only two folds are fitted, to limit the time
_SMALLEST_SLOPE = 1e-3  # of log-odds: the order of scores must survive rounding
_LARGEST_SCORE = 5.0  # standard deviations at which scores are clipped for log-odds


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

    auc: NDArray[np.float64]
    influence: NDArray[np.float64]

    @classmethod
    def from_scores(
        cls, score: NDArray[np.float64], rows: LabeledRows, fold: NDArray[np.intp]
    ) -> CrossValidatedAUC:
        """Evaluate columns of held-out scores; every fold must have both classes."""
        folds = np.unique(fold)
        auc = np.zeros(score.shape[1])
        influence = np.zeros(score.shape)
        for one in folds:
            is_out = fold == one
            label, weight = rows.is_positive[is_out], rows.sample_weight[is_out]
            for model in range(score.shape[1]):
                area, on_rows = auc_with_influence(
                    score[is_out, model], label, weight, max_fpr=rows.max_fpr or 1.0
                )
                auc[model] += area / folds.size
                # Of the mean over folds; folds share no rows, so their variances add.
                influence[is_out, model] = on_rows / folds.size
        _, cluster = np.unique(rows.clusters, return_inverse=True)
        by_cluster = [np.bincount(cluster, on_rows) for on_rows in influence.T]
        return cls(auc, np.column_stack(by_cluster))

    def gain(self, over: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the gain of each model over one of them, and its standard error."""
        difference = self.influence - self.influence[:, [over]]
        return self.auc - self.auc[over], np.sqrt((difference**2).sum(axis=0))

    def shares(self, n_errors: float, least: float) -> NDArray[np.float64]:
        """Weight models by their distance to the best one in standard errors.

        A model that is behind by ``n_errors`` standard errors has exp(-1/2) of the
        weight of the best; weights below ``least`` are set to zero.
        """
        gain, error = self.gain(int(self.auc.argmax()))
        with np.errstate(divide="ignore", invalid="ignore"):
            # Two models that rank all rows alike differ by 0, with an error of 0.
            behind = np.where(gain < 0, gain / (n_errors * error), 0.0)
        share = np.exp(-0.5 * behind**2)
        share[share < least] = 0.0
        return np.asarray(share / share.sum())


class HeldOutScores(NamedTuple):
    """Rows and their standardized held-out scores."""

    rows: LabeledRows
    score: NDArray[np.float64]

    def log_odds(self, model: LinearModel, class_weight: tuple[float, float]) -> LinearModel:
        """Turn a model of such scores into one of log-odds (Platt scaling).

        ``class_weight`` holds the total weights of negatives and of positives.
        """
        rows, (negative, positive) = self.rows, class_weight
        weight = 2.0 * rows.balanced_weight
        weight *= np.where(rows.is_positive, positive, negative) / (positive + negative)
        # Otherwise a few outliers would determine the slope.
        near = np.clip(self.score, -_LARGEST_SCORE, _LARGEST_SCORE)[:, None]
        column = Columns.as_given(1)
        problem = ConvexProblem(near, column, np.inf, rows.sign, weight, "logistic")
        # A small L2 term: scores that separate the classes have no finite maximum
        # likelihood estimate.
        (((slope,), constant),) = problem.solutions([1e-3])
        if slope < _SMALLEST_SLOPE:
            # Held-out scores no better than chance support only the class frequencies.
            slope, constant = _SMALLEST_SLOPE, np.log(positive) - np.log(negative)
        intercept = float(slope * model.intercept + constant)
        return LinearModel(slope * model.coef, intercept)


class Folds(NamedTuple):
    """Rows, the fold in which each is held out, and the training rows of the folds."""

    rows: LabeledRows
    fold: NDArray[np.intp]
    train: list[LabeledRows]

    @classmethod
    def from_rows(cls, rows: LabeledRows, n_folds: int) -> Folds:
        """Split the rows into stratified folds that keep clusters together."""
        fold = joined_folds(stratified_folds(rows, n_folds), rows)
        n_fitted = 2 if rows.X.size > _MANY_ENTRIES else int(fold.max()) + 1
        return cls(rows, fold, [rows.take(fold != k) for k in range(n_fitted)])

    def evaluate(self, coefs: Sequence[Sequence[NDArray[np.float64]]]) -> CrossValidatedAUC:
        """Evaluate models, given their fits to the training rows of the first folds."""
        is_out = self.fold < len(coefs)
        score = np.zeros((len(self.rows), len(coefs[0])))
        for k, of_fold in enumerate(coefs):
            here = self.fold == k
            score[here] = weighted_sums(self.rows.X[here], np.transpose(of_fold))
        return CrossValidatedAUC.from_scores(
            score[is_out], self.rows.take(is_out), self.fold[is_out]
        )

    def held_out_scores(self, coefs: Sequence[NDArray[np.float64]]) -> HeldOutScores:
        """Return the standardized held-out scores of one model."""
        # Rows of folds that were not fitted have no score, and are excluded.
        score = np.full(len(self.rows), np.nan)
        for k, (coef, train) in enumerate(zip(coefs, self.train, strict=True)):
            here = self.fold == k
            score[here] = self.rows.take(here).predictions(train.standardized(coef))
        is_out = np.isfinite(score)
        return HeldOutScores(self.rows.take(is_out), score[is_out])


def stratified_folds(rows: LabeledRows, n_folds: int) -> NDArray[np.intp]:
    """Assign clusters to folds with about equal numbers of rows of both classes."""
    if np.unique(rows.clusters).size == len(rows):
        # Ranks are random within a class: each fold gets its share of both.
        return np.asarray(rows.rank % n_folds)
    return balanced_folds(rows.is_positive, rows.clusters, rows.rank, n_folds)


def balanced_folds(
    is_positive: NDArray[np.bool_], cluster: NDArray[np.intp], rank: NDArray[np.intp], n_folds: int
) -> NDArray[np.intp]:
    """Assign clusters to folds: from the largest to the smallest, and back and forth.

    Clusters of the same size are in the order of the ranks of their first rows.
    """
    _, first, cluster = np.unique(cluster, return_index=True, return_inverse=True)
    n_positive = np.bincount(cluster, is_positive)
    n_negative = np.bincount(cluster, ~is_positive)
    order = np.lexsort((rank[first], -n_negative, -n_positive))
    there_and_back = np.append(np.arange(n_folds), np.arange(n_folds)[::-1])
    fold = np.empty(first.size, dtype=np.intp)
    fold[order] = np.resize(there_and_back, first.size)
    return fold[cluster]


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
