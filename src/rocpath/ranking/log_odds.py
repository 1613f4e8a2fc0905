"""Classes and probabilities from log-odds, for every classifier that ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, log_expit, softmax
from sklearn.base import ClassifierMixin

if TYPE_CHECKING:
    from numpy.typing import NDArray


class LogOddsClassifier(ClassifierMixin):  # type: ignore[misc]
    """Predict by a ``decision_function`` whose values are log-odds."""

    classes_: NDArray[Any]

    if TYPE_CHECKING:

        def decision_function(self, X: Any) -> NDArray[np.float64]:
            """Predict log-odds, of the second class or of each against the rest."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class with the largest log-odds.

        Parameters
        ----------
        X : array, data frame or sparse matrix, shape (n_samples, n_features)
            Features.

        Returns
        -------
        array, shape (n_samples,)
        """
        score = self.decision_function(X)
        place = (score > 0).astype(int) if score.ndim == 1 else score.argmax(axis=1)
        return np.asarray(self.classes_[place])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict probabilities: the logistic function of the log-odds.

        With more than two classes they are divided by their sum.

        Parameters
        ----------
        X : array, data frame or sparse matrix, shape (n_samples, n_features)
            Features.

        Returns
        -------
        array, shape (n_samples, n_classes)
        """
        score = self.decision_function(X)
        if score.ndim == 1:
            return np.column_stack((expit(-score), expit(score)))
        return np.asarray(softmax(log_expit(score), axis=1))
