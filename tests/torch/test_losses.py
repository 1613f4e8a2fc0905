"""Values and gradients of the losses, compared with the core and with their definitions."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rocpath as rp
from tests.strategies import changepoint_breakpoints, small, vectors

torch = pytest.importorskip("torch", reason="torch is not installed")
import rocpath.torch as rt  # noqa: E402

weights = st.sampled_from([0.0, 0.5, 1.0, 3.0])


@st.composite
def batches(draw, max_size=9):
    """Draw scores with many ties, labels of both classes, and optional weights."""
    n = draw(st.integers(2, max_size))
    target = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    target[:2] = [0, 1]
    weight = draw(st.none() | st.lists(weights, min_size=n, max_size=n))
    if weight is not None:
        weight[:2] = [w or 1.0 for w in weight[:2]]
    return draw(vectors(n)), target, weight


def as_tensor(values):
    return None if values is None else torch.tensor(values, dtype=torch.float64)


def value_and_gradient(loss, scores, *args, **kwargs):
    scores = torch.as_tensor(scores, dtype=torch.float64).clone().requires_grad_()
    value = loss(scores, *args, **kwargs)
    value.backward()
    return value.item(), scores.grad.numpy()


def pairs(target, weight=None):
    """Return every pair of a positive and a negative, with its share of all pairs."""
    weight = [1.0] * len(target) if weight is None else weight
    weighted = [
        (i, j, weight[i] * weight[j])
        for i, j in itertools.product(range(len(target)), repeat=2)
        if target[i] == 1 and target[j] == 0
    ]
    total = sum(share for *_, share in weighted)
    return [(i, j, share / total) for i, j, share in weighted]


@given(batches(), st.sampled_from([0.0, 0.5, 1.0, 1e3]))
def test_aum_of_labels_equals_the_core(batch, margin):
    scores, target, weight = batch
    # Sorting uses rounded thresholds, and the core compares exact ones: both have the same
    # ties only if thresholds are float64 numbers.
    scores = [round(1024 * max(min(score, 1e6), -1e6)) / 1024 for score in scores]
    bp = rp.ErrorBreakpoints.from_labels(target, sample_weight=weight, margin=margin)
    value, gradient = value_and_gradient(
        rt.aum_loss, scores, torch.tensor(target), margin=margin, sample_weight=as_tensor(weight)
    )
    assert value == pytest.approx(rp.aum(bp, scores), rel=1e-12, abs=1e-300)
    np.testing.assert_allclose(gradient, rp.aum_gradient(bp, scores), atol=1e-12)


@given(batches(), st.sampled_from([0.0, 0.5, 1e3]))
def test_aum_of_several_labels_equals_the_core(batch, margin):
    # AUM of several labels is computed by sorting, that of a single label by the core.
    scores, target, weight = batch
    scores = [round(1024 * max(min(score, 1e6), -1e6)) / 1024 for score in scores]
    bp = rp.ErrorBreakpoints.from_labels(target, sample_weight=weight, margin=margin)
    value, gradient = value_and_gradient(
        rt.aum_loss,
        np.column_stack([scores, scores]),
        torch.tensor([target, target]).T,
        margin=margin,
        sample_weight=as_tensor(weight),
        reduction="sum",
    )
    assert value == pytest.approx(2 * rp.aum(bp, scores), rel=1e-12, abs=1e-300)
    expected = rp.aum_gradient(bp, scores)
    np.testing.assert_allclose(gradient, np.column_stack([expected, expected]), atol=1e-12)


def test_rows_with_negligible_weights_do_not_change_aum():
    # The two heavy rows are in the wrong order, at distance 3; the others are negligible.
    scores, target = [0.0, 1.0, 2.0, -1.0], torch.tensor([1, 0, 0, 1])
    weight = torch.tensor([1e-30, 1e-30, 1.0, 1.0], dtype=torch.float64)
    for columns in (1, 2):
        value, _ = value_and_gradient(
            rt.aum_loss,
            np.column_stack([scores] * columns),
            target[:, None].expand(4, columns),
            margin=0.0,
            sample_weight=weight[:, None].expand(4, columns),
        )
        assert value == pytest.approx(3.0)


@given(changepoint_breakpoints(), st.data())
def test_aum_of_breakpoints_equals_the_core(columns, data):
    bp = rp.ErrorBreakpoints(*columns)
    scores = data.draw(st.lists(small, min_size=bp.n_examples, max_size=bp.n_examples))
    value, gradient = value_and_gradient(rt.aum_loss, scores, breakpoints=bp)
    assert value == pytest.approx(rp.aum(bp, scores), rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(gradient, rp.aum_gradient(bp, scores), atol=1e-12)


@pytest.mark.parametrize("kind", ["normal", "ties", "outliers", "constant"])
def test_aum_of_many_rows_equals_the_core(kind):
    rng = np.random.default_rng(0)
    target = rng.random(50_000) < 0.03
    scores = rng.normal(size=target.size) + target
    if kind == "ties":
        # Binary fractions have the same ties in the core, which compares exact thresholds,
        # and in torch, which compares rounded ones.
        scores = np.round(8 * scores) / 8
    elif kind == "outliers":
        scores[:3] = 1e150, -1e150, 1e80
    elif kind == "constant":
        scores[:] = 0.5
    weight = rng.integers(1, 4, size=target.size).astype(float)
    for sample_weight in (None, weight):
        bp = rp.ErrorBreakpoints.from_labels(target, sample_weight=sample_weight, margin=0.25)
        value, gradient = value_and_gradient(
            rt.aum_loss,
            scores,
            torch.tensor(target),
            margin=0.25,
            sample_weight=as_tensor(sample_weight),
        )
        assert value == pytest.approx(rp.aum(bp, scores), rel=1e-12)
        np.testing.assert_allclose(gradient, rp.aum_gradient(bp, scores), atol=1e-12)


def test_the_gradient_at_the_level_equals_a_hand_calculation():
    # Positives are at 0 and 2 and a negative is at 1, without a margin, so thresholds are 0,
    # -2 and -1. From below, FP and FN are (0, 1), (0, 1/2), (1, 1/2) and (1, 0), so
    # min(FP, FN) is 0, 0, 1/2 and 0. AUM is 1/2, and the gradient is its change at each line.
    value, gradient = value_and_gradient(
        rt.aum_loss, [0.0, 1.0, 2.0], torch.tensor([1, 0, 1]), margin=0.0
    )
    assert value == 0.5
    assert gradient.tolist() == [-0.5, 0.5, 0.0]


@given(batches(), st.floats(0, 3))
def test_the_minimum_of_the_streaming_loss_is_aum(batch, margin):
    scores, target, _ = batch
    scores = [max(min(score, 1e6), -1e6) for score in scores]
    bp = rp.ErrorBreakpoints.from_labels(target, margin=margin)
    loss = rt.AUMLoss(np.mean(target), margin=margin)
    # The loss is convex in the threshold, with kinks at the breakpoints.
    values = []
    for threshold in bp.value - np.array(scores):
        loss.threshold = torch.nn.Parameter(torch.tensor(threshold))
        values.append(loss(as_tensor(scores), torch.tensor(target)).item())
    expected = rp.aum(bp, scores)
    assert min(values) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(batches(), st.integers(1, 4))
def test_the_streaming_loss_is_additive_over_batches(batch, size):
    scores, target, weight = batch
    loss = rt.AUMLoss(0.3, margin=1.0)
    columns = [as_tensor(scores), torch.tensor(target)]
    columns.append(torch.ones(len(scores)) if weight is None else torch.tensor(weight))
    batches = list(zip(*(column.split(size) for column in columns), strict=True))
    # Any batch is valid, even of one class or one row, if its weight is positive.
    batches = [one for one in batches if one[2].any()]
    total = sum(len(one[0]) * loss(*one).item() for one in batches)
    whole = len(scores) * loss(*columns).item()
    assert total == pytest.approx(whole, rel=1e-12)


def test_the_gradient_of_the_threshold_balances_the_classes():
    # Of four rows, one negative and one positive violate the margin. Each contributes the
    # inverse of the share of its class, divided by the four rows.
    loss = rt.AUMLoss(positive_share=0.2)
    loss(torch.tensor([2.0, -2.0, 3.0, -3.0]), torch.tensor([0, 1, 1, 0])).backward()
    assert loss.threshold.grad.item() == pytest.approx((1 / 0.8 - 1 / 0.2) / 4)


@given(batches(), st.sampled_from([0.0, 1.0, 2.5]))
def test_the_pairwise_hinge_equals_a_sum_over_pairs(batch, margin):
    scores, target, weight = batch
    # A margin of 1 would be lost to rounding with larger scores.
    scores = [max(min(score, 1e4), -1e4) for score in scores]
    expected, slope = 0.0, np.zeros(len(scores))
    for i, j, share in pairs(target, weight):
        short = max(0.0, margin - (scores[i] - scores[j]))
        expected += share * short**2
        slope[i] -= 2 * share * short
        slope[j] += 2 * share * short
    value, gradient = value_and_gradient(
        rt.pairwise_squared_hinge,
        scores,
        torch.tensor(target),
        margin=margin,
        sample_weight=as_tensor(weight),
    )
    assert value == pytest.approx(expected, rel=1e-9, abs=1e-12)
    np.testing.assert_allclose(gradient, slope, atol=1e-9 * max(1, abs(slope).max()))


def test_the_pairwise_hinge_is_precise_far_from_zero():
    target = torch.tensor([1, 0, 1, 0])
    near = [0.0, 0.25, 0.5, 0.75]
    far = [score + 2.0**30 for score in near]
    value, gradient = value_and_gradient(rt.pairwise_squared_hinge, near, target)
    assert value_and_gradient(rt.pairwise_squared_hinge, far, target)[0] == value
    np.testing.assert_array_equal(
        value_and_gradient(rt.pairwise_squared_hinge, far, target)[1], gradient
    )


@given(batches(), st.sampled_from([0.25, 1.0, 3.0]))
def test_the_smoothed_auc_equals_a_sum_over_pairs(batch, width):
    scores, target, weight = batch
    expected = sum(
        share * 0.5 * math.erfc((scores[i] - scores[j]) / (width * math.sqrt(2)))
        for i, j, share in pairs(target, weight)
    )
    loss = rt.smoothed_auc_loss(
        as_tensor(scores), torch.tensor(target), width, sample_weight=as_tensor(weight)
    )
    assert loss.item() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("max_fpr", [None, 0.05, 0.3])
@pytest.mark.parametrize("width", [0.05, 0.5, 4.0])
def test_the_grid_agrees_with_the_sum_over_pairs(monkeypatch, width, max_fpr):
    rng = np.random.default_rng(1)
    target = torch.tensor(rng.random(3000) < 0.1)
    scores = rng.normal(size=3000) + target.numpy()
    args = (rt.smoothed_auc_loss, scores, target, width)
    on_grid = value_and_gradient(*args, max_fpr=max_fpr)
    monkeypatch.setattr("rocpath.torch.pair_losses._FEW_ROWS", 3000)
    by_pairs = value_and_gradient(*args, max_fpr=max_fpr)
    assert on_grid[0] == pytest.approx(by_pairs[0], abs=1e-3)
    # Gradients agree in all cells except the last selected one.
    error = np.abs(on_grid[1] - by_pairs[1]) / np.abs(by_pairs[1]).max()
    assert np.quantile(error, 0.95) < 0.02


@pytest.mark.parametrize("max_fpr", [0.05, 0.25, 1.0])
def test_the_smoothed_auc_approaches_the_partial_auc(max_fpr):
    rng = np.random.default_rng(2)
    target = np.repeat([0, 1], [100, 40])
    scores = rng.permutation(140) + 30.0 * target
    loss = rt.smoothed_auc_loss(torch.tensor(scores), torch.tensor(target), 1e-3, max_fpr=max_fpr)
    # Each of the highest-scoring negatives is compared with all positives.
    counted = np.sort(scores[target == 0])[::-1][: round(max_fpr * 100)]
    ahead = scores[target == 1][:, None] - counted
    expected = np.mean((ahead < 0) + 0.5 * (ahead == 0))
    assert loss.item() == pytest.approx(expected, abs=1e-12)
