"""A penalty to begin with, where there are no labels to learn one from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rocpath.arguments import finite_vector, one_of, same_length
from rocpath.changepoint.segmentation_passes import COSTS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rocpath.changepoint.segmentation import SegmentCost

# The median of the absolute value of a standard normal variable.
_NORMAL_MEDIAN = 0.6744897501960817


def default_penalty(
    x: ArrayLike, *, cost: SegmentCost = "normal", weights: ArrayLike | None = None
) -> float:
    """Estimate a penalty from the noise of a sequence: Schwarz's criterion.

    A change has two parameters, its place and a mean, and each costs log n in twice the
    log likelihood. So the penalty is 2 σ² log n for normal cost, and φ log n for
    Poisson cost, where φ is the variance as a multiple of the mean, from 1 up. The
    noise σ is measured by differences of neighbors, which changes hardly touch:

        σ = median(abs(x[t + 1] - x[t])) / (0.6745 √2),

    each difference divided by √(1 / w[t] + 1 / w[t + 1]) in place of √2 where there are
    weights w, and the median replaced by the mean where it is 0. Noise that is not
    independent from one observation to the next needs a larger penalty.

    Parameters
    ----------
    x : array-like, shape (n,)
        The sequence.
    cost : {"normal", "poisson"}
        As for `segment`.
    weights : array-like, shape (n,), optional
        As for `segment`.

    Returns
    -------
    float
        0 for a constant sequence, in which no penalty finds a change.

    Examples
    --------
    >>> import numpy as np
    >>> from rocpath import changepoint as cp
    >>> rng = np.random.default_rng(0)
    >>> x = np.repeat([0.0, 5.0, 1.0], 100) + rng.normal(size=300)
    >>> penalty = cp.default_penalty(x)
    >>> cp.segment_penalty(x, penalty).changes.tolist()
    [100, 200]
    """
    one_of("cost", cost, tuple(COSTS))
    values = finite_vector("x", x)
    weight = np.ones(values.size)
    if weights is not None:
        weight = finite_vector("weights", weights)
        same_length(x=values, weights=weight)
    if values.size < 2:
        return 0.0
    log_n = float(np.log(values.size))
    variance = _noise(values, weight) ** 2
    if cost == "normal":
        return 2 * variance * log_n
    mean = float(np.average(values, weights=weight))
    return max(1.0, variance / mean) * log_n if mean > 0 else 0.0


def _noise(x: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """Return the standard deviation of an observation of weight 1."""
    spread = np.sqrt(1 / weight[:-1] + 1 / weight[1:])
    size = np.abs(np.diff(x)) / spread
    middle = float(np.median(size)) / _NORMAL_MEDIAN
    # Of counts and rounded values more than half of the neighbors may be equal.
    return middle or float(size.mean()) * np.sqrt(np.pi / 2)
