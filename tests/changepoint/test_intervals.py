"""Confidence intervals for the locations of changes."""

import numpy as np
import pytest

from rocpath import changepoint as cp
from rocpath.changepoint.intervals import location_intervals
from tests import oracle_changepoint as oracle


def definition(x, changes, cost_of, limit):
    """Return the first and last location whose profile cost is at most the smallest + limit."""
    edges = [0, *changes, len(x)]
    intervals = []
    for a, at, b in zip(edges, edges[1:], edges[2:], strict=False):
        costs = {t: cost_of(a, t) + cost_of(t, b) for t in range(a + 1, b)}
        inside = [t for t, one in costs.items() if one <= min(costs.values()) + limit]
        intervals.append([min(inside[0], at), max(inside[-1], at)])
    return intervals


def limit_of(x, fitted, confidence, n_changes):
    """Return the limit for independent or autocorrelated noise, from the definitions."""
    residual = x - fitted
    variance = (residual**2).mean()
    lag = (residual[:-1] @ residual[1:]) / (len(x) * variance)
    lag = np.clip(lag + (1 + 3 * lag) * (n_changes + 1) / len(x), 0, 0.98)
    return -2 * np.log(1 - np.sqrt(confidence)) * variance * (1 + lag) / (1 - lag)


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("cost", ["normal", "linear"])
def test_intervals_contain_the_locations_with_nearly_the_smallest_cost(cost, confidence):
    rng = np.random.default_rng(1)
    x = np.repeat([0.0, 1.5, -0.5], 20) + rng.normal(size=60)
    best = cp.segment_penalty(x, 9.0, cost=cost, min_length=5)
    weight = np.ones(60)

    def cost_of(a, b):
        if cost == "normal":
            return float(oracle.normal_cost(x[a:b], weight[a:b]))
        return oracle.line_cost(x[a:b], range(a, b), weight[a:b])

    limit = limit_of(x, best.fitted(), confidence, best.n_changes)
    intervals = location_intervals(x, best.changes, cost=cost, confidence=confidence)
    assert best.n_changes > 0
    assert intervals.tolist() == definition(x, best.changes.tolist(), cost_of, limit)


SIMULATIONS = {
    "normal": lambda rng: np.repeat([0.0, 2.0, 0.0], 60) + rng.normal(size=180),
    "biweight": lambda rng: np.repeat([0.0, 3.0, 0.0], 60) + rng.standard_t(5, size=180),
    "huber": lambda rng: np.repeat([0.0, 3.0, 0.0], 60) + rng.standard_t(5, size=180),
    "linear": lambda rng: (
        np.concatenate((0.1 * np.arange(60), 6 - 0.1 * np.arange(60), 4 + 0.1 * np.arange(60)))
        + 0.5 * rng.normal(size=180)
    ),
    "poisson": lambda rng: rng.poisson(np.repeat([4.0, 9.0, 3.0], 60)).astype(float),
    "exponential": lambda rng: rng.exponential(np.repeat([1.0, 5.0, 1.0], 60)),
    "geometric": lambda rng: rng.geometric(1 / (1 + np.repeat([2.0, 14.0, 2.0], 60))) - 1.0,
    "binomial": lambda rng: rng.binomial(8, np.repeat([0.2, 0.5, 0.1], 60)) / 8,
    "variance": lambda rng: rng.normal(0, np.repeat([1.0, 4.0, 1.0], 60)),
    "mean_variance": lambda rng: rng.normal(
        np.repeat([0.0, 2.0, 0.0], 60), np.repeat([1.0, 2.0, 1.0], 60)
    ),
}


@pytest.mark.parametrize("cost", SIMULATIONS)
def test_intervals_have_about_their_nominal_coverage(cost):
    # Sets of discrete locations are conservative. With 80 intervals and a coverage of .95, at
    # least 69 cover with probability .9996.
    rng = np.random.default_rng(5)
    n_covered = 0
    for _ in range(40):
        x = SIMULATIONS[cost](rng)
        weights = np.full(180, 8.0) if cost == "binomial" else None
        intervals = location_intervals(x, np.array([60, 120]), cost=cost, weights=weights)
        assert (intervals[:, 0] <= [60, 120]).all()
        # The known changes need not be the best ones, so the best ones are used.
        models = cp.segment(x, 2, cost=cost, weights=weights)
        changes = models.changes[2]
        found = location_intervals(x, changes, cost=cost, weights=weights)
        n_covered += int(np.sum((found[:, 0] <= [60, 120]) & (found[:, 1] >= [60, 120])))
    assert n_covered >= 69


def test_intervals_are_wider_in_autocorrelated_noise_and_with_more_confidence():
    rng = np.random.default_rng(2)
    white = rng.normal(size=300)
    noise = np.zeros(300)
    for t in range(1, 300):
        noise[t] = 0.6 * noise[t - 1] + 0.8 * white[t]
    level = np.repeat([0.0, 4.0], 150)
    width = {
        (kind, confidence): np.ptp(
            cp.detect_changes([level + one], confidence=confidence)[0].intervals[0]
        )
        for kind, one in (("white", white), ("correlated", noise))
        for confidence in (0.8, 0.99)
    }
    assert width["correlated", 0.99] > width["white", 0.99]
    assert width["correlated", 0.99] > width["correlated", 0.8]


def test_intervals_refer_to_indices_with_missing_observations():
    rng = np.random.default_rng(3)
    x = np.repeat([0.0, 3.0], 50) + rng.normal(size=100)
    gaps = np.insert(x, 20, [np.nan] * 7)
    plain, shifted = cp.detect_changes([x, gaps])
    assert (plain.intervals + 7).tolist() == shifted.intervals.tolist()
    low, high = plain.intervals[0]
    assert low <= plain.changes[0] <= high


def test_columns_share_the_intervals():
    rng = np.random.default_rng(4)
    x = np.repeat([[0.0, 0.0], [1.5, -2.0]], 60, axis=0) + rng.normal(size=(120, 2))
    (both,) = cp.detect_changes([x * [1.0, 1e6]])
    (one,) = cp.detect_changes([x[:, 0]])
    assert both.intervals[0, 0] <= 60 <= both.intervals[0, 1]
    assert np.ptp(both.intervals[0]) <= np.ptp(one.intervals[0])


def test_sequences_without_changes_have_no_intervals():
    (found,) = cp.detect_changes([np.zeros(30)])
    assert found.intervals.shape == (0, 2)
    assert found.gain.size == 0


def test_a_confidence_outside_zero_and_one_raises():
    with pytest.raises(ValueError, match="confidence must be"):
        cp.detect_changes([np.arange(9.0)], confidence=1.5)
