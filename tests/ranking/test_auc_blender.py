"""AUCBlender: scikit-learn compatibility, members, folds and errors."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, cross_val_predict
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import rocpath as rp

CHEAP = [("bayes", BernoulliNB()), ("ridge", RidgeClassifier())]


@pytest.mark.filterwarnings("ignore:.*ranks all held-out rows:UserWarning")
@parametrize_with_checks([rp.AUCBlender(CHEAP)])
def test_estimator_checks_of_scikit_learn_pass(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def rows():
    return make_classification(400, 8, weights=[0.7], class_sep=0.7, flip_y=0.05, random_state=0)


def models(**more):
    tree = DecisionTreeClassifier(min_samples_leaf=20, random_state=0)
    return [("bayes", GaussianNB()), ("tree", tree), *more.items()]


def held_out_scores(estimators, X, y, cv):
    return np.column_stack(
        [
            cross_val_predict(model, X, y, cv=cv, method="predict_proba")[:, 1]
            for _, model in estimators
        ]
    )


def test_a_blend_is_fitted_to_held_out_scores_with_non_negative_weights(rows):
    X, y = rows
    cv = StratifiedKFold(4)
    estimators = models(line=LogisticRegression())
    blend = rp.AUCBlender(estimators, cv=cv, random_state=0).fit(X, y)
    assert blend.member_names_ == ["bayes", "tree", "line"]
    assert blend.excluded_ == {}
    assert (blend.weights_ >= 0).all()
    assert blend.weights_.sum() == pytest.approx(1.0)
    (history,) = blend.history_
    assert history.share.sum() == pytest.approx(1.0)
    assert len(history.tried) == history.auc.size == history.error.size
    scores = held_out_scores(estimators, X, y, cv)
    alone = [roc_auc_score(y, score) for score in scores.T]
    np.testing.assert_allclose(history.member_auc, alone)
    # Given the same scores and folds, `fit_scores` fits the same blend.
    given = rp.AUCBlender(cv=cv, random_state=0).fit_scores(scores, y)
    np.testing.assert_allclose(given.weights_, blend.weights_)
    fitted = np.column_stack([m.predict_proba(X)[:, 1] for m in blend.estimators_])
    np.testing.assert_allclose(given.decision_function(fitted), blend.decision_function(X))


def test_probabilities_are_calibrated_on_new_rows():
    X, y = make_classification(3000, 8, flip_y=0.3, weights=[0.8], random_state=1)
    blend = rp.AUCBlender(models(), random_state=0).fit(X[:1500], y[:1500])
    probability = blend.predict_proba(X[1500:])
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    odds = np.log(probability[:, 1] / probability[:, 0])
    np.testing.assert_allclose(odds, blend.decision_function(X[1500:]))
    # Three standard errors of a proportion in 1,500 rows are at most .04.
    assert abs(probability[:, 1].mean() - y[1500:].mean()) < 0.04
    np.testing.assert_array_equal(blend.predict(X[1500:]), odds > 0)


def test_each_of_several_classes_has_a_blend():
    X, y = load_iris(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    blend = rp.AUCBlender(models(), random_state=0).fit(X, names)
    assert blend.weights_.shape == (3, 2)
    np.testing.assert_allclose(blend.weights_.sum(axis=1), 1.0)
    assert blend.predict_proba(X).shape == (150, 3)
    assert blend.score(X, names) > 0.9
    with pytest.raises(ValueError, match="y must have exactly two classes, got 3"):
        blend.fit_scores(X, names)


def test_fitted_models_are_not_refitted(rows):
    X, y = rows
    fitted = [(name, model.fit(X[:200], y[:200])) for name, model in models()]
    blend = rp.AUCBlender(fitted, cv="prefit", random_state=0).fit(X[200:], y[200:])
    assert [*blend.estimators_] == [model for _, model in fitted]
    scores = np.column_stack([m.predict_proba(X[200:])[:, 1] for _, m in fitted])
    alone = [roc_auc_score(y[200:], score) for score in scores.T]
    np.testing.assert_allclose(blend.history_[0].member_auc, alone)
    with pytest.raises(ValueError, match="'bayes': ValueError: it was fitted to"):
        blend.fit(X[200:], np.array(["no", "yes"])[y[200:]])
    with pytest.raises(ValueError, match="a string, must be 'prefit', got 'fitted'"):
        rp.AUCBlender(fitted, cv="fitted").fit(X, y)


def test_weights_are_passed_to_models_and_blend(rows):
    X, y = rows
    # The labels of rows with weight 0 do not affect the blend.
    weight = np.where(np.arange(y.size) % 4, 1.0, 0.0)
    estimators = [("bayes", make_pipeline(StandardScaler(), GaussianNB()))]
    blend = rp.AUCBlender(estimators, cv=StratifiedKFold(4)).fit(X, y, weight)
    bayes = GaussianNB().fit(StandardScaler().fit_transform(X), y, weight)
    np.testing.assert_allclose(blend.estimators_[0][-1].theta_, bayes.theta_)
    other = np.where(weight > 0, y, 1 - y)
    part = np.arange(y.size) // 100
    cv = [(np.flatnonzero(part != k), np.flatnonzero(part == k)) for k in range(4)]
    scores = X[:, :3]
    one = rp.AUCBlender(cv=cv, random_state=0).fit_scores(scores, y, weight)
    two = rp.AUCBlender(cv=cv, random_state=0).fit_scores(scores, other, weight)
    np.testing.assert_array_equal(one.weights_, two.weights_)


def test_weights_require_no_metadata_request(rows):
    X, y = rows
    weight = np.where(np.arange(y.size) % 3, 1.0, 0.5)
    expected = rp.AUCBlender(models(), random_state=0).fit(X, y, weight)
    with config_context(enable_metadata_routing=True):
        routed = rp.AUCBlender(models(), random_state=0).fit(X, y, weight)
    np.testing.assert_array_equal(routed.decision_function(X), expected.decision_function(X))


def test_default_models_require_numeric_columns(rows):
    pandas = pytest.importorskip("pandas")
    X, y = rows
    frame = pandas.DataFrame({"number": X[:, 0], "kind": np.where(X[:, 1] > 0, "u", "v")})
    with pytest.raises(ValueError, match="default models require numeric columns"):
        rp.AUCBlender(random_state=0).fit(frame, y)


def test_groups_are_in_the_same_fold(rows):
    X, y = rows
    group = np.arange(y.size) // 8
    seen = []

    class Recorder(GaussianNB):
        def fit(self, X, y, sample_weight=None):
            seen.append(X[:, 0])
            return super().fit(X, y)

    rp.AUCBlender([("a", Recorder())], random_state=0).fit(X, y, groups=group)
    for column in seen[:-1]:
        of_row = group[np.isin(X[:, 0], column)]
        assert len(set(of_row) & set(group[~np.isin(X[:, 0], column)])) == 0
    assert len(seen) == 6
    rp.AUCBlender(models(), cv=GroupKFold(3)).fit(X, y, groups=group)


class Broken(ClassifierMixin, BaseEstimator):
    """Classifier that raises an error or predicts NaN."""

    def __init__(self, failure="raises"):
        self.failure = failure

    def fit(self, X, y):
        if self.failure == "raises":
            raise RuntimeError("the fit failed")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X):
        share = np.full((len(X), 2), 0.5)
        share[-1] = np.nan
        return share


@pytest.mark.parametrize(
    ("member", "reason"),
    [
        (Broken("raises"), "RuntimeError: the fit failed"),
        (Broken("predicts nan"), r"got nan from model 'bad' for row \d+"),
        (StandardScaler(), "must have predict_proba or decision_function"),
    ],
)
def test_a_member_that_fails_is_excluded_with_a_warning(rows, member, reason):
    X, y = rows
    blend = rp.AUCBlender(models(bad=member), random_state=0)
    with pytest.warns(UserWarning, match=f"excludes 'bad': .*{reason}"):
        blend.fit(X, y)
    assert blend.member_names_ == ["bayes", "tree"]
    assert list(blend.excluded_) == ["bad"]
    assert blend.predict(X).shape == y.shape
    with pytest.raises(ValueError, match=f"every model failed: 'bad': .*{reason}"):
        rp.AUCBlender([("bad", member)]).fit(X, y)


def test_default_estimators_depend_on_the_table(rows):
    X, y = rows
    X = X.copy()
    X[::7, 1] = np.nan
    blend = rp.AUCBlender(cv=2, random_state=0).fit(X[::2], y[::2])
    assert blend.member_names_ == ["linear", "trees", "boosting", "splines", "kernels"]
    assert roc_auc_score(y[1::2], blend.decision_function(X[1::2])) > 0.8
    counts = sparse.csr_matrix(np.maximum(np.nan_to_num(X[::4]), 0.0))
    assert rp.AUCBlender(cv=2, random_state=0).fit(counts, y[::4]).member_names_ == [
        "linear",
        "trees",
        "kernels",
    ]


def test_a_data_frame_is_passed_to_the_models_unchanged(rows):
    pandas = pytest.importorskip("pandas")
    X, y = rows
    frame = pandas.DataFrame(X, columns=list("abcdefgh"))
    frame["kind"] = pandas.Categorical(np.where(X[:, 0] > 0, "x", "y"))
    boosting = HistGradientBoostingClassifier(categorical_features="from_dtype", max_iter=10)
    blend = rp.AUCBlender([("boosting", boosting)], random_state=0).fit(frame, y)
    assert list(blend.feature_names_in_) == list(frame.columns)
    assert blend.predict(frame).shape == y.shape


@pytest.mark.parametrize(
    ("library", "name"), [("lightgbm", "LGBMClassifier"), ("xgboost", "XGBClassifier")]
)
def test_boosting_from_other_libraries_is_blended(rows, library, name):
    X, y = rows
    boosting = getattr(pytest.importorskip(library), name)
    small = boosting(n_estimators=20, max_depth=2, n_jobs=1, random_state=0)
    if library == "lightgbm":
        small.set_params(verbose=-1)
    weight = np.where(np.arange(y.size) % 3, 1.0, 0.5)
    blend = rp.AUCBlender(models(boosting=small), cv=3, random_state=0)
    blend.fit(X[::2], y[::2], weight[::2])
    assert blend.member_names_ == ["bayes", "tree", "boosting"]
    assert blend.excluded_ == {}
    alone = [
        roc_auc_score(y[1::2], member.predict_proba(X[1::2])[:, 1]) for member in blend.estimators_
    ]
    # On 200 rows, the best member may get a small weight, but the blend is not the worst.
    assert roc_auc_score(y[1::2], blend.decision_function(X[1::2])) > min(alone)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"estimators": []}, r"estimators must be a list of \(name, estimator\)"),
        ({"estimators": [GaussianNB()]}, r"must be a list of \(name, estimator\)"),
        ({"estimators": GaussianNB()}, r"must be a list of \(name, estimator\)"),
        ({"estimators": [("a", "drop")]}, r"must be a list of \(name, estimator\)"),
        ({"cv": "prefit"}, "estimators must be fitted models if cv is 'prefit', got None"),
        ({"estimators": 2 * CHEAP}, "Names provided are not unique"),
        ({"estimators": CHEAP, "cv": 1}, "cv must be an integer of at least 2, got 1"),
        (
            {"estimators": CHEAP, "cv": [([0, 1, 2, 3], [4, 5])]},
            "cv must have every row in exactly one test fold, got row 0 in 0 test folds",
        ),
    ],
)
def test_invalid_settings_raise(rows, settings, message):
    X, y = rows
    with pytest.raises(ValueError, match=message):
        rp.AUCBlender(**settings).fit(X, y)


def test_missing_labels_and_missing_classes_raise(rows):
    X, y = rows
    with pytest.raises(ValueError, match="none of class 0 in the training set of fold 0"):
        rp.AUCBlender(models(), cv=GroupKFold(2)).fit(X, y, groups=y)
    with pytest.raises(ValueError, match=r"training set of fold 0.* folds keep groups together"):
        rp.AUCBlender(models()).fit(X, y, groups=np.zeros(y.size))
    with pytest.raises(ValueError, match="y must not have missing values, got None at index 0"):
        rp.AUCBlender(models()).fit(X, np.where(np.arange(y.size) > 0, y.astype(object), None))
    with pytest.raises(ValueError, match=r"at least two rows of every class .* of class 2"):
        rp.AUCBlender(models()).fit(X, np.append(y[:-1], 2))
    # If a class has fewer rows than there are folds, fewer folds are used.
    few = np.flatnonzero(y)[3:]
    kept = np.setdiff1d(np.arange(y.size), few)
    blend = rp.AUCBlender(models(), random_state=0).fit(X[kept], y[kept])
    assert blend.weights_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("kind", ["array", "frame", "csr"])
def test_copies_of_a_row_are_in_the_same_fold(rows, kind):
    X, y = rows
    X, y = np.repeat(X[:60], 4, axis=0), np.repeat(y[:60], 4)
    given = X
    if kind == "frame":
        given = pytest.importorskip("pandas").DataFrame(X, columns=list("abcdefgh"))
    elif kind == "csr":
        given = sparse.csr_matrix(X)
    seen = []

    class Recorder(LogisticRegression):
        def fit(self, X, y, sample_weight=None):
            dense = X.toarray() if sparse.issparse(X) else np.asarray(X)
            seen.append(dense[:, 0])
            return super().fit(X, y)

    rp.AUCBlender([("a", Recorder())], random_state=0).fit(given, y)
    assert len(seen) == 6
    for column in seen:
        # A training set contains either all copies of a row or none.
        assert set(np.unique(column, return_counts=True)[1]) == {4}


def test_parameters_of_members_are_set_by_name():
    members = [("linear", LogisticRegression(C=2.0)), ("tree", DecisionTreeClassifier())]
    blender = rp.AUCBlender(members, cv=3)
    assert blender.get_params()["linear__C"] == 2.0
    blender.set_params(linear__C=0.5, cv=4)
    assert members[0][1].C == 0.5
    assert blender.cv == 4
    other = LogisticRegression(C=3.0)
    blender.set_params(tree=other)
    assert dict(blender.estimators)["tree"] is other
    assert clone(blender).get_params()["tree__C"] == 3.0
    assert "linear__C" not in rp.AUCBlender().get_params()


def test_grid_search_tunes_a_member_of_a_blend():
    X, y = make_classification(200, 5, random_state=0)
    pipeline = Pipeline([("blend", rp.AUCBlender([("l", LogisticRegression())], cv=3))])
    search = GridSearchCV(pipeline, {"blend__l__C": [1e-4, 1.0]}, cv=2).fit(X, y)
    fitted = search.best_estimator_["blend"].estimators_[0]
    assert search.best_params_["blend__l__C"] == fitted.C
