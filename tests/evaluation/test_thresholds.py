"""Thresholds with constraints, compared with enumeration, examples and simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import binom

import rocpath as rp
from rocpath.evaluation.rate_bounds import (
    geometric_ranks,
    highest_rate,
    lowest_rate,
    simultaneous_rates,
)

CONSTRAINTS = {
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
    is_predicted = score >= threshold
    tp, fp = (is_predicted & (y == 1)).sum(), (is_predicted & (y == 0)).sum()
    precision = tp / (tp + fp) if tp + fp else np.nan
    return tp / (y == 1).sum(), fp / (y == 0).sum(), precision


@given(
    labeled_scores(),
    st.sampled_from(sorted(CONSTRAINTS)),
    st.sampled_from([0.1, 0.2, 1 / 3, 0.5, 0.75]),
)
def test_the_best_threshold_that_satisfies_a_constraint_is_chosen(rows, name, rate):
    y, score = rows
    # Of all feasible thresholds, the best one predicts as many rows positive as possible,
    # or as few as possible for min_tpr.
    cuts = [rates(y, score, cut) for cut in [*np.unique(score), score.max() + 1]]
    feasible = {
        "max_fpr": [cut for cut in cuts if cut[1] <= rate + 1e-12],
        "min_tpr": [cut for cut in cuts if cut[0] >= rate - 1e-12],
        "min_precision": [cut for cut in cuts if cut[2] >= rate],
    }[name]
    if not feasible:
        with pytest.raises(ValueError, match=r"cannot be attained: with .* possible value"):
            rp.choose_threshold(y, score, **{name: rate})
        return
    best = feasible[-1] if name == "min_tpr" else feasible[0]
    point = rp.choose_threshold(y, score, **{name: rate})
    np.testing.assert_equal((point.tpr, point.fpr, point.precision), best)
    np.testing.assert_equal(rates(y, score, point.threshold), best)


@given(labeled_scores(), st.sampled_from([(1, 1), (1, 5), (3, 0)]))
def test_the_threshold_with_the_smallest_cost_is_chosen(rows, cost):
    y, score = rows
    share = (y == 1).mean()
    expected = [
        cost[0] * (1 - share) * fpr + cost[1] * share * (1 - tpr)
        for tpr, fpr, _ in (rates(y, score, cut) for cut in [*np.unique(score), score.max() + 1])
    ]
    point = rp.choose_threshold(y, score, cost=cost)
    assert point.expected_cost == pytest.approx(min(expected))
    low, high = point.expected_cost_interval
    assert low <= point.expected_cost <= high


@given(labeled_scores(), st.sampled_from(["max_fpr", "min_tpr"]))
def test_intervals_contain_the_rates(rows, name):
    point = rp.choose_threshold(*rows, **{name: 0.5})
    for rate in ("tpr", "fpr"):
        low, high = getattr(point, f"{rate}_interval")
        assert 0 <= low <= getattr(point, rate) <= high <= 1
    low, high = point.precision_interval
    assert 0 <= low <= high <= 1


def test_bounds_equal_clopper_and_pearsons():
    # By definition, a count at least this extreme has probability 0.05 at the bound.
    for count in (0, 3, 19):
        high = highest_rate(count, 20, 0.95)
        assert binom.cdf(count, 20, high) == pytest.approx(0.05)
    for count in (1, 3, 20):
        low = lowest_rate(count, 20, 0.95)
        assert binom.sf(count - 1, 20, low) == pytest.approx(0.05)
    assert highest_rate(20, 20, 0.95) == 1
    assert lowest_rate(0, 20, 0.95) == 0
    # The exact form of the rule of three is 1 - 0.05^(1/n).
    assert highest_rate(0, 59, 0.95) == pytest.approx(1 - 0.05 ** (1 / 59))


def test_simultaneous_bounds_hold_for_all_counts():
    rng = np.random.default_rng(0)
    n_rows, n_tries = 200, 2000
    low, high = simultaneous_rates(n_rows, 0.9)
    above = np.sort(rng.random((n_tries, n_rows)))  # probability of exceeding the k-th largest
    # A threshold with k rows above it lies between the k-th and the next largest row.
    too_high = (above > high[:-1]).any(axis=1).mean()
    too_low = (above < low[1:]).any(axis=1).mean()
    assert too_high < 0.1
    assert too_low < 0.1
    assert (np.diff(high) >= 0).all()
    assert (low <= high).all()
    assert geometric_ranks(3, 3).tolist() == [3]


def violation_rate(name, rate, n_rows, n_tries=400, **given_rate):
    """Return the share of chosen thresholds whose true rate violates the constraint."""
    rng = np.random.default_rng(1)
    n_violated = 0
    for _ in range(n_tries):
        y = (rng.random(n_rows) < 0.3).astype(int)
        score = rng.normal(size=n_rows) + 2.0 * y
        point = rp.choose_threshold(y, score, **{name: rate}, **given_rate)
        tpr, fpr = ndtr(2.0 - point.threshold), ndtr(-point.threshold)
        precision = 0.3 * tpr / (0.3 * tpr + 0.7 * fpr)
        n_violated += {
            "max_fpr": fpr > rate,
            "min_tpr": tpr < rate,
            "min_precision": precision < rate,
        }[name]
    return n_violated / n_tries


@pytest.mark.parametrize(
    ("name", "rate"), [("max_fpr", 0.05), ("min_tpr", 0.9), ("min_precision", 0.6)]
)
def test_guarantees_hold_for_new_rows_as_often_as_stated(name, rate):
    # Three standard errors of a proportion of 0.1 with n = 400 are 0.045.
    assert violation_rate(name, rate, 400, confidence=0.9) < 0.1 + 0.045
    # Without confidence, constraints are violated often.
    assert violation_rate(name, rate, 400) > 0.3


def test_bounds_on_costs_hold_for_new_rows():
    rng = np.random.default_rng(2)
    n_violated = 0
    for _ in range(200):
        y = (rng.random(300) < 0.3).astype(int)
        score = rng.normal(size=300) + 2.0 * y
        point = rp.choose_threshold(y, score, cost=(1, 4), confidence=0.9)
        tpr, fpr = ndtr(2.0 - point.threshold), ndtr(-point.threshold)
        cost = 0.7 * fpr + 4 * 0.3 * (1 - tpr)
        n_violated += cost > point.expected_cost_interval[1]
    assert n_violated / 200 < 0.1


def test_guarantees_hold_for_tied_scores():
    rng = np.random.default_rng(3)
    n_violated = 0
    for _ in range(400):
        y = (rng.random(300) < 0.5).astype(int)
        score = np.floor(rng.normal(size=300) + 2.0 * y)
        point = rp.choose_threshold(y, score, max_fpr=0.2, confidence=0.9)
        n_violated += ndtr(-np.ceil(point.threshold)) > 0.2
    assert n_violated / 400 < 0.1 + 0.045


def test_errors_about_impossible_constraints_state_the_possible_value():
    y, score = np.arange(40) % 2, np.arange(40) + 30 * (np.arange(40) % 2)
    # 20 negatives: 1 - 0.05^(1/20) = 0.1391; 20 positives: 0.05^(1/20) = 0.8609.
    with pytest.raises(ValueError, match=r"max_fpr = 0.01 cannot be guaranteed .*is 0.1392"):
        rp.choose_threshold(y, score, max_fpr=0.01, confidence=0.95)
    assert rp.choose_threshold(y, score, max_fpr=0.1392, confidence=0.95).fpr == 0
    with pytest.raises(ValueError, match=r"min_tpr = 0.99 cannot be guaranteed .*is 0.8608"):
        rp.choose_threshold(y, score, min_tpr=0.99, confidence=0.95)
    assert rp.choose_threshold(y, score, min_tpr=0.8608, confidence=0.95).tpr == 1
    with pytest.raises(ValueError, match=r"min_precision = 0.999 .*possible") as raised:
        rp.choose_threshold(y, score, min_precision=0.999, confidence=0.95)
    possible = float(str(raised.value).rsplit(" ", 1)[1].rstrip("."))
    assert possible > 0.5
    rp.choose_threshold(y, score, min_precision=possible, confidence=0.95)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, "at least one of max_fpr, min_tpr, min_precision, top, cost must be"),
        ({"top": 0}, "top must be"),
        ({"min_tpr": 0.5, "groups": [1, 1]}, "groups must have one entry for each of"),
        ({"max_fpr": 1.5}, "max_fpr must be in .0, 1., got 1.5"),
        ({"cost": (1, -1)}, "cost must be non-negative and not both 0"),
        ({"cost": 3}, "cost must be a pair"),
        ({"min_tpr": 0.5, "confidence": 2.0}, "confidence must be in .0, 1."),
        ({"min_tpr": 0.5, "scores": [1, 2]}, "y and scores must have the same length"),
    ],
)
def test_errors_name_the_argument_the_rule_and_the_value(change, message):
    arguments = {"y": [0, 0, 1], "scores": [1, 2, 3], **change}
    with pytest.raises(ValueError, match=message):
        rp.choose_threshold(**arguments)


RULES = {
    "max_fpr": lambda tpr, fpr, precision, rate: fpr <= rate + 1e-12,
    "min_tpr": lambda tpr, fpr, precision, rate: tpr >= rate - 1e-12,
    "min_precision": lambda tpr, fpr, precision, rate: precision >= rate,
}


@given(
    labeled_scores(),
    st.dictionaries(st.sampled_from(sorted(RULES)), st.sampled_from([0.2, 0.5, 0.75]), min_size=2),
    st.booleans(),
)
def test_several_constraints_agree_with_enumeration(rows, targets, has_cost):
    y, score = rows
    cuts = [rates(y, score, cut) for cut in [*np.unique(score), score.max() + 1]]
    good = [cut for cut in cuts if all(RULES[name](*cut, rate) for name, rate in targets.items())]
    extra = {"cost": (1, 2)} if has_cost else {}
    if not good:
        with pytest.raises(ValueError, match=r"no threshold satisfies|cannot be attained"):
            rp.choose_threshold(y, score, **targets, **extra)
        return
    point = rp.choose_threshold(y, score, **targets, **extra)
    found = point.tpr, point.fpr, point.precision
    if has_cost:
        n = (y == 0).sum(), (y == 1).sum()
        costs = [n[0] * fpr + 2 * n[1] * (1 - tpr) for tpr, fpr, _ in good]
        expected = min(costs)
        found_cost = n[0] * found[1] + 2 * n[1] * (1 - found[0])
        assert found_cost == pytest.approx(expected)
    else:
        # At the lowest threshold, as many rows as possible are predicted positive.
        np.testing.assert_equal(found, good[0])
    np.testing.assert_equal(rates(y, score, point.threshold), found)


def test_top_and_weights_of_a_small_example():
    y, score = np.array([1, 0, 1, 0, 0]), np.array([5.0, 4, 3, 2, 1])
    assert rp.choose_threshold(y, score, top=3).threshold == 2.5
    # Weighted FPR by threshold: 0, 0.75, 0.75, 0.875, 1.
    point = rp.choose_threshold(y, score, max_fpr=0.8, sample_weight=[1, 6, 1, 1, 1])
    assert (point.threshold, point.tpr, point.fpr) == (2.5, 1.0, 0.75)
    assert np.isnan(point.fpr_interval).all()
    # A weight of 0 removes a row; equal weights change nothing.
    point = rp.choose_threshold(y, score, max_fpr=0.4, sample_weight=[2, 0, 2, 2, 2])
    alone = rp.choose_threshold([1, 1, 0, 0], [5.0, 3, 2, 1], max_fpr=0.4)
    assert (point.threshold, point.fpr_interval) == (alone.threshold, alone.fpr_interval)
    with pytest.raises(ValueError, match="confidence must be None with unequal"):
        rp.choose_threshold(y, score, max_fpr=0.5, sample_weight=[1, 6, 1, 1, 1], confidence=0.9)


def test_several_guarantees_hold_simultaneously_for_new_rows():
    rng = np.random.default_rng(5)
    n_violated = n_found = 0
    for _ in range(300):
        y = (rng.random(600) < 0.3).astype(int)
        score = rng.normal(size=600) + 2.0 * y
        try:
            point = rp.choose_threshold(
                y, score, max_fpr=0.1, min_precision=0.6, min_tpr=0.5, confidence=0.9
            )
        except ValueError:
            continue
        n_found += 1
        tpr, fpr = ndtr(2.0 - point.threshold), ndtr(-point.threshold)
        precision = 0.3 * tpr / (0.3 * tpr + 0.7 * fpr)
        n_violated += fpr > 0.1 or tpr < 0.5 or precision < 0.6
    assert n_found > 200
    # Three standard errors of a proportion of 0.1 with n = 200 are 0.064.
    assert n_violated / n_found < 0.1 + 0.064


@pytest.mark.parametrize(("name", "rate"), [("max_fpr", 0.2), ("min_tpr", 0.7)])
def test_guarantees_hold_for_new_groups(name, rate):
    rng = np.random.default_rng(6)
    n_groups, n_tries = 60, 300
    n_violated = {True: 0, False: 0}
    for _ in range(n_tries):
        # Rows of a group have nearly equal noise, so they are far from independent.
        code = np.repeat(np.arange(n_groups), 8)
        y = (rng.random(code.size) < 0.5).astype(int)
        common = np.sqrt(0.9) * rng.normal(size=n_groups)[code]
        score = common + np.sqrt(0.1) * rng.normal(size=code.size) + 2.0 * y
        for is_grouped in n_violated:
            point = rp.choose_threshold(
                y, score, confidence=0.9, groups=code if is_grouped else None, **{name: rate}
            )
            tpr, fpr = ndtr(2.0 - point.threshold), ndtr(-point.threshold)
            n_violated[is_grouped] += fpr > rate if name == "max_fpr" else tpr < rate
    # Three standard errors of a proportion of 0.1 with n = 300 are 0.052.
    assert n_violated[True] / n_tries < 0.1 + 0.052
    assert n_violated[False] / n_tries > 0.2


def test_constraints_without_a_bound_for_groups_raise():
    y, score, group = np.arange(40) % 2, np.arange(40), np.arange(40) // 4
    for constraint in ({"min_precision": 0.6}, {"cost": (1, 1)}):
        with pytest.raises(ValueError, match="must be None with groups: a guarantee"):
            rp.choose_threshold(y, score, groups=group, confidence=0.9, **constraint)
    with pytest.raises(ValueError, match=r"max_fpr = 0.01 cannot be guaranteed .*10 groups"):
        rp.choose_threshold(y, score, groups=group, max_fpr=0.01, confidence=0.9)


def test_messages_state_the_requested_confidence():
    y, score = np.arange(400) % 2, np.arange(400) + 150 * (np.arange(400) % 2)
    with pytest.raises(ValueError, match=r"guaranteed with confidence 0\.95:"):
        rp.choose_threshold(y, score, max_fpr=0.001, min_tpr=0.5, confidence=0.95)
