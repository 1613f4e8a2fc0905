"""Labels from long tables, one row a label, and the groups of sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from rocpath.changepoint import Labels, label_errors
from rocpath.cli.long_tables import (
    LeftOut,
    LongSequence,
    LongTable,
    named_column,
)
from rocpath.cli.positions import in_their_form, places
from rocpath.tables.columns import complete, listed, refuse, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable


class LabelColumns(NamedTuple):
    """Names of columns that were told; None for the usual ones."""

    start: str | None = None
    end: str | None = None
    kind: str | None = None

    def name(self, role: str) -> str:
        """Return the name of a column, told or usual."""
        return getattr(self, role) or role

    def needed(self, table: pl.DataFrame, role: str) -> pl.Series:
        """Return a column without gaps, or raise."""
        return complete(named_column(table, self.name(role), role, "labels"))


def labels_of(
    table: pl.DataFrame,
    known: LongTable,
    columns: LabelColumns,
    sequence_column: str | None,
) -> tuple[dict[str, Labels], list[LeftOut]]:
    """Collect labels by the name of their sequence; name sequences that are not there.

    Labels of a sequence that is left out are left out with it.
    """
    names = label_names(table, sequence_column, known)
    ends = _ends(table, known, columns)
    kind = text_of(columns.needed(table, "kind")).str.strip_chars().alias("kind")
    frame = pl.DataFrame([names.alias("sequence"), kind, *ends])
    frame = frame.with_row_index("row", offset=1)
    labels: dict[str, Labels] = {}
    strange = []
    readable = {sequence.name: sequence for sequence in known.sequences}
    unread = {one.sequence for one in known.left_out}
    for (key,), part in frame.partition_by(
        "sequence", maintain_order=True, as_dict=True
    ).items():
        name = str(key)
        # Sequences that are left out have been named already.
        if name in readable:
            labels[name] = _checked_labels(part, readable[name], known.is_time)
        elif name not in unread:
            reason = "it is not among the sequences, but named by the labels"
            strange.append(LeftOut(name, int(part["row"][0]), reason))
    if not labels:
        _refuse_all(strange, known)
    return labels, strange


def _ends(
    table: pl.DataFrame, known: LongTable, columns: LabelColumns
) -> list[pl.Series]:
    """Read starts and ends as numbers, and as they are written."""
    found = []
    for role in ("start", "end"):
        series = columns.needed(table, role)
        place = places(series)
        refuse(series, place.number.is_null() | ~place.number.is_finite(), place.rule)
        # Both are numbers inside, so that they could be compared; times would then lie
        # microseconds from 1970, outside any sequence.
        if place.is_time != known.is_time:
            is_, are = ("a time", "numbers") if place.is_time else ("a number", "times")
            raise ValueError(
                f"column {series.name!r} must be as the positions of the sequences, "
                f"which are {are}, got {is_}, {series[0]!r}, in row 1."
            )
        found.append(place.number.alias(role))
        # As written too, for messages.
        found.append(series.cast(pl.String).alias(f"{role}_text"))
    return found


def label_names(table: pl.DataFrame, told: str | None, known: LongTable) -> pl.Series:
    """Return the name of the sequence of each label.

    The column may have the name that it has among the sequences, or its usual one.
    """
    name = told if told is not None and told in table.columns else "sequence"
    # A table of one sequence need not name it, and its labels need not either.
    if told is None and name not in table.columns:
        every = [one.name for one in known.sequences]
        every += [one.sequence for one in known.left_out]
        if len(every) == 1:
            return pl.Series(name, every * table.height)
    return complete(text_of(named_column(table, name, "sequence", "labels")))


def groups_of(
    name: str,
    used: Iterable[str],
    tables: Iterable[tuple[pl.DataFrame, pl.Series]],
) -> list[str]:
    """Return the group of each sequence, from the first table with such a column.

    With each table come the names of the sequences of its rows.
    """
    every: list[str] = []
    for table, names in tables:
        every += table.columns
        if name in table.columns:
            return _groups(table[name], names, list(used))
    raise ValueError(
        f"group column {name!r} not found, neither among the sequences nor the labels; "
        f"columns are: {listed(dict.fromkeys(every))}."
    )


def _groups(column: pl.Series, names: pl.Series, used: list[str]) -> list[str]:
    frame = pl.DataFrame([names.alias("sequence"), text_of(column).alias("group")])
    frame = frame.with_row_index("row", offset=1)
    # After the row numbers, which are those of the file, and before any complaint:
    # groups of sequences that are not used may be missing.
    frame = frame.filter(pl.col("sequence").is_in(used))
    if frame["group"].null_count():
        row = frame.filter(pl.col("group").is_null())["row"][0]
        raise ValueError(f"group column {column.name!r} has no value in row {row}.")
    group: dict[str, str] = {}
    for row, one, value in frame.unique(
        ["sequence", "group"], keep="first", maintain_order=True
    ).iter_rows():
        if one in group:
            raise ValueError(
                f"group column {column.name!r} must have one value in a sequence, got "
                f"{group[one]!r} and, in row {row}, {value!r} for sequence {one!r}."
            )
        group[one] = value
    return [group[one] for one in used]


def _checked_labels(
    part: pl.DataFrame, sequence: LongSequence, is_time: bool
) -> Labels:
    """Make labels; what is wrong is told with times as they were written."""
    row, start, end, kind = (
        part[one].to_numpy() for one in ("row", "start", "end", "kind")
    )
    try:
        labels = Labels(start, end, tuple(kind), sequence=sequence.name, row=row)
        # The errors of no change at all: labels outside are refused before the work.
        label_errors([[]], labels, position=sequence.position)
    except ValueError as error:
        if not is_time:
            raise
        # Messages of the library have times as microseconds, which nobody could find in
        # a table.
        forms: dict[float, str] = {}
        for numbers, texts in (
            (start, part["start_text"].to_list()),
            (end, part["end_text"].to_list()),
            (
                sequence.position[[0, -1]],
                [str(sequence.form(0)), str(sequence.form(-1))],
            ),
        ):
            forms |= {float(n): t for n, t in zip(numbers, texts, strict=True)}
        raise ValueError(in_their_form(str(error), forms)) from None
    return labels


def _refuse_all(strange: list[LeftOut], known: LongTable) -> None:
    """Raise, as there is no sequence with labels."""
    if strange:
        one = strange[0]
        every = sorted(sequence.name for sequence in known.sequences)
        raise ValueError(
            f"labels name sequence {one.sequence!r} in row {one.row}, which is not "
            f"among the sequences: {listed(every)}."
        )
    raise ValueError("no labeled sequence can be read.")
