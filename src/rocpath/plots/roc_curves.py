"""ROC curves of one or several scores, with confidence bands."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from rocpath.arguments import one_of
from rocpath.auc_statistics.curves import ScoreCurve
from rocpath.auc_statistics.labeled_sample import LabeledSample
from rocpath.auc_statistics.operating_points import OperatingPoint, RankedRows
from rocpath.auc_statistics.results import percent
from rocpath.auc_statistics.roc_bands import ROCBand, roc_band
from rocpath.plots.canvas import GRAY, SERIES, axes_grid, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DASHES = ("-", "--", "-.", ":")


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
        Confidence band for each threshold, or for all thresholds simultaneously; None
        for no band. Simultaneous bands are not available with groups.
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
    sample = LabeledSample.of(y, None, positive, groups)
    one_of("band", band, ("pointwise", "simultaneous", None))
    if band == "simultaneous" and sample.groups is not None:
        raise ValueError("band must be 'pointwise' or None with groups.")
    named = scores if isinstance(scores, Mapping) else {name or "": scores}
    (axes,) = axes_grid(ax, 1, 1, (5.2, 5.2))
    for number, (label, given) in enumerate(named.items()):
        curve = ScoreCurve.of(sample, given, name=label or "scores", confidence=confidence)
        score, found = curve.score, curve.interval
        text = f"AUC {found.value:.3f} ({found.low:.3f} to {found.high:.3f})"
        rows, color = RankedRows.of(sample.is_positive, score), SERIES[number % len(SERIES)]
        dashes = _DASHES[number // len(SERIES) % len(_DASHES)]
        style = {"color": color, "ls": dashes, "label": f"{label}: {text}" if label else text}
        axes.plot(rows.fp / rows.n_negative, rows.tp / rows.n_positive, lw=1.8, **style)
        if band is not None:
            together: Any = {"is_simultaneous": band == "simultaneous", "groups": sample.groups}
            limits = roc_band(sample.is_positive, score, confidence, **together)
            _draw_band(axes, limits, color, alpha=0.16 if len(named) == 1 else 0.1)
    if operating_point is not None:
        _mark(axes, operating_point)
    axes.plot([0, 1], [0, 1], color=GRAY, linestyle=":", linewidth=1, zorder=1)
    axes.set(xlabel="False positive rate", ylabel="True positive rate", aspect="equal")
    axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    title = "" if band is None else f"{percent(confidence)} {band} confidence band"
    axes.set_title(title, fontsize=9, loc="left", color=GRAY)
    tidy(axes)
    axes.legend(loc="lower right", fontsize=8.5, framealpha=0.9)
    return axes  # type: ignore[no-any-return]


def _draw_band(ax: Any, band: ROCBand, color: Any, *, alpha: float) -> None:
    """Fill between the upper left and the lower right corners of the bounds."""
    grid = np.unique(np.concatenate((band.fpr_low, band.fpr_high)))
    # The upper limit connects the upper left corners (fpr_low, tpr_high) of all
    # thresholds, and the lower limit the lower right corners (fpr_high, tpr_low).
    upper = np.interp(grid, band.fpr_low, np.maximum.accumulate(band.tpr_high))
    lower = np.interp(grid, band.fpr_high, band.tpr_low)
    ax.fill_between(grid, lower, upper, color=color, alpha=alpha, linewidth=0)


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
