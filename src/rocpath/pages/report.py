"""Report on the fit of a table: comparison, thresholds, calibration and columns."""

from typing import Any

from scipy.special import expit

from rocpath.evaluation.score_summary import ScoreSummary
from rocpath.pages.page import page_html
from rocpath.search.breakpoints import ErrorBreakpoints
from rocpath.search.roc import roc_curve
from rocpath.search.step_view import drawn_curve
from rocpath.tables.fit import TableFit

_LONGEST_NAME = 40  # characters in a legend


def fit_report_html(fit: TableFit, *, title: str, headline: str) -> str:
    """Return a self-contained page about the fit of a table.

    Parameters
    ----------
    fit : TableFit
        Results of :meth:`rocpath.TableClassifier.fit`.
    title : str
        Name of the table, as plain text.
    headline : str
        Main result in a few sentences.

    Returns
    -------
    str
        HTML, to be written as UTF-8.
    """
    label, curves = fit.label, _curves(fit)
    return page_html(
        "report.html",
        title=f"{label.column} = {label.positive} in {title}",
        scripts=["report"] * bool(curves),
        headline=headline,
        fit=fit,
        facts=_facts(fit),
        charts=_charts(curves, fit.summary),
        initial=_initial_point(fit.summary),
        classes=(label.negative, label.positive),
        expit=expit,
    )


def _facts(fit: TableFit) -> dict[str, str]:
    """Return the key figures of the fit, by name."""
    label, kinds = fit.label, [one.kind for one in fit.columns]
    n_rows, n_dropped = label.n_positive + label.n_negative, kinds.count("drop")
    share = 100 * label.n_positive / n_rows
    facts = {
        "Rows": f"{n_rows:,}",
        label.positive: f"{label.n_positive:,} ({share:.3g}%)",
        label.negative: f"{label.n_negative:,}",
    }
    if fit.held_out is not None and fit.held_out.n_groups is not None:
        facts["Groups"] = f"{fit.held_out.n_groups:,}"
    facts |= {
        "Columns used": f"{len(kinds) - n_dropped:,}",
        "Columns dropped": f"{n_dropped:,}",
        "Saved model": fit.method,
        "Evaluation": fit.evaluation,
    }
    return facts


def _initial_point(summary: ScoreSummary | None) -> int:
    """Return the index of the operating point that the page shows first.

    A requested point with a guarantee is preferred to other requested points, and these
    to the top 10%.
    """
    if summary is None:
        return 0
    ranked = [
        (not one.is_requested, not one.is_bounded, "top 10%" not in one.rule)
        for one in summary.points
    ]
    return min(range(len(ranked)), key=ranked.__getitem__)


def _curves(fit: TableFit) -> list[dict[str, Any]]:
    """Return ROC curves of the held-out scores, with that of the saved model first."""
    if fit.held_out is None:
        return []
    held_out = fit.held_out
    labels = ErrorBreakpoints.from_labels(
        held_out.sample.is_positive, sample_weight=held_out.sample.weight
    )
    # The band belongs to the first curve.
    order = sorted(held_out.score, key=lambda name: name != fit.method)
    curves = []
    for name in order:
        curve = roc_curve(labels, held_out.score[name])
        short = name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"
        curves.append(drawn_curve(short, curve.fpr, curve.tpr))
    return curves


def _charts(curves: list[dict[str, Any]], summary: ScoreSummary | None) -> dict[str, Any]:
    """Return the data of the charts, for the script."""
    known: dict[str, Any] = {"curves": curves}
    if summary is None:
        return known
    return known | {
        "band": summary.band._asdict(),
        "max_fpr": summary.max_fpr,
        "calibration": [group._asdict() for group in summary.calibration],
        "grid": summary.grid._asdict(),
        "n_positive": summary.n_positive,
        "n_negative": summary.n_negative,
    }
