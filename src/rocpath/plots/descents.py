"""AUM and AUC of a descent against the number of steps."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from rocpath.palette import SERIES
from rocpath.plots.canvas import axes_grid, legend_outside, tidy
from rocpath.search.descent import Descent

_MAX_MARKED = 40  # maximum number of steps with markers; more markers would overlap


@dataclass(eq=False, kw_only=True, repr=False)
class DescentDisplay:
    """AUM and AUC against the number of steps, on training and validation data.

    Several descents can share axes; each has its own colors and its name in the legend.

    Parameters
    ----------
    descent : Descent
        Result of :func:`rocpath.minimize_aum`.
    name : str, optional
        Name of the descent in the legend.

    Attributes
    ----------
    ax_ : array of two Axes
        Axes of AUM and AUC: those given as ``ax``, or new ones that share the x axis.
    figure_ : Figure
        Figure that contains both axes.

    Examples
    --------
    >>> import rocpath as rp
    >>> from rocpath import plots
    >>> bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    >>> descent = rp.minimize_aum([[0.0], [1.0], [2.0], [3.0]], bp, coef=[-1.0])
    >>> display = plots.DescentDisplay.from_descent(descent)
    >>> float(display.ax_[0].lines[0].get_ydata()[0])
    2.0
    """

    descent: Descent
    name: str | None = None

    @classmethod
    def from_descent(cls, descent: Descent, *, name: str | None = None, ax: Any = None) -> Self:
        """Create and draw the display."""
        return cls(descent=descent, name=name).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the display, by default in a new figure."""
        from matplotlib.ticker import MaxNLocator

        self.ax_ = axes_grid(ax, 2, 1, (6.0, 5.0), sharex=True)
        self.figure_ = self.ax_[0].figure
        for axes, area in zip(self.ax_, ("aum", "auc"), strict=True):
            self._draw_area(axes, area)
            axes.set_ylabel(area.upper())
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            tidy(axes)
            axes.label_outer()
        self.ax_[1].set_xlabel("number of steps")
        legend_outside(self.ax_[0], "lower right", (1, 1), ncols=3)
        return self

    def _draw_area(self, axes: Any, area: str) -> None:
        descent, prefix = self.descent, f"{self.name}: " if self.name else ""
        number = np.arange(descent.n_steps + 1)
        is_marked = number.size <= _MAX_MARKED
        n_drawn = sum(line.get_gid() == "training" for line in axes.lines)
        # Each descent uses two colors; after the last color, the first is used again.
        colors = SERIES[2 * n_drawn % len(SERIES) :] + SERIES
        for sample, field, dashes, marker, color in (
            ("training", area, "-", "o", colors[0]),
            ("validation", f"validation_{area}", "--", "s", colors[1]),
        ):
            value = getattr(descent, field)
            # Without validation data, all values are NaN.
            if not np.isnan(value).all():
                style = {"ls": dashes, "marker": marker if is_marked else None}
                style |= {"label": prefix + sample, "gid": sample, "color": color}
                axes.plot(number, value, markersize=3.5, linewidth=1.6, **style)
        label = f"{prefix}selected weights"
        axes.axvline(descent.chosen, color=colors[0], linestyle=":", label=label)
