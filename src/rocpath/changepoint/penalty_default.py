"""Penalties and noise estimates for sequences without labels."""

from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.changepoint.cost_properties import COSTS
from rocpath.changepoint.observations import difference_variance, observed, variance
from rocpath.changepoint.residual_models import ResidualModel, residual_model
from rocpath.changepoint.search import (
    CheckedSequence,
    check_observations,
    checked_sequence,
    core_name,
)
from rocpath.changepoint.segment_costs import SegmentCost
from rocpath.validation import one_of

_MIN_OBSERVATIONS = 20  # needed to estimate the autocorrelation of the residuals
_STEP = 1.25  # largest factor by which one step increases the penalty
# If the penalty that the residuals imply is larger by more than this factor, two steps
# are taken at once, because the model in between would imply at least as large a penalty.
# For noise with autocorrelation .9, this takes 9 instead of 15 segmentations.
_FAR = 2.0
_CRITERION_MARGIN = 10.0  # smallest relevant difference, in units of log n

# A model with many short segments is used if its description length per observation is smaller
# by at least this margin, and its residuals and levels have the properties below. In 40
# simulations each, the difference was .27 to .48 for levels of 10 and 15 observations that
# alternate by four standard deviations, and at most 0 for AR(.9) noise with and without changes.
_DENSE_MARGIN = 0.1
_FEWEST_DENSE = 10  # changes; levels of fewer cannot be distinguished from a trend
_MOST_DENSE_CORRELATION = 0.3  # real series that resemble random walks have .5 to .9
_MOST_SPIKES = 0.2  # fraction of segments with one or two observations; t3 noise has .24
# Fraction of neighboring changes in the same direction: 1 for a trend, about .9 for a daily
# pattern, 1/2 for random steps and 0 for alternating levels.
_MOST_MONOTONE = 0.7
_LEAST_CORRELATION = 0.15  # missed dense changes leave at least this autocorrelation
_SMALLEST_NOISE = 1 / 50  # smallest noise variance of the dense search, relative to the total


class PenaltyChoice(NamedTuple):
    """A default penalty, and another one that fits the sequence better but is less plausible."""

    penalty: float
    alternative: float | None = None
    n_changes: int = 0  # of the alternative


def default_penalty(
    x: ArrayLike, *, cost: SegmentCost = "normal", weights: ArrayLike | None = None
) -> float:
    """Estimate a penalty from the noise of a sequence, which may be autocorrelated.

    For normal cost, the penalty is 2 σ² log n, where σ² is the long-run variance of the
    noise: the variance of the residuals times (1 + ρ) / (1 - ρ), where ρ is their
    lag-one autocorrelation. Because residuals depend on the changes, the sequence is
    segmented repeatedly with increasing penalties, starting from a small one, until the
    penalty is at least as large as the one that the residuals imply. An earlier model
    is used if a criterion for first-order autoregressive noise indicates that the last
    one misses changes. For Poisson, exponential and binomial cost, the penalty is φ log n,
    where φ is the dispersion of the residuals, estimated in the same way and at least 1;
    for ``cost="variance"``, it is 2 φ log n, where φ is the dispersion of the squares.
    For robust costs, residuals are clipped at the threshold of the cost. For normal and
    robust costs, if many segments have only one or two observations, these are spikes
    rather than levels, and count as noise. With fewer than 20 observations, σ² and φ are
    1.5 times the variance and the dispersion around the mean of the sequence.

    With several columns, the penalty is 2 log n times the sum of their noise variances,
    each of which is at least the variance of the column. With ``cost="mean_variance"``,
    which has no unit, and d columns, it is (2 d + 1) log n.

    If levels change so often that they resemble autocorrelated noise, a smaller penalty
    is used, provided that its model describes the sequence much better.

    Parameters
    ----------
    x : array-like, shape (n,) or (n, d)
        The sequence; NaN marks missing observations.
    cost : str
        Cost of a segment, as for `segment`.
    weights : array-like, shape (n,), optional
        Weights of the observations, as for `segment`.

    Returns
    -------
    float
        Penalty per change; 0 for a constant sequence, which has no changes at any
        penalty.

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
    return choose_penalty(x, cost=cost, weights=weights).penalty


def choose_penalty(
    x: ArrayLike, *, cost: SegmentCost = "normal", weights: ArrayLike | None = None
) -> PenaltyChoice:
    """Return the default penalty, and an alternative with more changes if there is one."""
    one_of("cost", cost, get_args(SegmentCost))
    values, weight, _ = observed("x", x, weights)
    n = len(values)
    if n < 2:
        return PenaltyChoice(0.0)
    check_observations("x", values, cost)
    if COSTS[core_name(values, cost)].allows_columns:
        return PenaltyChoice(_penalty_of_columns(values.reshape(n, -1), cost, weight))
    sequence = checked_sequence(values, weight, cost=cost)
    values = sequence.x
    log_n = float(np.log(n))
    properties = COSTS[cost]
    factor = properties.penalty_factor() * log_n
    unit, least = 1.0, 0.0
    if properties.is_likelihood:
        unit, least = properties.variance_of_mean(float(np.average(values, weights=weight))), 1.0
    if values.min() == values.max():
        return PenaltyChoice(0.0)
    if n < _MIN_OBSERVATIONS:
        return PenaltyChoice(max(1.5 * variance(values, weight) / unit, least) * factor)
    start = difference_variance(values, weight) / unit
    if properties.is_robust:
        # Robust costs limit the effect of outliers, which must not increase the penalty either.
        start = difference_variance(values, weight, least=0.0) or start
    if np.isfinite(properties.most_x):
        # The variance of a fraction is at most mean * (1 - mean), for any number of trials.
        start = min(start, float(weight.max()))
    visited = _raised(sequence, max(start, least) * factor, factor, least)
    best = min(visited, key=lambda one: one.criterion)
    is_better = best.criterion < visited[-1].criterion - _CRITERION_MARGIN * log_n
    sparse = best if is_better else visited[-1]
    if cost != "normal" or sparse.lag < _LEAST_CORRELATION:
        return PenaltyChoice(sparse.penalty)
    noise = difference_variance(values, weight, least=_SMALLEST_NOISE, sizes=(1,))
    return _choice(sparse, _raised(sequence, noise * factor, factor)[-1])


def _raised(
    sequence: CheckedSequence, penalty: float, factor: float, least: float = 0.0
) -> list[ResidualModel]:
    """Increase the penalty until it is at least as large as the one that residuals imply."""
    visited = [residual_model(sequence, penalty)]
    while True:
        penalty = visited[-1].penalty
        wanted = factor * max(visited[-1].long_run_variance, least)
        if wanted <= penalty:
            return visited
        step = _STEP**2 if wanted > _FAR * penalty else _STEP
        visited.append(residual_model(sequence, min(wanted, step * penalty)))


def _choice(sparse: ResidualModel, dense: ResidualModel) -> PenaltyChoice:
    """Choose between a model of few changes and one of many changes."""
    if dense.n_changes <= sparse.n_changes:
        return PenaltyChoice(sparse.penalty)
    n = dense.residual.size
    gain = sparse.description_length("normal", 0.0) - dense.description_length("normal", 0.0)
    if not gain > _DENSE_MARGIN * n:
        return PenaltyChoice(sparse.penalty)
    if _has_levels(dense):
        return PenaltyChoice(dense.penalty)
    return PenaltyChoice(sparse.penalty, dense.penalty, dense.n_changes)


def _has_levels(model: ResidualModel) -> bool:
    """Return whether segments are levels with independent noise, rather than parts of a curve."""
    return (
        model.n_changes >= _FEWEST_DENSE
        and abs(model.lag) <= _MOST_DENSE_CORRELATION
        and bool(np.mean(model.length <= 2) <= _MOST_SPIKES)
        and model.monotone_share <= _MOST_MONOTONE
    )


def noise_variance(x: ArrayLike, *, weights: ArrayLike | None = None) -> float:
    """Return the long-run variance of the noise, as `default_penalty` estimates it.

    With fewer than 20 observations, it is estimated from differences of neighboring
    observations, and is at least an eighth of the total variance.
    """
    values, weight, _ = observed("x", x, weights)
    n = values.size
    if n >= _MIN_OBSERVATIONS:
        return default_penalty(x, weights=weights) / (2.0 * float(np.log(n)))
    return difference_variance(values, weight) if n > 1 else 0.0


def column_noise(x: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the noise variance of each column, which is at least its total variance.

    With several columns, the other columns show a change that one of them may hide. So
    noise that is too large does less harm than noise that is too small, as that of slow
    drifts and of rounded values. Sequences with eight such columns had a mean covering of
    .92 with this rule, and of .74 and .65 with penalties of 3 d log n and 2 d log n on
    z-scores (benchmarks/accuracy/default_penalty.py columns).
    """
    noise = [noise_variance(column, weights=weight) for column in x.T]
    return np.maximum(noise, [variance(column, weight) for column in x.T])


def noise_scaled(
    x: NDArray[np.float64], weights: ArrayLike | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the columns centered and scaled by their noise, the medians and the scales.

    A one-dimensional sequence is returned unchanged.
    """
    if x.ndim == 1:
        return x, np.zeros(1), np.ones(1)
    value, weight, _ = observed("x", x, weights)
    noise = column_noise(value, weight)
    unit = np.sqrt(np.where(noise > 0, noise, 1.0))
    median = np.median(value, axis=0)
    return (x - median) / unit, median, unit


def _penalty_of_columns(x: NDArray[np.float64], cost: str, weight: NDArray[np.float64]) -> float:
    log_n = float(np.log(len(x)))
    if COSTS[cost].power == 0:
        return COSTS[cost].penalty_factor(x.shape[1]) * log_n
    # Noise of correlated columns adds up, so each column counts as much as a sequence.
    return COSTS[cost].penalty_factor() * log_n * float(column_noise(x, weight).sum())
