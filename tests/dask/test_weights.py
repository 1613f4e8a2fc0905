"""Sample weights of partitioned rows: the same results as in memory."""

from fractions import Fraction

import numpy as np
import pytest

import rocpath as rp

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pytest.importorskip("distributed")

from rocpath.dask import AUCClassifier, auc, descent, minimize_aum, subsampling  # noqa: E402


def rows(n_rows=600):
    rng = np.random.default_rng(7)
    X = np.round(rng.normal(size=(n_rows, 4)), 1)
    y = X @ [1.0, 0.5, 0.0, -1.0] + rng.normal(size=n_rows) > 1
    return X, y.astype(int)


def weights(kind, n_rows):
    """Return weights of a kind; the kinds differ in how their unit is determined."""
    rng = np.random.default_rng(8)
    return {
        "whole numbers": rng.integers(0, 5, n_rows).astype(float),
        "multiples of one": 0.3 * 2.0 ** rng.integers(0, 4, n_rows),
        "binary fractions": rng.integers(1, 64, n_rows) / 64,
        "floats": rng.uniform(0.1, 3.0, n_rows),
        "wide": 10.0 ** rng.uniform(-3, 3, n_rows),
    }[kind]


KINDS = ("whole numbers", "multiples of one", "binary fractions", "floats", "wide")


def partitioned(*columns, n_partitions=3):
    size = -(-len(columns[0]) // n_partitions)
    return [da.from_array(one, chunks=(size, *one.shape[1:])) for one in columns]


@pytest.mark.parametrize("kind", KINDS)
def test_weighted_auc_equals_the_weighted_fraction_of_pairs(kind):
    X, y = rows(300)
    weight, score = weights(kind, y.size), X[:, 0]
    exact = list(map(Fraction, weight.tolist()))
    total = doubled = Fraction(0)
    for i in np.flatnonzero(y == 1):
        for j in np.flatnonzero(y == 0):
            pair = exact[i] * exact[j]
            total += pair
            doubled += pair * (1 + int(np.sign(score[i] - score[j])))
    bp = rp.ErrorBreakpoints.from_labels(y, sample_weight=weight)
    for n_partitions in (1, 3, 17):
        labels, scores, counted = partitioned(y, score, weight, n_partitions=n_partitions)
        got = auc(labels, scores, sample_weight=counted)
        assert got == pytest.approx(float(doubled / (2 * total)), rel=1e-14)
        assert got == pytest.approx(rp.auc(bp, score), rel=1e-15)
        near = auc(labels, scores, sample_weight=counted, tol=0.01)
        assert abs(near - got) <= 0.01


def test_weights_of_the_classes_may_differ_by_any_factor():
    # Weights are constant within each class, so they do not change the AUC.
    X, y = rows(60)
    for small, large in ((1e-10, 1e12), (1e-300, 1e15)):
        for weight in (np.where(y == 1, small, large), np.where(y == 1, large, small)):
            labels, scores, counted = partitioned(y, X[:, 0], weight)
            got = auc(labels, scores, sample_weight=counted)
            assert got == pytest.approx(auc(labels, scores), rel=1e-14)


def test_integer_weights_equal_repeated_rows():
    X, y = rows(200)
    weight = weights("whole numbers", y.size)
    index = np.repeat(np.arange(y.size), weight.astype(int))
    lazy = partitioned(y, X[:, 0], weight)
    repeated = partitioned(y[index], X[index, 0])
    assert auc(*lazy[:2], sample_weight=lazy[2]) == auc(*repeated)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("few_rows", [50_000, 100])
def test_weighted_steps_equal_those_in_memory(monkeypatch, kind, few_rows):
    monkeypatch.setattr(descent, "_FEW_ROWS", few_rows)
    X, y = rows(2000)
    weight = weights(kind, y.size)
    # Sums of inexact weights are rounded, and a step ends at a kink, where the gradient
    # jumps: after some steps, the last bit determines the direction.
    is_exact = kind not in ("floats", "wide")
    settings = {"coef": [1.0, 0.0, 0.5, 0.0], "max_steps": 5 if is_exact else 1}
    bp = rp.ErrorBreakpoints.from_labels(y, sample_weight=weight, margin=1.0)
    expected = rp.minimize_aum(X, bp, step="best_aum", **settings)
    for n_partitions in (1, 3):
        lazy = partitioned(X, y, weight, n_partitions=n_partitions)
        got = minimize_aum(*lazy[:2], sample_weight=lazy[2], **settings)
        for field in ("step", "aum", "auc", "norm", "coef"):
            np.testing.assert_allclose(
                getattr(got, field), getattr(expected, field), rtol=1e-9, atol=1e-14
            )
        assert got.intercept == pytest.approx(expected.intercept, rel=1e-9)


@pytest.mark.parametrize("kind", ["whole numbers", "floats"])
def test_weighted_fit_equals_fit_in_memory(kind):
    X, y = rows()
    weight = weights(kind, y.size)
    expected = rp.AUCClassifier(random_state=0).fit(X, y, weight)
    for n_partitions in (1, 3, 17):
        lazy = partitioned(X, y, weight, n_partitions=n_partitions)
        model = AUCClassifier(random_state=0).fit(*lazy)
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)
        np.testing.assert_allclose(model.intercept_, expected.intercept_, rtol=1e-9)
    frame = dd.from_dict(
        {**dict(zip("abcd", X.T, strict=True)), "y": y, "weight": weight}, npartitions=4
    )
    model = AUCClassifier(random_state=0).fit(frame[list("abcd")], frame["y"], frame["weight"])
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)


def test_subsampled_classes_keep_their_total_weight(monkeypatch):
    monkeypatch.setattr(subsampling, "MAX_ROWS_PER_CLASS", 300)
    X, y = rows(3000)
    weight = weights("floats", y.size)
    settings = {"random_state": 0, "widths": (), "n_rounds": 0}
    models = [
        AUCClassifier(**settings).fit(*partitioned(X, y, weight, n_partitions=n_partitions))
        for n_partitions in (1, 3, 17)
    ]
    for model in models[1:]:
        np.testing.assert_allclose(model.coef_, models[0].coef_, rtol=1e-9)
    # Weights that triple the positives change the probabilities.
    for weight in (np.ones(y.size), np.where(y == 1, 3.0, 1.0)):
        lazy = partitioned(X, y, weight)
        model = AUCClassifier(**settings).fit(*lazy)
        expected = rp.AUCClassifier(**settings).fit(X, y, weight)
        np.testing.assert_allclose(
            model.predict_proba(lazy[0])[:, 1].mean().compute(),
            expected.predict_proba(X)[:, 1].mean(),
            atol=0.03,
        )


@pytest.mark.parametrize("kind", ["wide", "binary fractions"])
def test_rows_with_zero_weight_are_dropped(monkeypatch, kind):
    monkeypatch.setattr(subsampling, "MAX_ROWS_PER_CLASS", 300)
    X, y = rows(3000)
    weight = weights(kind, y.size)
    # Half of the rows have weight 0 and must not affect the fit.
    weight[::2] = 0.0
    settings = {"random_state": 0, "widths": (), "n_rounds": 0}
    lazy = partitioned(X, y, weight, n_partitions=5)
    model = AUCClassifier(**settings).fit(*lazy)
    kept = partitioned(X[1::2], y[1::2], weight[1::2], n_partitions=2)
    expected = AUCClassifier(**settings).fit(*kept)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)


def test_invalid_weights_raise():
    X, y = rows(40)
    for bad in (-1.0, np.nan, np.inf):
        weight = np.ones(40)
        weight[33] = bad
        lazy = partitioned(X, y, weight, n_partitions=4)
        with pytest.raises(ValueError, match=r"sample_weight .* partition 3, row 3"):
            AUCClassifier().fit(*lazy)
    with pytest.raises(ValueError, match="at least one row with a positive weight"):
        AUCClassifier().fit(*partitioned(X, y, np.zeros(40)))
    with pytest.raises(ValueError, match="at least two classes"):
        AUCClassifier().fit(*partitioned(X, y, (y == 1).astype(float)))
    with pytest.raises(ValueError, match=r"X and sample_weight .* got 40 and 39"):
        AUCClassifier().fit(*partitioned(X, y), da.ones(39))
    # Rows with weight 0 are checked too.
    X[7, 2] = np.nan
    weight = np.ones(40)
    weight[5:9] = 0.0
    with pytest.raises(ValueError, match=r"X .* nan in partition 0, row 7, column 2"):
        AUCClassifier().fit(*partitioned(X, y, weight, n_partitions=4))
