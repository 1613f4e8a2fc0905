"""The report of a fit: one page with scores, ROC curves, coefficients and history."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from rocpath.arguments import finite_vector, same_length
from rocpath.pages.explorer import explorer_values
from rocpath.pages.page import page_html
from rocpath.pages.step_view import extremes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

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
    verdicts: Sequence[str] = (),
    audit: Sequence[Mapping[str, str | int]] = (),
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
    verdicts : list of str
        What the scores show, a sentence each; plain text.
    audit : list of dict
        Of each column of the table its name (``column``), what it is taken for
        (``kind``) and why (``why``), and ``n_missing``, ``n_unreadable`` and
        ``n_levels``.

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
    scores = list(dict.fromkeys(name for row in metrics.values() for name in row))
    judged = [row.get(scores[0], np.nan) for row in metrics.values()] if scores else []
    return page_html(
        "report.html",
        title=title,
        scripts=["report"] * bool(roc) + ["explorer"] * (lines is not None),
        metrics=metrics,
        scores=scores,
        # Unlike max, fmax passes over NaN.
        best=np.fmax.reduce(judged, initial=np.nan),
        nan=np.nan,
        coefficients=sorted(coefficients, key=lambda pair: -abs(pair[1])),
        importance=sorted(importance, key=lambda pair: -pair[1]),
        verdicts=verdicts,
        audit=audit,
        methods=list(roc),
        curves=[_curve(name, *rates) for name, rates in roc.items()],
        history=history,
        explorer=None if lines is None else explorer_values(lines),
    )


def _curve(name: str, fpr: ArrayLike, tpr: ArrayLike) -> dict[str, Any]:
    x = finite_vector(f"fpr of {name!r}", fpr)
    y = finite_vector(f"tpr of {name!r}", tpr)
    same_length(fpr=x, tpr=y)
    # Evenly along the curve, which may rise and run straight.
    length = np.append(0.0, np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y))))
    kept = extremes(length / (length[-1] or 1.0), y)
    short = name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
    # Plotly reads the names as HTML.
    return {"name": escape(short, quote=False), "fpr": x[kept], "tpr": y[kept]}
