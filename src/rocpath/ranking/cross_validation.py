"""Cross-validated AUC of models, and standard errors of differences in AUC."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rocpath.matrices import LinearModel, weighted_sums
from rocpath.model_selection.calibration import log_odds_scaling
from rocpath.ranking.convex_problem import Vector
from rocpath.ranking.labeled_rows import LabeledRows


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
    """Convert a model of standardized scores to one of log-odds.

    The only column of ``held_out`` contains the standardized scores of held-out rows;
    ``negative`` and ``positive`` are the total weights of the classes.
    """
    slope, intercept = log_odds_scaling(held_out.X[:, 0], held_out.sample, negative, positive)
    return LinearModel(slope * model.coef, float(slope * model.intercept + intercept))


def evaluate_models(rows: LabeledRows, coefs: Sequence[Sequence[Vector]]) -> CrossValidatedAUC:
    """Evaluate models on held-out rows, given their coefficients for the first folds."""
    n_models, cluster = len(coefs[0]), rows.clusters
    auc = np.zeros(n_models)
    influence = np.zeros((cluster.max() + 1, n_models))
    for k, of_fold in enumerate(coefs):
        is_held_out = rows.is_held_out(k)
        here, cluster_here = rows.take(is_held_out), cluster[is_held_out]
        scores = weighted_sums(here.X, np.transpose(of_fold))
        for model, score in enumerate(np.ascontiguousarray(scores.T)):
            area, by_row = here.auc_with_influence(score)
            auc[model] += area / len(coefs)
            by_cluster = np.bincount(cluster_here, by_row)
            # This is the influence on the mean over folds; no cluster is in two folds.
            influence[: by_cluster.size, model] += by_cluster / len(coefs)
    return CrossValidatedAUC(auc, influence)


def held_out_scores(rows: LabeledRows, coefs: Sequence[Vector]) -> LabeledRows:
    """Return held-out rows with the standardized scores of a model as X."""
    # Rows of folds that were not fitted have no score and are dropped.
    score = np.full((len(rows), 1), np.nan)
    for k, (coef, train) in enumerate(zip(coefs, rows.training, strict=True)):
        here = rows.is_held_out(k)
        score[here, 0] = rows.take(here).predictions(train.standardized(coef))
    return replace(rows, X=score).take(np.isfinite(score[:, 0]))
