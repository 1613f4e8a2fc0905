"""Sample sizes compared with simulations of the interval and the tests."""

import numpy as np
import pytest
from scipy.special import ndtri

import rocpath as rp


def normal_scores(rng, n_positives, *areas, ratio=1, correlation=0.0):
    y = np.repeat([1, 0], [n_positives, ratio * n_positives])
    score = rng.normal(size=(len(areas), y.size))
    if len(areas) == 2:
        score[1] = correlation * score[0] + np.sqrt(1 - correlation**2) * score[1]
    return y, score + np.sqrt(2) * ndtri(areas)[:, None] * y


# The normal approximation gives 15, 30 and 103 positives; mean widths are then 0.270,
# 0.156 and 0.096.
@pytest.mark.parametrize(
    ("auc", "width", "ratio"), [(0.99, 0.05, 1), (0.95, 0.1, 1), (0.8, 0.1, 3)]
)
def test_intervals_have_the_planned_mean_width(auc, width, ratio):
    rng = np.random.default_rng(4)
    n_positives = rp.n_positives_needed(auc, width=width, negatives_per_positive=ratio)
    found = []
    for _ in range(500):
        y, (score,) = normal_scores(rng, n_positives, auc, ratio=ratio)
        interval = rp.auc_interval(y, score)
        found.append(interval.high - interval.low)
    # The search stops within 2%, and both simulations have a standard error of about 3%.
    assert np.mean(found) == pytest.approx(width, rel=0.12)


@pytest.mark.parametrize("auc", [0.6, 0.75])
def test_tests_against_chance_have_the_planned_power(auc):
    rng = np.random.default_rng(5)
    n_positives = rp.n_positives_needed(auc, power=0.9)
    found = []
    for _ in range(500):
        y, (score,) = normal_scores(rng, n_positives, auc)
        found.append(rp.auc_interval(y, score).low > 0.5)
    # Four standard errors of 0.9 in both simulations, and the tolerance of the search.
    assert abs(np.mean(found) - 0.9) < 0.06


def test_comparisons_of_independent_scores_have_the_planned_power():
    rng = np.random.default_rng(6)
    n_positives = rp.n_positives_needed(0.9, power=0.8, other_auc=0.75, correlation=0)
    found = []
    for _ in range(500):
        y, scores = normal_scores(rng, n_positives, 0.9, 0.75)
        found.append(rp.compare_auc(y, *scores).p_value < 0.05)
    assert abs(np.mean(found) - 0.8) < 0.08


def test_correlated_scores_need_fewer_positives():
    sizes = [
        rp.n_positives_needed(0.85, power=0.8, other_auc=0.75, correlation=correlation)
        for correlation in (0.0, 0.9)
    ]

    assert sizes[0] > 2 * sizes[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, "exactly one of width and power"),
        ({"power": 0.8, "other_auc": 0.8}, "other_auc must differ from auc"),
        ({"width": 0.1, "negatives_per_positive": 0}, "negatives_per_positive must be"),
        ({"power": 0.8, "other_auc": 0.7, "correlation": 1}, "correlation must be in"),
    ],
)
def test_invalid_arguments_of_sample_sizes_raise(change, message):
    with pytest.raises(ValueError, match=message):
        rp.n_positives_needed(0.8, **change)
