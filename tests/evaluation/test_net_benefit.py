"""Net benefit against its definition, with costs of rows, and decision curves."""

import numpy as np
import pytest

import rocpath as rp


def probabilities(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n_rows) < 0.3
    return y, 1 / (1 + np.exp(1.5 - rng.normal(size=n_rows) - 1.5 * y))


def test_net_benefit_equals_its_definition():
    y, p = probabilities()
    curve = rp.net_benefit(y, p, [0.1, 0.25, 0.6])
    for point in curve:
        odds = point.threshold / (1 - point.threshold)
        is_predicted = p >= point.threshold
        benefit = (y[is_predicted].sum() - odds * (~y[is_predicted]).sum()) / y.size
        assert point.value == pytest.approx(benefit)
        assert point.treat_all == pytest.approx(y.mean() - odds * (1 - y.mean()))
        assert point.low < point.value < point.high
        assert rp.threshold_table(y, p, point.threshold)[0].net_benefit[:] == point[1:4]
    assert len(rp.net_benefit(y, p)) == 99
    assert len(repr(rp.net_benefit(y, p)).splitlines()) < 16


def test_treating_all_equals_the_model_below_its_lowest_probability():
    y, p = probabilities()
    for prevalence in (None, 0.05):
        point = rp.net_benefit(y, np.maximum(p, 0.2), 0.1, prevalence=prevalence)[0]
        assert point.value == pytest.approx(point.treat_all)


def test_costs_of_rows_replace_the_weight_of_the_threshold():
    y, p = probabilities()
    rng = np.random.default_rng(1)
    amount = rng.exponential(100, y.size)
    (point,) = rp.net_benefit(y, p, 0.3, cost=amount)
    is_predicted = p >= 0.3
    saved = amount[y & is_predicted].sum() - amount[~y & is_predicted].sum()
    assert point.value == pytest.approx(saved / y.size)
    # Equal costs of one: the share of true positives minus that of false positives.
    equal = rp.net_benefit(y, p, 0.3, cost=np.ones(y.size))[0]
    half = rp.net_benefit(y, p, 0.5)[0]
    (at_half,) = rp.net_benefit(y, p, 0.5, cost=np.ones(y.size))
    assert at_half.value == pytest.approx(half.value)
    assert at_half.low == pytest.approx(half.low, abs=0.01)
    assert equal.high > equal.value > equal.low


def test_thresholds_minimize_the_costs_of_rows():
    y, p = probabilities()
    amount = np.random.default_rng(2).exponential(100, y.size)
    point = rp.choose_threshold(y, p, cost=amount)
    costs = [amount[(p >= at) != y].sum() for at in np.append(np.unique(p), 2)]
    assert point.expected_cost == pytest.approx(min(costs) / y.size)
    assert amount[(p >= point.threshold) != y].sum() == pytest.approx(min(costs))
    # Costs that depend only on the class are a pair of costs.
    by_class = rp.choose_threshold(y, p, cost=np.where(y, 20.0, 1.0))
    assert by_class.threshold == rp.choose_threshold(y, p, cost=(1, 20)).threshold
    with pytest.raises(ValueError, match="confidence must be None with the costs of rows"):
        rp.choose_threshold(y, p, cost=amount, confidence=0.95)
    with pytest.raises(ValueError, match="cost must not be negative"):
        rp.choose_threshold(y, p, cost=-amount)


def test_groups_widen_the_interval():
    y, p = probabilities()
    code = np.repeat(np.arange(y.size), 4)
    amount = np.ones(code.size)
    for cost in (None, amount):
        many = rp.net_benefit(y[code], p[code], 0.3, groups=code, cost=cost)[0]
        same = rp.net_benefit(y, p, 0.3, cost=None if cost is None else amount[: y.size])[0]
        assert many.value == pytest.approx(same.value)
        assert many.high - many.low == pytest.approx(same.high - same.low, rel=0.05)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"thresholds": [0.5, 1.0]}, r"thresholds must be in \(0, 1\), got 1.0 at index 1"),
        ({"cost": np.ones(3)}, "cost"),
        ({"cost": np.ones(300), "prevalence": 0.1}, "prevalence must be None with cost"),
    ],
)
def test_invalid_arguments_raise(options, message):
    with pytest.raises(ValueError, match=message):
        rp.net_benefit(*probabilities(), **options)
    with pytest.raises(ValueError, match=r"probability must be in \[0, 1\]"):
        rp.net_benefit([0, 1], [0.5, 1.5])
