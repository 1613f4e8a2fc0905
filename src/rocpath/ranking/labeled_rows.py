"""Rows with binary labels and weights: what a ranking is fitted to and judged by."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from rocpath.auc_statistics.influence import auc_with_influence
from rocpath.breakpoints import ErrorBreakpoints
from rocpath.matrices import Columns, LinearModel, Matrix, weighted_sums
from rocpath.ranking.convex_problem import MOST_COLUMNS_FOR_NEWTON

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class LabeledRows:
    """Features, labels, weights, and a random rank of each row within its class.

    AUC of them is the area left of ``max_fpr``, or all of it.
    """

    X: Matrix
    is_positive: NDArray[np.bool_]
    sample_weight: NDArray[np.float64]
    rank: NDArray[np.intp]
    max_fpr: float | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.is_positive.size

    @classmethod
    def with_random_ranks(
        cls,
        X: Matrix,
        is_positive: NDArray[np.bool_],
        sample_weight: NDArray[np.float64],
        rng: np.random.RandomState,
        max_fpr: float | None = None,
    ) -> LabeledRows:
        """Draw the ranks."""
        rank = np.empty(is_positive.size, dtype=np.intp)
        for members in (is_positive, ~is_positive):
            # Within the class, so that every fold and every subsample has its share
            # of a rare class.
            rank[members] = rng.permutation(np.count_nonzero(members))
        return cls(X, is_positive, sample_weight, rank, max_fpr)

    def take(self, chosen: NDArray[np.bool_ | np.intp]) -> LabeledRows:
        """Select rows."""
        return LabeledRows(
            self.X[chosen],
            self.is_positive[chosen],
            self.sample_weight[chosen],
            self.rank[chosen],
            self.max_fpr,
        )

    def subsampled(self, most: int) -> LabeledRows:
        """Keep rows of the lowest ranks, so that no class has many, and its weight."""
        is_kept = np.zeros(len(self), dtype=bool)
        for members in (self.is_positive, ~self.is_positive):
            ranks = self.rank[members]
            last = np.partition(ranks, most)[most] if ranks.size > most else np.inf
            # Always the lowest ranks: what is tried on few rows is part of what is
            # fitted.
            is_kept |= members & (self.rank < last)
        if is_kept.all():
            return self
        kept = self.take(is_kept)
        # Without it, thinning the larger class would turn an unbalanced table into
        # another.
        left_out = self._class_weight[is_kept] / kept._class_weight
        return replace(kept, sample_weight=kept.sample_weight * left_out)

    def scaled(self, columns: Columns) -> LabeledRows:
        """Return the rows with scaled columns: dense ones, unless there are many."""
        if sparse.issparse(self.X) and self.X.shape[1] > MOST_COLUMNS_FOR_NEWTON:
            return replace(self, X=columns.scaled_sparse(self.X))
        return replace(self, X=columns.scaled(self.X))

    @property
    def n_minority(self) -> int:
        """How many rows the smaller class has."""
        n_positive = int(np.count_nonzero(self.is_positive))
        return min(n_positive, len(self) - n_positive)

    def n_unique_minority(self, enough: int) -> int:
        """Count the different rows of the smaller class, as far as is enough."""
        counts = []
        for members in (self.is_positive, ~self.is_positive):
            n_members = int(np.count_nonzero(members))
            # With more, copies would have to be tenfold to leave too few.
            if n_members < 10 * enough:
                n_members = _count_different(self.X[members])
            counts.append(n_members)
        return min(counts)

    @property
    def breakpoints(self) -> ErrorBreakpoints:
        """Their error functions."""
        # Rounding would lose a smaller weight next to the sum of its class.
        weight = np.maximum(self.sample_weight, 1e-12 * self._class_weight)
        return ErrorBreakpoints.from_labels(
            self.is_positive, sample_weight=weight, positive=True
        )

    @property
    def sign(self) -> NDArray[np.float64]:
        """Labels, 1 or -1."""
        return np.where(self.is_positive, 1.0, -1.0)

    @property
    def balanced_weight(self) -> NDArray[np.float64]:
        """Weights of which each class has one half."""
        return np.asarray(self.sample_weight / (2.0 * self._class_weight))

    @property
    def _class_weight(self) -> NDArray[np.float64]:
        """The sum of the weights of each row's class."""
        positive = self.sample_weight[self.is_positive].sum()
        negative = self.sample_weight[~self.is_positive].sum()
        return np.asarray(np.where(self.is_positive, positive, negative))

    def predictions(self, model: LinearModel) -> NDArray[np.float64]:
        """Predict every row."""
        return np.asarray(weighted_sums(self.X, model.coef) + model.intercept)

    def standardized(self, coef: NDArray[np.float64]) -> LinearModel:
        """Give predictions mean 0 and variance 1, both classes counted alike."""
        prediction = weighted_sums(self.X, coef)
        weight = self.balanced_weight
        # A few far rows must not decide about the scale of all others.
        low, high = np.quantile(prediction, [0.1, 0.9])
        reach = 5.0 * (high - low) or np.inf
        near = np.clip(prediction, low - reach, high + reach)
        mean = float(weight @ near)
        spread = float(np.sqrt(weight @ (near - mean) ** 2))
        if not spread > 1e-12 * np.abs(near).max():
            return LinearModel(np.zeros_like(coef), 0.0)
        return LinearModel(coef / spread, -mean / spread)

    def auc_error(self, score: NDArray[np.float64]) -> float:
        """Return the standard error of the AUC of scores."""
        _, influence = auc_with_influence(
            score, self.is_positive, self.sample_weight, max_fpr=self.max_fpr or 1.0
        )
        return float(np.sqrt(influence @ influence))


def _count_different(X: Matrix) -> int:
    """Count the different rows of a matrix that may be changed."""
    if not sparse.issparse(X):
        return int(np.unique(X, axis=0).shape[0])
    X.sum_duplicates()
    X.eliminate_zeros()
    ends = itertools.pairwise(X.indptr)
    entries = ((X.indices[a:b].tobytes(), X.data[a:b].tobytes()) for a, b in ends)
    return len(set(entries))
