"""AUM loss: exact for each batch, or a mean over examples at a learned threshold.

For monotone errors, AUM is a minimum over the threshold c,

    AUM = min over c of  Σ fp_b max(0, c − T_b) + Σ tp_b max(0, T_b − c),

attained at a weighted quantile of the thresholds T_b, called the level. On a CPU, the core
finds it in linear time; other devices sort the thresholds. With c as a parameter, the sum
is a loss whose gradient is unbiased for any batch.
"""

# Annotations are not postponed, because torch inspects the types of an operator when it is
# defined.
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

import rocpath._core as _core
from rocpath.search.breakpoints import ErrorBreakpoints
from rocpath.search.roc import aum, aum_gradient
from rocpath.torch.batch import (
    Batch,
    LabelLoss,
    LabelOptions,
    Reduction,
    checked_scores,
    class_shares,
    like_scores,
    loss_of_labels,
    nan_unless_finite,
)
from rocpath.validation import LARGEST_VALUE, check_count, finite_number, share_between

_FEW_ROWS = 8192  # with more rows, a loop over labels is faster than sorting all at once


def aum_loss(
    scores: Tensor,
    target: Tensor | None = None,
    *,
    margin: float = 1.0,
    sample_weight: Tensor | None = None,
    breakpoints: ErrorBreakpoints | None = None,
    label_weight: Tensor | None = None,
    ignore_index: int | None = None,
    reduction: Reduction = "mean",
) -> Tensor:
    """Compute the AUM of a batch.

    The gradient is the mean of the two one-sided derivatives. Value and gradient equal
    those of :func:`rocpath.aum` and :func:`rocpath.aum_gradient`, even for ties. A
    single label on a CPU takes linear time. With several labels or on other devices,
    thresholds (breakpoint minus score) may be rounded, which may create ties.

    Parameters
    ----------
    scores : Tensor, shape (n_examples,) or (n_examples, n_labels)
        Predictions.
    target : Tensor of the shape of scores, optional
        Labels 0 and 1, of any dtype. A batch of one class has loss 0 and gradient 0.
    margin : float
        Position of the breakpoints of labels: +margin for positives and -margin for
        negatives. With 0, the loss has a trivial minimum, where all scores are equal.
    sample_weight : Tensor of the shape of scores or (n_examples,), optional
        Weight of each example within its class.
    breakpoints : ErrorBreakpoints, optional
        Error functions to use instead of labels, for example those of changepoint
        penalties.
    label_weight : Tensor, shape (n_labels,), optional
        Weights of the labels in the reduction; equal by default.
    ignore_index : int, optional
        Target value of entries that are ignored, for example -1 for missing labels.
    reduction : {"mean", "sum", "none"}
        Reduction over the labels that have both classes in the batch; ``"none"``
        returns one loss per label. It has no effect on a single label.

    Returns
    -------
    Tensor, shape () or (n_labels,)
        Loss, in the dtype of the scores, but at least float32.

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
    options = LabelOptions(label_weight, ignore_index, reduction)
    if breakpoints is None:
        if target is None:
            raise ValueError("target or breakpoints must be given, got neither.")
        margin = finite_number("margin", margin)

        def compute(batch: Batch) -> Tensor:
            known = aum_of_labels(batch.score.detach(), *batch[1:3], margin)
            return KnownGradient.apply(batch.score, *known)

        return loss_of_labels(compute, scores, target, sample_weight, options)
    names = ("target", "sample_weight", "label_weight", "ignore_index")
    for name, given in zip(names, (target, sample_weight, *options[:2]), strict=True):
        if given is not None:
            raise ValueError(f"{name} must not be given together with breakpoints.")
    score = checked_scores(scores)
    if score.ndim > 1:
        raise ValueError(
            f"scores must have one column with breakpoints, got shape {tuple(scores.shape)}."
        )
    known = aum_of_breakpoints(score.detach(), breakpoints)
    return like_scores(KnownGradient.apply(score, *known), scores)


class AUMLoss(LabelLoss):
    """AUM loss as a module: exact for each batch, or with a learned threshold.

    With ``positive_share``, the loss of a batch is a mean over its examples: a
    class-balanced hinge loss at a threshold that is learned with the network. Its
    gradient is unbiased for any batch, even of one class or one example, and its mean
    over all examples, minimized over the threshold, is AUM. Pass ``loss.parameters()``
    to the optimizer together with the parameters of the network. (If the last layer
    of the network has a bias, the bias learns the same threshold.)

    Parameters
    ----------
    positive_share : float, sequence of float or Tensor, optional
        Share of positives in the training set: one value, or one for each label. By
        default, the loss is :func:`aum_loss` of each batch and has no parameters.
    margin : float
        Position of the breakpoints, as in :func:`aum_loss`.
    label_weight, ignore_index, reduction
        Same as for :func:`aum_loss`. With ``positive_share``, the reduction is over all
        labels with an entry in the batch.

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

    margin: float
    _share: Tensor

    def __init__(
        self,
        positive_share: float | Sequence[float] | Tensor | None = None,
        margin: float = 1.0,
        *,
        label_weight: Tensor | None = None,
        ignore_index: int | None = None,
        reduction: Reduction = "mean",
    ) -> None:
        options = LabelOptions(label_weight, ignore_index, reduction)
        super().__init__(aum_loss, options, margin=margin)
        self.positive_share: float | Sequence[float] | None = None
        if positive_share is not None:
            if isinstance(positive_share, Tensor):
                positive_share = positive_share.tolist()
            for share_of_label in np.ravel(positive_share).tolist():
                share_between("positive_share", share_of_label)
            self.positive_share = positive_share
            share = torch.tensor(positive_share, dtype=torch.float64)
            self.register_buffer("_share", share, persistent=False)
            # There is one threshold for each label, or one that all labels share.
            self.threshold = nn.Parameter(torch.zeros(share.shape))

    def forward(
        self, scores: Tensor, target: Tensor, sample_weight: Tensor | None = None
    ) -> Tensor:
        """Compute the loss of a batch."""
        if self.positive_share is None:
            return super().forward(scores, target, sample_weight)
        options = LabelOptions(self.label_weight, self.ignore_index, self.reduction)
        return loss_of_labels(
            self._each_label, scores, target, sample_weight, options, _has_entries
        )

    def _each_label(self, batch: Batch) -> Tensor:
        """Return the loss of each label at the current threshold."""
        score, is_positive, weight, _ = batch
        n_labels = len(score) if score.ndim == 2 else 1
        if self.threshold.numel() not in (1, n_labels):
            raise ValueError(
                f"scores must have {self.threshold.numel()} columns, one for each entry of "
                f"positive_share, got {n_labels}."
            )
        shape = (-1, 1) if score.ndim == 2 else ()
        share, threshold = self._share.to(score.dtype).reshape(shape), self.threshold.reshape(shape)
        # A positive misses the margin by T - c, a negative by c - T.
        sign = torch.where(is_positive, 1.0, -1.0)
        shortfall = torch.relu(self.margin - sign * (score + threshold))
        each = torch.where(is_positive, shortfall / share, shortfall / (1 - share))
        if weight is not None:
            each = each * weight
        loss = each.sum(-1) / _n_counted(batch).clamp(min=1.0)
        return nan_unless_finite(loss, score)

    def extra_repr(self) -> str:
        """Describe the settings."""
        return f"positive_share={self.positive_share}, " + super().extra_repr()


def _has_entries(batch: Batch) -> Tensor:
    """Return whether each label has entries that are not ignored."""
    return _n_counted(batch) > 0


def _n_counted(batch: Batch) -> Tensor:
    """Return the number of entries of each label that are not ignored."""
    if batch.is_ignored is None:
        return torch.full_like(batch.score[..., 0], batch.score.shape[-1])
    return (~batch.is_ignored).sum(-1).to(batch.score.dtype)


@torch.library.custom_op("rocpath::aum_of_labels", mutates_args=())
def aum_of_labels(
    score: Tensor, is_positive: Tensor, weight: Tensor | None, margin: float
) -> tuple[Tensor, Tensor]:
    """Compute AUM and its gradient along the last axis, in linear time on a CPU."""
    batch = Batch(score, is_positive, weight)
    if score.device.type == "cpu" and (score.ndim == 1 or score.shape[-1] > _FEW_ROWS):
        # The core and NumPy run on one thread, for the reason given in `checked_labels`.
        values = score.numpy()
        # NaN fails this comparison too.
        if max(-values.min(), values.max()) < 0.1 * LARGEST_VALUE:
            return _aum_by_core(batch, margin)
    # Many small batches, from several labels or networks, share one sort.
    positive, negative = class_shares(batch)
    # Scores of several labels are transposed, which would slow down the search for ties.
    threshold = (torch.where(is_positive, margin, -margin) - score).contiguous()
    area, slope = _aum_by_sorting(threshold, negative, positive)
    is_finite = torch.isfinite(score).all(-1)
    slope = torch.where(is_finite[..., None], slope, torch.nan)
    return torch.where(is_finite, area, torch.nan), slope


def _aum_by_core(batch: Batch, margin: float) -> tuple[Tensor, Tensor]:
    score = batch.score.numpy()
    is_positive = batch.is_positive.numpy()
    weight = None if batch.weight is None else batch.weight.numpy()
    if score.ndim == 1:
        area, slope = _label_aum(score, is_positive, weight, margin)
        # The core returns arrays that must not be written to.
        return torch.tensor(area, dtype=torch.float64), torch.tensor(slope)
    weights = [None] * len(score) if weight is None else weight
    labels = zip(score, is_positive, weights, strict=True)  # type: ignore[arg-type]
    areas, slopes = zip(*(_label_aum(*label, margin) for label in labels), strict=True)
    return torch.tensor(areas, dtype=torch.float64), torch.from_numpy(np.stack(slopes))


def _label_aum(score: Any, is_positive: Any, weight: Any, margin: float) -> tuple[float, Any]:
    """Compute AUM and its gradient for one label."""
    score = np.ascontiguousarray(score)
    sides = ~is_positive, is_positive
    if weight is None:
        fp, tp = (one.astype(np.int64) for one in sides)
    else:
        fp, tp = (_core.in_units(np.where(one, weight, 0.0))[0] for one in sides)
    total_fp = float(fp.sum())
    total_tp = float(tp.sum())
    if total_fp == 0 or total_tp == 0:
        return 0.0, np.zeros_like(score)
    # Counts of rows are compared exactly, as fractions; units of weights may be too large.
    rates = (total_tp, total_fp, total_fp * total_tp)
    if weight is not None:
        rates = (1.0 / total_fp, 1.0 / total_tp, 1.0)
    value = np.where(is_positive, margin, -margin)
    bp = _core.Breakpoints(value, np.arange(score.size), fp, tp, *rates, True)
    return _core.aum(bp, score), _core.aum_gradient(bp, score)


def aum_of_breakpoints(score: Tensor, bp: ErrorBreakpoints) -> tuple[Tensor, Tensor]:
    """Validate breakpoints, and compute AUM and its gradient with the core."""
    if torch.compiler.is_compiling():
        # Not used as a decorator, which would import the compiler.
        return torch.compiler.disable(_aum_of_breakpoints)(score, bp)
    return _aum_of_breakpoints(score, bp)


def _aum_of_breakpoints(score: Tensor, bp: ErrorBreakpoints) -> tuple[Tensor, Tensor]:
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


# The gradient is defined separately, because torch.func does not support gradients that
# are registered with a custom operator.
class KnownGradient(torch.autograd.Function):
    """Autograd function for an area with a precomputed, piecewise constant gradient."""

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
        # The sum depends on the scores, so that second derivatives are defined; they are 0.
        if torch.is_grad_enabled():
            slope = slope + 0.0 * score
        return grad[0][..., None] * slope, None, None


def _aum_by_sorting(threshold: Tensor, fp: Tensor, tp: Tensor) -> tuple[Tensor, Tensor]:
    """Compute AUM and its derivative with respect to each prediction, along the last axis."""
    ordered, order = threshold.sort(dim=-1)
    fp, tp = (one.expand_as(order).gather(-1, order) for one in (fp, tp))
    fp_sum = functional.pad(fp.cumsum(-1), (1, 0))
    tp_sum = functional.pad(tp.cumsum(-1), (1, 0))
    fn_sum = tp_sum[..., -1:] - tp_sum
    # The paper's sum (AUM_init): M_b times the gap between neighboring thresholds.
    area = (torch.minimum(fp_sum, fn_sum)[..., 1:-1] * ordered.diff(dim=-1)).sum(-1)
    # Tied lines form one group. A line moves below its group if its prediction increases,
    # and above it if its prediction decreases. The derivative is the mean of both changes
    # of min(FP, FN).
    changes = []
    for is_above, sign in ((False, 1.0), (True, -1.0)):
        index = torch.searchsorted(ordered, ordered, right=is_above)
        fp_there, fn_there = fp_sum.gather(-1, index), fn_sum.gather(-1, index)
        moved = torch.minimum(fp_there + sign * fp, fn_there - sign * tp)
        changes.append(sign * (moved - torch.minimum(fp_there, fn_there)))
    slope = 0.5 * (changes[0] + changes[1])
    return area, torch.zeros_like(slope).scatter(-1, order, slope)
