"""The default penalty, and the noise it is estimated from."""

import numpy as np
import pytest

from rocpath import changepoint as cp
from rocpath.changepoint.penalty_default import choose_penalty


def test_penalty_of_a_short_sequence_is_proportional_to_its_variance():
    x = np.array([0.0, 2, 0, 2, 10])
    expected = 3 * x.var() * np.log(5)
    assert cp.default_penalty(x) == pytest.approx(expected)


def autoregressive(n, rho, rng):
    noise = rng.normal(size=n)
    for t in range(1, n):
        noise[t] = rho * noise[t - 1] + np.sqrt(1 - rho**2) * noise[t]
    return noise


@pytest.mark.parametrize("rho", [0.3, 0.6, 0.9])
def test_penalty_depends_on_the_long_run_variance_of_autocorrelated_noise(rho):
    rng = np.random.default_rng(4)
    x = autoregressive(20_000, rho, rng)
    expected = 2 * np.log(x.size) * (1 + rho) / (1 - rho)
    assert cp.default_penalty(x) == pytest.approx(expected, rel=0.2)
    found = [
        cp.segment_penalty(one, cp.default_penalty(one)).n_changes
        for one in (autoregressive(600, rho, rng) for _ in range(30))
    ]
    assert np.mean(found) < 0.5


def test_changes_in_autocorrelated_and_rounded_noise_are_found():
    rng = np.random.default_rng(5)
    level = np.repeat([0.0, 8.0, 2.0], 200)
    noisy = level + autoregressive(600, 0.6, rng)
    rounded = np.round(level + rng.normal(size=600))
    for x in (noisy, rounded):
        found = cp.segment_penalty(x, cp.default_penalty(x)).changes
        assert found == pytest.approx([200, 400], abs=3)


@pytest.mark.parametrize("cost", ["normal", "biweight", "huber"])
def test_penalty_is_positive_if_most_values_are_equal(cost):
    x = np.zeros(400)
    x[::9] = np.random.default_rng(7).exponential(size=45)
    penalty = cp.default_penalty(x, cost=cost)
    assert penalty > 0
    assert cp.segment_penalty(x, penalty, cost=cost).n_changes < 40


def test_spikes_count_as_noise():
    x = np.zeros(2000)
    x[::25] = np.random.default_rng(8).lognormal(size=80)
    # All variation is noise without autocorrelation around one level.
    assert cp.default_penalty(x) == pytest.approx(2 * x.var() * np.log(x.size), rel=0.1)
    x[1000:] += 40
    assert 1000 in cp.segment_penalty(x, cp.default_penalty(x)).changes.tolist()


def test_missing_observations_are_ignored():
    rng = np.random.default_rng(6)
    x = np.repeat([0.0, 6.0], 50) + rng.normal(size=100)
    gaps = np.insert(x, [10, 50, 50, 80], np.nan)
    assert cp.default_penalty(gaps) == cp.default_penalty(x)


def test_noise_is_estimated_accurately_and_pure_noise_has_few_changes():
    rng = np.random.default_rng(0)
    x = 3 * rng.normal(size=10_000)
    expected = 2 * 9 * np.log(10_000)
    assert cp.default_penalty(x) == pytest.approx(expected, rel=0.05)
    n_changes = [
        cp.segment_penalty(one, cp.default_penalty(one)).n_changes
        for one in rng.normal(size=(50, 400))
    ]
    assert np.mean(n_changes) < 0.5


def test_penalty_scales_with_the_square_of_the_data_and_ignores_shifts():
    rng = np.random.default_rng(1)
    x = np.repeat([0.0, 4.0], 50) + rng.normal(size=100)
    penalty = cp.default_penalty(x)
    assert cp.default_penalty(1e-9 * x + 5) == pytest.approx(1e-18 * penalty)


def test_penalty_of_counts_is_their_dispersion_times_log_n():
    rng = np.random.default_rng(2)
    counts = rng.poisson(50, size=5000).astype(float)
    log_n = np.log(5000)
    assert cp.default_penalty(counts, cost="poisson") == pytest.approx(log_n, rel=0.1)
    # Multiplying Poisson counts by ten gives a dispersion of ten.
    spread = cp.default_penalty(10 * counts, cost="poisson")
    assert spread == pytest.approx(10 * log_n, rel=0.1)


@pytest.mark.parametrize("p", [0.05, 0.5])
def test_penalty_of_fractions_is_their_dispersion_times_log_n(p):
    rng = np.random.default_rng(9)
    log_n = np.log(5000)
    binary = rng.binomial(1, p, size=5000)
    assert cp.default_penalty(binary, cost="binomial") == pytest.approx(log_n, rel=0.1)
    # The probabilities of ten trials have the variance p (1 - p) / 5, which adds 9/5 to the
    # dispersion.
    of_ten = rng.binomial(10, rng.beta(4 * p, 4 * (1 - p), size=5000)) / 10
    found = cp.default_penalty(of_ten, cost="binomial", weights=np.full(5000, 10))
    assert found == pytest.approx(2.8 * log_n, rel=0.3)


@pytest.mark.parametrize("scale", [1.0, 1e50, 1e-50])
def test_penalties_of_ratios_do_not_depend_on_the_scale(scale):
    rng = np.random.default_rng(10)
    times, noise = scale * rng.exponential(size=5000), scale * rng.normal(size=5000)
    log_n = np.log(5000)
    assert cp.default_penalty(times, cost="exponential") == pytest.approx(log_n, rel=0.15)
    assert cp.default_penalty(noise, cost="variance") == pytest.approx(2 * log_n, rel=0.15)
    # Sums of 4 times have 1/4 of the dispersion, but the penalty assumes at least 1.
    even = times.reshape(-1, 4).sum(axis=1)
    assert cp.default_penalty(even, cost="exponential") == pytest.approx(np.log(1250))


def test_weights_are_inverse_variances():
    rng = np.random.default_rng(3)
    weight = rng.choice([1.0, 25.0], size=4000)
    x = rng.normal(size=4000) / np.sqrt(weight)
    expected = 2 * np.log(4000)
    assert cp.default_penalty(x, weights=weight) == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize("x", [[1.0], [3.0] * 20, [0.0] * 5])
@pytest.mark.parametrize("cost", ["normal", "poisson", "variance"])
def test_constant_sequences_have_no_changes(x, cost):
    penalty = cp.default_penalty(x, cost=cost)
    assert cp.segment_penalty(x, penalty, cost=cost).n_changes == 0


def test_steps_without_noise_are_found():
    x = np.repeat([0.0, 5.0, 1.0], 20)
    found = cp.segment_penalty(x, cp.default_penalty(x))
    assert found.changes.tolist() == [20, 40]


def test_invalid_arguments_raise():
    with pytest.raises(ValueError, match="cost must be"):
        cp.default_penalty([1.0, 2.0], cost="other")
    with pytest.raises(ValueError, match="weights"):
        cp.default_penalty([1.0, 2.0], weights=[1.0])


@pytest.mark.parametrize(
    ("x", "settings", "error", "message"),
    [
        # Short sequences are checked too.
        ([-1.0, -2.0, 3.0], {"cost": "poisson"}, ValueError, "must not be negative for cost='poi"),
        ([0.0, 2.0, 3.0], {"cost": "exponential"}, ValueError, "at least 1e-100 for cost='expo"),
        (np.ones((3, 2)), {"cost": "variance"}, ValueError, "one-dimensional for cost='variance'"),
        ([1.0, 2.0, 3.0], {"weights": [0, 0, 0]}, ValueError, "weights must be positive, got 0"),
        ([["a", "b"]], {}, TypeError, "x must be real numbers"),
        (["a", "b"], {"cost": "mean_variance"}, TypeError, "x must be real numbers"),
        (np.zeros((3, 2, 2)), {}, ValueError, "x must be one-dimensional"),
    ],
)
def test_invalid_observations_raise(x, settings, error, message):
    with pytest.raises(error, match=message):
        cp.default_penalty(x, **settings)


def test_penalty_of_fewer_than_two_observations_is_zero():
    for x in ([], [1.0], [np.nan, 3.0]):
        for cost in ("normal", "poisson", "mean_variance"):
            assert cp.default_penalty(x, cost=cost) == 0.0


def test_a_penalty_may_have_any_numeric_type():
    x = np.repeat([0.0, 5.0], 50)
    for penalty in (30, 30.0, np.int64(30), np.float32(30), [30.0], np.array([30])):
        assert cp.detect_changes([x], penalty)[0].changes.tolist() == [50]


@pytest.mark.parametrize("length", [10, 15, 25, 50])
def test_levels_that_change_often_are_not_autocorrelated_noise(length):
    rng = np.random.default_rng(length)
    n_segments = 2000 // length
    x = np.repeat(np.tile([0.0, 4.0], n_segments // 2), length)
    x = x + rng.normal(size=x.size)
    found = cp.segment_penalty(x, cp.default_penalty(x)).changes
    changes = np.arange(length, x.size, length)
    distance = np.abs(changes[:, None] - found).min(axis=1)
    assert np.mean(distance <= 2) >= 0.95
    assert found.size <= 1.05 * changes.size


def test_autocorrelated_noise_is_not_a_sequence_of_levels():
    rng = np.random.default_rng(0)
    n_false = 0
    for _ in range(20):
        x = np.zeros(1000)
        for t, innovation in enumerate(rng.normal(size=1000)):
            x[t] = 0.9 * x[t - 1] + innovation
        n_false += cp.segment_penalty(x, cp.default_penalty(x)).n_changes
    assert n_false <= 10  # one for 2,000 observations


def test_an_alternative_with_many_changes_is_reported_but_not_used():
    # Steps in the same direction resemble a trend.
    x = np.repeat(3.0 * np.arange(15), 40) + np.random.default_rng(1).normal(size=600)
    choice = choose_penalty(x)
    assert choice.alternative is not None
    assert choice.alternative < choice.penalty
    best = cp.segment_penalty(x, choice.alternative)
    assert choice.n_changes == best.n_changes == 14
    assert cp.segment_penalty(x, choice.penalty).n_changes < 14


def test_columns_with_slow_drift_do_not_cause_changes():
    rng = np.random.default_rng(2)
    innovation = rng.normal(size=(900, 3))
    drift = np.zeros((900, 3))
    for t in range(1, 900):
        drift[t] = 0.98 * drift[t - 1] + innovation[t]
    noise = np.round(rng.normal(size=(900, 3)))
    constant = np.ones((900, 1))
    level = np.repeat([0.0, 4.0, 0.0], 300)[:, None]
    x = np.hstack((drift, noise + level, constant)) * [1e3, 1, 1e-3, 1, 10, 1e5, 1]
    (found,) = cp.detect_changes([x])
    assert found.changes == pytest.approx([300, 600], abs=3)
