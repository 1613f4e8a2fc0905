"""Choice between levels, lines and levels with outliers."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rocpath.changepoint.observations import observed
from rocpath.changepoint.penalty_default import PenaltyChoice, choose_penalty
from rocpath.changepoint.residual_models import residual_model
from rocpath.changepoint.search import checked_sequence
from rocpath.changepoint.segment_costs import DetectionCost, SegmentCost

CANDIDATES: tuple[SegmentCost, ...] = ("normal", "linear", "biweight")
# Of the costs whose description length per observation exceeds the smallest one by at most this
# margin, the one with the fewest changes is chosen. On 16 annotated series, the mean covering was
# .71 without a margin, .72 with .2 and .73 with .5; with .5, that of simulated steps decreased
# from .99 to .91. `benchmarks/accuracy/default_penalty.py auto` prints the results with .2.
_MARGIN = 0.2
_MIN_OBSERVATIONS = 20  # shorter sequences have too few residuals to compare costs


class CostChoice(NamedTuple):
    """A cost, its default penalty, and its number of changes."""

    cost: SegmentCost
    penalty: PenaltyChoice
    n_changes: int
    description_length: float  # per observation


def choose_cost(x: ArrayLike, *, weights: ArrayLike | None = None) -> CostChoice:
    """Return the cost with the fewest changes among those that describe x well."""
    values, _, _ = observed("x", x, weights)
    is_plain = values.ndim == 2 or len(values) < _MIN_OBSERVATIONS
    if is_plain or values.min() == values.max():
        return CostChoice("normal", choose_penalty(x, weights=weights), 0, 0.0)
    choices = [cost_choice(x, cost, weights) for cost in CANDIDATES]
    limit = min(one.description_length for one in choices) + _MARGIN
    possible = [one for one in choices if one.description_length <= limit]
    return min(possible, key=lambda one: (one.n_changes, one.description_length))


def cost_choice(x: ArrayLike, cost: SegmentCost, weights: ArrayLike | None) -> CostChoice:
    """Return the default penalty of a cost, and a description of its model."""
    choice = choose_penalty(x, cost=cost, weights=weights)
    sequence = checked_sequence(x, weights, cost=cost)
    model = residual_model(sequence, choice.penalty)
    # The threshold applies to the clipped residuals, which may be rounded.
    length = model.description_length(cost, sequence.threshold * (1 - 1e-9))
    return CostChoice(cost, choice, model.n_changes, length / np.size(model.residual))


def resolved_cost(x: ArrayLike, cost: DetectionCost, weights: ArrayLike | None) -> SegmentCost:
    """Return the cost, or the one that "auto" chooses."""
    return choose_cost(x, weights=weights).cost if cost == "auto" else cost
