"""The page to label sequences of long tables, and the labels that it begins with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rocpath.cli.labelled_tables import read_label_table
from rocpath.cli.long_labels import LabelColumns, label_names, labels_of
from rocpath.cli.penalty_fit import warn_of
from rocpath.pages.labelling import TITLE, labelling_html

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rocpath.changepoint.segmentation import Constraint, SegmentCost
    from rocpath.cli.long_tables import LongSequence, LongTable, SequenceColumns

LabelRow = tuple[str, Any, Any, str]


def labelling_page(
    sequences: Sequence[LongSequence],
    *,
    max_changes: int,
    cost: SegmentCost,
    constraint: Constraint,
    labels: Sequence[LabelRow] = (),
    penalties: Sequence[float] | None = None,
    title: str = TITLE,
) -> str:
    """Make the page for the sequences of a long table."""
    return labelling_html(
        [one.name for one in sequences],
        # Labels are saved in the form of the positions, and so fit the table again.
        [one.written_positions for one in sequences],
        [one.value for one in sequences],
        labels=labels,
        max_changes=max_changes,
        cost=cost,
        constraint=constraint,
        weights=[one.weight for one in sequences],
        penalties=penalties,
        title=title,
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
