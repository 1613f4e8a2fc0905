"""Partial AUC, compared with its exact definition and with scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

import rocpath as rp
from tests import oracle_auc

rates = st.sampled_from([0.05, 0.25, 1 / 3, 0.5, 0.75])


@st.composite
def weighted_rows(draw):
    """Draw rows (is_positive, score, weight) of both classes, most with tied scores."""
    size = draw(st.integers(1, 7)), draw(st.integers(1, 7))
    return [
        (k == 0, draw(st.integers(0, 4)), draw(st.sampled_from([1, 2, 5])))
        for k in (0, 1)
        for _ in range(size[k])
    ]


def columns(rows):
    return tuple(np.array(column) for column in zip(*rows, strict=True))


def breakpoints(rows):
    y, _, weight = columns(rows)
    return rp.ErrorBreakpoints.from_labels(y, sample_weight=weight)


@given(weighted_rows(), st.none() | rates | st.just(1.0), st.none() | rates)
def test_partial_auc_equals_its_definition(rows, max_fpr, min_tpr):
    area = rp.auc(breakpoints(rows), columns(rows)[1], max_fpr=max_fpr, min_tpr=min_tpr)
    defined = oracle_auc.partial_auc(rows, max_fpr or 1, min_tpr or 0)
    assert area == pytest.approx(float(defined), abs=1e-12)


@given(weighted_rows(), rates)
def test_standardized_partial_auc_equals_scikit_learns(rows, max_fpr):
    y, score, weight = columns(rows)
    area = rp.auc(breakpoints(rows), score, max_fpr=max_fpr, standardized=True)
    expected = roc_auc_score(y, score, sample_weight=weight, max_fpr=max_fpr)
    assert area == pytest.approx(expected, abs=1e-12)


def test_random_tied_rows_agree_with_scikit_learn():
    rng = np.random.default_rng(0)
    for decimals in (0, 1, 8):
        y = rng.random(3000) < 0.1
        score = np.round(rng.normal(size=3000) + y, decimals)
        bp = rp.ErrorBreakpoints.from_labels(y)
        for max_fpr in (0.001, 0.03, 0.1, 0.777):
            area = rp.auc(bp, score, max_fpr=max_fpr, standardized=True)
            assert abs(area - roc_auc_score(y, score, max_fpr=max_fpr)) < 1e-12


@given(weighted_rows(), rates)
def test_partial_auc_with_exchanged_classes(rows, rate):
    bp, score = breakpoints(rows), columns(rows)[1]
    flipped = rp.ErrorBreakpoints.from_labels(~columns(rows)[0], sample_weight=columns(rows)[2])
    # If the classes are exchanged and the scores negated, FPR becomes 1 - TPR.
    above = rp.auc(bp, score, min_tpr=1 - rate)
    assert above == pytest.approx(rp.auc(flipped, -score, max_fpr=rate), abs=1e-12)
    assert rp.auc(bp, score, max_fpr=1.0) == pytest.approx(rp.auc(bp, score))
    assert rp.auc(bp, score, standardized=True) == rp.auc(bp, score)


def test_standardized_auc_is_one_half_for_chance_and_one_for_a_perfect_ranking():
    bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    for region in ({"max_fpr": 0.3}, {"min_tpr": 0.8}, {"max_fpr": 0.6, "min_tpr": 0.3}):
        standard = {**region, "standardized": True}
        assert rp.auc(bp, [0, 0, 0, 0], **standard) == pytest.approx(0.5)
        assert rp.auc(bp, [0, 1, 2, 3], **standard) == pytest.approx(1.0)


def test_invalid_regions_raise():
    bp = rp.ErrorBreakpoints([0, 0, 0, 1], [0, 1, 2, 0], [1, -1, 1, 0], [0, 0, 0, -1])
    with pytest.raises(ValueError, match="bp must have monotone errors for max_fpr and min_tpr"):
        rp.auc(bp, [0, 0], max_fpr=0.5)
    good = rp.ErrorBreakpoints.from_labels([0, 1])
    with pytest.raises(ValueError, match=r"max_fpr must be in \(0, 1\]"):
        rp.auc(good, [0, 0], max_fpr=2)
    with pytest.raises(ValueError, match=r"min_tpr must be in \[0, 1\)"):
        rp.auc(good, [0, 0], min_tpr=1)
