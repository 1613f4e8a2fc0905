"""Warnings about models that do not fit, seasonal patterns, and the choice of the cost."""

import numpy as np
import pytest

from rocpath import changepoint as cp
from rocpath.changepoint.seasons import dominant_period


def steps(rng, n=600):
    return np.repeat([0.0, 4.0, 1.0], n // 3) + rng.normal(size=n)


def wrong_models():
    """Return sequences whose segments do not have constant means, by the expected message."""
    rng = np.random.default_rng(0)
    time = np.arange(720)
    noise = rng.normal(size=720)
    return {
        "pass period=24": 3 * np.sin(2 * np.pi * time / 24) + noise,
        "pass cost='linear'": 0.02 * time + noise,
        "pass cost='biweight'": noise + 20.0 * (rng.random(720) < 0.01),
        "resembles a random walk": np.cumsum(np.random.default_rng(5).normal(size=720)),
    }


@pytest.mark.parametrize("message", wrong_models())
def test_a_wrong_model_is_reported_once_with_a_remedy(message):
    x = wrong_models()[message]
    with pytest.warns(UserWarning, match=f"sequence pump: .*{message}") as caught:
        (found,) = cp.detect_changes([x], names=["pump"])
    assert len(caught) == 1
    assert message in found.warnings[0]


def test_the_remedies_remove_the_warning():
    series = wrong_models()
    remedies = {
        "pass period=24": {"period": 24},
        "pass cost='linear'": {"cost": "linear"},
        "pass cost='biweight'": {"cost": "biweight"},
    }
    for message, settings in remedies.items():
        (found,) = cp.detect_changes([series[message]], **settings)
        assert found.warnings == ()
        assert found.n_changes == 0


def test_correct_models_are_not_reported():
    rng = np.random.default_rng(1)
    for _ in range(10):
        (found,) = cp.detect_changes([steps(rng)])
        assert found.warnings == ()
        assert found.n_changes in (2, 3)


def test_a_seasonal_pattern_is_fitted_together_with_the_segments():
    rng = np.random.default_rng(2)
    pattern = rng.normal(scale=3, size=30)
    pattern -= pattern.mean()
    x = steps(rng) + np.tile(pattern, 20)
    x[100] = np.nan
    (found,) = cp.detect_changes([x], period=30)
    assert found.changes.tolist() == [200, 400]
    # A phase has 20 observations of noise 1; the largest of 30 errors is below 4 / sqrt(20).
    assert found.season == pytest.approx(pattern, abs=0.9)
    residual = x - found.fitted() - np.tile(found.season, 20)
    assert np.nanstd(residual) == pytest.approx(1.0, abs=0.1)


def test_columns_have_their_own_patterns():
    rng = np.random.default_rng(3)
    pattern = rng.normal(scale=3, size=(30, 2))
    x = np.column_stack([steps(rng), steps(rng)]) + np.tile(pattern, (20, 1))
    (found,) = cp.detect_changes([x], period=30)
    assert found.changes.tolist() == [200, 400]
    assert found.season == pytest.approx(pattern - pattern.mean(axis=0), abs=0.9)


@pytest.mark.parametrize(
    ("period", "error", "message"),
    [
        (1, ValueError, "period must be"),
        (40, ValueError, "must have at least two periods of 40 observations, got 60"),
        ("1d", TypeError, "period must be a whole number of observations"),
        (7.0, TypeError, "period must be a whole number of observations"),
    ],
)
def test_invalid_periods_raise(period, error, message):
    with pytest.raises(error, match=message):
        cp.detect_changes([np.arange(60.0) % 7], period=period)


@pytest.mark.parametrize("period", [5, 24, 60])
def test_periods_are_found_in_spite_of_changes(period):
    rng = np.random.default_rng(4)
    x = steps(rng) + 3 * np.sin(2 * np.pi * np.arange(600) / period)
    found, size = dominant_period(x)
    assert found == pytest.approx(period, abs=1)
    assert size > 0.5
    assert dominant_period(np.zeros(50)) == (0, 0.0)


def test_auto_chooses_the_cost_of_each_sequence():
    rng = np.random.default_rng(5)
    line = np.concatenate((0.05 * np.arange(300), 15 - 0.05 * np.arange(300)))
    spikes = steps(rng)
    spikes[[50, 120, 350, 420, 500, 560]] += 25
    series = [steps(rng), line + rng.normal(size=600), spikes]
    found = cp.detect_changes(series, cost="auto")
    assert [one.model for one in found] == ["normal", "linear", "biweight"]
    assert [one.n_changes for one in found] == [2, 1, 2]
    with pytest.raises(ValueError, match="penalty must be None with cost='auto'"):
        cp.detect_changes(series, 3.0, cost="auto")
