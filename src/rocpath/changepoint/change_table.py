"""Tables of detected changes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from rocpath.changepoint.segmentation_results import Segmentation
from rocpath.changepoint.worth import ChangeWorth
from rocpath.files.sequence_table import (
    INTERVAL_COLUMNS,
    MEAN_COLUMNS,
    NOTE_COLUMN,
    WORTH_COLUMNS,
    SequenceTable,
)


def changes_table(
    table: SequenceTable, found: Sequence[Segmentation], worth: Sequence[ChangeWorth]
) -> pl.DataFrame:
    """Return a table with one row per change: position, interval, means and worth.

    Positions are as written in the table. With lines, the means are their values next to
    the change.

    A skipped sequence has one row with a note, to distinguish it from a sequence
    without changes.

    Parameters
    ----------
    table : SequenceTable
        Sequences that :func:`rocpath.read_sequences` read.
    found : list of Segmentation
        Segmentation of each sequence of the table.
    worth : list of ChangeWorth
        Worth of the changes of each sequence, from `changes_worth`.

    Returns
    -------
    polars.DataFrame

    Examples
    --------
    >>> import polars as pl
    >>> import rocpath as rp
    >>> from rocpath import changepoint as cp
    >>> table = rp.read_sequences(pl.DataFrame({"value": [0.0, 0.0, 0.0, 5.0, 5.0, 5.0]}))
    >>> found = cp.detect_changes(table.values, 1.0)
    >>> changes = cp.changes_table(table, found, cp.changes_worth(table.values, found))
    >>> changes["position", "mean_before", "mean_after"].row(0)
    (3, 0.0, 5.0)
    """
    sequence = table.columns.sequence or "sequence"
    position = table.columns.position or "position"
    first = table.sequences[0]
    # If columns have common changes, there are two means for each column.
    names = [f"{name}_{side}" for name in first.columns for side in ("before", "after")]
    means = names or MEAN_COLUMNS
    rows: list[dict[str, Any]] = []
    for one, model, own in zip(table.sequences, found, worth, strict=True):
        for k, change in enumerate(model.changes.tolist()):
            values = np.ravel(np.column_stack(model.around(k))).tolist()
            row = {sequence: one.name, position: one.written[change]}
            row |= {name: float(getattr(own, name)[k]) for name in WORTH_COLUMNS}
            if model.intervals is not None:
                ends = [one.written[int(end)] for end in model.intervals[k]]
                row |= dict(zip(INTERVAL_COLUMNS, ends, strict=True))
            rows.append(row | dict(zip(means, values, strict=True)))
    rows += [{sequence: one.sequence, NOTE_COLUMN: one.note} for one in table.skipped]
    schema: dict[str, Any] = {sequence: pl.String, position: first.written.dtype}
    schema |= dict.fromkeys([*means, *WORTH_COLUMNS], pl.Float64)
    schema |= dict.fromkeys(INTERVAL_COLUMNS, first.written.dtype) | {NOTE_COLUMN: pl.String}
    changes = pl.DataFrame(rows, schema=schema).with_columns(pl.col(WORTH_COLUMNS).fill_nan(None))
    # Positions in a CSV file are read as text to keep their format; integers are
    # converted back.
    for name in (position, *INTERVAL_COLUMNS):
        number = changes[name].cast(pl.Int64, strict=False)
        if number.cast(pl.String).eq_missing(changes[name].cast(pl.String)).all():
            changes = changes.with_columns(number)
    return changes
