"""Operators for the value and gradient of AUM, by the core or by sorting thresholds."""

# No postponed annotations here: torch inspects the types of an operator when it is defined.
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

import rocpath._core as _core
from rocpath.arguments import LARGEST_VALUE, check_count
from rocpath.breakpoints import ErrorBreakpoints
from rocpath.roc import aum, aum_gradient
from rocpath.torch.batch import Batch, class_shares, single_thread

_FEW = 8192  # number of rows up to which sorting all labels at once beats a loop over labels


@torch.library.custom_op("rocpath::aum_of_labels", mutates_args=())
def aum_of_labels(
    score: Tensor, is_positive: Tensor, weight: Tensor | None, margin: float
) -> tuple[Tensor, Tensor]:
    """Compute AUM and its gradient along the last axis, in linear time on a CPU."""
    batch = Batch(score, is_positive, weight)
    with single_thread(score.device):
        # NaN fails this comparison too.
        is_supported = score.device.type == "cpu" and bool(score.abs().max() < 0.1 * LARGEST_VALUE)
        if is_supported and score.ndim == 1:
            return _aum_by_core(batch, margin)
        if is_supported and score.shape[-1] > _FEW:
            weights = [None] * len(score) if weight is None else weight
            labels = map(Batch, score, is_positive, weights)
            areas, slopes = zip(*(_aum_by_core(one, margin) for one in labels), strict=True)
            return torch.stack(areas), torch.stack(slopes)
        # Many small batches, of several labels or networks, share one sort.
        positive, negative = class_shares(batch)
        # Several labels arrive transposed, which would slow down the search for ties.
        threshold = (torch.where(is_positive, margin, -margin) - score).contiguous()
        area, slope = _aum_by_sorting(threshold, negative, positive)
        is_finite = torch.isfinite(score).all(-1)
        slope = torch.where(is_finite[..., None], slope, torch.nan)
        return torch.where(is_finite, area, torch.nan), slope


def _aum_by_core(batch: Batch, margin: float) -> tuple[Tensor, Tensor]:
    is_positive, score = batch.is_positive.numpy(), np.ascontiguousarray(batch.score.numpy())
    if batch.weight is None:
        fp, tp = (one.astype(np.int64) for one in (~is_positive, is_positive))
    else:
        weight = batch.weight.numpy()
        fp, tp = (
            _core.in_units(np.where(one, weight, 0.0))[0] for one in (~is_positive, is_positive)
        )
    total_fp, total_tp = float(fp.sum()), float(tp.sum())
    if total_fp == 0 or total_tp == 0:
        return batch.score.new_zeros(()), torch.zeros_like(batch.score)
    # Counts of rows are compared exactly, as fractions; units of weights may be too large.
    rates = (total_tp, total_fp, total_fp * total_tp)
    if batch.weight is not None:
        rates = (1.0 / total_fp, 1.0 / total_tp, 1.0)
    value, example = np.where(is_positive, margin, -margin), np.arange(score.size)
    bp = _core.Breakpoints(value, example, fp, tp, *rates, True)
    slope = torch.tensor(_core.aum_gradient(bp, score))
    return torch.tensor(_core.aum(bp, score), dtype=torch.float64), slope


@torch.compiler.disable
def aum_of_breakpoints(score: Tensor, bp: ErrorBreakpoints) -> tuple[Tensor, Tensor]:
    """Validate breakpoints, and compute AUM and its gradient with the core."""
    if not isinstance(bp, ErrorBreakpoints):
        raise TypeError(f"breakpoints must be ErrorBreakpoints, got {type(bp).__name__}.")
    check_count(
        "scores must have one entry", score.numel(), bp.n_examples, "examples of breakpoints"
    )
    if not bool(torch.isfinite(score).all()):
        return score.new_tensor(torch.nan), torch.full_like(score, torch.nan)
    prediction = score.cpu().double().numpy()
    return score.new_tensor(aum(bp, prediction)), score.new_tensor(aum_gradient(bp, prediction))


@aum_of_labels.register_fake
def _(score: Tensor, *_: object) -> tuple[Tensor, Tensor]:
    return score.new_empty(score.shape[:-1]), torch.empty_like(score)


@aum_of_labels.register_vmap
def _(info: Any, in_dims: Any, *arguments: Any) -> Any:
    *columns, margin = arguments
    moved = [
        one if dim is None else one.movedim(dim, 0)
        for one, dim in zip(columns, in_dims[:3], strict=True)
    ]
    shape = torch.broadcast_shapes(
        (info.batch_size, *[1] * (moved[0].ndim - 1)),
        *(one.shape for one in moved if one is not None),
    )
    # Merge all leading axes, of batches and of labels, into one.
    rows = [None if one is None else one.expand(shape).reshape(-1, shape[-1]) for one in moved]
    area, slope = aum_of_labels(*rows, margin)
    return (area.reshape(shape[:-1]), slope.reshape(shape)), (0, 0)


# Separate from the operators: torch.func does not support gradients that are
# registered with a custom operator.
class KnownGradient(torch.autograd.Function):
    """Autograd function of an area with a precomputed, piecewise constant gradient."""

    generate_vmap_rule = True

    @staticmethod
    def forward(score: Tensor, area: Tensor, slope: Tensor) -> Tensor:
        """Return the area."""
        return area.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Save the gradient."""
        ctx.save_for_backward(inputs[0], inputs[2])

    @staticmethod
    def backward(ctx: Any, *grad: Any) -> Any:
        """Return the gradient with respect to the scores."""
        score, slope = ctx.saved_tensors
        # This defines second derivatives, which are zero.
        if torch.is_grad_enabled():
            slope = slope + 0.0 * score
        with single_thread(slope.device):
            return grad[0][..., None] * slope, None, None


def _aum_by_sorting(threshold: Tensor, fp: Tensor, tp: Tensor) -> tuple[Tensor, Tensor]:
    """Compute AUM and its derivative in each prediction, along the last axis."""
    ordered, order = threshold.sort(dim=-1)
    fp, tp = (one.expand_as(order).gather(-1, order) for one in (fp, tp))
    fp_sum = functional.pad(fp.cumsum(-1), (1, 0))
    tp_sum = functional.pad(tp.cumsum(-1), (1, 0))
    fn_sum = tp_sum[..., -1:] - tp_sum
    # The paper's sum (AUM_init): M_b times the gap between neighboring thresholds.
    area = (torch.minimum(fp_sum, fn_sum)[..., 1:-1] * ordered.diff(dim=-1)).sum(-1)
    # Tied lines form one group. A line moves below its group if its prediction increases,
    # and above it if its prediction decreases; take the mean of both changes of min(FP, FN).
    changes = []
    for is_above, sign in ((False, 1.0), (True, -1.0)):
        place = torch.searchsorted(ordered, ordered, right=is_above)
        fp_there, fn_there = fp_sum.gather(-1, place), fn_sum.gather(-1, place)
        moved = torch.minimum(fp_there + sign * fp, fn_there - sign * tp)
        changes.append(sign * (moved - torch.minimum(fp_there, fn_there)))
    slope = 0.5 * (changes[0] + changes[1])
    return area, torch.zeros_like(slope).scatter(-1, order, slope)
