"""One minus a smoothed AUC, in linear time, also of a part of the ROC curve.

A pair counts by the normal distribution function of the difference of its scores over
a width. Small batches sum over pairs; in large ones each class is spread over a grid,
and the distribution of the negatives, smoothed, is read off it.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from rocpath.arguments import finite_number
from rocpath.torch.batch import (
    checked_batch,
    class_shares,
    like_scores,
    nan_unless_finite,
)

_FEW = 256  # rows up to which pairs are quicker than a grid
_CELLS = 8192  # of the grid: about 1,000 widths
_CELLS_IN_WIDTH = 8  # the loss is then within 0.001 of the sum over pairs
_KERNEL_CELLS = 5 * _CELLS_IN_WIDTH  # beyond, the normal density is below 1e-6


def smoothed_auc_loss(
    scores: Tensor,
    target: Tensor,
    width: float = 1.0,
    *,
    max_fpr: float | None = None,
    sample_weight: Tensor | None = None,
) -> Tensor:
    """Compute one minus the AUC, smoothed so that it has a gradient.

    A pair whose positive is ahead by d counts as wrong by Φ(-d / width); as the
    width goes to 0 the loss goes to 1 - AUC. More than 256 rows are counted on a
    grid, which changes the loss by less than 0.001; scores that spread over more than
    1,000 widths are smoothed by a thousandth of their spread.

    Parameters
    ----------
    scores : Tensor, shape (n_examples,) or (n_examples, 1)
        Predictions.
    target : Tensor of the shape of scores
        Labels 0 and 1, of any type. A batch of one class has loss 0 and gradient 0.
    width : float
        Standard deviation of the smoothing, in the unit of the scores.
    max_fpr : float, optional
        Count the ROC curve up to this false positive rate only: positives against the
        negatives with the largest scores. The area is divided by ``max_fpr``.
    sample_weight : Tensor of the shape of scores, optional
        How much each example counts within its class.

    Returns
    -------
    Tensor, shape ()
        Of the type of the scores, or float32 for shorter ones.

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
    width = _positive("width", width)
    if max_fpr is not None and _positive("max_fpr", max_fpr) > 1:
        raise ValueError(f"max_fpr must be at most 1, got {max_fpr}.")
    batch = checked_batch(scores, target, sample_weight)
    wrong = _wrong_pairs if batch.score.numel() <= _FEW else _wrong_on_grid
    loss = wrong(batch.score, *class_shares(batch), width, max_fpr)
    loss = nan_unless_finite(loss, batch.score)
    return like_scores(loss, scores)


class SmoothedAUCLoss(nn.Module):
    """:func:`smoothed_auc_loss` as a module.

    Parameters
    ----------
    width : float
        Standard deviation of the smoothing, in the unit of the scores.
    max_fpr : float, optional
        Count the ROC curve up to this false positive rate only.

    Examples
    --------
    >>> import torch
    >>> from rocpath.torch import SmoothedAUCLoss
    >>> loss = SmoothedAUCLoss(width=2.0)
    >>> loss(torch.tensor([1.0, 1.0]), torch.tensor([0, 1])).item()
    0.5
    """

    def __init__(self, width: float = 1.0, max_fpr: float | None = None) -> None:
        super().__init__()
        self.width = width
        self.max_fpr = max_fpr

    def forward(
        self, scores: Tensor, target: Tensor, sample_weight: Tensor | None = None
    ) -> Tensor:
        """Compute the loss of a batch."""
        return smoothed_auc_loss(
            scores,
            target,
            self.width,
            max_fpr=self.max_fpr,
            sample_weight=sample_weight,
        )

    def extra_repr(self) -> str:
        """Describe the settings."""
        return f"width={self.width}, max_fpr={self.max_fpr}"


def _positive(name: str, number: float) -> float:
    value = finite_number(name, number)
    if not value > 0:
        raise ValueError(f"{name} must be positive, got {value}.")
    return value


def _wrong_pairs(
    score: Tensor,
    positive: Tensor,
    negative: Tensor,
    width: float,
    max_fpr: float | None,
) -> Tensor:
    if max_fpr is not None:
        # Which negatives count is decided by the order, which has no gradient.
        order = score.detach().argsort(descending=True)
        counted = torch.empty_like(negative)
        counted = counted.scatter(0, order, _first(negative[order], max_fpr))
        negative = counted / max_fpr
    ahead = score[:, None] - score
    wrong = 0.5 * torch.special.erfc(ahead / (width * math.sqrt(2.0)))
    return positive @ wrong @ negative


def _wrong_on_grid(
    score: Tensor,
    positive: Tensor,
    negative: Tensor,
    width: float,
    max_fpr: float | None,
) -> Tensor:
    low, high = score.detach().nan_to_num(0.0, 0.0, 0.0).aminmax()
    cell = (high - low) / (_CELLS - 2 * _KERNEL_CELLS - 2)
    # Scores that spread far get larger cells, and so a larger width, and not more
    # memory.
    cell = cell.clamp(min=width / _CELLS_IN_WIDTH)
    place = (score.nan_to_num(0.0, 0.0, 0.0) - 0.5 * (low + high)) / cell
    place = place + 0.5 * _CELLS
    left = place.detach().long()
    part = place - left

    def spread(share: Tensor) -> Tensor:
        # In both cells beside it, so that the mass has a derivative in the score.
        mass = score.new_zeros(_CELLS).index_add(0, left, share * (1.0 - part))
        return mass.index_add(0, left + 1, share * part)

    if max_fpr is not None:
        # A grid of its own, as fine as it can be: which negatives are within the part
        # must not depend on the width.
        finest = (high - low).clamp(min=1e-300) / (_CELLS - 1)
        near = ((score.detach().nan_to_num(0.0, 0.0, 0.0) - low) / finest).long()
        mass = score.new_zeros(_CELLS).index_add(0, near, negative)
        counted = _first(mass.flip(0), max_fpr).flip(0)
        # Cells count wholly or not at all, but for the one where the part ends.
        counted = torch.where(mass > 0, counted / mass, 0.0)
        negative = negative * counted[near] / max_fpr
    mass = spread(negative)
    density = functional.conv1d(
        mass[None, None], _kernel(score), padding=_KERNEL_CELLS
    )[0, 0]
    # Negatives above each cell, and half of those in it: positives there lose to them.
    above = density.flip(0).cumsum(0).flip(0) - 0.5 * density
    return spread(positive) @ above


def _kernel(like: Tensor) -> Tensor:
    """Return the normal density on the grid, less what the spreading adds to it.

    A row between two cells has a variance of p (1 - p) cells², a sixth on average,
    and a pair has two rows.
    """
    variance = _CELLS_IN_WIDTH**2 - 1.0 / 3.0
    distance = torch.arange(
        -_KERNEL_CELLS, _KERNEL_CELLS + 1, dtype=like.dtype, device=like.device
    )
    density = torch.exp(-0.5 * distance**2 / variance)
    return (density / density.sum())[None, None]


def _first(share: Tensor, part: float) -> Tensor:
    """Return how much of each share lies in the first part of their sum."""
    before = share.cumsum(0) - share
    return torch.minimum(share, (part - before).clamp(min=0.0))
