"""Methods compared: cost against size, and scores with their paired differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rocpath.arguments import finite_vector
from rocpath.plots.canvas import BLACK, BLUE, GRAY, MARKERS, SERIES, axes_grid, tidy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray


def plot_complexity(
    n: ArrayLike,
    costs: Mapping[str, ArrayLike],
    *,
    ylabel: str = "seconds",
    reference_slopes: Sequence[float] = (1.0, 2.0),
    ax: Any = None,
) -> Axes:
    """Draw costs against sizes, both on log scales, beside lines of known slope.

    Parameters
    ----------
    n : array-like, shape (n_sizes,)
        Sizes of the problems, positive and increasing.
    costs : dict of array-like, shape (n_sizes,)
        Seconds or counts of each method; NaN where it was not run.
    ylabel : str
        What the costs are.
    reference_slopes : list of float
        Slopes of gray lines, which start from the first method's first cost.
    ax : Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from rocpath import plots
    >>> ax = plots.plot_complexity([10, 100], {"sort": [1, 13], "pairs": [2, 200]})
    >>> [line.get_label() for line in ax.lines][:2]
    ['sort (slope 1.11)', 'pairs (slope 2.00)']
    """
    size = finite_vector("n", n)
    (axes,) = axes_grid(ax, 1, 1, (6.0, 4.4))
    known: list[float] = []
    for number, (name, values) in enumerate(costs.items()):
        cost = np.asarray(values, dtype=np.float64)
        is_known = np.isfinite(cost) & (cost > 0)
        slope = np.nan
        if is_known.sum() > 1:
            # The exponent of n: a cost of c n^k is a line of slope k on log scales.
            slope = np.polyfit(np.log(size[is_known]), np.log(cost[is_known]), 1)[0]
        axes.loglog(
            size[is_known],
            cost[is_known],
            marker=MARKERS[number % len(MARKERS)],
            color=SERIES[number % len(SERIES)],
            label=name if np.isnan(slope) else f"{name} (slope {slope:.2f})",
        )
        known += cost[is_known].tolist()
    for slope in reference_slopes if known else ():
        _draw_slope(axes, size, min(known), max(known), slope)
    axes.set(xlabel="n", ylabel=ylabel)
    tidy(axes)
    axes.legend(loc="upper left", fontsize=9, framealpha=0.9)
    return axes  # type: ignore[no-any-return]


def plot_comparison(
    scores: Mapping[str, ArrayLike],
    *,
    reference: str | None = None,
    xlabel: str = "test AUC",
    ax: Any = None,
) -> NDArray[Any]:
    """Draw the mean scores of methods, and their paired differences to one of them.

    Bars are one standard error of the mean to either side; the small dots are single
    folds or data sets.

    Parameters
    ----------
    scores : dict of array-like, shape (n_folds,)
        Scores of each method on the same folds, larger being better.
    reference : str, optional
        The method to compare with; by default the first.
    xlabel : str
        What the scores are.
    ax : array-like of two Axes, optional
        Where to draw; by default in a new figure.

    Returns
    -------
    array of two Axes

    Examples
    --------
    >>> from rocpath import plots
    >>> axes = plots.plot_comparison({"old": [0.7, 0.8], "new": [0.8, 0.9]})
    >>> axes[1].get_xlabel()
    'test AUC, less that of old'
    """
    columns = {name: finite_vector(name, values) for name, values in scores.items()}
    if len({column.size for column in columns.values()}) != 1:
        sizes = {name: column.size for name, column in columns.items()}
        raise ValueError(f"scores must have the same number of folds, got {sizes}.")
    reference = next(iter(columns)) if reference is None else reference
    if reference not in columns:
        raise ValueError(f"reference must be one of {list(columns)}, got {reference}.")
    figsize = (8.5, 1.4 + 0.42 * len(columns))
    axes = axes_grid(ax, 1, 2, figsize, sharey=True)
    for row, column in enumerate(columns.values()):
        _draw_dots(axes[0], row, column)
        difference = column - columns[reference]
        # The reference has none, and a dot at zero would look like a measurement.
        if difference.any():
            _draw_dots(axes[1], row, difference)
    axes[0].set_yticks(range(len(columns)), list(columns))
    # From above, in the order given.
    axes[0].set_ylim(len(columns) - 0.5, -0.5)
    axes[0].set_xlabel(xlabel)
    axes[1].set_xlabel(f"{xlabel}, less that of {reference}")
    axes[1].axvline(0.0, color=BLACK, linewidth=1)
    for one in axes:
        tidy(one)
        one.tick_params(axis="y", length=0)
    return axes


def _draw_dots(ax: Axes, row: int, column: NDArray[np.float64]) -> None:
    mean = column.mean()
    error = column.std(ddof=1) / np.sqrt(column.size) if column.size > 1 else 0.0
    # A little lower, so that the mean does not cover them.
    ax.plot(column, np.full(column.size, row + 0.2), ".", color=GRAY, markersize=4)
    ax.errorbar(mean, row, xerr=error, fmt="o", color=BLUE, capsize=3, markersize=6)


def _draw_slope(
    ax: Axes, size: NDArray[np.float64], smallest: float, largest: float, slope: float
) -> None:
    """Draw a line of known slope from the lower left, as far as there is data."""
    # A steep line would leave the data far below: it stops at the largest cost.
    end = size[0] * (largest / smallest) ** (1 / slope) if slope > 0 else size[-1]
    x = np.array([size[0], min(size[-1], end)])
    y = smallest * (x / size[0]) ** slope
    ax.plot(x, y, color="0.7", linewidth=1, linestyle="--", zorder=1)
    power = "n" if slope == 1 else f"n$^{{{slope:g}}}$"
    ax.annotate(
        power,
        (x[1], y[1]),
        xytext=(4, 0),
        textcoords="offset points",
        color=GRAY,
        va="center",
    )
