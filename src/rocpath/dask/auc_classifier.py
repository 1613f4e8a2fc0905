"""AUCClassifier for partitioned rows, fitted on a cluster, with lazy predictions."""

import copy
from typing import Any, Self

import dask.array as da
import numpy as np
from dask.base import is_dask_collection
from distributed import Client
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import accuracy_score
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from rocpath.dask.partitions import (
    Partition,
    PartitionedRows,
    as_block,
    column_names,
    make_partitions,
)
from rocpath.dask.passes import Passes, ReturnInvalid
from rocpath.dask.progress import progress_line
from rocpath.dask.subsampling import refine, subsample
from rocpath.ranking import AUCClassifier as LocalClassifier
from rocpath.sample import check_several_classes, row_groups


class AUCClassifier(LocalClassifier):
    """Linear classifier for partitioned rows that maximizes AUC.

    The model is that of :class:`rocpath.AUCClassifier`, fitted on the client to a
    subsample of at most 20,000 rows per class. If the subsample contains all rows, the
    result is bitwise identical to an in-memory fit. Otherwise, rows are selected by a
    hash of the row number, so that the subsample does not depend on the partitioning,
    and the model is refined on all rows: the result of the ascent is kept if it
    increases the AUC on all rows (with ``max_fpr``, the partial AUC); if not, the
    initial model is refitted by Newton's method. With more than 200 columns, the
    initial model is not refitted.

    X is read once to check it, once to subsample it, twice to evaluate an ascent on all
    rows, and two to five times by Newton's method. Workers keep X if it needs at most
    40% of their memory; otherwise it is recomputed in each pass.

    Cross-validation in scikit-learn selects rows by position, which Dask supports only
    for arrays with known chunk sizes. For data frames and series, it fails with an
    ``AttributeError`` or ``IndexingError`` before this class is called; convert both:
    ``cross_val_score(AUCClassifier(), X.to_dask_array(lengths=True),
    y.to_dask_array(lengths=True))``.

    Parameters
    ----------
    n_folds, widths, n_rounds, max_fpr, class_weight, random_state
        Same as for :class:`rocpath.AUCClassifier`.
    verbose : bool
        Whether to show progress on standard error.
    client : Client, optional
        Dask client that runs the computation. The default is the most recent client
        or, if there is none, Dask's local scheduler.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, history_, n_features_in_, feature_names_in_
        Same as for :class:`rocpath.AUCClassifier`.
    n_passes_ : int
        Number of passes over X in the last fit.

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
        random_state: Any = None,
        verbose: bool = False,
        client: Client | None = None,
    ) -> None:
        super().__init__(
            n_folds=n_folds,
            widths=widths,
            n_rounds=n_rounds,
            max_fpr=max_fpr,
            class_weight=class_weight,
            random_state=random_state,
        )
        self.verbose = verbose
        self.client = client

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : Dask array or data frame, shape (n_rows, n_features)
            Features. Blocks may be CSR matrices, and chunk sizes may be unknown.
        y : Dask array or series, shape (n_rows,)
            Labels of two or more classes. They may be a NumPy array if X is a Dask
            array with known chunk sizes.
        sample_weight : Dask array or series, shape (n_rows,), optional
            Sample weights. Rows with weight 0 are dropped.
        groups : Dask array or series, shape (n_rows,), optional
            Groups of dependent rows, as for :class:`rocpath.AUCClassifier`.

        Returns
        -------
        self
        """
        seed = self.random_state
        if not isinstance(seed, (int, np.integer)):
            seed = check_random_state(seed).randint(2**31)
        columns = {"y": _lazy_labels(X, y), "sample_weight": sample_weight, "groups": groups}
        with progress_line(is_shown=self.verbose) as show, Passes(self.client, show) as passes:
            rows = PartitionedRows.read(passes, "X", X, **columns)
            check_classification_targets(rows.classes)
            check_several_classes(rows.classes)
            sample = subsample(rows, int(seed))
            group = row_groups(sample.groups, sample.y.size)
            class_weight = self._class_factors(rows) * rows.class_weights
            show("fitting a subsample")
            searched = self._search(sample.block, rows.classes, sample.y, sample.weight, group)
            rankings = []
            for is_class, _, candidate in searched:
                coef = candidate.coef
                if sample.y.size < sum(rows.n_rows):
                    coef = refine(rows, is_class, candidate, self.max_fpr)
                totals = class_weight[~is_class].sum(), class_weight[is_class].sum()
                rankings.append((candidate.log_odds(coef, *totals), candidate))
        self._set_rankings(rankings)
        self.n_features_in_, self.n_passes_ = rows.n_columns, passes.n_passes
        # An earlier fit may have set names.
        self.__dict__.pop("feature_names_in_", None)
        if (names := column_names(X)) is not None:
            self.feature_names_in_ = names
        return self

    def decision_function(self, X: Any) -> Any:
        """Predict log-odds of the second class, or of each class against the rest.

        Parameters
        ----------
        X : Dask array or data frame, shape (n_rows, n_features)
            Features. If they are in memory, the predictions are too.

        Returns
        -------
        Dask array, shape (n_rows,) or (n_rows, n_classes)
            Lazy predictions.
        """
        return self._lazy("decision_function", X)

    def predict(self, X: Any) -> Any:
        """Predict the class with the largest log-odds.

        Parameters
        ----------
        X : Dask array or data frame, shape (n_rows, n_features)
            Features. If they are in memory, the predictions are too.

        Returns
        -------
        Dask array, shape (n_rows,)
            Lazy predictions.
        """
        return self._lazy("predict", X)

    def predict_proba(self, X: Any) -> Any:
        """Predict class probabilities, the logistic function of the log-odds.

        Parameters
        ----------
        X : Dask array or data frame, shape (n_rows, n_features)
            Features. If they are in memory, the predictions are too.

        Returns
        -------
        Dask array, shape (n_rows, n_classes)
            Lazy predictions.
        """
        return self._lazy("predict_proba", X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute the accuracy of the predicted classes.

        Parameters
        ----------
        X : Dask array or data frame, shape (n_rows, n_features)
            Features.
        y : Dask array or series, shape (n_rows,)
            Labels, as for :meth:`fit`.
        sample_weight : Dask array or series, shape (n_rows,), optional
            Sample weights.

        Returns
        -------
        float
            Fraction of correct predictions, as in scikit-learn. For the AUC, use
            ``auc(y, model.decision_function(X))``.
        """
        if not is_dask_collection(X):
            return float(self.to_local().score(X, y, sample_weight))
        local = self._without_names(X)
        with Passes(self.client) as passes:
            tasks = make_partitions("X", X, y=_lazy_labels(X, y), sample_weight=sample_weight)
            counts = passes.run("scoring", ReturnInvalid(_count_correct), tasks, local=local)
        correct, total = np.sum(counts, axis=0)
        return float(correct / total)

    def to_local(self) -> LocalClassifier:
        """Return an in-memory classifier with the same predictions.

        Returns
        -------
        rocpath.AUCClassifier
        """
        check_is_fitted(self)
        settings = self.get_params()
        del settings["client"], settings["verbose"]
        local = LocalClassifier(**settings)
        for name, fitted in vars(self).items():
            if name.endswith("_") and name != "n_passes_":
                setattr(local, name, copy.copy(fitted))
        return local

    def _lazy(self, method: str, X: Any) -> Any:
        if not is_dask_collection(X):
            return getattr(self.to_local(), method)(X)
        local = self._without_names(X)
        if column_names(X) is not None:
            # Optimization may combine partitions.
            X = X.to_dask_array(optimize=False)
        # Predictions for an empty block have the right dtype and number of columns.
        meta = _predict_block(np.empty((0, local.n_features_in_)), local, method)
        rows = X.rechunk({1: -1}) if X.numblocks[1] != 1 else X
        chunks, dropped = (X.chunks[0], *meta.shape[1:]), None if meta.ndim == 2 else 1
        return da.map_blocks(
            _predict_block, rows, local, method, chunks=chunks, drop_axis=dropped, meta=meta
        )

    def _without_names(self, X: Any) -> LocalClassifier:
        """Check the columns of X, and return a classifier for unnamed columns."""
        local, names = self.to_local(), column_names(X)
        expected = local.__dict__.pop("feature_names_in_", names)
        if names is not None and not np.array_equal(names, expected):
            raise ValueError(
                f"X must have the columns {expected.tolist()}, in this order, got {names.tolist()}."
            )
        if X.ndim == 2 and X.shape[1] != local.n_features_in_:
            raise ValueError(f"X must have {local.n_features_in_} columns, got {X.shape[1]}.")
        return local

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted classifier with the same client, which cannot be copied."""
        settings = self.get_params(deep=False)
        del settings["client"]
        return type(self)(**clone(settings, safe=False), client=self.client)

    def __getstate__(self) -> dict[str, Any]:
        """Drop the client, which cannot be pickled."""
        return {**super().__getstate__(), "client": None}

    def _class_factors(self, rows: PartitionedRows) -> NDArray[np.float64]:
        """Return the factor by which ``class_weight`` multiplies the weight of each class."""
        if self.class_weight == "balanced":
            counts = rows.class_counts
            return np.asarray(counts.sum() / (counts.size * counts))
        return self._factors(rows.classes, rows.classes)


def _lazy_labels(X: Any, y: Any) -> Any:
    """Convert NumPy labels, which scikit-learn may pass, to a Dask array chunked like X."""
    if isinstance(X, da.Array) and isinstance(y, np.ndarray) and y.shape == X.shape[:1]:
        return da.from_array(y, chunks=X.chunks[:1])
    return y


def _count_correct(rows: Partition, local: LocalClassifier) -> NDArray[np.float64]:
    """Return the total weights of the correct predictions and of all rows."""
    if rows.y.size == 0:
        return np.zeros(2)
    weight, predicted = rows.weight, local.predict(rows.block)
    correct = accuracy_score(rows.y, predicted, sample_weight=weight, normalize=False)
    return np.array([correct, weight.sum()])


def _predict_block(block: Any, local: LocalClassifier, method: str) -> NDArray[Any]:
    """Return predictions for the rows of a block, which may be empty."""
    rows = as_block("X", block)
    if rows.shape[0] > 0:
        return np.asarray(getattr(local, method)(rows))
    return np.asarray(getattr(local, method)(np.zeros((1, local.n_features_in_))))[:0]
