"""Subgroups: intervals of each, the test of equal values, and the largest gap."""

import numpy as np
import pytest

import rocpath as rp


def rows(n_rows=300, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n_rows) < 0.3
    return rng, y, rng.normal(size=n_rows) + y


def test_each_subgroup_has_the_interval_of_its_rows():
    rng, y, score = rows()
    by = rng.choice(["a", "b", "c"], y.size)
    found = rp.interval(y, score, by=by)
    everyone = rp.interval(y, score)
    assert (found.value, found.low, found.high) == (everyone.value, everyone.low, everyone.high)
    for label, part in found.subgroups.items():
        alone = rp.interval(y[by == label], score[by == label])
        assert (part.value, part.low, part.high) == (alone.value, alone.low, alone.high)
    values = [part.value for part in found.subgroups.values()]
    assert found.largest_gap.value == pytest.approx(max(values) - min(values))
    assert list(found.to_frame()["subgroup"]) == ["all", "a", "b", "c"]


def test_subgroups_without_a_class_are_shown_with_their_counts():
    _, y, score = rows()
    by = np.where(y, 0, np.arange(y.size) % 2)
    by[y & (np.arange(y.size) % 4 == 0)] = 2
    by[~y & (np.arange(y.size) % 4 == 0)] = 2
    found = rp.interval(y, score, by=by)
    assert set(found.subgroups) == {0, 1, 2}
    assert np.isnan(found.subgroups[1].value)
    assert found.subgroups[1].n_positives == 0
    assert 0 <= found.equality_p_value <= 1


def test_without_a_gap_the_interval_of_the_largest_gap_usually_contains_zero():
    n_without = n_rejected = 0
    for seed in range(100):
        rng, y, score = rows(seed=seed)
        found = rp.interval(y, score, by=rng.integers(0, 4, y.size))
        n_without += found.largest_gap.low == 0
        n_rejected += found.equality_p_value < 0.05
    # Three standard errors of a proportion of .95 with n = 100 are .065.
    assert n_without >= 88
    assert n_rejected <= 12


def test_a_difference_in_one_subgroup_is_an_interaction():
    rng, y, score = rows(900)
    by = np.arange(y.size) % 2
    # The second score is as good as the first one in subgroup 0, and random in subgroup 1.
    other = np.where(by == 0, score + 0.1 * rng.normal(size=y.size), rng.normal(size=y.size))
    found = rp.compare(y, {"a": score, "b": other}, by=by)
    assert found.equality_p_value < 1e-3
    assert found.largest_gap.low > 0
    gap = found.subgroups[1].difference - found.subgroups[0].difference
    assert found.largest_gap.value == pytest.approx(gap)
