"""A ROC curve with lettered points, above its errors with the AUM shaded."""

from __future__ import annotations

import string
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rocpath.plots import canvas
from rocpath.roc import ROCCurve, curve_errors, roc_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from rocpath.breakpoints import ErrorBreakpoints

_LETTERS = string.ascii_uppercase
_MOST_NUMBERS = 12  # maximum number of points labeled with the value of min(FP, FN)


@dataclass(eq=False, kw_only=True, repr=False)
class ROCErrorDisplay:
    """Show a ROC curve, and its errors against the constant added to predictions.

    The points of curves with at most 26 points are labeled with letters, the same in
    both axes. With at most 12 points, labels also show the value of min(FP, FN), whose
    integral over the constant is the AUM.

    Parameters
    ----------
    curve : ROCCurve
        Result of :func:`rocpath.roc_curve`.
    fp, fn : array, shape (n_points,)
        Errors at each point, in the units of ``curve.min_error``.
    name : str, optional
        Name in the title.

    Attributes
    ----------
    ax_ : array of two Axes
        Axes of the ROC curve and of the errors: those given as ``ax``, or new ones.
    figure_ : Figure
        Figure that contains both axes.

    Examples
    --------
    >>> import rocpath as rp
    >>> from rocpath import plots
    >>> bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    >>> display = plots.ROCErrorDisplay.from_predictions(bp, [-7, -2, 0, -4])
    >>> display.ax_[0].get_title()
    'AUC 0.75, AUM 1'
    """

    curve: ROCCurve
    fp: NDArray[np.float64]
    fn: NDArray[np.float64]
    name: str | None = None

    @classmethod
    def from_predictions(
        cls,
        bp: ErrorBreakpoints,
        predictions: ArrayLike,
        *,
        name: str | None = None,
        ax: Any = None,
    ) -> ROCErrorDisplay:
        """Create and draw the display, given one prediction for each example."""
        curve = roc_curve(bp, predictions)
        fp, fn = curve_errors(bp, curve)
        return cls(curve=curve, fp=fp, fn=fn, name=name).plot(ax)

    def plot(self, ax: Any = None) -> ROCErrorDisplay:
        """Draw the display, by default in a new figure."""
        ratios = {"height_ratios": (1.5, 1)}
        self.ax_ = canvas.axes_grid(ax, 2, 1, (4.6, 7.0), gridspec_kw=ratios)
        self.figure_ = self.ax_[0].figure
        self._draw_curve(self.ax_[0])
        self._draw_errors(self.ax_[1])
        return self

    def _draw_curve(self, ax: Axes) -> None:
        fpr, tpr = self.curve.fpr, self.curve.tpr
        ax.plot([0, 1], [0, 1], color="0.8", linewidth=1, zorder=1)
        marker = "o" if fpr.size <= len(_LETTERS) else None
        ax.plot(fpr, tpr, color=canvas.MIN_COLOR, marker=marker, markersize=4, label="ROC")
        areas = f"AUC {self.curve.auc:.4g}, AUM {self.curve.aum:.4g}"
        ax.set_title(f"{self.name}\n{areas}" if self.name else areas, fontsize=11)
        ax.set(xlabel="false positive rate", ylabel="true positive rate", aspect=1)
        reach = 0.16 if fpr.size <= len(_LETTERS) else 0.03
        # If errors are not monotone, a curve may leave the unit square.
        low = min(0.0, fpr.min(), tpr.min()) - reach
        high = max(1.0, fpr.max(), tpr.max()) + reach
        ax.set(xlim=(low, high), ylim=(low, high))
        canvas.tidy(ax)
        if fpr.size <= len(_LETTERS):
            self._letter_points(ax)

    def _letter_points(self, ax: Axes) -> None:
        points = np.column_stack((self.curve.fpr, self.curve.tpr))
        # The curve of a changepoint problem may return to a point, which is labeled once.
        for point in np.unique(points, axis=0):
            visits = np.flatnonzero((points == point).all(axis=1))
            text = ",".join(_LETTERS[visit] for visit in visits)
            if len(points) <= _MOST_NUMBERS:
                text += f" {self.curve.min_error[visits[0]]:.2g}"
            # At the lower right of the point, where most curves leave space.
            style: dict[str, Any] = {"ha": "left", "va": "top", "fontsize": 9}
            ax.annotate(text, point, xytext=(4, -3), textcoords="offset points", **style)

    def _draw_errors(self, ax: Axes) -> None:
        # The first and last intervals are unbounded; only a part of them is drawn.
        jump = self.curve.threshold[1:, 0]
        margin = 0.12 * (jump[-1] - jump[0]) or 1.0
        edge = canvas.draw_errors(ax, jump, self.fp, self.fn, margin)
        least = self.curve.min_error
        style: dict[str, Any] = {"color": canvas.MIN_COLOR, "lw": 1.2, "label": "min(FP, FN)"}
        canvas.draw_steps(ax, edge, least, **style)
        # A value for each edge is needed; that of the last edge is not drawn.
        shade: dict[str, Any] = {"step": "post", "color": "0.85", "lw": 0, "label": "AUM"}
        ax.fill_between(edge, np.append(least, 0.0), zorder=1, **shade)
        ax.set(xlabel="constant added to predictions", ylabel="errors")
        top = max(self.fp.max(), self.fn.max())
        low = min(0.0, self.fp.min(), self.fn.min())
        has_letters = self.fp.size <= len(_LETTERS)
        ax.set_ylim(low - 0.04 * top, top * (1.38 if has_letters else 1.08))
        canvas.legend_outside(ax, "upper center", (0.5, -0.22), ncols=4, fontsize=8)
        for number, middle in enumerate((edge[1:] + edge[:-1]) / 2) if has_letters else ():
            # Letters are drawn in three rows, so that those of narrow intervals do not overlap.
            height = top * (1.08 + 0.09 * (number % 3))
            ax.text(middle, height, _LETTERS[number], ha="center", va="center", fontsize=8)
