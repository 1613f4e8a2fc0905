"""PenaltyRegressor: penalties learned from label errors."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

import rocpath as rp
from rocpath import changepoint as cp

KINDS = ["no_change", "one_change", "no_change", "one_change", "no_change"]


def simulated(n=60, seed=0):
    """Simulate sequences with two changes, and noise levels from 0.1 to 10."""
    rng = np.random.default_rng(seed)
    labels = cp.Labels([0, 25, 35, 65, 75], [25, 35, 65, 75, 100], KINDS)
    sequences, functions = [], []
    for _ in range(n):
        noise = 10 ** rng.uniform(-1, 1)
        x = noise * (np.repeat([0.0, 3.0, 0.0], [30, 40, 30]) + rng.normal(size=100))
        sequences.append(x)
        functions.append(cp.errors_by_penalty(x, labels, max_changes=15))
    return sequences, functions


@pytest.fixture(scope="module")
def problem():
    sequences, functions = simulated()
    return sequences, cp.sequence_features(sequences).value, functions


def errors_of(model, X, y):
    return sum(one.at(log) for one, log in zip(y, model.predict(X), strict=True))


def test_finds_the_changes_of_new_sequences(problem):
    _, X, y = problem
    model = rp.PenaltyRegressor(random_state=0).fit(X, y)
    sequences, functions = simulated(n=30, seed=1)
    X_new = cp.sequence_features(sequences).value
    constant = min(sum(one.at(log) for one in functions) for log in np.linspace(-5, 15, 101))
    assert errors_of(model, X_new, functions) < 0.5 * constant
    found = cp.detect_changes(sequences, np.exp(model.predict(X_new)))
    close = [one.n_changes == 2 and abs(one.changes - [30, 70]).max() <= 5 for one in found]
    assert np.mean(close) > 0.8


@pytest.mark.parametrize("start", ["interval_regression", "zero"])
def test_descent_on_aum_is_an_option(problem, start):
    _, X, y = problem
    model = rp.PenaltyRegressor(max_steps=20, start=start, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.steps_.tolist() == [0, 1, 2, 4, 8, 16, 20]
    assert model.steps_mean_.shape == model.steps_error_.shape == (7,)
    assert 0 <= model.n_iter_ <= 20
    if start == "zero":
        assert model.alphas_.tolist() == [1.0]
        assert model.n_iter_ > 0  # a constant is much worse here


def test_without_descent_steps_the_model_is_an_interval_regression(problem):
    _, X, y = problem
    model = rp.PenaltyRegressor(random_state=0).fit(X, y)
    assert model.n_iter_ == 0
    largest = rp.IntervalRegression().fit(X, y).alphas_[0]
    start = rp.IntervalRegression(alpha=model.alpha_ * largest).fit(X, y)
    difference = model.predict(X) - start.predict(X)
    assert difference.std() < 0.1 * start.predict(X).std()
    assert np.abs(difference.mean()) < 1


def test_uninformative_features_give_a_nearly_constant_model():
    # The features are independent of the noise levels of the sequences. By chance, one
    # may predict some of them, so the claim is about most of the data sets.
    X = np.random.default_rng(0).normal(size=(40, 30))
    spread = []
    for seed in (3, 4, 5):
        _, y = simulated(n=40, seed=seed)
        model = rp.PenaltyRegressor(random_state=0).fit(X, y)
        assert model.alpha_ > 0.3
        spread.append(model.predict(X).std())
    assert np.median(spread) < 0.5
    assert np.isfinite(model.predict(np.full((1, 30), np.inf))).all()


def test_groups_determine_which_features_are_selected():
    # Columns that distinguish the eight groups fit the seven training groups by chance,
    # but do not generalize to the eighth; one column is predictive in all groups.
    rng = np.random.default_rng(1)
    group = np.repeat(np.arange(8), 25)
    level = rng.normal(0, 2, 8)[group]
    known = rng.normal(0, 1, 200)
    target = level + known
    y = [
        cp.PenaltyErrors(np.exp([-99.0, t - 0.5, t + 0.5]) * [0, 1, 1], [1, 0, 0], [0, 0, 1])
        for t in target
    ]
    marks = rng.normal(size=(8, 7))[group]
    X = np.column_stack((known, marks))
    apart = rp.PenaltyRegressor(random_state=0).fit(X, y, groups=group)
    scattered = rng.permutation(200)
    mixed = rp.PenaltyRegressor().fit(X[scattered], [y[k] for k in scattered])
    assert np.abs(apart.coef_[1:]).sum() < 0.5 * np.abs(mixed.coef_[1:]).sum()
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        rp.PenaltyRegressor().fit(X, y, groups=group[1:])


def test_predicted_penalties_increase_with_the_noise(problem):
    # The model predicts log penalties, but breakpoints use minus log penalties; with the
    # wrong sign, predicted penalties would decrease.
    sequences, X, y = problem
    model = rp.PenaltyRegressor(random_state=0).fit(X, y)
    spread = [np.std(np.diff(x)) for x in sequences]
    assert np.corrcoef(model.predict(X), np.log(spread))[0, 1] > 0.9


def test_features_need_not_be_finite(problem):
    _, X, y = problem
    rng = np.random.default_rng(0)
    incomplete = X.copy()
    incomplete[rng.random(X.shape) < 0.02] = np.nan
    incomplete[rng.random(X.shape) < 0.01] = -np.inf
    model = rp.PenaltyRegressor(random_state=0).fit(incomplete, y)
    assert np.isfinite(model.predict(incomplete)).all()
    assert model.score(X, y) > 0.9


def test_penalties_of_degenerate_sequences_are_predicted(problem):
    _, X, y = problem
    model = rp.PenaltyRegressor(random_state=0).fit(X, y)
    odd = [np.zeros(5), [3.0], [-1e99, 1e99, 0.0], np.full(9, -7.0), [1e-99, 2e-99]]
    penalty = np.exp(model.predict(cp.sequence_features(odd).value))
    found = cp.detect_changes(odd, penalty)
    assert [one.n for one in found] == [5, 1, 3, 9, 2]


@pytest.mark.parametrize("max_changes", [2, 3, 5, 10])
def test_penalties_can_be_learned_from_incomplete_error_functions(max_changes):
    # Small penalties select models that miss labels which models of larger penalties
    # satisfy.
    rng = np.random.default_rng(0)
    labels = cp.Labels([0, 25, 35, 65, 75], [25, 35, 65, 75, 100], KINDS)
    mean = np.repeat([0.0, 0.7, 0.0], [30, 40, 30])
    sequences = [mean + rng.normal(size=100) for _ in range(100)]
    models = [cp.segment(x, max_changes) for x in sequences]
    y = [cp.penalty_errors(one.selection(), cp.label_errors(one, labels)) for one in models]
    assert any(one.fn[0] > one.fn.min() for one in y)
    X = cp.sequence_features(sequences).value
    for steps in (0, 4):
        model = rp.PenaltyRegressor(max_steps=steps, random_state=0).fit(X, y)
        assert np.isfinite(model.score(X, y))


def test_works_with_model_selection_of_scikit_learn(problem):
    _, X, y = problem
    model = rp.PenaltyRegressor(random_state=0, max_steps=5)
    scores = cross_val_score(model, X, y, cv=KFold(3, shuffle=True, random_state=0))
    assert scores.min() > 0.9
    search = GridSearchCV(model, {"start": ["interval_regression", "zero"]}, cv=3)
    assert search.fit(X, y).best_score_ > 0.9
    fitted = clone(model).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"start": "one"}, "start must be 'interval_regression' or 'zero', got 'one'"),
        ({"alpha_ratio": 1}, "alpha_ratio must be in .0, 1., got 1"),
        ({"n_folds": 1}, "n_folds must be an integer of at least 2, got 1"),
        ({"max_steps": -1}, "max_steps must be an integer of at least 0, got -1"),
        ({"step": "validation_auc"}, "step must be"),
    ],
)
def test_invalid_parameters_raise(problem, change, message):
    _, X, y = problem
    with pytest.raises(ValueError, match=message):
        rp.PenaltyRegressor(**change).fit(X, y)


def test_invalid_targets_raise(problem):
    sequences, X, y = problem
    with pytest.raises(TypeError, match=r"y must be a list of PenaltyErrors, got 3"):
        rp.PenaltyRegressor().fit(X, [*y[:-1], 3])
    with pytest.raises(ValueError, match=r"entry for each of the 60 rows of X, got 59"):
        rp.PenaltyRegressor().fit(X, y[:-1])
    with pytest.raises(ValueError, match=r"penalty must have an entry for each of the 2 seq"):
        cp.detect_changes(sequences[:2], [1.0, 2.0, 3.0])


def test_constant_features_give_a_constant_model(problem):
    _, X, y = problem
    model = rp.PenaltyRegressor().fit(np.repeat(X[:1], 60, axis=0), y)
    assert not model.coef_.any()
    errors = [sum(one.at(log) for one in y) for log in np.linspace(-5, 15, 101)]
    assert sum(one.at(model.intercept_) for one in y) <= np.quantile(errors, 0.2)


def test_log_penalty_is_zero_if_errors_do_not_depend_on_it():
    same = cp.PenaltyErrors([0], fp=[1], fn=[0])
    model = rp.PenaltyRegressor(max_steps=3).fit(np.arange(3.0)[:, None], [same] * 3)
    assert model.predict([[1.0]]).tolist() == [0.0]


def test_descent_is_skipped_in_folds_without_a_tradeoff():
    # In the first function, FP rises and falls again, so no penalty trades FP for FN.
    hump = cp.PenaltyErrors([0, 1, 4], fp=[0, 1, 0], fn=[0, 0, 1])
    usual = cp.PenaltyErrors([0, 1, 4], fp=[1, 0, 0], fn=[0, 0, 1])
    y = [hump, hump, hump, usual]
    X = np.arange(4.0)[:, None]
    model = rp.PenaltyRegressor(n_folds=4, max_steps=3).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
