"""Interval regression: linear models for targets that are intervals."""

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import column_or_1d, validate_data

from rocpath.changepoint.error_functions import PenaltyErrors, target_interval
from rocpath.changepoint.interval_path import LogPenaltyModel, interval_losses, interval_models
from rocpath.model_selection.comparison import choose_candidate
from rocpath.model_selection.folds import block_folds
from rocpath.validation import (
    Floats,
    check_masked,
    describe,
    nonnegative_number,
    share_between,
    whole_number,
)

# Tolerance of the paths that are fitted in cross-validation. On three data sets of peaks,
# 1e-6 took 1.6, 8 and 12 times as long, and the same alpha was chosen.
_FOLD_TOLERANCE = 1e-4


class IntervalRegression(LogPenaltyModel):
    """L1-regularized interval regression of log penalties.

    The loss is a squared hinge at both limits of the interval, with an L1 penalty on
    the coefficients of standardized features. Features are clipped to the range of the
    training data, and NaNs are replaced by the training median. Columns that are
    constant in training are dropped.

    Parameters
    ----------
    alpha : float, optional
        L1 weight; by default, the value from a geometric sequence with the smallest
        cross-validated loss.
    margin : float
        Minimum distance from both limits of the interval at which the loss of a
        prediction is zero.
    n_alphas : int
        Number of L1 weights in the sequence.
    alpha_ratio : float
        Ratio of the smallest to the largest alpha of the sequence; the largest is just
        large enough to make all coefficients zero.
    cv : int, splitter or iterable
        Cross-validation folds, as in scikit-learn. An integer is the maximum number of
        folds, which consist of whole groups or, without groups, of consecutive rows.
    tol : float
        Maximum violation of the optimality conditions, relative to the largest alpha.
    max_steps : int
        Maximum number of Newton iterations for each alpha.

    Attributes
    ----------
    coef_ : array, shape (n_features,)
        Coefficients in the units of X; 0 for dropped columns.
    intercept_ : float
        Intercept in the units of X.
    alpha_ : float
        The L1 weight used.
    kept_features_ : array of bool, shape (n_features,)
        Whether each column varies in the training data.
    low_, high_, median_ : array, shape (n_features,)
        Smallest, largest and median finite value of each column in training.
    alphas_, cv_loss_ : array, shape (n_alphas,)
        The sequence and its cross-validated loss; not set if alpha is given.
    n_iter_ : int
        Total number of Newton iterations.
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
        max_steps: int = 1000,
    ) -> None:
        self.alpha = alpha
        self.margin = margin
        self.n_alphas = n_alphas
        self.alpha_ratio = alpha_ratio
        self.cv = cv
        self.tol = tol
        self.max_steps = max_steps

    def fit(self, X: Any, y: Any, *, groups: Any = None) -> Self:
        """Fit the coefficients.

        Parameters
        ----------
        X : array-like, shape (n_samples, n_features)
            Features.
        y : array-like, shape (n_samples, 2), or list of PenaltyErrors
            Lower and upper limits of the target interval of each log penalty, possibly
            infinite, or error functions, whose target intervals are used. If y is a
            vector, each value is used as both limits.
        groups : array-like, shape (n_samples,), optional
            Groups that cross-validation keeps together, such as genomic regions or
            subjects.
        """
        if y is None:
            # This raises the error that scikit-learn's estimator checks expect.
            validate_data(self, X, y)
        check_masked("y", y)
        X = self._checked(X, reset=True)
        interval = target_intervals(y, len(X))
        self._check_parameters()
        fraction = self._fractions(X, interval, groups)
        settings: dict[str, Any] = {"margin": self.margin, "max_steps": self.max_steps}
        models, largest = interval_models(X, interval, fraction, tol=self.tol, **settings)
        if models.violation[-1] > self.tol:
            warnings.warn(
                f"Interval regression did not converge to tol={self.tol} in "
                f"{self.max_steps} steps, got a violation of {models.violation[-1]:.2g}; "
                "increase max_steps.",
                ConvergenceWarning,
                stacklevel=2,
            )
        if self.alpha is None:
            path = np.geomspace(1.0, self.alpha_ratio, self.n_alphas)
            self.alphas_ = largest * path[: self.cv_loss_.size]
        self.alpha_ = float(largest * fraction[-1]) if largest else self.alpha or 0.0
        # scikit-learn requires at least one iteration, even for a constant.
        self.n_iter_ = max(1, int(models.n_iter.sum()))
        self._set_model(models, len(fraction) - 1)
        return self

    def score(self, X: Any, y: Any) -> float:
        """Return the fraction of predictions inside their intervals."""
        prediction = self.predict(X)
        lower, upper = target_intervals(y, prediction.size).T
        return float(((lower <= prediction) & (prediction <= upper)).mean())

    def _check_parameters(self) -> None:
        nonnegative_number("alpha", self.alpha or 0.0)
        nonnegative_number("margin", self.margin)
        share_between("alpha_ratio", self.alpha_ratio)
        whole_number("n_alphas", self.n_alphas, least=2)
        whole_number("max_steps", self.max_steps, least=1)

    def _fractions(self, X: Floats, interval: Floats, groups: Any) -> Floats:
        """Return the L1 weights from the largest to the chosen one, relative to the largest."""
        if self.alpha is not None:
            _, largest = interval_models(X, interval, np.ones(1), margin=self.margin, tol=self.tol)
            fraction = self.alpha / largest if largest else 1.0
            # The path starts at the constant model, whose solution is known.
            return np.array([max(1.0, fraction), fraction])
        path = np.geomspace(1.0, self.alpha_ratio, self.n_alphas)

        def losses(train: NDArray[np.intp], test: NDArray[np.intp]) -> Floats:
            settings: dict[str, Any] = {"margin": self.margin, "max_steps": self.max_steps}
            tol = max(self.tol, _FOLD_TOLERANCE)
            models, _ = interval_models(X[train], interval[train], path, tol=tol, **settings)
            loss = interval_losses(models.predict(X[test]), interval[test], self.margin)
            return np.asarray(loss.mean(axis=0))

        splits = block_folds(len(X), groups, self.cv, random_state=0)
        choice = choose_candidate(splits, losses, n_errors=0.0)
        if choice is None:  # a single row or group cannot be cross-validated
            self.cv_loss_ = np.zeros(1)
            return path[:1]
        self.cv_loss_ = choice.mean
        return path[: choice.chosen + 1]

    def __sklearn_tags__(self) -> Any:
        """Declare that scores are poor if the target is a vector."""
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # intervals of length 0
        return tags


def target_intervals(y: Any, n_samples: int) -> Floats:
    """Return the lower and upper limits for each sample, or raise."""
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
        interval = column_or_1d(interval, warn=True)
    if interval.ndim == 1:
        interval = np.column_stack((interval, interval))
    if interval.ndim != 2 or interval.shape[1] != 2 or len(interval) != n_samples:
        raise ValueError(
            f"y must have a lower and an upper limit for each of the {n_samples} "
            f"samples of X, got an array of shape {interval.shape}."
        )
    lower, upper = interval.T
    # NaN fails the first comparison; the others reject intervals without finite numbers.
    is_good = (lower <= upper) & (lower < np.inf) & (upper > -np.inf)
    if not is_good.all():
        row = is_good.argmin()
        raise ValueError(
            "y must have lower limits that do not exceed the upper ones, got "
            f"[{lower[row]}, {upper[row]}] in row {row}."
        )
    # If all limits are infinite, all predictions are equally good.
    if not np.isfinite(interval).any():
        raise ValueError("y must have at least one finite limit, got none.")
    return interval
