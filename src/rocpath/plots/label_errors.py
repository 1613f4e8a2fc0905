"""A labeled sequence with a segmentation, and its label errors against the penalty."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath import changepoint as cp
from rocpath import palette
from rocpath.changepoint.segment_costs import Constraint, SegmentCost
from rocpath.palette import KIND_COLORS
from rocpath.plots import canvas
from rocpath.search.roc import inside_interval

_MARGIN = 1.5  # range of log penalties drawn beyond the first and last jumps


def plot_label_errors(
    x: ArrayLike,
    labels: cp.Labels,
    log_penalty: float | None = None,
    *,
    max_changes: int = 20,
    position: ArrayLike | None = None,
    cost: SegmentCost = "normal",
    constraint: Constraint = None,
    ax: Any = None,
) -> NDArray[Any]:
    """Draw a labeled sequence, one of its segmentations, and the label errors.

    Parameters
    ----------
    x : array-like, shape (n,)
        Sequence of observations.
    labels : Labels
        Labeled regions.
    log_penalty : float, optional
        Log penalty whose segmentation is shown; by default, one with the fewest label
        errors.
    max_changes, cost, constraint
        As in :func:`rocpath.changepoint.errors_by_penalty`.
    position : array-like, shape (n,), optional
        Position of each observation, in the units of the labels; by default, its index.
    ax : sequence of two Axes, optional
        Axes of the sequence and of the errors. By default, a new figure is created.

    Returns
    -------
    array of two Axes

    Examples
    --------
    >>> from rocpath import changepoint as cp
    >>> from rocpath import plots
    >>> labels = cp.Labels([0, 3], [3, 6], ["one_change", "no_change"])
    >>> axes = plots.plot_label_errors([1, 1, 5, 5, 5, 2], labels, max_changes=2)
    >>> axes[0].get_title(loc="left")
    'number of changes: 1'
    """
    x = np.asarray(x, dtype=np.float64)
    errors = cp.errors_by_penalty(
        x, labels, max_changes=max_changes, cost=cost, constraint=constraint, position=position
    )
    if log_penalty is None:
        log_penalty = inside_interval(*cp.target_interval(errors))
    best = cp.segment_penalty(x, np.exp(log_penalty), cost=cost, constraint=constraint)
    axes = canvas.axes_grid(ax, 1, 2, (9.5, 3.2), gridspec_kw={"width_ratios": (1.7, 1)})
    draw_labels(axes[0], labels)
    place = np.arange(x.size) if position is None else np.asarray(position, float)
    _draw_segments(axes[0], x, place, best)
    _draw_errors(axes[1], errors, log_penalty)
    for one in axes:
        canvas.legend_outside(one, "lower right", (1.0, 1.0), ncols=4, borderaxespad=0.2)
    return axes


def draw_labels(ax: Any, labels: cp.Labels) -> None:
    """Shade labeled regions."""
    regions = zip(labels.start, labels.end, labels.kind, strict=True)
    for row, (start, end, kind) in enumerate(regions):
        # Legends skip names that begin with an underscore, so each kind is listed once.
        name = "_" * (kind in labels.kind[:row]) + kind.replace("_", " ")
        ax.axvspan(start, end, color=KIND_COLORS[kind], alpha=0.3, linewidth=0, label=name)


def _draw_segments(ax: Any, x: NDArray[Any], position: NDArray[Any], best: cp.Segmentation) -> None:
    ax.plot(position, x, ".", color=palette.GRAY, markersize=3.5)
    # The last segment ends where the next observation would be.
    width = position[-1] - position[-2] if x.size > 1 else 1.0
    edge = np.append(position, position[-1] + width)[[0, *best.changes, x.size]]
    canvas.draw_steps(ax, edge, best.mean, color=palette.BLACK, lw=2, label="mean")
    for change in edge[1:-1]:
        ax.axvline(change, color=palette.BLACK, linestyle="--", linewidth=1)
    ax.set(xlabel="position", ylabel="value")
    ax.set_title(f"number of changes: {best.n_changes}", loc="left", fontsize=10)
    canvas.tidy(ax)


def _draw_errors(ax: Any, errors: cp.PenaltyErrors, log_penalty: float) -> None:
    from matplotlib.ticker import MaxNLocator

    # The first value is minus infinity, the logarithm of a penalty of 0.
    jump = errors.min_log_penalty[1:]
    beyond = max(0.0, jump[0] - log_penalty, log_penalty - jump[-1])
    canvas.draw_errors(ax, jump, errors.fp, errors.fn, beyond + _MARGIN)
    ax.axvline(log_penalty, color=palette.GRAY, ls="--", label="shown left")
    ax.set(xlabel="log penalty", ylabel="label errors")
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_ylim(bottom=-0.05 * max(1, errors.fp.max()))
