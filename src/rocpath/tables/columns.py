"""What the columns of a table are: numbers, categories, dates, or of no use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from rocpath.tables.audit import ColumnAudit, read_text, reading_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


LARGEST_NUMBER = 1e100  # squares of it can still be summed
_FEWEST_ROWS_TO_SUSPECT = 20  # fewer whole numbers are distinct by chance
_MOST_LISTED = 20  # names in a message
_SECONDS_A_DAY = 86_400.0


class FeatureColumns(NamedTuple):
    """Columns to learn from, by what they hold, and how their text is read.

    ``style`` has the columns whose text becomes numbers in a way of its own, and
    ``unreadable`` the text of such columns that is taken as missing.
    """

    number: tuple[str, ...]
    category: tuple[str, ...]
    style: Mapping[str, str]
    unreadable: Mapping[str, tuple[str, ...]]
    min_frequency: int = 1  # how often a category must occur to count on its own

    def of(self, table: pl.DataFrame) -> pl.DataFrame:
        """Take these columns from a table, in order, as float64 and as text."""
        # A set: a data frame would list its names anew for every one of them.
        known = set(table.columns)
        missing = [name for name in (*self.number, *self.category) if name not in known]
        if missing:
            raise ValueError(
                f"column {missing[0]!r} not found, which the model needs"
                f"{f' (and {len(missing) - 1} more)' if missing[1:] else ''}; "
                f"columns are: {listed(table.columns)}."
            )
        plain = _plain_numbers(table, self.number)
        numbers = [
            plain[name] if name in plain else self._number(table[name])
            for name in self.number
        ]
        return pl.DataFrame(numbers + [text_of(table[name]) for name in self.category])

    def _number(self, series: pl.Series) -> pl.Series:
        style = self.style.get(series.name)
        if style is None or series.dtype != pl.String:
            return numbers_of(series)
        number = read_text(series, style)
        is_lost = number.is_null() & series.is_not_null()
        # What the fit took as missing is so again; any other text is a mistake.
        known = list(self.unreadable.get(series.name, ()))
        is_known = series.str.strip_chars().is_in(known)
        what = f"dates as {style}" if style.startswith("%") else "numbers"
        refuse(series, is_lost & ~is_known, f"must be {what}")
        return numbers_of(number)


def _plain_numbers(
    table: pl.DataFrame, names: Iterable[str]
) -> Mapping[str, pl.Series]:
    """Take the columns that are numbers already, all at once.

    One by one, columns by the thousand took most of the time of a fit. A number too
    large is left to `numbers_of`, which names it.
    """
    schema = table.schema
    numeric = [name for name in names if schema[name].is_numeric()]
    if not numeric:
        return {}
    columns = table.select(pl.col(numeric).cast(pl.Float64))
    X = columns.to_numpy()
    if np.fmax.reduce(np.abs(X), axis=None, initial=0.0) > LARGEST_NUMBER:
        return {}
    # Rare, and thousands of columns take half a second.
    if np.isnan(X).sum() > sum(one.null_count() for one in columns):
        columns = columns.select(pl.all().fill_nan(None))
    return {one.name: one for one in columns}


def column(table: pl.DataFrame, name: str, role: str) -> pl.Series:
    """Return a column, or raise with the names there are."""
    if name not in table.columns:
        raise ValueError(
            f"{role} column {name!r} not found; columns are: {listed(table.columns)}."
        )
    return table[name]


def feature_columns(
    table: pl.DataFrame, left_out: Iterable[str], types: Mapping[str, str]
) -> tuple[FeatureColumns, list[ColumnAudit]]:
    """Sort columns into numbers and categories; tell what each is taken for."""
    # A name that is mistyped would change nothing, and nobody would see it.
    for name in types:
        column(table, name, "--type")
    # What is learned of rarer categories is mostly noise; small tables need them more.
    min_frequency = max(2, min(10, table.height // 50))
    style: dict[str, str] = {}
    unreadable: dict[str, tuple[str, ...]] = {}
    audits = []
    for series in table.drop(left_out):
        name, kind = series.name, types.get(series.name)
        read, format_, lost = _read(series, kind)
        audit = _audited(series, read, kind, format_, min_frequency)
        audits.append(audit)
        if format_ is not None and audit.kind in ("number", "date"):
            style[name] = format_
            unreadable |= {name: lost} if lost is not None else {}
    number, category = (
        tuple(one.column for one in audits if one.kind in kinds)
        for kinds in (("number", "date"), ("category",))
    )
    if not number and not category:
        reasons = "; ".join(f"{audit.column!r}: {audit.why}" for audit in audits)
        raise ValueError(
            "no column is left to learn from"
            f"{f' ({reasons})' if reasons else ': the table has no other columns'}."
        )
    return FeatureColumns(number, category, style, unreadable, min_frequency), audits


def _read(
    series: pl.Series, kind: str | None
) -> tuple[pl.Series, str | None, tuple[str, ...] | None]:
    """Read text that is numbers or dates: them, their format, and what is lost."""
    if series.dtype == pl.String and kind != "drop":
        reading = reading_of(series, kind)
        if reading is not None:
            return reading.number.alias(series.name), reading.format, reading.unreadable
    if series.dtype == pl.Date:
        # As text it is read by this format, so that a bad value can be named.
        return series, "%Y-%m-%d", None
    return series, None, None


def _audited(
    series: pl.Series,
    read: pl.Series,
    kind: str | None,
    style: str | None,
    min_frequency: int,
) -> ColumnAudit:
    """Say what a column is taken for, given what was read from its text."""
    n_missing = series.null_count()
    # Nulls are one value more; to drop them first takes a query for every column.
    n_values = read.n_unique() - bool(read.null_count()) if is_plain(read) else 0
    counts: dict[str, Any] = {"n_missing": n_missing, "n_levels": n_values}
    counts["n_unreadable"] = read.null_count() - n_missing
    if kind == "drop":
        return ColumnAudit(series.name, "drop", "as --type says", **counts)
    # Before what was told: a constant teaches nothing, whatever it is called.
    useless = _uselessness(read, n_values, min_frequency, is_told=kind is not None)
    if useless:
        return ColumnAudit(series.name, "drop", useless, **counts)
    if kind is not None:
        return ColumnAudit(series.name, kind.split(":")[0], "as --type says", **counts)
    if not _is_number(read):
        return ColumnAudit(series.name, "category", "it is text", **counts)
    is_date = series.dtype.is_temporal() or (style or "").startswith("%")
    what = "dates" if is_date else "numbers"
    if series.dtype == pl.Boolean:
        what = "true or false"
    why = f"{read.count():,} of {series.count():,} values are {what}"
    if style:
        why += f" as {style}" if is_date else f" with a {style}"
    return ColumnAudit(series.name, "date" if is_date else "number", why, **counts)


def numbers_of(series: pl.Series, *, may_miss: bool = True) -> pl.Series:
    """Return float64, null where missing; dates become days; or raise with the row."""
    if series.dtype in (pl.Date, pl.Datetime):
        days = series.cast(pl.Datetime("us")).dt.epoch("us") / (1e6 * _SECONDS_A_DAY)
        number = days.alias(series.name)
    else:
        source = series.to_physical() if series.dtype.is_temporal() else series
        if source.dtype == pl.String:
            source = source.str.strip_chars()
        try:
            number = source.cast(pl.Float64, strict=False)
        except pl.exceptions.PolarsError:
            raise ValueError(
                f"column {series.name!r} must be numbers, got {series.dtype}."
            ) from None
        refuse(series, number.is_null() & source.is_not_null(), "must be numbers")
        number = number.fill_nan(None)
    rule = (
        f"must be finite and at most {LARGEST_NUMBER:g} in size; leave unknown values "
        "empty"
    )
    refuse(series, number.abs() > LARGEST_NUMBER, rule)
    return number if may_miss else complete(number)


def complete(series: pl.Series, role: str = "column") -> pl.Series:
    """Return a column without gaps, or raise with the row of the first."""
    if series.null_count():
        raise ValueError(
            f"{role} {series.name!r} has missing values in row "
            f"{_first_row(series.is_null())}: fill them in or leave out the row."
        )
    return series


def refuse(series: pl.Series, is_bad: pl.Series, rule: str) -> None:
    """Raise with the first row that breaks a rule, if one does."""
    if is_bad.any():
        row = _first_row(is_bad)
        raise ValueError(
            f"column {series.name!r} {rule}, got {series[row - 1]!r} in row {row}."
        )


def text_of(series: pl.Series) -> pl.Series:
    """Return values as text, as trimmed; whole numbers without a decimal point."""
    if series.dtype == pl.String:
        # A space that nobody sees makes no other word, and alone it is none.
        trimmed = series.str.strip_chars()
        return trimmed.set(trimmed == "", None)
    if series.dtype.is_float():
        series = series.fill_nan(None)
        # Gaps turn whole numbers into floats, and labels 0 and 1 into 0.0 and 1.0.
        if (series == series.round()).all() and (series.abs() < 2.0**53).all():
            series = series.cast(pl.Int64)
    return series.cast(pl.String)


def listed(names: Iterable[str]) -> str:
    """Join names for a message."""
    names = list(names)
    more = f", ... ({len(names)} in all)" if len(names) > _MOST_LISTED else ""
    return ", ".join(names[:_MOST_LISTED]) + more


def _uselessness(
    series: pl.Series, n_values: int, min_frequency: int, *, is_told: bool
) -> str:
    """Tell why nothing can be learned from a column, if so.

    Of a column whose kind was told, no more is doubted than whether it varies.
    """
    if not series.name:
        return "it has no name, as a column of row numbers"
    if not is_plain(series):
        return "its values are not single numbers or words"
    if n_values == 0:
        return "all values are missing"
    # One value and gaps are two kinds of rows.
    if n_values == 1 and not series.null_count():
        return "all values are equal"
    if is_told:
        return ""
    if not _is_number(series):
        # Rare words are put together; where all are rare, nothing would be left.
        most = series.drop_nulls().unique_counts().to_numpy().max()
        is_rare = most < min_frequency
        return "hardly any value repeats, as in an identifier" if is_rare else ""
    return "numbers the rows" if _numbers_rows(series, n_values) else ""


def _numbers_rows(series: pl.Series, n_values: int) -> bool:
    """Tell whether a column is a number that only names the rows."""
    n_rows = len(series)
    if not series.dtype.is_integer() or n_values < n_rows:
        return False
    if n_rows < _FEWEST_ROWS_TO_SUSPECT:
        return False
    # Such a number may rank the rows of this table, where it was sorted, and no other.
    number = series.cast(pl.Float64).to_numpy()
    # All different and as dense as can be: a count of the rows, in any order.
    is_run = float(np.ptp(number)) == n_rows - 1
    return is_run or series.name.lower().split("_")[-1] in ("id", "index")


def is_plain(series: pl.Series) -> bool:
    """Tell whether values are single numbers or words."""
    return not (
        series.dtype.is_nested() or series.dtype in (pl.Binary, pl.Object, pl.Unknown)
    )


def _is_number(series: pl.Series) -> bool:
    return (
        series.dtype.is_numeric()
        or series.dtype.is_temporal()
        or series.dtype in (pl.Boolean, pl.Null)
    )


def _first_row(is_meant: pl.Series) -> int:
    """Count to the first row that is meant, from 1."""
    return int(is_meant.arg_true()[0]) + 1
