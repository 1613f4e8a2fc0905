"""Losses over all pairs of a positive and a negative: squared hinge and smoothed AUC.

The squared hinge loss takes log-linear time. As a function of the score of a positive,
the losses over all negatives above it add up to one parabola (Rust & Hocking). When
moving down the sorted scores by a gap d, with N negatives above, the sum of distances B
and the sum of squares A become

    B + N d        and        A + 2 d B + d² N = A + d (B + (B + N d)).

All terms have the same sign, so there is no cancellation, however far the scores are
from zero.

Smoothed AUC and partial AUC take linear time. The loss of a pair whose positive score is
larger by d is Φ(-d / width), where Φ is the normal distribution function. For small
batches, it is summed over pairs. For large batches, the scores of each class are binned on
a grid, on which the distribution of the negatives is smoothed.
"""

import math

import torch
from torch import Tensor
from torch.nn import functional

from rocpath.torch.batch import (
    Batch,
    LabelLoss,
    LabelOptions,
    Reduction,
    class_shares,
    loss_of_labels,
    nan_unless_finite,
)
from rocpath.validation import finite_number, rate_up_to_one

_FEW_ROWS = 256  # with more rows, a grid is faster than a sum over pairs
_CELLS = 8192  # number of cells of the grid, which spans about 1,000 widths
_CELLS_IN_WIDTH = 8  # keeps the loss within 0.001 of the sum over pairs
_KERNEL_CELLS = 5 * _CELLS_IN_WIDTH  # distance beyond which the normal density is below 2e-6


def pairwise_squared_hinge(
    scores: Tensor,
    target: Tensor,
    *,
    margin: float = 1.0,
    sample_weight: Tensor | None = None,
    label_weight: Tensor | None = None,
    ignore_index: int | None = None,
    reduction: Reduction = "mean",
) -> Tensor:
    """Compute the mean over pairs of ``max(0, margin - positive + negative) ** 2``.

    Parameters
    ----------
    scores : Tensor, shape (n_examples,) or (n_examples, n_labels)
        Predictions.
    target : Tensor of the shape of scores
        Labels 0 and 1, of any dtype. A batch of one class has loss 0 and gradient 0.
    margin : float
        Required difference between a positive and a negative score.
    sample_weight : Tensor of the shape of scores or (n_examples,), optional
        Weight of each example within its class.
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
    >>> from rocpath.torch import pairwise_squared_hinge
    >>> scores = torch.tensor([0.0, 2.0, 0.5])
    >>> pairwise_squared_hinge(scores, torch.tensor([0, 0, 1])).item()
    3.25
    """
    options = LabelOptions(label_weight, ignore_index, reduction)
    margin = finite_number("margin", margin)

    def compute(batch: Batch) -> Tensor:
        positive, negative = class_shares(batch)
        # After the margin is added to the negatives, the loss of a pair is its squared
        # distance if the negative is above the positive.
        position, order = (batch.score + margin * ~batch.is_positive).sort(descending=True)
        gap = position[..., :-1] - position[..., 1:]
        start = position.new_zeros((*position.shape[:-1], 1))
        above = negative.gather(-1, order).cumsum(-1)[..., :-1]
        # B and A (see the module docstring) are cumulative sums, which autograd supports.
        distance = torch.cat((start, (above * gap).cumsum(-1)), dim=-1)
        both = distance[..., :-1] + distance[..., 1:]
        square = torch.cat((start, (gap * both).cumsum(-1)), dim=-1)
        loss = (positive.gather(-1, order) * square).sum(-1)
        return nan_unless_finite(loss, batch.score)

    return loss_of_labels(compute, scores, target, sample_weight, options)


class PairwiseSquaredHinge(LabelLoss):
    """:func:`pairwise_squared_hinge` as a module.

    Parameters
    ----------
    margin : float
        Required difference between a positive and a negative score.
    label_weight, ignore_index, reduction
        Same as for :func:`pairwise_squared_hinge`.

    Examples
    --------
    >>> import torch
    >>> from rocpath.torch import PairwiseSquaredHinge
    >>> loss = PairwiseSquaredHinge(margin=2.0)
    >>> loss(torch.tensor([0.0, 1.5]), torch.tensor([0, 1])).item()
    0.25
    """

    def __init__(
        self,
        margin: float = 1.0,
        *,
        label_weight: Tensor | None = None,
        ignore_index: int | None = None,
        reduction: Reduction = "mean",
    ) -> None:
        options = LabelOptions(label_weight, ignore_index, reduction)
        super().__init__(pairwise_squared_hinge, options, margin=margin)


def smoothed_auc_loss(
    scores: Tensor,
    target: Tensor,
    width: float = 1.0,
    *,
    max_fpr: float | None = None,
    sample_weight: Tensor | None = None,
    label_weight: Tensor | None = None,
    ignore_index: int | None = None,
    reduction: Reduction = "mean",
) -> Tensor:
    """Compute one minus a smoothed AUC, which is differentiable.

    The loss of a pair whose positive score is larger by d is Φ(-d / width). As the
    width approaches 0, the loss approaches 1 - AUC. Batches of more than 256 rows use
    a grid, which changes the loss by less than 0.001; if the range of the scores
    exceeds 1,000 widths, the width is a thousandth of that range instead.

    Parameters
    ----------
    scores : Tensor, shape (n_examples,) or (n_examples, n_labels)
        Predictions.
    target : Tensor of the shape of scores
        Labels 0 and 1, of any dtype. A batch of one class has loss 0 and gradient 0.
    width : float
        Standard deviation of the smoothing, in the units of the scores.
    max_fpr : float, optional
        Maximum false positive rate of the partial AUC, which compares positives only
        with the highest-scoring negatives. The area is divided by ``max_fpr``.
    sample_weight : Tensor of the shape of scores or (n_examples,), optional
        Weight of each example within its class.
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
    >>> from rocpath.torch import smoothed_auc_loss
    >>> scores = torch.tensor([0.0, 2.0, 1.0, 3.0])
    >>> target = torch.tensor([0, 0, 1, 1])
    >>> round(smoothed_auc_loss(scores, target, width=0.01).item(), 6)
    0.25
    >>> round(smoothed_auc_loss(scores, target, width=0.01, max_fpr=0.5).item(), 6)
    0.5
    """
    if not finite_number("width", width) > 0:
        raise ValueError(f"width must be positive, got {width}.")
    rate_up_to_one("max_fpr", max_fpr)
    options = LabelOptions(label_weight, ignore_index, reduction)

    def compute(batch: Batch) -> Tensor:
        wrong = _wrong_pairs if batch.score.shape[-1] <= _FEW_ROWS else _wrong_on_grid

        def of_label(score: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
            if max_fpr is not None:
                negative = _highest(score, negative, max_fpr)
            return wrong(score, positive, negative, width)

        columns = map(torch.atleast_2d, (batch.score, *class_shares(batch)))
        losses = torch.stack([of_label(*label) for label in zip(*columns, strict=True)])
        return nan_unless_finite(losses.reshape(batch.score.shape[:-1]), batch.score)

    return loss_of_labels(compute, scores, target, sample_weight, options)


class SmoothedAUCLoss(LabelLoss):
    """:func:`smoothed_auc_loss` as a module.

    Parameters
    ----------
    width : float
        Standard deviation of the smoothing, in the units of the scores.
    max_fpr : float, optional
        Maximum false positive rate of the partial AUC.
    label_weight, ignore_index, reduction
        Same as for :func:`smoothed_auc_loss`.

    Examples
    --------
    >>> import torch
    >>> from rocpath.torch import SmoothedAUCLoss
    >>> loss = SmoothedAUCLoss(width=2.0)
    >>> loss(torch.tensor([1.0, 1.0]), torch.tensor([0, 1])).item()
    0.5
    """

    def __init__(
        self,
        width: float = 1.0,
        max_fpr: float | None = None,
        *,
        label_weight: Tensor | None = None,
        ignore_index: int | None = None,
        reduction: Reduction = "mean",
    ) -> None:
        options = LabelOptions(label_weight, ignore_index, reduction)
        super().__init__(smoothed_auc_loss, options, width=width, max_fpr=max_fpr)


def _highest(score: Tensor, negative: Tensor, max_fpr: float) -> Tensor:
    """Return the shares of the highest-scoring negatives up to ``max_fpr``, divided by it."""
    # The order only selects the negatives, so it needs no gradient.
    order = score.detach().argsort(descending=True)
    share = negative[order]
    before = share.cumsum(0) - share
    counted = torch.minimum(share, (max_fpr - before).clamp(min=0.0))
    return torch.empty_like(negative).scatter(0, order, counted) / max_fpr


def _wrong_pairs(score: Tensor, positive: Tensor, negative: Tensor, width: float) -> Tensor:
    ahead = score[:, None] - score
    wrong = 0.5 * torch.special.erfc(ahead / (width * math.sqrt(2.0)))
    return positive @ wrong @ negative


def _wrong_on_grid(score: Tensor, positive: Tensor, negative: Tensor, width: float) -> Tensor:
    low, high = score.detach().nan_to_num(0.0, 0.0, 0.0).aminmax()
    cell = (high - low) / (_CELLS - 2 * _KERNEL_CELLS - 2)
    # A wide range of scores gets larger cells, and therefore a larger width, instead of
    # more memory.
    cell = cell.clamp(min=width / _CELLS_IN_WIDTH)
    position = (score.nan_to_num(0.0, 0.0, 0.0) - 0.5 * (low + high)) / cell
    position = position + 0.5 * _CELLS
    left = position.detach().long()
    fraction = position - left

    def spread(share: Tensor) -> Tensor:
        # Split each share between the two nearest cells, so that the mass is differentiable.
        mass = score.new_zeros(_CELLS).index_add(0, left, share * (1.0 - fraction))
        return mass.index_add(0, left + 1, share * fraction)

    mass = spread(negative)
    density = functional.conv1d(mass[None, None], _kernel(score), padding=_KERNEL_CELLS)[0, 0]
    # Negatives above each cell and half of those in it outrank its positives.
    above = density.flip(0).cumsum(0).flip(0) - 0.5 * density
    return spread(positive) @ above


def _kernel(like: Tensor) -> Tensor:
    """Return the normal density on the grid, corrected for the split between cells.

    Splitting a row between two cells adds a variance of p (1 - p) cells², a sixth on
    average, and a pair has two rows.
    """
    variance = _CELLS_IN_WIDTH**2 - 1.0 / 3.0
    distance = torch.arange(-_KERNEL_CELLS, _KERNEL_CELLS + 1, dtype=like.dtype, device=like.device)
    density = torch.exp(-0.5 * distance**2 / variance)
    return (density / density.sum())[None, None]
