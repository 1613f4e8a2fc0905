"""AUC over batches."""

import math

import numpy as np
import torch
from torch import Tensor

from rocpath.breakpoints import ErrorBreakpoints
from rocpath.roc import auc
from rocpath.torch.batch import checked_batch

_GROWTH = 9 / 8  # so that what is kept takes little more than its 9 bytes a row


class BinaryAUC:
    """Collect scores and labels of batches, and compute their AUC exactly.

    Scores are kept as float64 on the CPU: 9 bytes an example, and an eighth more for
    the batches to come.

    Examples
    --------
    >>> import torch
    >>> from rocpath.torch import BinaryAUC
    >>> metric = BinaryAUC()
    >>> metric.update(torch.tensor([0.1, 0.8]), torch.tensor([0, 1]))
    >>> metric.update(torch.tensor([0.4, 0.3]), torch.tensor([0, 1]))
    >>> metric.compute()
    0.75
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget all batches."""
        self._score = np.empty(0, dtype=np.float64)
        self._is_positive = np.empty(0, dtype=np.bool_)
        self._size = 0

    def __len__(self) -> int:
        """Return the number of examples."""
        return self._size

    def update(self, scores: Tensor, target: Tensor) -> None:
        """Add a batch.

        Parameters
        ----------
        scores : Tensor, shape (n_examples,) or (n_examples, 1)
            Finite predictions.
        target : Tensor of the shape of scores
            Labels 0 and 1, of any type.
        """
        checked_batch(scores, target, None)
        score = scores.detach().reshape(-1).to("cpu", torch.float64)
        if not bool(torch.isfinite(score).all()):
            worst = int((~torch.isfinite(score)).nonzero()[0])
            raise ValueError(
                f"scores must be finite, got {score[worst].item()} at index {worst}."
            )
        end = self._size + score.numel()
        if end > self._score.size:
            # In proportion, so that each row is copied a bounded number of times.
            n_reserved = max(end, math.ceil(_GROWTH * self._size), 1024)
            self._score = np.resize(self._score, n_reserved)
            self._is_positive = np.resize(self._is_positive, n_reserved)
        self._score[self._size : end] = score.numpy()
        is_positive = target.detach().reshape(-1).to("cpu", torch.bool)
        self._is_positive[self._size : end] = is_positive.numpy()
        self._size = end

    def compute(self) -> float:
        """Compute the AUC of all batches, ties counting one half.

        Returns
        -------
        float
            NaN while there are not two classes.
        """
        is_positive = self._is_positive[: self._size]
        # The first batches of an epoch may have one class; a metric must not raise
        # there.
        if is_positive.all() or not is_positive.any():
            return float("nan")
        bp = ErrorBreakpoints.from_labels(is_positive, denominator="count")
        return auc(bp, self._score[: self._size])
