"""Rows with binary labels and weights, to which rankings are fitted."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from rocpath.evaluation.influence import auc_with_influence
from rocpath.matrices import Columns, LinearModel, Matrix, weighted_sums
from rocpath.ranking.convex_problem import MAX_COLUMNS_FOR_NEWTON, Vector
from rocpath.search.breakpoints import ErrorBreakpoints


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
    """Features, labels, weights, and a random rank of each row within its class.

    AUC is the partial AUC up to ``max_fpr`` if that is given. Rows of the same group
    are dependent; by default all rows are independent.
    """

    X: Matrix
    is_positive: NDArray[np.bool_]
    sample_weight: Vector
    rank: NDArray[np.intp]
    max_fpr: float | None = None
    group: NDArray[np.intp] | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.is_positive.size

    def take(self, chosen: NDArray[np.bool_ | np.intp]) -> Self:
        """Select rows."""
        names = ("X", "is_positive", "sample_weight", "rank")
        taken = {name: getattr(self, name)[chosen] for name in names}
        return replace(self, **taken, group=None if self.group is None else self.group[chosen])

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
        factor = self._class_weight[is_kept] / kept._class_weight
        return replace(kept, sample_weight=kept.sample_weight * factor)

    def scaled(self, columns: Columns) -> Self:
        """Return the rows with scaled columns, sparse if there are many columns."""
        if sparse.issparse(self.X) and self.X.shape[1] > MAX_COLUMNS_FOR_NEWTON:
            return replace(self, X=columns.scaled_sparse(self.X))
        return replace(self, X=columns.scaled(self.X))

    @property
    def clusters(self) -> NDArray[np.intp]:
        """Group of each row; without groups, each row is its own group."""
        return np.arange(len(self)) if self.group is None else self.group

    @property
    def n_minority(self) -> int:
        """Number of groups, or of independent rows, in the class that has fewer."""
        sides = (self.is_positive, ~self.is_positive)
        return min(np.unique(self.clusters[side]).size for side in sides)

    @cached_property
    def breakpoints(self) -> ErrorBreakpoints:
        """Error functions of the rows."""
        # A smaller weight would be lost to rounding in the sum of its class.
        weight = np.maximum(self.sample_weight, 1e-12 * self._class_weight)
        return ErrorBreakpoints.from_labels(self.is_positive, sample_weight=weight, positive=True)

    @property
    def sign(self) -> Vector:
        """Labels, 1 or -1."""
        return np.where(self.is_positive, 1.0, -1.0)

    @cached_property
    def balanced_weight(self) -> Vector:
        """Weights that sum to one half in each class."""
        return np.asarray(self.sample_weight / (2.0 * self._class_weight))

    @cached_property
    def _class_weight(self) -> Vector:
        """Total weight of the class of each row."""
        positive = self.sample_weight[self.is_positive].sum()
        negative = self.sample_weight[~self.is_positive].sum()
        return np.asarray(np.where(self.is_positive, positive, negative))

    def predictions(self, model: LinearModel) -> Vector:
        """Return the predictions of all rows."""
        return np.asarray(weighted_sums(self.X, model.coef) + model.intercept)

    def standardized(self, coef: Vector) -> LinearModel:
        """Scale predictions to mean 0 and variance 1, with class-balanced weights."""
        prediction = weighted_sums(self.X, coef)
        weight = self.balanced_weight
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
        """Return the AUC of scores, and the influence of each cluster on it."""
        area, influence = auc_with_influence(
            score, self.is_positive, self.sample_weight, max_fpr=self.max_fpr or 1.0
        )
        return area, np.asarray(np.bincount(self.clusters, influence), dtype=np.float64)

    def auc_with_error(self, score: Vector) -> tuple[float, float]:
        """Return the AUC of scores and its standard error."""
        area, influence = self.auc_with_influence(score)
        return area, float(np.sqrt(influence @ influence))
