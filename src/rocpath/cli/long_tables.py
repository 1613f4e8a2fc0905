"""Sequences and their labels from long tables, one row an observation or a label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rocpath.changepoint import Labels, label_errors, sequence_features
from rocpath.cli.table_columns import (
    column,
    complete,
    listed,
    numbers_of,
    refuse,
    text_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rocpath.changepoint.segmentation import SegmentCost

_MOST_REPEATED = 10**8  # values of a sequence: 0.8 GB


@dataclass(frozen=True, slots=True, eq=False)
class LongSequence:
    """One sequence: its values, where they lie, and how much each counts."""

    name: str
    value: NDArray[np.float64]
    position: NDArray[np.float64]
    weight: NDArray[np.float64] | None

    @property
    def has_runs(self) -> bool:
        """Whether all weights are whole, so that they can be lengths of runs."""
        return self.weight is not None and bool((self.weight % 1 == 0).all())


def sequences_of(table: pl.DataFrame, *, cost: SegmentCost) -> list[LongSequence]:
    """Split a table by its column ``sequence``, in order of first appearance."""
    value = numbers_of(column(table, "value", "sequences"), may_miss=False)
    columns = [value]
    for name in ("position", "weight"):
        if name in table.columns:
            columns.append(numbers_of(table[name], may_miss=False))
    if "weight" in table.columns:
        refuse(columns[-1], columns[-1] <= 0, "must be positive")
    if cost == "poisson":
        refuse(value, value < 0, "must not be negative for Poisson cost")
    parts = _by_sequence(table, "sequences", columns)
    return [_sequence(name, part) for name, part in parts.items()]


def labels_of(table: pl.DataFrame, sequences: list[LongSequence]) -> dict[str, Labels]:
    """Collect labels by the name of their sequence, which must be known."""
    columns = [
        numbers_of(column(table, name, "labels"), may_miss=False)
        for name in ("start", "end")
    ]
    columns.append(text_of(column(table, "kind", "labels")))
    known = {sequence.name: sequence for sequence in sequences}
    labels = {}
    for name, part in _by_sequence(table, "labels", columns).items():
        row, start, end, kind = (
            part[one].to_numpy() for one in ("row", "start", "end", "kind")
        )
        if name not in known:
            raise ValueError(
                f"labels name sequence {name!r} in row {row[0]}, which is not among "
                f"the sequences: {listed(sorted(known))}."
            )
        labels[name] = Labels(start, end, tuple(kind), sequence=name, row=row)
        # The errors of no change at all: labels outside are refused before the work.
        label_errors([[]], labels[name], position=known[name].position)
    return labels


def features_of(
    sequences: list[LongSequence], *, has_runs: bool
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Compute features, and their names; runs count by their lengths."""
    values = []
    for sequence in sequences:
        if has_runs and sequence.weight is not None:
            if not sequence.has_runs:
                raise ValueError(
                    f"column 'weight' of sequence {sequence.name!r} must be whole "
                    "numbers, the lengths of runs, as when the model was fitted."
                )
            if sequence.weight.sum() > _MOST_REPEATED:
                raise ValueError(
                    f"column 'weight' of sequence {sequence.name!r} must sum to at "
                    f"most {_MOST_REPEATED:g}, got {sequence.weight.sum():g}."
                )
            values.append(np.repeat(sequence.value, sequence.weight.astype(np.int64)))
        else:
            values.append(sequence.value)
    features = sequence_features(values)
    return features.value, features.name


def _by_sequence(
    table: pl.DataFrame, role: str, columns: list[pl.Series]
) -> dict[str, pl.DataFrame]:
    """Split columns by sequence, in order of first appearance; rows keep numbers."""
    names = complete(text_of(column(table, "sequence", role)))
    frame = pl.DataFrame([names, *columns]).with_row_index("row", offset=1)
    parts = frame.partition_by("sequence", maintain_order=True, as_dict=True)
    return {str(name): part for (name,), part in parts.items()}


def _sequence(name: str, part: pl.DataFrame) -> LongSequence:
    position = np.arange(float(part.height))
    if "position" in part.columns:
        part = part.sort("position", maintain_order=True)
        position = part["position"].to_numpy()
        is_repeated = np.diff(position, prepend=np.nan) == 0
        if is_repeated.any():
            at = int(is_repeated.argmax())
            raise ValueError(
                f"column 'position' must not repeat within sequence {name!r}, got "
                f"{position[at]} again in row {part['row'][at]}."
            )
    weight = part["weight"].to_numpy() if "weight" in part.columns else None
    return LongSequence(name, part["value"].to_numpy(), position, weight)
