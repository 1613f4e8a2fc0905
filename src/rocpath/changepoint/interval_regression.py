"""Interval regression: predict a number that must lie in an interval, by L1 paths."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted, validate_data

import rocpath._core as _core
from rocpath.arguments import describe, finite_number, read_only, whole_number
from rocpath.changepoint.error_functions import PenaltyErrors, target_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class IntervalPath:
    """Hold interval regressions for a decreasing sequence of L1 penalties.

    Attributes
    ----------
    alpha : array, shape (n_alphas,)
        The L1 penalties.
    coef : array, shape (n_alphas, n_features)
        Coefficients.
    intercept : array, shape (n_alphas,)
        Intercepts.
    violation : array, shape (n_alphas,)
        By how much the optimality conditions are violated, as a part of the largest
        alpha.
    n_iter : array of int, shape (n_alphas,)
        Newton steps taken.
    """

    alpha: NDArray[np.float64]
    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    violation: NDArray[np.float64]
    n_iter: NDArray[np.int64]


def interval_path(
    X: NDArray[np.float64],
    interval: NDArray[np.float64],
    alpha: NDArray[np.float64],
    *,
    margin: float = 1.0,
    tol: float = 1e-6,
    max_iter: int = 1000,
) -> IntervalPath:
    """Fit interval regression for each L1 penalty, starting from the one before.

    Minimises, over coefficients w and intercept b, the mean of
    max(0, lower - f + margin)² + max(0, f - upper + margin)² plus alpha times the sum
    of absolute w, where f = b + X w. Features should be standardised.

    Parameters
    ----------
    X : array, shape (n_samples, n_features)
        Finite features.
    interval : array, shape (n_samples, 2)
        Lower and upper ends, possibly infinite.
    alpha : array, shape (n_alphas,)
        L1 penalties, decreasing.
    margin : float
        How far inside the interval a prediction has to be to have no loss.
    tol : float
        Largest violation of the optimality conditions, as a part of the largest alpha.
    max_iter : int
        Largest number of Newton steps for each alpha.

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
    feature = np.ascontiguousarray(X.T).ravel()
    low, high = _moved_ends(interval, margin)
    largest = float(alpha.max()) or 1.0
    path = _core.interval_path(feature, low, high, alpha, tol * largest, max_iter)
    return IntervalPath(
        alpha,
        path["coefficient"].reshape(alpha.size, X.shape[1]),
        path["intercept"],
        read_only(path["violation"] / largest),
        path["n_steps"],
    )


def largest_alpha(
    X: NDArray[np.float64], interval: NDArray[np.float64], *, margin: float
) -> float:
    """Return the smallest L1 penalty for which all coefficients are zero."""
    low, high = _moved_ends(interval, margin)
    found = _core.largest_interval_penalty(np.ascontiguousarray(X.T).ravel(), low, high)
    # The best constant is known to a part of 1e-9, and so are the slopes there.
    largest_end = np.abs(interval[np.isfinite(interval)]).max() + margin
    return found if found > 1e-8 * largest_end else 0.0


class IntervalRegression(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predict log penalties inside target intervals, with few features.

    Squared hinge loss on both ends of the interval and an L1 penalty on the
    coefficients of standardised features, see `interval_path`. Columns that are not
    finite, or constant, in the training data are dropped.

    Parameters
    ----------
    alpha : float, optional
        The L1 penalty; by default the one of a geometric sequence with the smallest
        mean loss in cross-validation.
    margin : float
        How far inside the interval a prediction has to be to have no loss.
    n_alphas : int
        Length of the sequence.
    alpha_ratio : float
        Smallest alpha of the sequence, as a part of the smallest one for which all
        coefficients are zero.
    cv : int, splitter or iterable
        The folds, as in scikit-learn; an integer makes folds of consecutive rows, at
        most one for each row.
    tol : float
        Largest violation of the optimality conditions, as a part of the largest alpha.
    max_iter : int
        Largest number of Newton steps for each alpha.

    Attributes
    ----------
    coef_ : array, shape (n_features,)
        Coefficients in the units of X; 0 for dropped columns.
    intercept_ : float
        Intercept in the units of X.
    alpha_ : float
        The L1 penalty used.
    kept_features_ : array of bool, shape (n_features,)
        The columns that were finite and not constant in training.
    alphas_, cv_loss_ : array, shape (n_alphas,)
        The sequence and its mean loss in cross-validation; not set if alpha is given.
    n_iter_ : int
        Newton steps taken for the sequence down to ``alpha_``.
    n_features_in_ : int
        Number of columns of X.

    Examples
    --------
    >>> import numpy as np
    >>> import rocpath as rp
    >>> X = np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0]])
    >>> y = np.column_stack((X - 1, X + 1))
    >>> model = rp.IntervalRegression(alpha=0.001).fit(X, y)
    >>> model.predict([[0.5]]).round(2).tolist()
    [0.5]
    """

    def __init__(
        self,
        alpha: float | None = None,
        *,
        margin: float = 1.0,
        n_alphas: int = 50,
        alpha_ratio: float = 1e-3,
        cv: Any = 5,
        tol: float = 1e-6,
        max_iter: int = 1000,
    ) -> None:
        self.alpha = alpha
        self.margin = margin
        self.n_alphas = n_alphas
        self.alpha_ratio = alpha_ratio
        self.cv = cv
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any) -> IntervalRegression:
        """Fit the coefficients.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Features.
        y : array-like, shape (n_samples, 2), or list of PenaltyErrors
            Lower and upper end of each target interval of the log penalty, possibly
            infinite, or error functions whose target intervals are meant. A vector
            is both ends.

        Returns
        -------
        IntervalRegression
        """
        if y is None:
            validate_data(self, X, y)
        X = validate_data(self, X, ensure_all_finite=False, dtype=np.float64)
        interval = target_intervals(y, len(X))
        self._check_parameters()
        self.kept_features_ = useful_columns(X)
        kept = X[:, self.kept_features_]
        center, scale = kept.mean(axis=0), kept.std(axis=0)
        scale[scale == 0] = 1.0
        scaled = (kept - center) / scale
        alpha = self._choose_alpha(scaled, interval)
        path = self._path(scaled, interval, alpha)
        if path.violation[-1] > self.tol:
            warnings.warn(
                f"Interval regression did not reach tol={self.tol} in {self.max_iter} "
                f"steps, but {path.violation[-1]:.2g}; raise max_iter.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.alpha_, self.n_iter_ = float(alpha[-1]), max(1, int(path.n_iter.sum()))
        self.coef_ = np.zeros(X.shape[1])
        self.coef_[self.kept_features_] = path.coef[-1] / scale
        self.intercept_ = float(
            path.intercept[-1] - center @ self.coef_[self.kept_features_]
        )
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Predict the log penalty.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Features; columns without a coefficient are ignored.

        Returns
        -------
        array, shape (n_samples,)
        """
        return predict_log_penalty(self, X)

    def score(self, X: Any, y: Any) -> float:
        """Return the part of predictions that lie inside their intervals.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Features.
        y : array-like, shape (n_samples, 2), or list of PenaltyErrors
            As for ``fit``.

        Returns
        -------
        float
        """
        prediction = self.predict(X)
        lower, upper = target_intervals(y, prediction.size).T
        return float(((lower <= prediction) & (prediction <= upper)).mean())

    def _check_parameters(self) -> None:
        if self.alpha is not None and finite_number("alpha", self.alpha) < 0:
            raise ValueError(f"alpha must not be negative, got {self.alpha}.")
        if finite_number("margin", self.margin) < 0:
            raise ValueError(f"margin must not be negative, got {self.margin}.")
        if not 0 < finite_number("alpha_ratio", self.alpha_ratio) < 1:
            raise ValueError(
                f"alpha_ratio must be between 0 and 1, got {self.alpha_ratio}."
            )
        whole_number("n_alphas", self.n_alphas, least=2)
        whole_number("max_iter", self.max_iter, least=1)

    def _choose_alpha(
        self, X: NDArray[np.float64], interval: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the sequence of alphas that ends at the one to be used."""
        largest = largest_alpha(X, interval, margin=self.margin)
        if self.alpha is not None:
            first = max(largest, self.alpha)
            return np.array([first, self.alpha], dtype=np.float64)
        if largest == 0:  # a constant is best
            self.alphas_, self.cv_loss_ = np.zeros(1), np.zeros(1)
            return np.zeros(1)
        alpha = np.geomspace(largest, largest * self.alpha_ratio, self.n_alphas)
        losses = []
        cv = min(self.cv, len(X)) if isinstance(self.cv, int) else self.cv
        for train, test in check_cv(cv).split(X):
            path = self._path(X[train], interval[train], alpha)
            fitted = X[test] @ path.coef.T + path.intercept
            losses.append(
                interval_losses(fitted, interval[test], self.margin).mean(axis=0)
            )
        self.alphas_, self.cv_loss_ = alpha, np.mean(losses, axis=0)
        return alpha[: int(self.cv_loss_.argmin()) + 1]

    def _path(
        self,
        X: NDArray[np.float64],
        interval: NDArray[np.float64],
        alpha: NDArray[np.float64],
    ) -> IntervalPath:
        return interval_path(
            X,
            interval,
            alpha,
            margin=self.margin,
            tol=self.tol,
            max_iter=self.max_iter,
        )

    def __sklearn_tags__(self) -> Any:
        """Say that columns with missing values are fine."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.regressor_tags.poor_score = True  # a single number is a tiny interval
        return tags


def useful_columns(X: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which columns are finite and not constant."""
    # A difference of two infinities is not a number, and not positive.
    with np.errstate(invalid="ignore"):
        return np.asarray(np.isfinite(X).all(axis=0) & (np.ptp(X, axis=0) > 0))


def predict_log_penalty(model: Any, X: Any) -> NDArray[np.float64]:
    """Predict by a fitted linear model; columns without a coefficient are ignored."""
    check_is_fitted(model)
    X = validate_data(model, X, ensure_all_finite=False, dtype=np.float64, reset=False)
    used = np.flatnonzero(model.coef_)
    values = X[:, used]
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(
            "X must be finite in the columns with a coefficient, got "
            f"{values[row, column]} in row {row}, column {used[column]}."
        )
    return np.asarray(values @ model.coef_[used] + model.intercept_)


def target_intervals(y: Any, n_samples: int) -> NDArray[np.float64]:
    """Return the lower and upper ends for each sample, or raise."""
    given = np.asarray(y)
    if given.dtype == object and any(isinstance(one, PenaltyErrors) for one in given):
        interval = np.array([target_interval(one) for one in given])
    else:
        try:
            interval = given.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                "y must be intervals of real numbers or a list of PenaltyErrors, got "
                f"{describe(y)}: Unknown label type."
            ) from None
    if interval.ndim == 2 and interval.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected; it is taken as "
            "intervals of length 0.",
            DataConversionWarning,
            stacklevel=3,
        )
        interval = interval.ravel()
    if interval.ndim == 1:
        interval = np.column_stack((interval, interval))
    if interval.ndim != 2 or interval.shape[1] != 2 or len(interval) != n_samples:
        raise ValueError(
            f"y must have a lower and an upper end for each of the {n_samples} samples "
            f"of X, got an array of shape {interval.shape}."
        )
    lower, upper = interval.T
    is_good = (lower <= upper) & (lower < np.inf) & (upper > -np.inf)
    if not is_good.all():
        row = is_good.argmin()
        raise ValueError(
            "y must have lower ends up to the upper ones, not nan, got "
            f"[{lower[row]}, {upper[row]}] in row {row}."
        )
    if not np.isfinite(interval).any():
        raise ValueError("y must have at least one finite end, got none.")
    return interval


def _moved_ends(
    interval: NDArray[np.float64], margin: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return interval[:, 0] + margin, interval[:, 1] - margin


def interval_losses(
    fitted: NDArray[np.float64], interval: NDArray[np.float64], margin: float
) -> NDArray[np.float64]:
    """Return the loss of each sample (row) for each model (column)."""
    low, high = _moved_ends(interval, margin)
    below = np.maximum(0, low[:, None] - fitted)
    above = np.maximum(0, fitted - high[:, None])
    return np.asarray(below**2 + above**2)
