"""The linear model of a descent: matrices, initial weights, L2 term and unit norm."""

import numpy as np
import pytest
from scipy import sparse

import rocpath as rp
from tests.descent_problems import changepoint_problem, tied_problem


def test_unit_norm_keeps_the_norm_that_plain_descent_shrinks():
    X, bp = tied_problem(10)
    start = np.array([1.0, -1.0, 0.5, 2.0])
    descent = rp.minimize_aum(X, bp, coef=start, unit_norm=True, step="best_aum")
    assert descent.norm == pytest.approx(1)
    plain = rp.minimize_aum(X, bp, coef=start, step="best_aum", tol=0)
    assert plain.norm[0] == pytest.approx(2.5)  # 1 + 1 + 1/4 + 4 = 6.25
    assert plain.norm[-1] < 0.2 * plain.norm[0]


@pytest.mark.parametrize("step", ["best_aum", "first_min", "quadratic"])
@pytest.mark.parametrize("make", [tied_problem, changepoint_problem])
def test_l2_steps_are_exact(make, step):
    X, bp = make(11)
    start = np.random.default_rng(0).normal(size=X.shape[1])
    l2 = 0.05
    descent = rp.minimize_aum(X, bp, coef=start, step=step, l2=l2, max_steps=1)
    direction = -X.T @ rp.aum_gradient(bp, X @ start) - l2 * start

    def objective(size):
        weights = start + size * direction
        return rp.aum(bp, X @ weights) + 0.5 * l2 * weights @ weights

    found = descent.step[1]
    assert objective(found) == pytest.approx(
        descent.aum[1] + 0.5 * l2 * descent.coef @ descent.coef
    )
    sizes = np.linspace(0, 4 * found, 4001)
    if step == "first_min":
        sizes = sizes[sizes <= found]
        assert (np.diff([objective(size) for size in sizes]) <= 1e-12).all()
        sizes = found + np.array([-1e-7, 1e-7])
    assert objective(found) <= min(objective(size) for size in sizes) + 1e-12


def test_margin_with_l2_is_a_hinge_loss_that_does_not_collapse():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 5 == 0
    X = rng.normal(size=(200, 3)) + y[:, None]
    bp = rp.ErrorBreakpoints.from_labels(y, margin=1.0)
    descent = rp.minimize_aum(X, bp, coef=np.zeros(3), l2=0.01, step="best_aum")
    # With zero weights, the hinge loss of each class is 1, and changing the constant
    # increases one as much as it decreases the other.
    assert descent.aum[0] == pytest.approx(2)
    assert descent.aum[-1] < 1.7
    assert np.linalg.norm(descent.coef) > 0.3


@pytest.mark.parametrize("kind", ["float32", "csr", "csr32", "int"])
def test_matrix_types_give_the_same_result(kind):
    X, bp = tied_problem(12)
    start = np.array([1.0, -1.0, 0.5, 2.0])
    given = {
        "float32": X.astype(np.float32),
        "csr": sparse.csr_array(X),
        "csr32": sparse.csr_matrix(X.astype(np.float32)),
        "int": X.astype(int),
    }[kind]
    # After the first step, predictions are tied up to rounding, so a second may differ.
    expected = rp.minimize_aum(X, bp, coef=start, max_steps=1)
    got = rp.minimize_aum(given, bp, coef=start, max_steps=1)
    np.testing.assert_allclose(got.coef, expected.coef, rtol=1e-9)
    np.testing.assert_allclose(got.aum, expected.aum, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"step": "fastest"}, "step must be 'first_min' or"),
        ({"coef": [1.0]}, "coef must have one entry for each of the 4 columns"),
        ({"tol": -1.0}, "tol must be non-negative, got -1"),
        ({"l2": np.nan}, "l2 must be non-negative, got nan"),
        ({"max_steps": 1.5}, "max_steps must be an integer of at least 0"),
        ({"step": "validation_auc"}, "validation must be given for step="),
        ({"patience": 3}, "validation must be given for patience=3"),
        (
            {"unit_norm": True, "coef": np.zeros(4)},
            "coef must have a nonzero entry with unit_norm=True, got only zeros",
        ),
        ({"validation": 3}, "validation must be a tuple of X and bp, got 3"),
    ],
)
def test_invalid_arguments_raise(change, message):
    X, bp = tied_problem(15)
    with pytest.raises((ValueError, TypeError), match=message):
        rp.minimize_aum(X, bp, **change)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((3, 2)), "X must have one row for each of the 60 examples, got 3"),
        (np.zeros(60), "X must be two-dimensional"),
        (np.full((60, 2), np.nan), "X must be finite"),
        (np.full((60, 2), "a"), "X must be real numbers"),
    ],
)
def test_invalid_matrices_raise(X, message):
    with pytest.raises((ValueError, TypeError), match=message):
        rp.minimize_aum(X, tied_problem(16)[1])


@pytest.mark.filterwarnings("error")
def test_default_initial_weights_are_the_difference_of_the_class_means():
    X, bp = tied_problem(19)
    y = bp.fn_diff < 0
    expected = X[y].mean(axis=0) - X[~y].mean(axis=0)
    descent = rp.minimize_aum(X, bp, max_steps=0)
    np.testing.assert_allclose(descent.coef, expected, rtol=1e-12)
    assert rp.minimize_aum(X, bp, unit_norm=True, max_steps=0).norm == pytest.approx(1)
    # For other error functions, examples are weighted by their errors.
    X, bp = changepoint_problem(20)
    fn, fp = np.zeros(30), np.zeros(30)
    for example, fp_diff, fn_diff in zip(bp.example, bp.fp_diff, bp.fn_diff, strict=True):
        fn[example] -= fn_diff
        fp[example] += fp_diff
    expected = X.T @ (fn / fn.sum() - fp / fp.sum())
    descent = rp.minimize_aum(X, bp, max_steps=0)
    np.testing.assert_allclose(descent.coef, expected, rtol=1e-12)


def test_only_a_trivial_minimum_causes_a_warning(recwarn):
    X, bp = tied_problem(20)
    with pytest.warns(UserWarning, match="coef is zero, which is a trivial minimum"):
        rp.minimize_aum(X, bp, coef=np.zeros(4))
    recwarn.clear()
    rp.minimize_aum(X, bp, coef=[0.0, 0.0, 0.0, 1.0])
    with_margin = rp.ErrorBreakpoints.from_labels(bp.fn_diff < 0, margin=1)
    rp.minimize_aum(X, with_margin, coef=np.zeros(4), max_steps=2)
    X, bp = changepoint_problem(20)
    rp.minimize_aum(X, bp, coef=np.zeros(3), max_steps=2)
    assert not recwarn.list


def test_unit_norm_stops_where_the_gradient_changes_only_the_norm():
    # The columns are opposite, and so are the weights, so every direction is radial.
    X = np.array([[1.0, -1.0], [-1.0, 1.0], [2.0, -2.0], [0.0, 0.0]])
    bp = rp.ErrorBreakpoints.from_labels([1, 0, 0, 1])
    for step in ("first_min", "best_aum", "best_auc"):
        descent = rp.minimize_aum(X, bp, coef=[1.0, -1.0], unit_norm=True, step=step)
        assert descent.stopped_by == "gradient"
        np.testing.assert_allclose(descent.coef, np.array([1, -1]) / np.sqrt(2))
