"""Read labels of sequences, with one row per label, and groups of sequences."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import polars as pl

from rocpath.changepoint.labels import Labels, label_errors
from rocpath.files.columns import check_rows, complete, text_of
from rocpath.files.positions import parsed_positions, with_written_positions
from rocpath.files.sequence_table import SequenceTable, SkippedSequence, TableSequence
from rocpath.files.sequences import needed_column
from rocpath.files.source_rows import Source, as_rows
from rocpath.files.table_names import listed

_COLUMNS = ("sequence", "start", "end", "kind")


class LabelTable(NamedTuple):
    """Labels and groups of the sequences of a table.

    Attributes
    ----------
    labels : list of Labels or None
        Labels of each sequence; None for sequences without labels.
    groups : list of str or None
        Group of each sequence, if a column of groups was given.
    rows : list of tuple
        Name of the sequence, start, end and kind of each label, as written in the
        source.
    unknown : list of SkippedSequence
        Sequences that have labels but are not in the table.
    """

    labels: list[Labels | None]
    groups: list[str] | None
    rows: list[tuple[str, Any, Any, str]]
    unknown: list[SkippedSequence]


def read_labels(
    source: Source,
    table: SequenceTable,
    *,
    start: str | None = None,
    end: str | None = None,
    kind: str | None = None,
    group: str | None = None,
) -> LabelTable:
    """Read labels of sequences from a table with one row per label.

    The labeling page saves such tables. The column with the names of sequences may have
    the same name as in the table of sequences. Labels of skipped sequences are skipped.

    Parameters
    ----------
    source : path, binary file, or pandas or polars data frame
        Table as for :func:`read_table`, or a BED file.
    table : SequenceTable
        Sequences that the labels refer to.
    start, end, kind : str, optional
        Names of the columns with the start, end and kind of each label; by default
        ``start``, ``end`` and ``kind``.
    group : str, optional
        Name of the column, in either table, with the group of each sequence.

    Returns
    -------
    LabelTable

    Examples
    --------
    >>> import polars as pl
    >>> import rocpath as rp
    >>> table = rp.read_sequences(pl.DataFrame({"value": [1.0, 1.0, 5.0, 5.0]}))
    >>> labels = pl.DataFrame({"start": [0], "end": [3], "kind": ["one_change"]})
    >>> rp.read_labels(labels, table).labels[0].kind
    ('one_change',)
    """
    given = {"start": start, "end": end, "kind": kind}
    rows = as_rows(source, {*_COLUMNS, *given.values(), table.columns.sequence})
    frame = _label_rows(rows, given, table)
    usable = {one.name: one for one in table.sequences}
    skipped = {one.sequence for one in table.skipped}
    found, unknown = {}, []
    for (key,), part in frame.partition_by("sequence", maintain_order=True, as_dict=True).items():
        name = str(key)
        if name in usable:
            found[name] = _labels(part, usable[name], is_time=table.is_time)
        # Skipped sequences have already been reported.
        elif name not in skipped:
            reason = "it is not among the sequences, but it has a label"
            unknown.append(SkippedSequence(name, part["row"][0], reason))
    if not found:
        _raise_without_labels(unknown, table)
    groups = None
    if group is not None:
        sources = (table.rows, table.row_names), (rows, frame["sequence"])
        by_name = _groups(group, list(found), sources)
        # Unlabeled sequences need no group, as they are not cross-validated.
        groups = [by_name.get(name, "") for name in table.names]
    used = frame.filter(pl.col("sequence").is_in(list(found)))
    written = used.select("sequence", "written_start", "written_end", "kind").rows()
    return LabelTable([found.get(name) for name in table.names], groups, written, unknown)


def _label_rows(
    rows: pl.DataFrame, given: dict[str, str | None], table: SequenceTable
) -> pl.DataFrame:
    """Return labels with sequence names, and limits as numbers and as written."""
    start, end, kind = (complete(needed_column(rows, *one)) for one in given.items())
    columns = {"sequence": _names(rows, table), "kind": text_of(kind)}
    limits = {"start": _limits(start, table.is_time), "end": _limits(end, table.is_time)}
    written = {"written_start": start, "written_end": end}
    return pl.DataFrame(columns | limits | written).with_row_index("row", offset=1)


def _names(rows: pl.DataFrame, table: SequenceTable) -> pl.Series:
    """Return the name of the sequence of each label."""
    given = table.columns.sequence if table.columns.sequence in rows.columns else None
    # If there is only one sequence, neither the table nor the labels need its name.
    all_names = [*table.names, *(one.sequence for one in table.skipped)]
    if given is None and "sequence" not in rows.columns and len(all_names) == 1:
        return pl.Series("sequence", all_names * rows.height)
    return complete(text_of(needed_column(rows, "sequence", given))).alias("sequence")


def _limits(series: pl.Series, is_time: bool) -> pl.Series:
    """Return starts or ends of labels as numbers, or raise."""
    positions = parsed_positions(series)
    check_rows(series, positions.is_bad, positions.rule)
    if positions.is_time != is_time:
        are, got = ("times", "number") if is_time else ("numbers", "time")
        raise ValueError(
            f"column {series.name!r} must match the positions of the sequences, "
            f"which are {are}, got the {got} {series[0]!r} in row 1."
        )
    return positions.number


def _labels(part: pl.DataFrame, sequence: TableSequence, *, is_time: bool) -> Labels:
    """Return the labels of a sequence; error messages show times as in the table."""
    row, start, end, kind = (part[one].to_numpy() for one in ("row", "start", "end", "kind"))
    try:
        labels = Labels(start, end, tuple(kind), sequence=sequence.name, row=row)
        # This rejects labels outside the sequence before any segmentation.
        label_errors([[]], labels, position=sequence.position)
    except ValueError as error:
        if not is_time:
            raise
        # The message contains times in microseconds; replace them by those in the table.
        numbers = [*start, *end, *sequence.position[[0, -1]]]
        written = [*part["written_start"], *part["written_end"], *sequence.written[[0, -1]]]
        message = with_written_positions(str(error), map(float, numbers), map(str, written))
        raise ValueError(message) from None
    return labels


def _groups(
    name: str, used: list[str], tables: Iterable[tuple[pl.DataFrame, pl.Series]]
) -> dict[str, str]:
    """Return the group of each sequence, from the first table with such a column.

    Each table is paired with the sequence names of its rows.
    """
    for table, names in tables:
        if name in table.columns:
            frame = pl.DataFrame([names.alias("sequence"), text_of(table[name]).alias("group")])
            break
    else:
        every = dict.fromkeys(column for table, _ in tables for column in table.columns)
        raise ValueError(
            f"group column {name!r} not found in the sequences or the labels; "
            f"columns are: {listed(every)}."
        )
    # Groups of sequences that are not used may be missing.
    frame = frame.with_row_index("row", offset=1).filter(pl.col("sequence").is_in(used))
    groups: dict[str, str] = {}
    for row, one, group in frame.unique(["sequence", "group"], keep="first").sort("row").rows():
        if group is None:
            raise ValueError(f"group column {name!r} has no value in row {row}.")
        if groups.setdefault(one, group) != group:
            raise ValueError(
                f"group column {name!r} must have one value per sequence, got "
                f"{groups[one]!r} and, in row {row}, {group!r} for sequence {one!r}."
            )
    return groups


def _raise_without_labels(unknown: list[SkippedSequence], table: SequenceTable) -> None:
    """Raise an error that explains why no sequence has labels."""
    if unknown:
        one = unknown[0]
        raise ValueError(
            f"labels refer to sequence {one.sequence!r} in row {one.row}, which is not "
            f"among the sequences: {listed(sorted(table.names))}."
        )
    raise ValueError("labels must refer to sequences that can be read, got only skipped ones.")
