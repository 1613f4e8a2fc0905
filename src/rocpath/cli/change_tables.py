"""Tables of changes and of segmented sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rocpath.cli.positions import with_number_type
from rocpath.cli.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocpath.changepoint import ChangeWorth, Segmentation
    from rocpath.cli.long_tables import LongTable, SequenceColumns

_RESULTS = ("mean_before", "mean_after")
_WORTH = ("gain", "min_penalty", "max_penalty")
_NOTE = "note"


def changes_table(
    table: LongTable,
    found: Sequence[Segmentation],
    worth: Sequence[ChangeWorth],
    columns: SequenceColumns,
) -> pl.DataFrame:
    """List the changes: their positions, the means before and after, and their worth.

    A skipped sequence has one row with a note, to distinguish it from a sequence
    without changes.
    """
    sequence, position = columns.name("sequence"), columns.name("position")
    # Positions are separate from the rest: they are numbers, times or text.
    rows: list[dict[str, Any]] = []
    shown = []
    results = _result_names(table)
    for one, model, own in zip(table.sequences, found, worth, strict=True):
        for k, change in enumerate(model.changes):
            # Means before and after, in turn for each column.
            means = np.ravel(np.column_stack((model.mean[k], model.mean[k + 1])))
            values = dict(zip(results, means.tolist(), strict=True))
            values |= {name: float(getattr(own, name)[k]) for name in _WORTH}
            rows.append({sequence: one.name, **values})
            shown.append(one.text_of_position(int(change)))
    for lost in table.skipped:
        note = f"{lost.reason} in row {lost.row}"
        rows.append({sequence: lost.sequence, _NOTE: note})
        shown.append(None)
    schema = {sequence: pl.String, **dict.fromkeys([*results, *_WORTH], pl.Float64)}
    changes = pl.DataFrame(rows, schema={**schema, _NOTE: pl.String})
    changes = changes.with_columns(pl.col(_WORTH).fill_nan(None))
    # Without changes there is no value that determines the type.
    place = pl.Series(position, shown, dtype=None if shown else pl.Int64)
    return changes.insert_column(1, with_number_type(place))


def detection_files(
    table: LongTable,
    found: Sequence[Segmentation],
    worth: Sequence[ChangeWorth],
    columns: SequenceColumns,
) -> dict[str, str]:
    """Return the tables of a detection without labels, as CSV by file name."""
    return {
        "changes.csv": changes_table(table, found, worth, columns).write_csv(),
        "sequences.csv": summary_table(table, found, columns).write_csv(),
    }


def detection_summary(found: Sequence[Segmentation], penalty: float | None) -> str:
    """Return the numbers of changes and sequences, in a sentence."""
    n_changes = sum(one.n_changes for one in found)
    rule = "default of each sequence" if penalty is None else f"{penalty:g}"
    return f"{counted(n_changes, 'change')} in {counted(len(found), 'sequence')}; penalty: {rule}."


def _result_names(table: LongTable) -> list[str]:
    """Return the names of the means; of common changes, those of each column."""
    columns = table.sequences[0].columns
    if not columns:
        return list(_RESULTS)
    return [f"{column}_{side}" for column in columns for side in ("before", "after")]


def summary_table(
    table: LongTable, found: Sequence[Segmentation], columns: SequenceColumns
) -> pl.DataFrame:
    """List the length, penalty and number of changes of each sequence."""
    rows: list[tuple[str, int | None, float | None, int | None, str | None]] = [
        (one.name, len(one.value), model.penalty, model.n_changes, None)
        for one, model in zip(table.sequences, found, strict=True)
    ]
    rows += [
        (one.sequence, None, None, None, f"{one.reason} in row {one.row}") for one in table.skipped
    ]
    schema = {
        columns.name("sequence"): pl.String,
        "n_observations": pl.Int64,
        "penalty": pl.Float64,
        "n_changes": pl.Int64,
        _NOTE: pl.String,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def check_result_names(columns: SequenceColumns) -> None:
    """Raise if a column of the results would have the name of another."""
    names = (columns.name("sequence"), columns.name("position"))
    for name in names:
        if name in (*_RESULTS, *_WORTH, _NOTE) or names.count(name) > 1:
            raise ValueError(
                f"column {name!r} must have one role, and not the name of a result "
                f"({', '.join((*_RESULTS, *_WORTH, _NOTE))}): rename it."
            )
