"""AUC as a metric that is accumulated over batches and processes."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rocpath.evaluation.intervals import auc_interval
from rocpath.evaluation.results import AUCInterval
from rocpath.search.breakpoints import ErrorBreakpoints
from rocpath.search.roc import auc
from rocpath.torch.batch import check_all, checked_batch, full_precision
from rocpath.validation import rate_up_to_one

try:
    from torchmetrics import Metric
except ImportError as error:
    raise ImportError(
        "BinaryAUC requires torchmetrics; install it with: pip install 'rocpath[torch]'"
    ) from error

# The remaining bits of a float32 are the sign, the exponent and eleven mantissa bits, which
# are enough to represent float16 and bfloat16.
_BITS_DROPPED = 12
_N_BUCKETS = 2 ** (32 - _BITS_DROPPED)


class BinaryAUC(Metric):
    """Exact AUC over all batches, with ties counted as one half.

    This is a :class:`torchmetrics.Metric`, which ``MetricCollection`` and Lightning's
    ``self.log`` accept. In a distributed run, ``compute`` returns the AUC over all
    processes, some of which may have no examples or no weights.

    Parameters
    ----------
    max_fpr : float, optional
        Maximum false positive rate of the partial AUC. The default is the full AUC.
    standardized : bool
        Whether to rescale the partial AUC so that 0.5 is chance and 1 is perfect, as
        scikit-learn and torchmetrics do.
    buckets : bool
        Whether to count scores in 2²⁰ buckets instead of keeping them: 16 MB for any
        number of examples, instead of 9 bytes per example (16 with weights). Each
        float16 or bfloat16 value has its own bucket, so that the AUC is exact; for
        other scores, it is within ``error_bound()`` of the exact AUC.
    **kwargs
        Options of :class:`torchmetrics.Metric`, such as ``dist_sync_on_step``.

    Examples
    --------
    >>> import torch
    >>> from rocpath.torch import BinaryAUC
    >>> metric = BinaryAUC()
    >>> metric.update(torch.tensor([0.1, 0.8]), torch.tensor([0, 1]))
    >>> metric.update(torch.tensor([0.4, 0.3]), torch.tensor([0, 1]))
    >>> metric.compute().item()
    0.75
    """

    score: Any
    signed_weight: Any
    bucket_weight: Tensor
    n_rounded: Tensor
    is_differentiable = False
    higher_is_better = True
    full_state_update = False
    plot_lower_bound, plot_upper_bound = 0.0, 1.0

    def __init__(
        self,
        max_fpr: float | None = None,
        *,
        standardized: bool = False,
        buckets: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        rate_up_to_one("max_fpr", max_fpr)
        self.max_fpr = max_fpr
        self.standardized = standardized
        self.buckets = buckets
        if buckets:
            for name, shape in (("bucket_weight", (2, _N_BUCKETS)), ("n_rounded", ())):
                zeros = torch.zeros(shape, dtype=torch.float64)
                self.add_state(name, zeros, dist_reduce_fx="sum")
        else:
            self.add_state("score", [], dist_reduce_fx="cat")
            # Weights have a minus sign for negatives. Without weights, this takes one byte
            # per example.
            self.add_state("signed_weight", [], dist_reduce_fx="cat")

    def update(self, scores: Tensor, target: Tensor, sample_weight: Tensor | None = None) -> None:
        """Add a batch.

        Parameters
        ----------
        scores : Tensor, shape (n_examples,) or (n_examples, 1)
            Finite predictions.
        target : Tensor of the shape of scores
            Labels 0 and 1, of any dtype.
        sample_weight : Tensor of the shape of scores, optional
            Weights of the examples. Examples with weight 0 are dropped.
        """
        batch = checked_batch(scores, target, sample_weight)
        if batch.score.ndim > 1:
            raise ValueError(
                "scores must have one column, got shape "
                f"{tuple(scores.shape)}; use one BinaryAUC for each label."
            )
        check_all("scores must be finite", batch.score, torch.isfinite(batch.score))
        score, is_positive, weight = batch.score.detach(), *batch[1:3]
        signed = 2 * is_positive.to(torch.int8) - 1
        if weight is not None:
            is_counted = weight > 0
            score, signed = score[is_counted], (signed * weight)[is_counted]
        if self.buckets:
            self._count(score, signed)
        else:
            self.score.append(score)
            self.signed_weight.append(signed)

    def _count(self, score: Tensor, signed_weight: Tensor) -> None:
        # Adding 0 turns -0 into 0, which is the same score.
        single = (score + 0.0).float()
        bits = single.view(torch.int32).long() & 0xFFFFFFFF
        # Floats are ordered like their bits, except that negative floats are reversed.
        key = torch.where(bits >> 31 == 1, ~bits & 0xFFFFFFFF, bits | 0x80000000)
        is_positive = (signed_weight > 0).long()
        index = is_positive * _N_BUCKETS + (key >> _BITS_DROPPED)
        weight = signed_weight.abs().to(self.bucket_weight.dtype)
        flat = self.bucket_weight.view(-1)
        flat.index_add_(0, index.to(flat.device), weight.to(flat.device))
        has_digits = (bits & (2**_BITS_DROPPED - 1)) != 0
        is_rounded = has_digits | (single.double() != score.double())
        self.n_rounded += is_rounded.sum().to(self.n_rounded)

    @torch.compiler.disable
    def compute(self) -> Tensor:
        """Compute the AUC of all batches, or NaN if a class is absent.

        Returns
        -------
        Tensor, shape ()
            AUC in float64, or in float32 on devices that do not support float64.
        """
        score, is_positive, weight = self._rows()
        value = float("nan")
        # A metric must not raise if the first batches of an epoch contain only one class.
        if is_positive.any() and not is_positive.all():
            bp = ErrorBreakpoints.from_labels(
                is_positive, sample_weight=weight, denominator="count" if weight is None else "rate"
            )
            value = auc(bp, score, max_fpr=self.max_fpr, standardized=self.standardized)
        return torch.tensor(value, dtype=full_precision(self.device), device=self.device)

    def compute_interval(self, *, confidence: float = 0.95) -> AUCInterval:
        """Compute the AUC of all batches with a confidence interval.

        Parameters
        ----------
        confidence : float
            Confidence level.

        Returns
        -------
        AUCInterval
            Interval of :func:`rocpath.auc_interval`; ``standardized`` is not applied.
        """
        if self.buckets:
            raise ValueError(
                "buckets must be False for an interval, which requires the scores of all rows."
            )
        with self.sync_context(dist_sync_fn=getattr(self, "dist_sync_fn", None)):
            score, is_positive, weight = self._rows()
        return auc_interval(
            is_positive, score, confidence=confidence, max_fpr=self.max_fpr, sample_weight=weight
        )

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Plot one or several values (requires matplotlib).

        Parameters
        ----------
        val : float or sequence of float, optional
            Values to plot. The default is the result of ``compute``.
        ax : Axes, optional
            Axes to plot on. By default, a new figure is created.

        Returns
        -------
        Figure, Axes
        """
        return self._plot(val, ax)

    def extra_repr(self) -> str:
        """Describe the settings."""
        names = ("max_fpr", "standardized", "buckets")
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in names)

    def __repr__(self) -> str:
        """Return the class with its settings."""
        return f"{type(self).__name__}({self.extra_repr()})"

    def error_bound(self) -> float:
        """Return the largest possible difference between ``compute`` and the exact AUC.

        It is 0 unless ``buckets`` is true and some score has more than eleven binary
        digits: pairs of such scores in one bucket then count one half.
        """
        if not self.buckets:
            return 0.0
        if self.max_fpr is not None:
            raise ValueError(f"max_fpr must be None for an error bound, got {self.max_fpr}.")
        with self.sync_context(dist_sync_fn=getattr(self, "dist_sync_fn", None)):
            negative, positive = self.bucket_weight.cpu().numpy()
            n_rounded = float(self.n_rounded)
        n_pairs = negative.sum() * positive.sum()
        if n_rounded == 0 or n_pairs == 0:
            return 0.0
        return 0.5 * float(negative @ positive / n_pairs)

    def _sync_dist(self, *args: Any, **kwargs: Any) -> None:
        """Gather the states of all processes, which requires equal dtypes."""
        if not self.buckets:
            # A process may have no examples, or be the only one with weights.
            device = self.score[0].device if self.score else self.device
            for name in ("score", "signed_weight"):
                joined = _concatenate(getattr(self, name))
                setattr(self, name, [joined.to(device, full_precision(device))])
        super()._sync_dist(*args, **kwargs)

    def _rows(self) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64] | None]:
        """Return scores, labels and weights; with buckets, one row for each nonzero count."""
        if self.buckets:
            counts = self.bucket_weight.cpu().numpy()
            label, bucket = np.nonzero(counts)
            return bucket.astype(np.float64), label == 1, counts[label, bucket]
        score = _concatenate(self.score).double().numpy()
        signed = _concatenate(self.signed_weight).numpy()
        weight = np.abs(signed)
        return score, signed > 0, weight if (weight != 1).any() else None


def _concatenate(state: Any) -> Tensor:
    # After synchronization, torchmetrics holds one tensor instead of a list.
    tensors = [state] if isinstance(state, Tensor) else state
    return torch.cat([one.cpu() for one in tensors]) if tensors else torch.zeros(0)
