"""Averages over strata and over classes, compared with loops and scikit-learn."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

import rocpath as rp
from tests import oracle_auc
from tests.evaluation.test_comparisons import three_scores


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
    found = rp.auc_interval(y, score, strata=stratum, population="these")
    assert found.value == pytest.approx(np.average(area, weights=pairs))
    found = rp.auc_interval(y, score, strata=stratum, weighting="equal", population="these")
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


def test_labels_of_several_classes_must_not_be_missing():
    with pytest.raises(ValueError, match="y must have no missing or infinite values, got nan"):
        rp.auc_interval([0.0, 1.0, np.nan, 1.0], np.eye(4)[:, :3])


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
