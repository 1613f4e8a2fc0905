"""One ROC curve per reader, and their average, for each modality."""

from typing import TYPE_CHECKING, Any

import numpy as np

from rocpath import palette
from rocpath.evaluation.operating_points import RankedRows
from rocpath.evaluation.reader_ratings import ReaderRatings
from rocpath.plots import canvas
from rocpath.sample import Sample
from rocpath.validation import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_readers(
    y: Any,
    ratings: Any,
    *,
    ax: Any = None,
    positive: Any = None,
    modality: str = "modality",
    reader: str = "reader",
    case: str = "case",
    rating: str = "rating",
) -> "Axes":
    """Draw the ROC curve of each reader (thin) and their average (thick) by modality.

    The average has, at each false positive rate, the mean true positive rate of the
    readers, so that the area under it is the mean of their AUCs.

    Parameters
    ----------
    y, ratings, positive, modality, reader, case, rating
        As in :func:`rocpath.compare_readers`.
    ax : Axes, optional
        Axes to draw in. By default, a new figure is created.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from rocpath import plots
    >>> ratings = {"CT": [[1, 2, 3, 4], [1, 3, 2, 4]], "X-ray": [[2, 1, 3, 4], [4, 1, 2, 3]]}
    >>> ax = plots.plot_readers([0, 0, 1, 1], ratings)
    >>> [line.get_label() for line in ax.lines if not line.get_label().startswith("_")]
    ['CT: mean AUC 0.875', 'X-ray: mean AUC 0.750']
    """
    names = {"modality": modality, "reader": reader, "case": case}
    study = ReaderRatings.from_arguments(y, ratings, names, rating)
    is_positive = Sample.from_labels(study.label, positive=positive).is_positive
    (axes,) = canvas.axes_grid(ax, 1, 1, (5.2, 5.2))
    for k, (name, of_readers) in enumerate(zip(study.modalities, study.rating, strict=True)):
        color = palette.SERIES[k % len(palette.SERIES)]
        curves = [_curve(is_positive, scores) for scores in of_readers]
        for fpr, tpr in curves:
            axes.plot(fpr, tpr, color=color, lw=0.8, alpha=0.45, label="_reader")
        fpr, tpr = average_curve(curves)
        area = float(np.trapezoid(tpr, fpr))
        axes.plot(fpr, tpr, color=color, lw=2.4, label=f"{name}: mean AUC {area:.3f}")
    axes.plot([0, 1], [0, 1], color=palette.GRAY, linestyle=":", linewidth=1, zorder=1)
    axes.set(xlabel="False positive rate", ylabel="True positive rate", aspect="equal")
    axes.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    canvas.tidy(axes)
    axes.legend(loc="lower right", fontsize=8.5, framealpha=0.9)
    return axes  # type: ignore[no-any-return]


def _curve(is_positive: Any, score: Floats) -> tuple[Floats, Floats]:
    """Return the rates of one reader, from (0, 0) to (1, 1)."""
    rows = RankedRows.from_scores(is_positive, np.ascontiguousarray(score))
    return rows.fp / rows.n_negative, rows.tp / rows.n_positive


def average_curve(curves: list[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Average the true positive rates of curves at each false positive rate.

    Where a curve rises vertically, the average has its value before and after the step.
    """
    grid = np.unique(np.concatenate([fpr for fpr, _ in curves]))
    sides = np.mean([_both_sides(grid, *curve) for curve in curves], axis=0)
    return np.repeat(grid, 2), np.ravel(sides, order="F")


def _both_sides(grid: Floats, fpr: Floats, tpr: Floats) -> list[Floats]:
    """Return the true positive rates at the lower and the upper end of each step."""
    sides = []
    for next_point in (np.searchsorted(fpr, grid), np.searchsorted(fpr, grid, side="right")):
        last, following = np.maximum(next_point - 1, 0), np.minimum(next_point, fpr.size - 1)
        width = fpr[following] - fpr[last]
        share = np.divide(grid - fpr[last], width, out=np.zeros(grid.size), where=width > 0)
        sides.append(tpr[last] + share * (tpr[following] - tpr[last]))
    return sides
