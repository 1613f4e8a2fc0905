"""A labeled sequence with a segmentation, and its label errors by penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rocpath import changepoint as cp
from rocpath.plots import canvas
from rocpath.roc import inside_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from rocpath.changepoint.segmentation import Constraint, SegmentCost

_KIND_COLORS = {
    "no_change": canvas.ORANGE,
    "one_change": canvas.SKY,
    "at_least_one_change": canvas.PURPLE,
    "no_peaks": canvas.ORANGE,
    "peaks": canvas.PURPLE,
    "peak_start": canvas.SKY,
    "peak_end": canvas.GREEN,
}
_REACH = 1.5  # log penalties drawn beyond the first and the last jump


@dataclass(eq=False, kw_only=True, repr=False)
class LabelErrorDisplay:
    """Show a labeled sequence, one of its segmentations, and the label errors.

    Parameters
    ----------
    x : array, shape (n,)
        The sequence.
    position : array, shape (n,)
        Where each observation lies, in the units of the labels.
    labels : Labels
        The labeled regions.
    models : Segmentations
        The best segmentations.
    selection : ModelSelection
        Which of them each penalty selects.
    errors : PenaltyErrors
        Label errors as a function of the penalty.
    log_penalty : float
        The penalty whose segmentation is shown.

    Attributes
    ----------
    ax_ : array of two Axes
        The sequence and the errors: those given as ``ax``, or new ones.
    figure_ : Figure
        The figure of both.

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
        """Segment a sequence and create the display.

        Parameters
        ----------
        log_penalty : float, optional
            Predicted log penalty; by default one with the fewest label errors.
        max_changes, cost, constraint
            As for :func:`rocpath.changepoint.segment`.
        position : array-like, shape (n,), optional
            As for :func:`rocpath.changepoint.label_errors`.
        """
        x = np.asarray(x, dtype=np.float64)
        most = min(max_changes, x.size - 1)
        models = cp.segment(x, most, cost=cost, constraint=constraint)
        selection = cp.model_selection(models.cost)
        # Not `errors_by_penalty`: the picture shows the segmentations too.
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

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        x: ArrayLike,
        labels: cp.Labels,
        *,
        max_changes: int = 20,
        position: ArrayLike | None = None,
        cost: SegmentCost = "normal",
        constraint: Constraint = None,
        ax: Any = None,
    ) -> LabelErrorDisplay:
        """Create the display with the penalty that an estimator predicts.

        Parameters
        ----------
        X : array-like, shape (n_features,) or (1, n_features)
            Features of the sequence ``x``; the rest is as for `from_predictions`.
        """
        log_penalty = estimator.predict(np.atleast_2d(np.asarray(X)))[0]
        return cls.from_predictions(
            x,
            labels,
            float(log_penalty),
            max_changes=max_changes,
            position=position,
            cost=cost,
            constraint=constraint,
            ax=ax,
        )

    @property
    def n_changes(self) -> int:
        """The number of changes that the penalty selects."""
        return int(self.selection.select(np.exp(self.log_penalty)))

    def plot(self, ax: Any = None) -> LabelErrorDisplay:
        """Draw, by default in a new figure."""
        ratios = {"width_ratios": (1.7, 1)}
        self.ax_ = canvas.axes_grid(ax, 1, 2, (9.5, 3.2), gridspec_kw=ratios)
        self.figure_ = self.ax_[0].figure
        self._draw_sequence(self.ax_[0])
        self._draw_errors(self.ax_[1])
        return self

    def _draw_sequence(self, ax: Axes) -> None:
        named: set[str] = set()
        rows = zip(self.labels.start, self.labels.end, self.labels.kind, strict=True)
        for start, end, kind in rows:
            # The legend leaves out what starts with an underscore: each kind once.
            name = "_" if kind in named else kind.replace("_", " ")
            color = _KIND_COLORS[kind]
            ax.axvspan(start, end, color=color, alpha=0.3, linewidth=0, label=name)
            named.add(kind)
        ax.plot(self.position, self.x, ".", color=canvas.GRAY, markersize=3.5)
        model = self.models.changes[self.n_changes]
        # The last segment ends where one more observation would be.
        width = self.position[-1] - self.position[-2] if self.x.size > 1 else 1.0
        edge = np.append(self.position, self.position[-1] + width)
        edge = edge[np.concatenate(([0], model, [self.x.size]))]
        means = self.models.mean[self.n_changes]
        canvas.draw_steps(ax, edge, means, color=canvas.BLACK, lw=2, label="mean")
        for change in edge[1:-1]:
            ax.axvline(change, color=canvas.BLACK, linestyle="--", linewidth=1)
        plural = "" if self.n_changes == 1 else "s"
        ax.set(xlabel="position", ylabel="value")
        ax.set_title(f"{self.n_changes} change{plural}", loc="left", fontsize=10)
        canvas.tidy(ax)
        canvas.legend_outside(ax, "lower right", (1.0, 1.0), ncols=4, borderaxespad=0.2)

    def _draw_errors(self, ax: Axes) -> None:
        from matplotlib.ticker import MaxNLocator

        # The first is minus infinity, for penalty 0.
        jumps = self.errors.min_log_penalty[1:]
        known = np.append(jumps, self.log_penalty)
        low, high = known.min() - _REACH, known.max() + _REACH
        edge = np.concatenate(([low], jumps, [high]))
        for values, color, width, name in (
            # FP first and wider, so that it is seen where both are equal.
            (self.errors.fp, canvas.FP_COLOR, 3.5, "FP"),
            (self.errors.fn, canvas.FN_COLOR, 2.0, "FN"),
        ):
            canvas.draw_steps(ax, edge, values, color=color, lw=width, label=name)
        ax.axvline(self.log_penalty, color=canvas.GRAY, ls="--", label="shown left")
        ax.set(xlabel="log penalty", ylabel="label errors", xlim=(low, high))
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_ylim(bottom=-0.05 * max(1, int(max(self.errors.fp.max(), 1))))
        canvas.tidy(ax)
        canvas.legend_outside(ax, "lower right", (1.0, 1.0), ncols=4, borderaxespad=0.2)
