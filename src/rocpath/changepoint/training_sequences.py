"""Labeled sequences to which a LearnedDetector is fitted, and their features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rocpath.arguments import check_count, describe
from rocpath.changepoint.detection import one_for_each
from rocpath.changepoint.features import sequence_features
from rocpath.changepoint.labels import Labels
from rocpath.changepoint.noise import noise_scaled
from rocpath.changepoint.penalty_default import noise_variance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

# Maximum length of a sequence after its runs are expanded to compute features (0.8 GB).
_MAX_EXPANDED = 10**8


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSequence:
    """A labeled sequence, and its index among all sequences that were passed."""

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


def training_sequences(sequences: Any, labels: Any, **lists: Any) -> list[TrainingSequence]:
    """Collect the labeled sequences; ``lists`` are weights, positions and groups."""
    sequences, labels = paired_labels(sequences, labels)
    columns = [one_for_each(name, given, len(sequences)) for name, given in lists.items()]
    training = [
        TrainingSequence(k, float_array(x), regions, float_array(w), float_array(at), group)
        for k, (x, regions, w, at, group) in enumerate(
            zip(sequences, labels, *columns, strict=True)
        )
        if regions is not None
    ]
    if not training:
        raise ValueError(
            "labels must contain at least one sequence with labeled regions, got none."
        )
    return training


def float_array(values: Any) -> Any:
    """Return a float64 array, or None."""
    return None if values is None else np.asarray(values, dtype=np.float64)


def paired_labels(sequences: Any, labels: Any) -> tuple[list[ArrayLike], list[Labels | None]]:
    """Return sequences and their labels as lists of equal length, or raise."""
    sequences, labels = list(sequences), list(labels)
    check_count("labels must have an entry", len(labels), len(sequences), "sequences")
    for k, one in enumerate(labels):
        if one is not None and not isinstance(one, Labels):
            raise TypeError(
                f"labels must be a list of Labels or None, got {describe(one)} for sequence {k}."
            )
    return sequences, labels


def features_and_units(
    value: Sequence[NDArray[np.float64]],
    weights: Sequence[Any] | None,
    *,
    unit: str | None,
    has_runs: bool,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the features of sequences, and the units of their penalties.

    If a unit is given, values are scaled by the noise. With ``"free"``, the log noise
    variance is a feature instead of the unit of the penalty. Several columns are always
    scaled by their noise.
    """
    every = one_for_each("weights", weights, len(value))
    noise = np.ones(len(value))
    rows = []
    for k, (x, weight) in enumerate(zip(value, every, strict=True)):
        scaled = noise_scaled(x, weight)[0]
        if x.ndim == 1 and unit is not None:
            # A constant sequence has no noise, and no changes whatever the unit.
            noise[k] = noise_variance(x, weights=weight) or 1.0
            scaled = (x - np.nanmedian(x)) / np.sqrt(noise[k])
        rows.append(_expanded_runs(k, scaled, weight) if has_runs else scaled)
    X = sequence_features(rows).value
    if unit == "free":
        return np.column_stack((X, np.log(noise))), np.ones(len(value))
    return X, noise


def _expanded_runs(
    k: int, value: NDArray[np.float64], weight: ArrayLike | None
) -> NDArray[np.float64]:
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
