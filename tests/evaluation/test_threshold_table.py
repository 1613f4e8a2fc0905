"""Rates at thresholds: published values, counts, named thresholds and subgroups."""

import numpy as np
import pytest
from scipy.stats import t
from sklearn import metrics

import rocpath as rp
from rocpath.evaluation.alert_rates import Days
from rocpath.evaluation.decision_rates import SharePair
from rocpath.evaluation.results import Limits

RATES = ("sensitivity", "specificity", "ppv", "npv", "lr_positive", "lr_negative")


def diagnostic_test(tp, fn, fp, tn):
    y = np.repeat([1, 1, 0, 0], [tp, fn, fp, tn])
    return y, np.repeat([1, 0, 1, 0], [tp, fn, fp, tn])


def probabilities(n_rows=400, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n_rows) < 0.3
    return y, 1 / (1 + np.exp(1.5 - rng.normal(size=n_rows) - 1.5 * y))


def test_rates_have_wilsons_published_intervals():
    # Newcombe (Statistics in Medicine 17, 1998, table I): 81 of 263 and 15 of 148, method 3.
    row = rp.threshold_table(*diagnostic_test(81, 182, 133, 15), 1)[0]
    assert row.sensitivity.low == pytest.approx(0.2553, abs=5e-5)
    assert row.sensitivity.high == pytest.approx(0.3662, abs=5e-5)
    assert row.specificity.low == pytest.approx(0.0624, abs=5e-5)
    assert row.specificity.high == pytest.approx(0.1605, abs=5e-5)


def test_rates_equal_those_of_scikit_learn():
    y, p = probabilities()
    for row in rp.threshold_table(y, p, [0.1, 0.3, 0.6]):
        is_predicted = p >= row.threshold
        tn, fp, fn, tp = metrics.confusion_matrix(y, is_predicted).ravel()
        assert (row.tp, row.fp, row.fn, row.tn) == (tp, fp, fn, tn)
        assert row.sensitivity.value == pytest.approx(metrics.recall_score(y, is_predicted))
        assert row.ppv.value == pytest.approx(metrics.precision_score(y, is_predicted))
        assert row.accuracy.value == pytest.approx(metrics.accuracy_score(y, is_predicted))
        ratios = metrics.class_likelihood_ratios(y, is_predicted)
        assert (row.lr_positive.value, row.lr_negative.value) == pytest.approx(ratios)
        odds = row.threshold / (1 - row.threshold)
        assert row.net_benefit.value == pytest.approx((tp - fp * odds) / y.size)
        for name in RATES:
            value, low, high = getattr(row, name)
            assert low <= value <= high


def test_other_prevalences_follow_from_bayes_theorem():
    y, p = probabilities()
    here, there = (rp.threshold_table(y, p, 0.3, prevalence=share)[0] for share in (y.mean(), 0.02))
    own = rp.threshold_table(y, p, 0.3)[0]
    for name in ("ppv", "npv", "net_benefit"):
        assert getattr(here, name).value == pytest.approx(getattr(own, name).value)
    sensitivity, specificity = there.sensitivity.value, there.specificity.value
    positive = 0.02 * sensitivity + 0.98 * (1 - specificity)
    assert there.ppv.value == pytest.approx(0.02 * sensitivity / positive)
    assert there.npv.value == pytest.approx(0.98 * specificity / (1 - positive))
    benefit = 0.02 * sensitivity - 0.98 * (1 - specificity) * 3 / 7
    assert there.net_benefit.value == pytest.approx(benefit)
    assert there.ppv.low < there.ppv.value < there.ppv.high
    assert there.npv.low < there.npv.value < there.npv.high


def test_ratios_and_differences_of_exact_shares_have_no_second_term():
    # If the second share is exact, limits are those of the first, scaled or shifted.
    first, exact = Limits(0.5, 0.4, 0.7), Limits(0.2, 0.2, 0.2)
    pair = SharePair(first, exact, 0.0)
    assert pair.ratio() == pytest.approx((2.5, 2.0, 3.5))
    assert pair.difference(1.0, 2.0) == pytest.approx((0.1, 0.0, 0.3))
    # Without false positives, the ratio is infinite, with a finite lower limit.
    value, low, high = SharePair(first, Limits(0.0, 0.0, 0.1), 0.0).ratio()
    assert (value, high) == (np.inf, np.inf)
    assert low == pytest.approx(np.sqrt(0.4 * 0.6) / 0.1)


def test_named_thresholds_optimize_what_they_state():
    y, score = probabilities(300, seed=1)
    score = score.round(2)
    fpr, tpr, _ = metrics.roc_curve(y, score, drop_intermediate=False)
    names = ["youden", "closest", "fpr=0.05", "tpr=0.95", "top=40", "cost=1:20"]
    rows = dict(zip(names, rp.threshold_table(y, score, names), strict=True))

    def rates(row):
        return 1 - row.specificity.value, row.sensitivity.value

    a, b = rates(rows["youden"])
    assert b - a == pytest.approx((tpr - fpr).max())
    a, b = rates(rows["closest"])
    assert a**2 + (1 - b) ** 2 == pytest.approx((fpr**2 + (1 - tpr) ** 2).min())
    assert rates(rows["fpr=0.05"])[1] == pytest.approx(tpr[fpr <= 0.05].max())
    assert rates(rows["tpr=0.95"])[0] == pytest.approx(fpr[tpr >= 0.95].min())
    assert rows["top=40"].tp + rows["top=40"].fp <= 40
    costs = fpr * (~y).sum() + 20 * (1 - tpr) * y.sum()
    row = rows["cost=1:20"]
    assert row.fp + 20 * row.fn == pytest.approx(costs.min())
    assert [row.name for row in rows.values()] == names
    assert rp.threshold_table(y, score)[0].threshold == rows["youden"].threshold


def test_a_threshold_of_the_same_rows_is_marked():
    y, p = probabilities()
    (same,) = rp.threshold_table(y[:200], p[:200], "youden")
    assert "chosen on the same rows" in repr(same)
    (other,) = rp.threshold_table(y[200:], p[200:], "youden", selection=(y[:200], p[:200]))
    assert other.threshold == same.threshold
    assert other.notes == ()
    (fixed,) = rp.threshold_table(y, p, 0.25)
    assert fixed.notes == ()


def test_subgroups_have_the_rows_of_their_own_table():
    y, p = probabilities()
    site = np.where(np.arange(y.size) % 4, "A", "B")
    table = rp.threshold_table(y, p, 0.3, by=site)
    assert [row.subgroup for row in table] == [None, "A", "B"]
    (alone,) = rp.threshold_table(y[site == "B"], p[site == "B"], 0.3)
    assert table[2].sensitivity == alone.sensitivity
    assert table.to_frame()["sensitivity_low"][2] == alone.sensitivity.low
    assert "subgroup" in repr(table).splitlines()[0]


def test_a_subgroup_of_one_class_has_undefined_rates():
    y, p = probabilities()
    only = rp.threshold_table(y, p, 0.01, by=y)[2]
    assert only.subgroup
    assert (only.sensitivity.value, only.ppv.value) == (1.0, 1.0)
    assert np.isnan(only.specificity.value)
    assert np.isnan(only.lr_positive.value)


def test_unequal_weights_give_rates_without_intervals():
    y, p = probabilities()
    weight = np.arange(400) % 3
    row = rp.threshold_table(y, p, 0.3, sample_weight=weight)[0]
    repeated = rp.threshold_table(np.repeat(y, weight), np.repeat(p, weight), 0.3)[0]
    for name in RATES:
        assert getattr(row, name).value == pytest.approx(getattr(repeated, name).value)
        assert np.isnan(getattr(row, name).low)
    assert "unequal weights" in row.notes[0]
    equal = rp.threshold_table(y, p, 0.3, sample_weight=np.full(400, 2.0))[0]
    assert equal.sensitivity == rp.threshold_table(y, p, 0.3)[0].sensitivity


def test_copies_in_a_group_do_not_narrow_the_intervals():
    y, p = probabilities(120)
    row = rp.threshold_table(y, p, 0.3)[0]
    many = rp.threshold_table(
        np.repeat(y, 5), np.repeat(p, 5), 0.3, groups=np.repeat(np.arange(120), 5)
    )[0]
    naive = rp.threshold_table(np.repeat(y, 5), np.repeat(p, 5), 0.3)[0]
    for name in (*RATES, "net_benefit"):
        widths = [getattr(one, name).high - getattr(one, name).low for one in (row, many, naive)]
        assert widths[1] == pytest.approx(widths[0], rel=0.1)
        assert widths[2] < 0.6 * widths[0]


def test_undefined_rates_and_scores_that_are_no_probabilities():
    y, p = probabilities()
    row = rp.threshold_table(y, p, 2.0)[0]
    assert np.isnan(row.ppv.value)
    assert row.net_benefit is None or np.isnan(row.net_benefit.value)
    assert rp.threshold_table(y, 10 * p, 3.0)[0].net_benefit is None
    assert "undefined" in repr(row)


@pytest.mark.parametrize(
    ("threshold", "message"),
    [
        ("best", 'thresholds must be numbers or "youden"'),
        ("fpr=1.5", r"max_fpr must be in \(0, 1\), got 1.5"),
        ("top=0", "top must be"),
        ("cost=1", "thresholds must be numbers"),
        ([], "thresholds must have at least one entry"),
        (np.nan, "thresholds must be"),
    ],
)
def test_invalid_thresholds_raise(threshold, message):
    with pytest.raises(ValueError, match=message):
        rp.threshold_table(*probabilities(), threshold)


def test_alerts_per_day_count_the_rows_of_each_day():
    rng = np.random.default_rng(2)
    y, p = probabilities(700)
    day = rng.integers(0, 30, 700)
    day[:2] = 0, 29
    row = rp.threshold_table(
        y, p, 0.4, time=np.datetime64("2026-03-01T13:00") + day.astype("m8[D]")
    )[0]
    count = np.bincount(day[p >= 0.4], minlength=30)
    value, low, high = row.alerts_per_day
    assert value == pytest.approx(count.mean())
    half = t.ppf(0.975, 29) * max(count.var(ddof=1), count.mean()) ** 0.5 / 30**0.5
    assert (low, high) == pytest.approx(
        (value * np.exp(-half / value), value * np.exp(half / value))
    )
    same = rp.threshold_table(y, p, 0.4, time=day + 0.25)[0]
    assert same.alerts_per_day == row.alerts_per_day
    # At most five alerts per day on average: 150 of the rows of 30 days.
    table = rp.threshold_table(y, p, "alerts=5", time=day)
    assert table[0].tp + table[0].fp == 150
    assert "alerts per day" in repr(table)
    with pytest.raises(ValueError, match="with time"):
        rp.threshold_table(y, p, "alerts=5")
    with pytest.raises(ValueError, match="time must be dates or numbers of days"):
        rp.threshold_table(y, p, 0.4, time=np.repeat("today", 700))


def test_intervals_of_alerts_cover_the_mean():
    is_covered = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        # Days differ: the counts are negative binomial with mean 4.
        count = rng.poisson(rng.gamma(4, 1, 14))
        days = Days(np.repeat(np.arange(14), count), 14)
        _, low, high = days.alerts(np.ones(count.sum(), dtype=bool), 0.95)
        is_covered.append(low <= 4 <= high)
    # Three standard errors are 0.033.
    assert np.mean(is_covered) > 0.917
