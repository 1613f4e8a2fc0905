"""ThresholdClassifier: a binary classifier with constraints on its error rates."""

from typing import Any, Self

import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import FixedThresholdClassifier, check_cv, cross_val_predict
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import _check_method_params, check_is_fitted, indexable

from rocpath.evaluation.operating_points import OperatingPoint
from rocpath.evaluation.thresholds import check_targets, checked_sample, choose_threshold
from rocpath.matrices import Matrix
from rocpath.model_selection.folds import calibration_splitter, group_splitter
from rocpath.ranking.scores import (
    MARGIN_FIRST,
    class_labels,
    class_scores,
    score_columns,
    score_method,
)
from rocpath.sample import Sample
from rocpath.validation import check_masked, share_between

_TARGETS = ("max_fpr", "min_tpr", "min_precision", "top", "cost")


class ThresholdClassifier(FixedThresholdClassifier):  # type: ignore[misc]
    """Binary classifier whose threshold satisfies constraints on its error rates.

    Without ``confidence``, :func:`choose_threshold` selects the threshold from
    cross-validated scores, and the classifier is then fitted to all rows. With
    ``confidence``, the classifier is fitted to one part of the rows and the threshold
    is chosen on the other part, so that the error rates are guaranteed for new rows. At
    least one of ``max_fpr``, ``min_tpr``, ``min_precision``, ``top`` and ``cost`` must
    be given.

    Parameters
    ----------
    estimator : estimator
        Binary classifier with ``decision_function`` or ``predict_proba``.
    max_fpr, min_tpr, min_precision, top, cost
        Constraints on the threshold, as in :func:`choose_threshold`.
    cv : int, splitter, iterable or "prefit"
        Cross-validation for the held-out scores. With ``confidence``, only the first
        split of a splitter or an iterable is used, and an integer is ignored. If
        "prefit", the classifier must have been fitted to other rows, and the threshold
        is chosen on all given rows.
    confidence : float or None
        Probability with which all constraints hold simultaneously for new rows.
    calibration_size : float
        Fraction of the rows on which the threshold is chosen, if ``confidence`` is
        given.
    random_state : int or None
        Seed of the split into rows for fitting and rows for choosing the threshold.
    n_jobs : int or None
        Number of folds fitted in parallel.

    Attributes
    ----------
    estimator_ : estimator
        Fitted classifier.
    operating_point_ : OperatingPoint
        Chosen threshold, with its error rates on the held-out rows and their bounds.
    threshold_ : float
        Chosen threshold; rows with at least this score are predicted positive.
    classes_ : array, shape (2,)
        Sorted labels; the last is the positive class.
    n_features_in_ : int
        Number of features; only defined if the fitted classifier has this attribute.
    feature_names_in_ : array of str
        Names of the features; only defined if the fitted classifier has this attribute.

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
        top: int | None = None,
        cost: tuple[float, float] | None = None,
        cv: Any = 5,
        confidence: float | None = None,
        calibration_size: float = 0.4,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.max_fpr = max_fpr
        self.min_tpr = min_tpr
        self.min_precision = min_precision
        self.top = top
        self.cost = cost
        self.cv = cv
        self.confidence = confidence
        self.calibration_size = calibration_size
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(
        self, X: Matrix, y: ArrayLike, *, groups: ArrayLike | None = None, **params: Any
    ) -> Self:
        """Fit the classifier and choose the threshold.

        Parameters
        ----------
        X : array, data frame or sparse matrix, shape (n_samples, n_features)
            Features.
        y : array-like, shape (n_samples,)
            Labels of two classes.
        groups : array-like, shape (n_samples,), optional
            Group of each row. Groups are not split between folds if ``cv`` is an
            integer or a group splitter, and the threshold is chosen for groups as in
            :func:`choose_threshold`.
        **params : dict
            Parameters of the classifier's ``fit``, such as ``sample_weight``, which
            also weights the rows on which the threshold is chosen. With metadata
            routing, any parameters that the classifier and the splitter request.

        Returns
        -------
        self
        """
        # Arguments are validated first, so that invalid ones raise an error before any fit.
        targets = check_targets(**{name: getattr(self, name) for name in _TARGETS})
        if self.confidence is not None:
            share_between("confidence", self.confidence)
        share_between("calibration_size", self.calibration_size)
        check_masked("X", X)
        X, label, together = indexable(X, class_labels(y), groups)
        classes, weight = np.unique(label), params.get("sample_weight")
        if classes.size != 2:
            # scikit-learn's estimator checks look for the first words of this message.
            raise ValueError(
                "Only binary classification is supported: y must have two classes, got "
                f"{'one class' if classes.size == 1 else classes.size}."
            )
        sample = Sample.from_labels(label, sample_weight=weight, groups=together)
        checked_sample(sample, targets, self.confidence)
        rows, score = self._held_out(X, label, together, params)
        given = {"sample_weight": weight, "groups": together}
        held_out = _check_method_params(X, given, indices=rows)
        options = {**targets, "confidence": self.confidence, "positive": self.pos_label}
        self.operating_point_: OperatingPoint = choose_threshold(
            label[rows], score[:, 0], **held_out, **options
        )
        self.threshold_ = self.operating_point_.threshold
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    # These are parameters of FixedThresholdClassifier; here, ``fit`` determines them.

    @property
    def threshold(self) -> float:
        """Chosen threshold; rows with at least this score are predicted positive."""
        check_is_fitted(self, "threshold_")
        return self.threshold_

    @property
    def pos_label(self) -> Any:
        """Positive class."""
        return self.classes_[1]

    @property
    def response_method(self) -> str:
        """Name of the classifier's method that computes scores."""
        return score_method(self.estimator_, MARGIN_FIRST)

    def decision_function(self, X: Matrix) -> NDArray[np.float64]:
        """Compute the scores of the classifier minus the threshold."""
        check_is_fitted(self, "threshold_")
        return class_scores(self.estimator_, X, MARGIN_FIRST)[:, 0] - self.threshold_

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata routing of the classifier and the splitter."""
        router = super().get_metadata_routing()
        if not isinstance(self.cv, str):
            to_split = MethodMapping().add(caller="fit", callee="split")
            router.add(splitter=check_cv(group_splitter(self.cv)), method_mapping=to_split)
        return router

    def __sklearn_tags__(self) -> Any:
        """Return tags with the input types that the classifier accepts."""
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def _held_out(
        self, X: Matrix, label: NDArray[Any], groups: Any, params: dict[str, Any]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Fit the classifier, and return the indices and scores of held-out rows."""
        if isinstance(self.cv, str) and self.cv == "prefit":
            # The classifier is not cloned, because a clone would not be fitted.
            check_is_fitted(self.estimator, "classes_")
            self.estimator_ = self.estimator
            return np.arange(label.size), class_scores(self.estimator, X, MARGIN_FIRST)
        together = {} if groups is None else {"groups": groups}
        to_fit, passed = params, {"params": params, **together}
        if sklearn.get_config()["enable_metadata_routing"]:
            # Groups affect the threshold even if no splitter requests them.
            if not self.get_metadata_routing().consumes("fit", together):
                together = {}
            # cross_val_predict routes metadata to its own fits, but not to the final one below.
            to_fit = process_routing(self, "fit", **params, **together).estimator.fit
            passed = {"params": {**params, **together}}
        if self.confidence is not None:
            # The error rates of the models of the folds differ from those of the final
            # model, so cross-validated scores cannot guarantee them
            # (benchmarks/coverage/guarantees.py).
            splitter = calibration_splitter(
                self.calibration_size, is_grouped=groups is not None, random_state=self.random_state
            )
            if not isinstance(self.cv, int):
                splitter = check_cv(self.cv, label, classifier=True)
            train, test = next(iter(splitter.split(X, label, groups)))
            fit_params = _check_method_params(X, to_fit, indices=train)
            self.estimator_ = clone(self.estimator)
            self.estimator_.fit(_safe_indexing(X, train), label[train], **fit_params)
            return test, class_scores(self.estimator_, _safe_indexing(X, test), MARGIN_FIRST)
        method = score_method(self.estimator, MARGIN_FIRST)
        cv = self.cv if groups is None else group_splitter(self.cv)
        score = cross_val_predict(
            self.estimator, X, label, cv=cv, n_jobs=self.n_jobs, method=method, **passed
        )
        self.estimator_ = clone(self.estimator).fit(X, label, **to_fit)
        return np.arange(label.size), score_columns(score)
