"""AUC and AUM of a path, against the step size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocpath.plots.canvas import BLACK, SERIES, axes_grid, draw_steps, legend_outside, tidy
from rocpath.search_results import BestStep, StepPath


def plot_step_path(
    path: StepPath,
    best: Mapping[str, BestStep] | None = None,
    *,
    max_step: float | None = None,
    ax: Any = None,
) -> NDArray[Any]:
    """Draw AUC and AUM as functions of the step size.

    Parameters
    ----------
    path : StepPath
        Result of :func:`rocpath.sweep` or of :func:`rocpath.torch.layer_path`.
    best : dict of BestStep, optional
        Steps to mark, by name in the legend.
    max_step : float, optional
        Largest step to draw. By default, 1.25 times the largest marked step, or the
        last step of the path if none is marked.
    ax : sequence of two Axes, optional
        Axes of AUC and AUM. By default, a new figure is created.

    Returns
    -------
    array of two Axes

    Examples
    --------
    >>> import rocpath as rp
    >>> from rocpath import plots
    >>> bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    >>> lines = rp.Lines.from_predictions(bp, [-7, -2, 0, -4], [0, -0.5, 0, 0.5])
    >>> axes = plots.plot_step_path(rp.sweep(lines), max_step=5.0)
    >>> axes[1].lines[0].get_ydata()
    array([1., 0., 0.])
    """
    best = best or {}
    marked = max((one.step for one in best.values()), default=0.0)
    last = min(max_step or 1.25 * marked or float(path.step[-1]) or 1.0, path.end)
    auc_axes, aum_axes = axes = axes_grid(ax, 2, 1, (6.4, 4.8), sharex=True)
    is_shown = path.step < last
    edge = np.append(path.step[is_shown], last)
    draw_steps(auc_axes, edge, path.auc_after[is_shown], color=BLACK, linewidth=1.2)
    aum_axes.plot(edge, path.aum_at(edge), color=BLACK, linewidth=1.2)
    for (name, one), color in zip(best.items(), SERIES, strict=False):
        label = f"{name}: step {one.step:.3g}"
        for axis in axes:
            axis.axvline(one.step, color=color, linestyle="--", linewidth=1.3, label=label)
    auc_axes.set_ylabel("AUC")
    aum_axes.set(ylabel="AUM", xlabel="step size")
    for axis in axes:
        tidy(axis)
        axis.label_outer()
    if best:
        legend_outside(auc_axes, "lower center", (0.5, 1.02), ncols=3)
    return axes
