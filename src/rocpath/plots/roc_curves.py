"""ROC curves: with confidence bands, or with lettered points and their errors."""

import string
from collections.abc import Mapping
from itertools import cycle, product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath import palette
from rocpath.evaluation.intervals import auc_interval
from rocpath.evaluation.operating_points import OperatingPoint, RankedRows
from rocpath.evaluation.results import percent
from rocpath.evaluation.roc_bands import roc_band
from rocpath.plots import canvas
from rocpath.sample import Sample
from rocpath.search.breakpoints import ErrorBreakpoints
from rocpath.search.roc import ROCCurve, curve_errors, roc_curve
from rocpath.validation import Floats, one_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DASHES = ("-", "--", "-.", ":")
_LETTERS = string.ascii_uppercase
_MAX_NUMBERS = 12  # maximum number of points labeled with the value of min(FP, FN)


def plot_roc(
    y: ArrayLike,
    scores: ArrayLike | Mapping[str, ArrayLike],
    *,
    ax: Any = None,
    confidence: float = 0.95,
    groups: ArrayLike | None = None,
    band: Literal["pointwise", "simultaneous"] | None = "pointwise",
    operating_point: OperatingPoint | None = None,
    name: str | None = None,
    positive: Any = None,
) -> "Axes":
    """Draw ROC curves of one or several scores, with confidence bands and AUCs.

    Parameters
    ----------
    y : array-like, shape (n_rows,)
        Labels with exactly two distinct values.
    scores : array-like, shape (n_rows,), or dict of array-like
        Scores, larger for rows that are more likely to be positive, or several scores
        by name.
    ax : Axes, optional
        Axes to draw in. By default, a new figure is created.
    confidence : float
        Nominal coverage of bands and intervals.
    groups : array-like, shape (n_rows,), optional
        Group of each row, as in :func:`rocpath.auc_interval`.
    band : {"pointwise", "simultaneous"} or None
        Confidence band of the true positive rate at each false positive rate, or of the
        whole curve; None for no band. Simultaneous bands are not available with groups.
    operating_point : OperatingPoint, optional
        Result of :func:`rocpath.choose_threshold`, marked on the first curve.
    name : str, optional
        Name in the legend, for a single score.
    positive : label, optional
        Positive class; by default, the larger of the two labels.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from rocpath import plots
    >>> ax = plots.plot_roc([0, 0, 1, 0, 1, 1], [1, 2, 3, 4, 5, 6], name="model")
    >>> ax.lines[0].get_label()
    'model: AUC 0.889 (0.305 to 0.990)'
    """
    sample = Sample.from_labels(y, groups=groups, positive=positive)
    one_of("band", band, ("pointwise", "simultaneous", None))
    if band == "simultaneous" and sample.unit is not None:
        raise ValueError("band must be 'pointwise' or None with groups.")
    named = scores if isinstance(scores, Mapping) else {name or "": scores}
    (axes,) = canvas.axes_grid(ax, 1, 1, (5.2, 5.2))
    # Line styles change only after all colors have been used.
    styles = cycle(product(_DASHES, palette.SERIES))
    for (label, given), (dashes, color) in zip(named.items(), styles, strict=False):
        score = sample.scores(label or "scores", given)
        found = auc_interval(sample.is_positive, score, groups=groups, confidence=confidence)
        text = f"AUC {found.value:.3f} ({found.low:.3f} to {found.high:.3f})"
        rows = RankedRows.from_scores(sample.is_positive, score)
        style = {"color": color, "ls": dashes, "label": f"{label}: {text}" if label else text}
        axes.plot(rows.fp / rows.n_negative, rows.tp / rows.n_positive, lw=1.8, **style)
        if band is not None:
            options: Any = {"is_simultaneous": band == "simultaneous", "groups": sample.unit}
            limits = roc_band(sample.is_positive, score, confidence, **options)
            axes.fill_between(*limits, color=color, alpha=0.16 / len(named) ** 0.5, linewidth=0)
    if operating_point is not None:
        _mark(axes, operating_point)
    axes.plot([0, 1], [0, 1], color=palette.GRAY, linestyle=":", linewidth=1, zorder=1)
    axes.set(xlabel="False positive rate", ylabel="True positive rate", aspect="equal")
    axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    title = "" if band is None else f"{percent(confidence)} {band} confidence band"
    axes.set_title(title, fontsize=9, loc="left", color=palette.GRAY)
    canvas.tidy(axes)
    axes.legend(loc="lower right", fontsize=8.5, framealpha=0.9)
    return axes  # type: ignore[no-any-return]


def _mark(ax: Any, point: OperatingPoint) -> None:
    """Mark an operating point with the bounds of both rates."""
    xerr, yerr = (
        # Unknown bounds (NaN) are not drawn.
        np.nan_to_num([[max(rate - low, 0.0)], [max(high - rate, 0.0)]])
        for rate, (low, high) in ((point.fpr, point.fpr_interval), (point.tpr, point.tpr_interval))
    )
    style: Any = {"fmt": "o", "color": "black", "markersize": 6, "capsize": 3, "linewidth": 1}
    label = f"threshold {point.threshold:.4g}"
    ax.errorbar(point.fpr, point.tpr, xerr=xerr, yerr=yerr, label=label, zorder=5, **style)


def plot_roc_errors(
    bp: ErrorBreakpoints, predictions: ArrayLike, *, name: str | None = None, ax: Any = None
) -> NDArray[Any]:
    """Draw a ROC curve, and its errors against the constant added to predictions.

    The points of curves with at most 26 points are labeled with letters, the same in
    both axes. With at most 12 points, labels also show the value of min(FP, FN), whose
    integral over the constant is the AUM.

    Parameters
    ----------
    bp : ErrorBreakpoints
        Breakpoints of the error functions of all examples.
    predictions : array-like, shape (n_examples,)
        Predictions of all examples.
    name : str, optional
        Name in the title.
    ax : sequence of two Axes, optional
        Axes of the ROC curve and of the errors. By default, a new figure is created.

    Returns
    -------
    array of two Axes

    Examples
    --------
    >>> import rocpath as rp
    >>> from rocpath import plots
    >>> bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    >>> axes = plots.plot_roc_errors(bp, [-7, -2, 0, -4])
    >>> axes[0].get_title()
    'AUC 0.75, AUM 1'
    """
    curve = roc_curve(bp, predictions)
    axes = canvas.axes_grid(ax, 2, 1, (4.6, 7.0), gridspec_kw={"height_ratios": (1.5, 1)})
    _draw_lettered_curve(axes[0], curve)
    areas = f"AUC {curve.auc:.4g}, AUM {curve.aum:.4g}"
    axes[0].set_title(f"{name}\n{areas}" if name else areas, fontsize=11)
    _draw_errors(axes[1], curve, *curve_errors(bp, curve))
    return axes


def _draw_lettered_curve(ax: Any, curve: ROCCurve) -> None:
    points = np.column_stack((curve.fpr, curve.tpr))
    has_letters = len(points) <= len(_LETTERS)
    ax.plot([0, 1], [0, 1], color="0.8", linewidth=1, zorder=1)
    marker = "o" if has_letters else None
    ax.plot(*points.T, color=palette.MIN_COLOR, marker=marker, markersize=4, label="ROC")
    ax.set(xlabel="false positive rate", ylabel="true positive rate", aspect=1)
    space = 0.16 if has_letters else 0.03
    # If errors are not monotone, a curve may leave the unit square.
    limits = min(0.0, points.min()) - space, max(1.0, points.max()) + space
    ax.set(xlim=limits, ylim=limits)
    canvas.tidy(ax)
    # The curve of a changepoint problem may return to a point, which is labeled once.
    for point in np.unique(points, axis=0) if has_letters else ():
        visits = np.flatnonzero((points == point).all(axis=1))
        text = ",".join(_LETTERS[visit] for visit in visits)
        if len(points) <= _MAX_NUMBERS:
            text += f" {curve.min_error[visits[0]]:.2g}"
        # The label is at the lower right of the point, where most curves leave space.
        style = {"xytext": (4, -3), "textcoords": "offset points", "ha": "left", "va": "top"}
        ax.annotate(text, point, fontsize=9, **style)


def _draw_errors(ax: Any, curve: ROCCurve, fp: Floats, fn: Floats) -> None:
    # The first and last intervals are unbounded; only a part of them is drawn.
    jump = curve.threshold[1:, 0]
    edge = canvas.draw_errors(ax, jump, fp, fn, margin=0.12 * (jump[-1] - jump[0]) or 1.0)
    least = curve.min_error
    canvas.draw_steps(ax, edge, least, color=palette.MIN_COLOR, lw=1.2, label="min(FP, FN)")
    # A value for each edge is needed; that of the last edge is not drawn.
    shade = {"color": "0.85", "lw": 0, "label": "AUM", "zorder": 1}
    ax.fill_between(edge, np.append(least, 0.0), step="post", **shade)
    ax.set(xlabel="constant added to predictions", ylabel="errors")
    low, top = min(0.0, fp.min(), fn.min()), max(fp.max(), fn.max())
    has_letters = fp.size <= len(_LETTERS)
    ax.set_ylim(low - 0.04 * top, top * (1.38 if has_letters else 1.08))
    canvas.legend_outside(ax, "upper center", (0.5, -0.22), ncols=4, fontsize=8)
    for number, middle in enumerate((edge[1:] + edge[:-1]) / 2) if has_letters else ():
        # Letters are drawn in three rows, so that those of narrow intervals do not overlap.
        height = top * (1.08 + 0.09 * (number % 3))
        ax.text(middle, height, _LETTERS[number], ha="center", va="center", fontsize=8)
