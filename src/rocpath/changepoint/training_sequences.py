"""Labeled sequences as a LearnedDetector is fitted to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rocpath.arguments import check_count, describe
from rocpath.changepoint.labels import Labels

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

# Observations of a sequence once its runs are expanded for the features: 0.8 GB.
_MAX_EXPANDED = 10**8


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSequence:
    """One labeled sequence, and its index among all sequences that were passed."""

    index: int
    value: NDArray[np.float64]
    labels: Labels
    weight: NDArray[np.float64] | None
    position: NDArray[np.float64] | None
    group: Any

    @property
    def has_runs(self) -> bool:
        """Whether all weights are whole numbers, so that they can be run lengths."""
        return self.weight is not None and bool((self.weight % 1 == 0).all())


def training_sequences(
    sequences: Any, labels: Any, **lists: Any
) -> list[TrainingSequence]:
    """Collect the labeled sequences; ``lists`` are weights, positions and groups."""
    sequences, labels = paired_labels(sequences, labels)
    n = len(sequences)
    columns = []
    for name, given in lists.items():
        column = [None] * n if given is None else list(given)
        check_count(f"{name} must have an entry", len(column), n, "sequences")
        columns.append(column)
    training = [
        TrainingSequence(
            k, _float_array(x), regions, _float_array(w), _float_array(at), group
        )
        for k, (x, regions, w, at, group) in enumerate(
            zip(sequences, labels, *columns, strict=True)
        )
        if regions is not None
    ]
    if not training:
        raise ValueError("labels must have a sequence with labeled regions, got none.")
    return training


def _float_array(values: Any) -> Any:
    return None if values is None else np.asarray(values, dtype=np.float64)


def paired_labels(
    sequences: Any, labels: Any
) -> tuple[list[ArrayLike], list[Labels | None]]:
    """Return sequences and their labels as lists of equal length, or raise."""
    sequences, labels = list(sequences), list(labels)
    check_count("labels must have an entry", len(labels), len(sequences), "sequences")
    for k, one in enumerate(labels):
        if one is not None and not isinstance(one, Labels):
            raise TypeError(
                f"labels must be a list of Labels or None, got {describe(one)} for "
                f"sequence {k}."
            )
    return sequences, labels


def expanded_runs(
    k: int, value: NDArray[np.float64], weight: ArrayLike | None
) -> NDArray[np.float64]:
    """Repeat the values of runs as often as their lengths say."""
    length = np.ones(value.size) if weight is None else np.asarray(weight, dtype=float)
    if not (length % 1 == 0).all():
        raise ValueError(
            f"weights[{k}] must be whole numbers, the lengths of runs, as when the "
            f"model was fitted, got {length[length % 1 != 0][0]}."
        )
    if length.sum() > _MAX_EXPANDED:
        raise ValueError(
            f"weights[{k}] must sum to at most {_MAX_EXPANDED:g}, got {length.sum():g}."
        )
    return np.repeat(value, length.astype(np.int64))
