"""Results of the fit of a table: a headline, all numbers, and files."""

from __future__ import annotations

import json
from dataclasses import asdict
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from sklearn.metrics import roc_auc_score

from rocpath.model_file import MODEL_FILE, model_bytes
from rocpath.pages.report import fit_report_html
from rocpath.tables.comparison import mean_auc
from rocpath.tables.evaluation import point_dict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocpath.tables.evaluation import TableEvaluation
    from rocpath.tables.fit import TableFit
    from rocpath.tables.preparation import TableWarning

_DOUBTS = {
    "leak": "Column {!r} may be known only after the label: without it the AUC may be lower.",
    "groups": "Rows with the same {!r} may not be independent: for new ones the AUC may be lower.",
    "copies": "Copies of rows count as one.",
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
        text = (
            f"{model} separates {classes} with an AUC of {test.auc.value:.3f} on test "
            f"rows (95% interval {test.auc.low:.3f} to {test.auc.high:.3f}; "
            f"{test.label.n_positive:,} positives{groups})."
        )
        # Copies and groups of the training rows do not matter for test rows.
        return _with_doubts(
            text, [one for one in fit.warnings if one.kind == "leak"] + [*test.warnings]
        )
    if fit.comparison is None or fit.summary is None:
        return f"{model} was fitted to all rows and not evaluated on held-out rows."
    score, lift = fit.comparison[fit.method], fit.summary.lift
    metric = fit.comparison.metric
    article = "an" if metric.startswith("A") else "a"
    text = (
        f"{model} separates {classes} with {article} {metric} of {score.value:.3f} on "
        f"held-out rows (95% interval {score.low:.3f} to {score.high:.3f}; "
        f"{fit.comparison.sample_size}). The top 10% of scores contain "
        f"{100 * lift.share:.0f}% of all positives."
    )
    return _with_doubts(text, fit.warnings)


def _with_doubts(text: str, warnings: Sequence[TableWarning]) -> str:
    """Add one sentence for each kind of doubt; the warnings name all columns."""
    doubts = {
        one.kind: _DOUBTS[one.kind].format(*one.columns, message=one.message)
        for one in warnings[::-1]
        if one.kind in _DOUBTS
    }
    return " ".join((text, *doubts.values()))


def metrics_dict(fit: TableFit, title: str, test: TableEvaluation | None = None) -> dict[str, Any]:
    """Return all numbers of the report, for JSON."""
    group = None if fit.held_out is None else fit.held_out.design.group
    return {
        "rocpath": version("rocpath"),
        "table": title,
        "label": fit.label.column,
        **fit.label.summary,
        "n_groups": None if group is None else np.unique(group).size,
        "n_folds": 0 if fit.comparison is None else fit.comparison.n_folds,
        "evaluation": fit.evaluation,
        "max_fpr": None if fit.summary is None else fit.summary.max_fpr,
        "methods": _methods(fit),
        "saved": fit.method,
        "headline": headline(fit, test),
        "findings": [] if fit.comparison is None else fit.comparison.findings(),
        "warnings": [one.message for one in fit.warnings],
        "threshold": fit.model.threshold,
        "threshold_note": fit.threshold_note,
        "operating_points": []
        if fit.summary is None
        else [point_dict(one) for one in fit.summary.points],
        "lift_of_top_tenth": None if fit.summary is None else fit.summary.lift.factor,
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
        **fit.all_rows,
    }


def _methods(fit: TableFit) -> dict[str, dict[str, float]]:
    """Return what a program may want to know about each method."""
    if fit.comparison is None or fit.held_out is None:
        return {}
    y, weight = fit.held_out.is_positive, fit.held_out.design.sample_weight
    methods = {}
    for one in fit.comparison.scores:
        known = {name: value for name, value in asdict(one).items() if value is not None}
        del known["name"]
        value = known.pop("value")
        if fit.comparison.metric != "AUC":
            known["partial_auc"] = value
        known["auc"] = mean_auc(fit.held_out, one.name).value
        score = fit.held_out.score[one.name]
        known["pooled_auc"] = roc_auc_score(y, score, sample_weight=weight)
        methods[one.name] = known
    return methods


def result_files(
    fit: TableFit, *, title: str, test: TableEvaluation | None = None
) -> dict[str, bytes | str]:
    """Return the contents of the result files by name."""
    metrics = json.dumps(metrics_dict(fit, title, test), indent=2)
    files: dict[str, bytes | str] = {
        MODEL_FILE: model_bytes(fit.model),
        "metrics.json": f"{metrics}\n",
    }
    weights = fit.model.weights
    if weights:
        table = {"score": list(weights), "weight": list(weights.values())}
        files["weights.csv"] = pl.DataFrame(table).write_csv()
    # The report is an extra: a model is useful without it.
    if find_spec("plotly") and find_spec("jinja2"):
        files["report.html"] = report_page(fit, title, test)
    return files


def report_page(fit: TableFit, title: str, test: TableEvaluation | None) -> str:
    """Return the report as HTML."""
    return fit_report_html(fit, title=title, headline=headline(fit, test))
