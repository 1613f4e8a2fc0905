"""Members of a blend: their scores on rows held out, and a portfolio to begin with."""

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
from rocpath.ranking.auc_classifier import AUCClassifier
from rocpath.ranking.scores import class_scores, score_columns, score_method

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Estimators = Sequence[tuple[str, Any]]
    Splits = Sequence[tuple[NDArray[np.intp], NDArray[np.intp]]]

# Rows up to which a kernel machine, quadratic in them, takes no longer than trees.
_MOST_ROWS_FOR_KERNELS = 5_000
# Columns up to which splines of each are not the dearest member.
_MOST_COLUMNS_FOR_SPLINES = 100


def portfolio(
    n_rows: int, n_columns: int, *, is_dense: bool, random_state: int
) -> list[tuple[str, Any]]:
    """Choose members that suit the size of a table; values may be missing."""
    trees = ExtraTreesClassifier(200, min_samples_leaf=2, random_state=random_state)
    members = [
        ("linear", make_pipeline(_imputer(), AUCClassifier(random_state=random_state))),
        ("trees", make_pipeline(_imputer(), trees)),
    ]
    # Boosting of scikit-learn and splines would make a sparse matrix dense.
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
        # Its distances to the border are scores enough: probabilities of an SVC would
        # take five fits more.
        kernels = SVC(class_weight="balanced", random_state=random_state)
        members.append(("kernels", make_pipeline(_imputer(), scaler, kernels)))
    return members


def _imputer() -> SimpleImputer:
    # A column without any value must not change the number of columns.
    return SimpleImputer(strategy="median", keep_empty_features=True)


class Member(NamedTuple):
    """A fitted model and its scores of rows that it was not fitted to.

    One column for two classes, else one for each class.
    """

    name: str
    estimator: Any
    score: NDArray[np.float64]


class ExcludedModel(NamedTuple):
    """A model that cannot be blended, and why."""

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
    """Score rows by every model, fitted without them, and fit it to all rows.

    Without folds the models are fitted already, to other rows. A model that fails or
    takes too long is left out.
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
                # Only a process can be stopped; joblib makes one if it may have two.
                workers = Parallel(n_jobs=2, timeout=timeout)
                ((fitted, score),) = workers([delayed(_scored)(*given)])
            _check_scores(score, 1 if n_columns == 2 else n_columns)
        except (TimeoutError, multiprocessing.TimeoutError) as error:
            reason = f"it took more than {timeout:g} s"
            excluded.append(ExcludedModel(name, reason, error))
        # Anything may go wrong inside a model that is not ours.
        except Exception as error:
            excluded.append(
                ExcludedModel(name, f"{type(error).__name__}: {error}", error)
            )
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
        # Another order of classes would turn its scores upside down.
        known = getattr(estimator, "classes_", None)
        if known is not None and not np.array_equal(known, np.unique(y)):
            raise ValueError(f"it was fitted to classes {known.tolist()}")
        return estimator, class_scores(estimator, X)
    # A model that takes no weights may still rank well: it is fitted without.
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
    """Return the name under which ``fit`` takes weights; a pipeline's last step may."""
    if isinstance(estimator, Pipeline):
        step, last = estimator.steps[-1]
        inner = _weight_parameter(last)
        return None if inner is None else f"{step}__{inner}"
    return "sample_weight" if has_fit_parameter(estimator, "sample_weight") else None


def _check_scores(score: NDArray[np.float64], n_columns: int) -> None:
    if score.shape[1] != n_columns:
        raise ValueError(
            f"it gave {score.shape[1]} scores a row instead of {n_columns}"
        )
    is_bad = ~np.isfinite(score).all(axis=1)
    if is_bad.any():
        row = int(is_bad.argmax())
        raise ValueError(f"its score of row {row} is {score[row].tolist()}")


def split_folds(
    cv: Any,
    y: NDArray[Any],
    groups: ArrayLike | None,
    rng: np.random.RandomState,
) -> Splits:
    """Split rows into folds, or raise if models cannot be fitted without each."""
    if isinstance(cv, numbers.Integral):
        n_folds = whole_number("cv", cv, least=2)
        # Every fold needs rows of every class, or it could not be judged.
        n_folds = min(n_folds, int(np.unique(y, return_counts=True)[1].min()))
        kind = StratifiedKFold if groups is None else StratifiedGroupKFold
        cv = kind(n_folds, shuffle=True, random_state=rng.randint(2**31 - 1))
    folds = list(check_cv(cv, y, classifier=True).split(np.zeros(len(y)), y, groups))
    # A row held out twice would count twice; one held out never has no score.
    n_times = np.bincount(np.concatenate([test for _, test in folds]), minlength=len(y))
    if (n_times != 1).any():
        row = int((n_times != 1).argmax())
        raise ValueError(
            f"cv must hold every row out once, got row {row} {n_times[row]} times."
        )
    for number, (train, _) in enumerate(folds):
        missing = np.setdiff1d(y, y[train])
        if missing.size:
            raise ValueError(
                "cv must leave rows of every class to fit models to, got none of class "
                f"{missing.tolist()[0]!r} without fold {number}."
            )
    return folds


def fold_of_rows(folds: Splits) -> NDArray[np.intp]:
    """Return the number of the fold that holds each row."""
    fold = np.empty(sum(len(test) for _, test in folds), dtype=np.intp)
    for number, (_, test) in enumerate(folds):
        fold[test] = number
    return fold
