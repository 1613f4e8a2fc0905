"""Read columns of labels, scores and groups."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocpath.cli.early_checks import shown_name
from rocpath.cli.files import opened
from rocpath.files.tables import read_table
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


def read_scores(
    table: str, label: str, positive: str | None, names: Sequence[str], group: str | None = None
) -> ScoreTable:
    """Read labels and scores, by default all columns except labels and groups."""
    rows = read_table(opened(table))
    others = [label] if group is None else [label, group]
    # Columns that are not numeric then raise an error; they are not silently dropped.
    names = names or [name for name in rows.columns if name not in others]
    if len(set(names)) < max(len(names), 2):
        raise ValueError(
            f"at least two different columns of scores are required, got {', '.join(names)}."
        )
    columns = {name: column(rows, name, "score") for name in names}
    score = {k: numbers_of(one, may_miss=False).to_numpy() for k, one in columns.items()}
    groups = None if group is None else rows[group].to_numpy()
    known, is_positive = two_classes(column(rows, label, "label"), positive)
    return ScoreTable(
        shown_name(table), known, is_positive, score, groups, rows.select(*names, *others)
    )
