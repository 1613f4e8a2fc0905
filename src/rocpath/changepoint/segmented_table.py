"""Detect changes in the sequences of a table: what a command shows and writes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import polars as pl

from rocpath.changepoint.change_table import changes_table
from rocpath.changepoint.detection import detect_changes
from rocpath.changepoint.labeling import labeling_page
from rocpath.changepoint.seasons import deseasonalized, period_of
from rocpath.changepoint.segment_costs import Constraint, DetectionCost, SegmentCost
from rocpath.changepoint.segmentation_results import Segmentation
from rocpath.changepoint.worth import ChangeWorth, changes_worth
from rocpath.files.csv_text import inert_csv
from rocpath.files.sequence_table import SequenceTable


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class SegmentedTable:
    """Changes detected in the sequences of a table.

    Attributes
    ----------
    table : SequenceTable
        The sequences.
    segmentations : list of Segmentation
        Segmentation of each sequence.
    worth : list of ChangeWorth
        Worth of the changes of each sequence.
    penalty : float or None
        Penalty of all sequences; None for the default of each sequence.
    settings : dict
        Cost, constraint, minimum length and maximum number of changes.
    """

    table: SequenceTable
    segmentations: list[Segmentation]
    worth: list[ChangeWorth]
    penalty: float | None
    settings: dict[str, Any]

    def __repr__(self) -> str:
        rule = "default of each sequence" if self.penalty is None else f"{self.penalty:g}"
        n_changes = _counted(sum(model.n_changes for model in self.segmentations), "change")
        return f"{n_changes} in {_counted(len(self.segmentations), 'sequence')}; penalty: {rule}."

    @property
    def changes(self) -> pl.DataFrame:
        """Table of all changes, as `changes_table` returns it."""
        return changes_table(self.table, self.segmentations, self.worth)

    @property
    def sequences(self) -> pl.DataFrame:
        """Table with the length, cost, penalty, changes and warnings of each sequence."""
        name = self.table.columns.sequence or "sequence"
        rows: list[dict[str, Any]] = [
            {name: sequence.name, "n_observations": len(sequence.value)}
            | {"penalty": model.penalty, "n_changes": model.n_changes}
            | {"cost": model.model, "note": "; ".join(model.warnings) or None}
            for sequence, model in zip(self.table.sequences, self.segmentations, strict=True)
        ]
        rows += [{name: one.sequence, "note": one.note} for one in self.table.skipped]
        numbers = {"n_observations": pl.Int64, "penalty": pl.Float64, "n_changes": pl.Int64}
        text = {"cost": pl.String, "note": pl.String}
        return pl.DataFrame(rows, schema={name: pl.String, **numbers, **text})

    def page(self, title: str = "Label changes") -> str:
        """Return a labeling page that first shows these segmentations.

        Parameters
        ----------
        title : str
            Title of the page, as plain text.
        """
        return labeling_page(
            deseasonalized(self.table.values, self.segmentations),
            names=self.table.names,
            positions=self.table.written_positions,
            weights=self.table.weights,
            penalties=[model.penalty for model in self.segmentations],
            cost=[cast(SegmentCost, model.model) for model in self.segmentations],
            notes=[_note(model) for model in self.segmentations],
            title=title,
            **self.settings,
        )

    def to_files(self, title: str = "Label changes") -> dict[str, str]:
        """Return the contents of changes.csv, sequences.csv and labels.html, by name.

        Parameters
        ----------
        title : str
            Title of labels.html, as plain text.
        """
        return {
            "changes.csv": inert_csv(self.changes),
            "sequences.csv": inert_csv(self.sequences),
            "labels.html": self.page(title),
        }


def segment_table(
    table: SequenceTable,
    penalty: float | None = None,
    *,
    max_changes: int = 20,
    cost: DetectionCost = "normal",
    constraint: Constraint = None,
    min_length: int = 1,
    period: int | str | None = None,
    confidence: float = 0.95,
    progress: Callable[[int, int], None] | None = None,
) -> SegmentedTable:
    """Detect changes in the sequences of a table, without labels.

    The command ``rocpath changepoint segment`` calls this function, and shows and writes
    its result.

    Parameters
    ----------
    table : SequenceTable
        Sequences that :func:`rocpath.read_sequences` read.
    penalty : float, optional
        Penalty per change; by default, the `default_penalty` of each sequence.
    max_changes : int
        Maximum number of changes on the labeling page.
    cost, constraint, min_length, confidence
        As for `detect_changes`.
    period : int or str, optional
        Period of a seasonal pattern: a number of observations or, if positions are
        times, a duration such as ``"1d"`` or ``"12h"``.
    progress : callable, optional
        As for `detect_changes`.

    Returns
    -------
    SegmentedTable

    Examples
    --------
    >>> import polars as pl
    >>> import rocpath as rp
    >>> from rocpath import changepoint as cp
    >>> table = rp.read_sequences(pl.DataFrame({"value": [0.0, 0.0, 0.0, 5.0, 5.0, 5.0]}))
    >>> cp.segment_table(table, 1.0)
    1 change in 1 sequence; penalty: 1.
    """
    search: dict[str, Any] = {"constraint": constraint, "min_length": min_length}
    segmentations = detect_changes(
        table.values,
        penalty,
        cost=cost,
        period=period_of(table, period),
        confidence=confidence,
        weights=table.weights,
        names=table.names,
        progress=progress,
        **search,
    )
    settings = {"weights": table.weights, **search}
    return SegmentedTable(
        table=table,
        segmentations=segmentations,
        worth=changes_worth(deseasonalized(table.values, segmentations), segmentations, **settings),
        penalty=penalty,
        settings={"max_changes": max_changes, **search},
    )


def _note(model: Segmentation) -> str:
    season = () if model.season is None else ("A seasonal pattern was subtracted",)
    warnings = tuple(f"{one[0].upper()}{one[1:]}" for one in model.warnings)
    return "".join(f"{one}. " for one in (*season, *warnings)).rstrip()


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
