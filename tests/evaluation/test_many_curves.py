"""Several scores, strata and multiple classes, compared with loops and scikit-learn."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import chi2, norm
from sklearn.metrics import roc_auc_score

import rocpath as rp
from rocpath.evaluation.comparisons import holm
from tests import oracle_auc


def three_scores(n_rows=60, seed=0, n_values=8):
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % 3 == 0
    return y, rng.integers(0, n_values, (n_rows, 3)) + 2 * y[:, None]


def test_compare_aucs_agrees_with_auc_interval_and_compare_auc():
    y, S = three_scores()
    group = np.arange(60) // 3
    for extra in ({}, {"groups": group}, {"max_fpr": 0.5}):
        found = rp.compare_aucs(y, S, names=["a", "b", "c"], **extra)
        columns = dict(zip("abc", S.T, strict=True))
        for name, column in columns.items():
            alone = rp.auc_interval(y, column, **extra)
            assert found.intervals[name].low == alone.low
        assert [(p.first, p.second) for p in found.pairs] == [("a", "b"), ("a", "c"), ("b", "c")]
        for pair in found.pairs:
            both = rp.compare_auc(y, columns[pair.first], columns[pair.second], **extra)
            assert pair.comparison.p_value == pytest.approx(both.p_value)
            assert pair.comparison.low == pytest.approx(both.low)


def test_the_overall_test_equals_delongs():
    # DeLong's statistic from covariances computed by loops over pairs.
    y, S = three_scores()
    columns = list(S.T)
    covariance = np.array([[oracle_auc.delong_variance(a, y, b) for b in columns] for a in columns])
    area = np.array([rp.auc(y, column) for column in columns])
    contrast = np.array([[1, -1, 0], [0, 1, -1]])
    difference = contrast @ area
    expected = difference @ np.linalg.solve(contrast @ covariance @ contrast.T, difference)
    found = rp.compare_aucs(y, S)
    assert found.statistic == pytest.approx(expected)
    assert found.degrees_of_freedom == 2
    assert found.p_value == pytest.approx(chi2.sf(expected, 2))
    # For two scores, the statistic is the square of that of DeLong's test.
    two = rp.compare_aucs(y, S[:, :2])
    assert two.p_value == pytest.approx(two.pairs[0].comparison.p_value)


def test_equal_rankings_reduce_the_degrees_of_freedom():
    y, S = three_scores()
    S = np.column_stack((S[:, 0], np.exp(S[:, 0]), S[:, 1]))
    found = rp.compare_aucs(y, S)
    assert found.degrees_of_freedom == 1
    assert found.pairs[0].comparison.p_value == 1


def test_holm_adjustment_of_three_p_values():
    # The sorted values 0.01, 0.02 and 0.04 are multiplied by 3, 2 and 1.
    assert holm([0.04, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])


@pytest.mark.parametrize(
    ("S", "message"),
    [
        ({"a": [1, 2, 3, 4], "flat": [1] * 4}, "scores 'flat' must not be constant"),
        ({"a": [1, 2, 3, 4], "b": [1, 2]}, "y and scores 'b' must have the same length, got y 4"),
        ([[1, np.nan], [2, 0], [3, 0], [4, 0]], "scores '1' must be finite .*, got nan at index 0"),
        ([[1], [2], [3], [4]], "S must have at least two columns, got 1"),
    ],
)
def test_errors_name_the_invalid_column(S, message):
    with pytest.raises(ValueError, match=message):
        rp.compare_aucs([0, 1, 0, 1], S)


@st.composite
def stratified_rows(draw):
    n = draw(st.integers(4, 16))
    y, stratum, score = (
        np.array(draw(st.lists(st.integers(0, high), min_size=n, max_size=n))) for high in (1, 3, 3)
    )
    both = [k for k in range(4) if len(set(y[stratum == k])) == 2]
    assume(both)
    return y, score, stratum, both


@given(stratified_rows())
def test_stratified_aucs_are_means_over_pairs_or_strata(rows):
    y, score, stratum, both = rows
    area, pairs = [], []
    for k in both:
        here = stratum == k
        table = [(bool(p), s, 1) for p, s in zip(y[here], score[here], strict=True)]
        area.append(float(oracle_auc.auc(table)))
        pairs.append(y[here].sum() * (1 - y[here]).sum())
    found = rp.auc_interval(y, score, strata=stratum)
    assert found.value == pytest.approx(np.average(area, weights=pairs))
    found = rp.auc_interval(y, score, strata=stratum, weighting="strata")
    assert found.value == pytest.approx(np.mean(area))
    assert found.low <= found.value <= found.high
    assert found.n_strata == len(both)
    assert found.n_skipped_strata == len(set(stratum)) - len(both)


def test_one_stratum_has_delongs_standard_error():
    y, S = three_scores()
    found = rp.auc_interval(y, S[:, 0], strata=np.zeros(60))
    assert found.standard_error == pytest.approx(rp.auc_interval(y, S[:, 0]).standard_error)
    with pytest.raises(ValueError, match="strata must have at least one stratum with both classes"):
        rp.auc_interval(y, S[:, 0], strata=y)


@pytest.mark.parametrize("groups", [None, np.arange(8) // 2])
def test_rows_of_skipped_strata_do_not_change_the_interval(groups):
    y, score = np.array([0, 1, 0, 1, 0, 1, 0, 1]), np.array([1, 2, 4, 3, 5, 6, 7, 8])
    stratum, weight = np.array([0, 0, 0, 0, 1, 1, 1, 1]), np.ones(8)
    alone = rp.auc_interval(y, score, strata=stratum, groups=groups)
    # Stratum 2 has no negatives, and the negatives of stratum 3 have no weight.
    more = {
        "strata": np.append(stratum, [2, 2, 3, 3]),
        "sample_weight": np.append(weight, [1, 1, 1, 0]),
        "groups": None if groups is None else np.append(groups, [4, 4, 5, 5]),
    }
    found = rp.auc_interval(np.append(y, [1, 1, 1, 0]), np.append(score, [1, 9, 1, 2]), **more)
    assert found.n_skipped_strata == 2
    if groups is None:
        limits = found.value, found.standard_error, found.low, found.high
        assert limits == pytest.approx((alone.value, alone.standard_error, alone.low, alone.high))
    # More groups change the factor n / (n - 1) of the variance.
    assert 0 < found.standard_error <= alone.standard_error


def test_labels_of_several_classes_must_not_be_missing():
    with pytest.raises(ValueError, match="y must have no missing or infinite values, got nan"):
        rp.auc_interval([0.0, 1.0, np.nan, 1.0], np.eye(4)[:, :3])


def test_stratified_intervals_have_nominal_coverage():
    rng = np.random.default_rng(0)
    stratum = np.repeat(np.arange(40), 6)
    y = np.tile([1, 0, 0, 0, 1, 0], 40)
    n_covered = 0
    for _ in range(400):
        effect = 3 * rng.normal(size=40)[stratum]
        score = effect + rng.normal(size=y.size) + np.sqrt(2) * norm.ppf(0.75) * y
        found = rp.auc_interval(y, score, strata=stratum)
        n_covered += found.low <= 0.75 <= found.high
    assert abs(n_covered / 400 - 0.95) < 0.044


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("average", ["macro", "weighted"])
def test_multiclass_aucs_equal_scikit_learns(multi_class, average):
    rng = np.random.default_rng(1)
    y = rng.choice(["a", "b", "c"], 90, p=[0.5, 0.3, 0.2])
    score = rng.random((90, 3)) + 0.5 * (y[:, None] == ["a", "b", "c"])
    score /= score.sum(axis=1, keepdims=True)
    how = {"multi_class": multi_class, "average": average}
    found = rp.auc_interval(y, score, **how)
    assert found.value == pytest.approx(roc_auc_score(y, score, **how))
    # The standard error is compared with a bootstrap within classes.
    rows = [np.flatnonzero(y == name) for name in "abc"]
    sample = []
    for _ in range(300):
        drawn = np.concatenate([rng.choice(k, k.size) for k in rows])
        sample.append(roc_auc_score(y[drawn], score[drawn], **how))
    # A standard deviation estimated from 300 samples has a standard error of 4%.
    assert found.standard_error == pytest.approx(np.std(sample), rel=0.2)


def test_a_wrong_number_of_columns_raises():
    with pytest.raises(ValueError, match="a column for each class of y, got 3 columns"):
        rp.auc_interval([0, 1, 0, 1], np.eye(4)[:, :3])


def test_results_print_as_tables():
    y, S = three_scores()
    found = rp.compare_aucs(y, S, names=["<a>", "b", "c"])
    assert "<a> - b" in repr(found)
    assert "<td>&lt;a&gt;</td>" in found._repr_html_()


def test_a_difference_without_variance_has_a_p_value():
    # Every positive is one rank lower in the second score, so all rows differ equally.
    y, rank = np.repeat([0, 1], 50), np.arange(50)
    scores = np.column_stack([np.append(rank, rank + 0.5), np.append(rank, rank - 0.5)])
    found = rp.compare_aucs(y, scores)
    assert found.statistic == np.inf
    assert found.p_value == found.pairs[0].holm_p_value < 1e-6
