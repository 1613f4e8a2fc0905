"""Pages to label sequences in, and the first segmentation that they begin with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from rocpath.cli.files import write_folder
from rocpath.cli.labeled_tables import read_label_table
from rocpath.cli.long_labels import LabelColumns, label_names, labels_of
from rocpath.cli.long_tables import warn_of
from rocpath.cli.penalty_model import changes_table
from rocpath.cli.terminal import progress_bar, say
from rocpath.pages.labeling import labeling_html

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocpath.changepoint import Segmentation
    from rocpath.cli.long_tables import (
        LongSequence,
        LongTable,
        Request,
        SequenceColumns,
    )
    from rocpath.cli.options import Folder

LabelRow = tuple[str, Any, Any, str]
# Told with the result: a default that nobody knows of cannot be doubted.
_FORMULAS = {
    "normal": "2 σ² log n, σ² the variance of noise, from differences of neighbors",
    "poisson": "φ log n, φ the variance of noise as a multiple of the mean",
}


def labeling_page(
    sequences: Sequence[LongSequence], request: Request, **more: Any
) -> str:
    """Make the page for the sequences of a long table."""
    return labeling_html(
        [one.name for one in sequences],
        # Labels are saved in the form of the positions, and so fit the table again.
        [one.written_positions for one in sequences],
        [one.value for one in sequences],
        max_changes=request.max_changes,
        cost=request.cost,
        constraint=request.constraint,
        weights=[one.weight for one in sequences],
        **more,
    )


def first_labels(
    source: str, known: LongTable, columns: SequenceColumns
) -> list[LabelRow]:
    """Read labels as they are written, once it is sure that they can be used."""
    usual = LabelColumns()
    table = read_label_table(source, columns, usual)
    usable, strange = labels_of(table, known, usual, columns.sequence)
    warn_of(strange)
    names = label_names(table, columns.sequence, known)
    # Not the numbers of the usable labels: the page saves what it was given, and times
    # must come back as times.
    ends = (usual.needed(table, role) for role in ("start", "end"))
    kinds = usual.needed(table, "kind").str.strip_chars()
    rows = zip(names, *ends, kinds, strict=True)
    return [row for row in rows if row[0] in usable]


def segment_sequences(
    table: LongTable, request: Request, penalty: float | None, to: Folder
) -> None:
    """Segment each sequence, and write the changes, a summary and the page.

    Without a penalty each sequence gets its default.
    """
    warn_of(table.left_out)
    # The penalty that found the changes goes to the page, so that both agree.
    segmented = []
    with progress_bar(len(table.sequences) + 1, quiet=to.quiet) as progress:
        for one in table.sequences:
            progress(f"segmenting {one.name}")
            own = request.default_penalty(one) if penalty is None else penalty
            segmented.append((one, request.segmentation(one, own)))
        progress("making the page")
        page = labeling_page(
            table.sequences,
            request,
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
    write_folder(to.out, contents, force=to.force)
    n_changes = sum(found.n_changes for _, found in segmented)
    rule = _FORMULAS[request.cost] if penalty is None else penalty
    say(f"{n_changes:,} changes in {len(segmented):,} sequences; penalty: {rule}.")
    say(
        f"Wrote {to.out}. Open {to.out}/labels.html to label what is right and what is "
        "wrong."
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
