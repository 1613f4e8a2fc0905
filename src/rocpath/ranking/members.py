"""Members of a blend: their cross-validated scores, and the default models."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.utils.validation import has_fit_parameter

from rocpath.matrices import copied_rows, equal_rows
from rocpath.model_selection.folds import Fold
from rocpath.ranking.auc_classifier import AUCClassifier
from rocpath.ranking.scores import class_scores, score_columns, score_method

Scored: TypeAlias = tuple[Any, NDArray[np.float64]]
Excluded: TypeAlias = tuple[str, Exception]

# Number of rows up to which a kernel machine takes no longer than trees.
_MAX_ROWS_FOR_KERNELS = 5_000
# Number of columns up to which splines are not the slowest member.
_MAX_COLUMNS_FOR_SPLINES = 100


def portfolio(X: Any, *, random_state: int | None) -> list[tuple[str, Any]]:
    """Return default models for a table of this size; they accept missing values."""
    (n_rows, n_columns), is_dense = X.shape, not sparse.issparse(X)
    trees = ExtraTreesClassifier(200, min_samples_leaf=2, random_state=random_state)
    members = [
        ("linear", make_pipeline(_imputer(), AUCClassifier(random_state=random_state))),
        ("trees", make_pipeline(_imputer(), trees)),
    ]
    # Boosting and splines in scikit-learn require dense data.
    if is_dense:
        members.append(("boosting", HistGradientBoostingClassifier(random_state=random_state)))
    if is_dense and n_columns <= _MAX_COLUMNS_FOR_SPLINES:
        splines = SplineTransformer(knots="quantile", extrapolation="constant")
        logistic = LogisticRegression(C=0.3, max_iter=1000)
        curves = make_pipeline(_imputer(), StandardScaler(), splines, logistic)
        members.append(("splines", curves))
    if n_rows <= _MAX_ROWS_FOR_KERNELS:
        scaler = StandardScaler(with_mean=is_dense)
        # The decision function is sufficient; probabilities of an SVC would take five more fits.
        kernels = SVC(class_weight="balanced", random_state=random_state)
        members.append(("kernels", make_pipeline(_imputer(), scaler, kernels)))
    return members


def _imputer() -> SimpleImputer:
    # An empty column must not change the number of columns.
    return SimpleImputer(strategy="median", keep_empty_features=True)


def scored_members(
    estimators: Sequence[tuple[str, Any]],
    X: Any,
    y: NDArray[Any],
    sample_weight: NDArray[np.float64] | None,
    *,
    folds: Sequence[Fold] | None,
    n_jobs: int | None,
) -> tuple[dict[str, Scored], dict[str, Excluded]]:
    """Cross-validate the scores of every model, and fit it to all rows.

    If ``folds`` is None, the models must already be fitted to other rows. A model that
    fails is excluded.

    Returns
    -------
    members : dict
        Fitted model and its held-out scores, by name; scores have one column for two
        classes, otherwise one for each class.
    excluded : dict
        Reason and exception of each excluded model, by name.
    """
    members: dict[str, Scored] = {}
    excluded: dict[str, Excluded] = {}
    classes = np.unique(y)
    n_columns = 1 if classes.size == 2 else classes.size

    def scored(estimator: Any) -> Scored:
        if folds is None:
            # A different order of the classes would reverse the scores.
            known = getattr(estimator, "classes_", None)
            if known is not None and not np.array_equal(known, classes):
                raise ValueError(f"it was fitted to classes {known.tolist()}")
            return estimator, class_scores(estimator, X)
        # A model that does not accept weights may still rank well.
        key = None if sample_weight is None else _weight_parameter(estimator)
        options: dict[str, Any] = {"method": score_method(estimator), "n_jobs": n_jobs}
        params = {} if key is None else {key: sample_weight}
        # Weights are passed to every model that accepts them, even without a metadata request.
        with config_context(enable_metadata_routing=False):
            held_out = cross_val_predict(estimator, X, y, cv=folds, params=params, **options)
            return clone(estimator).fit(X, y, **params), score_columns(held_out)

    for name, estimator in estimators:
        try:
            fitted, score = scored(estimator)
            if score.shape[1] != n_columns:
                raise ValueError(f"it returned {score.shape[1]} scores per row, not {n_columns}")
            check_finite(name, score)
            members[name] = fitted, score
        # A third-party model may raise any exception.
        except Exception as error:
            excluded[name] = f"{type(error).__name__}: {error}", error
    return members, excluded


def _weight_parameter(estimator: Any) -> str | None:
    """Return the name of the weight argument of ``fit``, or None."""
    if isinstance(estimator, Pipeline):
        step, last = estimator.steps[-1]
        inner = _weight_parameter(last)
        return None if inner is None else f"{step}__{inner}"
    return "sample_weight" if has_fit_parameter(estimator, "sample_weight") else None


def check_finite(name: str, score: NDArray[np.float64]) -> None:
    """Raise an error if a model has a score that is not finite."""
    rows, columns = np.nonzero(~np.isfinite(score))
    if rows.size:
        value = score[rows[0], columns[0]]
        raise ValueError(
            f"scores must be finite, got {value} from model {name!r} for row {rows[0]}."
        )


def copied_frame_rows(X: Any) -> NDArray[np.intp]:
    """Assign numbers to the rows of any table; equal rows share a number."""
    if not hasattr(X, "columns"):
        return copied_rows(equal_rows(X))
    columns = [np.asarray(X[name]).astype(str) for name in X.columns]
    codes = [np.unique(column, return_inverse=True)[1] for column in columns]
    return copied_rows(equal_rows(np.column_stack(codes)))
