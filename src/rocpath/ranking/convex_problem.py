"""Linear models that minimize a convex loss, for a sequence of L2 penalties.

The objective is the weighted mean of loss(±f) plus l2 / 2 · ‖coef‖², for predictions
f = Z coef + intercept with scaled columns Z.

The solvers of scikit-learn were slower in most of these timings. Fits with seven L2
penalties, each started from the previous solution, take 2 ms here at 1,200 x 8
(newton-cholesky 15, lbfgs 17), 10 ms at 4,000 x 30 (25 and 24) and 76 ms at 4,000 x 400
(604 and 152). With the squared hinge loss, they take 1, 9 and 90 ms (LinearSVC 14, 36
and 1,033). The exception is lbfgs at 4,000 x 120, which takes 34 ms instead of 91.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from rocpath.matrices import Columns, Matrix, sums_over_rows, weighted_sums

Vector: TypeAlias = NDArray[np.float64]
Blocks: TypeAlias = Iterable[tuple[slice, NDArray[np.float64]]]
Loss = Literal["logistic", "squared_hinge"]

MAX_COLUMNS_FOR_NEWTON = 200  # with more columns, second derivatives take too long
_MAX_ROWS_TO_ROTATE = 2_000  # takes 1 to 2 s; 4,000 rows would take 20 s
_MAX_ENTRIES_TO_KEEP = 2**22  # 32 MB; larger tables are scaled again in every pass
_MAX_ITERATIONS = 30  # for one penalty; two to five iterations are usual
# Expected relative decrease of the objective at which Newton's method stops. On five
# tables, 1e-10 took 1.5 times as many steps, and AUC on new rows differed by at most
# 4e-5.
_TOLERANCE = 1e-4
# Standard deviations from the mean at which columns are clipped, and the number of
# distinct values up to which they are not clipped. On 54 tables (benchmarks/accuracy/constants.py),
# clipping at 1.5 or 3, or not clipping up to 3 or 30 values, changed AUC on new rows by
# -.0002 to .0000, which is not significant.
_CLIPPED_AT = 2.0
_FEW_VALUES = 10
_ROWS_TO_COUNT = 10_000  # distinct values are counted in the first rows
# Tolerances of L-BFGS for final models and for models in cross-validation. With the
# latter, a fit takes half the time, and the AUC is the same.
_PRECISE = {"maxiter": 100, "gtol": 1e-4, "ftol": 1e-8}
_ROUGH = {"maxiter": 100, "gtol": 1e-3, "ftol": 1e-6}


class LossSums(NamedTuple):
    """Loss, and its first and second derivatives with respect to ``coef``."""

    loss: float
    gradient: Vector
    hessian: NDArray[np.float64]


class ConvexProblem(NamedTuple):
    """Rows with labels ±1, weights that sum to one, and the scale of the columns."""

    X: Matrix
    columns: Columns
    clip_bound: Vector | float  # maximum absolute value of scaled columns; may be infinite
    sign: Vector
    sample_weight: Vector
    loss: Loss

    def solutions(
        self, l2s: Sequence[float], start: Vector | None = None, *, is_precise: bool = True
    ) -> list[Vector]:
        """Solve for a sequence of L2 penalties, each from the previous solution.

        A solution contains the coefficients of the scaled columns and, last, the intercept.
        """
        n_features = self.X.shape[1]
        solve = partial(quasi_newton, self, options=_PRECISE if is_precise else _ROUGH)
        if n_features <= MAX_COLUMNS_FOR_NEWTON:
            # Rows are scaled once, or in every pass if there are many.
            is_kept = self.X.shape[0] * n_features <= _MAX_ENTRIES_TO_KEEP
            kept = list(self.blocks()) if is_kept else None
            tol = _TOLERANCE if is_precise else 10 * _TOLERANCE
            solve = partial(newton, lambda coef: self.sums(coef, kept), tol=tol)
        # Penalties decrease: the first solution is near 0, and each is near the next one.
        found = [np.zeros(n_features + 1) if start is None else start]
        for l2 in l2s:
            found.append(solve(l2, found[-1]))
        return found[1:]

    def blocks(self) -> Blocks:
        """Iterate over blocks of scaled and clipped rows, with a column of ones."""
        for rows, block in self.columns.blocks(self.X):
            with_one = np.ones((block.shape[0], block.shape[1] + 1))
            np.clip(block, -self.clip_bound, self.clip_bound, out=with_one[:, :-1])
            yield rows, with_one

    def sums(self, coef: Vector, blocks: Blocks | None = None) -> LossSums:
        """Sum the loss and its derivatives with respect to ``coef`` over all rows."""
        loss, gradient = 0.0, np.zeros(coef.size)
        hessian = np.zeros((coef.size, coef.size))
        for rows, block in self.blocks() if blocks is None else blocks:
            part = self._replace(sign=self.sign[rows], sample_weight=self.sample_weight[rows])
            value, slope, curvature = part.derivatives(block @ coef)
            loss += value
            gradient += block.T @ slope
            # BLAS multiplies a matrix by its own transpose in half the time of other products.
            root = block * np.sqrt(curvature)[:, None]
            hessian += root.T @ root
        return LossSums(loss, gradient, hessian)

    def derivatives(self, predictions: Vector) -> tuple[float, Vector, Vector]:
        """Return the loss and its two derivatives with respect to the predictions."""
        weight, margin = self.sample_weight, self.sign * predictions
        if self.loss == "logistic":
            # The exponent is not positive, so the exponential cannot overflow; log1p
            # preserves the digits of a small loss.
            small = np.exp(-np.abs(margin))
            value = np.log1p(small) - np.minimum(margin, 0.0)
            wrong = np.where(margin < 0, 1.0, small) / (1.0 + small)
            slope, curvature = -wrong, wrong * (1.0 - wrong)
        else:
            short = np.maximum(1.0 - margin, 0.0)
            value = 0.5 * short**2
            slope = -short
            curvature = (short > 0).astype(float)
        return float(weight @ value), weight * self.sign * slope, weight * curvature


def newton(
    sums: Callable[[Vector], LossSums], l2: float, coef: Vector, *, tol: float = _TOLERANCE
) -> Vector:
    """Minimize a loss plus l2 / 2 · ‖coef‖², without a penalty on the intercept.

    ``sums`` returns the loss and its derivatives, from rows in memory or on a cluster,
    in one pass over the rows. A step that does not decrease the objective is halved.
    """
    ridge = np.append(np.full(coef.size - 1, l2), 0.0)
    current = sums(coef)
    for _ in range(_MAX_ITERATIONS):
        value = current.loss + 0.5 * float(ridge @ coef**2)
        gradient = current.gradient + ridge * coef
        # The small diagonal term is for columns that are constant in these rows.
        hessian = current.hessian + np.diag(ridge + 1e-10)
        move = -np.asarray(np.linalg.solve(hessian, gradient), dtype=np.float64)
        if float(-gradient @ move) <= tol * value:
            # The loss is not evaluated again: the decrease is not worth another pass.
            return np.asarray(coef + move)
        step = 1.0
        while step > 1e-6:
            moved = coef + step * move
            current = sums(moved)
            if current.loss + 0.5 * float(ridge @ moved**2) < value:
                break
            step *= 0.5
        else:
            break
        coef = moved
    return coef


def quasi_newton(
    problem: ConvexProblem,
    l2: float,
    coef: Vector,
    *,
    options: dict[str, float],
    bounds: Sequence[tuple[float | None, float | None]] | None = None,
) -> Vector:
    """Minimize the same objective by L-BFGS, using only products with X, which may be sparse."""
    ridge = np.append(np.full(coef.size - 1, l2), 0.0)
    center, scale = problem.columns.center, problem.columns.scale

    def objective(at: Vector) -> tuple[float, Vector]:
        # The coefficients are unscaled instead of scaling X, so that X stays sparse.
        unscaled = at[:-1] / scale
        predictions = weighted_sums(problem.X, unscaled) + (at[-1] - center @ unscaled)
        value, slope, _ = problem.derivatives(predictions)
        total = slope.sum()
        sums = (sums_over_rows(problem.X, slope) - center * total) / scale
        gradient = ridge * at + np.append(sums, total)
        return value + 0.5 * float(ridge @ at**2), gradient

    found = optimize.minimize(
        objective, coef, jac=True, method="L-BFGS-B", bounds=bounds, options=options
    )
    return np.asarray(found.x)


def row_space(X: Matrix) -> tuple[Matrix, NDArray[np.float64] | None]:
    """Rotate the rows into a space with at most as many columns as rows, if X has far more.

    The optimal coefficients are in the row space, and an L2 penalty is invariant to
    rotations: the fit is the same, and with thousands of columns it takes a hundredth of
    the time. The second result is the matrix that transforms coefficients back.
    """
    n_rows = X.shape[0]
    # The size of a sparse matrix is the number of its entries; the result is dense.
    if n_rows > _MAX_ROWS_TO_ROTATE or X.size <= 2 * n_rows**2:
        return X, None
    product = X @ X.T
    gram = product.toarray() if sparse.issparse(product) else product
    square, axis = np.linalg.eigh(gram)
    # Axes of length 0 up to rounding are dropped.
    is_kept = square > square[-1] * gram.shape[0] * np.finfo(float).eps
    length = np.sqrt(square[is_kept])
    return axis[:, is_kept] * length, np.asarray(X.T @ (axis[:, is_kept] / length)).T


def clipping(X: Matrix) -> Vector:
    """Return clip bounds for columns with many values, to limit the effect of outliers."""
    # With many columns, none is clipped.
    if X.shape[1] > MAX_COLUMNS_FOR_NEWTON:
        return np.full(X.shape[1], np.inf)
    head = np.sort(X[:_ROWS_TO_COUNT], axis=0)
    n_values = 1 + np.count_nonzero(np.diff(head, axis=0), axis=0)
    return np.where(n_values > _FEW_VALUES, _CLIPPED_AT, np.inf)
