"""Models of a table's rows: ours, and baselines that are tuned with the same care.

Each is fitted to inputs that are already numeric, the same for all, and is returned as
the last steps of a pipeline whose decision function is a log-odds.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
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
from rocpath.tables.calibration import PlattScaling, platt_parameters
from rocpath.tables.folds import INDEPENDENT_ROWS, split_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocpath.matrices import Matrix
    from rocpath.tables.folds import Fold, RowDesign

ModelChoice = Literal["linear", "blend", "logistic", "boosting", "auto", "scores"]
OURS = "AUCClassifier"
LOGISTIC = "logistic regression"
BALANCED = "balanced logistic regression"
BOOSTING = "gradient boosting"
BLEND = "blend"
METHODS = (OURS, LOGISTIC, BALANCED, BOOSTING)
DENSE = (BOOSTING, BLEND)  # which take no sparse matrix
# Candidates of each choice, the simplest first.
CANDIDATES: dict[str, tuple[str, ...]] = {
    "linear": (OURS,),
    "blend": (BLEND,),
    "logistic": (LOGISTIC, BALANCED),
    "boosting": (BOOSTING,),
    "auto": (LOGISTIC, BALANCED, OURS, BOOSTING),
    "scores": (BLEND,),
}

# Baselines are tuned anew in every fold, so their grids have steps of ten, or are
# small.
INNER_FOLDS = 3
_C = np.logspace(-4, 2, 7)
_LEAVES = (3, 12)
_MAX_TREES = 120
_LEARNING_RATE = 0.08
_TREES = 10  # between two evaluations of the AUC; more would mostly select by noise
# Columns that boosting uses: with 10,000 of them tuning took minutes for 200 rows. On
# 30 tables of 160 or 600 rows and 5,000 columns the AUC with 600 was lower by .006.
_MAX_BOOSTED = 300


class FittedRanker(NamedTuple):
    """The last steps of a pipeline, and log-odds of rows from the inner folds.

    ``held_out`` is None where the method does not expose the scores of its inner folds
    or has none.
    """

    steps: list[tuple[str, Any]]
    held_out: NDArray[np.float64] | None = None


class RankerTask(NamedTuple):
    """What a method is fitted to."""

    X: Matrix
    is_positive: NDArray[np.bool_]
    design: RowDesign = INDEPENDENT_ROWS
    random_state: int | None = None
    max_fpr: float | None = None

    @property
    def y(self) -> NDArray[np.int_]:
        """Labels as integers."""
        return self.is_positive.astype(int)

    @property
    def weight(self) -> NDArray[np.float64]:
        """Weights of the rows, all 1 if none were given."""
        return np.broadcast_to(self.design.weight, self.is_positive.shape)

    @property
    def fit_arguments(self) -> dict[str, Any]:
        """The arguments of ``fit`` that describe the design of the rows."""
        weight = self.design.sample_weight
        return self.design.clusters | ({} if weight is None else {"sample_weight": weight})

    def folds(self) -> list[Fold]:
        """Split the rows for tuning; not at all where a class has one row."""
        # Windows of time are for the evaluation: tuning needs all rows of a class.
        design = self.design._replace(time=None)
        return split_rows(self.is_positive, design, INNER_FOLDS, self.random_state)

    def auc(self, rows: NDArray[np.intp], score: NDArray[np.float64]) -> float:
        """Compute an AUC of checked arguments: checks took half the time of tuning."""
        weight = None if self.design.sample_weight is None else self.weight[rows]
        label = self.is_positive[rows]
        return place_rows(score.ravel(), label, weight, self.max_fpr or 1.0).area


def methods_for(choice: str) -> tuple[str, ...]:
    """Return the methods to compare."""
    return (BLEND, *METHODS) if choice == "blend" else METHODS


def fit_ranker(method: str, task: RankerTask) -> FittedRanker:
    """Fit a method, with hyperparameters selected by AUC on inner folds.

    With ``max_fpr``, they are selected by the partial AUC, for all methods alike.
    """
    X, y, seed = task.X, task.y, task.random_state
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if method == OURS:
            model = AUCClassifier(max_fpr=task.max_fpr, random_state=seed)
            return FittedRanker([("ranking", model.fit(X, y, **task.fit_arguments))])
        if method == BLEND:
            # The audit of the columns has reported them before.
            warnings.filterwarnings("ignore", message=".* ranks all rows held out")
            blend = AUCBlender(_members(X, seed), max_fpr=task.max_fpr, random_state=seed)
            return FittedRanker([("ranking", blend.fit(X, y, **task.fit_arguments))])
        # Threads wait for each other by spinning: ten times slower, or more, where
        # another program needs a core.
        with threadpool_limits(1):
            if method == BOOSTING:
                return _fit_boosting(task)
            return _fit_logistic(task, "balanced" if method == BALANCED else None)


def _members(X: Matrix, random_state: int | None) -> list[tuple[str, Any]]:
    """Return the usual members, but a fast linear one: it is fitted thirty times."""
    scale = StandardScaler(with_mean=not sparse.issparse(X))
    linear = make_pipeline(scale, LogisticRegression(C=0.1, max_iter=1000))
    usual = portfolio(
        *X.shape,
        is_dense=not sparse.issparse(X),
        random_state=random_state,  # type: ignore[arg-type]
    )
    return [("linear", linear), *(one for one in usual if one[0] != "linear")]


def _fit_logistic(task: RankerTask, class_weight: str | None) -> FittedRanker:
    # Without centering, so that sparse columns stay sparse; the intercept replaces it.
    scale = StandardScaler(with_mean=False)
    scaled = task._replace(X=scale.fit_transform(task.X))
    model, held_out = _tuned_logistic(scaled, class_weight)
    return FittedRanker([("scale", scale), ("ranking", model)], held_out)


def _tuned_logistic(
    task: RankerTask, class_weight: str | None
) -> tuple[LogisticRegression, NDArray[np.float64] | None]:
    y, weight = task.y, task.weight
    Z, back = row_space(task.X)
    # Copies must not weaken the penalty: C is relative to the number of distinct rows.
    grid = _C * task.design.distinct_share
    rows = LabeledRows(Z, task.is_positive, weight, np.arange(y.size))
    area = np.zeros(_C.size)
    score = np.zeros((_C.size, y.size))  # of held-out rows, standardized
    folds = task.folds()
    for train, test in folds:
        inside, outside = rows.take(train), rows.take(test)
        # From the strongest L2 penalty to the weakest, each from the last solution.
        model = LogisticRegression(max_iter=300, class_weight=class_weight, warm_start=True)
        for place, C in enumerate(grid):
            model.set_params(C=C).fit(inside.X, y[train], weight[train])
            standard = inside.standardized(model.coef_[0])
            score[place, test] = outside.predictions(standard)
            area[place] += task.auc(test, score[place, test])
    # Without folds all are equal, and the one in the middle is used.
    chosen = int(area.argmax()) if folds else _C.size // 2
    model = LogisticRegression(C=grid[chosen], max_iter=1000, class_weight=class_weight)
    model.fit(Z, y, weight)
    held_out = None
    totals = float(weight[y == 0].sum()), float(weight[y == 1].sum())
    if folds:
        # AUC does not depend on how far an L2 penalty shrinks all coefficients, and
        # often prefers strong ones: all rows would have about the same probability.
        scored = HeldOutScores(rows, score[chosen])
        odds = scored.log_odds(rows.standardized(model.coef_[0]), totals)
        model.coef_, model.intercept_ = odds.coef[None], np.array([odds.intercept])
        held_out = _log_odds_of(score[chosen], task)
    elif class_weight is not None:
        # Class weights shift the log-odds of all rows; shifted back, they are those of
        # rows as they occur. The ranking does not change.
        model.intercept_ += np.log(totals[1] / totals[0])
    if back is not None:
        model.coef_ = model.coef_ @ back
        model.n_features_in_ = task.X.shape[1]
    return model, held_out


def _log_odds_of(score: NDArray[np.float64], task: RankerTask) -> NDArray[np.float64]:
    (slope,), intercept = platt_parameters(score, task.is_positive, task.weight)
    return np.asarray(slope * score + intercept)


def dense(X: Matrix) -> NDArray[np.float64]:
    """Return a matrix as an array."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


def _informative_columns(X: NDArray[np.float64], y: NDArray[np.int_]) -> NDArray[np.intp] | None:
    """Return the columns whose class means differ most; None if all are few enough."""
    if X.shape[1] <= _MAX_BOOSTED:
        return None
    means = [X[y == k].mean(axis=0) for k in (0, 1)]
    spread = X.std(axis=0)
    difference = np.abs(means[1] - means[0]) / np.where(spread > 0, spread, np.inf)
    return np.sort(np.argsort(-difference, kind="stable")[:_MAX_BOOSTED])


def _fit_boosting(task: RankerTask) -> FittedRanker:
    Z = dense(task.X)
    model, held_out = _tuned_boosting(task._replace(X=Z))
    kept = _informative_columns(Z, task.y)
    steps: list[tuple[str, Any]] = []
    if kept is not None:
        columns = ColumnTransformer([("informative", "passthrough", kept)], sparse_threshold=0)
        steps.append(("informative", columns.fit(task.X)))
        Z = Z[:, kept]
    model.fit(Z, task.y, task.weight)
    slope, intercept = 1.0, 0.0
    if held_out is not None:
        # Trees are too sure of the rows that they were fitted to.
        (slope,), intercept = platt_parameters(held_out, task.is_positive, task.weight)
        held_out = slope * held_out + intercept
    scaled = PlattScaling(model, float(slope), float(intercept))
    return FittedRanker([*steps, ("ranking", scaled)], held_out)


def _tuned_boosting(
    task: RankerTask,
) -> tuple[HistGradientBoostingClassifier, NDArray[np.float64] | None]:
    """Select the size and number of trees; columns are selected inside the folds."""
    X, y = np.asarray(task.X), task.y

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
            random_state=task.random_state,
        )

    n_stages = _MAX_TREES // _TREES
    area = np.zeros((len(_LEAVES), n_stages))
    score = np.zeros((len(_LEAVES), n_stages, y.size))  # of held-out rows
    folds = task.folds()
    for train, test in folds:
        kept = _informative_columns(X[train], y[train])
        columns = slice(None) if kept is None else kept
        for place, leaves in enumerate(_LEAVES):
            # One fit gives the scores of all numbers of trees, as it grows.
            model = boosted(leaves, _MAX_TREES)
            model.fit(X[train][:, columns], y[train], task.weight[train])
            stages = list(model.staged_decision_function(X[test][:, columns]))
            for stage, one in enumerate(stages[_TREES - 1 :: _TREES]):
                score[place, stage, test] = one.ravel()
                area[place, stage] += task.auc(test, one)
    if not folds:
        return boosted(_LEAVES[0], _MAX_TREES // 2), None
    best, last = divmod(int(area.argmax()), n_stages)
    return boosted(_LEAVES[best], _TREES * (last + 1)), score[best, last]
