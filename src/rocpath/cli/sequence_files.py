"""Read sequences, labels and groups from files.

Each chromosome of a bedGraph or BED file is a sequence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from rocpath.changepoint.pieces import bedgraph_pieces, chromosomes, read_bed
from rocpath.cli.change_tables import check_result_names
from rocpath.cli.files import read_table
from rocpath.cli.long_labels import LabelColumns, groups_of, label_names, labels_of
from rocpath.cli.long_tables import (
    LongSequence,
    LongTable,
    SequenceColumns,
    SkippedSequence,
    first_of,
    sequence_names,
    sequences_of,
)
from rocpath.cli.terminal import say
from rocpath.cli.wide_tables import wide_sequences

if TYPE_CHECKING:
    from rocpath import changepoint as cp
    from rocpath.cli.changepoint_options import LabelTable, Sequences

_BEDGRAPH = (".bedgraph", ".bdg", ".bg")
_BED = (".bed",)


class LabeledTable(NamedTuple):
    """Sequences, with labels and groups in the same order, or None."""

    table: LongTable
    labels: list[cp.Labels | None]
    groups: list[str] | None
    metadata: dict[str, str | None]

    @property
    def for_fit(self) -> dict[str, Any]:
        """Arguments of `LearnedDetector.fit` besides the values."""
        return {
            "labels": self.labels,
            "groups": self.groups,
            "weights": self.table.weights,
            "positions": [one.position for one in self.table.sequences],
        }

    @property
    def for_report(self) -> dict[str, Any]:
        """Arguments of `LearnedDetector.report` besides the title."""
        return {
            "names": self.table.names,
            "is_time": self.table.is_time,
            "notes": [str(one) for one in self.table.skipped],
        }


def open_sequences(
    options: Sequences, *, cost: str, saved: dict[str, Any] | None = None, quiet: bool = False
) -> tuple[LongTable, SequenceColumns]:
    """Read sequences of a table or a bedGraph file, at least one of them usable.

    Columns have the names of the options, or else those saved with a model.
    """
    columns = _columns(options, saved or {})
    check_result_names(columns)
    table, _ = _read(options, columns, cost)
    _show_notes(table, quiet=quiet)
    return table, columns


def open_labeled(
    options: Sequences, label_options: LabelTable, group: str | None, *, cost: str, quiet: bool
) -> LabeledTable:
    """Read sequences, their labels, and their groups if a column is named."""
    columns = _columns(options, {})
    check_result_names(columns)
    known, tables = _read(options, columns, cost)
    source, *names = label_options
    label_columns = LabelColumns(*names)
    rows = read_label_table(source, columns, label_columns)
    found, unknown = labels_of(rows, known, label_columns, columns.sequence)
    groups = None
    if group is not None:
        tables.append((rows, label_names(rows, columns.sequence, known)))
        # Unlabeled sequences need no group, as they are not cross-validated.
        by_name = dict(zip(found, groups_of(group, found, tables), strict=True))
        groups = [by_name.get(name, "") for name in known.names]
    labels = [found.get(name) for name in known.names]
    n_unlabeled = labels.count(None)
    notes = known.notes
    if n_unlabeled:
        notes += (f"{n_unlabeled:,} of {len(labels):,} sequences have no labels.",)
    known = known._replace(skipped=[*known.skipped, *unknown], notes=notes)
    _show_notes(known, quiet=quiet)
    return LabeledTable(known, labels, groups, columns._asdict())


def _show_notes(table: LongTable, *, quiet: bool) -> None:
    for line in first_of(table.skipped):
        say(line)
    for note in () if quiet else table.notes:
        say(f"note: {note}")


def _columns(options: Sequences, saved: dict[str, Any]) -> SequenceColumns:
    names = SequenceColumns(
        *(getattr(options, role) or saved.get(role) for role in SequenceColumns._fields)
    )
    given = [one for one in names if one is not None]
    for place, name in enumerate(given):
        if name in given[:place]:
            raise ValueError(f"column {name!r} must have one role, got two.")
    return names


def initial_labels(
    source: str | None, known: LongTable, columns: SequenceColumns
) -> list[tuple[str, Any, Any, str]]:
    """Read labels for the labeling page, with their limits as they are written."""
    if source is None:
        return []
    usual = LabelColumns()
    table = read_label_table(source, columns, usual)
    usable, unknown = labels_of(table, known, usual, columns.sequence)
    for line in first_of(unknown):
        say(line)
    names = label_names(table, columns.sequence, known)
    # The page saves limits as they are written, so that times stay times.
    limits = (usual.needed(table, role) for role in ("start", "end"))
    kinds = usual.needed(table, "kind").str.strip_chars()
    rows = zip(names, *limits, kinds, strict=True)
    return [row for row in rows if row[0] in usable]


def _read(
    options: Sequences, columns: SequenceColumns, cost: str
) -> tuple[LongTable, list[tuple[pl.DataFrame, pl.Series]]]:
    """Read sequences, and the table they come from with the name of each row's."""
    tables: list[tuple[pl.DataFrame, pl.Series]] = []
    if _has_ending(options.sequences, _BEDGRAPH):
        found = _bedgraph_sequences(options.sequences, options.fill, cost)
    else:
        table = read_table(options.sequences, text=columns.names_as_text)
        if options.wide or options.common:
            found = wide_sequences(
                table, columns, cost=cost, repeated=options.repeated, is_common=options.common
            )
            found.check_not_empty()
            return found, tables
        found = sequences_of(table, columns, cost=cost, repeated=options.repeated)
        tables.append((table, sequence_names(table, columns)))
    found.check_not_empty()
    return found, tables


def read_label_table(
    source: str, columns: SequenceColumns, label_columns: LabelColumns
) -> pl.DataFrame:
    """Read a table of labels or a BED file, with positions as they are written."""
    if _has_ending(source, _BED):
        # Columns after the fourth (scores, strands, colors) are not about changes.
        rows = [[word.decode() for word in row[:4]] for row in read_bed(source)]
        names = ("sequence", "start", "end", "kind")
        return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    # As text, so that names such as 007 and positions stay as they are written.
    text = ["sequence", columns.name("sequence")]
    text += [label_columns.name(role) for role in ("start", "end", "kind")]
    return read_table(source, text=text)


def _has_ending(source: str, endings: tuple[str, ...]) -> bool:
    return source.lower().removesuffix(".gz").endswith(endings)


def _bedgraph_sequences(source: str, fill: float | None, cost: str) -> LongTable:
    """Read every chromosome; the weights are the lengths of runs."""
    table = LongTable([], [])
    # One after the other, so that an error in one chromosome skips only that one.
    for name, row in chromosomes(source).items():
        try:
            pieces = list(bedgraph_pieces(source, chrom=name, fill=fill).read())
            value, weight, position = (
                np.concatenate([piece[place] for piece in pieces]) for place in range(3)
            )
            if cost == "poisson" and value.min() < 0:
                raise ValueError(
                    "values must not be negative for Poisson cost, got "
                    f"{value.min()} at {position[value.argmin()]:.0f}"
                )
            if not np.isfinite(value).all():
                raise ValueError("values must be finite")
        except ValueError as error:
            reason = str(error).rstrip(".")
            table.skipped.append(SkippedSequence(name, row, reason))
            continue
        # Genomic positions are whole numbers.
        shown = pl.Series(position).cast(pl.Int64)
        table.sequences.append(LongSequence(name, row, value, position, weight, shown))
    return table
