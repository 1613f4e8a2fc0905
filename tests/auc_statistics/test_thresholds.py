"""Thresholds keep their promises: by enumeration, by hand and by simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import binom

import rocpath as rp
from rocpath.auc_statistics.rate_bounds import (
    highest_rate,
    largest_count_below,
    lowest_rate,
    rising_ranks,
    simultaneous_rates,
)

PROMISES = {
    "max_fpr": lambda point, rate: point.fpr <= rate,
    "min_tpr": lambda point, rate: point.tpr >= rate,
    "min_precision": lambda point, rate: point.precision >= rate,
}


@st.composite
def labeled_scores(draw):
    size = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    score = draw(st.lists(st.integers(0, 4), min_size=sum(size), max_size=sum(size)))
    return np.repeat([1, 0], size), np.array(score)


def rates(y, score, threshold):
    called = score >= threshold
    tp, fp = (called & (y == 1)).sum(), (called & (y == 0)).sum()
    precision = tp / (tp + fp) if tp + fp else np.nan
    return tp / (y == 1).sum(), fp / (y == 0).sum(), precision


@given(
    labeled_scores(),
    st.sampled_from(sorted(PROMISES)),
    st.sampled_from([0.1, 0.2, 1 / 3, 0.5, 0.75]),
)
def test_the_best_of_all_thresholds_that_keep_a_promise(rows, name, rate):
    y, score = rows
    # Every different way to cut the rows; "best" calls the most positive, or for
    # min_tpr the fewest.
    cuts = [rates(y, score, cut) for cut in [*np.unique(score), score.max() + 1]]
    keeps = {
        "max_fpr": [cut for cut in cuts if cut[1] <= rate + 1e-12],
        "min_tpr": [cut for cut in cuts if cut[0] >= rate - 1e-12],
        "min_precision": [cut for cut in cuts if cut[2] >= rate],
    }[name]
    if not keeps:
        with pytest.raises(ValueError, match=r"out of reach: with .* can be promised"):
            rp.choose_threshold(y, score, **{name: rate})
        return
    best = keeps[-1] if name == "min_tpr" else keeps[0]
    point = rp.choose_threshold(y, score, **{name: rate})
    np.testing.assert_equal((point.tpr, point.fpr, point.precision), best)
    np.testing.assert_equal(rates(y, score, point.threshold), best)


@given(labeled_scores(), st.sampled_from([(1, 1), (1, 5), (3, 0)]))
def test_the_cheapest_of_all_thresholds(rows, cost):
    y, score = rows
    share = (y == 1).mean()
    expected = [
        cost[0] * (1 - share) * fpr + cost[1] * share * (1 - tpr)
        for tpr, fpr, _ in (
            rates(y, score, cut) for cut in [*np.unique(score), score.max() + 1]
        )
    ]
    point = rp.choose_threshold(y, score, cost=cost)
    assert point.expected_cost == pytest.approx(min(expected))
    low, high = point.expected_cost_interval
    assert low <= point.expected_cost <= high


@given(labeled_scores(), st.sampled_from(["max_fpr", "min_tpr"]))
def test_intervals_hold_the_rates(rows, name):
    point = rp.choose_threshold(*rows, **{name: 0.5})
    for rate in ("tpr", "fpr"):
        low, high = getattr(point, f"{rate}_interval")
        assert 0 <= low <= getattr(point, rate) <= high <= 1
    low, high = point.precision_interval
    assert 0 <= low <= high <= 1


def test_bounds_are_clopper_and_pearsons():
    # By their definition: at the bound, a count as extreme has the probability left.
    for count in (0, 3, 19):
        high = highest_rate(count, 20, 0.95)
        assert binom.cdf(count, 20, high) == pytest.approx(0.05)
    for count in (1, 3, 20):
        low = lowest_rate(count, 20, 0.95)
        assert binom.sf(count - 1, 20, low) == pytest.approx(0.05)
    assert highest_rate(20, 20, 0.95) == 1
    assert lowest_rate(0, 20, 0.95) == 0
    # The rule of three, exactly: 1 - .05^(1/n).
    assert highest_rate(0, 59, 0.95) == pytest.approx(1 - 0.05 ** (1 / 59))
    assert largest_count_below(0.05, 59, 0.95) == 0
    assert largest_count_below(0.05, 58, 0.95) == -1


def test_simultaneous_rates_hold_together():
    # The share of a uniform distribution above its k-th largest of n: all k at once.
    rng = np.random.default_rng(0)
    n_rows, n_tries = 200, 2000
    low, high = simultaneous_rates(n_rows, 0.9)
    above = np.sort(rng.random((n_tries, n_rows)))  # share above the k-th largest
    # With k rows above a threshold it stands between the k-th and the next largest.
    too_high = (above > high[:-1]).any(axis=1).mean()
    too_low = (above < low[1:]).any(axis=1).mean()
    assert too_high < 0.1
    assert too_low < 0.1
    assert (np.diff(high) >= 0).all()
    assert (low <= high).all()
    assert rising_ranks(3, 3).tolist() == [3]


def broken_promises(name, rate, n_rows, n_tries=400, **given_rate):
    """Share of chosen thresholds whose true rate breaks the promise."""
    rng = np.random.default_rng(1)
    broken = 0
    for _ in range(n_tries):
        y = (rng.random(n_rows) < 0.3).astype(int)
        score = rng.normal(size=n_rows) + 2.0 * y
        point = rp.choose_threshold(y, score, **{name: rate}, **given_rate)
        tpr, fpr = ndtr(2.0 - point.threshold), ndtr(-point.threshold)
        precision = 0.3 * tpr / (0.3 * tpr + 0.7 * fpr)
        broken += {
            "max_fpr": fpr > rate,
            "min_tpr": tpr < rate,
            "min_precision": precision < rate,
        }[name]
    return broken / n_tries


@pytest.mark.parametrize(
    ("name", "rate"), [("max_fpr", 0.05), ("min_tpr", 0.9), ("min_precision", 0.6)]
)
def test_promises_hold_for_new_rows_as_often_as_they_say(name, rate):
    # Three standard errors of a share of .1 among 400 are .045.
    assert broken_promises(name, rate, 400, confidence=0.9) < 0.1 + 0.045
    # Without confidence many do not.
    assert broken_promises(name, rate, 400) > 0.3


def test_promises_of_cost_hold_for_new_rows():
    rng = np.random.default_rng(2)
    broken = 0
    for _ in range(200):
        y = (rng.random(300) < 0.3).astype(int)
        score = rng.normal(size=300) + 2.0 * y
        point = rp.choose_threshold(y, score, cost=(1, 4), confidence=0.9)
        tpr, fpr = ndtr(2.0 - point.threshold), ndtr(-point.threshold)
        cost = 0.7 * fpr + 4 * 0.3 * (1 - tpr)
        broken += cost > point.expected_cost_interval[1]
    assert broken / 200 < 0.1


def test_ties_only_make_promises_safer():
    rng = np.random.default_rng(3)
    broken = 0
    for _ in range(400):
        y = (rng.random(300) < 0.5).astype(int)
        score = np.floor(rng.normal(size=300) + 2.0 * y)
        point = rp.choose_threshold(y, score, max_fpr=0.2, confidence=0.9)
        broken += ndtr(-np.ceil(point.threshold)) > 0.2
    assert broken / 400 < 0.1 + 0.045


def test_an_impossible_promise_says_what_is_possible():
    y, score = np.arange(40) % 2, np.arange(40) + 30 * (np.arange(40) % 2)
    # 20 negatives: 1 - .05^(1/20) = .1391; 20 positives: .05^(1/20) = .8609.
    with pytest.raises(ValueError, match=r"max_fpr = 0.01 is out of reach .*is 0.1392"):
        rp.choose_threshold(y, score, max_fpr=0.01, confidence=0.95)
    assert rp.choose_threshold(y, score, max_fpr=0.1392, confidence=0.95).fpr == 0
    with pytest.raises(ValueError, match=r"min_tpr = 0.99 is out of reach .*is 0.8608"):
        rp.choose_threshold(y, score, min_tpr=0.99, confidence=0.95)
    assert rp.choose_threshold(y, score, min_tpr=0.8608, confidence=0.95).tpr == 1
    with pytest.raises(ValueError, match=r"min_precision = 0.999 .*promised") as told:
        rp.choose_threshold(y, score, min_precision=0.999, confidence=0.95)
    possible = float(str(told.value).rsplit(" ", 1)[1].rstrip("."))
    assert possible > 0.5
    rp.choose_threshold(y, score, min_precision=possible, confidence=0.95)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, "exactly one of max_fpr, min_tpr, min_precision, cost must .*got none"),
        ({"max_fpr": 0.1, "cost": (1, 1)}, "exactly one .*got max_fpr and cost"),
        ({"max_fpr": 1.5}, "max_fpr must be in .0, 1., got 1.5"),
        ({"cost": (1, -1)}, "cost must not be negative or both 0"),
        ({"cost": 3}, "cost must be a pair"),
        ({"min_tpr": 0.5, "confidence": 2.0}, "confidence must be in .0, 1."),
        ({"min_tpr": 0.5, "scores": [1, 2]}, "y and scores must have the same length"),
    ],
)
def test_errors_name_the_argument_the_rule_and_the_value(change, message):
    arguments = {"y": [0, 0, 1], "scores": [1, 2, 3], **change}
    with pytest.raises(ValueError, match=message):
        rp.choose_threshold(**arguments)
