"""AUCClassifier on partitioned rows: the same model as in memory."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import rocpath as rp
from rocpath.matrices import Columns
from rocpath.ranking.labeled_rows import LabeledRows
from rocpath.sample import Sample

da = pytest.importorskip("dask.array")
db = pytest.importorskip("dask.bag")
dd = pytest.importorskip("dask.dataframe")
pytest.importorskip("distributed")

from rocpath.dask import AUCClassifier, auc, subsampling  # noqa: E402


def rows(n_rows=500, n_classes=2):
    """Return features (integers, tenths and floats) and labels that depend on them."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(n_rows, 4))
    score = X @ [1.0, 0.5, 0.0, -1.0] + rng.normal(size=n_rows)
    X[:, 0], X[:, 1] = np.round(X[:, 0]), np.round(X[:, 1], 1)
    return X, np.digitize(score, [1.0] if n_classes == 2 else [-1.0, 1.0])


def partitioned(X, y, n_partitions):
    size = -(-len(y) // n_partitions)
    return da.from_array(X, chunks=(size, X.shape[1])), da.from_array(y, chunks=size)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_fits_of_small_tables_equal_fits_in_memory(n_classes):
    X, y = rows(n_classes=n_classes)
    expected = rp.AUCClassifier(random_state=0).fit(X, y)
    for n_partitions in (1, 3, 17):
        model = AUCClassifier(random_state=0).fit(*partitioned(X, y, n_partitions))
        assert (model.coef_ == expected.coef_).all()
        assert (model.intercept_ == expected.intercept_).all()
        assert model.n_passes_ == 2


def test_subsampled_fits_do_not_depend_on_partitions(monkeypatch):
    monkeypatch.setattr(subsampling, "MAX_ROWS_PER_CLASS", 300)
    X, y = rows(3000)
    models = [
        AUCClassifier(random_state=0).fit(*partitioned(X, y, n_partitions))
        for n_partitions in (1, 3, 17)
    ]
    for model in models[1:]:
        np.testing.assert_allclose(model.coef_, models[0].coef_, rtol=1e-9)
        np.testing.assert_allclose(model.intercept_, models[0].intercept_, rtol=1e-9)
    assert 3 <= models[0].n_passes_ <= 9


def test_unknown_chunk_sizes_and_data_frames_give_the_same_model(monkeypatch):
    monkeypatch.setattr(subsampling, "MAX_ROWS_PER_CLASS", 300)
    X, y = rows(3000)
    expected = AUCClassifier(random_state=0).fit(*partitioned(X, y, 1))
    names = list("abcd")
    table = pd.DataFrame({**dict(zip(names, X.T, strict=True)), "y": y})
    for n_partitions in (1, 3, 17):
        # The mask selects all rows, but Dask does not know how many.
        lazy, labels = partitioned(X, y, n_partitions)
        is_row = labels >= 0
        frame = dd.from_pandas(table, npartitions=n_partitions)
        for data in ((lazy[is_row], labels[is_row]), (frame[names], frame["y"])):
            model = AUCClassifier(random_state=0).fit(*data)
            np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)
            np.testing.assert_allclose(model.intercept_, expected.intercept_, rtol=1e-9)


def test_ascent_on_subsampled_rows_equals_ascent_in_memory(monkeypatch):
    monkeypatch.setattr(subsampling, "MAX_ROWS_PER_CLASS", 300)
    # A fifth of the positives are outliers on the wrong side. They dominate convex
    # losses, so that an ascent increases AUC.
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=3000)
    is_far = (y == 1) & (rng.random(3000) < 0.2)
    X = rng.normal(size=(3000, 3))
    X += np.where(is_far[:, None], [-10.0, 1.0, 0.0], y[:, None] * [1.5, 0.0, 0.0])
    is_kept = sampled(y, 300, seed=4)
    weight = (np.bincount(y) / np.bincount(y[is_kept]))[y[is_kept]]
    local = rp.AUCClassifier(random_state=4).fit(X[is_kept], y[is_kept], weight)
    assert local.n_iter_ > 0
    model = AUCClassifier(random_state=4).fit(*partitioned(X, y, 5))
    np.testing.assert_allclose(model.coef_, local.coef_, rtol=1e-6)
    np.testing.assert_allclose(model.intercept_, local.intercept_, rtol=1e-6)


def test_partitions_may_be_empty_or_of_a_single_class():
    X, y = rows()
    X, y = X[np.argsort(y, kind="stable")], np.sort(y)
    expected = rp.AUCClassifier(random_state=0).fit(X, y)
    sizes = (0, 50, 1, 0, 449)
    lazy = da.from_array(X, chunks=(sizes, 4)), da.from_array(y, chunks=(sizes,))
    model = AUCClassifier(random_state=0).fit(*lazy)
    assert (model.coef_ == expected.coef_).all()
    assert (model.predict(lazy[0]).compute() == expected.predict(X)).all()


def sampled(y, max_rows, seed):
    """Return a mask of the rows of each class with the lowest hashes."""
    hashes = subsampling.row_hashes(0, y.size, seed)
    is_kept = np.zeros(y.size, dtype=bool)
    for label in (0, 1):
        here = np.flatnonzero(y == label)
        is_kept[here[np.argsort(hashes[here])[:max_rows]]] = True
    return is_kept


def test_initial_model_is_refitted_to_all_rows_as_in_memory(monkeypatch):
    monkeypatch.setattr(subsampling, "MAX_ROWS_PER_CLASS", 300)
    X, y = rows(3000)
    model = AUCClassifier(random_state=0, widths=(), n_rounds=0)
    model.fit(*partitioned(X, y, 5))
    is_kept = sampled(y, 300, seed=0)
    weight = (np.bincount(y) / np.bincount(y[is_kept]))[y[is_kept]]
    local = rp.AUCClassifier(random_state=0, widths=(), n_rounds=0)
    searched = local._search(X[is_kept], np.array([0, 1]), y[is_kept], weight, None)
    ((_, _, candidate),) = searched
    all_rows = LabeledRows(X, Sample(y == 1), np.arange(y.size))
    coef = candidate.refitted(all_rows)
    assert (coef != candidate.coef).all()
    local._set_rankings([(candidate.log_odds(coef, *np.bincount(y)), candidate)])
    np.testing.assert_allclose(model.coef_, local.coef_, rtol=1e-6)
    np.testing.assert_allclose(model.intercept_, local.intercept_, rtol=1e-6)


def test_ascent_is_kept_only_if_it_increases_the_auc_on_all_rows(monkeypatch):
    areas = iter([0.7, 0.6, 0.5, 0.6])
    monkeypatch.setattr(subsampling, "_auc", lambda *_: next(areas))
    monkeypatch.setattr(subsampling, "newton", lambda sums, l2, start: start * 0)
    start, ascended = np.ones(4), np.full(4, 2.0)

    class Candidate:
        columns, clip_bound = Columns.as_given(4), np.inf
        coef, initial_coef = ascended, start
        best_initial_model = rp.ranking.initial_models.DEFAULT_INITIAL_MODEL
        history = SimpleNamespace(chosen=1)

        @staticmethod
        def scale_of(model):
            return np.ones(4)

    class Rows:
        classes, class_weights = np.array([0, 1]), np.array([5.0, 5.0])

    arguments = (Rows, np.array([False, True]), Candidate, None)
    assert (subsampling.refine(*arguments) == ascended).all()
    assert (subsampling.refine(*arguments) == 0).all()


def test_probabilities_are_calibrated_to_all_rows(monkeypatch):
    monkeypatch.setattr(subsampling, "MAX_ROWS_PER_CLASS", 200)
    X, y = rows(4000)
    lazy = partitioned(X, y, 3)
    model = AUCClassifier(random_state=0).fit(*lazy)
    assert model.predict_proba(lazy[0])[:, 1].mean().compute() == pytest.approx(y.mean(), abs=0.03)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_lazy_predictions_equal_those_of_the_local_model(n_classes):
    X, y = rows(n_classes=n_classes)
    lazy, labels = partitioned(X, y, 4)
    model = AUCClassifier(random_state=0).fit(lazy, labels)
    local = model.to_local()
    assert isinstance(local, rp.AUCClassifier)
    for method in ("decision_function", "predict", "predict_proba"):
        got, expected = getattr(model, method)(lazy), getattr(local, method)(X)
        assert isinstance(got, da.Array)
        assert got.shape == expected.shape
        assert (got.compute() == expected).all()
        unknown = lazy[lazy[:, 0] > 100]
        assert getattr(model, method)(unknown).compute().shape[0] == 0


def test_fits_of_data_frames_and_csr_blocks_equal_fits_in_memory():
    X, y = rows()
    X[np.abs(X) < 0.5] = 0.0
    label = np.where(y == 1, "yes", "no")
    columns = dict(zip("abcd", X.T, strict=True))
    frame = dd.from_dict({**columns, "y": label}, npartitions=3)
    expected = rp.AUCClassifier(random_state=0).fit(X, label)
    model = AUCClassifier(random_state=0).fit(frame[list("abcd")], frame["y"])
    assert (model.coef_ == expected.coef_).all()
    assert model.feature_names_in_.tolist() == list("abcd")
    assert model.to_local().feature_names_in_.tolist() == list("abcd")
    predicted = model.predict(frame[list("abcd")]).compute()
    assert (predicted == expected.predict(X)).all()
    with pytest.raises(ValueError, match=r"X must have the columns \['a', 'b'"):
        model.predict(frame[list("bacd")])

    lazy, labels = partitioned(X, y, 3)
    blocks = lazy.map_blocks(sparse.csr_array)
    expected = rp.AUCClassifier(random_state=0).fit(sparse.csr_array(X), y)
    model = AUCClassifier(random_state=0).fit(blocks, labels)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)
    got = model.decision_function(blocks).compute()
    np.testing.assert_allclose(got, expected.decision_function(X), rtol=1e-9)


def test_parquet_files_are_read_with_their_labels(tmp_path):
    X, y = rows(400)
    frame = pd.DataFrame({**dict(zip("abcd", X.T, strict=True)), "y": y})
    for number in range(5):
        some = frame[80 * number : 80 * number + 80]
        some.to_parquet(tmp_path / f"part{number}.parquet")
    table = dd.read_parquet(tmp_path)
    expected = rp.AUCClassifier(random_state=0).fit(X, y)
    model = AUCClassifier(random_state=0).fit(table[list("abcd")], table["y"])
    assert (model.coef_ == expected.coef_).all()
    score = model.decision_function(table[list("abcd")])
    bp = rp.ErrorBreakpoints.from_labels(y)
    area = rp.auc(bp, expected.decision_function(X))
    assert auc(table["y"], score) == area
    assert auc(table["y"], table["a"]) == rp.auc(bp, X[:, 0])


def test_tasks_shared_by_rows_and_labels_run_once_per_pass():
    from dask.delayed import delayed

    X, y = rows(400)
    n_computed = []

    def compute(number):
        n_computed.append(number)
        block = slice(100 * number, 100 * number + 100)
        return X[block], y[block]

    blocks = [delayed(compute, nout=2)(number) for number in range(4)]
    lazy = [
        da.concatenate([da.from_delayed(one[k], shape, dtype) for one in blocks])
        for k, shape, dtype in ((0, (100, 4), float), (1, (100,), int))
    ]
    auc(lazy[1], lazy[0][:, 0])
    # One partition is computed to estimate the size; then each is computed once and kept.
    assert sorted(n_computed) == [0, 1, 2, 2, 3]


def test_class_weight_equals_that_in_memory():
    X, y = rows()
    lazy = partitioned(X, y, 2)
    for settings in ({"class_weight": "balanced"}, {"class_weight": {0: 1.0, 1: 3.0}}):
        expected = rp.AUCClassifier(random_state=0, **settings).fit(X, y)
        model = AUCClassifier(random_state=0, **settings).fit(*lazy)
        np.testing.assert_allclose(model.intercept_, expected.intercept_, rtol=1e-12)


def test_parameters_are_those_of_the_local_classifier_plus_client_and_verbose():
    X, y = rows()
    names = set(rp.AUCClassifier().get_params())
    assert set(AUCClassifier().get_params()) == names | {"client", "verbose"}
    settings = {"random_state": 0, "max_fpr": 0.2}
    expected = rp.AUCClassifier(**settings).fit(X, y)
    assert (AUCClassifier(**settings).fit(*partitioned(X, y, 3)).coef_ == expected.coef_).all()


def test_wide_tables_have_smaller_subsamples(monkeypatch):
    monkeypatch.setattr(subsampling, "_MAX_BYTES", 40_000)
    monkeypatch.setattr(subsampling, "_MIN_ROWS_PER_CLASS", 10)
    monkeypatch.setattr(subsampling, "MAX_COLUMNS_FOR_NEWTON", 1)
    X, y = rows(3000)
    sampled_rows = []
    search = rp.AUCClassifier._search

    def spy(self, X, *rest):
        sampled_rows.append(X.shape[0])
        return search(self, X, *rest)

    monkeypatch.setattr(rp.AUCClassifier, "_search", spy)
    AUCClassifier(random_state=0).fit(*partitioned(X, y, 3))
    # With 40 bytes per row, including the label, at most 1,000 rows are sampled.
    assert sampled_rows == [1000]


def test_row_hashes_do_not_depend_on_partitions_and_are_uniform():
    whole = subsampling.row_hashes(0, 10_000, 3)
    pieces = [subsampling.row_hashes(a, 100, 3) for a in range(0, 10_000, 100)]
    assert (np.concatenate(pieces) == whole).all()
    assert np.unique(whole).size == whole.size
    counts, _ = np.histogram(whole.astype(float), bins=10, range=(0, 2.0**64))
    assert counts.min() > 850  # 1,000 each, with a standard deviation of 30
    assert (subsampling.row_hashes(0, 100, 4) != whole[:100]).all()


def test_non_finite_entries_of_csr_blocks_raise():
    X, y = rows(60)
    X[np.abs(X) < 0.5] = 0.0
    X[45, 2] = np.inf
    lazy, labels = partitioned(X, y, 3)
    with pytest.raises(ValueError, match="got inf in partition 2, row 5, column 2"):
        AUCClassifier().fit(lazy.map_blocks(sparse.csr_array), labels)


def text_in_last_block(labels, block_info=None):
    is_last = block_info is not None and block_info[0]["chunk-location"] == (2,)
    return labels.astype(str) if is_last else labels


def test_invalid_input_raises():
    X, y = rows(60)
    lazy, labels = partitioned(X, y, 3)
    frame = dd.from_dict({"a": X[:, 0], "b": ["u", "v"] * 30, "y": y}, npartitions=3)
    as_category = frame[["a", "b"]].astype({"b": "category"})
    shorter = frame["y"].repartition(npartitions=2)
    mixed = np.array([0, 1] * 20 + ["0", "1"] * 10, dtype=object)
    bad = {
        "'b' of type string": (frame[["a", "b"]], frame["y"]),
        "'b' of type category": (as_category, frame["y"]),
        "got Bag": (db.from_sequence([[1.0], [2.0]]), labels),
        "got ndarray": (lazy[labels >= 0], y),  # X has unknown chunk sizes
        "X must be two-dimensional, got 1": (lazy[:, 0], labels),
        "y must be one-dimensional, got 2": (lazy, lazy),
        "got dtype complex128": (lazy + 1j, labels),
        "no masked values": (da.ma.masked_greater(lazy, 1), labels),
        "at least one row with a positive weight": (lazy[:0], labels[:0]),
        "at least one column": (lazy[:, :0], labels),
        "same partitions, got 3 and 2.*repartition": (frame[["a"]], shorter),
        "Unknown label type": (lazy, lazy[:, 3]),
        "can be sorted": (lazy, da.from_array(mixed, chunks=60)),
        "numbers and text": (lazy, labels.map_blocks(text_in_last_block, dtype=int)),
    }
    for message, data in bad.items():
        with pytest.raises((TypeError, ValueError), match=message):
            AUCClassifier().fit(*data)


def test_numeric_dtypes_give_the_same_model():
    X, y = rows(200)
    lazy, labels = partitioned(np.round(X), y, 3)
    dense = rp.AUCClassifier(random_state=0).fit(np.round(X), y).coef_
    # Sparse sums are computed in a different order, so that a different one of several
    # equally good ascents is selected.
    of_sparse = rp.AUCClassifier(random_state=0).fit(sparse.csr_array(np.round(X)), y).coef_
    for data, expected in (
        (lazy.rechunk((67, 1)), dense),
        (lazy.astype(np.float32), dense),
        (lazy.astype(np.float16), dense),
        (lazy.astype(int), dense),
        (lazy.map_blocks(sparse.coo_array), of_sparse),
    ):
        model = AUCClassifier(random_state=0).fit(data, labels)
        np.testing.assert_allclose(model.coef_, expected, rtol=1e-9)
    is_large = rp.AUCClassifier(random_state=0).fit(X > 0, y).coef_
    model = AUCClassifier(random_state=0).fit(partitioned(X, y, 3)[0] > 0, labels)
    assert (model.coef_ == is_large).all()


def test_score_equals_the_accuracy_in_memory():
    X, y = rows()
    lazy = partitioned(X, y, 4)
    weight = np.arange(y.size) % 3
    model = AUCClassifier(random_state=0).fit(*lazy)
    local = model.to_local()
    assert model.score(*lazy) == local.score(X, y)
    lazy_weight = da.from_array(weight, chunks=125)
    expected = local.score(X, y, weight)
    assert model.score(*lazy, lazy_weight) == pytest.approx(expected, rel=1e-12)
    assert model.score(X, y) == local.score(X, y)
    names = list("abcd")
    table = pd.DataFrame({**dict(zip(names, X.T, strict=True)), "y": y})
    frame = dd.from_pandas(table, npartitions=3)
    named = AUCClassifier(random_state=0).fit(frame[names], frame["y"])
    assert named.score(frame[names], frame["y"]) == local.score(X, y)


def test_predictions_of_rows_in_memory_are_in_memory():
    X, y = rows()
    model = AUCClassifier(random_state=0).fit(*partitioned(X, y, 4))
    for method in ("decision_function", "predict", "predict_proba"):
        predicted = getattr(model, method)(X)
        assert isinstance(predicted, np.ndarray)
        assert (predicted == getattr(model.to_local(), method)(X)).all()


def test_a_single_class_raises():
    X, _ = rows(50)
    with pytest.raises(ValueError, match="at least two classes"):
        AUCClassifier().fit(*partitioned(X, np.ones(50), 2))
