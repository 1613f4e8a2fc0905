"""Worth of changes, compared with segmentations for other penalties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocpath import changepoint as cp
from rocpath.changepoint.cost_properties import COSTS
from tests import oracle_changepoint as oracle


@given(st.integers(0, 10**6), st.sampled_from([0.7, 3.1, 9.7]))
def test_changes_persist_exactly_within_their_penalty_limits(seed, penalty):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=12) * 3
    best = cp.segment_penalty(x, penalty)
    worth = cp.change_worth(x, best, max_changes=11)
    for change, low, high in zip(worth.changes, worth.min_penalty, worth.max_penalty, strict=True):
        assert low <= penalty <= high
        for inside in np.linspace(low, high, 7)[1:-1]:
            assert change in cp.segment_penalty(x, inside).changes
        assert change not in cp.segment_penalty(x, 1.0001 * high).changes
        if low > 0:
            assert change not in cp.segment_penalty(x, 0.9999 * low).changes


@pytest.mark.parametrize("cost", [*oracle.COSTS, "biweight", "mean_variance"])
def test_the_gain_is_the_increase_in_cost_if_a_change_is_removed(cost):
    rng = np.random.default_rng(3)
    x = np.minimum(rng.poisson(np.repeat([3.0, 12.0, 6.0], 20)), 20)
    x = np.array(oracle.allowed_values(x, cost), dtype=float)
    weight = rng.integers(1, 4, size=60).astype(float)
    penalty = 8.0 if COSTS[cost].deviance_unit == 1 else 1.0
    best = cp.segment_penalty(x, penalty, cost=cost, weights=weight)
    worth = cp.change_worth(x, best, cost=cost, weights=weight)
    assert best.n_changes >= 2
    if cost not in oracle.COSTS:
        assert (worth.gain > 0).all()
        return
    edges = [0, *best.changes, 60]
    for k, gain in enumerate(worth.gain):
        a, b, c = edges[k : k + 3]
        parts = [slice(a, c), slice(a, b), slice(b, c)]
        whole, left, right = (oracle.COSTS[cost](x[s], weight[s]) for s in parts)
        assert gain == pytest.approx(whole - left - right)


def test_penalty_limits_of_long_sequences_are_nan():
    x = np.repeat([0.0, 9.0], 10**6)
    x[::2] += 1.0
    worth = cp.change_worth(x, cp.segment_penalty(x, 100.0))
    assert worth.changes.tolist() == [10**6]
    assert np.isnan(worth.max_penalty).all()
