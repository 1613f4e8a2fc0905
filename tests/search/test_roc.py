"""AUM, its derivatives, AUC and the ROC curve, compared with the definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

import rocpath as rp
from tests import oracle
from tests.strategies import changepoint_breakpoints, label_lines, small


@st.composite
def problems(draw):
    """Draw breakpoints of weighted labels or of changepoint errors, and predictions."""
    if draw(st.booleans()):
        intercept, _, fp_diff, fn_diff = draw(label_lines())
        n = len(intercept)
        bp = rp.ErrorBreakpoints(range(n), [0.0] * n, fp_diff, fn_diff)
        return bp, [-x for x in intercept]
    bp = rp.ErrorBreakpoints(*draw(changepoint_breakpoints()))
    n = bp.n_examples
    return bp, draw(st.lists(small, min_size=n, max_size=n))


def lines_of(bp, prediction):
    intercept = [v - prediction[k] for k, v in zip(bp.example, bp.value, strict=True)]
    return oracle.as_lines(intercept, [0] * len(bp), bp.fp_diff, bp.fn_diff)


@given(problems())
def test_aum_equals_its_definition(problem):
    expected = float(oracle.aum(lines_of(*problem)))
    assert rp.aum(*problem) == pytest.approx(expected, 1e-12, 0)


@given(problems())
def test_auc_equals_its_definitions(problem):
    lines = lines_of(*problem)
    assert oracle.auc(lines) == oracle.weak_pair_auc(lines) == oracle.sorted_auc(lines)
    assert rp.auc(*problem) == pytest.approx(float(oracle.auc(lines)), 1e-12)


@given(problems())
def test_derivatives_equal_the_difference_quotients(problem):
    bp, _ = problem
    expected = oracle.aum_derivatives(lines_of(*problem), bp.example, bp.n_examples)
    scale = max(bp.fp_diff.max(), -bp.fn_diff.min())
    for got, exact in zip(rp.aum_derivatives(*problem), expected, strict=True):
        assert got == pytest.approx([float(x) for x in exact], 1e-12, 1e-14 * scale)
    left, right = rp.aum_derivatives(*problem)
    assert rp.aum_gradient(*problem) == pytest.approx((left + right) / 2, 1e-12, 1e-25)


@given(problems())
def test_roc_curve_contains_every_point_and_its_constants(problem):
    points = oracle.roc_points(lines_of(*problem), 0)
    total_fp, total_fn = points[-1][0], points[0][1]
    curve = rp.roc_curve(*problem)
    assert curve.fpr == pytest.approx([float(p[0] / total_fp) for p in points], 1e-12)
    assert curve.tpr == pytest.approx([float(1 - p[1] / total_fn) for p in points], 1e-12, 1e-15)
    smaller = [float(min(p[0], p[1])) for p in points]
    assert curve.min_error == pytest.approx(smaller, 1e-12, 1e-16)
    assert curve.threshold[1:, 0].tolist() == [float(p[2]) for p in points[1:]]
    assert curve.threshold[:-1, 1].tolist() == [float(p[3]) for p in points[:-1]]
    assert curve.threshold[0, 0] == -np.inf
    assert curve.threshold[-1, 1] == np.inf


@pytest.mark.parametrize("n_values", [3, 50, 10**6])
@pytest.mark.parametrize("n", [3000, 200_000])
def test_selection_equals_sorting_for_many_labels(n, n_values):
    rng = np.random.default_rng(n + n_values)
    y = rng.random(n) < 0.1
    prediction = (rng.integers(0, n_values, n) + y * n_values // 8).astype(float)
    bp = rp.ErrorBreakpoints.from_labels(y)
    curve = rp.roc_curve(bp, prediction)
    width = np.diff(curve.threshold[1:-1], axis=1)[:, 0]
    assert rp.aum(bp, prediction) == pytest.approx((width * curve.min_error[1:-1]).sum())
    assert rp.auc(bp, prediction) == pytest.approx(roc_auc_score(y, prediction), 1e-12)
    # Away from the level where FP equals FN, the derivative is the jump of the smaller.
    group = np.searchsorted(curve.threshold[1:, 0], -prediction)
    excess = curve.fpr - (1 - curve.tpr)
    is_below, is_above = excess[group + 1] < -1e-9, excess[group] > 1e-9
    gradient = rp.aum_gradient(bp, prediction)
    assert gradient[is_below].tolist() == bp.fp_diff[is_below].tolist()
    assert gradient[is_above].tolist() == bp.fn_diff[is_above].tolist()
    assert is_below.sum() + is_above.sum() > 0


def test_roc_curve_of_four_examples():
    # Predictions are -7 and -2 for negatives, 0 and -4 for positives, so thresholds are
    # 7, 2, 0 and 4. FPR increases by 1/2 at 2 and 7, FNR decreases by 1/2 at 0 and 4, and
    # the smaller one is 1/2 on (2, 4).
    bp = rp.ErrorBreakpoints.from_labels([0, 0, 1, 1])
    curve = rp.roc_curve(bp, [-7, -2, 0, -4])
    assert curve.aum == 1
    assert curve.auc == 0.75  # one of four pairs, (-2, -4), is in the wrong order
    assert curve.min_error.tolist() == [0, 0, 0.5, 0, 0]


def test_auc_of_a_looping_curve_exceeds_one():
    # FP jumps by +1, -1 and +1 at the constants 0, 1 and 2. TP is 1 on (-0.5, 0.5), 0 on
    # (0.5, 1.5) and 1 above: it is 1 at both increases of FP and 0 at its decrease, so
    # the area is 1 * 1 - 1 * 0 + 1 * 1 = 2.
    bp = rp.ErrorBreakpoints(
        [0, 0, 0, 1, 1, 1], [0, 1, 2, -0.5, 0.5, 1.5], [1, -1, 1, 0, 0, 0], [0, 0, 0, -1, 1, -1]
    )
    curve = rp.roc_curve(bp, [0, 0])
    assert curve.auc == 2
    assert curve.fpr.tolist() == [0, 0, 1, 1, 0, 0, 1]
    assert curve.tpr.tolist() == [0, 1, 1, 0, 0, 1, 1]
    # With the jumps of TP shifted by 1, TP is 1 only at the decrease of FP: 0 - 1 + 0.
    assert rp.auc(bp, [0, -1]) == -1


@pytest.mark.parametrize("function", [rp.aum, rp.auc, rp.aum_gradient, rp.roc_curve])
def test_invalid_predictions_raise(function):
    bp = rp.ErrorBreakpoints.from_labels([0, 1])
    with pytest.raises(ValueError, match=r"one entry for each of the 2 examples, got 3"):
        function(bp, [1, 2, 3])
    with pytest.raises(ValueError, match=r"predictions must be finite and below .*, got nan"):
        function(bp, [1, np.nan])
    with pytest.raises(ValueError, match=r"y must have exactly two classes, got 3"):
        function([0, 1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match=r"positive must be None for ErrorBreakpoints"):
        function(bp, [1, 2], positive=1)


@pytest.mark.parametrize("n_scores", [3, 1000])
def test_binary_labels_give_the_same_results_as_breakpoints(n_scores):
    rng = np.random.default_rng(n_scores)
    for _ in range(20):
        y = np.append([0, 1], rng.integers(0, 2, 30))
        score = rng.integers(0, n_scores, y.size) / 7.0
        bp = rp.ErrorBreakpoints.from_labels(y)
        names = np.where(y == 1, "a", "b")
        assert rp.auc(y, score) == rp.auc(bp, score)
        assert rp.auc(names, score, positive="a") == rp.auc(bp, score)
        assert rp.auc(names, score) == pytest.approx(1 - rp.auc(bp, score))
        assert rp.auc(y, score, max_fpr=0.4) == rp.auc(bp, score, max_fpr=0.4)
        assert rp.aum(y, score) == rp.aum(bp, score)
        np.testing.assert_array_equal(rp.aum_gradient(y, score), rp.aum_gradient(bp, score))
        one, two = rp.roc_curve(y, score), rp.roc_curve(bp, score)
        np.testing.assert_array_equal(one.tpr, two.tpr)
        assert one.auc == rp.auc(y, score)
