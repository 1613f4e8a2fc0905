"""Members of a blend: their cross-validated scores, and the default models."""

from __future__ import annotations

import multiprocessing
import numbers
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
    cross_val_predict,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import SplineTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import has_fit_parameter

from rocpath.arguments import whole_number
from rocpath.matrices import copied_rows, equal_rows
from rocpath.ranking.auc_classifier import AUCClassifier
from rocpath.ranking.scores import class_scores, score_columns, score_method

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Estimators = Sequence[tuple[str, Any]]
    Splits = Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]]

_FOLDS_OF_SCORES = 5  # to evaluate weights of fitted models, the default of ``cv``
# Number of rows up to which a kernel machine takes no longer than trees.
_MOST_ROWS_FOR_KERNELS = 5_000
# Number of columns up to which splines are not the slowest member.
_MOST_COLUMNS_FOR_SPLINES = 100


def portfolio(
    n_rows: int, n_columns: int, *, is_dense: bool, random_state: int
) -> list[tuple[str, Any]]:
    """Return the default models for a table of this size; values may be missing."""
    trees = ExtraTreesClassifier(200, min_samples_leaf=2, random_state=random_state)
    members = [
        ("linear", make_pipeline(_imputer(), AUCClassifier(random_state=random_state))),
        ("trees", make_pipeline(_imputer(), trees)),
    ]
    # Boosting and splines of scikit-learn require dense data.
    if is_dense:
        boosting = HistGradientBoostingClassifier(random_state=random_state)
        members.append(("boosting", boosting))
    if is_dense and n_columns <= _MOST_COLUMNS_FOR_SPLINES:
        splines = SplineTransformer(knots="quantile", extrapolation="constant")
        logistic = LogisticRegression(C=0.3, max_iter=1000)
        curves = make_pipeline(_imputer(), StandardScaler(), splines, logistic)
        members.append(("splines", curves))
    if n_rows <= _MOST_ROWS_FOR_KERNELS:
        scaler = StandardScaler(with_mean=is_dense)
        # The decision function is enough: probabilities of an SVC take five more fits.
        kernels = SVC(class_weight="balanced", random_state=random_state)
        members.append(("kernels", make_pipeline(_imputer(), scaler, kernels)))
    return members


def _imputer() -> SimpleImputer:
    # An empty column must not change the number of columns.
    return SimpleImputer(strategy="median", keep_empty_features=True)


class Member(NamedTuple):
    """A fitted model and its cross-validated scores.

    Scores have one column for two classes, otherwise one for each class.
    """

    name: str
    estimator: Any
    score: NDArray[np.float64]


class ExcludedModel(NamedTuple):
    """A model that is excluded from the blend, and the reason."""

    name: str
    reason: str
    error: Exception


def scored_members(
    estimators: Estimators,
    X: Any,
    y: NDArray[Any],
    sample_weight: NDArray[np.float64] | None,
    *,
    folds: Splits | None,
    n_jobs: int | None,
    timeout: float | None,
) -> tuple[list[Member], list[ExcludedModel]]:
    """Cross-validate the scores of every model, and fit it to all rows.

    Without folds the models have been fitted to other rows. A model that fails or
    exceeds the time limit is excluded.
    """
    members: list[Member] = []
    excluded: list[ExcludedModel] = []
    n_columns = np.unique(y).size
    for name, estimator in estimators:
        given = (estimator, X, y, sample_weight, folds, n_jobs)
        try:
            if timeout is None:
                fitted, score = _scored(*given)
            else:
                # Only a process can be stopped; joblib starts one if two are allowed.
                workers = Parallel(n_jobs=2, timeout=timeout)
                ((fitted, score),) = workers([delayed(_scored)(*given)])
            _check_scores(score, 1 if n_columns == 2 else n_columns)
        except (TimeoutError, multiprocessing.TimeoutError) as error:
            reason = f"it took more than {timeout:g} s"
            excluded.append(ExcludedModel(name, reason, error))
        # Any exception may come from a third-party model.
        except Exception as error:
            excluded.append(ExcludedModel(name, f"{type(error).__name__}: {error}", error))
        else:
            members.append(Member(name, fitted, score))
    return members, excluded


def _scored(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    sample_weight: NDArray[np.float64] | None,
    folds: Splits | None,
    n_jobs: int | None,
) -> tuple[Any, NDArray[np.float64]]:
    if folds is None:
        # Another order of classes would reverse its scores.
        known = getattr(estimator, "classes_", None)
        if known is not None and not np.array_equal(known, np.unique(y)):
            raise ValueError(f"it was fitted to classes {known.tolist()}")
        return estimator, class_scores(estimator, X)
    # A model that does not accept weights may still rank well.
    key = None if sample_weight is None else _weight_parameter(estimator)
    params = {} if key is None else {key: sample_weight}
    held_out = cross_val_predict(
        clone(estimator),
        X,
        y,
        cv=folds,
        n_jobs=n_jobs,
        method=score_method(estimator),
        params=params,
    )
    return clone(estimator).fit(X, y, **params), score_columns(held_out)


def _weight_parameter(estimator: Any) -> str | None:
    """Return the name of the weight argument of ``fit``, or None."""
    if isinstance(estimator, Pipeline):
        step, last = estimator.steps[-1]
        inner = _weight_parameter(last)
        return None if inner is None else f"{step}__{inner}"
    return "sample_weight" if has_fit_parameter(estimator, "sample_weight") else None


def _check_scores(score: NDArray[np.float64], n_columns: int) -> None:
    if score.shape[1] != n_columns:
        raise ValueError(f"it returned {score.shape[1]} scores per row instead of {n_columns}")
    is_bad = ~np.isfinite(score).all(axis=1)
    if is_bad.any():
        row = int(is_bad.argmax())
        raise ValueError(f"its score of row {row} is {score[row].tolist()}")


def split_folds(
    cv: Any,
    y: NDArray[Any],
    groups: NDArray[np.intp] | None,
    copies: NDArray[np.intp],
    rng: np.random.RandomState,
) -> Splits:
    """Split rows into folds, or raise if a training set lacks a class."""
    # Of models that have been fitted only the weights are cross-validated.
    cv = _FOLDS_OF_SCORES if isinstance(cv, str) else cv
    if isinstance(cv, numbers.Integral):
        n_folds = whole_number("cv", cv, least=2)
        # Every fold needs rows of every class to be evaluated.
        n_folds = min(n_folds, int(np.unique(y, return_counts=True)[1].min()))
        if groups is None and np.unique(copies).size < copies.size:
            groups = copies
        kind = StratifiedKFold if groups is None else StratifiedGroupKFold
        cv = kind(n_folds, shuffle=True, random_state=rng.randint(2**31 - 1))
    folds = list(check_cv(cv, y, classifier=True).split(np.zeros(len(y)), y, groups))
    # A row in two test folds would count twice; one in none has no score.
    n_times = np.bincount(np.concatenate([test for _, test in folds]), minlength=len(y))
    if (n_times != 1).any():
        row = int((n_times != 1).argmax())
        raise ValueError(
            f"cv must have every row in one test fold, got row {row} in {n_times[row]}."
        )
    for number, (train, _) in enumerate(folds):
        missing = np.setdiff1d(y, y[train])
        if missing.size:
            raise ValueError(
                "cv must have rows of every class in every training set, got none of "
                f"class {missing.tolist()[0]!r} in that of fold {number}."
            )
    return folds


def copied_frame_rows(X: Any) -> NDArray[np.intp]:
    """Return a number for each row of a table of any types that equal rows share."""
    if not hasattr(X, "columns"):
        return copied_rows(equal_rows(X))
    columns = [np.asarray(X[name]).astype(str) for name in X.columns]
    codes = [np.unique(column, return_inverse=True)[1] for column in columns]
    return copied_rows(equal_rows(np.column_stack(codes)))


def fold_of_rows(folds: Splits) -> NDArray[np.intp]:
    """Return the test fold of each row."""
    fold = np.empty(sum(len(test) for _, test in folds), dtype=np.intp)
    for number, (_, test) in enumerate(folds):
        fold[test] = number
    return fold
