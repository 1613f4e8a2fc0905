"""The command changepoint label: a page to label sequences in the browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from rocpath.cli import changepoint_commands as shared
from rocpath.cli import options
from rocpath.cli.options import command

if TYPE_CHECKING:
    from rocpath.cli.long_tables import LongTable, SequenceColumns

app = shared.app  # the commands on sequences, and this one


@command(
    app,
    "rocpath changepoint label signals.csv --out labels.html",
    "rocpath changepoint label signals.csv --labels labels.csv --out labels.html",
)
def label(
    sequences: shared.SequencesArgument,
    out: Annotated[
        str, typer.Option(metavar="FILE", help="The page; - for stdout.")
    ] = "labels.html",
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="LABELS",
            help="Labels to begin with: a table with columns sequence, start, end, "
            "kind, or a BED file.",
        ),
    ] = None,
    sequence: shared.SequenceOption = None,
    position: shared.PositionOption = None,
    value: shared.ValueOption = None,
    weight: shared.WeightOption = None,
    max_changes: shared.MaxChangesOption = 20,
    cost: shared.CostOption = "normal",
    constraint: shared.ConstraintOption = None,
    fill: shared.FillOption = None,
    force: options.ForceOption = False,
    quiet: options.QuietOption = False,
) -> None:
    """Make a page to label sequences in the browser.

    Mark regions with the mouse or the keyboard and say what is right in them; the page
    shows which segmentations agree, and which sequence to label next. It works offline,
    and saves the labels as a table that changepoint fit reads.
    """
    from rocpath.cli.files import STANDARD_STREAM, check_file, write_text
    from rocpath.cli.labelled_tables import read_sequences
    from rocpath.cli.long_tables import SequenceColumns
    from rocpath.cli.penalty_fit import warn_of
    from rocpath.cli.terminal import say
    from rocpath.pages.labelling import labelling_html

    check_file(out, force=force)
    columns = SequenceColumns(sequence, position, value, weight)
    table = read_sequences(sequences, columns, cost=cost, fill=fill)
    warn_of(table.left_out)
    every = table.sequences
    page = labelling_html(
        [one.name for one in every],
        [one.written_positions for one in every],
        [one.value for one in every],
        labels=[] if labels is None else _rows(labels, table, columns),
        max_changes=max_changes,
        cost=cost,
        constraint=constraint,
        weights=[one.weight for one in every],
    )
    write_text(page, out, force=force)
    if out != STANDARD_STREAM and not quiet:
        say(f"Wrote {out}; open it in a browser.")


def _rows(
    source: str, known: LongTable, columns: SequenceColumns
) -> list[tuple[str, Any, Any, str]]:
    """Read labels as they are written, once it is sure that they can be used."""
    from rocpath.cli.labelled_tables import read_label_table
    from rocpath.cli.long_labels import LabelColumns, label_names, labels_of
    from rocpath.cli.penalty_fit import warn_of

    usual = LabelColumns()
    table = read_label_table(source, columns, usual)
    usable, strange = labels_of(table, known, usual, columns.sequence)
    warn_of(strange)
    names = label_names(table, columns.sequence, known)
    ends = (usual.needed(table, role) for role in ("start", "end"))
    kinds = usual.needed(table, "kind").str.strip_chars()
    rows = zip(names, *ends, kinds, strict=True)
    return [row for row in rows if row[0] in usable]
