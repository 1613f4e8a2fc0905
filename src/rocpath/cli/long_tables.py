"""Sequences and their labels from long tables, one row an observation or a label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rocpath.changepoint import Labels, sequence_features
from rocpath.changepoint.labels import KIND_NAMES
from rocpath.cli.table_columns import column, listed, numbers_of, text_of

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
    weight = numbers.get("weight", np.ones(1))
    _check("weight", weight, weight > 0, "must be positive")
    if cost == "poisson":
        value = numbers["value"]
        _check("value", value, value >= 0, "must not be negative for Poisson cost")
    return [
        _sequence(name, rows, numbers) for name, rows in _groups(table, "sequences")
    ]


def labels_of(table: pl.DataFrame, sequences: list[LongSequence]) -> dict[str, Labels]:
    """Collect labels by the name of their sequence, which must be known."""
    start, end = (
        numbers_of(column(table, name, "labels"), may_miss=False).to_numpy()
        for name in ("start", "end")
    )
    kind = text_of(column(table, "kind", "labels")).to_list()
    for row, name in enumerate(kind):
        if name not in KIND_NAMES:
            raise ValueError(
                f"column 'kind' must be one of {', '.join(KIND_NAMES)}; got {name!r} "
                f"in row {row + 1}."
            )
    known = {sequence.name: sequence for sequence in sequences}
    labels = {}
    for name, rows in _groups(table, "labels"):
        if name not in known:
            raise ValueError(
                f"labels name sequence {name!r} in row {rows[0] + 1}, which is not "
                f"among the sequences: {listed(sorted(known))}."
            )
        _check_regions(start, end, rows, known[name])
        labels[name] = Labels(
            start[rows], end[rows], tuple(kind[row] for row in rows), sequence=name
        )
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


def _check_regions(
    start: NDArray[np.float64],
    end: NDArray[np.float64],
    rows: NDArray[np.intp],
    sequence: LongSequence,
) -> None:
    """Raise with the row of the table if the labels of a sequence cannot be."""
    low, high = sequence.position[0], sequence.position[-1]
    last = None
    for row in rows[np.argsort(start[rows], kind="stable")]:
        region = f"({start[row]:g}, {end[row]:g}] in row {row + 1}"
        if not start[row] < end[row]:
            raise ValueError(f"labels must start below their end, got {region}.")
        if not (end[row] > low and start[row] < high):
            raise ValueError(
                f"labels of sequence {sequence.name!r} must lie within it, from "
                f"{low:g} to {high:g}, got {region}."
            )
        if last is not None and start[row] < end[last]:
            raise ValueError(
                f"labels of sequence {sequence.name!r} must not overlap, got {region} "
                f"and the one in row {last + 1}."
            )
        last = row


def _check(
    name: str, number: NDArray[np.float64], is_good: NDArray[np.bool_], rule: str
) -> None:
    if not is_good.all():
        row = int(is_good.argmin())
        raise ValueError(f"column {name!r} {rule}, got {number[row]} in row {row + 1}.")


def _groups(table: pl.DataFrame, role: str) -> list[tuple[str, NDArray[np.intp]]]:
    """Return rows by sequence."""
    name = text_of(column(table, "sequence", role))
    if name.null_count():
        row = int(name.is_null().arg_max() or 0)
        raise ValueError(
            f"column 'sequence' has missing values in row {row + 1}: fill them in or "
            "leave out the row."
        )
    place = name.to_numpy()
    names, first, group = np.unique(place, return_index=True, return_inverse=True)
    order = np.argsort(group, kind="stable")
    rows = np.split(order, np.cumsum(np.bincount(group))[:-1])
    return [(str(names[k]), rows[k]) for k in np.argsort(first)]


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
