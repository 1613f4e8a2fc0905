"""The AUM loss: exact for each batch, or a sum over examples at a learned threshold.

For monotone errors AUM is a minimum over the threshold c,

    AUM = min over c of  Σ fp_b max(0, c − T_b) + Σ tp_b max(0, T_b − c),

attained at a weighted quantile of the thresholds T_b, which is called the level. On a CPU
the core finds it in linear time; other devices sort the thresholds. With c as a parameter,
the sum is a loss whose gradient is unbiased for any batch.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from rocpath.arguments import finite_number, share_between
from rocpath.breakpoints import ErrorBreakpoints
from rocpath.torch.aum_operators import KnownGradient, aum_of_breakpoints, aum_of_labels
from rocpath.torch.batch import (
    Batch,
    LabelLoss,
    LabelOptions,
    Reduction,
    checked_scores,
    like_scores,
    loss_of_labels,
    nan_unless_finite,
)


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
    those of :func:`rocpath.aum` and :func:`rocpath.aum_gradient`, including with ties. A
    single label on a CPU takes linear time. Otherwise the thresholds (breakpoint minus
    score) are rounded, which may create ties.

    Parameters
    ----------
    scores : Tensor, shape (n_examples,) or (n_examples, n_labels)
        Predictions.
    target : Tensor of the shape of scores, optional
        Labels 0 and 1, of any dtype. A batch of one class has loss 0 and gradient 0.
    margin : float
        Position of the breakpoints of labels: +margin for positives and -margin for
        negatives. With 0 the loss has a trivial minimum, where all scores are equal.
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
    gradient is unbiased for any batch, even of one class or one example, and the sum
    over all batches, minimized over the threshold, is AUM. Pass ``loss.parameters()``
    to the optimizer together with the parameters of the network. (If the last layer
    of the network has a bias, the bias learns the same threshold.)

    Parameters
    ----------
    positive_share : float or sequence of float, optional
        Share of positives in the training set: one value, or one for each label. By
        default the loss is :func:`aum_loss` of each batch and has no parameters.
    margin : float
        Position of the breakpoints, as in :func:`aum_loss`.
    label_weight, ignore_index, reduction
        Same as for :func:`aum_loss`. With ``positive_share`` the reduction is over all
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
        positive_share: float | Sequence[float] | None = None,
        margin: float = 1.0,
        *,
        label_weight: Tensor | None = None,
        ignore_index: int | None = None,
        reduction: Reduction = "mean",
    ) -> None:
        options = LabelOptions(label_weight, ignore_index, reduction)
        super().__init__(aum_loss, options, margin=margin)
        self.positive_share = positive_share
        if positive_share is not None:
            for one in np.ravel(positive_share).tolist():
                share_between("positive_share", one)
            share = torch.tensor(positive_share, dtype=torch.float64)
            self.register_buffer("_share", share, persistent=False)
            # One threshold for each label, or one that all labels share.
            self.threshold = nn.Parameter(torch.zeros(share.shape))

    def forward(
        self, scores: Tensor, target: Tensor, sample_weight: Tensor | None = None
    ) -> Tensor:
        """Compute the loss of a batch."""
        if self.positive_share is None:
            return super().forward(scores, target, sample_weight)
        options = LabelOptions(self.label_weight, self.ignore_index, self.reduction)
        return loss_of_labels(
            self._each_label,
            scores,
            target,
            sample_weight,
            options,
            lambda one: _n_counted(one) > 0,
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


def _n_counted(batch: Batch) -> Tensor:
    """Return the number of entries of each label that are not ignored."""
    if batch.is_ignored is None:
        return torch.full_like(batch.score[..., 0], batch.score.shape[-1])
    return (~batch.is_ignored).sum(-1).to(batch.score.dtype)
