"""Comparisons of several scores, of two samples and of other metrics than the AUC."""

import numpy as np
import pytest
from scipy.special import stdtr
from scipy.stats import f

import rocpath as rp
from rocpath.evaluation.pair_tests import holm
from tests import oracle_auc


def three_scores(n_rows=60, seed=0, n_values=8):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 3 == 0
    return y, rng.integers(0, n_values, (n_rows, 3)) + 2 * y[:, None]


def named(S):
    return dict(zip("abc", S.T, strict=True))


def test_comparisons_agree_with_intervals_and_with_compare_auc():
    y, S = three_scores()
    group = np.arange(60) // 3
    for extra in ({}, {"groups": group}, {"max_fpr": 0.5}):
        limit = extra.get("max_fpr")
        metric = "auc" if limit is None else rp.metrics.PartialAUC(limit)
        design = {name: extra[name] for name in extra if name == "groups"}
        found = rp.compare(y, named(S), metric, **design)
        for name, column in named(S).items():
            alone = rp.auc_interval(y, column, **extra)
            assert found.intervals[name].low == pytest.approx(alone.low)
        assert list(found.differences) == [("a", "b"), ("a", "c"), ("b", "c")]
        for (first, second), pair in found.differences.items():
            both = rp.compare_auc(y, named(S)[first], named(S)[second], **extra)
            assert pair.p_value == pytest.approx(both.p_value)
            assert pair.low == pytest.approx(both.low)


def test_the_overall_test_is_an_f_test_with_delongs_covariance():
    # DeLong's covariances by loops over pairs, of each class on its own.
    y, S = three_scores()
    parts = [
        np.array([[oracle_auc.class_covariances(a, y, b)[side] for b in S.T] for a in S.T])
        for side in (0, 1)
    ]
    contrast = np.array([[1, -1, 0], [0, 1, -1]])
    difference = contrast @ [rp.auc(y, column) for column in S.T]
    total = contrast @ sum(parts) @ contrast.T
    chi_squared = difference @ np.linalg.solve(total, difference)
    # The degrees of freedom of Krishnamoorthy and Yu (2004), for 20 positives and 40 negatives.
    terms = 0.0
    for part, n_rows in zip(parts, (20, 40), strict=True):
        share = contrast @ part @ contrast.T @ np.linalg.inv(total)
        terms += (np.trace(share @ share) + np.trace(share) ** 2) / (n_rows - 1)
    freedom = (2 + 4) / terms
    found = rp.compare(y, named(S))
    assert found.n_contrasts == 2
    assert found.freedom == pytest.approx(freedom - 1)
    assert found.statistic == pytest.approx(chi_squared * (freedom - 1) / (2 * freedom))
    assert found.p_value == pytest.approx(f.sf(found.statistic, 2, found.freedom))
    # For two scores it is the test of their difference.
    two = rp.compare(y, S[:, :2])
    assert two.p_value == two.differences["0", "1"].p_value
    assert two.low == two.differences["0", "1"].low
    with pytest.raises(AttributeError, match="difference is defined for two scores, got 3"):
        _ = found.difference


def test_equal_rankings_reduce_the_degrees_of_freedom():
    y, S = three_scores()
    found = rp.compare(y, np.column_stack((S[:, 0], np.exp(S[:, 0]), S[:, 1])))
    assert found.n_contrasts == 1
    assert found.differences["0", "1"].p_value == 1
    assert found.differences["0", "1"].low == found.differences["0", "1"].high == 0


def test_holm_adjustment_of_three_p_values():
    # The sorted values 0.01, 0.02 and 0.04 are multiplied by 3, 2 and 1.
    assert holm([0.04, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])


@pytest.mark.parametrize(
    ("S", "message"),
    [
        ({"a": [1, 2, 3, 4], "b": [1, 2]}, "y and scores 'b' must have the same length, got y 4"),
        ([[1, np.nan], [2, 0], [3, 0], [4, 0]], "scores '1' must be finite .*, got nan at index 0"),
        ([[1], [2], [3], [4]], "scores must have at least two columns, got 1"),
        ([1, 2, 3, 4], "scores must be a dict, a data frame or two-dimensional"),
    ],
)
def test_errors_name_the_invalid_column(S, message):
    with pytest.raises(ValueError, match=message):
        rp.compare([0, 1, 0, 1], S)


def test_results_print_as_tables():
    y, S = three_scores()
    found = rp.compare(y, {"<a>": S[:, 0], "b": S[:, 1], "c": S[:, 2]})
    assert "<a> - b" in repr(found)
    assert "20 positives, 40 negatives." in repr(found)
    assert "<td>&lt;a&gt;</td>" in found._repr_html_()
    frame = found.to_frame()
    assert list(frame["first"]) == ["<a>", "<a>", "b"]
    assert frame["value"][0] == found.differences["<a>", "b"].value


def test_a_difference_without_variance_has_a_p_value():
    # Every positive is one rank lower in the second score, so all rows differ equally.
    y, rank = np.repeat([0, 1], 50), np.arange(50)
    scores = np.column_stack([np.append(rank, rank + 0.5), np.append(rank, rank - 0.5)])
    found = rp.compare(y, scores)
    assert found.difference == pytest.approx(0.02)
    assert found.low < 0.02 < found.high
    assert 0.05 < found.p_value < 1


def test_independent_samples_and_margins_equal_tests_with_added_variances():
    rng = np.random.default_rng(5)
    y = np.arange(120) % 2
    first, second = rng.normal(size=(2, 120)) + y
    scores = {"a": first, "b": second}
    found = rp.compare(y, scores, other_y=y, margin=0.2)
    one, two = rp.auc_interval(y, first), rp.auc_interval(y, second)
    pair = found.differences["a", "b"]
    error = np.hypot(one.standard_error, two.standard_error)
    assert pair.asymptotic_standard_error == pytest.approx(error)
    assert pair.standard_error == pytest.approx(error, rel=0.1)
    t = (one.value - two.value) / pair.standard_error
    assert found.p_value == pytest.approx(2 * stdtr(pair.freedom, -abs(t)))
    below = stdtr(pair.freedom, -(found.difference + 0.2) / pair.standard_error)
    above = stdtr(pair.freedom, -(0.2 - found.difference) / pair.standard_error)
    assert found.non_inferiority_p_value == pytest.approx(below)
    assert found.equivalence_p_value == pytest.approx(max(below, above))
    # Groups of the two samples are different, even if they have the same labels.
    group = np.arange(120) // 2
    grouped = rp.compare(y, scores, other_y=y, groups=group, other_groups=group)
    alone = rp.interval(y, first, groups=group), rp.interval(y, second, groups=group)
    sum_of_squares = sum(part.standard_error**2 for part in alone)
    assert grouped.standard_error**2 == pytest.approx(sum_of_squares, rel=0.1)
    with pytest.raises(ValueError, match="margin must be positive, got -1"):
        rp.compare_auc(y, first, second, margin=-1)
    with pytest.raises(ValueError, match="other_groups must be None with other_y=None"):
        rp.compare(y, scores, other_groups=group)


def test_subgroups_with_perfect_rankings_of_grouped_rows_are_equal():
    y = np.arange(120) % 2
    score = y + np.linspace(0, 0.9, 120)
    found = rp.interval(y, score, groups=np.arange(120) // 2, by=np.arange(120) // 4 % 3)
    assert found.equality_p_value == 1.0
    assert [part.value for part in found.subgroups.values()] == [1.0, 1.0, 1.0]


def test_results_name_the_positive_label_and_warn_far_below_chance():
    y = np.where(np.arange(200) % 3 == 0, "fraud", "legit")
    score = np.random.default_rng(0).normal(size=200) + 2 * (y == "fraud")
    found = rp.auc_interval(y, score, positive="fraud")
    assert repr(found).startswith("AUC of 'fraud' vs 'legit' 0.")
    assert found.warnings == ()
    # 'legit' sorts last, and is the positive class by default.
    with pytest.warns(UserWarning, match="Pass positive='fraud'"):
        reverse = rp.auc_interval(y, score)
    assert reverse.value == pytest.approx(1 - found.value)
    assert "larger scores indicate 'fraud'" in reverse.warnings[0]
    plain = rp.auc_interval(y == "fraud", -score)
    assert "larger scores indicate the negative class" in repr(plain)
