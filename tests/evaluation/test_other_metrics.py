"""Metrics other than the AUC, compared with scikit-learn, derivatives and simulation."""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from sklearn.metrics import average_precision_score, roc_auc_score

import rocpath as rp
from rocpath.evaluation.other_metrics import average_precision_influence


def tied_scores(n_rows=40, seed=0):
    rng = np.random.default_rng(seed)
    y = np.append([0, 1], rng.integers(0, 2, n_rows - 2))
    return y, rng.integers(0, 12, n_rows) + 3 * y


def test_average_precision_equals_scikit_learns():
    for seed in range(20):
        y, score = tied_scores(seed=seed)
        found = rp.average_precision_interval(y, score)
        assert found.value == pytest.approx(average_precision_score(y, score))
        assert found.low <= found.value <= found.high


def test_influence_is_the_derivative_of_average_precision_with_respect_to_a_weight():
    y, score = tied_scores()
    _, influence = average_precision_influence(y == 1, score.astype(float))
    for k in range(y.size):
        moved = []
        for step in (1e-5, -1e-5):
            weight = np.ones(y.size)
            weight[k] += step
            moved.append(average_precision_score(y, score, sample_weight=weight))
        assert influence[k] == pytest.approx((moved[0] - moved[1]) / 2e-5, abs=1e-6)


def test_average_precision_intervals_have_nominal_coverage():
    rng = np.random.default_rng(1)
    big_y = rng.random(400_000) < 0.2
    truth = average_precision_score(big_y, rng.normal(size=big_y.size) + 1.5 * big_y)
    n_covered = 0
    for _ in range(300):
        y = rng.random(400) < 0.2
        found = rp.average_precision_interval(y, rng.normal(size=400) + 1.5 * y)
        n_covered += found.low <= truth <= found.high
    # Four standard errors of a proportion of 0.95 with n = 300 are 0.05.
    assert abs(n_covered / 300 - 0.95) < 0.05


def test_intervals_of_perfect_scores_have_a_positive_width():
    y = np.repeat([0, 1], 20)
    found = rp.average_precision_interval(y, y)
    assert found.value == found.high == 1
    assert 0.5 < found.low < 0.99


@pytest.mark.parametrize("fpr", [0.05, 0.2])
def test_intervals_of_rates_account_for_the_uncertainty_of_the_threshold(fpr):
    rng = np.random.default_rng(2)
    truth = ndtr(1.5 + ndtri(fpr))
    n_covered = plain = 0
    for _ in range(400):
        y = np.repeat([0, 1], [80, 60])
        score = rng.normal(size=140) + 1.5 * y
        found = rp.tpr_at_fpr(y, score, fpr)
        n_covered += found.low <= truth <= found.high
        # A binomial interval ignores that the threshold was estimated.
        half = 1.96 * np.sqrt(found.value * (1 - found.value) / 60)
        plain += abs(found.value - truth) <= half
    assert n_covered / 400 > 0.92
    assert plain / 400 < 0.88


def test_fpr_at_tpr_is_tpr_at_fpr_with_exchanged_classes():
    y, score = tied_scores()
    one = rp.fpr_at_tpr(y, score, 0.8)
    two = rp.tpr_at_fpr(1 - y, -score, 0.2)
    assert one.value == pytest.approx(1 - two.value)
    assert (one.low, one.high) == pytest.approx((1 - two.high, 1 - two.low))
    # By definition, it is the smallest FPR among thresholds with a TPR of at least 0.8.
    cuts = [(score >= c) for c in np.unique(score)]
    best = min(c[y == 0].mean() for c in cuts if c[y == 1].mean() >= 0.8)
    assert one.value == pytest.approx(best)


def test_the_bootstrap_agrees_with_delong_and_resamples_groups():
    rng = np.random.default_rng(3)
    y = np.arange(200) % 2
    score = rng.normal(size=200) + y
    found = rp.bootstrap_interval(roc_auc_score, y, score, n_resamples=500, random_state=0)
    exact = rp.auc_interval(y, score)
    assert found.value == exact.value
    width = exact.high - exact.low
    assert found.high - found.low == pytest.approx(width, rel=0.15)
    # Each row is copied five times: resampling single rows would halve the width.
    copies = [np.repeat(values, 5) for values in (y, score, np.arange(200))]
    grouped = rp.bootstrap_interval(
        roc_auc_score, *copies[:2], groups=copies[2], n_resamples=500, random_state=0
    )
    assert grouped.high - grouped.low == pytest.approx(width, rel=0.2)
    assert grouped.n_groups == 200


def test_unpaired_comparisons_and_margins_equal_normal_tests():
    rng = np.random.default_rng(5)
    y = np.arange(120) % 2
    first, second = rng.normal(size=(2, 120)) + y
    one, two = rp.auc_interval(y, first), rp.auc_interval(y, second)
    found = rp.compare_auc_unpaired(y, first, y, second, margin=0.2)
    error = np.hypot(one.standard_error, two.standard_error)
    assert found.standard_error == pytest.approx(error)
    z = (one.value - two.value) / error
    assert found.p_value == pytest.approx(2 * ndtr(-abs(z)))
    below = ndtr(-(found.difference + 0.2) / error)
    above = ndtr(-(0.2 - found.difference) / error)
    assert found.non_inferiority_p_value == pytest.approx(below)
    assert found.equivalence_p_value == pytest.approx(max(below, above))
    with pytest.raises(ValueError, match="margin must be positive, got -1"):
        rp.compare_auc(y, first, second, margin=-1)
