"""Residuals of segmentations: their noise, and criteria that compare segmentations."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from rocpath.changepoint.cost_properties import COSTS
from rocpath.changepoint.search import CheckedSequence, fit, search
from rocpath.validation import Floats

LARGEST_CORRELATION = 0.98
# Segments of at most this total weight are treated as spikes if there are several and they
# are a large share of all segments. Without this rule, a server metric that is 0 except in
# bursts had 175 changes instead of 69, and the mean covering of sequences with t3 noise was
# .84 instead of .86 (benchmarks/accuracy/default_penalty.py).
_SPIKE_WEIGHT = 2.0
_FEWEST_SPIKES = 5
_SPIKE_SHARE = 0.25


class ResidualModel(NamedTuple):
    """A segmentation for one penalty, and the noise of its residuals."""

    penalty: float
    found: dict[str, Any]  # changes, as the core returns them
    residual: NDArray[np.float64]
    variance: float
    lag: float  # lag-one autocorrelation
    center: NDArray[np.float64]  # of each segment

    @property
    def n_changes(self) -> int:
        """Number of changes."""
        return int(self.found["change"].size)

    @property
    def length(self) -> NDArray[np.int64]:
        """Number of observations of each segment."""
        return np.diff([0, *self.found["change"], self.residual.size])

    @property
    def monotone_share(self) -> float:
        """Fraction of neighboring changes of the mean in the same direction."""
        direction = np.sign(np.diff(self.center))
        return float(np.mean(direction[1:] == direction[:-1])) if direction.size > 1 else 0.0

    @property
    def correlation(self) -> float:
        """Autocorrelation, corrected for the bias of residuals toward negative values."""
        bias = (1 + 3 * self.lag) * (self.n_changes + 1) / self.residual.size
        return float(np.clip(self.lag + bias, 0.0, LARGEST_CORRELATION))

    @property
    def long_run_variance(self) -> float:
        """Variance of a sum of residuals divided by their number."""
        return self.variance * (1 + self.correlation) / (1 - self.correlation)

    @property
    def log_innovation(self) -> float:
        """Log variance of the innovations of first-order autoregressive noise.

        The uncorrected correlation is used, because criteria compare fits to the same data.
        """
        if self.variance == 0:
            return -np.inf
        return float(np.log(self.variance * max(1 - self.lag**2, np.finfo(float).tiny)))

    @property
    def criterion(self) -> float:
        """Criterion with a cost of 3 log n per change, for models of one path of penalties."""
        n = self.residual.size
        return n * self.log_innovation + 3 * self.n_changes * float(np.log(n))

    def description_length(self, cost: str, threshold: float) -> float:
        """Criterion for models of different costs and very different numbers of changes.

        Minus twice the log-likelihood of first-order autoregressive or independent noise,
        plus the lengths of codes of the parameters: 2 log C(n - 1, k) for the k positions,
        log n_j for each parameter of a segment with n_j observations, and 2 log n for each
        outlier of a robust cost. Unlike k log n, the length for the positions admits many
        changes.
        """
        n, k = self.residual.size, self.n_changes
        if self.variance == 0:
            return -np.inf
        positions = 2 * (gammaln(n) - gammaln(k + 1) - gammaln(n - k))
        parameters = COSTS[cost].n_parameters * np.log(self.length).sum()
        is_outlier = np.abs(self.residual) >= threshold if COSTS[cost].is_robust else False
        outliers = 2 * np.count_nonzero(is_outlier) * np.log(n)
        independent = n * np.log(self.variance)
        autoregressive = n * self.log_innovation + np.log(n)
        return float(min(independent, autoregressive) + positions + parameters + outliers)


def residual_model(sequence: CheckedSequence, penalty: float) -> ResidualModel:
    """Segment the sequence, and estimate the noise of the residuals."""
    found = search(sequence, penalty=penalty, min_length=COSTS[sequence.cost].min_length)
    return _model_of(sequence, found, penalty)


def model_of_changes(sequence: CheckedSequence, changes: NDArray[np.int64]) -> ResidualModel:
    """Estimate the noise of the residuals for given changes."""
    change = changes.astype(np.int32)
    found = {"change": change, "is_tied": np.zeros_like(change)}
    found["n_changes"] = np.array([change.size])
    return _model_of(sequence, found, np.nan)


def _model_of(sequence: CheckedSequence, found: dict[str, Any], penalty: float) -> ResidualModel:
    center = fit(sequence, **found)["mean"]
    residual = residuals(sequence, found, center)
    variance = float(residual @ residual) / residual.size
    lag = float(residual[:-1] @ residual[1:]) / (residual.size * variance) if variance else 0.0
    return ResidualModel(penalty, found, residual, variance, lag, center)


def residuals(sequence: CheckedSequence, found: dict[str, Any], center: Floats) -> Floats:
    """Return the weighted residuals of a model, or Pearson residuals for likelihoods."""
    x, weight = sequence.x, sequence.weight
    start = np.append(0, found["change"])
    length = np.diff(np.append(start, x.size))
    properties = COSTS[sequence.cost]
    if properties.uses_time:
        value, slope, time = np.repeat(center.reshape(-1, 3), length, axis=0).T
        line = sequence.origin + value + slope * (sequence.time - time)
        return np.asarray((x - line) * np.sqrt(weight))
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
