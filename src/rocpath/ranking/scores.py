"""Scores of classifiers, and predictions from log-odds."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, log_expit, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from rocpath.sample import is_missing
from rocpath.validation import check_masked, check_none

PROBABILITY_FIRST = ("predict_proba", "decision_function")
MARGIN_FIRST = ("decision_function", "predict_proba")


def class_labels(y: ArrayLike) -> NDArray[Any]:
    """Return class labels as a vector, or raise an error if they are invalid."""
    check_masked("y", y)
    label: NDArray[Any] = column_or_1d(y, warn=True)
    if label.dtype.kind == "O":
        check_none(is_missing(label), "y must not have missing values", label)
    assert_all_finite(label, input_name="y")
    check_classification_targets(label)
    return label


def score_method(estimator: Any, methods: tuple[str, str] = PROBABILITY_FIRST) -> str:
    """Return the first of the methods that the estimator has, or raise an error."""
    for name in methods:
        if hasattr(estimator, name):
            return name
    raise TypeError(
        f"estimator must have predict_proba or decision_function, got {type(estimator).__name__}."
    )


def class_scores(
    estimator: Any, X: Any, methods: tuple[str, str] = PROBABILITY_FIRST
) -> NDArray[np.float64]:
    """Return scores, one column for two classes, otherwise one for each class."""
    return score_columns(getattr(estimator, score_method(estimator, methods))(X))


def score_columns(score: Any) -> NDArray[np.float64]:
    """Return scores as columns; only the second of two columns is kept."""
    columns = np.asarray(score, dtype=np.float64)
    if columns.ndim == 1:
        return columns[:, None]
    return columns[:, 1:] if columns.shape[1] == 2 else columns


class LogOddsClassifier(ClassifierMixin):  # type: ignore[misc]
    """Mixin for classifiers whose ``decision_function`` returns log-odds."""

    classes_: NDArray[Any]
    decision_function: Callable[..., NDArray[np.float64]]

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class with the largest log-odds."""
        score = self.decision_function(X)
        index = (score > 0).astype(int) if score.ndim == 1 else score.argmax(axis=1)
        return np.asarray(self.classes_[index])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict class probabilities, the logistic function of the log-odds.

        With more than two classes, they are normalized to sum to one.
        """
        score = self.decision_function(X)
        if score.ndim == 1:
            return np.column_stack((expit(-score), expit(score)))
        return np.asarray(softmax(log_expit(score), axis=1))
