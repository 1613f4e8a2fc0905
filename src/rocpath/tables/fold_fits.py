"""Fits of models of a table to the training rows of folds, and to all rows."""

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from rocpath.model_selection.folds import Fold, forward_splits, stratified_splits
from rocpath.ranking.labeled_rows import LabeledRows
from rocpath.tables import rankers
from rocpath.tables.comparison import CrossValidatedScores
from rocpath.tables.importance import importance
from rocpath.tables.model import TableModel, table_inputs
from rocpath.tables.preparation import PreparedTable
from rocpath.tables.settings import FitSettings

Progress: TypeAlias = Callable[[int, int, str], None]
Step: TypeAlias = Callable[[str], None]
_MAX_PREDICTIONS = 300  # for importances on all folds; otherwise on the last one


def numbered_steps(progress: Progress | None, n_steps: int) -> Callable[[str], None]:
    """Return a function that reports the description of the next step."""
    number = count()

    def start(text: str) -> None:
        if progress is not None:
            progress(next(number), n_steps, text)

    return start


def evaluation_folds(table: PreparedTable, settings: FitSettings, method: str) -> list[Fold]:
    """Return the folds of the comparison; none if the inner folds of a fast fit suffice."""
    sample, is_fast = table.sample, settings.fast
    # Methods other than these report the scores of the inner folds of their tuning,
    # which are not forward in time.
    if is_fast and method not in (rankers.OURS, rankers.BLEND) and sample.time is None:
        return []
    n_folds = rankers.INNER_FOLDS if is_fast else settings.cv
    if sample.time is None:
        folds = stratified_splits(sample, n_folds, settings.random_state)
    else:
        folds = list(forward_splits(sample, n_folds))
    if folds or (is_fast and sample.time is None):
        return folds
    label = table.label
    rarer = label.positive if label.n_positive <= label.n_negative else label.negative
    unit = "groups" if sample.time is None else "time windows"
    if min(label.n_positive, label.n_negative) == 1:
        unit = "rows"
    raise ValueError(
        f"label {rarer!r} of column {label.column!r} must occur in at least two {unit}, one "
        "for training and one for evaluation."
    )


class FoldFits(NamedTuple):
    """Folds of a table, the fitted pipelines of each method, and their held-out scores."""

    folds: list[Fold]
    pipelines: dict[str, list[Pipeline]]
    held_out: CrossValidatedScores | None = None

    def importance(self, table: PreparedTable, method: str) -> list[tuple[str, float]]:
        """Return permutation importances of the columns on held-out rows, averaged."""
        used = list(zip(self.pipelines[method], self.folds, strict=True))
        if len(used) * table.frame.width > _MAX_PREDICTIONS:
            used = used[-1:]
        y = table.sample.is_positive
        decreases = [dict(importance(one, table.frame[test], y[test])) for one, (_, test) in used]
        known = [one for one in decreases if one]
        names = known[0] if known else ()
        mean = {name: float(np.mean([one[name] for one in known])) for name in names}
        return sorted(mean.items(), key=lambda pair: -pair[1])


def cross_validate(
    table: PreparedTable,
    settings: FitSettings,
    folds: list[Fold],
    names: Sequence[str],
    start: Step,
    *,
    has_common_inputs: bool = False,
) -> FoldFits:
    """Fit every method to the training rows of each fold, and score its held-out rows.

    Hyperparameters are selected by inner folds of the training rows, so that no
    held-out row influences them. Medians and categories are those of the training rows,
    or of all rows with ``has_common_inputs``, so that coefficients can be averaged. A
    blend of scores is compared with these scores.
    """
    if not folds:
        return FoldFits([], {})
    pipelines: dict[str, list[Pipeline]] = {name: [] for name in names}
    score = {name: np.full(len(table.sample), np.nan) for name in names}
    for k, (train, test) in enumerate(folds, 1):
        columns = _columns(table, settings)
        columns.fit(table.frame if has_common_inputs else table.frame[train])
        X, X_new = (columns.transform(table.frame[rows]) for rows in (train, test))
        for name in names:
            start(f"{name}, fold {k} of {len(folds)}")
            steps, _ = _fit_ranker(name, X, table, settings, train)
            score[name][test] = Pipeline(steps).decision_function(X_new)
            pipelines[name].append(Pipeline([("columns", columns), *steps]))
    if settings.model == "scores":
        score |= {one.name: one.to_numpy() for one in table.frame}
    held_out = CrossValidatedScores.from_folds(folds, score, table.sample)
    return FoldFits(folds, pipelines, held_out)


def fit_all_rows(
    table: PreparedTable, settings: FitSettings, method: str, *, averaged: Sequence[Pipeline] = ()
) -> tuple[TableModel, CrossValidatedScores | None]:
    """Fit a method to all rows; return the scores of its inner folds, if any.

    Coefficients are replaced by the means of those of the ``averaged`` linear models, if
    these are given.
    """
    columns, sample = _columns(table, settings), table.sample
    rows = np.arange(len(sample))
    steps, score = _fit_ranker(method, columns.fit_transform(table.frame), table, settings, rows)
    inner = None
    if score is not None:
        folds = rankers.inner_folds(sample, settings.random_state)
        inner = CrossValidatedScores.from_folds(folds, {method: score}, sample)
    if averaged:
        rankers.set_mean_coefficients(steps, [one.steps[1:] for one in averaged])
    # A saved model stores an array of strings as a whole, but each element of an object
    # array separately.
    for step in (columns, *(step for _, step, _ in columns.transformers_)):
        if hasattr(step, "feature_names_in_"):
            step.feature_names_in_ = step.feature_names_in_.astype(np.str_)
    pipeline = Pipeline([("columns", columns), *steps])
    return TableModel.from_pipeline(pipeline, table.features, table.frame, table.label), inner


def _columns(table: PreparedTable, settings: FitSettings) -> ColumnTransformer:
    return table_inputs(table.features, is_scores=settings.model == "scores")


def _fit_ranker(
    method: str, X: Any, table: PreparedTable, settings: FitSettings, rows: NDArray[np.intp]
) -> rankers.FittedRanker:
    names = table.features.number if settings.model == "scores" else ()
    max_fpr = settings.targets.max_fpr
    labeled = LabeledRows(X, table.sample.take(rows), np.arange(rows.size), max_fpr)
    return rankers.fit_ranker(method, labeled, settings.random_state, score_names=names)
