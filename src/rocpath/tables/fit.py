"""Fit models to a prepared table, compare them, and keep what a report shows."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from rocpath.auc_statistics.operating_points import DEFAULT_CONFIDENCE
from rocpath.auc_statistics.score_summary import summarize_scores
from rocpath.auc_statistics.threshold_targets import NO_TARGETS, ThresholdTargets, target_point
from rocpath.ranking.auc_blender import AUCBlender
from rocpath.tables.comparison import CrossValidatedScores, compare_models
from rocpath.tables.folds import split_rows
from rocpath.tables.model import TableModel, fit_pipeline, table_inputs
from rocpath.tables.rankers import (
    BLEND,
    CANDIDATES,
    DENSE,
    INNER_FOLDS,
    OURS,
    RankerTask,
    dense,
    fit_ranker,
    methods_for,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from rocpath.auc_statistics.score_summary import ScoreSummary
    from rocpath.model_comparison import ModelComparison
    from rocpath.tables.columns import ColumnAudit
    from rocpath.tables.folds import Fold
    from rocpath.tables.labels import BinaryLabel
    from rocpath.tables.preparation import PreparedTable, TableWarning

    Progress = Callable[[int, int, str], None]


class FitSettings(NamedTuple):
    """How to fit models to a table."""

    model: str = "auto"
    targets: ThresholdTargets = NO_TARGETS
    n_folds: int = 5
    is_fast: bool = False
    random_state: int | None = None
    progress: Progress | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TableFit:
    """Hold a fitted model of a table, its evaluation, and what a report shows.

    Attributes
    ----------
    label : BinaryLabel
        Classes, and the label of each row.
    model : TableModel
        Model that was fitted to all rows.
    method : str
        Name of its method.
    comparison : ModelComparison or None
        Scores of all methods on held-out rows; None if there were none.
    metrics : dict of dict of float
        Further metrics by method.
    held_out : CrossValidatedScores or None
        Log-odds of held-out rows by method.
    summary : ScoreSummary or None
        Thresholds, calibration and lift of the model on held-out rows.
    columns : list of ColumnAudit
        What each column was used as.
    warnings : list of TableWarning
        Reasons to doubt the results.
    evaluation : str
        How held-out rows were chosen.
    threshold_note : str
        What holds for the threshold of the model; empty if none was requested.
    coefficients, importance : list of tuple of str and float
        Effects of the inputs, or importances of the columns.
    all_rows : dict
        Numbers about all rows, by name, if the others are about a sample of them.
    """

    label: BinaryLabel
    model: TableModel
    method: str
    comparison: ModelComparison | None
    metrics: dict[str, dict[str, float]]
    held_out: CrossValidatedScores | None
    summary: ScoreSummary | None
    columns: list[ColumnAudit]
    warnings: list[TableWarning]
    evaluation: str = ""
    threshold_note: str = ""
    coefficients: Sequence[tuple[str, float]] = ()
    importance: Sequence[tuple[str, float]] = ()
    all_rows: dict[str, Any] = field(default_factory=dict)


def fit_table(prepared: PreparedTable, settings: FitSettings) -> TableFit:
    """Compare models on held-out rows, and fit the selected one to all rows."""
    names, folds = _plan(prepared, settings)
    steps = _Steps(settings.progress, len(folds) * len(names) + 2)
    held_out = comparison = None
    metrics: dict[str, dict[str, float]] = {}
    candidates = CANDIDATES[settings.model] if not settings.is_fast else names
    method, max_fpr = candidates[0], settings.targets.max_fpr
    if folds:
        is_blend = settings.model == "scores"
        cross_validate = _score_blends if is_blend else _score_methods
        held_out = cross_validate(prepared, folds, names, settings, steps)
        comparison, metrics = compare_models(held_out, candidates=candidates, max_fpr=max_fpr)
        method = comparison.selected
    steps.start(f"{method}, all rows")
    fitted, inner = _fit_all_rows(prepared, method, settings)
    if held_out is None and inner is not None:
        held_out = inner
        comparison, metrics = compare_models(held_out, candidates=[method], max_fpr=max_fpr)
    steps.start("summarizing the results")
    return _result(prepared, settings, fitted, method, comparison, metrics, held_out)


def _plan(prepared: PreparedTable, settings: FitSettings) -> tuple[tuple[str, ...], list[Fold]]:
    """Return the methods to cross-validate, and the folds.

    A fast fit has one method. If that reports the scores of the inner folds of its
    tuning, it needs no others.
    """
    if settings.model == "scores":
        return (BLEND,), _folds(prepared, settings)
    if not settings.is_fast:
        return methods_for(settings.model), _folds(prepared, settings)
    method = OURS if settings.model == "auto" else CANDIDATES[settings.model][0]
    if method not in (OURS, BLEND):
        return (method,), []
    design = prepared.design._replace(time=None)
    y, seed = prepared.label.is_positive, settings.random_state
    return (method,), split_rows(y, design, INNER_FOLDS, seed)


class _Steps:
    """Number the steps of a fit for a progress callback."""

    def __init__(self, progress: Progress | None, n_steps: int) -> None:
        self.progress, self.n_steps, self.n_done = progress, n_steps, 0

    def start(self, text: str) -> None:
        if self.progress is not None:
            self.progress(self.n_done, self.n_steps, text)
        self.n_done += 1


def _folds(prepared: PreparedTable, settings: FitSettings) -> list[Fold]:
    label, design = prepared.label, prepared.design
    folds = split_rows(label.is_positive, design, settings.n_folds, settings.random_state)
    if folds:
        return folds
    is_positive_rare = label.n_positive < label.n_negative
    rarer = label.positive if is_positive_rare else label.negative
    if min(label.n_positive, label.n_negative) == 1:
        raise ValueError(
            f"label column {label.column!r} has only 1 row of {rarer!r}: at least two "
            "are needed, one for training and one for evaluation."
        )
    how = "groups" if design.time is None else "windows of time"
    raise ValueError(
        f"rows of {rarer!r} must be in at least two {how}, one for training and one for evaluation."
    )


def _score_methods(
    prepared: PreparedTable,
    folds: list[Fold],
    names: Sequence[str],
    settings: FitSettings,
    steps: _Steps,
) -> CrossValidatedScores:
    """Fit every method to the training rows of each fold, and score the others.

    Hyperparameters are selected by inner folds of the training rows, so that no
    held-out row influences them.
    """
    frame = prepared.features.of(prepared.table)
    y = prepared.label.is_positive
    score = {name: np.full(y.size, np.nan) for name in names}
    for k, (train, test) in enumerate(folds, 1):
        # Medians and categories of the training rows, once for all methods.
        columns = table_inputs(prepared.features, is_dense=False)
        inputs = columns.fit_transform(frame[train]), columns.transform(frame[test])
        for name in names:
            steps.start(f"{name}, fold {k} of {len(folds)}")
            X, X_new = map(dense, inputs) if name in DENSE else inputs
            task = _task(prepared, settings, X, train)
            ranker = fit_ranker(name, task)
            score[name][test] = Pipeline(ranker.steps).decision_function(X_new)
    return _held_out(prepared, folds, score)


def _score_blends(
    prepared: PreparedTable,
    folds: list[Fold],
    names: Sequence[str],
    settings: FitSettings,
    steps: _Steps,
) -> CrossValidatedScores:
    """Fit a blend in each fold, and compare it with the scores that it blends."""
    frame = prepared.features.of(prepared.table)
    S, y = frame.to_numpy(), prepared.label.is_positive
    blended = np.full(y.size, np.nan)
    for k, (train, test) in enumerate(folds, 1):
        steps.start(f"{names[0]}, fold {k} of {len(folds)}")
        task = _task(prepared, settings, S[train], train)
        blended[test] = _blend(task).decision_function(S[test])
    score = {BLEND: blended, **{one.name: one.to_numpy() for one in frame}}
    return _held_out(prepared, folds, score)


def _blend(task: RankerTask) -> AUCBlender:
    blend = AUCBlender(max_fpr=task.max_fpr, random_state=task.random_state)
    return blend.fit_scores(task.X, task.y, **task.fit_arguments)


def _task(
    prepared: PreparedTable, settings: FitSettings, X: Any, rows: NDArray[np.intp]
) -> RankerTask:
    return RankerTask(
        X,
        prepared.label.is_positive[rows],
        prepared.design.take(rows),
        settings.random_state,
        settings.targets.max_fpr,
    )


def _held_out(
    prepared: PreparedTable, folds: list[Fold], score: dict[str, NDArray[np.float64]]
) -> CrossValidatedScores:
    fold = np.full(prepared.label.is_positive.size, -1, dtype=np.intp)
    for k, (_, test) in enumerate(folds):
        fold[test] = k
    # The first window of time is only trained on.
    rows = np.flatnonzero(fold >= 0)
    return CrossValidatedScores(
        rows,
        fold[rows],
        {name: own[rows] for name, own in score.items()},
        prepared.label.is_positive[rows],
        prepared.design.take(rows),
    )


def _fit_all_rows(
    prepared: PreparedTable, method: str, settings: FitSettings
) -> tuple[TableModel, CrossValidatedScores | None]:
    """Fit a method to all rows; return scores of its inner folds where it has them."""
    features, label = prepared.features, prepared.label
    frame = features.of(prepared.table)
    rows = np.arange(label.is_positive.size)
    inner = None
    if settings.model == "scores":
        # As they are: the blend refuses missing scores.
        columns = ColumnTransformer([("number", "passthrough", list(features.number))])
        blend = _blend(_task(prepared, settings, columns.fit_transform(frame), rows))
        # Otherwise a blend of given scores numbers them.
        blend.member_names_ = list(features.number)
        pipeline = Pipeline([("columns", columns), ("ranking", blend)])
    else:
        columns = table_inputs(features, is_dense=method in DENSE)
        task = _task(prepared, settings, columns.fit_transform(frame), rows)
        pipeline, ranker = fit_pipeline(method, columns, task)
        if ranker.held_out is not None:
            folds = task.folds()
            inner = _held_out(prepared, folds, {method: ranker.held_out})
    return TableModel.from_pipeline(pipeline, features, frame, label), inner


def _result(
    prepared: PreparedTable,
    settings: FitSettings,
    model: TableModel,
    method: str,
    comparison: ModelComparison | None,
    metrics: dict[str, dict[str, float]],
    held_out: CrossValidatedScores | None,
) -> TableFit:
    label, summary, note = prepared.label, None, ""
    if held_out is not None:
        score = held_out.score[method]
        summary = summarize_scores(
            held_out.is_positive, score, settings.targets, **held_out.design.statistics
        )
        model, note = with_threshold(model, held_out, score, settings.targets)
    coefficients = model.coefficients(prepared.table)
    importance: list[tuple[str, float]] = []
    # Trees have no coefficients; the importance of a column takes a prediction.
    if not coefficients and settings.model != "scores":
        importance = model.importance(prepared.table, label.is_positive)
    return TableFit(
        label,
        model,
        method,
        comparison,
        metrics,
        held_out,
        summary,
        prepared.columns,
        prepared.warnings,
        _evaluation(prepared, held_out, is_fast=settings.is_fast),
        note,
        coefficients,
        importance,
    )


def with_threshold(
    model: TableModel,
    held_out: CrossValidatedScores,
    score: NDArray[np.float64],
    targets: ThresholdTargets,
) -> tuple[TableModel, str]:
    """Set a threshold that reaches all targets, guaranteed for new rows if possible.

    Returns the model and a sentence about what holds for its threshold.
    """
    if targets.n_given == 0:
        return model, ""
    y, design, reason = held_out.is_positive, held_out.design, ""
    for confidence in (None,) if list(targets.given) == ["top"] else (DEFAULT_CONFIDENCE, None):
        try:
            point = target_point(y, score, targets, confidence, **design.statistics)
        except ValueError as error:
            reason = str(error)
            continue
        model = replace(model, threshold=point.threshold)
        called = f"Scores of at least {point.threshold:.4g} are predicted positive: "
        if confidence is not None:
            where = "rows" if design.group is None else "groups"
            return model, f"{called}guaranteed for new {where} with 95% confidence."
        if not reason:
            return model, f"{called}as many held-out rows as requested."
        return model, f"{called}observed on held-out rows, not guaranteed: {reason}"
    return model, f"No threshold is saved: {reason}"


def _evaluation(
    prepared: PreparedTable, held_out: CrossValidatedScores | None, *, is_fast: bool
) -> str:
    """Describe how held-out rows were chosen."""
    if held_out is None:
        return "not evaluated on held-out rows"
    n_folds = held_out.n_folds
    if prepared.time is not None and not is_fast:
        held = prepared.time.gather(pl.Series(held_out.row))
        return (
            f"{n_folds} forward windows of time: trained on the past, evaluated on "
            f"{held.min()!s} to {held.max()!s}"
        )
    by = "" if prepared.design.group is None else " by group"
    return f"{n_folds}-fold cross-validation{by}"
