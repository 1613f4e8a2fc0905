"""Robust, multi-column and mean-variance costs, compared with exhaustive search."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocpath import changepoint as cp
from rocpath.changepoint.observations import variance_floor
from tests import oracle_changepoint as oracle

VALUES = st.lists(st.integers(-6, 6), min_size=4, max_size=12)
SEEDS = st.integers(0, 10**6)


def weights_for(n, seed):
    return np.random.default_rng(seed).integers(1, 4, size=n).astype(float)


@st.composite
def label_rows(draw, n):
    """Draw non-overlapping labels for n observations."""
    ends = sorted(draw(st.sets(st.integers(0, n - 1), min_size=2, max_size=5)))
    kinds = st.sampled_from(["no_change", "one_change", "at_least_one_change", None])
    rows = [(a, b, draw(kinds)) for a, b in pairwise(ends)]
    return [row for row in rows if row[2] is not None]


def assert_best(x, cost_of, least_length, rows, **settings):
    """Check the costs of all models, and the best model for several penalties."""
    n = len(x)
    expected = oracle.best_array_costs(n, cost_of, least_length, rows)
    if rows:
        settings["labels"] = cp.Labels(*zip(*rows, strict=True))
    if not np.isfinite(expected).any():
        with pytest.raises(
            ValueError, match="must allow at least one segmentation, got none with max"
        ):
            cp.segment(x, n - 1, **settings)
        return
    models = cp.segment(x, n - 1, **settings)
    np.testing.assert_allclose(models.cost, expected, atol=1e-8)
    for penalty in (0.3, 2.0, 9.0, 40.0):
        best = cp.segment_penalty(x, penalty, **settings)
        least = min(c + penalty * k for k, c in enumerate(expected))
        assert best.cost + penalty * best.n_changes == pytest.approx(least, abs=1e-8)
        assert oracle.is_allowed(best.changes.tolist(), n, rows, least_length)


@pytest.mark.parametrize("cost", ["biweight", "huber"])
@given(st.data(), VALUES, SEEDS, st.sampled_from([0.5, 1.0, 1.7, 4.0]), st.integers(1, 4))
def test_robust_costs_equal_those_of_exhaustive_search(cost, data, x, seed, threshold, min_length):
    weight = weights_for(len(x), seed)
    assert_best(
        np.array(x, dtype=float),
        lambda a, b: oracle.robust_cost(x[a:b], weight[a:b], cost, threshold),
        min_length,
        data.draw(label_rows(len(x))),
        cost=cost,
        weights=weight,
        threshold=threshold,
        min_length=min_length,
    )


@given(st.data(), SEEDS, st.integers(1, 3), st.integers(1, 3))
def test_costs_of_several_columns_equal_those_of_exhaustive_search(data, seed, d, min_length):
    rng = np.random.default_rng(seed)
    x = rng.integers(-4, 5, size=(int(rng.integers(4, 13)), d)).astype(float)
    weight = weights_for(len(x), seed)
    assert_best(
        x,
        lambda a, b: oracle.column_cost(x[a:b], weight[a:b], "normal", np.zeros(d)),
        min_length,
        data.draw(label_rows(len(x))),
        weights=weight,
        min_length=min_length,
    )


@given(st.data(), SEEDS, st.integers(1, 2), st.integers(1, 3))
def test_mean_variance_costs_equal_those_of_exhaustive_search(data, seed, d, min_length):
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(int(rng.integers(4, 13)), d)), 2)
    x = x[:, 0] if d == 1 else x
    rows = x.reshape(len(x), -1)
    weight = weights_for(len(x), seed)
    floor = [variance_floor(one, weight) for one in rows.T]
    assert_best(
        x,
        lambda a, b: oracle.column_cost(rows[a:b], weight[a:b], "", floor),
        max(min_length, 2),
        data.draw(label_rows(len(x))),
        weights=weight,
        cost="mean_variance",
        min_length=min_length,
    )


def test_an_array_with_one_column_is_segmented_as_a_vector():
    rng = np.random.default_rng(0)
    x = np.repeat([0.0, 3.0, 1.0], 30) + rng.normal(size=90)
    for penalty in (0.5, 10.0, 40.0):
        one = cp.segment_penalty(x, penalty)
        other = cp.segment_penalty(x[:, None], penalty)
        assert one.changes.tolist() == other.changes.tolist()
        np.testing.assert_allclose(one.mean, other.mean[:, 0])
        assert one.cost == pytest.approx(other.cost)


def test_robust_costs_with_a_large_threshold_equal_the_normal_cost():
    rng = np.random.default_rng(1)
    x = np.repeat([0.0, 3.0, 1.0], 30) + rng.normal(size=90)
    for cost in ("biweight", "huber"):
        found = cp.segment_penalty(x, 10.0, cost=cost, threshold=1e3)
        expected = cp.segment_penalty(x, 10.0)
        assert found.changes.tolist() == expected.changes.tolist()
        np.testing.assert_allclose(found.mean, expected.mean)


@pytest.mark.parametrize("cost", ["normal", "mean_variance"])
@pytest.mark.parametrize("d", [1, 3])
def test_changes_equal_those_of_skchange(cost, d):
    detectors = pytest.importorskip("skchange.detectors")
    scorers = pytest.importorskip("skchange.interval_scorers")
    rng = np.random.default_rng(d)
    x = np.repeat(rng.normal(size=(8, d)) * 3, 25, axis=0) + rng.normal(size=(200, d))
    theirs = scorers.L2Cost() if cost == "normal" else scorers.GaussianCost()
    # The variance of shorter segments could be below our floor.
    pelt = detectors.PELT(cost=theirs, penalty=12.0, min_segment_length=5)
    found = cp.segment_penalty(x, 12.0, cost=cost, min_length=5)
    assert found.changes.tolist() == np.asarray(pelt.fit(x).predict(x)).tolist()


def test_spikes_and_heavy_tails_are_not_detected_as_changes():
    rng = np.random.default_rng(2)
    x = np.repeat([0.0, 5.0, 1.0], 200) + rng.standard_t(2, size=600)
    x[[50, 300, 301, 550]] += [80, -60, 70, 1e6]
    penalty = cp.default_penalty(x, cost="biweight")
    found = cp.segment_penalty(x, penalty, cost="biweight")
    assert found.changes == pytest.approx([200, 400], abs=3)
    assert found.mean == pytest.approx([0, 5, 1], abs=0.4)


def test_a_change_in_variance_is_found():
    rng = np.random.default_rng(3)
    x = rng.normal(size=400) * np.repeat([1.0, 4.0], 200)
    penalty = cp.default_penalty(x, cost="mean_variance")
    found = cp.segment_penalty(x, penalty, cost="mean_variance")
    assert found.changes == pytest.approx([200], abs=6)


def test_changes_in_some_of_the_columns_are_found():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(300, 4))
    x[100:, 0] += 2
    x[100:, 2] -= 2
    x[200:, 3] += 3
    found = cp.segment_penalty(x, cp.default_penalty(x))
    assert found.changes == pytest.approx([100, 200], abs=3)
    assert found.mean.shape == (3, 4)


def test_rows_with_missing_values_have_no_weight():
    rng = np.random.default_rng(5)
    x = np.repeat([[0.0, 0.0], [4.0, -4.0]], 30, axis=0) + rng.normal(size=(60, 2))
    gaps = np.insert(x, 30, np.nan, axis=0)
    found = cp.segment_penalty(gaps, 20.0)
    assert found.changes.tolist() == [31]
    assert found.n == 61
    robust = cp.segment_penalty(gaps[:, 0], 20.0, cost="biweight")
    plain = cp.segment_penalty(x[:, 0], 20.0, cost="biweight").changes
    assert robust.changes.tolist() == (plain + (plain >= 30)).tolist()


@pytest.mark.parametrize("cost", ["biweight", "huber", "mean_variance"])
def test_a_constant_sequence_has_no_changes_at_any_penalty(cost):
    assert cp.segment_penalty(np.ones(50), 0, cost=cost).n_changes == 0
    assert cp.segment_penalty(np.ones((50, 2)), 0).n_changes == 0


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"cost": "biweight", "constraint": "up_down"}, "constraint must be None for"),
        ({"threshold": 2.0}, "threshold must be None for cost='normal'"),
        ({"cost": "huber", "threshold": 0}, "threshold must be positive, got 0"),
        (
            {"cost": "mean_variance", "labels": cp.Labels([0], [2], ["peaks"])},
            "labels of peaks require constraint='up_down'",
        ),
        ({"cost": "biweight", "weights": np.zeros(9)}, "weights must be positive"),
    ],
)
def test_incompatible_settings_raise(settings, message):
    with pytest.raises(ValueError, match=message):
        cp.segment_penalty(np.arange(9.0), 1.0, **settings)
    with pytest.raises(ValueError, match="one-dimensional for cost='poisson'"):
        cp.segment_penalty(np.ones((9, 2)), 1.0, cost="poisson")


def test_rows_with_a_missing_value_reduce_the_number_of_changes():
    # Two rows are complete, so there is at most one change.
    x = np.array([[1, np.nan], [np.nan, 2], [3.0, 4.0], [9.0, 9.0], [1, np.nan]])
    labels = cp.Labels([2], [4], ["one_change"])
    errors = cp.errors_by_penalty(x, labels, max_changes=20)
    # The change at 3 reduces the cost by 6² / 2 + 5² / 2.
    assert errors.min_penalty.tolist() == [0.0, 30.5]
    assert errors.fn.tolist() == [0, 1]
