"""Calibration of scores: Platt scaling with the correction of Firth."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from rocpath.sample import Sample
from rocpath.validation import Floats

_MIN_SLOPE = 1e-3  # rounding must not change the order of scores
_MAX_SCORE = 5.0  # standard deviations at which scores are clipped
_MAX_ITERATIONS = 100  # ten are usual, and fifty with fewer than ten rows
_TOLERANCE = 1e-10  # for the slope and the intercept
_MIN_INFORMATION = 1e-12  # variance of scores that are constant up to rounding


def log_odds_scaling(
    score: Floats, sample: Sample, negative: float, positive: float
) -> tuple[float, float]:
    """Fit the slope and the intercept that convert standardized scores to log-odds.

    Parameters
    ----------
    score : array, shape (n_rows,)
        Standardized scores of held-out rows.
    sample : Sample
        Labels and weights of these rows.
    negative, positive : float
        Total weights of the classes among the rows for which probabilities are needed.
    """
    # A row of weight 2 is equivalent to two rows, but weights below 1 do not reduce the
    # number of rows.
    n_rows = max(sample.weights.sum(), len(sample))
    weight = 2.0 * sample.balanced_weight * n_rows
    weight *= np.where(sample.is_positive, positive, negative) / (positive + negative)
    # Scores are clipped, because a few outliers would otherwise determine the slope.
    clipped = np.clip(score, -_MAX_SCORE, _MAX_SCORE)
    prior_log_odds = np.log(positive) - np.log(negative)
    slope, intercept = _firth_estimate(clipped, sample.is_positive, weight, prior_log_odds)
    if slope < _MIN_SLOPE:
        # If held-out scores are no better than chance, only class frequencies are used.
        return _MIN_SLOPE, float(prior_log_odds)
    return slope, intercept


def platt_scaling(score: Floats, sample: Sample) -> tuple[float, float]:
    """Fit the slope and the intercept that convert held-out scores to log-odds."""
    balanced, weight = sample.balanced_weight, sample.weights
    mean = float(balanced @ score)
    spread = float(np.sqrt(balanced @ (score - mean) ** 2)) or 1.0
    totals = weight[~sample.is_positive].sum(), weight[sample.is_positive].sum()
    slope, intercept = log_odds_scaling((score - mean) / spread, sample, *totals)
    return slope * (1.0 / spread), float(slope * (-mean / spread) + intercept)


def _firth_estimate(
    score: Floats, is_positive: NDArray[np.bool_], weight: Floats, intercept: float
) -> tuple[float, float]:
    """Fit a logistic regression on one score, and return its slope and intercept.

    Weights sum to the number of rows. Maximum likelihood overestimates the slope if
    there are few rows, and has no finite estimate if scores separate the classes.
    Firth's term removes this bias. It is not applied to the intercept, so that the mean
    probability is the class frequency.
    """
    slope = 0.0
    for _ in range(_MAX_ITERATIONS):
        odds = slope * score + intercept
        # One minus a probability would lose digits for a rare class.
        probability, other = expit(odds), expit(-odds)
        residual = weight * np.where(is_positive, other, -probability)
        information = weight * probability * other
        of_intercept = float(information.sum())
        # With scores centered at this mean, slope and intercept are uncorrelated.
        mean = float(information @ score) / of_intercept
        centered = score - mean
        square = centered**2
        of_slope = float(information @ square)
        if of_slope < _MIN_INFORMATION * of_intercept:
            break  # the scores are constant
        leverage = information * (1.0 / of_intercept + square / of_slope)
        gradient = centered @ (residual + leverage * (0.5 - probability))
        curvature = of_slope + (leverage * probability * other) @ square
        # After longer steps, all probabilities might be 0 or 1.
        change = np.clip((gradient / curvature, residual.sum() / of_intercept), -1.0, 1.0)
        slope += change[0]
        intercept += change[1] - mean * change[0]
        if np.abs(change).max() < _TOLERANCE:
            break
    return slope, intercept
