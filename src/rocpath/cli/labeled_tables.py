"""Sequences, their labels and their groups, from the files that hold them.

Of bedGraph and BED files each chromosome is a sequence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rocpath.changepoint.pieces import bedgraph_pieces, chromosomes, read_bed
from rocpath.cli.files import read_table, shown_name
from rocpath.cli.long_labels import LabelColumns, groups_of, label_names, labels_of
from rocpath.cli.long_tables import (
    LeftOut,
    LongSequence,
    LongTable,
    Request,
    SequenceColumns,
    refuse_if_all_left_out,
    sequence_names,
    sequences_of,
)
from rocpath.cli.penalty_fit import Labeled

if TYPE_CHECKING:
    from rocpath.cli import changepoint_options

_BEDGRAPH = (".bedgraph", ".bdg", ".bg")
_BED = (".bed",)


def sequence_request(
    told: changepoint_options.Sequences,
    segmenting: changepoint_options.Segmenting,
    **more: Any,
) -> Request:
    """Put together what the command line tells of sequences and segmentations."""
    columns = SequenceColumns(told.sequence, told.position, told.value, told.weight)
    source = shown_name(told.sequences)
    return Request(source, *segmenting, columns=columns, **more)


def read_sequences(told: changepoint_options.Sequences, request: Request) -> LongTable:
    """Read sequences of a long table or a bedGraph file; at least one is readable."""
    return _read(told, request)[0]


def read_labeled(
    told: changepoint_options.Sequences,
    told_labels: changepoint_options.Labels,
    request: Request,
) -> Labeled:
    """Read sequences and their labels, and the groups if there are."""
    # Tables that may have the column of groups, the sequences first.
    known, with_groups = _read(told, request)
    source, *names = told_labels
    label_columns, sequence = LabelColumns(*names), request.columns.sequence
    rows = read_label_table(source, request.columns, label_columns)
    found, strange = labels_of(rows, known, label_columns, sequence)
    with_groups.append((rows, label_names(rows, sequence, known)))
    groups = None
    if request.group is not None:
        # Sequences without labels need no group: only what is learned from is held out.
        used = list(found)
        group = groups_of(request.group, used, with_groups)
        groups = dict(zip(used, group, strict=True))
    left_out = [*known.left_out, *strange]
    return Labeled(known.sequences, found, groups, left_out, known.is_time)


def _read(
    told: changepoint_options.Sequences, request: Request
) -> tuple[LongTable, list[tuple[pl.DataFrame, pl.Series]]]:
    """Read sequences, and the table they come from with the name of each row's."""
    columns, tables = request.columns, []
    if _has_ending(told.sequences, _BEDGRAPH):
        found = _bedgraph_sequences(told.sequences, told.fill, request.cost)
    else:
        text = [columns.name("sequence"), columns.name("position")]
        table = read_table(told.sequences, text=text)
        found = sequences_of(table, columns, cost=request.cost)
        tables.append((table, sequence_names(table, columns)))
    refuse_if_all_left_out(found.sequences, found.left_out)
    return found, tables


def read_label_table(
    source: str, columns: SequenceColumns, label_columns: LabelColumns
) -> pl.DataFrame:
    """Read a table of labels or a BED file, with positions as they are written."""
    if _has_ending(source, _BED):
        # Columns after the fourth (scores, strands, colors) say nothing of changes.
        rows = [[word.decode() for word in row[:4]] for row in read_bed(source)]
        names = ("sequence", "start", "end", "kind")
        return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    # As text: names such as 007 and positions must stay as they are written, and the
    # labels may call the column of names otherwise than the sequences.
    text = ["sequence", columns.name("sequence")]
    text += [label_columns.name(role) for role in ("start", "end", "kind")]
    return read_table(source, text=text)


def _has_ending(source: str, endings: tuple[str, ...]) -> bool:
    """Tell whether a name, packed or not, has one of these endings."""
    return source.lower().removesuffix(".gz").endswith(endings)


def _bedgraph_sequences(source: str, fill: float | None, cost: str) -> LongTable:
    """Read every chromosome; its runs have their lengths as weights."""
    table = LongTable([], [])
    # One after the other, so that a fault in one chromosome leaves the others.
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
            table.left_out.append(LeftOut(name, row, str(error).rstrip(".")))
            continue
        # Bases are whole numbers, and are written so.
        shown = pl.Series(position).cast(pl.Int64)
        table.sequences.append(LongSequence(name, row, value, position, weight, shown))
    return table
