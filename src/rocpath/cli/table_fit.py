"""Fit a model to a table, judge it, and write down all that was found."""

from __future__ import annotations

import json
from collections import Counter
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rocpath.cli.comparison import Comparison, compare_methods, folds_for, verdict
from rocpath.cli.files import write_folder
from rocpath.cli.rankers import METHODS, OURS
from rocpath.cli.saved_models import model_bytes
from rocpath.cli.table_columns import binary_label, column, feature_columns, listed
from rocpath.cli.table_model import TableModel, fit_table_model
from rocpath.cli.terminal import agreed, progress_bar, say, show_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl
    from numpy.typing import NDArray

    from rocpath.cli.column_audit import ColumnAudit
    from rocpath.cli.rankers import ModelChoice
    from rocpath.cli.table_columns import BinaryLabel, FeatureColumns

_MOST_LINES = 2000  # rows of the line search, all of whose crossings can be visited
_FEWEST_TO_JUDGE = 10  # rows of a class; with fewer a note warns
_REPORT_NAMES = {
    "auc": "AUC held out",
    "standard_error": "±",
    "pooled_auc": "pooled AUC",
    "our_lead": "our lead",
    "our_lead_standard_error": "± of the lead",
}


class Request(NamedTuple):
    """What to fit."""

    title: str
    label: str
    positive: str | None = None
    left_out: tuple[str, ...] = ()
    seed: int = 0
    model: ModelChoice = "auto"
    types: Mapping[str, str] = MappingProxyType({})
    is_fast: bool = False
    accepts_positive: bool = False


class TableFit(NamedTuple):
    """What was fitted to what, and how well it does."""

    table: pl.DataFrame
    title: str
    label: BinaryLabel
    model: TableModel
    method: str
    comparison: Comparison
    audit: list[ColumnAudit]


def fit_table(
    table: pl.DataFrame, request: Request, *, out: str, force: bool, quiet: bool
) -> None:
    """Fit a model, compare it with baselines, and write the results."""
    label = binary_label(table, request.label, request.positive)
    if request.positive is None and not request.accepts_positive:
        _doubt(label)
    for name in request.left_out:
        column(table, name, "--drop")
    left_out = {request.label, *request.left_out}
    features, audit = feature_columns(table, left_out, request.types)
    if not quiet:
        _note(label, features, audit)
    seed, comparison = request.seed, Comparison.skipped()
    n_fits = 0 if request.is_fast else len(METHODS) * folds_for(label)
    with progress_bar(n_fits + 2, quiet=quiet, n_round=len(METHODS)) as progress:
        if not request.is_fast:
            comparison = compare_methods(
                table, label, features, random_state=seed, progress=progress
            )
        method = comparison.best(request.model)
        progress(f"{method}, all rows")
        model = fit_table_model(
            table, label, features, method=method, random_state=seed
        )
        progress("writing the report")
        fitted = TableFit(table, request.title, label, model, method, comparison, audit)
        contents = _contents(fitted)
    write_folder(out, contents, force=force)
    _show(request.title, label, comparison)
    is_best = request.model == "auto" and not request.is_fast
    why = "the largest AUC" if is_best else f"--model {request.model}"
    why += ", judged by no rows held out: --fast" if request.is_fast else ""
    say(f"Saved: {method}, fitted to all rows ({why}).")
    if "report.html" in contents:
        say(f"Open {Path(out) / 'report.html'}")
    else:
        say(f"Wrote {out}; for a report too: pip install 'rocpath[report]'")


def _doubt(label: BinaryLabel) -> None:
    """Ask whether the more frequent label is meant to be positive."""
    if label.n_positive <= label.n_negative:
        return
    chosen = (
        "no --positive was given, and the last in the alphabet, "
        f"{label.positive!r}, is the more frequent label ({label.n_positive:,} of "
        f"{label.is_positive.size:,} rows)"
    )
    if not agreed(f"{chosen}. Rank it high?"):
        raise ValueError(
            f"{chosen}: name the one to rank high, as --positive {label.negative!r}, "
            "or take it with --yes."
        )


def _note(
    label: BinaryLabel, features: FeatureColumns, audit: list[ColumnAudit]
) -> None:
    say(
        f"positive: {label.positive!r} of column {label.column!r}, "
        f"{label.n_positive:,} of {label.is_positive.size:,} rows (change with "
        "--positive)."
    )
    kinds = Counter(one.kind for one in audit)
    names = {"number": "numbers", "category": "categories", "date": "dates"}
    names["drop"] = "left out"
    taken = ", ".join(f"{kinds[kind]} {name}" for kind, name in names.items())
    say(f"columns: {taken} (change with --type COLUMN=KIND).")
    for one in audit:
        if one.kind == "drop":
            say(f"note: column {one.column!r} is left out: {one.why}.")
            continue
        if one.n_unreadable:
            values = listed(map(repr, features.unreadable[one.column]))
            say(
                f"note: column {one.column!r} is taken for a {one.kind}; "
                f"{one.n_unreadable:,} of its values cannot be read and are missing: "
                f"{values}."
            )
        elif one.column in features.style:
            say(f"note: column {one.column!r} is taken for a {one.kind}: {one.why}.")
    fewest = min(label.n_positive, label.n_negative)
    if fewest < _FEWEST_TO_JUDGE:
        say(f"note: one label has only {fewest} rows; too few to know an AUC.")


def _contents(fit: TableFit) -> dict[str, bytes | str]:
    coefficients = fit.model.coefficients(fit.table)
    importance = (
        [] if coefficients else fit.model.importance(fit.table, fit.label.is_positive)
    )
    dropped = {one.column: one.why for one in fit.audit if one.kind == "drop"}
    metrics = {
        "rocpath": version("rocpath"),
        "table": fit.title,
        "label": fit.label.column,
        **fit.label.summary,
        "n_folds": fit.comparison.n_folds,
        "methods": fit.comparison.metrics,
        "saved": fit.method,
        "columns": {
            "number": fit.model.number,
            "category": fit.model.category,
            "left_out": dropped,
            "audit": [one._asdict() for one in fit.audit],
        },
        "log_odds_per_standard_deviation": coefficients,
        "auc_lost_if_shuffled": importance,
    }
    contents: dict[str, bytes | str] = {
        "model.skops": model_bytes(fit.model),
        "metrics.json": json.dumps(metrics, indent=2) + "\n",
    }
    # The report is an extra: a model is worth having without it.
    if find_spec("plotly") and find_spec("jinja2"):
        contents["report.html"] = _report(fit, coefficients, importance)
    return contents


def _report(
    fit: TableFit,
    coefficients: list[tuple[str, float]],
    importance: list[tuple[str, float]],
) -> str:
    from rocpath.pages.report import fit_report_html

    label, history = fit.label, fit.model.history
    # Rows are sampled before the search, which for all of them could take minutes.
    chosen = _some_rows(label.is_positive)
    lines = fit.model.descent_lines(fit.table[chosen], label.is_positive[chosen])
    return fit_report_html(
        title=f"{fit.title}: {label.positive} against {label.negative}",
        metrics={
            method: {_REPORT_NAMES[name]: value for name, value in metric.items()}
            for method, metric in fit.comparison.metrics.items()
        },
        roc=fit.comparison.roc,
        audit=[one._asdict() for one in fit.audit],
        coefficients=coefficients,
        importance=importance,
        verdicts=[
            *_verdicts(label, fit.comparison),
            f"Saved, and shown below: {fit.method}, fitted to all rows.",
        ],
        history=[] if history is None else [(label.positive, history)],
        lines=lines if lines.slope.any() else None,  # at a minimum no step leads on
    )


def _some_rows(is_positive: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Choose rows to draw, both classes in proportion."""
    if is_positive.size <= _MOST_LINES:
        return np.arange(is_positive.size)
    rng = np.random.default_rng(0)
    chosen = []
    for members in (np.flatnonzero(is_positive), np.flatnonzero(~is_positive)):
        n_chosen = max(1, members.size * _MOST_LINES // is_positive.size)
        chosen.append(rng.choice(members, n_chosen, replace=False))
    return np.sort(np.concatenate(chosen))


def _show(title: str, label: BinaryLabel, comparison: Comparison) -> None:
    def lead(metric: dict[str, float]) -> str:
        if "our_lead" not in metric:
            return ""
        return f"{metric['our_lead']:+.4f} ± {metric['our_lead_standard_error']:.4f}"

    if not comparison.metrics:
        return
    show_table(
        f"{title}: {label.n_positive:,} rows of {label.positive!r} (positive), "
        f"{label.n_negative:,} of {label.negative!r}",
        (f"method, {comparison.n_folds} parts held out", "AUC", f"{OURS} leads by"),
        [
            (
                method,
                f"{metric['auc']:.4f} ± {metric['standard_error']:.4f}",
                lead(metric),
            )
            for method, metric in comparison.metrics.items()
        ],
    )
    for line in _verdicts(label, comparison):
        say(line)


def _verdicts(label: BinaryLabel, comparison: Comparison) -> list[str]:
    return [
        verdict(method, metric, label)
        for method, metric in comparison.metrics.items()
        if "our_lead" in metric
    ]
