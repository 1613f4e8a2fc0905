"""Intervals and tests of partitioned scores: the same results as in memory."""

from dataclasses import fields

import numpy as np
import pytest

import rocpath as rp

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pytest.importorskip("distributed")

from rocpath.dask import auc_interval, compare_auc, score_columns  # noqa: E402
from rocpath.dask.passes import Passes  # noqa: E402


def rows(n_rows=1500, seed=0):
    """Return labels, two correlated scores, weights and groups."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 60, n_rows)
    y = rng.random(n_rows) < 0.25
    shared = rng.normal(size=60)[group] + y
    one = np.round(shared + rng.normal(size=n_rows), 1)
    two = shared + 2.0 * rng.normal(size=n_rows)
    return y, one, two, rng.uniform(0.5, 2.0, n_rows), group


def partitioned(*columns, n_partitions=4):
    size = -(-len(columns[0]) // n_partitions)
    return [da.from_array(column, chunks=(size, *column.shape[1:])) for column in columns]


def check_equal(got, expected, rel=1e-9):
    for field in fields(expected):
        value = getattr(expected, field.name)
        is_number = isinstance(value, float)
        found = getattr(got, field.name)
        assert found == (pytest.approx(value, rel=rel) if is_number else value)


OPTIONS = {
    "plain": (),
    "weights": ("sample_weight",),
    "groups": ("groups",),
    "weighted groups": ("sample_weight", "groups"),
}


def options(kind, weight, group, partition=lambda column: column):
    columns = {"sample_weight": weight, "groups": group}
    return {name: partition(columns[name]) for name in OPTIONS[kind]}


@pytest.mark.parametrize("kind", OPTIONS)
@pytest.mark.parametrize("max_fpr", [None, 0.2])
@pytest.mark.parametrize("n_partitions", [1, 5])
def test_intervals_equal_those_in_memory(kind, max_fpr, n_partitions):
    y, score, _, weight, group = rows()
    expected = rp.auc_interval(
        y, score, confidence=0.9, max_fpr=max_fpr, **options(kind, weight, group)
    )

    def partition(column):
        return partitioned(column, n_partitions=n_partitions)[0]

    got = auc_interval(
        partition(y),
        partition(score),
        confidence=0.9,
        max_fpr=max_fpr,
        **options(kind, weight, group, partition),
    )
    check_equal(got, expected)


@pytest.mark.parametrize("kind", OPTIONS)
@pytest.mark.parametrize("max_fpr", [None, 0.2])
def test_comparisons_equal_those_in_memory(kind, max_fpr):
    y, one, two, weight, group = rows()
    settings = {"max_fpr": max_fpr, "margin": 0.05}
    expected = rp.compare_auc(y, one, two, **settings, **options(kind, weight, group))
    lazy = partitioned(y, one, two)

    def partition(column):
        return partitioned(column)[0]

    got = compare_auc(*lazy, **settings, **options(kind, weight, group, partition))
    check_equal(got, expected, rel=1e-8)


def test_few_bins_change_the_standard_error_only_slightly(monkeypatch):
    monkeypatch.setattr(score_columns, "_N_BINS", 64)
    y, _, score, *_ = rows(5000)
    expected = rp.auc_interval(y, score)
    got = auc_interval(*partitioned(y, score))
    # Both functions round the exact quotient once.
    assert got.value == rp.auc(y, score)
    # Within a bin of 1/64 of the rows, the variance of the ranks is (1/64)² / 12.
    assert got.standard_error == pytest.approx(expected.standard_error, rel=1e-3)
    assert got.standard_error != expected.standard_error


def test_many_distinct_scores_change_the_standard_error_by_less_than_a_millionth():
    rng = np.random.default_rng(0)
    y = rng.random(200_000) < 0.05
    score = rng.normal(size=y.size) + y
    expected = rp.auc_interval(y, score)
    got = auc_interval(*partitioned(y, score))
    assert got.value == pytest.approx(expected.value, rel=1e-14)
    assert got.standard_error == pytest.approx(expected.standard_error, rel=1e-6)


def test_identical_scores_have_no_difference():
    y, score, *_ = rows(300)
    comparison = compare_auc(*partitioned(y, score, 2.0 * score))
    assert (comparison.difference, comparison.p_value) == (0.0, 1.0)


def test_intervals_of_perfect_rankings_equal_those_in_memory():
    y = np.repeat([0, 1], 40)
    group = np.arange(80) // 4
    for columns in ({}, {"groups": group}):
        expected = rp.auc_interval(y, np.arange(80.0), **columns)
        lazy = {name: partitioned(column)[0] for name, column in columns.items()}
        check_equal(auc_interval(*partitioned(y, np.arange(80.0)), **lazy), expected)


def test_text_groups_of_data_frames_may_span_partitions():
    y, score, other, _, group = rows()
    names = np.char.add("patient ", group.astype(str))
    frame = dd.from_dict({"y": y, "s": score, "o": other, "g": names}, npartitions=7)
    expected = rp.auc_interval(y, score, groups=names)
    check_equal(auc_interval(frame["y"], frame["s"], groups=frame["g"]), expected)
    expected = rp.compare_auc(y, score, other, groups=names)
    got = compare_auc(frame["y"], frame["s"], frame["o"], groups=frame["g"])
    check_equal(got, expected, rel=1e-8)


def test_a_shuffle_by_group_has_one_task_per_bucket(monkeypatch):
    n_pieces, exchange = [], Passes.exchange

    def spy(self, *arguments):
        n_pieces.append(arguments[-1])
        return exchange(self, *arguments)

    monkeypatch.setattr(Passes, "exchange", spy)
    y, score, *_, group = rows(200)
    lazy = partitioned(y, score, group.astype(float) - 30.0, n_partitions=100)
    # The groups -0.0 and 0.0 are the same.
    negative_zero = da.where(lazy[2] == 0, -lazy[2], lazy[2])
    got = auc_interval(*lazy[:2], groups=da.concatenate((lazy[2][:100], negative_zero[100:])))
    check_equal(got, rp.auc_interval(y, score, groups=group))
    # There are two shuffles, each with one bucket: without a client, there is one worker,
    # and 200 rows fit into one bucket.
    assert n_pieces == [1, 1]


def test_groups_of_single_rows_equal_independent_rows():
    y, score, *_ = rows(200)
    got = auc_interval(*partitioned(y, score), groups=partitioned(np.arange(200))[0])
    check_equal(got, rp.auc_interval(y, score))


def test_comparisons_on_a_cluster_equal_those_in_memory(client):
    y, one, two, weight, group = rows()
    lazy = partitioned(y, one, two)
    columns = dict(zip(("sample_weight", "groups"), partitioned(weight, group), strict=True))
    expected = rp.compare_auc(y, one, two, sample_weight=weight, groups=group)
    check_equal(compare_auc(*lazy, **columns, client=client), expected, rel=1e-8)


def test_invalid_input_raises():
    y, one, two, _, group = rows(40)
    two[33] = np.nan
    with pytest.raises(ValueError, match=r"other_scores .* nan in partition 3, row 3"):
        compare_auc(*partitioned(y, one, two))
    text = group.astype(object)
    text[12] = None
    with pytest.raises(ValueError, match=r"groups must have no missing .*, got None in"):
        auc_interval(*partitioned(y, one), groups=partitioned(text)[0])
    with pytest.raises(ValueError, match="at least two different values"):
        auc_interval(*partitioned(y, one), groups=partitioned(np.ones(40))[0])
    with pytest.raises(ValueError, match="confidence must be"):
        auc_interval(*partitioned(y, one), confidence=95)
    with pytest.raises(TypeError, match="groups must be a Dask array or series"):
        auc_interval(*partitioned(y, one), groups=group)


def test_in_memory_functions_reject_dask_collections():
    y, column, *_ = rows(60)
    X = np.column_stack((column, column))
    labels, score, lazy = partitioned(y, column, X)
    calls = [
        lambda: rp.auc(labels, score),
        lambda: rp.auc(y, score),
        lambda: rp.auc_interval(y, score),
        lambda: rp.compare_auc(y, X[:, 0], score),
        lambda: rp.choose_threshold(labels, X[:, 0], max_fpr=0.1),
        lambda: rp.AUCClassifier().fit(lazy, labels),
        lambda: rp.AUCClassifier().fit(X, y, groups=labels),
        lambda: rp.AUCBlender().fit(lazy, y),
        lambda: rp.ThresholdClassifier(rp.AUCClassifier(), max_fpr=0.1).fit(lazy, y),
        lambda: rp.TableClassifier().fit(lazy, labels),
        lambda: rp.minimize_aum(lazy, rp.ErrorBreakpoints.from_labels(y)),
        lambda: rp.compare(y, lazy),
        lambda: rp.bootstrap_interval(rp.auc, labels, column),
        lambda: rp.interval(y, score, "average_precision"),
        lambda: rp.IntervalRegression().fit(lazy, X),
        lambda: rp.IntervalRegression().fit(X, lazy),
        lambda: rp.PenaltyRegressor().fit(lazy, []),
        lambda: rp.changepoint.segment(score, 3),
        lambda: rp.changepoint.segment(lazy, 3),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=r"got a Dask array: use the function of rocpath\.dask"):
            call()
