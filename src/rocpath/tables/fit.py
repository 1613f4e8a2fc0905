"""Fit models to a prepared table, compare them, and collect the results."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import time
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline

from rocpath.evaluation.operating_points import DEFAULT_CONFIDENCE
from rocpath.evaluation.score_summary import ScoreSummary, summarize_scores
from rocpath.evaluation.threshold_targets import ThresholdTargets, describe_target, target_point
from rocpath.model_selection.comparison import ModelComparison
from rocpath.tables import rankers
from rocpath.tables.columns import ColumnAudit
from rocpath.tables.comparison import CrossValidatedScores, compare_models
from rocpath.tables.folds import Fold, RowDesign, split_rows
from rocpath.tables.labels import BinaryLabel
from rocpath.tables.model import TableModel, table_inputs
from rocpath.tables.preparation import PreparedTable, TableWarning

if TYPE_CHECKING:
    from rocpath.tables.classifier import TableClassifier


@dataclass(frozen=True, slots=True, eq=False)
class TableFit:
    """Fitted model of a table, its evaluation, and the other results of the report.

    Attributes
    ----------
    label : BinaryLabel
        Classes, and the label of each row.
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

    label: BinaryLabel
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


def fit_table(prepared: PreparedTable, settings: "TableClassifier") -> TableFit:
    """Compare models on held-out rows, and fit the selected one to all rows."""
    fitter = _Fitter(prepared, settings)
    candidates = fitter.names if settings.fast else rankers.CANDIDATES[settings.model]
    method, held_out, comparison = candidates[0], fitter.cross_validate(), None
    if held_out is not None:
        comparison = compare_models(held_out, candidates=candidates, max_fpr=settings.max_fpr)
        method = comparison.selected
    fitter.start(f"{method}, all rows")
    model, inner = fitter.fit_all_rows(method)
    if held_out is None and inner is not None:
        held_out = inner
        comparison = compare_models(inner, candidates=[method], max_fpr=settings.max_fpr)
    fitter.start("summarizing the results")
    summary, note = None, ""
    if held_out is not None:
        score, design = held_out.score[method], held_out.design
        summary = summarize_scores(
            held_out.is_positive, score, settings.targets, unit=design.sampled, **design.statistics
        )
        threshold, note = _threshold(held_out, score, settings.targets)
        model = replace(model, threshold=threshold)
    coefficients, importance = model.coefficients(prepared.frame), []
    # Importances are computed only without coefficients: each requires a prediction.
    if not coefficients and settings.model != "scores":
        importance = model.importance(prepared.frame, prepared.label.is_positive)
    return TableFit(
        label=prepared.label,
        model=model,
        method=method,
        comparison=comparison,
        held_out=held_out,
        summary=summary,
        columns=prepared.columns,
        warnings=prepared.warnings,
        evaluation=_evaluation(prepared, held_out),
        threshold_note=note,
        coefficients=coefficients,
        importance=importance,
    )


class _Fitter:
    """Cross-validation of the methods on a table, and the final fit to all rows."""

    def __init__(self, prepared: PreparedTable, settings: "TableClassifier") -> None:
        self.prepared, self.settings = prepared, settings
        self.y = prepared.label.is_positive
        self.names = rankers.methods_for(settings.model, fast=settings.fast)
        self.folds = self._folds()
        self.n_started, self.n_steps = 0, len(self.folds) * len(self.names) + 2

    def start(self, text: str) -> None:
        """Report the next step to the progress callback."""
        if self.settings.progress is not None:
            self.settings.progress(self.n_started, self.n_steps, text)
        self.n_started += 1

    def _folds(self) -> list[Fold]:
        design, is_fast = self.prepared.design, self.settings.fast
        # Methods other than these report the scores of the inner folds of their tuning,
        # which are not forward in time.
        if is_fast and self.names[0] not in (rankers.OURS, rankers.BLEND) and design.time is None:
            return []
        n_folds = rankers.INNER_FOLDS if is_fast else self.settings.cv
        folds = split_rows(self.y, design, n_folds, self.settings.random_state)
        if folds or (is_fast and design.time is None):
            return folds
        label = self.prepared.label
        rarer = label.positive if label.n_positive <= label.n_negative else label.negative
        unit = "groups" if design.time is None else "time windows"
        if min(label.n_positive, label.n_negative) == 1:
            unit = "rows"
        raise ValueError(
            f"label {rarer!r} of column {label.column!r} must occur in at least two {unit}, one "
            "for training and one for evaluation."
        )

    def cross_validate(self) -> CrossValidatedScores | None:
        """Fit every method to the training rows of each fold, and score its held-out rows.

        Hyperparameters are selected by inner folds of the training rows, so that no
        held-out row influences them. A blend of scores is compared with these scores.
        """
        if not self.folds:
            return None
        frame = self.prepared.frame
        score = {name: np.full(self.y.size, np.nan) for name in self.names}
        for k, (train, test) in enumerate(self.folds, 1):
            # Medians and categories are those of the training rows, shared by all methods.
            columns = self._columns()
            X, X_new = columns.fit_transform(frame[train]), columns.transform(frame[test])
            for name in self.names:
                self.start(f"{name}, fold {k} of {len(self.folds)}")
                steps = rankers.fit_ranker(name, self._task(X, train)).steps
                score[name][test] = Pipeline(steps).decision_function(X_new)
        if self.settings.model == "scores":
            score |= {one.name: one.to_numpy() for one in frame}
        return self._held_out(self.folds, score)

    def fit_all_rows(self, method: str) -> tuple[TableModel, CrossValidatedScores | None]:
        """Fit a method to all rows; return the scores of its inner folds, if any."""
        prepared, columns = self.prepared, self._columns()
        task = self._task(columns.fit_transform(prepared.frame), np.arange(self.y.size))
        steps, score = rankers.fit_ranker(method, task)
        inner = None if score is None else self._held_out(task.folds(), {method: score})
        # A saved model stores an array of strings as a whole, but each element of an object
        # array separately.
        for step in (columns, *(step for _, step, _ in columns.transformers_)):
            if hasattr(step, "feature_names_in_"):
                step.feature_names_in_ = step.feature_names_in_.astype(np.str_)
        pipeline, sources = Pipeline([("columns", columns), *steps]), prepared.features
        return TableModel.from_pipeline(pipeline, sources, prepared.frame, prepared.label), inner

    def _columns(self) -> ColumnTransformer:
        return table_inputs(self.prepared.features, is_scores=self.settings.model == "scores")

    def _task(self, X: Any, rows: NDArray[np.intp]) -> rankers.RankerTask:
        settings, design = self.settings, self.prepared.design.take(rows)
        names = self.prepared.features.number if settings.model == "scores" else ()
        return rankers.RankerTask(
            X, self.y[rows], design, settings.random_state, settings.max_fpr, names
        )

    def _held_out(
        self, folds: list[Fold], score: dict[str, NDArray[np.float64]]
    ) -> CrossValidatedScores:
        fold = np.full(self.y.size, -1, dtype=np.intp)
        for k, (_, test) in enumerate(folds):
            fold[test] = k
        # The first time window is used only for training.
        rows = np.flatnonzero(fold >= 0)
        own = {name: one[rows] for name, one in score.items()}
        design = self.prepared.design.take(rows)
        return CrossValidatedScores(rows, fold[rows], own, self.y[rows], design)


def _threshold(
    held_out: CrossValidatedScores, score: NDArray[np.float64], targets: ThresholdTargets
) -> tuple[float | None, str]:
    """Choose a threshold that meets all targets, guaranteed for new rows if possible.

    Returns the threshold and a sentence that describes it.
    """
    if targets.n_given == 0:
        return None, ""
    y, design, reason = held_out.is_positive, held_out.design, ""
    for confidence in (None,) if list(targets.given) == ["top"] else (DEFAULT_CONFIDENCE, None):
        try:
            point = target_point(y, score, targets, confidence, **design.statistics)
        except ValueError as error:
            reason = _reason(error, targets, design)
            continue
        note = f"Scores of at least {point.threshold:.4g} are predicted positive: "
        if confidence is not None:
            rules = " and ".join(describe_target(*one) for one in targets.given.items())
            note += f"{rules}, guaranteed for new {design.sampled} with 95% confidence"
            note += "." if design.time is None else ", unless the data change with time."
        elif not reason:
            note += "as many held-out rows as requested."
        else:
            note += f"observed on held-out rows, not guaranteed: {reason}"
        return point.threshold, note
    return None, f"No threshold is saved: {reason}"


def _reason(error: ValueError, targets: ThresholdTargets, design: RowDesign) -> str:
    """Explain why a threshold could not be chosen, without naming arguments."""
    if design.sample_weight is not None:
        return "bounds on error rates are known only for equal weights."
    if design.unit is not None and targets.min_precision is not None:
        return "no bound on the precision is known for rows that depend on each other."
    return str(error)


def _evaluation(prepared: PreparedTable, held_out: CrossValidatedScores | None) -> str:
    """Describe how held-out rows were chosen."""
    if held_out is None:
        return "not evaluated on held-out rows"
    n_folds = held_out.n_folds
    if prepared.time is not None:
        times = prepared.time.gather(pl.Series(held_out.row))
        if times.dtype == pl.Datetime and (times.dt.time() == time()).all():
            times = times.cast(pl.Date)
        return (
            f"{n_folds} forward time windows: trained on the past, evaluated on "
            f"{times.min()!s} to {times.max()!s}"
        )
    by = "" if prepared.design.group is None else " by group"
    return f"{n_folds}-fold cross-validation{by}"
