"""minimize_aum: the paper's descent, its step choices and its guards."""

import numpy as np
import pytest
from scipy import sparse

import rocpath as rp
from rocpath.descent import Goal, Limits, State, descend
from rocpath.step_choice import GRID, STEP_CHOICES, ChosenStep, Quadratic


def tied_problem(seed, n=60, n_features=4):
    """Integer features, so that many predictions are tied."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 4 == 0
    X = rng.integers(-3, 4, size=(n, n_features)) + y[:, None]
    return X.astype(float), rp.ErrorBreakpoints.from_labels(y)


def changepoint_problem(seed, n=30):
    """Error functions of the log penalty that are not monotone."""
    rng = np.random.default_rng(seed)
    fp = rng.integers(0, 3, size=(n, 4))
    fp[:, -1] = 0
    fn = rng.integers(0, 3, size=(n, 4))
    fn[:, 0] = 0
    penalty = np.exp(np.cumsum(rng.random((n, 4)), axis=1))
    penalty[:, 0] = 0
    bp = rp.ErrorBreakpoints.from_penalty_errors(
        np.repeat(np.arange(n), 4), penalty.ravel(), fp.ravel(), fn.ravel()
    )
    return rng.normal(size=(n, 3)), bp


@pytest.mark.parametrize("step", ["first_min", "linear", "quadratic", "best_aum"])
@pytest.mark.parametrize("make", [tied_problem, changepoint_problem])
def test_aum_never_rises_with_an_exact_search(make, step):
    for seed in range(5):
        X, bp = make(seed)
        start = np.random.default_rng(seed).normal(size=X.shape[1])
        descent = rp.minimize_aum(X, bp, coef=start, step=step, max_steps=20, tol=0)
        assert (np.diff(descent.aum) <= 1e-9).all()
        assert descent.aum[0] > descent.aum[-1]
        assert descent.aum[-1] == pytest.approx(rp.aum(bp, X @ descent.coef))
        assert descent.auc[-1] == pytest.approx(rp.auc(bp, X @ descent.coef))


def test_quadratic_first_min_and_best_aum_agree_for_labels():
    # AUM is convex along a line for labels, so that all three find the same minimum.
    X, bp = tied_problem(1)
    X += np.random.default_rng(0).normal(size=X.shape)  # no flat minima
    start = np.array([1.0, -1.0, 0.5, 2.0])
    steps = [
        rp.minimize_aum(X, bp, coef=start, step=step, max_steps=3, tol=0).step
        for step in ("quadratic", "first_min", "best_aum")
    ]
    np.testing.assert_allclose(steps[1], steps[0], rtol=1e-9)
    np.testing.assert_allclose(steps[2], steps[0], rtol=1e-9)


def test_one_step_by_hand():
    # One feature, labels 0 1, predictions 1 and 0: the positive is 1 below, AUM is 1.
    # The gradient is 1 for the negative and -1 for the positive, so 1 for the weight:
    # the step of size 1 ends in AUM 0 with a weight of 0. From there nothing improves.
    bp = rp.ErrorBreakpoints.from_labels([0, 1])
    descent = rp.minimize_aum(np.array([[1.0], [0.0]]), bp, coef=[1.0])
    assert descent.step.tolist() == [0.0, 1.0, 0.0]
    assert descent.coef.tolist() == [0.0]
    assert descent.aum.tolist() == [1.0, 0.0, 0.0]
    assert descent.n_crossings.tolist() == [0, 1, 0]
    assert descent.stopped_by == "tolerance"


def test_best_auc_reaches_the_best_of_all_steps():
    X, bp = tied_problem(3)
    start = np.array([1.0, -1.0, 0.5, 2.0])
    descent = rp.minimize_aum(X, bp, coef=start, step="best_auc", max_steps=1)
    direction = -X.T @ rp.aum_gradient(bp, X @ start)
    path = rp.sweep(rp.Lines.from_predictions(bp, X @ start, X @ direction))
    assert descent.auc[1] == pytest.approx(max(path.auc.max(), path.auc_after.max()))


@pytest.mark.parametrize("step", ["validation_auc", "validation_auc_limited"])
def test_validation_auc_chooses_step_and_row(step):
    X, bp = tied_problem(4)
    other = tied_problem(5)
    start = np.array([1.0, -1.0, 0.5, 2.0])
    descent = rp.minimize_aum(X, bp, coef=start, step=step, validation=other)
    assert descent.chosen == np.argmax(descent.validation_auc)
    best = descent.validation_auc.max()
    assert rp.auc(other[1], other[0] @ descent.coef) == pytest.approx(best)
    assert (np.diff(descent.validation_auc) >= -1e-12).all()
    if step == "validation_auc_limited":
        limit = rp.minimize_aum(X, bp, coef=start, step="best_aum", max_steps=1).step[1]
        assert descent.step[1] <= limit


def test_patience_ends_descent():
    X, bp = tied_problem(6)
    other = tied_problem(7)
    start = np.array([1.0, -1.0, 0.5, 2.0])
    descent = rp.minimize_aum(
        X, bp, coef=start, step="linear", tol=0, validation=other, patience=2
    )
    assert descent.stopped_by in ("validation", "tolerance", "gradient")
    assert descent.n_steps - descent.chosen <= 2


def test_grid_takes_the_best_of_ten_sizes():
    X, bp = tied_problem(8)
    start = np.array([1.0, -1.0, 0.5, 2.0])
    descent = rp.minimize_aum(X, bp, coef=start, step="grid", max_steps=1)
    direction = -X.T @ rp.aum_gradient(bp, X @ start)
    values = [rp.aum(bp, X @ (start + size * direction)) for size in GRID]
    assert descent.step[1] == GRID[int(np.argmin(values))]
    assert descent.n_crossings[1] == len(GRID) == 10


def test_constant_step_and_its_stop():
    X, bp = tied_problem(9)
    start = np.array([1.0, -1.0, 0.5, 2.0])
    descent = rp.minimize_aum(X, bp, coef=start, step="constant", step_size=0.01)
    assert set(descent.step[1:]) == {0.01}
    assert np.diff(descent.aum)[-1] >= -1e-5 or descent.stopped_by != "tolerance"


def test_unit_norm_keeps_the_length_and_lets_no_auc_collapse():
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
    descent = rp.minimize_aum(X, bp, l2=0.01, step="best_aum")
    # At zero weights both classes are 1 inside the margin: the hinge loss is 1 + 1,
    # and moving the constant trades one for the other.
    assert descent.aum[0] == pytest.approx(2)
    assert descent.aum[-1] < 1.7
    assert np.linalg.norm(descent.coef) > 0.3


@pytest.mark.parametrize("kind", ["float32", "csr", "csr32", "int"])
def test_kinds_of_matrices_agree(kind):
    X, bp = tied_problem(12)
    start = np.array([1.0, -1.0, 0.5, 2.0])
    given = {
        "float32": X.astype(np.float32),
        "csr": sparse.csr_array(X),
        "csr32": sparse.csr_matrix(X.astype(np.float32)),
        "int": X.astype(int),
    }[kind]
    # One step ends where predictions are tied, up to rounding; two may differ.
    expected = rp.minimize_aum(X, bp, coef=start, max_steps=1)
    got = rp.minimize_aum(given, bp, coef=start, max_steps=1)
    np.testing.assert_allclose(got.coef, expected.coef, rtol=1e-9)
    np.testing.assert_allclose(got.aum, expected.aum, rtol=1e-9, atol=1e-12)


def test_intercept_has_the_fewest_errors():
    X, bp = tied_problem(13)
    descent = rp.minimize_aum(X, bp, coef=[1.0, 1.0, 1.0, 1.0], max_steps=0)
    predictions = X @ descent.coef
    y = bp.fn_diff < 0

    def errors(constant):
        positive = predictions + constant > 0
        return np.mean(positive[~y]) + np.mean(~positive[y])

    thresholds = np.concatenate([-predictions - 0.5, -predictions + 0.5])
    assert errors(descent.intercept) == pytest.approx(min(map(errors, thresholds)))


def test_a_start_at_the_minimum_ends_at_once():
    bp = rp.ErrorBreakpoints.from_labels([0, 1])
    descent = rp.minimize_aum(np.array([[0.0], [1.0]]), bp, coef=[1.0])
    assert descent.n_steps == 0
    assert descent.stopped_by == "gradient"


def test_progress_is_told_every_step():
    X, bp = tied_problem(14)
    told = []
    descent = rp.minimize_aum(
        X, bp, coef=[1.0, -1, 0, 2], progress=lambda *row: told.append(row)
    )
    assert [row[0] for row in told] == list(range(1, descent.n_steps + 1))
    # The last row is measured again at the weights themselves, not carried to them.
    assert [row[1] for row in told] == pytest.approx(descent.aum[1:], rel=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"step": "fastest"}, "step must be 'first_min' or"),
        ({"coef": [1.0]}, "coef must have an entry for each of the 4 columns"),
        ({"tol": -1.0}, "tol must be a number from 0 up, got -1"),
        ({"l2": np.nan}, "l2 must be a number from 0 up, got nan"),
        ({"max_steps": 1.5}, "max_steps must be a whole number"),
        ({"step": "validation_auc"}, "validation must be given for step="),
        ({"patience": 3}, "patience needs validation data"),
        ({"unit_norm": True}, "coef must not be all zeros with unit_norm"),
        ({"validation": 3}, "validation must be a tuple of X and bp, got 3"),
    ],
)
def test_bad_arguments_are_named(change, message):
    X, bp = tied_problem(15)
    with pytest.raises((ValueError, TypeError), match=message):
        rp.minimize_aum(X, bp, **change)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((3, 2)), "X must have a row for each of the 60 examples, got 3"),
        (np.zeros(60), "X must be two-dimensional"),
        (np.full((60, 2), np.nan), "X must be finite"),
        (np.full((60, 2), "a"), "X must be real numbers"),
    ],
)
def test_bad_matrices_are_named(X, message):
    with pytest.raises((ValueError, TypeError), match=message):
        rp.minimize_aum(X, tied_problem(16)[1])


def test_every_choice_runs_from_zero_weights():
    X, bp = tied_problem(17)
    for step in STEP_CHOICES:
        descent = rp.minimize_aum(X, bp, step=step, validation=(X, bp), max_steps=3)
        assert np.isfinite(descent.coef).all()


def test_unit_norm_stops_where_the_gradient_only_changes_the_length():
    # Both columns are opposite, and so are both weights: every direction is radial.
    X = np.array([[1.0, -1.0], [-1.0, 1.0], [2.0, -2.0], [0.0, 0.0]])
    bp = rp.ErrorBreakpoints.from_labels([1, 0, 0, 1])
    for step in ("first_min", "best_aum", "best_auc"):
        descent = rp.minimize_aum(X, bp, coef=[1.0, -1.0], unit_norm=True, step=step)
        assert descent.stopped_by == "gradient"
        np.testing.assert_allclose(descent.coef, np.array([1, -1]) / np.sqrt(2))


def test_carried_predictions_stay_those_of_the_weights():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 6)), np.arange(80) % 3 == 0
    bp = rp.ErrorBreakpoints.from_labels(y, margin=1.0)
    for unit_norm in (False, True):
        descent = rp.minimize_aum(
            X,
            bp,
            coef=np.ones(6),
            unit_norm=unit_norm,
            l2=0.01,
            step="constant",
            step_size=0.05,
            max_steps=70,
            tol=-0.0,
        )
        coef = np.ones(6) / (np.sqrt(6) if unit_norm else 1)
        for size, area in zip(descent.step[1:], descent.aum[1:], strict=True):
            direction = -X.T @ rp.aum_gradient(bp, X @ coef) - 0.01 * coef
            if unit_norm:
                direction -= (direction @ coef) * coef
            coef = coef + size * direction
            if unit_norm:
                coef /= np.linalg.norm(coef)
            assert area == pytest.approx(rp.aum(bp, X @ coef), rel=1e-12)


class OneWeight:
    """A model of the descent: a single weight on fixed scores, never below zero."""

    def __init__(self, scores, offset):
        self.scores, self.offset = scores, offset

    def predict(self, parameters):
        return State(parameters, (self.offset + parameters[0] * self.scores,))

    def downhill(self, state, gradient):
        slope = -(self.scores @ gradient)
        return State(np.array([slope]), (slope * self.scores,)) if slope else None

    def moved(self, state, direction, step):
        if direction.parameters[0] < 0:
            step = min(step, -state.parameters[0] / direction.parameters[0])
        return state.moved(direction, step)

    def quadratic(self, state, direction):
        return Quadratic()


def test_any_model_with_its_four_functions_can_descend():
    rng = np.random.default_rng(1)
    y = np.arange(50) % 2 == 0
    bp = rp.ErrorBreakpoints.from_labels(y)
    model = OneWeight(y + rng.normal(size=50), rng.normal(size=50))
    goal = Goal(lambda train, _, __: ChosenStep(rp.best_aum_step(train.lines).step))
    descent = descend(model, [bp], np.zeros(1), goal, Limits(max_steps=10))
    weights = np.linspace(0, 4 * descent.coef[0], 2001)
    areas = [rp.aum(bp, model.predict([w]).predictions[0]) for w in weights]
    # AUM is convex in the weight, so that descent finds the smallest.
    assert descent.aum[-1] <= min(areas) + 1e-12
    assert descent.coef[0] > 0
