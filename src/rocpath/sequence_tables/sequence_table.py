"""Sequences read from a table, and tables of their changes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocpath.changepoint import ChangeWorth, Segmentation

_MEANS = ("mean_before", "mean_after")
_WORTH = ("gain", "min_penalty", "max_penalty")
_NOTE = "note"
RESULT_COLUMNS = (*_MEANS, *_WORTH, _NOTE)  # besides sequences and positions


class SequenceColumns(NamedTuple):
    """Names of columns; None for the default names."""

    sequence: str | None = None
    position: str | None = None
    value: str | None = None
    weight: str | None = None


class TableSequence(NamedTuple):
    """One sequence: its values, positions and weights."""

    name: str
    value: NDArray[np.float64]
    position: NDArray[np.float64]
    written: pl.Series  # positions as in the table, or row numbers
    weight: NDArray[np.float64] | None = None
    columns: tuple[str, ...] = ()  # names of columns with common changes


class SkippedSequence(NamedTuple):
    """A sequence that cannot be used, the first bad row, and the reason."""

    sequence: str
    row: int
    reason: str

    @property
    def note(self) -> str:
        """Reason and row."""
        return f"{self.reason} in row {self.row}"

    def __str__(self) -> str:
        """Return the name and the note as a sentence."""
        name = f"sequence {self.sequence!r}" if self.sequence else "rows without a name"
        return f"skipped {name}: {self.note}."


class SequenceTable(NamedTuple):
    """Sequences of a table, and those that cannot be used.

    Attributes
    ----------
    columns : SequenceColumns
        Names of columns, as passed by the user.
    sequences : list of TableSequence
        Name, values, positions and weights of each sequence.
    skipped : list of SkippedSequence
        Name, first bad row and reason of each sequence that cannot be used.
    is_time : bool
        Whether positions are times, in microseconds since 1970.
    notes : tuple of str
        Sentences about runs and missing values.
    rows : polars.DataFrame
        Rows of the table; ``row_names`` contains the name of the sequence of each row.
    """

    columns: SequenceColumns
    sequences: list[TableSequence]
    skipped: list[SkippedSequence]
    is_time: bool = False
    notes: tuple[str, ...] = ()
    rows: pl.DataFrame = pl.DataFrame()
    row_names: pl.Series = pl.Series("sequence", [], dtype=pl.String)

    @property
    def names(self) -> list[str]:
        """Names of the sequences."""
        return [one.name for one in self.sequences]

    @property
    def values(self) -> list[NDArray[np.float64]]:
        """Values of the sequences."""
        return [one.value for one in self.sequences]

    @property
    def weights(self) -> list[NDArray[np.float64] | None] | None:
        """Weights of the sequences; None if no sequence has weights."""
        weights = [one.weight for one in self.sequences]
        return None if all(one is None for one in weights) else weights

    @property
    def positions(self) -> list[NDArray[np.float64]]:
        """Positions of the observations; times are microseconds since 1970."""
        return [one.position for one in self.sequences]

    @property
    def written_positions(self) -> list[NDArray[Any]]:
        """Positions as written in the table: numbers or text."""
        written = [one.written for one in self.sequences]
        return [
            (one if one.dtype.is_numeric() else one.cast(pl.String)).to_numpy() for one in written
        ]

    def changes(self, found: Sequence[Segmentation], worth: Sequence[ChangeWorth]) -> pl.DataFrame:
        """Return a table of changes with their positions as written, means and worth.

        A skipped sequence has one row with a note, to distinguish it from a sequence
        without changes.
        """
        sequence = self.columns.sequence or "sequence"
        position = self.columns.position or "position"
        first = self.sequences[0]
        # If columns have common changes, there are two means for each column.
        names = [f"{name}_{side}" for name in first.columns for side in ("before", "after")]
        means = names or _MEANS
        rows: list[dict[str, Any]] = []
        for one, model, own in zip(self.sequences, found, worth, strict=True):
            for k, change in enumerate(model.changes.tolist()):
                values = np.ravel(np.column_stack((model.mean[k], model.mean[k + 1]))).tolist()
                row = {sequence: one.name, position: one.written[change]}
                row |= {name: float(getattr(own, name)[k]) for name in _WORTH}
                rows.append(row | dict(zip(means, values, strict=True)))
        rows += [{sequence: one.sequence, _NOTE: one.note} for one in self.skipped]
        schema: dict[str, Any] = {sequence: pl.String, position: first.written.dtype}
        schema |= dict.fromkeys([*means, *_WORTH], pl.Float64) | {_NOTE: pl.String}
        changes = pl.DataFrame(rows, schema=schema).with_columns(pl.col(_WORTH).fill_nan(None))
        # Positions in a CSV file are read as text to keep their format; integers are
        # converted back.
        number = changes[position].cast(pl.Int64, strict=False)
        if number.cast(pl.String).eq_missing(changes[position].cast(pl.String)).all():
            changes = changes.with_columns(number)
        return changes
