"""Linear models of log penalties: interval regression for a path of L1 weights.

Features are clipped to the range of the training data.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

import rocpath._core as _core
from rocpath.matrices import Columns
from rocpath.validation import Floats, check_masked, read_only


class IntervalPath(NamedTuple):
    """Interval regressions for decreasing L1 weights, one row per weight."""

    coef: Floats
    intercept: Floats
    violation: Floats  # violation of optimality, relative to the largest weight
    n_iter: NDArray[np.int64]  # number of Newton iterations


def interval_path(
    X: Floats,
    interval: Floats,
    alpha: Floats,
    *,
    margin: float = 1.0,
    tol: float = 1e-6,
    max_steps: int = 1000,
) -> IntervalPath:
    """Fit interval regression for each L1 weight, with warm starts.

    Each fit minimizes, over coefficients w and intercept b, the mean of
    max(0, lower - f + margin)² + max(0, f - upper + margin)² plus alpha times the sum
    of absolute coefficients, where f = b + X w. Features should be standardized.

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
    # Coordinate descent reads features column by column.
    feature = np.ascontiguousarray(X.T).ravel()
    low, high = _limits_within_margin(interval, margin)
    # The tolerance is relative to the largest weight, so that it has no unit.
    largest = float(alpha.max()) or 1.0
    path = _core.interval_path(feature, low, high, alpha, tol * largest, max_steps)
    return IntervalPath(
        path["coefficient"].reshape(alpha.size, X.shape[1]),
        path["intercept"],
        read_only(path["violation"] / largest),
        path["n_steps"],
    )


def largest_alpha(X: Floats, interval: Floats, *, margin: float) -> float:
    """Return the smallest L1 weight for which all coefficients are zero."""
    low, high = _limits_within_margin(interval, margin)
    found = _core.largest_alpha(np.ascontiguousarray(X.T).ravel(), low, high)
    # The best constant, and hence the gradient there, has a relative error of 1e-9.
    limit = np.abs(interval[np.isfinite(interval)])
    return found if found > 1e-8 * (limit.max(initial=0.0) + margin) else 0.0


def interval_losses(fitted: Floats, interval: Floats, margin: float) -> Floats:
    """Return the loss of each sample (row) for each model (column)."""
    low, high = _limits_within_margin(interval, margin)
    below = np.maximum(0, low[:, None] - fitted)
    above = np.maximum(0, fitted - high[:, None])
    return np.asarray(below**2 + above**2)


def best_interval_constant(interval: Floats, *, margin: float) -> float:
    """Return the constant with the smallest loss; 0 if no limit is finite."""
    # The column is constant, so only the intercept is fitted.
    no_features = np.zeros((len(interval), 1))
    return float(interval_path(no_features, interval, np.ones(1), margin=margin).intercept[0])


def _limits_within_margin(interval: Floats, margin: float) -> tuple[Floats, Floats]:
    # If an interval is shorter than twice the margin, the limits cross, and the loss is
    # smallest in the middle.
    return interval[:, 0] + margin, interval[:, 1] - margin


class FeatureRanges(NamedTuple):
    """Range, median and scale of every column in the training data.

    Values, including infinite ones, are clipped to the range of the training data,
    because the error of a linear model is unbounded outside of it. In new regions of a
    genome, a linear model made nine times as many errors as a constant, half of them
    outside the range.
    """

    low: Floats  # smallest and largest finite value; 0 if there is none
    high: Floats
    median: Floats  # replaces NaN
    columns: Columns  # mean and scale after clipping

    @classmethod
    def from_rows(cls, X: Floats) -> Self:
        """Compute the ranges of training data."""
        is_finite = np.isfinite(X)
        is_empty = ~is_finite.any(axis=0)
        known = np.where(is_finite, X, np.nan)
        # A column without finite values becomes constant, so that its coefficient is 0.
        known[:, is_empty] = 0.0
        low, high = np.nanmin(known, axis=0), np.nanmax(known, axis=0)
        median = np.nanmedian(known, axis=0)
        columns = Columns.from_matrix(_clipped(X, low, high, median))
        return cls(low, high, median, columns)

    def scaled(self, X: Floats) -> Floats:
        """Return clipped columns, with mean 0 and standard deviation 1 in training."""
        return self.columns.scaled(_clipped(X, self.low, self.high, self.median))


def _clipped(X: Floats, low: Floats, high: Floats, median: Floats) -> Floats:
    """Replace NaN with the median, and clip to the range."""
    return np.clip(np.where(np.isnan(X), median, X), low, high)


class LinearModels(NamedTuple):
    """Linear models of scaled columns, one model per row, the simplest first."""

    features: FeatureRanges
    coef: Floats
    intercept: Floats
    violation: Floats  # violation of the optimality conditions
    n_iter: NDArray[np.int64]

    def predict(self, X: Floats) -> Floats:
        """Predict the log penalty of each row with each model (column)."""
        return np.asarray(self.features.scaled(X) @ self.coef.T + self.intercept)


def interval_models(
    X: Floats,
    interval: Floats,
    fraction: Floats,
    *,
    margin: float,
    tol: float,
    max_steps: int = 1000,
) -> tuple[LinearModels, float]:
    """Fit interval regression for fractions of the largest useful L1 weight.

    Fractions are relative to the largest weight of the training set, so that a fraction
    of 1 gives a constant in every fold, and a given fraction selects about the same
    number of features in each fold.

    Returns
    -------
    tuple of LinearModels and float
        The models, and the smallest L1 weight for which all coefficients are zero.
    """
    features = FeatureRanges.from_rows(X)
    scaled = features.scaled(X)
    largest = largest_alpha(scaled, interval, margin=margin)
    # If a constant is optimal for every weight, any weight can be used.
    path = interval_path(
        scaled, interval, (largest or 1.0) * fraction, margin=margin, tol=tol, max_steps=max_steps
    )
    return LinearModels(features, *path), largest


class LogPenaltyModel(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Base class of linear models that predict log penalties from clipped features.

    Its attributes are documented in `IntervalRegression`.
    """

    def _checked(self, X: Any, *, reset: bool) -> Floats:
        """Validate features, which may be infinite or NaN."""
        check_masked("X", X)
        checked: Floats = validate_data(
            self, X, ensure_all_finite=False, dtype=np.float64, reset=reset
        )
        return checked

    def _set_model(self, models: LinearModels, chosen: int) -> None:
        """Set the attributes that `predict` needs, in the units of X."""
        features = models.features
        self.kept_features_ = np.isfinite(features.columns.scale)
        self.low_, self.high_, self.median_ = features[:3]
        self.coef_, self.intercept_ = features.columns.unscaled(
            models.coef[chosen], float(models.intercept[chosen])
        )

    def predict(self, X: Any) -> Floats:
        """Predict the log penalty."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        inside = _clipped(X, self.low_, self.high_, self.median_)
        return np.asarray(inside @ self.coef_ + self.intercept_)

    def __sklearn_tags__(self) -> Any:
        """Declare that NaNs are allowed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
