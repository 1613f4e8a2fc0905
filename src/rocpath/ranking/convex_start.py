"""Linear models that minimise a convex loss, as a start for the ascent of AUC.

Minimised is the weighted mean of loss(±f) plus alpha / 2 · ‖w‖², for predictions
f = Z w + b with Z the scaled columns.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy import linalg, optimize, sparse
from scipy.special import expit

from rocpath.matrices import (
    Columns,
    LinearModel,
    Matrix,
    sums_over_rows,
    weighted_sums,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    _Block: TypeAlias = tuple[slice, NDArray[np.float64]]
    _Blocks: TypeAlias = Iterable[_Block]

Loss = Literal["logistic", "squared_hinge"]

MOST_COLUMNS_FOR_NEWTON = 200  # beyond, second derivatives cost more than steps
_MOST_ENTRIES_TO_KEEP = 2**22
_MOST_ITERATIONS = 30
_REACH = 2.0  # standard deviations that a clipped column may be away from its mean
_FEW_VALUES = 10
_MANY_ROWS = 10_000


class ConvexProblem(NamedTuple):
    """Scaled rows with labels ±1, and weights that sum to one."""

    X: Matrix
    columns: Columns
    is_clipped: bool
    sign: NDArray[np.float64]
    weight: NDArray[np.float64]
    loss: Loss

    def solutions(
        self, alphas: Sequence[float], start: LinearModel | None = None
    ) -> list[LinearModel]:
        """Solve for one penalty after the other, each from the last solution."""
        n_features = self.X.shape[1]
        solve = _quasi_newton
        if n_features <= MOST_COLUMNS_FOR_NEWTON:
            solve = partial(_newton, blocks=self._blocks())
        weights = np.zeros(n_features + 1)  # the last one is the intercept
        if start is not None:
            weights[:-1] = self.columns.scaled_coef(start.coef)
            weights[-1] = start.intercept + self.columns.center @ start.coef
        found = []
        for alpha in alphas:
            weights = solve(self, alpha, weights)
            found.append(self.columns.unscaled(weights[:-1], weights[-1]))
        return found

    def _blocks(self) -> _Blocks:
        """Scale the rows once, or again in every pass if they are many."""
        if self.X.shape[0] * self.X.shape[1] <= _MOST_ENTRIES_TO_KEEP:
            return list(self._clipped_blocks())
        return _Again(self._clipped_blocks)

    def _clipped_blocks(self) -> Iterator[_Block]:
        """Give scaled rows, columns cut at two standard deviations if asked for.

        A convex loss is then not ruled by a few outliers.
        """
        is_cut = has_tails(self.X) if self.is_clipped else False
        reach = np.where(is_cut, _REACH, np.inf)
        for rows, block in self.columns.blocks(self.X):
            yield rows, np.clip(block, -reach, reach, out=block)

    def derivatives(
        self, predictions: NDArray[np.float64]
    ) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Return the loss, and its first and second derivatives by the predictions."""
        margin = self.sign * predictions
        if self.loss == "logistic":
            value = np.logaddexp(0.0, -margin)
            slope = -expit(-margin)
            curvature = -slope * (1.0 + slope)
        else:
            short = np.maximum(1.0 - margin, 0.0)
            value, slope, curvature = 0.5 * short**2, -short, (short > 0).astype(float)
        return (
            float(self.weight @ value),
            self.weight * self.sign * slope,
            self.weight * curvature,
        )


class _Again:
    """Can be iterated any number of times."""

    def __init__(self, make: Callable[[], Iterator[_Block]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[_Block]:
        return self._make()


def _newton(
    problem: ConvexProblem,
    alpha: float,
    weights: NDArray[np.float64],
    blocks: _Blocks,
) -> NDArray[np.float64]:
    penalty = np.append(np.full(weights.size - 1, alpha), 0.0)
    predictions = _predict(weights, blocks)
    for _ in range(_MOST_ITERATIONS):
        value, slope, curvature = problem.derivatives(predictions)
        value += 0.5 * float(penalty @ weights**2)
        gradient = penalty * weights
        hessian = np.diag(penalty)
        for rows, block in blocks:
            with_one = np.column_stack((block, np.ones(len(block))))
            gradient += with_one.T @ slope[rows]
            hessian += with_one.T @ (with_one * curvature[rows, None])
        hessian.flat[:: weights.size + 1] += 1e-10
        step = -linalg.solve(hessian, gradient, assume_a="pos")
        if -gradient @ step <= 1e-10 * value:  # twice the decrease still possible
            return np.asarray(weights + step)
        change = _predict(step, blocks)
        size = _shortened(problem, penalty, weights, predictions, step, change, value)
        if size == 0.0:
            break
        weights = weights + size * step
        predictions = predictions + size * change
    return weights


def _shortened(
    problem: ConvexProblem,
    penalty: NDArray[np.float64],
    weights: NDArray[np.float64],
    predictions: NDArray[np.float64],
    step: NDArray[np.float64],
    change: NDArray[np.float64],
    value: float,
) -> float:
    """Halve the Newton step until the objective falls; 0 where it does not."""
    size = 1.0
    while size > 1e-6:
        moved = weights + size * step
        new_value = problem.derivatives(predictions + size * change)[0]
        if new_value + 0.5 * float(penalty @ moved**2) < value:
            return size
        size *= 0.5
    return 0.0


def _quasi_newton(
    problem: ConvexProblem, alpha: float, weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Solve for many columns, by products with X alone, so that it may be sparse."""
    penalty = np.append(np.full(weights.size - 1, alpha), 0.0)
    center, scale = problem.columns.center, problem.columns.scale

    def objective(at: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        unscaled = at[:-1] / scale
        predictions = weighted_sums(problem.X, unscaled) + (at[-1] - center @ unscaled)
        value, slope, _ = problem.derivatives(predictions)
        total = slope.sum()
        sums = (sums_over_rows(problem.X, slope) - center * total) / scale
        gradient = penalty * at + np.append(sums, total)
        return value + 0.5 * float(penalty @ at**2), gradient

    found = optimize.minimize(
        objective,
        weights,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 100, "gtol": 1e-4, "ftol": 1e-8},
    )
    return np.asarray(found.x)


def _predict(weights: NDArray[np.float64], blocks: _Blocks) -> NDArray[np.float64]:
    parts = [block @ weights[:-1] for _, block in blocks]
    return np.asarray(np.concatenate(parts) + weights[-1])


def has_tails(X: Matrix) -> NDArray[np.bool_]:
    """Tell which columns have enough different values to have tails."""
    return _count_values(X) > _FEW_VALUES


def _count_values(X: Matrix) -> NDArray[np.intp]:
    """Count the values of each column, in the first rows if there are many."""
    head = X[:_MANY_ROWS]
    if sparse.issparse(head):
        entries = head.tocoo()
        order = np.lexsort((entries.data, entries.col))
        column, value = entries.col[order], entries.data[order]
        is_new = (np.diff(column) != 0) | (np.diff(value) != 0)
        is_new = np.append(column.size > 0, is_new)[: column.size]
        return 1 + np.bincount(column[is_new], minlength=X.shape[1])
    ordered = np.sort(head, axis=0)
    return np.asarray(1 + np.count_nonzero(np.diff(ordered, axis=0), axis=0))
