"""The one judge of models: their AUC on rows held out, and how sure differences are."""

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

_MANY_ENTRIES = 10**7  # of which two folds take long enough
_SMALLEST_SLOPE = 1e-3  # of log-odds: the order of scores must survive rounding
_FARTHEST_SCORE = 5.0  # standard deviations; farther scores count as that far


@dataclass(frozen=True, slots=True, eq=False)
class CrossValidatedAUC:
    """AUC of several models, each by its scores of rows that it was not fitted to.

    Attributes
    ----------
    auc : array, shape (n_models,)
        Mean over the folds. Scores of different folds are not compared: they come from
        different fits.
    influence : array, shape (n_rows, n_models)
        Of each row on that mean.
    """

    auc: NDArray[np.float64]
    influence: NDArray[np.float64]

    @classmethod
    def from_scores(
        cls,
        score: NDArray[np.float64],
        is_positive: NDArray[np.bool_],
        sample_weight: NDArray[np.float64],
        fold: NDArray[np.intp],
        max_fpr: float | None = None,
    ) -> CrossValidatedAUC:
        """Judge the columns of held-out scores; every fold has rows of both classes."""
        folds = np.unique(fold)
        auc = np.zeros(score.shape[1])
        influence = np.zeros(score.shape)
        for one in folds:
            is_out = fold == one
            label, weight = is_positive[is_out], sample_weight[is_out]
            for model in range(score.shape[1]):
                area, on_rows = auc_with_influence(
                    score[is_out, model], label, weight, max_fpr=max_fpr or 1.0
                )
                auc[model] += area / folds.size
                # Of the mean over folds; folds share no rows, so their variances add.
                influence[is_out, model] = on_rows / folds.size
        return cls(auc, influence)

    def gain(self, over: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the gain of each model over one of them, and its standard error."""
        difference = self.influence - self.influence[:, [over]]
        return self.auc - self.auc[over], np.sqrt((difference**2).sum(axis=0))

    def shares(self, n_errors: float, least: float) -> NDArray[np.float64]:
        """Weight models by how surely they are not worse than the best one.

        A model that is behind by so many standard errors has exp(-1/2) of the weight of
        the best; weights below the least one are dropped.
        """
        gain, error = self.gain(int(self.auc.argmax()))
        with np.errstate(divide="ignore", invalid="ignore"):
            # Two models that rank all rows alike differ by 0, with an error of 0.
            behind = np.where(gain < 0, gain / (n_errors * error), 0.0)
        share = np.exp(-0.5 * behind**2)
        share[share < least] = 0.0
        return np.asarray(share / share.sum())


class HeldOutScores(NamedTuple):
    """Rows, and the standardized scores of models that were not fitted to them."""

    rows: LabeledRows
    score: NDArray[np.float64]

    def log_odds(
        self, model: LinearModel, class_weight: tuple[float, float]
    ) -> LinearModel:
        """Turn a model of such scores into one of log-odds that fit the rows (Platt).

        The weights are the sums over all negatives and over all positives.
        """
        rows, (negative, positive) = self.rows, class_weight
        weight = 2.0 * rows.balanced_weight
        weight *= np.where(rows.is_positive, positive, negative) / (positive + negative)
        # A few far scores would else make the slope that of their distance.
        near = np.clip(self.score, -_FARTHEST_SCORE, _FARTHEST_SCORE)[:, None]
        column = Columns.as_given(1)
        problem = ConvexProblem(near, column, np.inf, rows.sign, weight, "logistic")
        # A little l2: scores that separate the classes have no largest likelihood.
        (((slope,), constant),) = problem.solutions([1e-3])
        if slope < _SMALLEST_SLOPE:
            # Held-out scores that rank no better than chance tell the share alone.
            slope, constant = _SMALLEST_SLOPE, np.log(positive) - np.log(negative)
        intercept = float(slope * model.intercept + constant)
        return LinearModel(slope * model.coef, intercept)


class Folds(NamedTuple):
    """Rows held out in turn, and the others."""

    rows: LabeledRows
    fold: NDArray[np.intp]
    train: list[LabeledRows]

    @classmethod
    def from_rows(cls, rows: LabeledRows, n_folds: int) -> Folds:
        """Deal rows out by their ranks; of very many entries only two parts."""
        # Ranks are random within a class: each fold gets its part of both.
        fold = rows.rank % n_folds
        n_tried = 2 if rows.X.size > _MANY_ENTRIES else n_folds
        return cls(rows, fold, [rows.take(fold != k) for k in range(n_tried)])

    def evaluate(
        self, coefs: Sequence[Sequence[NDArray[np.float64]]]
    ) -> CrossValidatedAUC:
        """Judge models, of which each of the first folds has its own fit."""
        is_out = self.fold < len(coefs)
        score = np.zeros((len(self.rows), len(coefs[0])))
        for k, of_fold in enumerate(coefs):
            here = self.fold == k
            score[here] = weighted_sums(self.rows.X[here], np.transpose(of_fold))
        out = self.rows.take(is_out)
        return CrossValidatedAUC.from_scores(
            score[is_out],
            out.is_positive,
            out.sample_weight,
            self.fold[is_out],
            out.max_fpr,
        )

    def held_out_scores(self, coefs: Sequence[NDArray[np.float64]]) -> HeldOutScores:
        """Return the rows held out with the scores of one model, standardized."""
        # Rows of folds that were not tried have no score, and are left out.
        score = np.full(len(self.rows), np.nan)
        for k, (coef, train) in enumerate(zip(coefs, self.train, strict=True)):
            here = self.fold == k
            score[here] = self.rows.take(here).predictions(train.standardized(coef))
        is_out = np.isfinite(score)
        return HeldOutScores(self.rows.take(is_out), score[is_out])
