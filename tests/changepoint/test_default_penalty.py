"""The penalty to begin with."""

import numpy as np
import pytest

from rocpath import changepoint as cp


def test_it_is_that_of_schwarz_with_the_noise_of_neighbors():
    # Differences 2, 2, 2, 8: median 2, whatever the change of 8 is.
    sigma = 2 / (0.6744897501960817 * np.sqrt(2))
    expected = 2 * sigma**2 * np.log(5)
    assert cp.default_penalty([0, 2, 0, 2, 10]) == pytest.approx(expected)
    assert cp.default_penalty([0, 2, 0, 2, 1e6]) == pytest.approx(expected)


def test_noise_is_measured_well_and_pure_noise_has_few_changes():
    rng = np.random.default_rng(0)
    x = 3 * rng.normal(size=10_000)
    expected = 2 * 9 * np.log(10_000)
    assert cp.default_penalty(x) == pytest.approx(expected, rel=0.05)
    n_changes = [
        cp.segment_penalty(one, cp.default_penalty(one)).n_changes
        for one in rng.normal(size=(50, 400))
    ]
    assert np.mean(n_changes) < 0.5


def test_scale_and_shift_of_the_data_change_nothing():
    rng = np.random.default_rng(1)
    x = np.repeat([0.0, 4.0], 50) + rng.normal(size=100)
    penalty = cp.default_penalty(x)
    assert cp.default_penalty(1e-9 * x + 5) == pytest.approx(1e-18 * penalty)


def test_counts_pay_log_n_and_more_if_they_vary_more_than_poisson():
    rng = np.random.default_rng(2)
    counts = rng.poisson(50, size=5000).astype(float)
    log_n = np.log(5000)
    assert cp.default_penalty(counts, cost="poisson") == pytest.approx(log_n, rel=0.1)
    # Ten times a Poisson count has ten times the variance of one with its mean.
    spread = cp.default_penalty(10 * counts, cost="poisson")
    assert spread == pytest.approx(10 * log_n, rel=0.1)


def test_weights_are_those_of_precise_observations():
    rng = np.random.default_rng(3)
    weight = rng.choice([1.0, 25.0], size=4000)
    x = rng.normal(size=4000) / np.sqrt(weight)
    expected = 2 * np.log(4000)
    assert cp.default_penalty(x, weights=weight) == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("x", [[1.0], [3.0] * 20, [0.0] * 5])
@pytest.mark.parametrize("cost", ["normal", "poisson"])
def test_constant_sequences_have_no_changes(x, cost):
    penalty = cp.default_penalty(x, cost=cost)
    assert cp.segment_penalty(x, penalty, cost=cost).n_changes == 0


def test_steps_without_noise_are_found():
    x = np.repeat([0.0, 5.0, 1.0], 20)
    found = cp.segment_penalty(x, cp.default_penalty(x))
    assert found.changes.tolist() == [20, 40]


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="cost must be"):
        cp.default_penalty([1.0, 2.0], cost="other")
    with pytest.raises(ValueError, match="weights"):
        cp.default_penalty([1.0, 2.0], weights=[1.0])
