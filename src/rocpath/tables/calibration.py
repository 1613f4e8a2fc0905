"""Platt scaling of a fitted classifier with the scores of held-out rows."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from rocpath.ranking.scores import LogOddsClassifier


class PlattScaling(LogOddsClassifier, BaseEstimator):  # type: ignore[misc]
    """Fitted classifier whose decision function is rescaled to log-odds.

    Parameters
    ----------
    estimator : classifier
        Fitted binary classifier with a ``decision_function``.
    slope : float
        Positive factor that multiplies the decision function.
    intercept : float
        Constant added to the scaled decision function.

    Attributes
    ----------
    classes_ : array, shape (2,)
        Classes of the classifier.
    """

    def __init__(self, estimator: Any, slope: float = 1.0, intercept: float = 0.0):
        self.estimator = estimator
        self.slope = slope
        self.intercept = intercept

    @property
    def classes_(self) -> NDArray[Any]:  # type: ignore[override]
        """Classes of the classifier."""
        return np.asarray(self.estimator.classes_)

    def fit(self, X: Any, y: Any) -> Self:
        """Refit the classifier without changing the slope and the intercept.

        Parameters
        ----------
        X : array, shape (n_rows, n_columns)
            Features.
        y : array, shape (n_rows,)
            Labels of two classes.
        """
        self.estimator.fit(X, y)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        """Return True, since the classifier is already fitted."""
        return True

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Predict the log-odds of the second class."""
        score = np.asarray(self.estimator.decision_function(X))
        return self.slope * score + self.intercept
