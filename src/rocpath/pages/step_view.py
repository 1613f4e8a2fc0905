"""What there is to see of a line search: curves for drawing, and the marked steps."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rocpath.breakpoints import ErrorBreakpoints
from rocpath.line_search import aum_path, best_auc_step, sweep
from rocpath.lines import Lines
from rocpath.roc import auc

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocpath.search_results import AUMPath, StepPath

_MOST_SWEPT = 2_000  # lines, so at most two million crossings
_N_BINS = 500  # each drawn with its first, smallest, largest and last value
_SAMPLING_BUDGET = 30_000_000  # lines times steps
_MOST_SAMPLES = 400
_MOST_CERTIFIED = 20_000  # lines; of more, the best AUC is known up to a tolerance
_TOLERANCE = 1e-4
_MARGIN = 1.25  # of the largest marked step, to be in view


class StepVariant(NamedTuple):
    """A way to choose the step, the step it takes, and the areas there."""

    name: str
    step: float
    aum: float
    auc: float


class Curve(NamedTuple):
    """Points of a function of the step, joined by straight lines."""

    step: NDArray[np.float64]
    value: NDArray[np.float64]


class LineSample(NamedTuple):
    """Lines to draw, whose jumps stand for all; the sums need not be possible ones."""

    intercept: NDArray[np.float64]
    slope: NDArray[np.float64]
    fp_diff: NDArray[np.float64]
    fn_diff: NDArray[np.float64]


class StepView(NamedTuple):
    """AUM and AUC from step 0 to a largest, thinned for drawing, exact at the points.

    Where AUC jumps, a step comes several times: with the value before, at and after.
    """

    max_step: float
    aum: Curve
    auc: Curve
    variants: tuple[StepVariant, ...]  # first min, linear, best AUM and best AUC
    n_crossings: int | None  # steps with crossings in view; None if AUC was sampled
    auc_tol: float  # how far the largest AUC of all may be above that of best AUC


def step_view(lines: Lines, *, max_step: float | None = None) -> StepView:
    """Compute the curves of a line search and where its variants stop.

    Up to 2,000 lines every crossing is visited; of more lines AUC is computed at evenly
    spaced steps, and of more than 20,000 the best AUC is found up to 0.0001. Without a
    largest step the view ends a quarter beyond the largest variant's.

    Examples
    --------
    >>> import rocpath as rp
    >>> from rocpath.pages.step_view import step_view
    >>> bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    >>> lines = rp.Lines.from_predictions(bp, [-7, -2, 0, -4], [0, -0.5, 0, 0.5])
    >>> view = step_view(lines, max_step=4.0)
    >>> [(one.name, one.aum, one.auc) for one in view.variants[:2]]
    [('first min', 0.0, 1.0), ('linear', 0.0, 0.875)]
    """
    if max_step is not None and not max_step > 0:
        raise ValueError(f"max_step must be above 0 to show steps, got {max_step}.")
    kinks = aum_path(lines, max_step=max_step)
    first_crossings = sweep(lines, max_crossings=len(lines), max_step=max_step)
    tol = 0.0 if len(lines) <= _MOST_CERTIFIED else _TOLERANCE
    steps = {
        "first min": kinks.first_min.step,
        "linear": float(first_crossings.step[first_crossings.aum.argmin()]),
        "best AUM": kinks.global_min.step,
        "best AUC": best_auc_step(lines, max_step=max_step, tol=tol).step,
    }
    end = max_step
    # All variants may stay at step 0, where the last kink or else 1 gives a view.
    if end is None or not np.isfinite(end):
        end = _MARGIN * max(steps.values()) or _MARGIN * float(kinks.step[-1]) or 1.0
    path = sweep(lines, max_step=end) if len(lines) <= _MOST_SWEPT else None
    variants = []
    for name, step in steps.items():
        area = _auc_at(lines, step) if path is None else float(path.auc_at(step))
        variants.append(StepVariant(name, step, float(kinks.aum_at(step)), area))
    return StepView(
        max_step=end,
        aum=_aum_curve(kinks, end),
        auc=_sampled_auc(lines, end) if path is None else _auc_curve(path, end),
        variants=tuple(variants),
        n_crossings=None if path is None else len(path) - 1,
        auc_tol=tol,
    )


def _auc_at(lines: Lines, step: float) -> float:
    """Compute AUC at a step; lines that meet there may be told apart by rounding."""
    bp = ErrorBreakpoints(np.arange(len(lines)), lines.intercept, lines.fp_diff, lines.fn_diff)
    return auc(bp, -step * lines.slope)


def _aum_curve(kinks: AUMPath, end: float) -> Curve:
    step = np.append(kinks.step[kinks.step < end], end)
    value = kinks.aum_at(step)
    kept = extremes(step / end, value)
    return Curve(step[kept], value[kept])


def _auc_curve(path: StepPath, end: float) -> Curve:
    is_seen = path.step <= end
    step = path.step[is_seen]
    after = path.auc_after[is_seen]
    before = np.concatenate((path.auc[:1], after[:-1]))
    # Three points at each step: AUC at a crossing is neither that before nor after.
    value = np.column_stack((before, path.auc[is_seen], after)).ravel()
    step, value = np.append(np.repeat(step, 3), end), np.append(value, value[-1])
    kept = extremes(step / end, value)
    return Curve(step[kept], value[kept])


def extremes(
    place: NDArray[np.float64], value: NDArray[np.float64], n_bins: int = _N_BINS
) -> NDArray[np.intp]:
    """Choose points that look the same when drawn: the extremes of narrow bins.

    Places increase from 0 to 1.
    """
    if value.size <= 4 * n_bins:
        return np.arange(value.size)
    edges = np.searchsorted(place, np.linspace(0, 1, n_bins + 1)[1:-1])
    kept = {0, value.size - 1}
    # With the first and last of a bin the line into it and out of it stays; with the
    # extremes no peak is lost, however narrow.
    for part in np.split(np.arange(value.size), edges):
        if part.size:
            kept |= {part[0], part[-1]}
            kept |= {part[value[part].argmin()], part[value[part].argmax()]}
    return np.array(sorted(kept))


def along_curve(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.intp]:
    """Choose points of a curve that rises, runs straight, or even turns back."""
    # By its length and not by x, of which a straight rise has one value: all of it
    # would fall into one bin, and a loop would be cut off.
    length = np.append(0.0, np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y))))
    return extremes(length / (length[-1] or 1.0), y)


def drawn_curve(name: str, fpr: NDArray[np.float64], tpr: NDArray[np.float64]) -> dict[str, Any]:
    """Return a ROC curve for a script, thinned, with a name as HTML."""
    kept = along_curve(fpr, tpr)
    # Plotly reads the names as HTML.
    return {"name": escape(name, quote=False), "fpr": fpr[kept], "tpr": tpr[kept]}


def _sampled_auc(lines: Lines, end: float) -> Curve:
    n_samples = int(np.clip(_SAMPLING_BUDGET // len(lines), 20, _MOST_SAMPLES))
    step = np.linspace(0.0, end, n_samples)
    return Curve(step, np.array([_auc_at(lines, at) for at in step]))


def line_sample(lines: Lines, most: int) -> LineSample:
    """Choose lines to draw: of each kind of jump its share, if there are too many.

    Of each kind, lines evenly spaced in the order at step 0 are chosen. The same lines
    give the same answer.
    """
    # Without chance, a page made twice is the same file.
    columns = lines.intercept, lines.slope, lines.fp_diff, lines.fn_diff
    if len(lines) <= most:
        return LineSample(*columns)
    # A rare kind would otherwise vanish, and with it all errors of one sort.
    kind = 3 * np.sign(lines.fp_diff) + np.sign(lines.fn_diff)
    chosen, stands_for = [], []
    for one, count in zip(*np.unique(kind, return_counts=True), strict=True):
        members = np.flatnonzero(kind == one)
        members = members[np.argsort(lines.intercept[members], kind="stable")]
        n_chosen = max(1, int(most * count / len(lines)))
        # The middles of equal parts, so that both ends count alike.
        places = ((np.arange(n_chosen) + 0.5) * count / n_chosen).astype(int)
        chosen.append(members[places])
        stands_for.append(np.full(n_chosen, count / n_chosen))
    place, factor = np.concatenate(chosen), np.concatenate(stands_for)
    intercept, slope, fp_diff, fn_diff = (column[place] for column in columns)
    return LineSample(intercept, slope, fp_diff * factor, fn_diff * factor)
