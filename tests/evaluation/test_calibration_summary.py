"""Calibration summaries and smooth curves against logistic regressions and definitions."""

import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

import rocpath as rp
from rocpath.evaluation.smooth_calibration import smooth_calibration
from rocpath.sample import Sample

MEASURES = ("intercept", "slope", "observed_expected", "brier")


def predictions(n_rows=500, seed=0):
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(-1, 1, n_rows)
    return rng.random(n_rows) < expit(log_odds), expit(1.3 * log_odds + 0.2)


def test_measures_equal_their_definitions():
    y, p = predictions()
    summary = rp.calibration_summary(y, p)
    model = LogisticRegression(C=np.inf, tol=1e-10).fit(logit(p)[:, None], y)
    assert summary.slope.value == pytest.approx(model.coef_[0, 0], rel=1e-5)
    fitted = expit(logit(p) + summary.intercept.value)
    assert fitted.sum() == pytest.approx(y.sum())
    assert summary.observed_expected.value == pytest.approx(y.sum() / p.sum())
    assert summary.brier.value == pytest.approx(np.mean((p - y) ** 2))
    # The information of the model for independent rows; the sandwich is close to it.
    error = 1 / np.sqrt((fitted * (1 - fitted)).sum())
    assert summary.intercept.standard_error == pytest.approx(error, rel=0.15)
    for name in MEASURES:
        one = getattr(summary, name)
        assert one.low < one.value < one.high


def test_weights_repeat_rows():
    y, p = predictions(200)
    weight = np.arange(200) % 3
    weighted = rp.calibration_summary(y, p, sample_weight=weight)
    repeated = rp.calibration_summary(np.repeat(y, weight), np.repeat(p, weight))
    for name in MEASURES:
        assert getattr(weighted, name).value == pytest.approx(getattr(repeated, name).value)


def test_copies_in_a_group_do_not_narrow_the_intervals():
    y, p = predictions(150)
    code = np.repeat(np.arange(150), 5)
    many = rp.calibration_summary(y[code], p[code], groups=code)
    same = rp.calibration_summary(y, p)
    for name in MEASURES:
        wide, narrow = getattr(many, name), getattr(same, name)
        assert wide.value == pytest.approx(narrow.value)
        assert wide.high - wide.low == pytest.approx(narrow.high - narrow.low, rel=0.1)


def test_undefined_measures_state_their_reason():
    y = np.arange(20) >= 10
    summary = rp.calibration_summary(y, np.linspace(0.1, 0.9, 20))
    assert np.isnan(summary.slope.value)
    assert "the calibration slope does not exist" in repr(summary)
    certain = rp.calibration_summary(y, np.append(0.0, np.linspace(0.1, 0.9, 19)))
    assert np.isnan(certain.intercept.low)
    assert "1 rows have 0 or 1" in certain.notes[0]
    assert certain.brier.low < certain.brier.value
    assert smooth_calibration(Sample.from_labels(y), np.full(20, 0.3)) is None


def test_the_smooth_curve_recovers_a_logistic_relation():
    # With expected shares as exact frequencies, the spline contains the true curve.
    grid = np.linspace(-3, 3, 41)
    n_rows = 2000
    n_positive = np.rint(n_rows * expit(0.5 * grid - 0.3)).astype(int)
    y = np.concatenate([np.repeat([1, 0], [k, n_rows - k]) for k in n_positive])
    p = expit(np.repeat(grid, n_rows))
    curve = smooth_calibration(Sample.from_labels(y), p)
    truth = expit(0.5 * logit(curve.probability) - 0.3)
    np.testing.assert_allclose(curve.share, truth, atol=2e-3)
    assert (curve.low < curve.share).all()
    assert (curve.share < curve.high).all()


def test_smooth_curves_cover_the_truth():
    is_covered = []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        log_odds = rng.normal(-1, 1, 200)
        y = rng.random(200) < expit(log_odds)
        curve = smooth_calibration(Sample.from_labels(y), expit(log_odds))
        is_covered.append((curve.low <= curve.probability) & (curve.probability <= curve.high))
    # Three standard errors of one probability are 0.046.
    assert np.mean(is_covered, axis=0).min() > 0.9
