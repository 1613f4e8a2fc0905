"""Compare models of a prepared table, fit the selected one, and collect the results."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import time

import numpy as np
import polars as pl

from rocpath.evaluation.score_summary import ScoreSummary, summarize_scores
from rocpath.model_selection.comparison import ModelComparison
from rocpath.model_selection.folds import calibration_fold, stratified_splits
from rocpath.tables import diagnostics, rankers
from rocpath.tables.columns import ColumnAudit
from rocpath.tables.comparison import CrossValidatedScores, compare_models, mean_auc
from rocpath.tables.dependence import distinctive_hashes
from rocpath.tables.diagnostics import WindowAUC
from rocpath.tables.fold_fits import (
    FoldFits,
    Progress,
    cross_validate,
    evaluation_folds,
    fit_all_rows,
    numbered_steps,
)
from rocpath.tables.importance import importance
from rocpath.tables.labels import LabelColumn
from rocpath.tables.model import TableModel
from rocpath.tables.preparation import PreparedTable
from rocpath.tables.settings import FitSettings
from rocpath.tables.table_warnings import TableWarning
from rocpath.tables.threshold import Basis, can_be_estimated, choose_model_threshold, claim


@dataclass(frozen=True, slots=True, eq=False)
class TableFit:
    """Fitted model of a table, its evaluation, and the other results of the report.

    Attributes
    ----------
    label : LabelColumn
        Classes and their numbers of rows.
    model : TableModel
        Selected model.
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
    windows : list of WindowAUC
        AUC of each time window; empty without times.
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
    windows: Sequence[WindowAUC] = ()
    coefficients: Sequence[tuple[str, float]] = ()
    importance: Sequence[tuple[str, float]] = ()


def fit_table(
    table: PreparedTable, settings: FitSettings, progress: Progress | None = None
) -> TableFit:
    """Compare models on held-out rows, and fit the selected one.

    The selected model is fitted to all rows, or to those that are not used for
    calibration. ``progress`` is called at the start of every step with its number, the
    number of steps and a description.
    """
    rows, calibration = table, None
    if settings.calibration_size is not None:
        split = calibration_fold(table.sample, settings.calibration_size, settings.random_state)
        rows, calibration = table.take(split.train), table.take(split.test)
    names = rankers.methods_for(settings.model, fast=settings.fast)
    folds = evaluation_folds(rows, settings, names[0])
    start = numbered_steps(progress, len(folds) * len(names) + 2)
    is_estimated = calibration is None and can_be_estimated(settings.targets, rows.sample)
    fits = cross_validate(rows, settings, folds, names, start, has_common_inputs=is_estimated)
    candidates = names if settings.fast else rankers.CANDIDATES[settings.model]
    method, comparison = candidates[0], None
    if fits.held_out is not None:
        comparison = _compare(fits.held_out, settings, candidates)
        method = comparison.selected
    start(f"{method}, all rows")
    is_estimated &= method in rankers.LINEAR and bool(folds)
    averaged = fits.pipelines[method] if is_estimated else ()
    model, inner = fit_all_rows(rows, settings, method, averaged=averaged)
    if fits.held_out is None and inner is not None:
        fits = fits._replace(held_out=inner)
        comparison = _compare(inner, settings, [method])
    start("summarizing the results")
    hashes = distinctive_hashes(table.frame, table.sample.is_positive)
    fit = TableFit(
        label=table.label,
        model=replace(model, row_hashes=hashes),
        method=method,
        comparison=comparison,
        held_out=fits.held_out,
        summary=None,
        columns=table.columns,
        warnings=table.warnings,
        evaluation=_evaluation(rows, fits.held_out, calibration),
    )
    basis: Basis = "averaged folds" if is_estimated else "folds"
    fit = _with_threshold(fit, settings, basis, calibration)
    return _with_diagnostics(_with_effects(fit, settings, rows, fits, calibration), settings, rows)


def _compare(
    held_out: CrossValidatedScores, settings: FitSettings, candidates: Sequence[str]
) -> ModelComparison:
    return compare_models(held_out, candidates=candidates, max_fpr=settings.targets.max_fpr)


def _with_threshold(
    fit: TableFit, settings: FitSettings, basis: Basis, calibration: PreparedTable | None
) -> TableFit:
    """Choose the threshold on calibration rows or on cross-validated scores."""
    if calibration is not None:
        sample, basis = calibration.sample, "calibration"
        score = np.asarray(fit.model.pipeline.decision_function(calibration.frame))
    elif fit.held_out is not None:
        sample, score = fit.held_out.sample, fit.held_out.score[fit.method]
    else:
        return fit
    y, targets = sample.is_positive, settings.targets
    summary = summarize_scores(y, score, targets, claim=claim(basis, sample), **sample.arguments)
    threshold, note = choose_model_threshold(sample, score, targets, basis)
    model = replace(fit.model, threshold=threshold)
    return replace(fit, model=model, summary=summary, threshold_note=note)


def _with_diagnostics(fit: TableFit, settings: FitSettings, rows: PreparedTable) -> TableFit:
    """Add the AUCs of time windows, and warnings that need held-out scores."""
    held_out, method = fit.held_out, fit.method
    if held_out is None or settings.model == "scores":
        return fit
    area = mean_auc(held_out, method).value
    warnings = [*fit.warnings, *diagnostics.find_hidden_groups(rows, held_out, method)]
    groups = [k for k, one in enumerate(warnings) if one.kind == "groups"]
    if groups:
        (name, *_) = warnings[groups[0]].columns
        by_group = diagnostics.auc_by_group(rows, settings, method, name)
        if by_group is not None:
            text = f"{warnings[groups[0]].message}; the AUC is {area:.3f} by row and "
            text += f"{by_group:.3f} by {name!r}"
            warnings[groups[0]] = warnings[groups[0]]._replace(message=text)
    windows = diagnostics.window_aucs(held_out, method)
    warnings += diagnostics.nearly_perfect(rows, area)
    warnings += diagnostics.warn_of_trend(windows)
    warnings += diagnostics.warn_of_past(rows)
    return replace(fit, warnings=warnings, windows=windows)


def _with_effects(
    fit: TableFit,
    settings: FitSettings,
    rows: PreparedTable,
    fits: FoldFits,
    calibration: PreparedTable | None,
) -> TableFit:
    """Compute coefficients or, for models without them, importances on held-out rows."""
    coefficients = fit.model.coefficients(rows.frame)
    # Each importance requires a prediction.
    if coefficients or settings.model == "scores":
        return replace(fit, coefficients=coefficients)
    if calibration is not None:
        y, pipeline = calibration.sample.is_positive, fit.model.pipeline
        return replace(fit, importance=importance(pipeline, calibration.frame, y))
    if not fits.folds:
        # The inner folds of a fast fit leave no fitted models.
        split = stratified_splits(rows.sample, rankers.INNER_FOLDS, settings.random_state)[:1]
        quiet = numbered_steps(None, 0)
        fits = cross_validate(rows, settings, split, [fit.method], quiet)
    return replace(fit, importance=fits.importance(rows, fit.method))


def _evaluation(
    table: PreparedTable, held_out: CrossValidatedScores | None, calibration: PreparedTable | None
) -> str:
    """Describe how held-out rows were chosen."""
    if calibration is not None:
        text = _evaluation(table, held_out, None)
        return f"{text}; threshold chosen on {len(calibration.sample):,} calibration rows"
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
