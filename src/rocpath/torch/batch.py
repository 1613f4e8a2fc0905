"""Validation of a batch of scores and binary labels, and the class shares of its rows."""

# Annotations are not postponed, because torch inspects the types of an operator when it is
# defined.
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from rocpath.validation import one_of

Reduction = Literal["mean", "sum", "none"]

_SOFT_LABELS = (
    "; AUC is not defined for soft labels: round them, or pass each row twice, with "
    "targets 1 and 0 and sample_weight p and 1 - p"
)


class LabelOptions(NamedTuple):
    """Options for combining the losses of several labels."""

    label_weight: Tensor | None = None
    ignore_index: int | None = None
    reduction: Reduction = "mean"


class Batch(NamedTuple):
    """Scores, labels and optional weights in full precision, with examples on the last axis.

    The tensors are one-dimensional for a single label, and have shape
    (n_labels, n_examples) for several labels.
    """

    score: Tensor
    is_positive: Tensor
    weight: Tensor | None
    is_ignored: Tensor | None = None


class LabelLoss(nn.Module):
    """Loss function as a module, with its settings as attributes."""

    label_weight: Tensor | None

    def __init__(
        self, function: Callable[..., Tensor], options: LabelOptions, **settings: Any
    ) -> None:
        super().__init__()
        label_weight, self.ignore_index, self.reduction = options
        if label_weight is not None:
            _check_tensor("label_weight", label_weight)
        self.register_buffer("label_weight", label_weight)
        for name, value in settings.items():
            setattr(self, name, value)
        self._function, self._names = function, (*settings, "ignore_index", "reduction")
        # Invalid settings raise an error here, not in the first training step.
        function(torch.zeros(1), torch.zeros(1), **self._settings())

    def _settings(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._names}

    def forward(
        self, scores: Tensor, target: Tensor, sample_weight: Tensor | None = None
    ) -> Tensor:
        """Compute the loss of a batch."""
        weights = {"sample_weight": sample_weight, "label_weight": self.label_weight}
        return self._function(scores, target, **weights, **self._settings())

    def extra_repr(self) -> str:
        """Describe the settings."""
        return ", ".join(f"{name}={value!r}" for name, value in self._settings().items())


def loss_of_labels(
    compute: Callable[["Batch"], Tensor],
    scores: Tensor,
    target: Tensor,
    sample_weight: Tensor | None,
    options: LabelOptions,
    is_defined: "Callable[[Batch], Tensor] | None" = None,
) -> Tensor:
    """Validate a batch, compute the loss of each label, and reduce the defined losses."""
    batch = checked_batch(scores, target, sample_weight, options)
    loss = compute(batch)
    if loss.ndim and options.reduction != "none":
        # If a class is absent, all shares are zero.
        has_both = class_shares(batch)[0].any(-1)
        weight = (has_both if is_defined is None else is_defined(batch)).to(loss.dtype)
        if options.label_weight is not None:
            weight = weight * options.label_weight.detach().to(loss)
        loss = weight @ loss
        if options.reduction == "mean":
            total = weight.sum()
            loss = loss / torch.where(total > 0, total, torch.ones_like(total))
    return like_scores(loss, scores)


def checked_batch(
    scores: Tensor,
    target: Tensor,
    sample_weight: Tensor | None,
    options: LabelOptions = LabelOptions(),  # noqa: B008
) -> Batch:
    """Validate the arguments of a loss, and return them as a batch."""
    one_of("reduction", options.reduction, ("mean", "sum", "none"))
    if options.ignore_index in (0, 1):
        raise ValueError(f"ignore_index must not be 0 or 1, got {options.ignore_index}.")
    score = checked_scores(scores)
    _check_tensor("target", target, scores)
    is_ignored = None
    if options.ignore_index is not None:
        is_ignored = target == options.ignore_index
        target = target.masked_fill(is_ignored, 0)
    weight = None if sample_weight is None else _checked_weight(scores, sample_weight)
    label_weight = options.label_weight
    if label_weight is not None:
        _check_tensor("label_weight", label_weight)
        if score.ndim == 1 or label_weight.shape != scores.shape[1:]:
            raise ValueError(
                "label_weight must have one entry for each column of scores, and be None for a "
                f"single label, got shape {tuple(label_weight.shape)} for scores of shape "
                f"{tuple(scores.shape)}."
            )
    is_positive = checked_labels(target, weight, label_weight)
    columns = [is_positive, weight, is_ignored]
    batch = Batch(score, *(one if one is None else _examples_last(one) for one in columns))  # type: ignore[arg-type]
    if batch.is_ignored is None:
        return batch
    # Ignored entries have weight 0, and their score may be any value, even NaN.
    weight = torch.ones_like(score) if batch.weight is None else batch.weight
    return batch._replace(
        score=score.masked_fill(batch.is_ignored, 0.0),
        weight=weight.masked_fill(batch.is_ignored, 0.0),
    )


def checked_scores(scores: Tensor) -> Tensor:
    """Validate scores, and return them in full precision with examples on the last axis."""
    _check_tensor("scores", scores)
    if not scores.is_floating_point():
        raise TypeError(f"scores must be floating-point, got {scores.dtype}.")
    if scores.ndim not in (1, 2):
        raise ValueError(
            "scores must have shape (n_examples,) or (n_examples, n_labels), got "
            f"{tuple(scores.shape)}."
        )
    if scores.numel() == 0:
        raise ValueError(f"scores must have at least one entry, got shape {tuple(scores.shape)}.")
    return _examples_last(scores.to(full_precision(scores.device)))


def full_precision(device: torch.device) -> torch.dtype:
    """Return float64, or float32 on devices without float64."""
    # In float32, sums of a million shares would lose the small ones, but Apple's GPUs do
    # not support float64.
    return torch.float32 if device.type == "mps" else torch.float64


def class_shares(batch: Batch) -> tuple[Tensor, Tensor]:
    """Return the share of each row in the weight of the positives and of the negatives.

    The shares in a class sum to one. If a class is absent, all shares are zero, and so
    is every loss that is a sum over pairs.
    """
    is_positive = batch.is_positive.to(batch.score.dtype)
    weights = [is_positive, 1.0 - is_positive]
    if batch.weight is not None:
        weights = [one * batch.weight for one in weights]
    totals = [weight.sum(-1, keepdim=True) for weight in weights]
    has_both = (totals[0] > 0) & (totals[1] > 0)
    # There are no branches on values, which `torch.compile` and `vmap` do not support.
    positive, negative = (
        weight * (has_both / torch.where(has_both, total, torch.ones_like(total)))
        for weight, total in zip(weights, totals, strict=True)
    )
    return positive, negative


def like_scores(loss: Tensor, scores: Tensor) -> Tensor:
    """Return a loss in the dtype of the scores, but at least float32."""
    is_wide = scores.dtype in (torch.float32, torch.float64)
    return loss.to(scores.dtype if is_wide else torch.float32)


def nan_unless_finite(loss: Tensor, score: Tensor) -> Tensor:
    """Return the loss, or NaN with a NaN gradient if a score is not finite."""
    # Zero times NaN or infinity is NaN. A loss of 0 would hide a diverging network.
    return loss * (1.0 + (0.0 * score.detach()).sum(-1))


# This is an operator so that torch.compile does not trace checks that depend on values.
@torch.library.custom_op("rocpath::checked_labels", mutates_args=())
def checked_labels(target: Tensor, weight: Tensor | None, label_weight: Tensor | None) -> Tensor:
    """Validate targets and weights, and return whether each target is positive."""
    if target.device.type == "cpu":
        # NumPy runs on one thread. Each operator of torch ends with a barrier, where OpenMP
        # threads wait for the last one: with three other processes on two cores, thirty
        # operators on a million scores took 413 ms on two threads and 91 ms on one.
        columns = [None if one is None else _array(one) for one in (target, weight, label_weight)]
        return torch.from_numpy(_checked_values(np, *columns))
    checked: Tensor = _checked_values(torch, target, weight, label_weight)
    return checked


def _checked_values(library: Any, target: Any, weight: Any, label_weight: Any) -> Any:
    """Validate arrays of NumPy or of torch, and return whether each target is positive."""
    is_positive = target != 0
    is_label = ~(is_positive & (target != 1))
    check_all("target must be 0 or 1", target, is_label, _SOFT_LABELS)
    for name, one in (("sample_weight", weight), ("label_weight", label_weight)):
        if one is not None:
            is_valid = (one >= 0) & library.isfinite(one)
            check_all(f"{name} must be finite and non-negative", one, is_valid)
            if not bool(one.any()):
                raise ValueError(f"{name} must have a positive entry, got only 0.")
    return is_positive


def _array(column: Tensor) -> NDArray[Any]:
    # NumPy has no bfloat16.
    return (column.float() if column.dtype == torch.bfloat16 else column).detach().numpy()


@checked_labels.register_fake
def _(target: Tensor, weight: Tensor | None, label_weight: Tensor | None) -> Tensor:
    return torch.empty_like(target, dtype=torch.bool)


@checked_labels.register_vmap
def _(info: Any, in_dims: Any, *arguments: Any) -> Any:
    return checked_labels(*arguments), in_dims[0]


def _checked_weight(scores: Tensor, sample_weight: Tensor) -> Tensor:
    _check_tensor("sample_weight", sample_weight)
    # If there is one weight for each example, it applies to all of its labels.
    if scores.ndim == 2 and sample_weight.shape == scores.shape[:1]:
        sample_weight = sample_weight[:, None].expand(scores.shape)
    _check_tensor("sample_weight", sample_weight, scores)
    return sample_weight.detach().to(full_precision(scores.device))


def _examples_last(column: Tensor) -> Tensor:
    return column.reshape(-1) if column.ndim == 1 or column.shape[1] == 1 else column.t()


def check_all(rule: str, values: Any, is_valid: Any, remedy: str = "") -> None:
    """Raise an error for the first invalid entry of an array or tensor."""
    if not bool(is_valid.all()):
        first = torch.as_tensor(~is_valid).nonzero()[0].tolist()
        value = values[tuple(first)].item()
        index = first[0] if len(first) == 1 else tuple(first)
        remedy = remedy if 0 < value < 1 else ""
        raise ValueError(f"{rule}, got {value} at index {index}{remedy}.")


def _check_tensor(name: str, tensor: Tensor, scores: Tensor | None = None) -> None:
    """Raise unless a tensor has the shape and the device of the scores."""
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{name} must be a tensor, got {type(tensor).__name__}.")
    if scores is None:
        return
    if tensor.shape != scores.shape:
        raise ValueError(
            f"{name} must have the shape of scores, {tuple(scores.shape)}, got "
            f"{tuple(tensor.shape)}."
        )
    # Values of the meta device, for example, would silently be read as zeros.
    if tensor.device != scores.device:
        raise ValueError(
            f"{name} must be on the device of scores, {scores.device}, got {tensor.device}; "
            f"use {name}.to(scores.device)."
        )
