"""Summarize the fit of a table in a headline, a dictionary and files."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import polars as pl

from rocpath.evaluation.results import AUCInterval
from rocpath.files.csv_text import inert_csv
from rocpath.files.models import MODEL_FILE, model_bytes
from rocpath.model_selection.comparison import ModelComparison, ModelScore
from rocpath.search.breakpoints import ErrorBreakpoints
from rocpath.search.roc import auc
from rocpath.tables.comparison import CrossValidatedScores, mean_auc
from rocpath.tables.evaluation import TableEvaluation, point_dict
from rocpath.tables.fit import TableFit
from rocpath.tables.table_warnings import TableWarning

_DOUBTS = {
    "leak": "Column {!r} may be known only after the label: without it, the AUC may be lower.",
    "groups": "Rows with the same {!r} may be dependent: the AUC for new values may be lower"
    "{by_group}.",
    "perfect": "{message}.",
    "copies": "Copies of a row count as one row.",
    "near copies": "Near-copies of a row count as one row.",
    "drift": "{message}.",
    "trend": "{message}.",
    "few rows": "One class has too few rows to estimate an AUC.",
    "training rows": "{message}.",
}


def headline(fit: TableFit, test: TableEvaluation | None = None) -> str:
    """Describe in a few sentences how well the model ranks held-out rows, or test rows."""
    label = fit.label
    model = fit.method[0].upper() + fit.method[1:]
    classes = f"{label.positive!r} from {label.negative!r}"
    if test is not None:
        groups = "" if test.n_groups is None else f", {test.n_groups:,} groups"
        size = f"{test.label.n_positive:,} positives{groups}"
        text = f"{model} separates {classes} with {_area('AUC', test.auc, 'test', size)}."
        # Copies and groups among the training rows do not affect test results.
        return _with_doubts(
            text, [one for one in fit.warnings if one.kind == "leak"] + [*test.warnings]
        )
    if fit.comparison is None or fit.summary is None:
        return f"{model} was fitted to all rows and not evaluated on held-out rows."
    comparison, share = fit.comparison, 100 * fit.summary.lift.share
    area = _area(comparison.metric, comparison[fit.method], "held-out", comparison.sample_size)
    text = (
        f"{model} separates {classes} with {area}. The top 10% of scores contain "
        f"{share:.0f}% of all positives."
    )
    return _with_doubts(text, fit.warnings)


def _area(metric: str, one: AUCInterval | ModelScore, where: str, size: str) -> str:
    article = "an" if metric.startswith("A") else "a"
    interval = f"95% interval {one.low:.3f} to {one.high:.3f}"
    return f"{article} {metric} of {one.value:.3f} on {where} rows ({interval}; {size})"


def _with_doubts(text: str, warnings: Sequence[TableWarning]) -> str:
    """Append one sentence for each kind of warning."""
    doubts = {}
    for one in warnings[::-1]:
        if one.kind in _DOUBTS:
            # A fit by group, if it was cheap, is described at the end of the message.
            _, found, areas = one.message.partition("; the AUC is ")
            by_group = f" ({areas})" if found else ""
            message = one.message[0].upper() + one.message[1:]
            doubts[one.kind] = _DOUBTS[one.kind].format(
                *one.columns, message=message, by_group=by_group
            )
    return " ".join((text, *doubts.values()))


def metrics_dict(fit: TableFit, title: str, test: TableEvaluation | None = None) -> dict[str, Any]:
    """Return all numbers of the report, for JSON."""
    known: dict[str, Any] = {"n_groups": None, "n_folds": 0, "max_fpr": None, "methods": {}}
    known |= {"findings": [], "operating_points": [], "lift_of_top_tenth": None}
    if fit.comparison is not None and fit.held_out is not None and fit.summary is not None:
        known |= {
            "n_groups": fit.held_out.n_groups,
            "n_folds": fit.comparison.n_folds,
            "max_fpr": fit.summary.max_fpr,
            "methods": _methods(fit.comparison, fit.held_out),
            "findings": fit.comparison.findings(),
            "operating_points": [point_dict(one) for one in fit.summary.points],
            "lift_of_top_tenth": fit.summary.lift.factor,
        }
    return {
        "rocpath": version("rocpath"),
        "table": title,
        "label": fit.label.column,
        **fit.label.summary,
        "evaluation": fit.evaluation,
        "saved": fit.method,
        "headline": headline(fit, test),
        **known,
        "warnings": [one.message for one in fit.warnings],
        "time_windows": [one._asdict() for one in fit.windows],
        "threshold": fit.model.threshold,
        "threshold_note": fit.threshold_note,
        "test": None if test is None else test.to_dict(),
        "columns": {
            "number": fit.model.features.number,
            "category": fit.model.features.category,
            "dropped": {one.column: one.why for one in fit.columns if one.kind == "drop"},
            "audit": [one._asdict() for one in fit.columns],
        },
        "log_odds_per_standard_deviation": fit.coefficients,
        "auc_decrease_if_permuted": fit.importance,
        "weights_of_blend": fit.model.weights,
    }


def _methods(
    comparison: ModelComparison, held_out: CrossValidatedScores
) -> dict[str, dict[str, float]]:
    """Return the scores of each method, for JSON."""
    sample, methods = held_out.sample, {}
    labels = ErrorBreakpoints.from_labels(sample.is_positive, sample_weight=sample.weight)
    for one in comparison.scores:
        known = {name: value for name, value in asdict(one).items() if value is not None}
        del known["name"]
        value, score = known.pop("value"), held_out.score[one.name]
        if comparison.metric != "AUC":
            known["partial_auc"] = value
        known["auc"] = mean_auc(held_out, one.name).value
        known["pooled_auc"] = auc(labels, score)
        methods[one.name] = known
    return methods


def result_files(
    fit: TableFit, *, title: str, test: TableEvaluation | None = None
) -> dict[str, bytes | str]:
    """Return the contents of the result files by name."""
    metrics, weights = json.dumps(metrics_dict(fit, title, test), indent=2), fit.model.weights
    files: dict[str, bytes | str] = {MODEL_FILE: model_bytes(fit.model)}
    files["metrics.json"] = f"{metrics}\n"
    if weights:
        table = {"score": list(weights), "weight": list(weights.values())}
        files["weights.csv"] = inert_csv(pl.DataFrame(table))
    # The report is optional and needs extra packages.
    if find_spec("plotly") and find_spec("jinja2"):
        from rocpath.pages.report import fit_report_html

        files["report.html"] = fit_report_html(fit, title=title, headline=headline(fit, test))
    return files
