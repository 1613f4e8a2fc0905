"""Losses of several labels: computed for each label, then reduced."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
import rocpath.torch as rt  # noqa: E402

LOSSES = {
    "aum": rt.aum_loss,
    "pairwise": rt.pairwise_squared_hinge,
    "smoothed": rt.smoothed_auc_loss,
}
each_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)


def make_batch(n=50, n_labels=4, seed=0):
    """Return scores and targets; the last label has no positives."""
    rng = np.random.default_rng(seed)
    target = torch.tensor(rng.integers(0, 2, (n, n_labels)))
    target[:, -1] = 0
    scores = torch.tensor(rng.normal(size=(n, n_labels)).round(1)) + 0.5 * target
    return scores.requires_grad_(), target


@each_loss
@pytest.mark.parametrize("n", [50, 600, 9000])
def test_the_loss_of_each_label_equals_the_loss_of_its_column(loss, n):
    scores, target = make_batch(n)
    each = loss(scores, target, reduction="none")
    columns = [loss(scores[:, k], target[:, k]) for k in range(4)]
    torch.testing.assert_close(each, torch.stack(columns), rtol=1e-12, atol=1e-14)
    gradient = torch.autograd.grad(each.sum(), scores)[0]
    expected = torch.autograd.grad(sum(columns), scores)[0]
    torch.testing.assert_close(gradient, expected, rtol=1e-9, atol=1e-12)


@each_loss
def test_the_mean_is_over_labels_with_both_classes(loss):
    scores, target = make_batch()
    columns = [loss(scores[:, k], target[:, k]) for k in range(3)]
    assert loss(scores, target).item() == pytest.approx(sum(columns).item() / 3)
    total = loss(scores, target, reduction="sum")
    assert total.item() == pytest.approx(sum(columns).item())
    weight = torch.tensor([1.0, 2.0, 0.0, 5.0])
    weighted = loss(scores, target, label_weight=weight)
    # The last label has no positives, so its weight does not count.
    expected = (columns[0] + 2.0 * columns[1]) / 3.0
    assert weighted.item() == pytest.approx(expected.item())


@each_loss
def test_ignored_entries_do_not_count_and_may_be_nan(loss):
    scores, target = make_batch()
    is_ignored = torch.rand(target.shape, generator=torch.manual_seed(1)) < 0.3
    ignored = target.masked_fill(is_ignored, -1)
    values = scores.detach().masked_fill(is_ignored, math.nan).requires_grad_()
    each = loss(values, ignored, ignore_index=-1, reduction="none")
    for k in range(4):
        kept = ~is_ignored[:, k]
        expected = loss(scores[kept, k], target[kept, k])
        assert each[k].item() == pytest.approx(expected.item(), rel=1e-12, abs=1e-15)
    each.sum().backward()
    assert (values.grad[is_ignored] == 0).all()
    assert values.grad.isfinite().all()


@each_loss
def test_sample_weights_apply_to_all_labels(loss):
    scores, target = make_batch()
    weight = torch.rand(50, generator=torch.manual_seed(2))
    one = loss(scores, target, sample_weight=weight)
    each = loss(scores, target, sample_weight=weight[:, None].expand(50, 4))
    assert one == each


@pytest.mark.parametrize("module", [rt.AUMLoss, rt.PairwiseSquaredHinge, rt.SmoothedAUCLoss])
def test_modules_accept_the_same_options(module):
    scores, target = make_batch()
    function = {
        rt.AUMLoss: rt.aum_loss,
        rt.PairwiseSquaredHinge: rt.pairwise_squared_hinge,
        rt.SmoothedAUCLoss: rt.smoothed_auc_loss,
    }[module]
    options = {"label_weight": torch.arange(1.0, 5.0), "reduction": "sum"}
    loss = module(ignore_index=-1, **options)
    assert loss(scores, target) == function(scores, target, **options)
    assert "reduction='sum'" in repr(loss)
    assert loss.to(torch.float64).label_weight.dtype == torch.float64


def test_the_streaming_loss_has_a_threshold_for_each_label():
    scores, target = make_batch()
    loss = rt.AUMLoss([0.5, 0.4, 0.3, 0.2])
    assert loss.threshold.shape == (4,)
    each = [rt.AUMLoss(share) for share in (0.5, 0.4, 0.3, 0.2)]
    columns = [one(scores[:, k], target[:, k]) for k, one in enumerate(each)]
    value = loss(scores, target)
    # Every label counts here, including one without positives.
    assert value.item() == pytest.approx(sum(columns).item() / 4)
    value.backward()
    torch.stack(columns).mean().backward()
    expected = torch.stack([one.threshold.grad for one in each])
    torch.testing.assert_close(loss.threshold.grad, expected)
    ignored = target.clone()
    ignored[:10, 0] = -1
    loss = rt.AUMLoss([0.5, 0.4, 0.3, 0.2], ignore_index=-1, reduction="none")
    expected = each[0](scores[10:, 0], target[10:, 0])
    assert loss(scores, ignored)[0].item() == pytest.approx(expected.item())


def test_a_list_of_one_share_is_for_a_single_label():
    scores, target = make_batch()
    expected = rt.AUMLoss(0.5)(scores[:, 0], target[:, 0])
    loss = rt.AUMLoss([0.5])
    assert loss(scores[:, 0], target[:, 0]) == expected
    assert loss(scores[:, :1], target[:, :1]) == expected


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@each_loss
def test_losses_of_several_labels_support_compile_and_vmap(loss):
    scores, target = make_batch()
    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(scores, target), loss(scores, target))
    batches = [make_batch(seed=seed) for seed in range(3)]
    stacked = [torch.stack(column).detach() for column in zip(*batches, strict=True)]
    mapped = torch.func.vmap(torch.func.grad(loss))(*stacked)
    expected = [torch.autograd.grad(loss(*one), one[0])[0] for one in batches]
    torch.testing.assert_close(mapped, torch.stack(expected))


def test_the_second_derivative_of_aum_is_zero():
    scores = torch.tensor([0.0, 1.0, 2.0], requires_grad=True)
    loss = rt.aum_loss(scores, torch.tensor([1, 0, 1]))
    gradient = torch.autograd.grad(loss, scores, create_graph=True)[0]
    penalty = torch.autograd.grad(gradient.square().sum(), scores)[0]
    assert penalty.tolist() == [0.0, 0.0, 0.0]


@each_loss
def test_soft_labels_raise_with_a_remedy(loss):
    scores = torch.zeros(2)
    with pytest.raises(ValueError, match=r"got 0.25 at index 1; AUC .* sample_weight p"):
        loss(scores, torch.tensor([1.0, 0.25]))


def test_the_remedy_for_soft_labels_works():
    # Each row is passed twice, with weights p and 1 - p: for p of 0 or 1, this is the usual
    # loss.
    scores, target = make_batch(20, 2)
    scores, target = scores[:, 0], target[:, 0].double()
    twice = torch.cat((scores, scores))
    labels = torch.cat((torch.ones(20), torch.zeros(20)))
    weight = torch.cat((target, 1.0 - target))
    both = rt.aum_loss(twice, labels, sample_weight=weight)
    assert both.item() == pytest.approx(rt.aum_loss(scores, target).item())


def test_invalid_options_raise():
    scores, target = make_batch()
    invalid = [
        ({"reduction": "max"}, "reduction must be 'mean' or 'sum' or 'none'"),
        ({"ignore_index": 1}, "ignore_index must not be 0 or 1, got 1"),
        ({"label_weight": torch.ones(3)}, "one entry for each column of scores"),
        ({"label_weight": -torch.ones(4)}, "label_weight must be finite and non-neg"),
        ({"sample_weight": torch.ones(3)}, "sample_weight must have the shape"),
    ]
    for options, message in invalid:
        with pytest.raises(ValueError, match=message):
            rt.aum_loss(scores, target, **options)
    with pytest.raises(ValueError, match="target must be 0 or 1, got 8 at index"):
        rt.aum_loss(scores, target + 7)
    with pytest.raises(ValueError, match="be None for a single label"):
        rt.aum_loss(scores[:, 0], target[:, 0], label_weight=torch.ones(1))
    with pytest.raises(ValueError, match="scores must have 3 columns"):
        rt.AUMLoss([0.1, 0.2, 0.3])(scores, target)
