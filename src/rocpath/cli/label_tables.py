"""Read labels of sequences, with one row per label, and groups of sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from rocpath.changepoint import Labels, label_errors
from rocpath.changepoint.pieces import read_bed
from rocpath.cli.files import read_table
from rocpath.cli.positions import parsed_positions, with_written_positions
from rocpath.cli.sequence_tables import SkippedSequence, has_ending, needed_column
from rocpath.tables.columns import complete, listed, refuse, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rocpath.cli.changepoint_options import LabelTable
    from rocpath.cli.sequence_tables import SequenceTable, TableSequence

_COLUMNS = ("sequence", "start", "end", "kind")


class LabeledSequences(NamedTuple):
    """Sequences, with labels and groups in the same order, or None."""

    table: SequenceTable
    labels: list[Labels | None]
    groups: list[str] | None
    rows: list[tuple[str, Any, Any, str]]  # labels with limits as they are written

    @property
    def for_fit(self) -> dict[str, Any]:
        """Arguments of `LearnedDetector.fit` besides the values."""
        return {
            "labels": self.labels,
            "groups": self.groups,
            "weights": self.table.weights,
            "positions": [one.position for one in self.table.sequences],
        }


def read_labels(
    options: LabelTable, known: SequenceTable, group: str | None = None
) -> LabeledSequences:
    """Read the labels of sequences, and their groups if a column is named.

    Labels of unknown sequences are skipped and named; labels of a skipped sequence are
    skipped with it.
    """
    table = _read(options, known)
    frame = _label_rows(table, options, known)
    parts = frame.partition_by("sequence", maintain_order=True, as_dict=True)
    usable = {one.name: one for one in known.sequences}
    skipped = {one.sequence for one in known.skipped}
    found, unknown = {}, []
    for (key,), part in parts.items():
        name = str(key)
        if name in usable:
            found[name] = _labels(part, usable[name], is_time=known.is_time)
        # Skipped sequences have been named already.
        elif name not in skipped:
            reason = "the labels name it, but there is no such sequence"
            unknown.append(SkippedSequence(name, part["row"][0], reason))
    if not found:
        _refuse_all(unknown, known)
    groups = None
    if group is not None:
        sources = (known.rows, known.row_names), (table, frame["sequence"])
        by_name = _groups(group, list(found), sources)
        # Unlabeled sequences need no group, as they are not cross-validated.
        groups = [by_name.get(name, "") for name in known.names]
    labels = [found.get(name) for name in known.names]
    notes = known.notes
    if None in labels:
        notes += (f"{labels.count(None):,} of {len(labels):,} sequences have no labels.",)
    known = known._replace(skipped=[*known.skipped, *unknown], notes=notes)
    rows = frame.filter(pl.col("sequence").is_in(list(found)))
    columns = ("sequence", "written_start", "written_end", "kind")
    return LabeledSequences(known, labels, groups, rows.select(columns).rows())


def _label_rows(table: pl.DataFrame, options: LabelTable, known: SequenceTable) -> pl.DataFrame:
    """Return labels with the names of their sequences, and limits in both forms."""
    kind = text_of(complete(needed_column(table, options, "kind"))).alias("kind")
    limits = [_limits(table, options, role, known.is_time) for role in ("start", "end")]
    frame = pl.DataFrame([_names(table, known), kind, *limits[0], *limits[1]])
    return frame.with_row_index("row", offset=1)


def _read(options: LabelTable, known: SequenceTable) -> pl.DataFrame:
    """Read a table of labels or a BED file, with positions as they are written."""
    if has_ending(options.labels, (".bed",)):
        # Columns after the fourth (scores, strands, colors) are not about changes.
        rows = [[word.decode() for word in row[:4]] for row in read_bed(options.labels)]
        return pl.DataFrame(rows, schema=dict.fromkeys(_COLUMNS, pl.String), orient="row")
    given = (known.options.sequence, options.start, options.end, options.kind)
    return read_table(options.labels, text={*_COLUMNS, *filter(None, given)})


def _names(table: pl.DataFrame, known: SequenceTable) -> pl.Series:
    """Return the name of the sequence of each label.

    The column may have the same name as among the sequences, or its usual one.
    """
    options = known.options
    if options.sequence is not None and options.sequence not in table.columns:
        options = options._replace(sequence=None)
    # A table of one sequence need not name it, nor do its labels.
    if options.sequence is None and "sequence" not in table.columns:
        every = [*known.names, *(one.sequence for one in known.skipped)]
        if len(every) == 1:
            return pl.Series("sequence", every * table.height)
    return complete(text_of(needed_column(table, options, "sequence"))).alias("sequence")


def _limits(
    table: pl.DataFrame, options: LabelTable, role: str, is_time: bool
) -> tuple[pl.Series, pl.Series]:
    """Return starts or ends as numbers, and as they are written."""
    series = complete(needed_column(table, options, role))
    positions = parsed_positions(series)
    refuse(series, positions.is_bad, positions.rule)
    if positions.is_time != is_time:
        are, is_ = ("times", "a number") if is_time else ("numbers", "a time")
        raise ValueError(
            f"column {series.name!r} must match the positions of the sequences, "
            f"which are {are}, got {is_}, {series[0]!r}, in row 1."
        )
    return positions.number.alias(role), series.alias(f"written_{role}")


def _labels(part: pl.DataFrame, sequence: TableSequence, *, is_time: bool) -> Labels:
    """Return the labels of a sequence; messages show times as they are written."""
    row, start, end, kind = (part[one].to_numpy() for one in ("row", "start", "end", "kind"))
    try:
        labels = Labels(start, end, tuple(kind), sequence=sequence.name, row=row)
        # Rejects labels outside of the sequence before any segmentation.
        label_errors([[]], labels, position=sequence.position)
    except ValueError as error:
        if not is_time:
            raise
        # The library shows times in microseconds, which are not in the table.
        numbers = [*start, *end, *sequence.position[[0, -1]]]
        written = [*part["written_start"], *part["written_end"], *sequence.written[[0, -1]]]
        message = with_written_positions(str(error), map(float, numbers), map(str, written))
        raise ValueError(message) from None
    return labels


def _groups(
    name: str, used: list[str], tables: Iterable[tuple[pl.DataFrame, pl.Series]]
) -> dict[str, str]:
    """Return the group of each sequence, from the first table with such a column.

    Each table comes with the names of the sequences of its rows.
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
                f"group column {name!r} must have one value in a sequence, got "
                f"{groups[one]!r} and, in row {row}, {group!r} for sequence {one!r}."
            )
    return groups


def _refuse_all(unknown: list[SkippedSequence], known: SequenceTable) -> None:
    """Raise, as there is no sequence with labels."""
    if unknown:
        one = unknown[0]
        raise ValueError(
            f"labels name sequence {one.sequence!r} in row {one.row}, which is not "
            f"among the sequences: {listed(sorted(known.names))}."
        )
    raise ValueError("no labeled sequence can be read.")
