"""Climb AUC itself: exact AUC steps along gradient and coordinate directions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from scipy import linalg, sparse

from rocpath.line_search import Lines, best_auc_step
from rocpath.linear import Matrix, dense_blocks, sums_over_rows, weighted_sums
from rocpath.roc import auc, aum_gradient

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocpath.breakpoints import ErrorBreakpoints

Direction = Literal["start", "gradient", "coordinates"]

_TOLERANCE = 3e-4
_RIDGE = 0.01
_MOST_COLUMNS = 64  # in one round of coordinates
_MOST_COLUMNS_TO_WHITEN = 1000


class Stage(NamedTuple):
    """Weights on the way up, and the AUC they reach on the rows climbed on."""

    coef: NDArray[np.float64]
    auc: float
    direction: Direction


class Ascent(NamedTuple):
    """Rows to climb on, and how."""

    X: Matrix
    bp: ErrorBreakpoints
    scale: NDArray[np.float64]
    n_gradient_steps: int
    n_rounds: int
    rng: np.random.RandomState

    def stages(self, start: NDArray[np.float64]) -> list[Stage]:
        """Climb from a start: gradient directions first, then single columns."""
        predictions = weighted_sums(self.X, start)
        found = [Stage(start, auc(self.bp, predictions), "start")]
        metric = self._metric() if self.n_gradient_steps > 0 else None
        for _ in range(self.n_gradient_steps):
            last = found[-1]
            has_stopped = len(found) > 1 and last.auc == found[-2].auc
            found.append(last if has_stopped else self._gradient_step(last, metric))
        for _ in range(self.n_rounds):
            found.append(self._round(found[-1]))
        return found

    def _metric(self) -> NDArray[np.float64] | None:
        """Return the inverse covariance of the scaled columns, None for too many.

        Along the gradient in this metric every direction of the data counts alike.
        """
        n_features = self.X.shape[1]
        if n_features > _MOST_COLUMNS_TO_WHITEN:
            return None
        total = np.zeros(n_features)
        products = np.zeros((n_features, n_features))
        for _, block in dense_blocks(self.X):
            block /= self.scale
            total += block.sum(axis=0)
            products += block.T @ block
        mean = total / self.X.shape[0]
        covariance = products / self.X.shape[0] - np.outer(mean, mean)
        covariance.flat[:: n_features + 1] += _RIDGE
        return np.asarray(linalg.inv(covariance))

    def _gradient_step(self, at: Stage, metric: NDArray[np.float64] | None) -> Stage:
        predictions = weighted_sums(self.X, at.coef)
        gradient = sums_over_rows(self.X, aum_gradient(self.bp, predictions))
        direction = -gradient / self.scale
        if metric is not None:
            direction = metric @ direction
        direction /= self.scale
        change = weighted_sums(self.X, direction)
        best = best_auc_step(
            Lines.from_predictions(self.bp, predictions, change), tol=_TOLERANCE
        )
        if best.value <= at.auc:
            return at._replace(direction="gradient")
        return Stage(at.coef + best.step * direction, best.value, "gradient")

    def _round(self, at: Stage) -> Stage:
        """Take the best AUC step along one column after the other."""
        candidates = np.flatnonzero(np.isfinite(self.scale))
        chosen = self.rng.permutation(candidates)[:_MOST_COLUMNS]
        columns = sparse.csc_array(self.X) if sparse.issparse(self.X) else self.X
        coef, best_auc = at.coef.copy(), at.auc
        predictions = weighted_sums(self.X, coef)
        for k in chosen:
            column = (
                columns[:, [k]].toarray() if sparse.issparse(columns) else columns[:, k]
            )
            change = column.ravel().astype(np.float64) / self.scale[k]
            best = best_auc_step(
                Lines.from_predictions(self.bp, predictions, change),
                tol=_TOLERANCE,
                two_sided=True,
            )
            if best.value > best_auc:
                coef[k] += best.step / self.scale[k]
                predictions = predictions + best.step * change
                best_auc = best.value
        return Stage(coef, best_auc, "coordinates")
