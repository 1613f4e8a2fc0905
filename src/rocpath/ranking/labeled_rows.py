"""Rows of a sample with their features, to which rankings are fitted."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rocpath.evaluation.influence import auc_with_influence
from rocpath.matrices import Columns, LinearModel, Matrix, weighted_sums
from rocpath.model_selection.folds import joined_folds
from rocpath.ranking.convex_problem import MAX_COLUMNS_FOR_NEWTON, Vector
from rocpath.sample import Sample
from rocpath.search.breakpoints import ErrorBreakpoints

_MANY_ENTRIES = 10**7  # with more entries, only two folds are fitted, to limit the time


def random_ranks(is_positive: NDArray[np.bool_], rng: np.random.RandomState) -> NDArray[np.intp]:
    """Draw a random order of the rows of each class.

    With these ranks, every fold and every subsample has its share of a rare class.
    """
    rank = np.empty(is_positive.size, dtype=np.intp)
    for members in (is_positive, ~is_positive):
        rank[members] = rng.permutation(np.count_nonzero(members))
    return rank


@dataclass(frozen=True, eq=False)
class LabeledRows:
    """Features of a sample, and a random rank of each row within its class.

    AUC is the partial AUC up to ``max_fpr`` if that is given; ``fold`` is the fold in
    which a row is held out.
    """

    X: Matrix
    sample: Sample
    rank: NDArray[np.intp]
    max_fpr: float | None = None
    fold: NDArray[np.intp] | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.sample)

    @property
    def is_positive(self) -> NDArray[np.bool_]:
        """Label of each row."""
        return self.sample.is_positive

    @cached_property
    def sample_weight(self) -> Vector:
        """Weight of each row, 1 without weights."""
        return self.sample.weights

    def take(self, chosen: NDArray[np.bool_ | np.intp]) -> Self:
        """Select rows."""
        taken: dict[str, Any] = {"X": self.X[chosen], "rank": self.rank[chosen]}
        if self.fold is not None:
            taken["fold"] = self.fold[chosen]
        return replace(self, sample=self.sample.take(chosen), **taken)

    def subsampled(self, max_rows: int) -> Self:
        """Keep at most ``max_rows`` rows of each class, and preserve its total weight."""
        is_kept = np.zeros(len(self), dtype=bool)
        for members in (self.is_positive, ~self.is_positive):
            ranks = self.rank[members]
            limit = np.partition(ranks, max_rows)[max_rows] if ranks.size > max_rows else np.inf
            # The lowest ranks are kept, so that smaller subsamples are subsets of larger
            # ones.
            is_kept |= members & (self.rank < limit)
        if is_kept.all():
            return self
        kept = self.take(is_kept)
        # Without this factor, subsampling would change the class frequencies.
        factor = self.sample.class_weight[is_kept] / kept.sample.class_weight
        return replace(kept, sample=kept.sample.reweighted(kept.sample_weight * factor))

    def scaled(self, columns: Columns) -> Self:
        """Return the rows with scaled columns, sparse if there are many columns."""
        if sparse.issparse(self.X) and self.X.shape[1] > MAX_COLUMNS_FOR_NEWTON:
            return replace(self, X=columns.scaled_sparse(self.X))
        return replace(self, X=columns.scaled(self.X))

    def in_folds(self, fold: NDArray[np.intp]) -> Self:
        """Assign rows to folds, which are joined until each has rows of both classes."""
        return replace(self, fold=joined_folds(fold, self.is_positive, self.rank))

    def is_held_out(self, fold: int) -> NDArray[np.bool_]:
        """Return which rows are held out in a fold."""
        return np.asarray(self.fold == fold)

    @cached_property
    def training(self) -> list[Self]:
        """Training rows of each fold, or of two folds of a large table."""
        if self.fold is None:
            return []
        n_fitted = 2 if self.X.size > _MANY_ENTRIES else int(self.fold.max()) + 1
        return [self.take(~self.is_held_out(k)) for k in range(n_fitted)]

    @property
    def clusters(self) -> NDArray[np.intp]:
        """Independent unit of each row; by default, each row is one."""
        return self.sample.units

    @cached_property
    def breakpoints(self) -> ErrorBreakpoints:
        """Error functions of the rows."""
        # A smaller weight would be lost to rounding in the sum of its class.
        weight = np.maximum(self.sample_weight, 1e-12 * self.sample.class_weight)
        return ErrorBreakpoints.from_labels(self.is_positive, sample_weight=weight, positive=True)

    @property
    def sign(self) -> Vector:
        """Labels, 1 or -1."""
        return np.where(self.is_positive, 1.0, -1.0)

    def predictions(self, model: LinearModel) -> Vector:
        """Return the predictions of all rows."""
        return np.asarray(weighted_sums(self.X, model.coef) + model.intercept)

    def standardized(self, coef: Vector) -> LinearModel:
        """Scale predictions to mean 0 and variance 1, with class-balanced weights."""
        prediction = weighted_sums(self.X, coef)
        weight = self.sample.balanced_weight
        # A few outliers must not determine the scale of all other rows.
        low, high = np.quantile(prediction, [0.1, 0.9])
        width = 5.0 * (high - low) or np.inf
        near = np.clip(prediction, low - width, high + width)
        mean = float(weight @ near)
        spread = float(np.sqrt(weight @ (near - mean) ** 2))
        if not spread > 1e-12 * np.abs(near).max():
            return LinearModel(np.zeros_like(coef), 0.0)
        return LinearModel(coef / spread, -mean / spread)

    def auc_with_influence(self, score: Vector) -> tuple[float, Vector]:
        """Return the AUC of scores, and the influence of each row on it."""
        return auc_with_influence(
            score, self.is_positive, self.sample_weight, max_fpr=self.max_fpr or 1.0
        )

    def auc_with_error(self, score: Vector) -> tuple[float, float]:
        """Return the AUC of scores and its standard error."""
        area, by_row = self.auc_with_influence(score)
        influence = np.bincount(self.clusters, by_row)
        return area, float(np.sqrt(influence @ influence))
