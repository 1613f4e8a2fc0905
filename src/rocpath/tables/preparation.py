"""Prepare a table for a fit: labels, column types, dependence of rows, and warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from rocpath.tables.columns import column, feature_columns, numbers_of, text_of
from rocpath.tables.dependence import drifting_dates, find_copies, suspected_groups
from rocpath.tables.folds import RowDesign
from rocpath.tables.frames import as_series, as_table
from rocpath.tables.labels import binary_label
from rocpath.tables.leaks import suspect_leaks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rocpath.tables.columns import ColumnAudit, TableFeatures
    from rocpath.tables.labels import BinaryLabel

MIN_ROWS_OF_A_CLASS = 10  # with fewer, a warning says that an AUC is hardly known


class TableWarning(NamedTuple):
    """A reason to doubt the results, and the columns it is about.

    ``kind`` is ``"leak"``, ``"copies"``, ``"groups"``, ``"time"``, ``"few rows"`` or
    ``"unlabeled"``.
    """

    kind: str
    message: str
    columns: tuple[str, ...] = ()


class PreparedTable(NamedTuple):
    """Labeled rows, what their columns are used as, and how they depend."""

    table: pl.DataFrame
    label: BinaryLabel
    features: TableFeatures
    columns: list[ColumnAudit]
    design: RowDesign
    warnings: list[TableWarning]
    time: pl.Series | None = None  # of each row, as it was given


class Roles(NamedTuple):
    """Label, groups, times and weights: a column name or one value per row each."""

    y: Any
    groups: Any = None
    time: Any = None
    sample_weight: Any = None


def prepare_table(
    X: Any,
    roles: Roles,
    *,
    positive: str | None = None,
    drop: Iterable[str] = (),
    types: Mapping[str, str] | None = None,
) -> PreparedTable:
    """Find labels, column types, groups and copies, and collect warnings."""
    table = as_table(X)
    series: dict[str, Any] = {
        name: None if values is None else _role(table, values, name)
        for name, values in zip(Roles._fields, roles, strict=True)
    }
    used = {values for values in roles if isinstance(values, str)}
    for name in drop:
        column(table, name, "drop")
    labeled, warnings = _labeled_rows(series["y"])
    if labeled is not None:
        table = table.filter(labeled)
        series = {
            name: None if one is None else one.filter(labeled) for name, one in series.items()
        }
    label = binary_label(series["y"], positive)
    features, audits = feature_columns(table, used | set(drop), types or {})
    audits = suspect_leaks(table, features, audits, label.is_positive)
    frame = features.of(table)
    copies = find_copies(frame, label.is_positive)
    design = RowDesign(
        _codes(series["groups"]),
        None if copies is None else copies.number,
        _times(series["time"]),
        _weights(series["sample_weight"]),
    ).with_units()
    warnings += [_leak(one) for one in audits if one.is_suspect]
    if copies is not None:
        warnings.append(
            TableWarning(
                "copies",
                f"{copies.n_copies:,} of {table.height:,} rows are copies of others: "
                "identical rows are kept in one fold and count as one in standard "
                "errors",
            )
        )
    if design.group is None:
        others = [name for name in table.columns if name not in {*used, *drop}]
        warnings += [_entity(table, name) for name in suspected_groups(table, others)]
    if design.time is None:
        dates = [one.column for one in audits if one.kind == "date"]
        for name in drifting_dates(frame, dates, label.is_positive, design.unit):
            message = (
                f"the share of positives changes with column {name!r}: if the model is "
                "used on later rows, evaluate it forward in time"
            )
            warnings.append(TableWarning("time", message, (name,)))
    n_rarer = min(label.n_positive, label.n_negative)
    if n_rarer < MIN_ROWS_OF_A_CLASS:
        message = f"one class has only {n_rarer} rows, too few to estimate an AUC"
        warnings.append(TableWarning("few rows", message))
    return PreparedTable(table, label, features, audits, design, warnings, series["time"])


def read_roles(table: pl.DataFrame, roles: Roles) -> tuple[pl.Series, RowDesign]:
    """Read the labels of rows to evaluate, and their groups and weights."""
    y, groups, _, weight = (
        None if values is None else _role(table, values, name)
        for name, values in zip(Roles._fields, roles, strict=True)
    )
    design = RowDesign(group=_codes(groups), sample_weight=_weights(weight))
    design = design.with_units()
    return y, design  # type: ignore[return-value]


def _role(table: pl.DataFrame, values: Any, name: str) -> pl.Series:
    role = "label" if name == "y" else name
    if isinstance(values, str):
        return column(table, values, role)
    series = as_series(name, values)
    if series.len() != table.height:
        raise ValueError(
            f"{name} must have one value for each of the {table.height} rows, got {series.len()}."
        )
    return series


def _labeled_rows(label: pl.Series) -> tuple[pl.Series | None, list[TableWarning]]:
    """Return which rows have a label, or None if all have one."""
    if not label.dtype.is_nested():
        label = text_of(label)
    n_missing = label.null_count()
    if n_missing in (0, label.len()):
        return None, []
    message = f"{n_missing:,} of {label.len():,} rows have no label and are skipped"
    return label.is_not_null(), [TableWarning("unlabeled", message)]


def _codes(groups: pl.Series | None) -> Any:
    if groups is None:
        return None
    if groups.null_count():
        raise ValueError(
            f"groups column {groups.name!r} has {groups.null_count():,} missing "
            "values: fill them in or remove the rows."
        )
    codes = np.unique(text_of(groups).to_numpy(), return_inverse=True)[1]
    if codes.max() == 0:
        raise ValueError(f"groups column {groups.name!r} must have at least two values, got one.")
    return codes


def _times(time: pl.Series | None) -> Any:
    return None if time is None else numbers_of(time, may_miss=False).to_numpy()


def _weights(sample_weight: pl.Series | None) -> Any:
    if sample_weight is None:
        return None
    weight = numbers_of(sample_weight, may_miss=False).to_numpy()
    if weight.min() < 0 or weight.max() <= 0:
        raise ValueError(f"sample_weight must be non-negative and not all 0, got {weight.min():g}.")
    return weight


def _leak(audit: ColumnAudit) -> TableWarning:
    message = f"column {audit.column!r}: {audit.note}"
    return TableWarning("leak", message, (audit.column,))


def _entity(table: pl.DataFrame, name: str) -> TableWarning:
    message = (
        f"column {name!r} looks like an identifier that repeats "
        f"({table[name].n_unique():,} values in {table.height:,} rows): rows with the "
        "same value may not be independent, and the AUC for new ones may be lower; "
        "evaluate by group"
    )
    return TableWarning("groups", message, (name,))
