"""The report of a fit: one page with scores, ROC curves, coefficients and history."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np

from rocpath.arguments import finite_vector, same_length
from rocpath.pages.explorer import explorer_fragment, explorer_script
from rocpath.pages.page import embedded_json, page_html, web_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from rocpath.line_search import Lines
    from rocpath.ranking import History

_MOST_POINTS = 1_500  # of a ROC curve
_LONGEST_NAME = 40  # in a legend
_BAR = 220  # pixels
_NOTHING = "\u2013"


def fit_report_html(
    *,
    title: str,
    metrics: Mapping[str, Mapping[str, float]],
    roc: Mapping[str, tuple[ArrayLike, ArrayLike]],
    coefficients: Sequence[tuple[str, float]],
    history: Sequence[tuple[str, History]] = (),
    lines: Lines | None = None,
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
    parts = [f"<h1>{escape(title)}</h1>"]
    if metrics:
        parts.append(_metrics(metrics))
    parts.append(f'<div class="side">{_coefficients(coefficients)}{_roc(roc)}</div>')
    parts.append(_histories(history))
    scripts = []
    if roc:
        scripts.append(web_file("report.js"))
        parts.append(f"<script>{scripts[-1]}</script>")
    if lines is not None:
        scripts.append(explorer_script())
        parts.append(explorer_fragment(lines, title="Line search explorer"))
    return page_html(title, "\n".join(parts), scripts)


def _metrics(metrics: Mapping[str, Mapping[str, float]]) -> str:
    columns = list(dict.fromkeys(name for row in metrics.values() for name in row))
    first = columns[0] if columns else ""
    # Unlike max, fmax passes over NaN.
    judged = [row.get(first, np.nan) for row in metrics.values()]
    best = np.fmax.reduce(judged, initial=np.nan)
    rows = []
    for method, scores in metrics.items():
        cells = [f'<th scope="row" class="name">{escape(method)}</th>']
        for name in columns:
            value = scores.get(name, np.nan)
            is_best = name == first and value == best
            kind = "number best" if is_best else "number"
            cells.append(f'<td class="{kind}">{_number(value)}</td>')
        rows.append("".join(cells))
    head = ["Method", *columns]
    table = _table(head, rows, label="Scores of each method", caption="")
    return f'<section aria-label="Scores"><h2>Scores</h2>{table}</section>'


def _roc(roc: Mapping[str, tuple[ArrayLike, ArrayLike]]) -> str:
    if not roc:
        return ""
    curves = []
    for name, (fpr, tpr) in roc.items():
        x = finite_vector(f"fpr of {name!r}", fpr)
        y = finite_vector(f"tpr of {name!r}", tpr)
        same_length(fpr=x, tpr=y)
        kept = _corners(x, y)
        # Plotly reads the names as HTML.
        short = name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
        curves.append(
            {
                "name": escape(short, quote=False),
                "fpr": x[kept].tolist(),
                "tpr": y[kept].tolist(),
            }
        )
    names = escape(", ".join(roc))
    return (
        '<section aria-label="ROC curves"><h2>ROC curves</h2>'
        f'<div class="chart roc-comparison" role="img" '
        f'aria-label="ROC curves of {names}"></div>'
        f'<div class="roc-data">{embedded_json(curves)}</div></section>'
    )


def _corners(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.intp]:
    """Choose points of a curve that are spread evenly along it, both ends included."""
    if x.size <= _MOST_POINTS:
        return np.arange(x.size)
    length = np.append(0.0, np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y))))
    wanted = np.linspace(0.0, length[-1], _MOST_POINTS)
    kept = np.unique(np.searchsorted(length, wanted))
    return np.unique(np.append(kept[kept < x.size], [0, x.size - 1]))


def _coefficients(coefficients: Sequence[tuple[str, float]]) -> str:
    if not coefficients:
        return ""
    ordered = sorted(coefficients, key=lambda pair: -abs(pair[1]))
    largest = abs(ordered[0][1]) or 1.0
    rows = [
        f'<th scope="row" class="name">{escape(name)}</th>'
        f'<td class="number">{_number(value)}</td>'
        f'<td aria-hidden="true">{_bar(value / largest)}</td>'
        for name, value in ordered
    ]
    caption = "Log-odds that one standard deviation of a column adds; largest first"
    table = _table(
        ["Column", "Log-odds", ""], rows, label="Coefficients", caption=caption
    )
    return f'<section aria-label="Coefficients"><h2>Coefficients</h2>{table}</section>'


def _bar(part: float) -> str:
    """Draw a bar from the middle: to the left for negative weights."""
    width = abs(part) * _BAR / 2
    x = _BAR / 2 - (width if part < 0 else 0)
    color = "#d55e00" if part < 0 else "#0072b2"
    return (
        f'<svg class="bar" viewBox="0 0 {_BAR} 12" preserveAspectRatio="none">'
        f'<rect x="{x:.1f}" width="{width:.1f}" height="12" fill="{color}"/>'
        f'<rect x="{_BAR / 2 - 0.5}" width="1" height="12" fill="#57606a"/></svg>'
    )


def _histories(history: Sequence[tuple[str, History]]) -> str:
    if not history:
        return ""
    parts = [
        '<section aria-label="History"><h2>How the model was found</h2>'
        '<p class="note">AUC on rows held out, mean over the folds. Starts are '
        "averaged by their shares; then the AUC is climbed as far as the gain is sure. "
        "Errors are standard errors of the gain over the averaged start.</p>"
    ]
    for name, one in history:
        parts.append(f"<h3>{escape(name)}</h3>" if name else "")
        parts.append(f'<div class="side">{_starts(one)}{_stages(one)}</div>')
    return "".join(parts) + "</section>"


def _starts(one: History) -> str:
    if not len(one.start):
        return '<p class="note">The start was given.</p>'
    if not len(one.start_auc):
        return '<p class="note">Too few rows to hold some out: one plain start.</p>'
    rows, classes = [], []
    for place in np.argsort(-one.start_auc, kind="stable"):
        start, share = one.start[place], float(one.share[place])
        kind = f"{start.loss.replace('_', ' ')}{', clipped' * start.is_clipped}"
        rows.append(
            f'<th scope="row" class="name">{escape(kind)}</th>'
            f'<td class="number">{start.alpha:g}</td>'
            f'<td class="number">{one.start_auc[place]:.4f}</td>'
            f'<td class="number">{f"{share:.0%}" if share else _NOTHING}</td>'
        )
        classes.append("" if share else "unused")
    return _table(
        ["Start", "Penalty", "AUC", "Share"],
        rows,
        label="Starts",
        caption="Starts",
        classes=classes,
    )


def _stages(one: History) -> str:
    if not len(one.stage_auc):
        return ""
    rows, classes = [], []
    for stage, (area, error) in enumerate(
        zip(one.stage_auc, one.stage_error, strict=True)
    ):
        is_chosen = stage == one.chosen
        name = "averaged start" if stage == 0 else f"stage {stage}"
        rows.append(
            f'<th scope="row" class="name">{name}{", taken" * is_chosen}</th>'
            f'<td class="number">{area:.4f}</td>'
            f'<td class="number">{f"± {error:.4f}" if stage else ""}</td>'
        )
        classes.append("chosen" if is_chosen else "")
    return _table(
        ["Ascent", "AUC", "Error"],
        rows,
        label="Stages",
        caption="Stages of the ascent",
        classes=classes,
    )


def _table(
    head: Sequence[str],
    rows: Sequence[str],
    *,
    label: str,
    caption: str,
    classes: Sequence[str] | None = None,
) -> str:
    """Put rows of cells into a table that scrolls, by keyboard too."""
    cells = "".join(
        f'<th scope="col"{" class=number" if place else ""}>{escape(name)}</th>'
        for place, name in enumerate(head)
    )
    kinds = classes or [""] * len(rows)
    lines = "\n".join(
        f'<tr class="{kind}">{row}</tr>' if kind else f"<tr>{row}</tr>"
        for kind, row in zip(kinds, rows, strict=True)
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">'
        f"<table>{f'<caption>{caption}</caption>' if caption else ''}"
        f"<thead><tr>{cells}</tr></thead>\n<tbody>{lines}</tbody></table></div>"
    )


def _number(value: float) -> str:
    if not np.isfinite(value):
        return _NOTHING
    return f"{value:.4f}" if 1e-3 <= abs(value) < 1e4 or value == 0 else f"{value:.3g}"
