"""AUC, AUM and thresholds of a line search, against the step size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rocpath.lines import Lines
from rocpath.pages.step_view import StepView, line_sample, step_view
from rocpath.plots import canvas

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from rocpath.breakpoints import ErrorBreakpoints

_MOST_LINES = 500  # more lines would overlap


@dataclass(eq=False, kw_only=True, repr=False)
class LineSearchDisplay:
    """Show AUC, AUM and thresholds against the step size, and mark the variants.

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
    ['first min (3)', 'linear (2)']
    """

    lines: Lines
    view: StepView

    @classmethod
    def from_lines(
        cls, lines: Lines, *, max_step: float | None = None, ax: Any = None
    ) -> LineSearchDisplay:
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
    ) -> LineSearchDisplay:
        """Create and draw the display for ``predictions + step * direction``."""
        lines = Lines.from_predictions(bp, predictions, direction)
        return cls.from_lines(lines, max_step=max_step, ax=ax)

    def plot(self, ax: Any = None) -> LineSearchDisplay:
        """Draw the display, by default in a new figure."""
        ratios = {"height_ratios": (1, 1, 1.4)}
        grid = {"sharex": True, "gridspec_kw": ratios}
        self.ax_ = canvas.axes_grid(ax, 3, 1, (6.4, 6.8), **grid)
        self.figure_ = self.ax_[0].figure
        auc_axes, aum_axes, line_axes = self.ax_
        auc_axes.plot(*self.view.auc, color=canvas.BLACK, linewidth=1.2)
        aum_axes.plot(*self.view.aum, color=canvas.BLACK, linewidth=1.2)
        _draw_lines(line_axes, self.lines, self.view.max_step)
        auc_axes.set_ylabel("AUC")
        aum_axes.set_ylabel("AUM")
        line_axes.set(ylabel="threshold", xlabel="step size")
        # Otherwise a mark at step 0 would be half hidden by the axis.
        line_axes.set_xlim(-0.01 * self.view.max_step, self.view.max_step)
        for axes in self.ax_:
            canvas.tidy(axes)
            axes.label_outer()
        self._mark_variants()
        return self

    def _mark_variants(self) -> None:
        for one in self.view.variants:
            color, dashes, width = canvas.VARIANT_STYLES[one.name]
            label = f"{one.name} ({one.step:.3g})"
            for axes in self.ax_:
                axes.axvline(one.step, color=color, ls=dashes, lw=width, zorder=1.5, label=label)
            size = 4 + width
            self.ax_[0].plot(one.step, one.auc, "o", color=color, markersize=size)
            self.ax_[1].plot(one.step, one.aum, "o", color=color, markersize=size)
        handles, names = self.ax_[2].get_legend_handles_labels()
        # Handles are longer than in other legends, so that the dashes are visible.
        style = {"handles": handles, "labels": names, "ncols": 4, "handlelength": 1.8}
        canvas.legend_outside(self.ax_[0], "lower center", (0.5, 1.02), **style)


def _draw_lines(ax: Axes, lines: Lines, max_step: float) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    # Only these axes show a subsample; curves and marks are based on all lines.
    shown = line_sample(lines, _MOST_LINES)
    jumps_fp, jumps_fn = shown.fp_diff != 0, shown.fn_diff != 0
    handles = []
    for is_kind, color, name in (
        (jumps_fp & ~jumps_fn, canvas.FP_COLOR, "FP changes"),
        (jumps_fn & ~jumps_fp, canvas.FN_COLOR, "FN changes"),
        # A changepoint problem may have breakpoints that change both; one with weight 0
        # changes neither.
        (jumps_fp == jumps_fn, canvas.GRAY, "both"),
    ):
        if is_kind.any():
            low = shown.intercept[is_kind]
            high = low + max_step * shown.slope[is_kind]
            ends = [[(0, a), (max_step, b)] for a, b in zip(low, high, strict=True)]
            # The less frequent kinds are drawn on top, and less transparently.
            alpha = float(np.clip(100 / low.size, 0.2, 1.0))
            style = {"alpha": alpha, "zorder": 3.0 - is_kind.mean()}
            ax.add_collection(LineCollection(ends, colors=color, lw=1.0, **style))
            # Opaque lines for the legend, where transparent ones would hardly be visible.
            handles.append(Line2D([], [], color=color, label=name))
    ax.autoscale_view()
    canvas.legend_outside(ax, "upper right", (1.0, -0.1), handles=handles, ncols=3)
