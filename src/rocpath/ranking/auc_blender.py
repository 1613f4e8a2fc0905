"""AUCBlender: blends of models as a scikit-learn classifier."""

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MetaEstimatorMixin
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from rocpath.model_selection.folds import class_splits
from rocpath.ranking.blend import fit_blend
from rocpath.ranking.labeled_rows import LabeledRows, random_ranks
from rocpath.ranking.members import check_finite, copied_frame_rows, portfolio, scored_members
from rocpath.ranking.scores import LogOddsClassifier, class_labels, class_scores
from rocpath.sample import Sample, check_several_classes, check_two_classes, row_groups, row_weights
from rocpath.validation import check_masked, describe, one_of, region_border

# A perfect model is not suspicious if all others have at least this AUC.
_EASY = 0.99


class AUCBlender(LogOddsClassifier, MetaEstimatorMixin, _BaseComposition):  # type: ignore[misc]
    """Blend of classifiers that maximizes the area under the ROC curve.

    The models are cross-validated, and their held-out scores are converted to a common
    scale, the mean of standardized log-odds and ranks. The blend is a weighted sum with
    non-negative weights that sum to one. They are an average of the weights of logistic
    stacking and of weights that are found from these by exact searches for the largest
    AUC (:func:`best_auc_step`); shares in the average depend on cross-validated AUC.
    The models are then fitted to all rows.

    Each class is subsampled to at most 20,000 rows for stacking and to at most 3,000
    rows for the search and for cross-validation of the weights. With more than two
    classes, there is one blend for each class against the rest.

    Parameters
    ----------
    estimators : list of (name, estimator), optional
        Classifiers with ``predict_proba`` or ``decision_function``. The default is a
        linear ranking, trees, boosting, splines and kernels, except those that are too
        slow for the size of the table or do not support sparse data. A model that fails
        is excluded with a warning.
    cv : int, splitter, iterable or "prefit"
        Cross-validation folds, as in scikit-learn. An integer means shuffled,
        stratified folds, at most as many as the rarest class has rows; rows with the
        same features, or of the same group, are in the same fold. With "prefit", the
        estimators must already be fitted, to rows other than those passed to ``fit``.
    max_fpr : float, optional
        Maximum false positive rate. If given, the partial AUC up to this rate replaces
        AUC.
    n_jobs : int, optional
        Number of processes that fit the folds of a model in parallel.
    random_state : int, RandomState or None
        Seed for the folds, the subsampling and the default estimators.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
        Sorted class labels; the second of two classes is the positive one.
    weights_ : array, shape (n_members,) or (n_classes, n_members)
        Non-negative weights of the models, which sum to one.
    member_names_ : list of str
        Names of the models in the blend.
    estimators_ : list of estimators
        Models fitted to all rows; empty after ``fit_scores``.
    excluded_ : dict
        Reason for the exclusion of each model that failed, by name.
    history_ : list of BlendHistory
        For each blend, the candidates with their cross-validated AUC.
    n_features_in_ : int
        Number of columns of X, or of the scores after ``fit_scores``.
    feature_names_in_ : array of str
        Names of the columns, if X has names.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from rocpath import AUCBlender
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(min_samples_leaf=20, random_state=0)
    >>> models = [("bayes", GaussianNB()), ("tree", tree)]
    >>> blend = AUCBlender(models, random_state=0).fit(X, y)
    >>> blend.member_names_, bool((blend.weights_ > 0).all())
    (['bayes', 'tree'], True)
    """

    def __init__(
        self,
        estimators: Sequence[tuple[str, Any]] | None = None,
        *,
        cv: Any = 5,
        max_fpr: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.cv = cv
        self.max_fpr = max_fpr
        self.n_jobs = n_jobs
        self.random_state = random_state

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return all parameters, including those of estimators, such as ``name__C``."""
        return dict(self._get_params("estimators", deep=deep))

    def set_params(self, **params: Any) -> Self:
        """Set parameters, including those of estimators, such as ``name__C``."""
        self._set_params("estimators", **params)
        return self

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit all models and the weights of the blend.

        Parameters
        ----------
        X : array, data frame or sparse matrix, shape (n_samples, n_features)
            Features. A data frame is passed to the estimators unchanged.
        y : array-like, shape (n_samples,)
            Labels of two or more classes.
        sample_weight : array-like, shape (n_samples,), optional
            Weights of the rows, for the blend and for models that accept weights.
        groups : array-like, shape (n_samples,), optional
            Groups of dependent rows, as for ``AUCClassifier.fit``.

        Returns
        -------
        self
        """
        self._check_settings()
        if isinstance(self.cv, str) and self.estimators is None:
            raise ValueError("estimators must be fitted models if cv is 'prefit', got None.")
        X = self._checked(X, is_fit=True)
        label, weight = self._set_classes(X, y, sample_weight)
        rng = check_random_state(self.random_state)
        group, copies = (row_groups(groups, len(label)), copied_frame_rows(X))
        folds, fold = class_splits(self.cv, label, group, copies, rng)
        models = self.estimators or portfolio(X, random_state=rng.randint(2**31 - 1))
        known_weight = None if sample_weight is None else weight
        options: Any = {"folds": None if isinstance(self.cv, str) else folds, "n_jobs": self.n_jobs}
        members, excluded = scored_members(models, X, label, known_weight, **options)
        self.excluded_ = {name: reason for name, (reason, _) in excluded.items()}
        if not members:
            reasons = "; ".join(f"{name!r}: {reason}" for name, reason in self.excluded_.items())
            _, first_error = next(iter(excluded.values()))
            hint = "" if self.estimators else " The default models require numeric columns."
            raise ValueError(f"every model failed: {reasons}{hint}") from first_error
        for name, reason in self.excluded_.items():
            warnings.warn(f"the blend excludes {name!r}: {reason}", UserWarning, stacklevel=2)
        self.member_names_ = list(members)
        self.estimators_ = [estimator for estimator, _ in members.values()]
        scores = [score for _, score in members.values()]
        return self._blend(scores, label, weight, copies if group is None else group, fold, rng)

    def fit_scores(
        self,
        S: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit only the weights of the blend, to held-out scores of models.

        Prediction methods then take scores of the same models instead of features.
        ``estimators`` is ignored, and ``cv`` is used only to evaluate weights.

        Parameters
        ----------
        S : array or data frame, shape (n_samples, n_members)
            Scores, one column for each model. Larger scores indicate the positive
            class.
        y : array-like, shape (n_samples,)
            Labels of two classes.
        sample_weight, groups
            Same as for ``fit``, but by default all rows are independent.

        Returns
        -------
        self
        """
        self._check_settings()
        S = validate_data(self, S, dtype=np.float64, ensure_all_finite=False)
        label, weight = self._set_classes(S, y, sample_weight)
        check_two_classes(self.classes_)
        self.member_names_ = [*map(str, getattr(self, "feature_names_in_", range(S.shape[1])))]
        self.estimators_, self.excluded_ = [], {}
        rng = check_random_state(self.random_state)
        # Rows with equal scores are not treated as copies.
        group, alone = (row_groups(groups, len(label)), np.arange(len(label)))
        _, fold = class_splits(self.cv, label, group, alone, rng)
        group = alone if group is None else group
        return self._blend(self._member_scores(S), label, weight, group, fold, rng)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Predict log-odds of the second class, or of each class against the rest.

        After ``fit_scores``, X must be scores of the models.
        """
        check_is_fitted(self)
        if self.estimators_:
            X = self._checked(X, is_fit=False)
        else:
            X = validate_data(self, X, dtype=np.float64, ensure_all_finite=False, reset=False)
        scores = np.stack(self._member_scores(X), axis=-1)
        odds = [blend.log_odds(scores[:, k]) for k, blend in enumerate(self._blends)]
        return odds[0] if len(odds) == 1 else np.column_stack(odds)

    def _member_scores(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the scores of each model, and check that they are finite."""
        if self.estimators_:
            scores = [class_scores(model, X) for model in self.estimators_]
        else:
            scores = [X[:, [k]] for k in range(X.shape[1])]
        for name, score in zip(self.member_names_, scores, strict=True):
            check_finite(name, score)
        return scores

    def __sklearn_tags__(self) -> Any:
        """Return tags for input that any estimator accepts; those that fail are excluded."""
        tags = super().__sklearn_tags__()
        inner = [get_tags(model).input_tags for _, model in self.estimators or []]
        tags.input_tags.sparse = not inner or any(one.sparse for one in inner)
        tags.input_tags.allow_nan = not inner or any(one.allow_nan for one in inner)
        return tags

    def _checked(self, X: Any, *, is_fit: bool) -> Any:
        """Return checked features; a data frame is returned unchanged."""
        check_masked("X", X)
        if hasattr(X, "columns"):
            # Columns of a data frame may be of any type that the members accept.
            validate_data(self, X, reset=is_fit, skip_check_array=True)
            return X
        return validate_data(
            self, X, accept_sparse="csr", ensure_all_finite="allow-nan", reset=is_fit
        )

    def _set_classes(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Set the classes, and return the label and the weight of each row."""
        label = class_labels(y)
        check_consistent_length(X, label)
        weight = row_weights(sample_weight, len(label))
        self.classes_: NDArray[Any] = np.unique(label)
        counted, n_rows = np.unique(label[weight > 0], return_counts=True)
        check_several_classes(counted)
        missing = np.setdiff1d(self.classes_, counted[n_rows > 1])
        if missing.size:
            raise ValueError(
                "y must have at least two rows of every class with a positive weight, got fewer "
                f"of class {missing.tolist()[0]!r}."
            )
        return label, weight

    def _check_settings(self) -> None:
        if self.estimators is not None:
            is_list = isinstance(self.estimators, (list, tuple)) and len(self.estimators) > 0
            if not is_list or not all(map(_is_named_estimator, self.estimators)):
                raise ValueError(
                    "estimators must be a list of (name, estimator), got "
                    f"{describe(self.estimators)}."
                )
            self._validate_names([name for name, _ in self.estimators])
        region_border(self.max_fpr)
        if isinstance(self.cv, str):
            one_of("cv, if it is a string,", self.cv, ("prefit",))

    def _blend(
        self,
        member_scores: Sequence[NDArray[np.float64]],
        label: NDArray[Any],
        weight: NDArray[np.float64],
        group: NDArray[np.intp],
        fold: NDArray[np.intp],
        rng: np.random.RandomState,
    ) -> Self:
        """Fit a blend for each column of the scores."""
        is_counted = weight > 0
        scores = np.stack(member_scores, axis=-1)[is_counted]
        ranked = self.classes_[1:] if scores.shape[1] == 1 else self.classes_
        self._blends = []
        for k, positive in enumerate(ranked):
            is_positive = label[is_counted] == positive
            rank, border = random_ranks(is_positive, rng), region_border(self.max_fpr)
            sample = Sample(is_positive, weight[is_counted], group[is_counted])
            rows = LabeledRows(scores[:, k], sample, rank, border)
            blend = fit_blend(rows, fold[is_counted])
            self._blends.append(blend)
            member_auc = blend.history.member_auc
            if member_auc.max() == 1.0 and member_auc.min() < _EASY:
                name = self.member_names_[int(member_auc.argmax())]
                warnings.warn(
                    f"{name!r} ranks all held-out rows correctly, but other models "
                    "do not: was it fitted to these rows, or does a column reveal the label?",
                    stacklevel=3,
                )
        weights = np.array([blend.weights for blend in self._blends])
        self.weights_ = weights[0] if len(weights) == 1 else weights
        self.history_ = [blend.history for blend in self._blends]
        return self


def _is_named_estimator(one: Any) -> bool:
    return isinstance(one, (list, tuple)) and len(one) == 2 and hasattr(one[1], "fit")
