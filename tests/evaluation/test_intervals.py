"""Intervals and tests of AUCs, compared with sums over pairs, simulation and papers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri, stdtrit

import rocpath as rp
from rocpath.evaluation.influence import auc_with_influence, descending_order
from tests import oracle_auc

rates = st.sampled_from([1 / 16, 1 / 4, 1 / 3, 1 / 2, 0.9, 1.0])


@st.composite
def labeled_scores(draw, least=1, weights=(1,)):
    """Draw rows (is_positive, score, weight) of both classes, most with tied scores."""
    size = draw(st.integers(least, 7)), draw(st.integers(least, 7))
    return [
        (k == 0, draw(st.integers(0, 4)), draw(st.sampled_from(weights)))
        for k in (0, 1)
        for _ in range(size[k])
    ]


def columns(rows):
    return tuple(np.array(column) for column in zip(*rows, strict=True))


@given(labeled_scores(least=2), st.randoms(use_true_random=False))
def test_standard_errors_equal_delongs(rows, random):
    y, score, _ = columns(rows)
    other = np.array([random.randint(0, 4) for _ in rows])
    one, two = rp.auc_interval(y, score), rp.auc_interval(y, other)
    assert one.value == pytest.approx(float(oracle_auc.auc(rows)))
    variance = oracle_auc.delong_variance(score, y)
    assert one.standard_error**2 == pytest.approx(variance, abs=1e-12)
    both = rp.compare_auc(y, score, other)
    expected = (
        variance
        + oracle_auc.delong_variance(other, y)
        - 2 * oracle_auc.delong_variance(score, y, other)
    )
    assert both.difference == pytest.approx(one.value - two.value)
    assert both.asymptotic_standard_error**2 == pytest.approx(expected, abs=1e-12)
    assert both.standard_error >= both.asymptotic_standard_error


@given(labeled_scores(weights=(1, 2, 5)), rates)
def test_influence_is_the_derivative_of_the_area_with_respect_to_a_weight(rows, max_fpr):
    y, score, weight = columns(rows)
    area, influence = auc_with_influence(
        score.astype(float), y, weight.astype(float), max_fpr=max_fpr
    )
    assert area == pytest.approx(float(oracle_auc.partial_auc(rows, max_fpr)))
    step = oracle_auc.Fraction(1, 10**7)
    for k, row in enumerate(rows):
        moved = [
            oracle_auc.partial_auc(
                [*rows[:k], (*row[:2], row[2] + change), *rows[k + 1 :]], max_fpr
            )
            for change in (step, -step)
        ]
        # If max_fpr is at the boundary between two ranks, the one-sided derivatives differ.
        here = oracle_auc.partial_auc(rows, max_fpr)
        sides = sorted([float(moved[0] - here), float(here - moved[1])])
        slope = influence[k] / weight[k]
        assert sides[0] / float(step) - 1e-5 <= slope
        assert slope <= sides[1] / float(step) + 1e-5


@given(labeled_scores(weights=(0.5, 1, 3)), rates, st.sampled_from([0.5, 0.95, 0.999]))
def test_intervals_contain_the_value_and_stay_within_bounds(rows, max_fpr, confidence):
    y, score, weight = columns(rows)
    given_weight = {"sample_weight": weight, "max_fpr": max_fpr}
    area = rp.auc_interval(y, score, confidence=confidence, **given_weight)
    assert 0 <= area.low <= area.value <= area.high <= max_fpr
    assert area.high - area.low > 0.01 * max_fpr
    other = rp.compare_auc(y, score, -score, confidence=confidence, **given_weight)
    assert -max_fpr <= other.low + 1e-12
    assert other.low <= other.difference <= other.high
    assert other.high - 1e-12 <= max_fpr
    assert 0 <= other.p_value <= 1


@given(labeled_scores(weights=(1, 2)), st.sampled_from([0.25, 1.0]))
def test_results_depend_only_on_ranks_and_relative_weights(rows, max_fpr):
    y, score, weight = columns(rows)
    one = rp.auc_interval(y, score, sample_weight=weight, max_fpr=max_fpr)
    two = rp.auc_interval(y, np.exp(score), sample_weight=3 * weight, max_fpr=max_fpr)
    flipped = rp.auc_interval(y, -score, sample_weight=weight)
    for name in ("value", "standard_error", "low", "high"):
        assert getattr(one, name) == pytest.approx(getattr(two, name), abs=1e-9)
    if max_fpr == 1:
        assert flipped.low == pytest.approx(1 - one.high, abs=1e-9)
        assert flipped.high == pytest.approx(1 - one.low, abs=1e-9)


def test_standard_error_of_hanley_and_mcneil_equals_the_published_one():
    # Their 1982 ratings of 58 normal and 51 abnormal images, on a five-point scale.
    # Stata's manual ([R] roctab) prints DeLong's standard error and normal interval.
    normal, abnormal = [33, 6, 6, 11, 2], [3, 2, 2, 11, 33]
    rating = np.repeat([1, 2, 3, 4, 5] * 2, normal + abnormal)
    area = rp.auc_interval(np.repeat([0, 1], [58, 51]), rating)
    assert round(area.value, 4) == 0.8932
    assert round(area.standard_error, 4) == 0.0307
    half = ndtri(0.975) * area.standard_error
    assert round(area.value - half, 5) == 0.83295
    assert round(area.value + half, 5) == 0.95339


def test_intervals_converge_to_delongs_with_many_rows():
    rng = np.random.default_rng(0)
    y = np.arange(200_000) % 5 == 0
    area = rp.auc_interval(y, rng.normal(size=y.size) + y)
    half = ndtri(0.975) * area.standard_error
    assert area.low == pytest.approx(area.value - half, abs=0.02 * half)
    assert area.high == pytest.approx(area.value + half, abs=0.02 * half)


@pytest.mark.parametrize("n_positive", [1, 5, 40])
def test_intervals_of_perfect_scores_narrow_with_more_rows(n_positive):
    y = np.repeat([0, 1], [60, n_positive])
    area = rp.auc_interval(y, y)
    assert area.value == area.high == 1.0
    assert area.standard_error == 0
    # If all m positives score above all negatives, an AUC of 1 - 10/m is implausible,
    # but an AUC of 1 - 0.1/m is not.
    assert 1 - 10 / n_positive < area.low < 1 - 0.1 / n_positive


def test_intervals_with_a_single_positive_are_wide():
    # The positive is at the median of the negatives. If the AUC were 0.8, its score would
    # be 1.2 standard deviations below the mean, which is not significant.
    area = rp.auc_interval([0] * 99 + [1], [*range(99), 48.5])
    assert area.low < 0.2
    assert area.high > 0.8


def test_exchanged_scores_of_zero_variance_have_the_same_p_values():
    y = np.repeat([0, 1], [2, 8])
    found = rp.compare_auc(y, y, -y, margin=0.5)
    other = rp.compare_auc(y, -y, y, margin=0.5)
    assert (found.value, found.other_value) == (1.0, 0.0)
    assert found.asymptotic_standard_error == 0 < found.standard_error
    assert (other.low, other.high) == (-found.high, -found.low)
    # The interval of the difference excludes 0.
    assert found.low > 0
    assert other.p_value == found.p_value < 0.05
    # The differences 1 and -1 are beyond the margin on opposite sides.
    assert other.equivalence_p_value == found.equivalence_p_value > 0.5
    assert other.non_inferiority_p_value > 0.5 > found.non_inferiority_p_value


def test_a_difference_with_zero_variance_has_an_interval_of_positive_width():
    # The rows of each class have the components 1 and 1/2 in one score, and 1/2 and 0 in
    # the other, so that all components differ by 1/2.
    found = rp.compare_auc([1, 1, 0, 0], [4, 2, 3, 1], [3, 1, 4, 2])
    assert (found.value, found.other_value) == (0.75, 0.25)
    assert found.asymptotic_standard_error == pytest.approx(0.0)
    assert found.low < 0.1 < 0.9 < found.high
    assert found.p_value > 0.05


def test_differences_of_perfect_scores_have_an_interval_of_positive_width():
    y = [0, 0, 0, 1, 1, 1]
    equal = rp.compare_auc(y, [1, 2, 3, 4, 5, 6], [2, 4, 6, 8, 10, 12])
    assert (equal.low, equal.high, equal.p_value) == (0, 0, 1)
    differ = rp.compare_auc(y, [1, 2, 3, 4, 5, 6], [3, 2, 1, 6, 5, 4])
    assert differ.low < -0.1
    assert differ.high > 0.1
    assert differ.p_value == 1
    opposite = rp.compare_auc([0, 1], [0, 1], [1, 0])
    assert 0.05 < opposite.p_value < 0.5


def coverage(n_positive, n_negative, distance, n_tries=600):
    """Return the share of intervals that contain the AUC of two normal distributions."""
    rng = np.random.default_rng(n_positive)
    y = np.repeat([1, 0], [n_positive, n_negative])
    # The difference between a positive and a negative is normal with variance 2.
    truth = ndtr(distance / np.sqrt(2))
    n_covered = 0
    for _ in range(n_tries):
        area = rp.auc_interval(y, rng.normal(size=y.size) + distance * y)
        n_covered += area.low <= truth <= area.high
    return n_covered / n_tries


@pytest.mark.parametrize(
    ("n_positive", "n_negative", "distance"),
    [(5, 20, 1.8), (10, 10, 2.3), (20, 400, 1.2), (50, 50, 3.3)],
)
def test_intervals_have_nominal_coverage(n_positive, n_negative, distance):
    # Four standard errors of a proportion of 0.95 with n = 600 are 0.036.
    assert abs(coverage(n_positive, n_negative, distance) - 0.95) < 0.036


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"confidence": 1.0}, "confidence must be in .0, 1., got 1.0"),
        ({"max_fpr": 0.0}, "max_fpr must be in .0, 1], got 0.0"),
        ({"sample_weight": [1, 1, 0]}, "sample_weight of the positive class must sum"),
        ({"sample_weight": [1, -1, 1]}, "sample_weight must not be negative, got -1.0"),
        ({"scores": [1, 2]}, "y and scores must have the same length, got y 3"),
        ({"y": [1, 1, 1]}, "y must have exactly two classes, got 1"),
        ({"scores": [1, 2, np.nan]}, "scores must be finite"),
    ],
)
def test_errors_name_the_argument_the_rule_and_the_value(change, message):
    arguments = {"y": [0, 0, 1], "scores": [1, 2, 3], **change}
    with pytest.raises(ValueError, match=message):
        rp.auc_interval(**arguments)


@pytest.mark.parametrize("n", [1, 2, 399, 400, 5000])
def test_rows_are_sorted_by_descending_score(n):
    rng = np.random.default_rng(n)
    for score in (
        rng.integers(-3, 4, n).astype(float),
        rng.normal(size=n),
        rng.choice([-0.0, 0.0, 5e-324, -1e308, 1e308], n),
        np.full(n, 7.0),
    ):
        order = descending_order(score)
        np.testing.assert_array_equal(score[order], np.sort(score)[::-1])
        assert np.unique(order).size == n


def test_aucs_that_differ_only_by_rounding_errors_are_equal():
    # Both AUCs are 3/4: two rows of the same class are swapped.
    y = [1, 1, 0, 0]
    for other in ([0, 1, 0, 0], [1, 0, 0, 0]):
        for weight in (None, [1, 1, 1, 1], [0.1, 0.1, 0.3, 0.3]):
            result = rp.compare_auc(y, [1, 0, 0, 0], other, sample_weight=weight)
            assert result.p_value == pytest.approx(1.0)
            assert result.difference == pytest.approx(0.0, abs=1e-15)


def test_one_outlier_widens_the_interval():
    # One of 20 positives is below all negatives. With a true AUC of 0.99 and heavy tails,
    # many samples look like this, so 0.99 must not be rejected.
    y = np.repeat([0, 1], 20)
    score = np.append(np.arange(39.0), -1.0)
    found = rp.auc_interval(y, score)
    assert found.value == 0.95
    assert found.high >= 0.99


@given(st.integers(2, 8), st.integers(2, 8), st.integers(0, 10**6))
def test_intervals_of_differences_are_at_least_as_wide_as_students(n_positive, n_negative, seed):
    y = np.repeat([1, 0], [n_positive, n_negative])
    score, other = np.random.default_rng(seed).normal(size=(2, y.size))
    found = rp.compare_auc(y, score, other)
    # The degrees of freedom are at most those of two samples of equal variance.
    least = stdtrit(y.size - 2, 0.975) * found.asymptotic_standard_error
    assert found.high >= min(found.difference + least, 1.0) - 1e-12
    assert found.low <= max(found.difference - least, -1.0) + 1e-12


@given(labeled_scores(least=2, weights=(1, 2, 5)), st.randoms(use_true_random=False), rates)
def test_an_interval_contains_zero_unless_its_test_is_significant(rows, random, max_fpr):
    y, score, weight = columns(rows)
    other = [random.randint(0, 4) for _ in rows]
    for extra in ({}, {"sample_weight": weight}, {"max_fpr": max_fpr}):
        found = rp.compare_auc(y, score, other, **extra)
        if abs(found.p_value - 0.05) > 1e-9 and found.p_value < 1:
            assert (found.low <= 0 <= found.high) == (found.p_value > 0.05)
