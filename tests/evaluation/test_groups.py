"""Statistics of clustered rows, compared with loops over pairs and simulation."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import ndtri

import rocpath as rp
from rocpath.evaluation.metrics import AUC
from rocpath.evaluation.metrics.metric import column_of
from rocpath.sample import Sample, group_codes
from tests import oracle_auc

NAMES = ("value", "standard_error", "low", "high", "confidence")


@st.composite
def grouped_rows(draw):
    """Draw labels, two scores with ties, and groups, with each class in at least two."""
    n = draw(st.integers(6, 14))
    y, group, score, other = (
        np.array(draw(st.lists(st.integers(0, high), min_size=n, max_size=n)))
        for high in (1, 4, 3, 3)
    )
    for side in (0, 1):
        assume(len(set(group[y == side])) >= 2)
    return y, score, other, group


@given(grouped_rows())
def test_standard_errors_equal_obuchowskis(rows):
    y, score, other, group = rows
    assume(len(set(group)) < len(group))
    found = rp.auc_interval(y, score, groups=group)
    variance = oracle_auc.obuchowski_variance(score, y, group)
    assert found.standard_error**2 == pytest.approx(max(variance, 0), abs=1e-12)
    assert found.value == pytest.approx(rp.auc_interval(y, score).value)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.n_groups == len(set(group))
    both = rp.compare_auc(y, score, other, groups=group)
    assert both.low <= both.difference <= both.high
    assert 0 <= both.p_value <= 1


@given(grouped_rows())
def test_intervals_are_centered_at_the_auc_over_pairs_from_different_groups(rows):
    y, score, _, group = rows
    assume(len(set(group)) < len(group))
    sample = Sample.from_labels(y, groups=group)
    column = column_of(AUC(), sample, score.astype(float))
    expected = oracle_auc.auc_between_groups(score, y, group)
    assert column.jackknife.center == pytest.approx(float(expected))
    # Excluding a group changes the estimate to that of the other groups.
    for code in np.unique(sample.group):
        rest = sample.group != code
        if len(set(y[rest])) == 2 and len(set(group[rest])) > 2:
            pairs = oracle_auc.auc_between_groups
            if any(g != h for g in group[rest & (y == 1)] for h in group[rest & (y == 0)]):
                expected = float(pairs(score[rest], y[rest], group[rest]))
                assert column.jackknife.replicates[code] == pytest.approx(expected)


def test_groups_of_single_rows_do_not_change_results():
    rng = np.random.default_rng(0)
    y = rng.random(60) < 0.4
    score, other = rng.normal(size=(2, 60)) + y
    weight = rng.random(60)
    for extra in ({}, {"sample_weight": weight}, {"max_fpr": 0.3}):
        one = rp.auc_interval(y, score, **extra)
        two = rp.auc_interval(y, score, groups=rng.permutation(60), **extra)
        assert [getattr(one, k) for k in NAMES] == [getattr(two, k) for k in NAMES]
        one = rp.compare_auc(y, score, other, **extra)
        two = rp.compare_auc(y, score, other, groups=np.arange(60), **extra)
        assert (one.low, one.p_value) == (two.low, two.p_value)


def test_repeating_every_row_does_not_narrow_the_interval():
    rng = np.random.default_rng(1)
    y = np.arange(100) % 2
    score = rng.normal(size=100) + y
    alone = rp.auc_interval(y, score)
    four = rp.auc_interval(
        np.repeat(y, 4), np.repeat(score, 4), groups=np.repeat(np.arange(100), 4)
    )
    assert four.standard_error == pytest.approx(alone.standard_error)
    assert four.high - four.low == pytest.approx(alone.high - alone.low, rel=0.05)


def test_group_labels_of_any_type_are_encoded():
    expected = np.array([0, 0, 1, 2, 1])
    for labels in (
        [5, 5, 7, 9, 7],
        [-(2**60), -(2**60), 3, 2**60, 3],
        [0.5, 0.5, 1e9, -3.0, 1e9],
        ["a", "a", "b", "c", "b"],
        np.array(["2020-01-01", "2020-01-01", "2020-01-02", "2021-01-01", "2020-01-02"]).astype(
            "M8[D]"
        ),
        [True, True, "x", "y", "x"],
    ):
        code = group_codes("groups", labels, 5)
        same = code[:, None] == code
        np.testing.assert_array_equal(same, expected[:, None] == expected)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([1, 2], "groups must have one entry for each of the 6 rows, got 2"),
        ([7] * 6, "groups must have at least two different values, got only 7"),
        ([1, 1, 1, 2, 2, 2], "groups must include at least two groups with negative rows, got 1"),
        ([1, 2, None, 4, 4, 5], "groups must not have missing values, got None at index 2"),
        ([1, 2, np.nan, 4, 4, 5], "groups must not have missing values, got nan at"),
        ([[1]] * 6, "groups must be one-dimensional"),
    ],
)
def test_invalid_groups_raise(groups, message):
    y, score = [0, 0, 0, 1, 1, 1], [1, 2, 3, 2, 4, 5]
    with pytest.raises(ValueError, match=message):
        rp.auc_interval(y, score, groups=groups)


def clustered_sample(rng, n_groups, icc, distance):
    """Draw groups of 1 to 30 rows of both classes with a normal random effect."""
    code = np.repeat(np.arange(n_groups), rng.integers(1, 31, n_groups))
    y = rng.random(code.size) < 0.3
    common = rng.normal(size=n_groups)[code]
    noise = rng.normal(size=code.size)
    return y, np.sqrt(icc) * common + np.sqrt(1 - icc) * noise + distance * y, code


@pytest.mark.parametrize("icc", [0.0, 0.6])
def test_grouped_intervals_have_nominal_coverage(icc):
    rng = np.random.default_rng(3)
    n_covered = 0
    for _ in range(400):
        y, score, code = clustered_sample(rng, 30, icc, np.sqrt(2) * ndtri(0.8))
        found = rp.auc_interval(y, score, groups=code)
        n_covered += found.low <= 0.8 <= found.high
    # Four standard errors of a proportion of 0.95 with n = 400 are 0.044.
    assert abs(n_covered / 400 - 0.95) < 0.044


def test_intervals_that_ignore_groups_have_low_coverage():
    rng = np.random.default_rng(4)
    n_covered = 0
    for _ in range(200):
        # With one class per group, the random effect does not cancel.
        y, score, code = clustered_sample(rng, 40, 0.6, 0.0)
        y = code % 2 == 0
        score = score + np.sqrt(2) * ndtri(0.8) * y
        found = rp.auc_interval(y, score)
        n_covered += found.low <= 0.8 <= found.high
    assert n_covered / 200 < 0.7
