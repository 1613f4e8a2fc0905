"""Summaries of scores, compared with counts and exact binomial intervals."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from rocpath.evaluation.calibration import calibration_bins
from rocpath.evaluation.score_summary import summarize_scores
from rocpath.evaluation.threshold_targets import ThresholdTargets
from rocpath.evaluation.thresholds import choose_threshold


def tied_rows(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    is_positive = rng.random(n_rows) < 0.2
    return is_positive, np.round(rng.normal(size=n_rows) + is_positive - 1.5, 1)


def exact_interval(count, n_rows, confidence=0.95):
    found = stats.binomtest(count, n_rows).proportion_ci(confidence, method="exact")
    return found.low, found.high


def test_lift_of_a_small_example():
    # The top 10% of 20 rows are two rows, of which one is positive; there are 5 positives.
    is_positive = np.arange(20) % 4 == 3
    lift = summarize_scores(is_positive, np.arange(20.0)).lift
    assert lift == (2, 1, pytest.approx(0.2), pytest.approx(2.0))
    # If all rows are tied, the top 10% contain 10% of the positives.
    lift = summarize_scores(is_positive, np.zeros(20)).lift
    assert lift.factor == pytest.approx(1.0)


def test_grid_counts_the_rows_at_or_above_each_threshold():
    is_positive, score = tied_rows()
    grid = summarize_scores(is_positive, score).grid
    assert (grid.tp[0], grid.fp[0]) == (0, 0)
    assert grid.tp[-1] + grid.fp[-1] == score.size
    for threshold, tp, fp in zip(*grid, strict=True):
        is_predicted = score >= threshold
        assert (is_predicted & is_positive).sum() == tp
        assert (is_predicted & ~is_positive).sum() == fp


def test_the_band_contains_the_curve():
    is_positive, score = tied_rows()
    view = summarize_scores(is_positive, score)
    above = np.append(np.inf, np.unique(score)[::-1])[:, None]
    fpr, tpr = ((score >= above)[:, side].mean(axis=1) for side in (~is_positive, is_positive))
    curve = np.interp(view.band.fpr, fpr, tpr)
    assert (view.band.tpr_low <= curve).all()
    assert (curve <= view.band.tpr_high).all()


def test_calibration_bins_have_equal_expected_numbers_of_positives():
    is_positive, score = tied_rows(2000)
    probability = expit(score)
    bins = calibration_bins(is_positive, probability)
    assert len(bins) == 10
    assert sum(one.n_rows for one in bins) == score.size
    expected = np.array([one.n_rows * one.probability for one in bins])
    # They are equal except for the tied rows at both bin edges.
    value, n_tied = np.unique(probability, return_counts=True)
    largest = (value * n_tied).max()
    np.testing.assert_allclose(expected, probability.sum() / 10, atol=largest)
    observed = sum(round(one.n_rows * one.share) for one in bins)
    assert observed == is_positive.sum()
    for one in bins:
        count = round(one.n_rows * one.share)
        assert (one.low, one.high) == pytest.approx(exact_interval(count, one.n_rows))


def test_points_agree_with_choose_threshold_and_count_rows():
    is_positive, score = tied_rows()
    targets = ThresholdTargets(max_fpr=0.2, min_precision=0.4, top=30)
    points = {one.rule: one for one in summarize_scores(is_positive, score, targets).points}
    requested = [rule for rule, one in points.items() if one.is_requested]
    assert requested[:2] == [
        "false positive rate at most 20%",
        "false positive rate at most 20%, guaranteed for new rows",
    ]
    assert requested[-1] == "the 30 rows ranked highest"
    chosen = choose_threshold(is_positive, score, max_fpr=0.2, confidence=0.95)
    assert points[requested[1]].point.threshold == chosen.threshold
    assert points[requested[-1]].point.tp + points[requested[-1]].point.fp <= 30
    for one in points.values():
        is_predicted = score >= one.point.threshold
        if one.rule == "probability above one half":
            is_predicted = score > 0
        assert (is_predicted & is_positive).sum() == one.point.tp
        assert (is_predicted & ~is_positive).sum() == one.point.fp


def test_targets_that_no_threshold_meets_are_skipped():
    is_positive, score = np.arange(40) % 2 == 0, np.zeros(40)
    rules = [
        one.rule for one in summarize_scores(is_positive, score, ThresholdTargets(0.01)).points
    ]
    assert "false positive rate at most 1%, guaranteed for new rows" not in rules
    assert "precision at least 90%" not in rules


@pytest.mark.parametrize("rate", [0.0, 1.0, -1.0, np.nan])
def test_rates_outside_zero_and_one_raise(rate):
    with pytest.raises(ValueError, match="max_fpr must be"):
        ThresholdTargets(max_fpr=rate)
    with pytest.raises(ValueError, match="min_precision must be"):
        ThresholdTargets(min_precision=rate)


def test_top_of_zero_raises():
    with pytest.raises(ValueError, match="top must be"):
        ThresholdTargets(top=0)


def test_bounds_are_wider_for_grouped_rows():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(80), 5)
    is_positive = (rng.random(80) < 0.4)[group]
    score = rng.normal(size=80)[group] + is_positive
    alone = summarize_scores(is_positive, score)
    grouped = summarize_scores(is_positive, score, groups=group)
    assert [one.rule for one in grouped.points] == [one.rule for one in alone.points]
    for one, other in zip(grouped.points, alone.points, strict=True):
        width, narrow = (np.ptp(k.point.fpr_interval) for k in (one, other))
        assert width > narrow
        assert one.point.tp + one.point.fp == (score >= one.point.threshold).sum()
    # All five rows of a group are equal, so the effective sample size is a fifth.
    bars = [np.array([(one.low, one.high) for one in k.calibration]) for k in (grouped, alone)]
    assert np.median(np.ptp(bars[0], axis=1) / np.ptp(bars[1], axis=1)) > 1.5
    band = [k.band.tpr_high[1:] - k.band.tpr_low[1:] for k in (grouped, alone)]
    assert band[0].max() > 1.5 * band[1].max()


def test_groups_of_single_rows_do_not_change_bounds():
    is_positive, score = tied_rows()
    alone = summarize_scores(is_positive, score)
    single = summarize_scores(is_positive, score, groups=np.arange(score.size))
    assert single.calibration == [
        one._replace(low=pytest.approx(one.low, abs=0.01), high=pytest.approx(one.high, abs=0.01))
        for one in alone.calibration
    ]
