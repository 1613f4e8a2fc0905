"""Jumps of error functions as integer multiples of a unit."""

import numpy as np
from numpy.typing import NDArray

from rocpath import _core
from rocpath.validation import Floats, read_only

# Bound on the sum of jumps that keeps its products in the range of float64.
LARGEST_JUMPS = 1e100


# Largest relative change of a jump by the rounding to a multiple of the unit.
_LARGEST_CHANGE = 2.0**-50


def multiples_and_total(
    name: str, diff: Floats, total: float | None
) -> tuple[NDArray[np.int64], int]:
    """Return jumps and their divisor as integer multiples of one unit, or raise."""
    if total is None:
        count, _ = unit_multiples(name, diff)
        return count, int(count.sum())
    # The total is usually a multiple of the unit of the jumps.
    count, _ = unit_multiples(name, np.append(diff, total))
    return read_only(count[:-1]), int(count[-1])


def unit_multiples(name: str, diff: Floats) -> tuple[NDArray[np.int64], float]:
    """Return jumps as integer multiples of a unit, or raise if precision is lost."""
    total = _checked_total(name, diff)
    count, unit = _core.in_units(diff)
    size = np.abs(diff)
    is_lost = np.abs(count * unit - diff) > _LARGEST_CHANGE * size
    if is_lost.any():
        smallest = size[is_lost].min()
        raise ValueError(
            f"{name} has too large a dynamic range: {smallest} has digits below {unit:g}, the "
            f"smallest unit for a sum of {total}, which is {total / smallest:.3g} times as "
            f"large. Round {name} to multiples of {unit:g}, or give sample_weight to "
            "ErrorBreakpoints.from_labels, which does so."
        )
    return count, unit


def rounded_to_unit(name: str, weight: Floats) -> Floats:
    """Round weights to multiples of a unit, or raise if precision is lost.

    Most weights are multiples of a unit already. Otherwise, it is at most ``2**-60`` of
    their sum.
    """
    total = _checked_total(name, weight)
    count, unit = _core.in_units(weight)
    rounded = count * unit
    # A weight of fewer than 2**20 units would keep at most six digits after rounding.
    is_lost = (np.abs(count) < 2**20) & (rounded != weight)
    if is_lost.any():
        worst = is_lost.argmax()
        raise ValueError(
            f"{name} has too large a dynamic range: {weight[worst]} at index {worst} is "
            f"lost in a sum of {total}. Remove the entry or make it larger."
        )
    return np.asarray(rounded)


def _checked_total(name: str, diff: Floats) -> float:
    total = float(np.abs(diff).sum())
    if not total < LARGEST_JUMPS:
        raise ValueError(
            f"{name} must sum to less than {LARGEST_JUMPS:g} in absolute value, got {total}."
        )
    return total
