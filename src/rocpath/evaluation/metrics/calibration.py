"""Calibration of predicted probabilities: intercept, slope, and observed / expected."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from rocpath.evaluation.metrics.metric import Estimate
from rocpath.evaluation.metrics.scales import LogScale, PlainScale
from rocpath.sample import Sample
from rocpath.validation import Floats, check_none

_MOST_ITERATIONS = 50


@dataclass(frozen=True)
class CalibrationIntercept:
    """Mean log-odds by which predictions are too low: calibration in the large.

    The intercept of a logistic regression with the log-odds of the predictions as
    offset. It is 0 for calibrated probabilities, and positive if they are too low.

    Examples
    --------
    >>> import rocpath as rp
    >>> metric = rp.metrics.CalibrationIntercept()
    >>> round(rp.interval([0, 1, 1, 0, 1, 1], [0.5] * 6, metric).value, 4)  # log 2
    0.6931
    """

    name = "calibration intercept"
    outcome: Literal["labels"] = "labels"
    scale = PlainScale()
    bounds = (-np.inf, np.inf)
    digits = 3

    def estimate(self, sample: Sample, score: Floats) -> Estimate:
        """Fit the intercept, and compute the influence of each row."""
        offset = logit_of_probabilities(score)
        return _coefficient(sample, np.ones((len(sample), 1)), offset)


@dataclass(frozen=True)
class CalibrationSlope:
    """Slope of a logistic regression on the log-odds of the predictions.

    It is 1 for calibrated probabilities, and less than 1 if predictions are too extreme,
    as those of an overfitted model are.

    Examples
    --------
    >>> import numpy as np
    >>> import rocpath as rp
    >>> y, p = np.repeat([1, 0, 1, 0], [2, 1, 1, 2]), np.repeat([0.8, 0.2], 3)
    >>> value = rp.interval(y, p, rp.metrics.CalibrationSlope()).value
    >>> round(value, 4)  # log-odds of 2/3 divided by log-odds of 0.8
    0.5
    """

    name = "calibration slope"
    outcome: Literal["labels"] = "labels"
    scale = PlainScale()
    bounds = (-np.inf, np.inf)
    digits = 3

    def estimate(self, sample: Sample, score: Floats) -> Estimate:
        """Fit the slope, and compute the influence of each row."""
        design = np.column_stack((logit_of_probabilities(score), np.ones(len(sample))))
        return _coefficient(sample, design, np.zeros(len(sample)))


@dataclass(frozen=True)
class ObservedExpected:
    """Ratio of the observed number of positives to the sum of the probabilities.

    Examples
    --------
    >>> import rocpath as rp
    >>> rp.interval([0, 1, 1, 0], [0.2, 0.4, 0.6, 0.4], rp.metrics.ObservedExpected()).value
    1.25
    """

    name = "observed / expected"
    outcome: Literal["labels"] = "labels"
    scale = LogScale()
    bounds = (0.0, np.inf)
    digits = 3

    def estimate(self, sample: Sample, score: Floats) -> Estimate:
        """Compute the ratio and the influence of each row."""
        check_none((score < 0) | (score > 1), "scores must be probabilities in [0, 1]", score)
        weight = sample.weights
        expected = float(weight @ score)
        value = float(weight @ sample.is_positive) / expected
        return Estimate(value, weight * (sample.is_positive - value * score) / expected)


def logit_of_probabilities(probability: Floats) -> Floats:
    """Return the log-odds of probabilities, or raise if one is not inside (0, 1)."""
    is_outside = (probability <= 0) | (probability >= 1)
    check_none(is_outside, "scores must be probabilities in (0, 1)", probability)
    return np.asarray(special.logit(probability))


def fit_logistic(sample: Sample, design: Floats, offset: Floats) -> tuple[Floats, Floats, Floats]:
    """Return coefficients, the inverse information, and fitted probabilities.

    Coefficients are NaN if they do not exist, because the classes can be separated.
    """
    weight, label = sample.weights, sample.is_positive
    coef = np.zeros(design.shape[1])
    for _ in range(_MOST_ITERATIONS):
        fitted = special.expit(offset + design @ coef)
        curvature = weight * fitted * (1.0 - fitted)
        information = design.T @ (curvature[:, None] * design)
        change = np.linalg.lstsq(information, design.T @ (weight * (label - fitted)), rcond=None)[0]
        # Newton's steps are shortened, since they may diverge from a far start.
        coef = coef + change * min(1.0, 2.0 / max(float(np.abs(change).max()), 1e-300))
        if np.abs(change).max() <= 1e-10 * (1.0 + np.abs(coef).max()):
            return coef, np.linalg.pinv(information), fitted
    return np.full(coef.size, np.nan), np.linalg.pinv(information), fitted


def _coefficient(sample: Sample, design: Floats, offset: Floats) -> Estimate:
    """Return the first coefficient of a logistic regression, with its influences."""
    coef, inverse, fitted = fit_logistic(sample, design, offset)
    residual = sample.weights * (sample.is_positive - fitted)
    return Estimate(float(coef[0]), residual * (design @ inverse[0]))
