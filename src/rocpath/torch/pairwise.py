"""The squared hinge loss of all pairs of a positive and a negative, in log-linear time.

As a function of the score of a positive, the losses over all negatives above it add up
to one parabola (Rust & Hocking). When moving down the sorted scores by a gap d, with N
negatives above, the sum of distances B and the sum of squares A become

    B + N d        and        A + 2 d B + d² N = A + d (B + (B + N d)).

All terms have the same sign, so there is no cancellation, however far the scores are
from zero.
"""

import torch
from torch import Tensor

from rocpath.arguments import finite_number
from rocpath.torch.batch import (
    Batch,
    LabelLoss,
    LabelOptions,
    Reduction,
    class_shares,
    loss_of_labels,
    nan_unless_finite,
)


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
        # B and A of the recursion above, as cumulative sums that autograd differentiates.
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
