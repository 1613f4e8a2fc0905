"""Infer the types of columns: numbers, categories, dates, or columns to drop."""

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

import numpy as np
import polars as pl

from rocpath.files.columns import (
    LARGEST_NUMBER,
    cast_numbers,
    check_rows,
    complete,
    is_plain,
    text_of,
)
from rocpath.files.table_names import listed
from rocpath.tables.column_names import KINDS, check_found, is_identifier_name, is_kind
from rocpath.tables.sentinels import sentinel_codes
from rocpath.tables.text_formats import (
    DECIMAL_POINT,
    DECIMALS,
    ColumnReading,
    decimal_format,
    has_leading_zeros,
    mixed_date_formats,
    parse_text,
    read_format,
)

_MIN_SPACES = 2.0  # per value, of free text
_MIN_ROWS_OF_ROW_NUMBERS = 20  # fewer integers may be consecutive by chance
_LONGEST_CATEGORY = 1_000  # compared characters; a single cell may contain megabytes
_SECONDS_PER_DAY = 86_400.0
MIN_ROWS_PER_ENTITY = 1.5  # on average; with fewer, a column identifies rows, not entities


class ColumnAudit(NamedTuple):
    """Use of a column, and the reason for it.

    Attributes
    ----------
    column : str
        Name of the column.
    kind : str
        ``"number"``, ``"category"``, ``"date"`` or ``"drop"``.
    why : str
        Reason for the kind.
    n_missing : int
        Number of missing values.
    n_levels : int
        Number of distinct values.
    n_unreadable : int
        Number of unreadable values and codes such as -999, which are treated as missing.
    is_suspect : bool
        Whether the column alone ranks the rows almost perfectly.
    note : str
        Advice for the user; empty if there is none.
    """

    column: str
    kind: str
    why: str
    n_missing: int
    n_levels: int
    n_unreadable: int = 0
    is_suspect: bool = False
    note: str = ""


class TableFeatures(NamedTuple):
    """Columns to learn from, by type, and how their values are read.

    Attributes
    ----------
    number, category : tuple of str
        Names of the columns.
    style : dict of str
        Formats of text columns that are converted to numbers.
    unreadable : dict of tuple of str
        Values of these columns that are treated as missing.
    sentinel : dict of tuple of float
        Numeric codes that are treated as missing.
    min_frequency : int
        Minimum number of rows of a category; rarer ones are merged.
    """

    number: tuple[str, ...]
    category: tuple[str, ...]
    style: Mapping[str, str]
    unreadable: Mapping[str, tuple[str, ...]]
    sentinel: Mapping[str, tuple[float, ...]]
    min_frequency: int = 1

    def select(self, table: pl.DataFrame) -> pl.DataFrame:
        """Select these columns from a table, in this order, as float64 or text."""
        # A set, since `columns` is a new list at each access.
        known = set(table.columns)
        missing = [name for name in (*self.number, *self.category) if name not in known]
        if missing:
            raise ValueError(
                f"column {missing[0]!r} not found, but required by the model"
                f"{f' (and {len(missing) - 1} more)' if missing[1:] else ''}; "
                f"columns are: {listed(table.columns)}."
            )
        plain = _plain_numbers(table, [one for one in self.number if one not in self.sentinel])
        numbers = [
            plain[name] if name in plain else self._number(table[name]) for name in self.number
        ]
        words = [text_of(table[name]).str.slice(0, _LONGEST_CATEGORY) for name in self.category]
        return pl.DataFrame(numbers + words)

    def _number(self, series: pl.Series) -> pl.Series:
        style = self.style.get(series.name)
        if style is not None and series.dtype == pl.String:
            number = parse_text(series, style)
            is_unreadable = number.is_null() & series.is_not_null()
            # Values that were unreadable in the fit are missing; others raise an error.
            known = list(self.unreadable.get(series.name, ()))
            is_known = series.str.strip_chars().is_in(known)
            what = f"dates as {style}" if style.startswith("%") else "numbers"
            check_rows(series, is_unreadable & ~is_known, f"must be {what}")
            series = number
        return numbers_of(without_codes(series, self.sentinel.get(series.name, ())))


def without_codes(series: pl.Series, codes: Collection[float]) -> pl.Series:
    """Return a column with null in place of codes for missing values."""
    if not codes or not series.dtype.is_numeric():
        return series
    number = series.cast(pl.Float64)
    return number.set(number.is_in(list(codes)).fill_null(False), None)


def _plain_numbers(table: pl.DataFrame, names: Iterable[str]) -> Mapping[str, pl.Series]:
    """Convert all numeric columns to float64 in one operation.

    With thousands of columns, converting them one by one took most of the time of a fit.
    If a number is too large, no column is returned: `numbers_of` raises the error.
    """
    schema = table.schema
    numeric = [name for name in names if schema[name].is_numeric()]
    if not numeric:
        return {}
    columns = table.select(pl.col(numeric).cast(pl.Float64))
    X = columns.to_numpy()
    if np.fmax.reduce(np.abs(X), axis=None, initial=0.0) > LARGEST_NUMBER:
        return {}
    # With thousands of columns this takes half a second, so it is done only if needed.
    if np.isnan(X).sum() > sum(one.null_count() for one in columns):
        columns = columns.select(pl.all().fill_nan(None))
    return {one.name: one for one in columns}


def column(table: pl.DataFrame, name: str, role: str) -> pl.Series:
    """Return a column, or raise an error that lists the existing columns."""
    check_found(name, table.columns, role)
    return table[name]


def feature_columns(
    table: pl.DataFrame, excluded: Iterable[str], types: Mapping[str, str]
) -> tuple[TableFeatures, list[ColumnAudit]]:
    """Infer the type of each column, and how its values are read.

    Parameters
    ----------
    table : pl.DataFrame
        Rows to learn from.
    excluded : list of str
        Columns that are not features, such as the label.
    types : dict of str
        Types of columns by name: one of ``KINDS``, ``"number:."``, ``"number:,"`` or
        ``"date:FORMAT"``.
    """
    # Otherwise a misspelled name would be silently ignored.
    for name, given in types.items():
        column(table, name, "types")
        if not is_kind(given):
            raise ValueError(
                f"types must be one of {', '.join(KINDS)}, number:., number:, or date:FORMAT, got "
                f"{given!r} for column {name!r}."
            )
    # Effects of rarer categories are mostly noise. The minimum is smaller for small tables,
    # in which few categories are frequent.
    min_frequency = max(2, min(10, table.height // 50))
    columns = [(one, types.get(one.name)) for one in table.drop(excluded)]
    decimal = _decimal_format(columns)
    readings = {one.name: _read(one, kind, decimal) for one, kind in columns}
    audits = [_audit(one, readings[one.name], kind, min_frequency) for one, kind in columns]
    number = tuple(one.column for one in audits if one.kind in ("number", "date"))
    category = tuple(one.column for one in audits if one.kind == "category")
    if not number and not category:
        reasons = "; ".join(f"{audit.column!r}: {audit.why}" for audit in audits)
        raise ValueError(
            "no column is left to learn from"
            f"{f' ({reasons})' if reasons else ': the table has no other columns'}."
        )
    used = {name: readings[name] for name in number}
    style = {name: one.format for name, one in used.items() if one.format}
    unreadable = {name: one.unreadable for name, one in used.items() if one.unreadable}
    sentinel = {name: one.codes for name, one in used.items() if one.codes}
    return TableFeatures(number, category, style, unreadable, sentinel, min_frequency), audits


def _decimal_format(columns: Iterable[tuple[pl.Series, str | None]]) -> str:
    """Return the format of numbers in all columns, or an empty string if they differ."""
    formats = set()
    for series, kind in columns:
        if series.dtype == pl.String and kind in (None, "number"):
            formats.add(decimal_format(series))
        elif kind in DECIMALS:
            formats.add(DECIMALS[kind])
        elif series.dtype.is_float() and (series != series.round()).any():
            # Fractions that are numbers already were written with a point.
            formats.add(DECIMAL_POINT)
    formats.discard("")
    return formats.pop() if len(formats) == 1 else ""


def _read(series: pl.Series, kind: str | None, decimal: str = "") -> ColumnReading:
    """Parse numbers and dates in text, and replace codes for missing values."""
    # If dates are text in predict, they are parsed with this format.
    found = ColumnReading(series, "%Y-%m-%d" if series.dtype == pl.Date else "")
    is_text = series.dtype == pl.String and kind not in ("drop", "category")
    if is_text and (kind is not None or not has_leading_zeros(series)):
        found = read_format(series, kind, decimal) or found
    codes = sentinel_codes(found.number) if kind in (None, "number", *DECIMALS) else ()
    return found._replace(number=without_codes(found.number, codes), codes=codes)


def _audit(
    series: pl.Series, found: ColumnReading, given: str | None, min_frequency: int
) -> ColumnAudit:
    """Choose the type of a column from the values that were read."""
    read = found.number
    # n_unique counts null as a value; dropping nulls first would be slower.
    n_values = read.n_unique() - bool(read.null_count()) if is_plain(read) else 0
    # Checked even if a type was given: nothing can be learned from a constant.
    reason = _drop_reason(read, n_values, min_frequency, is_given=given is not None)
    if given is not None and (given == "drop" or not reason):
        kind, why = given.split(":")[0], "type given by the user"
    else:
        kind, why = ("drop", reason) if reason else _inferred_kind(series, found)
    n_missing, note = series.null_count(), ""
    n_unreadable = read.null_count() - n_missing
    if found.codes and kind != "drop":
        codes = ", ".join(f"{one:g}" for one in found.codes)
        note = f"{n_unreadable:,} values of {codes} are treated as missing"
        why = f"{why}; {note}"
    return ColumnAudit(series.name, kind, why, n_missing, n_values, n_unreadable, note=note)


def _inferred_kind(series: pl.Series, found: ColumnReading) -> tuple[str, str]:
    """Return the type that the values suggest, and the reason."""
    read, style = found.number, found.format
    if not _is_number(read):
        is_zip = series.dtype == pl.String and has_leading_zeros(series)
        return "category", "digits with leading zeros, such as zip codes" if is_zip else "text"
    is_date = series.dtype.is_temporal() or style.startswith("%")
    is_boolean = series.dtype == pl.Boolean
    what = "dates" if is_date else "true or false" if is_boolean else "numbers"
    why = f"{read.count():,} of {series.count():,} values are {what}"
    if style:
        why += f" as {style}" if is_date else f" with a {style}"
    return "date" if is_date else "number", why


def numbers_of(series: pl.Series, *, may_miss: bool = True) -> pl.Series:
    """Convert a column to float64, and dates to days; errors name the first invalid row."""
    if series.dtype in (pl.Date, pl.Datetime):
        days = series.cast(pl.Datetime("us")).dt.epoch("us") / (1e6 * _SECONDS_PER_DAY)
        number = days.alias(series.name)
    else:
        number = cast_numbers(series.to_physical() if series.dtype.is_temporal() else series)
        check_rows(series, number.is_null() & series.is_not_null(), "must be numbers")
        number = number.fill_nan(None)
    rule = f"must be finite and at most {LARGEST_NUMBER:g} in absolute value"
    check_rows(series, number.abs() > LARGEST_NUMBER, f"{rule}; leave missing values empty")
    return number if may_miss else complete(number)


def _drop_reason(series: pl.Series, n_values: int, min_frequency: int, *, is_given: bool) -> str:
    """Return the reason to drop a column, or an empty string if there is none.

    A column whose type was given by the user only has to vary.
    """
    if not series.name:
        return "it has no name, like a column of row numbers"
    if not is_plain(series):
        return "its values are not numbers, text or dates"
    if n_values == 0:
        return "all values are missing"
    # A single value is informative if the others are missing.
    if n_values == 1 and not series.null_count():
        return "all values are equal"
    if is_given:
        return ""
    if not _is_number(series):
        # Rare categories are merged; if all are rare, a constant remains.
        is_rare = series.drop_nulls().unique_counts().max() < min_frequency  # type: ignore[operator]
        return _reason_of_rare_text(series) if is_rare else ""
    # Row numbers may rank the rows of this table, if it is sorted, but not those of
    # other tables.
    n_rows = len(series)
    if not series.dtype.is_integer() or n_rows < _MIN_ROWS_OF_ROW_NUMBERS:
        return ""
    # The values are distinct consecutive integers, in any order.
    if n_values == n_rows and float(np.ptp(series.cast(pl.Float64).to_numpy())) == n_rows - 1:
        return "it contains row numbers"
    is_name = n_values > n_rows / MIN_ROWS_PER_ENTITY and is_identifier_name(series.name)
    return "it looks like an identifier" if is_name else ""


def _reason_of_rare_text(series: pl.Series) -> str:
    """Describe text in which all values are rare: dates, sentences or identifiers."""
    if series.dtype == pl.String:
        text = series.drop_nulls().str.strip_chars()
        formats = mixed_date_formats(text)
        if formats:
            return f"its dates have several formats, such as {' and '.join(map(repr, formats))}"
        if text.str.count_matches(r"\s+").mean() >= _MIN_SPACES:  # type: ignore[operator]
            return "free text, which is not used"
    return "all values are rare, as in an identifier"


def _is_number(series: pl.Series) -> bool:
    kind = series.dtype
    return kind.is_numeric() or kind.is_temporal() or kind in (pl.Boolean, pl.Null)
