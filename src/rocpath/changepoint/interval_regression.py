"""Interval regression: predict a number that must lie in an interval, by L1 paths."""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning
from sklearn.model_selection import check_cv
from sklearn.utils.validation import validate_data

from rocpath.arguments import describe, finite_number, share_between, whole_number
from rocpath.changepoint.error_functions import PenaltyErrors, target_interval
from rocpath.changepoint.held_out import choose_candidate, group_splits
from rocpath.changepoint.interval_path import (
    IntervalPath,
    interval_losses,
    interval_path,
    largest_alpha,
)
from rocpath.changepoint.log_penalty_model import FeatureColumns, LogPenaltyModel

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# Of paths that are fitted only to be judged. On three sets of peaks 1e-6 took 1.6, 8
# and 12 times as long, and chose the same alpha.
_JUDGED_TOLERANCE = 1e-4


class IntervalRegression(LogPenaltyModel):
    """Predict log penalties inside target intervals, with few features.

    Squared hinge loss on both ends of the interval and an L1 term of the
    coefficients of standardized features, see `interval_path`. Features that leave the
    range of the training data, or are infinite, become its nearer end; what is not a
    number becomes the training median. Columns that are constant in training are
    dropped.

    Parameters
    ----------
    alpha : float, optional
        The L1 weight; by default the one of a geometric sequence with the smallest
        mean loss in cross-validation.
    margin : float
        How far inside the interval a prediction has to be to have no loss.
    n_alphas : int
        Length of the sequence.
    alpha_ratio : float
        Smallest alpha of the sequence, as a part of the smallest one for which all
        coefficients are zero.
    cv : int, splitter or iterable
        The folds, as in scikit-learn; an integer makes at most so many folds of whole
        groups, or of neighboring rows if ``fit`` is given no groups.
    tol : float
        Largest violation of the optimality conditions, as a part of the largest alpha.
    max_steps : int
        Largest number of Newton moves for each alpha.

    Attributes
    ----------
    coef_ : array, shape (n_features,)
        Coefficients in the units of X; 0 for dropped columns.
    intercept_ : float
        Intercept in the units of X.
    alpha_ : float
        The L1 weight used.
    kept_features_ : array of bool, shape (n_features,)
        The columns that were not constant in training.
    low_, high_, median_ : array, shape (n_features,)
        Smallest, largest and median finite value of each column in training.
    alphas_, cv_loss_ : array, shape (n_alphas,)
        The sequence and its mean loss in cross-validation; not set if alpha is given.
    n_iter_ : int
        Newton moves made for the sequence down to ``alpha_``.
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
            Lower and upper end of each target interval of the log penalty, possibly
            infinite, or error functions whose target intervals are meant. A vector
            is both ends.
        groups : array-like, shape (n_samples,), optional
            What rows belong together, such as a region of the genome or a person: those
            that cross-validation holds out together.
        """
        if y is None:
            # Raises scikit-learn's own message, which its checks of estimators ask for.
            validate_data(self, X, y)
        X = self._checked(X, reset=True)
        interval = target_intervals(y, len(X))
        self._check_parameters()
        features = FeatureColumns.measured(X)
        scaled = features.scaled(X)
        alpha = self._choose_alpha(scaled, interval, groups)
        path = self._path(scaled, interval, alpha, tol=self.tol)
        if path.violation[-1] > self.tol:
            warnings.warn(
                f"Interval regression did not reach tol={self.tol} in {self.max_steps} "
                f"steps, but {path.violation[-1]:.2g}; raise max_steps.",
                ConvergenceWarning,
                stacklevel=2,
            )
        # scikit-learn asks for at least one iteration, also where a constant needs
        # none.
        self.alpha_, self.n_iter_ = float(alpha[-1]), max(1, int(path.n_iter.sum()))
        self._keep(features, path.coef[-1], float(path.intercept[-1]))
        return self

    def score(self, X: Any, y: Any) -> float:
        """Return the part of predictions that lie inside their intervals."""
        prediction = self.predict(X)
        lower, upper = target_intervals(y, prediction.size).T
        return float(((lower <= prediction) & (prediction <= upper)).mean())

    def _check_parameters(self) -> None:
        if self.alpha is not None and finite_number("alpha", self.alpha) < 0:
            raise ValueError(f"alpha must not be negative, got {self.alpha}.")
        if finite_number("margin", self.margin) < 0:
            raise ValueError(f"margin must not be negative, got {self.margin}.")
        share_between("alpha_ratio", self.alpha_ratio)
        whole_number("n_alphas", self.n_alphas, least=2)
        whole_number("max_steps", self.max_steps, least=1)

    def _choose_alpha(
        self, X: NDArray[np.float64], interval: NDArray[np.float64], groups: Any
    ) -> NDArray[np.float64]:
        """Return the sequence of alphas that ends at the one to be used."""
        largest = largest_alpha(X, interval, margin=self.margin)
        if self.alpha is not None:
            # From the constant down in one stride: a start that is known to be right.
            first = max(largest, self.alpha)
            return np.array([first, self.alpha], dtype=np.float64)
        if largest == 0:  # a constant is best
            self.alphas_, self.cv_loss_ = np.zeros(1), np.zeros(1)
            return np.zeros(1)
        alpha = np.geomspace(largest, largest * self.alpha_ratio, self.n_alphas)

        def losses(
            train: NDArray[np.intp], test: NDArray[np.intp]
        ) -> NDArray[np.float64]:
            known = X[train]
            tol = max(self.tol, _JUDGED_TOLERANCE)
            path = self._path(known, interval[train], alpha, tol=tol)
            # As `predict` will do, with the range of what was trained on.
            new = np.clip(X[test], known.min(axis=0), known.max(axis=0))
            fitted = new @ path.coef.T + path.intercept
            held_out = interval_losses(fitted, interval[test], self.margin)
            return np.asarray(held_out.mean(axis=0))

        if isinstance(self.cv, int):
            splits = group_splits(len(X), groups, self.cv, random_state=0)
        else:
            splits = list(check_cv(self.cv).split(X, groups=groups))
        choice = choose_candidate(splits, losses, n_errors=0.0)
        if choice is None:  # a single row or group: nothing to hold out
            self.alphas_, self.cv_loss_ = alpha[:1], np.zeros(1)
            return alpha[:1]
        self.alphas_, self.cv_loss_ = alpha, choice.mean
        return alpha[: choice.chosen + 1]

    @property
    def _path(self) -> Callable[..., IntervalPath]:
        return partial(interval_path, margin=self.margin, max_steps=self.max_steps)

    def __sklearn_tags__(self) -> Any:
        """Say that a vector is no fair test of it."""
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # a single number is a tiny interval
        return tags


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
    # NaN fails the first comparison; the others refuse ends that no number lies within.
    is_good = (lower <= upper) & (lower < np.inf) & (upper > -np.inf)
    if not is_good.all():
        row = is_good.argmin()
        raise ValueError(
            "y must have lower ends up to the upper ones, not nan, got "
            f"[{lower[row]}, {upper[row]}] in row {row}."
        )
    # With infinite ends alone every prediction is right, and none is best.
    if not np.isfinite(interval).any():
        raise ValueError("y must have at least one finite end, got none.")
    return interval
