"""What a fit of a table is told as: numbers, a page, and pictures."""

from __future__ import annotations

import json
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rocpath.auc_statistics.score_summary import summarize_scores
from rocpath.cli.comparison import verdict
from rocpath.model_file import model_bytes

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from rocpath.auc_statistics.score_summary import ScoreSummary
    from rocpath.auc_statistics.threshold_targets import NamedPoint, ThresholdTargets
    from rocpath.cli.comparison import Comparison
    from rocpath.lines import Lines
    from rocpath.tables.audit import ColumnAudit
    from rocpath.tables.labels import BinaryLabel
    from rocpath.tables.model import TableModel

_MOST_LINES = 2000  # rows of the line search, all of whose crossings can be visited
# In the order of the report; the first that a method has decides which is the best.
_REPORT_NAMES = {
    "partial_auc": "mean TPR",
    "auc": "AUC",
    "standard_error": "±",
    "pooled_auc": "pooled AUC",
    "our_lead": "our lead",
    "our_lead_standard_error": "± of the lead",
}


class TableFit(NamedTuple):
    """What was fitted to what, and how well it does."""

    table: pl.DataFrame
    title: str
    label: BinaryLabel
    model: TableModel
    method: str
    comparison: Comparison
    audit: list[ColumnAudit]
    targets: ThresholdTargets


class Findings(NamedTuple):
    """What there is to tell of a fit, computed once for all that tells it."""

    coefficients: list[tuple[str, float]]
    importance: list[tuple[str, float]]
    lines: Lines | None
    lines_note: str
    view: ScoreSummary | None
    weights: dict[str, float]  # of a blend, by member


def findings(fit: TableFit, *, are_fitted: bool = True) -> Findings:
    """Compute what there is to tell; whether the rows are those of the fit."""
    y = fit.label.is_positive
    coefficients = fit.model.coefficients(fit.table)
    # Trees have no coefficients; what shuffling loses takes a prediction a column.
    importance = [] if coefficients else fit.model.importance(fit.table, y)
    score = fit.comparison.score.get(fit.method)
    view = None if score is None else summarize_scores(y, score, fit.targets)
    # Rows are sampled before the search, which for all of them could take minutes.
    chosen = _some_rows(y)
    lines = fit.model.descent_lines(fit.table[chosen], y[chosen])
    shown = f"{chosen.size:,} of the" if chosen.size < y.size else "All"
    note = f"{shown} {y.size:,} rows that the model was "
    note += "fitted to" if are_fitted else "not fitted to"
    note += ", drawn at random" if chosen.size < y.size else ""
    note += ", moved one step down the gradient of AUM; a rise on them is no promise "
    note += "for new rows."
    # At a minimum no step leads on.
    at_hand = lines if lines.slope.any() else None
    return Findings(coefficients, importance, at_hand, note, view, fit.model.weights)


def contents(fit: TableFit, found: Findings) -> dict[str, bytes | str]:
    """Return the files of a fit by name."""
    files: dict[str, bytes | str] = {
        "model.skops": model_bytes(fit.model),
        "metrics.json": json.dumps(_metrics(fit, found), indent=2) + "\n",
    }
    # The report is an extra: a model is worth having without it.
    if find_spec("plotly") and find_spec("jinja2"):
        files["report.html"] = _report(fit, found)
    return files


def headline(fit: TableFit, found: Findings) -> str:
    """Say in one sentence how well the saved model ranks."""
    positive, negative = fit.label.positive, fit.label.negative
    if found.view is None:
        return (
            f"{_capital(fit.method)} was fitted to all rows and judged by none: run "
            "the fit without --fast, or evaluate it on other rows."
        )
    metric, lift = fit.comparison.metrics[fit.method], found.view.lift
    area = metric[fit.comparison.judged_by]
    return (
        f"{_capital(fit.method)} tells {positive!r} from {negative!r} with "
        f"{_article(_area_name(fit.comparison))} of {area:.3f} on rows held out (95% "
        f"interval {metric['low']:.3f} to {metric['high']:.3f}); the tenth that it "
        f"ranks highest holds {100 * lift.share:.0f}% of all {positive!r}."
    )


def verdicts(label: BinaryLabel, comparison: Comparison) -> list[str]:
    """Say what the comparison shows of ours against each other method."""
    return [
        verdict(method, metric, label, ours=comparison.ours)
        for method, metric in comparison.metrics.items()
        if "our_lead" in metric
    ]


def point_summary(one: NamedPoint) -> dict[str, Any]:
    """Write down an operating point."""
    names = ("threshold", "tpr", "fpr", "precision")
    values: dict[str, Any] = {name: getattr(one.point, name) for name in names}
    for name in names[1:]:
        values[f"{name}_interval"] = getattr(one.point, f"{name}_interval")
    if np.isnan(one.point.precision):  # which JSON does not know
        values["precision"] = None
    return {"rule": one.rule, **values, "tp": one.tp, "fp": one.fp}


def _metrics(fit: TableFit, found: Findings) -> dict[str, Any]:
    # All that the page tells, for programs: a number that can only be read by eye is
    # typed off, and wrong.
    dropped = {one.column: one.why for one in fit.audit if one.kind == "drop"}
    points = [] if found.view is None else found.view.points
    return {
        "rocpath": version("rocpath"),
        "table": fit.title,
        "label": fit.label.column,
        **fit.label.summary,
        "n_folds": fit.comparison.n_folds,
        "max_fpr": fit.comparison.max_fpr,
        "methods": fit.comparison.metrics,
        "saved": fit.method,
        "headline": headline(fit, found),
        "operating_points": [point_summary(one) for one in points],
        "lift_of_top_tenth": None if found.view is None else found.view.lift.factor,
        "columns": {
            "number": fit.model.number,
            "category": fit.model.category,
            "left_out": dropped,
            "audit": [one._asdict() for one in fit.audit],
        },
        "log_odds_per_standard_deviation": found.coefficients,
        "auc_lost_if_shuffled": found.importance,
        "weights_of_blend": found.weights,
    }


def _report(fit: TableFit, found: Findings) -> str:
    from rocpath.pages.report import fit_report_html

    label, history = fit.label, fit.model.history
    return fit_report_html(
        title=f"{fit.title}: {label.positive} against {label.negative}",
        headline=headline(fit, found),
        facts=_facts(fit),
        metrics={
            method: {
                name: metric[key]
                for key, name in _REPORT_NAMES.items()
                if key in metric
            }
            for method, metric in fit.comparison.metrics.items()
        },
        intervals={
            method: (metric["low"], metric["high"])
            for method, metric in fit.comparison.metrics.items()
        },
        roc=_saved_first(fit),
        view=found.view,
        classes=(label.negative, label.positive),
        audit=[one._asdict() for one in fit.audit],
        coefficients=found.coefficients,
        importance=found.importance,
        weights=found.weights,
        verdicts=verdicts(label, fit.comparison),
        history=[] if history is None else [(label.positive, history)],
        lines=found.lines,
        lines_note=found.lines_note,
    )


def _facts(fit: TableFit) -> dict[str, str]:
    label, kinds = fit.label, [one.kind for one in fit.audit]
    n_rows, n_dropped = label.is_positive.size, kinds.count("drop")
    share = 100 * label.n_positive / n_rows
    facts = {
        "Rows": f"{n_rows:,}",
        label.positive: f"{label.n_positive:,} ({share:.3g}%)",
        label.negative: f"{label.n_negative:,}",
        "Columns used": f"{len(kinds) - n_dropped:,}",
        "Columns left out": f"{n_dropped:,}",
        "Saved model": fit.method,
    }
    if fit.model.threshold is not None:
        facts["predict calls positive"] = f"scores from {fit.model.threshold:.4g}"
    return facts


def _saved_first(fit: TableFit) -> dict[str, tuple[NDArray[Any], NDArray[Any]]]:
    curves = fit.comparison.roc(fit.label.is_positive)
    # The band around a curve is that of the first.
    order = sorted(curves, key=lambda name: name != fit.method)
    return {name: curves[name] for name in order}


def _area_name(comparison: Comparison) -> str:
    if comparison.max_fpr is None:
        return "AUC"
    return f"mean TPR up to an FPR of {comparison.max_fpr:g}"


def _some_rows(is_positive: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Choose rows to draw, both classes in proportion."""
    if is_positive.size <= _MOST_LINES:
        return np.arange(is_positive.size)
    # Not by --seed: the same fit has the same picture.
    rng = np.random.default_rng(0)
    chosen = []
    # One row at least of each class, or there would be no AUC to draw.
    for members in (np.flatnonzero(is_positive), np.flatnonzero(~is_positive)):
        n_chosen = max(1, members.size * _MOST_LINES // is_positive.size)
        chosen.append(rng.choice(members, n_chosen, replace=False))
    return np.sort(np.concatenate(chosen))


def _article(name: str) -> str:
    return f"an {name}" if name.startswith("A") else f"a {name}"


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
