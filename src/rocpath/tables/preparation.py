"""Prepare a table for a fit: labels, column types, dependence of rows, and warnings."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from rocpath.files.columns import cast_numbers, check_rows, complete, text_of
from rocpath.files.frames import as_series, as_table
from rocpath.sample import Sample, group_codes, row_weights
from rocpath.tables import dependence, hidden_groups
from rocpath.tables.columns import ColumnAudit, TableFeatures, column, feature_columns, numbers_of
from rocpath.tables.labels import LabelColumn, two_classes
from rocpath.tables.leaks import suspect_leaks
from rocpath.tables.model import TableModel
from rocpath.tables.near_copies import find_near_copies
from rocpath.tables.table_warnings import TableWarning
from rocpath.tables.text_formats import read_format

MIN_ROWS_OF_A_CLASS = 10  # with fewer, a warning is issued


class PreparedTable(NamedTuple):
    """Labeled rows, the use of their columns, and their dependence."""

    frame: pl.DataFrame  # features as float64 or text
    sample: Sample
    label: LabelColumn
    features: TableFeatures
    columns: list[ColumnAudit]
    warnings: list[TableWarning]
    time: pl.Series | None = None  # times of the rows, as given
    codes: Mapping[str, NDArray[np.intp]] = {}  # of columns that may be groups

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Select rows."""
        time = None if self.time is None else self.time[rows]
        codes = {name: code[rows] for name, code in self.codes.items()}
        sample = self.sample.take(rows)
        return self._replace(frame=self.frame[rows], sample=sample, time=time, codes=codes)


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
        time = _times(roles["time"]).to_numpy()
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
    frame = features.select(table)
    audits = suspect_leaks(frame, features, audits, is_positive)
    warnings += [
        TableWarning.from_kind("leak", one.column, note=one.note)
        for one in audits
        if one.is_suspect
    ]
    copy, more = _copies(frame, is_positive, has_groups="groups" in roles)
    warnings += more
    sample = sample_of_roles(roles, is_positive, copy)
    others = table.drop(excluded)
    codes = {} if "groups" in roles else hidden_groups.repeated_codes(others)
    warnings += _warn_of_groups(others, frame, codes) if codes else []
    prepared = PreparedTable(
        frame, sample, label, features, audits, warnings, roles.get("time"), codes
    )
    warnings += _warn_of_drift(prepared)
    warnings += warn_of_few(label)
    if label.others:
        counts = ", ".join(f"{count:,} rows of {name!r}" for name, count in label.others.items())
        warnings.append(TableWarning.from_kind("labels", label.column, counts=counts))
    return prepared


def _copies(
    frame: pl.DataFrame, is_positive: NDArray[np.bool_], *, has_groups: bool
) -> tuple[NDArray[np.intp] | None, list[TableWarning]]:
    """Return the code that copies and near-copies share, and warnings about them."""
    warnings, n_rows = [], frame.height
    copy = dependence.find_copies(frame, is_positive)
    if copy is not None:
        count = n_rows - copy.max() - 1
        warnings.append(TableWarning.from_kind("copies", count=count, n_rows=n_rows))
    # Rows of a group are kept in one fold anyway. Of identical rows, one is compared.
    number = np.arange(n_rows) if copy is None else copy
    first = np.unique(number, return_index=True)[1]
    near = None if has_groups else find_near_copies(frame[first])
    if near is not None:
        names = " and ".join(map(repr, near.columns))
        warnings.append(
            TableWarning.from_kind(
                "near copies", *near.columns, count=near.n_copies, n_rows=n_rows, names=names
            )
        )
        copy = near.code[number]
    return copy, warnings


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
        TableWarning.from_kind(kind, count=count, n_rows=n_rows)
        for kind, count in counts.items()
        if count
    ]


def warn_of_few(label: LabelColumn) -> list[TableWarning]:
    """Warn if a class is rare."""
    n_rarer = min(label.n_positive, label.n_negative)
    return (
        [TableWarning.from_kind("few rows", count=n_rarer)] if n_rarer < MIN_ROWS_OF_A_CLASS else []
    )


def warn_of_test_rows(
    model: TableModel, table: pl.DataFrame, label: LabelColumn, sample: Sample
) -> list[TableWarning]:
    """Warn if test rows are training rows, too few, possibly grouped, or unusual."""
    frame = model.frame(table)
    n_known = dependence.count_known_rows(frame, sample.is_positive, model.row_hashes)
    groups = []
    if sample.group is None:
        others = table.drop(label.column, strict=False)
        groups = _warn_of_groups(others, frame, hidden_groups.repeated_codes(others))
    unseen = [
        TableWarning.from_kind("unseen", note=note.rstrip("."))
        for note in model.unusual_values(table)
    ]
    return [*warn_of_counts(table.height, n_known=n_known), *groups, *warn_of_few(label), *unseen]


def _warn_of_groups(
    table: pl.DataFrame, frame: pl.DataFrame, codes: Mapping[str, NDArray[np.intp]]
) -> list[TableWarning]:
    """Warn of columns whose values look like groups, by their values or their names."""
    entities = hidden_groups.entity_columns(table, frame, codes)
    names = [*entities, *dependence.suspected_groups(table)]
    warnings = []
    for name in hidden_groups.without_aliases(dict.fromkeys(names), codes):
        reason = "; other columns are constant within its values" if name in entities else ""
        warnings.append(group_warning(table, name, reason))
    return warnings


def group_warning(table: pl.DataFrame, name: str, reason: str) -> TableWarning:
    """Return a warning that the values of a column may be groups."""
    count = table[name].n_unique()
    return TableWarning.from_kind("groups", name, count=count, n_rows=table.height, reason=reason)


def _warn_of_drift(prepared: PreparedTable) -> Iterator[TableWarning]:
    """Warn of dates with which the share of positives changes."""
    if prepared.sample.time is None:
        dates = [one.column for one in prepared.columns if one.kind == "date"]
        for name in dependence.drifting_dates(prepared.frame, dates, prepared.sample):
            yield TableWarning.from_kind("time", name)


def _times(series: pl.Series) -> pl.Series:
    """Convert times to numbers, and dates in text to days."""
    if series.dtype == pl.String and cast_numbers(series).null_count() > series.null_count():
        reading = read_format(series, None)
        series = series if reading is None else reading.number
    return numbers_of(series, may_miss=False)


def _role(table: pl.DataFrame, values: Any, name: str) -> pl.Series:
    if isinstance(values, str):
        return column(table, values, "label" if name == "y" else name)
    series = as_series(name, values)
    if series.len() != table.height:
        raise ValueError(
            f"{name} must have one value for each of the {table.height} rows, got {series.len()}."
        )
    return series
