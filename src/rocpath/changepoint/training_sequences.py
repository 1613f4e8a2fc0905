"""Labeled sequences to which a LearnedDetector is fitted, and their features."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rocpath.changepoint.features import sequence_features
from rocpath.changepoint.labels import Labels
from rocpath.changepoint.observations import checked_sequences, one_for_each
from rocpath.changepoint.penalty_default import noise_scaled, noise_variance
from rocpath.validation import Floats, describe

# Maximum length of a sequence after its runs are expanded to compute features (0.8 GB).
_MAX_EXPANDED = 10**8


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSequence:
    """Labeled sequence, and its index among all sequences.

    If there are several columns, each is scaled by its noise.
    """

    index: int
    value: Floats
    labels: Labels
    weight: ArrayLike | None
    position: ArrayLike | None
    group: Any

    @property
    def has_runs(self) -> bool:
        """Whether all weights are whole numbers, so that they can be run lengths."""
        return self.weight is not None and bool((np.mod(self.weight, 1) == 0).all())


def training_sequences(sequences: Any, labels: Any, **lists: Any) -> list[TrainingSequence]:
    """Collect the labeled sequences; ``lists`` are weights, positions and groups."""
    values, regions = labeled_sequences(sequences, labels)
    columns = [one_for_each(name, given, len(values)) for name, given in lists.items()]
    training = [
        TrainingSequence(k, noise_scaled(x, weight)[0], one, weight, position, group)
        for k, (x, one, weight, position, group) in enumerate(
            zip(values, regions, *columns, strict=True)
        )
        if one is not None and len(one)
    ]
    if not training:
        raise ValueError(
            "labels must contain at least one sequence with labeled regions, got none."
        )
    return training


def labeled_sequences(sequences: Any, labels: Any) -> tuple[list[Floats], list[Labels | None]]:
    """Return sequences and their labels as lists of equal length, or raise."""
    values = checked_sequences(sequences)
    regions = one_for_each("labels", labels, len(values))
    for k, one in enumerate(regions):
        if one is not None and not isinstance(one, Labels):
            raise TypeError(
                f"labels must be a list of Labels or None, got {describe(one)} for sequence {k}."
            )
    return values, regions


def check_columns(values: Sequence[Floats], n_columns: int | None = None) -> int:
    """Return the number of columns of all sequences, or raise if it is not ``n_columns``."""
    counts = [1 if one.ndim == 1 else one.shape[1] for one in values]
    needed = counts[0] if n_columns is None else n_columns
    for k, count in enumerate(counts):
        if count != needed:
            raise ValueError(
                f"sequences must have the same number of columns as in training, {needed}, "
                f"got {count} for sequence {k}."
            )
    return needed


def features_and_units(
    value: Sequence[Floats], weights: Sequence[Any], *, unit: str | None, has_runs: bool
) -> tuple[Floats, Floats]:
    """Return the features of sequences, and the units of their penalties.

    If a unit is given, values are scaled by the noise. With ``"free"``, the log noise
    variance is a feature instead of the unit of the penalty. Sequences with several
    columns must already be scaled by their noise.
    """
    noise = np.ones(len(value))
    rows = []
    for k, (x, weight) in enumerate(zip(value, weights, strict=True)):
        if x.ndim == 1 and unit is not None:
            # A constant sequence has no noise, and no changes in any unit.
            noise[k] = noise_variance(x, weights=weight) or 1.0
            x = (x - np.nanmedian(x)) / np.sqrt(noise[k])
        rows.append(_expanded_runs(k, x, weight) if has_runs else x)
    X = sequence_features(rows).value
    if unit == "free":
        return np.column_stack((X, np.log(noise))), np.ones(len(value))
    return X, noise


def _expanded_runs(k: int, value: Floats, weight: ArrayLike | None) -> Floats:
    """Repeat the value of each run according to its length."""
    length = np.ones(len(value)) if weight is None else np.asarray(weight, dtype=float)
    if not (length % 1 == 0).all():
        raise ValueError(
            f"weights[{k}] must be whole numbers (run lengths), as in the training "
            f"data, got {length[length % 1 != 0][0]}."
        )
    if length.sum() > _MAX_EXPANDED:
        raise ValueError(
            f"weights[{k}] must sum to at most {_MAX_EXPANDED:g}, got {length.sum():g}."
        )
    return np.repeat(value, length.astype(np.int64), axis=0)
