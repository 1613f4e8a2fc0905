"""Intercepts of a linear model: the constant with the fewest errors, safe from rounding."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rocpath.search.breakpoints import ErrorBreakpoints
from rocpath.search.roc import curve_errors, inside_interval, roc_curve
from rocpath.validation import Floats


def without_margin(bp: ErrorBreakpoints) -> ErrorBreakpoints:
    """Return the breakpoints of labels at zero, and other breakpoints unchanged."""
    is_negative = bp.jumps.fp != 0
    is_positive = bp.jumps.tp != 0
    is_once = (np.diff(bp.example) > 0).all() and not (is_negative & is_positive).any()
    if not (bp.is_monotone and is_once and bp.value.any()):
        return bp
    # Breakpoints of labels are at one position for each class.
    if any(np.ptp(bp.value[members]) > 0 for members in (is_negative, is_positive)):
        return bp
    return ErrorBreakpoints._with_jumps(bp.example, np.zeros(len(bp)), bp.jumps, bp.n_examples)


def without_empty(bp: ErrorBreakpoints) -> ErrorBreakpoints:
    """Drop breakpoints without a jump, such as those of examples with weight 0."""
    has_jump = (bp.jumps.fp != 0) | (bp.jumps.tp != 0)
    if has_jump.all():
        return bp

    def kept(column: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(column[has_jump])

    jumps = bp.jumps.mapped(kept, kept)
    return ErrorBreakpoints._with_jumps(kept(bp.example), kept(bp.value), jumps, bp.n_examples)


def fewest_errors_constant(bp: ErrorBreakpoints, predictions: Floats) -> float:
    """Find the constant that, added to all predictions, minimizes FP + FN."""
    # Breakpoints without a jump would separate intervals with the same errors.
    curve = roc_curve(without_empty(bp), predictions)
    low, high = curve.threshold.T
    errors = np.add(*curve_errors(bp, curve))
    largest_value = float(np.abs(bp.value).max())
    is_safe = exceeds_rounding(low, high, largest_value)
    return widest_best_interval(errors[is_safe], low[is_safe], high[is_safe])


def exceeds_rounding(low: Floats, high: Floats, largest_value: float) -> NDArray[np.bool_]:
    """Return whether rounding cannot move a prediction plus a constant across an end.

    The constant is the middle of the interval, and the ends are positions of breakpoints,
    up to the largest value, minus predictions.
    """
    largest = np.fmax(np.abs(np.where(np.isfinite(low), low, high)), np.abs(high))
    largest = np.where(np.isfinite(largest), largest, np.abs(low)) + largest_value
    return np.asarray(high - low > 2.0**-49 * largest)


def widest_best_interval(errors: Floats, low: Floats, high: Floats) -> float:
    """Return a constant inside the widest of the intervals with the fewest errors."""
    # Rates of equal errors may differ by rounding.
    is_best = errors <= errors.min() * (1 + 1e-12)
    low, high = low[is_best], high[is_best]
    # The widest interval is the safest; an unbounded one has no middle.
    width = np.where(np.isfinite(high - low), high - low, 2.0)
    widest = int(width.argmax())
    ends = float(low[widest]), float(high[widest])
    # The distance from the end of an unbounded interval must exceed rounding errors too.
    largest = max((abs(end) for end in ends if np.isfinite(end)), default=0.0)
    return inside_interval(*ends, beyond=max(1.0, 2.0**-40 * largest))
