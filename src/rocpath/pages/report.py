"""The report of a fit: how well it ranks, thresholds to choose from, and its parts."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from rocpath.arguments import finite_vector, same_length
from rocpath.pages.explorer import explorer_values
from rocpath.pages.page import page_html
from rocpath.pages.step_view import drawn_curve

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from rocpath.auc_statistics.score_summary import ScoreSummary
    from rocpath.lines import Lines
    from rocpath.ranking import History

_LONGEST_NAME = 40  # in a legend


def fit_report_html(
    *,
    title: str,
    metrics: Mapping[str, Mapping[str, float]],
    roc: Mapping[str, tuple[ArrayLike, ArrayLike]],
    coefficients: Sequence[tuple[str, float]],
    history: Sequence[tuple[str, History]] = (),
    lines: Lines | None = None,
    importance: Sequence[tuple[str, float]] = (),
    weights: Mapping[str, float] = MappingProxyType({}),
    verdicts: Sequence[str] = (),
    audit: Sequence[Mapping[str, str | int]] = (),
    headline: str = "",
    facts: Mapping[str, str] = MappingProxyType({}),
    intervals: Mapping[str, tuple[float, float]] = MappingProxyType({}),
    view: ScoreSummary | None = None,
    classes: tuple[str, str] = ("negative", "positive"),
    lines_note: str = "",
) -> str:
    """Make a page about a fitted model; it needs no other file and no network.

    Any text is shown as it is, and never run.

    Parameters
    ----------
    title : str
        Plain text.
    metrics : dict of dict of float
        By method, its scores by name; NaN where there is none. The largest of the
        first score is marked as the best.
    roc : dict of tuple of two arrays
        By method, false and true positive rates of its ROC curve.
    coefficients : list of tuple of str and float
        Name of each column, and the log-odds that one standard deviation of it adds;
        shown by size.
    history : list of tuple of str and History
        By class, how its ranking was found.
    lines : Lines, optional
        A line search for the explorer.
    importance : list of tuple of str and float
        Name of each column, and the AUC that is lost if it is shuffled; shown by size.
    weights : dict of float
        Of a blend, the weight of each member by its name.
    verdicts : list of str
        What the scores show, a sentence each; plain text.
    audit : list of dict
        Of each column of the table its name (``column``), what it is taken for
        (``kind``) and why (``why``), and ``n_missing``, ``n_unreadable`` and
        ``n_levels``.
    headline : str
        The one sentence to take away; plain text.
    facts : dict of str
        Numbers to know first, by what they are; plain text.
    intervals : dict of tuple of two floats
        By method, the ends of the interval of its first score.
    view : ScoreSummary, optional
        What the scores of rows held out show, of the first method of ``roc``: a band
        around its curve, thresholds to choose from, and calibration.
    classes : tuple of str
        The negative and the positive label.
    lines_note : str
        Which rows the line search looks at; plain text.

    Returns
    -------
    str
        HTML, to be written as UTF-8.

    Examples
    --------
    >>> from rocpath.pages.report import fit_report_html
    >>> page = fit_report_html(
    ...     title="Fit of a <table>",
    ...     metrics={"AUCClassifier": {"AUC": 0.9, "± standard error": 0.01}},
    ...     roc={"AUCClassifier": ([0.0, 0.1, 1.0], [0.0, 0.9, 1.0])},
    ...     coefficients=[("age", 1.5), ("<b>", -2.0)],
    ... )
    >>> "Fit of a &lt;table&gt;" in page, "<b>" in page
    (True, False)
    """
    explorer = None if lines is None else explorer_values(lines, note=lines_note)
    return page_html(
        "report.html",
        title=title,
        scripts=["report"] * bool(roc) + ["explorer"] * (lines is not None),
        **_judged(metrics, intervals),
        coefficients=sorted(coefficients, key=lambda pair: -abs(pair[1])),
        importance=sorted(importance, key=lambda pair: -pair[1]),
        weights=sorted(weights.items(), key=lambda pair: -pair[1]),
        verdicts=verdicts,
        audit=audit,
        methods=list(roc),
        charts=_charts([_curve(name, *rates) for name, rates in roc.items()], view),
        view=view,
        classes=classes,
        expit=expit,
        headline=headline,
        facts=facts,
        history=history,
        explorer=explorer,
    )


def _judged(
    metrics: Mapping[str, Mapping[str, float]],
    intervals: Mapping[str, tuple[float, float]],
) -> dict[str, Any]:
    """Gather what the table of methods shows."""
    # Not every method has every score, and none must be lost.
    scores = list(dict.fromkeys(name for row in metrics.values() for name in row))
    judged = [row.get(scores[0], np.nan) for row in metrics.values()] if scores else []
    return {
        "metrics": metrics,
        "scores": scores,
        # Unlike max, fmax passes over NaN.
        "best": np.fmax.reduce(judged, initial=np.nan),
        "nan": np.nan,
        "intervals": intervals,
        "spans": _spans(metrics, scores, intervals),
    }


def _charts(curves: list[dict[str, Any]], view: ScoreSummary | None) -> dict[str, Any]:
    """Gather what the script draws and moves."""
    if view is None:
        return {"curves": curves}
    return {
        "curves": curves,
        "band": view.band._asdict(),
        "max_fpr": view.max_fpr,
        "calibration": [group._asdict() for group in view.calibration],
        "places": view.grid._asdict(),
        "n_positive": view.n_positive,
        "n_negative": view.n_negative,
    }


def _spans(
    metrics: Mapping[str, Mapping[str, float]],
    scores: Sequence[str],
    intervals: Mapping[str, tuple[float, float]],
) -> dict[str, tuple[float, ...]]:
    """Place each interval and its score between 0 and 1, for a picture of all."""
    if not intervals:
        return {}
    # All on one scale, or intervals of different methods could not be compared.
    low = min(low for low, _ in intervals.values())
    width = max(high for _, high in intervals.values()) - low or 1.0
    spans = {}
    for name, (left, right) in intervals.items():
        ends = np.array([left, metrics[name][scores[0]], right])
        spans[name] = tuple((ends - low) / width)
    return spans


def _curve(name: str, fpr: ArrayLike, tpr: ArrayLike) -> dict[str, Any]:
    x = finite_vector(f"fpr of {name!r}", fpr)
    y = finite_vector(f"tpr of {name!r}", tpr)
    same_length(fpr=x, tpr=y)
    short = name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
    return drawn_curve(short, x, y)
