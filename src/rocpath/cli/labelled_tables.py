"""Sequences, their labels and their groups, from the files that hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rocpath.cli.files import read_table
from rocpath.cli.genome_files import (
    bed_table,
    bedgraph_sequences,
    is_bed,
    is_bedgraph,
)
from rocpath.cli.long_labels import LabelColumns, groups_of, label_names, labels_of
from rocpath.cli.long_tables import (
    LongTable,
    SequenceColumns,
    sequence_names,
    sequences_of,
)
from rocpath.cli.penalty_fit import Labelled, Request, refuse_if_all_left_out

if TYPE_CHECKING:
    import polars as pl

    from rocpath.changepoint.segmentation import SegmentCost


def read_sequences(
    source: str, columns: SequenceColumns, *, cost: SegmentCost, fill: float | None
) -> LongTable:
    """Read sequences of a long table or a bedGraph file; at least one is readable."""
    if is_bedgraph(source):
        table = bedgraph_sequences(source, fill=fill, cost=cost)
    else:
        table = sequences_of(_sequence_table(source, columns), columns, cost=cost)
    refuse_if_all_left_out(table.sequences, table.left_out)
    return table


def read_labelled(
    sequences: str,
    labels: str,
    request: Request,
    label_columns: LabelColumns,
    *,
    fill: float | None,
) -> Labelled:
    """Read sequences and their labels, and the groups if there are."""
    columns, cost = request.columns, request.cost
    # Tables that may have the column of groups, the sequences first.
    with_groups: list[tuple[pl.DataFrame, pl.Series]] = []
    if is_bedgraph(sequences):
        known = bedgraph_sequences(sequences, fill=fill, cost=cost)
    else:
        table = _sequence_table(sequences, columns)
        known = sequences_of(table, columns, cost=cost)
        with_groups.append((table, sequence_names(table, columns)))
    refuse_if_all_left_out(known.sequences, known.left_out)
    rows = read_label_table(labels, columns, label_columns)
    found, strange = labels_of(rows, known, label_columns, columns.sequence)
    with_groups.append((rows, label_names(rows, columns.sequence, known)))
    groups = None
    if request.group is not None:
        # Sequences without labels need no group: only what is learned from is held out.
        used = list(found)
        group = groups_of(request.group, used, with_groups)
        groups = dict(zip(used, group, strict=True))
    left_out = [*known.left_out, *strange]
    return Labelled(known.sequences, found, groups, left_out, known.is_time)


def read_label_table(
    source: str, columns: SequenceColumns, label_columns: LabelColumns
) -> pl.DataFrame:
    """Read a table of labels or a BED file, with positions as they are written."""
    if is_bed(source):
        return bed_table(source)
    # As text: names such as 007 and positions must stay as they are written, and the
    # labels may call the column of names otherwise than the sequences.
    text = ["sequence", columns.name("sequence")]
    text += [label_columns.name(role) for role in ("start", "end", "kind")]
    return read_table(source, text=text)


def _sequence_table(source: str, columns: SequenceColumns) -> pl.DataFrame:
    text = [columns.name("sequence"), columns.name("position")]
    return read_table(source, text=text)
