"""Read columns of labels, scores and groups."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocpath.cli.early_checks import shown_name
from rocpath.cli.files import opened
from rocpath.files.tables import read_table
from rocpath.survival import Survival
from rocpath.tables.columns import column, numbers_of
from rocpath.tables.labels import LabelColumn, two_classes


class ScoreTable(NamedTuple):
    """Labels, scores and groups of the same rows."""

    name: str
    label: LabelColumn
    is_positive: NDArray[np.bool_]
    score: dict[str, NDArray[np.float64]]
    groups: NDArray[np.generic] | None
    rows: pl.DataFrame  # only the columns of labels, scores and groups

    @property
    def classes(self) -> NDArray[np.str_]:
        """Label of each row, as text."""
        return np.where(self.is_positive, self.label.positive, self.label.negative)


class OutcomeTable(NamedTuple):
    """Labels or censored times, scores and groups of the same rows."""

    name: str
    outcome: Any
    score: dict[str, NDArray[np.float64]]
    groups: NDArray[np.generic] | None
    positive: str | None


def read_scores(
    table: str, label: str, positive: str | None, names: Sequence[str], group: str | None = None
) -> ScoreTable:
    """Read labels and scores, by default all columns except labels and groups."""
    rows = read_table(opened(table))
    others = [label] if group is None else [label, group]
    score = _scores(rows, names, others)
    groups = None if group is None else rows[group].to_numpy()
    known, is_positive = two_classes(column(rows, label, "label"), positive)
    return ScoreTable(
        shown_name(table), known, is_positive, score, groups, rows.select(*score, *others)
    )


def read_outcome(
    table: str,
    label: str | None,
    positive: str | None,
    names: Sequence[str],
    group: str | None,
    survival_time: str | None,
    event: str | None,
) -> OutcomeTable:
    """Read scores, and labels or censored times."""
    if label is not None:
        labeled = read_scores(table, label, positive, names, group)
        parts = (labeled.name, labeled.classes, labeled.score, labeled.groups)
        return OutcomeTable(*parts, labeled.label.positive)
    rows = read_table(opened(table))
    time = numbers_of(column(rows, str(survival_time), "time"), may_miss=False).to_numpy()
    events = column(rows, str(event), "event")
    if events.dtype == pl.Boolean:
        events = events.cast(pl.Int8)
    outcome = Survival(time, numbers_of(events, may_miss=False).to_numpy())
    others = [name for name in (survival_time, event, group) if name is not None]
    score = _scores(rows, names, others)
    groups = None if group is None else rows[group].to_numpy()
    return OutcomeTable(shown_name(table), outcome, score, groups, positive)


def _scores(
    rows: pl.DataFrame, names: Sequence[str], others: Sequence[str]
) -> dict[str, NDArray[np.float64]]:
    """Return columns of scores, by default all but the others."""
    # Columns that are not numeric then raise an error; they are not silently dropped.
    names = names or [name for name in rows.columns if name not in others]
    if len(set(names)) < max(len(names), 2):
        raise ValueError(
            f"at least two different columns of scores are required, got {', '.join(names)}."
        )
    columns = {name: column(rows, name, "score") for name in names}
    return {k: numbers_of(one, may_miss=False).to_numpy() for k, one in columns.items()}
