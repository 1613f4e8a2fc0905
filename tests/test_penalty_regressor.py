"""PenaltyRegressor: label errors in, penalties and changes out."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

import rocpath as rp
from rocpath import changepoint as cp

KINDS = ["no_change", "one_change", "no_change", "one_change", "no_change"]


def simulated(n=60, seed=0):
    """Sequences with two changes, whose noise differs tenfold between them."""
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
    constant = min(
        sum(one.at(log) for one in functions) for log in np.linspace(-5, 15, 101)
    )
    assert errors_of(model, X_new, functions) < 0.5 * constant
    found = model.predict_changes(sequences)
    close = [
        one.n_changes == 2 and abs(one.changes - [30, 70]).max() <= 5 for one in found
    ]
    assert np.mean(close) > 0.8


@pytest.mark.parametrize("start", ["interval_regression", "zero"])
@pytest.mark.parametrize("monitor", ["auc", "aum"])
def test_training_auc_is_not_below_the_start(problem, start, monitor):
    _, X, y = problem
    model = rp.PenaltyRegressor(start=start, monitor=monitor, random_state=0).fit(X, y)
    if start == "interval_regression":
        # Descent may lower AUC in training, not by much.
        assert (
            model.score(X, y)
            >= rp.auc(
                cp.error_breakpoints(y), -rp.IntervalRegression().fit(X, y).predict(X)
            )
            - 0.01
        )
    assert model.score(X, y) > 0.9


def test_without_steps_it_is_interval_regression(problem):
    _, X, y = problem
    model = rp.PenaltyRegressor(max_steps=0).fit(X, y)
    expected = rp.IntervalRegression().fit(X, y).predict(X)
    np.testing.assert_allclose(model.predict(X), expected, rtol=1e-6, atol=1e-6)


def test_the_sign_is_that_of_the_log_penalty(problem):
    # Errors fall from FP to FN as the penalty grows, so predictions of -log penalty
    # must rank as the breakpoints do: the noisier, the larger the penalty.
    sequences, X, y = problem
    model = rp.PenaltyRegressor(random_state=0).fit(X, y)
    spread = [np.std(np.diff(x)) for x in sequences]
    assert np.corrcoef(model.predict(X), np.log(spread))[0, 1] > 0.9


def test_dropped_columns_may_hold_anything(problem):
    _, X, y = problem
    model = rp.PenaltyRegressor(random_state=0).fit(X, y)
    assert not model.kept_features_.all()
    changed = X.copy()
    changed[:, ~model.kept_features_] = np.nan
    np.testing.assert_array_equal(model.predict(changed), model.predict(X))
    changed[3, np.flatnonzero(model.coef_)[0]] = np.inf
    with pytest.raises(ValueError, match="X must be finite in the columns with a coef"):
        model.predict(changed)


def test_works_with_the_tools_of_scikit_learn(problem):
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
        ({"monitor": "loss"}, "monitor must be 'auc' or 'aum', got 'loss'"),
        ({"n_folds": 1}, "n_folds must be a whole number from 2 up, got 1"),
        ({"max_steps": -1}, "max_steps must be a whole number from 0 up, got -1"),
        ({"step": "validation_auc"}, "step must be"),
    ],
)
def test_bad_parameters_are_named(problem, change, message):
    _, X, y = problem
    with pytest.raises(ValueError, match=message):
        rp.PenaltyRegressor(**change).fit(X, y)


def test_bad_targets_are_named(problem):
    sequences, X, y = problem
    with pytest.raises(TypeError, match=r"y must be a list of PenaltyErrors, got 3"):
        rp.PenaltyRegressor().fit(X, [*y[:-1], 3])
    with pytest.raises(ValueError, match=r"entry for each of the 60 rows of X, got 59"):
        rp.PenaltyRegressor().fit(X, y[:-1])
    model = rp.PenaltyRegressor(max_steps=0).fit(X, y)
    with pytest.raises(ValueError, match=r"X must have a row for each of the 2 seq"):
        model.predict_changes(sequences[:2], X[:3])


def test_sequences_that_do_not_differ_are_refused(problem):
    _, X, y = problem
    with pytest.raises(ValueError, match="X must have a column that is finite and dif"):
        rp.PenaltyRegressor().fit(np.repeat(X[:1], 60, axis=0), y)


def test_folds_without_a_trade_are_passed_over():
    # FP rises and falls again, so no penalty trades it for FN; with the second it does.
    hump = cp.PenaltyErrors([0, 1, 4], fp=[0, 1, 0], fn=[0, 0, 1])
    usual = cp.PenaltyErrors([0, 1, 4], fp=[1, 0, 0], fn=[0, 0, 1])
    y = [hump, hump, hump, usual]
    X = np.arange(4.0)[:, None]
    model = rp.PenaltyRegressor(n_folds=4, random_state=0).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
