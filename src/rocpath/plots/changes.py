"""Plot of a sequence, its changes and the intervals of their locations."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath import changepoint as cp
from rocpath import palette
from rocpath.plots import canvas
from rocpath.plots.label_errors import draw_labels
from rocpath.validation import check_count


def plot_changes(
    x: ArrayLike,
    changes: ArrayLike | cp.Segmentation,
    labels: cp.Labels | None = None,
    *,
    position: ArrayLike | None = None,
    ax: Any = None,
) -> Any:
    """Draw a sequence with its changes, and their intervals if they are known.

    Parameters
    ----------
    x : array-like, shape (n,)
        The sequence.
    changes : Segmentation or array-like of int
        A result of :func:`~rocpath.changepoint.detect_changes`, whose segments and
        intervals are drawn, or indices at which segments begin, whose means are drawn.
    labels : Labels, optional
        Labeled regions to shade.
    position : array-like, shape (n,), optional
        Position of each observation, in the units of the labels; by default, its index.
    ax : Axes, optional
        Axes to draw on. By default, a new figure is created.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np
    >>> from rocpath import changepoint as cp
    >>> from rocpath import plots
    >>> x = np.repeat([0.0, 5.0], 20) + np.tile([0.0, 0.5], 20)
    >>> (found,) = cp.detect_changes([x])
    >>> ax = plots.plot_changes(x, found)
    >>> ax.get_title(loc="left")
    'number of changes: 1'
    """
    value = np.asarray(x, dtype=np.float64)
    best = changes if isinstance(changes, cp.Segmentation) else _with_means(value, changes)
    check_count("x must have an entry", len(value), best.n, "observations of the segmentation")
    place = np.arange(value.size) if position is None else np.asarray(position, dtype=float)
    (ax,) = canvas.axes_grid(None if ax is None else [ax], 1, 1, (8.0, 3.0))
    if labels is not None:
        draw_labels(ax, labels)
    ax.plot(place, value, ".", color=palette.GRAY, markersize=3.5, label="observations")
    fitted = best.fitted()
    if best.season is not None:
        fitted = fitted + best.season[np.arange(best.n) % len(best.season)]
    edges = [0, *best.changes, best.n]
    for k, (start, end) in enumerate(pairwise(edges)):
        name = "_" * (k > 0) + "segments"
        ax.plot(place[start:end], fitted[start:end], color=palette.BLACK, lw=2, label=name)
    for k, change in enumerate(best.changes):
        ax.axvline(place[change], color=palette.BLACK, linestyle="--", linewidth=1)
        if best.intervals is not None:
            low, high = place[best.intervals[k]]
            name = "_" * (k > 0) + "interval of the location"
            ax.axvspan(low, high, color=palette.BLACK, alpha=0.15, linewidth=0, label=name)
    ax.set(xlabel="position", ylabel="value")
    ax.set_title(f"number of changes: {best.n_changes}", loc="left", fontsize=10)
    canvas.tidy(ax)
    canvas.legend_outside(ax, "lower right", (1.0, 1.0), ncols=3, borderaxespad=0.2)
    return ax


def _with_means(x: NDArray[np.float64], changes: ArrayLike) -> cp.Segmentation:
    """Return a segmentation with the means between given changes."""
    at = np.asarray(changes, dtype=np.int64)
    if at.ndim != 1 or (np.diff(at) <= 0).any() or ((at < 1) | (at >= len(x))).any():
        raise ValueError(
            f"changes must increase from 1 to at most {len(x) - 1}, got {at.tolist()}."
        )
    mean = np.array([np.nanmean(part) for part in np.split(x, at)])
    return cp.Segmentation(np.nan, at, mean, np.nan, len(x))
