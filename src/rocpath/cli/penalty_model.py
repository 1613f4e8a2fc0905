"""A model of changepoint penalties for the sequences of long tables."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import polars as pl

from rocpath.changepoint import PenaltyRegressor, Segmentation
from rocpath.cli.long_tables import (
    LeftOut,
    LongSequence,
    SequenceColumns,
    features_of,
    without_runs_at_fault,
)
from rocpath.cli.positions import typed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rocpath.changepoint.segmentation import Constraint, SegmentCost

_MEANS = ("mean_before", "mean_after")
_NOTE = "note"


@dataclass(frozen=True, slots=True, eq=False)
class PenaltyModel:
    """Hold a fitted regressor, and how sequences were read and segmented for it."""

    kind: ClassVar = "changepoint"
    regressor: PenaltyRegressor
    feature_names: tuple[str, ...]
    cost: SegmentCost
    constraint: Constraint
    has_runs: bool
    columns: Mapping[str, str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what a file might bring instead of our regressor."""
        if type(self.regressor) is not PenaltyRegressor:
            raise ValueError("the regressor is not one that rocpath makes.")

    def sequence_columns(self, told: SequenceColumns) -> SequenceColumns:
        """Return the columns that are told now, or else were in the fit."""
        # So that the table of a fit can be scored without naming its columns again.
        return SequenceColumns(
            *(
                getattr(told, role) or self.columns.get(role)
                for role in SequenceColumns._fields
            )
        )

    def segmented(
        self, sequences: Sequence[LongSequence]
    ) -> tuple[list[tuple[LongSequence, Segmentation]], list[LeftOut]]:
        """Segment the sequences that the model can be used for; name the others."""
        good, left_out = without_runs_at_fault(sequences, has_runs=self.has_runs)
        if not good:
            return [], left_out
        X, _ = features_of(good, has_runs=self.has_runs)
        # A column of weights is there for all sequences or for none.
        weights = [one.weight for one in good if one.weight is not None]
        segmentations = self.regressor.predict_changes(
            [one.value for one in good],
            X,
            cost=self.cost,
            constraint=self.constraint,
            weights=weights or None,
        )
        return list(zip(good, segmentations, strict=True)), left_out


def changes_table(
    segmented: Iterable[tuple[LongSequence, Segmentation]],
    left_out: Iterable[LeftOut],
    columns: SequenceColumns,
) -> pl.DataFrame:
    """List the changes: where each is, and the means on both of its sides.

    A sequence that was left out has a row with a note and nothing else, as without one
    it would seem to have no changes.
    """
    sequence, position = columns.name("sequence"), columns.name("position")
    # Positions apart from the rest: they are numbers, times or text, as they came.
    rows: list[tuple[str, float | None, float | None, str | None]] = []
    shown = []
    for one, found in segmented:
        means = zip(found.changes, found.mean[:-1], found.mean[1:], strict=True)
        for change, before, after in means:
            rows.append((one.name, float(before), float(after), None))
            shown.append(one.form(int(change)))
    for lost in left_out:
        rows.append((lost.sequence, None, None, f"{lost.reason} in row {lost.row}"))
        shown.append(None)
    schema = {sequence: pl.String, **dict.fromkeys(_MEANS, pl.Float64)}
    table = pl.DataFrame(rows, schema={**schema, _NOTE: pl.String}, orient="row")
    # Without changes there is nothing to take a type from.
    place = pl.Series(position, shown, dtype=None if shown else pl.Int64)
    return table.insert_column(1, typed(place))


def check_columns(columns: SequenceColumns) -> None:
    """Raise where the columns of a result would have one name twice."""
    # Before the work: a table with a name twice could not be written.
    names = [columns.name(role) for role in SequenceColumns._fields]
    for place, name in enumerate(names):
        if name in (*names[:place], *_MEANS, _NOTE):
            raise ValueError(
                f"column {name!r} must have one role, and no name of a result "
                f"({', '.join((*_MEANS, _NOTE))}): rename it."
            )
