"""AUCClassifier: linear rankings with the interface of scikit-learn."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from rocpath.arguments import finite_vector, refuse_masked, whole_number
from rocpath.binary_labels import row_weights
from rocpath.matrices import weighted_sums
from rocpath.partial_auc import region_border
from rocpath.ranking.auc_ascent import Ascent
from rocpath.ranking.fit import Settings, search_ranking
from rocpath.ranking.labeled_rows import LabeledRows
from rocpath.ranking.scores import LogOddsClassifier, refuse_one_class

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike, NDArray

    from rocpath.matrices import Matrix
    from rocpath.ranking.fit import Candidate, Ranking

_SMALLEST_WIDTH = 0.001  # of which the grid has 160,000 cells


class AUCClassifier(LogOddsClassifier, BaseEstimator):  # type: ignore[misc]
    """Classify by a linear ranking with a large area under the ROC curve.

    The start is an average of linear models that minimize a logistic loss, a
    class-balanced one of columns with clipped tails, and a class-balanced squared hinge
    loss, each with many sizes of an L2 term; a model counts by its AUC on rows held
    out. From there the AUC itself is climbed: smoothed, over all columns at once, if
    each class has ten rows for every column; and by globally best AUC steps
    (:func:`best_auc_step`) along single columns. It goes as far, halfway or all the
    way, as the rows held out say that it helps. Columns are standardized inside; sparse
    data of more than 200 columns stay sparse. Of more than 20,000 rows of a class, the
    others are left out when climbing, and of more than 3,000 when choosing.

    With more than two classes, one ranking is fitted for each class against the rest.

    Parameters
    ----------
    n_folds : int
        Parts of the rows, each held out once; only two of them if the rows to choose
        by have more than ten million entries.
    widths : tuple of float
        Over which the AUC is smoothed, one after the other, in standard deviations of
        the predictions, at least 0.001, until one gains nothing; empty for no
        smoothing.
    n_rounds : int
        Most rounds of steps along single columns, up to 64 of them a round; the first
        that gains nothing is the last.
    max_fpr : float, optional
        Rank for the area left of this false positive rate, of all AUCs above: it is
        climbed, and decides on rows held out.
    class_weight : dict, "balanced" or None
        Weights of the classes. They do not change the rankings, but probabilities and
        predicted classes.
    warm_start : bool
        Climb from the last fit, if it was to as many columns and the same classes,
        instead of from new convex starts.
    random_state : int, RandomState or None
        Decides which rows are held out and the order of columns.
    verbose : bool
        Show progress on standard error.

    Attributes
    ----------
    classes_ : array, shape (n_classes,)
        The labels, sorted; the last of two is the positive class.
    coef_ : array, shape (1, n_features) or (n_classes, n_features)
        Weights of the columns as given, such that predictions are log-odds; at most
        1e308, which a column with a smaller deviation than 1e-308 may need.
    intercept_ : array, shape (1,) or (n_classes,)
        Constants. AUC does not depend on them: both are chosen such that the logistic
        function of the decision function fits the labels of the rows held out (Platt).
    n_iter_ : int
        The largest of the ``chosen`` stages in ``history_``; 0 for the start.
    history_ : list of History
        For each ranking, what was tried and its AUC on the rows held out; with
        ``max_fpr``, the area left of it, which is at most ``max_fpr``.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : array of str, shape (n_features,)
        Their names, where X has names.

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
        warm_start: bool = False,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_folds = n_folds
        self.widths = widths
        self.n_rounds = n_rounds
        self.max_fpr = max_fpr
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self, X: Matrix, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the rankings.

        Parameters
        ----------
        X : array, data frame or sparse matrix, shape (n_samples, n_features)
            Features.
        y : array-like, shape (n_samples,)
            Labels of two or more classes.
        sample_weight : array-like, shape (n_samples,), optional
            How much each row counts; rows of weight 0 are left out.
        """
        refuse_masked("X", X)
        refuse_masked("y", y)
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32]
        )
        check_classification_targets(y)
        X, y, weight = _counted_rows(X, np.asarray(y), sample_weight)
        classes, place = np.unique(y, return_inverse=True)
        refuse_one_class(classes)
        # For the log-odds alone: AUC and the rankings do not see how often a class is.
        class_weight = self._factors(classes, y) * np.bincount(place, weight)
        rankings = []
        show = _show if self.verbose else None
        searched = self._search(X, classes, place, weight, show)
        for k, (rows, candidate) in enumerate(searched):
            coef = candidate.refitted(rows)
            of_classes = self._class_weights(class_weight, k)
            rankings.append(candidate.ranking(coef, of_classes))
        self._set_rankings(rankings)
        if self.verbose:
            sys.stderr.write("\n")
        return self

    def _search(
        self,
        X: Matrix,
        classes: NDArray[Any],
        place: NDArray[np.intp],
        weight: NDArray[np.float64],
        progress: Callable[[str], None] | None,
    ) -> Iterator[tuple[LabeledRows, Candidate]]:
        """Fit a candidate for each ranking, given the index of each label's class."""
        # Asked before ``classes_`` changes, which are those of the last fit until then.
        before = self._coef_before(classes, X.shape[1])
        max_fpr = region_border(self.max_fpr)
        self.classes_: NDArray[Any] = classes
        rng = check_random_state(self.random_state)
        for k in range(self._n_rankings):
            is_positive = self._is_positive(k)[place]
            rows = LabeledRows.with_random_ranks(X, is_positive, weight, rng, max_fpr)
            given = None if before is None else before[k]
            yield rows, search_ranking(rows, self._settings(k, rng, progress), given)

    def _is_positive(self, k: int) -> NDArray[np.bool_]:
        """Return the class that ranking k ranks highest: of two classes the second."""
        positive = k if self._n_rankings > 1 else 1
        return np.asarray(np.arange(self.classes_.size) == positive)

    def _class_weights(
        self, class_weight: NDArray[np.float64], k: int
    ) -> tuple[float, float]:
        """Sum the weights of the negative and of the positive classes of ranking k."""
        is_positive = self._is_positive(k)
        return class_weight[~is_positive].sum(), class_weight[is_positive].sum()

    def _set_rankings(self, rankings: list[Ranking]) -> None:
        self.coef_ = np.array([ranking.model.coef for ranking in rankings])
        self.intercept_ = np.array([ranking.model.intercept for ranking in rankings])
        self.history_ = [ranking.history for ranking in rankings]
        self.n_iter_ = max(history.chosen for history in self.history_)

    def decision_function(self, X: Matrix) -> NDArray[np.float64]:
        """Predict log-odds: of the second class, or of each class against the rest."""
        check_is_fitted(self)
        refuse_masked("X", X)
        X = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False
        )
        scores = [
            weighted_sums(X, coef) + intercept
            for coef, intercept in zip(self.coef_, self.intercept_, strict=True)
        ]
        return scores[0] if len(scores) == 1 else np.column_stack(scores)

    def __sklearn_tags__(self) -> Any:
        """Tell that sparse matrices are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def _n_rankings(self) -> int:
        return 1 if self.classes_.size == 2 else int(self.classes_.size)

    def _factors(self, classes: NDArray[Any], y: NDArray[Any]) -> NDArray[np.float64]:
        factor = finite_vector(
            "class_weight",
            compute_class_weight(self.class_weight, classes=classes, y=y),
        )
        if factor.min() <= 0:
            raise ValueError(f"class_weight must be positive, got {factor.min()}.")
        return factor

    def _coef_before(
        self, classes: NDArray[Any], n_features: int
    ) -> NDArray[np.float64] | None:
        """Return the last fit's coef, if asked for and of use."""
        if not self.warm_start or not hasattr(self, "coef_"):
            return None
        is_alike = np.array_equal(self.classes_, classes)
        return self.coef_ if is_alike and self.coef_.shape[1] == n_features else None

    def _settings(
        self,
        k: int,
        rng: np.random.RandomState,
        progress: Callable[[str], None] | None,
    ) -> Settings:
        def show(doing: str) -> None:
            if progress is not None:
                which = f"class {k + 1} of {self._n_rankings}: "
                progress((which if self._n_rankings > 1 else "") + doing)

        widths = finite_vector("widths", self.widths)
        if not (widths >= _SMALLEST_WIDTH).all():
            raise ValueError(
                f"widths must be at least {_SMALLEST_WIDTH}, got {self.widths}."
            )
        return Settings(
            n_folds=whole_number("n_folds", self.n_folds, least=2),
            ascent=Ascent(
                widths=tuple(widths.tolist()),
                n_rounds=whole_number("n_rounds", self.n_rounds, least=0),
                rng=rng,
            ),
            progress=show,
        )


def _show(doing: str) -> None:
    sys.stderr.write(f"\r{doing:<60}")
    sys.stderr.flush()


def _counted_rows(
    X: Matrix, y: NDArray[Any], sample_weight: ArrayLike | None
) -> tuple[Matrix, NDArray[Any], NDArray[np.float64]]:
    """Leave out rows of weight 0."""
    weight = row_weights(sample_weight, y.size)
    is_counted = weight > 0
    # Not kept with a weight of 0: they would still decide about quantiles and folds.
    if is_counted.all():
        return X, y, weight
    return X[is_counted], y[is_counted], weight[is_counted]
