"""Operators of AUM: its value and gradient, by a selection or by sorting thresholds."""

# No postponed annotations here: torch reads the types of an operator at once.
import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from rocpath.breakpoints import ErrorBreakpoints
from rocpath.torch.batch import Batch, class_shares, single_thread

_N_BINS = 4096  # of the histogram of one round
_FEW = 8192  # thresholds that are sorted directly: another round would not be faster
_MAX_ROUNDS = 3  # then one bin is sorted, in which outliers may concentrate the thresholds


@torch.library.custom_op("rocpath::aum_of_labels", mutates_args=())
def aum_of_labels(
    score: Tensor, is_positive: Tensor, weight: Tensor | None, margin: float
) -> tuple[Tensor, Tensor]:
    """Compute AUM and its gradient along the last axis, in linear time."""
    with single_thread(score.device):
        if score.ndim == 1:
            return _aum_by_selection(score, is_positive, weight, margin)
        # Many small batches, of several labels or networks, take one sort.
        if score.shape[-1] <= _FEW:
            return _aum_of_rows(Batch(score, is_positive, weight), margin)
        rows = [
            aum_of_labels(score[k], is_positive[k], weight if weight is None else weight[k], margin)
            for k in range(score.shape[0])
        ]
        area, slope = zip(*rows, strict=True)
        return torch.stack(area), torch.stack(slope)


def _aum_by_selection(
    score: Tensor, is_positive: Tensor, weight: Tensor | None, margin: float
) -> tuple[Tensor, Tensor]:
    # In place from here on: allocating memory costs more than writing to it.
    threshold = torch.where(is_positive, score.new_tensor(margin), score.new_tensor(-margin)).sub_(
        score
    )
    low, high = (bound.item() for bound in threshold.aminmax())
    if not math.isfinite(high - low):
        return score.new_tensor(torch.nan), torch.full_like(score, torch.nan)
    share, total_positive = _share_of_class(is_positive, weight, score.dtype)
    # FP - FN grows by the share of each row and reaches 0 at the level.
    level = _find_level(threshold, share, total_positive, low, high)
    above = threshold.sub_(level)
    tied = (above == 0).nonzero().squeeze(1)
    share_tied, is_positive_tied = share[tied], is_positive[tied]
    # Below the level the negatives are errors, above it the positives.
    sign = (above < 0).view(torch.int8) - is_positive.view(torch.int8)
    slope = share.mul_(sign)
    # Σ fp max(0, c - T) + Σ tp max(0, T - c), where c is the level.
    area = -(slope @ above)
    total, size = slope.sum(), torch.linalg.vector_norm(slope, 1)
    tp = share_tied * is_positive_tied
    fp = share_tied - tp
    # Slopes are +fp below the level and -tp above it, so their sum and the sum of
    # their absolute values give FP and FN just before it.
    before = (0.5 * (size + total), 0.5 * (size - total))
    after = (before[0] + fp.sum(), before[1] - tp.sum())
    # The level is always on a line, whose share may be half a class.
    slope[tied] = _mean_change(before, after, fp, tp)
    return area, slope


@torch.library.custom_op("rocpath::aum_of_breakpoints", mutates_args=())
def aum_of_breakpoints(
    score: Tensor, value: Tensor, fp: Tensor, tp: Tensor, example: Tensor
) -> tuple[Tensor, Tensor]:
    """Compute AUM and its gradient for any errors, along the last axis, by sorting."""
    # Non-monotone errors may have many levels, which no single selection finds.
    with single_thread(score.device):
        area, slope = _aum_by_sorting(value - score[..., example], fp, tp)
        slope = torch.zeros_like(score).index_add_(-1, example, slope)
        return _nan_unless_finite(score, area, slope)


def _shapes(score: Tensor, *_: object) -> tuple[Tensor, Tensor]:
    return score.new_empty(score.shape[:-1]), torch.empty_like(score)


for _operator in (aum_of_labels, aum_of_breakpoints):
    _operator.register_fake(_shapes)


@aum_of_breakpoints.register_vmap
def _(info: Any, in_dims: Any, score: Tensor, *columns: Tensor) -> Any:
    return aum_of_breakpoints(score.movedim(in_dims[0], 0), *columns), (0, 0)


@aum_of_labels.register_vmap
def _(
    info: Any,
    in_dims: Any,
    score: Tensor,
    is_positive: Tensor,
    weight: Tensor | None,
    margin: float,
) -> Any:
    columns = [
        one.movedim(dim, 0) if dim is not None else one
        for one, dim in zip((score, is_positive, weight), in_dims[:3], strict=True)
        if one is not None
    ]
    shape = torch.broadcast_shapes(
        (info.batch_size, *[1] * (columns[0].ndim - 1)), *(one.shape for one in columns)
    )
    # All leading axes, of batches and of labels, become one.
    rows = [one.expand(shape).reshape(-1, shape[-1]) for one in columns]
    area, slope = aum_of_labels(*rows, *[None] * (weight is None), margin)
    return (area.reshape(shape[:-1]), slope.reshape(shape)), (0, 0)


def _aum_of_rows(batch: Batch, margin: float) -> tuple[Tensor, Tensor]:
    positive, negative = class_shares(batch)
    threshold = torch.where(batch.is_positive, margin, -margin) - batch.score
    # Several labels arrive transposed, which would slow down the search of ties.
    threshold = threshold.contiguous()
    return _nan_unless_finite(batch.score, *_aum_by_sorting(threshold, negative, positive))


def _nan_unless_finite(score: Tensor, area: Tensor, slope: Tensor) -> tuple[Tensor, Tensor]:
    is_finite = torch.isfinite(score).all(-1)
    area = torch.where(is_finite, area, torch.nan)
    return area, torch.where(is_finite[..., None], slope, torch.nan)


# Separate from the operators: torch.func does not support gradients that are
# registered with a custom operator.
class KnownGradient(torch.autograd.Function):
    """An area whose gradient is computed with it, and is piecewise constant."""

    generate_vmap_rule = True

    @staticmethod
    def forward(score: Tensor, area: Tensor, slope: Tensor) -> Tensor:
        """Return the area."""
        return area.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Keep the gradient."""
        ctx.save_for_backward(inputs[0], inputs[2])

    @staticmethod
    def backward(ctx: Any, *grad: Any) -> Any:
        """Return the gradient in the scores."""
        score, slope = ctx.saved_tensors
        # This makes second derivatives exist: they are zero.
        if torch.is_grad_enabled():
            slope = slope + 0.0 * score
        return grad[0][..., None] * slope, None, None


def breakpoint_tensors(
    bp: ErrorBreakpoints, score: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return values, jumps and examples of breakpoints, or raise."""
    if not isinstance(bp, ErrorBreakpoints):
        kind = type(bp).__name__
        raise TypeError(f"breakpoints must be ErrorBreakpoints, got {kind}.")
    if score.numel() != bp.n_examples:
        raise ValueError(
            f"scores must have one entry for each of the {bp.n_examples} examples of "
            f"breakpoints, got {score.numel()}."
        )
    value, fp, tp = (
        torch.tensor(column, dtype=score.dtype, device=score.device)
        for column in (bp.value, bp.fp_diff, 0.0 - bp.fn_diff)
    )
    return value, fp, tp, torch.tensor(bp.example, device=score.device)


def _share_of_class(
    is_positive: Tensor, weight: Tensor | None, dtype: torch.dtype
) -> tuple[Tensor, Tensor]:
    """Return each row's share in its own class, and the sum over the positives.

    If a class is absent, all shares are zero.
    """
    if weight is None:
        n_positive = is_positive.sum().to(dtype)
        n_negative = is_positive.numel() - n_positive
    else:
        n_positive = weight[is_positive].sum()
        n_negative = weight[~is_positive].sum()
    has_both = (n_positive > 0) & (n_negative > 0)
    scale = has_both.to(dtype)
    # One vector instead of the two of `class_shares` halves the memory traffic.
    share = torch.where(
        is_positive,
        scale / torch.where(has_both, n_positive, 1.0),
        scale / torch.where(has_both, n_negative, 1.0),
    )
    if weight is not None:
        share *= weight
    return share, scale


def _find_level(threshold: Tensor, jump: Tensor, enough: Tensor, low: float, high: float) -> Tensor:
    """Find the smallest threshold at which the cumulative jumps reach ``enough``.

    If the sums are equal, rounding may select a neighbor. AUM and its gradient are
    then the same, because min(FP, FN) is continuous in FP and FN.
    """
    # Each round continues in the bin where the sum is reached. It contains a 4096th of
    # evenly spread thresholds, so the first round dominates the cost.
    below = torch.zeros_like(enough)
    for _ in range(_MAX_ROUNDS):
        scale = _N_BINS / (high - low) if high > low else math.inf
        if threshold.numel() <= _FEW or not math.isfinite(scale):
            break
        bin_ = (threshold - low).mul_(scale).int().clamp_(0, _N_BINS - 1)
        sums = torch.zeros(_N_BINS, dtype=jump.dtype, device=jump.device)
        sums = below + sums.index_add_(0, bin_, jump).cumsum(0)
        found = int(torch.searchsorted(sums, enough).clamp_(max=_N_BINS - 1))
        if found > 0:
            below = sums[found - 1]
        inside = (bin_ == found).nonzero().squeeze(1)
        threshold, jump = threshold[inside], jump[inside]
        low, high = (bound.item() for bound in threshold.aminmax())
    ordered, order = threshold.sort()
    rank = torch.searchsorted(below + jump[order].cumsum(0), enough)
    # Rounding may leave the total slightly below ``enough``.
    return ordered[rank.clamp_(max=ordered.numel() - 1)]


def _aum_by_sorting(threshold: Tensor, fp: Tensor, tp: Tensor) -> tuple[Tensor, Tensor]:
    """Compute AUM and its slope in each line, along the last axis."""
    ordered, order = threshold.sort(dim=-1)
    fp, tp = (one.expand_as(order).gather(-1, order) for one in (fp, tp))
    fp_sum = functional.pad(fp.cumsum(-1), (1, 0))
    tp_sum = functional.pad(tp.cumsum(-1), (1, 0))
    fn_sum = tp_sum[..., -1:] - tp_sum
    # The paper's sum (AUM_init): M_b over the gap between neighboring thresholds.
    area = (torch.minimum(fp_sum, fn_sum)[..., 1:-1] * ordered.diff(dim=-1)).sum(-1)
    # Tied lines form one group: sums before its first line and after its last one.
    before, after = (
        (fp_sum.gather(-1, place), fn_sum.gather(-1, place))
        for right in (False, True)
        for place in [torch.searchsorted(ordered, ordered, right=right)]
    )
    slope = _mean_change(before, after, fp, tp)
    return area, torch.zeros_like(slope).scatter(-1, order, slope)


def _mean_change(
    before: tuple[Tensor, Tensor], after: tuple[Tensor, Tensor], fp: Tensor, tp: Tensor
) -> Tensor:
    """Return the change of min(FP, FN) at one line of a tied group.

    The line leaves the group downward if its prediction grows and upward if it
    shrinks; the result is the mean of both changes.
    """
    right = torch.minimum(before[0] + fp, before[1] - tp) - torch.minimum(*before)
    left = torch.minimum(*after) - torch.minimum(after[0] - fp, after[1] + tp)
    return 0.5 * (left + right)
