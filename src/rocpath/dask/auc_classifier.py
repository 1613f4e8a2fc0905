"""AUCClassifier for rows in parts: fitted on a cluster, lazy in what it predicts."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Self

import dask.array as da
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state, compute_class_weight
from sklearn.utils.validation import check_is_fitted

from rocpath.arguments import finite_vector
from rocpath.dask.parts import Facts, as_block, column_names, examined, make_parts
from rocpath.dask.passes import Passes
from rocpath.dask.progress import progress_line
from rocpath.dask.refinement import AllRows
from rocpath.dask.thinning import thinned_rows
from rocpath.ranking import AUCClassifier as LocalClassifier

if TYPE_CHECKING:
    from distributed import Client
    from numpy.typing import NDArray

_FITTED = ("classes_", "coef_", "intercept_", "n_iter_", "history_", "n_features_in_")


class AUCClassifier(BaseEstimator):  # type: ignore[misc]
    """Classify rows in parts by a linear ranking with a large area under the ROC curve.

    A ranking is found as :class:`rocpath.AUCClassifier` finds it, among at most 20,000
    rows of every class, which come to the client. A table with no more is fitted as in
    memory, to the last bit. Else a hash of a row's number decides which rows come, so
    that partitions do not matter, and all rows refine what is found: a convex start is
    fitted to them by Newton's method, and a climb of AUC is kept only if the AUC of all
    rows rises (with ``max_fpr``, the area left of it). With more than 200 columns the
    start stays that of the drawn rows.

    X is read once to check it, once to draw rows, and as often as Newton's method
    moves, two to five times; twice more if a climb is tried on all rows. Workers keep
    X where it takes at most 0.4 of their memory; else it is made anew in each pass.

    Parameters
    ----------
    n_folds, widths, n_rounds, max_fpr, class_weight, warm_start, random_state, verbose
        As for :class:`rocpath.AUCClassifier`.
    client : Client, optional
        Whose workers compute; by default the last one made, or none.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, history_, n_features_in_, feature_names_in_
        As for :class:`rocpath.AUCClassifier`.
    n_passes_ : int
        How often the last fit read X.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rocpath.dask import AUCClassifier, auc
    >>> X, y = map(da.from_array, load_breast_cancer(return_X_y=True))
    >>> model = AUCClassifier(random_state=0).fit(X[::2], y[::2])
    >>> auc(y[1::2], model.decision_function(X[1::2])) > 0.98
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
        client: Client | None = None,
    ) -> None:
        self.n_folds = n_folds
        self.widths = widths
        self.n_rounds = n_rounds
        self.max_fpr = max_fpr
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose
        self.client = client

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the rankings.

        Parameters
        ----------
        X : Dask array or data frame, shape (n_rows, n_features)
            Features; blocks may be CSR matrices, and their sizes unknown.
        y : Dask array or series, shape (n_rows,)
            Labels of two or more classes.
        sample_weight : Dask array or series, shape (n_rows,), optional
            How much each row counts; rows of weight 0 are left out.

        Returns
        -------
        self
        """
        local = self._unfitted()
        with (
            progress_line(is_shown=self.verbose) as show,
            Passes(self.client, show) as passes,
        ):
            parts = make_parts("X", X, y, sample_weight)
            parts, facts = examined(passes, "X", parts)
            _check_classes(facts.classes)
            some = thinned_rows(passes, parts, facts, self._seed())
            local.n_features_in_ = facts.n_columns
            names = column_names(X)
            if names is not None:
                local.feature_names_in_ = names
            all_rows = AllRows(passes, parts, facts, self.max_fpr)
            class_weight = self._factors(facts) * facts.class_weights
            searched = local._search(
                some.X, facts.classes, some.place, some.weight, show
            )
            rankings = []
            for k, (_, candidate) in enumerate(searched):
                coef = candidate.coef
                if not some.is_all:
                    coef = all_rows.refined(local._is_positive(k), candidate)
                of_classes = local._class_weights(class_weight, k)
                rankings.append(candidate.ranking(coef, of_classes))
            local._set_rankings(rankings)
            self.n_passes_ = passes.n_passes
        self._take(local)
        return self

    def decision_function(self, X: Any) -> da.Array:
        """Predict log-odds: of the second class, or of each class against the rest.

        Parameters
        ----------
        X : Dask array or data frame, shape (n_rows, n_features)
            Features.

        Returns
        -------
        Dask array, shape (n_rows,) or (n_rows, n_classes)
            Computed when asked for.
        """
        return self._lazy("decision_function", X, np.dtype(np.float64))

    def predict(self, X: Any) -> da.Array:
        """Predict the class with the largest log-odds.

        Parameters
        ----------
        X : Dask array or data frame, shape (n_rows, n_features)
            Features.

        Returns
        -------
        Dask array, shape (n_rows,)
            Computed when asked for.
        """
        check_is_fitted(self)
        return self._lazy("predict", X, self.classes_.dtype)

    def predict_proba(self, X: Any) -> da.Array:
        """Predict probabilities: the logistic function of the log-odds.

        Parameters
        ----------
        X : Dask array or data frame, shape (n_rows, n_features)
            Features.

        Returns
        -------
        Dask array, shape (n_rows, n_classes)
            Computed when asked for.
        """
        return self._lazy("predict_proba", X, np.dtype(np.float64))

    def to_local(self) -> LocalClassifier:
        """Return the classifier for rows in memory that predicts the same.

        Returns
        -------
        rocpath.AUCClassifier
        """
        check_is_fitted(self)
        local = self._unfitted()
        for name in (*_FITTED, "feature_names_in_"):
            if hasattr(self, name):
                setattr(local, name, copy.copy(getattr(self, name)))
        return local

    def _lazy(self, method: str, X: Any, dtype: np.dtype[Any]) -> da.Array:
        local = self.to_local()
        is_wide = method == "predict_proba" or (
            method == "decision_function" and local.classes_.size > 2
        )
        names = column_names(X)
        if names is not None:
            expected = getattr(local, "feature_names_in_", names)
            if not np.array_equal(names, expected):
                raise ValueError(
                    f"X must have the columns {expected.tolist()}, in this order, got "
                    f"{names.tolist()}."
                )
            X = X.to_dask_array(optimize=False)  # which may join partitions
        if not isinstance(X, da.Array):
            raise TypeError(
                f"X must be a Dask array or data frame, got {type(X).__name__}."
            )
        local.__dict__.pop("feature_names_in_", None)  # blocks have no names
        width = (local.classes_.size,) if is_wide else ()
        return da.map_blocks(
            _predicted,
            X.rechunk({1: -1}) if X.numblocks[1] != 1 else X,
            local,
            method,
            chunks=(X.chunks[0], width) if is_wide else (X.chunks[0],),
            drop_axis=None if is_wide else 1,
            dtype=dtype,
            meta=np.empty((0,) * (2 if is_wide else 1), dtype=dtype),
        )

    def _unfitted(self) -> LocalClassifier:
        settings = self.get_params()
        settings.pop("client")
        local = LocalClassifier(**settings)
        if self.warm_start and hasattr(self, "coef_"):
            local.classes_, local.coef_ = self.classes_, self.coef_
        return local

    def _take(self, local: LocalClassifier) -> None:
        for name in (*_FITTED, "feature_names_in_"):
            if hasattr(local, name):
                setattr(self, name, getattr(local, name))

    def _factors(self, facts: Facts) -> NDArray[np.float64]:
        """Return the weights of the classes, by their counts alone."""
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            counts = facts.class_counts
            return np.asarray(counts.sum() / (counts.size * counts))
        given = compute_class_weight(
            self.class_weight, classes=facts.classes, y=facts.classes
        )
        factor = finite_vector("class_weight", given)
        if factor.min() <= 0:
            raise ValueError(f"class_weight must be positive, got {factor.min()}.")
        return factor

    def _seed(self) -> int:
        """Return what rows are drawn by; the local fit draws its own numbers."""
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31))


def _check_classes(classes: NDArray[Any]) -> None:
    if classes.size < 2:
        raise ValueError(
            f"y must hold at least two classes, got one class: {classes[0]!r}."
        )
    # As in memory: each of many numbers would be a class.
    if classes.dtype.kind == "f" and (classes != np.rint(classes)).any():
        fraction = classes[classes != np.rint(classes)][0]
        raise ValueError(f"y must be labels of classes, got the number {fraction}.")


def _predicted(block: Any, local: LocalClassifier, method: str) -> NDArray[Any]:
    """Predict a block, which may be empty."""
    rows = as_block("X", block)
    if rows.shape[0] > 0:
        return np.asarray(getattr(local, method)(rows))
    shape = np.shape(getattr(local, method)(np.zeros((1, local.n_features_in_))))
    return np.empty((0, *shape[1:]), dtype=np.float64)
