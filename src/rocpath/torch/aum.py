"""AUM as a loss: of a batch, exactly, or as a plain sum over all batches.

For monotone errors AUM is a minimum over the threshold c,

    AUM = min over c of  Σ fp_b max(0, c − T_b) + Σ tp_b max(0, T_b − c),

reached at the level, a weighted quantile of the thresholds T_b. Counting thresholds by
cells finds it in linear time on any device. With c as a parameter the sum is a loss
whose gradient is unbiased for any batch.
"""

# No postponed annotations here: torch reads the types of an operator at once.
import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from rocpath.arguments import finite_number
from rocpath.breakpoints import ErrorBreakpoints
from rocpath.torch.batch import (
    Batch,
    checked_batch,
    checked_scores,
    class_shares,
    each_of_a_batch,
    like_scores,
    nan_unless_finite,
)

_CELLS = 4096  # that one round sorts thresholds into
_FEW = 8192  # thresholds that are sorted at once: another round would not be quicker
_MOST_ROUNDS = 3  # before sorting what outliers keep in one cell


def aum_loss(
    scores: Tensor,
    target: Tensor | None = None,
    *,
    margin: float = 1.0,
    sample_weight: Tensor | None = None,
    breakpoints: ErrorBreakpoints | None = None,
) -> Tensor:
    """Compute the AUM of a batch, with the mean of its one-sided derivatives.

    Value and gradient are those of :func:`rocpath.aum` and
    :func:`rocpath.aum_gradient`, ties included. For labels it takes linear time.

    Parameters
    ----------
    scores : Tensor, shape (n_examples,) or (n_examples, 1)
        Predictions.
    target : Tensor of the shape of scores, optional
        Labels 0 and 1, of any type. A batch of one class has loss 0 and gradient 0.
    margin : float
        Breakpoints of labels stand at +margin for positives and -margin for
        negatives. With 0 the loss has a trivial minimum, all scores equal.
    sample_weight : Tensor of the shape of scores, optional
        How much each example counts within its class.
    breakpoints : ErrorBreakpoints, optional
        Error functions in place of labels, of changepoint penalties for example.

    Returns
    -------
    Tensor, shape ()
        Of the type of the scores, or float32 for shorter ones.

    Examples
    --------
    >>> import torch
    >>> from rocpath.torch import aum_loss
    >>> scores = torch.tensor([-7.0, -2.0, 0.0, -4.0], requires_grad=True)
    >>> loss = aum_loss(scores, torch.tensor([0, 0, 1, 1]), margin=0.0)
    >>> loss.backward()
    >>> loss.item(), scores.grad
    (1.0, tensor([ 0.0000,  0.5000,  0.0000, -0.5000]))
    """
    if breakpoints is None:
        if target is None:
            raise ValueError("target or breakpoints must be given, got neither.")
        batch = checked_batch(scores, target, sample_weight)
        margin = finite_number("margin", margin)
        parts = aum_of_labels(batch.score.detach(), *batch[1:], margin)
        return like_scores(_Known.apply(batch.score, *parts), scores)
    for name, given in (("target", target), ("sample_weight", sample_weight)):
        if given is not None:
            raise ValueError(f"{name} must not be given together with breakpoints.")
    score = checked_scores(scores)
    columns = _breakpoint_tensors(breakpoints, score)
    parts = aum_of_breakpoints(score.detach(), *columns)
    return like_scores(_Known.apply(score, *parts), scores)


class AUMLoss(nn.Module):
    """AUM as a module: with its threshold as a parameter, or of each batch.

    Given the share of positives, the loss of a batch is a mean over its examples, a
    class-balanced hinge loss at a threshold that is learned with the network. Its
    gradient is unbiased for any batch, of one class or a single example too; the sum
    over all batches, minimized over the threshold, is AUM. Give
    ``loss.parameters()`` to the optimizer together with those of the network. (A
    network with a bias in its last layer learns the same without.)

    Parameters
    ----------
    positive_share : float, optional
        Share of positives among the examples that batches are drawn from. Without it
        the loss is :func:`aum_loss` of each batch, and there is no parameter.
    margin : float
        As in :func:`aum_loss`.

    Examples
    --------
    >>> import torch
    >>> from rocpath.torch import AUMLoss
    >>> loss = AUMLoss(positive_share=0.25)
    >>> loss(torch.tensor([0.5, -3.0]), torch.tensor([1, 0])).item()
    1.0
    >>> [name for name, _ in loss.named_parameters()]
    ['threshold']
    """

    def __init__(
        self, positive_share: float | None = None, margin: float = 1.0
    ) -> None:
        super().__init__()
        self.margin = finite_number("margin", margin)
        self.positive_share = None
        if positive_share is not None:
            share = finite_number("positive_share", float(positive_share))
            if not 0 < share < 1:
                raise ValueError(
                    f"positive_share must be between 0 and 1, got {share}."
                )
            self.positive_share = share
            self.threshold = nn.Parameter(torch.zeros(()))

    def forward(
        self, scores: Tensor, target: Tensor, sample_weight: Tensor | None = None
    ) -> Tensor:
        """Compute the loss of a batch."""
        if self.positive_share is None:
            return aum_loss(
                scores, target, margin=self.margin, sample_weight=sample_weight
            )
        score, is_positive, weight = checked_batch(scores, target, sample_weight)
        # A positive falls short of the margin by T - c, a negative by c - T.
        sign = torch.where(is_positive, 1.0, -1.0)
        short = torch.relu(self.margin - sign * (score + self.threshold))
        share = self.positive_share
        each = torch.where(is_positive, short / share, short / (1 - share))
        if weight is not None:
            each = each * weight
        return like_scores(nan_unless_finite(each.mean(), score), scores)

    def extra_repr(self) -> str:
        """Describe the settings."""
        return f"positive_share={self.positive_share}, margin={self.margin}"


@torch.library.custom_op("rocpath::aum_of_labels", mutates_args=())
def aum_of_labels(
    score: Tensor, is_positive: Tensor, weight: Tensor | None, margin: float
) -> tuple[Tensor, Tensor]:
    """Compute AUM and its gradient by a selection, in linear time."""
    # In place from here on: new memory costs more than what is written to it.
    threshold = torch.where(
        is_positive, score.new_tensor(margin), score.new_tensor(-margin)
    ).sub_(score)
    low, high = (bound.item() for bound in threshold.aminmax())
    if not math.isfinite(high - low):
        return _unknown(score)
    share, of_positives = _share_of_class(is_positive, weight, score.dtype)
    # FP - FN, which grows by the share of each row, reaches 0 after the level.
    level = _find_level(threshold, share, of_positives, low, high)
    above = threshold.sub_(level)
    tied = (above == 0).nonzero().squeeze(1)
    share_tied, is_positive_tied = share[tied], is_positive[tied]
    # Below the level the negatives are errors, above it the positives.
    sign = (above < 0).view(torch.int8) - is_positive.view(torch.int8)
    slope = share.mul_(sign)
    # Σ fp max(0, c - T) + Σ tp max(0, T - c), with c the level: each row by its
    # distance.
    area = -(slope @ above)
    total, size = slope.sum(), torch.linalg.vector_norm(slope, 1)
    tp = share_tied * is_positive_tied
    fp = share_tied - tp
    # Slopes are +fp below the level and -tp above it, so that their sum and the sum of
    # their sizes give FP and FN just before it.
    before = (0.5 * (size + total), 0.5 * (size - total))
    after = (before[0] + fp.sum(), before[1] - tp.sum())
    # The level always stands on a line, and its share may be half a class.
    slope[tied] = _mean_change(before, after, fp, tp)
    return area, slope


@torch.library.custom_op("rocpath::aum_of_breakpoints", mutates_args=())
def aum_of_breakpoints(
    score: Tensor, value: Tensor, fp: Tensor, tp: Tensor, example: Tensor
) -> tuple[Tensor, Tensor]:
    """Compute AUM and its gradient for any errors, by sorting thresholds."""
    # Errors that are not monotone may have many levels: no selection finds them all.
    if not bool(torch.isfinite(score).all()):
        return _unknown(score)
    area, slope = _aum_by_sorting(value - score[example], fp, tp)
    return area, torch.zeros_like(score).index_add_(0, example, slope)


def _shapes(score: Tensor, *_: object) -> tuple[Tensor, Tensor]:
    return score.new_empty(()), torch.empty_like(score)


for _operator in (aum_of_labels, aum_of_breakpoints):
    _operator.register_fake(_shapes)
aum_of_breakpoints.register_vmap(each_of_a_batch(aum_of_breakpoints))


@aum_of_labels.register_vmap
def _(
    info: Any,
    in_dims: Any,
    score: Tensor,
    is_positive: Tensor,
    weight: Tensor | None,
    margin: float,
) -> Any:
    # Stacked networks have many small batches: sorted together they cost one call.
    columns = [
        one.movedim(dim, 0) if dim is not None else one
        for one, dim in zip((score, is_positive, weight), in_dims[:3], strict=True)
        if one is not None
    ]
    shape = (info.batch_size, columns[0].shape[-1])
    batch = Batch(*(one.expand(shape) for one in columns), *[None] * (weight is None))
    positive, negative = class_shares(batch)
    threshold = torch.where(batch.is_positive, margin, -margin) - batch.score
    area, slope = _aum_by_sorting(threshold, negative, positive)
    is_known = torch.isfinite(batch.score).all(-1)
    area = torch.where(is_known, area, torch.nan)
    return (area, torch.where(is_known[:, None], slope, torch.nan)), (0, 0)


# Apart from the operators: gradients that are registered with one are not known to
# torch.func.
class _Known(torch.autograd.Function):
    """An area whose slope in the scores is known, and piecewise constant."""

    generate_vmap_rule = True

    @staticmethod
    def forward(score: Tensor, area: Tensor, slope: Tensor) -> Tensor:
        return area.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[2])

    @staticmethod
    def backward(ctx: Any, *grad: Any) -> Any:
        (slope,) = ctx.saved_tensors
        return grad[0] * slope, None, None


def _unknown(score: Tensor) -> tuple[Tensor, Tensor]:
    nan = torch.full_like(score, torch.nan)
    return nan.sum(), nan


def _breakpoint_tensors(
    bp: ErrorBreakpoints, score: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    if not isinstance(bp, ErrorBreakpoints):
        kind = type(bp).__name__
        raise TypeError(f"breakpoints must be ErrorBreakpoints, got {kind}.")
    if score.numel() != bp.n_examples:
        raise ValueError(
            f"scores must have an entry for each of the {bp.n_examples} examples of "
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
    """Return each row's share in its own class, and the sum of the positives'.

    Without one of the classes all are zero.
    """
    if weight is None:
        of_positives = is_positive.sum().to(dtype)
        of_negatives = is_positive.numel() - of_positives
    else:
        of_positives = weight[is_positive].sum()
        of_negatives = weight[~is_positive].sum()
    has_both = (of_positives > 0) & (of_negatives > 0)
    scale = has_both.to(dtype)
    # One vector, each row's own class: half of what `class_shares` reads and writes.
    share = torch.where(
        is_positive,
        scale / torch.where(has_both, of_positives, 1.0),
        scale / torch.where(has_both, of_negatives, 1.0),
    )
    if weight is not None:
        share *= weight
    return share, scale


def _find_level(
    threshold: Tensor, jump: Tensor, enough: Tensor, low: float, high: float
) -> Tensor:
    """Find the smallest threshold up to which the jumps sum to enough.

    Rounding of the sums may choose a neighbor where they are equal; both then give
    the same AUM and gradient, for min(FP, FN) is continuous in FP and FN.
    """
    # A round counts by cells, and goes on within the one where the sum is reached: of
    # evenly spread thresholds a 4096th, so that the first round is all the work.
    below = torch.zeros_like(enough)
    for _ in range(_MOST_ROUNDS):
        scale = _CELLS / (high - low) if high > low else math.inf
        if threshold.numel() <= _FEW or not math.isfinite(scale):
            break
        cell = (threshold - low).mul_(scale).int().clamp_(0, _CELLS - 1)
        sums = torch.zeros(_CELLS, dtype=jump.dtype, device=jump.device)
        sums = below + sums.index_add_(0, cell, jump).cumsum(0)
        found = int(torch.searchsorted(sums, enough).clamp_(max=_CELLS - 1))
        if found > 0:
            below = sums[found - 1]
        inside = (cell == found).nonzero().squeeze(1)
        threshold, jump = threshold[inside], jump[inside]
        low, high = (bound.item() for bound in threshold.aminmax())
    ordered, order = threshold.sort()
    rank = torch.searchsorted(below + jump[order].cumsum(0), enough)
    # Rounding may leave the whole sum a little short of enough.
    return ordered[rank.clamp_(max=ordered.numel() - 1)]


def _aum_by_sorting(threshold: Tensor, fp: Tensor, tp: Tensor) -> tuple[Tensor, Tensor]:
    """Compute AUM and its slope in each line, of vectors or of rows."""
    ordered, order = threshold.sort(dim=-1)
    fp, tp = fp.gather(-1, order), tp.gather(-1, order)
    fp_sum = functional.pad(fp.cumsum(-1), (1, 0))
    tp_sum = functional.pad(tp.cumsum(-1), (1, 0))
    fn_sum = tp_sum[..., -1:] - tp_sum
    # The paper's sum (AUM_init): M_b over the gap between neighboring thresholds.
    area = (torch.minimum(fp_sum, fn_sum)[..., 1:-1] * ordered.diff(dim=-1)).sum(-1)
    # Tied lines are one group: the sums before its first and after its last.
    before, after = (
        (fp_sum.gather(-1, place), fn_sum.gather(-1, place))
        for right in (False, True)
        for place in [torch.searchsorted(ordered, ordered, right=right)]
    )
    slope = _mean_change(before, after, fp, tp)
    return area, torch.zeros_like(slope).scatter(-1, order, slope)


def _mean_change(
    before: tuple[Tensor, Tensor],
    after: tuple[Tensor, Tensor],
    fp: Tensor,
    tp: Tensor,
) -> Tensor:
    """Return by how much one line of a tied group changes min(FP, FN).

    It leaves the group below when its prediction grows, above when it shrinks; the
    result is the mean of both.
    """
    right = torch.minimum(before[0] + fp, before[1] - tp) - torch.minimum(*before)
    left = torch.minimum(*after) - torch.minimum(after[0] - fp, after[1] + tp)
    return 0.5 * (left + right)
