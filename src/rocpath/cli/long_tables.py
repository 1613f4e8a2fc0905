"""Sequences and their labels from long tables, one row an observation or a label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

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
    import polars as pl
    from numpy.typing import NDArray

    from rocpath.changepoint.segmentation import SegmentCost

_MOST_REPEATED = 10**8


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
    columns = {"value": numbers_of(column(table, "value", "sequences"), may_miss=False)}
    for name in ("position", "weight"):
        if name in table.columns:
            columns[name] = numbers_of(table[name], may_miss=False)
    numbers = {name: series.to_numpy() for name, series in columns.items()}
    if "weight" in columns:
        refuse(columns["weight"], columns["weight"] <= 0, "must be positive")
    if cost == "poisson":
        rule = "must not be negative for Poisson cost"
        refuse(columns["value"], columns["value"] < 0, rule)
    return [
        _sequence(name, rows, numbers) for name, rows in _groups(table, "sequences")
    ]


def labels_of(table: pl.DataFrame, sequences: list[LongSequence]) -> dict[str, Labels]:
    """Collect labels by the name of their sequence, which must be known."""
    start, end = (
        numbers_of(column(table, name, "labels"), may_miss=False).to_numpy()
        for name in ("start", "end")
    )
    kind = text_of(column(table, "kind", "labels")).to_numpy()
    known = {sequence.name: sequence for sequence in sequences}
    labels = {}
    for name, rows in _groups(table, "labels"):
        if name not in known:
            raise ValueError(
                f"labels name sequence {name!r} in row {rows[0] + 1}, which is not "
                f"among the sequences: {listed(sorted(known))}."
            )
        labels[name] = Labels(
            start[rows], end[rows], tuple(kind[rows]), sequence=name, row=rows + 1
        )
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


def _groups(table: pl.DataFrame, role: str) -> list[tuple[str, NDArray[np.intp]]]:
    """Return rows by sequence, in order of first appearance."""
    names = complete(text_of(column(table, "sequence", role)))
    groups = names.to_frame().with_row_index().group_by(names.name, maintain_order=True)
    return [(name, np.array(rows)) for name, rows in groups.agg("index").iter_rows()]


def _sequence(
    name: str, rows: NDArray[np.intp], numbers: dict[str, Any]
) -> LongSequence:
    position = np.arange(float(rows.size))
    if "position" in numbers:
        rows = rows[np.argsort(numbers["position"][rows], kind="stable")]
        position = numbers["position"][rows]
        is_repeated = np.diff(position) == 0
        if is_repeated.any():
            row = rows[int(is_repeated.argmax()) + 1]
            raise ValueError(
                f"column 'position' must not repeat within sequence {name!r}, got "
                f"{numbers['position'][row]} again in row {row + 1}."
            )
    weight = numbers["weight"][rows] if "weight" in numbers else None
    return LongSequence(name, numbers["value"][rows], position, weight)
