"""Decision curves and calibration plots."""

from collections.abc import Mapping
from itertools import cycle, product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from rocpath import palette
from rocpath.evaluation.calibration import CalibrationBin, calibration_bins
from rocpath.evaluation.calibration_summary import summarize_calibration
from rocpath.evaluation.net_benefit import net_benefit
from rocpath.evaluation.results import percent
from rocpath.evaluation.smooth_calibration import smooth_calibration
from rocpath.plots import canvas
from rocpath.sample import Sample
from rocpath.validation import check_none, share_between

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DASHES = ("-", "--", "-.", ":")
_FIGURE = (5.6, 4.6)


def plot_decision_curve(
    y: ArrayLike,
    probability: ArrayLike | Mapping[str, ArrayLike],
    thresholds: ArrayLike | None = None,
    *,
    ax: Any = None,
    cost: ArrayLike | None = None,
    prevalence: float | None = None,
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
    name: str | None = None,
    positive: Any = None,
) -> "Axes":
    """Draw the net benefit of one or several models against the threshold.

    Parameters
    ----------
    y : array-like, shape (n_rows,)
        Labels with exactly two distinct values.
    probability : array-like, shape (n_rows,), or dict of array-like
        Predicted probabilities of the positive class, or several by name.
    thresholds, cost, prevalence, groups, confidence, positive
        As in :func:`rocpath.net_benefit`.
    ax : Axes, optional
        Axes to draw in. By default, a new figure is created.
    name : str, optional
        Name in the legend, for a single model.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from rocpath import plots
    >>> ax = plots.plot_decision_curve([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.4, 0.5, 0.7, 0.9])
    >>> [line.get_label() for line in ax.lines]
    ['model', 'treat all', 'treat none']
    """
    named = probability if isinstance(probability, Mapping) else {name or "model": probability}
    (axes,) = canvas.axes_grid(ax, 1, 1, _FIGURE)
    options: dict[str, Any] = {"cost": cost, "prevalence": prevalence, "groups": groups}
    options |= {"confidence": confidence, "positive": positive}
    styles = cycle(product(_DASHES, palette.SERIES))
    top = 0.0
    for (label, given), (dashes, color) in zip(named.items(), styles, strict=False):
        curve = net_benefit(y, given, thresholds, **options)
        threshold, value = curve.column("threshold"), curve.column("value")
        axes.plot(threshold, value, color=color, ls=dashes, lw=1.8, label=label)
        limits = curve.column("low"), curve.column("high")
        axes.fill_between(threshold, *limits, color=color, alpha=0.16 / len(named) ** 0.5, lw=0)
        top = max(top, float(np.nanmax(value)), curve.points[0].treat_all)
    axes.plot(threshold, curve.column("treat_all"), color=palette.GRAY, lw=1.2, label="treat all")
    axes.axhline(0.0, color="black", lw=1.0, label="treat none")
    # Treating all is very harmful at high thresholds, which would hide the models.
    axes.set(ylim=(-0.35 * top, 1.15 * top), xlabel="Threshold probability", ylabel="Net benefit")
    axes.set_title(f"{percent(confidence)} confidence intervals", fontsize=9, loc="left")
    canvas.tidy(axes)
    axes.legend(fontsize=8.5, framealpha=0.9)
    return axes  # type: ignore[no-any-return]


def plot_calibration(
    y: ArrayLike,
    probability: ArrayLike,
    *,
    ax: Any = None,
    groups: ArrayLike | None = None,
    confidence: float = 0.95,
    positive: Any = None,
) -> "Axes":
    """Draw observed shares of positives against predicted probabilities.

    The smooth curve is a logistic regression on a natural cubic spline of the log-odds,
    with pointwise confidence limits; points are bins with their intervals.

    Parameters
    ----------
    y : array-like, shape (n_rows,)
        Labels with exactly two distinct values.
    probability : array-like, shape (n_rows,)
        Predicted probabilities of the positive class.
    ax : Axes, optional
        Axes to draw in. By default, a new figure is created.
    groups, confidence, positive
        As in :func:`rocpath.calibration_summary`.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import numpy as np
    >>> from rocpath import plots
    >>> probability = np.linspace(0.1, 0.9, 100)
    >>> y = np.random.default_rng(0).random(100) < probability
    >>> plots.plot_calibration(y, probability).get_ylabel()
    'Observed share of True'
    """
    confidence = share_between("confidence", confidence)
    sample = Sample.from_labels(y, groups=groups, positive=positive)
    score = sample.scores("probability", probability)
    check_none((score < 0) | (score > 1), "probability must be in [0, 1]", score)
    (axes,) = canvas.axes_grid(ax, 1, 1, (5.2, 5.2))
    bins = calibration_bins(sample.is_positive, score, confidence, sample.unit)
    _draw_bins(axes, bins)
    curve = smooth_calibration(sample, score, confidence)
    if curve is not None:
        color = palette.SERIES[1]
        axes.plot(curve.probability, curve.share, color=color, lw=1.8, label="smooth curve")
        axes.fill_between(curve.probability, curve.low, curve.high, color=color, alpha=0.16, lw=0)
    # If positives are rare, all values are near 0, so the axes end at the data.
    end = min(1.0, 1.08 * max([*(point.high for point in bins), float(score.max())]))
    axes.plot([0, end], [0, end], color=palette.GRAY, ls=":", lw=1, label="calibrated", zorder=1)
    axes.set(xlim=(-0.01 * end, end), ylim=(-0.01 * end, end), aspect="equal")
    label = sample.classes[1]
    axes.set(xlabel=f"Predicted probability of {label}", ylabel=f"Observed share of {label}")
    summary = summarize_calibration(sample, score, confidence)
    texts = [
        f"{one.name.removeprefix('calibration ')} {one.value:.2f}"
        for one in summary.intervals.values()
        if not np.isnan(one.value)
    ]
    axes.set_title(", ".join(texts), fontsize=8, loc="left")
    canvas.tidy(axes)
    axes.legend(loc="upper left", fontsize=8.5, framealpha=0.9)
    return axes  # type: ignore[no-any-return]


def _draw_bins(ax: Any, bins: list[CalibrationBin]) -> None:
    """Draw the observed share of each bin with its interval."""
    place, share, low, high = np.array([point[:4] for point in bins]).T
    style: Any = {"fmt": "o", "color": palette.SERIES[0], "markersize": 5, "capsize": 2, "lw": 1}
    ax.errorbar(place, share, yerr=(share - low, high - share), label="bins", **style)
