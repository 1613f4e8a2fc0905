"""How descent went: AUM and AUC against the number of steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rocpath.plots.canvas import BLUE, GREY, RED, axes_grid, tidy

if TYPE_CHECKING:
    from rocpath.descent import Descent


class DescentDisplay:
    """Show AUM and AUC against the number of steps, on training and validation data.

    Parameters
    ----------
    descent : Descent
        From :func:`rocpath.minimize_aum`.
    name : str, optional
        Title.

    Attributes
    ----------
    ax_ : array of two Axes
        AUM and AUC; they share the x axis.
    figure_ : Figure
        The figure of both.

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

    def __init__(self, *, descent: Descent, name: str | None = None) -> None:
        self.descent = descent
        self.name = name

    @classmethod
    def from_descent(
        cls, descent: Descent, *, name: str | None = None, ax: Any = None
    ) -> DescentDisplay:
        """Make the picture.

        Parameters
        ----------
        descent : Descent
            What `minimize_aum` returned.
        name : str, optional
            Title.
        ax : array-like of two Axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        DescentDisplay
        """
        return cls(descent=descent, name=name).plot(ax)

    def plot(self, ax: Any = None) -> DescentDisplay:
        """Draw.

        Parameters
        ----------
        ax : array-like of two Axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        DescentDisplay
        """
        from matplotlib.ticker import MaxNLocator

        self.ax_ = axes_grid(ax, 2, 1, (6.0, 5.0), sharex=True)
        self.figure_ = self.ax_[0].figure
        descent = self.descent
        number = np.arange(descent.n_steps + 1)
        # Markers only where they can be told apart.
        train, other = ("o-", "s--") if number.size <= 40 else ("-", "--")
        for axes, area in zip(self.ax_, ("aum", "auc"), strict=True):
            style = {"markersize": 3.5, "linewidth": 1.6}
            value = getattr(descent, area)
            axes.plot(number, value, train, color=BLUE, label="training", **style)
            held_out = getattr(descent, f"validation_{area}")
            if not np.isnan(held_out).all():
                axes.plot(
                    number, held_out, other, color=RED, label="validation", **style
                )
            axes.axvline(
                descent.chosen, color=GREY, linestyle=":", label="weights taken"
            )
            axes.set_ylabel(area.upper())
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
            tidy(axes)
            axes.label_outer()
        self.ax_[1].set_xlabel("number of steps")
        self.ax_[0].legend(
            loc="lower right", bbox_to_anchor=(1, 1), ncols=3, frameon=False
        )
        if self.name:
            self.ax_[0].set_title(self.name, loc="left", fontsize=11)
        return self
