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


GROUPED = [*TARGETS[:3], *TARGETS[3:5], {"min_precision": 0.6}, {"top": 77, "max_fpr": 0.2}]


@pytest.mark.parametrize("n_bins", [8, 2**14])
@pytest.mark.parametrize("targets", GROUPED)
def test_thresholds_of_groups_equal_those_in_memory(monkeypatch, targets, n_bins):
    # The minimum precision is exact only with enough bins.
    if "min_precision" not in targets:
        monkeypatch.setattr(thresholds, "_N_BINS", n_bins)
    y, score = rows("floats")
    # Groups differ in size, and most of them span partitions and contain both classes.
    group = np.minimum(np.random.default_rng(0).geometric(0.005, y.size), 250)
    expected = rp.choose_threshold(y, score, groups=group, **targets)
    lazy = dict(zip(("y", "scores", "groups"), partitioned(y, score, group), strict=True))
    check_equal(choose_threshold(**lazy, **targets), expected)


@pytest.mark.parametrize("targets", [*TARGETS[:3], *SEARCHES[:2]])
@pytest.mark.parametrize("kind", ["random", "by class", "equal"])
def test_thresholds_of_weighted_rows_equal_those_in_memory(kind, targets):
    y, score = rows("tenths")
    weight = np.random.default_rng(1).uniform(0.1, 2.0, y.size)
    if kind != "random":
        weight = np.where(y, 4.0, 0.5) if kind == "by class" else np.full(y.size, 3.0)
    weight[::7] = 0.0
    expected = rp.choose_threshold(y, score, sample_weight=weight, **targets)
    labels, lazy, lazy_weight = partitioned(y, score, weight)
    check_equal(choose_threshold(labels, lazy, sample_weight=lazy_weight, **targets), expected)


def test_unsupported_combinations_raise_as_in_memory():
    y, score = rows("floats", 400)
    weight, group = np.arange(1.0, 401.0), np.arange(400) // 4
    for targets, columns in (
        ({"cost": (1, 2)}, {"groups": group}),
        ({"min_precision": 0.5, "confidence": 0.9}, {"groups": group}),
        ({"max_fpr": 0.5, "confidence": 0.9}, {"sample_weight": weight}),
        ({"max_fpr": 0.5}, {"groups": group, "sample_weight": weight}),
    ):
        with pytest.raises(ValueError, match="must be None with") as in_memory:
            rp.choose_threshold(y, score, **targets, **columns)
        lazy = {name: partitioned(one)[0] for name, one in columns.items()}
        with pytest.raises(ValueError, match="must be None with") as error:
            choose_threshold(*partitioned(y, score), **targets, **lazy)
        assert str(error.value) == str(in_memory.value)


def test_few_bins_satisfy_min_precision_with_nearly_the_best_tpr(monkeypatch):
    monkeypatch.setattr(thresholds, "_N_BINS", 64)
    y, score = rows("floats")
    point = choose_threshold(*partitioned(y, score), min_precision=0.6)
    best = rp.choose_threshold(y, score, min_precision=0.6)
    assert point.precision >= 0.6
    assert best.tpr - 0.05 <= point.tpr <= best.tpr
    # The reported rates are those of the rows at this threshold.
    assert point.tpr == pytest.approx((score[y] >= point.threshold).mean())


def test_constraints_that_cannot_be_satisfied_raise():
    y, score = rows("floats", 100)
    with pytest.raises(ValueError, match="no threshold satisfies"):
        choose_threshold(*partitioned(y, score), min_tpr=0.99, max_fpr=0.001)
    with pytest.raises(ValueError, match="at least one of"):
        choose_threshold(*partitioned(y, score))
