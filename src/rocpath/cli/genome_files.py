"""Sequences of bedGraph files and labels of BED files, one chromosome a sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rocpath.changepoint.pieces import bedgraph_pieces, chromosomes, read_bed
from rocpath.cli.long_tables import LeftOut, LongSequence, LongTable

if TYPE_CHECKING:
    from rocpath.changepoint.segmentation import SegmentCost

_BEDGRAPH = (".bedgraph", ".bdg", ".bg")
_BED = (".bed",)


def is_bedgraph(source: str) -> bool:
    """Tell whether the name is that of a bedGraph file, packed or not."""
    return source.lower().removesuffix(".gz").endswith(_BEDGRAPH)


def is_bed(source: str) -> bool:
    """Tell whether the name is that of a BED file, packed or not."""
    return source.lower().removesuffix(".gz").endswith(_BED)


def bedgraph_sequences(
    source: str, *, fill: float | None, cost: SegmentCost
) -> LongTable:
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


def bed_table(source: str) -> pl.DataFrame:
    """Read a BED file as a table of labels."""
    # Columns after the fourth (scores, strands, colours) say nothing of changes.
    rows = [[word.decode() for word in row[:4]] for row in read_bed(source)]
    names = ("sequence", "start", "end", "kind")
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
