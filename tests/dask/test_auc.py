"""AUC of partitioned scores: the same result for every partitioning."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rocpath as rp

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pytest.importorskip("distributed")

from rocpath.dask import auc, auc_interval  # noqa: E402
from rocpath.dask.intervals import certified_auc  # noqa: E402
from rocpath.dask.passes import Passes  # noqa: E402
from rocpath.dask.scores import Buckets, PartitionedScores  # noqa: E402


def tables():
    """Yield scores with ties (integers and tenths) and without ties."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 5, 4000) == 0
    noise = rng.normal(size=y.size) + y
    yield "whole numbers", y, np.round(2 * noise)
    yield "tenths", y, np.round(noise, 1)
    yield "floats", y, noise
    yield "one value", y, np.zeros(y.size)
    yield "sorted", np.sort(y), np.sort(noise)


TABLES = {name: rows for name, *rows in tables()}


def partitioned(values, n_partitions):
    return da.from_array(np.asarray(values), chunks=-(-len(values) // n_partitions))


@pytest.mark.parametrize("n_partitions", [1, 3, 17])
@pytest.mark.parametrize("name", TABLES)
def test_auc_is_bitwise_identical_to_auc_in_memory(client, name, n_partitions):
    y, score = TABLES[name]
    bp = rp.ErrorBreakpoints.from_labels(y)
    lazy = partitioned(y, n_partitions), partitioned(score, n_partitions)
    assert auc(*lazy, client=client) == rp.auc(bp, score)


@settings(max_examples=15)
@given(
    st.lists(st.tuples(st.booleans(), st.integers(-2, 2)), min_size=2, max_size=40),
    st.integers(1, 7),
)
def test_auc_equals_the_fraction_of_ordered_pairs(rows, n_partitions):
    y, score = map(np.array, zip(*rows, strict=True))
    if y.all() or not y.any():
        return
    over = score[y][:, None] - score[~y]
    pairs = np.count_nonzero(over > 0) + 0.5 * np.count_nonzero(over == 0)
    lazy = partitioned(y, n_partitions), partitioned(score, n_partitions)
    assert auc(*lazy) == pytest.approx(pairs / over.size, rel=1e-15)


@pytest.mark.parametrize("tol", [0.1, 1e-3, 1e-5, 0.0])
@pytest.mark.parametrize("name", TABLES)
def test_auc_is_within_the_tolerance(name, tol):
    y, score = TABLES[name]
    exact = rp.auc(rp.ErrorBreakpoints.from_labels(y), score)
    assert abs(auc(partitioned(y, 3), partitioned(score, 3), tol=tol) - exact) <= tol


def test_counts_alone_guarantee_the_tolerance_for_ties():
    y, score = TABLES["whole numbers"]
    exact = rp.auc(rp.ErrorBreakpoints.from_labels(y), score)
    assert certified_auc(scored(y, score), 0.0) == pytest.approx(exact, rel=1e-15)
    _, floats = TABLES["floats"]
    assert certified_auc(scored(y, floats), 0.01) is not None


def scored(y, score):
    return PartitionedScores.read(Passes(), partitioned(y, 2), partitioned(score, 2))


@pytest.mark.parametrize("max_fpr", [0.03, 0.5, 1.0])
@pytest.mark.parametrize("name", TABLES)
def test_partial_auc_equals_partial_auc_in_memory(name, max_fpr):
    y, score = TABLES[name]
    expected = rp.auc(rp.ErrorBreakpoints.from_labels(y), score, max_fpr=max_fpr)
    assert Buckets.from_scores(scored(y, score)).auc(max_fpr) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n_partitions", [1, 17])
@pytest.mark.parametrize("name", TABLES)
def test_interval_equals_interval_in_memory(name, n_partitions):
    y, score = TABLES[name]
    expected = rp.auc_interval(y, score, confidence=0.9)
    got = auc_interval(
        partitioned(y, n_partitions), partitioned(score, n_partitions), confidence=0.9
    )
    for field in ("value", "standard_error", "low", "high", "confidence"):
        assert getattr(got, field) == pytest.approx(getattr(expected, field), rel=1e-9)


def test_partitions_may_be_empty_or_of_a_single_class(client):
    y, score = np.repeat([0, 1, 0], [5, 6, 1]), np.arange(12.0)
    sizes = (5, 0, 6, 0, 1)
    lazy = da.from_array(y, chunks=(sizes,)), da.from_array(score, chunks=(sizes,))
    expected = rp.auc(rp.ErrorBreakpoints.from_labels(y), score)
    assert auc(*lazy, client=client) == expected


def test_series_and_arrays_of_unknown_chunk_sizes_give_the_same_auc():
    y, score = TABLES["tenths"]
    frame = dd.from_dict({"y": np.where(y, "yes", "no"), "s": score}, npartitions=4)
    expected = rp.auc(rp.ErrorBreakpoints.from_labels(y), score)
    assert auc(frame["y"], frame["s"]) == expected
    assert auc(frame["y"], frame["s"].to_dask_array()) == expected


def test_y_is_rechunked_like_the_scores():
    y, score = TABLES["floats"]
    expected = rp.auc(rp.ErrorBreakpoints.from_labels(y), score)
    assert auc(partitioned(y, 2), partitioned(score, 5)) == expected


def test_errors_contain_the_partition_and_row_numbers():
    y, score = np.array([0, 1] * 6), np.arange(12.0)
    score[8] = np.nan
    with pytest.raises(ValueError, match=r"scores .* nan in partition 2, row 2"):
        auc(partitioned(y, 4), partitioned(score, 4))
    labels = y.astype(float)
    labels[4] = np.nan
    with pytest.raises(ValueError, match=r"y must have no missing .* partition 1, row 1"):
        auc(partitioned(labels, 4), partitioned(np.arange(12.0), 4))
    with pytest.raises(ValueError, match=r"exactly two classes, got 1"):
        auc(partitioned(np.ones(12), 4), partitioned(np.arange(12.0), 4))
    with pytest.raises(ValueError, match=r"same number of rows, got 12 and 11"):
        auc(partitioned(y[:11], 4), partitioned(score, 4))
    with pytest.raises(TypeError, match=r"scores must be a Dask array or series"):
        auc(partitioned(y, 4), score)


def test_non_numeric_scores_raise():
    frame = dd.from_dict({"y": [0, 1] * 10, "a": ["u", "v"] * 10}, npartitions=2)
    frame["b"] = frame["a"].astype("category")
    frame["c"] = dd.to_datetime(frame["y"])
    for name, dtype in (("a", "string"), ("b", "category"), ("c", "datetime64")):
        with pytest.raises(TypeError, match=f"scores must be real .* '{name}' of type {dtype}"):
            auc(frame["y"], frame[name])
    # Float64 would round both integers to the same number.
    large = da.from_array(2**60 + np.arange(20), chunks=10)
    for y, scores in ((da.arange(20, chunks=10) % 2, large), (frame["y"], dd.from_array(large))):
        with pytest.raises(ValueError, match=r"at most 2\*\*53 .* Subtract a constant"):
            auc(y, scores)
    with pytest.raises(ValueError, match="scores must have at least one row with a positive"):
        auc(frame["y"], frame["y"], sample_weight=0.0 * frame["y"])


def test_importing_the_package_does_not_import_dask():
    code = "import sys, rocpath; rocpath.AUCClassifier; print('dask' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_misaligned_partitions_of_unknown_size_raise():
    y, score = partitioned([0, 1] * 6, 4), partitioned(np.arange(12.0), 4)
    shorter = score[score > 0]
    with pytest.raises(ValueError, match=r"got 2 and 3 in partition 0"):
        auc(y, shorter)
    with pytest.raises(ValueError, match=r"same partitions, got 4 and 3.*compute_chunk_sizes"):
        auc(partitioned([0, 1] * 6, 3), shorter)
