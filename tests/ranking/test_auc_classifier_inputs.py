"""AUCClassifier: types, scales and weights of its input, and invalid arguments."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rocpath as rp
from tests.ranking.test_auc_classifier import unbalanced


@pytest.mark.parametrize("kind", ["csr", "csc", "float32", "pandas", "polars"])
def test_input_types_give_nearly_the_same_model(kind):
    X, y = unbalanced()
    model = rp.AUCClassifier(random_state=0).fit(X, y)
    names = [f"column {k}" for k in range(6)]
    if kind in ("pandas", "polars"):
        library = pytest.importorskip(kind)
        given = library.DataFrame({name: X[:, k] for k, name in enumerate(names)})
    else:
        make = {
            "csr": sparse.csr_matrix,
            "csc": sparse.csc_array,
            "float32": lambda X: X.astype(np.float32),
        }[kind]
        given = make(X)
    other = rp.AUCClassifier(random_state=0).fit(given, y)
    difference = other.decision_function(given) - model.decision_function(X)
    # Due to rounding, the other one of two nearly equal steps may be chosen.
    assert np.abs(difference).max() < 0.2 * model.decision_function(X).std()
    if kind in ("pandas", "polars"):
        assert other.feature_names_in_.tolist() == names


def test_rows_with_zero_weight_are_dropped():
    X, y = unbalanced()
    weight = np.ones(y.size)
    weight[400:] = 0
    weighted = rp.AUCClassifier(random_state=0).fit(X, y, sample_weight=weight)
    fewer = rp.AUCClassifier(random_state=0).fit(X[:400], y[:400])
    np.testing.assert_allclose(weighted.coef_, fewer.coef_)


@pytest.mark.parametrize("n", [2, 3, 4, 8, 25])
def test_few_rows_give_a_finite_model(n):
    rng = np.random.default_rng(n)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 3)) + 2 * y[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = rp.AUCClassifier(random_state=0).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.predict_proba(X)).all()


def test_constant_features_predict_the_class_frequencies():
    X, y = np.full((100, 3), 5.0), np.arange(100) % 4 == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = rp.AUCClassifier(random_state=0).fit(X, y)
    assert (model.coef_ == 0).all()
    assert model.predict_proba(X)[0, 1] == pytest.approx(0.25, abs=0.01)


def test_separable_data_with_a_large_offset_are_separated():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2 == 0
    X = 1e9 + np.where(y, 1.0, -1.0)[:, None] + 0.1 * rng.normal(size=(200, 2))
    model = rp.AUCClassifier(random_state=0).fit(X, y)
    assert roc_auc_score(y, model.decision_function(X)) == 1
    assert model.score(X, y) == 1


@pytest.mark.parametrize("power", [-960, -600, 600, 960])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_predictions_do_not_depend_on_the_scale_of_columns(power, kind):
    X, y = unbalanced()
    X = np.delete(X, 3, axis=1)
    scores = []
    for factor in (1.0, 2.0**power):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = rp.AUCClassifier(random_state=0).fit(kind(factor * X), y)
        scores.append(model.decision_function(kind(factor * X)))
    assert scores[1] == pytest.approx(scores[0])


@pytest.mark.parametrize("size", [1e-308, 1e300])
def test_the_scale_of_single_columns_may_be_extreme(size):
    X, y = unbalanced()
    X = np.delete(X, 3, axis=1)
    small = X * [size, 1, 1, 1, size]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = rp.AUCClassifier(random_state=0).fit(small, y)
    expected = rp.AUCClassifier(random_state=0).fit(X, y).decision_function(X)
    assert np.isfinite(model.coef_).all()
    # A coefficient above 1e308 is clipped, so that its column has slightly less influence.
    assert np.corrcoef(model.decision_function(small), expected)[0, 1] > 0.99


def test_rare_categories_are_not_overweighted():
    # One numeric column is informative. The 60 levels of a category are not, and most of
    # them occur in few rows. Scaling with class-balanced weights would magnify them.
    rng = np.random.default_rng(0)
    X, y = [], []
    for _ in range(2):
        label = np.arange(4000) % 40 == 0
        level = np.minimum(rng.geometric(0.07, size=4000), 59)
        number = rng.normal(size=4000) + label
        X.append(np.column_stack((number, level[:, None] == np.arange(60))))
        y.append(label)
    areas = []
    for model in (
        rp.AUCClassifier(random_state=0),
        make_pipeline(
            StandardScaler(),
            GridSearchCV(LogisticRegression(), {"C": np.logspace(-4, 1, 6)}, scoring="roc_auc"),
        ),
    ):
        model.fit(X[0], y[0])
        areas.append(roc_auc_score(y[1], model.decision_function(X[1])))
    assert areas[0] > areas[1] - 0.005


@pytest.mark.parametrize("heavy", [0, 1])
def test_class_weights_may_differ_by_twenty_orders_of_magnitude(heavy):
    X, y = unbalanced()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = rp.AUCClassifier(class_weight={heavy: 1e20, 1 - heavy: 1.0})
        model.fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()
    assert (model.predict(X) == heavy).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.ones(600)}, "y must have at least two classes"),
        ({"sample_weight": np.zeros(600)}, "sample_weight must have a positive entry"),
        ({"sample_weight": -np.ones(600)}, "sample_weight must not be negative"),
        ({"sample_weight": np.ones(5)}, "entry for each of the 600 rows, got 5"),
        ({"X": np.full((600, 2), np.nan)}, "NaN"),
        ({"X": np.full((600, 2), np.inf)}, "infinity"),
        ({"X": 1.5e308 * np.eye(600, 2)}, r"X must be at most 1e\+307 in absolute value"),
        ({"X": np.ma.masked_equal(np.eye(600, 2), 1)}, "X must have no masked values"),
        ({"y": np.ma.masked_equal(np.arange(600) % 2, 1)}, "y must have no masked"),
    ],
)
def test_invalid_input_raises(change, message):
    X, y = unbalanced()
    arguments = {"X": X, "y": y} | change
    with pytest.raises(ValueError, match=message):
        rp.AUCClassifier().fit(**arguments)


@pytest.mark.parametrize("name", ["n_folds", "n_rounds"])
def test_invalid_parameters_raise(name):
    X, y = unbalanced()
    with pytest.raises(ValueError, match=f"{name} must be an integer"):
        rp.AUCClassifier(**{name: -1}).fit(X, y)


@pytest.mark.parametrize("weight", [0, -1, np.nan, np.inf])
def test_invalid_class_weights_raise(weight):
    X, y = unbalanced()
    with pytest.raises(ValueError, match="class_weight must be"):
        rp.AUCClassifier(class_weight={0: weight, 1: 1}).fit(X, y)


def test_weights_with_a_large_dynamic_range_give_a_finite_model():
    X, y = unbalanced()
    weight = np.exp(10 * np.random.default_rng(0).normal(size=y.size))
    assert weight.min() < 1e-13 * weight.max()
    model = rp.AUCClassifier(random_state=0).fit(X, y, weight)
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_columns_with_extremely_heavy_tails_give_a_finite_model(seed):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(200, 5))
    y = Z[:, 0] + rng.normal(size=200) > 0
    model = rp.AUCClassifier(random_state=0).fit(np.exp(30 * Z), y)
    assert np.isfinite(model.coef_).all()


def test_invalid_widths_raise():
    X, y = unbalanced()
    with pytest.raises(ValueError, match="widths must be at least"):
        rp.AUCClassifier(widths=(0.3, 0.0)).fit(X, y)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (np.arange(5), "groups must have one entry for each of the 600 rows, got 5"),
        (np.zeros((600, 2)), r"groups must be one-dimensional, got shape \(600, 2\)"),
        (np.full(600, np.nan), "groups must not have missing values, got nan"),
    ],
)
def test_invalid_groups_raise(groups, message):
    X, y = unbalanced()
    with pytest.raises(ValueError, match=message):
        rp.AUCClassifier().fit(X, y, groups=groups)
