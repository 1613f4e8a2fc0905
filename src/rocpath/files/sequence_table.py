"""Sequences read from a table, and those that cannot be used."""

from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

# Columns of a table of changes, besides sequences and positions. Columns of sequences and positions
# have other names.
MEAN_COLUMNS = ("mean_before", "mean_after")
INTERVAL_COLUMNS = ("position_low", "position_high")
WORTH_COLUMNS = ("gain", "min_penalty", "max_penalty")
NOTE_COLUMN = "note"
RESULT_COLUMNS = (*INTERVAL_COLUMNS, *MEAN_COLUMNS, *WORTH_COLUMNS, NOTE_COLUMN)


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
