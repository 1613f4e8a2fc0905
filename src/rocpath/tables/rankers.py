"""The models that rank a table's rows: ours, and tuned ones to measure it against.

Each is fitted to inputs that are already numbers, the same for all, and comes back as
the last steps of a pipeline whose decision function is a log-odds.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from rocpath.auc_statistics.influence import place_rows
from rocpath.ranking.auc_blender import AUCBlender
from rocpath.ranking.auc_classifier import AUCClassifier
from rocpath.ranking.convex_problem import row_space
from rocpath.ranking.cross_validation import HeldOutScores
from rocpath.ranking.labeled_rows import LabeledRows
from rocpath.ranking.members import portfolio

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rocpath.matrices import Matrix

ModelChoice = Literal["linear", "blend", "logistic", "boosting", "auto"]
OURS = "AUCClassifier"
LOGISTIC = "logistic regression"
BALANCED = "balanced logistic regression"
BOOSTING = "gradient boosting"
BLEND = "blend"
METHODS = (OURS, LOGISTIC, BALANCED, BOOSTING)
DENSE = (BOOSTING, BLEND)  # which take no sparse matrix
OF_CHOICE: dict[str, tuple[str, ...]] = {
    "linear": (OURS,),
    "blend": (BLEND,),
    "logistic": (LOGISTIC, BALANCED),
    "boosting": (BOOSTING,),
    "auto": METHODS,
}

# Rivals are tuned anew for every part held out, so their grids are wide in steps of
# ten, or few in number.
_INNER_FOLDS = 3
_C = np.logspace(-4, 2, 7)
_LEAVES = (3, 12)
_MOST_TREES = 120
_LEARNING_RATE = 0.08
_TREES = 10  # between two looks at the AUC; more looks would mostly choose by noise
# Columns that boosting sees: with 10,000 of them tuning took minutes for 200 rows. On
# 30 tables of 160 or 600 rows and 5,000 columns 600 ranked by .006 worse.
_MOST_BOOSTED = 300


def methods_for(choice: str) -> tuple[str, ...]:
    """Return the methods to compare, the one whose leads are told first."""
    return (BLEND, *METHODS) if choice == "blend" else METHODS


def fitted_steps(
    method: str,
    X: Matrix,
    y: NDArray[np.bool_],
    *,
    random_state: int,
    max_fpr: float | None = None,
) -> list[tuple[str, Any]]:
    """Fit a method to inputs, its settings chosen by AUC on rows held out of them.

    With ``max_fpr`` by the area left of it, for ours and for its rivals alike.
    """
    target = y.astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if method == OURS:
            model = AUCClassifier(max_fpr=max_fpr, random_state=random_state)
            model.fit(X, target)
            return [("ranking", model)]
        if method == BLEND:
            members = _members(X, random_state)
            # Told of columns before, and here again for every part.
            warnings.filterwarnings("ignore", message=".* ranks all rows held out")
            blend = AUCBlender(members, max_fpr=max_fpr, random_state=random_state)
            return [("ranking", blend.fit(X, target))]
        # Threads wait for each other by turning: ten times slower, or more, where
        # another program wants a core.
        with threadpool_limits(1):
            return _rival_steps(method, X, target, random_state, max_fpr or 1.0)


def _members(X: Matrix, random_state: int) -> list[tuple[str, Any]]:
    """Take the usual members, but a quick linear one: it is fitted thirty times."""
    scale = StandardScaler(with_mean=not sparse.issparse(X))
    linear = make_pipeline(scale, LogisticRegression(C=0.1, max_iter=1000))
    usual = portfolio(
        *X.shape, is_dense=not sparse.issparse(X), random_state=random_state
    )
    return [("linear", linear), *(one for one in usual if one[0] != "linear")]


def _rival_steps(
    method: str, X: Matrix, y: NDArray[np.int_], random_state: int, max_fpr: float
) -> list[tuple[str, Any]]:
    if method == BOOSTING:
        return _boosting_steps(X, y, random_state, max_fpr)
    # Without centers, such that sparse columns stay sparse; the intercept takes them.
    scale = StandardScaler(with_mean=False)
    weight = "balanced" if method == BALANCED else None
    model = _tuned_logistic(scale.fit_transform(X), y, weight, random_state, max_fpr)
    return [("scale", scale), ("ranking", model)]


def _auc(y: NDArray[np.int_], score: NDArray[np.float64], max_fpr: float) -> float:
    """Compute an AUC of checked arguments: checks took half of the time of tuning."""
    return place_rows(score.ravel(), y == 1, None, max_fpr).area


def _inner_folds(
    y: NDArray[np.int_], random_state: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Split rows into parts with both classes; not at all where one has one row."""
    n_folds = min(_INNER_FOLDS, int(np.bincount(y).min()))
    if n_folds < 2:
        return
    parts = StratifiedKFold(n_folds, shuffle=True, random_state=random_state)
    yield from parts.split(np.zeros(y.size), y)


def _tuned_logistic(
    X: Matrix,
    y: NDArray[np.int_],
    weight: str | None,
    random_state: int,
    max_fpr: float = 1.0,
) -> LogisticRegression:
    Z, back = row_space(X)
    rows = LabeledRows(Z, y == 1, np.ones(y.size), np.arange(y.size))
    area = np.zeros(_C.size)
    score = np.zeros((_C.size, y.size))  # of rows held out, standardized
    for train, test in _inner_folds(y, random_state):
        inside, outside = rows.take(train), rows.take(test)
        # From the strongest L2 to the weakest, each from the solution before.
        model = LogisticRegression(max_iter=300, class_weight=weight, warm_start=True)
        for place, C in enumerate(_C):
            model.set_params(C=C).fit(inside.X, y[train])
            standard = inside.standardized(model.coef_[0])
            score[place, test] = outside.predictions(standard)
            area[place] += _auc(y[test], score[place, test], max_fpr)
    # Without folds all are alike, and the middle is taken.
    chosen = int(area.argmax()) if area.any() else _C.size // 2
    model = LogisticRegression(C=_C[chosen], max_iter=1000, class_weight=weight)
    model.fit(Z, y)
    if area.any():
        # AUC does not feel how far an L2 has shrunk all coefficients alike, and often
        # likes much of it: every row would then have about the same probability.
        odds = HeldOutScores(rows, score[chosen]).log_odds(
            rows.standardized(model.coef_[0]), (y.size - y.sum(), y.sum())
        )
        model.coef_, model.intercept_ = odds.coef[None], np.array([odds.intercept])
    elif weight is not None:
        # Weights moved the log-odds of all rows; moved back, they are those of rows
        # as they occur. The ranking stays as it is.
        model.intercept_ += np.log(y.sum() / (y.size - y.sum()))
    if back is not None:
        model.coef_ = model.coef_ @ back
        model.n_features_in_ = X.shape[1]
    return model


def dense(X: Matrix) -> NDArray[np.float64]:
    """Return a matrix as an array."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


def _telling_columns(
    X: NDArray[np.float64], y: NDArray[np.int_]
) -> NDArray[np.intp] | None:
    """Find the columns whose class means differ most; None where all are few enough."""
    if X.shape[1] <= _MOST_BOOSTED:
        return None
    means = [X[y == k].mean(axis=0) for k in (0, 1)]
    spread = X.std(axis=0)
    apart = np.abs(means[1] - means[0]) / np.where(spread > 0, spread, np.inf)
    return np.sort(np.argsort(-apart, kind="stable")[:_MOST_BOOSTED])


def _boosting_steps(
    X: Matrix, y: NDArray[np.int_], random_state: int, max_fpr: float
) -> list[tuple[str, Any]]:
    Z = dense(X)
    boosted = _tuned_boosting(Z, y, random_state, max_fpr)
    kept = _telling_columns(Z, y)
    if kept is None:
        return [("ranking", boosted.fit(Z, y))]
    columns = ColumnTransformer([("telling", "passthrough", kept)], sparse_threshold=0)
    return [
        ("telling", columns.fit(X)),
        ("ranking", boosted.fit(Z[:, kept], y)),
    ]


def _tuned_boosting(
    X: NDArray[np.float64],
    y: NDArray[np.int_],
    random_state: int,
    max_fpr: float,
) -> HistGradientBoostingClassifier:
    """Choose leaves and trees; columns too are chosen without the rows held out."""

    def boosted(leaves: int, n_trees: int) -> HistGradientBoostingClassifier:
        return HistGradientBoostingClassifier(
            max_iter=n_trees,
            learning_rate=_LEARNING_RATE,
            max_leaf_nodes=leaves,
            # The default of 20 leaves nothing to split in small tables.
            min_samples_leaf=int(np.clip(y.size // 20, 2, 20)),
            # As many for a hundred rows would take most of the time.
            max_bins=int(np.clip(y.size // 8, 32, 255)),
            early_stopping=False,
            random_state=random_state,
        )

    area = np.zeros((len(_LEAVES), _MOST_TREES // _TREES))
    for train, test in _inner_folds(y, random_state):
        kept = _telling_columns(X[train], y[train])
        columns = slice(None) if kept is None else kept
        for place, leaves in enumerate(_LEAVES):
            # All numbers of trees are judged by one fit, as it grows.
            model = boosted(leaves, _MOST_TREES).fit(X[train][:, columns], y[train])
            scores = list(model.staged_decision_function(X[test][:, columns]))
            area[place] += [
                _auc(y[test], score, max_fpr) for score in scores[_TREES - 1 :: _TREES]
            ]
    best, last = divmod(int(area.argmax()), area.shape[1])
    n_trees = _TREES * (last + 1) if area.any() else _MOST_TREES // 2
    return boosted(_LEAVES[best], n_trees)
