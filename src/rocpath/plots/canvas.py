"""Axes, legends and line styles shared by all figures."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocpath.palette import FN_COLOR, FP_COLOR
from rocpath.validation import Floats

# Line style, width and opacity. The first line is wide and pale, so that it is visible
# beneath the third.
VARIANT_STYLES = {
    "first min": ("-", 5.0, 0.45),
    "linear": (":", 1.8, 1.0),
    "best AUM": ("--", 1.3, 1.0),
    "best AUC": ("-", 1.6, 1.0),
}


def axes_grid(
    ax: Any, n_rows: int, n_columns: int, figsize: tuple[float, float], **grid: Any
) -> NDArray[Any]:
    """Return the given axes as a flat array, or new axes in a new figure."""
    if ax is None:
        # Imported here because callers that pass axes do not need pyplot.
        import matplotlib.pyplot as plt

        figure = plt.figure(figsize=figsize, layout="constrained")
        ax = figure.subplots(n_rows, n_columns, **grid)
    axes = np.ravel(np.asarray(ax, dtype=object))
    if axes.size != n_rows * n_columns:
        raise ValueError(f"ax must have {n_rows * n_columns} axes, got {axes.size}.")
    return axes


def draw_steps(ax: Any, edge: Floats, value: NDArray[Any], **style: Any) -> None:
    """Draw a step function with value[i] between edge[i] and edge[i + 1]."""
    # Each value is repeated at both ends of its interval. Unlike matplotlib's step styles,
    # this requires no value beyond the last edge.
    ax.plot(np.repeat(edge, 2)[1:-1], np.repeat(value, 2), **style)


def draw_errors(ax: Any, jump: Floats, fp: NDArray[Any], fn: NDArray[Any], margin: float) -> Floats:
    """Draw FP and FN as step functions, with margins at both ends; return edges."""
    edge = np.concatenate(([jump[0] - margin], jump, [jump[-1] + margin]))
    # FP is drawn first and wider, so that it is visible where both are equal.
    draw_steps(ax, edge, fp, color=FP_COLOR, lw=3.5, label="FP")
    draw_steps(ax, edge, fn, color=FN_COLOR, lw=2.0, label="FN")
    ax.set_xlim(edge[0], edge[-1])
    tidy(ax)
    return edge


def legend_outside(ax: Any, loc: str, anchor: tuple[float, float], **options: Any) -> None:
    """Place the legend outside the axes, where it covers no data."""
    style = {"frameon": False, "fontsize": 8.5, "columnspacing": 1.2, "handlelength": 1.4}
    ax.legend(loc=loc, bbox_to_anchor=anchor, **(style | options))


def tidy(ax: Any) -> None:
    """Remove the upper and right spines and draw a light grid."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(color="0.92", linewidth=0.8)
    ax.set_axisbelow(True)
