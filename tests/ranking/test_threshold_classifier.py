"""ThresholdClassifier keeps scikit-learn's contract, and its promise."""

import numpy as np
import pytest
import sklearn
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import (
    GroupKFold,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

import rocpath as rp

# The reason that scikit-learn gives for its TunedThresholdClassifierCV: a class is
# predicted at another probability than one half.
HALF = {"check_classifiers_train": "Threshold at probability 0.5 does not hold"}


def expected_failures(estimator):
    return HALF if hasattr(estimator, "predict_proba") else {}


@parametrize_with_checks(
    [
        rp.ThresholdClassifier(RidgeClassifier(), min_tpr=0.9),
        rp.ThresholdClassifier(LogisticRegression(), max_fpr=0.1, cv=3),
    ],
    expected_failed_checks=expected_failures,
)
# Tables of a check of scikit-learn 1.7 are too small for five folds.
@pytest.mark.filterwarnings("ignore:The least populated class")
def test_every_check_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def rows():
    return make_classification(
        600, 8, weights=[0.8], class_sep=0.8, flip_y=0.05, random_state=0
    )


@pytest.mark.parametrize("estimator", [LogisticRegression(), GaussianNB()])
def test_the_threshold_is_that_of_scores_held_out(rows, estimator):
    X, y = rows
    cv = StratifiedKFold(4, shuffle=True, random_state=1)
    model = rp.ThresholdClassifier(estimator, max_fpr=0.05, cv=cv).fit(X, y)
    is_linear = hasattr(estimator, "decision_function")
    method = "decision_function" if is_linear else "predict_proba"
    score = cross_val_predict(estimator, X, y, cv=cv, method=method)
    score = score if is_linear else score[:, 1]
    point = rp.choose_threshold(y, score, max_fpr=0.05)
    assert model.threshold_ == point.threshold
    assert model.operating_point_.fpr <= 0.05
    fitted = getattr(estimator.fit(X, y), method)(X)
    fitted = fitted if is_linear else fitted[:, 1]
    np.testing.assert_array_equal(model.predict(X), fitted >= point.threshold)
    np.testing.assert_array_equal(model.decision_function(X) >= 0, model.predict(X))
    np.testing.assert_allclose(model.predict_proba(X), estimator.predict_proba(X))


def test_a_fitted_classifier_keeps_its_promise_with_confidence(rows):
    X, y = rows
    fitted = LogisticRegression().fit(X[:200], y[:200])
    model = rp.ThresholdClassifier(fitted, max_fpr=0.1, cv="prefit", confidence=0.95)
    model.fit(X[200:], y[200:])
    assert model.estimator_ is fitted
    assert model.operating_point_.fpr_interval[1] <= 0.1
    names = np.array(["no", "yes"])
    fitted = LogisticRegression().fit(X[:200], names[y[:200]])
    model.set_params(estimator=fitted).fit(X[200:], names[y[200:]])
    assert set(model.predict(X)) == {"no", "yes"}


def test_weights_and_groups_are_passed_on(rows):
    X, y = rows
    weight = np.where(np.arange(y.size) % 3, 1.0, 0.0)
    plain = rp.ThresholdClassifier(LogisticRegression(), min_tpr=0.8)
    weighted = plain.fit(X, y, sample_weight=weight)
    kept = LogisticRegression().fit(X[weight > 0], y[weight > 0])
    np.testing.assert_allclose(weighted.estimator_.coef_, kept.coef_, rtol=1e-3)
    assert weighted.operating_point_.tpr >= 0.8
    with sklearn.config_context(enable_metadata_routing=True):
        inner = LogisticRegression().set_fit_request(sample_weight=True)
        model = rp.ThresholdClassifier(inner, min_tpr=0.8, cv=GroupKFold(3))
        model.fit(X, y, sample_weight=weight, groups=np.arange(y.size) % 7)
        np.testing.assert_allclose(model.estimator_.coef_, kept.coef_, rtol=1e-3)


def test_errors_are_clear(rows):
    X, y = rows
    with pytest.raises(ValueError, match=r"exactly one of .* must be given, got none"):
        rp.ThresholdClassifier(LogisticRegression()).fit(X, y)
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        rp.ThresholdClassifier(LogisticRegression(), max_fpr=0.1).fit(
            X, np.arange(y.size) % 3
        )
