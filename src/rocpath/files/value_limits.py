"""Values that each segment cost allows, which the C++ core declares."""

import numpy as np

import rocpath._core as _core

_COSTS = _core.segment_costs()
COST_NAMES = tuple(name for name in _COSTS if name != "multivariate_normal")


def value_limits(cost: str) -> tuple[float, float, str]:
    """Return the smallest and the largest value that the cost allows, and the rule as text."""
    own = "normal" if cost == "auto" else cost
    least, most = _COSTS[own]["least_x"], _COSTS[own]["most_x"]
    rule = "must not be negative" if least == 0 else f"must be at least {least:g}"
    rule = rule if np.isinf(most) else f"must be between {least:g} and {most:g}"
    return least, most, f"{rule} for cost={cost!r}"
