"""Smooth calibration curve: a logistic regression on a spline of the log-odds.

The spline is a natural cubic spline with up to four knots (Harrell, "Regression Modeling
Strategies", chapter 2), as in most calibration plots of clinical journals.
"""

from typing import NamedTuple

import numpy as np
from scipy import special

from rocpath.evaluation.metrics.calibration import fit_logistic, logit_of_probabilities
from rocpath.sample import Sample, count_groups
from rocpath.validation import Floats

_KNOTS = {3: (0.1, 0.5, 0.9), 4: (0.05, 0.35, 0.65, 0.95)}  # quantiles
_PER_COEFFICIENT = 8.0  # rows of the smaller class for each coefficient
_SMALLEST = 1e-9  # probabilities of 0 and 1 are moved by this for the curve
_N_POINTS = 61


class SmoothCalibration(NamedTuple):
    """Smooth share of positives against the probability, with pointwise limits."""

    probability: Floats
    share: Floats
    low: Floats
    high: Floats


def smooth_calibration(
    sample: Sample, probability: Floats, confidence: float = 0.95
) -> SmoothCalibration | None:
    """Estimate the share of positives as a smooth function of the probability.

    The limits hold at each probability. The curve covers the central 98% of the
    probabilities; it is None if classes are separated or all probabilities are equal.
    """
    score = logit_of_probabilities(np.clip(probability, _SMALLEST, 1.0 - _SMALLEST))
    ends = np.quantile(score, [0.01, 0.99])
    if ends[0] == ends[1]:
        return None
    knots = _knots(sample, score)
    center, scale = float(np.mean(score)), float(np.std(score))

    def design(x: Floats) -> Floats:
        columns = [np.ones(x.size), (x - center) / scale, *_spline(x, knots)]
        return np.column_stack(columns)

    rows = design(score)
    coef, inverse, fitted = fit_logistic(sample, rows, np.zeros(score.size))
    if np.isnan(coef).any():
        return None
    covariance, freedom = inverse, np.inf
    if sample.unit is not None or sample.weight is not None:
        covariance, freedom = _sandwich(sample, rows, fitted, inverse)
    # Equally spaced probabilities, so that the curve is smooth where it is looked at.
    first, last = special.expit(ends)
    grid = special.logit(np.linspace(first, last, _N_POINTS))
    at = design(grid)
    middle = at @ coef
    half = np.sqrt(np.einsum("ij,jk,ik->i", at, covariance, at))
    half *= special.stdtrit(freedom, 0.5 + 0.5 * confidence)
    limits = [special.expit(middle + sign * half) for sign in (0.0, -1.0, 1.0)]
    return SmoothCalibration(special.expit(grid), *limits)


def _knots(sample: Sample, score: Floats) -> Floats:
    """Return knots at quantiles, at most as many as the rows of the smaller class support."""
    n_smaller = min(sample.counts["n_positives"], sample.counts["n_negatives"])
    n_knots = min(4, int(n_smaller // _PER_COEFFICIENT) + 1)
    knots = np.unique(np.quantile(score, _KNOTS.get(n_knots, ())))
    return knots if knots.size >= 3 else np.empty(0)


def _spline(x: Floats, knots: Floats) -> list[Floats]:
    """Return the nonlinear columns of a natural cubic spline."""
    if knots.size < 3:
        return []
    last, before = knots[-1], knots[-2]
    scale = (last - knots[0]) ** 2

    def cubic(knot: float) -> Floats:
        return np.maximum(x - knot, 0.0) ** 3

    return [
        (
            cubic(knot)
            - cubic(before) * (last - knot) / (last - before)
            + cubic(last) * (before - knot) / (last - before)
        )
        / scale
        for knot in knots[:-2]
    ]


def _sandwich(
    sample: Sample, rows: Floats, fitted: Floats, inverse: Floats
) -> tuple[Floats, float]:
    """Return the covariance for grouped or weighted rows, with degrees of freedom."""
    part = (sample.weights * (sample.is_positive - fitted))[:, None] * rows @ inverse
    n_units = len(sample)
    if sample.unit is not None:
        n_units = count_groups(sample.unit)
        part = np.array([np.bincount(sample.unit, column) for column in part.T]).T
    freedom = max(n_units - rows.shape[1], 1)
    return part.T @ part * n_units / freedom, float(freedom)
