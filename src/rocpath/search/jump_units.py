"""Jumps of error functions as integer multiples of a unit."""

import numpy as np
from numpy.typing import NDArray

from rocpath import _core
from rocpath.validation import Floats, read_only

# Bound on the sum of jumps that keeps its products in the range of float64.
LARGEST_JUMPS = 1e100


def multiples_and_total(diff: Floats, total: float | None) -> tuple[NDArray[np.int64], int]:
    """Return jumps and their divisor as integer multiples of one unit."""
    if total is None:
        count, _ = _core.in_units(diff)
        return count, int(count.sum())
    # The total is usually a multiple of the unit of the jumps.
    count, _ = _core.in_units(np.append(diff, total))
    return read_only(count[:-1]), int(count[-1])


def unit_multiples(name: str, diff: Floats) -> tuple[NDArray[np.int64], float]:
    """Return jumps as integer multiples of a unit, or raise if precision is lost."""
    size = np.abs(diff)
    total = size.sum()
    if not total < LARGEST_JUMPS:
        raise ValueError(
            f"{name} must sum to less than {LARGEST_JUMPS:g} in absolute value, got {total}."
        )
    count, unit = _core.in_units(diff)
    # A jump of fewer than 2**20 units would keep at most six digits after rounding.
    is_lost = (np.abs(count) < 2**20) & (count * unit != diff)
    if is_lost.any():
        worst = is_lost.argmax()
        raise ValueError(
            f"{name} has too large a dynamic range: {diff[worst]} at index {worst} is "
            f"lost in a sum of {total}. Remove the entry or make it larger."
        )
    return count, unit
