"""Linear models of the log penalty, of features within what training has seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from rocpath.matrices import Columns

if TYPE_CHECKING:
    from numpy.typing import NDArray


class FeatureColumns(NamedTuple):
    """Range, median and scale of every column in training.

    A linear model that leaves the range it was fitted on can be wrong without limit:
    on new regions of a genome it was seen to make nine times the errors of a constant,
    half of them for leaving the range. So values beyond the range become its ends,
    infinite ones too.
    """

    low: NDArray[np.float64]  # smallest and largest finite value; 0 if there is none
    high: NDArray[np.float64]
    median: NDArray[np.float64]  # stands for what is not a number
    columns: Columns  # of such values

    @classmethod
    def measured(cls, X: NDArray[np.float64]) -> FeatureColumns:
        """Measure the columns of training data."""
        is_finite = np.isfinite(X)
        is_empty = ~is_finite.any(axis=0)
        known = np.where(is_finite, X, np.nan)
        # A column without a number becomes constant, and so has no weight.
        known[:, is_empty] = 0.0
        low, high = np.nanmin(known, axis=0), np.nanmax(known, axis=0)
        median = np.nanmedian(known, axis=0)
        columns = Columns.from_matrix(_within_range(X, low, high, median))
        return cls(low, high, median, columns)

    def scaled(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return rows with finite columns, of mean 0 and deviation 1 in training."""
        return self.columns.scaled(_within_range(X, self.low, self.high, self.median))


def _within_range(
    X: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    median: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Put the median for what is not a number, the nearer end for what is beyond."""
    return np.clip(np.where(np.isnan(X), median, X), low, high)


class LogPenaltyModel(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predict by a linear model of features within their training range.

    Its attributes are described where users meet them, in `IntervalRegression`.
    """

    def _checked(self, X: Any, *, reset: bool) -> NDArray[np.float64]:
        """Check features, of which some may be infinite or missing."""
        checked: NDArray[np.float64] = validate_data(
            self, X, ensure_all_finite=False, dtype=np.float64, reset=reset
        )
        return checked

    def _keep(
        self,
        features: FeatureColumns,
        scaled_coef: NDArray[np.float64],
        intercept: float,
    ) -> None:
        """Set what `predict` needs, from a model of scaled columns."""
        self.kept_features_ = np.isfinite(features.columns.scale)
        self.low_, self.high_, self.median_ = features[:3]
        self.coef_, self.intercept_ = features.columns.unscaled(scaled_coef, intercept)

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict the log penalty."""
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        inside = _within_range(X, self.low_, self.high_, self.median_)
        return np.asarray(inside @ self.coef_ + self.intercept_)

    def __sklearn_tags__(self) -> Any:
        """Say that missing values are fine."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
