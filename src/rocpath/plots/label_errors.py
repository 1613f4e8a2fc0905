"""A labeled sequence with a segmentation, and its label errors against the penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rocpath import changepoint as cp
from rocpath.pages.label_colors import KIND_COLORS
from rocpath.plots import canvas
from rocpath.roc import inside_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from rocpath.changepoint.segmentation import Constraint, SegmentCost

_MARGIN = 1.5  # range of log penalties drawn beyond the first and last jumps


@dataclass(eq=False, kw_only=True, repr=False)
class LabelErrorDisplay:
    """Show a labeled sequence, one of its segmentations, and the label errors.

    Parameters
    ----------
    x : array, shape (n,)
        Sequence of observations.
    position : array, shape (n,)
        Position of each observation, in the units of the labels.
    labels : Labels
        Labeled regions.
    models : Segmentations
        Best segmentation for each number of changes.
    selection : ModelSelection
        Segmentation selected by each penalty.
    errors : PenaltyErrors
        Label errors as a function of the penalty.
    log_penalty : float
        Log penalty whose segmentation is shown.

    Attributes
    ----------
    ax_ : array of two Axes
        Axes of the sequence and of the errors: those given as ``ax``, or new ones.
    figure_ : Figure
        Figure that contains both axes.

    Examples
    --------
    >>> from rocpath import changepoint as cp
    >>> from rocpath import plots
    >>> labels = cp.Labels([0, 3], [3, 6], ["one_change", "no_change"])
    >>> x = [1, 1, 5, 5, 5, 2]
    >>> display = plots.LabelErrorDisplay.from_predictions(x, labels, max_changes=2)
    >>> display.n_changes
    1
    """

    x: NDArray[np.float64]
    position: NDArray[np.float64]
    labels: cp.Labels
    models: cp.Segmentations
    selection: cp.ModelSelection
    errors: cp.PenaltyErrors
    log_penalty: float

    @classmethod
    def from_predictions(
        cls,
        x: ArrayLike,
        labels: cp.Labels,
        log_penalty: float | None = None,
        *,
        max_changes: int = 20,
        position: ArrayLike | None = None,
        cost: SegmentCost = "normal",
        constraint: Constraint = None,
        ax: Any = None,
    ) -> LabelErrorDisplay:
        """Segment a sequence, and create and draw the display.

        Parameters
        ----------
        log_penalty : float, optional
            Predicted log penalty; by default, one with the fewest label errors.
        max_changes, cost, constraint
            As in :func:`rocpath.changepoint.segment`.
        position : array-like, shape (n,), optional
            As in :func:`rocpath.changepoint.label_errors`.
        """
        x = np.asarray(x, dtype=np.float64)
        models = cp.segment(x, min(max_changes, x.size - 1), cost=cost, constraint=constraint)
        selection = cp.model_selection(models.cost)
        # `errors_by_penalty` is not used, because the figure also shows the segmentations.
        counts = cp.label_errors(models, labels, position=position)
        errors = cp.penalty_errors(selection, counts)
        if log_penalty is None:
            log_penalty = inside_interval(*cp.target_interval(errors))
        if position is None:
            position = np.arange(x.size)
        return cls(
            x=x,
            position=np.asarray(position, dtype=np.float64),
            labels=labels,
            models=models,
            selection=selection,
            errors=errors,
            log_penalty=float(log_penalty),
        ).plot(ax)

    @property
    def n_changes(self) -> int:
        """The number of changes selected by the penalty."""
        return int(self.selection.select(np.exp(self.log_penalty)))

    def plot(self, ax: Any = None) -> LabelErrorDisplay:
        """Draw the display, by default in a new figure."""
        ratios = {"width_ratios": (1.7, 1)}
        self.ax_ = canvas.axes_grid(ax, 1, 2, (9.5, 3.2), gridspec_kw=ratios)
        self.figure_ = self.ax_[0].figure
        self._draw_sequence(self.ax_[0])
        self._draw_errors(self.ax_[1])
        return self

    def _draw_sequence(self, ax: Axes) -> None:
        rows = zip(self.labels.start, self.labels.end, self.labels.kind, strict=True)
        for row, (start, end, kind) in enumerate(rows):
            # Legends skip names that begin with an underscore, so each kind is listed once.
            name = "_" * (kind in self.labels.kind[:row]) + kind.replace("_", " ")
            ax.axvspan(start, end, color=KIND_COLORS[kind], alpha=0.3, linewidth=0, label=name)
        ax.plot(self.position, self.x, ".", color=canvas.GRAY, markersize=3.5)
        # The last segment ends where the next observation would be.
        width = self.position[-1] - self.position[-2] if self.x.size > 1 else 1.0
        edge = np.append(self.position, self.position[-1] + width)
        edge = edge[[0, *self.models.changes[self.n_changes], self.x.size]]
        means = self.models.mean[self.n_changes]
        canvas.draw_steps(ax, edge, means, color=canvas.BLACK, lw=2, label="mean")
        for change in edge[1:-1]:
            ax.axvline(change, color=canvas.BLACK, linestyle="--", linewidth=1)
        ax.set(xlabel="position", ylabel="value")
        ax.set_title(f"number of changes: {self.n_changes}", loc="left", fontsize=10)
        canvas.tidy(ax)
        canvas.legend_outside(ax, "lower right", (1.0, 1.0), ncols=4, borderaxespad=0.2)

    def _draw_errors(self, ax: Axes) -> None:
        from matplotlib.ticker import MaxNLocator

        # The first value is minus infinity, the logarithm of a penalty of 0.
        jump = self.errors.min_log_penalty[1:]
        beyond = max(0.0, jump[0] - self.log_penalty, self.log_penalty - jump[-1])
        canvas.draw_errors(ax, jump, self.errors.fp, self.errors.fn, beyond + _MARGIN)
        ax.axvline(self.log_penalty, color=canvas.GRAY, ls="--", label="shown left")
        ax.set(xlabel="log penalty", ylabel="label errors")
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_ylim(bottom=-0.05 * max(1, self.errors.fp.max()))
        canvas.legend_outside(ax, "lower right", (1.0, 1.0), ncols=4, borderaxespad=0.2)
