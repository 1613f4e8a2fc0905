"""A ROC curve with lettered points, above its errors with the AUM shaded."""

import string
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.breakpoints import ErrorBreakpoints
from rocpath.plots import canvas
from rocpath.roc import ROCCurve, curve_errors, roc_curve

_LETTERS = string.ascii_uppercase
_MOST_NUMBERS = 12  # maximum number of points labeled with the value of min(FP, FN)


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
    _draw_curve(axes[0], curve)
    areas = f"AUC {curve.auc:.4g}, AUM {curve.aum:.4g}"
    axes[0].set_title(f"{name}\n{areas}" if name else areas, fontsize=11)
    _draw_errors(axes[1], curve, *curve_errors(bp, curve))
    return axes


def _draw_curve(ax: Any, curve: ROCCurve) -> None:
    points = np.column_stack((curve.fpr, curve.tpr))
    has_letters = len(points) <= len(_LETTERS)
    ax.plot([0, 1], [0, 1], color="0.8", linewidth=1, zorder=1)
    marker = "o" if has_letters else None
    ax.plot(*points.T, color=canvas.MIN_COLOR, marker=marker, markersize=4, label="ROC")
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
        if len(points) <= _MOST_NUMBERS:
            text += f" {curve.min_error[visits[0]]:.2g}"
        # At the lower right of the point, where most curves leave space.
        style = {"xytext": (4, -3), "textcoords": "offset points", "ha": "left", "va": "top"}
        ax.annotate(text, point, fontsize=9, **style)


def _draw_errors(
    ax: Any, curve: ROCCurve, fp: NDArray[np.float64], fn: NDArray[np.float64]
) -> None:
    # The first and last intervals are unbounded; only a part of them is drawn.
    jump = curve.threshold[1:, 0]
    edge = canvas.draw_errors(ax, jump, fp, fn, margin=0.12 * (jump[-1] - jump[0]) or 1.0)
    least = curve.min_error
    canvas.draw_steps(ax, edge, least, color=canvas.MIN_COLOR, lw=1.2, label="min(FP, FN)")
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
