"""AUC, AUM and thresholds against the step size."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath import palette
from rocpath.plots import canvas
from rocpath.search.breakpoints import ErrorBreakpoints
from rocpath.search.lines import Lines
from rocpath.search.search_results import BestStep, StepPath
from rocpath.search.step_view import StepView, line_sample, step_view

_MAX_LINES = 500  # more lines would overlap


@dataclass(eq=False, kw_only=True, repr=False)
class LineSearchDisplay:
    """AUC, AUM and thresholds against the step size, with the best steps marked.

    Parameters
    ----------
    lines : Lines
        Thresholds as functions of the step size; at most 500 of them are drawn.
    view : StepView
        Curves and marked steps, up to ``max_step``, which is by default 1.25 times the
        largest marked step.

    Attributes
    ----------
    ax_ : array of three Axes
        Axes of AUC, AUM and thresholds: those given as ``ax``, or new ones that share
        the x axis.
    figure_ : Figure
        Figure that contains all axes.

    Examples
    --------
    >>> import rocpath as rp
    >>> from rocpath import plots
    >>> bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    >>> display = plots.LineSearchDisplay.from_predictions(
    ...     bp, [-7, -2, 0, -4], [0, -0.5, 0, 0.5], max_step=4.0
    ... )
    >>> [line.get_label() for line in display.ax_[2].lines[:2]]
    ['first min (2.92)', 'linear (2)']
    """

    lines: Lines
    view: StepView

    @classmethod
    def from_lines(cls, lines: Lines, *, max_step: float | None = None, ax: Any = None) -> Self:
        """Create and draw the display from lines."""
        return cls(lines=lines, view=step_view(lines, max_step=max_step)).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        bp: ErrorBreakpoints,
        predictions: ArrayLike,
        direction: ArrayLike,
        *,
        max_step: float | None = None,
        ax: Any = None,
    ) -> Self:
        """Create and draw the display for ``predictions + step * direction``."""
        lines = Lines.from_predictions(bp, predictions, direction)
        return cls.from_lines(lines, max_step=max_step, ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the display, by default in a new figure."""
        grid = {"sharex": True, "gridspec_kw": {"height_ratios": (1, 1, 1.4)}}
        auc_axes, aum_axes, line_axes = self.ax_ = canvas.axes_grid(ax, 3, 1, (6.4, 6.8), **grid)
        self.figure_ = auc_axes.figure
        auc_axes.plot(*self.view.auc, color=palette.BLACK, linewidth=1.2)
        aum_axes.plot(*self.view.aum, color=palette.BLACK, linewidth=1.2)
        _draw_lines(line_axes, self.lines, self.view.max_step)
        for variant in self.view.variants:
            color = palette.VARIANT_COLORS[variant.name]
            dashes, width, alpha = canvas.VARIANT_STYLES[variant.name]
            style = {"color": color, "ls": dashes, "lw": width, "alpha": alpha}
            label = f"{variant.name} ({variant.step:.3g})"
            for axes in self.ax_:
                axes.axvline(variant.step, zorder=1.5, label=label, **style)
            auc_axes.plot(variant.step, variant.auc, "o", color=color, markersize=4 + width)
            aum_axes.plot(variant.step, variant.aum, "o", color=color, markersize=4 + width)
        handles, labels = line_axes.get_legend_handles_labels()
        # Handles are longer than in other legends, so that the dashes are visible.
        style = {"handles": handles, "labels": labels, "ncols": 4, "handlelength": 1.8}
        canvas.legend_outside(auc_axes, "lower center", (0.5, 1.02), **style)
        auc_axes.set_ylabel("AUC")
        aum_axes.set_ylabel("AUM")
        # Otherwise a mark at step 0 would be half hidden by the axis.
        limits = -0.01 * self.view.max_step, self.view.max_step
        line_axes.set(ylabel="threshold", xlabel="step size", xlim=limits)
        for axes in self.ax_:
            canvas.tidy(axes)
            axes.label_outer()
        return self


def _draw_lines(ax: Any, lines: Lines, max_step: float) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    # Only these axes show a subsample; curves and marks are based on all lines.
    shown = line_sample(lines, _MAX_LINES)
    jumps_fp, jumps_fn = shown.fp_diff != 0, shown.fn_diff != 0
    handles = []
    for is_kind, color, name in (
        (jumps_fp & ~jumps_fn, palette.FP_COLOR, "FP changes"),
        (jumps_fn & ~jumps_fp, palette.FN_COLOR, "FN changes"),
        # A changepoint problem may have breakpoints that change both; one with weight 0
        # changes neither.
        (jumps_fp == jumps_fn, palette.GRAY, "both"),
    ):
        if is_kind.any():
            low = shown.intercept[is_kind]
            high = low + max_step * shown.slope[is_kind]
            ends = [[(0, a), (max_step, b)] for a, b in zip(low, high, strict=True)]
            # The less frequent kinds are drawn on top, and less transparently.
            alpha = float(np.clip(100 / low.size, 0.2, 1.0))
            style = {"alpha": alpha, "zorder": 3.0 - is_kind.mean()}
            ax.add_collection(LineCollection(ends, colors=color, lw=1.0, **style))
            # Lines of the legend are opaque; transparent ones would hardly be visible.
            handles.append(Line2D([], [], color=color, label=name))
    ax.autoscale_view()
    canvas.legend_outside(ax, "upper right", (1.0, -0.1), handles=handles, ncols=3)


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
    auc_axes, aum_axes = axes = canvas.axes_grid(ax, 2, 1, (6.4, 4.8), sharex=True)
    is_shown = path.step < last
    edge = np.append(path.step[is_shown], last)
    canvas.draw_steps(auc_axes, edge, path.auc_after[is_shown], color=palette.BLACK, linewidth=1.2)
    aum_axes.plot(edge, path.aum_at(edge), color=palette.BLACK, linewidth=1.2)
    for (name, one), color in zip(best.items(), palette.SERIES, strict=False):
        label = f"{name}: step {one.step:.3g}"
        for axis in axes:
            axis.axvline(one.step, color=color, linestyle="--", linewidth=1.3, label=label)
    auc_axes.set_ylabel("AUC")
    aum_axes.set(ylabel="AUM", xlabel="step size")
    for axis in axes:
        canvas.tidy(axis)
        axis.label_outer()
    if best:
        canvas.legend_outside(auc_axes, "lower center", (0.5, 1.02), ncols=3)
    return axes
