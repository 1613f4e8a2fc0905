"""The figures of a fit, of a table or of penalties: one for each part of its report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rocpath.plots.canvas import BLUE, GRAY, RED, SERIES, tidy, unseen_axes
from rocpath.plots.line_searches import LineSearchDisplay

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike

    from rocpath.auc_statistics.score_summary import ScoreSummary
    from rocpath.lines import Lines
    from rocpath.roc import ROCCurve

_MOST_BARS = 20  # more names could not be read
_LONGEST_NAME = 36  # longer ones would leave no room for the bars
_DASHES = ("-", "--", ":", "-.")


def fit_figures(
    *,
    areas: Mapping[str, tuple[float, float, float]],
    area_name: str,
    roc: Mapping[str, tuple[ArrayLike, ArrayLike]],
    view: ScoreSummary | None,
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
        size = (6.4, 1.2 + 0.45 * len(areas))
        figures["models"] = _drawn(size, _draw_areas, areas, area_name)
    if view is not None:
        figures["roc"] = _drawn((5.4, 5.2), _draw_roc_with_band, roc, view)
        figures["calibration"] = _drawn((5.4, 4.6), _draw_calibration, view, classes)
        figures["thresholds"] = _drawn((6.4, 4.2), _draw_rates, view, classes)
    columns = coefficients or importance
    if columns:
        what = "log-odds of one standard deviation" if coefficients else "AUC lost"
        figures["columns"] = _drawn(_size_of_bars(columns), _draw_bars, columns, what)
    if lines is not None:
        axes = unseen_axes(3, 1, (6.4, 7.5), sharex=True)
        figures["line_search"] = LineSearchDisplay.from_lines(lines, ax=axes).figure_
    return figures


def penalty_figures(
    *,
    errors: Mapping[str, tuple[float, float]],
    roc: Mapping[str, ROCCurve],
    coefficients: Sequence[tuple[str, float]],
    tried: tuple[ArrayLike, ArrayLike, ArrayLike],
) -> dict[str, Any]:
    """Draw what a report of penalties shows, one figure a panel, by name.

    Errors come with their standard errors; tried are L1 weights, what they lose on
    parts held out, and the standard errors of that. Without coefficients there is no
    figure of them.
    """
    rates = {f"{name}, {one.auc:.3f}": (one.fpr, one.tpr) for name, one in roc.items()}
    figures = {
        "errors": _drawn((4.8, 2.4), _draw_errors, errors),
        "roc": _drawn((4.8, 4.6), _draw_roc, rates, "AUC"),
        "tried": _drawn((4.8, 2.8), _draw_tried, *tried),
    }
    if coefficients:
        ordered = sorted(coefficients, key=lambda pair: -abs(pair[1]))
        what = "log penalty that one standard deviation adds"
        size = _size_of_bars(ordered)
        figures["coefficients"] = _drawn(size, _draw_bars, ordered, what)
    return figures


def _drawn(size: tuple[float, float], draw: Any, *arguments: Any) -> Any:
    (ax,) = unseen_axes(1, 1, size)
    draw(ax, *arguments)
    tidy(ax)
    return ax.figure


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


def _draw_roc_with_band(
    ax: Axes, roc: Mapping[str, tuple[ArrayLike, ArrayLike]], view: ScoreSummary
) -> None:
    band = view.band
    # One outline: along one end of the band, and back along the other.
    ax.fill(
        np.append(band.fpr_low, band.fpr_high[::-1]),
        np.append(band.tpr_high, band.tpr_low[::-1]),
        color=BLUE,
        alpha=0.13,
        linewidth=0,
        label="95% at any one threshold",
    )
    if view.max_fpr:
        # Of the model itself, which comes first, the part that was asked for.
        fpr, tpr = (np.asarray(rate, float) for rate in next(iter(roc.values())))
        x = np.linspace(0.0, view.max_fpr, 200)
        ax.fill_between(x, np.interp(x, fpr, tpr), color=BLUE, alpha=0.35, linewidth=0)
    _draw_roc(ax, roc)
    ax.set(aspect=1, xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))


def _draw_roc(
    ax: Axes,
    roc: Mapping[str, tuple[ArrayLike, ArrayLike]],
    legend_title: str | None = None,
) -> None:
    ax.plot([0, 1], [0, 1], color="0.8", linewidth=1)
    for number, (name, (fpr, tpr)) in enumerate(roc.items()):
        ax.plot(
            fpr,
            tpr,
            color=SERIES[number % len(SERIES)],
            linestyle=_DASHES[number % len(_DASHES)],
            linewidth=1.2 if number else 2.4,
            zorder=2 if number else 3,
            label=name,
        )
    ax.set(xlabel="false positive rate", ylabel="true positive rate")
    ax.legend(title=legend_title, loc="lower right", fontsize=9)


def _draw_calibration(ax: Axes, view: ScoreSummary, classes: tuple[str, str]) -> None:
    probability, share, low, high, _ = np.array(view.calibration).T
    end = min(1.0, 1.08 * max(high.max(), probability.max()))
    ax.plot([0, end], [0, end], color="0.8", linewidth=1)
    ends = np.array([share - low, high - share])
    ax.errorbar(probability, share, yerr=ends, fmt="o-", color=BLUE, lw=1, capsize=3)
    ax.set(xlabel="mean predicted probability", ylabel=f"share of {classes[1]}")
    ax.set(xlim=(-0.01 * end, end), ylim=(-0.01 * end, end))


def _draw_rates(ax: Axes, view: ScoreSummary, classes: tuple[str, str]) -> None:
    # Without the first place, which calls no row positive: no log scale has a 0.
    tp, fp = view.grid.tp[1:], view.grid.fp[1:]
    called = 1000 * (tp + fp) / (view.n_positive + view.n_negative)
    rates = {
        "TPR": (tp / view.n_positive, BLUE, "-"),
        "FPR": (fp / view.n_negative, RED, "--"),
        "precision": (tp / (tp + fp), GRAY, "-."),
    }
    for name, (rate, color, dashes) in rates.items():
        ax.plot(called, rate, color=color, linestyle=dashes, linewidth=2, label=name)
    ax.set(xlabel=f"rows called {classes[1]}, of 1,000", xscale="log")
    ax.set(ylim=(-0.01, 1.01), xlim=(called[0], 1000))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.legend(fontsize=9)


def _draw_errors(ax: Axes, errors: Mapping[str, tuple[float, float]]) -> None:
    count, spread = np.array(list(errors.values()), dtype=np.float64).T
    color = [SERIES[k % len(SERIES)] for k in range(len(errors))]
    ax.barh(list(errors), count, xerr=spread, color=color)
    ax.invert_yaxis()
    ax.set(xlabel="label errors on sequences held out")


def _draw_tried(
    ax: Axes, alpha: ArrayLike, mean: ArrayLike, standard_error: ArrayLike
) -> None:
    ax.errorbar(alpha, mean, yerr=standard_error, color=BLUE, marker="o")
    ax.set_xscale("log")
    ax.invert_xaxis()
    ax.set(xlabel="L1 weight, as a part of the largest", ylabel="loss held out")


def _size_of_bars(columns: Sequence[tuple[str, float]]) -> tuple[float, float]:
    return 6.4, 1.1 + 0.3 * min(len(columns), _MOST_BARS)


def _draw_bars(ax: Axes, columns: Sequence[tuple[str, float]], what: str) -> None:
    shown = columns[:_MOST_BARS]
    values = [value for _, value in shown]
    names = [_short(name) for name, _ in shown]
    colors = [RED if value < 0 else BLUE for value in values]
    ax.barh(range(len(shown)), values, color=colors, height=0.7)
    ax.axvline(0.0, color=GRAY, linewidth=1)
    ax.set_yticks(range(len(shown)), names)
    ax.set_ylim(len(shown) - 0.4, -0.6)
    left = len(columns) - len(shown)
    ax.set_xlabel(what + (f" ({left:,} smaller ones not shown)" if left else ""))


def _short(name: str) -> str:
    # Matplotlib takes a pair of dollar signs for mathematics.
    text = name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
    return text.replace("$", r"\$")
