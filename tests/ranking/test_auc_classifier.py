"""AUCClassifier: predictions, ascent, groups, and use with scikit-learn."""

import pickle

import numpy as np
import pytest
from scipy.special import expit
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import rocpath as rp


def unbalanced(n=600, seed=0):
    """Simulate 10% positives, with heavy-tailed, constant and rare binary columns."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 10 == 0
    X = rng.normal(size=(n, 6)) + np.outer(y, [1.0, 0.5, 0, 0, 0, 0])
    X[:, 2] = np.exp(3 * X[:, 2])
    X[:, 3] = 7.0
    X[:, 4] = X[:, 4] > 2.3
    return X, y.astype(int)


@pytest.fixture(scope="module")
def fitted():
    X, y = unbalanced()
    return X, y, rp.AUCClassifier(random_state=0).fit(X, y)


def test_decision_function_is_linear_in_the_original_columns(fitted):
    X, _, model = fitted
    expected = X @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-12)
    assert model.coef_.shape == (1, 6)
    assert model.coef_[0, 3] == 0  # constant
    assert np.isfinite(model.coef_).all()


def test_probabilities_are_the_logistic_function_of_the_log_odds(fitted):
    X, y, model = fitted
    score = model.decision_function(X)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(score))
    np.testing.assert_array_equal(model.predict(X), (score > 0).astype(int))
    # Log-odds are calibrated on held-out rows, for the observed class frequencies.
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(y.mean(), abs=0.03)


def test_the_ranking_is_robust_to_an_outlier():
    X, y = unbalanced()
    X_new, y_new = unbalanced(seed=1)
    X[5] = 1e6
    model = rp.AUCClassifier(random_state=0).fit(X, y)
    baseline = LogisticRegression().fit(StandardScaler().fit_transform(X), y)
    assert roc_auc_score(y_new, X_new @ baseline.coef_[0]) < 0.7
    # The best ranking of normal columns whose means differ by 1 and 0.5 has an AUC of
    # Phi(sqrt(1.25 / 2)) = 0.785.
    assert roc_auc_score(y_new, model.decision_function(X_new)) > 0.75
    assert model.predict_proba(X_new)[:, 1].std() > 0.02


def test_ascent_improves_auc_if_outliers_dominate_convex_losses():
    # A tenth of the negatives are extreme outliers on the side of the positives. They
    # dominate every convex loss, but are in only a tenth of the pairs that AUC counts.
    rng = np.random.default_rng(0)
    y = rng.random(4000) < 0.25
    X = rng.normal(size=(4000, 2)) + np.outer(y, [1.5, 0.0])
    far = ~y & (rng.random(4000) < 0.1)
    X[far] += [25.0, 10.0]
    model = rp.AUCClassifier(random_state=0).fit(X[::2], y[::2])
    initial = clone(model).set_params(widths=(), n_rounds=0).fit(X[::2], y[::2])
    assert model.n_iter_ > 0
    assert model.history_[0].chosen == model.n_iter_

    def area(one):
        return roc_auc_score(y[1::2], one.decision_function(X[1::2]))

    assert area(model) > area(initial) + 0.002


def test_history_lists_the_models_and_stages_that_were_tried(fitted):
    (history,) = fitted[2].history_
    assert len(history.initial_models) == history.initial_auc.size == history.share.size
    assert history.share.sum() == pytest.approx(1)
    # The stages are the average, and the ascent with the first bandwidth, halfway and all
    # the way. Coordinate ascent is not tried, because it does not help on so few rows.
    assert history.stage_auc.size == 1 + 2
    assert history.stage_error[0] == 0


def test_class_weights_change_predictions_but_not_the_ranking_of_string_labels():
    X, y = unbalanced()
    label = np.where(y == 1, "rare", "common")
    model = rp.AUCClassifier(random_state=0).fit(X, label)
    assert model.classes_.tolist() == ["common", "rare"]
    balanced = rp.AUCClassifier(random_state=0, class_weight="balanced").fit(X, label)
    assert (balanced.predict(X) == "rare").sum() > (model.predict(X) == "rare").sum()
    # The ranking is the same; only the log-odds change.
    area = roc_auc_score(y, model.decision_function(X))
    assert roc_auc_score(y, balanced.decision_function(X)) == pytest.approx(area)


def test_each_of_several_classes_has_a_ranking():
    X, y = load_iris(return_X_y=True)
    model = rp.AUCClassifier(random_state=0).fit(X, y)
    assert model.decision_function(X).shape == (150, 3)
    assert len(model.history_) == 3
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    chosen = model.predict_proba(X).argmax(axis=1)
    np.testing.assert_array_equal(model.predict(X), chosen)
    assert model.score(X, y) > 0.9


def test_the_model_works_in_pipelines_searches_and_calibration():
    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    pipeline = make_pipeline(StandardScaler(), rp.AUCClassifier(random_state=0))
    search = GridSearchCV(
        pipeline, {"aucclassifier__n_rounds": [0, 1]}, scoring="roc_auc", cv=3
    ).fit(X_train, y_train)
    assert roc_auc_score(y_test, search.decision_function(X_test)) > 0.98
    calibrated = CalibratedClassifierCV(rp.AUCClassifier(random_state=0), cv=3)
    assert calibrated.fit(X_train, y_train).score(X_test, y_test) > 0.9
    model = pickle.loads(pickle.dumps(search.best_estimator_))
    expected = search.decision_function(X_test)
    np.testing.assert_array_equal(model.decision_function(X_test), expected)


def test_there_are_at_most_as_many_folds_as_rows_of_the_minority_class():
    X, y = unbalanced(200)  # twenty positives
    model = rp.AUCClassifier(n_folds=100, random_state=0).fit(X, y)
    same = rp.AUCClassifier(n_folds=20, random_state=0).fit(X, y)
    assert model.history_[0].initial_auc.size > 1
    assert (model.coef_ == same.coef_).all()


def test_many_rows_are_subsampled_and_the_model_is_refitted_to_all_rows():
    rng = np.random.default_rng(0)
    y = rng.random(60_000) < 0.05
    X = rng.normal(size=(60_000, 3)).astype(np.float32) + y[:, None]
    model = rp.AUCClassifier(random_state=0).fit(X, y)
    assert roc_auc_score(y, model.decision_function(X)) > 0.88
    # The optimal coefficients are equal.
    assert np.ptp(model.coef_) < 0.1 * model.coef_.mean()
    # Held-out rows were subsampled, but probabilities are for all rows.
    assert model.predict_proba(X)[:, 1].mean() == pytest.approx(0.05, abs=0.005)


def noisy_groups(seed, n_groups=150):
    """Simulate groups of eight rows with one label; 40 columns identify the group."""
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(n_groups), 8)
    y = (rng.random(n_groups) < 0.4)[group]
    own = rng.normal(size=(n_groups, 40))[group] + 0.1 * rng.normal(size=(group.size, 40))
    X = np.column_stack((rng.normal(size=group.size) + 0.5 * y, own))
    return X, y, group


def test_cross_validated_auc_of_grouped_rows_is_that_of_new_groups():
    X, y, group = noisy_groups(0)
    by_rows = rp.AUCClassifier(random_state=0).fit(X, y).history_[0].initial_auc.max()
    model = rp.AUCClassifier(random_state=0).fit(X, y, groups=group)
    by_groups = model.history_[0].initial_auc.max()
    new_X, new_y, _ = noisy_groups(1)
    new = roc_auc_score(new_y, model.decision_function(new_X))
    # With folds of rows, the columns that identify groups reveal the labels of held-out
    # rows.
    assert by_rows > new + 0.1
    assert by_groups == pytest.approx(new, abs=0.06)


def test_copies_of_rows_hardly_change_the_model():
    X, y = unbalanced(300)
    once = rp.AUCClassifier(random_state=0).fit(X, y)
    copied = rp.AUCClassifier(random_state=0)
    copied.fit(np.repeat(X, 4, axis=0), np.repeat(y, 4))
    numbered = rp.AUCClassifier(random_state=0)
    numbered.fit(np.repeat(X, 4, axis=0), np.repeat(y, 4), groups=np.repeat(np.arange(300), 4))
    np.testing.assert_allclose(copied.coef_, numbered.coef_)
    scores = [model.decision_function(X) for model in (once, copied)]
    # Folds differ, but copies do not weaken the penalties.
    assert np.corrcoef(*scores)[0, 1] > 0.98


def test_groups_are_routed_by_metadata():
    X, y, group = noisy_groups(2, 40)
    with config_context(enable_metadata_routing=True):
        model = rp.AUCClassifier(random_state=0, n_rounds=0).set_fit_request(groups=True)
        pipeline = make_pipeline(StandardScaler(), model).fit(X, y, groups=group)
    expected = rp.AUCClassifier(random_state=0, n_rounds=0)
    expected.fit(StandardScaler().fit_transform(X), y, groups=group)
    np.testing.assert_allclose(pipeline[-1].coef_, expected.coef_)
