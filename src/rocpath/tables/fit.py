"""Fit models to a prepared table, compare them, and collect the results."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import time
from itertools import count
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from rocpath.evaluation.operating_points import DEFAULT_CONFIDENCE
from rocpath.evaluation.score_summary import ScoreSummary, summarize_scores
from rocpath.evaluation.threshold_targets import ThresholdTargets, describe_target, target_point
from rocpath.model_selection.comparison import ModelComparison
from rocpath.model_selection.folds import Fold, forward_splits, stratified_splits
from rocpath.ranking.labeled_rows import LabeledRows
from rocpath.sample import Sample
from rocpath.tables import rankers
from rocpath.tables.columns import ColumnAudit
from rocpath.tables.comparison import CrossValidatedScores, compare_models
from rocpath.tables.labels import LabelColumn
from rocpath.tables.model import TableModel, table_inputs
from rocpath.tables.preparation import PreparedTable, TableWarning
from rocpath.tables.settings import FitSettings

Progress: TypeAlias = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True, eq=False)
class TableFit:
    """Fitted model of a table, its evaluation, and the other results of the report.

    Attributes
    ----------
    label : LabelColumn
        Classes and their numbers of rows.
    model : TableModel
        Model that was fitted to all rows.
    method : str
        Name of the method of ``model``.
    comparison : ModelComparison or None
        Scores of all methods on held-out rows; None without held-out rows.
    held_out : CrossValidatedScores or None
        Log-odds of held-out rows by method.
    summary : ScoreSummary or None
        Thresholds, calibration and lift of the model on held-out rows.
    columns : list of ColumnAudit
        Use of each column, and the reason for it.
    warnings : list of TableWarning
        Reasons to doubt the results.
    evaluation : str
        Description of how held-out rows were chosen.
    threshold_note : str
        Description of the threshold of the model; empty if none was requested.
    coefficients, importance : list of tuple of str and float
        Coefficients of the inputs, or permutation importances of the columns, by name.
    """

    label: LabelColumn
    model: TableModel
    method: str
    comparison: ModelComparison | None
    held_out: CrossValidatedScores | None
    summary: ScoreSummary | None
    columns: list[ColumnAudit]
    warnings: list[TableWarning]
    evaluation: str = ""
    threshold_note: str = ""
    coefficients: Sequence[tuple[str, float]] = ()
    importance: Sequence[tuple[str, float]] = ()


def fit_table(
    table: PreparedTable, settings: FitSettings, progress: Progress | None = None
) -> TableFit:
    """Compare models on held-out rows, and fit the selected one to all rows.

    ``progress`` is called at the start of every step with its number, the number of
    steps and a description.
    """
    names = rankers.methods_for(settings.model, fast=settings.fast)
    folds = _folds(table, settings, names[0])
    start = _numbered(progress, len(folds) * len(names) + 2)
    candidates = names if settings.fast else rankers.CANDIDATES[settings.model]
    max_fpr = settings.targets.max_fpr
    method, comparison = candidates[0], None
    held_out = _cross_validate(table, settings, folds, names, start)
    if held_out is not None:
        comparison = compare_models(held_out, candidates=candidates, max_fpr=max_fpr)
        method = comparison.selected
    start(f"{method}, all rows")
    model, inner = _fit_all_rows(table, settings, method)
    if held_out is None and inner is not None:
        held_out = inner
        comparison = compare_models(inner, candidates=[method], max_fpr=max_fpr)
    start("summarizing the results")
    summary, note = None, ""
    if held_out is not None:
        summary, threshold, note = _summary(held_out.sample, held_out.score[method], settings)
        model = replace(model, threshold=threshold)
    coefficients, importance = model.coefficients(table.frame), []
    # Importances are computed only without coefficients: each requires a prediction.
    if not coefficients and settings.model != "scores":
        importance = model.importance(table.frame, table.sample.is_positive)
    return TableFit(
        label=table.label,
        model=model,
        method=method,
        comparison=comparison,
        held_out=held_out,
        summary=summary,
        columns=table.columns,
        warnings=table.warnings,
        evaluation=_evaluation(table, held_out),
        threshold_note=note,
        coefficients=coefficients,
        importance=importance,
    )


def _numbered(progress: Progress | None, n_steps: int) -> Callable[[str], None]:
    """Return a function that reports the description of the next step."""
    number = count()

    def start(text: str) -> None:
        if progress is not None:
            progress(next(number), n_steps, text)

    return start


def _folds(table: PreparedTable, settings: FitSettings, method: str) -> list[Fold]:
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


def _cross_validate(
    table: PreparedTable,
    settings: FitSettings,
    folds: list[Fold],
    names: Sequence[str],
    start: Callable[[str], None],
) -> CrossValidatedScores | None:
    """Fit every method to the training rows of each fold, and score its held-out rows.

    Hyperparameters are selected by inner folds of the training rows, so that no
    held-out row influences them. A blend of scores is compared with these scores.
    """
    if not folds:
        return None
    score = {name: np.full(len(table.sample), np.nan) for name in names}
    for k, (train, test) in enumerate(folds, 1):
        # Medians and categories are those of the training rows, shared by all methods.
        columns = _columns(table, settings)
        X = columns.fit_transform(table.frame[train])
        X_new = columns.transform(table.frame[test])
        for name in names:
            start(f"{name}, fold {k} of {len(folds)}")
            fitted = _fit_ranker(name, X, table, settings, train)
            score[name][test] = Pipeline(fitted.steps).decision_function(X_new)
    if settings.model == "scores":
        score |= {one.name: one.to_numpy() for one in table.frame}
    return CrossValidatedScores.from_folds(folds, score, table.sample)


def _fit_all_rows(
    table: PreparedTable, settings: FitSettings, method: str
) -> tuple[TableModel, CrossValidatedScores | None]:
    """Fit a method to all rows; return the scores of its inner folds, if any."""
    columns, sample = _columns(table, settings), table.sample
    rows = np.arange(len(sample))
    steps, score = _fit_ranker(method, columns.fit_transform(table.frame), table, settings, rows)
    inner = None
    if score is not None:
        folds = rankers.inner_folds(sample, settings.random_state)
        inner = CrossValidatedScores.from_folds(folds, {method: score}, sample)
    # A saved model stores an array of strings as a whole, but each element of an object
    # array separately.
    for step in (columns, *(step for _, step, _ in columns.transformers_)):
        if hasattr(step, "feature_names_in_"):
            step.feature_names_in_ = step.feature_names_in_.astype(np.str_)
    pipeline = Pipeline([("columns", columns), *steps])
    labels = table.label, sample.is_positive
    return TableModel.from_pipeline(pipeline, table.features, table.frame, *labels), inner


def _columns(table: PreparedTable, settings: FitSettings) -> ColumnTransformer:
    return table_inputs(table.features, is_scores=settings.model == "scores")


def _fit_ranker(
    method: str, X: Any, table: PreparedTable, settings: FitSettings, rows: NDArray[np.intp]
) -> rankers.FittedRanker:
    names = table.features.number if settings.model == "scores" else ()
    max_fpr = settings.targets.max_fpr
    labeled = LabeledRows(X, table.sample.take(rows), np.arange(rows.size), max_fpr)
    return rankers.fit_ranker(method, labeled, settings.random_state, score_names=names)


def _units(sample: Sample) -> str:
    """Return the units for which guarantees hold: new groups or new rows."""
    return "rows" if sample.group is None else "groups"


def _summary(
    sample: Sample, score: NDArray[np.float64], settings: FitSettings
) -> tuple[ScoreSummary, float | None, str]:
    """Summarize scores, and choose a threshold and a sentence that describes it."""
    y, targets = sample.is_positive, settings.targets
    summary = summarize_scores(y, score, targets, unit=_units(sample), **sample.arguments)
    return summary, *_threshold(sample, score, targets)


def _threshold(
    sample: Sample, score: NDArray[np.float64], targets: ThresholdTargets
) -> tuple[float | None, str]:
    """Choose a threshold that meets all targets, guaranteed for new rows if possible.

    Returns the threshold and a sentence that describes it.
    """
    if targets.n_given == 0:
        return None, ""
    y, reason = sample.is_positive, ""
    for confidence in (None,) if list(targets.given) == ["top"] else (DEFAULT_CONFIDENCE, None):
        try:
            point = target_point(y, score, targets, confidence, **sample.arguments)
        except ValueError as error:
            reason = _reason(error, targets, sample)
            continue
        note = f"Scores of at least {point.threshold:.4g} are predicted positive: "
        if confidence is not None:
            rules = " and ".join(describe_target(*one) for one in targets.given.items())
            note += f"{rules}, guaranteed for new {_units(sample)} with 95% confidence"
            note += "." if sample.time is None else ", unless the data change with time."
        elif not reason:
            note += "as many held-out rows as requested."
        else:
            note += f"observed on held-out rows, not guaranteed: {reason}"
        return point.threshold, note
    return None, f"No threshold is saved: {reason}"


def _reason(error: ValueError, targets: ThresholdTargets, sample: Sample) -> str:
    """Explain why a threshold could not be chosen, without naming arguments."""
    if sample.weight is not None:
        return "bounds on error rates are known only for equal weights."
    if sample.unit is not None and targets.min_precision is not None:
        return "no bound on the precision is known for rows that depend on each other."
    return str(error)


def _evaluation(table: PreparedTable, held_out: CrossValidatedScores | None) -> str:
    """Describe how held-out rows were chosen."""
    if held_out is None:
        return "not evaluated on held-out rows"
    n_folds = held_out.n_folds
    if table.time is not None:
        times = table.time.gather(pl.Series(held_out.row))
        if times.dtype == pl.Datetime and (times.dt.time() == time()).all():
            times = times.cast(pl.Date)
        return (
            f"{n_folds} forward time windows: trained on the past, evaluated on "
            f"{times.min()!s} to {times.max()!s}"
        )
    by = "" if table.sample.group is None else " by group"
    return f"{n_folds}-fold cross-validation{by}"
