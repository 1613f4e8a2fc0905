"""Sequences from wide tables, with one numeric column per sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rocpath.cli.long_tables import LongSequence, SequenceColumns, sequences_of
from rocpath.tables.columns import listed

if TYPE_CHECKING:
    from rocpath.cli.long_tables import LongTable

_COMMON = "all columns"


def wide_sequences(
    table: pl.DataFrame, columns: SequenceColumns, *, cost: str, repeated: str, is_common: bool
) -> LongTable:
    """Read each numeric column as a sequence, or all of them as one."""
    position = columns.optional(table, "position")
    at = None if position is None else position.name
    names = [one.name for one in table if one.name != at and one.dtype.is_numeric()]
    if not names:
        raise ValueError(
            f"sequences must have a numeric column; columns are: {listed(table.columns)}."
        )
    index = [] if at is None else [at]
    # A long table, in which bad columns are skipped like other bad sequences.
    long = table.select(*index, *names).unpivot(
        names, index=index or None, variable_name="sequence", value_name="value"
    )
    own = SequenceColumns("sequence", at, "value")
    found = sequences_of(long, own, cost=cost, repeated=repeated)
    if not is_common or found.skipped:
        return found
    first = found.sequences[0]
    value = np.column_stack([one.value for one in found.sequences])
    common = LongSequence(
        _COMMON, 1, value, first.position, first.weight, first.shown, tuple(names)
    )
    return found._replace(sequences=[common])
