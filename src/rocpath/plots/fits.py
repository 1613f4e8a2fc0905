"""The figures of a fit: intervals, ROC curves, calibration, thresholds and columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rocpath.plots.canvas import BLUE, GREY, RED, SERIES, tidy
from rocpath.plots.line_searches import LineSearchDisplay

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from rocpath.lines import Lines
    from rocpath.pages.score_view import ScoreView

_MOST_BARS = 20  # more names could not be read
_LONGEST_NAME = 36  # longer ones would leave no room for the bars
_DASHES = ("-", "--", ":", "-.")


def fit_figures(
    *,
    areas: Mapping[str, tuple[float, float, float]],
    area_name: str,
    roc: Mapping[str, tuple[ArrayLike, ArrayLike]],
    view: ScoreView | None,
    classes: tuple[str, str],
    coefficients: Sequence[tuple[str, float]],
    importance: Sequence[tuple[str, float]],
    lines: Lines | None,
) -> dict[str, Any]:
    """Draw what the report of a fit shows, a figure each, by name.

    Each is a Figure of matplotlib that no window shows and nobody need close.
    """
    figures = {}
    if areas:
        figures["models"] = _figure(_draw_areas, (6.4, 1.2 + 0.45 * len(areas)))(
            areas, area_name
        )
    if view is not None:
        figures["roc"] = _figure(_draw_roc, (5.4, 5.2))(roc, view)
        figures["calibration"] = _figure(_draw_calibration, (5.4, 4.6))(view, classes)
        figures["thresholds"] = _figure(_draw_rates, (6.4, 4.2))(view, classes)
    columns = coefficients or importance
    if columns:
        what = "log-odds of one standard deviation" if coefficients else "AUC lost"
        n_bars = min(len(columns), _MOST_BARS)
        figures["columns"] = _figure(_draw_bars, (6.4, 1.1 + 0.3 * n_bars))(
            columns, what
        )
    if lines is not None:
        figure, axes = _new_axes(3, (6.4, 7.5))
        LineSearchDisplay.from_lines(lines, ax=axes)
        figures["line_search"] = figure
    return figures


def _figure(draw: Any, size: tuple[float, float]) -> Any:
    def drawn(*arguments: Any) -> Any:
        figure, (ax,) = _new_axes(1, size)
        draw(ax, *arguments)
        tidy(ax)
        return figure

    return drawn


def _new_axes(n_rows: int, size: tuple[float, float]) -> tuple[Any, Any]:
    # Without pyplot, whose figures stay until closed.
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    return figure, np.atleast_1d(figure.subplots(n_rows, 1, sharex=n_rows > 1))


def _draw_areas(
    ax: Axes, areas: Mapping[str, tuple[float, float, float]], area_name: str
) -> None:
    for row, (value, low, high) in enumerate(areas.values()):
        ax.plot([low, high], [row, row], color=BLUE, linewidth=4, alpha=0.4)
        ax.plot(value, row, "o", color=BLUE, markersize=8)
        ax.annotate(
            f"{value:.3f}",
            (value, row),
            (0, 7),
            textcoords="offset points",
            ha="center",
        )
    ax.set_yticks(range(len(areas)), list(areas))
    ax.set(ylim=(len(areas) - 0.5, -0.6), xlabel=f"{area_name}, with 95% interval")


def _draw_roc(
    ax: Axes, roc: Mapping[str, tuple[ArrayLike, ArrayLike]], view: ScoreView
) -> None:
    band = view.band
    ax.plot([0, 1], [0, 1], color="0.8", linewidth=1)
    # One outline: along one end of the band, and back along the other.
    ax.fill(
        np.append(band.fpr_low, band.fpr_high[::-1]),
        np.append(band.tpr_high, band.tpr_low[::-1]),
        color=BLUE,
        alpha=0.13,
        linewidth=0,
        label="95% at any one threshold",
    )
    for number, (name, (fpr, tpr)) in enumerate(roc.items()):
        # Of the model itself, which comes first, the part that was asked for.
        if number == 0 and view.max_fpr:
            x = np.linspace(0.0, view.max_fpr, 200)
            y = np.interp(x, np.asarray(fpr, float), np.asarray(tpr, float))
            ax.fill_between(x, y, color=BLUE, alpha=0.35, linewidth=0)
        ax.plot(
            fpr,
            tpr,
            color=SERIES[number % len(SERIES)],
            linestyle=_DASHES[number % len(_DASHES)],
            linewidth=1.2 if number else 2.4,
            zorder=2 if number else 3,
            label=name,
        )
    ax.set(xlabel="false positive rate", ylabel="true positive rate", aspect=1)
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    ax.legend(loc="lower right", fontsize=9)


def _draw_calibration(ax: Axes, view: ScoreView, classes: tuple[str, str]) -> None:
    probability, share, low, high, _ = np.array(view.calibration).T
    end = min(1.0, 1.08 * max(high.max(), probability.max()))
    ax.plot([0, end], [0, end], color="0.8", linewidth=1)
    ends = np.array([share - low, high - share])
    ax.errorbar(probability, share, yerr=ends, fmt="o-", color=BLUE, lw=1, capsize=3)
    ax.set(xlabel="mean predicted probability", ylabel=f"share of {classes[1]}")
    ax.set(xlim=(-0.01 * end, end), ylim=(-0.01 * end, end))


def _draw_rates(ax: Axes, view: ScoreView, classes: tuple[str, str]) -> None:
    # Without the first place, which calls no row positive: no log scale has a 0.
    tp, fp = view.places.tp[1:], view.places.fp[1:]
    called = 1000 * (tp + fp) / (view.n_positive + view.n_negative)
    rates = {
        "TPR": (tp / view.n_positive, BLUE, "-"),
        "FPR": (fp / view.n_negative, RED, "--"),
        "precision": (tp / (tp + fp), GREY, "-."),
    }
    for name, (rate, color, dashes) in rates.items():
        ax.plot(called, rate, color=color, linestyle=dashes, linewidth=2, label=name)
    ax.set(xlabel=f"rows called {classes[1]}, of 1,000", xscale="log")
    ax.set(ylim=(-0.01, 1.01), xlim=(called[0], 1000))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.legend(fontsize=9)


def _draw_bars(ax: Axes, columns: Sequence[tuple[str, float]], what: str) -> None:
    shown = columns[:_MOST_BARS]
    values = [value for _, value in shown]
    names = [_short(name) for name, _ in shown]
    colors = [RED if value < 0 else BLUE for value in values]
    ax.barh(range(len(shown)), values, color=colors, height=0.7)
    ax.axvline(0.0, color=GREY, linewidth=1)
    ax.set_yticks(range(len(shown)), names)
    ax.set_ylim(len(shown) - 0.4, -0.6)
    left = len(columns) - len(shown)
    ax.set_xlabel(what + (f" ({left:,} smaller ones not shown)" if left else ""))


def _short(name: str) -> str:
    # Matplotlib takes a pair of dollar signs for mathematics.
    text = name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
    return text.replace("$", r"\$")
