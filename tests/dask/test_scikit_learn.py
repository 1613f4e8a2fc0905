"""AUCClassifier on Dask in scikit-learn: cross-validation, clones, column names."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict, cross_val_score

import rocpath as rp

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
pytest.importorskip("distributed")

from rocpath.dask import AUCClassifier, subsampling  # noqa: E402
from tests.dask.test_auc_classifier import partitioned, rows  # noqa: E402


def test_cross_validation_equals_that_in_memory():
    X, y = rows(300)
    model = AUCClassifier(random_state=0, widths=(), n_rounds=0)
    scores = cross_val_score(model, *partitioned(X, y, 3), cv=3)
    local = rp.AUCClassifier(random_state=0, widths=(), n_rounds=0)
    expected = cross_val_score(local, X, y, cv=3)
    np.testing.assert_allclose(scores, expected)


def test_groups_stay_in_one_fold_as_in_memory(monkeypatch):
    X, y = rows()
    group = np.arange(y.size) // 5
    lazy = partitioned(X, y, 3)
    labels = da.from_array(np.char.add("patient ", np.char.zfill(group.astype(str), 3)), chunks=90)
    model = AUCClassifier(random_state=0).fit(*lazy, groups=labels)
    expected = rp.AUCClassifier(random_state=0).fit(X, y, groups=group)
    assert (model.coef_ == expected.coef_).all()
    assert (model.intercept_ == expected.intercept_).all()
    monkeypatch.setattr(subsampling, "MAX_ROWS_PER_CLASS", 100)
    sampled = AUCClassifier(random_state=0).fit(*lazy, groups=labels)
    assert sampled.coef_.shape == model.coef_.shape


def test_models_are_cloned_with_their_client_and_pickled_without_it(client):
    lazy = partitioned(*rows(), 3)
    model = AUCClassifier(random_state=0, client=client)
    assert clone(model).client is client
    assert cross_val_score(model, *lazy, cv=2).shape == (2,)
    model.fit(*lazy)
    loaded = pickle.loads(pickle.dumps(model))
    assert loaded.client is None
    assert (loaded.predict(lazy[0]) == model.predict(lazy[0])).all().compute()


def test_different_column_names_or_numbers_of_columns_raise():
    X, y = rows()
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcd")), npartitions=3)
    labels = dd.from_pandas(pd.Series(y), npartitions=3)
    model = AUCClassifier(random_state=0).fit(frame, labels)
    for method in (model.predict, lambda X: model.score(X, labels)):
        with pytest.raises(ValueError, match=r"columns \['a', 'b', 'c', 'd'\], in this order"):
            method(frame[list("dcba")])
        with pytest.raises(ValueError, match="must have 4 columns, got 2"):
            method(frame.to_dask_array()[:, :2])
    with pytest.raises(ValueError, match="label input types"):
        model.score(frame, labels.astype(str))


def test_cross_validation_requires_conversion_of_data_frames_to_arrays():
    X, y = rows()
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcd")), npartitions=3)
    labels = dd.from_pandas(pd.Series(y), npartitions=3)
    model = AUCClassifier(random_state=0)
    # scikit-learn selects rows before it calls the classifier.
    with pytest.raises(AttributeError, match="take"):
        cross_val_score(model, frame, labels, cv=3)
    arrays = (one.to_dask_array(lengths=True) for one in (frame, labels))
    expected = cross_val_score(rp.AUCClassifier(random_state=0), X, y, cv=3)
    assert (cross_val_score(model, *arrays, cv=3) == expected).all()


def test_cross_validation_of_features_and_labels_from_one_data_frame_equals_that_in_memory():
    X, y = rows()
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcd")).assign(y=y), npartitions=3)
    array = frame.to_dask_array(lengths=True)
    got = cross_val_score(AUCClassifier(random_state=0), array[:, :4], array[:, 4], cv=3)
    expected = cross_val_score(rp.AUCClassifier(random_state=0), X, y.astype(float), cv=3)
    assert (got == expected).all()
    # Labels may be in memory if X is an array.
    for labels in (y, array[:, 4]):
        scored = cross_val_score(AUCClassifier(random_state=0), array[:, :4], labels, cv=3)
        assert (scored == got).all()
    predicted = cross_val_predict(AUCClassifier(random_state=0), array[:, :4], y, cv=3)
    expected = cross_val_predict(rp.AUCClassifier(random_state=0), X, y, cv=3)
    assert (np.asarray(predicted) == expected).all()
