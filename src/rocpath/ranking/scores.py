"""Scores of classifiers: how to ask for them, and what log-odds predict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, log_expit, softmax
from sklearn.base import ClassifierMixin

from rocpath.arguments import describe

if TYPE_CHECKING:
    from numpy.typing import NDArray

PROBABILITY_FIRST = ("predict_proba", "decision_function")
MARGIN_FIRST = ("decision_function", "predict_proba")


def score_method(estimator: Any, methods: tuple[str, str] = PROBABILITY_FIRST) -> str:
    """Return the first of the methods that the estimator has, or raise."""
    for name in methods:
        if hasattr(estimator, name):
            return name
    raise TypeError(
        f"estimator {type(estimator).__name__} has neither predict_proba nor "
        "decision_function"
    )


def class_scores(
    estimator: Any, X: Any, methods: tuple[str, str] = PROBABILITY_FIRST
) -> NDArray[np.float64]:
    """Score rows: one column for two classes, else one for each class."""
    return score_columns(getattr(estimator, score_method(estimator, methods))(X))


def score_columns(score: Any) -> NDArray[np.float64]:
    """Return scores as columns; the second of two says what the first one does."""
    columns = np.asarray(score, dtype=np.float64)
    if columns.ndim == 1:
        return columns[:, None]
    return columns[:, 1:] if columns.shape[1] == 2 else columns


def refuse_one_class(counted: NDArray[Any]) -> None:
    """Raise if there are no two classes among the labels of rows that count."""
    if counted.size < 2:
        raise ValueError(
            "y must hold at least two classes with a positive weight, got one class: "
            f"{describe(counted.tolist())}."
        )


class LogOddsClassifier(ClassifierMixin):  # type: ignore[misc]
    """Predict by a ``decision_function`` whose values are log-odds."""

    classes_: NDArray[Any]

    if TYPE_CHECKING:

        def decision_function(self, X: Any) -> NDArray[np.float64]:
            """Predict log-odds, of the second class or of each against the rest."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class with the largest log-odds."""
        score = self.decision_function(X)
        place = (score > 0).astype(int) if score.ndim == 1 else score.argmax(axis=1)
        return np.asarray(self.classes_[place])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict probabilities: the logistic function of the log-odds.

        With more than two classes they are divided by their sum.
        """
        score = self.decision_function(X)
        if score.ndim == 1:
            return np.column_stack((expit(-score), expit(score)))
        return np.asarray(softmax(log_expit(score), axis=1))
