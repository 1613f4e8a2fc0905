"""Compute the plotted curves of a line search, and the steps its variants choose."""

from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rocpath.search.breakpoints import ErrorBreakpoints
from rocpath.search.line_search import aum_path, best_auc_step, sweep
from rocpath.search.lines import Lines
from rocpath.search.roc import auc
from rocpath.search.search_results import StepPath

_MAX_SWEPT = 2_000  # lines, with at most two million crossings
_N_BINS = 500  # each drawn with its first, smallest, largest and last value
_SAMPLING_BUDGET = 30_000_000  # lines times steps
_MAX_SAMPLES = 400
_MAX_CERTIFIED = 20_000  # lines; for more, the best AUC is found to within a tolerance
_TOLERANCE = 1e-4
_MARGIN = 1.25  # largest step in view, relative to the largest marked step


class StepVariant(NamedTuple):
    """Variant of the search, the step it chooses, and AUM and AUC at this step."""

    name: str
    step: float
    aum: float
    auc: float


class StepCurve(NamedTuple):
    """Points of a function of the step, joined by straight lines."""

    step: NDArray[np.float64]
    value: NDArray[np.float64]


class StepView(NamedTuple):
    """AUM and AUC from step 0 to a largest step, exact at the plotted points.

    Where AUC jumps, a step occurs several times, with the values before, at and after.
    """

    max_step: float
    aum: StepCurve
    auc: StepCurve
    variants: tuple[StepVariant, ...]  # first min, linear, best AUM and best AUC
    n_crossings: int | None  # steps with crossings in view; None if AUC was sampled
    auc_tol: float  # maximum difference between the largest AUC and that of best AUC


def step_view(lines: Lines, *, max_step: float | None = None) -> StepView:
    """Compute the curves of a line search and the steps that its variants choose.

    For up to 2,000 lines, every crossing is visited. For more lines, AUC is computed at
    evenly spaced steps, and for more than 20,000 the best AUC is found to within 0.0001.
    By default, the view ends at 1.25 times the largest step of a variant.

    Examples
    --------
    >>> import rocpath as rp
    >>> from rocpath.search.step_view import step_view
    >>> bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    >>> lines = rp.Lines.from_predictions(bp, [-7, -2, 0, -4], [0, -0.5, 0, 0.5])
    >>> view = step_view(lines, max_step=4.0)
    >>> [(one.name, one.aum, one.auc) for one in view.variants[:2]]
    [('first min', 0.0, 1.0), ('linear', 0.0, 0.875)]
    """
    if max_step is not None and not max_step > 0:
        raise ValueError(f"max_step must be above 0, got {max_step}.")
    kinks = aum_path(lines, max_step=max_step)
    first_crossings = sweep(lines, max_crossings=len(lines), max_step=max_step)
    tol = 0.0 if len(lines) <= _MAX_CERTIFIED else _TOLERANCE
    steps = {
        "first min": kinks.first_min.step,
        "linear": float(first_crossings.step[first_crossings.aum.argmin()]),
        "best AUM": kinks.global_min.step,
        "best AUC": best_auc_step(lines, max_step=max_step, tol=tol).step,
    }
    end = max_step
    # If all variants stay at step 0, the last kink or else 1 determines the view.
    if end is None or not np.isfinite(end):
        end = _MARGIN * max(steps.values()) or _MARGIN * float(kinks.step[-1]) or 1.0
    path = sweep(lines, max_step=end) if len(lines) <= _MAX_SWEPT else None
    variants = []
    for name, step in steps.items():
        area = _auc_at(lines, step) if path is None else float(path.auc_at(step))
        variants.append(StepVariant(name, step, float(kinks.aum_at(step)), area))
    kink = np.append(kinks.step[kinks.step < end], end)
    return StepView(
        max_step=end,
        aum=_downsampled(kink, kinks.aum_at(kink)),
        auc=_auc_curve(lines, path, end),
        variants=tuple(variants),
        n_crossings=None if path is None else len(path) - 1,
        auc_tol=tol,
    )


def _auc_at(lines: Lines, step: float) -> float:
    """Compute AUC at a step; rounding may separate lines that meet there."""
    bp = ErrorBreakpoints(np.arange(len(lines)), lines.intercept, lines.fp_diff, lines.fn_diff)
    return auc(bp, -step * lines.slope)


def _auc_curve(lines: Lines, path: StepPath | None, end: float) -> StepCurve:
    """Compute AUC from 0 to a largest step, at every crossing or at evenly spaced steps."""
    if path is None:
        n_samples = int(np.clip(_SAMPLING_BUDGET // len(lines), 20, _MAX_SAMPLES))
        step = np.linspace(0.0, end, n_samples)
        return StepCurve(step, np.array([_auc_at(lines, at) for at in step]))
    is_seen = path.step <= end
    after = path.auc_after[is_seen]
    before = np.concatenate((path.auc[:1], after[:-1]))
    # Each step has three points, since AUC at a crossing differs from that before and after.
    value = np.column_stack((before, path.auc[is_seen], after)).ravel()
    step = np.append(np.repeat(path.step[is_seen], 3), end)
    return _downsampled(step, np.append(value, value[-1]))


def _downsampled(step: NDArray[np.float64], value: NDArray[np.float64]) -> StepCurve:
    kept = extremes(step / step[-1], value)
    return StepCurve(step[kept], value[kept])


def extremes(
    place: NDArray[np.float64], value: NDArray[np.float64], n_bins: int = _N_BINS
) -> NDArray[np.intp]:
    """Select the points that determine a plotted curve: the extremes of narrow bins.

    ``place`` is increasing, from 0 to 1.
    """
    if value.size <= 4 * n_bins:
        return np.arange(value.size)
    bin_ = np.minimum((place * n_bins).astype(np.intp), n_bins - 1)
    edge = np.flatnonzero(np.diff(bin_, prepend=-1, append=n_bins))
    first, last = edge[:-1], edge[1:] - 1
    # The first and the last point preserve the lines between bins, and the extremes
    # preserve narrow peaks.
    order = np.lexsort((value, bin_))
    return np.unique(np.concatenate((first, last, order[first], order[last])))


def drawn_curve(name: str, fpr: NDArray[np.float64], tpr: NDArray[np.float64]) -> dict[str, Any]:
    """Return the points of a ROC curve and its name as HTML, for a script."""
    # Bins are along the curve rather than the FPR: a vertical segment would fall into one
    # bin, and the FPR may decrease along the curve of a changepoint problem.
    length = np.append(0.0, np.cumsum(np.abs(np.diff(fpr)) + np.abs(np.diff(tpr))))
    kept = extremes(length / (length[-1] or 1.0), tpr)
    # Plotly renders names as HTML.
    return {"name": escape(name, quote=False), "fpr": fpr[kept], "tpr": tpr[kept]}


def line_sample(lines: Lines, most: int) -> Lines:
    """Return a sample of lines to draw, stratified by the signs of their jumps.

    Sampled lines of each stratum are evenly spaced in the order at step 0. The sample is
    not random, so that the same lines always give the same page. Jumps are weighted to
    represent those of all lines.
    """
    if len(lines) <= most:
        return lines
    # An unstratified sample could miss a rare stratum, and with it all errors of one type.
    stratum = 3 * np.sign(lines.fp_diff) + np.sign(lines.fn_diff)
    order = np.lexsort((lines.intercept, stratum))
    places, factors = [], []
    for members in np.split(order, np.flatnonzero(np.diff(stratum[order])) + 1):
        n_chosen = max(1, int(most * members.size / len(lines)))
        # Centers of equal intervals represent both ends equally.
        middle = ((np.arange(n_chosen) + 0.5) * members.size / n_chosen).astype(int)
        places.append(members[middle])
        factors.append(np.full(n_chosen, members.size / n_chosen))
    place, factor = np.concatenate(places), np.concatenate(factors)
    jumps = lines.fp_diff[place] * factor, lines.fn_diff[place] * factor
    return Lines(lines.intercept[place], lines.slope[place], *jumps)
