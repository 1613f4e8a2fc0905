"""minimize_aum: the descent of the paper, its step choices and its stopping rules."""

import numpy as np
import pytest
from scipy import sparse

import rocpath as rp
from rocpath.descent import ArraySamples, State, descend
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
def test_aum_never_increases_with_an_exact_search(make, step):
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
    # Validation labels are the opposite of the training labels: the AUC of one is one
    # minus that of the other, and the first step, which reaches AUC 1, is the worst.
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array([0, 0, 1, 1])
    bp = rp.ErrorBreakpoints.from_labels(y, margin=1.0)
    opposite = X, rp.ErrorBreakpoints.from_labels(1 - y)
    descent = rp.minimize_aum(
        X, bp, coef=[-1.0], step="constant", step_size=0.1, tol=0, validation=opposite, patience=20
    )
    # The weight increases by 0.1 times the gradient, which is at most the difference
    # of the class means, 2: at least six steps to zero, where validation AUC is 1/2.
    assert descent.stopped_by == "validation"
    assert descent.chosen == 0
    assert descent.n_steps == 20
    assert descent.validation_auc[0] == 1
    assert descent.validation_auc[-1] == 0


def test_grid_takes_the_best_of_ten_sizes():
    X, bp = tied_problem(8)
    start = np.array([1.0, -1.0, 0.5, 2.0])
    descent = rp.minimize_aum(X, bp, coef=start, step="grid", max_steps=1)
    direction = -X.T @ rp.aum_gradient(bp, X @ start)
    values = [rp.aum(bp, X @ (start + size * direction)) for size in GRID]
    assert descent.step[1] == GRID[int(np.argmin(values))]
    assert descent.n_crossings[1] == len(GRID) == 10


def test_constant_steps_stop_at_the_first_that_does_not_improve_aum():
    # One feature, labels 0 1, predictions w and 0: AUM is w for w > 0 and else 0. From
    # w = 1 steps of 0.3 along a gradient of 1 lead to 0.7, 0.4, 0.1 and -0.2, where the
    # gradient vanishes.
    bp = rp.ErrorBreakpoints.from_labels([0, 1])
    X = np.array([[1.0], [0.0]])
    settings = {"coef": [1.0], "step": "constant", "step_size": 0.3}
    descent = rp.minimize_aum(X, bp, **settings)
    np.testing.assert_allclose(descent.aum, [1, 0.7, 0.4, 0.1, 0], atol=1e-15)
    assert descent.step.tolist() == [0, 0.3, 0.3, 0.3, 0.3]
    assert descent.stopped_by == "gradient"
    # The last step improves AUM by 0.1, less than the tolerance.
    descent = rp.minimize_aum(X, bp, tol=0.2, **settings)
    assert descent.n_steps == 4
    assert descent.stopped_by == "tolerance"


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


def test_descent_from_a_minimum_takes_no_step():
    bp = rp.ErrorBreakpoints.from_labels([0, 1])
    descent = rp.minimize_aum(np.array([[0.0], [1.0]]), bp, coef=[1.0])
    assert descent.n_steps == 0
    assert descent.stopped_by == "gradient"


def test_progress_is_called_after_every_step():
    X, bp = tied_problem(14)
    calls = []
    descent = rp.minimize_aum(X, bp, coef=[1.0, -1, 0, 2], progress=lambda *row: calls.append(row))
    assert [call[0] for call in calls] == list(range(1, descent.n_steps + 1))
    # The last row is evaluated again at the weights themselves.
    assert [call[1] for call in calls] == pytest.approx(descent.aum[1:], rel=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"step": "fastest"}, "step must be 'first_min' or"),
        ({"coef": [1.0]}, "coef must have one entry for each of the 4 columns"),
        ({"tol": -1.0}, "tol must be non-negative, got -1"),
        ({"l2": np.nan}, "l2 must be non-negative, got nan"),
        ({"max_steps": 1.5}, "max_steps must be an integer of at least 0"),
        ({"step": "validation_auc"}, "validation must be given for step="),
        ({"patience": 3}, "patience requires validation data"),
        (
            {"unit_norm": True, "coef": np.zeros(4)},
            "coef must have a nonzero entry with unit_norm=True, got only zeros",
        ),
        ({"validation": 3}, "validation must be a tuple of X and bp, got 3"),
    ],
)
def test_invalid_arguments_are_reported(change, message):
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
def test_invalid_matrices_are_reported(X, message):
    with pytest.raises((ValueError, TypeError), match=message):
        rp.minimize_aum(X, tied_problem(16)[1])


@pytest.mark.parametrize("step", STEP_CHOICES)
def test_every_step_choice_improves_its_criterion_from_the_class_means(step):
    X, bp = tied_problem(17)
    validation = tied_problem(18)
    descent = rp.minimize_aum(X, bp, step=step, validation=validation, max_steps=3)
    assert rp.auc(bp, X @ descent.coef) > 0.5
    assert descent.validation_auc[descent.chosen] == descent.validation_auc.max()


@pytest.mark.filterwarnings("error")
def test_default_initial_weights_are_the_difference_of_the_class_means():
    X, bp = tied_problem(19)
    y = bp.fn_diff < 0
    expected = X[y].mean(axis=0) - X[~y].mean(axis=0)
    descent = rp.minimize_aum(X, bp, max_steps=0)
    np.testing.assert_allclose(descent.coef, expected, rtol=1e-12)
    assert rp.minimize_aum(X, bp, unit_norm=True, max_steps=0).norm == pytest.approx(1)
    # Error functions in general: examples count by the errors that they can have.
    X, bp = changepoint_problem(20)
    fn, fp = np.zeros(30), np.zeros(30)
    for example, fp_diff, fn_diff in zip(bp.example, bp.fp_diff, bp.fn_diff, strict=True):
        fn[example] -= fn_diff
        fp[example] += fp_diff
    expected = X.T @ (fn / fn.sum() - fp / fp.sum())
    descent = rp.minimize_aum(X, bp, max_steps=0)
    np.testing.assert_allclose(descent.coef, expected, rtol=1e-12)


def test_a_given_trivial_minimum_is_reported_and_others_are_not(recwarn):
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


def test_best_auc_does_not_step_onto_a_plateau_that_rounding_removes():
    # Tenths: the search finds AUC 1 on a plateau 4 ulps wide around zero weights.
    X = np.array([[0.2], [-0.1], [0.4], [0.3]])
    bp = rp.ErrorBreakpoints.from_labels([1, 0, 1, 0])
    for coef in (None, [1.0], [-1.0]):
        descent = rp.minimize_aum(X, bp, step="best_auc", coef=coef)
        assert descent.auc[descent.chosen] == rp.auc(bp, X @ descent.coef)
        assert descent.auc[descent.chosen] == descent.auc.max()
    # From the class means, 0.2: three of four pairs are ranked correctly, and a single
    # feature with a positive weight has no other AUC.
    descent = rp.minimize_aum(X, bp, step="best_auc")
    assert descent.auc[descent.chosen] == 0.75


def test_unit_norm_stops_where_the_gradient_only_changes_the_length():
    # Both columns are opposite, and so are both weights: every direction is radial.
    X = np.array([[1.0, -1.0], [-1.0, 1.0], [2.0, -2.0], [0.0, 0.0]])
    bp = rp.ErrorBreakpoints.from_labels([1, 0, 0, 1])
    for step in ("first_min", "best_aum", "best_auc"):
        descent = rp.minimize_aum(X, bp, coef=[1.0, -1.0], unit_norm=True, step=step)
        assert descent.stopped_by == "gradient"
        np.testing.assert_allclose(descent.coef, np.array([1, -1]) / np.sqrt(2))


def test_updated_predictions_remain_those_of_the_weights():
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
            tol=0.0,
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

    evaluate = predict

    def descent_direction(self, state, gradient):
        slope = -(self.scores @ gradient)
        return State(np.array([slope]), (slope * self.scores,)) if slope else None

    def step(self, state, direction, size):
        if direction.parameters[0] < 0:
            size = min(size, -state.parameters[0] / direction.parameters[0])
        return state.step(direction, size)

    def quadratic(self, state, direction):
        return Quadratic()


def test_any_model_with_the_five_methods_can_be_optimized():
    rng = np.random.default_rng(1)
    y = np.arange(50) % 2 == 0
    bp = rp.ErrorBreakpoints.from_labels(y)
    model = OneWeight(y + rng.normal(size=50), rng.normal(size=50))

    def choose(train, _validation, _added):
        return ChosenStep(rp.best_aum_step(train.lines).step)

    descent = descend(ArraySamples([bp], choose), model, np.zeros(1), max_steps=10)
    weights = np.linspace(0, 4 * descent.coef[0], 2001)
    areas = [rp.aum(bp, model.predict([w]).predictions[0]) for w in weights]
    # AUM is convex in the weight, so that descent finds the smallest.
    assert descent.aum[-1] <= min(areas) + 1e-12
    assert descent.coef[0] > 0


def tied_features(kind, rng, n_rows, n_features):
    whole = rng.integers(-4, 5, size=(n_rows, n_features)).astype(float)
    if kind == "standardized integers":
        return (whole - whole.mean(axis=0)) / (whole.std(axis=0) + (whole.std(axis=0) == 0))
    return whole / {"thirds": 3, "integers": 1, "tenths": 10}[kind]


@pytest.mark.parametrize("kind", ["thirds", "standardized integers", "integers", "tenths"])
def test_best_auc_never_returns_a_worse_row(kind):
    # Plateaus a few ulps wide, which exist by rounding alone, are frequent here: steps
    # onto them lost AUC in 27 (tenths) to 108 (thirds) of 200 runs before the search
    # allowed for rounding.
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n_rows, n_features = rng.integers(6, 40), rng.integers(1, 5)
        X = tied_features(kind, rng, n_rows, n_features)
        y = np.arange(n_rows) % 3 == 0
        bp = rp.ErrorBreakpoints.from_labels(y)
        coef = rng.integers(-2, 3, n_features) / 3 if seed % 2 else None
        if coef is not None and not coef.any():
            coef[0] = 1.0
        descent = rp.minimize_aum(X, bp, coef=coef, step="best_auc")
        assert descent.auc[descent.chosen] == rp.auc(bp, X @ descent.coef)
        assert descent.auc[descent.chosen] == descent.auc.max()
        assert (np.diff(descent.auc) >= 0).all(), seed
