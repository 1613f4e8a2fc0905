"""ThresholdClassifier: any binary classifier, with a threshold that keeps a promise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import check_cv, cross_val_predict
from sklearn.utils import assert_all_finite, get_tags
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, column_or_1d, indexable

from rocpath.auc_statistics.operating_points import OperatingPoint
from rocpath.auc_statistics.thresholds import choose_threshold
from rocpath.ranking.scores import (
    MARGIN_FIRST,
    class_scores,
    score_columns,
    score_method,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rocpath.matrices import Matrix


def _has_probabilities(classifier: ThresholdClassifier) -> bool:
    # Before fit the classifier given answers, since pipelines ask then already.
    inner = getattr(classifier, "estimator_", classifier.estimator)
    return hasattr(inner, "predict_proba")


class ThresholdClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Classify by another classifier's scores and a threshold that keeps a promise.

    The scores of rows held out in cross-validation choose the threshold, by
    :func:`choose_threshold`; then the classifier is fitted to all rows. Exactly one of
    ``max_fpr``, ``min_tpr`` and ``min_precision`` must be given.

    Parameters
    ----------
    estimator : estimator
        A binary classifier with ``decision_function`` or ``predict_proba``.
    max_fpr, min_tpr, min_precision : float or None
        The promise.
    cv : int, splitter, iterable or "prefit"
        How rows are held out. With "prefit" the classifier has been fitted to other
        rows, and all rows given choose the threshold.
    confidence : float or None
        Promise the rate for new rows with this confidence. That is exact for "prefit";
        with cross-validation the scores come from classifiers fitted to fewer rows.
    n_jobs : int or None
        How many parts are fitted at a time.

    Attributes
    ----------
    estimator_ : estimator
        The fitted classifier.
    operating_point_ : OperatingPoint
        The threshold, with the rates and their intervals on the rows held out.
    threshold_ : float
        Scores of at least this are called the positive class.
    classes_ : array, shape (2,)
        The labels, sorted; the last is the positive class.
    n_features_in_ : int
        Number of columns, where the classifier tells.
    feature_names_in_ : array of str
        Their names, where X has names and the classifier tells.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from rocpath import ThresholdClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ThresholdClassifier(GaussianNB(), max_fpr=0.02).fit(X[::2], y[::2])
    >>> bool(model.operating_point_.fpr <= 0.02)
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        max_fpr: float | None = None,
        min_tpr: float | None = None,
        min_precision: float | None = None,
        cv: Any = 5,
        confidence: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.max_fpr = max_fpr
        self.min_tpr = min_tpr
        self.min_precision = min_precision
        self.cv = cv
        self.confidence = confidence
        self.n_jobs = n_jobs

    def fit(self, X: Matrix, y: ArrayLike, **params: Any) -> Self:
        """Choose the threshold, and fit the classifier to all rows.

        Parameters
        ----------
        X : array, data frame or sparse matrix, shape (n_samples, n_features)
            Features.
        y : array-like, shape (n_samples,)
            Labels of two classes.
        **params : dict
            Passed to ``fit`` of the classifier, such as ``sample_weight``; the
            threshold counts rows alike, but for those of weight 0. With metadata
            routing enabled, whatever the classifier and the splitter request.
        """
        X, label = indexable(X, _two_classes(y))
        if isinstance(self.cv, str) and self.cv == "prefit":
            # Not cloned: what it has learned would be lost.
            check_is_fitted(self.estimator, "classes_")
            self.estimator_ = self.estimator
            score = class_scores(self.estimator, X, MARGIN_FIRST)
        else:
            score, self.estimator_ = self._fitted(X, label, params)
        self.classes_: NDArray[Any] = self.estimator_.classes_
        # A promise is about counts of rows; weights of 0 mean that a row is not there.
        is_counted = _counted(label, params.get("sample_weight"))
        self.operating_point_: OperatingPoint = choose_threshold(
            label[is_counted],
            score[is_counted, 0],
            max_fpr=self.max_fpr,
            min_tpr=self.min_tpr,
            min_precision=self.min_precision,
            confidence=self.confidence,
            positive=self.classes_[1],
        )
        self.threshold_ = self.operating_point_.threshold
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def predict(self, X: Matrix) -> NDArray[Any]:
        """Predict the positive class where the score is at least the threshold."""
        # In float64 a difference is 0 only of equal numbers: the same as score >=
        # threshold.
        is_positive = self.decision_function(X) >= 0
        return np.asarray(self.classes_[is_positive.astype(int)])

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Matrix) -> NDArray[np.float64]:
        """Predict probabilities by the classifier, whatever the threshold."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(X))

    def decision_function(self, X: Matrix) -> NDArray[np.float64]:
        """Compute the classifier's scores less the threshold."""
        check_is_fitted(self)
        score = class_scores(self.estimator_, X, MARGIN_FIRST)
        return score[:, 0] - self.threshold_

    def get_metadata_routing(self) -> MetadataRouter:
        """Tell which metadata go to the classifier and to the splitter."""
        router = MetadataRouter(owner=self)
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        router.add(estimator=self.estimator, method_mapping=to_fit)
        if not isinstance(self.cv, str):
            to_split = MethodMapping().add(caller="fit", callee="split")
            router.add(splitter=check_cv(self.cv), method_mapping=to_split)
        return router

    def __sklearn_tags__(self) -> Any:
        """Take what the classifier takes, but two classes only."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        inner = get_tags(self.estimator)
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags

    def _fitted(
        self, X: Matrix, y: ArrayLike, params: dict[str, Any]
    ) -> tuple[NDArray[np.float64], Any]:
        """Score every row while it is held out, and fit to all rows."""
        if sklearn.get_config()["enable_metadata_routing"]:
            # cross_val_predict routes for its own fits, but not for the last one below.
            to_fit = process_routing(self, "fit", **params).estimator.fit
        else:
            to_fit = params
        score = cross_val_predict(
            self.estimator,
            X,
            y,
            cv=self.cv,
            n_jobs=self.n_jobs,
            params=params,
            method=score_method(self.estimator, MARGIN_FIRST),
        )
        estimator = clone(self.estimator).fit(X, y, **to_fit)
        return score_columns(score), estimator


def _two_classes(y: ArrayLike) -> NDArray[Any]:
    label: NDArray[Any] = column_or_1d(y, warn=True)
    assert_all_finite(label, input_name="y")
    kind = type_of_target(label, input_name="y", raise_unknown=True)
    n_classes = np.unique(label).size
    # The first words are scikit-learn's, whose checks of classifiers look for them.
    if kind != "binary" or n_classes != 2:
        raise ValueError(
            "Only binary classification is supported: y must have two classes, got a "
            f"target of type {kind!r} with {n_classes} "
            f"{'class' if n_classes == 1 else 'classes'}."
        )
    return label


def _counted(label: NDArray[Any], sample_weight: ArrayLike | None) -> NDArray[np.bool_]:
    """Return which rows do not have a weight of 0."""
    if sample_weight is None:
        return np.ones(label.size, dtype=bool)
    is_counted: NDArray[np.bool_] = np.asarray(sample_weight) != 0
    if np.unique(label[is_counted]).size < 2:
        raise ValueError(
            "sample_weight must be positive in both classes, got zeros in one class."
        )
    return is_counted
