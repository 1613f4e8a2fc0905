"""Rows with binary labels and weights: what a ranking is fitted to and judged by."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from rocpath.breakpoints import ErrorBreakpoints
from rocpath.matrices import Columns, LinearModel, Matrix, weighted_sums
from rocpath.ranking.convex_start import ConvexProblem
from rocpath.roc import auc

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SMALLEST_SLOPE = 1e-3
_FARTHEST = 5.0


@dataclass(frozen=True, slots=True, eq=False)
class LabelledRows:
    """Features, labels, weights, and a random rank of each row within its class."""

    X: Matrix
    is_positive: NDArray[np.bool_]
    weight: NDArray[np.float64]
    rank: NDArray[np.intp]

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.is_positive.size

    @classmethod
    def shuffled(
        cls,
        X: Matrix,
        is_positive: NDArray[np.bool_],
        weight: NDArray[np.float64],
        rng: np.random.RandomState,
    ) -> LabelledRows:
        """Draw the ranks."""
        rank = np.empty(is_positive.size, dtype=np.intp)
        for members in (is_positive, ~is_positive):
            rank[members] = rng.permutation(np.count_nonzero(members))
        return cls(X, is_positive, weight, rank)

    def at(self, chosen: NDArray[np.bool_]) -> LabelledRows:
        """Select rows."""
        return LabelledRows(
            self.X[chosen],
            self.is_positive[chosen],
            self.weight[chosen],
            self.rank[chosen],
        )

    def thinned(self, most: int) -> LabelledRows:
        """Keep rows of the lowest ranks, so that no class has many."""
        is_kept = np.zeros(len(self), dtype=bool)
        for members in (self.is_positive, ~self.is_positive):
            ranks = self.rank[members]
            last = np.partition(ranks, most)[most] if ranks.size > most else np.inf
            is_kept |= members & (self.rank < last)
        return self if is_kept.all() else self.at(is_kept)

    def fewest_different(self, enough: int) -> int:
        """Count the different rows of the smaller class, as far as is enough."""
        counts = []
        for members in (self.is_positive, ~self.is_positive):
            n_members = int(np.count_nonzero(members))
            if n_members < 10 * enough:
                n_members = _count_different(self.X[members])
            counts.append(n_members)
        return min(counts)

    @property
    def breakpoints(self) -> ErrorBreakpoints:
        """Their error functions."""
        # Rounding would lose a smaller weight next to the sum of its class.
        weight = np.maximum(self.weight, 1e-12 * self._class_weight)
        return ErrorBreakpoints.from_labels(
            self.is_positive, sample_weight=weight, positive=True
        )

    @property
    def balanced_weight(self) -> NDArray[np.float64]:
        """Weights of which each class has one half."""
        return np.asarray(self.weight / (2.0 * self._class_weight))

    @property
    def _class_weight(self) -> NDArray[np.float64]:
        """The sum of the weights of each row's class."""
        positive = self.weight[self.is_positive].sum()
        negative = self.weight[~self.is_positive].sum()
        return np.asarray(np.where(self.is_positive, positive, negative))

    def predictions(self, model: LinearModel) -> NDArray[np.float64]:
        """Predict every row."""
        return weighted_sums(self.X, model.coef) + model.intercept

    def auc(self, coef: NDArray[np.float64]) -> float:
        """Compute the AUC of a linear model."""
        return auc(self.breakpoints, weighted_sums(self.X, coef))

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

    def log_odds(self, score: NDArray[np.float64], *, like: LabelledRows) -> LogOdds:
        """Fit log-odds to standardized scores (Platt), with the classes of others."""
        positive = like.weight[like.is_positive].sum()
        negative = like.weight[~like.is_positive].sum()
        weight = 2.0 * self.balanced_weight
        weight *= np.where(self.is_positive, positive, negative) / (positive + negative)
        # A few far scores would else make the slope that of their distance.
        near = np.clip(score, -_FARTHEST, _FARTHEST)
        column = Columns(center=np.zeros(1), scale=np.ones(1))
        sign = np.where(self.is_positive, 1.0, -1.0)
        problem = ConvexProblem(near[:, None], column, False, sign, weight, "logistic")
        (model,) = problem.solutions([1e-3])
        if model.coef[0] < _SMALLEST_SLOPE:
            # Held-out scores that rank no better than chance tell the share alone.
            return LogOdds(_SMALLEST_SLOPE, float(np.log(positive) - np.log(negative)))
        return LogOdds(float(model.coef[0]), model.intercept)


def _count_different(X: Matrix) -> int:
    """Count the different rows of a matrix that may be changed."""
    if not sparse.issparse(X):
        return int(np.unique(X, axis=0).shape[0])
    X.sum_duplicates()
    X.eliminate_zeros()
    ends = itertools.pairwise(X.indptr)
    entries = ((X.indices[a:b].tobytes(), X.data[a:b].tobytes()) for a, b in ends)
    return len(set(entries))


class LogOdds(NamedTuple):
    """Log-odds as a linear function of a score; the slope is positive."""

    slope: float
    intercept: float

    def after(self, model: LinearModel) -> LinearModel:
        """Combine with the linear model that gives the score."""
        return LinearModel(
            self.slope * model.coef, self.slope * model.intercept + self.intercept
        )
