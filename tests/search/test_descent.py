"""minimize_aum: the descent of the paper, its step choices and its stopping rules."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rocpath as rp
from rocpath.search.descent import ArraySamples, State, descend
from rocpath.search.intercepts import fewest_errors_constant
from rocpath.search.step_choice import GRID, STEP_CHOICES, ChosenStep, Quadratic
from tests.descent_problems import changepoint_problem, tied_problem


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
    # For labels, AUM is convex along a line, so all three find the same minimum.
    X, bp = tied_problem(1)
    rng = np.random.default_rng(0)
    X += rng.normal(size=X.shape)  # prevents flat minima
    for start in rng.normal(size=(5, 4)):
        steps = [
            rp.minimize_aum(X, bp, coef=start, step=step, max_steps=1, tol=0).step
            for step in ("quadratic", "first_min", "best_aum")
        ]
        assert steps[0][1] > 0
        np.testing.assert_allclose(steps[1], steps[0], rtol=1e-15)
        np.testing.assert_allclose(steps[2], steps[0], rtol=1e-15)


def test_steps_of_a_small_example():
    # One feature, labels 0 and 1, predictions 1 and 0: the positive is 1 below the
    # negative, so AUM is 1. The gradient is 1 for the negative and -1 for the positive,
    # and therefore 1 for the weight: a step of size 1 leads to a weight of 0 and an AUM
    # of 0, which no step improves.
    bp = rp.ErrorBreakpoints.from_labels([0, 1])
    descent = rp.minimize_aum(np.array([[1.0], [0.0]]), bp, coef=[1.0])
    assert descent.step.tolist() == [0.0, 1.0, 0.0]
    assert descent.coef.tolist() == [0.0]
    assert descent.aum.tolist() == [1.0, 0.0, 0.0]
    assert descent.n_crossings.tolist() == [0, 1, 0]
    assert descent.stopped_by == "tolerance"


def test_best_auc_is_the_largest_auc_along_the_direction():
    X, bp = tied_problem(3)
    start = np.array([1.0, -1.0, 0.5, 2.0])
    descent = rp.minimize_aum(X, bp, coef=start, step="best_auc", max_steps=1)
    direction = -X.T @ rp.aum_gradient(bp, X @ start)
    path = rp.sweep(rp.Lines.from_predictions(bp, X @ start, X @ direction))
    assert descent.auc[1] == pytest.approx(max(path.auc.max(), path.auc_after.max()))


@pytest.mark.parametrize("step", ["validation_auc", "validation_auc_limited"])
def test_validation_auc_selects_the_step_and_the_row(step):
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


def test_patience_ends_the_descent():
    # Validation labels are the opposite of the training labels, so the validation AUC
    # is one minus the training AUC, and the initial weights are the best.
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = np.array([0, 0, 1, 1])
    bp = rp.ErrorBreakpoints.from_labels(y, margin=1.0)
    opposite = X, rp.ErrorBreakpoints.from_labels(1 - y)
    descent = rp.minimize_aum(
        X, bp, coef=[-1.0], step="constant", step_size=0.1, tol=0, validation=opposite, patience=20
    )
    # The weight increases by 0.1 times the gradient, which is at most the difference of
    # the class means, 2. It is zero, with a validation AUC of 1/2, after at least five
    # steps.
    assert descent.stopped_by == "validation"
    assert descent.chosen == 0
    assert descent.n_steps == 20
    assert descent.validation_auc[0] == 1
    assert descent.validation_auc[-1] == 0


def test_grid_chooses_the_best_of_ten_step_sizes():
    X, bp = tied_problem(8)
    start = np.array([1.0, -1.0, 0.5, 2.0])
    descent = rp.minimize_aum(X, bp, coef=start, step="grid", max_steps=1)
    direction = -X.T @ rp.aum_gradient(bp, X @ start)
    values = [rp.aum(bp, X @ (start + size * direction)) for size in GRID]
    assert descent.step[1] == GRID[int(np.argmin(values))]
    assert descent.n_crossings[1] == len(GRID) == 10


def test_constant_steps_end_where_aum_no_longer_improves():
    # One feature, labels 0 and 1, predictions w and 0: AUM is max(w, 0). From w = 1,
    # steps of 0.3 along a gradient of 1 lead to 0.7, 0.4, 0.1 and -0.2, where the
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
    # The last row is evaluated again from the weights.
    assert [call[1] for call in calls] == pytest.approx(descent.aum[1:], rel=1e-9)


@pytest.mark.parametrize("step", STEP_CHOICES)
def test_every_step_choice_works_with_the_default_initial_weights(step):
    X, bp = tied_problem(17)
    validation = tied_problem(18)
    descent = rp.minimize_aum(X, bp, step=step, validation=validation, max_steps=3)
    assert rp.auc(bp, X @ descent.coef) > 0.5
    assert descent.validation_auc[descent.chosen] == descent.validation_auc.max()


def test_best_auc_ignores_a_plateau_that_exists_only_by_rounding():
    # Without a rounding margin, the search would find an AUC of 1 on a plateau that is
    # 4 ulps wide, around zero weights.
    X = np.array([[0.2], [-0.1], [0.4], [0.3]])
    bp = rp.ErrorBreakpoints.from_labels([1, 0, 1, 0])
    for coef in (None, [1.0], [-1.0]):
        descent = rp.minimize_aum(X, bp, step="best_auc", coef=coef)
        assert descent.auc[descent.chosen] == rp.auc(bp, X @ descent.coef)
        assert descent.auc[descent.chosen] == descent.auc.max()
    # The difference of the class means is 0.2. Three of four pairs are ranked correctly,
    # and AUC is the same for every positive weight of a single feature.
    descent = rp.minimize_aum(X, bp, step="best_auc")
    assert descent.auc[descent.chosen] == 0.75


def test_updated_predictions_equal_those_of_the_weights():
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
    """Model with a single non-negative weight of fixed scores."""

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
    # AUM is convex in the weight, so the descent finds its minimum.
    assert descent.aum[-1] <= min(areas) + 1e-12
    assert descent.coef[0] > 0


def tied_features(kind, rng, n_rows, n_features):
    whole = rng.integers(-4, 5, size=(n_rows, n_features)).astype(float)
    if kind == "standardized integers":
        return (whole - whole.mean(axis=0)) / (whole.std(axis=0) + (whole.std(axis=0) == 0))
    return whole / {"thirds": 3, "integers": 1, "tenths": 10}[kind]


@pytest.mark.parametrize("kind", ["thirds", "standardized integers", "integers", "tenths"])
def test_best_auc_never_decreases_auc(kind):
    # Plateaus that are a few ulps wide and exist only by rounding are frequent here.
    # Without a rounding margin, steps onto them decreased AUC in 27 (tenths) to 108
    # (thirds) of 200 runs.
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


def test_a_descent_with_an_l2_term_does_not_explode():
    # All rows are equal, so AUM is 0 and only the L2 term moves the weight. Each step
    # leaves a rounding error of it, whose square underflows after ten steps.
    X = np.full((3, 1), -2 / 3)
    bp = rp.ErrorBreakpoints.from_labels([0, 1, 1])
    descent = rp.minimize_aum(X, bp, coef=[1.0], step="best_aum", l2=0.01, tol=0)
    assert abs(descent.coef[0]) <= 1e-15
    assert (np.diff(descent.norm) <= 0).all()


@pytest.mark.parametrize("seed", range(20))
def test_a_worse_last_step_is_not_the_result(seed):
    X, bp = tied_problem(seed, n=12)
    descent = rp.minimize_aum(X / 3, bp, step="constant", step_size=0.5, max_steps=20, tol=0)
    assert descent.chosen in (descent.n_steps, descent.n_steps - 1)
    if descent.stopped_by == "tolerance":
        assert descent.aum[descent.chosen] <= descent.aum[-1] * (1 + 1e-9) + 1e-15


def user_errors(labels, scores):
    """Return FP + FN as rates, if scores above zero are predicted positive."""
    positive = np.asarray(labels) == 1
    return np.mean(scores[~positive] > 0) + np.mean(scores[positive] <= 0)


def test_the_intercept_has_few_errors_after_rounding():
    # The predictions differ by an ulp of 1, and by less after any constant is added.
    labels, scores = [0, 1, 0, 1], np.array([1.0, 1.0 - 2.0**-53, 1.0 + 2.0**-52, 3.0])
    bp = rp.ErrorBreakpoints.from_labels(labels)
    constant = fewest_errors_constant(bp, scores)
    rounded = min(user_errors(labels, scores + c) for c in np.linspace(-4, 1, 1001))
    assert user_errors(labels, scores + constant) == rounded == 0.5


@given(
    st.lists(st.integers(-3, 3), min_size=4, max_size=9), st.integers(0, 2**9), st.integers(0, 60)
)
def test_no_constant_has_fewer_errors_than_the_intercept(tenths, code, shift):
    scores = np.array(tenths) / 3 + np.ldexp(1.0, shift)
    labels = [0, 1] + [code >> k & 1 for k in range(len(tenths) - 2)]
    bp = rp.ErrorBreakpoints.from_labels(labels)
    constant = fewest_errors_constant(bp, scores)
    ends = np.unique(-scores)
    middles = [
        *(0.5 * (ends[1:] + ends[:-1])),
        ends[0] - abs(ends[0]) - 1,
        ends[-1] + abs(ends[-1]) + 1,
    ]
    # Constants closer to a threshold than the rounding error are not candidates.
    smallest_gap = 2.0**-48 * np.abs(ends).max()
    candidates = [one for one in middles if np.abs(ends - one).min() > smallest_gap]
    least = min(user_errors(labels, scores + one) for one in candidates)
    assert user_errors(labels, scores + constant) <= least + 1e-12


def test_auc_of_labels_with_a_margin_is_that_of_the_predictions():
    X, bp = tied_problem(3)
    is_positive = np.arange(60) % 4 == 0
    weight = np.arange(60) % 3
    for sample_weight in (None, weight):
        bp = rp.ErrorBreakpoints.from_labels(is_positive, margin=1, sample_weight=sample_weight)
        plain = rp.ErrorBreakpoints.from_labels(is_positive, sample_weight=sample_weight)
        for step in ("best_aum", "best_auc"):
            descent = rp.minimize_aum(X, bp, step=step, max_steps=5)
            assert descent.auc[descent.chosen] == rp.auc(plain, X @ descent.coef)
            assert step != "best_auc" or (np.diff(descent.auc) >= 0).all()
    # Other error functions keep their breakpoints.
    X, bp = changepoint_problem(0)
    descent = rp.minimize_aum(X, bp, max_steps=2)
    assert descent.auc[-1] == rp.auc(bp, X @ descent.coef)


def test_too_many_crossings_name_another_step_choice(monkeypatch):
    from rocpath.search import line_search

    monkeypatch.setattr(line_search, "available_memory", lambda: 1000)
    X, bp = tied_problem(0, n=400)
    with pytest.raises(MemoryError, match="use step='best_aum'"):
        rp.minimize_aum(X + np.random.default_rng(0).normal(size=X.shape), bp, step="quadratic")
