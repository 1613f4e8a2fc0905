"""Metrics: values of scikit-learn, influences as derivatives, and exact intervals."""

import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score

import rocpath as rp
from rocpath.evaluation.metrics.names import metric_of
from rocpath.sample import Sample

METRICS = {
    "AUC": "auc",
    "partial AUC": rp.metrics.PartialAUC(max_fpr=0.371),
    "partial AUC above": rp.metrics.PartialAUC(min_tpr=0.571, standardized=True),
    "two-way partial AUC": rp.metrics.PartialAUC(max_fpr=0.771, min_tpr=0.231),
    "average precision": "average_precision",
    "sensitivity": rp.metrics.AtThreshold("sensitivity", 6),
    "specificity": rp.metrics.AtThreshold("specificity", 6),
    "ppv": rp.metrics.AtThreshold("ppv", 6),
    "npv": rp.metrics.AtThreshold("npv", 6),
}


def tied_scores(n_rows=40, seed=0):
    rng = np.random.default_rng(seed)
    y = np.append([0, 1], rng.integers(0, 2, n_rows - 2))
    return y, rng.integers(0, 12, n_rows) + 3 * y


def estimate(metric, y, score, weight=None):
    sample = Sample.from_labels(y, sample_weight=weight)
    return metric_of(metric).estimate(sample, np.asarray(score, dtype=float))


@pytest.mark.parametrize("name", [*METRICS, "brier"])
@pytest.mark.parametrize("seed", range(5))
def test_influences_are_derivatives_with_respect_to_the_weights(name, seed):
    y, score = tied_scores(seed=seed)
    metric = METRICS.get(name, name)
    score = score / 20 if name == "brier" else score
    weight = np.random.default_rng(seed).uniform(0.5, 2.0, y.size)
    found = estimate(metric, y, score, weight)
    for k in range(0, y.size, 3):
        moved = []
        for step in (1e-5, -1e-5):
            other = weight.copy()
            other[k] *= 1.0 + step
            moved.append(estimate(metric, y, score, other).value)
        assert found.influence[k] == pytest.approx((moved[0] - moved[1]) / 2e-5, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_values_equal_those_of_scikit_learn(seed):
    y, score = tied_scores(seed=seed)
    weight = np.random.default_rng(seed).uniform(0.5, 2.0, y.size)
    probability = score / 20
    for extra in ({}, {"sample_weight": weight}):
        area = rp.interval(y, score, **extra)
        assert area.value == pytest.approx(roc_auc_score(y, score, **extra), abs=1e-12)
        partial = rp.interval(y, score, rp.metrics.PartialAUC(0.3, standardized=True), **extra)
        expected = roc_auc_score(y, score, max_fpr=0.3, **extra)
        assert partial.value == pytest.approx(expected, abs=1e-12)
        found = rp.interval(y, score, "average_precision", **extra)
        expected = average_precision_score(y, score, **extra)
        assert found.value == pytest.approx(expected, abs=1e-12)
        assert found.low <= found.value <= found.high
        brier = rp.interval(y, probability, "brier", **extra)
        assert brier.value == pytest.approx(brier_score_loss(y, probability, **extra), abs=1e-12)


def test_rates_are_shares_of_rows():
    y, score = tied_scores()
    is_predicted = score >= 6
    expected = {
        "sensitivity": is_predicted[y == 1].mean(),
        "specificity": 1 - is_predicted[y == 0].mean(),
        "ppv": y[is_predicted].mean(),
        "npv": 1 - y[~is_predicted].mean(),
    }
    for rate, value in expected.items():
        assert rp.interval(y, score, METRICS[rate]).value == pytest.approx(value)
    # Ties at the border share the remaining places.
    found = rp.interval([0, 1, 1, 0, 1], [5, 4, 4, 4, 1], rp.metrics.PrecisionAtK(3))
    assert found.value == pytest.approx((0 + 2 * (2 / 3)) / 3)


def test_average_precision_intervals_have_nominal_coverage():
    rng = np.random.default_rng(1)
    big_y = rng.random(400_000) < 0.2
    truth = average_precision_score(big_y, rng.normal(size=big_y.size) + 1.5 * big_y)
    n_covered = 0
    for _ in range(300):
        y = rng.random(400) < 0.2
        found = rp.interval(y, rng.normal(size=400) + 1.5 * y, "average_precision")
        n_covered += found.low <= truth <= found.high
    # Four standard errors of a proportion of 0.95 with n = 300 are 0.05.
    assert abs(n_covered / 300 - 0.95) < 0.05


def test_intervals_of_perfect_scores_have_a_positive_width():
    y = np.repeat([0, 1], 20)
    found = rp.interval(y, y, "average_precision")
    assert found.value == found.high == 1
    assert 0.5 < found.low < 0.99
    found = rp.interval(y, y, rp.metrics.AtThreshold("sensitivity", 0.5))
    # Wilson's limit for 20 of 20: n / (n + z^2), with Student's quantile.
    assert found.high == 1
    assert 0.7 < found.low < 0.9


@pytest.mark.parametrize("fpr", [0.05, 0.2])
def test_intervals_of_rates_account_for_the_uncertainty_of_the_threshold(fpr):
    rng = np.random.default_rng(2)
    truth = ndtr(1.5 + ndtri(fpr))
    n_covered = plain = 0
    for _ in range(400):
        y = np.repeat([0, 1], [80, 60])
        score = rng.normal(size=140) + 1.5 * y
        found = rp.interval(y, score, rp.metrics.TPRAtFPR(fpr))
        n_covered += found.low <= truth <= found.high
        # A binomial interval ignores that the threshold was estimated.
        half = 1.96 * np.sqrt(found.value * (1 - found.value) / 60)
        plain += abs(found.value - truth) <= half
    assert n_covered / 400 > 0.92
    assert plain / 400 < 0.88


def test_rates_beyond_the_data_have_wide_intervals():
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], [50, 60])
    truth = ndtr(1.5 + ndtri(0.004))
    n_covered = 0
    for _ in range(300):
        score = rng.normal(size=110) + 1.5 * y
        limits = [rp.interval(y, score, rp.metrics.TPRAtFPR(r)) for r in (0.0002, 0.004, 0.019)]
        n_covered += limits[1].low <= truth <= limits[1].high
        # A stricter limit does not raise the bounds.
        assert limits[0].high <= limits[1].high <= limits[2].high
        assert limits[0].low <= limits[1].low <= limits[2].low
    assert n_covered / 300 > 0.93


def test_fpr_at_tpr_is_tpr_at_fpr_with_exchanged_classes():
    y, score = tied_scores()
    one = rp.interval(y, score, rp.metrics.FPRAtTPR(0.8))
    two = rp.interval(1 - y, -score, rp.metrics.TPRAtFPR(0.2))
    assert one.value == pytest.approx(1 - two.value)
    assert (one.low, one.high) == pytest.approx((1 - two.high, 1 - two.low))
    # By definition, it is the smallest FPR among thresholds with a TPR of at least 0.8.
    cuts = [(score >= c) for c in np.unique(score)]
    best = min(c[y == 0].mean() for c in cuts if c[y == 1].mean() >= 0.8)
    assert one.value == pytest.approx(best)


@pytest.mark.parametrize(
    ("metric", "message"),
    [("roc", "metric must be 'auc' or .*, got 'roc'"), (rp.metrics.TPRAtFPR, "metric must be")],
)
def test_unknown_metrics_raise(metric, message):
    with pytest.raises(ValueError, match=message):
        rp.interval([0, 1], [0, 1], metric)


def test_metrics_check_their_parameters():
    with pytest.raises(ValueError, match=r"fpr must be in \(0, 1\), got 1"):
        rp.metrics.TPRAtFPR(1)
    with pytest.raises(ValueError, match="max_fpr or min_tpr must limit the region"):
        rp.metrics.PartialAUC()
    with pytest.raises(ValueError, match="rate must be 'sensitivity' or"):
        rp.metrics.AtThreshold("recall", 0.5)
    with pytest.raises(ValueError, match="scores must be probabilities in"):
        rp.interval([0, 1], [0, 2], "brier")
