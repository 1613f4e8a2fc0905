"""Pictures of learned penalties: errors of rules, ROC curves, features, candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rocpath.plots import canvas

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from rocpath.roc import RocCurve

_MOST_COEFFICIENTS = 20


def penalty_figures(
    *,
    errors: Mapping[str, tuple[float, float]],
    roc: Mapping[str, RocCurve],
    coefficients: Sequence[tuple[str, float]],
    tried: tuple[ArrayLike, ArrayLike, ArrayLike],
) -> dict[str, Any]:
    """Draw what a report of penalties shows, one figure a panel, by name.

    Errors come with their standard errors; tried are L1 weights, what they lose on
    parts held out, and the standard errors of that. Without coefficients there is no
    figure of them.
    """
    axes = {
        "errors": (4.8, 2.4),
        "roc": (4.8, 4.6),
        "tried": (4.8, 2.8),
    }
    if coefficients:
        n_shown = min(len(coefficients), _MOST_COEFFICIENTS)
        axes["coefficients"] = (6.0, 1.0 + 0.25 * n_shown)
    drawn = {name: canvas.axes_grid(None, 1, 1, size)[0] for name, size in axes.items()}
    _draw_errors(drawn["errors"], errors)
    _draw_roc(drawn["roc"], roc)
    _draw_tried(drawn["tried"], *tried)
    if coefficients:
        _draw_coefficients(drawn["coefficients"], coefficients)
    for ax in drawn.values():
        canvas.tidy(ax)
    return {name: ax.figure for name, ax in drawn.items()}


def _draw_errors(ax: Any, errors: Mapping[str, tuple[float, float]]) -> None:
    names = list(errors)
    count, spread = np.array(list(errors.values()), dtype=np.float64).T
    color = [canvas.SERIES[k % len(canvas.SERIES)] for k in range(len(names))]
    ax.barh(names, count, xerr=spread, color=color)
    ax.invert_yaxis()
    ax.set(xlabel="label errors on sequences held out")


def _draw_roc(ax: Any, roc: Mapping[str, RocCurve]) -> None:
    ax.plot([0, 1], [0, 1], color="0.8", linewidth=1)
    for k, (name, curve) in enumerate(roc.items()):
        color = canvas.SERIES[k % len(canvas.SERIES)]
        ax.plot(curve.fpr, curve.tpr, color=color, label=f"{name}, {curve.auc:.3f}")
    ax.set(xlabel="false positive rate", ylabel="true positive rate")
    ax.legend(title="AUC", frameon=False, fontsize=8.5)


def _draw_tried(
    ax: Any, alpha: ArrayLike, mean: ArrayLike, standard_error: ArrayLike
) -> None:
    ax.errorbar(alpha, mean, yerr=standard_error, color=canvas.BLUE, marker="o")
    ax.set_xscale("log")
    ax.invert_xaxis()
    ax.set(xlabel="L1 weight, as a part of the largest", ylabel="loss held out")


def _draw_coefficients(ax: Any, coefficients: Sequence[tuple[str, float]]) -> None:
    ordered = sorted(coefficients, key=lambda pair: -abs(pair[1]))[:_MOST_COEFFICIENTS]
    value = [one for _, one in ordered]
    color = [canvas.RED if one < 0 else canvas.BLUE for one in value]
    ax.barh([name for name, _ in ordered], value, color=color)
    ax.invert_yaxis()
    ax.axvline(0, color=canvas.GREY, linewidth=1)
    ax.set(xlabel="log penalty that one standard deviation adds")
