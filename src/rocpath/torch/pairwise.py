"""The squared hinge of all pairs of a positive and a negative, in log-linear time.

Written as functions of a score (Rust & Hocking), the losses of all negatives above a
positive add up to one parabola. Sorted from above, it passes from a place to the next
by a gap d: with N negatives above, the sums of distances B and of squares A become

    B + N d        and        A + 2 d B + d² N = A + d (B + (B + N d)).

All terms have one sign, so that no digits are lost, however far scores are from zero.
"""

import torch
from torch import Tensor, nn

from rocpath.arguments import finite_number
from rocpath.torch.batch import (
    checked_batch,
    class_shares,
    like_scores,
    nan_unless_finite,
)


def pairwise_squared_hinge(
    scores: Tensor,
    target: Tensor,
    *,
    margin: float = 1.0,
    sample_weight: Tensor | None = None,
) -> Tensor:
    """Compute the mean over pairs of ``max(0, margin - positive + negative) ** 2``.

    Parameters
    ----------
    scores : Tensor, shape (n_examples,) or (n_examples, 1)
        Predictions.
    target : Tensor of the shape of scores
        Labels 0 and 1, of any type. A batch of one class has loss 0 and gradient 0.
    margin : float
        By how much a positive should lie above a negative.
    sample_weight : Tensor of the shape of scores, optional
        How much each example counts within its class.

    Returns
    -------
    Tensor, shape ()
        Of the type of the scores, or float32 for shorter ones.

    Examples
    --------
    >>> import torch
    >>> from rocpath.torch import pairwise_squared_hinge
    >>> scores = torch.tensor([0.0, 2.0, 0.5])
    >>> pairwise_squared_hinge(scores, torch.tensor([0, 0, 1])).item()
    3.25
    """
    batch = checked_batch(scores, target, sample_weight)
    positive, negative = class_shares(batch)
    # Raised by the margin, a negative costs a positive the square of how far it is
    # above.
    raised = finite_number("margin", margin) * ~batch.is_positive
    place, order = (batch.score + raised).sort(descending=True)
    gap = place[:-1] - place[1:]
    start = place.new_zeros(1)
    above = negative[order].cumsum(0)[:-1]
    # B and A of the recursion above, as two cumulative sums that autograd knows.
    distance = torch.cat((start, (above * gap).cumsum(0)))
    square = torch.cat((start, (gap * (distance[:-1] + distance[1:])).cumsum(0)))
    loss = nan_unless_finite(positive[order] @ square, batch.score)
    return like_scores(loss, scores)


class PairwiseSquaredHinge(nn.Module):
    """:func:`pairwise_squared_hinge` as a module.

    Parameters
    ----------
    margin : float
        By how much a positive should lie above a negative.

    Examples
    --------
    >>> import torch
    >>> from rocpath.torch import PairwiseSquaredHinge
    >>> loss = PairwiseSquaredHinge(margin=2.0)
    >>> loss(torch.tensor([0.0, 1.5]), torch.tensor([0, 1])).item()
    0.25
    """

    def __init__(self, margin: float = 1.0) -> None:
        super().__init__()
        self.margin = finite_number("margin", margin)

    def forward(
        self, scores: Tensor, target: Tensor, sample_weight: Tensor | None = None
    ) -> Tensor:
        """Compute the loss of a batch."""
        return pairwise_squared_hinge(
            scores, target, margin=self.margin, sample_weight=sample_weight
        )

    def extra_repr(self) -> str:
        """Describe the settings."""
        return f"margin={self.margin}"
