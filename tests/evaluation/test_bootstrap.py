"""Bootstrap intervals, compared with DeLong's."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import rocpath as rp


def test_the_bootstrap_agrees_with_delong_and_resamples_groups():
    rng = np.random.default_rng(3)
    y = np.arange(200) % 2
    score = rng.normal(size=200) + y
    found = rp.bootstrap_interval(roc_auc_score, y, score, n_resamples=500, random_state=0)
    exact = rp.auc_interval(y, score)
    assert found.value == pytest.approx(exact.value)
    width = exact.high - exact.low
    assert found.high - found.low == pytest.approx(width, rel=0.15)
    # Each row is copied five times: resampling single rows would halve the width.
    copies = [np.repeat(values, 5) for values in (y, score, np.arange(200))]
    grouped = rp.bootstrap_interval(
        roc_auc_score, *copies[:2], groups=copies[2], n_resamples=500, random_state=0
    )
    assert grouped.high - grouped.low == pytest.approx(width, rel=0.2)
    assert grouped.n_groups == 200


def test_the_bootstrap_resamples_all_rows():
    # The precision depends on the share of positives, which varies between samples.
    rng = np.random.default_rng(0)
    n_covered = 0
    for seed in range(150):
        y = rng.random(80) < 0.4
        score = rng.normal(size=80) + y
        metric = {"n_resamples": 200, "random_state": seed}
        found = rp.bootstrap_interval(lambda y, s: float(y[s > 0.5].mean()), y, score, **metric)
        # P(positive | score > .5) for normal scores with means 0 and 1.
        above = 0.4 * 0.6914625, 0.6 * 0.3085375
        n_covered += found.low <= above[0] / sum(above) <= found.high
    # Three standard errors of a proportion of .93 with n = 150 are .062.
    assert n_covered / 150 > 0.868


def test_the_bootstrap_of_a_difference_agrees_with_the_test():
    rng = np.random.default_rng(1)
    y = np.arange(300) % 3 == 0
    one = rng.normal(size=300) + y
    scores = {"one": one, "two": one + rng.normal(size=300)}
    found = rp.bootstrap_interval(roc_auc_score, y, scores, n_resamples=400, random_state=0)
    expected = rp.compare(y, scores).differences["one", "two"]
    assert found.value == pytest.approx(expected.value)
    # A standard deviation estimated from 400 values has a standard error of 3.5%.
    assert found.standard_error == pytest.approx(expected.asymptotic_standard_error, rel=0.15)
    # Within strata, each stratum keeps its size; weights are passed to the metric.
    stratum = np.repeat([0, 1, 2], [50, 100, 150])

    def check_sizes(y, score, sample_weight):
        assert np.bincount(sample_weight.astype(int)).tolist() == [0, 50, 100, 150]
        return roc_auc_score(y, score)

    design = {"strata": stratum, "sample_weight": stratum + 1.0}
    rp.bootstrap_interval(check_sizes, y, one, n_resamples=100, **design)
    with pytest.raises(ValueError, match="n_resamples must be an integer of at least 100, got 99"):
        rp.bootstrap_interval(roc_auc_score, y, one, n_resamples=99)
