"""A batch of scores and binary labels: checked, and as shares of the two classes."""

# No postponed annotations here: torch reads the types of an operator at once.
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor


class Batch(NamedTuple):
    """Scores, labels and perhaps weights, in full precision."""

    score: Tensor
    is_positive: Tensor
    weight: Tensor | None


def checked_batch(
    scores: Tensor, target: Tensor, sample_weight: Tensor | None
) -> Batch:
    """Return a batch, or raise."""
    score = checked_scores(scores)
    _check_shape("target", target, scores)
    weight = None
    if sample_weight is not None:
        _check_shape("sample_weight", sample_weight, scores)
        weight = sample_weight.detach().reshape(-1).to(score.dtype)
    return Batch(score, checked_labels(target.reshape(-1), weight), weight)


def checked_scores(scores: Tensor) -> Tensor:
    """Return scores as a vector in full precision, or raise."""
    if not isinstance(scores, Tensor):
        raise TypeError(f"scores must be a tensor, got {type(scores).__name__}.")
    if not scores.is_floating_point():
        raise TypeError(f"scores must be floating-point, got {scores.dtype}.")
    if scores.ndim != 1 and not (scores.ndim == 2 and scores.shape[1] == 1):
        raise ValueError(
            "scores must have shape (n_examples,) or (n_examples, 1), got "
            f"{tuple(scores.shape)}."
        )
    if scores.shape[0] == 0:
        raise ValueError(
            f"scores must have at least one entry, got shape {tuple(scores.shape)}."
        )
    # In float32, sums of a million shares would lose the small ones; but Apple's GPUs
    # do not support float64.
    has_float64 = scores.device.type != "mps"
    return scores.reshape(-1).to(torch.float64 if has_float64 else torch.float32)


def class_shares(batch: Batch) -> tuple[Tensor, Tensor]:
    """Return the share of each row in the positives, and in the negatives.

    The shares of a class sum to one. If a class is absent, all shares are zero, and so
    is every loss that is a sum over pairs.
    """
    positive = batch.is_positive.to(batch.score.dtype)
    negative = 1.0 - positive
    if batch.weight is not None:
        positive, negative = positive * batch.weight, negative * batch.weight
    n_positive = positive.sum(-1, keepdim=True)
    n_negative = negative.sum(-1, keepdim=True)
    has_both = (n_positive > 0) & (n_negative > 0)
    # No branch on values: `torch.compile` and vmap do not support one.
    one = torch.ones_like(n_positive)
    positive = positive * (has_both / torch.where(has_both, n_positive, one))
    negative = negative * (has_both / torch.where(has_both, n_negative, one))
    return positive, negative


def like_scores(loss: Tensor, scores: Tensor) -> Tensor:
    """Return a loss in the dtype of the scores, but at least float32."""
    is_wide = scores.dtype in (torch.float32, torch.float64)
    return loss.to(scores.dtype if is_wide else torch.float32)


def nan_unless_finite(loss: Tensor, score: Tensor) -> Tensor:
    """Return the loss, or NaN with a NaN gradient if a score is not finite."""
    # 0 times NaN or infinity is NaN. A loss of 0 would hide a diverging network.
    return loss * (1.0 + (0.0 * score.detach()).sum(-1))


# An operator, so that torch.compile does not trace checks that depend on values.
@torch.library.custom_op("rocpath::checked_labels", mutates_args=())
def checked_labels(target: Tensor, weight: Tensor | None) -> Tensor:
    """Return which rows are positive, or raise."""
    is_positive = target.to(torch.bool, copy=True)
    if target.dtype != torch.bool:
        _check_all(
            "target must be 0 or 1", target, ~is_positive.logical_and(target != 1)
        )
    if weight is not None:
        is_valid = (weight >= 0) & torch.isfinite(weight)
        _check_all("sample_weight must be finite and non-negative", weight, is_valid)
        if not bool(weight.any()):
            raise ValueError("sample_weight must have a positive entry, got only 0.")
    return is_positive


@checked_labels.register_fake
def _(target: Tensor, weight: Tensor | None) -> Tensor:
    return torch.empty_like(target, dtype=torch.bool)


@checked_labels.register_vmap
def _(info: Any, in_dims: Any, target: Tensor, weight: Tensor | None) -> Any:
    return checked_labels(target, weight), in_dims[0]


def loop_over_batch(operator: Any) -> Callable[..., Any]:
    """Return a rule for `torch.vmap` that calls an operator once per entry."""

    def rule(info: Any, in_dims: Any, *arguments: Any) -> Any:
        entries = [
            operator(
                *(
                    one if dim is None else one.select(dim, k)
                    for one, dim in zip(arguments, in_dims, strict=True)
                )
            )
            for k in range(info.batch_size)
        ]
        columns = [torch.stack(column) for column in zip(*entries, strict=True)]
        return tuple(columns), tuple(0 for _ in columns)

    return rule


def _check_all(rule: str, tensor: Tensor, is_valid: Tensor) -> None:
    if not bool(is_valid.all()):
        first = int((~is_valid).reshape(-1).nonzero()[0])
        value = tensor.reshape(-1)[first].item()
        raise ValueError(f"{rule}, got {value} at index {first}.")


def _check_shape(name: str, tensor: Tensor, scores: Tensor) -> None:
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name} must be a tensor, got {type(tensor).__name__}.")
    if tensor.shape != scores.shape:
        raise ValueError(
            f"{name} must have the shape of scores, {tuple(scores.shape)}, got "
            f"{tuple(tensor.shape)}."
        )
