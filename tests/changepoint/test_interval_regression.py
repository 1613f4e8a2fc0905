"""Interval regression: optimality, scikit-learn checks, and published results."""

import csv
import gzip
import os
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, LeaveOneGroupOut, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import rocpath as rp
from rocpath import changepoint as cp
from rocpath.changepoint.interval_path import interval_path, largest_alpha

H3K4ME3 = Path(os.environ.get("ROCPATH_DATA", "missing")) / "changepoint" / "H3K4me3_TDH_immune"


def loss(X, y, coef, intercept, margin=1.0):
    """Return the mean squared hinge loss, computed from its definition."""
    total = 0.0
    for row, (lower, upper) in zip(X, y, strict=True):
        f = intercept + row @ coef
        total += max(0, lower - f + margin) ** 2 + max(0, f - upper + margin) ** 2
    return total / len(X)


def problem(n=40, p=5, seed=0):
    """Simulate targets that depend on two features, some with an infinite limit."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    center = 3 + 2 * X[:, 0] - X[:, 1]
    y = np.column_stack((center - rng.exponential(2, n), center + rng.exponential(2, n)))
    y[::5, 0], y[1::5, 1] = -np.inf, np.inf
    return X, y


def test_there_are_at_most_as_many_folds_as_rows():
    X = np.array([[-1.0], [1.0], [2.0]])
    y = np.column_stack((X - 1, X + 1))
    model = rp.IntervalRegression().fit(X, y)
    assert model.alpha_ == rp.IntervalRegression(cv=3).fit(X, y).alpha_
    # The prediction for a single interval is its center.
    one = rp.IntervalRegression().fit(X[:1], y[:1])
    assert one.predict([[5.0]]) == pytest.approx([-1.0])


def test_coefficients_are_zero_if_a_constant_is_optimal():
    # The center of the first interval is inside the second by the margin of 1.
    y = [[7.58, 9.1], [7.24, 10.14]]
    model = rp.IntervalRegression().fit([[-1.0], [1.0]], y)
    assert model.coef_ == [0.0]
    assert model.intercept_ == pytest.approx(8.34)


@given(st.integers(0, 10**6), st.floats(0.001, 1), st.sampled_from([0.0, 0.5, 1.0]))
def test_small_perturbations_do_not_reduce_the_objective(seed, part, margin):
    X, y = problem(n=12, p=4, seed=seed)
    alpha = part * largest_alpha(X, y, margin=margin)
    path = interval_path(X, y, np.array([alpha]), margin=margin, tol=1e-9)
    coef, intercept = path.coef[0], path.intercept[0]

    def objective(w, b):
        return loss(X, y, w, b, margin) + alpha * np.abs(w).sum()

    best = objective(coef, intercept)
    for size in (1e-1, 1e-2, 1e-3):
        for move in (*np.eye(4), *-np.eye(4)):
            assert objective(coef + size * move, intercept) >= best - 1e-9
        for move in (-size, size):
            assert objective(coef, intercept + move) >= best - 1e-9


def test_optimum_equals_that_of_a_general_solver():
    X, y = problem()
    alpha = 0.1

    def objective(v):
        # Coefficients are split into positive and negative parts, so that this is smooth.
        w = v[1:6] - v[6:]
        return loss(X, y, w, v[0]) + alpha * v[1:].sum()

    bounds = [(None, None)] + [(0, None)] * 10
    found = minimize(objective, np.zeros(11), bounds=bounds, tol=1e-13)
    path = interval_path(X, y, np.array([10.0, alpha]), tol=1e-9)
    ours = loss(X, y, path.coef[1], path.intercept[1])
    assert ours + alpha * np.abs(path.coef[1]).sum() == pytest.approx(found.fun, 1e-6)
    assert path.coef[1] == pytest.approx(found.x[1:6] - found.x[6:], abs=1e-3)


def test_largest_alpha_is_where_the_first_coefficient_appears():
    X, y = problem()
    largest = largest_alpha(X, y, margin=1.0)
    path = interval_path(X, y, largest * np.array([1.0001, 0.99]), tol=1e-9)
    assert not path.coef[0].any()
    assert path.coef[1].any()


def test_cross_validation_finds_the_relevant_features():
    X, y = problem(n=300, p=20)
    model = rp.IntervalRegression().fit(X, y)
    assert model.coef_[:2] == pytest.approx([2, -1], abs=0.3)
    assert np.abs(model.coef_[2:]).max() < 0.1
    assert model.score(X, y) > 0.8
    assert model.alpha_ == model.alphas_[model.cv_loss_.argmin()]


def test_predictions_do_not_depend_on_the_units_of_features():
    X, y = problem(n=100)
    scale, shift = np.array([1e-6, 1, 1e5, 3, 7]), np.array([0, 1e3, 0, -4, 2])
    plain = rp.IntervalRegression(alpha=0.05).fit(X, y)
    moved = rp.IntervalRegression(alpha=0.05).fit(X * scale + shift, y)
    assert moved.coef_ * scale == pytest.approx(plain.coef_, 1e-4, 1e-6)
    assert moved.predict(X * scale + shift) == pytest.approx(plain.predict(X), 1e-5)


def test_non_finite_features_are_replaced_in_fit_and_predict():
    X, y = problem()
    wide = np.column_stack((X, np.full(40, 2.0), np.full(40, np.nan)))
    wide[3, 0], wide[5, 1], wide[7, 1] = np.nan, -np.inf, np.inf
    filled = X.copy()
    filled[3, 0] = np.median(np.delete(X[:, 0], 3))
    others = np.delete(X[:, 1], [5, 7])
    filled[5, 1], filled[7, 1] = others.min(), others.max()
    model = rp.IntervalRegression(alpha=0.1).fit(wide, y)
    assert model.kept_features_.tolist() == [True] * 5 + [False] * 2
    assert model.coef_[5:].tolist() == [0, 0]
    expected = rp.IntervalRegression(alpha=0.1).fit(filled, y).predict(filled)
    assert model.predict(wide) == pytest.approx(expected)


def test_features_are_clipped_to_the_training_range():
    X = np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0]])
    y = np.column_stack((X - 1, X + 1))
    model = rp.IntervalRegression(alpha=0.001).fit(X, y)
    ends = model.predict([[-2.0], [2.0]])
    assert model.predict([[-1e300], [np.inf]]) == pytest.approx(ends)
    assert model.predict([[np.nan]]) == pytest.approx(model.predict([[0.0]]))


def test_groups_are_held_out_together():
    X, y = problem(n=60)
    group = np.repeat([2, 0, 1], 20)
    model = rp.IntervalRegression().fit(X, y, groups=group)
    same = rp.IntervalRegression(cv=LeaveOneGroupOut()).fit(X, y, groups=group)
    assert model.cv_loss_ == pytest.approx(same.cv_loss_)
    assert model.cv_loss_ != pytest.approx(rp.IntervalRegression().fit(X, y).cv_loss_)
    # A single group cannot be cross-validated, so the model is a constant.
    alone = rp.IntervalRegression().fit(X, y, groups=np.zeros(60))
    assert not alone.coef_.any()


def test_error_functions_can_be_targets_in_cross_validation():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = [
        cp.PenaltyErrors([0, np.exp(a - 1), np.exp(a + 1)], fp=[1, 0, 0], fn=[0, 0, 1])
        for a in X[:, 0] * 3
    ]
    model = rp.IntervalRegression().fit(X, y)
    intervals = np.array([cp.target_interval(one) for one in y])
    same = rp.IntervalRegression().fit(X, intervals)
    assert model.coef_.tolist() == same.coef_.tolist()
    assert cross_val_score(rp.IntervalRegression(), X, y, cv=KFold(3)).mean() > 0.9
    copy = pickle.loads(pickle.dumps(model))
    assert copy.predict(X).tolist() == model.predict(X).tolist()


def test_a_constant_is_fitted_if_its_loss_is_zero():
    X, _ = problem(n=10)
    y = np.column_stack((np.full(10, -np.inf), np.full(10, 5.0)))
    model = rp.IntervalRegression().fit(X, y)
    assert not model.coef_.any()
    assert model.score(X, y) == 1


def test_too_few_steps_raise_a_convergence_warning():
    X, y = problem()
    with pytest.warns(ConvergenceWarning, match="increase max_steps"):
        rp.IntervalRegression(alpha=0.001, max_steps=1, tol=1e-12).fit(X, y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([[0, 1]] * 3, "lower and an upper limit for each of the 4 samples"),
        ([[0, 1, 2]] * 4, "shape"),
        ([[0, 1]] * 3 + [[2, 1]], r"\[2.0, 1.0\] in row 3"),
        ([[np.nan, 1]] + [[0, 1]] * 3, r"\[nan, 1.0\] in row 0"),
        ([[-np.inf, np.inf]] * 4, "at least one finite limit"),
        (["a", "b", "c", "d"], "intervals of real numbers"),
    ],
)
def test_invalid_targets_raise(y, message):
    X = np.arange(4.0)[:, None]
    with pytest.raises(ValueError, match=message):
        rp.IntervalRegression(alpha=1.0).fit(X, y)


@pytest.mark.parametrize(
    "settings", [{"alpha": -1}, {"margin": -1}, {"alpha_ratio": 2}, {"n_alphas": 1}]
)
def test_invalid_parameters_raise(settings):
    X, y = problem()
    with pytest.raises(ValueError, match=next(iter(settings))):
        rp.IntervalRegression(**settings).fit(X, y)


@parametrize_with_checks([rp.IntervalRegression()])
def test_scikit_learn_estimator_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def read(name):
    if not H3K4ME3.exists():
        pytest.skip("set ROCPATH_DATA to the folder with the data sets")
    opener = gzip.open if name.endswith("gz") else open
    with opener(H3K4ME3 / name, "rt") as file:
        return list(csv.DictReader(file))


def numbers(rows, names):
    return np.array([[float(row[name]) for name in names] for row in rows])


def published_functions():
    """Return the published error function of each H3K4me3 sequence."""
    names = ("min.log.lambda", "fp", "fn")
    by_sequence = {}
    for row in read("evaluation.csv.gz"):
        values = [float(row[name]) for name in names]
        by_sequence.setdefault(row["sequenceID"], []).append(values)
    functions = {}
    for sequence, rows in by_sequence.items():
        log_penalty, fp, fn = np.array(sorted(rows)).T
        functions[sequence] = cp.PenaltyErrors(np.exp(log_penalty), fp, fn)
    return functions


def test_published_error_functions_have_the_published_targets_and_breakpoints():
    functions = published_functions()
    outputs = read("outputs.csv")
    expected = numbers(outputs, ("min.log.lambda", "max.log.lambda"))
    ours = [cp.target_interval(functions[row["sequenceID"]]) for row in outputs]
    assert np.array(ours) == pytest.approx(expected, 1e-6)
    bp = cp.error_breakpoints([functions[row["sequenceID"]] for row in outputs])
    diffs = numbers(read("diffs_count_all.csv.gz"), ("example", "pred", "fp_diff", "fn_diff"))
    diffs = diffs[np.lexsort((diffs[:, 1], diffs[:, 0]))]
    columns = np.column_stack((bp.example, bp.value, bp.fp_diff, bp.fn_diff))
    columns = columns[np.lexsort((bp.value, bp.example))]
    assert columns == pytest.approx(diffs, 1e-12)


def test_validation_auc_is_close_to_that_of_the_published_initial_model():
    published = (0.9210, 0.9230, 0.9044, 0.9073)
    functions = published_functions()
    rows = read("inputs_scaled_finite.csv")
    X = numbers(rows, list(rows[0])[1:])
    y = [functions[row["sequenceID"]] for row in rows]
    sets = read("paper_sets.csv")
    for fold, expected in enumerate(published, start=1):
        part = {r["sequenceID"]: r["set"] for r in sets if r["test.fold"] == str(fold)}
        where = [part[row["sequenceID"]] for row in rows]
        train, valid = (
            [i for i, name in enumerate(where) if name == wanted]
            for wanted in ("subtrain", "validation")
        )
        model = rp.IntervalRegression().fit(X[train], [y[i] for i in train])
        bp = cp.error_breakpoints([y[i] for i in valid])
        assert rp.auc(bp, -model.predict(X[valid])) > expected - 0.01
