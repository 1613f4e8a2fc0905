"""Read columns of scores, and show their comparison in the terminal."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocpath.cli.early_checks import shown_name
from rocpath.cli.files import opened
from rocpath.cli.terminal import say
from rocpath.evaluation.many_curves import AUCComparisons
from rocpath.files.tables import read_table
from rocpath.pages.evaluation import significant_differences
from rocpath.tables.columns import column, numbers_of
from rocpath.tables.labels import BinaryLabel, binary_label


class ScoreTable(NamedTuple):
    """Labels, scores and groups of the same rows."""

    name: str
    label: BinaryLabel
    score: dict[str, NDArray[np.float64]]
    groups: NDArray[np.generic] | None
    rows: pl.DataFrame  # only the columns of labels, scores and groups

    @property
    def classes(self) -> NDArray[np.str_]:
        """Label of each row, as text."""
        return np.where(self.label.is_positive, self.label.positive, self.label.negative)


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
    known = binary_label(column(rows, label, "label"), positive)
    return ScoreTable(shown_name(table), known, score, groups, rows.select(*names, *others))


def comparison_dict(
    known: ScoreTable, found: AUCComparisons, max_fpr: float | None
) -> dict[str, Any]:
    """Return AUCs and differences, for JSON."""
    pairs = [
        {"first": pair.first, "second": pair.second, **asdict(pair.comparison)}
        | {"holm_p_value": pair.holm_p_value}
        for pair in found.pairs
    ]
    scores = {name: asdict(area) for name, area in found.intervals.items()}
    results = {"scores": scores, "pairs": pairs, "p_value": found.p_value}
    return {**known.label.summary, "max_fpr": max_fpr, **results}


def show_comparisons(known: ScoreTable, found: AUCComparisons, max_fpr: float | None) -> None:
    """Show AUCs and tests of all pairs, and name the significant differences."""
    limit = "" if max_fpr is None else f"; partial AUC up to an FPR of {max_fpr:g}"
    area = "AUC" if max_fpr is None else "partial AUC"
    sys.stdout.write(f"{known.name}: {known.label.counted}{limit}\n{found!r}\n")
    for line in significant_differences(found, area):
        say(line)
