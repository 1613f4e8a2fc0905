"""Thresholds of partitioned scores: the same operating points as in memory."""

from dataclasses import fields

import numpy as np
import pytest

import rocpath as rp

da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")

from rocpath.dask import choose_threshold, thresholds  # noqa: E402

TARGETS = [
    {"max_fpr": 0.03},
    {"min_tpr": 0.8},
    {"top": 77},
    {"max_fpr": 0.1, "confidence": 0.95},
    {"min_tpr": 0.7, "confidence": 0.9},
    {"max_fpr": 0.2, "min_tpr": 0.3},
]
SEARCHES = [
    {"min_precision": 0.6},
    {"cost": (1.0, 5.0)},
    {"min_precision": 0.4, "confidence": 0.95},
    {"cost": (1.0, 5.0), "confidence": 0.95},
]


def rows(kind, n_rows=3000):
    rng = np.random.default_rng(4)
    y = rng.random(n_rows) < 0.2
    score = rng.normal(size=n_rows) + 1.5 * y
    return y, np.round(score, 1) if kind == "tenths" else score


def partitioned(*columns, n_partitions=4):
    size = -(-len(columns[0]) // n_partitions)
    return [da.from_array(column, chunks=size) for column in columns]


def check_equal(got, expected):
    for field in fields(expected):
        value, found = getattr(expected, field.name), getattr(got, field.name)
        if value is None:
            assert found is None
        else:
            np.testing.assert_allclose(found, value, rtol=1e-12)


@pytest.mark.parametrize("kind", ["floats", "tenths"])
@pytest.mark.parametrize("targets", TARGETS + SEARCHES)
def test_thresholds_equal_those_in_memory(kind, targets):
    y, score = rows(kind)
    expected = rp.choose_threshold(y, score, **targets)
    check_equal(choose_threshold(*partitioned(y, score), **targets), expected)


@pytest.mark.parametrize("targets", TARGETS)
def test_few_bins_are_split_until_the_threshold_is_exact(monkeypatch, targets):
    monkeypatch.setattr(thresholds, "_N_BINS", 8)
    y, score = rows("floats")
    expected = rp.choose_threshold(y, score, **targets)
    check_equal(choose_threshold(*partitioned(y, score), **targets), expected)


def test_few_bins_satisfy_precision_with_nearly_as_many_rows(monkeypatch):
    monkeypatch.setattr(thresholds, "_N_BINS", 64)
    y, score = rows("floats")
    point = choose_threshold(*partitioned(y, score), min_precision=0.6)
    best = rp.choose_threshold(y, score, min_precision=0.6)
    assert point.precision >= 0.6
    assert best.tpr - 0.05 <= point.tpr <= best.tpr
    # The rates are those of the rows at this threshold.
    assert point.tpr == pytest.approx((score[y] >= point.threshold).mean())


def test_constraints_that_cannot_be_satisfied_raise():
    y, score = rows("floats", 100)
    with pytest.raises(ValueError, match="no threshold satisfies"):
        choose_threshold(*partitioned(y, score), min_tpr=0.99, max_fpr=0.001)
    with pytest.raises(ValueError, match="at least one of"):
        choose_threshold(*partitioned(y, score))
