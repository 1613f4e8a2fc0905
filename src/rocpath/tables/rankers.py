"""Fit AUCClassifier, blends and tuned baselines to the numeric inputs of a table.

All models are fitted to the same inputs. Each is returned as the last steps of a
pipeline whose decision function is the log-odds.
"""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from rocpath.evaluation.influence import place_rows
from rocpath.matrices import Matrix
from rocpath.model_selection.calibration import platt_scaling
from rocpath.model_selection.folds import Fold, stratified_splits
from rocpath.ranking.auc_blender import AUCBlender
from rocpath.ranking.auc_classifier import AUCClassifier
from rocpath.ranking.convex_problem import row_space
from rocpath.ranking.labeled_rows import LabeledRows
from rocpath.ranking.members import portfolio
from rocpath.sample import Sample
from rocpath.tables.calibration import PlattScaling

ModelChoice = Literal["linear", "blend", "logistic", "boosting", "auto", "scores"]
OURS = "AUCClassifier"
LOGISTIC = "logistic regression"
BALANCED = "balanced logistic regression"
BOOSTING = "gradient boosting"
BLEND = "blend"
METHODS = (OURS, LOGISTIC, BALANCED, BOOSTING)
LINEAR = (OURS, LOGISTIC, BALANCED)
# Candidates of each choice, the simplest first.
CANDIDATES: dict[str, tuple[str, ...]] = {
    "linear": (OURS,),
    "blend": (BLEND,),
    "logistic": (LOGISTIC, BALANCED),
    "boosting": (BOOSTING,),
    "auto": (LOGISTIC, BALANCED, OURS, BOOSTING),
    "scores": (BLEND,),
}

# Baselines are tuned in every fold, so their grids are coarse.
INNER_FOLDS = 3
_C = np.logspace(-4, 2, 7)
_LEAVES = (3, 12)
_MAX_TREES = 120
_LEARNING_RATE = 0.08
_TREES = 10  # between two evaluations of the AUC; a finer grid would mostly fit noise
# Maximum number of columns for boosting: with 10,000, tuning took minutes for 200 rows.
# On 30 tables of 160 or 600 rows and 5,000 columns, a maximum of 600 lowered the AUC by 0.006.
_MAX_BOOSTED = 300


Steps: TypeAlias = Sequence[tuple[str, Any]]


class FittedRanker(NamedTuple):
    """Last steps of a pipeline, and held-out log-odds of the rows in the inner folds.

    ``held_out`` is None if the method has no inner folds or does not expose their scores.
    """

    steps: list[tuple[str, Any]]
    held_out: NDArray[np.float64] | None = None


def inner_folds(sample: Sample, random_state: int | None) -> list[Fold]:
    """Split rows for tuning; return no folds if a class has only one row."""
    # Time windows are used only for evaluation: tuning needs all rows of a class.
    return stratified_splits(sample, INNER_FOLDS, random_state)


def _held_out_auc(rows: LabeledRows, test: NDArray[np.intp], score: NDArray[np.float64]) -> float:
    """Compute an AUC without input checks, which took half of the tuning time."""
    sample = rows.sample
    weight = None if sample.weight is None else sample.weight[test]
    return place_rows(score, sample.is_positive[test], weight, rows.max_fpr or 1.0).area


def methods_for(choice: str, *, fast: bool = False) -> tuple[str, ...]:
    """Return the methods to compare; a fast fit has only one."""
    if fast:
        return (OURS,) if choice == "auto" else CANDIDATES[choice][:1]
    return {"blend": (BLEND, *METHODS), "scores": (BLEND,)}.get(choice, METHODS)


def fit_ranker(
    method: str, rows: LabeledRows, random_state: int | None, *, score_names: Sequence[str] = ()
) -> FittedRanker:
    """Fit a method, with hyperparameters selected by AUC on inner folds.

    Partial AUC replaces AUC if the rows have a ``max_fpr``. With ``score_names``, the
    columns are scores, and only their blend is fitted.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if method == OURS:
            model = AUCClassifier(max_fpr=rows.max_fpr, random_state=random_state)
            model.fit(rows.X, rows.is_positive.astype(int), **rows.sample.arguments)
            return FittedRanker([("ranking", model)])
        if method == BLEND:
            return _fit_blend(rows, random_state, score_names)
        # Waiting threads spin, which makes fits ten or more times slower if another
        # program needs a core.
        with threadpool_limits(1):
            if method == BOOSTING:
                return _fit_boosting(rows, random_state)
            class_weight = "balanced" if method == BALANCED else None
            return _fit_logistic(rows, random_state, class_weight)


def _fit_blend(
    rows: LabeledRows, seed: int | None, score_names: Sequence[str] = ()
) -> FittedRanker:
    columns = _dense_columns(rows.X, np.arange(rows.X.shape[1]))
    X = columns.transform(rows.X)
    y = rows.is_positive.astype(int)
    sample = rows.sample.arguments
    blend = AUCBlender(max_fpr=rows.max_fpr, random_state=seed)
    if score_names:
        blend.fit_scores(X, y, **sample)
        # By default, a blend of given scores numbers its members.
        blend.member_names_ = list(score_names)
    else:
        # The default members, but with a faster linear one, since it is fitted thirty times.
        linear = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=1000))
        usual = portfolio(X, random_state=seed)
        members = [("linear", linear), *(one for one in usual if one[0] != "linear")]
        # The audit of the columns already reports this.
        warnings.filterwarnings("ignore", message=".* ranks all held-out rows")
        blend.set_params(estimators=members).fit(X, y, **sample)
    return FittedRanker([("dense", columns), ("ranking", blend)])


def _tuned(
    rows: LabeledRows,
    random_state: int | None,
    n_settings: int,
    fold_scores: Callable[..., Iterable[NDArray[np.float64]]],
) -> tuple[int, tuple[float, float], NDArray[np.float64] | None]:
    """Select the setting with the largest mean AUC on inner folds.

    Returns its index, the slope and intercept of Platt scaling, and the held-out log-odds.
    ``fold_scores`` takes training and held-out rows and returns the scores of the latter
    for each setting. Without folds, the middle setting is selected.
    """
    area, score = np.zeros(n_settings), np.zeros((n_settings, len(rows)))
    folds = inner_folds(rows.sample, random_state)
    for train, test in folds:
        for setting, one in enumerate(fold_scores(train, test)):
            score[setting, test] = one
            area[setting] += _held_out_auc(rows, test, one)
    if not folds:
        return n_settings // 2, (1.0, 0.0), None
    chosen = int(area.argmax())
    slope, intercept = platt_scaling(score[chosen], rows.sample)
    return chosen, (slope, intercept), slope * score[chosen] + intercept


def _fit_logistic(
    rows: LabeledRows, random_state: int | None, class_weight: str | None
) -> FittedRanker:
    # Columns are not centered, so that sparse ones stay sparse; the intercept compensates.
    scale = StandardScaler(with_mean=False)
    n_features, copy = rows.X.shape[1], rows.sample.copy
    Z, back = row_space(scale.fit_transform(rows.X))
    y = rows.is_positive.astype(int)
    weight = rows.sample_weight
    rows = replace(rows, X=Z)
    # Copies must not weaken the penalty: C is relative to the number of distinct rows.
    grid = _C * (1.0 if copy is None else np.unique(copy).size / copy.size)

    def fold_scores(train: Any, test: Any) -> Iterable[NDArray[np.float64]]:
        inside, outside = rows.take(train), rows.take(test)
        # L2 penalties decrease, and each fit starts from the previous solution.
        model = LogisticRegression(max_iter=300, class_weight=class_weight, warm_start=True)
        for C in grid:
            model.set_params(C=C).fit(inside.X, y[train], weight[train])
            yield outside.predictions(inside.standardized(model.coef_[0]))

    chosen, (slope, constant), held_out = _tuned(rows, random_state, grid.size, fold_scores)
    model = LogisticRegression(C=grid[chosen], max_iter=1000, class_weight=class_weight)
    model.fit(Z, y, weight)
    if held_out is not None:
        # AUC does not depend on a common scale of the coefficients and often selects a
        # strong L2 penalty, with which all rows have about the same probability.
        coef, intercept = rows.standardized(model.coef_[0])
        model.coef_ = slope * coef[None]
        model.intercept_ = np.array([slope * intercept + constant])
    elif class_weight is not None:
        # Class weights shift the log-odds of all rows. This undoes the shift, without
        # changing the ranking.
        model.intercept_ += np.log(weight[y == 1].sum() / weight[y == 0].sum())
    if back is not None:
        model.coef_ = model.coef_ @ back
        model.n_features_in_ = n_features
    return FittedRanker([("scale", scale), ("ranking", model)], held_out)


def _informative_columns(X: NDArray[np.float64], y: NDArray[np.int_]) -> NDArray[np.intp]:
    """Return the columns whose class means differ most; all if they are few enough."""
    if X.shape[1] <= _MAX_BOOSTED:
        return np.arange(X.shape[1])
    means = [X[y == k].mean(axis=0) for k in (0, 1)]
    spread = X.std(axis=0)
    difference = np.abs(means[1] - means[0]) / np.where(spread > 0, spread, np.inf)
    return np.sort(np.argsort(-difference, kind="stable")[:_MAX_BOOSTED])


def _dense_columns(X: Matrix, kept: NDArray[np.intp]) -> ColumnTransformer:
    """Return a transformer that selects columns as a dense array."""
    return ColumnTransformer([("kept", "passthrough", kept)], sparse_threshold=0).fit(X)


def _fit_boosting(rows: LabeledRows, random_state: int | None) -> FittedRanker:
    """Fit gradient boosting with tuned trees; columns are selected within the folds."""
    X: Any = rows.X.toarray() if sparse.issparse(rows.X) else rows.X
    # None instead of equal weights, with which scikit-learn bins much more slowly.
    y, weight = rows.is_positive.astype(int), rows.sample.weight
    settings = [(leaves, n) for leaves in _LEAVES for n in range(_TREES, _MAX_TREES + 1, _TREES)]

    def boosted(leaves: int, n_trees: int) -> HistGradientBoostingClassifier:
        return HistGradientBoostingClassifier(
            max_iter=n_trees,
            learning_rate=_LEARNING_RATE,
            max_leaf_nodes=leaves,
            # With the default of 20, small tables could not be split.
            min_samples_leaf=int(np.clip(y.size // 20, 2, 20)),
            # With a hundred rows, 255 bins would take most of the time.
            max_bins=int(np.clip(y.size // 8, 32, 255)),
            early_stopping=False,
            random_state=random_state,
        )

    def fold_scores(train: Any, test: Any) -> Iterable[NDArray[np.float64]]:
        columns = _informative_columns(X[train], y[train])
        for leaves in _LEAVES:
            # The stages of one fit give the scores for all numbers of trees.
            model = boosted(leaves, _MAX_TREES)
            fold_weight = None if weight is None else weight[train]
            model.fit(X[np.ix_(train, columns)], y[train], fold_weight)
            stages = model.staged_decision_function(X[np.ix_(test, columns)])
            yield from map(np.ravel, islice(stages, _TREES - 1, None, _TREES))

    # Trees are overconfident on their training rows, so held-out scores are calibrated.
    chosen, scaling, held_out = _tuned(rows, random_state, len(settings), fold_scores)
    columns = _dense_columns(rows.X, _informative_columns(X, y))
    model = boosted(*settings[chosen])
    model.fit(columns.transform(rows.X), y, weight)
    steps = [("informative", columns), ("ranking", PlattScaling(model, *scaling))]
    return FittedRanker(steps, held_out)


def set_mean_coefficients(steps: Steps, fold_steps: Sequence[Steps]) -> None:
    """Replace the coefficients of a linear model by the means of those of other fits.

    All models have the same inputs. Their mean scores new rows as the mean of their
    log-odds.
    """
    models = [_linear_model(one) for one in fold_steps]
    coef = np.mean([coef for coef, _ in models], axis=0)
    ranking = steps[-1][1]
    scale = steps[0][1].scale_ if len(steps) > 1 else 1.0
    ranking.coef_ = (coef * scale)[None]
    ranking.intercept_ = np.array([np.mean([intercept for _, intercept in models])])


def _linear_model(steps: Steps) -> tuple[NDArray[np.float64], float]:
    """Return the coefficients of the inputs before any scaling, and the intercept."""
    # Columns are scaled without centering.
    scale = steps[0][1].scale_ if len(steps) > 1 else 1.0
    ranking = steps[-1][1]
    return ranking.coef_[0] / scale, float(ranking.intercept_[0])
