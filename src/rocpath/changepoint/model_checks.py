"""Checks whether segments of constant mean are a good model of a sequence."""

import numpy as np
from numpy.typing import ArrayLike

from rocpath.changepoint.cost_choice import cost_choice
from rocpath.changepoint.cost_properties import COSTS
from rocpath.changepoint.observations import observed
from rocpath.changepoint.penalty_default import PenaltyChoice
from rocpath.changepoint.residual_models import ResidualModel, model_of_changes
from rocpath.changepoint.search import checked_sequence
from rocpath.changepoint.seasons import dominant_period
from rocpath.changepoint.segment_costs import SegmentCost
from rocpath.changepoint.segmentation_results import Segmentation
from rocpath.validation import Floats

_MIN_OBSERVATIONS = 50
# Other costs are not fitted to longer sequences, because lines take quadratic time.
_MOST_COMPARED = 20_000
# Smallest size of an oscillation (seasons.dominant_period) of the residuals, and of a sequence
# with at least one change per period. One of 240 simulated sequences of steps in noise has a larger
# one by chance (benchmarks/accuracy/default_penalty.py checks).
_SEASON = 0.35
_FOLLOWED_SEASON = 0.5
_VISIBLE_SEASON = 0.2  # smallest size of any oscillation of a sequence with a season
_CHANCE = 4.0  # smallest size in the residuals, in units of 1 / sqrt(effective observations)
# Residuals beyond this multiple of their median absolute value are outliers: five standard
# deviations of normal noise, for which the probability is 6e-7.
_OUTLIER = 5 / 0.6745
_FEWEST_OUTLIERS = 3
_MOST_OUTLIERS = 0.002  # fraction of observations
_MOST_SPIKES = 0.2  # fraction of segments with one or two observations
# A cost is recommended if its description length per observation is smaller by this margin.
_MARGIN = 0.05


def model_warnings(
    x: Floats,
    best: Segmentation,
    choice: PenaltyChoice,
    *,
    cost: SegmentCost,
    weights: ArrayLike | None = None,
) -> tuple[str, ...]:
    """Return a sentence that describes the most important defect of the model, if any."""
    values, _, index = observed("x", x, weights)
    properties = COSTS[cost]
    if values.ndim == 2 or properties.power != 2 or len(values) < _MIN_OBSERVATIONS:
        return ()
    if values.min() == values.max():
        return ()
    sequence = checked_sequence(x, weights, cost=cost)
    at = best.changes if index is None else np.searchsorted(index, best.changes)
    model = model_of_changes(sequence, at)
    own = model.description_length(cost, sequence.threshold * (1 - 1e-9))
    texts = (
        _season(values, model),
        "" if properties.is_robust else _spikes(model),
        _trend(x, model.n_changes, own, cost, weights),
        _walk(values, own),
        _many_changes(choice),
    )
    return tuple(text for text in texts if text)[:1]


def _walk(values: Floats, own: float) -> str:
    """Describe a sequence whose differences are easier to describe than its segments."""
    n, variance = values.size, max(float(np.diff(values).var()), np.finfo(float).tiny)
    if n * np.log(variance) >= own - np.log(n):
        return ""
    return (
        "the sequence resembles a random walk, whose levels are not segments: consider its "
        "differences, or label changes to learn the penalty"
    )


def _many_changes(choice: PenaltyChoice) -> str:
    if choice.alternative is None:
        return ""
    return (
        f"a model with {choice.n_changes:,} changes describes the sequence better, but resembles "
        f"a curve rather than levels: pass penalty={choice.alternative:.4g} to use it"
    )


def _season(values: Floats, model: ResidualModel) -> str:
    """Describe a pattern in the residuals, or one that the changes follow."""
    period = _period(values, model)
    if not period:
        return ""
    return (
        f"the sequence has a pattern with a period of {period} observations, which segments do "
        f"not describe: pass period={period}"
    )


def _period(values: Floats, model: ResidualModel) -> int:
    period, size = dominant_period(model.residual)
    # Autocorrelated noise oscillates by chance.
    n_effective = values.size * (1 - model.correlation) / (1 + model.correlation)
    is_season = size >= max(_SEASON, _CHANCE / np.sqrt(n_effective))
    own = period
    period, size = dominant_period(values)
    # The segments of a trend have residuals like the teeth of a saw.
    if is_season and size >= _VISIBLE_SEASON:
        return own
    follows = period > 0 and model.n_changes >= values.size / period
    return period if follows and size >= _FOLLOWED_SEASON else 0


def _spikes(model: ResidualModel) -> str:
    """Describe outliers, or segments that consist of outliers."""
    is_short = model.length <= 2
    has_spikes = is_short.sum() >= _FEWEST_OUTLIERS and is_short.mean() >= _MOST_SPIKES
    size = np.abs(model.residual)
    # Most residuals of rounded values may be zero.
    scale = max(float(np.median(size)), 0.1 * float(np.sqrt(model.variance)))
    n_outliers = np.count_nonzero(size > _OUTLIER * scale)
    if not has_spikes and n_outliers < max(_FEWEST_OUTLIERS, _MOST_OUTLIERS * size.size):
        return ""
    return (
        "the sequence has spikes or heavy tails, which change the means of segments: pass "
        "cost='biweight'"
    )


def _trend(
    x: Floats, n_changes: int, own: float, cost: SegmentCost, weights: ArrayLike | None
) -> str:
    """Recommend lines if they describe the sequence better with no more changes."""
    n = np.size(x)
    if cost != "normal" or n > _MOST_COMPARED:
        return ""
    best = cost_choice(x, "linear", weights)
    if best.n_changes > n_changes or best.description_length > own / n - _MARGIN:
        return ""
    return (
        f"the sequence has trends, which lines with {best.n_changes:,} instead of {n_changes:,} "
        "changes describe better: pass cost='linear'"
    )
