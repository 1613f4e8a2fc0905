"""A first segmentation of sequences without labels, and the page to label them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from rocpath.changepoint import Segmentation, default_penalty, segment_penalty
from rocpath.cli.files import write_folder
from rocpath.cli.labelling import labelling_page
from rocpath.cli.penalty_fit import warn_of
from rocpath.cli.penalty_model import changes_table
from rocpath.cli.terminal import progress_bar, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocpath.changepoint.segmentation import Constraint, SegmentCost
    from rocpath.cli.long_tables import LongSequence, LongTable, SequenceColumns

# Told with the result: a default that nobody knows of cannot be doubted.
_FORMULAS = {
    "normal": "2 σ² log n, σ² the variance of noise, from differences of neighbours",
    "poisson": "φ log n, φ the variance of noise as a multiple of the mean",
}


class FirstRequest(NamedTuple):
    """How to segment; without a penalty, each sequence gets its default."""

    source: str
    penalty: float | None
    max_changes: int
    cost: SegmentCost
    constraint: Constraint
    columns: SequenceColumns


def segment_sequences(
    table: LongTable, request: FirstRequest, *, out: str, force: bool, quiet: bool
) -> None:
    """Segment each sequence, and write the changes, a summary and the page."""
    warn_of(table.left_out)
    # The penalty that found the changes goes to the page, so that both agree.
    segmented = []
    with progress_bar(len(table.sequences) + 1, quiet=quiet) as progress:
        for one in table.sequences:
            progress(f"segmenting {one.name}")
            segmented.append((one, _segmented(one, request)))
        progress("making the page")
        page = labelling_page(
            table.sequences,
            max_changes=request.max_changes,
            cost=request.cost,
            constraint=request.constraint,
            # The page opens at the changes that changes.csv lists.
            penalties=[found.penalty for _, found in segmented],
            title=f"Label changes of {request.source}",
        )
    changes = changes_table(segmented, table.left_out, request.columns)
    contents = {
        "changes.csv": changes.write_csv(),
        "sequences.csv": _summary(segmented, table, request.columns).write_csv(),
        "labels.html": page,
    }
    write_folder(out, contents, force=force)
    n_changes = sum(found.n_changes for _, found in segmented)
    rule = _FORMULAS[request.cost] if request.penalty is None else request.penalty
    say(f"{n_changes:,} changes in {len(segmented):,} sequences; penalty: {rule}.")
    say(
        f"Wrote {out}. Open {out}/labels.html to label what is right and what is wrong."
    )


def _segmented(one: LongSequence, request: FirstRequest) -> Segmentation:
    penalty = request.penalty
    if penalty is None:
        penalty = default_penalty(one.value, cost=request.cost, weights=one.weight)
    return segment_penalty(
        one.value,
        penalty,
        cost=request.cost,
        weights=one.weight,
        constraint=request.constraint,
    )


def _summary(
    segmented: Sequence[tuple[LongSequence, Segmentation]],
    table: LongTable,
    columns: SequenceColumns,
) -> pl.DataFrame:
    """Tell the length, penalty and number of changes of each sequence."""
    rows: list[tuple[str, int | None, float | None, int | None, str | None]] = [
        (one.name, one.value.size, found.penalty, found.n_changes, None)
        for one, found in segmented
    ]
    # Named here too: a table may be read long after the warnings have scrolled away.
    rows += [
        (one.sequence, None, None, None, f"{one.reason} in row {one.row}")
        for one in table.left_out
    ]
    schema = {
        columns.name("sequence"): pl.String,
        "n_observations": pl.Int64,
        "penalty": pl.Float64,
        "n_changes": pl.Int64,
        "note": pl.String,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")
