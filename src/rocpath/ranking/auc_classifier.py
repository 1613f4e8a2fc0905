"""AUCClassifier: linear rankings as a scikit-learn classifier."""

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from rocpath.matrices import LinearModel, Matrix, weighted_sums
from rocpath.ranking.auc_ascent import Ascent
from rocpath.ranking.fit import Candidate, search_ranking
from rocpath.ranking.labeled_rows import LabeledRows, random_ranks
from rocpath.ranking.scores import LogOddsClassifier
from rocpath.sample import Sample, check_several_classes, row_groups, row_weights
from rocpath.validation import check_masked, finite_vector, region_border, whole_number

_MAX_ENTRY = 1e307  # differences between larger entries might overflow
_MIN_WIDTH = 0.001  # the grid then has 160,000 cells


class AUCClassifier(LogOddsClassifier, BaseEstimator):  # type: ignore[misc]
    """Linear classifier that maximizes the area under the ROC curve.

    The model is an average of linear models that minimize a logistic loss, a
    class-balanced logistic loss with clipped columns, and a class-balanced squared
    hinge loss, each with seven L2 penalties. The weight of a model in the average
    depends on its cross-validated AUC. Then AUC itself is increased: smoothed AUC, over
    all columns at once, if each class has at least ten rows per column; and exact AUC,
    by globally best steps (:func:`best_auc_step`) along single columns. An ascent is
    used only as far as it improves cross-validated AUC.

    Columns are standardized internally; sparse data with more than 200 columns remain
    sparse. Each class is subsampled to at most 20,000 rows for the ascent and to at
    most 3,000 rows for cross-validation. With more than two classes, one ranking is
    fitted for each class against the rest.

    Parameters
    ----------
    n_folds : int
        Number of cross-validation folds. Rows with the same features, or of the same
        group, are in the same fold. If the rows used for cross-validation have more
        than ten million entries, only two of the folds are fitted.
    widths : tuple of float
        Smoothing bandwidths in standard deviations of the predictions, each at least
        0.001. They are applied in sequence until one does not improve AUC. An empty
        tuple disables the smoothed ascent.
    n_rounds : int
        Maximum number of coordinate-ascent passes, over at most 64 columns each. The
        passes end when one does not improve AUC. They are tried only if a pass over a
        small subsample improves AUC by more than one standard error.
    max_fpr : float, optional
        Maximum false positive rate. If given, the partial AUC up to this rate replaces
        AUC in cross-validation and in the ascent.
    class_weight : dict, "balanced" or None
        Weights of the classes. They affect probabilities and predicted classes, but not
        the rankings.
    random_state : int, RandomState or None
        Seed for the folds, the subsampling and the order of columns.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
        Sorted class labels; the second of two classes is the positive one.
    coef_ : array, shape (1, n_features) or (n_classes, n_features)
        Coefficients of the original columns, scaled such that predictions are log-odds.
        Coefficients above 1e308 in absolute value, which columns with a tiny standard
        deviation may need, are clipped.
    intercept_ : array, shape (1,) or (n_classes,)
        Intercepts. Scale and intercept do not affect AUC: both are fitted to held-out
        scores such that the decision function is the log-odds (Platt scaling).
    n_iter_ : int
        Largest of the ``chosen`` stages in ``history_``; 0 without an ascent.
    history_ : list of History
        For each ranking, the models and stages tried, with their cross-validated AUC.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of str, shape (n_features,)
        Names of the columns, if X has names.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.metrics import roc_auc_score
    >>> from rocpath import AUCClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AUCClassifier(random_state=0).fit(X[::2], y[::2])
    >>> bool(roc_auc_score(y[1::2], model.decision_function(X[1::2])) > 0.98)
    True
    """

    def __init__(
        self,
        *,
        n_folds: int = 5,
        widths: tuple[float, ...] = (0.3, 0.1),
        n_rounds: int = 2,
        max_fpr: float | None = None,
        class_weight: dict[Any, float] | str | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_folds = n_folds
        self.widths = widths
        self.n_rounds = n_rounds
        self.max_fpr = max_fpr
        self.class_weight = class_weight
        self.random_state = random_state

    def fit(
        self,
        X: Matrix,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array, data frame or sparse matrix, shape (n_samples, n_features)
            Features.
        y : array-like, shape (n_samples,)
            Labels of two or more classes.
        sample_weight : array-like, shape (n_samples,), optional
            Sample weights. Rows with weight 0 are dropped.
        groups : array-like, shape (n_samples,), optional
            Groups of dependent rows, such as the rows of one patient. Group by the unit
            you want to generalize to: folds keep groups together, and standard errors
            treat a group as one observation. By default, rows with the same features
            form a group.

        Returns
        -------
        self
        """
        check_masked("X", X)
        check_masked("y", y)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
        check_classification_targets(y)
        y = np.asarray(y)
        largest = max(float(X.max()), -float(X.min()))
        if largest > _MAX_ENTRY:
            raise ValueError(
                f"X must be at most {_MAX_ENTRY:g} in absolute value, got {largest:g}: divide "
                "its column by a constant."
            )
        weight, group = row_weights(sample_weight, y.size), row_groups(groups, y.size)
        is_counted = weight > 0
        # Rows with weight 0 are dropped, because they would affect quantiles and folds.
        if not is_counted.all():
            X = X[is_counted]
            y = y[is_counted]
            weight = weight[is_counted]
            group = None if group is None else group[is_counted]
        classes, index = np.unique(y, return_inverse=True)
        check_several_classes(classes)
        # Class weights affect only the log-odds; rankings do not depend on them.
        class_weight = self._factors(classes, y) * np.bincount(index, weight)
        rankings = []
        for is_class, rows, candidate in self._search(X, classes, index, weight, group):
            totals = class_weight[~is_class].sum(), class_weight[is_class].sum()
            rankings.append((candidate.log_odds(candidate.refitted(rows), *totals), candidate))
        self._set_rankings(rankings)
        return self

    def _search(
        self,
        X: Matrix,
        classes: NDArray[Any],
        index: NDArray[np.intp],
        weight: NDArray[np.float64],
        group: NDArray[np.intp] | None,
    ) -> Iterator[tuple[NDArray[np.bool_], LabeledRows, Candidate]]:
        """Fit a candidate for each ranking; ``index`` is the class index of each row.

        Each candidate is yielded with a mask of the positive class and with its rows.
        """
        max_fpr = region_border(self.max_fpr)
        n_folds = whole_number("n_folds", self.n_folds, least=2)
        n_rounds = whole_number("n_rounds", self.n_rounds, least=0)
        widths = finite_vector("widths", self.widths)
        if not (widths >= _MIN_WIDTH).all():
            raise ValueError(f"widths must be at least {_MIN_WIDTH}, got {self.widths}.")
        rng = check_random_state(self.random_state)
        ascent = Ascent(tuple(widths.tolist()), n_rounds, rng)
        self.classes_: NDArray[Any] = classes
        for positive in [1] if classes.size == 2 else range(classes.size):
            is_class = np.arange(classes.size) == positive
            is_positive = is_class[index]
            rank = random_ranks(is_positive, rng)
            rows = LabeledRows(X, Sample(is_positive, weight, group), rank, max_fpr)
            yield is_class, rows, search_ranking(rows, ascent, n_folds)

    def _set_rankings(self, rankings: Sequence[tuple[LinearModel, Candidate]]) -> None:
        """Set the fitted attributes from log-odds models and their candidates."""
        self.coef_ = np.array([model.coef for model, _ in rankings])
        self.intercept_ = np.array([model.intercept for model, _ in rankings])
        self.history_ = [candidate.history for _, candidate in rankings]
        self.n_iter_ = max(history.chosen for history in self.history_)

    def decision_function(self, X: Matrix) -> NDArray[np.float64]:
        """Predict log-odds of the second class, or of each class against the rest."""
        check_is_fitted(self)
        check_masked("X", X)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        scores = [
            weighted_sums(X, coef) + intercept
            for coef, intercept in zip(self.coef_, self.intercept_, strict=True)
        ]
        return scores[0] if len(scores) == 1 else np.column_stack(scores)

    def __sklearn_tags__(self) -> Any:
        """Return tags that allow sparse matrices."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _factors(self, classes: NDArray[Any], y: NDArray[Any]) -> NDArray[np.float64]:
        given = compute_class_weight(self.class_weight, classes=classes, y=y)
        factor = finite_vector("class_weight", given)
        if factor.min() <= 0:
            raise ValueError(f"class_weight must be positive, got {factor.min()}.")
        return factor
