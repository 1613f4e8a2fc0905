"""Linear models of the log penalty, with features clipped to their training range."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from rocpath.changepoint.interval_path import interval_path, largest_alpha
from rocpath.matrices import Columns

if TYPE_CHECKING:
    from numpy.typing import NDArray


class FeatureRanges(NamedTuple):
    """Range, median and scale of every column in training.

    Outside the range of the training data the error of a linear model is unbounded: in
    new regions of a genome it made nine times the errors of a constant, half of them
    outside the range. So values are clipped to the range, infinite ones too.
    """

    low: NDArray[np.float64]  # smallest and largest finite value; 0 if there is none
    high: NDArray[np.float64]
    median: NDArray[np.float64]  # replaces NaN
    columns: Columns  # mean and scale after clipping

    @classmethod
    def from_rows(cls, X: NDArray[np.float64]) -> FeatureRanges:
        """Compute the ranges of training data."""
        is_finite = np.isfinite(X)
        is_empty = ~is_finite.any(axis=0)
        known = np.where(is_finite, X, np.nan)
        # A column without finite values becomes constant, and so has no weight.
        known[:, is_empty] = 0.0
        low, high = np.nanmin(known, axis=0), np.nanmax(known, axis=0)
        median = np.nanmedian(known, axis=0)
        columns = Columns.from_matrix(_clipped(X, low, high, median))
        return cls(low, high, median, columns)

    def scaled(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return clipped columns, with mean 0 and standard deviation 1 in training."""
        return self.columns.scaled(_clipped(X, self.low, self.high, self.median))


def _clipped(
    X: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    median: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Replace NaN by the median, and clip to the range."""
    return np.clip(np.where(np.isnan(X), median, X), low, high)


class LinearModels(NamedTuple):
    """Linear models of scaled columns, one row a model, the simplest first."""

    features: FeatureRanges
    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    n_iter: NDArray[np.int64]
    violation: float = 0.0  # of the optimality conditions of the last model

    def predict(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Predict with every model (columns) for every row."""
        return np.asarray(self.features.scaled(X) @ self.coef.T + self.intercept)


def interval_models(
    X: NDArray[np.float64],
    interval: NDArray[np.float64],
    fraction: NDArray[np.float64],
    *,
    margin: float,
    tol: float,
    max_steps: int = 1000,
) -> tuple[LinearModels, float]:
    """Fit interval regression for fractions of the largest useful L1 weight.

    Fractions of each training set's own largest weight: a fraction of 1 is a constant
    in every fold, and the same fraction selects about as many features.

    Returns
    -------
    tuple of LinearModels and float
        The models, and the smallest L1 weight for which all coefficients are zero.
    """
    features = FeatureRanges.from_rows(X)
    scaled = features.scaled(X)
    largest = largest_alpha(scaled, interval, margin=margin)
    # If a constant is best for every weight, any weight gives it.
    path = interval_path(
        scaled, interval, (largest or 1.0) * fraction, margin=margin, tol=tol, max_steps=max_steps
    )
    models = LinearModels(
        features, path.coef, path.intercept, path.n_iter, float(path.violation[-1])
    )
    return models, largest


class LogPenaltyModel(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predict by a linear model of clipped features.

    Its attributes are documented in `IntervalRegression`.
    """

    def _checked(self, X: Any, *, reset: bool) -> NDArray[np.float64]:
        """Check features, of which some may be infinite or missing."""
        checked: NDArray[np.float64] = validate_data(
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

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict the log penalty."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        inside = _clipped(X, self.low_, self.high_, self.median_)
        return np.asarray(inside @ self.coef_ + self.intercept_)

    def __sklearn_tags__(self) -> Any:
        """Declare that missing values are allowed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
