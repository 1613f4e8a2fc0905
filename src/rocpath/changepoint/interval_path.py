"""Linear models of interval targets, for a path of L1 weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import rocpath._core as _core
from rocpath.arguments import read_only

if TYPE_CHECKING:
    from numpy.typing import NDArray


class IntervalPath(NamedTuple):
    """Interval regressions for a decreasing sequence of L1 weights, one row each."""

    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    violation: NDArray[np.float64]  # of optimality, relative to the largest weight
    n_iter: NDArray[np.int64]  # Newton iterations


def interval_path(
    X: NDArray[np.float64],
    interval: NDArray[np.float64],
    alpha: NDArray[np.float64],
    *,
    margin: float = 1.0,
    tol: float = 1e-6,
    max_steps: int = 1000,
) -> IntervalPath:
    """Fit interval regression for each L1 weight, with warm starts.

    Minimizes, over coefficients w and intercept b, the mean of
    max(0, lower - f + margin)² + max(0, f - upper + margin)² plus alpha times the sum
    of absolute w, where f = b + X w. Features should be standardized.

    Parameters
    ----------
    X : array, shape (n_samples, n_features)
        Finite features.
    interval : array, shape (n_samples, 2)
        Lower and upper limits, possibly infinite.
    alpha : array, shape (n_alphas,)
        L1 weights, decreasing.
    margin, tol, max_steps
        As for `IntervalRegression`.

    Returns
    -------
    IntervalPath

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[-1.0], [0.0], [1.0]])
    >>> y = np.array([[-np.inf, -2.0], [-1.0, 1.0], [2.0, np.inf]])
    >>> path = interval_path(X, y, np.array([4.0, 0.4]))
    >>> path.coef.round(6).tolist()
    [[0.0], [2.7]]
    """
    # Column-major, as coordinate descent reads it.
    feature = np.ascontiguousarray(X.T).ravel()
    low, high = _limits_within_margin(interval, margin)
    # Relative to the gradient at the constant model, so that tol has no unit.
    largest = float(alpha.max()) or 1.0
    path = _core.interval_path(feature, low, high, alpha, tol * largest, max_steps)
    return IntervalPath(
        path["coefficient"].reshape(alpha.size, X.shape[1]),
        path["intercept"],
        read_only(path["violation"] / largest),
        path["n_steps"],
    )


def largest_alpha(X: NDArray[np.float64], interval: NDArray[np.float64], *, margin: float) -> float:
    """Return the smallest L1 weight for which all coefficients are zero."""
    low, high = _limits_within_margin(interval, margin)
    found = _core.largest_alpha(np.ascontiguousarray(X.T).ravel(), low, high)
    # The best constant, and so the gradient there, has a relative error of 1e-9.
    limit = np.abs(interval[np.isfinite(interval)])
    return found if found > 1e-8 * (limit.max(initial=0.0) + margin) else 0.0


def interval_losses(
    fitted: NDArray[np.float64], interval: NDArray[np.float64], margin: float
) -> NDArray[np.float64]:
    """Return the loss of each sample (row) for each model (column)."""
    low, high = _limits_within_margin(interval, margin)
    below = np.maximum(0, low[:, None] - fitted)
    above = np.maximum(0, fitted - high[:, None])
    return np.asarray(below**2 + above**2)


def best_interval_constant(interval: NDArray[np.float64], *, margin: float) -> float:
    """Return the constant with the smallest loss; 0 if no limit is finite."""
    # The same solver with a constant column, so that only the intercept is fitted.
    no_features = np.zeros((len(interval), 1))
    return float(interval_path(no_features, interval, np.ones(1), margin=margin).intercept[0])


def _limits_within_margin(
    interval: NDArray[np.float64], margin: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    # In an interval shorter than twice the margin the limits cross, and the loss is
    # smallest in the middle.
    return interval[:, 0] + margin, interval[:, 1] - margin
