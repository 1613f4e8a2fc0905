"""Prepare a table for a fit: labels, column types, dependence of rows, and warnings."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocpath.files.columns import check_rows, complete, text_of
from rocpath.files.frames import as_series, as_table
from rocpath.sample import group_codes, row_weights
from rocpath.tables import dependence
from rocpath.tables.columns import ColumnAudit, TableFeatures, column, feature_columns, numbers_of
from rocpath.tables.folds import RowDesign
from rocpath.tables.labels import BinaryLabel, KnownLabels, binary_label
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
    "unlabeled": "{count:,} of {n_rows:,} rows have no label and are skipped",
    "training rows": "{count:,} of {n_rows:,} test rows are copies of training rows: the AUC on "
    "new rows may be lower",
}


class TableWarning(NamedTuple):
    """Reason to doubt the results, and the columns concerned.

    ``kind`` is ``"leak"``, ``"copies"``, ``"groups"``, ``"time"``, ``"few rows"``,
    ``"unlabeled"`` or ``"training rows"``.
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
    label: BinaryLabel
    features: TableFeatures
    columns: list[ColumnAudit]
    design: RowDesign
    warnings: list[TableWarning]
    time: pl.Series | None = None  # times of the rows, as given


class Roles(NamedTuple):
    """Labels, groups, times and weights, each as a column name or one value per row."""

    y: Any
    groups: Any = None
    time: Any = None
    sample_weight: Any = None

    def read(self, table: pl.DataFrame) -> Self:
        """Look up the columns in a table, and check the length of other values."""
        given = {name: one for name, one in self._asdict().items() if one is not None}
        return self._replace(**{name: _role(table, one, name) for name, one in given.items()})

    def design(self, copy: NDArray[np.intp] | None = None) -> RowDesign:
        """Return the design of rows with these groups, times and weights."""
        group = time = weight = None
        if self.groups is not None:
            text = complete(text_of(self.groups), "group column").to_numpy()
            group = group_codes("groups", text, text.size)
        if self.time is not None:
            time = numbers_of(self.time, may_miss=False).to_numpy()
        if self.sample_weight is not None:
            numbers = numbers_of(self.sample_weight, may_miss=False)
            check_rows(self.sample_weight, numbers < 0, "must not be negative")
            weight = row_weights(numbers.to_numpy(), numbers.len())
        return RowDesign(group, copy, time, weight).with_units()


def prepare_table(
    X: Any,
    roles: Roles,
    *,
    positive: str | None = None,
    drop: Iterable[str] = (),
    types: Mapping[str, str] | None = None,
) -> PreparedTable:
    """Find labels, column types, groups and copies, and collect warnings."""
    table, given, warnings = labeled_rows(as_table(X), roles)
    for name in drop:
        column(table, name, "drop")
    label = binary_label(given.y, positive)
    # Columns that were given as values, such as groups=frame["customer"], are excluded as well.
    excluded = {*drop} | {
        one.name
        for one in given
        if one is not None and one.name in table.columns and table[one.name].equals(one)
    }
    features, audits = feature_columns(table, excluded, types or {})
    frame = features.of(table)
    audits = suspect_leaks(frame, features, audits, label.is_positive)
    design = given.design(dependence.find_copies(frame, label.is_positive))
    warnings += [
        TableWarning.of("leak", one.column, note=one.note) for one in audits if one.is_suspect
    ]
    prepared = PreparedTable(frame, label, features, audits, design, warnings, given.time)
    warnings += _warn_of_dependence(prepared, table.drop(excluded))
    warnings += warn_of_few(label)
    return prepared


def labeled_rows(
    table: pl.DataFrame, roles: Roles
) -> tuple[pl.DataFrame, Roles, list[TableWarning]]:
    """Return the rows that have a label, their roles, and a warning if others are skipped."""
    given = roles.read(table)
    text = given.y if given.y.dtype.is_nested() else text_of(given.y)
    n_missing = text.null_count()
    if not 0 < n_missing < table.height:
        return table, given, []
    warnings = [*warn_of_counts(table.height, n_unlabeled=n_missing)]
    has_label = text.is_not_null()
    given = Roles(*(None if one is None else one.filter(has_label) for one in given))
    return table.filter(has_label), given, warnings


def warn_of_counts(n_rows: int, *, n_unlabeled: int = 0, n_known: int = 0) -> list[TableWarning]:
    """Warn of rows without a label, and of test rows that are training rows."""
    counts = {"unlabeled": n_unlabeled, "training rows": n_known}
    return [
        TableWarning.of(kind, count=count, n_rows=n_rows) for kind, count in counts.items() if count
    ]


def warn_of_few(label: KnownLabels) -> list[TableWarning]:
    """Warn if a class is rare."""
    n_rarer = min(label.n_positive, label.n_negative)
    return [TableWarning.of("few rows", count=n_rarer)] if n_rarer < MIN_ROWS_OF_A_CLASS else []


def warn_of_test_rows(
    model: TableModel, table: pl.DataFrame, label: BinaryLabel, *, is_grouped: bool
) -> list[TableWarning]:
    """Warn if test rows are training rows, too few, or possibly grouped."""
    n_known = dependence.count_known_rows(model.frame(table), label.is_positive, model.row_hashes)
    groups = [] if is_grouped else _warn_of_groups(table.drop(label.column, strict=False))
    return [*warn_of_counts(table.height, n_known=n_known), *groups, *warn_of_few(label)]


def _warn_of_groups(table: pl.DataFrame) -> list[TableWarning]:
    return [
        TableWarning.of("groups", name, count=table[name].n_unique(), n_rows=table.height)
        for name in dependence.suspected_groups(table)
    ]


def _warn_of_dependence(prepared: PreparedTable, table: pl.DataFrame) -> Iterator[TableWarning]:
    """Warn about copies, and about suspected groups and drift in time."""
    design, n_rows = prepared.design, table.height
    if design.copy is not None:
        yield TableWarning.of("copies", count=n_rows - design.copy.max() - 1, n_rows=n_rows)
    if design.group is None:
        yield from _warn_of_groups(table)
    if design.time is None:
        dates = [one.column for one in prepared.columns if one.kind == "date"]
        is_positive = prepared.label.is_positive
        for name in dependence.drifting_dates(prepared.frame, dates, is_positive, design.unit):
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
