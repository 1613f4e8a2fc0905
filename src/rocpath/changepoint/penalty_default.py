"""Penalties and noise estimates for sequences without labels."""

from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rocpath.changepoint.cost_properties import COSTS
from rocpath.changepoint.observations import difference_variance, observed, variance
from rocpath.changepoint.search import (
    CheckedSequence,
    check_observations,
    checked_sequence,
    core_name,
    fit,
    search,
)
from rocpath.changepoint.segment_costs import SegmentCost
from rocpath.validation import one_of

_MIN_OBSERVATIONS = 20  # needed to estimate the autocorrelation of the residuals
_STEP = 1.25  # largest factor by which one step increases the penalty
# If the penalty that the residuals imply is larger by more than this factor, two steps
# are taken at once, because the model in between would imply at least as large a penalty.
# For noise with autocorrelation .9, this takes 9 instead of 15 segmentations.
_FAR = 2.0
_LARGEST_CORRELATION = 0.98
_CRITERION_MARGIN = 10.0  # smallest relevant difference, in units of log n
# Segments of at most this total weight are treated as spikes if there are several and they
# are a large share of all segments. Without this rule, a server metric that is 0 except in
# bursts had 175 changes instead of 69, and the mean covering of sequences with t3 noise was
# .84 instead of .86 (benchmarks/accuracy/default_penalty.py).
_SPIKE_WEIGHT = 2.0
_FEWEST_SPIKES = 5
_SPIKE_SHARE = 0.25


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

    With d columns, the penalty is (d + 1) log n times the mean noise variance of the
    columns, which should have about the same noise; for ``cost="mean_variance"``,
    which has no unit, it is (2 d + 1) log n.

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
    one_of("cost", cost, get_args(SegmentCost))
    values, weight, _ = observed("x", x, weights)
    n = len(values)
    if n < 2:
        return 0.0
    check_observations("x", values, cost)
    if COSTS[core_name(values, cost)].allows_columns:
        return _penalty_of_columns(values.reshape(n, -1), cost, weight)
    log_n = float(np.log(n))
    sequence = checked_sequence(values, weight, cost=cost)
    values = sequence.x
    properties = COSTS[cost]
    factor = properties.penalty_factor()
    unit, least = 1.0, 0.0
    if properties.is_likelihood:
        unit, least = properties.variance_of_mean(float(np.average(values, weights=weight))), 1.0
    if values.min() == values.max():
        return 0.0
    if n < _MIN_OBSERVATIONS:
        return max(1.5 * variance(values, weight) / unit, least) * factor * log_n
    start = difference_variance(values, weight) / unit
    if properties.is_robust:
        # Robust costs limit the effect of outliers, which must not increase the penalty either.
        start = difference_variance(values, weight, least=0.0) or start
    if np.isfinite(properties.most_x):
        # The variance of a fraction is at most mean * (1 - mean), for any number of trials.
        start = min(start, float(weight.max()))
    penalty = max(start, least) * factor * log_n
    visited = [_model(sequence, penalty)]
    while True:
        penalty = visited[-1].penalty
        wanted = factor * log_n * max(visited[-1].long_run_variance, least)
        if wanted <= penalty:
            break
        step = _STEP**2 if wanted > _FAR * penalty else _STEP
        visited.append(_model(sequence, min(wanted, step * penalty)))
    best = min(visited, key=lambda one: one.criterion)
    is_better = best.criterion < visited[-1].criterion - _CRITERION_MARGIN * log_n
    return best.penalty if is_better else visited[-1].penalty


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


def _penalty_of_columns(x: NDArray[np.float64], cost: str, weight: NDArray[np.float64]) -> float:
    least = COSTS[cost].penalty_factor(x.shape[1]) * float(np.log(len(x)))
    if COSTS[cost].power == 0:
        return least
    noise = [noise_variance(column, weights=weight) for column in x.T]
    return least * float(np.mean(noise))


class _Model(NamedTuple):
    """The penalty of a segmentation, the noise of its residuals, and a criterion."""

    penalty: float
    long_run_variance: float
    criterion: float


def _model(sequence: CheckedSequence, penalty: float) -> _Model:
    """Segment the sequence, and estimate the noise of the residuals."""
    found = search(sequence, penalty=penalty)
    residual = _residuals(sequence, found)
    n, n_changes = residual.size, found["change"].size
    variance = float(residual @ residual) / n
    if variance == 0:
        return _Model(penalty, 0.0, -np.inf)
    lag = float(residual[:-1] @ residual[1:]) / (n * variance)
    # Subtracting means biases correlations of residuals toward negative values.
    correlation = lag + (1 + 3 * lag) * (n_changes + 1) / n
    correlation = float(np.clip(correlation, 0.0, _LARGEST_CORRELATION))
    # The criterion uses the uncorrected correlation, because it compares fits to the same data.
    innovation = variance * max(1 - lag**2, np.finfo(float).tiny)
    criterion = n * np.log(innovation) + 3 * n_changes * np.log(n)
    long_run = variance * (1 + correlation) / (1 - correlation)
    return _Model(penalty, long_run, float(criterion))


def _residuals(sequence: CheckedSequence, found: dict[str, Any]) -> NDArray[np.float64]:
    """Return the weighted residuals of a model, or Pearson residuals for likelihoods."""
    center = fit(sequence, **found)["mean"]
    x, weight = sequence.x, sequence.weight
    start = np.append(0, found["change"])
    length = np.diff(np.append(start, x.size))
    properties = COSTS[sequence.cost]
    if properties.uses_time:
        value, slope, time = np.repeat(center.reshape(-1, 3), length, axis=0).T
        return np.asarray(
            (x - sequence.origin - value - slope * (sequence.time - time)) * np.sqrt(weight)
        )
    # For likelihoods, Pearson residuals of spikes would depend on the surrounding level.
    if not properties.is_likelihood:
        center = _means_without_spikes(center, np.add.reduceat(weight, start))
    fitted = np.repeat(center + sequence.origin, length)
    residual = (x - fitted) * np.sqrt(weight)
    if properties.is_likelihood:
        # For Pearson residuals, a variance of 0 occurs only if all values of a segment are equal.
        expected = properties.variance_of_mean(fitted)
        residual = residual / np.sqrt(np.where(expected > 0, expected, 1.0))
    if properties.is_robust:
        residual = np.clip(residual, -sequence.threshold, sequence.threshold)
    return np.asarray(residual)


def _means_without_spikes(
    mean: NDArray[np.float64], weight: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Replace the mean of each spike by that of the previous (or first) longer segment."""
    is_short = weight <= _SPIKE_WEIGHT
    n_short = np.count_nonzero(is_short)
    if n_short < max(_FEWEST_SPIKES, _SPIKE_SHARE * mean.size) or n_short == mean.size:
        return mean
    longer = np.flatnonzero(~is_short)
    previous = np.searchsorted(longer, np.arange(mean.size), side="right") - 1
    return mean[longer[np.maximum(previous, 0)]]
