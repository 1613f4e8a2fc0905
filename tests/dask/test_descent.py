"""Descent on AUM over partitions: the same steps as in memory."""

import numpy as np
import pytest
from scipy import sparse

import rocpath as rp

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pytest.importorskip("distributed")

from rocpath.dask import descent, minimize_aum  # noqa: E402
from rocpath.matrices import add_pairs, column_sums, pair_sums  # noqa: E402


def rows(kind, n_rows=600):
    """Return features as floats, or as integers or tenths with many ties."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n_rows, 4))
    y = X @ [1.0, 0.5, 0.0, -1.0] + rng.normal(size=n_rows) > 1
    decimals = {"whole numbers": 0, "tenths": 1, "floats": 15, "float32": 15}[kind]
    X = np.round(X, decimals)
    return (X.astype(np.float32) if kind == "float32" else X), y.astype(int)


def partitioned(X, y, n_partitions):
    size = -(-len(y) // n_partitions)
    return da.from_array(X, chunks=(size, X.shape[1])), da.from_array(y, chunks=size)


def check_steps(got, expected):
    for field in ("step", "aum", "auc", "norm", "coef"):
        np.testing.assert_allclose(
            getattr(got, field), getattr(expected, field), rtol=1e-9, atol=1e-14
        )
    assert got.intercept == pytest.approx(expected.intercept, rel=1e-9)
    assert (got.stopped_by, got.n_steps) == (expected.stopped_by, expected.n_steps)


@pytest.mark.parametrize("n_partitions", [1, 3, 17])
@pytest.mark.parametrize("kind", ["floats", "whole numbers", "tenths", "float32"])
def test_steps_equal_those_in_memory(kind, n_partitions):
    X, y = rows(kind)
    bp = rp.ErrorBreakpoints.from_labels(y)
    start = [1.0, 0.0, 0.5, 0.0]
    expected = rp.minimize_aum(X, bp, coef=start, step="best_aum", max_steps=5)
    check_steps(
        minimize_aum(*partitioned(X, y, n_partitions), coef=start, margin=0, max_steps=5), expected
    )


@pytest.mark.parametrize("kind", ["floats", "tenths"])
def test_margin_and_unit_norm_equal_those_in_memory(kind):
    X, y = rows(kind)
    settings = {"coef": [1.0, 0.0, 0.0, 0.0], "unit_norm": True, "max_steps": 4}
    bp = rp.ErrorBreakpoints.from_labels(y, margin=1.0)
    expected = rp.minimize_aum(X, bp, step="best_aum", **settings)
    check_steps(minimize_aum(*partitioned(X, y, 3), margin=1.0, **settings), expected)


@pytest.mark.parametrize("kind", ["floats", "tenths"])
def test_line_searches_based_on_a_sample_find_the_same_steps(monkeypatch, client, kind):
    monkeypatch.setattr(descent, "_FEW_ROWS", 5000)
    X, y = rows(kind, 20_000)
    bp = rp.ErrorBreakpoints.from_labels(y)
    start = [1.0, 0.0, 0.5, 0.0]
    expected = rp.minimize_aum(X, bp, coef=start, step="best_aum", max_steps=2)
    lazy = partitioned(X, y, 3)
    given = {"coef": start, "margin": 0, "max_steps": 2}
    check_steps(minimize_aum(*lazy, **given, client=client), expected)


def test_steps_of_csr_blocks_and_data_frames_equal_those_in_memory():
    X, y = rows("tenths")
    X[np.abs(X) < 0.5] = 0.0
    bp = rp.ErrorBreakpoints.from_labels(y)
    settings = {"coef": [1.0, 0.0, 0.5, 0.0], "max_steps": 3}
    lazy, labels = partitioned(X, y, 4)
    expected = rp.minimize_aum(sparse.csr_array(X), bp, step="best_aum", **settings)
    blocks = lazy.map_blocks(sparse.csr_array)
    check_steps(minimize_aum(blocks, labels, margin=0, **settings), expected)
    frame = dd.from_dict({**dict(zip("abcd", X.T, strict=True)), "y": y}, npartitions=3)
    expected = rp.minimize_aum(X, bp, step="best_aum", **settings)
    columns = frame[list("abcd")], frame["y"]
    check_steps(minimize_aum(*columns, margin=0, **settings), expected)


def test_partitions_may_be_empty_or_of_a_single_class():
    X, y = rows("tenths", 200)
    X, y = X[np.argsort(y)], np.sort(y)
    bp = rp.ErrorBreakpoints.from_labels(y)
    settings = {"coef": [1.0, 0.0, 0.5, 0.0], "max_steps": 3}
    expected = rp.minimize_aum(X, bp, step="best_aum", **settings)
    sizes = (0, 50, 1, 0, 149)
    lazy = da.from_array(X, chunks=(sizes, 4)), da.from_array(y, chunks=(sizes,))
    check_steps(minimize_aum(*lazy, margin=0, **settings), expected)


@pytest.mark.parametrize("has_weights", [False, True])
@pytest.mark.parametrize("margin", [0.0, 1.0])
def test_steps_of_small_tied_problems_equal_those_in_memory(margin, has_weights):
    """Rows with weight 0 are dropped there, and must not split intervals of steps here."""
    with dask.config.set(scheduler="synchronous"):
        for seed in range(12):
            rng = np.random.default_rng(seed)
            n_rows, n_columns = int(rng.integers(4, 9)), int(rng.integers(1, 3))
            X = rng.integers(-2, 3, size=(n_rows, n_columns)).astype(float)
            y = rng.integers(0, 2, n_rows)
            weight = rng.integers(0, 3, n_rows).astype(float) if has_weights else np.ones(n_rows)
            if len(set(y[weight > 0])) < 2:
                continue
            bp = rp.ErrorBreakpoints.from_labels(y, sample_weight=weight, margin=margin)
            settings = {"coef": np.ones(n_columns), "max_steps": 6}
            expected = rp.minimize_aum(X, bp, step="best_aum", **settings)
            size = int(rng.integers(1, n_rows + 1))
            X, y, weight = (
                da.from_array(one, chunks=(size, *one.shape[1:])) for one in (X, y, weight)
            )
            got = minimize_aum(X, y, sample_weight=weight, margin=margin, **settings)
            check_steps(got, expected)


def test_the_default_does_not_shrink_the_weights_to_nothing():
    X, y = rows("floats")
    got = minimize_aum(*partitioned(X, y, 3))
    bp = rp.ErrorBreakpoints.from_labels(y, margin=1)
    check_steps(got, rp.minimize_aum(X, bp, step="best_aum"))
    assert got.norm[-1] > 0.1
    with pytest.warns(UserWarning, match="coef is zero, which is a trivial minimum"):
        minimize_aum(*partitioned(X, y, 3), coef=np.zeros(4), margin=0, max_steps=1)


def test_sums_over_rows_do_not_depend_on_their_order():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1000, 3)) * 10.0 ** rng.integers(-8, 8, (1000, 1))
    factor = rng.normal(size=1000)
    expected = column_sums(X, factor)
    for order in (np.arange(1000)[::-1], rng.permutation(1000)):
        assert (column_sums(X[order], factor[order]) == expected).all()
    pairs = [pair_sums(X[a : a + 90], factor[a : a + 90]) for a in range(0, 1000, 90)]
    assert (add_pairs(pairs) == expected).all()
    in_columns = column_sums(np.asfortranarray(X), factor)
    of_csr = column_sums(sparse.csr_array(X), factor)
    assert (in_columns == expected).all()
    assert (of_csr == expected).all()


def test_nan_and_unsupported_step_rules_raise():
    X, y = rows("floats", 40)
    X[33, 2] = np.nan
    with pytest.raises(ValueError, match=r"X .*nan in partition 3, row 3, column 2"):
        minimize_aum(*partitioned(X, y, 4))
    with pytest.raises(ValueError, match="step must be 'best_aum'"):
        minimize_aum(*partitioned(X, y, 4), step="grid")
