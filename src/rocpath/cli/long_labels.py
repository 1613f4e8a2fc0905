"""Labels from tables with one row per label, and groups of sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from rocpath.changepoint import Labels, label_errors
from rocpath.cli.long_tables import LongSequence, LongTable, SkippedSequence, named_column
from rocpath.cli.positions import parsed_positions, with_original_text
from rocpath.tables.columns import complete, listed, refuse, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable


class LabelColumns(NamedTuple):
    """Names of columns that were given as options; None for the usual ones."""

    start: str | None = None
    end: str | None = None
    kind: str | None = None

    def name(self, role: str) -> str:
        """Return the given name of a column, or its usual one."""
        return getattr(self, role) or role

    def needed(self, table: pl.DataFrame, role: str) -> pl.Series:
        """Return a column without missing values, or raise."""
        return complete(named_column(table, self.name(role), role, "labels"))


def labels_of(
    table: pl.DataFrame, known: LongTable, columns: LabelColumns, sequence_column: str | None
) -> tuple[dict[str, Labels], list[SkippedSequence]]:
    """Collect labels by the name of their sequence, and name unknown sequences.

    Labels of a skipped sequence are skipped with it.
    """
    names = label_names(table, sequence_column, known)
    ends = _ends(table, known, columns)
    kind = text_of(columns.needed(table, "kind")).str.strip_chars().alias("kind")
    frame = pl.DataFrame([names.alias("sequence"), kind, *ends])
    frame = frame.with_row_index("row", offset=1)
    labels: dict[str, Labels] = {}
    unknown = []
    readable = {sequence.name: sequence for sequence in known.sequences}
    skipped = {one.sequence for one in known.skipped}
    for (key,), part in frame.partition_by("sequence", maintain_order=True, as_dict=True).items():
        name = str(key)
        # Skipped sequences have been named already.
        if name in readable:
            labels[name] = _checked_labels(part, readable[name], known.is_time)
        elif name not in skipped:
            reason = "the labels name it, but there is no such sequence"
            unknown.append(SkippedSequence(name, int(part["row"][0]), reason))
    if not labels:
        _refuse_all(unknown, known)
    return labels, unknown


def _ends(table: pl.DataFrame, known: LongTable, columns: LabelColumns) -> list[pl.Series]:
    """Read starts and ends as numbers, and keep their text."""
    found = []
    for role in ("start", "end"):
        series = columns.needed(table, role)
        positions = parsed_positions(series)
        refuse(series, positions.is_bad, positions.rule)
        if positions.is_time != known.is_time:
            is_, are = "a number", "times"
            if positions.is_time:
                is_, are = "a time", "numbers"
            raise ValueError(
                f"column {series.name!r} must match the positions of the sequences, "
                f"which are {are}, got {is_}, {series[0]!r}, in row 1."
            )
        found.append(positions.number.alias(role))
        # The text is for messages.
        found.append(series.cast(pl.String).alias(f"{role}_text"))
    return found


def label_names(table: pl.DataFrame, given: str | None, known: LongTable) -> pl.Series:
    """Return the name of the sequence of each label.

    The column may have the same name as among the sequences, or its usual one.
    """
    name = given if given is not None and given in table.columns else "sequence"
    # A table of one sequence need not name it, nor do its labels.
    if given is None and name not in table.columns:
        every = [*known.names, *(one.sequence for one in known.skipped)]
        if len(every) == 1:
            return pl.Series(name, every * table.height)
    return complete(text_of(named_column(table, name, "sequence", "labels")))


def groups_of(
    name: str, used: Iterable[str], tables: Iterable[tuple[pl.DataFrame, pl.Series]]
) -> list[str]:
    """Return the group of each sequence, from the first table with such a column.

    Each table comes with the names of the sequences of its rows.
    """
    every: list[str] = []
    for table, names in tables:
        every += table.columns
        if name in table.columns:
            return _groups(table[name], names, list(used))
    raise ValueError(
        f"group column {name!r} not found in the sequences or the labels; "
        f"columns are: {listed(dict.fromkeys(every))}."
    )


def _groups(column: pl.Series, names: pl.Series, used: list[str]) -> list[str]:
    frame = pl.DataFrame([names.alias("sequence"), text_of(column).alias("group")])
    frame = frame.with_row_index("row", offset=1)
    # Groups of sequences that are not used may be missing.
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


def _checked_labels(part: pl.DataFrame, sequence: LongSequence, is_time: bool) -> Labels:
    """Return labels; messages show times as they are written."""
    row, start, end, kind = (part[one].to_numpy() for one in ("row", "start", "end", "kind"))
    try:
        labels = Labels(start, end, tuple(kind), sequence=sequence.name, row=row)
        # Rejects labels outside of the sequence before any segmentation.
        label_errors([[]], labels, position=sequence.position)
    except ValueError as error:
        if not is_time:
            raise
        # The library shows times in microseconds, which are not in the table.
        shown: dict[float, str] = {}
        for numbers, texts in (
            (start, part["start_text"].to_list()),
            (end, part["end_text"].to_list()),
            (sequence.position[[0, -1]], [str(sequence.text_of_position(k)) for k in (0, -1)]),
        ):
            shown |= {float(n): t for n, t in zip(numbers, texts, strict=True)}
        raise ValueError(with_original_text(str(error), shown)) from None
    return labels


def _refuse_all(unknown: list[SkippedSequence], known: LongTable) -> None:
    """Raise, as there is no sequence with labels."""
    if unknown:
        one = unknown[0]
        every = sorted(known.names)
        raise ValueError(
            f"labels name sequence {one.sequence!r} in row {one.row}, which is not "
            f"among the sequences: {listed(every)}."
        )
    raise ValueError("no labeled sequence can be read.")
