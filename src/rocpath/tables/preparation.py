"""Prepare a table for a fit: labels, column types, dependence of rows, and warnings."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocpath.files.columns import check_rows, complete, text_of
from rocpath.files.frames import as_series, as_table
from rocpath.sample import Sample, group_codes, row_weights
from rocpath.tables import dependence
from rocpath.tables.columns import ColumnAudit, TableFeatures, column, feature_columns, numbers_of
from rocpath.tables.labels import LabelColumn, two_classes
from rocpath.tables.leaks import suspect_leaks
from rocpath.tables.model import TableModel

MIN_ROWS_OF_A_CLASS = 10  # with fewer, a warning is issued
_MESSAGES = {
    "leak": "column {!r}: {note}",
    "copies": "{count:,} of {n_rows:,} rows are copies of others: identical rows are kept in one "
    "fold and count as one in standard errors",
    "groups": "column {!r} looks like a repeated identifier ({count:,} values in "
    "{n_rows:,} rows): rows with the same value may not be independent, and the AUC for new "
    "values may be lower; evaluate by group",
    "time": "the share of positives changes with column {!r}: if the model is used on later "
    "rows, evaluate it forward in time",
    "few rows": "one class has only {count} rows, too few to estimate an AUC",
    "labels": "column {!r} has more than two labels: {counts} count as negative; drop these rows "
    "if they are not",
    "unlabeled": "{count:,} of {n_rows:,} rows have no label and are skipped",
    "training rows": "{count:,} of {n_rows:,} test rows are copies of training rows: the AUC on "
    "new rows may be lower",
}


class TableWarning(NamedTuple):
    """Reason to doubt the results, and the columns concerned.

    ``kind`` is ``"leak"``, ``"copies"``, ``"groups"``, ``"time"``, ``"few rows"``,
    ``"labels"``, ``"unlabeled"`` or ``"training rows"``.
    """

    kind: str
    message: str
    columns: tuple[str, ...] = ()

    @classmethod
    def of(cls, kind: str, *columns: str, **values: Any) -> Self:
        """Return a warning of a kind, with values inserted into its message."""
        return cls(kind, _MESSAGES[kind].format(*columns, **values), columns)


class PreparedTable(NamedTuple):
    """Labeled rows, the use of their columns, and their dependence."""

    frame: pl.DataFrame  # features as float64 or text
    sample: Sample
    label: LabelColumn
    features: TableFeatures
    columns: list[ColumnAudit]
    warnings: list[TableWarning]
    time: pl.Series | None = None  # times of the rows, as given

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Select rows."""
        time = None if self.time is None else self.time[rows]
        return self._replace(frame=self.frame[rows], sample=self.sample.take(rows), time=time)


# Columns of labels, groups, times and weights, by the name of the argument.
Roles: TypeAlias = Mapping[str, pl.Series]


def read_roles(table: pl.DataFrame, **values: Any) -> Roles:
    """Look up columns that are given by name, and check the length of other values."""
    return {name: _role(table, one, name) for name, one in values.items() if one is not None}


def sample_of_roles(
    roles: Roles, is_positive: NDArray[np.bool_], copy: NDArray[np.intp] | None = None
) -> Sample:
    """Return the sample of rows with these groups, times and weights."""
    group = time = weight = None
    if "groups" in roles:
        text = complete(text_of(roles["groups"]), "group column").to_numpy()
        group = group_codes("groups", text, text.size)
    if "time" in roles:
        time = numbers_of(roles["time"], may_miss=False).to_numpy()
    if "sample_weight" in roles:
        numbers = numbers_of(roles["sample_weight"], may_miss=False)
        check_rows(roles["sample_weight"], numbers < 0, "must not be negative")
        weight = row_weights(numbers.to_numpy(), numbers.len())
    return Sample(is_positive, weight, group, time=time, copy=copy)


def prepare_table(
    X: Any,
    values: Mapping[str, Any],
    *,
    positive: str | None = None,
    drop: Iterable[str] = (),
    types: Mapping[str, str] | None = None,
) -> PreparedTable:
    """Find labels, column types, groups and copies, and collect warnings.

    ``values`` are column names or one value per row, by the name of the argument:
    ``"y"``, ``"groups"``, ``"time"`` and ``"sample_weight"``.
    """
    table, roles, warnings = labeled_rows(as_table(X), values)
    for name in drop:
        column(table, name, "drop")
    label, is_positive = two_classes(roles["y"], positive)
    # Columns that were given as values, such as groups=frame["customer"], are excluded as well.
    excluded = {*drop} | {
        one.name
        for one in roles.values()
        if one.name in table.columns and table[one.name].equals(one)
    }
    features, audits = feature_columns(table, excluded, types or {})
    frame = features.of(table)
    audits = suspect_leaks(frame, features, audits, is_positive)
    sample = sample_of_roles(roles, is_positive, dependence.find_copies(frame, is_positive))
    warnings += [
        TableWarning.of("leak", one.column, note=one.note) for one in audits if one.is_suspect
    ]
    time = roles.get("time")
    prepared = PreparedTable(frame, sample, label, features, audits, warnings, time)
    warnings += _warn_of_dependence(prepared, table.drop(excluded))
    warnings += warn_of_few(label)
    if label.others:
        counts = ", ".join(f"{count:,} rows of {name!r}" for name, count in label.others.items())
        warnings.append(TableWarning.of("labels", label.column, counts=counts))
    return prepared


def labeled_rows(
    table: pl.DataFrame, values: Mapping[str, Any]
) -> tuple[pl.DataFrame, Roles, list[TableWarning]]:
    """Return the rows that have a label, their roles, and a warning if others are skipped."""
    roles = read_roles(table, **values)
    y = roles["y"]
    text = y if y.dtype.is_nested() else text_of(y)
    n_missing = text.null_count()
    if not 0 < n_missing < table.height:
        return table, roles, []
    warnings = [*warn_of_counts(table.height, n_unlabeled=n_missing)]
    has_label = text.is_not_null()
    roles = {name: one.filter(has_label) for name, one in roles.items()}
    return table.filter(has_label), roles, warnings


def warn_of_counts(n_rows: int, *, n_unlabeled: int = 0, n_known: int = 0) -> list[TableWarning]:
    """Warn of rows without a label, and of test rows that are training rows."""
    counts = {"unlabeled": n_unlabeled, "training rows": n_known}
    return [
        TableWarning.of(kind, count=count, n_rows=n_rows) for kind, count in counts.items() if count
    ]


def warn_of_few(label: LabelColumn) -> list[TableWarning]:
    """Warn if a class is rare."""
    n_rarer = min(label.n_positive, label.n_negative)
    return [TableWarning.of("few rows", count=n_rarer)] if n_rarer < MIN_ROWS_OF_A_CLASS else []


def warn_of_test_rows(
    model: TableModel, table: pl.DataFrame, label: LabelColumn, sample: Sample
) -> list[TableWarning]:
    """Warn if test rows are training rows, too few, or possibly grouped."""
    frame = model.frame(table)
    n_known = dependence.count_known_rows(frame, sample.is_positive, model.row_hashes)
    is_grouped = sample.group is not None
    groups = [] if is_grouped else _warn_of_groups(table.drop(label.column, strict=False))
    return [*warn_of_counts(table.height, n_known=n_known), *groups, *warn_of_few(label)]


def _warn_of_groups(table: pl.DataFrame) -> list[TableWarning]:
    return [
        TableWarning.of("groups", name, count=table[name].n_unique(), n_rows=table.height)
        for name in dependence.suspected_groups(table)
    ]


def _warn_of_dependence(prepared: PreparedTable, table: pl.DataFrame) -> Iterator[TableWarning]:
    """Warn about copies, and about suspected groups and drift in time."""
    sample, n_rows = prepared.sample, table.height
    if sample.copy is not None:
        yield TableWarning.of("copies", count=n_rows - sample.copy.max() - 1, n_rows=n_rows)
    if sample.group is None:
        yield from _warn_of_groups(table)
    if sample.time is None:
        dates = [one.column for one in prepared.columns if one.kind == "date"]
        for name in dependence.drifting_dates(prepared.frame, dates, sample):
            yield TableWarning.of("time", name)


def _role(table: pl.DataFrame, values: Any, name: str) -> pl.Series:
    if isinstance(values, str):
        return column(table, values, "label" if name == "y" else name)
    series = as_series(name, values)
    if series.len() != table.height:
        raise ValueError(
            f"{name} must have one value for each of the {table.height} rows, got {series.len()}."
        )
    return series
