"""Losses in torch programs: compiled, with vmap, in other dtypes, with invalid input."""

import math
import threading

import numpy as np
import pytest

import rocpath as rp

torch = pytest.importorskip("torch", reason="torch is not installed")
import rocpath.torch as rt  # noqa: E402
from rocpath.torch.aum import aum_of_labels  # noqa: E402
from rocpath.torch.batch import checked_labels  # noqa: E402

LOSSES = {
    "aum": rt.aum_loss,
    "pairwise": rt.pairwise_squared_hinge,
    "smoothed": rt.smoothed_auc_loss,
    "partial": rt.SmoothedAUCLoss(width=0.5, max_fpr=0.3),
    "AUM": rt.AUMLoss(),
    "streaming": rt.AUMLoss(0.3),
}
each_loss = pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)


def make_batch(n=40, seed=0, dtype=torch.float64):
    rng = np.random.default_rng(seed)
    target = torch.tensor(rng.integers(0, 2, n))
    scores = torch.tensor(rng.normal(size=n)) + 0.5 * target
    return scores.to(dtype).requires_grad_(), target


def gradient_of(loss, scores, target):
    return torch.autograd.grad(loss(scores, target), scores)[0]


@each_loss
def test_gradients_equal_finite_differences(loss):
    scores, target = make_batch()
    assert torch.autograd.gradcheck(lambda s: loss(s, target), (scores,))


def test_gradients_on_the_grid_equal_finite_differences():
    # The two extreme rows fix the grid; the others move within their cells.
    scores, target = make_batch(600, seed=3)
    ends = torch.tensor([-9.0, 9.0], dtype=torch.float64)

    def loss(moved):
        return rt.smoothed_auc_loss(torch.cat((ends, moved)), all_target, 0.5)

    all_target = torch.cat((torch.tensor([0, 1]), target))
    assert torch.autograd.gradcheck(loss, (scores,), eps=1e-7)


def test_second_derivatives_of_smooth_losses_equal_finite_differences():
    scores, target = make_batch(8)
    for loss in (rt.pairwise_squared_hinge, rt.smoothed_auc_loss):
        assert torch.autograd.gradgradcheck(lambda s, f=loss: f(s, target), (scores,))


def test_operators_pass_opcheck():
    scores, target = make_batch()
    scores = scores.detach()
    weight = torch.rand(40, dtype=torch.float64)
    for arguments in ((scores, target.bool(), None, 1.0), (scores, target.bool(), weight, 0.0)):
        torch.library.opcheck(aum_of_labels, arguments)
    torch.library.opcheck(checked_labels, (target, None, None))
    torch.library.opcheck(checked_labels, (target.bool(), weight, None))


# The tracer of torch 2.13 uses functions that torch itself deprecates. The default
# backend runs g++, which takes 15 seconds for each loss.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("backend", ["aot_eager", pytest.param("inductor", marks=pytest.mark.slow)])
@each_loss
def test_a_loss_compiles_into_one_graph(loss, backend):
    scores, target = make_batch()
    compiled = torch.compile(loss, fullgraph=True, backend=backend)
    torch.testing.assert_close(compiled(scores, target), loss(scores, target))
    torch.testing.assert_close(
        gradient_of(compiled, scores, target), gradient_of(loss, scores, target)
    )


@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
def test_a_compiled_loss_raises_for_invalid_labels():
    scores, target = make_batch()
    compiled = torch.compile(rt.aum_loss, fullgraph=True, backend="aot_eager")
    with pytest.raises(Exception, match="target must be 0 or 1, got 2"):
        compiled(scores, target + 1)


@each_loss
def test_vmapped_gradients_equal_the_gradients_of_each_batch(loss):
    if isinstance(loss, rt.AUMLoss) and loss.positive_share:
        pytest.skip("its threshold is a parameter")
    scores, targets = zip(*(make_batch(seed=k) for k in range(3)), strict=True)
    stacked = torch.stack(scores).detach(), torch.stack(targets)
    mapped = torch.func.vmap(torch.func.grad(loss))(*stacked)
    expected = [gradient_of(loss, *one) for one in zip(scores, targets, strict=True)]
    torch.testing.assert_close(mapped, torch.stack(expected))


def test_vmap_equals_a_loop_over_batches():
    # The batches have ties; one has a single class, and one has a non-finite score.
    rng = np.random.default_rng(0)
    scores = torch.tensor(rng.integers(-2, 3, (5, 9)), dtype=torch.float64)
    target = torch.tensor(rng.integers(0, 2, (5, 9)))
    target[1] = 0
    scores[2, 4] = math.inf
    weight = torch.tensor(rng.integers(0, 4, 9), dtype=torch.float64)

    def weighted(scores, target, weight):
        return rt.aum_loss(scores, target, margin=0.5, sample_weight=weight)

    for loss, *fixed in ((rt.aum_loss,), (weighted, weight)):
        both = torch.func.grad_and_value(loss)
        dims = (0, 0, *(None for _ in fixed))
        mapped = torch.func.vmap(both, in_dims=dims)(scores, target, *fixed)
        each = [both(*one, *fixed) for one in zip(scores, target, strict=True)]
        expected = tuple(map(torch.stack, zip(*each, strict=True)))
        torch.testing.assert_close(mapped, expected, rtol=0, atol=1e-12, equal_nan=True)


@each_loss
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_losses_of_narrow_dtypes_are_computed_in_full_precision(loss, dtype):
    scores, target = make_batch(dtype=dtype)
    scores = scores.detach().requires_grad_()
    value = loss(scores, target)
    assert value.dtype == torch.float32
    longer = scores.detach().double()
    torch.testing.assert_close(value.double(), loss(longer, target), rtol=1e-6, atol=0)
    value.backward()
    assert scores.grad.dtype == dtype
    assert scores.grad.isfinite().all()


@each_loss
def test_autocast_does_not_change_the_loss(loss):
    scores, target = make_batch(dtype=torch.float32)
    scores = scores.detach()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert loss(scores, target) == loss(scores, target.float())
        inside = loss(scores, target)
    assert inside == loss(scores, target)


@each_loss
def test_targets_of_any_dtype_and_single_columns_are_accepted(loss):
    scores, target = make_batch()
    expected = loss(scores, target)
    for dtype in (torch.bool, torch.uint8, torch.float32):
        assert loss(scores, target.to(dtype)) == expected
    assert loss(scores[:, None], target[:, None]) == expected


@each_loss
@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("n", [1, 5, 600])
def test_a_batch_of_one_class_has_zero_loss_and_gradient(loss, label, n):
    if isinstance(loss, rt.AUMLoss) and loss.positive_share:
        pytest.skip("its gradient is not zero for such batches")
    scores = torch.linspace(-1, 1, n).requires_grad_()
    value = loss(scores, torch.full((n,), label))
    value.backward()
    assert value.item() == 0.0
    assert not scores.grad.any()


@each_loss
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("n", [40, 600])
def test_non_finite_scores_give_nan(loss, bad, n):
    scores, target = make_batch(n)
    scores = scores.detach()
    scores[3] = bad
    scores.requires_grad_()
    value = loss(scores, target)
    value.backward()
    assert value.isnan()
    assert scores.grad.isnan().any()


@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning")
def test_a_compiled_function_may_use_breakpoints():
    scores, target = make_batch()
    bp = rp.ErrorBreakpoints.from_labels(target.numpy(), margin=1.0)
    compiled = torch.compile(lambda s: rt.aum_loss(2 * s, breakpoints=bp), backend="aot_eager")
    assert compiled(scores).item() == pytest.approx(rt.aum_loss(2 * scores, target).item())
    gradient = torch.autograd.grad(compiled(scores), scores)[0]
    torch.testing.assert_close(gradient, 2 * gradient_of(rt.aum_loss, 2 * scores, target))


def test_breakpoints_with_non_finite_scores_give_nan():
    bp = rp.ErrorBreakpoints.from_labels([0, 1])
    assert rt.aum_loss(torch.tensor([0.0, math.nan]), breakpoints=bp).isnan()


@each_loss
def test_invalid_input_raises(loss):
    scores, target = make_batch(4)
    weight = torch.ones(4)
    invalid = [
        ((scores, target + 1), ValueError, "target must be 0 or 1, got 2 at"),
        ((scores, target - 0.5), ValueError, "target must be 0 or 1, got"),
        ((scores, target.float() * math.nan), ValueError, "target must be 0 or 1"),
        ((scores, target[:3]), ValueError, r"shape of scores, \(4,\), got \(3,\)"),
        ((scores, target[:, None]), ValueError, "target must have the shape of"),
        ((scores, target, weight[:2]), ValueError, "sample_weight must have the shape"),
        ((scores, target, -weight), ValueError, "non-negative, got -1.0 at index 0"),
        ((scores, target, weight * math.nan), ValueError, "must be finite"),
        ((scores, target, 0 * weight), ValueError, "must have a positive entry"),
        ((scores[:0], target[:0]), ValueError, "scores must have at least one entry"),
        ((scores[None, None], target), ValueError, r"scores must have shape \(n_exam"),
        ((target, target), TypeError, "scores must be floating-point"),
        (([0.0], target), TypeError, "scores must be a tensor, got list"),
        ((scores, [0, 1, 0, 1]), TypeError, "target must be a tensor, got list"),
    ]
    for arguments, error, message in invalid:
        weighted = {"sample_weight": arguments[2]} if len(arguments) == 3 else {}
        with pytest.raises(error, match=message):
            loss(*arguments[:2], **weighted)


def test_invalid_settings_raise():
    scores, target = make_batch(4)
    bp = rp.ErrorBreakpoints.from_labels([0, 1])
    invalid = [
        (lambda: rt.AUMLoss(0.0), "positive_share must be in"),
        (lambda: rt.AUMLoss(0.5, margin=math.nan), "margin must be finite"),
        (lambda: rt.PairwiseSquaredHinge(margin=math.inf), "margin must be finite"),
        (lambda: rt.smoothed_auc_loss(scores, target, 0.0), "width must be positive"),
        (lambda: rt.smoothed_auc_loss(scores, target, max_fpr=1.5), "max_fpr must be in"),
        (lambda: rt.aum_loss(scores), "target or breakpoints must be given"),
        (lambda: rt.aum_loss(scores, target, breakpoints=bp), "target must not be"),
        (lambda: rt.aum_loss(scores, breakpoints=bp), "each of the 2 examples"),
        (
            lambda: rt.BinaryAUC().update(torch.tensor([math.nan]), torch.tensor([1])),
            "scores must be finite, got nan at index 0",
        ),
    ]
    for call, message in invalid:
        with pytest.raises(ValueError, match=message):
            call()


def test_options_for_labels_raise_with_breakpoints():
    bp = rp.ErrorBreakpoints.from_labels([0, 1])
    options = {"label_weight": torch.ones(1), "ignore_index": -1, "sample_weight": torch.ones(2)}
    for name, value in options.items():
        with pytest.raises(ValueError, match=f"{name} must not be given together with breakpoints"):
            rt.aum_loss(torch.zeros(2), breakpoints=bp, **{name: value})


def test_settings_of_the_wrong_type_raise():
    invalid = [
        (lambda: rt.AUMLoss("half"), "positive_share must be a number, got 'half'"),
        (lambda: rt.AUMLoss(label_weight=[1.0, 2.0]), "label_weight must be a tensor, got list"),
        (lambda: rt.PairwiseSquaredHinge("1"), "margin must be a number"),
        (lambda: rt.SmoothedAUCLoss(max_fpr="1"), "max_fpr must be a number"),
    ]
    for call, message in invalid:
        with pytest.raises(TypeError, match=message):
            call()


def test_an_integer_weight_equals_repeated_examples():
    scores, target = make_batch(6)
    weight = torch.tensor([1.0, 3.0, 2.0, 1.0, 1.0, 2.0])
    repeated = torch.arange(6).repeat_interleave(weight.long())
    for loss in (rt.aum_loss, rt.pairwise_squared_hinge, rt.smoothed_auc_loss):
        torch.testing.assert_close(
            loss(scores, target, sample_weight=weight), loss(scores[repeated], target[repeated])
        )


def test_the_number_of_threads_is_never_changed(monkeypatch):
    scores, target = make_batch()
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    found, is_done = [], threading.Event()

    def train():
        while not is_done.is_set():
            rt.aum_loss(scores, target).backward()

    workers = [threading.Thread(target=train) for _ in range(8)]
    try:
        for one in workers:
            one.start()
        # A new thread starts with the number that is set at that time.
        for _ in range(200):
            new = threading.Thread(target=lambda: found.append(torch.get_num_threads()))
            new.start()
            new.join()
        is_done.set()
        for one in workers:
            one.join()
        assert set(found) == {4}
        assert torch.get_num_threads() == 4
    finally:
        is_done.set()
        torch.set_num_threads(before)


def test_tensors_on_another_device_are_an_error():
    scores, target = make_batch()
    for name, columns in (
        ("target", (scores, target.to("meta"))),
        ("sample_weight", (scores, target, torch.ones_like(scores, device="meta"))),
    ):
        with pytest.raises(
            ValueError, match=f"{name} must be on the device of scores, cpu, got meta"
        ):
            rt.aum_loss(*columns[:2], sample_weight=columns[2] if len(columns) > 2 else None)
    with pytest.raises(ValueError, match="target must be on the device of scores"):
        rt.BinaryAUC().update(scores, target.to("meta"))


def test_the_positive_share_may_be_a_tensor(recwarn):
    scores, target = make_batch()
    share = target.float().mean()
    loss = rt.AUMLoss(share)
    assert loss(scores, target).item() == rt.AUMLoss(share.item())(scores, target).item()
    assert repr(loss).startswith(f"AUMLoss(positive_share={share.item()}")
    shares = rt.AUMLoss(torch.tensor([0.25, 0.5]))
    assert shares.threshold.shape == (2,)
    assert not recwarn


def test_importing_the_losses_imports_neither_the_compiler_nor_torchmetrics():
    import subprocess
    import sys

    code = (
        "import sys, torch, rocpath.torch as rt\n"
        "slow = {'torch._dynamo', 'torchmetrics'} & set(sys.modules)\n"
        "assert not slow, slow\n"
        "assert 'BinaryAUC' in rt.__all__ and rt.BinaryAUC().compute().isnan()"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def test_importing_the_package_does_not_import_torch():
    import subprocess
    import sys

    code = "import sys, rocpath; rocpath.AUCClassifier; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
