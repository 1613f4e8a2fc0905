"""Properties of the segment costs, which the C++ core declares."""

from dataclasses import dataclass
from typing import Any

import numpy as np

import rocpath._core as _core


@dataclass(frozen=True, slots=True)
class CostProperties:
    """Properties of a segment cost; `cpp/changepoint/settings.hpp` describes them."""

    is_homogeneous: bool
    power: int
    n_parameters: int
    deviance_unit: float
    has_unit: bool
    is_shift_invariant: bool
    least_x: float
    most_x: float
    variance: tuple[float, float, float]
    threshold: float
    uses_time: bool
    min_length: int
    allows_columns: bool
    allows_constraint: bool

    @property
    def is_likelihood(self) -> bool:
        """Whether the variance of an observation is a function of its mean."""
        return any(self.variance)

    @property
    def is_robust(self) -> bool:
        """Whether the effect of an outlier on the center is bounded."""
        return self.threshold > 0

    def variance_of_mean(self, mean: Any) -> Any:
        """Return the variance of an observation of weight 1 with this mean."""
        return np.polynomial.polynomial.polyval(mean, self.variance)

    def penalty_factor(self, n_columns: int = 1) -> float:
        """Return the multiple of noise variance and log n that a change must save.

        A change adds a position and the parameters of a segment, and each parameter
        must reduce the deviance by log n.
        """
        return (self.n_parameters * n_columns + 1) * self.deviance_unit


COSTS = {name: CostProperties(**own) for name, own in _core.segment_costs().items()}
